/* test_achstart_trouble.c: daemons that hang, spin, end wrongly or will not end, devices that are away, channels that
 * are overwritten. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/shm.h>

#include "test/lib/testcase.h"

#include "channels/clock/clock.h"
#include "launch/view/robot_channels.h"
#include "test/launch/achstart/rig.h"
#include "test/launch/file/launch_lib.h"
#include "test/lib/lib.h"
#include "test/lib/virtual_lib.h"

#define TOP "include: @BENCH@\nclock: none\ndaemons:\n"
#define QUICK "restart: {backoff: 1ms, backoff_max: 10ms, budget: 3}"

void tearDown(void)
{
	rig_close();
}

static void begin(void)
{
	rig_open(NULL);
	rig_start();
	RIG_UNTIL(rig_armed());
}

/* ---- hanging ---- */

TEST(stopped_daemon_is_killed)
{
	begin();
	for (int i = 0; i < RIG_NAMES; i++) {
		const char *name = rig_names[i];

		rig_signal(name, SIGSTOP);
		RIG_UNTIL(rig_reported(name, "killed", "it was stopped"));
		RIG_UNTIL(rig_all_ready() && rig_incarnation(name) == 2);
		RIG_ASSERT(rig_reported(name, "ended", "signal 9"));
	}
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_RUN);
	RIG_ASSERT(!rig_stop());
}

#define MS INT64_C(1000000)

static void turn_for(int64_t ns)
{
	for (const int64_t until_ns = clock_now_ns() + ns; clock_now_ns() < until_ns;)
		rig_turn();
}

/* Both are held up, as by a machine that was paused; it comes back a little later than achstart. */
TEST(silence_while_achstart_is_held_up_is_ignored)
{
	pid_t one;

	rig_open(TOP "  one: {program: @FAKE@, args: [nap], alive: watchdog, dead_after: 2s, priority: 30}\n");
	rig_start();
	RIG_UNTIL(rig_ready("one"));
	one = rig_pid("one");
	virtual_lib_signal(rig.achstart, SIGSTOP);
	rig_signal("one", SIGUSR1);
	turn_for(2500 * MS);
	virtual_lib_signal(rig.achstart, SIGCONT);
	turn_for(300 * MS); /* it looks fifty times a second */
	rig_signal("one", SIGUSR1);
	turn_for(300 * MS);
	RIG_ASSERT(rig_pid("one") == one && !rig_events("one", "killed"));
	RIG_ASSERT(!rig_stop());
}

/* It has a real-time priority, and achstart one above it. */
TEST(spinning_daemon_is_killed)
{
	rig_in_real_time = true; /* its turn would not end */
	rig_open(TOP "  top: {program: @FAKE@, args: [spin], alive: watchdog, dead_after: 200ms, priority: 30}\n");
	rig_start();
	RIG_UNTIL(rig_events("top", "ready") >= 2);
	RIG_ASSERT(rig_reported("top", "killed", "no sign of life"));
	RIG_ASSERT(!rig_stop());
}

/* ---- overload ---- */

#define LOOPS 6

