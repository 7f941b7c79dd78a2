/* test_drv_motion.c: what leaves is bounded by the loop: frames that move, deadlines, freezes, old measurements.
 * Also for drv_calls.c, drv_declare.c, drv_joints.c, drv_ref_ramp.c, drv_ref_track.c. */
#include <math.h>
#include <signal.h>

#include "can/bus/bus_backend.h"
#include "channels/clock/clock.h"
#include "daemons/drv/drv_inside.h"
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/testcase.h"

#define MS (int64_t) DRV_LIB_MS
#define JOINT(tick) (&fake.ticks[(tick)-1].joint)
#define LIMITS ", limits: {velocity: 0.5, acceleration: 2}"

static int64_t jumped_ns; /* the clock of a process that was stopped: it runs on meanwhile */
static int64_t start_ns;

static int64_t jumping_now(void)
{
	return start_ns + jumped_ns;
}

static int jumping_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	for (size_t i = 0; i < n; i++)
		fds[i].ready = 0;
	if (deadline_ns > jumping_now())
		jumped_ns = deadline_ns - start_ns;
	return 0;
}

static const struct clock_source jumping = { .now = jumping_now, .real = jumping_now, .wait = jumping_wait };

void setUp(void)
{
	drv_lib_begin();
	start_ns = DRV_LIB_START_NS;
	jumped_ns = 0;
	clock_use(&jumping);
}

void tearDown(void)
{
	drv_lib_end();
}

/* On a log, with these further keys of the device. */
static int run_with(const char *device, double ms, const char *more)
{
	char text[1024], line[512];

	snprintf(text, sizeof(text),
		 "robot: lab\nbuses:\n  lab: {interface: \"log:%s\"}\ndevices:\n  arm: {driver: faked, bus: lab%s}\n",
		 drv_lib_log(ms), device);
	snprintf(line, sizeof(line), "--name arm --set lock_memory=no --config %s %s", drv_lib_file("lab.yaml", text),
		 more);
	return drv_lib_main(line);
}

/* ---- frames that move ---- */

#define MOVING 2	    /* the row that is declared here, 203 */
static bool harmless_first; /* as a driver does that asks questions */
static unsigned int refused[512];

static int add_moving(struct drv *drv, struct error_sink *errors)
{
	static const struct drv_send row = {
		.row = { .id = 0x203, .class = SLOTS_LATEST, .period_ns = DRV_LIB_TICK_NS }, .len = 1, .moves = true
	};

	return drv_add_send(drv, &row, errors) == MOVING ? 0 : -EINVAL;
}

static void send_moving(void)
{
	const struct frame frame = { .id = 0x203, .len = 1, .data = { (uint8_t)fake.ticks_n } };
	const struct frame question = { .id = 0x202, .len = 1 };

	if (harmless_first)
		TEST_ASSERT_EQUAL(0, drv_send(fake.drv, FAKE_QUEUE, &question));
	refused[fake.ticks_n] = (unsigned int)-drv_send(fake.drv, MOVING, &frame);
}

static unsigned int count_sent(uint32_t id)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < fake.sent_n; i++)
		n += fake.sent[i].id == id;
	return n;
}

static void carelessly(void)
{
	fake.declare = add_moving;
	harmless_first = true;
	drv_lib_always(send_moving);
}

TEST(a_careless_driver_moves_nothing_while_disarmed)
{
	carelessly();
	TEST_ASSERT_EQUAL(0, drv_lib_run(99, ""));
	TEST_ASSERT_EQUAL(0, count_sent(0x203));
	TEST_ASSERT_GREATER_THAN_UINT(15, count_sent(0x202));
	for (unsigned int i = 1; i <= fake.ticks_n; i++)
		TEST_ASSERT_EQUAL(EPERM, refused[i]);
	TEST_ASSERT_EQUAL_UINT64(fake.ticks_n, drv_lib.states[drv_lib.states_n - 1].common.frames_withheld);
	TEST_ASSERT_EQUAL(1, drv_lib_events("withheld"));
	TEST_ASSERT_EQUAL_STRING("frame 203, which moves, was withheld: not armed", drv_lib_event("withheld")->text);
}

