/* test_drv_ref_ramp.c: limits and ramps, by examples that can be followed by hand: ticks of 0.1 s, 10 rad/s^2, so 1
 * rad/s per tick.  What must hold whatever the numbers is in test_drv_ref_random.c. */
#include <float.h>
#include <math.h>

#include "test/lib/testcase.h"

#include "daemons/drv/drv_ref.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define DT 0.1
#define NEAR 1e-12 /* results of a few roundings of numbers around 1 */

static struct drv_ref_joint joint;
static struct drv_ref_limits limits;
static double at_rad, at_rad_s, at_a; /* measured */

void setUp(void)
{
	memset(&joint, 0, sizeof(joint));
	limits = (struct drv_ref_limits){ -10, 10, 2, 10, 5, 20, INFINITY };
	at_rad = at_rad_s = at_a = 0;
}

static struct drv_ref_command tick_for(const struct drv_ref_want *want, enum drv_ref_safe safe, double dt_s)
{
	return drv_ref_joint(&joint, &limits, want, safe, at_rad, at_rad_s, at_a, dt_s);
}

static struct drv_ref_command position_for(double rad, double dt_s)
{
	return tick_for(&(struct drv_ref_want){ MSG_MODE_POSITION, rad, NAN, NAN }, DRV_REF_HOLD, dt_s);
}

static struct drv_ref_command velocity_for(double rad_s, double dt_s)
{
	return tick_for(&(struct drv_ref_want){ MSG_MODE_VELOCITY, NAN, rad_s, NAN }, DRV_REF_HOLD, dt_s);
}

static struct drv_ref_command current_for(double a, double dt_s)
{
	return tick_for(&(struct drv_ref_want){ MSG_MODE_CURRENT, NAN, NAN, a }, DRV_REF_HOLD, dt_s);
}

static void check(enum msg_mode mode, double rad, double rad_s, double a, struct drv_ref_command command)
{
	TEST_ASSERT_EQUAL(mode, command.mode);
	TEST_ASSERT_DOUBLE_WITHIN(NEAR, rad, command.position_rad);
	TEST_ASSERT_DOUBLE_WITHIN(NEAR, rad_s, command.velocity_rad_s);
	TEST_ASSERT_DOUBLE_WITHIN(NEAR, a, command.current_a);
}
#define POSITION(rad, rad_s, command) check(MSG_MODE_POSITION, rad, rad_s, 0, command)
#define VELOCITY(rad_s, command) check(MSG_MODE_VELOCITY, 0, rad_s, 0, command)
#define CURRENT(a, command) check(MSG_MODE_CURRENT, 0, 0, a, command)

/* ---- limits ---- */

#define MEMBERS (sizeof(struct drv_ref_limits) / sizeof(double))

/* The lower end of the positions is narrowed by what is greater, all others by what is less. */
TEST(tighten_never_widens)
{
	for (size_t i = 0; i < MEMBERS; i++) {
		const double sign = i == 0 ? 1 : -1;
		const struct {
			double own, other, result;
		} cases[] = {
			{ 1, 1 + sign, 1 + sign },  { 1, 1 - sign, 1 },		{ 1, NAN, 1 },
			{ 1, -sign * INFINITY, 1 }, { -sign * INFINITY, 3, 3 }, { -3, -3, -3 },
		};

		for (size_t c = 0; c < COUNT(cases); c++) {
			struct drv_ref_limits own = drv_ref_no_limits, others = drv_ref_no_limits;
			double members[MEMBERS], none[MEMBERS];

			((double *)&own)[i] = cases[c].own;
			((double *)&others)[i] = cases[c].other;
			drv_ref_tighten(&own, &others);
			memcpy(members, &own, sizeof(members));
			memcpy(none, &drv_ref_no_limits, sizeof(none));
			for (size_t m = 0; m < MEMBERS; m++)
				TEST_ASSERT_TRUE(members[m] == (m == i ? cases[c].result : none[m]));
		}
	}
}

TEST(no_limits_are_infinite)
{
	const double *l = (const double *)&drv_ref_no_limits;

	for (size_t i = 0; i < MEMBERS; i++)
		TEST_ASSERT_TRUE(l[i] == (i == 0 ? -INFINITY : INFINITY));
}

TEST(margin_takes_from_both_ends)
{
	const struct {
		double min, max, share, new_min, new_max;
	} cases[] = {
		{ -1, 3, 0.02, -0.92, 2.92 },
		{ -1, 3, 0, -1, 3 },
		{ -1, 3, -1, -1, 3 },
		{ -1, 3, 0.5, 1, 1 },
		{ -1, 3, 0.7, 1, 1 },
		{ -1, 3, NAN, -1, 3 },
		{ -0.2, 0.2, 0.25, -0.1, 0.1 },
		{ 2, 2, 0.1, 2, 2 },
		{ 3, 2, 0.1, 3, 2 },
		{ -1, INFINITY, 0.1, -1, INFINITY },
		{ -INFINITY, 1, 0.1, -INFINITY, 1 },
		{ -INFINITY, INFINITY, 0.1, -INFINITY, INFINITY },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct drv_ref_limits l = drv_ref_no_limits;

		l.position_min_rad = cases[i].min;
		l.position_max_rad = cases[i].max;
		drv_ref_margin(&l, cases[i].share);
		TEST_ASSERT_EQUAL_DOUBLE(cases[i].new_min, l.position_min_rad);
		TEST_ASSERT_EQUAL_DOUBLE(cases[i].new_max, l.position_max_rad);
		TEST_ASSERT_TRUE(isinf(l.velocity_rad_s));
	}
}

