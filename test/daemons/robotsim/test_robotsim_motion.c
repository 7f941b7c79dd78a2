/* test_robotsim_motion.c: how the joint of a simulated module moves: profiles, limits of velocity, acceleration and
 * current, friction, gravity, pushes. */
#include <math.h>

#include "test/lib/testcase.h"

#include "test/daemons/robotsim/robotsim_desk.h"

#define FULL PCUBE_CONFIG_FULL_CURRENT
#define RAMP (PCUBE_RAMP_UP | PCUBE_RAMP_STEADY | PCUBE_RAMP_DOWN)

void setUp(void)
{
	desk_is("home: 1");
}

/* Largest figures of a motion, watched in every step. */
struct figures {
	double velocity, acceleration, current, position, error;
};

static struct figures watch(int64_t ns)
{
	struct figures f = { 0 };
	double before;

	desk_pass(0);
	before = desk.joint.velocity;
	f.position = -1e9;
	for (int64_t t_ns = 0; t_ns < ns; t_ns += PCUBE_STEP_NS) {
		desk_pass(PCUBE_STEP_NS);
		f.velocity = fmax(f.velocity, fabs(desk.joint.velocity));
		f.acceleration = fmax(f.acceleration, fabs(desk.joint.velocity - before) / (PCUBE_STEP_NS * 1e-9));
		f.current = fmax(f.current, fabs(desk.joint.current));
		f.position = fmax(f.position, desk.joint.position);
		f.error = fmax(f.error, fabs(desk.motion.position - desk.joint.position));
		before = desk.joint.velocity;
	}
	return f;
}

/* ---- profiles ---- */

TEST(test_velocity)
{
	struct figures f;

	desk_move(17, 0.25f);
	f = watch(1000 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.25, desk.joint.velocity);
	TEST_ASSERT_DOUBLE_WITHIN(0.2, 1.745, f.acceleration); /* max-acceleration, and it is used */
	TEST_ASSERT_TRUE(f.velocity < 0.2525);
	TEST_ASSERT_TRUE(f.error < 0.01);
	TEST_ASSERT_EQUAL_HEX32(PCUBE_RAMP_STEADY | PCUBE_MOVING,
				desk_state() & (PCUBE_RAMP_UP | PCUBE_RAMP_STEADY | PCUBE_RAMP_DOWN | PCUBE_RAMP_END |
						PCUBE_MOVING));
	/* 0.25 rad/s in 143 ms, then steady */
	TEST_ASSERT_DOUBLE_WITHIN(3e-3, 0.25 * (1 - 0.0716), desk.joint.position);
	desk_move(17, 0);
	desk_pass(MS);
	TEST_ASSERT_EQUAL_HEX32(PCUBE_RAMP_DOWN, desk_state() & (PCUBE_RAMP_UP | PCUBE_RAMP_STEADY | PCUBE_RAMP_DOWN));
	desk_until(PCUBE_MOVING | PCUBE_RAMP_END, PCUBE_RAMP_END);
	TEST_ASSERT_EQUAL_HEX32(0, desk_state() & PCUBE_BRAKE); /* it stands, and is held */
	desk_move(17, -0.25f);
	desk_pass(MS);
	TEST_ASSERT_EQUAL_HEX32(PCUBE_RAMP_UP, desk_state() & (PCUBE_RAMP_UP | PCUBE_RAMP_STEADY | PCUBE_RAMP_DOWN));
	desk_pass(500 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, -0.25, desk.joint.velocity);
}

TEST(test_velocity_is_limited)
{
	desk_move(17, 5);
	TEST_ASSERT_TRUE(watch(1000 * MS).velocity < 0.44);
	TEST_ASSERT_FLOAT_WITHIN(1e-3, 0.4363f, desk_real(0x41));
	desk_set_real(0x48, 0.1f);
	desk_pass(500 * MS);
	TEST_ASSERT_FLOAT_WITHIN(1e-3, 0.1f, desk_real(0x41));
	desk_set_real(0x4A, 0.1f);
	desk_move(17, -0.1f);
	TEST_ASSERT_DOUBLE_WITHIN(0.02, 0.1, watch(1000 * MS).acceleration);
}

