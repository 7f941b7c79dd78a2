/* test_joint.c: the simulated joint, against closed forms and against itself in other steps. */
#include <math.h>

#include "test/lib/testcase.h"

#include "daemons/robotsim/joint.h"

#define LEN(array) (sizeof(array) / sizeof(*(array)))
#define PI 3.14159265358979323846

static struct joint joint;
static struct joint_drive drive;

/* 2 kg m^2, 3 N m/A, full current up to 10 rad/s and none from 20 on; no friction, no ends. */
void setUp(void)
{
	joint = (struct joint){ .inertia = 2,
				.torque_per_a = 3,
				.velocity_full = 10,
				.velocity_none = 20,
				.acceleration = 4,
				.ends = { -INFINITY, INFINITY } };
	drive = (struct joint_drive){ .how = JOINT_FREE };
}

static void step(double dt_s)
{
	joint_step(&joint, &drive, dt_s);
}

static void is_at(double position, double velocity)
{
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, position, joint.position);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, velocity, joint.velocity);
}

/* ---- without friction ---- */

TEST(test_free_joint_keeps_its_velocity)
{
	joint_carry(&joint, 1, -0.5);
	step(10);
	is_at(-4, -0.5);
	step(0);
	is_at(-4, -0.5);
}

TEST(test_torque_accelerates)
{
	drive = (struct joint_drive){ .how = JOINT_TORQUE, .value = 3, .load_nm = 1 };
	step(3);
	is_at(9, 6);
	TEST_ASSERT_EQUAL_DOUBLE(0, joint.current);
	drive.how = JOINT_FREE; /* only the load */
	step(2);
	is_at(9 + 12 + 1, 7);
}

static double energy(void)
{
	return joint.inertia * joint.velocity * joint.velocity / 2 - joint.gravity_nm * cos(joint.position);
}

TEST(test_pendulum_keeps_its_energy)
{
	static const double from_rad[] = { 0.01, 0.5, 1.5, 3.1 };

	for (size_t i = 0; i < LEN(from_rad); i++) {
		double before;

		setUp();
		joint.gravity_nm = 20;
		joint_carry(&joint, from_rad[i], 0);
		before = energy();
		for (int k = 0; k < 20000; k++) {
			step(1e-3);
			TEST_ASSERT_DOUBLE_WITHIN(5e-5 * from_rad[i] * from_rad[i], before, energy());
		}
	}
}

TEST(test_pendulum_has_its_period)
{
	joint.gravity_nm = 8; /* omega 2: a quarter is PI / 4 s */
	joint_carry(&joint, 1e-3, 0);
	step(PI / 4);
	TEST_ASSERT_DOUBLE_WITHIN(1e-8, 0, joint.position);
	TEST_ASSERT_DOUBLE_WITHIN(1e-8, -2e-3, joint.velocity);
	step(PI / 4);
	TEST_ASSERT_DOUBLE_WITHIN(1e-8, -1e-3, joint.position);
}

/* ---- friction ---- */

/* J v' = -b v - c: stands after J/b ln(1 + b v/c), J v/c without b. */
TEST(test_friction_stops_in_its_time)
{
	static const struct {
		double viscous, dry, velocity;
	} rows[] = { { 0, 4, 1 },  { 0, 4, -1 },   { 1e-6, 4, 3 },  { 2, 4, 3 },
		     { 2, 4, -3 }, { 5000, 1, 1 }, { 0.1, 0.01, 2 } };

	for (size_t i = 0; i < LEN(rows); i++) {
		const double b = rows[i].viscous, c = rows[i].dry, v = fabs(rows[i].velocity);
		const double t_s = b > 0 ? 2 / b * log1p(b * v / c) : 2 * v / c;
		const double way = b > 1e-3 ? 2 * v / b - c / b * t_s : v * t_s / 2;

		setUp();
		joint.viscous = b;
		joint.friction_nm = c;
		joint_carry(&joint, 0, rows[i].velocity);
		step(t_s * (1 - 1e-9));
		TEST_ASSERT_TRUE(joint.velocity * rows[i].velocity > 0);
		step(t_s * 2e-9);
		TEST_ASSERT_EQUAL_DOUBLE(0, joint.velocity);
		TEST_ASSERT_DOUBLE_WITHIN(1e-6, copysign(way, rows[i].velocity), joint.position);
	}
}

