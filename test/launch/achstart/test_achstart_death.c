/* test_achstart_death.c: achstart itself is killed, at any time, and the robot runs on. */
#include <signal.h>
#include <sys/stat.h>

#include "test/lib/testcase.h"

#include "channels/clock/clock.h"
#include "test/launch/achstart/rig.h"

#define TIMES 10

void tearDown(void)
{
	rig_close();
}

static void begin(const char *launch)
{
	rig_in_real_time = true; /* it kills between two instructions */
	rig_open(launch);
	rig_start();
	RIG_UNTIL(rig_armed());
}

static void check_left(void)
{
	char left[4096];

	if (rig_left(left, sizeof(left)))
		rig_fail(__LINE__, "left behind: %s", left);
}

/* The waist has published since. */
static bool publishes_since(uint64_t sequence)
{
	return rig_waist().header.sequence > sequence + 10;
}

/* ---- steady state ---- */

TEST(a_new_one_adopts_and_changes_nothing)
{
	pid_t pids[RIG_NAMES];
	uint64_t epoch, epoch_then;

	begin(NULL);
	rig_listen();
	rig_drive(0.3);
	rig_level(&epoch);
	for (int i = 0; i < RIG_NAMES; i++)
		pids[i] = rig_pid(rig_names[i]);
	for (unsigned int n = 1; n <= TIMES; n++) {
		const uint64_t sequence = rig_waist().header.sequence;

		rig_kill();
		RIG_UNTIL(publishes_since(sequence)); /* undisturbed */
		rig_start();
		RIG_UNTIL(rig_events("achstart", "all-ready") == n + 1);
	}
	for (int i = 0; i < RIG_NAMES; i++) {
		RIG_ASSERT(rig_pid(rig_names[i]) == pids[i]);
		RIG_ASSERT(rig_events(rig_names[i], "adopted") == TIMES);
		RIG_ASSERT(rig_events(rig_names[i], "ended") == 0);
		RIG_ASSERT(rig_incarnation(rig_names[i]) == 1);
	}
	RIG_ASSERT(rig_level(&epoch_then) == MSG_LEVEL_RUN && epoch_then == epoch);
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_ACTIVE);
	rig_turn();
	RIG_ASSERT(!rig_heard.homes && !rig_heard.undue);
	RIG_ASSERT(!rig_stop());
	RIG_ASSERT(rig_reported("waist", "ended", "status unknown"));
	check_left();
}

TEST(a_daemon_that_died_meanwhile_is_restarted)
{
	begin(NULL);
	for (int i = 0; i < RIG_NAMES; i++) {
		const char *name = rig_names[i];
		const pid_t old = rig_pid(name), other = rig_pid(rig_names[(i + 1) % RIG_NAMES]);

		rig_kill();
		kill(old, SIGKILL);
		RIG_UNTIL(!rig_pid(name));
		rig_start();
		RIG_UNTIL(rig_all_ready());
		RIG_ASSERT(rig_pid(name) != old);
		RIG_ASSERT(rig_pid(rig_names[(i + 1) % RIG_NAMES]) == other);
		RIG_UNTIL(rig_incarnation(name) == 2);
	}
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_RUN);
	RIG_ASSERT(!rig_stop());
}

TEST(a_daemon_that_was_frozen_meanwhile_is_killed)
{
	begin(NULL);
	rig_kill();
	rig_signal("waist", SIGSTOP);
	rig_signal("canwire", SIGSTOP);
	rig_start();
	RIG_UNTIL(rig_reported("waist", "killed", "it was stopped") &&
		  rig_reported("canwire", "killed", "it was stopped"));
	RIG_UNTIL(rig_all_ready() && rig_incarnation("waist") == 2 && rig_incarnation("canwire") == 2);
	RIG_ASSERT(!rig_stop());
}

/* ---- start and stop ---- */

static bool is_armed_by_a_person(void)
{
	return rig_all_ready() && !rig_try("achctl", "arm");
}