TEST(test_ramp)
{
	struct figures f;

	desk_is("position: -0.5, home: 1");
	desk_set_real(0x4F, 0.2f);
	desk_set_real(0x50, 0.5f);
	desk_move(14, 0.5f);
	TEST_ASSERT_EQUAL_FLOAT(0.5f, desk_real(0x4E));
	desk_pass(100 * MS);
	TEST_ASSERT_EQUAL_HEX32(PCUBE_RAMP_UP, desk_state() & RAMP);
	f = watch(3000 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.2, f.velocity);
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 0.5, f.acceleration);
	/* 1 rad at 0.2 rad/s with 0.5 rad/s^2 at both ends: 5.4 s */
	TEST_ASSERT_EQUAL_HEX32(PCUBE_MOVING | PCUBE_RAMP_STEADY, desk_state() & (PCUBE_MOVING | RAMP));
	f = watch(2200 * MS);
	TEST_ASSERT_EQUAL_HEX32(PCUBE_MOVING | PCUBE_RAMP_DOWN, desk_state() & (PCUBE_MOVING | RAMP));
	f = watch(400 * MS);
	TEST_ASSERT_EQUAL_HEX32(PCUBE_RAMP_END, desk_state() & (PCUBE_MOVING | PCUBE_RAMP_END));
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.5, desk.joint.position);
	TEST_ASSERT_TRUE(f.position < 0.502);
}

/* To and fro, and a new target on the way: it ends where the last one said. */
TEST(test_ramp_replaced)
{
	desk_move(4, 1);
	desk_pass(1500 * MS);
	desk_move(4, -0.25f);
	desk_until(PCUBE_MOVING, 0);
	desk_pass(300 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, -0.25, desk.joint.position);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, desk.joint.velocity);
}