TEST(armed_they_leave)
{
	carelessly();
	drv_lib_at(5, drv_lib_arm); /* read in the sixth */
	drv_lib_at(12, drv_lib_estop);
	TEST_ASSERT_EQUAL(0, drv_lib_run(99, ""));
	for (unsigned int i = 1; i <= fake.ticks_n; i++)
		TEST_ASSERT_EQUAL(i > 5 && i <= 12 ? 0 : EPERM, refused[i]);
	TEST_ASSERT_EQUAL(7, count_sent(0x203));
	TEST_ASSERT_EQUAL(2, drv_lib_events("withheld")); /* before, and again after */
}

/* Hold is for those that balance: the rest uses drv_send_stop. */
TEST(hold_is_not_armed)
{
	carelessly();
	drv_lib_at(2, drv_lib_arm);
	drv_lib_at(5, drv_lib_hold);
	TEST_ASSERT_EQUAL(0, drv_lib_run(49, ""));
	TEST_ASSERT_EQUAL(3, count_sent(0x203));
}

TEST(a_driver_that_balances_goes_on_at_hold)
{
	carelessly();
	drv_lib_at(2, drv_lib_arm);
	drv_lib_at(5, drv_lib_hold);
	TEST_ASSERT_EQUAL(0, drv_lib_run(49, "--set balance=yes"));
	TEST_ASSERT_GREATER_THAN_UINT(6, count_sent(0x203));
}

TEST(nothing_moves_before_the_device_is_ready)
{
	carelessly();
	fake.starts_wanted = 6;
	drv_lib_at(1, drv_lib_arm);
	TEST_ASSERT_EQUAL(0, drv_lib_run(49, ""));
	TEST_ASSERT_EQUAL(EPERM, refused[6]);
	TEST_ASSERT_EQUAL(0, refused[7]);
	TEST_ASSERT_EQUAL_STRING("frame 203, which moves, was withheld: not armed", drv_lib_event("withheld")->text);
}

/* Nothing was confirmed yet: a driver with no harmless frame stops until then. */
TEST(nothing_moves_on_a_bus_that_is_not_proven)
{
	carelessly();
	harmless_first = false;
	drv_lib_at(1, drv_lib_arm);
	TEST_ASSERT_EQUAL(0, drv_lib_run(49, ""));
	TEST_ASSERT_EQUAL(0, count_sent(0x203));
	TEST_ASSERT_EQUAL(EPERM, refused[fake.ticks_n]);
}

static void send_stop(void)
{
	const struct frame frame = { .id = 0x203, .len = 1, .data = { 0xEE } };

	send_moving();
	if (fake.ticks_n == 12)
		TEST_ASSERT_EQUAL(0, drv_send_stop(fake.drv, MOVING, &frame));
}

/* And takes the place of what moves. */
TEST(a_stop_always_leaves)
{
	unsigned int stops = 0, after = 0;

	carelessly();
	drv_lib_always(send_stop);
	drv_lib_at(5, drv_lib_arm);
	TEST_ASSERT_EQUAL(0, drv_lib_run(99, ""));
	for (unsigned int i = 0; i < fake.sent_n; i++) {
		stops += fake.sent[i].id == 0x203 && fake.sent[i].data[0] == 0xEE;
		after += fake.sent[i].id == 0x203 && fake.sent[i].data[0] == 12;
	}
	TEST_ASSERT_EQUAL(1, stops);
	TEST_ASSERT_EQUAL(0, after);
	drv_lib_forget();
	carelessly();
	drv_lib_always(send_stop);
	fake.sent_n = 0;
	TEST_ASSERT_EQUAL(0, drv_lib_run(99, "")); /* armed since, and so on */
}

static void stop_disarmed(void)
{
	const struct frame frame = { .id = 0x203, .len = 1 };

	TEST_ASSERT_EQUAL(0, drv_send_stop(fake.drv, MOVING, &frame));
}

TEST(disarmed_too)
{
	fake.declare = add_moving;
	drv_lib_always(stop_disarmed);
	TEST_ASSERT_EQUAL(0, drv_lib_run(49, ""));
	TEST_ASSERT_GREATER_THAN_UINT(8, count_sent(0x203));
	TEST_ASSERT_EQUAL_UINT64(0, drv_lib_last()->common.frames_withheld);
}

