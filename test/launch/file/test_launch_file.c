/* test_launch_file.c: what a launch file becomes: command lines, order, groups, times. */
#include <limits.h>
#include <sys/stat.h>

#include "test/lib/testcase.h"

#include "launch/file/launch_file.h"
#include "test/launch/file/launch_lib.h"

#define MS INT64_C(1000000)

static struct launch_lib_lines lines;
static struct launch launch;
static char folder[LAUNCH_LIB_PATH], lab[PATH_MAX];

void setUp(void)
{
	launch_lib_folder(folder);
	TEST_ASSERT_NOT_NULL(realpath("test/launch/lab.yaml", lab));
}

void tearDown(void)
{
	launch_close(&launch);
	launch_lib_remove(folder);
}

static void open_file(const char *path)
{
	launch_close(&launch);
	launch_open(&launch, path, launch_lib_start(&lines));
	TEST_ASSERT_EQUAL_STRING("", lines.text);
}

/* The lab, with these daemons. */
static void open_lab(const char *rest)
{
	char path[LAUNCH_LIB_PATH], text[PATH_MAX + 4096];

	snprintf(text, sizeof(text), "include: %s\n%s", lab, rest);
	open_file(launch_lib_write(path, folder, "lab.launch", 0644, text));
}

static const struct launch_daemon *daemon_named(const char *name)
{
	const struct launch_daemon *daemon = launch_daemon(&launch, name);

	TEST_ASSERT_NOT_NULL_MESSAGE(daemon, name);
	return daemon;
}

static void joined(char *const *strings, char *text, size_t size)
{
	size_t at = 0;

	for (*text = '\0'; *strings; strings++)
		at += (size_t)snprintf(text + at, size - at, "%s%s", at ? " " : "", *strings);
}

/* expected: %s stands for the robot file. */
static void has_line(const char *name, const char *expected)
{
	char line[2048], want[2048], *config = strstr(expected, "CONFIG");

	if (config)
		snprintf(want, sizeof(want), "%.*s%s%s", (int)(config - expected), expected, launch.config, config + 6);
	else
		snprintf(want, sizeof(want), "%s", expected);
	joined(daemon_named(name)->argv, line, sizeof(line));
	TEST_ASSERT_EQUAL_STRING(want, line);
}

static void is_order(const char *expected, bool wanted_only)
{
	char order[1024] = "";
	size_t at = 0;

	for (size_t i = 0; i < launch.daemons_n; i++) {
		if (launch.daemons[i].wanted || !wanted_only)
			at += (size_t)snprintf(order + at, sizeof(order) - at, "%s%s", at ? " " : "",
					       launch.daemons[i].name);
	}
	TEST_ASSERT_EQUAL_STRING(expected, order);
}

static void needs(const char *name, const char *expected)
{
	const struct launch_daemon *daemon = daemon_named(name);
	char text[1024] = "";
	size_t at = 0;

	for (size_t i = 0; i < daemon->needs_n; i++) {
		TEST_ASSERT_TRUE(daemon->needs[i] < (size_t)(daemon - launch.daemons));
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? " " : "",
				       launch.daemons[daemon->needs[i]].name);
	}
	TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, text, name);
}

static void has_budget(const char *name, int64_t period_ns, int64_t budget_ns, enum vt_over over, int64_t weight)
{
	const struct launch_daemon *daemon = daemon_named(name);

	TEST_ASSERT_EQUAL_INT64_MESSAGE(period_ns, daemon->period_ns, name);
	TEST_ASSERT_EQUAL_INT64_MESSAGE(budget_ns, daemon->budget_ns, name);
	TEST_ASSERT_EQUAL_MESSAGE(over, daemon->over, name);
	TEST_ASSERT_EQUAL_INT64_MESSAGE(weight, daemon->weight, name);
}

TEST(a_budget_is_the_tick_unless_given)
{
	open_lab("daemons:\n  canwire:\n  robotsim:\n  clock: {budget: 100us}\n  waist: {over: suspend}\n"
		 "  larm: {period: 4ms}\n  imu: {weight: 7}\n  joy: {program: joy}\n"
		 "  ctl: {program: ctl, period: 1ms, over: fail}\n");
	has_budget("canwire", 0, 0, VT_OVER_REPORT, 0);
	has_budget("clock", 1 * MS, MS / 10, VT_OVER_REPORT, 0);
	has_budget("waist", 10 * MS, 10 * MS, VT_OVER_SUSPEND, 0);
	has_budget("larm", 4 * MS, 4 * MS, VT_OVER_REPORT, 0);
	has_budget("imu", 0, 0, VT_OVER_REPORT, 7);
	has_budget("joy", 0, 0, VT_OVER_REPORT, 0);
	has_budget("ctl", 1 * MS, 1 * MS, VT_OVER_FAIL, 0);
}