/* ---- position ---- */

/* Up by 1 rad/s per tick, at most 2, and down so that what is left would do for a stop:
 * with 0.5 left 2 x 0.5 / (0.1 + sqrt(0.01 + 2 x 0.5 / 10)) = 2.316, with 0.4 left exactly 2, with 0.2 left 1.236. */
TEST(a_trapezoid)
{
	const double v = 2 * 0.2 / (0.1 + sqrt(0.01 + 2 * 0.2 / 10));
	int i;

	POSITION(0.1, 1, position_for(1.3, DT));
	POSITION(0.3, 2, position_for(1.3, DT));
	POSITION(0.5, 2, position_for(1.3, DT));
	POSITION(0.7, 2, position_for(1.3, DT));
	POSITION(0.9, 2, position_for(1.3, DT));
	POSITION(1.1, 2, position_for(1.3, DT));
	POSITION(1.1 + 0.1 * v, v, position_for(1.3, DT));
	for (i = 0; i < 8 && joint.last.position_rad < 1.3; i++)
		position_for(1.3, DT);
	TEST_ASSERT_TRUE(i < 8);
	for (i = 0; i < 10; i++) {
		struct drv_ref_command c = position_for(1.3, DT);

		TEST_ASSERT_TRUE(c.position_rad == 1.3 && c.velocity_rad_s == 0);
	}
}

TEST(the_same_downwards)
{
	POSITION(-0.1, -1, position_for(-1.3, DT));
	POSITION(-0.3, -2, position_for(-1.3, DT));
	for (int i = 0; i < 30; i++)
		position_for(-1.3, DT);
	TEST_ASSERT_TRUE(joint.last.position_rad == -1.3 && joint.last.velocity_rad_s == 0);
}

/* "As fast as the limits allow": 1 rad takes 0.5 s of the way at 1 rad/s and as much for 2 rad/s^2 up and down, 1.5 s
 * together.  A braking tick may not count on the next one's length, which costs log(v / (a dt)) ticks, about 6. */
TEST(no_slower_than_the_limits)
{
	int ticks = 0;

	limits.velocity_rad_s = 1;
	limits.acceleration_rad_s2 = 2;
	while (joint.last.position_rad != 1 && ticks < 2000) {
		position_for(1, 0.001);
		ticks++;
	}
	TEST_ASSERT_INT_WITHIN(7, 1507, ticks);
}

TEST(without_acceleration_limit_velocity_steps)
{
	limits.acceleration_rad_s2 = INFINITY;
	POSITION(0.2, 2, position_for(0.5, DT));
	POSITION(0.4, 2, position_for(0.5, DT));
	POSITION(0.5, 1, position_for(0.5, DT));
	POSITION(0.5, 0, position_for(0.5, DT));
	POSITION(0.3, -2, position_for(-0.5, DT));
}

TEST(without_velocity_limit_it_goes_on_accelerating)
{
	limits.velocity_rad_s = INFINITY;
	for (int i = 1; i <= 8; i++)
		POSITION(0.05 * i * (i + 1), i, position_for(9, DT));
}

TEST(without_both_it_is_the_target)
{
	const double targets[] = { 3, -2.7, 1e-3, 1e5 + 0.1, 0.3, 0.3 };

	limits = drv_ref_no_limits;
	for (size_t i = 0; i < COUNT(targets); i++) {
		double from = joint.last.position_rad;
		struct drv_ref_command c = position_for(targets[i], DT);

		TEST_ASSERT_TRUE(c.position_rad == targets[i]);
		TEST_ASSERT_EQUAL_DOUBLE((targets[i] - from) / DT, c.velocity_rad_s);
	}
}

TEST(reversal_brakes_first)
{
	for (int i = 0; i < 4; i++)
		position_for(9, DT);
	POSITION(0.8, 1, position_for(-9, DT));
	POSITION(0.8, 0, position_for(-9, DT));
	POSITION(0.7, -1, position_for(-9, DT));
	POSITION(0.5, -2, position_for(-9, DT));
}

/* A target that comes too near to stop at: past it, and back, within the limits. */
TEST(a_target_too_near_is_passed)
{
	for (int i = 0; i < 4; i++)
		position_for(9, DT);
	POSITION(0.8, 1, position_for(0.71, DT));
	POSITION(0.8, 0, position_for(0.71, DT));
	for (int i = 0; i < 10; i++)
		TEST_ASSERT_TRUE(position_for(0.71, DT).position_rad >= 0.71);
	POSITION(0.71, 0, position_for(0.71, DT));
}

TEST(a_moving_joint_is_met_moving)
{
	at_rad = 1;
	at_rad_s = -1.5;
	POSITION(0.95, -0.5, position_for(3, DT));
	at_rad = 77; /* it goes on from what was commanded */
	at_rad_s = 77;
	POSITION(1, 0.5, position_for(3, DT));
}

/* What is measured may be a glitch; what is commanded keeps to the limit from the first tick on. */
TEST(a_measured_velocity_beyond_the_limit_is_the_limit)
{
	at_rad_s = 50;
	POSITION(0.1, 1, position_for(-5, DT));
	drv_ref_forget(&joint);
	at_rad_s = -50;
	POSITION(-0.1, -1, position_for(5, DT));
	drv_ref_forget(&joint);
	POSITION(-0.2, -2, position_for(-5, DT));
}

