/* test_achdoctor.c: the checks of achdoctor(1) as tables of facts, and the facts from trees of fake /sys and /proc. */
#include <sys/stat.h>

#include "test/lib/testcase.h"

#include "channels/ach/ach.h"
#include "launch/achdoctor/facts.h"
#include "test/launch/file/launch_lib.h"

static struct doctor_report report;
static struct doctor_machine machine;
static struct doctor_bus bus;
static struct doctor_robot robot;
static char root[LAUNCH_LIB_PATH];

/* Fit machine, good link: each case spoils one thing. */
void setUp(void)
{
	memset(&report, 0, sizeof(report));
	memset(&robot, 0, sizeof(robot));
	machine = (struct doctor_machine){
		.tried = true,
		.priority = 50,
		.rtprio = 99,
		.memlock = DOCTOR_UNLIMITED,
		.rt_runtime_us = 950000,
		.rt_period_us = 1000000,
		.release = "6.12.5",
		.version = "#1 SMP PREEMPT_RT Debian",
		.realtime = 1,
		.governed = 4,
		.cores = 4,
		.isolated = "2-3",
		.nohz = "2-3",
		.isolated_mask = 0xc,
		.nohz_mask = 0xc,
		.smi = 0,
		.hwlat_us = DOCTOR_UNKNOWN,
		.clocksource = "tsc",
		.page_port = 876,
		.user_ports = 1024,
		.steal_boot_pm = 0,
		.steal_now_pm = 0,
		.quota_pm = DOCTOR_UNLIMITED,
	};
	bus = (struct doctor_bus){
		.name = "torso",
		.interface = "can0",
		.wanted = true,
		.want = { .bitrate = 1000000 },
		.links = true,
		.link = { .state = BUS_ERROR_ACTIVE,
			  .up = true,
			  .now = { .bitrate = 1000000, .sample_point_pm = 875, .queue = 10 },
			  .echo = true,
			  .kind = "can",
			  .queueing = "pfifo_fast" },
		.device = "1-2:1.0",
	};
	launch_lib_folder(root);
}

void tearDown(void)
{
	launch_lib_remove(root);
}

static const struct doctor_finding *finding(const char *check)
{
	for (size_t i = 0; i < report.n; i++)
		if (!strcmp(report.at[i].check, check))
			return &report.at[i];
	TEST_FAIL_MESSAGE(check);
	return NULL;
}

/* Every warning and failure has a remedy, and nothing else has one but what cannot be seen. */
static void expect_remedies(void)
{
	for (size_t i = 0; i < report.n; i++) {
		const struct doctor_finding *f = &report.at[i];

		if (f->verdict == DOCTOR_WARN || f->verdict == DOCTOR_FAIL)
			TEST_ASSERT_TRUE_MESSAGE(*f->mend, f->found);
		else if (f->verdict != DOCTOR_UNSEEN)
			TEST_ASSERT_EQUAL_STRING("", f->mend);
	}
}

static void expect(enum doctor_verdict verdict, const char *check, const char *found, const char *mend)
{
	const struct doctor_finding *f = finding(check);

	TEST_ASSERT_EQUAL_MESSAGE(verdict, f->verdict, f->found);
	TEST_ASSERT_TRUE_MESSAGE(strstr(f->found, found), f->found);
	TEST_ASSERT_TRUE_MESSAGE(strstr(f->mend, mend), f->mend);
	expect_remedies();
}

/* Nothing but this one is worse than ok. */
static void expect_only(enum doctor_verdict verdict, const char *check, const char *found, const char *mend)
{
	expect(verdict, check, found, mend);
	TEST_ASSERT_EQUAL_MESSAGE(verdict == DOCTOR_WARN, doctor_count(&report, DOCTOR_WARN), found);
	TEST_ASSERT_EQUAL_MESSAGE(verdict == DOCTOR_FAIL, doctor_count(&report, DOCTOR_FAIL), found);
	TEST_ASSERT_EQUAL_MESSAGE(verdict == DOCTOR_UNSEEN, doctor_count(&report, DOCTOR_UNSEEN), found);
}

/* ---- the machine ---- */

TEST(a_fit_machine_is_ok)
{
	doctor_machine(&machine, &report);
	TEST_ASSERT_EQUAL(13, report.n);
	TEST_ASSERT_EQUAL(13, doctor_count(&report, DOCTOR_OK));
	expect_remedies();
}

#define MACHINE(v, c, f, m, ...)                        \
	do {                                            \
		struct doctor_machine spoilt = machine; \
		struct doctor_machine *x = &spoilt;     \
		report.n = 0;                           \
		__VA_ARGS__;                            \
		doctor_machine(x, &report);             \
		expect_only(v, c, f, m);                \
	} while (0)
#define SET(member, text) snprintf(x->member, sizeof(x->member), "%s", text)