TEST(test_ramp_shorter_than_its_brake_path)
{
	desk_move(4, 0.001f);
	desk_until(PCUBE_MOVING, 0);
	desk_pass(300 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(5e-4, 0.001, desk.joint.position);
}

TEST(test_steps)
{
	desk_hear("0EF#0B06CDCC4C3DF401"); /* 0.05 in 500 ms */
	desk_pass(250 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(2e-3, 0.025, desk.joint.position);
	TEST_ASSERT_EQUAL_HEX32(PCUBE_STEPPING, desk_state() & (PCUBE_STEPPING | PCUBE_STEPS_FULL | RAMP));
	desk_hear("0EF#0B06000000006400"); /* back in 100 ms */
	TEST_ASSERT_EQUAL_HEX32(PCUBE_STEPPING | PCUBE_STEPS_FULL, desk_state() & (PCUBE_STEPPING | PCUBE_STEPS_FULL));
	desk_hear("0EF#0B06CDCCCC3DF401"); /* 0.1 in 500 ms takes its place */
	desk_pass(251 * MS);
	TEST_ASSERT_EQUAL_HEX32(PCUBE_STEPPING, desk_state() & (PCUBE_STEPPING | PCUBE_STEPS_FULL));
	TEST_ASSERT_DOUBLE_WITHIN(2e-3, 0.05, desk.joint.position);
	desk_pass(800 * MS);
	TEST_ASSERT_EQUAL_HEX32(0, desk_state() & (PCUBE_STEPPING | PCUBE_MOVING));
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.1, desk.joint.position);
}

TEST(test_a_step_that_is_too_far_takes_longer)
{
	desk_hear("0EF#0B060000003F0A00"); /* 0.5 in 10 ms */
	TEST_ASSERT_TRUE(watch(500 * MS).velocity < 0.55);
	desk_pass(1500 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.5, desk.joint.position);
}

TEST(test_in_ticks)
{
	const double ticks_per_rad = (double)desk_real(0x3B);

	TEST_ASSERT_DOUBLE_WITHIN(1, 596 * 2000 / 6.283185307, ticks_per_rad);
	desk_ask("0EF#0B0910270000"); /* a ramp to 10000 */
	desk_until(PCUBE_MOVING, 0);
	desk_pass(300 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 10000 / ticks_per_rad, desk.joint.position);
	desk_ask("0EF#0B0DFA000000"); /* a current of 250: half of the peak, held to the nominal one */
	desk_pass(MS);
	TEST_ASSERT_EQUAL_FLOAT(5, desk_real(0x4D));
}

TEST(test_found_moving)
{
	desk_is("moving: 0.2, home: 1, config: 0x18");
	TEST_ASSERT_EQUAL_HEX32(PCUBE_MOVING | PCUBE_HOMED,
				desk_state() & (PCUBE_MOVING | PCUBE_HOMED | PCUBE_BRAKE | PCUBE_RAMP_END));
	desk_pass(1000 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(2e-3, 0.2, desk.joint.position);
	desk_move(17, 0);
	desk_until(PCUBE_MOVING, 0);
}

/* ---- current ---- */

TEST(test_current_is_limited)
{
	desk.jammed = true;
	desk_move(18, 8);
	desk_pass(MS);
	TEST_ASSERT_EQUAL_FLOAT(5, desk_real(0x4D));
	TEST_ASSERT_TRUE(desk_state() & PCUBE_CURRENT_LIMIT);
	desk_set_config(0x118 | FULL);
	desk_pass(MS);
	TEST_ASSERT_EQUAL_FLOAT(8, desk_real(0x4D));
	TEST_ASSERT_FALSE(desk_state() & PCUBE_CURRENT_LIMIT);
	desk_set_real(0x4C, 3);
	desk_pass(MS);
	TEST_ASSERT_EQUAL_FLOAT(3, desk_real(0x4D));
	desk_move(18, -8);
	desk_pass(MS);
	TEST_ASSERT_EQUAL_FLOAT(-3, desk_real(0x4D));
	TEST_ASSERT_EQUAL_STRING("0AF#0A356AFF", desk_ask("0CF#0A35")); /* -150 of 500 */
}

/* Torque over inertia, and the end of it where the supply does not suffice any more. */
TEST(test_current_accelerates)
{
	double torque_nm;

	desk_move(18, 0.5f);
	desk_pass(20 * MS);
	torque_nm = 0.5 * 37.2 - 0.03 * 216;
	TEST_ASSERT_DOUBLE_WITHIN(0.002, torque_nm / 12 * 0.02, desk.joint.velocity);
	desk_pass(1000 * MS);
	TEST_ASSERT_TRUE(desk.joint.velocity > 0.3 && desk.joint.velocity < 0.53);
	desk_move(18, 0);
	desk_pass(2000 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.joint.velocity); /* friction */
}

TEST(test_current_does_not_run_away)
{
	desk_is("limits: [-60, 60], home: 1");
	desk_move(18, 5);
	desk_pass(5000 * MS);
	TEST_ASSERT_TRUE(desk.joint.velocity > 0.44 && desk.joint.velocity < 0.52);
	desk_move(18, -5);
	desk_pass(5000 * MS);
	TEST_ASSERT_TRUE(desk.joint.velocity < -0.44 && desk.joint.velocity > -0.52);
}

TEST(test_a_limit_that_is_over_is_not_shown)
{
	desk.jammed = true;
	desk_move(18, 8);
	desk_pass(MS);
	TEST_ASSERT_TRUE(desk_state() & PCUBE_CURRENT_LIMIT);
	desk_ask("0EF#02");
	desk_until(PCUBE_BRAKE, PCUBE_BRAKE);
	desk_pass(MS);
	TEST_ASSERT_FALSE(desk_state() & PCUBE_CURRENT_LIMIT);
}

TEST(test_current_below_friction_moves_nothing)
{
	desk_move(18, 0.1f);
	desk_pass(1000 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.joint.position);
	desk_move(18, 0.2f);
	desk_pass(1000 * MS);
	TEST_ASSERT_TRUE(desk.joint.position > 0.01);
}

TEST(test_heavy_load)
{
	/* 500 kg m^2 with 1.745 rad/s^2 need 870 N m; the nominal current gives 186 */
	desk_is("inertia: 500, following_error: 10, home: 1");
	desk_move(17, 0.4f);
	desk_pass(100 * MS);
	TEST_ASSERT_TRUE(desk_state() & PCUBE_CURRENT_LIMIT);
	TEST_ASSERT_TRUE(desk.joint.velocity < 0.1);
	desk_is("inertia: 500, home: 1");
	desk_move(17, 0.4f);
	desk_until(PCUBE_TOW_ERROR, PCUBE_TOW_ERROR);
}

/* ---- from outside ---- */

TEST(test_gravity_is_held)
{
	struct figures f;

	desk_is("gravity: 100, position: 1, home: 0, config: 0");
	f = watch(1000 * MS);
	TEST_ASSERT_TRUE(f.error < 0.01);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1, desk.joint.position);
	TEST_ASSERT_DOUBLE_WITHIN(0.3, 100 * sin(1) / 37.2, desk.joint.current);
}

TEST(test_push)
{
	struct figures f;

	desk_move(17, 0);
	pcube_push(&desk, 100, 200 * MS, desk_now_ns);
	f = watch(200 * MS);
	TEST_ASSERT_TRUE(f.position > 1e-4 && f.position < 0.05);
	TEST_ASSERT_TRUE(f.current > 1);
	desk_pass(1000 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0, desk.joint.position);
	/* more than it can hold */
	pcube_push(&desk, -1000, 1000 * MS, desk_now_ns);
	desk_until(PCUBE_TOW_ERROR, PCUBE_TOW_ERROR);
	TEST_ASSERT_TRUE(desk.joint.position < -0.09);
}

TEST(test_push_against_the_brake)
{
	pcube_push(&desk, 500, 1000 * MS, desk_now_ns);
	desk_pass(2000 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, desk.joint.position);
	pcube_push(&desk, 700, 100 * MS, desk_now_ns);
	desk_pass(2000 * MS);
	TEST_ASSERT_TRUE(desk.joint.position > 0.001); /* it slips */
}

TEST(test_every_type_follows)
{
	static const char *const types[] = { "PRL120", "PRL100", "PRL80", "PRL60", "LWA3" };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		char settings[64];
		struct figures f;

		snprintf(settings, sizeof(settings), "type: %s, home: 1", types[i]);
		desk_is(settings);
		TEST_ASSERT_EQUAL_STRING(types[i], desk.type->name);
		desk_move(17, desk_real(0x48));
		f = watch(1000 * MS);
		TEST_ASSERT_TRUE_MESSAGE(f.error < 0.02, types[i]);
		TEST_ASSERT_TRUE_MESSAGE(f.current < desk.type->current_a, types[i]);
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(2e-3, desk.type->velocity, desk.joint.velocity, types[i]);
	}
}

