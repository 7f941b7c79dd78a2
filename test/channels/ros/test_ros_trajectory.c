/* test_ros_trajectory.c: trajectories of ROS, point by point: what is taken, what is refused and why. */
#include <math.h>

#include "channels/ros/ros_trajectory.h"
#include "test/lib/testcase.h"

static uint8_t cdr[200000];
static char error[160];

struct point {
	uint32_t positions, velocities, accelerations, effort;
	double values[3]; /* the first is that of all positions, and so on */
	int32_t sec;
	uint32_t nanosec;
};

#define SECOND_BAD -777 /* a list whose second value is infinite */

static double value_of(double first, uint32_t i)
{
	return first == SECOND_BAD && i == 1 ? INFINITY : first + i;
}

static struct cdr_out trajectory(uint32_t joints_n, const struct point *points, uint32_t n)
{
	struct cdr_out o = cdr_out(cdr, sizeof(cdr));
	char name[16];

	cdr_put_i32(&o, 0);
	cdr_put_u32(&o, 0);
	cdr_put_string(&o, "", 0);
	cdr_put_u32(&o, joints_n);
	for (uint32_t i = 0; i < joints_n; i++) {
		snprintf(name, sizeof(name), "j%u", i);
		cdr_put_string(&o, name, sizeof(name));
	}
	cdr_put_u32(&o, n);
	for (const struct point *p = points; p < points + n; p++) {
		const uint32_t lengths[4] = { p->positions, p->velocities, p->accelerations, p->effort };

		for (uint32_t k = 0; k < 4; k++) {
			cdr_put_u32(&o, lengths[k]);
			for (uint32_t i = 0; i < lengths[k]; i++)
				cdr_put_f64(&o, k < 3 ? value_of(p->values[k], i) : 99);
		}
		cdr_put_i32(&o, p->sec);
		cdr_put_u32(&o, p->nanosec);
	}
	return o;
}

/* Points that were read; -1: refused. */
static int read_all(const struct cdr_out *o, struct ros_trajectory *t, struct ros_trajectory_point *last)
{
	uint8_t *copy = malloc(o->len); /* of exactly that size, for the sanitizer */
	int r, n = 0;

	memcpy(copy, o->bytes, o->len);
	r = ros_trajectory_begin(t, copy, o->len, error, sizeof(error));
	while (!r && (r = ros_trajectory_next(t, last, error, sizeof(error))) > 0) {
		n++;
		r = 0;
		if (n == (int)t->points_n)
			break;
	}
	if (!r)
		r = ros_trajectory_next(t, last, error, sizeof(error));
	free(copy);
	return r < 0 ? -1 : n;
}

TEST(points_are_read_as_they_were_sent)
{
	static const struct point points[] = { { 2, 2, 2, 2, { 1, 2, 3 }, 0, 0 },
					       { 2, 0, 0, 0, { 4, 0, 0 }, 1, 500000000 },
					       { 2, 2, 0, 0, { 5, 6, 0 }, 2, 0 } };
	const struct cdr_out o = trajectory(2, points, 3);
	struct ros_trajectory_point p;
	struct ros_trajectory t;

	TEST_ASSERT_EQUAL_INT(0, ros_trajectory_begin(&t, o.bytes, o.len, error, sizeof(error)));
	TEST_ASSERT_EQUAL_UINT32(2, t.joints_n);
	TEST_ASSERT_EQUAL_STRING("j1", t.joints[1]);
	TEST_ASSERT_EQUAL_INT(1, ros_trajectory_next(&t, &p, error, sizeof(error)));
	TEST_ASSERT_EQUAL_DOUBLE(0, p.time_s);
	TEST_ASSERT_EQUAL_DOUBLE(2, p.position_rad[1]);
	TEST_ASSERT_EQUAL_DOUBLE(3, p.velocity_rad_s[1]);
	TEST_ASSERT_EQUAL_DOUBLE(4, p.acceleration_rad_s2[1]);
	TEST_ASSERT_EQUAL_INT(1, ros_trajectory_next(&t, &p, error, sizeof(error)));
	TEST_ASSERT_EQUAL_DOUBLE(1.5, p.time_s);
	TEST_ASSERT_EQUAL_DOUBLE(5, p.position_rad[1]);
	TEST_ASSERT_TRUE(isnan(p.velocity_rad_s[0]) && isnan(p.velocity_rad_s[1]) && isnan(p.acceleration_rad_s2[0]));
	TEST_ASSERT_EQUAL_INT(1, ros_trajectory_next(&t, &p, error, sizeof(error)));
	TEST_ASSERT_EQUAL_INT(0, ros_trajectory_next(&t, &p, error, sizeof(error)));
}

