/* orphans.c: see orphans.h. */
#include "launch/achstart/orphans.h"

#include <dirent.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/clock/clock.h"

#define ENVIRONMENT_MAX (1 << 17)
#define TRIES 100
#define TRY_NS 10000000

void orphans_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static const struct supervised *leader(const struct supervisor *s, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->supervised[i].child.pid == pid || s->supervised[i].spare.child.pid == pid)
			return &s->supervised[i];
	return NULL;
}

/* The value behind "KEY=" in an environment that ends with two zeros; NULL: not there. */
static const char *value_of(const char *environment, const char *key)
{
	const size_t len = strlen(key);

	for (const char *one = environment; *one; one += strlen(one) + 1)
		if (!strncmp(one, key, len))
			return one + len;
	return NULL;
}

/* The daemon of this robot that started it, by its environment; NULL: none, or it has ended. */
static const struct supervised *daemon_of(struct supervisor *s, pid_t pid)
{
	static char environment[ENVIRONMENT_MAX]; /* of one thread */
	const int len = folder_proc_read(pid, "environ", environment, sizeof(environment) - 1);
	char run[RUN_PATH_MAX];
	const char *of, *name;

	if (len <= 0 || run_path(run, NULL, &(struct error_sink){ 0 }))
		return NULL;
	environment[len + 1] = 0;
	of = value_of(environment, "ENDPLATE_RUN=");
	name = value_of(environment, "ENDPLATE_DAEMON=");
	return of && name && !strcmp(of, run) ? supervise_find(s, name) : NULL;
}

static bool is_orphan(const struct supervised *d, pid_t pid)
{
	if (!policy_has_process(&d->policy) || !d->child.pid)
		return true;
	return pid != d->child.pid && folder_started(pid) < d->saved.started;
}

/* The descriptor comes first: the number may be reused before its environment is read. */
static unsigned int kill_orphan(struct supervisor *s, pid_t pid, int64_t now_ns)
{
	const int pidfd = leader(s, pid) || pid == getpid() ? -1 : pidfd_open(pid, 0);
	const struct supervised *d = pidfd < 0 ? NULL : daemon_of(s, pid);
	const bool orphan = d && is_orphan(d, pid);

	if (orphan) {
		pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
		supervised_say(s, d, now_ns, WARNING, "orphan", "process %d outlived it and was killed", (int)pid);
	}
	if (pidfd >= 0)
		close(pidfd);
	return orphan;
}

unsigned int orphans_kill_children(struct supervisor *s, int64_t now_ns)
{
	unsigned int found = 0;
	char path[64];
	FILE *from;
	int pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	from = fopen(path, "re");
	while (from && fscanf(from, "%d", &pid) == 1)
		found += kill_orphan(s, pid, now_ns);
	if (from)
		fclose(from);
	return found;
}

unsigned int orphans_kill_all(struct supervisor *s, int64_t now_ns)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	unsigned int found = 0;

	while (folder && (entry = readdir(folder)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9')
			found += kill_orphan(s, atoi(entry->d_name), now_ns);
	if (folder)
		closedir(folder);
	return found;
}

void orphans_kill_at_end(struct supervisor *s)
{
	for (int i = 0; i < TRIES && orphans_kill_all(s, clock_now_ns()); i++)
		clock_wait(NULL, 0, clock_now_ns() + TRY_NS);
}

void orphans_reap(const struct supervisor *s)
{
	siginfo_t info = { 0 };

	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid && !leader(s, info.si_pid)) {
		waitpid(info.si_pid, NULL, 0);
		info.si_pid = 0;
	}
}
