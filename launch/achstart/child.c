/* child.c: one process of the robot. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/clock/vt_clock.h"
#include "daemons/drv/realtime.h"
#include "daemons/drv/standby.h"
#include "launch/achstart/child.h"
#include "launch/achstart/virtual.h"

#ifndef PIDFD_SIGNAL_PROCESS_GROUP /* Linux 6.9 */
#define PIDFD_SIGNAL_PROCESS_GROUP (1U << 2)
#endif

#define FIRST_FD 3 /* of sockets that a program is given */

/* Sent by the new process before exec: which step failed, and why. */
struct failure {
	char step; /* 'p' priority, 'c' core, 's' state file, 'x' exec */
	int error;
};

struct start {
	const struct launch_daemon *daemon;
	const char *path;
	char **environment;
	int log_fd, to;
	int stdin_fd;			    /* of a spare: it waits there; else -1 */
	const struct kept_sockets *sockets; /* NULL: none */
	char *listen_pid;		    /* of the environment: written by the new process */
	struct folder_state *saved;
	int slot; /* of the virtual clock; 0: none */
};

/* Succeeds or not: SIGPIPE is ignored until exec. */
static void report(int to, char step, int error)
{
	const struct failure failure = { step, error };

	if (write(to, &failure, sizeof(failure)) != sizeof(failure))
		errno = 0;
}

static void reset_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	for (int i = 1; i < NSIG; i++)
		signal(i, i == SIGPIPE ? SIG_IGN : SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* ---- scheduling ---- */

static int own_priority; /* 0: the ordinary scheduler */

int child_take_priority(int priority)
{
	const int status = realtime_schedule(0, SCHED_FIFO, priority);

	if (!status)
		own_priority = priority;
	return status;
}

/* What an ordinary daemon begins with, so that achstart does not wait for its turn among others until exec: just below
 * achstart, which then ends it; if achstart is killed before that, the next one does. */
#define YOUNG SCHED_RR

static void settle(pid_t pid)
{
	struct sched_param param;

	if (sched_getscheduler(pid) == YOUNG && !sched_getparam(pid, &param) &&
	    param.sched_priority == own_priority - 1)
		realtime_schedule(pid, SCHED_OTHER, 0);
}

static void take_core(const struct start *start)
{
	cpu_set_t cores;

	CPU_ZERO(&cores);
	CPU_SET((int)start->daemon->core, &cores);
	if (sched_setaffinity(0, sizeof(cores), &cores))
		report(start->to, 'c', errno);
}

/* Last, since achstart waits until then.  A spare lowers its priority itself, after exec. */
static void schedule(const struct start *start)
{
	const struct launch_daemon *daemon = start->daemon;
	const bool real_time = daemon->priority && !start->slot;
	int status = -1;

	if (!start->slot)
		virtual_beside();
	if (daemon->core >= 0 && !start->slot)
		take_core(start);
	if (real_time)
		status = realtime_schedule(0, SCHED_FIFO, (int)daemon->priority);
	if (real_time && status)
		report(start->to, 'p', -status);
	if (status && own_priority > 1)
		realtime_schedule(0, YOUNG, own_priority - 1);
}

/* ---- memory ---- */

/* When the machine has no memory left the kernel kills programs before drivers, and achstart, which restarts them,
 * last.  Any user may raise a score, and none may lower it, so these are above that of achstart.  A point is a
 * thousandth of the memory: little enough for a large process beside the robot to be killed before a small one of the
 * robot. */
#define OOM_DRIVER 20
#define OOM_PROGRAM 40
#define OOM_MAX 1000

static void raise_oom_score(const struct launch_daemon *daemon)
{
	const int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	char text[16] = "";
	int len;

	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0) {
		len = snprintf(text, sizeof(text), "%d",
			       (int)num_min(OOM_MAX,
					    atoi(text) + (daemon->kind == LAUNCH_DRIVER ? OOM_DRIVER : OOM_PROGRAM)));
		if (pwrite(fd, text, (size_t)len, 0) != len)
			errno = 0; /* it keeps achstart's */
	}
	close(fd);
}

/* ---- what the new process gets ---- */

#define PID_TEXT_MAX 12
#define LISTEN_PID "LISTEN_PID="

