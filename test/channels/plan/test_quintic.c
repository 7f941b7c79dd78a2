/* test_quintic.c: polynomials of the fifth degree, and their peaks. */
#include <float.h>
#include <math.h>

#include "channels/plan/quintic.h"
#include "test/lib/testcase.h"

static double pick(double least, double most)
{
	return least + (most - least) * drand48();
}

static struct motion_state pick_state(void)
{
	return (struct motion_state){ pick(-3, 3), pick(-2, 2), pick(-9, 9) };
}

/* The published peaks: 15/8 D/T, 10/sqrt(3) D/T^2, 60 D/T^3. */
TEST(peaks_from_rest_to_rest_are_those_published)
{
	static const double distances[] = { 1, -0.3, 1e-9, 1e5 }, times[] = { 1, 0.02, 600 };

	for (size_t i = 0; i < 4; i++) {
		for (size_t k = 0; k < 3; k++) {
			const double d = fabs(distances[i]), s = times[k];
			struct motion_peaks p;
			struct quintic q;

			quintic_fit(&q, &(struct motion_state){ 0 }, &(struct motion_state){ .rad = distances[i] }, s);
			quintic_peaks(&q, &p);
			TEST_ASSERT_DOUBLE_WITHIN(1e-12 * d / s, 15 * d / (8 * s), fmax(p.max_rad_s, -p.min_rad_s));
			TEST_ASSERT_DOUBLE_WITHIN(1e-12 * d / (s * s), 10 / sqrt(3) * d / (s * s), p.rad_s2);
			TEST_ASSERT_DOUBLE_WITHIN(1e-12 * d / (s * s * s), 60 * d / (s * s * s), p.rad_s3);
			TEST_ASSERT_DOUBLE_WITHIN(1e-12 * d, distances[i] > 0 ? d : 0, p.max_rad);
			TEST_ASSERT_DOUBLE_WITHIN(1e-12 * d, distances[i] > 0 ? 0 : -d, p.min_rad);
		}
	}
}

TEST(the_shortest_time_reaches_one_limit_and_exceeds_none)
{
	for (int n = 0; n < 2000; n++) {
		const struct motion_limits l = { -9, 9, pow(10, pick(-3, 3)), pow(10, pick(-3, 3)),
						 n % 3 ? pow(10, pick(-3, 4)) : INFINITY };
		const double d = pick(-6, 6), s = quintic_shortest_s(d, &l);
		struct motion_peaks p;
		struct quintic q;
		double most;

		quintic_fit(&q, &(struct motion_state){ 0 }, &(struct motion_state){ .rad = d }, s);
		quintic_peaks(&q, &p);
		most = fmax(fmax(fmax(p.max_rad_s, -p.min_rad_s) / l.velocity_rad_s, p.rad_s2 / l.acceleration_rad_s2),
			    p.rad_s3 / l.jerk_rad_s3);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1, most);
	}
}

TEST(no_distance_takes_no_time_and_the_least_takes_some)
{
	const struct motion_limits l = { -1, 1, 1, 1, 1 };

	TEST_ASSERT_EQUAL_DOUBLE(0, quintic_shortest_s(0, &l));
	TEST_ASSERT_EQUAL_DOUBLE(1e-6, quintic_shortest_s(DBL_TRUE_MIN, &l));
	TEST_ASSERT_EQUAL_DOUBLE(1e-6, quintic_shortest_s(-DBL_MIN, &l));
	TEST_ASSERT_EQUAL_DOUBLE(cbrt(60), quintic_shortest_s(1, &l));
	TEST_ASSERT_EQUAL_DOUBLE(15.0 / 8, quintic_shortest_s(1, &(struct motion_limits){ -1, 1, 1, 100, INFINITY }));
	TEST_ASSERT_EQUAL_DOUBLE(sqrt(10 / sqrt(3)),
				 quintic_shortest_s(1, &(struct motion_limits){ -1, 1, 9, 1, 1e9 }));
}