static void start_loops(pid_t loops[LOOPS], int core)
{
	cpu_set_t cores;

	CPU_ZERO(&cores);
	CPU_SET(core, &cores);
	for (int i = 0; i < LOOPS; i++) {
		loops[i] = fork();
		if (loops[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sched_setaffinity(0, sizeof(cores), &cores);
		for (;;)
			;
	}
}

static void end_loops(pid_t loops[LOOPS])
{
	for (int i = 0; i < LOOPS; i++) {
		kill(loops[i], SIGKILL);
		waitpid(loops[i], NULL, 0);
	}
}

static int first_core(void)
{
	cpu_set_t cores;
	int core = 0;

	TEST_ASSERT_EQUAL(0, sched_getaffinity(0, sizeof(cores), &cores));
	while (!CPU_ISSET(core, &cores))
		core++;
	return core;
}

/* Its CPU time; 0: the kernel does not say. */
static int64_t cpu_ns(pid_t pid)
{
	long long ns = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%lld", &ns) != 1)
		ns = 0;
	if (file)
		fclose(file);
	return ns;
}

/* Until it ran for less than a beat takes, 5 ms, in so long a time; false: that did not happen in 20 s. */
static bool starves(pid_t pid, int64_t ns)
{
	const int64_t begun_ns = clock_now_ns();
	int64_t since_ns = begun_ns, since_cpu_ns = cpu_ns(pid);

	for (; clock_now_ns() - since_ns < ns; rig_turn()) {
		if (clock_now_ns() - begun_ns > 20000 * MS)
			return false;
		if (cpu_ns(pid) - since_cpu_ns < 5 * MS)
			continue;
		since_ns = clock_now_ns();
		since_cpu_ns = cpu_ns(pid);
	}
	return true;
}

/* Everything else goes before it, also where each session has a share of its own. */
static void starve(pid_t pid)
{
	const struct sched_param param = { 0 };
	char path[64];
	FILE *file;

	TEST_ASSERT_EQUAL(0, sched_setscheduler(pid, SCHED_IDLE, &param));
	snprintf(path, sizeof(path), "/proc/%d/autogroup", (int)pid);
	file = fopen(path, "w");
	if (!file)
		return;
	fprintf(file, "19");
	fclose(file);
}

TEST(driver_that_waits_for_a_processor_is_not_killed)
{
	pid_t loops[LOOPS], one;
	bool starved;
	char text[200];

	snprintf(text, sizeof(text),
		 TOP "  one: {program: @FAKE@, args: [nap], alive: watchdog, dead_after: 400ms, core: %d}\n",
		 first_core());
	rig_in_real_time = true; /* it is about waiting for a processor */
	rig_open(text);
	rig_start();
	RIG_UNTIL(rig_ready("one"));
	one = rig_pid("one");
	if (!cpu_ns(one))
		TEST_IGNORE_MESSAGE("this kernel has no /proc/PID/schedstat");
	starve(one);
	start_loops(loops, first_core());
	starved = starves(one, 900 * MS);
	end_loops(loops);
	RIG_ASSERT(rig_pid("one") == one && !rig_events("one", "killed"));
	rig_signal("one", SIGUSR1); /* now it is silent by itself */
	RIG_UNTIL(rig_reported("one", "killed", "it gave no sign of life"));
	RIG_ASSERT(!rig_stop());
	if (!starved)
		TEST_IGNORE_MESSAGE("it got a processor all the time");
}

TEST(late_daemon_is_reported)
{
	pid_t pid;

	rig_open(TOP "  mute: {program: @FAKE@, args: [mute], alive: watchdog, ready_within: 200ms}\n"
		     "  after: {program: @FAKE@, args: [print], alive: watchdog, needs: mute}\n"
		     "  beside: {program: @FAKE@, args: [print], alive: watchdog}\n");
	rig_start();
	RIG_UNTIL(rig_ready("beside"));
	pid = rig_pid("mute");
	RIG_UNTIL(rig_reported("mute", "late", "not ready within"));
	RIG_ASSERT(rig_pid("mute") == pid && !rig_ready("mute") && !rig_pid("after"));
	RIG_ASSERT(!rig_stop());
}

TEST(unstoppable_daemon_is_named)
{
	rig_open(TOP "  mule: {program: @FAKE@, args: [stubborn], alive: watchdog, kill_within: 100ms}\n"
		     "  horse: {program: @FAKE@, args: [print], alive: watchdog}\n");
	rig_start();
	RIG_UNTIL(rig_ready("mule") && rig_ready("horse"));
	RIG_ASSERT(!rig_stop());
	RIG_ASSERT(strstr(rig_said(), "killed: mule\n"));
	RIG_ASSERT(rig_reported("mule", "killed", "did not end within"));
	RIG_ASSERT(!rig_events("horse", "killed"));
}

/* ---- ending ---- */

TEST(wrong_configuration_is_not_retried)
{
	rig_open(TOP "  wrong: {program: @FAKE@, args: [exit, 100], " QUICK "}\n"
		     "  right: {program: @FAKE@, args: [print], alive: watchdog}\n");
	rig_start();
	RIG_UNTIL(rig_ready("right") && rig_reported("wrong", "failed", "exit status 100"));
	RIG_ASSERT(rig_events("wrong", "ended") == 1);
	RIG_ASSERT(rig_reported("wrong", "last-line", "it will not work"));
	RIG_ASSERT(strstr(rig_said(), "achstart[wrong]: fatal: given up: its configuration is wrong"));
	RIG_ASSERT(!rig_stop());
}

TEST(daemon_that_always_dies_is_given_up)
{
	rig_open(TOP "  weak: {program: @FAKE@, args: [exit, 111], alive: watchdog, " QUICK "}\n"
		     "  right: {program: @FAKE@, args: [print], alive: watchdog}\n");
	rig_start();
	RIG_UNTIL(rig_reported("weak", "failed", "died too often"));
	RIG_UNTIL(rig_ready("right"));
	RIG_ASSERT(rig_events("weak", "ended") == 3 && rig_events("weak", "pause") == 2);
	RIG_ASSERT(strstr(rig_said(), "achstart[weak]: fatal: given up"));
	RIG_ASSERT(!rig_stop());
}

/* Removed while it runs: it cannot be started again. */
TEST(missing_program_is_given_up)
{
	char path[600];
	FILE *file;

	rig_open(TOP "  nobody: {program: @FOLDER@/nothing, " QUICK "}\n"
		     "  right: {program: @FAKE@, args: [print], alive: watchdog}\n");
	snprintf(path, sizeof(path), "%s/nothing", rig.folder);
	file = fopen(path, "w");
	RIG_ASSERT(file && fprintf(file, "#!/bin/sh\nrm -f '%s'\nexit 111\n", path) > 0 && !fclose(file) &&
		   !chmod(path, 0755));
	rig_start();
	RIG_UNTIL(rig_ready("right") && rig_events("nobody", "failed") == 1);
	RIG_ASSERT(rig_reported("nobody", "start", "No such file"));
	RIG_ASSERT(!rig_stop());
}

/* Three times in a second: the level that the file names. */
TEST(critical_daemon_that_keeps_dying_raises_the_level)
{
	begin();
	for (pid_t last = 0; !rig_events("waist", "raised"); rig_turn()) {
		const pid_t pid = rig_pid("waist");

		if (pid && pid != last)
			kill(pid, SIGKILL);
		last = pid;
	}
	RIG_ASSERT(rig_reported("waist", "raised", "level hold: waist keeps dying"));
	RIG_UNTIL(rig_level(NULL) == MSG_LEVEL_HOLD);
	RIG_UNTIL(rig_all_ready() && rig_waist().common.level == MSG_LEVEL_HOLD);
	RIG_ASSERT(!rig_events("waist", "failed"));
	RIG_ASSERT(!rig_stop());
}

static unsigned int raises(void)
{
	return rig_events("once", "raised");
}

/* So many times, each time after it was ready. */
static void die(unsigned int times)
{
	for (unsigned int n = rig_events("once", "ended"), end = n + times; n < end; n++) {
		RIG_UNTIL(rig_ready("once"));
		rig_signal("once", SIGKILL);
		RIG_UNTIL(rig_events("once", "ended") > n);
	}
}

static void arm_again(void)
{
	const unsigned int before = rig_events("achstart", "armed");

	RIG_UNTIL(rig_all_ready() && rig_ready("once"));
	rig_run_on("achctl", "arm");
	RIG_UNTIL(rig_events("achstart", "armed") > before);
}

/* Not with each three of its deaths. */
TEST(dying_daemon_raises_once_per_lowering)
{
	rig_open("include: @BENCH@\ndaemons:\n  canwire:\n  robotsim:\n  clock:\n  waist:\n"
		 "  once: {program: @FAKE@, args: [print], alive: watchdog, critical: estop,\n"
		 "    restart: {backoff: 20ms, backoff_max: 20ms}}\n");
	rig_start();
	die(15);
	RIG_ASSERT(!raises()); /* the robot comes up at estop */
	arm_again();
	die(15);
	RIG_ASSERT(raises() == 1);
	arm_again();
	die(3);
	RIG_UNTIL(raises() == 2);
	RIG_ASSERT(!rig_stop());
}

/* ---- one that ticks slowly ---- */

static uint64_t clock_ticks(void)
{
	struct msg_clock msg = { 0 };
	ach_channel_t chan;
	char name[64];
	size_t len;

	snprintf(name, sizeof(name), "%sclock", rig.prefix);
	if (ach_open(&chan, name, NULL) != ACH_OK)
		return 0;
	ach_get(&chan, &msg, sizeof(msg), &len, NULL, ACH_O_LAST);
	ach_close(&chan);
	return msg.common.ticks;
}

/* The robot file says 1 ms, so that 100 ms would be too long; the driver says better. */
TEST(slow_tick_is_not_dead)
{
	rig_open("include: @BENCH@\ndaemons:\n  canwire:\n  robotsim:\n"
		 "  clock: {args: [--set, tick=300ms]}\n");
	rig_start();
	RIG_UNTIL(rig_ready("clock") && clock_ticks() >= 6);
	RIG_ASSERT(!rig_events("clock", "ended"));
	RIG_ASSERT(rig_incarnation("clock") == 1);
	RIG_ASSERT(!rig_stop());
}

/* ---- a device that comes later ---- */

static pid_t simulate(void)
{
	char program[600];
	const pid_t pid = virtual_lib_fork("robotsim");

	snprintf(program, sizeof(program), "%s", rig_program("robotsim"));
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(program, "robotsim", "run", "config/robots/waist.yaml", NULL);
		_exit(127);
	}
	return pid;
}

TEST(device_may_appear_later)
{
	pid_t waist, sim;

	rig_open("include: @BENCH@\narm: auto\ndaemons: {canwire: , clock: , waist: {ready_within: 300ms}}\n");
	rig_start();
	RIG_UNTIL(rig_ready("clock") && rig_reported("waist", "late", "not ready within"));
	waist = rig_pid("waist");
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_FAULT);
	RIG_ASSERT(!rig_ready("waist") && rig_level(NULL) == MSG_LEVEL_ESTOP);
	sim = simulate();
	RIG_UNTIL(rig_ready("waist") && rig_level(NULL) == MSG_LEVEL_RUN);
	RIG_ASSERT(rig_pid("waist") == waist && !rig_events("waist", "ended"));
	virtual_lib_signal(sim, SIGKILL);
	waitpid(sim, NULL, 0);
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_FAULT); /* of its device, and no reason to restart it */
	RIG_ASSERT(rig_pid("waist") == waist && !rig_events("waist", "ended"));
	RIG_ASSERT(!rig_stop());
}

