/* deadman.c: holds a robot whose achstart has died. */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/client/folder.h"
#include "channels/clock/clock.h"
#include "launch/achstart/deadman.h"
#include "launch/achstart/rundir.h"

#define LOOK_NS 20000000 /* between two looks whether there is another achstart */

static int line = -1; /* its end tells the process that achstart has ended */

/* ---- the process ---- */

static void leave_terminal(void)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	setsid();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "achstart-alone");
}

/* The lock names the achstart that has it, and is removed by one that ends in order.  Nothing is created: the folder
 * may be gone. */
static bool is_replaced(pid_t achstart)
{
	char path[RUN_PATH_MAX], text[16] = "";
	const int fd = run_path(path, "lock", &(struct error_sink){ 0 }) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n < 0 || (n > 0 && atoi(text) != achstart);
}

static _Noreturn void wait_for_end(const struct launch *launch, pid_t achstart, int from)
{
	char path[LAUNCH_FIND_MAX], byte;
	int64_t now_ns, until_ns;
	ssize_t n;

	leave_terminal();
	do
		n = read(from, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		_exit(0); /* it ended in order */
	now_ns = clock_now_ns();
	for (until_ns = now_ns + launch->unsupervised_ns; now_ns < until_ns && !is_replaced(achstart);
	     now_ns = clock_now_ns())
		clock_wait(NULL, 0, until_ns - now_ns < LOOK_NS ? until_ns : now_ns + LOOK_NS);
	if (is_replaced(achstart) || !rundir_has_daemon(launch) || launch_find(path, "achctl"))
		_exit(0);
	execl(path, "achctl", "--robot", launch->name, "hold", "--why", "achstart has died, and no other one came",
	      (char *)NULL);
	_exit(1);
}

/* ---- achstart ---- */

/* It is not a child of achstart: those are daemons. */
int deadman_begin(const struct launch *launch, int lock, struct claim_set *claims)
{
	const pid_t achstart = getpid();
	int ends[2];
	pid_t pid;

	if (!launch->unsupervised_ns)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	pid = fork();
	if (!pid) {
		close(lock);
		claim_release(claims);
		close(ends[0]);
		pid = fork();
		if (!pid)
			wait_for_end(launch, achstart, ends[1]);
		_exit(pid < 0);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	waitpid(pid, NULL, 0);
	line = ends[0];
	return 0;
}

void deadman_end(void)
{
	char byte = 0;

	if (line < 0)
		return;
	if (send(line, &byte, 1, MSG_NOSIGNAL) == 1 && read(line, &byte, 1) != 0)
		errno = 0; /* not reached: it sends nothing */
	close(line);
	line = -1;
}
