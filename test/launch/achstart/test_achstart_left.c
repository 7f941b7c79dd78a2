/* test_achstart_left.c: achstart follows a killed achstart, and finds daemons that did not run then. */
#include <signal.h>

#include "test/lib/testcase.h"

#include "test/launch/achstart/rig.h"

#define PRINTS "{program: @FAKE@, args: [print], alive: watchdog"

void tearDown(void)
{
	if (*rig.folder)
		rig_close();
}

static bool is(const char *name, const char *state)
{
	char words[64];

	snprintf(words, sizeof(words), "\"state\":\"%s\"", state);
	return rig_status_has(name, words);
}

static bool is_left(const char *name, enum folder_left left)
{
	struct folder_state state;

	return rig_state(name, &state) && state.left_as == left;
}

static void start_again(void)
{
	const unsigned int before = rig_events("waist", "adopted");

	rig_kill();
	rig_start();
	RIG_UNTIL(rig_events("waist", "adopted") == before + 1 && rig_all_ready());
}

/* The launch file, by an expression of sed(1). */
static void edit(const char *expression)
{
	rig_shell("sed -i '%s' %s", expression, rig.launch);
}

static const char left_launch[] = RIG_BENCH "  once: {program: @FAKE@, args: [exit, 0], restart: never}\n"
					    "  wrong: {program: @FAKE@, args: [exit, 100]}\n"
					    "  mute: {program: @FAKE@, args: [mute], alive: watchdog}\n"
					    "  asked: " PRINTS "}\n"
					    "  early: " PRINTS ", needs: mute}\n"
					    "  lost: " PRINTS ", restart: never}\n";

/* done, given up, stopped, stopped before it had a process, and ended while no achstart ran */
static void leave_them(void)
{
	rig_open(left_launch);
	rig_start();
	RIG_UNTIL(rig_all_ready() && rig_ready("asked") && rig_ready("lost"));
	RIG_UNTIL(rig_events("once", "done") == 1 && rig_events("wrong", "failed") == 1);
	rig_run("achctl", "stop asked");
	rig_run("achctl", "stop early");
	rig_run("achctl", "arm --who tester");
	rig_kill();
	rig_signal("lost", SIGKILL);
	RIG_UNTIL(!rig_pid("lost"));
}

static void check_left(void)
{
	RIG_UNTIL(rig_reported("lost", "failed", "it ended while no achstart looked"));
	RIG_ASSERT(is("once", "done") && is("wrong", "failed") && is("lost", "failed"));
	RIG_ASSERT(is("asked", "stopped") && is("early", "stopped"));
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_RUN);
}

TEST(the_next_achstart_keeps_the_states)
{
	leave_them();
	rig_run("achctl", "status --json | grep -q '\"name\":\"early\",\"state\":\"stopped\"'");
	rig_run("achctl", "status --json | grep -q '\"name\":\"once\",\"state\":\"done\"'");
	start_again();
	check_left();
	start_again();
	check_left();
	RIG_ASSERT(rig_events("once", "done") == 1 && rig_events("wrong", "failed") == 1);
	RIG_ASSERT(rig_events("lost", "failed") == 1 && rig_events("asked", "left") == 2);
	/* Who asks for them has them, and then they are as any other. */
	rig_run("achctl", "start asked");
	rig_run("achctl", "start once");
	RIG_UNTIL(rig_events("once", "done") == 2);
	rig_kill();
	rig_signal("asked", SIGKILL);
	rig_start();
	RIG_UNTIL(rig_events("asked", "ready") == 3);
	RIG_ASSERT(!rig_stop());
}

/* Nothing of the robot ran on: it comes up as the first time. */
TEST(nothing_of_a_robot_that_is_gone_is_left)
{
	leave_them();
	for (int i = 0; i < RIG_NAMES; i++)
		rig_signal(rig_names[i], SIGKILL);
	rig_signal("mute", SIGKILL);
	for (int i = 0; i < RIG_NAMES; i++)
		RIG_UNTIL(!rig_pid(rig_names[i]));
	RIG_UNTIL(!rig_pid("mute"));
	rig_start();
	RIG_UNTIL(rig_all_ready() && rig_ready("asked") && rig_ready("lost"));
	RIG_UNTIL(rig_events("once", "done") == 2 && rig_events("wrong", "failed") == 2);
	RIG_ASSERT(!rig_events("asked", "left"));
	RIG_ASSERT(!rig_stop());
}

TEST(a_changed_file_is_another_chance)
{
	leave_them();
	edit("s/exit, 100/print/;s/exit, 0/exit, 0, 1/");
	start_again();
	RIG_UNTIL(is("wrong", "ready"));
	RIG_ASSERT(is("once", "done") && rig_reported("once", "changed", "done with another configuration"));
	edit("s/, restart: never//");
	start_again();
	RIG_UNTIL(rig_events("once", "done") == 1 && rig_events("once", "ended") >= 1);
	RIG_UNTIL(rig_reported("lost", "left", "given up"));
	RIG_ASSERT(!rig_stop());
}

