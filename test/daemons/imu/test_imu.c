/* test_imu.c: how an inertial sensor is mounted. */
#include <math.h>

#include "daemons/imu/dmu.h"
#include "test/daemons/imu/imu_page.h"
#include "test/lib/testcase.h"

#define TINY 1e-12

static void say_mount(char said[PAGE_LIB_TEXT], char *words)
{
	struct imu_sample sample = { 0 };
	struct mounting mounting;
	double deg[3], v[3];

	TEST_ASSERT_EQUAL(6, sscanf(words, "%lf %lf %lf: %lf %lf %lf", &deg[0], &deg[1], &deg[2], &v[0], &v[1], &v[2]));
	mounting = mounting_of(deg);
	memcpy(sample.acceleration_m_s2, v, sizeof(v));
	for (unsigned int i = 0; i < 3; i++)
		sample.rate_rad_s[i] = -2 * v[i];
	imu_mount(&mounting, &sample);
	for (unsigned int i = 0; i < 3; i++) { /* both are turned alike */
		v[i] = imu_page_round(sample.acceleration_m_s2[i]);
		TEST_ASSERT_DOUBLE_WITHIN(TINY, -2 * sample.acceleration_m_s2[i], sample.rate_rad_s[i]);
	}
	sprintf(said, "%.6f %.6f %.6f", v[0], v[1], v[2]);
}

TEST(the_pages_mountings)
{
	TEST_ASSERT_EQUAL(7, page_lib_each(IMU_PAGE, "mount", say_mount));
}

TEST(a_sensor_that_is_not_turned_is_exact)
{
	static const double none[3];
	struct imu_sample sample = { .acceleration_m_s2 = { 0.1, -0.2, 9.81 }, .rate_rad_s = { 1e-3, -1e-300, 7 } };
	const struct imu_sample before = sample;
	struct mounting mounting;

	mounting = mounting_of(none);
	imu_mount(&mounting, &sample);
	TEST_ASSERT_TRUE(imu_same(&before, &sample));
}

/* Turned by 90 degrees about z: its x axis is the robot's y.  If its x is the world's x, the robot's y is. */
TEST(the_orientation_is_that_of_the_robot)
{
	static const double deg[3] = { 0, 0, 90 };
	struct imu_sample sample = { .orientation = { 1, 0, 0, 0 } };
	struct mounting mounting;

	mounting = mounting_of(deg);
	imu_mount(&mounting, &sample);
	TEST_ASSERT_DOUBLE_WITHIN(TINY, sqrt(0.5), sample.orientation[0]);
	TEST_ASSERT_DOUBLE_WITHIN(TINY, 0, sample.orientation[1]);
	TEST_ASSERT_DOUBLE_WITHIN(TINY, 0, sample.orientation[2]);
	TEST_ASSERT_DOUBLE_WITHIN(TINY, -sqrt(0.5), sample.orientation[3]);
	sample = (struct imu_sample){ .orientation = { 0.5, -0.5, 0.5, 0.5 } };
	imu_mount(&mounting, &sample);
	TEST_ASSERT_DOUBLE_WITHIN(TINY, sqrt(0.5), sample.orientation[0]);
	TEST_ASSERT_DOUBLE_WITHIN(TINY, -sqrt(0.5), sample.orientation[1]);
	TEST_ASSERT_DOUBLE_WITHIN(TINY, 0, sample.orientation[2]);
	TEST_ASSERT_DOUBLE_WITHIN(TINY, 0, sample.orientation[3]);
	sample.orientation[0] = sample.orientation[1] = sample.orientation[2] = sample.orientation[3] = NAN;
	imu_mount(&mounting, &sample);
	TEST_ASSERT_TRUE(isnan(sample.orientation[0]) && isnan(sample.orientation[3]));
}

static void turn(double to[3], const double q[4], const double v[3])
{
	const double w = q[0], x = q[1], y = q[2], z = q[3];

	to[0] = (1 - 2 * (y * y + z * z)) * v[0] + 2 * (x * y - w * z) * v[1] + 2 * (x * z + w * y) * v[2];
	to[1] = 2 * (x * y + w * z) * v[0] + (1 - 2 * (x * x + z * z)) * v[1] + 2 * (y * z - w * x) * v[2];
	to[2] = 2 * (x * z - w * y) * v[0] + 2 * (y * z + w * x) * v[1] + (1 - 2 * (x * x + y * y)) * v[2];
}

/* Whatever the mounting, a vector is the same in the world, by the sensor's orientation and by the robot's. */
TEST(the_world_stays_where_it_is)
{
	static const double q[][4] = {
		{ 1, 0, 0, 0 }, { 0.1, 0.7, 0.1, 0.7 }, { 0.5, 0.5, -0.5, 0.5 }, { 0, 0.6, 0.8, 0 }
	};
	static const double mountings[][3] = { { 10, 20, 30 }, { -100, 70, 160 }, { 45, 0, -45 }, { 0, -30, 200 } };
	static const double v[3] = { 1, -2, 3 };

	for (unsigned int i = 0; i < 16; i++) {
		struct imu_sample sample = { .acceleration_m_s2 = { v[0], v[1], v[2] } };
		struct mounting mounting;
		double before[3], after[3];

		memcpy(sample.orientation, q[i / 4], sizeof(sample.orientation));
		turn(before, sample.orientation, sample.acceleration_m_s2);
		mounting = mounting_of(mountings[i % 4]);
		imu_mount(&mounting, &sample);
		turn(after, sample.orientation, sample.acceleration_m_s2);
		for (unsigned int j = 0; j < 3; j++)
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, before[j], after[j]);
	}
}