TEST(a_narrowed_velocity_holds_at_once)
{
	for (int i = 0; i < 3; i++)
		position_for(9, DT);
	limits.velocity_rad_s = 0.5;
	POSITION(0.55, 0.5, position_for(9, DT));
	POSITION(0.6, 0.5, position_for(9, DT));
}

TEST(targets_are_held_to_the_position_limits)
{
	const double targets[] = { 0.5, -0.25 };

	limits.position_max_rad = 0.5;
	limits.position_min_rad = -0.25;
	for (size_t t = 0; t < COUNT(targets); t++) {
		for (int i = 0; i < 30; i++) {
			struct drv_ref_command c = position_for(targets[t] * 1e6, DT);

			TEST_ASSERT_TRUE(c.position_rad <= 0.5 && c.position_rad >= -0.25);
		}
		POSITION(targets[t], 0, position_for(targets[t] * 1e6, DT));
		TEST_ASSERT_TRUE(joint.last.position_rad == targets[t]);
		TEST_ASSERT_TRUE(joint.target_rad == targets[t]);
	}
}

TEST(from_outside_it_comes_back)
{
	limits.position_max_rad = 1;
	at_rad = 1.5;
	at_rad_s = 1; /* outwards: not a tick longer */
	POSITION(1.5, 0, position_for(3, DT));
	POSITION(1.4, -1, position_for(3, DT));
	for (int i = 0; i < 20; i++)
		position_for(3, DT);
	POSITION(1, 0, position_for(3, DT));

	setUp();
	limits.position_min_rad = -1;
	at_rad = -1.5;
	at_rad_s = -1;
	POSITION(-1.5, 0, position_for(-3, DT));
	POSITION(-1.4, 1, position_for(-3, DT));
	for (int i = 0; i < 20; i++)
		position_for(-3, DT);
	POSITION(-1, 0, position_for(-3, DT));
}

/* Too fast to brake for a limit that is suddenly near: it uses up the room and stands. */
TEST(a_position_limit_wins_over_acceleration)
{
	limits.acceleration_rad_s2 = 1;
	limits.position_max_rad = 0.25;
	at_rad_s = 2;
	POSITION(0.19, 1.9, position_for(-5, DT));
	POSITION(0.25, 0.6, position_for(-5, DT));
	POSITION(0.25, 0, position_for(-5, DT));
	POSITION(0.24, -0.1, position_for(-5, DT));

	setUp();
	limits.acceleration_rad_s2 = 1;
	limits.position_min_rad = -0.25;
	at_rad_s = -2;
	POSITION(-0.19, -1.9, position_for(5, DT));
	POSITION(-0.25, -0.6, position_for(5, DT));
	POSITION(-0.25, 0, position_for(5, DT));
}

TEST(a_target_moves_by_steps)
{
	limits.velocity_rad_s = limits.acceleration_rad_s2 = INFINITY;
	limits.step_rad = 0.5;
	at_rad = 1;
	POSITION(1.5, 5, position_for(9, DT));
	POSITION(2, 5, position_for(9, DT));
	POSITION(1.75, -2.5, position_for(1.75, DT));
	POSITION(1.25, -5, position_for(-9, DT));
	/* Outside the limits a target is still a step from the last one. */
	limits.position_max_rad = 0;
	POSITION(0.75, -5, position_for(-9, DT));
	/* After holding, from where it was held. */
	tick_for(NULL, DRV_REF_HOLD, DT);
	POSITION(0.25, -5, position_for(-9, DT));
	limits.step_rad = 0;
	POSITION(0.25, 0, position_for(-9, DT));

	/* Also when the target had been far ahead of it. */
	setUp();
	limits.step_rad = 0.5;
	for (int i = 0; i < 5; i++)
		position_for(9, DT);
	TEST_ASSERT_EQUAL_DOUBLE(2.5, joint.target_rad);
	POSITION(1, 1, tick_for(NULL, DRV_REF_HOLD, DT));
	position_for(9, DT);
	TEST_ASSERT_EQUAL_DOUBLE(1.5, joint.target_rad);
}

/* ---- velocity ---- */

TEST(velocity_changes_with_acceleration)
{
	VELOCITY(1, velocity_for(5, DT));
	VELOCITY(2, velocity_for(5, DT));
	VELOCITY(2, velocity_for(5, DT));
	VELOCITY(1.5, velocity_for(1.5, DT));
	VELOCITY(0.5, velocity_for(-5, DT));
	VELOCITY(-0.5, velocity_for(-5, DT));
	VELOCITY(-1.5, velocity_for(-5, DT));
	VELOCITY(-2, velocity_for(-5, DT));
	VELOCITY(-2, velocity_for(-5, DT));
	limits.velocity_rad_s = 0.5;
	VELOCITY(-0.5, velocity_for(-5, DT));
	limits.velocity_rad_s = limits.acceleration_rad_s2 = INFINITY;
	VELOCITY(7, velocity_for(7, DT));
	limits = drv_ref_no_limits;
	VELOCITY(-7000, velocity_for(-7000, DT));
}

TEST(velocity_begins_at_what_is_measured)
{
	at_rad_s = -0.75;
	VELOCITY(0.25, velocity_for(5, DT));
	VELOCITY(1.25, velocity_for(5, DT));
	drv_ref_forget(&joint);
	at_rad_s = 50;
	VELOCITY(1, velocity_for(-5, DT));
}

