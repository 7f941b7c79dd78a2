/* ctl_request.c: achctl request and clear. */
#include <string.h>

#include "config/nearest.h"
#include "config/text.h"
#include "launch/common/ask.h"
#include "launch/achctl/ctl.h"
#include "launch/achctl/ctl_daemon.h"
#include "launch/achctl/talk.h"
#include "launch/common/status.h"
#include "launch/common/request.h"

static int find_verb(const struct ctl_line *line, const char *word, enum msg_verb *verb)
{
	char quoted[TEXT_QUOTED_MAX];
	const char *best;

	if (request_verb(word, verb))
		return 0;
	best = nearest_word(word, request_verbs + MSG_VERB_HOME);
	return ctl_fail(line, CTL_WRONG,
			"%s is no verb: it is one of home, reset, clear, bias, activate, set, get%s%s%s",
			text_quote(quoted, word), best ? "; did you mean " : "", best ? best : "", best ? "?" : "");
}

int ctl_request(const struct ctl_line *line, int argc, char **argv)
{
	const char *key = argc > 2 ? argv[2] : "", *value = argc > 3 ? argv[3] : "";
	enum msg_verb verb = MSG_VERB_NONE;
	int status = ctl_name(line, argv[0]);

	if (!status)
		status = find_verb(line, argv[1], &verb);
	if (status)
		return status;
	if ((verb == MSG_VERB_GET && argc != 3) || (verb == MSG_VERB_SET && argc != 4))
		return ctl_fail(line, CTL_WRONG, "it is: achctl request %s %s", argv[0],
				verb == MSG_VERB_GET ? "get KEY" : "set KEY VALUE");
	if (strlen(key) >= MSG_NAME_SIZE || strlen(value) >= MSG_TEXT_SIZE)
		return ctl_fail(line, CTL_WRONG, "a key has at most %d bytes, a value %d", MSG_NAME_SIZE - 1,
				MSG_TEXT_SIZE - 1);
	status = ctl_robot(line);
	return status ? status : talk(line, argv[0], verb, key, value);
}

/* What achstart says of it: "" if it does not know it, or is not there. */
static void find_state(const char *name, char state[STATUS_NAME_MAX])
{
	static struct status view;
	const struct status_daemon *d = NULL;
	struct error_sink quiet = { 0 };
	struct ask ask;

	*state = 0;
	if (ask_for(&ask, (const char *const[]){ "status", NULL }, clock_now_ns() + ASK_WITHIN_NS, &quiet))
		return;
	status_read(&view, yaml_root(ask.doc));
	ask_end(&ask);
	d = status_find_daemon(&view, name);
	if (d)
		strcpy(state, d->state);
}

int ctl_clear(const struct ctl_line *line, int argc, char **argv)
{
	struct ctl_line usual = *line;
	char state[STATUS_NAME_MAX];
	int status = ctl_name(line, argv[0]);

	(void)argc;
	if (!status)
		status = ctl_robot(line);
	if (status)
		return status;
	usual.within_ns = line->within_ns >= 0 ? line->within_ns : TALK_USUAL_NS;
	find_state(argv[0], state);
	if (!strcmp(state, "failed"))
		return ctl_daemon_start(&usual, "clear", argv[0]);
	if (!strcmp(state, "stopped"))
		return ctl_fail(line, CTL_NO, "%s is stopped: there is nothing to clear (achctl start %s starts it)",
				argv[0], argv[0]);
	return talk(&usual, argv[0], MSG_VERB_CLEAR, "", "");
}