static void send_and_latch(void)
{
	send_moving();
	if (fake.ticks_n == 12)
		drv_latch(fake.drv, MSG_LATCH_HALTED_BY_OTHER, "halted", "halted after its frame was put");
}

/* Decided, and no longer allowed when it would leave. */
TEST(a_frame_that_was_put_is_withdrawn)
{
	unsigned int withheld = 1;

	carelessly();
	drv_lib_always(send_and_latch);
	drv_lib_at(2, drv_lib_arm);
	TEST_ASSERT_EQUAL(0, drv_lib_run(100, ""));
	TEST_ASSERT_EQUAL(0, refused[12]);
	TEST_ASSERT_EQUAL(EPERM, refused[13]);
	for (unsigned int i = 1; i <= fake.ticks_n; i++)
		withheld += refused[i] == EPERM;
	TEST_ASSERT_EQUAL_UINT64(withheld, drv_lib_last()->common.frames_withheld);
	for (unsigned int i = 0; i < fake.sent_n; i++)
		TEST_ASSERT_FALSE(fake.sent[i].id == 0x203 && fake.sent[i].data[0] >= 12);
}

TEST(frames_say_so)
{
	fake.declare = add_moving;
	TEST_ASSERT_EQUAL(0, drv_lib_main("--name arm --bus wire:a --frames"));
	TEST_ASSERT_NOT_NULL(strstr(
		drv_lib.printed, "\"id\":\"203\",\"ext\":false,\"rtr\":false,\"fd\":false,\"brs\":false,\"dir\":\"tx\","
				 "\"len\":1,\"class\":\"latest\",\"moves\":true,"));
	TEST_ASSERT_NOT_NULL(strstr(drv_lib.printed, "\"class\":\"latest\",\"moves\":false,"));
}

/* ---- deadlines ---- */

static int64_t held_up_ns;

static void be_stopped_and_send(void)
{
	if (fake.ticks_n == 10)
		jumped_ns += held_up_ns;
	send_moving();
}

/* Stopped between the decision and the sending: what it decided then is not sent. */
TEST(a_deadline_counts_from_the_decision)
{
	static const struct {
		int64_t ns;
		bool leaves;
	} cases[] = { { 0, true }, { 4 * MS, true }, { 6 * MS, false }, { 1000 * MS, false } };

	for (unsigned int i = 0; i < 4; i++) {
		unsigned int found = 0;

		drv_lib_end();
		setUp();
		carelessly();
		held_up_ns = cases[i].ns;
		drv_lib_always(be_stopped_and_send);
		drv_lib_at(1, drv_lib_arm);
		TEST_ASSERT_EQUAL(0, drv_lib_run(99 + (double)held_up_ns / 1e6, ""));
		for (unsigned int s = 0; s < fake.sent_n; s++)
			found += fake.sent[s].id == 0x203 && fake.sent[s].data[0] == 10;
		TEST_ASSERT_EQUAL(cases[i].leaves, found);
	}
}

/* ---- ramps in the time that passes ---- */

static enum msg_mode mode = MSG_MODE_VELOCITY;
static double value;

static void refer(void)
{
	drv_lib_put_ref(mode, value, 20);
	fake.sample_ns = clock_now_ns();
}

/* What it ticks on, here a frame, comes twice in a period. */
TEST(ticks_twice_in_a_period_keep_the_velocity_limit)
{
	double position = 0;
	int64_t last_ns = 0;

	mode = MSG_MODE_POSITION;
	value = 5;
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(refer);
	for (unsigned int i = 2; i < 350; i++)
		drv_lib_frame(2.5 * i, "183#");
	TEST_ASSERT_EQUAL(0, run_with(LIMITS, 900, "--set tick=frame~lab~0x183~5ms"));
	TEST_ASSERT_EQUAL(5 * MS / 2, fake.ticks[100].ns - fake.ticks[99].ns);
	for (unsigned int i = 5; i <= fake.ticks_n; i++) {
		const double dt_s = (double)(fake.ticks[i - 1].ns - last_ns) / 1e9;

		if (JOINT(i)->mode != MSG_MODE_POSITION || JOINT(i)->stops)
			continue;
		if (last_ns)
			TEST_ASSERT_TRUE(JOINT(i)->position_rad - position <= 0.5 * dt_s + 1e-9);
		TEST_ASSERT_TRUE(fake.ticks[i - 1].orders.dt_s <= dt_s + 1e-12 || !last_ns);
		position = JOINT(i)->position_rad;
		last_ns = fake.ticks[i - 1].ns;
	}
	TEST_ASSERT_TRUE(position > 0.1);
}

