/* test_comply.c: the law of a compliant joint, and the limits of its gains, as hw-docs/devices/hubo.md has them. */
#include <errno.h>
#include <math.h>

#include "daemons/hubo/comply.h"
#include "test/lib/testcase.h"

static const double most[COMPLY_GAINS] = { 100, 20, 10 };

void setUp(void)
{
}

void tearDown(void)
{
}

TEST(duty_is_a_spring_a_damper_and_the_weight_within_its_greatest)
{
	static const struct {
		double gains[COMPLY_GAINS];
		double rest, position, velocity;
		int32_t permille;
	} rows[] = {
		{ { 80, 0, 8, 0 }, 0.05, 0, 0, 40 },	 /* 80 %/rad * 0.05 rad = 4 % */
		{ { 80, 0, 8, 0 }, 0, 0.05, 0, -40 },	 /* back */
		{ { 80, 2, 8, 0 }, 0, 0, 0.5, -10 },	 /* against its motion */
		{ { 80, 2, 8, 0 }, 0.05, 0, 0.5, 30 },	 /* both */
		{ { 80, 2, 8, 2.5 }, 0.05, 0, 0.5, 55 }, /* and the weight */
		{ { 0, 0, 8, -2.5 }, 1, 0, 1, -25 },	 /* the weight alone */
		{ { 80, 0, 8, 0 }, 1, 0, 0, 80 },	 /* at most 8 % */
		{ { 80, 0, 8, 0 }, -1, 0, 0, -80 },	 { { 80, 0, 8, 9 }, 0, 0, 0, 80 },
		{ { 80, 0, 8, 0 }, 0.00124, 0, 0, 0 },					  /* truncated toward zero */
		{ { 80, 0, 8, 0 }, -0.00126, 0, 0, -1 }, { { 80, 0, 0, 5 }, 1, 0, 0, 0 }, /* no duty at all */
		{ { 80, 0, 8, 0 }, 2.5, 2.0, 0, 0 },	/* at its limit nothing pushes further out, */
		{ { 80, 0, 8, 3 }, 2.05, 2.1, 0, -10 }, /* but in */
		{ { 80, 0, 8, 0 }, -2.5, -2.0, 0, 0 },	 { { 80, 0, 8, -3 }, -2.05, -2.1, 0, 10 },
		{ { 80, 0, 8, 0 }, 1.999, 1.9, 0, 79 }, /* 7.92 % */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct comply_at at = { rows[i].rest, rows[i].position, rows[i].velocity, -2, 2 };
		char row[24];
		int32_t permille = 1234;

		snprintf(row, sizeof(row), "row %zu", i);
		TEST_ASSERT_EQUAL_MESSAGE(0, comply_duty(&permille, rows[i].gains, &at), row);
		TEST_ASSERT_EQUAL_INT32_MESSAGE(rows[i].permille, permille, row);
	}
}

TEST(what_is_not_finite_pushes_nothing)
{
	static const double gains[] = { 80, 2, 8, 1 }, none[] = { 80, 2, 8, NAN };
	static const struct comply_at rows[] = {
		{ NAN, 0, 0, -2, 2 },
		{ 0, NAN, 0, -2, 2 },
		{ 0, 0, NAN, -2, 2 },
		{ INFINITY, 0, 0, -2, 2 },
	};
	const struct comply_at at = { 0, 0, 0, -INFINITY, INFINITY };
	int32_t permille = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		permille = 1234;
		TEST_ASSERT_EQUAL(-EINVAL, comply_duty(&permille, gains, &rows[i]));
		TEST_ASSERT_EQUAL(0, permille);
	}
	TEST_ASSERT_EQUAL(-EINVAL, comply_duty(&permille, none, &at));
	TEST_ASSERT_EQUAL(0, comply_duty(&permille, gains, &at)); /* a joint without limits */
	TEST_ASSERT_EQUAL(10, permille);
}

TEST(gains_are_within_their_most)
{
	static const struct {
		enum comply_gain gain;
		double value;
		int result;
	} rows[] = {
		{ COMPLY_KP, 0, 0 },	       { COMPLY_KP, 100, 0 },	       { COMPLY_KP, 100.1, -ERANGE },
		{ COMPLY_KP, -1, -ERANGE },    { COMPLY_KP, NAN, -ERANGE },    { COMPLY_KP, INFINITY, -ERANGE },
		{ COMPLY_KD, 20, 0 },	       { COMPLY_KD, 21, -ERANGE },     { COMPLY_PWM, 10, 0 },
		{ COMPLY_PWM, 11, -ERANGE },   { COMPLY_PWM, -1, -ERANGE },    { COMPLY_GRAV, 10, 0 },
		{ COMPLY_GRAV, -10, 0 },       { COMPLY_GRAV, 10.5, -ERANGE }, { COMPLY_GRAV, -10.5, -ERANGE },
		{ COMPLY_GRAV, NAN, -ERANGE },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double gains[COMPLY_GAINS] = { 3, 3, 3, 3 };
		char row[24];

		snprintf(row, sizeof(row), "row %zu", i);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].result, comply_set(gains, most, rows[i].gain, rows[i].value), row);
		TEST_ASSERT_TRUE_MESSAGE(gains[rows[i].gain] == (rows[i].result ? 3 : rows[i].value), row);
	}
}

TEST(gains_have_names)
{
	TEST_ASSERT_EQUAL(COMPLY_KP, comply_find("comply-kp"));
	TEST_ASSERT_EQUAL(COMPLY_KD, comply_find("comply-kd"));
	TEST_ASSERT_EQUAL(COMPLY_PWM, comply_find("comply-pwm"));
	TEST_ASSERT_EQUAL(COMPLY_GRAV, comply_find("comply-grav"));
	TEST_ASSERT_EQUAL(-1, comply_find("kp"));
	TEST_ASSERT_EQUAL(-1, comply_find(""));
	TEST_ASSERT_EQUAL_STRING("% s/rad", comply_units[COMPLY_KD]);
}