/* With 0.2 left 1.236068 can still be stopped, as in a_trapezoid. */
TEST(velocity_is_braked_for_a_position_limit)
{
	const double v = 2 * 0.2 / (0.1 + sqrt(0.01 + 2 * 0.2 / 10));

	at_rad_s = 2;
	at_rad = 9.8;
	VELOCITY(v, velocity_for(5, DT));
	at_rad = 10;
	VELOCITY(0, velocity_for(5, DT)); /* it has moved further than it should: nothing is left */
	at_rad = 10.5;
	VELOCITY(0, velocity_for(5, DT));
	VELOCITY(-1, velocity_for(-5, DT));
	VELOCITY(0, velocity_for(5, DT));

	setUp();
	at_rad_s = -2;
	at_rad = -9.8;
	VELOCITY(-v, velocity_for(-5, DT));
	at_rad = -10;
	VELOCITY(0, velocity_for(-5, DT));
	at_rad = -10.5;
	VELOCITY(0, velocity_for(-5, DT));
	VELOCITY(1, velocity_for(5, DT));
}

/* Too fast for the room: harder than the acceleration limit, but no more than so that the room is used up. */
TEST(velocity_never_leaves_the_limits)
{
	at_rad_s = 2;
	at_rad = 9.95;
	VELOCITY(0.5, velocity_for(2, 0.1));
	drv_ref_forget(&joint);
	at_rad_s = -2;
	at_rad = -9.95;
	VELOCITY(-0.5, velocity_for(-2, 0.1));
	drv_ref_forget(&joint);
	at_rad_s = 2;
	at_rad = 10.1;
	VELOCITY(0, velocity_for(2, 0.1));
}

/* ---- current ---- */

TEST(current_changes_with_its_slew)
{
	CURRENT(2, current_for(50, DT));
	CURRENT(4, current_for(50, DT));
	CURRENT(5, current_for(50, DT));
	CURRENT(5, current_for(50, DT));
	CURRENT(3, current_for(-50, DT));
	CURRENT(2.5, current_for(2.5, DT));
	CURRENT(0.5, current_for(-50, DT));
	CURRENT(-1.5, current_for(-50, DT));
	CURRENT(-3.5, current_for(-50, DT));
	CURRENT(-5, current_for(-50, DT));
	limits.current_a = 1; /* heat does not wait */
	CURRENT(-1, current_for(-50, DT));
	limits.current_slew_a_s = INFINITY;
	CURRENT(1, current_for(50, DT));
	limits.current_a = INFINITY;
	CURRENT(-50, current_for(-50, DT));
	limits.current_a = 0;
	CURRENT(0, current_for(50, DT));
}

TEST(current_begins_at_what_is_measured)
{
	at_a = -1.5;
	CURRENT(0.5, current_for(50, DT));
	CURRENT(2.5, current_for(50, DT));
	drv_ref_forget(&joint);
	at_a = 70;
	CURRENT(5, current_for(-50, DT));
}

TEST(current_never_pushes_outwards)
{
	at_a = 4;
	at_rad = 9.999;
	CURRENT(5, current_for(5, DT));
	at_rad = 10;
	CURRENT(0, current_for(5, DT));
	CURRENT(-2, current_for(-5, DT));
	at_rad = 11;
	CURRENT(0, current_for(5, DT));
	CURRENT(-2, current_for(-5, DT));
	at_rad = -9.999;
	CURRENT(-4, current_for(-5, DT));
	at_rad = -10;
	CURRENT(0, current_for(-5, DT));
	CURRENT(2, current_for(5, DT));
	at_rad = -11;
	CURRENT(0, current_for(-5, DT));
	CURRENT(2, current_for(5, DT));
	limits.position_min_rad = limits.position_max_rad = -11;
	CURRENT(0, current_for(5, DT));
	CURRENT(0, current_for(-5, DT));
}

/* 2 rad/s at the most, and 10 rad/s^2: 0.2 rad to stop from there. */
TEST(current_makes_nothing_too_fast)
{
	at_rad_s = 1.999;
	CURRENT(2, current_for(5, DT));
	at_rad_s = 2;
	CURRENT(0, current_for(5, DT));
	CURRENT(-2, current_for(-5, DT));
	at_rad_s = -1.999;
	CURRENT(-4, current_for(-5, DT));
	at_rad_s = -2;
	CURRENT(0, current_for(-5, DT));
	CURRENT(2, current_for(5, DT));
}

TEST(current_leaves_room_to_stop)
{
	at_rad_s = 1; /* 0.05 rad */
	at_rad = 9.949;
	CURRENT(2, current_for(5, DT));
	at_rad = 9.951;
	CURRENT(0, current_for(5, DT));
	at_rad_s = -1;
	CURRENT(2, current_for(5, DT));
	at_rad = -9.949;
	CURRENT(0, current_for(-5, DT));
	CURRENT(-2, current_for(-5, DT));
	at_rad = -9.951;
	CURRENT(0, current_for(-5, DT));
	limits.acceleration_rad_s2 = INFINITY;
	CURRENT(-2, current_for(-5, DT));
}

/* ---- safe actions ---- */