/* ---- channels ---- */

static void overwrite(const char *channel)
{
	char name[ACH_CHAN_NAME_MAX];
	void *memory;

	snprintf(name, sizeof(name), "%s%s", rig.prefix, channel);
	memory = lib_segment_map(lib_memory(name), NULL);
	memset(memory, 0xA5, 4096);
	shmdt(memory);
}

static void arm_robot(void)
{
	rig_run("achctl", "arm");
}

static bool is_channel(const char *channel)
{
	char name[96];
	ach_channel_t chan;
	bool opened;

	snprintf(name, sizeof(name), "%s%s", rig.prefix, channel);
	opened = ach_open(&chan, name, NULL) == ACH_OK;
	if (opened)
		ach_close(&chan);
	return opened;
}

TEST(overwritten_channel_is_recreated)
{
	static const char *const channels[] = { "waist-state", "waist-ref", "waist-req", "waist-event", "clock" };
	pid_t waist, clock;

	begin();
	waist = rig_pid("waist");
	clock = rig_pid("clock");
	for (size_t i = 0; i < sizeof(channels) / sizeof(*channels); i++) {
		overwrite(channels[i]);
		RIG_UNTIL(rig_reported("achstart", "corrupt", channels[i]));
		RIG_UNTIL(is_channel(channels[i]));
	}
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_HOLDING);
	RIG_ASSERT(rig_pid("waist") == waist && rig_pid("clock") == clock);
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_RUN);
	RIG_ASSERT(!rig_stop());
}

