/* test_robotiqd.c: robotiqd and a simulated gripper on a soft wire, on a virtual clock: the safety cases, too. */
#include <errno.h>
#include <math.h>
#include <signal.h>

#include "test/can/bus/wire_lib.h"
#include "test/daemons/robotiq/robotiqd_rig.h"
#include "test/lib/testcase.h"

#define ACTIVATED "activated: yes"
#define WAITS (MSG_LATCH_WAITS_FOR_PERSON)
#define UNKNOWN (MSG_LATCH_POSITION_UNKNOWN)

void tearDown(void)
{
	robotiqd_rig_end();
}

static void up(const char *settings, const char *sim)
{
	robotiqd_rig_begin(settings, sim);
	device_lib_driver();
	device_lib_pass(200);
	TEST_ASSERT_NOT_EQUAL(0, robotiqd_seen.states_n);
	robotiqd_rig_arm();
}

static void gripping(const char *settings, const char *sim, int ms)
{
	up(settings, sim);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, device_lib_life());
	robotiqd_rig_grasp(1);
	device_lib_pass(ms);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	TEST_ASSERT_EQUAL(1, robotiqd_rig_number("go"));
}

static double at(void)
{
	return robotiqd_rig_number("a");
}

/* Every frame of the driver is a read, or a write of one byte, and is answered before the next. */
static void expect_one_at_a_time(void)
{
	unsigned int open = 0;

	for (unsigned int i = 0; i < device_lib.frames_n; i++) {
		const struct bus_frame *f = &device_lib.frames[i];

		if (f->flags & BUS_QUEUED)
			continue;
		if (f->frame.id == 0x60B) {
			TEST_ASSERT_EQUAL_MESSAGE(0, open, "two requests under way");
			open = 1;
		}
		if (f->frame.id == 0x58B)
			open = 0;
	}
}

/* Images: 15 reads in the order of the registers, with no write between, not more often than the refresh. */
static void expect_images(int64_t refresh_ns)
{
	int64_t begun_ns = 0;
	unsigned int next = 1, images = 0;

	for (unsigned int i = 0; i < device_lib.frames_n; i++) {
		const struct bus_frame *f = &device_lib.frames[i];

		if (f->flags & BUS_QUEUED || f->frame.id != 0x60B)
			continue;
		if (f->frame.data[0] == 0x2F) {
			TEST_ASSERT_EQUAL_MESSAGE(1, next, "a write within an image");
			continue;
		}
		TEST_ASSERT_EQUAL_HEX8(0x40, f->frame.data[0]);
		TEST_ASSERT_EQUAL(next, f->frame.data[3]);
		if (next == 1) {
			TEST_ASSERT(!begun_ns || f->t_ns - begun_ns >= refresh_ns - 300000);
			begun_ns = f->t_ns;
			images++;
		}
		next = next == 15 ? 1 : next + 1;
	}
	TEST_ASSERT_GREATER_THAN(5, images);
}

/* ---- start, activation, modes ---- */

TEST(nothing_is_written_at_start_and_a_gripper_that_is_not_activated_says_so)
{
	up("", "");
	device_lib_pass(500);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_writes(0, 0));
	TEST_ASSERT_EQUAL(1, robotiqd_rig_nmt());
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, device_lib_life()); /* the robot can be armed */
	TEST_ASSERT_EQUAL(0, robotiqd_rig_state()->common.latches);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_state()->activated);
	TEST_ASSERT_EQUAL(1, device_lib_events("not-activated"));
	TEST_ASSERT_EQUAL(0, robotiqd_rig_state()->header.flags & MSG_FLAG_PARTIAL);
	robotiqd_rig_grasp(1);
	device_lib_pass(300);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_writes(0, 0));
}