TEST(hold_brakes_and_stays)
{
	const struct drv_ref_want none = { MSG_MODE_NONE, 1, 1, 1 };

	for (int i = 0; i < 3; i++)
		position_for(9, DT);
	POSITION(0.6, 1, tick_for(NULL, DRV_REF_HOLD, DT));
	POSITION(0.6, 0, tick_for(&none, DRV_REF_HOLD, DT));
	at_rad = 0.3; /* it sags; held is what was commanded */
	POSITION(0.6, 0, tick_for(NULL, DRV_REF_HOLD, DT));
	POSITION(0.7, 1, position_for(9, DT)); /* no change of mode, so no new beginning */
}

TEST(hold_begins_at_what_is_measured)
{
	velocity_for(2, DT);
	VELOCITY(2, velocity_for(2, DT));
	at_rad = 3;
	at_rad_s = 1.5;
	POSITION(3.05, 0.5, tick_for(NULL, DRV_REF_HOLD, DT));
	POSITION(3.05, 0, tick_for(NULL, DRV_REF_HOLD, DT));
	drv_ref_forget(&joint);
	at_rad_s = -1.5;
	POSITION(2.95, -0.5, tick_for(NULL, DRV_REF_HOLD, DT));
}

/* Outside the limits it stays: no motion was requested. */
TEST(hold_outside_the_limits)
{
	at_rad = 12;
	at_rad_s = 1;
	POSITION(12, 0, tick_for(NULL, DRV_REF_HOLD, DT));
	POSITION(12, 0, tick_for(NULL, DRV_REF_HOLD, DT));
}

TEST(zero_is_at_once)
{
	const struct drv_ref_want none = { MSG_MODE_NONE, 1, 1, 1 };

	for (int i = 0; i < 3; i++)
		velocity_for(9, DT);
	VELOCITY(0, tick_for(NULL, DRV_REF_ZERO_VELOCITY, DT));
	VELOCITY(1, velocity_for(9, DT)); /* from there */
	VELOCITY(0, tick_for(&none, DRV_REF_ZERO_VELOCITY, 0));
	for (int i = 0; i < 3; i++)
		current_for(9, DT);
	CURRENT(0, tick_for(NULL, DRV_REF_ZERO_CURRENT, DT));
	CURRENT(2, current_for(9, DT));
	CURRENT(0, tick_for(&none, DRV_REF_ZERO_CURRENT, 0));
	position_for(9, DT);
	VELOCITY(0, tick_for(NULL, DRV_REF_ZERO_VELOCITY, DT));
	position_for(9, DT);
	CURRENT(0, tick_for(NULL, DRV_REF_ZERO_CURRENT, DT));
	TEST_ASSERT_EQUAL_STRING("hold", drv_ref_safe_words[DRV_REF_HOLD]);
	TEST_ASSERT_EQUAL_STRING("zero-velocity", drv_ref_safe_words[DRV_REF_ZERO_VELOCITY]);
	TEST_ASSERT_EQUAL_STRING("zero-current", drv_ref_safe_words[DRV_REF_ZERO_CURRENT]);
	TEST_ASSERT_NULL(drv_ref_safe_words[3]);
}

/* ---- beginnings ---- */

/* For drivers that make up for what a joint is behind its ramp: it is not behind the ramp before any more. */
TEST(a_beginning_is_flagged_once)
{
	TEST_ASSERT_TRUE(position_for(1, DT).begins);
	TEST_ASSERT_FALSE(position_for(1, DT).begins);
	TEST_ASSERT_FALSE(tick_for(NULL, DRV_REF_HOLD, DT).begins); /* the same ramp, to its end */
	TEST_ASSERT_TRUE(velocity_for(1, DT).begins);
	TEST_ASSERT_FALSE(velocity_for(1, DT).begins);
	TEST_ASSERT_TRUE(current_for(1, DT).begins);
	TEST_ASSERT_FALSE(current_for(1, DT).begins);
	TEST_ASSERT_TRUE(tick_for(NULL, DRV_REF_HOLD, DT).begins);
	drv_ref_forget(&joint);
	TEST_ASSERT_TRUE(tick_for(NULL, DRV_REF_HOLD, DT).begins);
	TEST_ASSERT_FALSE(tick_for(NULL, DRV_REF_HOLD, DT).begins);
	drv_ref_begin(&joint, 1, 0, 0); /* by hand: it has begun */
	TEST_ASSERT_FALSE(position_for(1, DT).begins);
	drv_ref_forget(&joint);
	at_rad = NAN;
	TEST_ASSERT_TRUE(tick_for(NULL, DRV_REF_HOLD, DT).begins);
	TEST_ASSERT_TRUE(tick_for(NULL, DRV_REF_HOLD, DT).begins); /* as long as the position is unknown */
}

TEST(every_change_of_mode_begins_at_the_measurement)
{
	position_for(9, DT);
	at_rad = 4;
	at_rad_s = 0.5;
	at_a = 1;
	VELOCITY(1.5, velocity_for(9, DT));
	CURRENT(3, current_for(9, DT));
	POSITION(4.15, 1.5, position_for(9, DT));
	TEST_ASSERT_EQUAL_DOUBLE(9, joint.target_rad);
	at_rad = 5;
	CURRENT(3, current_for(9, DT));
	VELOCITY(1.5, velocity_for(9, DT));
	POSITION(5.15, 1.5, position_for(9, DT));
}