/* ---- the files that users start from ---- */

TEST(the_bench_runs)
{
	open_file("launch/waist.launch");
	TEST_ASSERT_EQUAL_STRING("bench", launch.name);
	is_order("canwire robotsim clock waist", true);
	has_line("canwire", "canwire run --robot bench --bitrate 1000000 --priority 60 torso");
	has_line("robotsim", "robotsim run --priority 55 CONFIG");
	has_line("clock", "hubo-daemon --name clock --robot bench --config CONFIG");
	has_line("waist", "pciod --name waist --robot bench --config CONFIG");
	TEST_ASSERT_EQUAL(LAUNCH_ARM_AUTO, launch.arm);
	TEST_ASSERT_EQUAL('/', *launch.config);
}

TEST(krang_has_eight_buses)
{
	open_file("launch/krang.launch");
	TEST_ASSERT_EQUAL_STRING("krang", launch.name);
	TEST_ASSERT_EQUAL_UINT(8, launch.robot.buses_n);
	is_order("blackbox clock imu wheels balance waist waist-mux control larm rarm lft rft lgrip rgrip battery "
		 "achlogd",
		 true);
	has_line("blackbox", "blackbox --name blackbox --robot krang --config CONFIG");
	needs("blackbox", "");
	has_line("rarm", "pciod --name rarm --robot krang --config CONFIG");
	TEST_ASSERT_EQUAL(LAUNCH_ARM_NO, launch.arm);
	TEST_ASSERT_EQUAL_INT(0, launch_group(&launch, "noarms", launch_lib_start(&lines)));
	is_order("blackbox clock imu wheels balance waist waist-mux control battery achlogd", true);
	TEST_ASSERT_EQUAL_INT(0, launch_group(&launch, "base", launch_lib_start(&lines)));
	is_order("blackbox clock imu wheels balance waist battery achlogd", true);
}

/* ---- order and groups ---- */

TEST(daemons_start_after_their_needs)
{
	open_file("test/launch/good.launch");
	is_order("canwire robotsim clock larm imu waist", true);
	needs("canwire", "");
	needs("robotsim", "canwire");
	needs("clock", "canwire robotsim");
	needs("waist", "canwire robotsim imu");
	needs("imu", "canwire robotsim");
}

/* A wire of another canwire does not matter. */
TEST(only_the_wire_of_its_own_bus_is_needed)
{
	open_lab("clock: none\n"
		 "daemons:\n"
		 "  waist:\n"
		 "  one: {program: canwire, bus: torso}\n"
		 "  two: {program: canwire, bus: [arm]}\n"
		 "  larm: {bus: arm}\n");
	is_order("one waist two larm", true);
	needs("waist", "one");
	needs("larm", "two");
	has_line("one", "canwire run --robot lab --bitrate 1000000 torso");
	TEST_ASSERT_EQUAL_PTR(daemon_named("two"), launch_server(&launch, robot_bus(&launch.robot, "arm")));
}

TEST(a_wire_may_be_of_can_fd)
{
	char path[LAUNCH_LIB_PATH];

	launch_lib_write(path, folder, "fd.yaml", 0644,
			 "robot: fd\nbuses:\n  a: {interface: wire:a, bitrate: 500000, data_bitrate: 2000000}\n"
			 "devices:\n  waist: {driver: pciod, bus: a}\n");
	open_file(launch_lib_write(path, folder, "fd.launch", 0644,
				   "include: fd.yaml\nclock: none\ndaemons:\n  canwire: {priority: 9}\n  waist:\n"));
	has_line("canwire", "canwire run --robot fd --bitrate 500000 --fd 2000000 --priority 9 a");
}

/* No daemon needs it, so that none waits for it. */
TEST(a_black_box_needs_the_wires_only)
{
	open_lab("daemons:\n  box: {program: blackbox, args: [--window, 5s]}\n  canwire:\n  robotsim:\n  clock:\n"
		 "  waist:\n");
	is_order("canwire box robotsim clock waist", true);
	needs("box", "canwire");
	needs("waist", "canwire robotsim");
	has_line("box", "blackbox --name box --robot lab --config CONFIG --window 5s");
	TEST_ASSERT_EQUAL(LAUNCH_ALIVE_WATCHDOG, daemon_named("box")->alive);
	TEST_ASSERT_EQUAL_INT64(30000 * MS, daemon_named("box")->dead_after_ns);
	TEST_ASSERT_EQUAL_INT64(30000 * MS, daemon_named("box")->rules.kill_within_ns);
	TEST_ASSERT_EQUAL_INT64(2000 * MS, daemon_named("waist")->rules.kill_within_ns);
}