TEST(activation_on_request_takes_seconds_and_ends_the_latch)
{
	uint64_t id;

	up("", "");
	id = device_lib_request(MSG_VERB_ACTIVATE, "", "");
	device_lib_pass(1000);
	TEST_ASSERT_NULL(robotiqd_rig_reply(id));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOMING, device_lib_life());
	TEST_ASSERT_EQUAL(-EBUSY, robotiqd_rig_ask(MSG_VERB_SET, "mode", "pinch", 300));
	device_lib_pass(3800);
	TEST_ASSERT_NOT_NULL(robotiqd_rig_reply(id));
	TEST_ASSERT_EQUAL(0, robotiqd_rig_reply(id)->result);
	device_lib_pass(100);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, device_lib_life());
	TEST_ASSERT_EQUAL(1, robotiqd_rig_state()->activated);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_state()->common.latches);
	TEST_ASSERT_EQUAL(1, robotiqd_rig_writes(0, 0));			/* rACT; it was 0 */
	TEST_ASSERT_EQUAL(0, robotiqd_rig_ask(MSG_VERB_ACTIVATE, "", "", 300)); /* it is: nothing happens */
	TEST_ASSERT_EQUAL(1, robotiqd_rig_number("activations"));
	expect_one_at_a_time();
	expect_images(5 * DEVICE_LIB_MS);
}

TEST(activation_is_refused_unless_armed)
{
	robotiqd_rig_begin("", "");
	device_lib_driver();
	device_lib_pass(300);
	TEST_ASSERT_EQUAL(-EPERM, robotiqd_rig_ask(MSG_VERB_ACTIVATE, "", "", 300));
	TEST_ASSERT_EQUAL(0, robotiqd_rig_writes(0, 0));
}

/* What ends an activation, and what is left of it. */
TEST(an_activation_that_is_interrupted_is_ended_by_a_deactivation)
{
	static const char *const words[] = { "estop", "hold", "SIGTERM" };

	for (unsigned int i = 0; i < 3; i++) {
		uint64_t id;

		if (i)
			robotiqd_rig_end();
		up("", "");
		id = device_lib_request(MSG_VERB_ACTIVATE, "", "");
		device_lib_pass(1000);
		if (i < 2)
			robotiqd_rig_raise(i ? MSG_LEVEL_HOLD : MSG_LEVEL_ESTOP);
		else
			device_lib_signal(SIGTERM);
		device_lib_pass(200);
		device_lib_sim("report grip.11");
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(device_lib.said, "phase reset"), words[i]);
		if (i == 2)
			continue;
		TEST_ASSERT_EQUAL_MESSAGE(-ECANCELED, robotiqd_rig_reply(id)->result, words[i]);
		TEST_ASSERT_TRUE(robotiqd_rig_state()->common.latches & MSG_LATCH_HOMING_ABORTED);
	}
}

TEST(a_mode_is_changed_on_request_only)
{
	up("", ACTIVATED);
	TEST_ASSERT_EQUAL(MSG_GRIP_BASIC, robotiqd_rig_state()->grip);
	TEST_ASSERT_EQUAL(-EINVAL, robotiqd_rig_ask(MSG_VERB_SET, "mode", "claw", 300));
	TEST_ASSERT_EQUAL(-EINVAL, robotiqd_rig_ask(MSG_VERB_SET, "speed", "pinch", 300));
	TEST_ASSERT_EQUAL(0, robotiqd_rig_ask(MSG_VERB_SET, "mode", "basic", 300));
	TEST_ASSERT_EQUAL(0, robotiqd_rig_writes(0, 0));
	TEST_ASSERT_EQUAL(0, robotiqd_rig_ask(MSG_VERB_SET, "mode", "pinch", 3000));
	device_lib_pass(100);
	TEST_ASSERT_EQUAL(MSG_GRIP_PINCH, robotiqd_rig_state()->grip);
	TEST_ASSERT_EQUAL(1, robotiqd_rig_writes(0, 0));
	/* A reference for another mode is not followed. */
	robotiqd_rig_grasp(1);
	robotiqd_seen.ref.grip = MSG_GRIP_WIDE;
	device_lib_pass(300);
	TEST_ASSERT_EQUAL(1, robotiqd_rig_writes(0, 0));
	TEST_ASSERT_EQUAL(1, device_lib_events("other-reference"));
}

