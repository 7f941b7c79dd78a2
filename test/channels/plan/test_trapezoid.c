/* test_trapezoid.c: motions within limits of velocity and acceleration. */
#include <math.h>

#include "channels/plan/trapezoid.h"
#include "test/lib/testcase.h"

static const struct trapezoid_limits limits = { 0.5, 2 };

TEST(known_motions)
{
	static const struct {
		const char *name;
		double from, speed, to;
		double total_s;
		double at_s, position, velocity;
	} cases[] = {
		{ "a trapezoid", 0, 0, 1, 2.25, 1.125, 0.5, 0.5 },
		{ "backwards", 1, 0, 0, 2.25, 0.25, 0.9375, -0.5 },
		{ "a triangle", 0, 0, 0.08, 0.4, 0.2, 0.04, 0.4 },
		{ "exactly no plateau", 0, 0, 0.125, 0.5, 0.25, 0.0625, 0.5 },
		{ "nowhere", 0.3, 0, 0.3, 0, 0, 0.3, 0 },
		{ "already at speed", 0, 0.5, 1, 2.125, 1, 0.5, 0.5 },
		{ "already braking", 0, 0.4, 0.04, 0.2, 0.1, 0.03, 0.2 },
		{ "the wrong way", 0, -0.5, 0.5, 1.625, 0.25, -0.0625, 0 },
		{ "too fast to stop", 0, 0.5, 0, 0.6035533905932737, 0.25, 0.0625, 0 },
		{ "a little too fast", 0, 0.5, 0.05, 0.4081138830084190, 0.25, 0.0625, 0 },
		{ "above the limit", 0, 1, 1, 2, 0.25, 0.1875, 0.5 },
		{ "before its begin", 0, 0, 1, 2.25, -1, 0, 0 },
		{ "after its end", 0, 0, 1, 2.25, 3, 1, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct motion_state at;
		struct trapezoid t;

		trapezoid_plan(&t, cases[i].from, cases[i].speed, cases[i].to, &limits);
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-7, cases[i].total_s, t.total_s, cases[i].name);
		trapezoid_at(&t, cases[i].at_s, &at);
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-7, cases[i].position, at.rad, cases[i].name);
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-7, cases[i].velocity, at.rad_s, cases[i].name);
	}
}

/* Whatever the begin: continuous, within the limits, and exactly there at the end. */
TEST(every_motion_keeps_its_limits_and_arrives)
{
	const double dt_s = 0.001;

	for (int n = 0; n < 400; n++) {
		const double from = (n * 37 % 101 - 50) / 25.0, to = (n * 53 % 97 - 48) / 25.0;
		const double speed = (n * 29 % 21 - 10) / 20.0;
		struct motion_state at, last;
		struct trapezoid t;

		trapezoid_plan(&t, from, speed, to, &limits);
		trapezoid_at(&t, 0, &last);
		if (t.total_s > 0) {
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, from, last.rad);
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, speed, last.rad_s);
		}
		for (double s = dt_s; s < t.total_s + 2 * dt_s; s += dt_s) {
			trapezoid_at(&t, s, &at);
			TEST_ASSERT_TRUE(fabs(at.rad_s) <= limits.velocity_rad_s + 1e-9);
			TEST_ASSERT_TRUE(fabs(at.rad_s - last.rad_s) <= limits.acceleration_rad_s2 * dt_s + 1e-9);
			TEST_ASSERT_DOUBLE_WITHIN(2e-6, last.rad + (last.rad_s + at.rad_s) / 2 * dt_s, at.rad);
			last = at;
		}
		TEST_ASSERT_EQUAL_DOUBLE(to, last.rad);
		TEST_ASSERT_EQUAL_DOUBLE(0, last.rad_s);
	}
}
