/* test_balance.c: the controller against the simulated body, with the sensors, rates and noise of the robot.
 *
 * No process and no bus: a tick is 1 ms, the body takes two steps in it.  IMU and waist are measured every 5 ms, the
 * wheels every ms; currents arrive a tick later.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#include "daemons/balance/balanced_settings.h"
#include "daemons/robotsim/krang.h"

#define LEN(array) (sizeof(array) / sizeof(*(array)))
#define DEG (M_PI / 180)
#define MS 1000000
#define START_NS 1000000000000
#define COUNTS_PER_RAD (60000 / (2 * M_PI))

/* While it lasts, from_ms to to_ms, these are lost. */
struct outage {
	int from_ms, to_ms;
	bool imu, wheels, waist, controller;
};

struct run {
	struct krang krang;
	struct balance balance;
	struct balanced_settings settings;
	struct outage outage;
	struct msg_balance_state kept; /* what the last process published */
	double current_a[2];	       /* that the drives hold */
	int silent_ms;		       /* since their last command */
	int ms;
	uint64_t random;
	double swing_from, swing_to, swing_rad_s; /* of the waist */
	double waist_rad, waist_rad_s;
	double push_n;
	int push_from_ms, push_to_ms;
	struct balance_orders orders;
	double noise; /* 1: as measured on the robot */
	double bias_rad_s;
	double lean_max_rad, travel_max_m;
};

static struct run r;