/* ---- references ---- */

TEST(a_grasp_closes_on_an_object_and_says_so)
{
	const struct msg_gripper_state *s;
	unsigned int before;

	gripping("", ACTIVATED ", object: 0.6", 2500);
	s = robotiqd_rig_state();
	TEST_ASSERT_EQUAL(3, s->count);
	for (unsigned int i = 0; i < 3; i++) {
		TEST_ASSERT_EQUAL(MSG_FINGER_CLOSING_STOPPED, s->finger[i]);
		TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.6, s->position[i]);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.8, s->current[i]);
	}
	/* The same reference again writes nothing; a grasp is written by finger A's registers alone. */
	TEST_ASSERT_EQUAL(5, robotiqd_rig_writes(0, 0)); /* 1, 2, 5, 6, 4 */
	TEST_ASSERT_EQUAL(0, robotiqd_rig_writes(0, 7));
	before = device_lib.frames_n;
	robotiqd_seen.ref.force[0] = robotiqd_seen.ref.force[1] = robotiqd_seen.ref.force[2] = 0.75;
	device_lib_pass(300);
	TEST_ASSERT_EQUAL(1, robotiqd_rig_writes(before, 0));
	TEST_ASSERT_EQUAL(1, robotiqd_rig_writes(before, 6));
	expect_one_at_a_time();
	expect_images(5 * DEVICE_LIB_MS);
}

TEST(fingers_open_until_an_object_around_them)
{
	gripping("", ACTIVATED, 2500);
	device_lib_sim("set grip.11 outside=0.3");
	robotiqd_rig_grasp(0);
	device_lib_pass(2500);
	TEST_ASSERT_EQUAL(MSG_FINGER_OPENING_STOPPED, robotiqd_rig_state()->finger[1]);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.3, robotiqd_rig_state()->position[1]);
}

TEST(each_finger_and_the_scissor_axis_have_positions_of_their_own)
{
	up("scissor: yes, position_max: 0.9", ACTIVATED);
	robotiqd_rig_grasp(0.2);
	robotiqd_seen.ref.count = 4;
	robotiqd_seen.ref.position[1] = 0.5;
	robotiqd_seen.ref.position[2] = 1; /* limited */
	robotiqd_seen.ref.position[3] = 0.25;
	robotiqd_seen.ref.speed[3] = robotiqd_seen.ref.force[3] = 1;
	device_lib_pass(3000);
	TEST_ASSERT_EQUAL(4, robotiqd_rig_state()->count);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.2, robotiqd_rig_state()->position[0]);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.5, robotiqd_rig_state()->position[1]);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.9, robotiqd_rig_state()->position[2]);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.25, robotiqd_rig_state()->position[3]);
	TEST_ASSERT_EQUAL(MSG_FINGER_ARRIVED, robotiqd_rig_state()->finger[3]);
	expect_images(5 * DEVICE_LIB_MS);
}

/* What is wrong with a reference: none of them moves a finger. */
static void nan_position(void)
{
	robotiqd_seen.ref.position[1] = NAN;
}
static void infinite_speed(void)
{
	robotiqd_seen.ref.speed[0] = INFINITY;
}
static void too_far(void)
{
	robotiqd_seen.ref.position[2] = 1.01;
}
static void negative_force(void)
{
	robotiqd_seen.ref.force[0] = -0.01;
}
static void too_few(void)
{
	robotiqd_seen.ref.count = 2;
}
static void too_many(void)
{
	robotiqd_seen.ref.count = 4;
}
static void other_mode(void)
{
	robotiqd_seen.ref.grip = MSG_GRIP_WIDE;
}
static void unknown_mode(void)
{
	robotiqd_seen.ref.grip = MSG_GRIP_UNKNOWN;
}