static int gain_of_2(struct drv *drv, struct error_sink *errors)
{
	(void)errors;
	drv_joint_gain(drv, 0, 2);
	return 0;
}

TEST(the_tracking_is_the_loops)
{
	double last = 0;

	mode = MSG_MODE_POSITION;
	value = 5;
	fake.declare = gain_of_2;
	fake.position_rad = 0; /* it is held back: without a limit the correction alone were rad/s */
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(refer);
	TEST_ASSERT_EQUAL(0, run_with(LIMITS, 2000, ""));
	for (unsigned int i = 1; i <= fake.ticks_n; i++) {
		TEST_ASSERT_TRUE(fabs(JOINT(i)->track_rad_s) <= 0.5);
		TEST_ASSERT_TRUE(fabs(JOINT(i)->track_rad_s - last) <= 2 * 0.005 + 1e-12);
		last = JOINT(i)->track_rad_s;
	}
	TEST_ASSERT_EQUAL_DOUBLE(0.5, JOINT(300)->track_rad_s);
}

/* ---- freezes ---- */

static int64_t frozen_ns;

static void refer_and_freeze(void)
{
	drv_lib_put_ref(mode, value, frozen_ns && fake.ticks_n == 100 ? 200 : 20);
	if (fake.ticks_n == 100)
		jumped_ns += frozen_ns;
	/* Measured, and answered, as long as the driver asks; in the first tick after a freeze there is no answer. */
	if (fake.ticks_n != 100)
		fake.sample_ns = clock_now_ns();
}

static void check_freeze(enum msg_mode in_mode, double in_value, int64_t for_ns)
{
	double last = 0;

	drv_lib_end();
	setUp();
	mode = in_mode;
	value = in_value;
	frozen_ns = for_ns;
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(refer_and_freeze);
	TEST_ASSERT_EQUAL(0, run_with(LIMITS, 600 + (double)for_ns / 1e6 + 200, ""));
	TEST_ASSERT_TRUE(fabs(JOINT(99)->track_rad_s) >= 0.4 || fabs(JOINT(99)->current_a) > 0.4);
	/* Nothing is commanded but rest until something is measured that is newer. */
	TEST_ASSERT_EQUAL_DOUBLE(0, JOINT(101)->track_rad_s);
	TEST_ASSERT_EQUAL_DOUBLE(0, JOINT(101)->velocity_rad_s);
	TEST_ASSERT_EQUAL_DOUBLE(0, JOINT(101)->current_a);
	TEST_ASSERT_TRUE(JOINT(101)->stops);
	for (unsigned int i = 102; i <= 130; i++) {
		TEST_ASSERT_TRUE(fabs(JOINT(i)->track_rad_s - last) <= 2 * 0.005 + 1e-12);
		last = JOINT(i)->track_rad_s;
	}
	TEST_ASSERT_FALSE(JOINT(130)->stops);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, fake.ticks[129].orders.life);
}

TEST(after_a_freeze_the_first_command_is_rest)
{
	static const int64_t freezes_ms[] = { 100, 300, 1000, 5000 };

	for (unsigned int i = 0; i < 4; i++) {
		check_freeze(MSG_MODE_VELOCITY, 0.4, freezes_ms[i] * MS);
		check_freeze(MSG_MODE_VELOCITY, -0.4, freezes_ms[i] * MS);
		check_freeze(MSG_MODE_POSITION, 5, freezes_ms[i] * MS);
		check_freeze(MSG_MODE_CURRENT, 0.5, freezes_ms[i] * MS);
	}
}

static void never_answer_after_a_freeze(void)
{
	drv_lib_put_ref(MSG_MODE_VELOCITY, 0.4, 20);
	if (fake.ticks_n == 100)
		jumped_ns += 200 * MS;
	if (fake.ticks_n <= 100) /* the last one just before it went on */
		fake.sample_ns = clock_now_ns() - MS;
}