struct environment {
	char **item;
	size_t n;
	char text[4 * RUN_PATH_MAX]; /* of the assignments that are made here */
	size_t len;
};

/* Adds the assignment, or replaces the one of the same variable. */
static void put(struct environment *e, char *assignment)
{
	const size_t len = strcspn(assignment, "=") + 1;
	size_t at = 0;

	while (at < e->n && strncmp(e->item[at], assignment, len) != 0)
		at++;
	e->item[at] = assignment;
	e->n += at == e->n;
}

__attribute__((format(printf, 2, 3))) static char *put_text(struct environment *e, const char *fmt, ...)
{
	char *text = e->text + e->len;
	va_list args;

	va_start(args, fmt);
	e->len += (size_t)vsnprintf(text, sizeof(e->text) - e->len, fmt, args) + 1;
	va_end(args);
	put(e, text);
	return text;
}

static bool is_ours_alone(const char *assignment)
{
	return !strncmp(assignment, "WATCHDOG_USEC=", 14) || !strncmp(assignment, "WATCHDOG_PID=", 13) ||
	       !strncmp(assignment, "NOTIFY_SOCKET=", 14) || !strncmp(assignment, "ENDPLATE_BOUNDS=", 16) ||
	       !strncmp(assignment, LISTEN_PID, strlen(LISTEN_PID)) || !strncmp(assignment, "LISTEN_FDS=", 11) ||
	       !strncmp(assignment, "LISTEN_FDNAMES=", 15) || !strncmp(assignment, STANDBY "=", strlen(STANDBY "=")) ||
	       !strncmp(assignment, VT_CLOCK_PLACE, strlen(VT_CLOCK_PLACE));
}

/* Its stdout is a FIFO: what Python keeps to itself would be lost with a kill. */
static char by_lines[] = "PYTHONUNBUFFERED=1";

static int make_environment(struct environment *e, struct start *start, char *place)
{
	const struct launch_daemon *daemon = start->daemon;
	char path[RUN_PATH_MAX];
	size_t most = 10;

	for (char **one = environ; *one; one++)
		most++;
	for (char **one = daemon->environment; one && *one; one++)
		most++;
	e->item = calloc(most, sizeof(*e->item));
	if (!e->item)
		return -ENOMEM;
	put(e, by_lines);
	for (char **one = environ; *one; one++)
		if (!is_ours_alone(*one))
			put(e, *one);
	if (!run_path(path, NULL, &(struct error_sink){ 0 }))
		put_text(e, "ENDPLATE_RUN=%s", path);
	if (!run_path(path, "notify", &(struct error_sink){ 0 }))
		put_text(e, "NOTIFY_SOCKET=%s", path);
	for (char **one = daemon->environment; one && *one; one++)
		put(e, *one);
	put_text(e, "ENDPLATE_DAEMON=%s", daemon->name); /* under which its state is kept */
	if (daemon->bounds)
		put(e, daemon->bounds);
	if (*place)
		put(e, place);
	if (start->sockets && start->sockets->n) {
		put_text(e, "LISTEN_FDS=%zu", start->sockets->n);
		start->listen_pid = put_text(e, LISTEN_PID "%*s", PID_TEXT_MAX, "") + strlen(LISTEN_PID);
	}
	if (start->stdin_fd >= 0)
		put_text(e, STANDBY "=%d", clock_used() ? STANDBY_ON_CLOCK : (int)daemon->priority);
	start->environment = e->item;
	return 0;
}

/* ---- between vfork and exec ---- */

/* Behind everything that uses a descriptor of ours: these numbers may be taken.  Returns the pipe, which may have to
 * move. */
static int give_sockets(const struct start *start)
{
	const struct kept_sockets *sockets = start->sockets;
	const int above = FIRST_FD + LISTENER_PAIR;
	int copies[LISTENER_PAIR], to;

	if (!sockets || !sockets->n)
		return start->to;
	to = fcntl(start->to, F_DUPFD_CLOEXEC, above);
	for (size_t i = 0; i < sockets->n; i++)
		copies[i] = fcntl(sockets->fd[i], F_DUPFD_CLOEXEC, above);
	for (size_t i = 0; i < sockets->n; i++)
		if (copies[i] < 0 || dup2(copies[i], FIRST_FD + (int)i) < 0) {
			report(to, 'x', errno);
			_exit(EXIT_RETRY);
		}
	snprintf(start->listen_pid, PID_TEXT_MAX, "%d", (int)getpid());
	return to;
}