TEST(a_bad_reference_moves_nothing)
{
	void (*const spoil[])(void) = { nan_position, infinite_speed, too_far,	  negative_force,
					too_few,      too_many,	      other_mode, unknown_mode };

	up("", ACTIVATED);
	for (unsigned int i = 0; i < sizeof(spoil) / sizeof(*spoil); i++) {
		robotiqd_rig_grasp(1);
		spoil[i]();
		device_lib_pass(200);
	}
	TEST_ASSERT_EQUAL(0, robotiqd_rig_writes(0, 0));
	TEST_ASSERT_GREATER_THAN(0, robotiqd_rig_state()->common.refs_refused.not_finite);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_number("go"));
}

/* ---- without a reference ---- */

TEST(an_expired_reference_stops_fingers_that_move)
{
	double stood;

	gripping("", ACTIVATED, 700);
	TEST_ASSERT_LESS_THAN(240, at());
	robotiqd_seen.referring = false;
	device_lib_pass(RIG_VALID_MS + 110);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_number("go"));
	stood = at();
	TEST_ASSERT_LESS_THAN(250, stood);
	device_lib_pass(500);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, stood, at());
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, device_lib_life());
	TEST_ASSERT_EQUAL(1, robotiqd_rig_state()->activated);
}

TEST(an_expired_reference_keeps_the_grip_on_an_object)
{
	unsigned int before;

	gripping("", ACTIVATED ", object: 0.6", 2500);
	before = device_lib.frames_n;
	robotiqd_seen.referring = false;
	device_lib_pass(1000);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, device_lib_life());
	TEST_ASSERT_EQUAL(0, robotiqd_rig_writes(before, 0));
	TEST_ASSERT_EQUAL(1, robotiqd_rig_number("go"));
	/* It slips: the fingers close further. */
	device_lib_sim("set grip.11 object=0.7");
	device_lib_pass(500);
	TEST_ASSERT_DOUBLE_WITHIN(1, 178.5, at());
	TEST_ASSERT_EQUAL(0, robotiqd_rig_writes(before, 0));
}

TEST(or_stops_in_any_case_if_so_set)
{
	gripping("on_expiry: hold", ACTIVATED ", object: 0.6", 2500);
	robotiqd_seen.referring = false;
	device_lib_pass(400);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_number("go"));
}

/* ---- levels ---- */

TEST(an_estop_stops_the_fingers_and_releases_nothing)
{
	unsigned int before;
	double stood;

	gripping("", ACTIVATED, 700);
	before = device_lib.frames_n;
	robotiqd_rig_raise(MSG_LEVEL_ESTOP);
	device_lib_pass(30);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_number("go"));
	stood = at();
	device_lib_pass(1000);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, stood, at());
	TEST_ASSERT_EQUAL(0, robotiqd_rig_number("release"));
	TEST_ASSERT_EQUAL(1, robotiqd_rig_writes(before, 0));
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, device_lib_life());
	TEST_ASSERT_EQUAL(1, robotiqd_rig_state()->activated);
	robotiqd_rig_arm(); /* the controller still refers */
	device_lib_pass(500);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	TEST_ASSERT_GREATER_THAN(stood, at());
}

/* It loses so many replies that no image is complete. */
TEST(an_estop_stops_a_gripper_that_can_hardly_be_read)
{
	gripping("", ACTIVATED, 300);
	device_lib_sim("fault grip.11 loses");
	device_lib_pass(250);
	robotiqd_rig_raise(MSG_LEVEL_ESTOP);
	device_lib_pass(250);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_number("go"));
	TEST_ASSERT_LESS_THAN(200, at());
}

TEST(hold_is_as_without_a_reference)
{
	gripping("", ACTIVATED, 700);
	robotiqd_rig_raise(MSG_LEVEL_HOLD);
	device_lib_pass(100);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_number("go"));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, device_lib_life());
}