TEST(begun_by_hand)
{
	drv_ref_begin(&joint, 3, 1, 2);
	TEST_ASSERT_TRUE(joint.begun);
	POSITION(3.2, 2, position_for(9, DT));
	drv_ref_begin(&joint, 3, 1, 2);
	VELOCITY(2, velocity_for(9, DT));
	drv_ref_begin(&joint, 3, 1, 2);
	CURRENT(4, current_for(9, DT));
	drv_ref_forget(&joint);
	TEST_ASSERT_FALSE(joint.begun);
	CURRENT(2, current_for(9, DT));
	/* Where a step begins, too. */
	limits.step_rad = 0.25;
	limits.velocity_rad_s = limits.acceleration_rad_s2 = INFINITY;
	drv_ref_begin(&joint, 3, 0, 0);
	POSITION(3.25, 2.5, position_for(9, DT));
}

TEST(a_stop_is_not_faster_than_the_last_command)
{
	static const struct {
		double last, measured, next;
	} cases[] = { { 2, 2.5, 1.5 }, { 2, 1.5, 1 }, { 2, -0.5, 0 }, { -2, -2.5, -1.5 }, { -2, 0.5, 0 } };

	limits.velocity_rad_s = 3;
	for (size_t i = 0; i < COUNT(cases); i++) {
		drv_ref_forget(&joint);
		at_rad = 0;
		at_rad_s = cases[i].last;
		VELOCITY(cases[i].last, velocity_for(cases[i].last, DT));
		at_rad = 4;
		at_rad_s = cases[i].measured;
		POSITION(4 + cases[i].next * DT / 2, cases[i].next, tick_for(NULL, DRV_REF_HOLD, DT / 2));
	}
}

/* ---- unknown values ---- */

TEST(hold_without_a_position_comes_to_rest)
{
	at_rad_s = 2;
	VELOCITY(2, velocity_for(2, DT));
	at_rad = NAN;
	VELOCITY(1, tick_for(NULL, DRV_REF_HOLD, DT));
	TEST_ASSERT_TRUE(drv_ref_begins(&joint, NULL, DRV_REF_HOLD));
	VELOCITY(0, position_for(9, DT)); /* nor does anybody know how far that is */
	VELOCITY(0, tick_for(NULL, DRV_REF_HOLD, DT));
	at_rad = 4;
	at_rad_s = 0.5; /* of some time ago */
	POSITION(4, 0, tick_for(NULL, DRV_REF_HOLD, DT));
	TEST_ASSERT_TRUE(joint.last.begins);
	TEST_ASSERT_FALSE(drv_ref_begins(&joint, NULL, DRV_REF_HOLD));
	/* A current says nothing of how fast it is. */
	CURRENT(2, current_for(5, DT));
	at_rad = NAN;
	VELOCITY(0, tick_for(NULL, DRV_REF_HOLD, DT / 2));
	/* Nor does a command before a time without commands. */
	at_rad = 4;
	velocity_for(2, DT);
	VELOCITY(2, velocity_for(2, DT));
	drv_ref_forget(&joint);
	at_rad = NAN;
	VELOCITY(0, tick_for(NULL, DRV_REF_HOLD, DT / 2));
}

static const double unknown[] = { NAN, INFINITY, -INFINITY, 1.000001e9, -1.000001e9, 1e300, DBL_MAX };

static void set_measured(int which, double value)
{
	at_rad = at_rad_s = at_a = 0;
	*(which == 0 ? &at_rad : which == 1 ? &at_rad_s : &at_a) = value;
}

TEST(a_module_that_never_answered)
{
	for (size_t u = 0; u < COUNT(unknown); u++)
		for (int which = 0; which < 3; which++) {
			setUp();
			set_measured(which, unknown[u]);
			VELOCITY(0, position_for(9, DT)); /* hold without a position */
			TEST_ASSERT_FALSE(joint.begun);
			VELOCITY(0, velocity_for(9, DT));
			VELOCITY(0, current_for(9, DT));
			VELOCITY(0, tick_for(NULL, DRV_REF_HOLD, DT));
			TEST_ASSERT_FALSE(joint.begun);
			VELOCITY(0, tick_for(NULL, DRV_REF_ZERO_VELOCITY, DT));
			CURRENT(0, tick_for(NULL, DRV_REF_ZERO_CURRENT, DT));
			drv_ref_begin(&joint, at_rad, at_rad_s, at_a);
			TEST_ASSERT_FALSE(joint.begun);
			VELOCITY(0, position_for(9, DT));
			at_rad = 2; /* now it does */
			at_rad_s = at_a = 0;
			POSITION(2.1, 1, position_for(9, DT));
			/* From the zero that was commanded, not from what it does by now. */
			setUp();
			set_measured(which, unknown[u]);
			VELOCITY(0, tick_for(NULL, DRV_REF_ZERO_VELOCITY, DT));
			at_rad = 0;
			at_rad_s = at_a = 1.5;
			VELOCITY(1, velocity_for(9, DT));
			set_measured(which, unknown[u]);
			CURRENT(0, tick_for(NULL, DRV_REF_ZERO_CURRENT, DT));
			at_rad = 0;
			at_rad_s = at_a = 1.5;
			CURRENT(2, current_for(9, DT));
		}
}

TEST(a_module_that_stops_answering)
{
	for (size_t u = 0; u < COUNT(unknown); u++)
		for (int which = 0; which < 3; which++) {
			setUp();
			for (int i = 0; i < 3; i++)
				position_for(9, DT);
			set_measured(which, unknown[u]);
			POSITION(0.6, 1, position_for(9, DT));
			POSITION(0.6, 0, position_for(9, DT));
			set_measured(which, 0);
			velocity_for(9, DT);
			set_measured(which, unknown[u]);
			VELOCITY(0, tick_for(&(struct drv_ref_want){ MSG_MODE_VELOCITY, 0, 9, 0 },
					     DRV_REF_ZERO_VELOCITY, DT));
			VELOCITY(0, velocity_for(9, DT));
			CURRENT(0, tick_for(&(struct drv_ref_want){ MSG_MODE_CURRENT, 0, 0, 9 }, DRV_REF_ZERO_CURRENT,
					    DT));
		}
}