TEST(a_group_includes_its_needs_and_the_clock)
{
	open_file("test/launch/good.launch");
	TEST_ASSERT_EQUAL_STRING("full", launch.group);
	TEST_ASSERT_EQUAL_INT(0, launch_group(&launch, "noarms", launch_lib_start(&lines)));
	TEST_ASSERT_EQUAL_STRING("noarms", launch.group);
	is_order("canwire robotsim clock imu waist", true);
	TEST_ASSERT_EQUAL_INT(0, launch_group(&launch, "full", launch_lib_start(&lines)));
	is_order("canwire robotsim clock larm imu waist", true);
	launch_group(&launch, "noarms", launch_lib_start(&lines));
	TEST_ASSERT_EQUAL_INT(0, launch_group(&launch, NULL, launch_lib_start(&lines)));
	is_order("canwire robotsim clock larm imu waist", true);
}

TEST(only_wanted_daemons_use_buses)
{
	const struct robot_bus *torso, *arm;

	open_lab("clock: none\ngroups: {one: waist}\ndaemons:\n  canwire: {bus: torso}\n  waist:\n  larm:\n");
	torso = robot_bus(&launch.robot, "torso");
	arm = robot_bus(&launch.robot, "arm");
	TEST_ASSERT_TRUE(launch_uses(&launch, torso) && launch_uses(&launch, arm));
	TEST_ASSERT_NULL(launch_server(&launch, arm));
	launch_group(&launch, "one", launch_lib_start(&lines));
	TEST_ASSERT_TRUE(launch_uses(&launch, torso));
	TEST_ASSERT_FALSE(launch_uses(&launch, arm));
	TEST_ASSERT_EQUAL_STRING("canwire", launch_server(&launch, torso)->name);
}

TEST(an_unknown_group_is_an_error)
{
	open_file("test/launch/good.launch");
	TEST_ASSERT_EQUAL_INT(-EINVAL, launch_group(&launch, "noarm", launch_lib_start(&lines)));
	TEST_ASSERT_EQUAL_STRING("--group: test/launch/good.launch has no group \"noarm\"; did you mean noarms?\n",
				 lines.text);
	TEST_ASSERT_EQUAL_INT(-EINVAL, launch_group(&launch, "elephant", launch_lib_start(&lines)));
	TEST_ASSERT_EQUAL_STRING("--group: test/launch/good.launch has no group \"elephant\"; there are full, noarms\n",
				 lines.text);
	is_order("canwire robotsim clock larm imu waist", true);
}

/* ---- command lines and environment ---- */

TEST(buses_and_arguments_are_passed_on)
{
	open_lab("robot: second\n"
		 "clock: none\n"
		 "daemons:\n"
		 "  left: {device: larm, bus: [arm, torso], args: [--set, tick=10ms]}\n"
		 "  imu: {bus: {sensor: arm}}\n"
		 "  waist: {bus: arm, object: pciod.so}\n"
		 "  joy: {program: joystick, args: -v}\n"
		 "  mine: {program: ../bin/mine}\n"
		 "  theirs: {program: /opt/theirs, args: }\n"
		 "  canwire: {args: [--seed, 7]}\n");
	has_line("left", "pciod --name larm --bus arm --bus torso --robot second --config CONFIG --set tick=10ms");
	has_line("imu", "imud --name imu --bus sensor=arm --robot second --config CONFIG");
	has_line("waist", "drvhost pciod.so --name waist --bus arm --robot second --config CONFIG");
	has_line("joy", "joystick -v");
	has_line("theirs", "/opt/theirs");
	has_line("canwire", "canwire run --robot second --bitrate 1000000 --seed 7 torso arm");
	TEST_ASSERT_EQUAL_STRING_LEN(folder, daemon_named("mine")->argv[0], strlen(folder));
	TEST_ASSERT_EQUAL_STRING("/../bin/mine", daemon_named("mine")->argv[0] + strlen(folder));
	TEST_ASSERT_EQUAL_STRING("second", launch.name);
	TEST_ASSERT_NULL(launch.clock);
}

TEST(environments_add_up)
{
	char text[256];

	open_lab("clock: none\nenvironment: {A: 1, B: two words}\n"
		 "daemons:\n  waist: {environment: {A: 3, C2: }}\n  imu: {needs: , environment: }\n");
	joined(daemon_named("waist")->environment, text, sizeof(text));
	TEST_ASSERT_EQUAL_STRING("A=1 B=two words A=3 C2=", text);
	joined(daemon_named("imu")->environment, text, sizeof(text));
	TEST_ASSERT_EQUAL_STRING("A=1 B=two words", text);
}