/* In the middle of a step, and at its exact time: without its viscous part friction would take 500 us. */
TEST(test_friction_stops_within_a_step)
{
	const double t_s = log1p(0.0005);

	joint.viscous = 2;
	joint.friction_nm = 4;
	joint_carry(&joint, 0, 1e-3);
	step(t_s * (1 + 1e-6));
	TEST_ASSERT_EQUAL_DOUBLE(0, joint.velocity);
	joint_carry(&joint, 0, 1e-3);
	step(t_s * (1 - 1e-6));
	TEST_ASSERT_TRUE(joint.velocity > 0);
}

TEST(test_viscous_friction_alone_never_stops)
{
	joint.viscous = 4;
	joint_carry(&joint, 0, 1);
	step(0.5);
	is_at((1 - exp(-1)) / 2, exp(-1));
	drive = (struct joint_drive){ .how = JOINT_TORQUE, .value = 12 };
	step(50);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 3, joint.velocity);
}

/* Both ways to compute it, and where they meet. */
TEST(test_viscous_friction_of_every_size)
{
	static const double viscous[] = { 1e-9, 1e-3, 1, 19.9, 20, 20.1, 39, 100, 1e4, 1e6 };

	for (size_t i = 0; i < LEN(viscous); i++) {
		const double decay = viscous[i] / 2;

		setUp();
		joint.viscous = viscous[i];
		joint_carry(&joint, 0, 1);
		step(1e-3);
		TEST_ASSERT_DOUBLE_WITHIN(2e-15, exp(-decay * 1e-3), joint.velocity);
		TEST_ASSERT_DOUBLE_WITHIN(2e-16, -expm1(-decay * 1e-3) / decay, joint.position);
	}
}

TEST(test_stiction_holds)
{
	static const struct {
		double friction, stiction, torque, load;
		bool brake, moves;
	} rows[] = {
		{ 0, 0, 0, 0, false, false },	 { 0, 0, 1e-9, 0, false, true }, { 4, 0, 4, 0, false, false },
		{ 4, 0, -4, 0, false, false },	 { 4, 0, 4.01, 0, false, true }, { 4, 0, -4.01, 0, false, true },
		{ 4, 6, 6, 0, false, false },	 { 4, 6, 6.01, 0, false, true }, { 4, 6, 5, 2, false, true },
		{ 4, 6, 9, -5, false, false },	 { 4, 6, 16, 0, true, false },	 { 4, 6, 16.01, 0, true, true },
		{ 4, 6, -16.01, 0, true, true },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const double sum = rows[i].torque + rows[i].load, held = (rows[i].friction + (rows[i].brake ? 10 : 0));

		setUp();
		joint.friction_nm = rows[i].friction;
		joint.stiction_nm = rows[i].stiction;
		joint.brake_nm = 10;
		joint_carry(&joint, 0.3, 0);
		drive = (struct joint_drive){
			.how = JOINT_TORQUE, .value = rows[i].torque, .load_nm = rows[i].load, .brake = rows[i].brake
		};
		step(2);
		if (!rows[i].moves) {
			TEST_ASSERT_EQUAL_DOUBLE(0.3, joint.position);
			TEST_ASSERT_EQUAL_DOUBLE(0, joint.velocity);
		} else {
			is_at(0.3 + sum - copysign(held, sum), sum - copysign(held, sum));
		}
	}
}

/* It comes to rest once and stays there: velocity never changes its sign. */
TEST(test_friction_does_not_chatter)
{
	joint.friction_nm = 4;
	joint.viscous = 0.3;
	joint_carry(&joint, 0, 1);
	drive = (struct joint_drive){ .how = JOINT_TORQUE, .value = -3 };
	for (int i = 0; i < 3000; i++) {
		const double was = joint.position, moved = joint.velocity;

		step(0.37e-3);
		TEST_ASSERT_TRUE(joint.velocity >= 0 && joint.velocity <= moved);
		if (moved == 0)
			TEST_ASSERT_EQUAL_DOUBLE(was, joint.position);
	}
	TEST_ASSERT_EQUAL_DOUBLE(0, joint.velocity);
}

/* Braked by 6 + 1 N m to rest after 1/3.5 s, then driven back by 6 - 1. */
TEST(test_it_turns_round)
{
	joint.friction_nm = 1;
	joint_carry(&joint, 0, 1);
	drive = (struct joint_drive){ .how = JOINT_TORQUE, .value = -6 };
	step(1 / 3.5 + 2);
	is_at(0.5 / 3.5 - 2.5 * 2, -5);
}

/* ---- ends ---- */

