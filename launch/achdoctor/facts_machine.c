/* facts_machine.c: gathers what there is to know of the machine. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "launch/achdoctor/facts.h"

#define MEASURE_NS 500000000
#define PRIORITY_USUAL 50
#define MSR_SMI_COUNT 0x34

/* ---- tries ---- */

/* A thread that really has it: a kernel may accept the call and a control group without real-time share undo it. */
static void *take_priority(void *arg)
{
	const struct sched_param want = { .sched_priority = *(int *)arg };
	struct sched_param now = { 0 };
	int policy = 0, err = pthread_setschedparam(pthread_self(), SCHED_FIFO, &want);

	if (!err)
		err = pthread_getschedparam(pthread_self(), &policy, &now);
	if (!err && (policy != SCHED_FIFO || now.sched_priority != want.sched_priority))
		err = EPERM;
	*(int *)arg = -err;
	return NULL;
}

static int try_priority(int64_t priority)
{
	int arg = (int)priority;
	pthread_t thread;
	int err = pthread_create(&thread, NULL, take_priority, &arg);

	if (err)
		return -err;
	pthread_join(thread, NULL);
	return arg;
}

/* In a child, so that the memory of this process stays as it is. */
static int try_lock(void)
{
	int status = 0;
	const pid_t child = fork();

	if (!child)
		_exit(mlockall(MCL_CURRENT | MCL_FUTURE) ? errno : 0);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

/* ---- limits and capabilities ---- */

/* The soft limit in /proc/PID/limits. */
static int64_t limit_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	if (!at)
		return DOCTOR_UNKNOWN;
	at += strlen(name);
	at += strspn(at, " ");
	return strncmp(at, "unlimited", 9) ? strtoll(at, NULL, 10) : DOCTOR_UNLIMITED;
}

static void gather_limits(struct doctor_machine *m, const struct facts_scope *scope)
{
	char text[4096], path[64], who[24] = "self";
	const char *at;
	uint64_t caps;

	if (scope->pid)
		snprintf(who, sizeof(who), "%d", (int)scope->pid);
	snprintf(path, sizeof(path), "/proc/%s/limits", who);
	facts_text(scope->root, path, text, sizeof(text));
	m->rtprio = limit_of(text, "Max realtime priority");
	m->memlock = limit_of(text, "Max locked memory");
	snprintf(path, sizeof(path), "/proc/%s/status", who);
	facts_text(scope->root, path, text, sizeof(text));
	at = strstr(text, "\nCapEff:");
	caps = at ? strtoull(at + strlen("\nCapEff:"), NULL, 16) : 0;
	m->may_nice = caps >> CAP_SYS_NICE & 1;
	m->may_lock = caps >> CAP_IPC_LOCK & 1;
}

/* ---- cores ---- */

/* "2-3,5" as bits; cores from 64 on are left out. */
static uint64_t core_mask(const char *list)
{
	uint64_t mask = 0;
	char *end;

	while (isdigit((unsigned char)*list)) {
		const unsigned long first = strtoul(list, &end, 10);
		const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

		for (unsigned long core = first; core <= last && core < 64; core++)
			mask |= UINT64_C(1) << core;
		list = *end == ',' ? end + 1 : end;
	}
	return mask;
}

static void gather_cores(struct doctor_machine *m, const struct facts_scope *scope)
{
	char text[64];

	facts_line(scope->root, text, sizeof(text), "/sys/devices/system/cpu/online");
	for (uint64_t mask = core_mask(text); mask; mask &= mask - 1)
		m->cores++;
	for (int core = 0; core < 64; core++) {
		if (!facts_line(scope->root, text, sizeof(text),
				"/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", core))
			continue;
		m->governed++;
		if (!strcmp(text, "performance"))
			continue;
		if (!m->slow++)
			snprintf(m->governor, sizeof(m->governor), "%.31s", text);
	}
	facts_line(scope->root, m->isolated, sizeof(m->isolated), "/sys/devices/system/cpu/isolated");
	facts_line(scope->root, m->nohz, sizeof(m->nohz), "/sys/devices/system/cpu/nohz_full");
	if (!isdigit((unsigned char)*m->nohz))
		*m->nohz = 0; /* "(null)" */
	m->isolated_mask = core_mask(m->isolated);
	m->nohz_mask = core_mask(m->nohz);
}