TEST(equal_daemons_have_equal_hashes)
{
	uint64_t before;

	open_lab("clock: none\ndaemons:\n  waist:\n");
	before = launch_hash(daemon_named("waist"));
	open_lab("clock: none\ndaemons:\n  imu:\n  waist: {priority: 9, needs: imu}\n");
	TEST_ASSERT_EQUAL_HEX64(before, launch_hash(daemon_named("waist")));
	TEST_ASSERT_NOT_EQUAL_HEX64(before, launch_hash(daemon_named("imu")));
	open_lab("clock: none\ndaemons:\n  waist: {environment: {A: 1}}\n");
	TEST_ASSERT_NOT_EQUAL_HEX64(before, launch_hash(daemon_named("waist")));
	open_lab("clock: none\ndaemons:\n  waist: {args: A=1}\n");
	TEST_ASSERT_NOT_EQUAL_HEX64(before, launch_hash(daemon_named("waist")));
}

/* ---- times and rules ---- */

TEST(silence_is_measured_in_ticks)
{
	open_file("test/launch/good.launch");
	TEST_ASSERT_EQUAL_STRING("clock", launch.clock);
	/* Twenty ticks of clock/10, of a clock that ticks every millisecond. */
	TEST_ASSERT_EQUAL_INT64(10 * MS, daemon_named("waist")->tick_ns);
	TEST_ASSERT_EQUAL_INT64(200 * MS, daemon_named("waist")->dead_after_ns);
	/* At least 100 ms; a second without a tick. */
	TEST_ASSERT_EQUAL_INT64(2 * MS, daemon_named("larm")->tick_ns);
	TEST_ASSERT_EQUAL_INT64(100 * MS, daemon_named("larm")->dead_after_ns);
	TEST_ASSERT_EQUAL_INT64(100 * MS, daemon_named("clock")->dead_after_ns);
	TEST_ASSERT_EQUAL_INT64(0, daemon_named("imu")->tick_ns);
	TEST_ASSERT_EQUAL_INT64(1000 * MS, daemon_named("imu")->dead_after_ns);
	TEST_ASSERT_EQUAL_INT64(1000 * MS, daemon_named("canwire")->dead_after_ns);
	open_lab("daemons:\n  clock:\n  waist: {dead_after: 50ms}\n");
	TEST_ASSERT_EQUAL_INT64(50 * MS, daemon_named("waist")->dead_after_ns);
}

TEST(each_kind_shows_its_life_in_its_own_way)
{
	open_file("test/launch/good.launch");
	TEST_ASSERT_EQUAL(LAUNCH_ALIVE_STATE, daemon_named("waist")->alive);
	TEST_ASSERT_EQUAL_STRING("waist-state", daemon_named("waist")->channel);
	TEST_ASSERT_TRUE(daemon_named("clock")->clock);
	TEST_ASSERT_EQUAL_STRING("clock", daemon_named("clock")->channel);
	TEST_ASSERT_EQUAL(LAUNCH_ALIVE_WATCHDOG, daemon_named("canwire")->alive);
	TEST_ASSERT_EQUAL(LAUNCH_ALIVE_WATCHDOG, daemon_named("robotsim")->alive);
	TEST_ASSERT_NULL(daemon_named("canwire")->channel);
	open_lab("clock: pace\n"
		 "daemons:\n"
		 "  pace: {device: clock}\n"
		 "  left: {device: larm}\n"
		 "  joy: {program: joy}\n"
		 "  balance: {program: balanced, alive: state, dead_after: 20ms}\n"
		 "  imu: {alive: process}\n");
	TEST_ASSERT_EQUAL_STRING("pace", launch.clock);
	TEST_ASSERT_EQUAL_STRING("clock", daemon_named("pace")->channel);
	TEST_ASSERT_EQUAL_STRING("larm-state", daemon_named("left")->channel);
	TEST_ASSERT_EQUAL(LAUNCH_ALIVE_PROCESS, daemon_named("joy")->alive);
	TEST_ASSERT_EQUAL_STRING("balance-state", daemon_named("balance")->channel);
	TEST_ASSERT_EQUAL(LAUNCH_ALIVE_PROCESS, daemon_named("imu")->alive);
}