/* All at once, which rm is not. */
static void remove_folder(void)
{
	char away[sizeof(rig.run) + 8];

	snprintf(away, sizeof(away), "%s.away", rig.run);
	TEST_ASSERT_EQUAL(0, rename(rig.run, away));
}

/* As a session's folder is with its end. */
TEST(removed_folder_is_recreated)
{
	pid_t one, two;

	rig_open(TOP "  one: {program: @FAKE@, args: [print], alive: watchdog}\n"
		     "  two: {program: @FAKE@, args: [print], alive: watchdog}\n");
	rig_start();
	RIG_UNTIL(rig_ready("one") && rig_ready("two"));
	one = rig_pid("one");
	two = rig_pid("two");
	remove_folder();
	RIG_UNTIL(rig_reported("achstart", "folder", "created again"));
	RIG_ASSERT(rig_pid("one") == one && rig_pid("two") == two);
	rig_signal("one", SIGKILL);
	RIG_UNTIL(rig_ready("one") && rig_pid("one") != one);
	rig_kill();
	rig_start();
	RIG_UNTIL(rig_reported("two", "adopted", ""));
	RIG_ASSERT(rig_pid("two") == two && !rig_events("two", "ended"));
	RIG_ASSERT(!rig_stop());
}

/* Its bus, too: a driver that is started afterwards finds it. */
TEST(driver_finds_its_bus_in_the_new_folder)
{
	pid_t pids[RIG_NAMES];

	begin();
	for (int i = 0; i < RIG_NAMES; i++)
		pids[i] = rig_pid(rig_names[i]);
	remove_folder();
	RIG_UNTIL(rig_reported("achstart", "folder", "created again"));
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(rig_events("waist", "ready") == 1 && rig_waist().common.lifecycle == MSG_LIFE_HOLDING);
	for (int i = 0; i < RIG_NAMES; i++)
		RIG_ASSERT((rig_pid(rig_names[i]) == pids[i]) == (strcmp(rig_names[i], "waist") != 0));
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_RUN);
	RIG_ASSERT(!rig_stop());
}

