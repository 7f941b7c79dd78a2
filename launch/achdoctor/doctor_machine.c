/* doctor_machine.c: checks of the machine: scheduler, memory, kernel, processors, clock. */
#include "launch/achdoctor/doctor.h"

#define MEMLOCK_MIN (64LL << 20) /* a driver locks some 10 MB; its allocations must not fail later */
#define HWLAT_US 50
#define STEAL_PM 10   /* of 1000 */
#define DRIFT_PPM 300 /* the kernel corrects at most 500 */

/* ---- real-time priority and memory ---- */

static void check_priority(const struct doctor_machine *m, struct doctor_report *report)
{
	const bool allowed = m->may_nice || m->rtprio >= m->priority;

	if (m->tried && !m->fifo_err)
		doctor_add(report, DOCTOR_OK, "priority", "a thread runs with SCHED_FIFO %" PRId64, m->priority);
	else if (m->tried)
		doctor_add(report, DOCTOR_FAIL, "priority", "SCHED_FIFO %" PRId64 " is refused: %s; limit %" PRId64,
			   m->priority, strerror(-m->fifo_err), m->rtprio);
	else if (m->rtprio == DOCTOR_UNKNOWN)
		doctor_add(report, DOCTOR_UNSEEN, "priority", "the limit cannot be seen here");
	else /* achstart has asked the drivers themselves */
		doctor_add(report, allowed ? DOCTOR_OK : DOCTOR_WARN, "priority", "limit %" PRId64 ", needed %" PRId64,
			   m->rtprio, m->priority);
	doctor_mend(report, "ulimit -r 99, LimitRTPRIO=99 in the unit, or rtprio in /etc/security/limits.conf");
}

static void check_throttle(const struct doctor_machine *m, struct doctor_report *report)
{
	const int64_t share =
		m->rt_runtime_us >= 0 && m->rt_period_us > 0 ? m->rt_runtime_us * 100 / m->rt_period_us : 100;

	if (m->rt_runtime_us == DOCTOR_UNKNOWN)
		doctor_add(report, DOCTOR_UNSEEN, "throttling", "sched_rt_runtime_us cannot be seen here");
	else if (m->rt_runtime_us < 0 || share >= 95)
		doctor_add(report, DOCTOR_OK, "throttling", "real-time threads may use %" PRId64 " %% of the time",
			   share);
	else
		doctor_add(report, share < 50 ? DOCTOR_FAIL : DOCTOR_WARN, "throttling",
			   "real-time threads may use %" PRId64 " %% of the time only", share);
	doctor_mend(report, "sysctl kernel.sched_rt_runtime_us=950000");
}

static void check_memory(const struct doctor_machine *m, struct doctor_report *report)
{
	const bool limited = !m->may_lock && m->memlock != DOCTOR_UNLIMITED;
	const long long mb = (long long)(m->memlock >> 20);

	if (m->tried && m->lock_err)
		doctor_add(report, DOCTOR_FAIL, "memory", "mlockall is refused: %s; limit %lld MB",
			   strerror(-m->lock_err), mb);
	else if (m->memlock == DOCTOR_UNKNOWN)
		doctor_add(report, DOCTOR_UNSEEN, "memory", "the limit cannot be seen here");
	else if (limited && m->memlock < MEMLOCK_MIN)
		doctor_add(report, DOCTOR_WARN, "memory", "at most %lld MB can be locked", mb);
	else
		doctor_add(report, DOCTOR_OK, "memory", "%s",
			   m->tried ? "all memory of a process can be locked" : "may be locked");
	doctor_mend(report, "ulimit -l unlimited, LimitMEMLOCK=infinity in the unit, or memlock in limits.conf");
}

/* ---- the kernel ---- */

static void check_kernel(const struct doctor_machine *m, struct doctor_report *report)
{
	int major = 0, minor = 0;

	if (sscanf(m->release, "%d.%d", &major, &minor) != 2)
		doctor_add(report, DOCTOR_UNSEEN, "kernel", "its version cannot be seen here");
	else if (major < 5 || (major == 5 && minor < 3))
		doctor_add(report, DOCTOR_FAIL, "kernel", "Linux %s is too old: pidfd_open came with 5.3", m->release);
	else if (major == 5 && minor < 16)
		doctor_add(report, DOCTOR_WARN, "kernel", "Linux %s: without futex_waitv (5.16) some waits poll",
			   m->release);
	else
		doctor_add(report, DOCTOR_OK, "kernel", "Linux %s", m->release);
	doctor_mend(report, "install a newer kernel");
}

/* The word in brackets of "none voluntary (full)"; "": none. */
static void chosen(const char *list, char *word, size_t size)
{
	const char *open = strchr(list, '('), *close = open ? strchr(open, ')') : NULL;

	snprintf(word, size, "%.*s", close ? (int)(close - open - 1) : 0, close ? open + 1 : "");
}

