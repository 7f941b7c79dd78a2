/* test_pendulum.c: the pendulum against physics, and its controller against the pendulum. */
#include <math.h>

#include "test/lib/testcase.h"

#include "daemons/demo/pendulum.h"
#include "daemons/demo/work.h"

#define LEN(array) (sizeof(array) / sizeof(*(array)))
#define STEP_S 0.00025
#define GRAVITY 9.81

static const struct pendulum_body free_body = { 1, 0.1, 0, 0.5 }, damped = { 2, 0.3, 0.05, 1 };

static void run_for(const struct pendulum_body *body, struct pendulum *p, double torque_nm, double t_s)
{
	for (long n = lround(t_s / STEP_S); n > 0; n--)
		pendulum_step(body, p, torque_nm, STEP_S);
}

/* ---- the world ---- */

static const struct pendulum starts[] = { { 0.1, 0 }, { 1, -3 }, { 3, 0 }, { -2, 15 }, { 0, 40 } };

TEST(test_energy_is_kept_without_friction)
{
	for (size_t i = 0; i < LEN(starts); i++) {
		struct pendulum p = starts[i];
		const double before = pendulum_energy(&free_body, &p);

		run_for(&free_body, &p, 0, 10);
		TEST_ASSERT_DOUBLE_WITHIN(1e-7, before, pendulum_energy(&free_body, &p));
	}
}

TEST(test_friction_takes_energy_in_every_step)
{
	for (size_t i = 0; i < LEN(starts); i++) {
		struct pendulum p = starts[i];

		for (int n = 0; n < 4000; n++) {
			const double before = pendulum_energy(&damped, &p);

			pendulum_step(&damped, &p, 0, STEP_S);
			TEST_ASSERT_TRUE(pendulum_energy(&damped, &p) <= before + 1e-12);
		}
	}
}

TEST(test_motor_adds_its_work)
{
	struct pendulum p = { 0, 5 };
	const double before = pendulum_energy(&free_body, &p);

	run_for(&free_body, &p, 0.3, 0.5);
	TEST_ASSERT_DOUBLE_WITHIN(1e-7, before + 0.3 * p.angle_rad, pendulum_energy(&free_body, &p));
}

/* With a torque it rests where gravity has the same. */
TEST(test_equilibria_stay)
{
	static const struct {
		double angle_rad, torque_nm, within_rad;
	} rows[] = {
		{ 0, 0, 0 },
		{ M_PI, 0, 1e-9 },
		{ -M_PI, 0, 1e-9 },
		{ 0.4, 0.38201939380, 1e-7 },
		{ M_PI - 0.4, 0.38201939380, 1e-3 },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct pendulum p = { rows[i].angle_rad, 0 };

		run_for(&free_body, &p, rows[i].torque_nm, 1);
		TEST_ASSERT_DOUBLE_WITHIN(rows[i].within_rad, rows[i].angle_rad, p.angle_rad);
	}
}

TEST(test_small_swing_has_the_period_of_the_textbook)
{
	struct pendulum p = { 0.001, 0 };
	const double period_s = 2 * M_PI * sqrt(free_body.length_m / GRAVITY);

	for (int n = 0; n < 1000; n++)
		pendulum_step(&free_body, &p, 0, period_s / 1000);
	TEST_ASSERT_DOUBLE_WITHIN(1e-8, 0.001, p.angle_rad);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0, p.rate_rad_s);
}

TEST(test_half_the_step_is_sixteen_times_as_exact)
{
	double error[2];

	for (int k = 0; k < 2; k++) {
		const int steps = 50 << k;
		struct pendulum coarse = { 2, 3 }, fine = coarse;

		for (int n = 0; n < steps; n++)
			pendulum_step(&damped, &coarse, 0.5, 0.5 / steps);
		for (int n = 0; n < 10000; n++)
			pendulum_step(&damped, &fine, 0.5, 0.5 / 10000);
		error[k] = fabs(coarse.angle_rad - fine.angle_rad);
	}
	TEST_ASSERT_DOUBLE_WITHIN(2, 16, error[0] / error[1]);
}

TEST(test_motor_is_limited)
{
	static const double rows[][2] = { { 0.2, 0.2 }, { -0.2, -0.2 }, { 3, 0.5 }, { -3, -0.5 }, { INFINITY, 0.5 } };

	for (size_t i = 0; i < LEN(rows); i++) {
		struct pendulum asked = { 1, 1 }, got = asked;

		TEST_ASSERT_EQUAL_DOUBLE(rows[i][1], pendulum_limit(&free_body, rows[i][0]));
		pendulum_step(&free_body, &asked, rows[i][0], STEP_S);
		pendulum_step(&free_body, &got, rows[i][1], STEP_S);
		TEST_ASSERT_EQUAL_DOUBLE(got.rate_rad_s, asked.rate_rad_s);
	}
}

/* ---- the controller ---- */