TEST(an_estop_releases_only_if_so_set)
{
	gripping("on_estop: release", ACTIVATED ", object: 0.6", 2500);
	robotiqd_rig_raise(MSG_LEVEL_ESTOP);
	device_lib_pass(1000);
	TEST_ASSERT_EQUAL(1, robotiqd_rig_number("release"));
	TEST_ASSERT_EQUAL(1, device_lib_events("releasing"));
	device_lib_pass(4000);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, at());
	TEST_ASSERT_EQUAL(1, device_lib_events("released"));
	TEST_ASSERT_TRUE(robotiqd_rig_state()->common.latches & WAITS);
}

/* ---- restart ---- */

TEST(a_restarted_driver_takes_a_grip_over_without_any_change)
{
	gripping("", ACTIVATED ", object: 0.6", 2500);
	for (unsigned int i = 0; i < 5; i++) {
		unsigned int frames, states, first;
		int64_t killed_ns;

		device_lib_signal(SIGKILL);
		device_lib_pass(7 + (int)i);
		frames = device_lib.frames_n;
		states = robotiqd_seen.states_n;
		killed_ns = device_lib.frames[frames - 1].t_ns;
		device_lib_driver();
		device_lib_pass(500);
		for (first = states;
		     first < robotiqd_seen.states_n && robotiqd_seen.states[first].header.flags & MSG_FLAG_PARTIAL;
		     first++)
			;
		TEST_ASSERT_LESS_THAN(robotiqd_seen.states_n, first);
		TEST_ASSERT(robotiqd_seen.states[first].header.t_publish_ns - killed_ns < 100 * DEVICE_LIB_MS);
		TEST_ASSERT_EQUAL(1, robotiqd_seen.states[first].activated);
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
		/* What the gripper does not report is written again: rICF and speed and force of A. */
		TEST_ASSERT_EQUAL(3, robotiqd_rig_writes(frames, 0));
		TEST_ASSERT_EQUAL(0, robotiqd_rig_writes(frames, 1));
	}
	TEST_ASSERT_EQUAL(0, robotiqd_rig_nmt());
	TEST_ASSERT_DOUBLE_WITHIN(1, 153, at());
}

TEST(a_restarted_driver_without_a_controller_keeps_a_grip)
{
	unsigned int before;

	gripping("", ACTIVATED ", object: 0.6", 2500);
	robotiqd_seen.referring = false;
	device_lib_signal(SIGKILL);
	before = device_lib.frames_n;
	device_lib_driver();
	device_lib_pass(1000);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_writes(before, 0));
	TEST_ASSERT_EQUAL(1, robotiqd_rig_number("go"));
	TEST_ASSERT_EQUAL(0, robotiqd_rig_nmt());
}

TEST(fingers_found_moving_are_stopped_if_no_reference_comes)
{
	gripping("", ACTIVATED, 300);
	robotiqd_seen.referring = false;
	device_lib_signal(SIGKILL);
	device_lib_driver();
	device_lib_pass(100);
	TEST_ASSERT_EQUAL(1, robotiqd_rig_number("go"));
	device_lib_pass(250);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_number("go"));
	TEST_ASSERT_LESS_THAN(250, at());
}

TEST(a_driver_that_ends_stops_fingers_that_move)
{
	gripping("", ACTIVATED, 700);
	device_lib_signal(SIGTERM);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_number("go"));
}

/* ---- faults ---- */

/* A word of robotsim, the event, and how it recovers. */
TEST(a_gripper_that_cannot_be_read_is_a_fault_with_one_line)
{
	static const char *const faults[] = { "silent", "garbage", "cut" };
	char question[64];

	gripping("", ACTIVATED ", object: 0.6", 2500);
	for (unsigned int i = 0; i < 3; i++) {
		const unsigned int events = device_lib_events("no-image");

		snprintf(question, sizeof(question), "fault grip.11 %s", faults[i]);
		device_lib_sim(question);
		device_lib_pass(2000);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_FAULT, device_lib_life(), faults[i]);
		TEST_ASSERT_EQUAL_MESSAGE(events + 1, device_lib_events("no-image"), faults[i]);
		TEST_ASSERT_TRUE(robotiqd_rig_state()->header.flags & MSG_FLAG_PARTIAL);
		TEST_ASSERT(robotiqd_rig_state()->age_ns > 1500 * DEVICE_LIB_MS);
		strcat(question, " clear");
		device_lib_sim(question);
		device_lib_pass(1000);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_ACTIVE, device_lib_life(), faults[i]);
		TEST_ASSERT_LESS_THAN(60 * DEVICE_LIB_MS, robotiqd_rig_state()->age_ns);
	}
	TEST_ASSERT_EQUAL(1, robotiqd_rig_state()->activated);
}