static int count(const char *text, const char *words)
{
	int n = 0;

	while ((text = strstr(text, words))) {
		text++;
		n++;
	}
	return n;
}

/* Beats have nowhere to go then, which is not the fault of those who beat. */
TEST(folder_that_cannot_be_recreated_kills_no_daemon)
{
	pid_t one, two;
	int fd;

	rig_open(TOP "  one: {program: @FAKE@, args: [print], alive: watchdog, dead_after: 300ms}\n"
		     "  two: {program: @FAKE@, args: [print], alive: watchdog, dead_after: 200ms}\n");
	rig_start();
	RIG_UNTIL(rig_ready("one") && rig_ready("two"));
	one = rig_pid("one");
	two = rig_pid("two");
	remove_folder();
	fd = open(rig.run, O_CREAT | O_EXCL | O_WRONLY, 0600);
	TEST_ASSERT_TRUE(fd >= 0);
	close(fd);
	RIG_UNTIL(strstr(rig_said(), "unable to make the folder"));
	for (int turns = 0; turns < 1000; turns++)
		rig_turn(); /* several times dead_after */
	TEST_ASSERT_EQUAL(0, unlink(rig.run));
	RIG_UNTIL(rig_reported("achstart", "folder", "created again"));
	RIG_ASSERT(count(rig_said(), "unable to make the folder") == 1);
	for (int turns = 0; turns < 500; turns++)
		rig_turn();
	RIG_ASSERT(rig_pid("one") == one && rig_pid("two") == two);
	RIG_ASSERT(!strstr(rig_said(), "killed") && !strstr(rig_said(), "signal"));
	RIG_ASSERT(!rig_stop());
}