TEST(scheduler_and_memory)
{
	MACHINE(DOCTOR_FAIL, "priority", "SCHED_FIFO 50 is refused: Operation not permitted; limit 0", "ulimit -r",
		x->fifo_err = -EPERM;
		x->rtprio = 0);
	MACHINE(DOCTOR_OK, "priority", "SCHED_FIFO 50", "", x->rtprio = 0); /* granted all the same */
	MACHINE(DOCTOR_WARN, "priority", "limit 49, needed 50", "LimitRTPRIO=99", x->tried = false; x->rtprio = 49);
	MACHINE(DOCTOR_OK, "priority", "limit 50, needed 50", "", x->tried = false; x->rtprio = 50);
	MACHINE(DOCTOR_OK, "priority", "limit 0", "", x->tried = false; x->rtprio = 0; x->may_nice = true);
	MACHINE(DOCTOR_UNSEEN, "priority", "cannot be seen", "", x->tried = false; x->rtprio = DOCTOR_UNKNOWN);
	MACHINE(DOCTOR_OK, "throttling", "100 %", "", x->rt_runtime_us = -1);
	MACHINE(DOCTOR_WARN, "throttling", "94 %", "sched_rt_runtime_us=950000", x->rt_runtime_us = 940000);
	MACHINE(DOCTOR_WARN, "throttling", "50 %", "sysctl", x->rt_runtime_us = 500000);
	MACHINE(DOCTOR_FAIL, "throttling", "49 %", "sysctl", x->rt_runtime_us = 490000);
	MACHINE(DOCTOR_FAIL, "throttling", "0 %", "sysctl", x->rt_runtime_us = 0);
	MACHINE(DOCTOR_UNSEEN, "throttling", "cannot be seen", "", x->rt_runtime_us = DOCTOR_UNKNOWN);
	MACHINE(DOCTOR_FAIL, "memory", "mlockall is refused: Cannot allocate memory; limit 8 MB",
		"LimitMEMLOCK=", x->lock_err = -ENOMEM;
		x->memlock = 8 << 20);
	MACHINE(DOCTOR_WARN, "memory", "at most 63 MB", "ulimit -l", x->memlock = 63 << 20);
	MACHINE(DOCTOR_OK, "memory", "can be locked", "", x->memlock = 64 << 20);
	MACHINE(DOCTOR_OK, "memory", "can be locked", "", x->memlock = 1 << 20; x->may_lock = true);
	MACHINE(DOCTOR_UNSEEN, "memory", "cannot be seen", "", x->tried = false; x->memlock = DOCTOR_UNKNOWN);
	MACHINE(DOCTOR_WARN, "quota", "0.50 of 4 cores", "CPUQuota=", x->quota_pm = 500);
	MACHINE(DOCTOR_OK, "quota", "no control group", "", x->quota_pm = 4000);
	MACHINE(DOCTOR_UNSEEN, "quota", "cannot be seen", "", x->quota_pm = DOCTOR_UNKNOWN);
}

TEST(kernels)
{
	MACHINE(DOCTOR_FAIL, "kernel", "5.2.1 is too old", "newer", SET(release, "5.2.1"));
	MACHINE(DOCTOR_FAIL, "kernel", "4.19", "newer", SET(release, "4.19.0"));
	MACHINE(DOCTOR_WARN, "kernel", "futex_waitv", "newer", SET(release, "5.3.0"));
	MACHINE(DOCTOR_WARN, "kernel", "futex_waitv", "newer", SET(release, "5.15.0"));
	MACHINE(DOCTOR_OK, "kernel", "Linux 5.16.0", "", SET(release, "5.16.0"));
	MACHINE(DOCTOR_UNSEEN, "kernel", "cannot be seen", "", SET(release, ""));
	MACHINE(DOCTOR_OK, "preemption", "PREEMPT_RT", "", x->realtime = DOCTOR_UNKNOWN);
	machine.realtime = DOCTOR_UNKNOWN;
	MACHINE(DOCTOR_WARN, "preemption", "none or voluntary", "PREEMPT_RT kernel", SET(version, "#1 SMP"));
	MACHINE(DOCTOR_WARN, "preemption", "full, without", "PREEMPT_RT kernel", SET(version, "#1 SMP PREEMPT"));
	snprintf(machine.version, sizeof(machine.version), "#1 SMP PREEMPT_DYNAMIC");
	MACHINE(DOCTOR_WARN, "preemption", "chosen at boot", "preempt=full", SET(preempt, ""));
	MACHINE(DOCTOR_WARN, "preemption", "voluntary, without", "preempt=full", SET(preempt, "none (voluntary) full"));
	MACHINE(DOCTOR_WARN, "preemption", "full, without", "apt install", SET(preempt, "none voluntary (full)"));
}

