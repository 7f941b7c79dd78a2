/* test_krang.c: the equations of Krang's body: energy, balance, linear model, floor. */
#include <math.h>

#include "test/lib/testcase.h"

#include "daemons/robotsim/krang.h"

#define LEN(array) (sizeof(array) / sizeof(*(array)))
#define DEG (3.14159265358979323846 / 180)
#define STEP_S KRANG_STEP_S

static struct krang_settings with;
static struct krang krang;
static struct krang_input in;

static void complain(void *to, const char *line)
{
	(void)to;
	TEST_FAIL_MESSAGE(line);
}

void setUp(void)
{
	struct settings settings = { .rows = krang_rows, .values = &with };
	struct error_sink errors = { complain, NULL, 0 };

	with = (struct krang_settings){ 0 };
	settings_defaults(&settings, &errors);
	with.start = KRANG_START_STANDING;
	in = (struct krang_input){ 0 };
}

static void place(double waist_rad)
{
	krang = (struct krang){ .settings = with };
	krang_place(&krang, (enum krang_start)with.start, waist_rad);
}

/* Upright, except for its lean, and without friction and floor. */
static void begin(double waist_rad, double lean_rad)
{
	place(waist_rad);
	krang.pitch_rad += lean_rad;
	in.waist_rad = waist_rad;
	krang_step(&krang, &in, 0);
}

static void free_of_all(void)
{
	with.friction = with.viscous = 0;
	with.floor_stiffness = with.floor_damping = 0;
}

static void pass(double s)
{
	for (long n = lround(s / STEP_S); n > 0; n--) {
		krang_step(&krang, &in, STEP_S);
		in.waist_rad = krang.waist_rad;
		in.waist_rad_s = krang.waist_rad_s;
	}
}

/* ---- the table of hw-docs/devices/krang-body.md ---- */

static const struct row {
	double waist, pitch_deg, height, a21, a41, b2, b4;
} rows[] = {
	{ 0, -2.61, 0.559, 12.864, -24.399, -0.1281, 0.4859 },
	{ 0.3, -11.69, 0.561, 12.760, -24.289, -0.1269, 0.4845 },
	{ 1.2, -39.07, 0.493, 13.245, -22.140, -0.1379, 0.4736 },
	{ 1.986, -63.83, 0.352, 14.087, -16.820, -0.1684, 0.4441 },
	{ 2.79, -94.14, 0.155, 10.954, -5.723, -0.2062, 0.3508 },
};

TEST(test_com_is_above_the_axle_at_balance)
{
	for (size_t i = 0; i < LEN(rows); i++) {
		begin(rows[i].waist, 0);
		TEST_ASSERT_DOUBLE_WITHIN(0.012, rows[i].pitch_deg, krang.pitch_rad / DEG);
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, krang_lean_rad(&krang));
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, krang.rate_rad_s2);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, krang.accel_m_s2);
		TEST_ASSERT_DOUBLE_WITHIN(0.0005 * 135 * 9.81, rows[i].height * 134.977 * 9.81,
					  krang_energy_j(&krang)); /* at rest: of its height */
		pass(1);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, krang_lean_rad(&krang));
	}
}

TEST(test_linear_model)
{
	const double h = 1e-5;

	for (size_t i = 0; i < LEN(rows); i++) {
		const struct row *row = &rows[i];
		double rate[2], wheel[2];

		for (int side = 0; side < 2; side++) {
			begin(row->waist, side ? h : -h);
			rate[side] = krang.rate_rad_s2;
			wheel[side] = krang.accel_m_s2 / with.wheel_radius;
		}
		TEST_ASSERT_DOUBLE_WITHIN(2e-3 * fabs(row->a21), row->a21, (rate[1] - rate[0]) / (2 * h));
		TEST_ASSERT_DOUBLE_WITHIN(2e-3 * fabs(row->a41), row->a41, (wheel[1] - wheel[0]) / (2 * h));
		begin(row->waist, 0);
		in.left_a = in.right_a = 1;
		krang_step(&krang, &in, 0);
		TEST_ASSERT_DOUBLE_WITHIN(2e-4, row->b2, krang.rate_rad_s2);
		TEST_ASSERT_DOUBLE_WITHIN(2e-4, row->b4, krang.accel_m_s2 / with.wheel_radius);
		in.left_a = in.right_a = 0;
	}
}