TEST(test_ends)
{
	joint.ends[0] = -1;
	joint.ends[1] = 2;
	joint_carry(&joint, 0, 0);
	drive = (struct joint_drive){ .how = JOINT_TORQUE, .value = 4 };
	step(1);
	is_at(1, 2);
	TEST_ASSERT_EQUAL(0, joint.end);
	step(5);
	TEST_ASSERT_EQUAL_DOUBLE(2, joint.position);
	TEST_ASSERT_EQUAL_DOUBLE(0, joint.velocity);
	TEST_ASSERT_EQUAL(1, joint.end);
	drive.value = -4;
	step(1);
	is_at(1, -2);
	TEST_ASSERT_EQUAL(0, joint.end);
	step(5);
	TEST_ASSERT_EQUAL_DOUBLE(-1, joint.position);
	TEST_ASSERT_EQUAL_DOUBLE(0, joint.velocity);
	TEST_ASSERT_EQUAL(-1, joint.end);
	joint_carry(&joint, -1, -3); /* no further, and from there as it is driven */
	drive.value = 4;
	step(1);
	is_at(0, 2);
}

/* It meets the end at an odd time, although it is braked already, and leaves it by that torque. */
TEST(test_it_leaves_the_end_in_the_same_step)
{
	const double hit_s = 1.00037, left_s = 3 - hit_s, way = hit_s - hit_s * hit_s / 4;

	for (int direction = -1; direction <= 1; direction += 2) {
		setUp();
		joint.ends[direction > 0] = direction * way;
		joint_carry(&joint, 0, direction);
		drive = (struct joint_drive){ .how = JOINT_TORQUE, .value = -direction };
		step(3);
		is_at(direction * (way - left_s * left_s / 4), -direction * left_s / 2);
	}
}

TEST(test_it_does_not_move_at_an_end)
{
	joint.ends[1] = 0x1p-10;
	joint_carry(&joint, 0, 1);
	step(0x1p-10);
	TEST_ASSERT_EQUAL_DOUBLE(0x1p-10, joint.position);
	TEST_ASSERT_EQUAL_DOUBLE(0, joint.velocity);
}

/* ---- steps ---- */

TEST(test_length_of_the_steps_makes_no_difference)
{
	static const struct joint_drive drives[] = {
		{ .how = JOINT_FREE },
		{ .how = JOINT_FREE, .brake = true },
		{ .how = JOINT_TORQUE, .value = 7 },
		{ .how = JOINT_TORQUE, .value = -7, .load_nm = 0.5 },
		{ .how = JOINT_TORQUE, .value = -1 },
		{ .how = JOINT_CURRENT, .value = -3, .current_max = 2 },
		{ .how = JOINT_VELOCITY, .value = -2 },
		{ .how = JOINT_VELOCITY, .value = 0.9 },
	};
	static const double parts_s[] = { 1e-3, 0.7e-3, 1e-4, 0.123, 0.0317 };

	for (size_t i = 0; i < LEN(drives); i++) {
		struct joint whole;

		setUp();
		joint.friction_nm = 0.8;
		joint.stiction_nm = 1.2;
		joint.viscous = 0.4;
		joint.brake_nm = 3;
		joint.ends[1] = 0.6;
		joint.ends[0] = -1.1;
		joint_carry(&joint, 0, 1);
		whole = joint;
		joint_step(&whole, &drives[i], 1.5);
		for (size_t k = 0; k < LEN(parts_s); k++) {
			struct joint parts = joint;
			double left_s = 1.5;

			for (; left_s > parts_s[k]; left_s -= parts_s[k])
				joint_step(&parts, &drives[i], parts_s[k]);
			joint_step(&parts, &drives[i], left_s);
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, whole.position, parts.position);
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, whole.velocity, parts.velocity);
			TEST_ASSERT_EQUAL(whole.end, parts.end);
		}
	}
}

/* ---- motor ---- */

TEST(test_current)
{
	static const struct {
		double value, velocity, current;
		bool limited;
	} rows[] = {
		{ 4, 0, 4, false },  { 5, 0, 5, false },    { 6, 0, 5, true },	  { -6, 0, -5, true },
		{ 4, 10, 4, false }, { 4, 15, 2, false },   { 6, 15, 2.5, true }, { 4, 20, 0, false },
		{ 4, 25, 0, false }, { -4, 15, -4, false }, { 4, -25, 4, false }, { -4, -15, -2, false },
		{ 0, 15, 0, false },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		setUp();
		drive = (struct joint_drive){ .how = JOINT_CURRENT, .value = rows[i].value, .current_max = 5 };
		joint_carry(&joint, 0, rows[i].velocity);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 3 * rows[i].current, joint_motor_nm(&joint, &drive));
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, rows[i].current, joint.current);
		TEST_ASSERT_EQUAL(rows[i].limited, joint.limited);
	}
	for (drive.how = JOINT_FREE; drive.how <= JOINT_VELOCITY; drive.how++) {
		joint.current = 3;
		joint.limited = true;
		if (drive.how != JOINT_CURRENT)
			joint_motor_nm(&joint, &drive);
		TEST_ASSERT_EQUAL_DOUBLE(drive.how == JOINT_CURRENT ? 3 : 0, joint.current);
		TEST_ASSERT_EQUAL(drive.how == JOINT_CURRENT, joint.limited);
	}
}

