/* ctl.c: parts that the commands of achctl(1) share. */
#include <unistd.h>

#include "launch/achctl/ctl.h"
#include "launch/view/peer.h"
#include "launch/view/terminal.h"

/* ---- answers ---- */

static struct json begin_object(bool ok)
{
	struct json j = json_to(stdout);

	json_object(&j, NULL);
	json_bool(&j, "ok", ok);
	return j;
}

bool ctl_json(const struct ctl_line *line, struct json *j)
{
	if (line->json)
		*j = begin_object(true);
	return line->json;
}

int ctl_json_end(struct json *j)
{
	json_end(j);
	putchar('\n');
	return 0;
}

int ctl_done(const struct ctl_line *line, const char *fmt, ...)
{
	struct json j;
	va_list args;

	if (ctl_json(line, &j))
		return ctl_json_end(&j);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	return 0;
}

__attribute__((format(printf, 3, 0))) static void say(const struct ctl_line *line, enum error_severity severity,
						      const char *fmt, va_list args)
{
	char text[ERROR_LINE_MAX], program[32];

	vsnprintf(text, sizeof(text), fmt, args);
	terminal_clean(text);
	if (line->json) {
		struct json j = begin_object(false);

		json_text(&j, "error", text);
		ctl_json_end(&j);
		return;
	}
	snprintf(program, sizeof(program), "achctl%s%s", line->command ? " " : "", line->command ? line->command : "");
	fflush(stdout);
	error_say(program, NULL, severity, "%s", text);
}

int ctl_fail(const struct ctl_line *line, int status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say(line, ERROR_PLAIN, fmt, args);
	va_end(args);
	return status;
}

void ctl_warn(const struct ctl_line *line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (!line->json)
		say(line, ERROR_WARNING, fmt, args);
	va_end(args);
}

/* ---- achstart ---- */

int ctl_ask(const struct ctl_line *line, struct control_call *ask, const char *const *words)
{
	struct lines why;
	int status = 0;

	if (control_call_for(ask, words, clock_now_ns() + CONTROL_CALL_WITHIN_NS, lines_begin(&why)))
		return ctl_fail(line, EXIT_RETRY, "%s", why.text);
	if (!ask->ok) {
		status = ctl_fail(line, CTL_NO, "refused: %s", ask->error);
		control_call_end(ask);
	}
	return status;
}

int ctl_ask_status(struct status *robot, struct lines *why)
{
	struct control_call ask;
	const int status = control_call_for(&ask, (const char *const[]){ "status", NULL },
					    clock_now_ns() + CONTROL_CALL_WITHIN_NS, lines_begin(why));

	if (!status) {
		status_read(robot, yaml_root(ask.doc));
		control_call_end(&ask);
	}
	return status;
}

pid_t ctl_achstart(struct error_sink *errors)
{
	struct control_call ask;
	const int status = control_call_begin(&ask, (const char *const[]){ "status", NULL }, 0, errors);
	const pid_t pid = status ? status : ask.pid;

	if (!status)
		control_call_end(&ask);
	return pid;
}

/* ---- the line ---- */

int ctl_robot(const struct ctl_line *line)
{
	struct lines lines;
	const int status = robot_choice_use(&line->asked, lines_begin(&lines));

	if (status >= 0)
		return 0;
	return ctl_fail(line, status == -EINVAL ? EXIT_WRONG : EXIT_RETRY, "%s", lines.text);
}

void ctl_who(const struct ctl_line *line, char who[CTL_WHO_MAX])
{
	const char *sudo = getuid() ? NULL : getenv("SUDO_USER"), *word = line->who ? line->who : sudo;

	if (word && *word)
		snprintf(who, CTL_WHO_MAX, "%s", word);
	else
		peer_name(who, getuid(), "/etc/passwd");
	utf8_clean(who); /* tabs, too: they separate words in a command to achstart */
}

/* ---- the terminal ---- */

bool ctl_colour(FILE *to)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(to)) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}