/* A small lean grows with the rate sqrt(A21) to one side, and swings with it if gravity is reversed. */
TEST(test_reversed_gravity_is_a_pendulum_of_the_same_frequency)
{
	for (size_t i = 0; i < LEN(rows); i++) {
		const double rate = sqrt(rows[i].a21), t_s = 1 / rate;

		free_of_all();
		begin(rows[i].waist, 1e-6);
		pass(t_s);
		TEST_ASSERT_DOUBLE_WITHIN(3e-3, cosh(rate * lround(t_s / STEP_S) * STEP_S),
					  krang_lean_rad(&krang) / 1e-6);
		with.gravity = -with.gravity;
		begin(rows[i].waist, 1e-6);
		pass(t_s);
		TEST_ASSERT_DOUBLE_WITHIN(3e-3, cos(rate * lround(t_s / STEP_S) * STEP_S),
					  krang_lean_rad(&krang) / 1e-6);
		with.gravity = -with.gravity;
	}
}

/* ---- energy ---- */

static const struct swing {
	double waist, lean, rate, speed, turn;
} swings[] = {
	{ 0, 0.1, 0, 0, 0 },   { 0.3, 2, 0, 0.5, 0 },	     { 1.2, -0.5, 3, -1, 0 }, { 2.79, 0.3, -1, 0, 0 },
	{ 0.3, 0.2, 0, 1, 2 }, { 1.986, -0.4, 1, -0.5, -3 }, { 2.79, 1, 0, 0, 5 },
};

static void set_off(const struct swing *s)
{
	begin(s->waist, s->lean);
	krang.rate_rad_s = s->rate;
	krang.speed_m_s = s->speed;
	krang.turn_rad_s = s->turn;
}

TEST(test_energy_is_kept)
{
	free_of_all();
	for (size_t i = 0; i < LEN(swings); i++) {
		double before;

		set_off(&swings[i]);
		before = krang_energy_j(&krang);
		for (int k = 0; k < 10; k++) {
			pass(0.5);
			TEST_ASSERT_DOUBLE_WITHIN(1e-9 * fmax(fabs(before), 750), before, krang_energy_j(&krang));
		}
		TEST_ASSERT_TRUE(fabs(krang.rate_rad_s) > 0.01); /* it moved */
	}
}

/* Power of wheels, waist, push and friction, by the trapezoidal rule. */
static double power_w(void)
{
	const double torque = with.gear * with.torque_constant;
	const double left = krang_wheel_rad_s(&krang, false), right = krang_wheel_rad_s(&krang, true);
	const double waist_nm = krang.waist_inertia * in.waist_rad_s2 - krang.waist_load_nm;
	const double drag = with.friction * (left * tanh(left / 0.02) + right * tanh(right / 0.02)) +
			    with.viscous * (left * left + right * right);

	return torque * (in.left_a * left + in.right_a * right) - drag + waist_nm * krang.waist_rad_s +
	       in.push_n * (krang.speed_m_s + with.push_height * krang.rate_rad_s);
}

static const struct drive {
	double left_a, right_a, waist_rad_s2, push_n, friction;
} drives[] = {
	{ 20, 20, 0, 0, 0 }, { 10, -5, 0, 0, 0 }, { 0, 0, 1.7, 0, 0 },
	{ 0, 0, 0, 80, 0 },  { 0, 0, 0, 0, 1.5 }, { 8, 9, -1, 30, 1.5 },
};

TEST(test_energy_changes_by_the_power)
{
	free_of_all();
	for (size_t i = 0; i < LEN(swings); i++)
		for (size_t j = 0; j < LEN(drives); j++) {
			double before, work = 0;

			with.friction = drives[j].friction;
			with.viscous = drives[j].friction / 5;
			in = (struct krang_input){ .left_a = drives[j].left_a,
						   .right_a = drives[j].right_a,
						   .waist_rad_s2 = drives[j].waist_rad_s2,
						   .push_n = drives[j].push_n };
			set_off(&swings[i]);
			krang_step(&krang, &in, 0);
			before = krang_energy_j(&krang);
			for (int k = 0; k < 3000; k++) {
				const double power = power_w();

				pass(STEP_S);
				work += (power + power_w()) / 2 * STEP_S;
			}
			TEST_ASSERT_DOUBLE_WITHIN(2e-3 * fmax(1, fabs(work)), work, krang_energy_j(&krang) - before);
			TEST_ASSERT_TRUE(fabs(work) > 0.5);
		}
}