TEST(rules_have_defaults)
{
	const struct policy_rules usual = launch_lib_rules;
	const struct launch_daemon *daemon;

	open_lab("clock: none\n"
		 "links: no\n"
		 "daemons:\n"
		 "  waist:\n"
		 "  larm:\n"
		 "    priority: 99\n"
		 "    core: 3\n"
		 "    critical: estop\n"
		 "    restart: {settled: 3s}\n"
		 "    ready_within: 7s\n"
		 "    kill_within: 300ms\n"
		 "  imu:\n"
		 "    restart: {when: never, settled: 2s, backoff: 1s, backoff_max: 8s, budget: 3, within: 10s}\n"
		 "  clock: {restart: never}\n");
	daemon = daemon_named("waist");
	TEST_ASSERT_EQUAL_INT(0, memcmp(&usual.settled_ns, &daemon->rules.settled_ns,
					sizeof(usual) - offsetof(struct policy_rules, settled_ns)));
	TEST_ASSERT_FALSE(daemon->rules.never || daemon->rules.critical);
	TEST_ASSERT_EQUAL_INT64(0, daemon->priority);
	TEST_ASSERT_EQUAL_INT64(-1, daemon->core);
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, daemon->critical);
	daemon = daemon_named("larm");
	TEST_ASSERT_EQUAL_INT64(99, daemon->priority);
	TEST_ASSERT_EQUAL_INT64(3, daemon->core);
	TEST_ASSERT_TRUE(daemon->rules.critical);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, daemon->critical);
	TEST_ASSERT_EQUAL_INT64(3000 * MS, daemon->rules.settled_ns);
	TEST_ASSERT_EQUAL_INT64(7000 * MS, daemon->rules.ready_within_ns);
	TEST_ASSERT_EQUAL_INT64(300 * MS, daemon->rules.kill_within_ns);
	daemon = daemon_named("imu");
	TEST_ASSERT_TRUE(daemon->rules.never);
	TEST_ASSERT_EQUAL_INT64(2000 * MS, daemon->rules.settled_ns);
	TEST_ASSERT_EQUAL_INT64(1000 * MS, daemon->rules.backoff_ns);
	TEST_ASSERT_EQUAL_INT64(8000 * MS, daemon->rules.backoff_max_ns);
	TEST_ASSERT_EQUAL_INT64(3, daemon->rules.budget);
	TEST_ASSERT_EQUAL_INT64(10000 * MS, daemon->rules.budget_within_ns);
	TEST_ASSERT_TRUE(daemon_named("clock")->rules.never);
	TEST_ASSERT_FALSE(launch.links);
	open_lab("clock: none\ndaemons:\n  waist: {critical: hold}\n");
	TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, daemon_named("waist")->critical);
	TEST_ASSERT_TRUE(launch.links);
}

TEST(critical_drivers_have_a_spare_unless_the_file_says_otherwise)
{
	open_lab("clock: none\ndaemons:\n  waist: {critical: hold}\n  larm:\n  imu: {critical: estop, spare: no}\n"
		 "  clock: {spare: yes}\n  mine: {program: mine, critical: hold}\n");
	TEST_ASSERT_TRUE(daemon_named("waist")->spare);
	TEST_ASSERT_FALSE(daemon_named("larm")->spare);
	TEST_ASSERT_FALSE(daemon_named("imu")->spare);
	TEST_ASSERT_TRUE(daemon_named("clock")->spare);
	TEST_ASSERT_FALSE(daemon_named("mine")->spare);
}

/* ---- as much as fits ---- */

TEST(limits_may_be_reached)
{
	char text[4096];
	size_t at = (size_t)snprintf(text, sizeof(text), "clock: none\ndaemons:\n");

	for (int i = LAUNCH_DAEMONS_MAX; i > 1; i--)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "  d%d: {program: x, needs: d%d}\n", i, i - 1);
	snprintf(text + at, sizeof(text) - at, "  d1: {program: x}\n");
	open_lab(text);
	TEST_ASSERT_EQUAL_UINT(LAUNCH_DAEMONS_MAX, launch.daemons_n);
	for (int i = 0; i < LAUNCH_DAEMONS_MAX; i++)
		TEST_ASSERT_EQUAL_INT(i + 1, atoi(launch.daemons[i].name + 1));
	open_lab("clock: none\ndaemons:\n"
		 "  larm: {bus: [arm, arm, arm, arm, arm, arm, arm, torso], restart: {backoff: 5s}}\n");
	TEST_ASSERT_EQUAL_UINT(8, daemon_named("larm")->buses_n);
	open_file("test/launch/wires.launch");
	TEST_ASSERT_EQUAL_UINT(LAUNCH_BUSES_MAX, daemon_named("canwire")->buses_n);
	TEST_ASSERT_EQUAL_STRING("b16", daemon_named("other")->argv[6]);
}

/* ---- finding programs ---- */