/* After vfork it shares our memory while we wait: it changes only what is its own (signals, descriptors,
 * scheduling), and allocates nothing. */
static _Noreturn void become(const struct start *start)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC), out = start->log_fd < 0 ? null : start->log_fd;
	int to, status = 0;

	virtual_started(start->slot);
	setsid();
	reset_signals();
	dup2(start->stdin_fd < 0 ? null : start->stdin_fd, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	if (start->saved) { /* without it another achstart would not find the process, and start another */
		folder_begin(start->saved, getpid());
		status = folder_state_write(start->daemon->name, start->saved);
	}
	if (status) {
		report(start->to, 's', -status);
		_exit(EXIT_RETRY);
	}
	raise_oom_score(start->daemon);
	schedule(start);
	to = give_sockets(start);
	signal(SIGPIPE, SIG_DFL);
	execve(start->path, start->daemon->argv, start->environment);
	signal(SIGPIPE, SIG_IGN);
	report(to, 'x', errno);
	_exit(EXIT_RETRY);
}

/* ---- starting ---- */

static int read_failures(int from, const struct launch_daemon *daemon, const char *path, struct error_sink *errors,
			 struct error_sink *warnings)
{
	struct failure failure;
	int status = 0;

	while (read(from, &failure, sizeof(failure)) == sizeof(failure)) {
		if (failure.step == 'x') {
			error_add(errors, "unable to start %s: %s", path, strerror(failure.error));
			status = -failure.error;
		} else if (failure.step == 'p') {
			error_add(
				warnings,
				"priority %d: %s; it takes a higher limit, LimitRTPRIO= or ulimit -r; it runs without",
				(int)daemon->priority, strerror(failure.error));
		} else if (failure.step == 's') {
			error_add(errors, "not started, because its state cannot be kept: %s", strerror(failure.error));
			status = -failure.error;
		} else {
			error_add(warnings, "core %d: %s; it runs on any", (int)daemon->core, strerror(failure.error));
		}
	}
	return status;
}

/* Forgets it; it runs on. */
static void close_child(struct child *child)
{
	if (child->pidfd >= 0)
		close(child->pidfd);
	*child = (struct child){ .pidfd = -1 };
}

/* vfork saves the copy of our memory and the page faults after it; we would wait for exec anyway. */
static pid_t start_process(const struct start *start)
{
	const pid_t pid = vfork();

	if (!pid)
		become(start);
	return pid;
}

static int refuse(struct error_sink *errors, const char *path, int error)
{
	return error_refuse(errors, -error, "unable to start %s: %s", path, strerror(error));
}

static int start_child(struct child *child, struct start *start, char *place, struct error_sink *errors,
		       struct error_sink *warnings)
{
	struct environment environment = { 0 };
	int ends[2], status = make_environment(&environment, start, place), error;
	pid_t pid;

	if (status || pipe2(ends, O_CLOEXEC)) {
		error = status ? -status : errno;
		free(environment.item);
		return refuse(errors, start->path, error);
	}
	start->to = ends[1];
	pid = start_process(start);
	error = errno;
	free(environment.item);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return refuse(errors, start->path, error);
	}
	settle(pid);
	*child = (struct child){ .pid = pid, .pidfd = pidfd_open(pid, 0), .ours = true };
	status = read_failures(ends[0], start->daemon, start->path, errors, warnings);
	close(ends[0]);
	if (status) {
		waitpid(pid, NULL, 0);
		close_child(child);
	}
	return status;
}

int child_start(struct child *child, const struct launch_daemon *daemon, const char *path, int log_fd,
		const struct kept_sockets *sockets, struct folder_state *saved, struct error_sink *errors,
		struct error_sink *warnings)
{
	struct start start = {
		.daemon = daemon, .path = path, .log_fd = log_fd, .stdin_fd = -1, .sockets = sockets, .saved = saved
	};
	char place[VIRTUAL_PLACE_MAX] = "";
	int status;