/* Wherever in the start it dies: the next one goes on, and nothing runs twice.  It does not arm by itself. */
TEST(killed_while_it_starts)
{
	char text[4096];

	rig_in_real_time = true;
	rig_open(NULL);
	for (unsigned int n = 0; n < 3 * TIMES; n++) {
		const int64_t at_ns = clock_now_ns() + rig_random(60000000);

		rig_start();
		while (clock_now_ns() < at_ns)
			rig_turn();
		rig_kill();
		/* From the beginning again, most times. */
		for (int i = 0; n % 3 && i < RIG_NAMES; i++)
			rig_signal(rig_names[i], SIGKILL);
	}
	rig_start();
	RIG_UNTIL(is_armed_by_a_person());
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_RUN);
	RIG_ASSERT(rig_left(text, sizeof(text)) >= RIG_NAMES + 1);
	for (int i = 0; i < RIG_NAMES; i++) /* a second process would have been refused its device, or its bus */
		RIG_ASSERT(!rig_reported(rig_names[i], "ended", "exit status 111"));
	RIG_ASSERT(!rig_stop());
	check_left();
}

TEST(killed_while_it_stops)
{
	rig_in_real_time = true;
	rig_open(NULL);
	for (unsigned int n = 0; n < TIMES; n++) {
		int64_t at_ns;

		rig_start();
		RIG_UNTIL(rig_events("achstart", "begin") == n + 1 && rig_all_ready());
		at_ns = clock_now_ns() + rig_random(15000000);
		kill(rig.achstart, SIGTERM);
		while (clock_now_ns() < at_ns)
			rig_turn();
		rig_kill();
	}
	rig_start();
	RIG_UNTIL(rig_events("achstart", "begin") == TIMES + 1 && rig_all_ready());
	RIG_ASSERT(rig_events("waist", "latched") == 0); /* nothing was lost */
	RIG_ASSERT(!rig_stop());
	check_left();
}

TEST(a_second_one_is_refused)
{
	const pid_t first = (begin(NULL), rig.achstart);

	rig_start();
	RIG_ASSERT(rig_wait() == 111);
	RIG_ASSERT(strstr(rig_said(), "has an achstart already"));
	rig.achstart = first;
	RIG_ASSERT(rig_all_ready());
	RIG_ASSERT(!rig_stop());
}

TEST(cycles_leave_nothing_behind)
{
	const char *more = getenv("ROBOT_CYCLES");
	const int cycles = more ? atoi(more) : RIG_MANY(200);

	rig_in_real_time = true;
	rig_open(NULL);
	for (int i = 0; i < cycles; i++) {
		rig_start();
		RIG_UNTIL(rig_all_ready());
		RIG_ASSERT(!rig_stop());
		check_left();
	}
}

/* ---- printing ---- */

static const char printer[] = "include: @BENCH@\nclock: none\ndaemons:\n"
			      "  talker: {program: @FAKE@, args: [print], alive: watchdog, dead_after: 30s}\n";

static int64_t lines_of(const char *name)
{
	char path[600];
	struct stat st;

	snprintf(path, sizeof(path), "%s/log/%s.log", rig.run, name);
	return stat(path, &st) ? 0 : st.st_size;
}

/* How often it has been on a processor. */
static uint64_t times_run(pid_t pid)
{
	char path[64];
	unsigned long long times = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%*u %*u %llu", &times) != 1)
		times = 0;
	if (f)
		fclose(f);
	return times;
}

TEST(output_without_an_achstart_blocks_nothing)
{
	uint64_t times;
	int64_t size;
	pid_t pid;

	rig_in_real_time = true;
	rig_open(printer);
	rig_start();
	RIG_UNTIL(rig_ready("talker") && lines_of("talker") > 200);
	pid = rig_pid("talker");
	rig_kill();
	size = lines_of("talker");
	kill(pid, SIGUSR1); /* a megabyte, which no FIFO holds */
	times = times_run(pid);
	RIG_UNTIL(times_run(pid) > times + 50); /* it neither waits nor dies */
	RIG_ASSERT(rig_pid("talker") == pid);
	rig_start();
	RIG_UNTIL(lines_of("talker") > size + 10000); /* what the FIFO held is not lost */
	RIG_ASSERT(rig_pid("talker") == pid && rig_events("talker", "ended") == 0);
	/* The same while achstart lives: it is taken in parts. */
	size = lines_of("talker");
	kill(pid, SIGUSR1);
	RIG_UNTIL(lines_of("talker") > size + 10000);
	RIG_ASSERT(rig_ready("talker"));
	RIG_ASSERT(!rig_stop());
}