TEST(programs_are_found_beside_us_first)
{
	char beside[LAUNCH_LIB_PATH + 8], far[LAUNCH_LIB_PATH + 8], path[LAUNCH_LIB_PATH], found[LAUNCH_FIND_MAX];
	char search[3 * LAUNCH_LIB_PATH], expected[LAUNCH_LIB_PATH + 16];

	snprintf(beside, sizeof(beside), "%s/near", folder);
	snprintf(far, sizeof(far), "%s/far", folder);
	snprintf(search, sizeof(search), "/nowhere::%s", far);
	mkdir(beside, 0755);
	mkdir(far, 0755);
	launch_lib_write(path, beside, "a", 0755, "");
	launch_lib_write(path, far, "a", 0755, "");
	launch_lib_write(path, far, "b", 0755, "");
	launch_lib_write(path, far, "c", 0644, "");
	TEST_ASSERT_EQUAL_INT(0, launch_find_in(found, "a", beside, search));
	snprintf(expected, sizeof(expected), "%s/a", beside);
	TEST_ASSERT_EQUAL_STRING(expected, found);
	TEST_ASSERT_EQUAL_INT(0, launch_find_in(found, "a", NULL, search));
	snprintf(expected, sizeof(expected), "%s/a", far);
	TEST_ASSERT_EQUAL_STRING(expected, found);
	TEST_ASSERT_EQUAL_INT(0, launch_find_in(found, "b", beside, search));
	TEST_ASSERT_EQUAL_INT(-EACCES, launch_find_in(found, "c", beside, search));
	TEST_ASSERT_EQUAL_INT(-ENOENT, launch_find_in(found, "d", beside, search));
	TEST_ASSERT_EQUAL_INT(-ENOENT, launch_find_in(found, "b", beside, NULL));
	TEST_ASSERT_EQUAL_INT(-ENOENT, launch_find_in(found, "", beside, search));
	/* A path is looked for nowhere else. */
	TEST_ASSERT_EQUAL_INT(-ENOENT, launch_find_in(found, "./b", beside, search));
	TEST_ASSERT_EQUAL_INT(0, launch_find_in(found, expected, NULL, NULL));
	/* A folder is not a program. */
	TEST_ASSERT_EQUAL_INT(-EACCES, launch_find_in(found, far, NULL, NULL));
	TEST_ASSERT_EQUAL_INT(-EACCES, launch_find_in(found, "far", NULL, folder));
}

TEST(our_own_program_is_beside_us)
{
	char found[LAUNCH_FIND_MAX], self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	TEST_ASSERT_TRUE(len > 0);
	self[len] = '\0';
	TEST_ASSERT_EQUAL_INT(0, launch_find(found, strrchr(self, '/') + 1));
	TEST_ASSERT_EQUAL_STRING(self, found);
	TEST_ASSERT_EQUAL_INT(0, launch_find(found, "sh"));
}

/* ---- finding launch files ---- */

/* In the folder of the test: here/ is the current folder, share/ the one of installed launch files. */
static int find(char found[LAUNCH_FIND_MAX], const char *name, const char *share, bool careful)
{
	char here[LAUNCH_LIB_PATH + 8], installed[LAUNCH_LIB_PATH + 8];
	const struct launch_places places = { here, share ? installed : NULL, careful };

	snprintf(here, sizeof(here), "%s/here/", folder);
	snprintf(installed, sizeof(installed), "%s/%s/", folder, share ? share : "");
	return launch_path_in(found, name, &places, launch_lib_start(&lines));
}

static void make_folders(void)
{
	static const char *const names[] = { "here", "here/launch", "share" };
	char path[LAUNCH_LIB_PATH + 16];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		mkdir(path, 0755);
		chmod(path, 0755);
	}
}

/* A file; a folder, if its name ends with a slash; a link to nowhere, if it ends with @. */
static void make_file(const char *name)
{
	char path[LAUNCH_LIB_PATH + 64];
	const size_t len = strlen(name);

	snprintf(path, sizeof(path), "%s/%.*s", folder, (int)(len - (name[len - 1] == '@')), name);
	if (name[len - 1] == '/')
		TEST_ASSERT_EQUAL_INT(0, mkdir(path, 0755));
	else if (name[len - 1] == '@')
		TEST_ASSERT_EQUAL_INT(0, symlink("nowhere", path));
	else
		launch_lib_write(path, folder, name, 0644, "");
}