TEST(what_cannot_be_followed_is_refused_in_one_line)
{
	static const struct {
		uint32_t joints_n, n;
		struct point points[2];
		const char *error; /* NULL: taken */
	} rows[] = {
		{ 2, 1, { { 2, 2, 2, 2, { 1, 2, 3 }, 1, 0 } }, NULL },
		{ 0, 0, { { 0 } }, NULL },
		{ 2, 0, { { 0 } }, NULL },
		{ 0, 1, { { 0 } }, "there are points, but no joint_names" },
		{ 48, 0, { { 0 } }, NULL },
		{ 49, 0, { { 0 } }, "49 joints, at most 48" },
		{ 2, 1, { { 2, 0, 0, 0, { SECOND_BAD }, 1, 0 } }, "points[0]: positions[1] is not a finite number" },
		{ 2, 1, { { 1, 0, 0, 0, { 0 }, 1, 0 } }, "points[0]: positions has length 1, but there are 2 joints" },
		{ 2, 1, { { 2, 3, 0, 0, { 0 }, 1, 0 } }, "points[0]: velocities has length 3, but there are 2 joints" },
		{ 2,
		  1,
		  { { 2, 2, 1, 0, { 0 }, 1, 0 } },
		  "points[0]: accelerations has length 1, but there are 2 joints" },
		{ 2, 1, { { 2, 0, 0, 3, { 0 }, 1, 0 } }, "points[0]: effort has length 3, but there are 2 joints" },
		{ 2, 1, { { 2, 0, 0, 0, { NAN }, 1, 0 } }, "points[0]: positions[0] is not a finite number" },
		{ 2, 1, { { 2, 2, 0, 0, { 0, INFINITY }, 1, 0 } }, "points[0]: velocities[0] is not a finite number" },
		{ 2, 1, { { 0, 2, 0, 0, { 0 }, 1, 0 } }, "points[0] has no positions" },
		{ 2,
		  1,
		  { { 2, 0, 0, 0, { 0 }, -1, 0 } },
		  "points[0]: time_from_start -1 s is not after the point before" },
		{ 2,
		  2,
		  { { 2, 0, 0, 0, { 0 }, 1, 5 }, { 2, 0, 0, 0, { 0 }, 1, 5 } },
		  "points[1]: time_from_start 1.000000005 s is not after the point before" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct cdr_out o = trajectory(rows[i].joints_n, rows[i].points, rows[i].n);
		struct ros_trajectory_point p;
		struct ros_trajectory t;
		const int r = read_all(&o, &t, &p);

		if (rows[i].error) {
			TEST_ASSERT_EQUAL_INT_MESSAGE(-1, r, rows[i].error);
			TEST_ASSERT_EQUAL_STRING(rows[i].error, error);
		} else {
			TEST_ASSERT_EQUAL_INT(rows[i].n, r);
		}
	}
}

TEST(there_is_a_bound_of_positions)
{
	static struct point points[2501];
	struct ros_trajectory_point p;
	struct ros_trajectory t;
	struct cdr_out o;

	for (uint32_t i = 0; i < 2501; i++)
		points[i] = (struct point){ 4, 0, 0, 0, { 0 }, (int32_t)i, 0 };
	o = trajectory(4, points, 2500);
	TEST_ASSERT_EQUAL_INT(2500, read_all(&o, &t, &p));
	o = trajectory(4, points, 2501);
	TEST_ASSERT_EQUAL_INT(-1, read_all(&o, &t, &p));
	TEST_ASSERT_EQUAL_STRING("2501 points of 4 joints are more than 10000 positions", error);
}

TEST(each_message_that_is_cut_is_refused)
{
	static const struct point points[] = { { 2, 2, 2, 2, { 1, 2, 3 }, 0, 0 }, { 2, 0, 0, 0, { 4, 0, 0 }, 1, 0 } };
	const struct cdr_out o = trajectory(2, points, 2);
	struct ros_trajectory_point p;
	struct ros_trajectory t;

	for (size_t len = 1; len < o.len; len++) {
		const struct cdr_out shorter = { o.bytes, o.room, len };

		TEST_ASSERT_EQUAL_INT(-1, read_all(&shorter, &t, &p));
	}
}

TEST(a_name_without_end_is_no_joint)
{
	struct cdr_out o = cdr_out(cdr, sizeof(cdr));
	struct ros_trajectory t;
	char name[100];

	memset(name, 'j', sizeof(name));
	cdr_put_i32(&o, 0);
	cdr_put_u32(&o, 0);
	cdr_put_string(&o, "", 0);
	cdr_put_u32(&o, 1);
	cdr_put_string(&o, name, sizeof(name));
	cdr_put_u32(&o, 0);
	TEST_ASSERT_EQUAL_INT(0, ros_trajectory_begin(&t, o.bytes, o.len, error, sizeof(error)));
	TEST_ASSERT_EQUAL_size_t(MSG_NAME_SIZE - 1, strlen(t.joints[0]));
}