TEST(without_a_measurement_it_stays_at_rest)
{
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(never_answer_after_a_freeze);
	TEST_ASSERT_EQUAL(0, run_with(LIMITS, 1000, ""));
	for (unsigned int i = 101; i <= fake.ticks_n; i++)
		TEST_ASSERT_EQUAL_DOUBLE(0, JOINT(i)->track_rad_s);
}

/* ---- old measurements ---- */

static void fall_silent(void)
{
	drv_lib_put_ref(mode, value, 20);
	if (fake.ticks_n < 100 || fake.ticks_n >= 160)
		fake.sample_ns = clock_now_ns();
}

TEST(a_joint_whose_position_is_old_comes_to_rest)
{
	static const struct {
		enum msg_mode mode;
		double value;
	} cases[] = { { MSG_MODE_VELOCITY, 0.4 }, { MSG_MODE_CURRENT, 0.5 }, { MSG_MODE_POSITION, 5 } };

	for (unsigned int c = 0; c < 3; c++) {
		drv_lib_end();
		setUp();
		mode = cases[c].mode;
		value = cases[c].value;
		drv_lib_at(1, drv_lib_arm);
		drv_lib_always(fall_silent);
		TEST_ASSERT_EQUAL(0, run_with(LIMITS, 1000, ""));
		TEST_ASSERT_FALSE(JOINT(100)->stops);
		TEST_ASSERT_FALSE(JOINT(106)->stops); /* 35 ms: answers may be missing */
		/* From then on the safe action: to rest within the limits, and it stays there. */
		for (unsigned int i = 107; i <= 160; i++) {
			TEST_ASSERT_TRUE(JOINT(i)->stops);
			TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, fake.ticks[i - 1].orders.life);
			TEST_ASSERT_EQUAL_DOUBLE(0, JOINT(i)->current_a);
			TEST_ASSERT_TRUE(fabs(JOINT(i)->track_rad_s) <= fabs(JOINT(i - 1)->track_rad_s));
			TEST_ASSERT_TRUE(fabs(JOINT(i)->track_rad_s - JOINT(i - 1)->track_rad_s) <= 0.01 + 1e-12);
		}
		TEST_ASSERT_EQUAL_DOUBLE(0, JOINT(160)->track_rad_s);
		TEST_ASSERT_EQUAL(1, drv_lib_events("stale"));
		TEST_ASSERT_EQUAL(1, drv_lib_events("fresh"));
		TEST_ASSERT_FALSE(JOINT(190)->stops);
	}
}

/* Said, where it was silent. */
TEST(a_position_that_was_never_measured_is_said)
{
	mode = MSG_MODE_CURRENT;
	value = 0.5;
	fake.position_rad = NAN;
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(refer);
	TEST_ASSERT_EQUAL(0, run_with(LIMITS, 200, ""));
	TEST_ASSERT_EQUAL_DOUBLE(0, JOINT(30)->current_a);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, fake.ticks[29].orders.life); /* not active */
	TEST_ASSERT_EQUAL(1, drv_lib_events("stale"));
	TEST_ASSERT_NOT_NULL(strstr(drv_lib_event("stale")->text, "joint elbow"));
}

static int no_position(struct drv *drv, struct error_sink *errors)
{
	(void)errors;
	drv_joint_no_position(drv, 0);
	return 0;
}

TEST(a_device_without_a_position_is_driven)
{
	static const enum msg_mode modes[] = { MSG_MODE_CURRENT, MSG_MODE_VELOCITY };

	for (unsigned int i = 0; i < 2; i++) {
		drv_lib_end();
		setUp();
		fake.declare = no_position;
		fake.position_rad = fake.velocity_rad_s = NAN;
		mode = modes[i];
		value = 0.5;
		drv_lib_at(1, drv_lib_arm);
		drv_lib_at(60, drv_lib_hold);
		drv_lib_always(refer);
		TEST_ASSERT_EQUAL(0, run_with(LIMITS, 600, ""));
		TEST_ASSERT_EQUAL(modes[i], JOINT(59)->mode);
		TEST_ASSERT_EQUAL_DOUBLE(i ? 0 : 0.5, JOINT(59)->current_a);
		TEST_ASSERT_EQUAL_DOUBLE(i ? 0.5 : 0, JOINT(59)->velocity_rad_s);
		TEST_ASSERT_EQUAL_DOUBLE(i ? 0.5 : 0, JOINT(59)->track_rad_s);
		/* To hold is to have no current, or to come to rest within the limits. */
		TEST_ASSERT_EQUAL_DOUBLE(0, JOINT(61)->current_a);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, i ? 0.49 : 0, JOINT(61)->velocity_rad_s);
		TEST_ASSERT_EQUAL_DOUBLE(0, JOINT(115)->velocity_rad_s);
		TEST_ASSERT_TRUE(isnan(drv_lib_last()->position[0]));
		TEST_ASSERT_EQUAL(0, drv_lib_events("stale"));
	}
}