/* ---- one body ---- */

/* Mass, CoM and inertia of base and upper body together, as the base of a robot without an upper body. */
TEST(test_locked_waist_makes_one_body)
{
	const double ph = 1.2, m1 = 75.767, m2 = 59.21, m = m1 + m2;
	const double x2 = 0.091 + -0.032 * cos(ph) + 0.675 * sin(ph), z2 = 0.499 + 0.675 * cos(ph) + 0.032 * sin(ph);
	const double x = (m1 * -0.0006 + m2 * x2) / m, z = (m1 * 0.0767 + m2 * z2) / m;
	double pitch, travel;

	free_of_all();
	begin(ph, 0.2);
	pitch = krang.pitch_rad;
	in.left_a = in.right_a = 5;
	pass(1);
	travel = krang.travel_m;
	with.base_pitch = 3.0 + 9.8 + m1 * (pow(-0.0006 - x, 2) + pow(0.0767 - z, 2)) +
			  m2 * (pow(x2 - x, 2) + pow(z2 - z, 2)) - 1e-9;
	with.base_mass = m;
	with.base_x = x;
	with.base_z = z;
	with.upper_mass = with.upper_pitch = 1e-9;
	{
		const double end = krang.pitch_rad;

		place(ph);
		krang.pitch_rad = pitch;
		in.waist_rad = ph;
		pass(1);
		TEST_ASSERT_DOUBLE_WITHIN(1e-7, end, krang.pitch_rad);
		TEST_ASSERT_DOUBLE_WITHIN(1e-7, travel, krang.travel_m);
	}
}

/* ---- the waist ---- */

/* A waist that is moved by its own torque, inertia and load keeps the energy. */
TEST(test_waist_moved_by_its_load_keeps_the_energy)
{
	double before;

	free_of_all();
	begin(0.6, 0.1);
	before = krang_energy_j(&krang);
	for (int k = 0; k < 20000; k++) {
		in.waist_rad_s2 = krang.waist_load_nm / krang.waist_inertia;
		krang_step(&krang, &in, 2e-5);
		in.waist_rad = krang.waist_rad;
		in.waist_rad_s = krang.waist_rad_s;
	}
	TEST_ASSERT_TRUE(fabs(krang.waist_rad - 0.6) > 0.1);
	TEST_ASSERT_DOUBLE_WITHIN(0.02, before, krang_energy_j(&krang));
}

/* Sitting still it carries the upper body: mass, gravity and how far its CoM lies before the axis. */
TEST(test_waist_carries_the_upper_body)
{
	with.start = KRANG_START_SITTING;
	begin(2.85, 0);
	pass(2);
	{
		const double be = krang.pitch_rad + 2.85;

		TEST_ASSERT_DOUBLE_WITHIN(0.1, 59.21 * 9.81 * (0.675 * sin(be) - 0.032 * cos(be)), krang.waist_load_nm);
	}
}

/* ---- seen from outside ---- */

TEST(test_wheels_turn_against_the_base)
{
	begin(0.3, 0);
	krang.travel_m = 0.264;
	krang.heading_rad = 0.1;
	krang.pitch_rad = 0.25;
	krang.speed_m_s = -0.264;
	krang.turn_rad_s = 0;
	krang.rate_rad_s = 2;
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1 - 0.035 / 0.264 - 0.25, krang_wheel_rad(&krang, false));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1 + 0.035 / 0.264 - 0.25, krang_wheel_rad(&krang, true));
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -3, krang_wheel_rad_s(&krang, true));
}

/* A rotor turns by the gear against the base, which carries it. */
TEST(test_rotors_turn_with_the_base)
{
	double with_j, without_j;

	free_of_all();
	for (int rotors = 0; rotors < 2; rotors++) {
		with.rotor_inertia = rotors ? 0.01 : 0;
		begin(0.3, 0);
		krang.rate_rad_s = 2;
		krang.waist_rad_s = 0;
		*(rotors ? &with_j : &without_j) = krang_energy_j(&krang);
	}
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.01 * pow((1 - with.gear) * 2, 2), with_j - without_j);
}