TEST(a_dead_gripper_at_start_is_a_fault_and_is_found_when_it_appears)
{
	robotiqd_rig_begin("", "power: no");
	device_lib_driver();
	device_lib_pass(1000);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
	TEST_ASSERT_TRUE(isnan(robotiqd_rig_state()->position[0]));
	device_lib_sim("fault grip.11 power-on");
	device_lib_pass(2000);
	TEST_ASSERT_EQUAL(1, device_lib_events("not-activated"));
	TEST_ASSERT_EQUAL(0, robotiqd_rig_state()->header.flags & MSG_FLAG_PARTIAL);
}

TEST(replies_that_are_lost_cost_their_images_only)
{
	unsigned int partial = 0, from;

	up("", ACTIVATED);
	device_lib_sim("fault grip.11 loses");
	from = robotiqd_seen.states_n;
	device_lib_pass(3000);
	for (unsigned int i = from; i < robotiqd_seen.states_n; i++)
		partial += robotiqd_seen.states[i].header.flags & MSG_FLAG_PARTIAL ? 1 : 0;
	TEST_ASSERT_GREATER_THAN(20, partial);
	device_lib_sim("fault grip.11 loses clear");
	device_lib_pass(300);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, device_lib_life());
	TEST_ASSERT_EQUAL(0, robotiqd_rig_state()->header.flags & MSG_FLAG_PARTIAL);
}

TEST(a_write_that_is_refused_is_a_fault_and_is_tried_again)
{
	up("", ACTIVATED);
	device_lib_sim("fault grip.11 refuses");
	robotiqd_rig_grasp(1);
	device_lib_pass(500);
	TEST_ASSERT_EQUAL(1, device_lib_events("not-written"));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
	TEST_ASSERT_LESS_THAN(20, robotiqd_rig_writes(0, 0));
	device_lib_sim("fault grip.11 refuses clear");
	device_lib_pass(2500);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	TEST_ASSERT_EQUAL(1, robotiqd_rig_number("go"));
}

TEST(lost_activation_is_reported_after_a_power_cycle)
{
	gripping("", ACTIVATED ", object: 0.6", 2500);
	device_lib_sim("fault grip.11 power-off");
	device_lib_pass(200);
	device_lib_sim("fault grip.11 power-on");
	device_lib_pass(2000);
	TEST_ASSERT_EQUAL(1, device_lib_events("activation-lost"));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
	TEST_ASSERT_EQUAL(UNKNOWN, robotiqd_rig_state()->common.latches);
	TEST_ASSERT_GREATER_THAN(0, robotiqd_rig_nmt());
	TEST_ASSERT_EQUAL(0, robotiqd_rig_number("go"));
	TEST_ASSERT_EQUAL(-EPERM, robotiqd_rig_ask(MSG_VERB_SET, "mode", "wide", 300));
	TEST_ASSERT_EQUAL(0, robotiqd_rig_ask(MSG_VERB_ACTIVATE, "", "", 6000));
	device_lib_pass(2500);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	TEST_ASSERT_DOUBLE_WITHIN(1, 153, at());
}