TEST(processors)
{
	MACHINE(DOCTOR_WARN, "governor", "powersave on 3 of 4 cores", "cpupower", x->slow = 3;
		SET(governor, "powersave"));
	MACHINE(DOCTOR_UNSEEN, "governor", "cannot be seen", "", x->governed = 0);
	MACHINE(DOCTOR_WARN, "cores", "none of 4 is isolated", "isolcpus=3 nohz_full=3 rcu_nocbs=3", SET(isolated, "");
		x->isolated_mask = 0);
	MACHINE(DOCTOR_WARN, "cores", "daemons have cores 1,2; isolated: 2-3", "isolcpus=1,2", x->has_file = true;
		SET(pinned, "1,2"); x->pinned_mask = 6);
	MACHINE(DOCTOR_OK, "cores", "isolated: 2-3, without", "", x->has_file = true; SET(pinned, "2");
		x->pinned_mask = 4);
	MACHINE(DOCTOR_OK, "cores", "no daemon has a core of its own; isolated: 2-3", "", x->has_file = true);
	MACHINE(DOCTOR_WARN, "cores", "nohz_full none", "nohz_full=2-3", SET(nohz, ""); x->nohz_mask = 0);
	MACHINE(DOCTOR_WARN, "firmware", "2 system management interrupts", "firmware", x->smi = 2);
	MACHINE(DOCTOR_UNSEEN, "firmware", "cannot be seen here", "modprobe msr", x->smi = DOCTOR_UNKNOWN);
	MACHINE(DOCTOR_UNSEEN, "firmware", "virtual machine", "", x->hypervisor = true);
	MACHINE(DOCTOR_OK, "firmware", "at most 50 us", "", x->hwlat_us = 50);
	MACHINE(DOCTOR_WARN, "firmware", "at most 51 us", "firmware", x->hwlat_us = 51);
	MACHINE(DOCTOR_OK, "stolen", "0.9 % of processor time since boot, 0.9 % now", "", x->steal_boot_pm = 9;
		x->steal_now_pm = 9);
	MACHINE(DOCTOR_WARN, "stolen", "1.0 %", "cores of its own", x->steal_boot_pm = 10);
	MACHINE(DOCTOR_WARN, "stolen", "1.2 % now", "cores of its own", x->steal_now_pm = 12);
	MACHINE(DOCTOR_OK, "stolen", "0.0 % of processor time since boot", "", x->steal_now_pm = DOCTOR_UNKNOWN);
	MACHINE(DOCTOR_UNSEEN, "stolen", "/proc/stat", "", x->steal_boot_pm = DOCTOR_UNKNOWN);
}

TEST(clocks)
{
	MACHINE(DOCTOR_OK, "clock", "arch_sys_counter", "", SET(clocksource, "arch_sys_counter"));
	MACHINE(DOCTOR_WARN, "clock", "hpet", "tsc=reliable", SET(clocksource, "hpet"));
	MACHINE(DOCTOR_UNSEEN, "clock", "cannot be seen", "", SET(clocksource, ""));
	MACHINE(DOCTOR_OK, "port", "only root may open port 876", "", (void)0);
	MACHINE(DOCTOR_OK, "port", "only root may open port 876", "", x->user_ports = 877);
	MACHINE(DOCTOR_WARN, "port", "any user may open port 876", "port_start=1024", x->user_ports = 876);
	MACHINE(DOCTOR_WARN, "port", "any user may open port 876", "port_start=1024", x->user_ports = 0);
	MACHINE(DOCTOR_SKIP, "port", "any user may open port 8765 while", "", x->page_port = 8765);
	MACHINE(DOCTOR_UNSEEN, "port", "cannot be seen", "", x->user_ports = DOCTOR_UNKNOWN);
	MACHINE(DOCTOR_OK, "time", "chronyd corrects the clock's rate by -300 ppm", "", x->services_n = 1;
		x->drift_ppm = -300; SET(services, "chronyd"));
	MACHINE(DOCTOR_WARN, "time", "-301 ppm", "chronyc", x->services_n = 1; x->drift_ppm = -301);
	MACHINE(DOCTOR_WARN, "time", "chronyd, phc2sys", "keep one", x->services_n = 2;
		SET(services, "chronyd, phc2sys"));
}

/* ---- a bus ---- */

#define BUS(v, c, f, m, ...)                    \
	do {                                    \
		struct doctor_bus spoilt = bus; \
		struct doctor_bus *x = &spoilt; \
		report.n = 0;                   \
		__VA_ARGS__;                    \
		doctor_bus(x, &report);         \
		expect_only(v, c, f, m);        \
	} while (0)

TEST(a_good_link_is_ok)
{
	doctor_bus(&bus, &report);
	TEST_ASSERT_EQUAL(7, report.n);
	TEST_ASSERT_EQUAL(7, doctor_count(&report, DOCTOR_OK));
	TEST_ASSERT_EQUAL_STRING("bus torso, can0", report.at[0].part);
}