TEST(a_launch_file_is_found_by_its_name)
{
	static const struct {
		const char *files[4], *name;
		const char *found; /* NULL: none is */
	} cases[] = {
		/* The first of four places. */
		{ { "here/w.launch", "here/w", "here/launch/w.launch", "share/w.launch" }, "w", "here/w.launch" },
		{ { "here/w", "here/launch/w.launch", "share/w.launch" }, "w", "here/w" },
		{ { "here/launch/w.launch", "share/w.launch" }, "w", "here/launch/w.launch" },
		{ { "share/w.launch" }, "w", "share/w.launch" },
		{ { "here/v.launch", "here/launch/w", "share/w" }, "w", NULL },
		/* With the suffix. */
		{ { "here/w.launch", "here/launch/w.launch" }, "w.launch", "here/w.launch" },
		{ { "here/launch/w.launch", "share/w.launch" }, "w.launch", "here/launch/w.launch" },
		{ { "share/w.launch" }, "w.launch", "share/w.launch" },
		{ { "here/w", "here/w.launch.launch", "share/w" }, "w.launch", NULL },
		{ { "here/w.1.launch" }, "w.1", "here/w.1.launch" },
		/* A folder is passed by; a link to nowhere is reported, not replaced by another file. */
		{ { "here/w/", "here/w.launch/", "share/w.launch" }, "w", "share/w.launch" },
		{ { "here/w.launch@", "here/launch/w.launch" }, "w", "here/w.launch" },
		{ { "here/.launch" }, "", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char found[LAUNCH_FIND_MAX], expected[LAUNCH_LIB_PATH + 64], said[64];

		launch_lib_remove(folder);
		launch_lib_folder(folder);
		make_folders();
		for (size_t j = 0; j < 4 && cases[i].files[j]; j++)
			make_file(cases[i].files[j]);
		snprintf(said, sizeof(said), "case %zu", i);
		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].found ? 0 : -ENOENT, find(found, cases[i].name, "share", false),
					      said);
		snprintf(expected, sizeof(expected), "%s/%s", folder, cases[i].found);
		if (cases[i].found)
			TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, found, said);
	}
}

TEST(a_path_of_a_launch_file_is_taken_as_it_is)
{
	static const char *const paths[] = { "./w", "launch/w.launch", "/w", "w/" };
	char found[LAUNCH_FIND_MAX], name[2 * LAUNCH_FIND_MAX];

	make_folders();
	make_file("here/w.launch");
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		TEST_ASSERT_EQUAL_INT(0, find(found, paths[i], "share", true));
		TEST_ASSERT_EQUAL_STRING(paths[i], found);
	}
	memset(name, 'w', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	TEST_ASSERT_EQUAL_INT(-ENAMETOOLONG, find(found, name, "share", false));
	*name = '/';
	TEST_ASSERT_EQUAL_INT(-ENAMETOOLONG, find(found, name, "share", false));
}

TEST(one_line_says_where_a_launch_file_was_looked_for)
{
	char found[LAUNCH_FIND_MAX], said[8 * LAUNCH_LIB_PATH];
	const char *f = folder;

	TEST_ASSERT_EQUAL_INT(-ENOENT, find(found, "w", "share", false));
	snprintf(said, sizeof(said),
		 "there is no launch file \"w\"; looked for %s/here/w.launch, %s/here/w, %s/here/launch/w.launch, "
		 "%s/share/w.launch\n",
		 f, f, f, f);
	TEST_ASSERT_EQUAL_STRING(said, lines.text);
	TEST_ASSERT_EQUAL_INT(-ENOENT, find(found, "w.launch", NULL, false));
	snprintf(said, sizeof(said),
		 "there is no launch file \"w.launch\"; looked for %s/here/w.launch, %s/here/launch/w.launch\n", f, f);
	TEST_ASSERT_EQUAL_STRING(said, lines.text);
	TEST_ASSERT_TRUE(launch_open(&launch, "endplate-none", launch_lib_start(&lines)) < 0);
	TEST_ASSERT_EQUAL_STRING("there is no launch file \"endplate-none\"; looked for endplate-none.launch, "
				 "endplate-none, launch/endplate-none.launch\n",
				 lines.text);
}

/* What another user can change is refused, and not passed by for an installed file. */
TEST(root_finds_by_name_only_what_is_roots)
{
	static const struct {
		const char *change; /* below the test's folder */
		uid_t owner;
		mode_t mode;
		const char *file; /* that is there beside share/w.launch */
		bool found;
	} cases[] = {
		{ "here", 0, 0755, "here/w.launch", true },
		{ "here", 1, 0755, "here/w.launch", false },
		{ "here", 0, 0775, "here/w.launch", false },
		{ "here", 0, 01777, "here/w.launch", false },
		{ "here/w.launch", 1, 0644, "here/w.launch", false },
		{ "here/w.launch", 0, 0664, "here/w.launch", false },
		{ "here/launch", 0, 0755, "here/launch/w.launch", true },
		{ "here/launch", 1, 0755, "here/launch/w.launch", false },
		{ "here/launch", 0, 0777, "here/launch/w.launch", false },
		{ "here/launch/w.launch", 0, 0666, "here/launch/w.launch", false },
		/* A folder of root, but another user chose it. */
		{ "here", 1, 0755, "here/launch/w.launch", false },
		/* Nothing is taken from there. */
		{ "here", 1, 0777, "here/v.launch", true },
	};

	if (geteuid())
		TEST_IGNORE_MESSAGE("only root can give files away");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char found[LAUNCH_FIND_MAX], path[LAUNCH_LIB_PATH + 64], said[64];

		launch_lib_remove(folder);
		launch_lib_folder(folder);
		make_folders();
		make_file(cases[i].file);
		make_file("share/w.launch");
		snprintf(path, sizeof(path), "%s/%s", folder, cases[i].change);
		TEST_ASSERT_EQUAL_INT(0, chown(path, cases[i].owner, 0));
		TEST_ASSERT_EQUAL_INT(0, chmod(path, cases[i].mode));
		snprintf(said, sizeof(said), "case %zu", i);
		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].found ? 0 : -EPERM, find(found, "w", "share", true), said);
		if (!cases[i].found)
			TEST_ASSERT_NOT_NULL_MESSAGE(
				strstr(lines.text, "w.launch: another user than root can change it"), said);
		TEST_ASSERT_EQUAL_INT_MESSAGE(0, find(found, "w", "share", false), said);
	}
}

