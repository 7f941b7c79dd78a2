/* test_control.c: the commands of controld, and the motions that follow. */
#include <math.h>

#include "daemons/balance/control_motion.h"
#include "test/lib/testcase.h"

#define MS INT64_C(1000000)

/* ---- commands ---- */

TEST(commands_are_read)
{
	static const struct {
		enum control_verb verb;
		const char *values;
		bool fine;
		const char *joint;
		double a, b, speed;
	} cases[] = {
		{ CONTROL_STOP, "", true, "", 0, 0, NAN },
		{ CONTROL_STOP, "now", true, "", 0, 0, NAN },
		{ CONTROL_MOVE, "1.2", true, "", 1.2, 0, NAN },
		{ CONTROL_MOVE, " -1.2\t0.3 ", true, "", -1.2, 0, 0.3 },
		{ CONTROL_MOVE, "neck 1", true, "neck", 1, 0, NAN },
		{ CONTROL_MOVE, "neck 1 0.5", true, "neck", 1, 0, 0.5 },
		{ CONTROL_SWING, "0.3 1.2 0.43", true, "", 0.3, 1.2, 0.43 },
		{ CONTROL_SWING, "neck 0.3 1.2", true, "neck", 0.3, 1.2, NAN },
		{ CONTROL_MOVE, "", false, "", 0, 0, 0 },
		{ CONTROL_MOVE, "neck", false, "", 0, 0, 0 },
		{ CONTROL_MOVE, "nan", false, "", 0, 0, 0 },
		{ CONTROL_MOVE, "1 inf", false, "", 0, 0, 0 },
		{ CONTROL_MOVE, "1 0", false, "", 0, 0, 0 },
		{ CONTROL_MOVE, "1 -0.2", false, "", 0, 0, 0 },
		{ CONTROL_MOVE, "1 0.2 3", false, "", 0, 0, 0 },
		{ CONTROL_MOVE, "1rad", false, "", 0, 0, 0 },
		{ CONTROL_MOVE, "neck 1 fast", false, "", 0, 0, 0 },
		{ CONTROL_MOVE, "a23456789012345678901234 1", false, "", 0, 0, 0 },
		{ CONTROL_SWING, "0.3", false, "", 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct control_command c;

		TEST_ASSERT_EQUAL_MESSAGE(cases[i].fine, !control_parse(&c, cases[i].verb, cases[i].values),
					  cases[i].values);
		if (!cases[i].fine)
			continue;
		TEST_ASSERT_EQUAL_MESSAGE(cases[i].verb, c.verb, cases[i].values);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(cases[i].joint, c.joint, cases[i].values);
		TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(cases[i].a, c.angle_rad[0], cases[i].values);
		TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(cases[i].b, c.angle_rad[1], cases[i].values);
		if (isnan(cases[i].speed))
			TEST_ASSERT_TRUE_MESSAGE(isnan(c.speed_rad_s), cases[i].values);
		else
			TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(cases[i].speed, c.speed_rad_s, cases[i].values);
	}
}

TEST(a_wrong_command_has_its_form)
{
	struct control_command c;

	TEST_ASSERT_EQUAL_STRING("move [JOINT] ANGLE [SPEED], in rad and rad/s", control_parse(&c, CONTROL_MOVE, "x"));
}

/* ---- motions ---- */

static const struct trapezoid_limits limits = { 0.5, 2 };
static struct control_motion m;
static double rad, rad_s; /* of a joint that is where it is commanded to be, one tick later */
static int64_t now_ns;

void setUp(void)
{
	m = (struct control_motion){ 0 };
	rad = rad_s = 0;
	now_ns = 1000 * MS;
}

static void begin(enum control_verb verb, double a, double b)
{
	control_motion_begin(&m, &(struct control_command){ .verb = verb, .angle_rad = { a, b } }, &limits, INFINITY,
			     now_ns);
}

static bool tick(void)
{
	const bool put = control_motion_tick(&m, true, rad, rad_s, now_ns);

	now_ns += MS;
	if (put) {
		rad = m.position_rad;
		rad_s = m.velocity_rad_s;
	}
	return put;
}

/* So many ms, each with a reference; no step above the limits. */
static void ticks(int n)
{
	for (int i = 0; i < n; i++) {
		const double before_rad_s = rad_s;

		TEST_ASSERT_TRUE(tick());
		TEST_ASSERT_TRUE(fabs(rad_s - before_rad_s) <= limits.acceleration_rad_s2 * 0.001 + 1e-9);
	}
}

TEST(nothing_moves_without_a_command)
{
	TEST_ASSERT_FALSE(tick());
	TEST_ASSERT_FALSE(control_motion_is_on(&m));
}

TEST(a_move_ends_when_the_joint_is_there)
{
	begin(CONTROL_MOVE, 1, 0);
	ticks(2251);
	TEST_ASSERT_EQUAL_DOUBLE(1, rad);
	TEST_ASSERT_FALSE(control_motion_is_on(&m));
	TEST_ASSERT_FALSE(tick());
}

/* A driver's ramp that begins at velocity v must find its target v^2 / 2a ahead, or it brakes. */
TEST(a_motion_begins_ahead_of_a_joint_that_moves)
{
	static const double velocities[] = { 0.4, -0.4, 0, 0.7 };

	for (size_t i = 0; i < sizeof(velocities) / sizeof(*velocities); i++) {
		const double v = fmax(-limits.velocity_rad_s, fmin(limits.velocity_rad_s, velocities[i]));

		setUp();
		control_motion_begin(&m, &(struct control_command){ .verb = CONTROL_MOVE, .angle_rad = { 3 } }, &limits,
				     4, now_ns);
		TEST_ASSERT_TRUE(control_motion_tick(&m, true, 0.1, velocities[i], now_ns));
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.1 + v * fabs(v) / 8, m.position_rad);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, v, m.velocity_rad_s);
	}
}