TEST(test_current_moves_it_up_to_the_speed_of_the_supply)
{
	drive = (struct joint_drive){ .how = JOINT_CURRENT, .value = 2, .current_max = 5 };
	step(2);
	is_at(6, 6);
	step(100);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 20, joint.velocity);
}

TEST(test_velocity)
{
	static const struct {
		double from, wanted, t_s, position, velocity;
	} rows[] = {
		{ 0, 2, 0.25, 0.125, 1 },
		{ 0, 2, 0.5, 0.5, 2 },
		{ 0, 2, 1.5, 2.5, 2 },
		{ 0, -2, 1.5, -2.5, -2 },
		{ 2, 0, 1, 0.5, 0 },
		{ 2, -2, 0.5, 0.5, 0 },
		{ 2, -2, 2, 0.5 - 0.5 - 2, -2 },
		{ -1, -1, 3, -3, -1 },
		{ 0, 0, 3, 0, 0 },
		{ 1, 2, 0.25, 0.375, 2 },
		{ 0, 1.0021, 1, 1.0021 * (1 - 1.0021 / 8), 1.0021 },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		setUp();
		joint.friction_nm = joint.viscous = joint.gravity_nm = 100; /* it is strong enough for everything */
		joint_carry(&joint, 0, rows[i].from);
		drive = (struct joint_drive){ .how = JOINT_VELOCITY, .value = rows[i].wanted, .load_nm = 50 };
		step(rows[i].t_s);
		is_at(rows[i].position, rows[i].velocity);
	}
}

TEST(test_velocity_ends_at_an_end)
{
	joint.ends[0] = -1;
	joint.ends[1] = 1;
	drive = (struct joint_drive){ .how = JOINT_VELOCITY, .value = 2 };
	step(10);
	TEST_ASSERT_EQUAL_DOUBLE(1, joint.position);
	TEST_ASSERT_EQUAL_DOUBLE(0, joint.velocity);
	TEST_ASSERT_EQUAL(1, joint.end);
	drive.value = 0;
	step(1);
	TEST_ASSERT_EQUAL_DOUBLE(1, joint.position);
	drive.value = -2;
	step(0.5);
	is_at(0.5, -2);
	drive.value = 0;
	step(5);
	is_at(0, 0);
}

TEST(test_jammed_joint_stays)
{
	static const enum joint_how hows[] = { JOINT_FREE, JOINT_TORQUE, JOINT_CURRENT, JOINT_VELOCITY };

	for (size_t i = 0; i < LEN(hows); i++) {
		setUp();
		joint_carry(&joint, 0.4, 3);
		drive = (struct joint_drive){ .how = hows[i], .value = 2, .current_max = 5, .jammed = true };
		step(0.1);
		is_at(0.4, 0);
		TEST_ASSERT_EQUAL_DOUBLE(hows[i] == JOINT_CURRENT ? 2 : 0, joint.current); /* which heats it */
	}
}

/* ---- as a part of a body ---- */

/* output is the torque of motor and friction; the load is added to it, and their sum is 0 while the joint sticks. */
TEST(test_output)
{
	static const struct {
		double velocity, motor, load, output;
		bool brake;
	} rows[] = {
		{ 1, 10, 0, 10 - 2 - 4, false }, { -1, 10, 0, 10 + 2 + 4, false },
		{ 1, 10, 0, 10 - 2 - 14, true }, { 0, 10, 0, 6, false },
		{ 0, -10, 0, -6, false },	 { 0, 5, 0, 0, false },
		{ 0, 0, 5, -5, false },		 { 0, 10, -5, 5, false },
		{ 0, 10, -20, 14, false },	 { 0, 10, 0, 0, true },
		{ 0, 0, 0, 0, false },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		setUp();
		joint.friction_nm = 4;
		joint.stiction_nm = 5;
		joint.viscous = 2;
		joint.brake_nm = 10;
		joint_carry(&joint, 0, rows[i].velocity);
		drive = (struct joint_drive){
			.how = JOINT_TORQUE, .value = rows[i].motor, .load_nm = rows[i].load, .brake = rows[i].brake
		};
		step(1e-6);
		TEST_ASSERT_DOUBLE_WITHIN(1e-4, rows[i].output + rows[i].load,
					  joint.inertia * (joint.velocity - rows[i].velocity) / 1e-6);
	}
}