TEST(test_error_is_the_way_to_the_nearest_top)
{
	static const double rows[][2] = {
		{ M_PI, 0 },
		{ -M_PI, 0 },
		{ 5 * M_PI, 0 },
		{ M_PI + 0.1, 0.1 },
		{ -M_PI + 0.1, 0.1 },
		{ 3 * M_PI - 0.2, -0.2 },
		{ M_PI / 2, -M_PI / 2 },
	};

	for (size_t i = 0; i < LEN(rows); i++)
		TEST_ASSERT_DOUBLE_WITHIN(1e-12, rows[i][1], pendulum_error(&(struct pendulum){ rows[i][0], 0 }));
}

TEST(test_near_the_top_is_where_the_motor_can_hold_it)
{
	static const struct {
		struct pendulum at;
		bool near;
	} rows[] = {
		{ { M_PI, 0 }, true },	       { { -M_PI, 0 }, true },	       { { M_PI + 0.3, 0 }, true },
		{ { M_PI + 0.45, 0 }, false }, { { M_PI, 6 }, false },	       { { M_PI, 3 }, true },
		{ { M_PI - 0.45, 4 }, true },  { { M_PI - 0.45, -4 }, false }, { { M_PI - 0.6, 6 }, false },
		{ { 0, 0 }, false },
	};

	for (size_t i = 0; i < LEN(rows); i++)
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].near, pendulum_is_near_top(&pendulum_small, &rows[i].at), "row");
}

TEST(test_swing_adds_the_energy_that_is_missing_and_takes_the_rest)
{
	static const struct {
		struct pendulum at;
		double torque_nm;
	} rows[] = {
		{ { 0, 0 }, 0.5 },   { { 0, 1 }, 0.5 },	  { { 0, -1 }, -0.5 },
		{ { 0, 30 }, -0.5 }, { { 0, -30 }, 0.5 }, { { M_PI, 0 }, 0 },
	};

	for (size_t i = 0; i < LEN(rows); i++)
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, rows[i].torque_nm, pendulum_swing(&pendulum_small, &rows[i].at));
}

TEST(test_balance_pushes_to_the_top_and_brakes)
{
	static const struct {
		struct pendulum at;
		int sign;
	} rows[] = {
		{ { M_PI, 0 }, 0 },    { { M_PI + 0.01, 0 }, -1 }, { { M_PI - 0.01, 0 }, 1 },
		{ { M_PI, 0.1 }, -1 }, { { M_PI, -0.1 }, 1 },
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		const double torque_nm = pendulum_balance(&pendulum_small, &rows[i].at);

		TEST_ASSERT_EQUAL(rows[i].sign, (torque_nm > 1e-12) - (torque_nm < -1e-12));
		TEST_ASSERT_EQUAL_DOUBLE(torque_nm, pendulum_control(&pendulum_small, &rows[i].at));
	}
}

/* From everywhere it stands within three seconds, and stays for ten.  The motor could not lift it at once. */
TEST(test_pendulum_is_swung_up_and_balanced)
{
	static const struct pendulum from[] = { { 0, 0 }, { 1, 0 }, { -2, 5 }, { 0, 30 }, { M_PI, 10 }, { 3, 0 } };

	TEST_ASSERT_TRUE(pendulum_small.torque_max_nm < 0.6 * pendulum_energy_up(&pendulum_small));
	for (size_t i = 0; i < LEN(from); i++) {
		struct pendulum p = from[i];

		for (int cycle = 0; cycle < 13000; cycle++) {
			const double torque_nm = pendulum_control(&pendulum_small, &p);

			run_for(&pendulum_small, &p, torque_nm, 0.001);
			TEST_ASSERT_TRUE(fabs(torque_nm) <= pendulum_small.torque_max_nm);
			TEST_ASSERT_TRUE(cycle < 3000 || fabs(pendulum_error(&p)) < 0.01);
		}
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, pendulum_energy_up(&pendulum_small),
					  pendulum_energy(&pendulum_small, &p));
	}
}

/* ---- computing cost ---- */

TEST(test_cost_is_constant_or_varies_around_its_mean)
{
	const struct work constant = { .mean_ns = 50000 }, varies = { .mean_ns = 50000, .seed = 3 };
	const struct work other = { .mean_ns = 50000, .seed = 4 };
	double sum_ns = 0;
	int same = 0;

	for (uint64_t i = 0; i < 10000; i++) {
		const int64_t cost_ns = work_cost_ns(&varies, i);

		TEST_ASSERT_EQUAL(50000, work_cost_ns(&constant, i));
		TEST_ASSERT_EQUAL(cost_ns, work_cost_ns(&varies, i));
		TEST_ASSERT_TRUE(cost_ns >= 0 && cost_ns <= 100000);
		same += cost_ns == work_cost_ns(&other, i);
		sum_ns += (double)cost_ns;
	}
	TEST_ASSERT_DOUBLE_WITHIN(1000, 50000, sum_ns / 10000);
	TEST_ASSERT_TRUE(same < 10);
}