TEST(test_what_it_measures)
{
	desk_move(17, 0.25f);
	desk_pass(1000 * MS);
	TEST_ASSERT_FLOAT_WITHIN(1e-5, (float)desk.joint.position, desk_real(0x3C));
	TEST_ASSERT_EQUAL_FLOAT((float)desk.joint.current, desk_real(0x4D));
	TEST_ASSERT_FLOAT_WITHIN(1e-4, 0.25f, desk_real(0x42));
	TEST_ASSERT_FLOAT_WITHIN(1e-3, desk_real(0x3C), desk_real(0x3E));
	TEST_ASSERT_FLOAT_WITHIN(1e-3, 0, desk_real(0x3F));
	TEST_ASSERT_FLOAT_WITHIN(0.05f, 0.25f * desk_real(0x4D) * 37.2f / 24, desk_real(0x70));
}

TEST(test_noise)
{
	double least = 1, most = -1;

	desk_is("noise: 0.01, position: 0.5, home: 1");
	for (int i = 0; i < 200; i++) {
		const double error = (double)desk_real(0x3C) - 0.5;

		least = fmin(least, error);
		most = fmax(most, error);
		desk_pass(MS);
	}
	TEST_ASSERT_TRUE(least > -0.0101 && least < -0.008 && most > 0.008 && most < 0.0101);
	TEST_ASSERT_EQUAL_DOUBLE(0.5, desk.joint.position);
}

static int32_t count(uint8_t parameter)
{
	const float bits = desk_real(parameter);
	int32_t value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* What a module calls a place is not where the joint's own zero says it is; velocities know no zero. */
TEST(test_readings_and_the_zero)
{
	double ticks;

	desk_is("position: 0.5, home: 1, home_offset: 0.25"); /* it believes -0.25 */
	ticks = (double)desk_real(0x3B);
	TEST_ASSERT_FLOAT_WITHIN(1e-5, -0.25f, desk_real(0x3C));
	TEST_ASSERT_FLOAT_WITHIN(1e-5, -0.25f, desk_real(0x3E));
	TEST_ASSERT_INT32_WITHIN(2, (int32_t)(-0.25 * ticks), count(0x24));
	desk_move(4, 0.25f);
	TEST_ASSERT_FLOAT_WITHIN(1e-5, 0.25f, desk_real(0x4E));
	TEST_ASSERT_INT32_WITHIN(2, (int32_t)(0.25 * ticks), count(0x28));
	desk_until(PCUBE_MOVING, 0);
	desk_pass(300 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 1, desk.joint.position);
	TEST_ASSERT_FLOAT_WITHIN(1e-3, 0.25f, desk_real(0x3C));
	TEST_ASSERT_FLOAT_WITHIN(1e-4, desk_real(0x3C), desk_real(0x3D));
	TEST_ASSERT_INT32_WITHIN(2, (int32_t)(0.25 * ticks), count(0x25));
	TEST_ASSERT_INT32_WITHIN(2, (int32_t)(0.43633 * ticks), count(0x29));
	desk_move(7, 0.125f);
	desk_pass(500 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 0.125, desk.joint.velocity);
	/* limits are of what it believes, too */
	desk_set_real(0x46, 0.5f);
	desk_until(PCUBE_SOFT_LIMIT, PCUBE_SOFT_LIMIT);
	TEST_ASSERT_DOUBLE_WITHIN(2e-3, 1.25, desk.joint.position);
}
