/* test_drv_ref_track.c: the command of a device that takes velocities. */
#include <math.h>

#include "test/lib/testcase.h"

#include "daemons/drv/drv_ref.h"

static struct drv_ref_track drive;
static struct drv_ref_joint joint;
static struct drv_ref_limits limits;
static struct drv_ref_at at;
static bool stops;

void setUp(void)
{
	memset(&drive, 0, sizeof(drive));
	limits = (struct drv_ref_limits){ -2, 2, 0.5, 2, 10, INFINITY, INFINITY };
	at = (struct drv_ref_at){ .fresh = true, .gain_1_s = 10, .dt_s = 0.005, .ahead_s = 0.005 };
	joint = (struct drv_ref_joint){ 0 };
	stops = false;
}

/* The ramp is at rad now, and goes on with rad_s; its target is far ahead. */
static struct drv_ref_command position(double rad, double rad_s)
{
	joint.target_rad = rad_s > 0 ? 100 : rad_s < 0 ? -100 : rad;
	return (struct drv_ref_command){ .mode = MSG_MODE_POSITION,
					 .position_rad = rad + rad_s * at.dt_s,
					 .velocity_rad_s = rad_s };
}

static double go(struct drv_ref_command command)
{
	command.stops = stops;
	return drv_ref_track(&drive, &joint, &command, &limits, &at);
}

TEST(a_velocity_goes_as_it_is)
{
	at.velocity_rad_s = 0.245;
	TEST_ASSERT_EQUAL_DOUBLE(0.25,
				 go((struct drv_ref_command){ .mode = MSG_MODE_VELOCITY, .velocity_rad_s = 0.25 }));
}

/* What follows a current begins at what is measured by then, within the velocity limit. */
TEST(a_current_is_not_a_velocity)
{
	at.velocity_rad_s = 0.3;
	TEST_ASSERT_EQUAL_DOUBLE(0, go((struct drv_ref_command){ .mode = MSG_MODE_CURRENT, .current_a = -3 }));
	at.velocity_rad_s = 0.7;
	TEST_ASSERT_EQUAL_DOUBLE(0, go((struct drv_ref_command){ .mode = MSG_MODE_CURRENT, .current_a = -3 }));
	TEST_ASSERT_EQUAL_DOUBLE(0.5, drive.velocity_rad_s);
	stops = true;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.49, go(position(0, 0)));
}

TEST(a_compliant_joint_has_no_velocity)
{
	at.velocity_rad_s = 0.7;
	TEST_ASSERT_EQUAL_DOUBLE(0, go((struct drv_ref_command){
					    .mode = MSG_MODE_COMPLIANT, .position_rad = 1, .velocity_rad_s = 0.3 }));
	TEST_ASSERT_FALSE(drive.velocity_rad_s > 0.5);
	stops = true;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.49, go(position(0, 0))); /* from what is measured */
}

static double go_with(double rad_s)
{
	return go((struct drv_ref_command){ .mode = MSG_MODE_VELOCITY, .velocity_rad_s = rad_s });
}

/* After homing, or a time without a position, the lag from before has no meaning. */
TEST(a_ramp_that_begins_again_has_no_lag)
{
	struct drv_ref_command command = position(-0.7, 0);

	stops = true;
	TEST_ASSERT_EQUAL_DOUBLE(0, go(command)); /* begun 0.7 behind */
	command = position(0, 0);
	command.begins = true;
	TEST_ASSERT_EQUAL_DOUBLE(0, go(command));
	command.begins = false;
	for (int i = 0; i < 10; i++)
		TEST_ASSERT_EQUAL_DOUBLE(0, go(command));
	at.position_rad = -0.0001; /* and from then on it is made up for */
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.001, go(command));
}

/* The loop's ramp went on while the module was halted. */
TEST(a_velocity_is_met_without_a_step)
{
	TEST_ASSERT_EQUAL_DOUBLE(0.01, go_with(0.25));
	TEST_ASSERT_EQUAL_DOUBLE(0.02, go_with(0.25));
	TEST_ASSERT_EQUAL_DOUBLE(0.025, go_with(0.025));
	TEST_ASSERT_EQUAL_DOUBLE(-0.01, go_with(-0.25));
	TEST_ASSERT_EQUAL_DOUBLE(-0.02, go_with(-0.25));
	/* Braking is the ramp's own, which knows of the position limits. */
	drive.velocity_rad_s = 0.4;
	TEST_ASSERT_EQUAL_DOUBLE(0.1, go_with(0.1));
	TEST_ASSERT_EQUAL_DOUBLE(0, go_with(0));
	limits.acceleration_rad_s2 = INFINITY;
	TEST_ASSERT_EQUAL_DOUBLE(0.25, go_with(0.25));
	at.dt_s = 0; /* no time has passed, and infinity times 0 is NaN */
	TEST_ASSERT_EQUAL_DOUBLE(-0.25, go_with(-0.25));
}