/* Asked to stop meanwhile they are asked in turn, and not killed. */
TEST(robot_without_its_folder_stops_cleanly)
{
	int fd;

	rig_open(TOP "  one: {program: @FAKE@, args: [print], alive: watchdog, dead_after: 200ms}\n");
	rig_start();
	RIG_UNTIL(rig_ready("one"));
	remove_folder();
	fd = open(rig.run, O_CREAT | O_EXCL | O_WRONLY, 0600);
	TEST_ASSERT_TRUE(fd >= 0);
	close(fd);
	for (int turns = 0; turns < 400; turns++)
		rig_turn();
	RIG_ASSERT(!rig_stop());
	RIG_ASSERT(!strstr(rig_said(), "killed") && strstr(rig_said(), "all stopped"));
	TEST_ASSERT_EQUAL(0, unlink(rig.run));
}

static void remove_part(const char *name)
{
	char path[sizeof(rig.run) + 32];

	snprintf(path, sizeof(path), "%s/%s", rig.run, name);
	launch_lib_remove(path);
}

static bool is_part(const char *name, mode_t kind)
{
	char path[sizeof(rig.run) + 32];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", rig.run, name);
	return !lstat(path, &st) && (st.st_mode & S_IFMT) == kind;
}

TEST(parts_of_the_folder_are_recreated)
{
	static const struct {
		const char *name;
		mode_t kind;
	} parts[] = { { "notify", S_IFSOCK },
		      { "control", S_IFSOCK },
		      { "robot", S_IFREG },
		      { "state", S_IFDIR },
		      { "lock", S_IFREG } };
	char words[64], path[sizeof(rig.run) + 32];
	unsigned int told = 0;
	pid_t one;

	rig_open(TOP "  one: {program: @FAKE@, args: [print], alive: watchdog, dead_after: 300ms, priority: 30}\n");
	rig_start();
	RIG_UNTIL(rig_ready("one"));
	one = rig_pid("one");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		remove_part(parts[i].name);
		snprintf(words, sizeof(words), "folder: %s of %.40s", parts[i].name, rig.run);
		RIG_UNTIL(rig_reported("achstart", "folder", words));
		RIG_ASSERT(is_part(parts[i].name, parts[i].kind) && rig_events("achstart", "folder") == ++told);
	}
	RIG_ASSERT(rig_pid("one") == one && rig_ready("one"));
	/* What others have put there instead does not block achstart. */
	remove_part("robot");
	snprintf(path, sizeof(path), "%s/robot", rig.run);
	TEST_ASSERT_EQUAL(0, mkfifo(path, 0600));
	RIG_UNTIL(is_part("robot", S_IFREG));
	rig_signal("one", SIGKILL);
	RIG_UNTIL(rig_ready("one") && rig_pid("one") != one);
	RIG_ASSERT(!rig_events("one", "killed"));
	RIG_ASSERT(!rig_stop());
}

/* The one whose number the lock names is dead, and a child of his still holds it: the loop does not wait for that. */
TEST(lock_is_not_waited_for)
{
	struct rusage before, after;
	char path[sizeof(rig.run) + 8];
	const pid_t dead = fork();
	int fd, status;
	pid_t child;

	if (!dead)
		_exit(0);
	TEST_ASSERT_EQUAL(dead, waitpid(dead, NULL, 0));
	rig_open(TOP);
	TEST_ASSERT_TRUE(mkdir(rig.run, 0700) == 0 || errno == EEXIST);
	snprintf(path, sizeof(path), "%s/lock", rig.run);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	TEST_ASSERT_TRUE(fd >= 0 && dprintf(fd, "%d\n", (int)dead) > 0 && !flock(fd, LOCK_EX));
	getrusage(RUSAGE_SELF, &before);
	TEST_ASSERT_EQUAL(-EBUSY, folder_lock(false, &(struct error_sink){ 0 }));
	getrusage(RUSAGE_SELF, &after);
	TEST_ASSERT_LESS_THAN(100, after.ru_nvcsw - before.ru_nvcsw); /* it would be a thousand */
	close(fd);
	child = fork(); /* a process that has the lock keeps the folder open */
	if (!child) {
		fd = folder_lock(false, &(struct error_sink){ 0 });
		_exit(fd >= 0 && folder_is_locked(fd) ? 0 : 1);
	}
	TEST_ASSERT_EQUAL(child, waitpid(child, &status, 0));
	TEST_ASSERT_EQUAL(0, status);
}