TEST(test_right_wheel_turns_it_left)
{
	begin(0.3, 0);
	in.right_a = 5;
	in.left_a = -5;
	pass(0.3);
	TEST_ASSERT_TRUE(krang.heading_rad > 0.05);
	TEST_ASSERT_TRUE(krang_wheel_rad_s(&krang, true) > 0.1);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0, krang.travel_m);
}

static void expect_motion(double x, double y, double z, double roll, double pitch, double yaw)
{
	struct sim_motion seen;
	const double expected[] = { x, y, z, roll, pitch, yaw };

	krang_motion(&krang, &seen);
	for (int i = 0; i < 3; i++) {
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, expected[i], seen.force_m_s2[i]);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, expected[3 + i], seen.rate_rad_s[i]);
	}
}

TEST(test_sensor)
{
	with.imu_z = 0.1;
	begin(0.3, 0);
	krang.pitch_rad = 0.3; /* forwards: x looks down */
	krang.accel_m_s2 = krang.rate_rad_s2 = krang.turn_rad_s2 = 0;
	expect_motion(-9.81 * sin(0.3), 0, 9.81 * cos(0.3), 0, 0, 0);
	krang.pitch_rad = 0;
	krang.accel_m_s2 = 2;
	expect_motion(2, 0, 9.81, 0, 0, 0);
	krang.rate_rad_s2 = 3; /* above the axle */
	krang.rate_rad_s = 0.5;
	expect_motion(2.3, 0, 9.81 - 0.025, 0, 0.5, 0);
	krang.accel_m_s2 = krang.rate_rad_s2 = krang.rate_rad_s = 0;
	krang.speed_m_s = 2;
	krang.turn_rad_s = 1; /* to the left */
	expect_motion(0, 2, 9.81, 0, 0, 1);
	krang.pitch_rad = -90 * DEG;	       /* on its back: up is behind it */
	expect_motion(9.81, 2, -0.1, 1, 0, 0); /* and turns about the axle */
}

/* The derivative of the speed of the sensor's place, with gravity, is what it measures. */
TEST(test_sensor_measures_its_own_motion)
{
	const double h = 1e-5;
	struct sim_motion seen;
	double v[2][2], pitch;

	with.imu_x = 0.05;
	with.imu_z = 0.3;
	begin(0.3, 0.2);
	krang.rate_rad_s = 1;
	krang.speed_m_s = 0.5;
	in.left_a = in.right_a = 30;
	for (int i = 0; i < 2; i++) {
		pitch = krang.pitch_rad;
		v[i][0] = krang.speed_m_s + krang.rate_rad_s * (0.3 * cos(pitch) - 0.05 * sin(pitch));
		v[i][1] = -krang.rate_rad_s * (0.05 * cos(pitch) + 0.3 * sin(pitch));
		if (!i)
			krang_step(&krang, &in, h);
	}
	krang_motion(&krang, &seen);
	v[0][0] = (v[1][0] - v[0][0]) / h;
	v[0][1] = (v[1][1] - v[0][1]) / h + 9.81;
	TEST_ASSERT_DOUBLE_WITHIN(1e-2, v[0][0] * cos(pitch) - v[0][1] * sin(pitch), seen.force_m_s2[0]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-2, v[0][0] * sin(pitch) + v[0][1] * cos(pitch), seen.force_m_s2[2]);
}

/* ---- sitting, standing, falling ---- */

TEST(test_it_sits_on_its_caster)
{
	with.start = KRANG_START_SITTING;
	begin(2.85, 0);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, -1.89, krang.pitch_rad);
	pass(3);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, -1.89, krang.pitch_rad);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0, krang.rate_rad_s);
	TEST_ASSERT_EQUAL(KRANG_SITTING, krang.mode);
	TEST_ASSERT_TRUE(krang_lean_rad(&krang) < -5 * DEG && krang_lean_rad(&krang) > -15 * DEG);
}