static void check_preemption(const struct doctor_machine *m, struct doctor_report *report)
{
	char mode[32];

	chosen(m->preempt, mode, sizeof(mode));
	if (m->realtime == 1 || strstr(m->version, "PREEMPT_RT")) {
		doctor_add(report, DOCTOR_OK, "preemption", "PREEMPT_RT");
		return;
	}
	if (*mode)
		doctor_add(report, DOCTOR_WARN, "preemption", "%s, without PREEMPT_RT", mode);
	else if (strstr(m->version, "PREEMPT_DYNAMIC"))
		doctor_add(report, DOCTOR_WARN, "preemption", "chosen at boot, without PREEMPT_RT");
	else if (strstr(m->version, "PREEMPT"))
		doctor_add(report, DOCTOR_WARN, "preemption", "full, without PREEMPT_RT");
	else
		doctor_add(report, DOCTOR_WARN, "preemption", "none or voluntary");
	if (!strcmp(mode, "full") || !strstr(m->version, "PREEMPT_DYNAMIC"))
		doctor_mend(report, "install a PREEMPT_RT kernel: apt install linux-image-rt-amd64");
	else
		doctor_mend(report, "install a PREEMPT_RT kernel, or boot with preempt=full");
}

/* ---- processors ---- */

static void check_governor(const struct doctor_machine *m, struct doctor_report *report)
{
	if (!m->governed)
		doctor_add(report, DOCTOR_UNSEEN, "governor", "the processor's frequency cannot be seen here");
	else if (!m->slow)
		doctor_add(report, DOCTOR_OK, "governor", "performance");
	else
		doctor_add(report, DOCTOR_WARN, "governor", "%s on %" PRId64 " of %" PRId64 " cores", m->governor,
			   m->slow, m->governed);
	doctor_mend(report, "cpupower frequency-set -g performance");
}

static void check_isolation(const struct doctor_machine *m, struct doctor_report *report)
{
	const bool pinned = m->pinned_mask;

	if (!m->cores)
		doctor_add(report, DOCTOR_UNSEEN, "cores", "processors cannot be seen here");
	else if (m->has_file && !pinned)
		doctor_add(report, DOCTOR_OK, "cores", "no daemon has a core of its own%s%s",
			   *m->isolated ? "; isolated: " : "", m->isolated);
	else if (m->cores == 1)
		doctor_add(report, DOCTOR_WARN, "cores", "one core runs everything");
	else if (m->pinned_mask & ~m->isolated_mask)
		doctor_add(report, DOCTOR_WARN, "cores", "daemons have cores %s; isolated: %s", m->pinned,
			   *m->isolated ? m->isolated : "none");
	else if (!m->isolated_mask)
		doctor_add(report, DOCTOR_WARN, "cores", "none of %" PRId64 " is isolated", m->cores);
	else if (m->isolated_mask & ~m->nohz_mask)
		doctor_add(report, DOCTOR_WARN, "cores", "isolated: %s; timer tick on: nohz_full %s", m->isolated,
			   *m->nohz ? m->nohz : "none");
	else
		doctor_add(report, DOCTOR_OK, "cores", "isolated: %s, without a timer tick", m->isolated);
	if (report->at[report->n - 1].verdict == DOCTOR_WARN && m->cores > 1) {
		char last[24];
		const char *list = pinned ? m->pinned : *m->isolated ? m->isolated : last;

		snprintf(last, sizeof(last), "%" PRId64, m->cores - 1);
		doctor_mend(report, "boot with isolcpus=%s nohz_full=%s rcu_nocbs=%s", list, list, list);
	}
}

/* Interrupts of the firmware, which no kernel can prevent or see in time. */
static void check_firmware(const struct doctor_machine *m, struct doctor_report *report)
{
	const bool smi = m->smi != DOCTOR_UNKNOWN, hwlat = m->hwlat_us != DOCTOR_UNKNOWN;
	const bool late = m->smi > 0 || m->hwlat_us > HWLAT_US;

	if (m->hypervisor)
		doctor_add(report, DOCTOR_UNSEEN, "firmware", "hardware latency cannot be seen in a virtual machine");
	else if (!smi && !hwlat)
		doctor_add(report, DOCTOR_UNSEEN, "firmware", "hardware latency cannot be seen here");
	else if (hwlat)
		doctor_add(report, late ? DOCTOR_WARN : DOCTOR_OK, "firmware",
			   "hardware latency at most %" PRId64 " us (hwlat)", m->hwlat_us);
	else
		doctor_add(report, late ? DOCTOR_WARN : DOCTOR_OK, "firmware",
			   "%" PRId64 " system management interrupts while measuring", m->smi);
	doctor_mend(report, "switch off legacy USB, power and fan management in the firmware's set-up");
	if (!m->hypervisor && !smi && !hwlat)
		snprintf(report->at[report->n - 1].mend, DOCTOR_MEND_MAX,
			 "modprobe msr, as root; or measure: rtla hwnoise");
}