TEST(a_stop_begins_at_the_measured_velocity)
{
	at.velocity_rad_s = 0.3;
	drive = (struct drv_ref_track){ .on = true };
	TEST_ASSERT_EQUAL_DOUBLE(0.01, go_with(0.25));
	TEST_ASSERT_EQUAL_DOUBLE(0.02, go_with(0.25));
	drive.on = false;
	TEST_ASSERT_EQUAL_DOUBLE(0.25, go_with(0.25));
	drive = (struct drv_ref_track){ .on = true };
	TEST_ASSERT_EQUAL_DOUBLE(-0.01, go(position(-1, -0.3)));
}

/* A joint behind its ramp, whose reference ends: it does not hurry. */
TEST(a_joint_that_has_to_stop_is_slower_at_once)
{
	double last;

	at.velocity_rad_s = 0.4;
	go(position(0, 0.4));
	last = go(position(0.05, 0.4));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.41, last);
	stops = true;
	last = go(position(0.052, 0.39));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.4, last);
	at.position_rad = 0.0019;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.39, go(position(0.0539, 0.38)));
	/* And it is not made up for any more. */
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.052, drive.bias_rad);
	/* However far it is behind, it brakes with its ramp; ahead, it brakes harder. */
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.385, go(position(0.0577, 0.385)));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.38, go(position(0.0614, 0.38)));
	at.position_rad = 1;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.37, go(position(0.0614, 0.375)));
	/* Once the ramp stands, a joint that is not where it should be is brought there. */
	at.position_rad = 0;
	drive.velocity_rad_s = 0;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.01, go(position(0.0614, 0)));
}

/* Without a position only the ramp's velocity counts. */
TEST(without_a_measurement_it_is_not_behind)
{
	at.velocity_rad_s = 0.2;
	go(position(0, 0.2));
	at.fresh = false;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.2, go(position(0.1, 0.2)));
	stops = true;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.19, go(position(0.2, 0.19)));
	drive.velocity_rad_s = 0.005;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, go(position(0.3, 0)));
}

TEST(nan_and_infinity_become_zero)
{
	TEST_ASSERT_EQUAL_DOUBLE(0, go_with(NAN));
	TEST_ASSERT_EQUAL_DOUBLE(0, go_with(INFINITY));
	TEST_ASSERT_EQUAL_DOUBLE(0, go(position(NAN, 0)));
	TEST_ASSERT_EQUAL_DOUBLE(0, go(position(0, NAN)));
	stops = true;
	TEST_ASSERT_EQUAL_DOUBLE(0, go(position(0, 0)));
	TEST_ASSERT_EQUAL_DOUBLE(0, go(position(NAN, 0)));
	drive = (struct drv_ref_track){ 0 };
	at.position_rad = at.velocity_rad_s = NAN;
	TEST_ASSERT_EQUAL_DOUBLE(0, go(position(1, 0)));
}

TEST(at_its_limit_it_goes_no_further)
{
	at.position_rad = 2;
	at.ahead_s = 0;
	TEST_ASSERT_EQUAL_DOUBLE(0, go(position(2, 0.3)));
}

/* What it was behind before it stood has no meaning afterwards. */
TEST(having_stood_it_makes_up_for_all)
{
	stops = true;
	TEST_ASSERT_EQUAL_DOUBLE(0, go(position(0.7, 0)));
	TEST_ASSERT_EQUAL_DOUBLE(0, drv_ref_track_stand(&drive, &limits, &at));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.01, go(position(0.7, 0)));
	drive = (struct drv_ref_track){ .followed = true }; /* long ago */
	TEST_ASSERT_EQUAL_DOUBLE(0, drv_ref_track_stand(&drive, &limits, &at));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.01, go(position(0.7, 0)));
}

TEST(having_followed_a_velocity_too)
{
	stops = true;
	TEST_ASSERT_EQUAL_DOUBLE(0, go(position(0.7, 0)));
	TEST_ASSERT_EQUAL_DOUBLE(0, go_with(0));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.01, go(position(0.7, 0)));
}