TEST(test_held_robot_stays_until_its_wheels_are_driven)
{
	double turns;

	with.start = KRANG_START_HELD;
	begin(0.3, 0);
	in.push_n = 100;
	in.waist_rad_s = 0.4;
	pass(1);
	TEST_ASSERT_EQUAL(KRANG_HELD, krang.mode);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, krang_lean_rad(&krang));
	turns = krang_balance_rad(&krang, krang.waist_rad + 1e-4) - krang_balance_rad(&krang, krang.waist_rad - 1e-4);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.4 * turns / 2e-4, krang.rate_rad_s);
	TEST_ASSERT_TRUE(fabs(krang.rate_rad_s) > 0.05);
	TEST_ASSERT_EQUAL_DOUBLE(0, krang.travel_m);
	in.left_a = in.right_a = 1;
	pass(0.1);
	TEST_ASSERT_EQUAL(KRANG_STANDING, krang.mode);
	TEST_ASSERT_TRUE(krang.travel_m > 0.001);
}

/* It lies still in the end, and on the floor, not below it. */
TEST(test_fall_is_counted_once)
{
	static const double leans[] = { 0.01, -0.01 };

	for (size_t i = 0; i < LEN(leans); i++)
		for (size_t j = 0; j < 4; j++) {
			begin(rows[j].waist, leans[i]);
			pass(15);
			TEST_ASSERT_EQUAL(KRANG_FALLEN, krang.mode);
			TEST_ASSERT_EQUAL(1, krang.falls);
			TEST_ASSERT_DOUBLE_WITHIN(0.02, 0, krang.rate_rad_s);
			TEST_ASSERT_TRUE(fabs(krang.pitch_rad) < 2.6);
			krang_place(&krang, KRANG_START_STANDING, 0.3);
			TEST_ASSERT_EQUAL(KRANG_STANDING, krang.mode);
			TEST_ASSERT_EQUAL(1, krang.falls);
		}
}

TEST(test_folded_robot_that_leans_back_sits_down)
{
	begin(2.79, -0.01);
	pass(5);
	TEST_ASSERT_EQUAL(KRANG_SITTING, krang.mode);
	TEST_ASSERT_EQUAL(0, krang.falls);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, -1.89, krang.pitch_rad);
}

/* ---- with a controller ---- */

/* Gains of LQR with the weights published for Krang, in A for each wheel. */
static const struct gains {
	double waist, lean, rate, wheel, wheel_rate, caught_deg;
} gains[] = {
	{ 0.3, 329, 108, 3.02, 9.14, 24 },
	{ 1.986, 264, 81, 3.02, 9.01, 30 },
};

static bool is_caught(const struct gains *g, double lean_rad, double max_a)
{
	begin(g->waist, lean_rad);
	for (int i = 0; i < 4000; i++) {
		const double a = g->lean * krang_lean_rad(&krang) + g->rate * krang.rate_rad_s +
				 (g->wheel * krang.travel_m + g->wheel_rate * krang.speed_m_s) / with.wheel_radius;

		in.left_a = in.right_a = fmax(-max_a, fmin(max_a, a));
		pass(2e-3);
	}
	in.left_a = in.right_a = 0;
	return krang.mode == KRANG_STANDING;
}

TEST(test_soft_controller_catches_a_lean)
{
	for (size_t i = 0; i < LEN(gains); i++) {
		with.fall = 1.2;
		TEST_ASSERT_TRUE(is_caught(&gains[i], (gains[i].caught_deg - 2) * DEG, 49));
		TEST_ASSERT_TRUE(is_caught(&gains[i], -(gains[i].caught_deg - 2) * DEG, 49));
		TEST_ASSERT_FALSE(is_caught(&gains[i], (gains[i].caught_deg + 2) * DEG, 49));
	}
	TEST_ASSERT_TRUE(is_caught(&gains[0], 8 * DEG, 20));
	TEST_ASSERT_FALSE(is_caught(&gains[0], 12 * DEG, 20));
}

/* From its caster with the waist folded, as the real one. */
TEST(test_it_stands_up_from_its_caster)
{
	with.start = KRANG_START_SITTING;
	TEST_ASSERT_TRUE(is_caught(&(struct gains){ 2.88, 250, 60, 0, 9, 0 }, 0, 49));
	TEST_ASSERT_DOUBLE_WITHIN(2 * DEG, 0, krang_lean_rad(&krang));
}

TEST(test_push)
{
	begin(0.3, 0);
	in.push_n = 80;
	pass(0.2);
	TEST_ASSERT_TRUE(krang.speed_m_s > 0.05 && krang_lean_rad(&krang) != 0);
}