TEST(a_move_waits_for_a_joint_that_is_late_but_not_for_ever)
{
	begin(CONTROL_MOVE, 0.1, 0);
	for (int i = 0; i < 2000; i++) /* it never moves */
		TEST_ASSERT_TRUE(control_motion_tick(&m, true, 0, 0, now_ns += MS));
	TEST_ASSERT_EQUAL_DOUBLE(0.1, m.position_rad);
	for (int i = 0; i < 1000; i++)
		control_motion_tick(&m, true, 0, 0, now_ns += MS);
	TEST_ASSERT_FALSE(control_motion_is_on(&m));
}

TEST(a_swing_goes_to_and_fro)
{
	double low = 9, high = -9;

	begin(CONTROL_SWING, 0.3, -0.2);
	ticks(1000);
	for (int i = 0; i < 6000; i++) {
		ticks(1);
		low = fmin(low, rad);
		high = fmax(high, rad);
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -0.2, low);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.3, high);
	TEST_ASSERT_TRUE(control_motion_is_on(&m));
}

TEST(a_new_command_goes_on_from_there)
{
	begin(CONTROL_MOVE, 1, 0);
	ticks(1000);
	begin(CONTROL_MOVE, -1, 0);
	ticks(2000);
	TEST_ASSERT_TRUE(rad_s < 0);
}

TEST(a_new_command_goes_on_from_what_was_commanded)
{
	double before;

	begin(CONTROL_SWING, 1, -1);
	ticks(3000); /* on its way to the second angle */
	before = m.position_rad;
	begin(CONTROL_MOVE, 0.8, 0);
	TEST_ASSERT_TRUE(control_motion_tick(&m, true, rad + 0.1, rad_s, now_ns));
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, before, m.position_rad);
	TEST_ASSERT_EQUAL_DOUBLE(0.8, m.way.to_rad);
}

TEST(two_commands_before_the_first_tick_begin_at_what_is_measured)
{
	begin(CONTROL_MOVE, 1, 0);
	begin(CONTROL_MOVE, 0.9, 0);
	rad = 0.1;
	ticks(1);
	TEST_ASSERT_EQUAL_DOUBLE(0.1, rad);
}

/* 0.2 rad, and twice what a ramp is behind at the greatest velocity: 0.325. */
TEST(a_joint_that_is_somewhat_behind_is_waited_for)
{
	begin(CONTROL_MOVE, 1, 0);
	ticks(1000);
	TEST_ASSERT_TRUE(control_motion_tick(&m, true, rad - 0.32, rad_s, now_ns));
	TEST_ASSERT_DOUBLE_WITHIN(2e-3, rad, m.position_rad);
	TEST_ASSERT_TRUE(control_motion_tick(&m, true, rad - 0.33, rad_s, now_ns));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, rad - 0.33, m.position_rad);
}

TEST(a_joint_is_there_within_5_mrad_and_almost_at_rest)
{
	static const struct {
		double behind, rad_s;
		bool there;
	} cases[] = { { 0.006, 0, false }, { 0, 0.011, false }, { -0.006, 0, false }, { 0.004, -0.009, true } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setUp();
		begin(CONTROL_MOVE, 0, 0);
		TEST_ASSERT_TRUE(control_motion_tick(&m, true, -0.05, 0, now_ns));
		now_ns += 1000 * MS;
		TEST_ASSERT_TRUE(control_motion_tick(&m, true, -cases[i].behind, cases[i].rad_s, now_ns));
		TEST_ASSERT_EQUAL(!cases[i].there, control_motion_is_on(&m));
	}
}

TEST(after_a_gap_it_goes_on_from_what_is_measured)
{
	begin(CONTROL_MOVE, 1, 0);
	ticks(1000);
	TEST_ASSERT_FALSE(control_motion_tick(&m, false, rad, rad_s, now_ns));
	TEST_ASSERT_EQUAL_DOUBLE(0, m.velocity_rad_s);
	rad -= 0.1; /* it was moved meanwhile */
	rad_s = 0;
	now_ns += 300 * MS;
	ticks(1);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.337, rad);
	ticks(1500);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.994, rad);
}

TEST(what_is_measured_has_to_be_a_number)
{
	begin(CONTROL_MOVE, 1, 0);
	TEST_ASSERT_FALSE(control_motion_tick(&m, true, NAN, 0, now_ns));
	TEST_ASSERT_FALSE(control_motion_tick(&m, true, 0, INFINITY, now_ns));
	TEST_ASSERT_TRUE(control_motion_is_on(&m));
}

TEST(a_joint_that_another_source_has_moved_is_planned_again)
{
	begin(CONTROL_MOVE, 1, 0);
	ticks(1000);
	rad = -0.3;
	rad_s = -3; /* counts as the limit */
	TEST_ASSERT_TRUE(tick());
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -0.3, rad);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -0.5, rad_s);
	ticks(100);
}

TEST(a_stop_ends_it)
{
	begin(CONTROL_MOVE, 1, 0);
	ticks(1000);
	control_motion_end(&m);
	TEST_ASSERT_FALSE(tick());
	begin(CONTROL_MOVE, 1, 0); /* from what is measured, at rest */
	rad -= 0.1;
	rad_s = 0;
	TEST_ASSERT_TRUE(control_motion_tick(&m, true, rad, rad_s, now_ns));
	TEST_ASSERT_EQUAL_DOUBLE(rad, m.position_rad);
}