TEST(the_lag_fades_at_half_the_velocity_limit)
{
	limits.acceleration_rad_s2 = INFINITY;
	stops = true;
	TEST_ASSERT_EQUAL_DOUBLE(0, go(position(0.7, 0)));
	stops = false;
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 10 * 0.5 * 0.005 / 2, go(position(0.7, 0)));
}

TEST(a_single_place_is_gone_to)
{
	limits.position_min_rad = limits.position_max_rad = 1;
	at.position_rad = 0.9;
	drive = (struct drv_ref_track){ .on = true };
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.01, go(position(1, 0)));
}

TEST(without_a_measured_velocity_it_begins_at_rest)
{
	at.velocity_rad_s = NAN;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.01, go_with(0.4));
}

TEST(a_velocity_limit_below_zero_makes_it_stand)
{
	drive = (struct drv_ref_track){ .on = true };
	limits.velocity_rad_s = -0.5;
	TEST_ASSERT_EQUAL_DOUBLE(0, go_with(0.4));
	TEST_ASSERT_EQUAL_DOUBLE(0, go(position(1, 0.4)));
}

/* An ideal joint, one tick late. */
TEST(a_ramp_is_followed_within_the_limits)
{
	double ramp = 0, ramp_v = 0, last = 0, most_v = 0, most_a = 0, delayed = 0;

	for (int i = 0; i < 2000; i++) {
		double v;

		ramp_v = i < 50 ? ramp_v + 2 * 0.005 : i >= 250 && ramp_v > 0 ? ramp_v - 2 * 0.005 : ramp_v;
		ramp_v = fmin(fmax(ramp_v, 0), 0.4);
		v = go(position(ramp, ramp_v));
		ramp += ramp_v * 0.005;
		most_v = fmax(most_v, fabs(v));
		most_a = fmax(most_a, fabs(v - last) / 0.005);
		last = v;
		at.position_rad += delayed * 0.005;
		at.velocity_rad_s = delayed;
		delayed = v;
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, ramp, at.position_rad);
	TEST_ASSERT_TRUE(most_v <= 0.5);
	TEST_ASSERT_TRUE(most_v > 0.39);
	TEST_ASSERT_TRUE(most_a <= 2 + 1e-9);
}

TEST(no_limit_is_left)
{
	drive = (struct drv_ref_track){ .on = true, .velocity_rad_s = 0.5 };
	TEST_ASSERT_EQUAL_DOUBLE(0.5, go(position(1, 0.5))); /* 10 rad/s wanted */
	drive.velocity_rad_s = -0.5;
	TEST_ASSERT_EQUAL_DOUBLE(-0.5, go(position(-1, -0.5)));

	/* Near the end it is so slow that it can stop: v dt + v^2 / 2a is the room. */
	at.position_rad = 2 - 0.01;
	drive.velocity_rad_s = 0.5;
	TEST_ASSERT_DOUBLE_WITHIN(1e-8, 0.19024984, go(position(3, 0.5)));
	at.position_rad = -2 + 0.01;
	drive.velocity_rad_s = -0.5;
	TEST_ASSERT_TRUE(go(position(-3, -0.5)) > -0.2);

	/* Beyond it, inwards only. */
	at.position_rad = 2.1;
	drive.velocity_rad_s = 0;
	TEST_ASSERT_EQUAL_DOUBLE(0, go(position(3, 0.5)));
	TEST_ASSERT_EQUAL_DOUBLE(-0.01, go(position(1, 0)));
}

TEST(a_ramp_that_ran_on_alone_is_not_made_up_for_while_holding)
{
	stops = true;
	at.position_rad = 1;
	TEST_ASSERT_EQUAL_DOUBLE(0, go(position(0.5, 0)));
	at.position_rad = 0.99; /* pushed: that is made up for */
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.01, go(position(0.5, 0)));
}

TEST(it_is_made_up_for_slowly_when_a_reference_is_followed)
{
	double least = 0;
	unsigned int ticks;

	at.position_rad = 1;
	for (ticks = 0; fabs(at.position_rad - 0.5) > 1e-3 && ticks < 2000; ticks++) {
		double v = go(position(0.5, 0));

		least = fmin(least, v);
		at.position_rad += v * 0.005;
		at.velocity_rad_s = v;
	}
	TEST_ASSERT_TRUE(ticks < 2000);
	TEST_ASSERT_TRUE(least > -0.3); /* half of the velocity limit, and the loop's own */
}

TEST(a_drive_that_was_off_begins_at_the_measured_velocity)
{
	drive = (struct drv_ref_track){ .on = true, .velocity_rad_s = -0.5 };
	drive.on = false;
	at.velocity_rad_s = 0.4;
	stops = true;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.4 - 0.01, go(position(0, 0)));
}

