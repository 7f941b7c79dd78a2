/* member.c: a user's rights by the user database as it is now. */
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "launch/view/member.h"

#define GROUPS_MAX 4096
#define FIRST_FD 3

/* Does not return.  It keeps neither the sockets of its parent nor lives on without it. */
__attribute__((noreturn)) static void look_up(const struct rights_robot *robot, uid_t uid)
{
	static gid_t groups[GROUPS_MAX];
	struct rights_peer peer = { .uid = uid, .gid = (gid_t)-1 };
	const struct passwd *user;
	int n = GROUPS_MAX;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close_range(FIRST_FD, ~0u, 0);
	user = getpwuid(uid);
	if (user && getgrouplist(user->pw_name, user->pw_gid, groups, &n) >= 0) {
		peer.groups = groups;
		peer.groups_n = (size_t)n;
	}
	_exit((int)rights_of(robot, &peer));
}

int member_rights(const struct rights_robot *robot, uid_t uid, int64_t within_ns)
{
	struct clock_fd end = { .events = POLLIN };
	const struct rights_peer alone = { .uid = uid, .gid = (gid_t)-1 };
	const unsigned int own = rights_of(robot, &alone);
	int status;
	pid_t pid;

	if (own) /* whatever the database says */
		return (int)own;
	signal(SIGCHLD, SIG_DFL); /* it may be ignored since before this process */
	pid = fork();
	if (!pid)
		look_up(robot, uid);
	if (pid < 0)
		return -EAGAIN;
	end.fd = pidfd_open(pid, 0);
	if (end.fd < 0 || clock_wait(&end, 1, clock_now_ns() + within_ns) < 0 || !end.ready)
		kill(pid, SIGKILL);
	if (end.fd >= 0)
		close(end.fd);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -EAGAIN;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ETIMEDOUT;
}

int member_may_arm(gid_t arming, uid_t uid)
{
	const struct rights_robot robot = { run_owner(), (gid_t)-1, arming, (gid_t)-1 };
	const int rights = member_rights(&robot, uid, MEMBER_WITHIN_NS);

	return rights < 0 ? rights : (rights & (int)RIGHTS_ARM) != 0;
}