/* A body of the same inertia, integrated by itself, moves as the joint does. */
TEST(test_a_body_integrates_it)
{
	struct joint part;

	joint.friction_nm = 4;
	joint.viscous = 2;
	part = joint;
	drive = (struct joint_drive){ .how = JOINT_CURRENT, .value = 4, .current_max = 5, .load_nm = -2 };
	for (int i = 0; i < 100000; i++) {
		const double motor_nm = joint_motor_nm(&part, &drive);
		const double torque_nm = motor_nm - 4 - 2 * part.velocity + drive.load_nm;
		const double velocity = part.velocity + torque_nm / 2 * 1e-5;

		joint_carry(&part, part.position + (part.velocity + velocity) / 2 * 1e-5, velocity);
	}
	step(1);
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, joint.position, part.position);
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, joint.velocity, part.velocity);
	TEST_ASSERT_TRUE(joint.velocity > 1);
	joint.ends[0] = -0.5;
	joint_carry(&joint, -0.5, 1);
	TEST_ASSERT_EQUAL(-1, joint.end);
}

/* ---- encoder ---- */

TEST(test_encoder)
{
	static const struct {
		struct joint_encoder encoder;
		double position, counts;
	} rows[] = {
		{ { .counts_per_rad = 1000 }, 0, 0 },
		{ { .counts_per_rad = 1000 }, 0.0019, 1 },
		{ { .counts_per_rad = 1000 }, 0.002, 2 },
		{ { .counts_per_rad = 1000 }, -0.0001, -1 },
		{ { .counts_per_rad = 1000 }, -0.0011, -2 },
		{ { .counts_per_rad = 1000, .offset = 0.5 }, 0.25, 750 },
		{ { .counts_per_rad = 1000, .backwards = true }, 0.25, -250 },
		{ { .counts_per_rad = 1000, .offset = 0.5, .backwards = true }, 0.125, 375 },
		{ { .counts_per_rad = 1000, .offset = 0.0005 }, 0.0015, 2 }, /* to the nearest */
		{ { .counts_per_rad = 1000, .offset = 0.0005 }, -0.0014, -1 },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		TEST_ASSERT_EQUAL_DOUBLE(rows[i].counts, joint_counts(&rows[i].encoder, rows[i].position, 5));
		TEST_ASSERT_EQUAL_DOUBLE(rows[i].counts / 1000, joint_reading(&rows[i].encoder, rows[i].position, 5));
	}
}

TEST(test_encoder_noise)
{
	const struct joint_encoder noisy = { .counts_per_rad = 1e9, .noise = 0.01, .seed = 1 },
				   other = { .counts_per_rad = 1e9, .noise = 0.01, .seed = 2 };
	double sum = 0, squares = 0, least = 0, most = 0;
	int same = 0;

	for (int64_t t_ns = 0; t_ns < 2500000000; t_ns += 250000) {
		const double error = joint_reading(&noisy, 1, t_ns) - 1;

		TEST_ASSERT_EQUAL_DOUBLE(error, joint_reading(&noisy, 1, t_ns) - 1);
		same += error == joint_reading(&other, 1, t_ns) - 1 || error == joint_reading(&noisy, 1, t_ns + 1) - 1;
		sum += error;
		squares += error * error;
		least = fmin(least, error);
		most = fmax(most, error);
	}
	TEST_ASSERT_TRUE(same < 5);
	TEST_ASSERT_TRUE(least < -0.0099 && least >= -0.01 - 1e-9 && most > 0.0099 && most <= 0.01);
	TEST_ASSERT_DOUBLE_WITHIN(2e-4, 0, sum / 10000);
	TEST_ASSERT_DOUBLE_WITHIN(2e-4, 0.01 / sqrt(3), sqrt(squares / 10000));
}

/* The same noise on every machine: splitmix64, of which seed 0 at 0 ns is the first number. */
TEST(test_encoder_noise_is_reproducible)
{
	static const struct {
		int64_t seed, t_ns;
		double counts;
	} rows[] = { { 0, 0, 9976662161642 },
		     { 1, 0, 10086305599409 },
		     { 1, 250000, 10018422353185 },
		     { 7, 123456789012345, 9955811107188 } };

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct joint_encoder noisy = { .counts_per_rad = 1e13, .noise = 0.01, .seed = rows[i].seed };

		TEST_ASSERT_EQUAL_DOUBLE(rows[i].counts, joint_counts(&noisy, 1, rows[i].t_ns));
	}
}