TEST(standing_is_a_ramp_too)
{
	at.velocity_rad_s = 0.025;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.015, (drv_ref_track_stand(&drive, &limits, &at)));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.005, (drv_ref_track_stand(&drive, &limits, &at)));
	TEST_ASSERT_EQUAL_DOUBLE(0, (drv_ref_track_stand(&drive, &limits, &at)));
	limits.acceleration_rad_s2 = INFINITY;
	drive.velocity_rad_s = 0.5;
	TEST_ASSERT_EQUAL_DOUBLE(0, (drv_ref_track_stand(&drive, &limits, &at)));
}

TEST(limits_that_contradict_each_other_make_it_stand)
{
	limits.position_min_rad = 3;
	drive = (struct drv_ref_track){ .on = true, .velocity_rad_s = 0.02 };
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.01, go(position(3, 0.5)));
	TEST_ASSERT_EQUAL_DOUBLE(0, go((struct drv_ref_command){ .mode = MSG_MODE_VELOCITY, .velocity_rad_s = 0.5 }));
	limits.position_min_rad = -2;
	drive.velocity_rad_s = 0.02;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.01, go((struct drv_ref_command){ .mode = MSG_MODE_NONE }));
}

/* A joint that was held back while its ramp went on and arrived: it catches up and stops there, whatever the gain, the
 * distance and the length of the ticks. */
TEST(held_back_it_does_not_go_beyond_its_target)
{
	static const double gains[] = { 1, 10, 50, 200 }, distances[] = { 0.01, 0.2, 1, -1.5 };

	for (int g = 0; g < 4; g++)
		for (int d = 0; d < 4; d++) {
			const double to = distances[d];
			double at_most = 0, last = 0;

			drive = (struct drv_ref_track){ .on = true, .followed = true };
			at.position_rad = at.velocity_rad_s = 0;
			at.gain_1_s = gains[g];
			for (int i = 0; i < 8000; i++) {
				double v;

				at.dt_s = i % 3 ? 0.005 : 0.0025;
				v = go(position(to, 0));
				TEST_ASSERT_TRUE(fabs(v) <= 0.5);
				TEST_ASSERT_TRUE(fabs(v - last) <= 2 * at.dt_s + 1e-12);
				last = v;
				at.position_rad += v * ((i + 1) % 3 ? 0.005 : 0.0025);
				at.velocity_rad_s = v;
				at_most = fmax(at_most, copysign(1, to) * at.position_rad);
			}
			TEST_ASSERT_DOUBLE_WITHIN(1e-4, to, at.position_rad);
			TEST_ASSERT_TRUE(at_most <= fabs(to) + 1e-9);
		}
}

/* Ticks on references that come twice in a period. */
TEST(limits_are_kept_by_the_time_that_has_passed)
{
	double last = 0;

	drive = (struct drv_ref_track){ .on = true };
	at.dt_s = 0.0025;
	for (int i = 0; i < 200; i++) {
		const double v = go(position(1, 0.4));

		TEST_ASSERT_TRUE(fabs(v - last) <= 2 * 0.0025 + 1e-12);
		TEST_ASSERT_TRUE(fabs(v) <= 0.5);
		last = v;
	}
}

/* Measured faster than it may be, or its limit narrowed: no command is beyond, not even while it brakes. */
TEST(no_command_is_beyond_the_velocity_limit)
{
	at.velocity_rad_s = 0.7;
	stops = true;
	TEST_ASSERT_TRUE(go(position(0, 0.5)) <= 0.5);
	drive = (struct drv_ref_track){ .on = true, .velocity_rad_s = 0.5 };
	limits.velocity_rad_s = 0.2;
	TEST_ASSERT_EQUAL_DOUBLE(0.2, go(position(0, 0.5)));
	drive.velocity_rad_s = 0.5;
	TEST_ASSERT_EQUAL_DOUBLE(0.2, drv_ref_track_stand(&drive, &limits, &at));
	drive = (struct drv_ref_track){ .on = true, .velocity_rad_s = -0.5 };
	TEST_ASSERT_EQUAL_DOUBLE(-0.2, go_with(-0.5));
}

TEST(without_limits_it_is_the_plain_loop)
{
	limits = drv_ref_no_limits;
	drive = (struct drv_ref_track){ .on = true };
	at.position_rad = -1;
	TEST_ASSERT_EQUAL_DOUBLE(10.25, go(position(0, 0.25)));
	at.fresh = false;
	TEST_ASSERT_EQUAL_DOUBLE(0.25, go(position(0, 0.25)));
}