/* A fine grid finds never more than the peaks, and hardly less. */
TEST(peaks_are_those_of_a_fine_grid)
{
	const int steps = 2000;

	for (int n = 0; n < 300; n++) {
		const struct motion_state from = pick_state(), to = pick_state();
		const double s = pow(10, pick(-1, 1));
		struct motion_peaks p, grid = { INFINITY, -INFINITY, INFINITY, -INFINITY, 0, 0 };
		struct motion_state at, last;
		struct quintic q;

		quintic_fit(&q, &from, &to, s);
		quintic_peaks(&q, &p);
		quintic_at(&q, 0, &last);
		for (int i = 0; i <= steps; i++) {
			const double tiny = 1e-9 * s;
			struct motion_state before, after;

			quintic_at(&q, s * i / steps, &at);
			grid.min_rad = fmin(grid.min_rad, at.rad);
			grid.max_rad = fmax(grid.max_rad, at.rad);
			grid.min_rad_s = fmin(grid.min_rad_s, at.rad_s);
			grid.max_rad_s = fmax(grid.max_rad_s, at.rad_s);
			grid.rad_s2 = fmax(grid.rad_s2, fabs(at.rad_s2));
			if (i)
				grid.rad_s3 = fmax(grid.rad_s3, fabs(at.rad_s2 - last.rad_s2) * steps / s);
			last = at;
			/* Each is the derivative of the one before. */
			if (i == 0 || i == steps || i % 100)
				continue;
			quintic_at(&q, s * i / steps - 1e3 * tiny, &before);
			quintic_at(&q, s * i / steps + 1e3 * tiny, &after);
			TEST_ASSERT_DOUBLE_WITHIN(1e-4 * (1 + 1 / s), (after.rad - before.rad) / 2e3 / tiny, at.rad_s);
			TEST_ASSERT_DOUBLE_WITHIN(1e-3 * (1 + 1 / s / s), (after.rad_s - before.rad_s) / 2e3 / tiny,
						  at.rad_s2);
		}
		TEST_ASSERT_TRUE(grid.min_rad >= p.min_rad - 1e-9 && grid.max_rad <= p.max_rad + 1e-9);
		TEST_ASSERT_TRUE(grid.min_rad_s >= p.min_rad_s - 1e-9 / s && grid.max_rad_s <= p.max_rad_s + 1e-9 / s);
		TEST_ASSERT_TRUE(grid.rad_s2 <= p.rad_s2 * (1 + 1e-9) && grid.rad_s3 <= p.rad_s3 * (1 + 1e-6));
		TEST_ASSERT_DOUBLE_WITHIN(1e-4, grid.min_rad, p.min_rad);
		TEST_ASSERT_DOUBLE_WITHIN(1e-4, grid.max_rad, p.max_rad);
		TEST_ASSERT_DOUBLE_WITHIN(1e-4 * (1 + 1 / s), grid.min_rad_s, p.min_rad_s);
		TEST_ASSERT_DOUBLE_WITHIN(1e-4 * (1 + 1 / s), grid.max_rad_s, p.max_rad_s);
		TEST_ASSERT_DOUBLE_WITHIN(1e-3 * grid.rad_s2, grid.rad_s2, p.rad_s2);
		TEST_ASSERT_DOUBLE_WITHIN(1e-2 * grid.rad_s3, grid.rad_s3, p.rad_s3);
	}
}

TEST(both_ends_are_exact)
{
	for (int n = 0; n < 1000; n++) {
		const struct motion_state from = pick_state(), to = pick_state();
		struct motion_state at;
		struct quintic q;

		quintic_fit(&q, &from, &to, pick(0.01, 9));
		for (double s = -1; s <= 0; s++) {
			quintic_at(&q, s, &at);
			TEST_ASSERT_EQUAL_DOUBLE(from.rad, at.rad);
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, from.rad_s, at.rad_s);
			TEST_ASSERT_DOUBLE_WITHIN(1e-10, from.rad_s2, at.rad_s2);
		}
		quintic_at(&q, q.total_s * (1 - 1e-12), &at);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, to.rad, at.rad);
		quintic_at(&q, q.total_s, &at);
		TEST_ASSERT_EQUAL_MEMORY(&to, &at, sizeof(at));
		quintic_at(&q, 1e9, &at);
		TEST_ASSERT_EQUAL_MEMORY(&to, &at, sizeof(at));
	}
}

TEST(one_without_a_time_is_at_its_end)
{
	const struct motion_state to = { 2, 0, 0 };
	struct motion_state at;
	struct quintic q;

	quintic_fit(&q, &(struct motion_state){ 1, 0, 0 }, &to, 0);
	for (double s = -1; s <= 1; s++) {
		quintic_at(&q, s, &at);
		TEST_ASSERT_EQUAL_MEMORY(&to, &at, sizeof(at));
	}
}