TEST(interfaces_that_are_not_examined)
{
	BUS(DOCTOR_SKIP, "interface", "a soft wire", "", SET(interface, "wire:torso"));
	TEST_ASSERT_EQUAL(1, report.n);
	BUS(DOCTOR_SKIP, "interface", "a log", "", SET(interface, "log:x.trc"));
	BUS(DOCTOR_SKIP, "interface", "vcan", "", x->link.virtual = true; SET(link.kind, "vcan");
	    x->link.now.queue = 0);
	TEST_ASSERT_EQUAL(1, report.n);
	BUS(DOCTOR_FAIL, "interface", "can0 does not exist", "plug the adapter in", x->err = -ENODEV);
	BUS(DOCTOR_FAIL, "interface", "no CAN", "modprobe can_raw", x->err = -EAFNOSUPPORT);
	BUS(DOCTOR_UNSEEN, "interface", "another namespace", "", x->err = -ENODEV; x->running = true);
}

TEST(an_interface_is_identified_by_its_bus_path)
{
	BUS(DOCTOR_OK, "identity", "device 1-2:1.0, channel 0", "", x->others = 0);
	BUS(DOCTOR_WARN, "identity", "device 1-2:1.0, channel 1: may swap names",
	    "KERNELS==\"1-2:1.0\", ATTR{dev_port}==\"1\", NAME=\"can-torso\"", x->others = 1;
	    x->port = 1);
	BUS(DOCTOR_OK, "identity", "named by a rule", "", x->others = 1; x->named = true);
	BUS(DOCTOR_OK, "identity", "device", "", x->others = 1; SET(interface, "can-torso"));
	BUS(DOCTOR_UNSEEN, "identity", "/sys", "", SET(device, ""));
}

TEST(links_that_are_set_otherwise)
{
	BUS(DOCTOR_FAIL, "bit rate", "bit rate 500000, not 1000000",
	    "ip link set can0 down; ip link set can0 up type can bitrate 1000000 restart-ms 0",
	    x->link.now.bitrate = 500000);
	BUS(DOCTOR_FAIL, "bit rate", "classic CAN, not a data bit rate of 5000000",
	    "bitrate 1000000 dbitrate 5000000 fd on restart-ms 0", x->want.data_bitrate = 5000000);
	BUS(DOCTOR_OK, "bit rate", "1000000", "", x->want.data_bitrate = x->link.now.data_bitrate = 5000000);
	BUS(DOCTOR_FAIL, "bit rate", "sample point 0.875, not 0.750", "sample-point 0.750",
	    x->want.sample_point_pm = 750;
	    x->link.quanta = 16);
	BUS(DOCTOR_SKIP, "bit rate", "no robot file", "", x->wanted = false);
	BUS(DOCTOR_OK, "restart-ms", "achstart resets it", "", x->want.restart_ms = 0);
	BUS(DOCTOR_WARN, "restart-ms", "0, not 100", "restart-ms 100", x->want.restart_ms = 100);
	BUS(DOCTOR_FAIL, "restart-ms", "0, not 100", "restart-ms 100", x->want.restart_ms = 100; x->links = false);
	BUS(DOCTOR_WARN, "restart-ms", "100, not 0", "restart-ms 0", x->link.now.restart_ms = 100);
	BUS(DOCTOR_WARN, "restart-ms", "50, not 100", "restart-ms 100", x->link.now.restart_ms = 50;
	    x->want.restart_ms = 100);
	BUS(DOCTOR_WARN, "restart-ms", "does not reset it", "links: yes", x->links = false);
	BUS(DOCTOR_FAIL, "modes", "listen-only", "listen-only off", x->link.modes = LINK_LISTEN_ONLY);
	BUS(DOCTOR_FAIL, "modes", "loopback", "loopback off", x->link.modes = LINK_LOOPBACK);
	BUS(DOCTOR_WARN, "modes", "one-shot", "one-shot off", x->link.modes = LINK_ONE_SHOT);
	BUS(DOCTOR_WARN, "modes", "presume-ack", "presume-ack off", x->link.modes = LINK_PRESUME_ACK);
}

TEST(queues)
{
	BUS(DOCTOR_OK, "queue", "pfifo_fast, 10 frames", "", x->link.now.queue = 10);
	BUS(DOCTOR_OK, "queue", "pfifo_fast, 64 frames", "", x->link.now.queue = 64);
	BUS(DOCTOR_WARN, "queue", "65 frames: one may wait for 8 ms", "txqueuelen 10", x->link.now.queue = 65);
	BUS(DOCTOR_WARN, "queue", "txqueuelen 0", "txqueuelen 10", x->link.now.queue = 0);
	BUS(DOCTOR_WARN, "queue", "fq_codel drops", "tc qdisc replace dev can0 root pfifo_fast",
	    SET(link.queueing, "fq_codel"));
	BUS(DOCTOR_FAIL, "queue", "netem loses", "tc qdisc", SET(link.queueing, "netem"));
	BUS(DOCTOR_FAIL, "queue", "tbf holds", "tc qdisc", SET(link.queueing, "tbf"));
	BUS(DOCTOR_WARN, "echo", "does not confirm", "IFF_ECHO", x->link.echo = false);
}