TEST(what_is_large_but_known)
{
	limits = drv_ref_no_limits;
	at_rad = -1e9;
	TEST_ASSERT_TRUE(position_for(0, DT).position_rad == 0);
	TEST_ASSERT_TRUE(position_for(1e300, DT).position_rad == 1e9);
	TEST_ASSERT_TRUE(position_for(-DBL_MAX, DT).position_rad == -1e9);
	TEST_ASSERT_TRUE(velocity_for(DBL_MAX, DT).velocity_rad_s == DBL_MAX);
	TEST_ASSERT_TRUE(current_for(-DBL_MAX, DT).current_a == -DBL_MAX);
}

TEST(a_wanted_value_that_is_not_finite_is_held)
{
	const double none[] = { NAN, INFINITY, -INFINITY };

	for (size_t i = 0; i < COUNT(none); i++) {
		setUp();
		at_rad = 2;
		POSITION(2, 0, position_for(none[i], DT));
		POSITION(2, 0, velocity_for(none[i], DT));
		POSITION(2, 0, current_for(none[i], DT));
	}
	POSITION(2, 0, tick_for(&(struct drv_ref_want){ (enum msg_mode)5, 9, 9, 9 }, DRV_REF_HOLD, DT));
	VELOCITY(0, tick_for(&(struct drv_ref_want){ (enum msg_mode)5, 9, 9, 9 }, DRV_REF_ZERO_VELOCITY, DT));
}

TEST(limits_that_cannot_be_kept)
{
	static const struct {
		size_t member;
		double value;
	} bad[] = {
		{ 0, 10.001 }, { 0, NAN }, { 1, -10.001 }, { 1, NAN }, { 2, -0.001 }, { 2, NAN }, { 3, 0 },  { 3, -1 },
		{ 3, NAN },    { 4, -1 },  { 4, NAN },	   { 5, 0 },   { 5, -1 },     { 5, NAN }, { 6, -1 }, { 6, NAN },
	};
	static const struct {
		size_t member;
		double value;
	} good[] = { { 0, 10 }, { 1, -10 }, { 2, 0 }, { 3, 1e-300 }, { 4, 0 }, { 5, 1e-300 }, { 6, 0 } };

	for (size_t i = 0; i < COUNT(bad); i++) {
		setUp();
		for (int n = 0; n < 3; n++)
			position_for(9, DT);
		((double *)&limits)[bad[i].member] = bad[i].value;
		POSITION(0.5, 0, position_for(9, DT)); /* at once, as nothing says how */
		POSITION(0.5, 0, current_for(1, DT));
		VELOCITY(0, tick_for(&(struct drv_ref_want){ MSG_MODE_CURRENT, 0, 0, 1 }, DRV_REF_ZERO_VELOCITY, DT));
		CURRENT(0, tick_for(&(struct drv_ref_want){ MSG_MODE_CURRENT, 0, 0, 1 }, DRV_REF_ZERO_CURRENT, DT));
	}
	/* Odd, but they can: the wanted mode is commanded. */
	for (size_t i = 0; i < COUNT(good); i++) {
		setUp();
		((double *)&limits)[good[i].member] = good[i].value;
		TEST_ASSERT_EQUAL(MSG_MODE_CURRENT, current_for(1, DT).mode);
		TEST_ASSERT_EQUAL(MSG_MODE_VELOCITY, velocity_for(1, DT).mode);
	}
}

/* ---- ticks ---- */

TEST(no_time_no_change)
{
	const double none[] = { 0, -0.0, -1, NAN, -INFINITY, 0.99e-9 };

	for (int unlimited = 0; unlimited < 2; unlimited++)
		for (size_t i = 0; i < COUNT(none); i++) {
			setUp();
			if (unlimited)
				limits.velocity_rad_s = limits.acceleration_rad_s2 = limits.current_slew_a_s = INFINITY;
			drv_ref_begin(&joint, 1, 0.5, 2);
			POSITION(1, 0.5, position_for(9, none[i]));
			POSITION(1, 0.5, position_for(-9, none[i]));
			POSITION(1, 0.5, position_for(1, none[i]));
			POSITION(1, 0.5, tick_for(NULL, DRV_REF_HOLD, none[i]));
			drv_ref_begin(&joint, 1, 0.5, 2);
			VELOCITY(0.5, velocity_for(9, none[i]));
			VELOCITY(0.5, velocity_for(-9, none[i]));
			drv_ref_begin(&joint, 1, 0.5, 2);
			CURRENT(2, current_for(9, none[i]));
			CURRENT(2, current_for(-9, none[i]));
			/* But outwards is outwards. */
			at_rad = 10;
			CURRENT(0, current_for(9, none[i]));
		}
	/* The shortest that counts. */
	limits = drv_ref_no_limits;
	drv_ref_begin(&joint, 0, 0, 0);
	TEST_ASSERT_TRUE(position_for(1e-3, 1e-9).position_rad == 1e-3);
	/* No room and no time. */
	setUp();
	at_rad = 10;
	at_rad_s = 1;
	VELOCITY(0, velocity_for(1, 0));
	POSITION(10, 0, position_for(20, 0));
}