static double uniform(void)
{
	r.random = r.random * 6364136223846793005u + 1442695040888963407u;
	return (double)(r.random >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

static void begin_controller(void)
{
	struct balance_limits limits = r.settings.limits;

	limits.stand_rad = r.settings.stand_deg * DEG;
	limits.fall_rad = r.settings.fall_deg * DEG;
	balance_begin(&r.balance, &r.settings.model, &r.settings.weights, &limits, 0.001);
}

static void begin(enum krang_start start, double waist_rad)
{
	struct settings rows = { .rows = krang_rows, .values = &r.krang.settings };
	struct settings own = { .rows = balanced_settings_rows, .values = &r.settings };
	struct error_sink errors = { 0 };

	memset(&r, 0, sizeof(r));
	TEST_ASSERT_EQUAL(0, settings_defaults(&rows, &errors));
	TEST_ASSERT_EQUAL(0, settings_defaults(&own, &errors));
	krang_place(&r.krang, start, waist_rad);
	begin_controller();
	r.random = 1;
	r.noise = 1;
	r.bias_rad_s = 0.2 * DEG;
	r.waist_rad = waist_rad;
	r.orders.armed = true;
}

static bool lost(bool which)
{
	return which && r.ms >= r.outage.from_ms && r.ms < r.outage.to_ms;
}

/* ---- the sensors ---- */

static void measure(struct estimate_inputs *in)
{
	const int64_t now_ns = START_NS + (int64_t)r.ms * MS;
	struct sim_motion motion;

	krang_motion(&r.krang, &motion);
	if (r.ms % 5 == 0 && !lost(r.outage.imu))
		in->imu = (struct estimate_imu){
			.is_new = true,
			.t_ns = now_ns,
			.forward_m_s2 = motion.force_m_s2[0] + r.noise * 9.81 * 0.08 * DEG * normal(),
			.up_m_s2 = motion.force_m_s2[2] + r.noise * 9.81 * 0.08 * DEG * normal(),
			.pitch_rate_rad_s = motion.rate_rad_s[1] + r.bias_rad_s + r.noise * 0.14 * DEG * normal(),
		};
	if (!lost(r.outage.wheels)) {
		in->wheels = (struct estimate_wheels){ .is_new = true, .t_ns = now_ns };
		for (int i = 0; i < 2; i++) {
			in->wheels.position_rad[i] =
				floor(krang_wheel_rad(&r.krang, i) * COUNTS_PER_RAD) / COUNTS_PER_RAD;
			in->wheels.velocity_rad_s[i] = krang_wheel_rad_s(&r.krang, i);
			in->wheels.current_a[i] = r.current_a[i];
		}
	}
	if (r.ms % 5 == 0 && !lost(r.outage.waist))
		in->waist = (struct estimate_waist){
			.is_new = true, .t_ns = now_ns, .position_rad = r.waist_rad, .velocity_rad_s = r.waist_rad_s
		};
}

/* ---- the robot ---- */

static double approach(double from, double to, double step)
{
	return from + fmin(fmax(to - from, -step), step);
}

/* To and fro between two angles, at 1.74 rad/s^2.  Modules whose driver is dead stop after 50 ms. */
static double move_waist(double dt_s)
{
	const bool dead = lost(r.outage.waist) && r.ms >= r.outage.from_ms + 50;
	const double goal = r.swing_to, left = goal - r.waist_rad;
	const double braking = sqrt(2 * 1.74 * fabs(left));
	const double want = dead ? 0 : copysign(fmin(fabs(r.swing_rad_s), braking), left);
	const double before = r.waist_rad_s;

	r.waist_rad_s = approach(r.waist_rad_s, want, 1.74 * dt_s);
	if (fabs(left) < 0.01 && !dead) {
		r.swing_to = r.swing_from;
		r.swing_from = goal;
	}
	return (r.waist_rad_s - before) / dt_s;
}

static void step_body(void)
{
	const bool guard = r.silent_ms >= 200;

	for (int half = 0; half < 2; half++) {
		const double dt_s = 0.0005, a = r.swing_rad_s != 0 ? move_waist(dt_s) : 0;
		const struct krang_input in = {
			.left_a = guard ? 0 : r.current_a[0],
			.right_a = guard ? 0 : r.current_a[1],
			.waist_rad = r.waist_rad,
			.waist_rad_s = r.waist_rad_s,
			.waist_rad_s2 = a,
			.push_n = r.ms >= r.push_from_ms && r.ms < r.push_to_ms ? r.push_n : 0,
		};

		krang_step(&r.krang, &in, dt_s);
		r.waist_rad += r.waist_rad_s * dt_s;
	}
}

/* What balanced publishes of it. */
static void publish(void)
{
	const struct estimate *e = &r.balance.estimate;

	r.kept = (struct msg_balance_state){
		.header.t_publish_ns = START_NS + (int64_t)r.ms * MS,
		.mode = r.balance.mode,
		.pitch = e->pitch_rad,
		.pitch_rate = e->pitch_rate_rad_s,
		.rate_bias = e->bias_rad_s,
		.waist_position = e->waist_rad,
		.waist_velocity = e->waist_rate_rad_s,
		.speed_ref = r.balance.speed_ref_m_s,
		.turn_rate_ref = r.balance.turn_ref_rad_s,
		.current = { r.balance.current_a[0], r.balance.current_a[1] },
	};
}

static void control(void)
{
	struct estimate_inputs in = { 0 };

	if (lost(r.outage.controller))
		return;
	if (r.outage.controller && r.ms == r.outage.to_ms) { /* a new process */
		begin_controller();
		balance_resume(&r.balance, &r.kept);
	}
	measure(&in);
	balance_tick(&r.balance, &in, &r.orders, 0.001, START_NS + (int64_t)r.ms * MS);
	publish();
}

static void tick(void)
{
	const bool drives = r.balance.mode != MSG_BALANCE_OFF && r.balance.mode != MSG_BALANCE_FALLEN;

	r.silent_ms++;
	if (!lost(r.outage.wheels) && !lost(r.outage.controller) && drives) {
		r.current_a[0] = r.balance.current_a[0];
		r.current_a[1] = r.balance.current_a[1];
		r.silent_ms = 0;
	}
	step_body();
	r.ms++;
	control();
	r.lean_max_rad = fmax(r.lean_max_rad, fabs(krang_lean_rad(&r.krang)));
	r.travel_max_m = fmax(r.travel_max_m, fabs(r.krang.travel_m));
}

static void run_ms(int ms)
{
	for (int i = 0; i < ms; i++)
		tick();
}

/* Upright and quiet; what comes is measured from here on. */
static void stand(double waist_rad)
{
	begin(KRANG_START_HELD, waist_rad);
	run_ms(50);
	TEST_ASSERT_NULL(balance_stand(&r.balance));
	run_ms(5000);
	TEST_ASSERT_EQUAL(MSG_BALANCE_STANDING, r.balance.mode);
	r.lean_max_rad = r.travel_max_m = 0;
}

static void swing(double from, double to)
{
	r.swing_from = from;
	r.swing_to = to;
	r.swing_rad_s = 0.43;
}

static void assert_stands(double lean_max_deg)
{
	char text[80];

	snprintf(text, sizeof(text), "lean up to %.2f deg, travel %.2f m", r.lean_max_rad / DEG, r.travel_max_m);
	TEST_ASSERT_EQUAL_MESSAGE(MSG_BALANCE_STANDING, r.balance.mode, text);
	TEST_ASSERT_EQUAL_MESSAGE(0, r.krang.falls, text);
	TEST_ASSERT_TRUE_MESSAGE(r.lean_max_rad < lean_max_deg * DEG, text);
}

/* ---- cases ---- */

TEST(test_stands_still_in_every_posture)
{
	for (double waist = 0; waist < 2.85; waist += 0.4) {
		stand(waist);
		run_ms(10000);
		assert_stands(0.9);
		TEST_ASSERT_TRUE(fabs(r.krang.travel_m) < 0.4);
	}
}

/* Without the waist's rate in the lean's rate it would be 13 degrees. */
TEST(test_waist_moves)
{
	stand(0.3);
	swing(0.3, 1.2);
	run_ms(20000);
	assert_stands(1.1);
}

TEST(test_push)
{
	stand(0.3);
	r.push_n = 80;
	r.push_from_ms = r.ms;
	r.push_to_ms = r.ms + 200;
	run_ms(8000);
	assert_stands(0.5);
}

/* What is lost, for how long; how far it may lean while the waist moves, and after a push. */
static const struct {
	struct outage outage;
	double moving_deg, pushed_deg;
} outages[] = {
	{ { 0, 50, .imu = true }, 1.2, 0.5 },	    { { 0, 200, .imu = true }, 2.5, 0.6 },
	{ { 0, 400, .imu = true }, 10, 1 },	    { { 0, 50, .wheels = true }, 1.3, 1 },
	{ { 0, 200, .wheels = true }, 1.4, 1 },	    { { 0, 500, .wheels = true }, 3, 1 },
	{ { 0, 50, .waist = true }, 1.2, 0.5 },	    { { 0, 300, .waist = true }, 1.2, 0.5 },
	{ { 0, 2000, .waist = true }, 1.2, 0.5 },   { { 0, 50, .controller = true }, 1.4, 1.2 },
	{ { 0, 200, .controller = true }, 2, 1.2 }, { { 0, 400, .controller = true }, 5, 2 },
};

static void lose(size_t row, int at_ms)
{
	r.outage = outages[row].outage;
	r.outage.from_ms += at_ms;
	r.outage.to_ms += at_ms;
}

TEST(test_outages_while_the_waist_moves)
{
	for (size_t i = 0; i < LEN(outages); i++)
		for (int at = 0; at < LIB_REPEAT(4); at++) {
			stand(0.3);
			r.random += (uint64_t)at;
			swing(0.3, 1.2);
			run_ms(500 + 526 * at);
			lose(i, r.ms);
			run_ms(6000);
			assert_stands(outages[i].moving_deg);
		}
}

TEST(test_outages_after_a_push)
{
	for (size_t i = 0; i < LEN(outages); i++) {
		stand(0.3);
		r.push_n = 80;
		r.push_from_ms = r.ms;
		r.push_to_ms = r.ms + 200;
		lose(i, r.push_to_ms);
		run_ms(6000);
		assert_stands(outages[i].pushed_deg);
	}
}

TEST(test_stands_up_from_its_support)
{
	begin(KRANG_START_SITTING, 2.8);
	run_ms(1000);
	TEST_ASSERT_NULL(balance_stand(&r.balance));
	run_ms(5000);
	TEST_ASSERT_EQUAL(MSG_BALANCE_STANDING, r.balance.mode);
	swing(2.8, 0.3);
	while (r.waist_rad > 0.32 && r.ms < 30000)
		tick();
	r.swing_rad_s = 0;
	run_ms(3000);
	TEST_ASSERT_EQUAL(MSG_BALANCE_STANDING, r.balance.mode);
	TEST_ASSERT_EQUAL(0, r.krang.falls);
	TEST_ASSERT_DOUBLE_WITHIN(1 * DEG, 0, krang_lean_rad(&r.krang));
}

TEST(test_sits_down)
{
	double fastest_rad_s = 0;

	stand(2.79);
	TEST_ASSERT_NULL(balance_sit(&r.balance));
	while (r.balance.mode == MSG_BALANCE_SITTING_DOWN && r.ms < 30000) {
		tick();
		fastest_rad_s = fmax(fastest_rad_s, fabs(r.krang.rate_rad_s));
	}
	TEST_ASSERT_TRUE(fastest_rad_s < 0.3); /* it sinks at 0.1 rad/s */
	run_ms(3000);
	TEST_ASSERT_EQUAL(MSG_BALANCE_OFF, r.balance.mode);
	TEST_ASSERT_DOUBLE_WITHIN(0.02, 0, r.krang.rate_rad_s);
	TEST_ASSERT_EQUAL_STRING("it does not stand", balance_sit(&r.balance));
	stand(0.3);
	TEST_ASSERT_NOT_NULL(balance_sit(&r.balance));
	TEST_ASSERT_EQUAL(MSG_BALANCE_STANDING, r.balance.mode);
}

TEST(test_stands_only_with_fresh_sensors)
{
	stand(0.3);
	TEST_ASSERT_NULL(balance_stand(&r.balance)); /* it does */
	TEST_ASSERT_EQUAL(MSG_BALANCE_STANDING, r.balance.mode);
	begin(KRANG_START_HELD, 0.3);
	r.outage = (struct outage){ 50, 1000, .wheels = true };
	run_ms(100);
	TEST_ASSERT_NOT_NULL(balance_stand(&r.balance));
	TEST_ASSERT_EQUAL(MSG_BALANCE_OFF, r.balance.mode);
}

TEST(test_drives_and_turns)
{
	stand(0.3);
	r.orders.speed_m_s = 0.3;
	run_ms(6000);
	assert_stands(5);
	TEST_ASSERT_DOUBLE_WITHIN(0.05, 0.3, r.krang.speed_m_s);
	r.orders.speed_m_s = 0;
	r.orders.turn_rad_s = 0.5;
	run_ms(4000);
	assert_stands(6);
	TEST_ASSERT_DOUBLE_WITHIN(0.05, 0.5, r.krang.turn_rad_s);
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 0, r.krang.speed_m_s);
}

TEST(test_gives_up_without_current)
{
	stand(0.3);
	r.push_n = 2000;
	r.push_from_ms = r.ms;
	r.push_to_ms = r.ms + 400;
	run_ms(3000);
	TEST_ASSERT_EQUAL(MSG_BALANCE_FALLEN, r.balance.mode);
	TEST_ASSERT_EQUAL_DOUBLE(0, r.balance.current_a[0]);
	TEST_ASSERT_EQUAL_DOUBLE(0, r.balance.current_a[1]);
	TEST_ASSERT_NOT_NULL(balance_stand(&r.balance));
}

TEST(test_disarmed_it_is_off)
{
	stand(0.3);
	r.orders.armed = false;
	run_ms(1);
	TEST_ASSERT_EQUAL(MSG_BALANCE_OFF, r.balance.mode);
	TEST_ASSERT_EQUAL_DOUBLE(0, r.balance.current_a[0]);
}

TEST(test_an_imu_that_stays_away)
{
	stand(0.3);
	r.outage = (struct outage){ r.ms, r.ms + 100000, .imu = true };
	run_ms(499);
	TEST_ASSERT_EQUAL(MSG_INPUT_PREDICTED, r.balance.estimate.imu);
	TEST_ASSERT_EQUAL(MSG_BALANCE_STANDING, r.balance.mode);
	run_ms(20);
	TEST_ASSERT_EQUAL(MSG_INPUT_LOST, r.balance.estimate.imu);
	TEST_ASSERT_EQUAL(MSG_BALANCE_FALLEN, r.balance.mode);
}

TEST(test_bias_is_found)
{
	begin(KRANG_START_HELD, 0.3);
	r.bias_rad_s = 0.5 * DEG;
	run_ms(50);
	TEST_ASSERT_NULL(balance_stand(&r.balance));
	run_ms(30000);
	TEST_ASSERT_DOUBLE_WITHIN(0.1 * DEG, 0.5 * DEG, r.balance.estimate.bias_rad_s);
	TEST_ASSERT_DOUBLE_WITHIN(0.2 * DEG, r.krang.pitch_rad, r.balance.estimate.pitch_rad);
}