TEST(states_of_a_link)
{
	BUS(DOCTOR_WARN, "state", bus_state_name(BUS_WARNING), "termination", x->link.state = BUS_WARNING);
	BUS(DOCTOR_FAIL, "state", bus_state_name(BUS_PASSIVE), "termination", x->link.state = BUS_PASSIVE);
	BUS(DOCTOR_FAIL, "state", bus_state_name(BUS_OFF), "type can restart", x->link.state = BUS_OFF);
	BUS(DOCTOR_OK, "state", "achstart sets it", "", x->link.up = false; x->link.now.bitrate = 0);
	BUS(DOCTOR_FAIL, "state", "can0 is down", "bitrate 1000000", x->link.up = false; x->links = false);
	BUS(DOCTOR_FAIL, "state", "can0 is down", "ip link set can0 up", x->link.up = false; x->links = false;
	    x->link.virtual = true);
}

#define CLASSIC x->link.virtual = x->link.classic = true
TEST(a_virtual_link_has_room_for_the_frames_of_its_bus)
{
	BUS(DOCTOR_SKIP, "interface", "can: virtual, without settings", "", CLASSIC);
	BUS(DOCTOR_FAIL, "interface", "can: mtu 16, not 72: it carries no CAN FD frame",
	    "ip link set can0 down; ip link set can0 mtu 72 up", CLASSIC;
	    x->want.data_bitrate = 5000000);
	BUS(DOCTOR_SKIP, "interface", "without settings", "", x->link.virtual = true; x->want.data_bitrate = 5000000);
	BUS(DOCTOR_SKIP, "interface", "without settings", "", CLASSIC; x->want.data_bitrate = 5000000;
	    x->wanted = false);
	BUS(DOCTOR_SKIP, "interface", "without settings", "", CLASSIC; x->want.data_bitrate = 5000000;
	    x->link.up = false); /* achstart sets it */
}

/* ---- files, channels, disks ---- */

static void file(const char *name, bool channel, uid_t owner, int64_t mode)
{
	struct doctor_file *f = &robot.files[robot.files_n++];

	*f = (struct doctor_file){ .channel = channel, .owner = owner, .mode = mode };
	snprintf(f->name, sizeof(f->name), "%s", name);
}