/* ---- in between ---- */

#define SLOW RIG_BENCH "  slow: {program: @FAKE@, args: [stubborn], alive: watchdog, kill_within: 1min}\n"

static void begin_slowly(const char *verb, enum folder_left left)
{
	rig_open(SLOW);
	rig_start();
	RIG_UNTIL(rig_all_ready() && rig_ready("slow"));
	rig_run_on("achctl", verb);
	RIG_UNTIL(is_left("slow", left));
	start_again();
	RIG_UNTIL(rig_events("slow", "adopted") == 1);
	rig_signal("slow", SIGKILL);
	RIG_UNTIL(rig_events("slow", "ended") == 1);
}

TEST(a_stop_under_way_is_completed)
{
	begin_slowly("stop slow", FOLDER_STOPPED);
	RIG_ASSERT(is("slow", "stopped") && rig_all_ready());
	RIG_ASSERT(!rig_stop());
}

TEST(a_restart_under_way_is_completed)
{
	begin_slowly("restart slow", FOLDER_RESTART);
	RIG_UNTIL(rig_events("slow", "ready") == 2);
	RIG_ASSERT(!rig_reported("slow", "pause", ""));
	kill(rig.achstart, SIGTERM);
	RIG_UNTIL(rig_events("achstart", "stopping") == 1);
	rig_signal("slow", SIGKILL); /* or it takes its minute */
	RIG_ASSERT(!rig_wait());
}

/* It has been asked for, and has not run since: what it needs does not work any more. */
TEST(waiting_daemons_keep_waiting)
{
	rig_in_real_time = true; /* a shell is not on the clock, which would run far ahead of it */
	rig_open(RIG_BENCH "  gate:\n"
			   "    program: sh\n"
			   "    args: [-c, 'test -e $ENDPLATE_RUN/closed && exit 100; exec @FAKE@ print']\n"
			   "    alive: watchdog\n"
			   "  job: {program: @FAKE@, args: [exit, 0], restart: never, needs: gate}\n");
	rig_start();
	RIG_UNTIL(rig_all_ready() && rig_events("job", "done") == 1);
	rig_shell("touch %s/closed", rig.run);
	rig_run("achctl", "stop gate");
	rig_run_on("achctl", "start job");
	RIG_UNTIL(rig_events("gate", "failed") == 1 && is("job", "waiting"));
	start_again();
	RIG_ASSERT(is("job", "waiting") && !rig_events("job", "failed"));
	RIG_ASSERT(!rig_stop());
}

/* ---- what they need ---- */

TEST(a_dead_daemon_is_restarted_without_its_needs)
{
	rig_open(RIG_BENCH "  plain: {program: sleep, args: [1000]}\n"
			   "  need: " PRINTS "}\n"
			   "  user: " PRINTS ", needs: [plain, need]}\n");
	rig_start();
	RIG_UNTIL(rig_events("achstart", "all-ready") == 1);
	rig_run("achctl", "stop need");
	rig_kill();
	rig_signal("user", SIGKILL);
	RIG_UNTIL(!rig_pid("user"));
	rig_start();
	RIG_UNTIL(rig_events("user", "ready") == 2);
	RIG_ASSERT(is("plain", "ready") && is("need", "stopped"));
	/* Stopped daemons are not waited for. */
	RIG_UNTIL(rig_events("achstart", "all-ready") == 2);
	RIG_ASSERT(!rig_stop());
}

/* ---- the folder ---- */

TEST(removed_states_are_written_again)
{
	struct folder_state state;
	pid_t waist;

	rig_open(RIG_BENCH "  once: {program: @FAKE@, args: [exit, 0], restart: never}\n  asked: " PRINTS "}\n");
	rig_start();
	RIG_UNTIL(rig_all_ready() && rig_ready("asked") && rig_events("once", "done") == 1);
	waist = rig_pid("waist");
	rig_shell("rm -rf %s/state", rig.run);
	rig_run("achctl", "stop asked");
	RIG_UNTIL(is_left("asked", FOLDER_STOPPED) && is_left("once", FOLDER_DONE) && rig_state("waist", &state));
	start_again();
	RIG_ASSERT(rig_pid("waist") == waist && is("asked", "stopped") && rig_events("once", "done") == 1);
	RIG_ASSERT(!rig_stop());
}

TEST(a_damaged_state_is_reported)
{
	rig_open(RIG_BENCH "  once: {program: @FAKE@, args: [exit, 0], restart: never}\n");
	rig_start();
	RIG_UNTIL(rig_all_ready() && is_left("once", FOLDER_DONE));
	rig_kill();
	rig_shell("echo nonsense >%s/state/once", rig.run);
	rig_start();
	RIG_UNTIL(rig_reported("once", "state-file", "$RUN/state/once is damaged: taken as not there"));
	RIG_UNTIL(rig_events("once", "done") == 2);
	RIG_ASSERT(!rig_stop());
}