/* Its driver looks once a second: longer than it may be silent, and no reason to kill it. */
TEST(removed_channel_is_recreated)
{
	char name[96];
	pid_t waist;

	begin();
	waist = rig_pid("waist");
	snprintf(name, sizeof(name), "%swaist-state", rig.prefix);
	TEST_ASSERT_EQUAL(ACH_OK, ach_unlink(name));
	RIG_UNTIL(is_channel("waist-state") && rig_waist().common.lifecycle == MSG_LIFE_HOLDING);
	for (uint64_t until = rig_waist().common.ticks + 600; rig_waist().common.ticks < until;)
		rig_turn(); /* longer than achstart has patience */
	RIG_ASSERT(rig_pid("waist") == waist && !rig_events("waist", "killed"));
	RIG_ASSERT(!rig_stop());
}

TEST(overwritten_estop_channel_means_estop)
{
	static const char *const channels[] = { "estop", "estop-b" };

	begin();
	for (unsigned int i = 0; i < 2; i++) {
		overwrite(channels[i]);
		RIG_UNTIL(rig_events("achstart", "corrupt") == i + 1);
		RIG_UNTIL(rig_waist().common.level == MSG_LEVEL_ESTOP &&
			  rig_waist().common.lifecycle == MSG_LIFE_DISARMED);
		RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_ESTOP);
		arm_robot();
		RIG_UNTIL(rig_level(NULL) == MSG_LEVEL_RUN);
		RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_HOLDING);
	}
	RIG_ASSERT(rig_events("waist", "ended") == 0);
	RIG_ASSERT(!rig_stop());
}

/* A stop input, for example: it raises, and moves nothing. */
TEST(a_robot_is_not_armed_without_a_critical_daemon)
{
	rig_open("include: @BENCH@\narm: auto\ndaemons:\n  canwire:\n  robotsim:\n  clock:\n  waist:\n"
		 "  guard: {program: @FAKE@, args: [mute], alive: watchdog, critical: estop, ready_within: 300ms}\n");
	rig_start();
	RIG_UNTIL(rig_all_ready() && rig_reported("guard", "late", "not ready within"));
	RIG_ASSERT(rig_try("achctl", "arm") && strstr(rig_output(), "guard: not ready"));
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_ESTOP && !rig_events("achstart", "armed"));
	RIG_ASSERT(!rig_stop());
}

/* An estop that is requested while the robot comes up is not taken back by arm: auto. */
TEST(auto_arming_respects_an_operator)
{
	struct error_sink quiet = { 0 };
	static struct estop estop;
	uint64_t epoch;

	rig_open("include: @BENCH@\narm: auto\ndaemons:\n  canwire:\n  robotsim:\n  clock:\n  waist: {needs: gate}\n"
		 "  gate: {program: @FAKE@, args: [mute], alive: watchdog}\n");
	rig_start();
	RIG_UNTIL(rig_ready("clock"));
	TEST_ASSERT_EQUAL(0, robot_level_open(&estop, false, &quiet));
	estop_read(&estop, clock_now_ns());
	TEST_ASSERT_EQUAL(0, estop_raise(&estop, MSG_LEVEL_ESTOP, "operator", 0, "not yet", &quiet));
	estop_close(&estop);
	rig_kill();
	/* The gate says that it is ready to the next one only: beats without a status. */
	rig_start();
	RIG_UNTIL(rig_all_ready() && rig_events("achstart", "all-ready") == 1);
	for (unsigned int ticks = (unsigned int)rig_waist().common.ticks; rig_waist().common.ticks < ticks + 40;)
		rig_turn();
	RIG_ASSERT(rig_level(&epoch) == MSG_LEVEL_ESTOP && epoch == 0);
	RIG_ASSERT(!rig_stop());
}