	*child = (struct child){ .pidfd = -1 };
	if (daemon->kind == LAUNCH_DRIVER && !launch_is_driver(path))
		return error_refuse(errors, -ENOEXEC, "%s is not an Endplate driver", path);
	start.slot = virtual_expect(daemon, path, place);
	if (!start.slot && clock_used())
		error_add(warnings, "it does not know the virtual clock and runs in real time");
	status = start_child(child, &start, place, errors, warnings);
	if (status)
		virtual_not_started(start.slot);
	return status;
}

int child_start_spare(struct child *child, const struct launch_daemon *daemon, const char *path, int log_fd, int *go)
{
	struct start start = { .daemon = daemon, .path = path, .log_fd = log_fd };
	struct error_sink quiet = { 0 };
	char no_clock[] = "";
	int ends[2], status;

	*child = (struct child){ .pidfd = -1 };
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	start.stdin_fd = ends[0];
	status = start_child(child, &start, no_clock, &quiet, &quiet);
	close(ends[0]);
	if (status)
		close(ends[1]);
	*go = status ? -1 : ends[1];
	return status;
}

int child_use_spare(const struct child *child, const struct launch_daemon *daemon, int go, struct folder_state *saved)
{
	char place[VIRTUAL_PLACE_MAX] = "";
	ssize_t len;
	int status, slot;

	folder_begin(saved, child->pid);
	status = saved->started ? folder_state_write(daemon->name, saved) : -ESRCH;
	if (status)
		return status;
	slot = virtual_expect_spare(daemon, child->pid, place);
	if (daemon->priority && !slot) /* if it is refused, that was said at the first start */
		realtime_schedule(child->pid, SCHED_FIFO, (int)daemon->priority);
	len = (ssize_t)strlen(place) + 1;
	if (write(go, place, (size_t)len) == len)
		return 0;
	status = -errno;
	virtual_not_started(slot);
	return status;
}

int child_adopt(struct child *child, const struct folder_state *saved)
{
	const int pidfd = folder_pidfd(saved);

	*child = (struct child){ .pid = pidfd < 0 ? 0 : saved->pid, .pidfd = pidfd < 0 ? -1 : pidfd };
	if (child->pid)
		settle(child->pid);
	return pidfd < 0 ? pidfd : 0;
}

/* To the group by its descriptor; on an older kernel by the number of the leader, which is not reaped yet; to the
 * process alone if it does not lead a group. */
static int send_signal(const struct child *child, int signal)
{
	if (child->pidfd >= 0 && !pidfd_send_signal(child->pidfd, signal, NULL, PIDFD_SIGNAL_PROCESS_GROUP))
		return 0;
	if (!child->pid || (!child->ours && pidfd_send_signal(child->pidfd, 0, NULL, 0)))
		return -ESRCH;
	if (!kill(-child->pid, signal) || (child->pidfd >= 0 && !pidfd_send_signal(child->pidfd, signal, NULL, 0)))
		return 0;
	return -errno;
}

int child_signal(const struct child *child, int signal)
{
	const bool dies = virtual_dies(child->pid, signal);
	int status;

	clock_touch(0);
	status = send_signal(child, signal);
	if (!status && dies)
		virtual_killed(child->pid);
	return status;
}

/* It is not reaped here: its number is also that of its group. */
static bool own_ended(const struct child *child)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) ? errno != EINTR : info.si_pid != 0;
}

bool child_ended(struct child *child, int *status)
{
	struct clock_fd end = { .fd = child->pidfd, .events = POLLIN };

	*status = -1; /* that of a process that is not our child is unknown */
	if (!child->pid || !(child->ours ? own_ended(child) : clock_wait(&end, 1, 0) > 0))
		return false;
	child_signal(child, SIGKILL); /* the rest of its group */
	if (child->ours && waitpid(child->pid, status, WNOHANG) <= 0)
		*status = -1; /* another process has taken it */
	close_child(child);
	return true;
}

void child_end_text(char text[CHILD_END_MAX], int status)
{
	if (status == -1)
		snprintf(text, CHILD_END_MAX, "status unknown");
	else if (WIFEXITED(status))
		snprintf(text, CHILD_END_MAX, "exit status %d", WEXITSTATUS(status));
	else
		snprintf(text, CHILD_END_MAX, "signal %d (%s)%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
			 WCOREDUMP(status) ? ", core dumped" : "");
}