/* What the message says of the sample of these two frames, mounted as on Krang. */
static void krang(const struct frame *rate, const struct frame *acceleration, double *pitch, double *pitch_rate)
{
	static const double deg[3] = { 0, 0, 135 };
	struct dmu dmu = { .window_ns = 1 };
	struct mounting mounting;
	struct imu_sample sample;

	mounting = mounting_of(deg);
	TEST_ASSERT_FALSE(dmu_take(&dmu, rate, 1, &sample));
	TEST_ASSERT_TRUE(dmu_take(&dmu, acceleration, 2, &sample));
	imu_mount(&mounting, &sample);
	*pitch = atan2(-sample.acceleration_m_s2[0], sample.acceleration_m_s2[2]);
	*pitch_rate = sample.rate_rad_s[1];
}

static void say_krang(char said[PAGE_LIB_TEXT], char *words)
{
	struct frame frames[2];
	double pitch, rate;

	TEST_ASSERT_TRUE(page_lib_frame(&words, &frames[0]) && page_lib_frame(&words, &frames[1]));
	krang(&frames[0], &frames[1], &pitch, &rate);
	sprintf(said, "pitch %.6f rate %.6f", imu_page_round(pitch), imu_page_round(rate));
}

TEST(the_pages_vectors_of_krangs_formula)
{
	TEST_ASSERT_EQUAL(4, page_lib_each(IMU_PAGE, "krang", say_krang));
}

static struct frame words(uint32_t id, int x, int y, int z)
{
	const int v[3] = { x, y, z };
	struct frame f = { .id = id, .len = 8 };

	for (unsigned int i = 0; i < 6; i++)
		f.data[i] = (uint8_t)((uint16_t)v[i / 2] >> 8 * (i % 2));
	return f;
}

/* Its formula, as it was published, for any counts of the device. */
TEST(mounted_at_135_degrees_the_message_is_krangs_formula)
{
	const double m = -45 * M_PI / 180, rad_s = 0.008 * M_PI / 180;

	for (unsigned int i = 0; i < 2000; i++) {
		const int dq = (int)(i * 7919 % 60001) - 30000, dp = (int)(i * 104729 % 60001) - 30000;
		const int ax = (int)(i * 1299709 % 6001) - 3000, ay = (int)(i * 15485863u % 6001) - 3000;
		const int az = (int)(i * 32452843u % 8001) - 4000;
		const struct frame rate = words(DMU_ID_RATE, dq, dp, (int)i);
		const struct frame acceleration = words(DMU_ID_ACCELERATION, ax, ay, az);
		double pitch, pitch_rate;

		krang(&rate, &acceleration, &pitch, &pitch_rate);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, atan2(ax * cos(m) - ay * sin(m), az), pitch);
		TEST_ASSERT_DOUBLE_WITHIN(1e-9, (dp * sin(m) + dq * cos(m)) * rad_s, pitch_rate);
	}
}

/* Leaning forward by a, the robot feels its weight backwards; falling forward, it turns about +y. */
TEST(pitch_forward_is_positive)
{
	static const double deg[3] = { 10, -20, 30 };
	const double lean = 0.3;
	struct mounting mounting;
	struct imu_sample sample = { 0 };

	/* In the robot's axes, then as the sensor has it: the inverse is three mountings one after the other. */
	double force[3] = { -9.81 * sin(lean), 0, 9.81 * cos(lean) }, rate[3] = { 0, 0.5, 0 };

	for (unsigned int axis = 3; axis-- > 0;) {
		double one[3] = { 0, 0, 0 };

		one[axis] = -deg[axis];
		memcpy(sample.acceleration_m_s2, force, sizeof(force));
		memcpy(sample.rate_rad_s, rate, sizeof(rate));
		mounting = mounting_of(one);
		imu_mount(&mounting, &sample);
		memcpy(force, sample.acceleration_m_s2, sizeof(force));
		memcpy(rate, sample.rate_rad_s, sizeof(rate));
	}
	mounting = mounting_of(deg);
	imu_mount(&mounting, &sample);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, lean, atan2(-sample.acceleration_m_s2[0], sample.acceleration_m_s2[2]));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.5, sample.rate_rad_s[1]);
}

TEST(any_value_makes_a_sample_another_one)
{
	struct imu_sample a = { .acceleration_m_s2 = { 1, 2, 3 }, .rate_rad_s = { 4, 5, 6 } }, b = a;

	b.t_ns = 7;
	b.status = 8;
	TEST_ASSERT_TRUE(imu_same(&a, &b));
	for (unsigned int i = 0; i < 3; i++) {
		b = a;
		b.acceleration_m_s2[i] += 1e-9;
		TEST_ASSERT_FALSE(imu_same(&a, &b));
		b = a;
		b.rate_rad_s[i] += 1e-9;
		TEST_ASSERT_FALSE(imu_same(&a, &b));
	}
}
