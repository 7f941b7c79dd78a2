/* check_run.c: runs programs to the end and keeps their output. */
#include "launch/check/check_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/clock/clock.h"

/* ---- the child ---- */

static char **make_argv(const struct check_run *run)
{
	char **argv;
	size_t n = 0;

	while (run->argv[n])
		n++;
	argv = calloc(n + 2, sizeof(*argv));
	if (!argv)
		_exit(EXIT_RETRY);
	memcpy(argv, run->argv, n * sizeof(*argv));
	argv[n] = (char *)run->option;
	return argv;
}

static void become(const struct check_run *run, int parent)
{
	const struct rlimit size = { CHECK_RUN_SIZE_MAX, CHECK_RUN_SIZE_MAX };
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_RETRY);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setrlimit(RLIMIT_FSIZE, &size);
	dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
	dup2(run->out_fd, STDOUT_FILENO);
	dup2(run->say_fd, STDERR_FILENO);
	for (char *const *one = run->environment; one && *one; one++)
		putenv(*one);
	execv(run->path, make_argv(run));
	dprintf(STDERR_FILENO, "unable to run %s: %s\n", run->path, strerror(errno));
	_exit(127);
}

/* ---- one ---- */

static void start(struct check_run *run, int64_t within_ns)
{
	int parent = getpid();

	run->pidfd = -1;
	/* In memory, so that the program never waits for a reader. */
	run->out_fd = memfd_create("out", MFD_CLOEXEC);
	run->say_fd = memfd_create("say", MFD_CLOEXEC);
	run->pid = run->out_fd < 0 || run->say_fd < 0 ? -1 : fork();
	if (run->pid == 0)
		become(run, parent);
	if (run->pid > 0)
		run->pidfd = pidfd_open(run->pid, 0);
	run->err = run->pidfd < 0 ? -errno : 0;
	run->deadline_ns = clock_now_ns() + within_ns;
}

static char *collect(int fd, size_t *len)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = malloc(size > 0 ? (size_t)size + 1 : 1);
	ssize_t n = text && size > 0 ? pread(fd, text, (size_t)size, 0) : 0;

	*len = n > 0 ? (size_t)n : 0;
	if (text)
		text[*len] = '\0';
	return text;
}

/* It has ended, its time is up (err), or it was never started (err). */
static void finish(struct check_run *run)
{
	if (run->pid > 0) {
		/* The number of the group cannot be reused before its leader is reaped. */
		kill(-run->pid, SIGKILL);
		kill(run->pid, SIGKILL);
		waitpid(run->pid, &run->status, 0);
		run->out = collect(run->out_fd, &run->out_len);
		run->say = collect(run->say_fd, &run->say_len);
		if (!run->out || !run->say)
			run->err = -ENOMEM;
	}
	if (run->pidfd >= 0)
		close(run->pidfd);
	if (run->out_fd >= 0)
		close(run->out_fd);
	if (run->say_fd >= 0)
		close(run->say_fd);
}

/* ---- all ---- */

/* Waits until one of them has ended, or its time is up. */
static void wait_for(struct check_run *const *at_once, struct clock_fd *fds)
{
	int64_t until_ns = CLOCK_NEVER;

	for (size_t i = 0; i < CHECK_RUN_AT_ONCE; i++) {
		fds[i] = (struct clock_fd){ .fd = at_once[i] ? at_once[i]->pidfd : -1, .events = POLLIN };
		if (at_once[i] && at_once[i]->deadline_ns < until_ns)
			until_ns = at_once[i]->deadline_ns;
	}
	clock_wait(fds, CHECK_RUN_AT_ONCE, until_ns);
}

void check_run(struct check_run *runs, size_t n, int64_t within_ns)
{
	struct check_run *at_once[CHECK_RUN_AT_ONCE] = { NULL };
	struct clock_fd fds[CHECK_RUN_AT_ONCE];
	size_t next = 0, done = 0;

	while (done < n) {
		for (size_t i = 0; i < CHECK_RUN_AT_ONCE && next < n; i++) {
			if (at_once[i])
				continue;
			at_once[i] = &runs[next++];
			start(at_once[i], within_ns);
			if (!at_once[i]->err)
				continue;
			finish(at_once[i]);
			at_once[i] = NULL;
			done++;
		}
		if (done == n)
			return;
		wait_for(at_once, fds);
		for (size_t i = 0; i < CHECK_RUN_AT_ONCE; i++) {
			if (!at_once[i] || (!fds[i].ready && clock_now_ns() < at_once[i]->deadline_ns))
				continue;
			at_once[i]->err = fds[i].ready ? 0 : -ETIME;
			finish(at_once[i]);
			at_once[i] = NULL;
			done++;
		}
	}
}

void check_run_free(struct check_run *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(runs[i].out);
		free(runs[i].say);
		runs[i].out = runs[i].say = NULL;
	}
}
