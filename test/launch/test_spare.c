/* test_spare.c: a second process of a driver waits, and takes over when the driver dies. */
#include <sched.h>
#include <signal.h>

#include "test/channels/testcase.h"

#include "test/launch/rig.h"

#define TIMES RIG_MANY(10)

void tearDown(void)
{
	rig_close();
}

static void begin_with(const char *launch)
{
	rig_in_real_time = true;
	rig_open(launch);
	rig_shell("cp config/robots/waist.yaml %s/robot.yaml", rig.folder);
	rig_start();
	RIG_UNTIL(rig_armed());
}

static pid_t begin(void)
{
	begin_with(NULL);
	RIG_UNTIL(rig_spare("waist"));
	return rig_spare("waist");
}

/* It published a state of its own incarnation. */
static bool is_back(uint32_t incarnation)
{
	return rig_ready("waist") && rig_waist().header.incarnation == incarnation;
}

static void check_left(void)
{
	char left[4096];

	RIG_ASSERT(!rig_stop());
	if (rig_left(left, sizeof(left)))
		rig_fail(__LINE__, "left behind: %s", left);
	RIG_ASSERT(!rig_events("waist", "orphan"));
}

TEST(it_takes_over_each_time)
{
	pid_t spare = begin();
	char words[32];

	snprintf(words, sizeof(words), "\"spare\":%d,", (int)spare);
	RIG_UNTIL(rig_status_has("waist", words));
	for (uint32_t i = 2; i < 2 + TIMES; i++) {
		rig_signal("waist", SIGKILL);
		RIG_UNTIL(is_back(i));
		RIG_ASSERT(rig_pid("waist") == spare);
		RIG_ASSERT(rig_incarnation("waist") == i);
		RIG_UNTIL(rig_spare("waist"));
		spare = rig_spare("waist");
	}
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_RUN);
	check_left();
}

static bool is_scheduled(pid_t pid, int policy, int priority)
{
	struct sched_param param = { 0 };

	return pid && sched_getscheduler(pid) == policy && !sched_getparam(pid, &param) &&
	       param.sched_priority == priority;
}

/* A spare waits as an ordinary process, and has the priority of its daemon when it takes over.  An ordinary daemon is
 * born with another, which it does not keep, whenever achstart dies. */
TEST(priorities_are_those_of_the_launch_file)
{
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 }))
		TEST_IGNORE_MESSAGE("no right to real-time priorities");
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	begin_with("include: @BENCH@\narm: auto\ndaemons:\n  canwire: {priority: 60}\n  robotsim:\n  clock:\n"
		   "  waist: {priority: 45, critical: hold}\n");
	RIG_UNTIL(is_scheduled(rig_spare("waist"), SCHED_OTHER, 0));
	RIG_ASSERT(is_scheduled(rig_pid("robotsim"), SCHED_OTHER, 0));
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(is_back(2));
	RIG_ASSERT(is_scheduled(rig_pid("waist"), SCHED_FIFO, 45));
	rig_kill();
	TEST_ASSERT_EQUAL(0, sched_setscheduler(rig_pid("clock"), SCHED_RR,
						&(struct sched_param){ .sched_priority = 60 }));
	rig_start();
	RIG_UNTIL(rig_events("achstart", "all-ready") == 2);
	RIG_ASSERT(is_scheduled(rig_pid("clock"), SCHED_OTHER, 0));
	RIG_ASSERT(is_scheduled(rig_pid("waist"), SCHED_FIFO, 45) && is_scheduled(rig_pid("canwire"), SCHED_FIFO, 60));
	check_left();
}

/* Only a critical driver has one unless the launch file says so. */
TEST(the_launch_file_says_who_has_one)
{
	begin_with("include: @BENCH@\narm: auto\ndaemons:\n  canwire:\n  robotsim:\n"
		   "  clock: {spare: yes}\n  waist: {critical: hold, spare: no}\n");
	RIG_UNTIL(rig_spare("clock"));
	RIG_ASSERT(!rig_spare("waist") && !rig_spare("canwire") && !rig_spare("robotsim"));
	rig_signal("clock", SIGKILL);
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(is_back(2) && rig_incarnation("clock") == 2 && rig_ready("clock"));
	check_left();
}

TEST(one_that_is_killed_is_not_missed)
{
	const pid_t spare = begin();

	kill(spare, SIGKILL);
	RIG_UNTIL(!rig_spare("waist"));
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(is_back(2));
	RIG_ASSERT(rig_pid("waist") != spare);
	check_left();
}

TEST(one_that_is_frozen_is_found_out)
{
	const pid_t spare = begin();

	kill(spare, SIGSTOP);
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(rig_told("waist", "killed", "it was stopped"));
	RIG_UNTIL(rig_ready("waist") && rig_pid("waist") != spare);
	check_left();
}

TEST(it_ends_with_achstart_and_the_next_one_has_its_own)
{
	const pid_t spare = begin(), pid = rig_pid("waist");

	rig_kill();
	RIG_UNTIL(!rig_spare("waist"));
	rig_start();
	RIG_UNTIL(rig_spare("waist"));
	RIG_ASSERT(rig_spare("waist") != spare && rig_pid("waist") == pid);
	RIG_ASSERT(!rig_events("waist", "ended"));
	check_left();
}

TEST(a_daemon_that_was_stopped_has_none)
{
	begin();
	rig_run("achctl", "stop waist");
	RIG_UNTIL(!rig_spare("waist"));
	rig_run("achctl", "start waist");
	RIG_UNTIL(rig_spare("waist"));
	RIG_ASSERT(!rig_events("waist", "orphan"));
	check_left();
}

/* Its settings are those of the file when it takes over, not when it was started. */
TEST(changed_settings_count)
{
	begin_with("include: robot.yaml\narm: auto\ndaemons:\n  canwire:\n  robotsim:\n  clock:\n"
		   "  waist: {critical: hold}\n");
	RIG_UNTIL(rig_spare("waist") && rig_waist().common.period_ns == 5000000);
	rig_shell("sed -i 's,clock/5,clock/10,' %s/robot.yaml", rig.folder);
	rig_signal("waist", SIGKILL);
	RIG_UNTIL(is_back(2) && rig_waist().common.period_ns == 10000000);
	check_left();
}
