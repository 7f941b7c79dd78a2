/* test_launch_why.c: what achstart says of a daemon that is not well, and of one that has done its work. */
#include <math.h>

#include "test/lib/testcase.h"

#include "launch/achctl/status_print.h"
#include "launch/achstart/events.h"
#include "test/launch/achstart/rig.h"

static char answer[65536];

void tearDown(void)
{
	if (*rig.folder)
		rig_close();
}

/* ---- faults ---- */

static void refuses_to_arm(const char *why)
{
	TEST_ASSERT_NOT_EQUAL_INT(0, rig_try("achctl", "arm --who tester"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(rig_output(), why), rig_output());
}

#define TOW "\"why\":\"module 15: tow-error; "

TEST(the_reason_of_a_fault_is_reported_as_long_as_it_lasts)
{
	rig_open(NULL);
	rig_start();
	RIG_UNTIL(rig_armed());
	RIG_ASSERT(rig_status_has("waist", "\"why\":\"\""));
	/* Not before it is enabled: the reset that does it would clear the fault. */
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_HOLDING && rig_waist().status[0] & MSG_JOINT_ENABLED);
	rig_run("robotsim", "fault waist.15 tow-error");
	RIG_UNTIL(rig_status_has("waist", "\"life\":\"fault\""));
	RIG_UNTIL(rig_status_has("waist", TOW));
	/* Who asks to arm it hears the same. */
	refuses_to_arm("waist: in fault: module 15: tow-error; ");
	/* And so does the next achstart, to which nothing new is said. */
	rig_kill();
	rig_start();
	RIG_UNTIL(rig_events("waist", "adopted") == 1);
	RIG_UNTIL(rig_status_has("waist", TOW));
	/* A new process reports it again, and is ready: it waits for a person. */
	rig_run("achctl", "restart waist --within 0");
	RIG_UNTIL(rig_status_has("waist", "\"incarnation\":2") && rig_status_has("waist", TOW));
	RIG_UNTIL(rig_status_has("waist", "\"ready\":true"));
	refuses_to_arm("waist: in fault: module 15: tow-error; ");
	rig_run("achctl", "request waist clear");
	RIG_UNTIL(rig_status_has("waist", "\"life\":\"disarmed\"") || rig_status_has("waist", "\"life\":\"holding\""));
	RIG_ASSERT(rig_status_has("waist", "\"why\":\"\""));
	RIG_ASSERT(!rig_stop());
}

/* ---- which event is the reason ---- */

static struct events_fault why;

static void hear(enum msg_severity severity, uint32_t incarnation, const char *code, const char *text)
{
	struct msg_event event;

	msg_init(&event, msg_type_by_number(msg_event_number));
	event.header.incarnation = incarnation;
	event.severity = severity;
	snprintf(event.code, sizeof(event.code), "%s", code);
	snprintf(event.text, sizeof(event.text), "%s", text);
	events_fault_hear(&why, &event);
}