static void gather_launch(struct doctor_machine *m, const struct launch *launch)
{
	m->priority = PRIORITY_USUAL;
	m->has_file = launch;
	m->page_port = DOCTOR_PAGE_PORT;
	for (size_t i = 0; launch && i < launch->daemons_n; i++) {
		const struct launch_daemon *d = &launch->daemons[i];

		if (d->priority > m->priority)
			m->priority = d->priority;
		if (d->listen)
			m->page_port = d->listen;
		if (d->core < 0 || d->core >= 64 || m->pinned_mask >> d->core & 1)
			continue;
		m->pinned_mask |= UINT64_C(1) << d->core;
		lines_append(m->pinned, sizeof(m->pinned), ",", "%d", (int)d->core);
	}
}

/* ---- control groups ---- */

/* In 1/1000 of a core; DOCTOR_UNLIMITED. */
static int64_t quota_of_text(const char *quota_us, int64_t period_us)
{
	char *end;
	const int64_t quota = strtoll(quota_us, &end, 10);

	return end == quota_us || quota <= 0 || period_us <= 0 ? DOCTOR_UNLIMITED : quota * 1000 / period_us;
}

/* The least of a group and those above it. */
static int64_t quota_along(const char *root, const char *mount, const char *group, bool v2)
{
	int64_t least = DOCTOR_UNLIMITED, one;
	char path[PATH_MAX], text[64];
	size_t len = (size_t)snprintf(path, 1024, "%s%s", mount, group);

	for (; len >= strlen(mount) && len < 1024; len = (size_t)(strrchr(path, '/') - path)) {
		path[len] = 0;
		one = DOCTOR_UNLIMITED;
		if (v2 && facts_line(root, text, sizeof(text), "%s/cpu.max", path))
			one = quota_of_text(text, strchr(text, ' ') ? strtoll(strchr(text, ' '), NULL, 10) : 100000);
		else if (!v2 && facts_line(root, text, sizeof(text), "%s/cpu.cfs_quota_us", path))
			one = quota_of_text(text, facts_number(root, "%s/cpu.cfs_period_us", path));
		if (one < least)
			least = one;
	}
	return least;
}

/* A line of /proc/PID/cgroup: NUMBER:CONTROLLERS:GROUP; without controllers it is the second version. */
static int64_t quota_of(const char *root, pid_t pid)
{
	char text[4096], path[64] = "/proc/self/cgroup", *save = NULL;
	int64_t least = DOCTOR_UNLIMITED;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	if (!facts_text(root, path, text, sizeof(text)))
		return DOCTOR_UNKNOWN;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
		int64_t one = DOCTOR_UNLIMITED;

		if (!group)
			continue;
		*group++ = 0;
		if (!strcmp(group, "/"))
			group = line + strlen(line); /* "" */
		if (!controllers[1])
			one = quota_along(root, "/sys/fs/cgroup", group, true);
		else if (!strcmp(controllers + 1, "cpu") || !strcmp(controllers + 1, "cpu,cpuacct"))
			one = quota_along(root, "/sys/fs/cgroup/cpu", group, false);
		if (one < least)
			least = one;
	}
	return least;
}

/* ---- time ---- */

static void gather_services(struct doctor_machine *m, const char *root)
{
	static const char *const known[] = { "chronyd", "ntpd", "systemd-timesyn", "phc2sys" };
	char path[PATH_MAX], name[32];
	uint64_t seen = 0;
	struct dirent *e;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/proc", root);
	folder = opendir(path);
	while (folder && (e = readdir(folder))) {
		if (!isdigit((unsigned char)*e->d_name) ||
		    !facts_line(root, name, sizeof(name), "/proc/%s/comm", e->d_name))
			continue;
		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
			if (strcmp(name, known[i]) != 0 || seen >> i & 1)
				continue;
			seen |= UINT64_C(1) << i;
			m->services_n++;
			lines_append(m->services, sizeof(m->services), ", ", "%s", name);
		}
	}
	if (folder)
		closedir(folder);
}

struct times {
	uint64_t all, stolen;
};

