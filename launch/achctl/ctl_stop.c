/* ctl_stop.c: achctl stop: a daemon, or the whole robot and achstart with it. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launch/achctl/ctl.h"
#include "launch/achctl/tail.h"
#include "launch/view/logs.h"

#define LOOK_NS 50000000

/* ---- daemons that were killed, as reported in the events ---- */

struct killed {
	char names[512]; /* "waist, larm" */
};

/* "2026-11-15 08:00:00.123456 waist warning killed: it did not stop in time and was killed" */
static void note_killed(void *to, const char *line)
{
	struct killed *k = to;
	char name[TEXT_NAME_MAX + 1], severity[16], code[32];

	if (sscanf(line, "%*s %*s %23s %15s %31[^:]:", name, severity, code) == 3 && !strcmp(code, "killed") &&
	    text_is_name(name))
		lines_append(k->names, sizeof(k->names), ", ", "%s", name);
}

/* ---- the robot ---- */

/* Waits until the process has ended; true: it has. */
static bool wait_gone(int pidfd, int64_t until_ns)
{
	struct clock_fd fd = { .fd = pidfd, .events = POLLIN };

	if (pidfd >= 0)
		return clock_wait(&fd, 1, until_ns) > 0;
	/* A process of another name space, for example: wait until its socket is gone. */
	for (;;) {
		struct error_sink quiet = { 0 };
		struct control_call ask;

		if (control_call_begin(&ask, (const char *const[]){ "status", NULL }, 0, &quiet) == -ENOENT)
			return true;
		control_call_end(&ask);
		if (clock_now_ns() >= until_ns)
			return false;
		clock_wait(NULL, 0, clock_now_ns() + LOOK_NS);
	}
}

static int stopped(const struct ctl_line *line, struct killed *k)
{
	char *rest = NULL;
	struct json j;

	if (*k->names)
		ctl_warn(line, "had to be killed: %s", k->names);
	if (!ctl_json(line, &j))
		return ctl_done(line, "the robot is stopped, and achstart has ended");
	json_array(&j, "killed");
	for (char *name = strtok_r(k->names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest))
		json_text(&j, NULL, name);
	json_end(&j);
	return ctl_json_end(&j);
}

static int wait_stopped(const struct ctl_line *line, pid_t pid, int pidfd, struct tail *events)
{
	struct killed killed = { "" };

	if (!wait_gone(pidfd, clock_now_ns() + line->within_ns))
		return ctl_fail(line, CTL_NO, "achstart, process %d, has not ended within %g s (see achctl status)",
				(int)pid, (double)line->within_ns / 1e9);
	if (events->fd >= 0)
		tail_more(events, note_killed, &killed);
	return stopped(line, &killed);
}

/* The process of achstart, found before it is stopped, so that its end can be seen. */
static int find_achstart(const struct ctl_line *line, pid_t *pid)
{
	struct lines why;
	struct control_call ask;

	if (control_call_begin(&ask, (const char *const[]){ "status", NULL }, 0, lines_begin(&why)))
		return ctl_fail(line, EXIT_RETRY, "%s", why.text);
	*pid = ask.pid;
	control_call_end(&ask);
	return 0;
}

static int stop_robot(const struct ctl_line *line)
{
	char path[RUN_PATH_MAX];
	struct tail events = { .fd = -1 };
	struct control_call ask;
	pid_t pid = 0;
	int pidfd, status = find_achstart(line, &pid);

	if (status)
		return status;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (!logs_path(path, "events.log"))
		tail_open(&events, path);
	status = ctl_ask(line, &ask, (const char *const[]){ "stop", NULL });
	if (!status) {
		status = line->within_ns ? wait_stopped(line, pid, pidfd, &events) : ctl_done(line, "asked to stop");
		control_call_end(&ask);
	}
	tail_close(&events);
	if (pidfd >= 0)
		close(pidfd);
	return status;
}

int ctl_stop(const struct ctl_line *line)
{
	return line->argc ? ctl_daemon_stop(line) : stop_robot(line);
}