DRV_LIB_HOOK(jump, jumped_ns += 200 * MS);

/* Of what it does not measure it does not wait to hear that it stands. */
TEST(without_any_measurement_it_rests_for_a_moment)
{
	fake.declare = no_position;
	fake.position_rad = fake.velocity_rad_s = NAN;
	mode = MSG_MODE_CURRENT;
	value = 0.5;
	drv_lib_at(1, drv_lib_arm);
	drv_lib_at(60, jump);
	drv_lib_always(refer);
	TEST_ASSERT_EQUAL(0, run_with(LIMITS, 600, ""));
	TEST_ASSERT_EQUAL_DOUBLE(0.5, JOINT(60)->current_a);
	TEST_ASSERT_EQUAL_DOUBLE(0, JOINT(61)->current_a);
	TEST_ASSERT_EQUAL_DOUBLE(0.5, JOINT(63)->current_a);
}

static bool stopped;

DRV_LIB_HOOK(leave_alone, drv_not_driven(fake.drv, 0, stopped));

/* Driven again it begins at what is measured, or at rest if its device has stopped it. */
TEST(a_joint_that_was_not_driven_begins_again)
{
	for (int i = 0; i < 2; i++) {
		drv_lib_end();
		setUp();
		fake.velocity_rad_s = 0.3;
		stopped = i;
		mode = MSG_MODE_VELOCITY;
		value = 0.4;
		drv_lib_at(1, drv_lib_arm);
		drv_lib_at(60, leave_alone);
		drv_lib_always(refer);
		TEST_ASSERT_EQUAL(0, run_with(LIMITS, 600, ""));
		TEST_ASSERT_EQUAL_DOUBLE(0.4, JOINT(60)->velocity_rad_s);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, i ? 0.01 : 0.31, JOINT(61)->velocity_rad_s);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, i ? 0.01 : 0.31, JOINT(61)->track_rad_s);
	}
}

TEST(it_takes_no_positions)
{
	fake.declare = no_position;
	fake.position_rad = NAN;
	mode = MSG_MODE_POSITION;
	value = 1;
	drv_lib_at(1, drv_lib_arm);
	drv_lib_always(refer);
	TEST_ASSERT_EQUAL(0, run_with(LIMITS, 200, ""));
	TEST_ASSERT_EQUAL_DOUBLE(0, JOINT(30)->track_rad_s);
	TEST_ASSERT_TRUE(JOINT(30)->stops);
}

/* ---- limits ---- */

TEST(limits_are_there_for_joints_that_are)
{
	static const struct {
		const char *device, *said;
	} cases[] = {
		{ "", "lab.yaml:5: arm: joint elbow has no limits of velocity and acceleration; write "
		      "limits: {velocity: 0.5, acceleration: 2}" },
		{ ", limits: {velocity: 1}", "lab.yaml:5: limits: joint elbow has no limits of" },
		{ ", limits: {acceleration: 1}", "joint elbow has no limits" },
		{ ", limits: {current: 1}", "joint elbow has no limits" },
		{ ", limits: {velocity: 1, acceleration: 1, joints: {elbov: {velocity: 0.1}}}",
		  "lab.yaml:5: elbov: arm has no such joint; did you mean elbow?" },
		{ ", limits: {velocity: 1, acceleration: 1,\n   joints: {x: {velocity: 0.1}}}",
		  "lab.yaml:6: x: arm has no such joint; it has elbow\n" },
		{ ", actuated: no, limits: {joints: {x: {velocity: 0.1}}}", "x: arm has no such joint" },
		{ ", limits: {joints: {elbow: {velocity: 0.1, acceleration: 1}}}", NULL },
		{ ", actuated: no", NULL },
		{ LIMITS, NULL },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int status = run_with(cases[i].device, 10, "--check");

		TEST_ASSERT_EQUAL_MESSAGE(cases[i].said ? 100 : 0, status, drv_lib.said);
		if (cases[i].said)
			TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.said, cases[i].said), drv_lib.said);
	}
}