static void check_steal(const struct doctor_machine *m, struct doctor_report *report)
{
	const int64_t boot = m->steal_boot_pm, now = m->steal_now_pm;

	if (boot == DOCTOR_UNKNOWN) {
		doctor_add(report, DOCTOR_UNSEEN, "stolen", "/proc/stat cannot be read");
		return;
	}
	if (now != DOCTOR_UNKNOWN)
		doctor_add(report, boot >= STEAL_PM || now >= STEAL_PM ? DOCTOR_WARN : DOCTOR_OK, "stolen",
			   "%" PRId64 ".%" PRId64 " %% of processor time since boot, %" PRId64 ".%" PRId64 " %% now",
			   boot / 10, boot % 10, now / 10, now % 10);
	else
		doctor_add(report, boot >= STEAL_PM ? DOCTOR_WARN : DOCTOR_OK, "stolen",
			   "%" PRId64 ".%" PRId64 " %% of processor time since boot", boot / 10, boot % 10);
	doctor_mend(report, "give this virtual machine cores of its own, or run the robot without one");
}

static void check_quota(const struct doctor_machine *m, struct doctor_report *report)
{
	if (m->quota_pm == DOCTOR_UNKNOWN)
		doctor_add(report, DOCTOR_UNSEEN, "quota", "control groups cannot be seen here");
	else if (m->quota_pm == DOCTOR_UNLIMITED || m->quota_pm >= 1000 * m->cores)
		doctor_add(report, DOCTOR_OK, "quota", "no control group limits the processor");
	else
		doctor_add(report, DOCTOR_WARN, "quota",
			   "a control group allows %" PRId64 ".%02" PRId64 " of %" PRId64 " cores", m->quota_pm / 1000,
			   m->quota_pm % 1000 / 10, m->cores);
	doctor_mend(report, "CPUQuota= in the unit, empty; of a container: no --cpus");
}

/* ---- the clock ---- */

static void check_clock(const struct doctor_machine *m, struct doctor_report *report)
{
	static const char *const good[] = {
		"tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page", "riscv_clocksource", "timebase"
	};
	bool fine = false;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		fine |= !strcmp(m->clocksource, good[i]);
	if (!*m->clocksource)
		doctor_add(report, DOCTOR_UNSEEN, "clock", "its source cannot be seen here");
	else if (fine)
		doctor_add(report, DOCTOR_OK, "clock", "source %s", m->clocksource);
	else
		doctor_add(report, DOCTOR_WARN, "clock", "source %s: reading it is slow", m->clocksource);
	doctor_mend(report, "dmesg | grep -i clocksource; boot with tsc=reliable if the processor's tsc is");
}

/* CLOCK_MONOTONIC, by which the robot runs, never steps; but its rate is corrected. */
static void check_services(const struct doctor_machine *m, struct doctor_report *report)
{
	const int64_t ppm = m->drift_ppm == DOCTOR_UNKNOWN ? 0 : m->drift_ppm;

	if (m->services_n > 1) {
		doctor_add(report, DOCTOR_WARN, "time", "%s set the clock against each other", m->services);
		doctor_mend(report, "keep one of them: systemctl disable --now ...");
	} else if (ppm > DRIFT_PPM || ppm < -DRIFT_PPM) {
		doctor_add(report, DOCTOR_WARN, "time", "the clock's rate is corrected by %" PRId64 " ppm", ppm);
		doctor_mend(report, "look for steps of its server: chronyc tracking");
	} else if (m->services_n) {
		doctor_add(report, DOCTOR_OK, "time", "%s corrects the clock's rate by %" PRId64 " ppm", m->services,
			   ppm);
	} else {
		doctor_add(report, DOCTOR_OK, "time", "no service sets the clock");
	}
}

/* ---- the network ---- */

/* A page of another user at a port where people expect achweb looks like achweb's. */
static void check_port(const struct doctor_machine *m, struct doctor_report *report)
{
	if (m->user_ports == DOCTOR_UNKNOWN)
		doctor_add(report, DOCTOR_UNSEEN, "port", "ip_unprivileged_port_start cannot be seen here");
	else if (m->page_port >= DOCTOR_USER_PORTS)
		doctor_add(report, DOCTOR_SKIP, "port",
			   "any user may open port %" PRId64
			   " while the robot is down; achweb@.socket has one below %d",
			   m->page_port, DOCTOR_USER_PORTS);
	else
		doctor_add(report, m->user_ports <= m->page_port ? DOCTOR_WARN : DOCTOR_OK, "port",
			   "%s may open port %" PRId64 ", that of achweb",
			   m->user_ports <= m->page_port ? "any user" : "only root", m->page_port);
	doctor_mend(report, "sysctl net.ipv4.ip_unprivileged_port_start=%d", DOCTOR_USER_PORTS);
}

void doctor_machine(const struct doctor_machine *m, struct doctor_report *report)
{
	doctor_part(report, "machine");
	check_kernel(m, report);
	check_preemption(m, report);
	check_priority(m, report);
	check_throttle(m, report);
	check_memory(m, report);
	check_quota(m, report);
	check_governor(m, report);
	check_isolation(m, report);
	check_firmware(m, report);
	check_steal(m, report);
	check_clock(m, report);
	check_services(m, report);
	check_port(m, report);
}
