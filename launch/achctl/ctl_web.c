/* ctl_web.c: achctl web: a link to the page of the robot, which achweb(1) serves. */
#include "channels/port/rpc.h"
#include "launch/achctl/ctl.h"

#define SOCKET "web"
#define FOLDER "/run/endplate-web/%.*s/" SOCKET /* of an achweb that is another user */

/* 0 and the link, or -errno with a line in why. */
static int ask(const char *question, char *answer, size_t size, struct lines *why)
{
	const int64_t until_ns = clock_now_ns() + CONTROL_CALL_WITHIN_NS;
	char path[RUN_PATH_MAX], other[RUN_PATH_MAX];
	int status = run_path(path, SOCKET, lines_begin(why));

	if (status)
		return status;
	status = rpc_call(path, question, answer, size, until_ns, &why->sink);
	if (status != -ENOENT && status != -ECONNREFUSED)
		return status;
	*strrchr(path, '/') = 0;
	snprintf(other, sizeof(other), FOLDER, RUN_PATH_MAX - (int)sizeof(FOLDER),
		 strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	return rpc_call(other, question, answer, size, until_ns, lines_begin(why));
}

int ctl_web(const struct ctl_line *line)
{
	char question[32], answer[256] = "";
	struct lines why;
	struct json j;
	int status;

	snprintf(question, sizeof(question), "%s %s", line->studio ? "key" : "token", line->act ? "act" : "look");
	status = ask(question, answer, sizeof(answer), &why);
	if (status == -EINVAL)
		return ctl_fail(line, CTL_NO, "refused: %s", why.text);
	if (status == -ENOENT || status == -ECONNREFUSED)
		return ctl_fail(line, EXIT_RETRY,
				"no achweb serves this robot: achctl start achweb, or add it to the "
				"launch file");
	if (status)
		return ctl_fail(line, EXIT_RETRY, "achweb: %s", *why.text ? why.text : strerror(-status));
	if (!ctl_json(line, &j))
		return ctl_done(line, "%s", answer);
	json_text(&j, "url", answer);
	return ctl_json_end(&j);
}
