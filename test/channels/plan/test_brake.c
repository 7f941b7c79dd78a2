/* test_brake.c: to rest in the shortest time. */
#include <math.h>

#include "channels/plan/brake.h"
#include "test/lib/testcase.h"

static double pick(double least, double most)
{
	return least + (most - least) * drand48();
}

TEST(known_stops)
{
	static const struct {
		const char *name;
		struct motion_state from;
		double acceleration, jerk, total_s, end_rad;
	} cases[] = {
		{ "without a limit of jerk", { 1, 2, 0 }, 4, INFINITY, 0.5, 1.5 },
		{ "backwards", { 1, -2, 0 }, 4, INFINITY, 0.5, 0.5 },
		{ "at rest", { 3, 0, 0 }, 4, INFINITY, 0, 3 },
		{ "at rest, with jerk", { 3, 0, 0 }, 4, 8, 0, 3 },
		{ "still accelerating, without a limit of jerk", { 3, 0, 2 }, 4, INFINITY, 0, 3 },
		{ "a triangle", { 0, 2, 0 }, 4, 8, 1, 1 },
		{ "a plateau", { 0, 4, 0 }, 4, 8, 1.5, 3 },
		{ "already braking", { 0, 1, -4 }, 4, 8, 0.5, 1.0 / 6 },
		{ "braking too hard: it turns", { 0, 0, -4 }, 4, 8, 1.2071067811865475, -0.6868867239266072 },
		{ "half way of the triangle backwards", { 0, -1, 4 }, 4, 8, 0.5, -1.0 / 6 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct motion_limits l = { -9, 9, 9, cases[i].acceleration, cases[i].jerk };
		struct motion_state at;
		struct brake b;

		brake_plan(&b, &cases[i].from, &l);
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-9, cases[i].total_s, b.total_s, cases[i].name);
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-9, cases[i].end_rad, b.end_rad, cases[i].name);
		brake_at(&b, b.total_s, &at);
		TEST_ASSERT_EQUAL_DOUBLE(b.end_rad, at.rad);
		TEST_ASSERT_EQUAL_DOUBLE(0, at.rad_s);
		TEST_ASSERT_EQUAL_DOUBLE(0, at.rad_s2);
	}
}

/* From any state: continuous, never harder than the limits (or than at its begin), and at rest at its end. */
TEST(every_stop_keeps_its_limits)
{
	const int steps = 500;

	for (int n = 0; n < 3000; n++) {
		const struct motion_limits l = { -9, 9, 1, pow(10, pick(-2, 2)),
						 n % 4 ? pow(10, pick(-1, 4)) : INFINITY };
		const double most = l.acceleration_rad_s2;
		const struct motion_state from = { pick(-3, 3), n % 5 ? pick(-5, 5) : 0,
						   n % 3 ? pick(-1.5, 1.5) * most : 0 };
		struct motion_state at, last = from;
		struct brake b;
		double dt_s;

		brake_plan(&b, &from, &l);
		dt_s = b.total_s / steps;
		brake_at(&b, -1, &at);
		if (b.total_s > 0 && isfinite(l.jerk_rad_s3)) {
			TEST_ASSERT_EQUAL_DOUBLE(from.rad, at.rad);
			TEST_ASSERT_EQUAL_DOUBLE(from.rad_s, at.rad_s);
			TEST_ASSERT_EQUAL_DOUBLE(from.rad_s2, at.rad_s2);
		}
		for (int i = 1; i <= steps; i++) {
			brake_at(&b, i < steps ? i * dt_s : b.total_s, &at);
			TEST_ASSERT_TRUE(fabs(at.rad_s2) <= fmax(most, fabs(from.rad_s2)) * (1 + 1e-9));
			if (isfinite(l.jerk_rad_s3))
				TEST_ASSERT_TRUE(fabs(at.rad_s2 - last.rad_s2) <=
						 l.jerk_rad_s3 * dt_s * (1 + 1e-6) + 1e-9 * most);
			TEST_ASSERT_TRUE(fabs(at.rad_s - last.rad_s) <=
					 fmax(most, fabs(from.rad_s2)) * dt_s * (1 + 1e-6) + 1e-9);
			TEST_ASSERT_DOUBLE_WITHIN(most * dt_s * dt_s + 1e-9,
						  last.rad + (last.rad_s + at.rad_s) / 2 * dt_s, at.rad);
			last = at;
		}
		TEST_ASSERT_EQUAL_DOUBLE(b.end_rad, at.rad);
		TEST_ASSERT_EQUAL_DOUBLE(0, at.rad_s);
		/* No shorter one exists: the velocity alone, or the acceleration alone, takes as long. */
		TEST_ASSERT_TRUE(b.total_s >= fabs(from.rad_s) / fmax(most, fabs(from.rad_s2)) * (1 - 1e-9));
		if (!isinf(l.jerk_rad_s3)) {
			TEST_ASSERT_TRUE(b.total_s >= fabs(from.rad_s2) / l.jerk_rad_s3 * (1 - 1e-9));
			TEST_ASSERT_TRUE(b.total_s <=
					 2 * (fabs(from.rad_s) + from.rad_s2 * from.rad_s2 / l.jerk_rad_s3) / most +
						 2 * (most + fabs(from.rad_s2)) / l.jerk_rad_s3);
		}
	}
}

/* The claim of brake.h, against random other stops that never turn: each phase as hard as it may be or less. */
TEST(none_that_does_not_turn_stops_sooner)
{
	const struct motion_limits l = { -9, 9, 9, 4, 40 };

	for (int n = 0; n < 2000; n++) {
		const struct motion_limits weaker = { -9, 9, 9, pick(0.5, 4), pick(5, 40) };
		const struct motion_state from = { 0, pick(0, 2), 0 };
		const double way = n % 2 ? 1 : -1;
		struct motion_state at, other_at;
		struct brake other, b, of_there;

		brake_plan(&other, &(struct motion_state){ 0, way * from.rad_s, 0 }, &weaker);
		brake_plan(&b, &(struct motion_state){ 0, way * from.rad_s, 0 }, &l);
		TEST_ASSERT_TRUE(way * b.end_rad <= way * other.end_rad + 1e-9);
		/* and from anywhere on it */
		brake_at(&other, drand48() * other.total_s, &other_at);
		brake_plan(&of_there, &other_at, &l);
		TEST_ASSERT_TRUE(way * of_there.end_rad <= way * other.end_rad + 1e-9);
		for (double share = 0; share < 1; share += 0.1) {
			brake_at(&of_there, share * of_there.total_s, &at);
			TEST_ASSERT_TRUE(way * at.rad_s >= -1e-9);
		}
	}
}