/* The table of endplate-security(7): that mode is right, and one bit more for others is not. */
TEST(modes_of_files_and_channels)
{
	static const struct {
		const char *name;
		bool channel;
		int64_t mode, alone;
	} table[] = {
		{ "waist-state", true, 0640, 0600 },
		{ "waist-rep", true, 0640, 0600 },
		{ "waist-event", true, 0640, 0600 },
		{ "clock", true, 0640, 0600 },
		{ "bus-torso", true, 0640, 0600 },
		{ "estop", true, 0640, 0600 },
		{ "estop-b", true, 0660, 0600 },
		{ "waist-ref", true, 0660, 0600 },
		{ "waist.hand-ref", true, 0660, 0600 },
		{ "waist-req", true, 0600, 0600 },
		{ "", false, 0750, 0700 },
		{ "log", false, 0750, 0750 },
		{ "state", false, 0700, 0700 },
		{ "control", false, 0660, 0600 },
		{ "robot", false, 0640, 0640 },
		{ "lock", false, 0600, 0600 },
		{ "epoch", false, 0600, 0600 },
		{ "notify", false, 0600, 0600 },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		for (int groups = 0; groups < 2; groups++)
			for (int loose = 0; loose < 3; loose++) {
				memset(&robot, 0, sizeof(robot));
				memset(&report, 0, sizeof(report));
				robot.there = true;
				robot.owner = 1000;
				robot.operators = robot.moving = groups;
				snprintf(robot.folder, sizeof(robot.folder), "/run/endplate/krang");
				snprintf(robot.prefix, sizeof(robot.prefix), "krang.");
				file(table[i].name, table[i].channel, loose == 2 ? 1007 : 1000,
				     (groups ? table[i].mode : table[i].alone) | (loose == 1 ? 0004 : 0));
				doctor_files(&robot, &report);
				expect_only(loose ? DOCTOR_FAIL : DOCTOR_OK, table[i].channel ? "channels" : "files",
					    loose == 2 ? "belongs to uid 1007, not 1000" : "",
					    loose == 1 ? "chmod" : "");
			}
}

TEST(references_are_for_movers)
{
	robot.there = robot.operators = true;
	snprintf(robot.prefix, sizeof(robot.prefix), "krang.");
	file("waist-ref", true, 0, 0660);
	file("unknown", true, 0, 0666);
	robot.unseen = 2;
	doctor_files(&robot, &report);
	expect(DOCTOR_FAIL, "channels", "waist-ref has mode 0660, not 0600", "ach chmod 600 krang.waist-ref");
	TEST_ASSERT_EQUAL(2, report.n);
	TEST_ASSERT_EQUAL(DOCTOR_UNSEEN, report.at[1].verdict);
}

TEST(a_robot_that_does_not_run_has_no_files)
{
	doctor_files(&robot, &report);
	expect_only(DOCTOR_SKIP, "files", "does not run", "");
}

TEST(disks)
{
	static const struct {
		int64_t free_bytes, rate;
		enum doctor_verdict space, write;
	} table[] = {
		{ 1LL << 40, 100 << 20, DOCTOR_OK, DOCTOR_OK },
		{ 256 << 20, 10 << 20, DOCTOR_OK, DOCTOR_OK },
		{ 255 << 20, 9 << 20, DOCTOR_WARN, DOCTOR_WARN },
		{ 64 << 20, DOCTOR_UNKNOWN, DOCTOR_WARN, DOCTOR_UNSEEN },
		{ 63 << 20, 10 << 20, DOCTOR_FAIL, DOCTOR_OK },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		report.n = 0;
		robot.disks_n = 1;
		robot.disks[0] = (struct doctor_disk){ "/var/log", 0, table[i].free_bytes, table[i].rate };
		doctor_disks(&robot, &report);
		expect(table[i].space, "disk", "/var/log: ", "");
		expect(table[i].write, "write rate", "/var/log: ", "");
	}
	report.n = 0;
	robot.disks[0].err = -ENOENT;
	doctor_disks(&robot, &report);
	expect_only(DOCTOR_UNSEEN, "disk", "/var/log: No such file or directory", "");
}

/* ---- facts ---- */

static void tree(const char *path, const char *text)
{
	char folder[LAUNCH_LIB_PATH * 2], full[LAUNCH_LIB_PATH * 2], *at;

	snprintf(full, sizeof(full), "%s%s", root, path);
	snprintf(folder, sizeof(folder), "%s", full);
	for (at = folder + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(folder, 0755);
		*at = '/';
	}
	launch_lib_write(folder, root, path + 1, 0644, text);
}

TEST(facts_of_a_fake_machine)
{
	const struct facts_scope scope = { .root = root, .pid = 77 };

	tree("/proc/77/limits", "Limit   Soft Limit  Hard Limit  Units\n"
				"Max locked memory         8388608    8388608    bytes\n"
				"Max realtime priority     40         40\n");
	tree("/proc/77/status", "Name:\tx\nCapEff:\t0000000000800000\n");
	tree("/proc/77/cgroup", "0::/user/robot\n");
	tree("/proc/77/comm", "chronyd\n");
	tree("/proc/78/comm", "phc2sys\n");
	tree("/proc/79/comm", "chronyd\n");
	tree("/sys/fs/cgroup/user/cpu.max", "150000 100000\n");
	tree("/sys/fs/cgroup/user/robot/cpu.max", "max 100000\n");
	tree("/proc/sys/kernel/osrelease", "6.1.0-rt\n");
	tree("/proc/sys/kernel/version", "#1 SMP PREEMPT_RT\n");
	tree("/proc/sys/kernel/sched_rt_runtime_us", "-1\n");
	tree("/proc/sys/kernel/sched_rt_period_us", "1000000\n");
	tree("/proc/sys/net/ipv4/ip_unprivileged_port_start", "80\n");
	tree("/sys/kernel/realtime", "1\n");
	tree("/sys/kernel/debug/sched/preempt", "none voluntary (full)\n");
	tree("/sys/kernel/tracing/current_tracer", "hwlat\n");
	tree("/sys/kernel/tracing/tracing_max_latency", "17\n");
	tree("/sys/devices/system/cpu/online", "0-3\n");
	tree("/sys/devices/system/cpu/isolated", "1,3\n");
	tree("/sys/devices/system/cpu/nohz_full", "(null)\n");
	tree("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
	tree("/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "schedutil\n");
	tree("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
	tree("/proc/stat", "cpu  100 0 100 700 0 0 0 100 0 0\n");
	tree("/proc/cpuinfo", "flags\t\t: fpu hypervisor lahf_lm\n");
	facts_machine(&machine, &scope);
	TEST_ASSERT_EQUAL(40, machine.rtprio);
	TEST_ASSERT_EQUAL(8388608, machine.memlock);
	TEST_ASSERT_TRUE(machine.may_nice);
	TEST_ASSERT_FALSE(machine.may_lock);
	TEST_ASSERT_FALSE(machine.tried);
	TEST_ASSERT_EQUAL(1500, machine.quota_pm);
	TEST_ASSERT_EQUAL(2, machine.services_n);
	TEST_ASSERT_EQUAL_STRING("6.1.0-rt", machine.release);
	TEST_ASSERT_EQUAL_STRING("#1 SMP PREEMPT_RT", machine.version);
	TEST_ASSERT_EQUAL(-1, machine.rt_runtime_us);
	TEST_ASSERT_EQUAL(1, machine.realtime);
	TEST_ASSERT_EQUAL_STRING("none voluntary (full)", machine.preempt);
	TEST_ASSERT_EQUAL(17, machine.hwlat_us);
	TEST_ASSERT_EQUAL(4, machine.cores);
	TEST_ASSERT_EQUAL_HEX64(0xa, machine.isolated_mask);
	TEST_ASSERT_EQUAL_STRING("", machine.nohz);
	TEST_ASSERT_EQUAL(2, machine.governed);
	TEST_ASSERT_EQUAL(1, machine.slow);
	TEST_ASSERT_EQUAL_STRING("schedutil", machine.governor);
	TEST_ASSERT_EQUAL_STRING("hpet", machine.clocksource);
	TEST_ASSERT_EQUAL(80, machine.user_ports);
	TEST_ASSERT_EQUAL(876, machine.page_port);
	TEST_ASSERT_EQUAL(100, machine.steal_boot_pm);
	TEST_ASSERT_EQUAL(DOCTOR_UNKNOWN, machine.steal_now_pm);
	TEST_ASSERT_EQUAL(DOCTOR_UNKNOWN, machine.smi);
	TEST_ASSERT_TRUE(machine.hypervisor);
}

TEST(facts_of_control_groups_of_the_first_version)
{
	const struct facts_scope scope = { .root = root };

	tree("/proc/self/cgroup", "3:cpu,cpuacct:/a/b\n1:memory:/a\n");
	tree("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
	tree("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n");
	tree("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
	facts_machine(&machine, &scope);
	TEST_ASSERT_EQUAL(500, machine.quota_pm);
}

/* An empty tree: nothing is known, and nothing is reported as ok that was not seen. */
TEST(facts_that_cannot_be_read_are_unseen)
{
	const struct facts_scope scope = { .root = root };
	static const char *const unseen[] = { "priority", "throttling", "memory", "quota",
					      "governor", "firmware",	"stolen", "clock" };

	facts_machine(&machine, &scope);
	doctor_machine(&machine, &report);
	for (size_t i = 0; i < sizeof(unseen) / sizeof(*unseen); i++)
		expect(DOCTOR_UNSEEN, unseen[i], "", "");
}

static void adapter(const char *interface, const char *device, const char *type)
{
	char path[LAUNCH_LIB_PATH], target[LAUNCH_LIB_PATH], link[LAUNCH_LIB_PATH * 2];

	snprintf(path, sizeof(path), "/sys/devices/usb1/%s/uevent", device);
	tree(path, "");
	snprintf(path, sizeof(path), "/sys/class/net/%s/type", interface);
	tree(path, type);
	snprintf(target, sizeof(target), "../../../devices/usb1/%s", device);
	snprintf(link, sizeof(link), "%s/sys/class/net/%s/device", root, interface);
	TEST_ASSERT_EQUAL(0, symlink(target, link));
}

static void expect_named(const char *file_name, const char *text, bool named)
{
	tree(file_name, text);
	facts_bus_device(&bus, root);
	TEST_ASSERT_EQUAL_MESSAGE(named, bus.named, text);
	tree(file_name, "");
}

TEST(rules_that_name_an_interface)
{
	adapter("can0", "1-2:1.0", "280\n");
	expect_named("/etc/udev/rules.d/70-can.rules", "SUBSYSTEM==\"net\", KERNELS==\"1-2:1.0\", NAME=\"can0\"\n",
		     true);
	expect_named("/usr/lib/udev/rules.d/70-can.rules", "NAME=\"can0\"\n", true);
	expect_named("/etc/udev/rules.d/70-can.rules", "# NAME=\"can0\"\n", false);
	expect_named("/etc/udev/rules.d/70-can.rules", "NAME=\"can01\"\n", false);
	expect_named("/etc/udev/rules.d/70-can.txt", "NAME=\"can0\"\n", false);
	expect_named("/etc/systemd/network/10-can.link", "[Match]\nPath=x\n[Link]\nName=can0\n", true);
	expect_named("/etc/systemd/network/10-can.link", "[Link]\nName=can01\n", false);
	expect_named("/etc/systemd/network/10-can.network", "[Link]\nName=can0\n", false);
}

/* Two channels of one device keep their order; an Ethernet adapter is not counted. */
TEST(adapters_on_other_devices_are_counted)
{
	adapter("can0", "1-2:1.0", "280\n");
	adapter("can1", "1-2:1.0", "280\n");
	adapter("eth0", "1-4:1.0", "1\n");
	tree("/sys/class/net/can0/dev_port", "0\n");
	tree("/sys/class/net/can0/dev_id", "0x1\n");
	facts_bus_device(&bus, root);
	TEST_ASSERT_EQUAL_STRING("1-2:1.0", bus.device);
	TEST_ASSERT_EQUAL(1, bus.port);
	TEST_ASSERT_EQUAL(0, bus.others);
	adapter("can2", "1-3:1.0", "280\n");
	facts_bus_device(&bus, root);
	TEST_ASSERT_EQUAL(1, bus.others);
	TEST_ASSERT_FALSE(bus.named);
}

/* ---- a robot's folder and channels ---- */

static void make_channel(const char *name, mode_t mode)
{
	ach_create_attr_t attr;

	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, mode, (gid_t)-1);
	TEST_ASSERT_EQUAL(ACH_OK, ach_create(name, 4, 64, &attr));
}

TEST(facts_of_a_robot)
{
	static struct robot_device devices[] = { { .name = "waist" } };
	static struct robot_bus buses[] = { { .name = "torso" } };
	const struct robot known = { .devices = devices, .devices_n = 1, .buses = buses, .buses_n = 1 };
	const struct facts_scope scope = { .root = root, .robot = &known };
	char path[LAUNCH_LIB_PATH];

	chmod(root, 0755);
	launch_lib_write(path, root, "epoch", 0644, "");
	setenv("ENDPLATE_RUN", root, 1);
	setenv("ENDPLATE_PREFIX", "doc.", 1);
	setenv("ACH_DIR", root, 1);
	make_channel("doc.waist-state", 0644);
	make_channel("doc.estop", 0600);
	make_channel("doc.bus-torso", 0640);
	make_channel("doc.stranger-state", 0666); /* not the robot's */
	make_channel("other.estop", 0666);
	facts_robot(&robot, &scope);
	ach_unlink("doc.waist-state");
	ach_unlink("doc.estop");
	ach_unlink("doc.bus-torso");
	ach_unlink("doc.stranger-state");
	ach_unlink("other.estop");
	unsetenv("ENDPLATE_RUN");
	unsetenv("ENDPLATE_PREFIX");
	unsetenv("ACH_DIR");
	TEST_ASSERT_TRUE(robot.there);
	TEST_ASSERT_EQUAL(getuid(), robot.owner);
	doctor_files(&robot, &report);
	TEST_ASSERT_EQUAL(5, robot.files_n); /* the folder, epoch, three channels */
	TEST_ASSERT_EQUAL(3, report.n);
	TEST_ASSERT_EQUAL(3, doctor_count(&report, DOCTOR_FAIL));
	expect(DOCTOR_FAIL, "channels", "waist-state has mode 0644, not 0640", "ach chmod 640 doc.waist-state");
	expect(DOCTOR_FAIL, "files", "has mode 0755, not 0751", "chmod 751");
	TEST_ASSERT_TRUE(strstr(report.at[1].found, "epoch has mode 0644, not 0600"));
}

TEST(a_disk_is_measured)
{
	facts_disk(&robot, root, true);
	facts_disk(&robot, "/nowhere", true);
	TEST_ASSERT_EQUAL(0, robot.disks[0].err);
	TEST_ASSERT_TRUE(robot.disks[0].free_bytes > 0);
	TEST_ASSERT_EQUAL(-ENOENT, robot.disks[1].err);
}

/* ---- output ---- */

TEST(printed_in_columns)
{
	char text[2048] = "";
	FILE *to = fmemopen(text, sizeof(text), "w");

	doctor_part(&report, "machine");
	doctor_add(&report, DOCTOR_OK, "kernel", "Linux 6");
	doctor_part(&report, "bus torso, can0");
	doctor_add(&report, DOCTOR_FAIL, "bit rate", "500000");
	doctor_mend(&report, "ip link");
	doctor_print(&report, to, false);
	fclose(to);
	TEST_ASSERT_EQUAL_STRING("machine\n"
				 "  ok      kernel        Linux 6\n"
				 "\n"
				 "bus torso, can0\n"
				 "  fail    bit rate      500000\n"
				 "                        > ip link\n"
				 "\n"
				 "1 ok, 0 warn, 1 fail\n",
				 text);
}

TEST(printed_as_json)
{
	char text[2048] = "";
	FILE *to = fmemopen(text, sizeof(text), "w");

	doctor_part(&report, "machine");
	doctor_add(&report, DOCTOR_UNSEEN, "firmware", "\"no\"");
	doctor_print_json(&report, to);
	fclose(to);
	TEST_ASSERT_EQUAL_STRING("{\"ok\":true,\"checks\":[\n {\"part\":\"machine\",\"check\":\"firmware\","
				 "\"verdict\":\"unseen\",\"found\":\"\\\"no\\\"\",\"mend\":null}]}\n",
				 text);
}