/* A stop repeats rACT: to a gripper that has just booted that is an activation. */
TEST(a_gripper_that_lost_its_power_is_not_activated_by_a_stop)
{
	static const char *const settings[] = { "", "pdo: yes", "on_estop: release" };

	for (unsigned int i = 0; i < 6; i++) {
		if (i)
			robotiqd_rig_end();
		gripping(settings[i / 2], ACTIVATED ", object: 0.6, boot: 400ms", 1000);
		if (i % 2)
			robotiqd_rig_raise(MSG_LEVEL_ESTOP);
		device_lib_pass(i % 2 ? 100 : 0);
		device_lib_sim("fault grip.11 power-off");
		device_lib_pass(5);
		device_lib_sim("fault grip.11 power-on");
		device_lib_pass(200);
		robotiqd_rig_raise(MSG_LEVEL_ESTOP);
		device_lib_pass(2000);
		TEST_ASSERT_EQUAL(0, robotiqd_rig_number("activations"));
		TEST_ASSERT_EQUAL(1, device_lib_events("activation-lost"));
	}
}

TEST(power_lost_between_two_drivers_is_reported)
{
	up("", ACTIVATED);
	device_lib_signal(SIGKILL);
	device_lib_sim("fault grip.11 power-off");
	device_lib_sim("fault grip.11 power-on");
	device_lib_pass(600);
	device_lib_driver();
	device_lib_pass(300);
	TEST_ASSERT_EQUAL(1, device_lib_events("activation-lost"));
}

TEST(a_failed_activation_waits_for_clear_which_moves_the_fingers)
{
	up("", "");
	device_lib_sim("fault grip.11 jams");
	TEST_ASSERT_EQUAL(-EIO, robotiqd_rig_ask(MSG_VERB_ACTIVATE, "", "", 6000));
	device_lib_pass(300);
	TEST_ASSERT_EQUAL(1, device_lib_events("activation-failed"));
	TEST_ASSERT_TRUE(robotiqd_rig_state()->common.latches & WAITS);
	TEST_ASSERT_EQUAL(-EPERM, robotiqd_rig_ask(MSG_VERB_ACTIVATE, "", "", 300));
	device_lib_sim("fault grip.11 jams clear");
	device_lib_pass(1000);
	TEST_ASSERT_EQUAL(1, robotiqd_rig_number("activations")); /* not by itself */
	robotiqd_rig_raise(MSG_LEVEL_ESTOP);
	device_lib_pass(200);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_ask(MSG_VERB_CLEAR, "", "", 500)); /* not armed: nothing moves */
	device_lib_pass(200);
	TEST_ASSERT_EQUAL(1, robotiqd_rig_number("activations"));
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, device_lib_life()); /* it can be armed */
	device_lib_sim("fault grip.11 jams");
	robotiqd_rig_arm();
	TEST_ASSERT_EQUAL(-EIO, robotiqd_rig_ask(MSG_VERB_ACTIVATE, "", "", 6000));
	device_lib_sim("fault grip.11 jams clear");
	device_lib_pass(200);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_ask(MSG_VERB_CLEAR, "", "", 6000)); /* armed: activated as well */
	device_lib_pass(200);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_state()->common.latches);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, device_lib_life());
	TEST_ASSERT_EQUAL(3, robotiqd_rig_number("activations"));
}

TEST(a_blocked_scissor_axis_clears_itself_and_is_latched_after_20_s)
{
	up("", ACTIVATED);
	device_lib_sim("fault grip.11 blocked");
	device_lib_pass(300);
	TEST_ASSERT_EQUAL(1, device_lib_events("scissor-blocked"));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, device_lib_life());
	TEST_ASSERT_EQUAL(-EPERM, robotiqd_rig_ask(MSG_VERB_CLEAR, "", "", 300));
	device_lib_sim("fault grip.11 blocked clear");
	device_lib_pass(300);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, device_lib_life());
	device_lib_sim("fault grip.11 blocked");
	device_lib_pass(20500);
	TEST_ASSERT_EQUAL(1, device_lib_events("scissor-stuck"));
	TEST_ASSERT_EQUAL(WAITS, robotiqd_rig_state()->common.latches);
}

/* ---- PDOs, rates ---- */