/* A driver that was stopped for a while comes back with no more than a tick of 0.2 s. */
TEST(long_ticks_count_as_the_longest)
{
	const double longs[] = { 0.2, 0.21, 5, 1e300, INFINITY };

	for (size_t i = 0; i < COUNT(longs); i++) {
		setUp();
		limits.acceleration_rad_s2 = 5;
		POSITION(0.2, 1, position_for(9, longs[i]));
		POSITION(0.6, 2, position_for(9, longs[i]));
		VELOCITY(1, velocity_for(9, longs[i]));
		CURRENT(4, current_for(9, longs[i]));
	}
	TEST_ASSERT_EQUAL_DOUBLE(0.2, DRV_REF_TICK_MAX_S);
	setUp();
	limits.acceleration_rad_s2 = 5;
	POSITION(0.18050, 0.95, position_for(9, 0.19));
}

/* Rounding leaves the ramp a little beside the target: within 1e-12 it is there, a hundred times that it is not. */
TEST(there_is_there)
{
	drv_ref_begin(&joint, 1, 0, 0);
	TEST_ASSERT_TRUE(position_for(1 + 9e-13, 0).position_rad == 1 + 9e-13);
	drv_ref_begin(&joint, 1, 0, 0);
	TEST_ASSERT_TRUE(position_for(1 + 1.2e-12, 0).position_rad == 1);
	drv_ref_begin(&joint, 1, 0, 0);
	TEST_ASSERT_TRUE(position_for(1 - 9e-13, 0).position_rad == 1 - 9e-13);
	drv_ref_begin(&joint, 1, 0, 0);
	TEST_ASSERT_TRUE(position_for(1 - 1.2e-12, 0).position_rad == 1);
	/* Far from 0 doubles are coarser. */
	limits = drv_ref_no_limits;
	drv_ref_begin(&joint, -1e8, 0, 0);
	TEST_ASSERT_TRUE(position_for(-1e8 - 1.5e-7, 0).position_rad == -1e8 - 1.5e-7);
	drv_ref_begin(&joint, -1e8, 0, 0);
	TEST_ASSERT_TRUE(position_for(-1e8 - 2e-7, 0).position_rad == -1e8);
}

/* ---- rest, and joints without a position ---- */

TEST(at_rest_a_ramp_has_ended)
{
	static const enum msg_mode modes[] = { MSG_MODE_VELOCITY, MSG_MODE_VELOCITY, MSG_MODE_CURRENT };

	for (int safe = DRV_REF_HOLD; safe <= DRV_REF_ZERO_CURRENT; safe++) {
		struct drv_ref_command command;

		joint.begun = true;
		command = drv_ref_rest(&joint, (enum drv_ref_safe)safe);
		check(modes[safe], 0, 0, 0, command);
		TEST_ASSERT_TRUE(command.begins && command.stops);
		TEST_ASSERT_FALSE(joint.begun);
	}
}

TEST(without_a_position_no_place_is_a_limit)
{
	for (int sign = -1; sign <= 1; sign += 2) {
		setUp();
		joint.no_position = true;
		limits.position_min_rad = -1e-3;
		limits.position_max_rad = 1e-3;
		at_rad = at_rad_s = NAN;
		VELOCITY(sign, velocity_for(sign * 2, DT));
		VELOCITY(sign * 2, velocity_for(sign * 2, DT));
		VELOCITY(sign, tick_for(NULL, DRV_REF_HOLD, DT));
	}
}

/* ---- compliant ---- */

static struct drv_ref_command compliant_for(double rad)
{
	return tick_for(&(struct drv_ref_want){ MSG_MODE_COMPLIANT, rad, NAN, NAN }, DRV_REF_HOLD, DT);
}

/* It is the place around which the joint gives way that goes to the reference, as one that is rigid does. */
TEST(the_rest_of_a_compliant_joint_is_ramped_as_a_position)
{
	struct drv_ref_joint rigid = { 0 };

	for (int i = 0; i < 20; i++) {
		const struct drv_ref_want want = { MSG_MODE_POSITION, 1, NAN, NAN };
		const struct drv_ref_command by = drv_ref_joint(&rigid, &limits, &want, DRV_REF_HOLD, 0, 0, 0, DT);

		check(MSG_MODE_COMPLIANT, by.position_rad, by.velocity_rad_s, 0, compliant_for(1));
		at_rad = -3; /* pushed away */
	}
	TEST_ASSERT_DOUBLE_WITHIN(NEAR, 1, joint.last.position_rad);
}

/* Rigid again, or left alone: from where it was pushed to, at the speed that it has. */
TEST(after_compliance_a_ramp_begins_at_what_is_measured)
{
	compliant_for(1);
	at_rad = -3;
	at_rad_s = 0.5;
	TEST_ASSERT_TRUE(position_for(1, DT).begins);
	POSITION(-3 + 0.15 + 0.2, 2, position_for(1, DT)); /* 1.5 rad/s in the first tick, then 2 */
	setUp();
	compliant_for(1);
	at_rad = -3;
	POSITION(-3, 0, tick_for(NULL, DRV_REF_HOLD, DT));
	setUp();
	joint.no_position = true; /* nothing to give way around */
	VELOCITY(0, compliant_for(1));
	joint.no_position = false;
	POSITION(0, 0, compliant_for(NAN));
}