TEST(the_newest_trouble_that_is_not_over_is_the_reason)
{
	why = (struct events_fault){ 0 };
	TEST_ASSERT_EQUAL_STRING("", events_fault_text(&why, 0));
	hear(MSG_SEVERITY_WARNING, 1, "late", "it is late");
	hear(MSG_SEVERITY_INFO, 1, "well", " is over");
	TEST_ASSERT_EQUAL_STRING("", events_fault_text(&why, 1));
	hear(MSG_SEVERITY_ERROR, 1, "silent-15", "module 15 is silent");
	TEST_ASSERT_EQUAL_STRING("module 15 is silent", events_fault_text(&why, 1));
	TEST_ASSERT_EQUAL_STRING("", events_fault_text(&why, 2));
	hear(MSG_SEVERITY_ERROR, 1, "bus", "bus torso is stalled");
	hear(MSG_SEVERITY_INFO, 1, "fault", "fault");
	TEST_ASSERT_EQUAL_STRING("bus torso is stalled", events_fault_text(&why, 1));
	hear(MSG_SEVERITY_INFO, 1, "bus-back", "the bus is back");
	TEST_ASSERT_EQUAL_STRING("module 15 is silent", events_fault_text(&why, 1));
	hear(MSG_SEVERITY_ERROR, 1, "bus", "bus torso is off");
	hear(MSG_SEVERITY_INFO, 1, "well", "silent-15 is over");
	TEST_ASSERT_EQUAL_STRING("bus torso is off", events_fault_text(&why, 1));
	/* Without its bus no module can answer: that it does not is not worth a line. */
	hear(MSG_SEVERITY_ERROR, 1, "silent-15", "module 15 does not answer");
	TEST_ASSERT_EQUAL_STRING("bus torso is off", events_fault_text(&why, 1));
	hear(MSG_SEVERITY_INFO, 1, "bus-back", "the bus is back");
	TEST_ASSERT_EQUAL_STRING("module 15 does not answer", events_fault_text(&why, 1));
	hear(MSG_SEVERITY_ERROR, 1, "bus", "bus torso is off");
	hear(MSG_SEVERITY_FATAL, 1, "tow-error-15", "module 15: tow-error");
	hear(MSG_SEVERITY_INFO, 1, "well", "silent-15 is over"); /* of one that is over already */
	TEST_ASSERT_EQUAL_STRING("module 15: tow-error", events_fault_text(&why, 1));
	/* Both are over and it is in fault: the next event is on its way. */
	hear(MSG_SEVERITY_INFO, 1, "bus-back", "the bus is back");
	hear(MSG_SEVERITY_INFO, 1, "well", "tow-error-15 is over");
	TEST_ASSERT_EQUAL_STRING("module 15: tow-error", events_fault_text(&why, 1));
	/* Another process. */
	hear(MSG_SEVERITY_ERROR, 2, "bus", "bus torso is absent");
	TEST_ASSERT_EQUAL_STRING("bus torso is absent", events_fault_text(&why, 2));
	TEST_ASSERT_EQUAL_STRING("module 15: tow-error", events_fault_text(&why, 1));
}

/* ---- work that is done ---- */

TEST(a_daemon_that_has_done_its_work_is_fine)
{
	rig_open(RIG_BENCH "  once: {program: @FAKE@, args: [exit, 0], restart: never}\n"
			   "  then: {program: @FAKE@, args: [print], alive: watchdog, needs: once}\n");
	rig_start();
	RIG_UNTIL(rig_armed() && rig_ready("then"));
	RIG_UNTIL(rig_events("achstart", "all-ready") == 1);
	RIG_ASSERT(rig_status_has("once", "\"state\":\"done\""));
	RIG_ASSERT(rig_reported("once", "done", "once info done: done: exit status 0"));
	RIG_ASSERT(!rig_events("once", "ended") && !rig_events("once", "last-line"));
	RIG_UNTIL(rig_waist().common.lifecycle == MSG_LIFE_HOLDING);
	rig_run("achctl", "status");
	/* A daemon that needs it does not need it again; a user who asks for it has it again. */
	rig_run("achctl", "restart then");
	RIG_ASSERT(rig_events("once", "done") == 1);
	rig_run("achctl", "start once");
	RIG_UNTIL(rig_events("once", "done") == 2);
	rig_run("achctl", "stop once");
	RIG_ASSERT(rig_status_has("once", "\"state\":\"stopped\""));
	RIG_ASSERT(!rig_stop());
}