/* ---- the kernel kills for memory ---- */

static int oom_score(pid_t pid)
{
	char path[64];
	int score = -1000;
	FILE *from;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	from = fopen(path, "re");
	RIG_ASSERT(from && fscanf(from, "%d", &score) == 1);
	fclose(from);
	return score;
}

TEST(achstart_is_the_last_that_is_killed_for_memory)
{
	rig_open(NULL);
	rig_start();
	RIG_UNTIL(rig_armed());
	for (int i = 0; i < RIG_NAMES; i++)
		RIG_ASSERT(oom_score(rig_pid(rig_names[i])) > oom_score(rig.achstart));
	RIG_ASSERT(oom_score(rig_pid("canwire")) > oom_score(rig_pid("waist"))); /* drivers are next to last */
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(rig_events("waist", "ready") == 2);
	RIG_ASSERT(oom_score(rig_pid("waist")) > oom_score(rig.achstart));
	RIG_ASSERT(!rig_stop());
}

/* ---- and none comes back ---- */

TEST(a_robot_is_held_if_no_achstart_comes)
{
	begin("unsupervised: 300ms\n" RIG_BENCH);
	rig_drive(0.3);
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_ACTIVE);
	rig_kill();
	RIG_UNTIL(rig_level(NULL) == MSG_LEVEL_HOLD);
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_HOLDING && rig_waist().common.level == MSG_LEVEL_HOLD);
	for (int i = 0; i < RIG_NAMES; i++)
		RIG_ASSERT(rig_pid(rig_names[i]) && rig_incarnation(rig_names[i]) == 1);
	rig_start(); /* it adopts them, and leaves the level */
	RIG_UNTIL(rig_events("achstart", "all-ready") == 2);
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_HOLD);
	RIG_ASSERT(!rig_stop());
	check_left();
}

TEST(a_robot_goes_on_if_an_achstart_comes)
{
	uint64_t ticks;

	begin("unsupervised: 2s\n" RIG_BENCH);
	rig_kill();
	rig_start();
	RIG_UNTIL(rig_events("achstart", "all-ready") == 2);
	ticks = rig_waist().common.ticks;
	RIG_UNTIL(rig_waist().common.ticks > ticks + 3 * 200); /* of 5 ms */
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_RUN);
	RIG_ASSERT(!rig_stop());
	check_left();
}

TEST(the_last_words_of_a_killed_python_program_are_in_its_log)
{
	unsetenv("PYTHONUNBUFFERED");
	rig_in_real_time = true;
	rig_open("include: @BENCH@\nclock: none\ndaemons:\n"
		 "  talker: {program: /usr/bin/python3, alive: process, restart: never, args: [-c, \"import os; "
		 "print('last words'); os.kill(os.getpid(), 9)\"]}\n");
	rig_start();
	RIG_UNTIL(lines_of("talker") > 0);
	rig_shell("grep -q 'last words' %s/log/talker.log", rig.run);
	RIG_ASSERT(!rig_stop());
}

/* Its FIFO was removed: the next achstart finds it where it is open. */
TEST(a_log_that_was_removed_is_found)
{
	char path[600];
	int64_t size;

	rig_in_real_time = true;
	rig_open(printer);
	rig_start();
	RIG_UNTIL(rig_ready("talker") && lines_of("talker") > 200);
	rig_kill();
	snprintf(path, sizeof(path), "%s/log/talker", rig.run);
	TEST_ASSERT_EQUAL(0, remove(path));
	size = lines_of("talker");
	rig_start();
	RIG_UNTIL(lines_of("talker") > size + 200);
	RIG_ASSERT(!rig_stop());
}