TEST(pdos_carry_the_registers_if_so_set)
{
	unsigned int sent = 0;

	up("pdo: yes", ACTIVATED ", object: 0.6");
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, device_lib_life());
	robotiqd_rig_grasp(1);
	device_lib_pass(2500);
	TEST_ASSERT_EQUAL(MSG_FINGER_CLOSING_STOPPED, robotiqd_rig_state()->finger[0]);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.6, robotiqd_rig_state()->position[2]);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_writes(0, 0));
	for (unsigned int i = 0; i < device_lib.frames_n; i++) {
		if (device_lib.frames[i].frame.id == 0x60B) /* it looks whether the bus is there */
			TEST_ASSERT_EQUAL(1, device_lib.frames[i].frame.data[3]);
		sent += device_lib.frames[i].frame.id == 0x20B && !(device_lib.frames[i].flags & BUS_QUEUED);
	}
	TEST_ASSERT_EQUAL(1, sent); /* of a reference that does not change */
	robotiqd_rig_raise(MSG_LEVEL_ESTOP);
	device_lib_pass(100);
	TEST_ASSERT_EQUAL(0, robotiqd_rig_number("go"));
	TEST_ASSERT_EQUAL(0, robotiqd_rig_nmt());
}

/* What moves is withheld until the bus has confirmed something: something else has to be sent. */
TEST(a_reference_is_followed_once_the_link_is_back)
{
	static const char *const settings[] = { "", "pdo: yes", "pdo: yes, refresh: 50ms" };

	for (unsigned int i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		gripping(settings[i], ACTIVATED, 500);
		wire_lib_ask("wire:hand", "link down host");
		device_lib_pass(20);
		robotiqd_rig_grasp(0.5);
		device_lib_pass(20);
		wire_lib_ask("wire:hand", "link up host");
		device_lib_pass(2500);
		TEST_ASSERT_EQUAL_MESSAGE(1, device_lib_events("withheld"), settings[i]);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_ACTIVE, device_lib_life(), settings[i]);
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(0.01, 0.5, robotiqd_rig_state()->position[0], settings[i]);
		robotiqd_rig_end();
	}
}

static unsigned int pdos_of_force(uint8_t force)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < device_lib.frames_n; i++) {
		const struct bus_frame *f = &device_lib.frames[i];

		n += f->frame.id == 0x20B && !(f->flags & BUS_QUEUED) && f->frame.data[5] == force;
	}
	return n;
}

/* No image shows the force that was commanded last: it counts as written when the frame was on the wire. */
TEST(a_force_that_was_withheld_is_written_later)
{
	gripping("pdo: yes", ACTIVATED, 500);
	wire_lib_ask("wire:hand", "link down host");
	device_lib_pass(20);
	robotiqd_seen.ref.force[0] = robotiqd_seen.ref.force[1] = robotiqd_seen.ref.force[2] = 0.25;
	device_lib_pass(60);
	TEST_ASSERT_EQUAL(0, pdos_of_force(0x40));
	wire_lib_ask("wire:hand", "link up host");
	device_lib_pass(600);
	TEST_ASSERT_EQUAL(1, pdos_of_force(0x40));
}

TEST(a_gripper_with_pdos_is_started_if_it_sends_none)
{
	up("pdo: yes", "");
	device_lib_pass(600);

	TEST_ASSERT_GREATER_THAN(0, robotiqd_rig_nmt());
	TEST_ASSERT_EQUAL(0, robotiqd_rig_ask(MSG_VERB_ACTIVATE, "", "", 6000));
}

TEST(registers_are_not_read_faster_than_they_refresh)
{
	up("tick: 5ms, ref_max: 200ms, refresh: 20ms, silent_after: 100ms", ACTIVATED);
	for (unsigned int i = 0; i < 20; i++) { /* references that change all the time */
		robotiqd_rig_grasp(0.05 * i);
		device_lib_pass(50);
	}
	expect_images(20 * DEVICE_LIB_MS);
	expect_one_at_a_time();
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, device_lib_life());
	TEST_ASSERT_LESS_THAN(60 * DEVICE_LIB_MS, robotiqd_rig_state()->age_ns);
}