static int add_wrist(struct drv *drv, struct error_sink *errors)
{
	return drv_add_joint(drv, "wrist", errors) == 1 ? 0 : -1;
}

TEST(limits_of_several_joints)
{
	fake.declare = add_wrist;
	TEST_ASSERT_EQUAL(100, run_with(", limits: {velocity: 1, acceleration: 1, joints: {x: {velocity: 1}, "
					"wrisd: {velocity: 1}, elbov: {velocity: 1}}}",
					10, "--check"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.said, "x: arm has no such joint; it has elbow and others"),
				     drv_lib.said);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.said, "did you mean wrist?"), drv_lib.said);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.said, "did you mean elbow?"), drv_lib.said);
	TEST_ASSERT_EQUAL(0, run_with(", limits: {velocity: 1, acceleration: 1, joints: {wrist: {velocity: 0.1}}}", 10,
				      "--check"));
	TEST_ASSERT_EQUAL(100, run_with(", limits: {joints: {elbow: {velocity: 1, acceleration: 1}}}", 10, "--check"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.said, "joint wrist has no limits"), drv_lib.said);
}

TEST(a_current_limit_will_do_without_a_position)
{
	fake.declare = no_position;
	TEST_ASSERT_EQUAL(0, run_with(", limits: {current: 1}", 10, "--check"));
	TEST_ASSERT_EQUAL(100, run_with("", 10, "--check"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.said, "or {current: 1}"), drv_lib.said);
}

TEST(a_real_bus_needs_a_file_with_limits)
{
	TEST_ASSERT_EQUAL(100, drv_lib_main("--name arm --bus can97 --set lock_memory=no"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(drv_lib.said, "no limits for joint elbow on can97"), drv_lib.said);
}

/* ---- what may wait ---- */

static void note_puts(void)
{
	struct drv *drv = fake.drv;
	const uint64_t events = drv->report.port.sequence;

	/* That of tick 0, and one for each tick but the last one and this one. */
	if (fake.ticks_n > 1)
		TEST_ASSERT_EQUAL_UINT64(fake.ticks_n - 1, drv->state_port.sequence);
	drv_event(drv, MSG_SEVERITY_INFO, fake.ticks_n % 2 ? "odd" : "even", "%u", fake.ticks_n);
	TEST_ASSERT_EQUAL_UINT64(events, drv->report.port.sequence);
}

/* A put may wait for another process.  So the state of the tick before, which is made at the beginning of a
 * tick, is put behind the driver's commands, and so are events. */
TEST(commands_leave_before_anything_that_waits)
{
	fake.completes = false;
	drv_lib_always(note_puts);
	TEST_ASSERT_EQUAL(0, drv_lib_run(99, ""));
	TEST_ASSERT_TRUE(drv_lib_reported("odd") && drv_lib_reported("even"));
}

DRV_LIB_HOOK(take_the_echo_away, fake.drv->buses[0].bus->unconfirmed = true);

TEST(a_bus_without_an_echo_is_said)
{
	drv_lib_at(3, take_the_echo_away);
	TEST_ASSERT_EQUAL(0, drv_lib_run(49, ""));
	TEST_ASSERT_EQUAL(1, drv_lib_events("no-echo"));
	TEST_ASSERT_NOT_NULL(strstr(drv_lib_event("no-echo")->text, "has no echo of its own"));
}

DRV_LIB_HOOK(break_a_pipe, raise(SIGPIPE));

TEST(a_broken_pipe_does_not_end_it)
{
	signal(SIGPIPE, SIG_DFL);
	drv_lib_at(3, break_a_pipe);
	TEST_ASSERT_EQUAL(0, drv_lib_run(49, ""));
	TEST_ASSERT_EQUAL(10, fake.ticks_n);
}