static bool read_times(const char *root, struct times *t)
{
	char text[256];
	unsigned long long field[8];

	*t = (struct times){ 0 };
	if (!facts_line(root, text, sizeof(text), "/proc/stat") ||
	    sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &field[0], &field[1], &field[2], &field[3],
		   &field[4], &field[5], &field[6], &field[7]) != 8)
		return false;
	for (int i = 0; i < 8; i++)
		t->all += field[i];
	t->stolen = field[7];
	return true;
}

static int64_t per_mille(uint64_t part, uint64_t all)
{
	return all ? (int64_t)(part * 1000 / all) : DOCTOR_UNKNOWN;
}

/* Counted by the processor; DOCTOR_UNKNOWN: not by this one, or not for this user. */
static int64_t read_smi(const char *root)
{
	char path[PATH_MAX];
	uint64_t count = 0;
	ssize_t len = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/dev/cpu/0/msr", root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		len = pread(fd, &count, sizeof(count), MSR_SMI_COUNT);
		close(fd);
	}
	return len == sizeof(count) ? (int64_t)(count & UINT32_MAX) : DOCTOR_UNKNOWN;
}

static void gather_over_time(struct doctor_machine *m, const struct facts_scope *scope)
{
	struct times before, after;
	const bool there = read_times(scope->root, &before);
	const int64_t smi = read_smi(scope->root);

	m->steal_boot_pm = there ? per_mille(before.stolen, before.all) : DOCTOR_UNKNOWN;
	m->steal_now_pm = m->smi = DOCTOR_UNKNOWN;
	if (!scope->measure)
		return;
	clock_wait(NULL, 0, clock_now_ns() + MEASURE_NS);
	if (there && read_times(scope->root, &after))
		m->steal_now_pm = per_mille(after.stolen - before.stolen, after.all - before.all);
	if (smi != DOCTOR_UNKNOWN)
		m->smi = read_smi(scope->root) - smi;
}

/* ---- all of it ---- */

static void gather_kernel(struct doctor_machine *m, const char *root)
{
	struct utsname name;
	char text[32];

	if (!facts_line(root, m->release, sizeof(m->release), "/proc/sys/kernel/osrelease") && !uname(&name))
		snprintf(m->release, sizeof(m->release), "%.63s", name.release);
	if (!facts_line(root, m->version, sizeof(m->version), "/proc/sys/kernel/version") && !uname(&name))
		snprintf(m->version, sizeof(m->version), "%.127s", name.version);
	m->realtime = facts_number(root, "/sys/kernel/realtime");
	facts_line(root, m->preempt, sizeof(m->preempt), "/sys/kernel/debug/sched/preempt");
	m->rt_runtime_us = facts_number(root, "/proc/sys/kernel/sched_rt_runtime_us");
	m->rt_period_us = facts_number(root, "/proc/sys/kernel/sched_rt_period_us");
	m->user_ports = facts_number(root, "/proc/sys/net/ipv4/ip_unprivileged_port_start");
	facts_line(root, m->clocksource, sizeof(m->clocksource),
		   "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	m->hwlat_us = DOCTOR_UNKNOWN;
	if (facts_line(root, text, sizeof(text), "/sys/kernel/tracing/current_tracer") && !strcmp(text, "hwlat"))
		m->hwlat_us = facts_number(root, "/sys/kernel/tracing/tracing_max_latency");
}

static bool has_hypervisor(const char *root)
{
	static char text[1 << 14]; /* the first processor is enough */

	facts_text(root, "/proc/cpuinfo", text, sizeof(text));
	return strstr(text, " hypervisor") || facts_line(root, text, 64, "/sys/hypervisor/type");
}

void facts_machine(struct doctor_machine *m, const struct facts_scope *scope)
{
	struct timex tx = { 0 };

	*m = (struct doctor_machine){ .tried = scope->measure };
	gather_launch(m, scope->launch);
	gather_limits(m, scope);
	gather_kernel(m, scope->root);
	gather_cores(m, scope);
	gather_services(m, scope->root);
	m->drift_ppm = adjtimex(&tx) < 0 ? DOCTOR_UNKNOWN : tx.freq / 65536;
	m->hypervisor = has_hypervisor(scope->root);
	m->quota_pm = quota_of(scope->root, scope->pid);
	if (scope->measure) {
		m->fifo_err = try_priority(m->priority);
		m->lock_err = try_lock();
	}
	gather_over_time(m, scope);
}
