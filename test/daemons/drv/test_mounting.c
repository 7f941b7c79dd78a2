/* test_mounting.c: vectors and orientations of a sensor, in the axes of the robot. */
#include <math.h>

#include "daemons/drv/mounting.h"
#include "daemons/drv/mounting_settings.h"
#include "test/lib/testcase.h"

#define TINY 1e-12
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static const struct {
	double degrees[3], from[3], to[3];
} vectors[] = {
	{ { 0, 0, 0 }, { 1, 2, 3 }, { 1, 2, 3 } },
	{ { 90, 0, 0 }, { 1, 2, 3 }, { 1, -3, 2 } }, /* about x */
	{ { 0, 90, 0 }, { 1, 2, 3 }, { 3, 2, -1 } },
	{ { 0, 0, 90 }, { 1, 2, 3 }, { -2, 1, 3 } },
	{ { 90, 90, 0 }, { 1, 2, 3 }, { 2, -3, -1 } }, /* x first, */
	{ { 90, 0, 90 }, { 1, 2, 3 }, { 3, 1, 2 } },
	{ { 0, 90, 90 }, { 1, 2, 3 }, { -2, 3, -1 } }, /* then y, then z */
	{ { 180, 0, -180 }, { 1, 2, 3 }, { -1, 2, -3 } },
	{ { 360, -360, 360 }, { 1, 2, 3 }, { 1, 2, 3 } },
	{ { 45, 0, 0 }, { 0, 1, 0 }, { 0, M_SQRT1_2, M_SQRT1_2 } },
	{ { 0, 0, -45 }, { 1, 0, 0 }, { M_SQRT1_2, -M_SQRT1_2, 0 } },
};

TEST(vectors_are_turned_about_x_then_y_then_z)
{
	for (size_t i = 0; i < COUNT(vectors); i++) {
		const struct mounting m = mounting_of(vectors[i].degrees);
		double v[3];

		memcpy(v, vectors[i].from, sizeof(v));
		mounting_turn(&m, v);
		for (unsigned int axis = 0; axis < 3; axis++)
			TEST_ASSERT_DOUBLE_WITHIN(TINY, vectors[i].to[axis], v[axis]);
	}
}

TEST(a_sensor_that_is_not_turned_is_exact)
{
	static const double none[3], before[3] = { 0.1, -1e-300, 9.81 };
	const struct mounting m = mounting_of(none);
	double v[3] = { before[0], before[1], before[2] };

	mounting_turn(&m, v);
	TEST_ASSERT_EQUAL_MEMORY(before, v, sizeof(v));
}

/* A sensor that stands as it is mounted is on a robot that stands upright. */
TEST(the_orientation_of_the_mounting_is_none_of_the_robot)
{
	for (size_t i = 0; i < COUNT(vectors); i++) {
		const struct mounting m = mounting_of(vectors[i].degrees);
		double q[4];

		memcpy(q, m.q, sizeof(q));
		mounting_orient(&m, q);
		TEST_ASSERT_DOUBLE_WITHIN(TINY, 1, q[0]);
		for (unsigned int axis = 0; axis < 3; axis++)
			TEST_ASSERT_DOUBLE_WITHIN(TINY, 0, q[1 + axis]);
	}
}

TEST(an_unknown_orientation_stays_unknown)
{
	const struct mounting m = mounting_of(vectors[4].degrees);
	double q[4] = { NAN, NAN, NAN, NAN };

	mounting_orient(&m, q);
	for (unsigned int i = 0; i < 4; i++)
		TEST_ASSERT_TRUE(isnan(q[i]));
}

TEST(the_setting_is_three_angles)
{
	struct sensor {
		double mounting_deg[3];
	} sensor = { { 7, 7, 7 } };
	static const struct settings_row rows[] = { MOUNTING_SETTINGS_ROW(struct sensor, "the robot"), SETTINGS_END };
	struct settings settings = { .rows = rows, .values = &sensor };
	struct error_sink errors = { 0 };

	TEST_ASSERT_EQUAL(0, settings_defaults(&settings, &errors));
	TEST_ASSERT_EQUAL_DOUBLE(0, sensor.mounting_deg[0]);
	TEST_ASSERT_EQUAL(0, settings_assign(&settings, "--set", "mounting=[10, -20, 360]", &errors));
	TEST_ASSERT_EQUAL_DOUBLE(-20, sensor.mounting_deg[1]);
	TEST_ASSERT_NOT_EQUAL(0, settings_assign(&settings, "--set", "mounting=[0, 0, 361]", &errors));
	TEST_ASSERT_NOT_EQUAL(0, settings_assign(&settings, "--set", "mounting=[0, 45]", &errors));
	TEST_ASSERT_EQUAL_DOUBLE(10, sensor.mounting_deg[0]);
}
