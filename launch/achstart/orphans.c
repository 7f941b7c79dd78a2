/* orphans.c: processes that outlive the daemon which started them. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/clock.h"
#include "launch/achstart/supervise.h"

#define ENVIRONMENT_MAX (1 << 17)
#define TRIES 100
#define TRY_NS 10000000

void orphans_open(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* ---- which daemon it comes from ---- */

static const struct watch *leader(const struct supervisor *s, pid_t pid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->watches[i].child.pid == pid || s->watches[i].spare.child.pid == pid)
			return &s->watches[i];
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
static const struct watch *daemon_of(struct supervisor *s, pid_t pid)
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

static bool is_orphan(const struct watch *w, pid_t pid)
{
	if (!policy_has_process(&w->policy) || !w->child.pid)
		return true;
	return pid != w->child.pid && folder_started(pid) < w->kept.started;
}

/* The descriptor comes first: the number may be reused before its environment is read. */
static unsigned int kill_orphan(struct supervisor *s, pid_t pid, int64_t now_ns)
{
	const int pidfd = leader(s, pid) || pid == getpid() ? -1 : pidfd_open(pid, 0);
	const struct watch *w = pidfd < 0 ? NULL : daemon_of(s, pid);
	const bool orphan = w && is_orphan(w, pid);

	if (orphan) {
		pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
		watch_say(s, w, now_ns, WARNING, "orphan", "process %d outlived it and was killed", (int)pid);
	}
	if (pidfd >= 0)
		close(pidfd);
	return orphan;
}

/* ---- finding them ---- */

static unsigned int kill_children(struct supervisor *s, int64_t now_ns)
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

static unsigned int kill_all(struct supervisor *s, int64_t now_ns)
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

unsigned int orphans_kill(struct supervisor *s, bool all, int64_t now_ns)
{
	return all ? kill_all(s, now_ns) : kill_children(s, now_ns);
}

void orphans_end(struct supervisor *s)
{
	for (int i = 0; i < TRIES && orphans_kill(s, true, clock_now_ns()); i++)
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