TEST(installed_launch_files_are_beside_the_folder_bin)
{
	static const struct {
		const char *program, *folder;
	} cases[] = {
		{ "/usr/local/bin/achstart", "/usr/local/share/endplate/launch/" },
		{ "/bin/achstart", "/share/endplate/launch/" },
		{ "/home/r/build/achstart", NULL },
		{ "/home/robin/achstart", NULL },
	};
	char found[LAUNCH_FIND_MAX], program[LAUNCH_LIB_PATH + 8];

	snprintf(program, sizeof(program), "%s/exe", folder);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		TEST_ASSERT_EQUAL_INT(0, symlink(cases[i].program, program));
		if (cases[i].folder)
			TEST_ASSERT_EQUAL_STRING(cases[i].folder, launch_installed(found, program));
		else
			TEST_ASSERT_NULL(launch_installed(found, program));
		unlink(program);
	}
	TEST_ASSERT_NULL(launch_installed(found, program));
}

/* root's is the one group that every system has. */
TEST(groups_with_rights_are_names_or_numbers)
{
	static const struct {
		const char *keys;
		gid_t operators, arming, moving;
		const char *said; /* behind the file's name */
	} cases[] = {
		{ "", LAUNCH_NO_GROUP, LAUNCH_NO_GROUP, LAUNCH_NO_GROUP, "" },
		{ "operators: root\n", 0, LAUNCH_NO_GROUP, LAUNCH_NO_GROUP, "" },
		{ "arming: 7007\n", LAUNCH_NO_GROUP, 7007, LAUNCH_NO_GROUP, "" },
		{ "operators: 1\narming: root\nmoving: 4294967294\n", 1, 0, 4294967294, "" },
		{ "arming: endplate-none\n", LAUNCH_NO_GROUP, LAUNCH_NO_GROUP, LAUNCH_NO_GROUP,
		  ":2: arming: there is no group endplate-none on this system\n" },
		{ "operators: 5\nmoving: 4294967295\n", 5, LAUNCH_NO_GROUP, LAUNCH_NO_GROUP,
		  ":3: moving: there is no group 4294967295 on this system\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[256], said[LAUNCH_LIB_PATH + 256] = "";

		snprintf(text, sizeof(text), "%sclock: none\ndaemons: {waist: }\n", cases[i].keys);
		open_lab(text);
		TEST_ASSERT_EQUAL_INT(*cases[i].said ? -EINVAL : 0, launch_rights(&launch, launch_lib_start(&lines)));
		if (*cases[i].said)
			snprintf(said, sizeof(said), "%s/lab.launch%s", folder, cases[i].said);
		TEST_ASSERT_EQUAL_STRING(said, lines.text);
		TEST_ASSERT_EQUAL_UINT(cases[i].operators, launch.operators);
		TEST_ASSERT_EQUAL_UINT(cases[i].arming, launch.arming);
		TEST_ASSERT_EQUAL_UINT(cases[i].moving, launch.moving);
	}
}

/* ---- several sources ---- */

TEST(a_refmuxd_reads_its_sources_and_writes_its_output)
{
	struct launch_mux mux;

	open_file("test/launch/mux.launch");
	TEST_ASSERT_TRUE(launch_mux(daemon_named("waist-mux"), &mux));
	TEST_ASSERT_EQUAL_STRING("waist", mux.output);
	TEST_ASSERT_EQUAL_UINT(2, mux.n);
	TEST_ASSERT_EQUAL_STRING("joy", mux.sources[0]);
	TEST_ASSERT_EQUAL_STRING("control", mux.sources[1]);
	TEST_ASSERT_FALSE(launch_mux(daemon_named("control"), &mux));
	TEST_ASSERT_TRUE(launch_is_muxed(&launch, daemon_named("waist")->device));
	TEST_ASSERT_FALSE(launch_is_muxed(&launch, daemon_named("control")->device));
	TEST_ASSERT_EQUAL_INT(0, launch_group(&launch, "alone", launch_lib_start(&lines)));
	TEST_ASSERT_FALSE(launch_is_muxed(&launch, daemon_named("waist")->device));
}
