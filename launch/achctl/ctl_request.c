/* ctl_request.c: achctl request and clear.
 *
 * A driver ends a motion only if it is asked to: by its deadline (--within), or by Ctrl-C, which cancels the request.
 */
#include "channels/port/request.h"
#include "launch/achctl/ctl.h"
#include "launch/view/robot_channels.h"

#define WAIT_NS 10000000000	   /* for the reply, */
#define WAIT_MOTION_NS 60000000000 /* and for that of a verb that moves */

static int print_reply(const struct ctl_line *line, const struct request_ask *ask, struct msg_reply *reply)
{
	struct json j;

	utf8_clean(reply->value);
	utf8_clean(reply->error);
	if (reply->result == -ECANCELED)
		return ctl_fail(line, CTL_NO, "cancelled: %s has ended %s", ask->device, request_verbs[ask->verb]);
	if (reply->result == -ETIMEDOUT && ask->deadline)
		return ctl_fail(line, CTL_NO, "not done within %g s: %s has ended %s", (double)ask->within_ns / 1e9,
				ask->device, request_verbs[ask->verb]);
	if (reply->result)
		return ctl_fail(line, CTL_NO, "refused: %s: %s", ask->device,
				*reply->error ? reply->error : strerror(-reply->result));
	if (!ctl_json(line, &j))
		return ctl_done(line, "%s", *reply->value ? reply->value : "done");
	json_text(&j, "value", reply->value);
	return ctl_json_end(&j);
}

/* The driver, by its request channel, that has nearly that name. */
static bool nearest_driver(const char *name, char near[STATUS_NAME_MAX])
{
	struct robot_channels channels = { 0 };
	const char *best = NULL;

	robot_channels_read(&channels);
	for (size_t i = 0; i < channels.n; i++) {
		char *suffix = strrchr(channels.at[i]->name, '-');

		if (!suffix || strcmp(suffix, "-req") != 0)
			continue;
		*suffix = 0;
		nearest_try(name, channels.at[i]->name, &best);
	}
	if (best)
		snprintf(near, STATUS_NAME_MAX, "%s", best);
	robot_channels_close(&channels);
	return best;
}

static int ask_driver(const struct ctl_line *line, enum msg_verb verb, const char *key, const char *value)
{
	const char *name = line->argv[0];
	const int64_t usual_ns = request_moves(verb) ? WAIT_MOTION_NS : WAIT_NS;
	const bool deadline = line->within_ns >= 0;
	const struct request_ask ask = { .device = name,
					 .verb = verb,
					 .key = key,
					 .value = value,
					 .within_ns = deadline ? line->within_ns : usual_ns,
					 .deadline = deadline,
					 .cancel_fd = clock_stop_fd() };
	struct msg_reply reply = { 0 };
	char near[STATUS_NAME_MAX];
	struct lines why;
	const int status = request_ask(&ask, &reply, lines_begin(&why));

	if (!status)
		return print_reply(line, &ask, &reply);
	if (status == -EPERM)
		return ctl_fail(line, CTL_NO, "refused: %s", why.text);
	if (status == -ENOENT && nearest_driver(name, near))
		return ctl_fail(line, CTL_NO, "there is no driver %s; did you mean %s?", name, near);
	return ctl_fail(line, EXIT_RETRY, "%s", why.text);
}

static int find_verb(const struct ctl_line *line, const char *word, enum msg_verb *verb)
{
	char quoted[TEXT_QUOTED_MAX];
	const char *best;

	if (request_verb(word, verb))
		return 0;
	best = nearest_word(word, request_verbs + MSG_VERB_HOME);
	return ctl_fail(line, EXIT_WRONG,
			"%s is not a verb: it is one of home, reset, clear, bias, activate, set, get%s%s%s",
			text_quote(quoted, word), best ? "; did you mean " : "", best ? best : "", best ? "?" : "");
}

int ctl_request(const struct ctl_line *line)
{
	const char *key = line->argc > 2 ? line->argv[2] : "", *value = line->argc > 3 ? line->argv[3] : "";
	enum msg_verb verb = MSG_VERB_NONE;
	const int status = find_verb(line, line->argv[1], &verb);

	if (status)
		return status;
	if ((verb == MSG_VERB_GET && line->argc != 3) || (verb == MSG_VERB_SET && line->argc != 4))
		return ctl_fail(line, EXIT_WRONG, "it is: achctl request %s %s", line->argv[0],
				verb == MSG_VERB_GET ? "get KEY" : "set KEY VALUE");
	if (strlen(key) >= MSG_NAME_SIZE || strlen(value) >= MSG_TEXT_SIZE)
		return ctl_fail(line, EXIT_WRONG, "a key has at most %d bytes, a value %d", MSG_NAME_SIZE - 1,
				MSG_TEXT_SIZE - 1);
	return ask_driver(line, verb, key, value);
}

/* A daemon that has failed is started; a driver that runs is asked to clear its fault. */
int ctl_clear(const struct ctl_line *line)
{
	static struct status robot;
	const struct status_daemon *d = NULL;
	struct ctl_line usual = *line;
	struct lines why;

	if (!ctl_ask_status(&robot, &why))
		d = status_find_daemon(&robot, line->argv[0]);
	usual.within_ns = line->within_ns >= 0 ? line->within_ns : WAIT_NS;
	if (d && !strcmp(d->state, "failed"))
		return ctl_daemon_start(&usual, "clear");
	if (d && !strcmp(d->state, "stopped"))
		return ctl_fail(line, CTL_NO, "%s is stopped: there is nothing to clear (achctl start %s starts it)",
				d->name, d->name);
	return ask_driver(line, MSG_VERB_CLEAR, "", "");
}
