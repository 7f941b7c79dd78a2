/* ctl_daemon.c: achctl start, restart and stop: asks achstart and waits until it is done. */
#include <sys/pidfd.h>
#include <unistd.h>

#include "launch/achctl/ctl.h"
#include "launch/achctl/tail.h"
#include "launch/view/logs.h"

#define LOOK_NS 50000000

/* 0 with the daemon in *daemon, or the exit status after a line. */
static int ask_daemon_status(const struct ctl_line *line, struct status_daemon *daemon)
{
	static struct status robot;
	const struct status_daemon *found;
	struct lines why;

	*daemon = (struct status_daemon){ 0 };
	if (ctl_ask_status(&robot, &why))
		return ctl_fail(line, EXIT_RETRY, "%s", why.text);
	found = status_find_daemon(&robot, line->argv[0]);
	if (found) /* if not, achstart will refuse the name */
		*daemon = *found;
	return 0;
}

int ctl_daemon_missing(const struct ctl_line *line)
{
	static struct status robot;
	struct lines why;
	char names[400] = "";

	if (ctl_ask_status(&robot, &why))
		return ctl_fail(line, EXIT_WRONG, "which daemon? achctl %s NAME (%s)", line->command, why.text);
	for (size_t i = 0; i < robot.daemons_n; i++)
		lines_append(names, sizeof(names), ", ", "%s", robot.daemons[i].name);
	return ctl_fail(line, EXIT_WRONG, "which daemon? achctl %s NAME, where NAME is one of %s", line->command,
			names);
}

static int command(const struct ctl_line *line, const char *verb)
{
	struct control_call ask;
	const int status = ctl_ask(line, &ask, (const char *const[]){ verb, line->argv[0], NULL });

	if (!status)
		control_call_end(&ask);
	return status;
}

static int not_so(const struct ctl_line *line, const struct status_daemon *d, const char *what)
{
	const char *why = !strcmp(d->state, "waiting") ? "it waits for what it needs"
			  : *d->why		       ? d->why
			  : *d->status		       ? d->status
						       : d->last_end;

	return ctl_fail(line, CTL_NO, "%s: %s: %s%s%s", d->name, what, d->state, *why ? ": " : "", why);
}

static int it_is_so(const struct ctl_line *line, const struct status_daemon *d)
{
	struct json j;

	if (ctl_json(line, &j)) {
		json_text(&j, "name", d->name);
		json_text(&j, "state", d->state);
		json_bool(&j, "ready", d->ready);
		json_int(&j, "pid", d->pid);
		json_int(&j, "incarnation", d->incarnation);
		return ctl_json_end(&j);
	}
	if (d->pid > 0)
		return ctl_done(line, "%s: %s%s%s, process %lld, incarnation %lld", d->name, d->state,
				*d->life ? ", " : "", d->life, (long long)d->pid, (long long)d->incarnation);
	return ctl_done(line, "%s: %s", d->name, d->state);
}

/* Until it is stopped; or until it is ready, in another process than before. */
static int wait_until(const struct ctl_line *line, bool stopped, int64_t before)
{
	const int64_t until_ns = clock_now_ns() + line->within_ns;
	char late[64];

	for (;;) {
		struct status_daemon d;
		const int status = ask_daemon_status(line, &d);
		/* Else achstart has not read the channel since the process began. */
		const bool fresh = !(d.age_ms / 1e3 > d.uptime_s);

		if (status)
			return status;
		if (stopped ? !strcmp(d.state, "stopped")
			    : !strcmp(d.state, "done") || (d.ready && d.pid != before && fresh))
			return it_is_so(line, &d);
		if (!stopped && !strcmp(d.state, "failed"))
			return not_so(line, &d, "not started");
		if (clock_now_ns() >= until_ns) {
			snprintf(late, sizeof(late), "not %s within %g s", stopped ? "stopped" : "ready",
				 (double)line->within_ns / 1e9);
			return not_so(line, &d, late);
		}
		clock_wait(NULL, 0, clock_now_ns() + LOOK_NS);
	}
}

int ctl_daemon_start(const struct ctl_line *line, const char *verb)
{
	struct status_daemon before;
	int status = ask_daemon_status(line, &before);

	if (!status)
		status = command(line, verb);
	if (status)
		return status;
	if (!line->within_ns)
		return ctl_done(line, "%s: asked to %s", line->argv[0], verb);
	return wait_until(line, false, strcmp(verb, "restart") ? -1 : before.pid);
}

int ctl_start(const struct ctl_line *line)
{
	return ctl_daemon_start(line, line->command);
}

/* ---- daemons that were killed, as reported in the events ---- */

#define KILLED_MAX 512 /* bytes of "waist, larm" */

/* "2026-11-15 08:00:00.123456 waist warning killed: it did not stop in time and was killed" */
static void note_killed(void *to, const char *line)
{
	char name[TEXT_NAME_MAX + 1], severity[16], code[32];

	if (sscanf(line, "%*s %*s %23s %15s %31[^:]:", name, severity, code) == 3 && !strcmp(code, "killed") &&
	    text_is_name(name))
		lines_append(to, KILLED_MAX, ", ", "%s", name);
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
		if (ctl_achstart(&(struct error_sink){ 0 }) == -ENOENT)
			return true;
		if (clock_now_ns() >= until_ns)
			return false;
		clock_wait(NULL, 0, clock_now_ns() + LOOK_NS);
	}
}

static int stopped(const struct ctl_line *line, char killed[KILLED_MAX])
{
	char *rest = NULL;
	struct json j;

	if (*killed)
		ctl_warn(line, "had to be killed: %s", killed);
	if (!ctl_json(line, &j))
		return ctl_done(line, "the robot is stopped, and achstart has ended");
	json_array(&j, "killed");
	for (char *name = strtok_r(killed, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest))
		json_text(&j, NULL, name);
	json_end(&j);
	return ctl_json_end(&j);
}

static int wait_stopped(const struct ctl_line *line, pid_t pid, int pidfd, struct tail *events)
{
	char killed[KILLED_MAX] = "";

	if (!wait_gone(pidfd, clock_now_ns() + line->within_ns))
		return ctl_fail(line, CTL_NO, "achstart, process %d, has not ended within %g s (see achctl status)",
				(int)pid, (double)line->within_ns / 1e9);
	if (events->fd >= 0)
		tail_more(events, note_killed, killed);
	return stopped(line, killed);
}

static int stop_robot(const struct ctl_line *line)
{
	char path[RUN_PATH_MAX];
	struct tail events = { .fd = -1 };
	struct control_call ask;
	struct lines why;
	const pid_t pid = ctl_achstart(lines_begin(&why)); /* before it is stopped, so that its end can be seen */
	int pidfd, status;

	if (pid < 0)
		return ctl_fail(line, EXIT_RETRY, "%s", why.text);
	pidfd = pidfd_open(pid, 0);
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
	int status;

	if (!line->argc)
		return stop_robot(line);
	status = command(line, "stop");
	if (status)
		return status;
	return line->within_ns ? wait_until(line, true, 0) : ctl_done(line, "%s: asked to stop", line->argv[0]);
}