TEST(a_daemon_that_has_not_done_its_work_keeps_the_robot_from_arming)
{
	rig_open(RIG_BENCH "  once: {program: @FAKE@, args: [exit, 3], restart: never}\n");
	rig_start();
	RIG_UNTIL(rig_all_ready() && rig_reported("once", "failed", "it died, and is not to be restarted"));
	RIG_UNTIL(rig_reported("achstart", "not-armed", "arm: auto: once has failed"));
	RIG_ASSERT(rig_reported("once", "ended", "once error ended: exit status 3"));
	for (uint64_t until = rig_waist().common.ticks + 100; rig_waist().common.ticks < until;)
		rig_turn();
	RIG_ASSERT(rig_level(NULL) == MSG_LEVEL_ESTOP);
	RIG_ASSERT(rig_events("achstart", "not-armed") == 1);
	RIG_ASSERT(!rig_stop());
}

/* However late in the start it is: it counts as ready as soon as it has a process. */
TEST(a_program_that_dies_while_the_robot_starts_keeps_it_from_arming_each_time)
{
	char launch[512];

	for (int ms = 1; ms < 999; ms += ms < 100 ? 13 : 220) {
		snprintf(launch, sizeof(launch),
			 RIG_BENCH "  once: {program: @FAKE@, args: [exit, 3, %d], restart: never, needs: waist}\n",
			 ms);
		if (*rig.folder)
			rig_close();
		rig_open(launch);
		rig_start();
		RIG_UNTIL(rig_all_ready() && rig_reported("once", "failed", "it died, and is not to be restarted"));
		for (uint64_t until = rig_waist().common.ticks + 100; rig_waist().common.ticks < until;)
			rig_turn();
		if (rig_events("achstart", "armed") || rig_level(NULL) != MSG_LEVEL_ESTOP)
			rig_fail(__LINE__, "armed although it died after %d ms", ms);
		RIG_ASSERT(!rig_stop());
	}
}

/* ---- what people see ---- */

static void keep(struct paint *paint, enum tone tone, const char *text)
{
	(void)paint;
	(void)tone;
	strncat(answer, text, sizeof(answer) - 1 - strlen(answer));
}

static void keep_end(struct paint *paint)
{
	keep(paint, TONE_PLAIN, "\n");
}

static const char *seen(const struct status *view)
{
	static struct table table;
	struct paint paint = { keep, keep_end, 0, 0 };

	*answer = 0;
	status_print_robot(view, &paint, 100);
	status_print_daemons(view, &table);
	table_paint(&table, &paint, 100, SIZE_MAX, 0);
	return answer;
}

TEST(an_end_of_long_ago_explains_nothing)
{
	static struct status view;
	struct status_daemon *d = &view.daemons[0];

	view = (struct status){ .supervised = true, .daemons_n = 1, .pace = NAN };
	*d = (struct status_daemon){ .name = "waist",
				     .state = "ready",
				     .life = "fault",
				     .status = "fault",
				     .pid = 7,
				     .ready = true,
				     .wanted = true,
				     .uptime_s = 59,
				     .last_end = "signal 9 (Killed)" };
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(seen(&view), "\n  last: signal 9 (Killed)\n"), answer);
	d->uptime_s = 61;
	TEST_ASSERT_NULL_MESSAGE(strstr(seen(&view), "last:"), answer);
	snprintf(d->why, sizeof(d->why), "module 15: tow-error");
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(seen(&view), "\n  module 15: tow-error\n"), answer);
	d->ready = false;
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(seen(&view), "tow-error; last: signal 9 (Killed)\n"), answer);
}

TEST(what_is_done_is_seen_as_fine)
{
	static struct status view;
	struct status_daemon *d = &view.daemons[0];

	view = (struct status){ .supervised = true, .daemons_n = 1, .pace = NAN };
	*d = (struct status_daemon){ .name = "once", .state = "done", .wanted = true, .last_end = "exit status 0" };
	TEST_ASSERT_TRUE(status_is_fine(&view));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(seen(&view), ", 1 of 1 ready\n"), answer);
	TEST_ASSERT_NULL_MESSAGE(strstr(answer, "last:"), answer);
	snprintf(d->state, sizeof(d->state), "stopped");
	TEST_ASSERT_FALSE(status_is_fine(&view));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(seen(&view), ", 0 of 1 ready\n"), answer);
}
