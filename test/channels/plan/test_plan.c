/* test_plan.c: several joints at the same time, from any state. */
#include <float.h>
#include <math.h>

#include "channels/plan/plan.h"
#include "test/lib/testcase.h"

#define N 4
#define STEPS 250

static struct plan_joint joints[N];
static const char *const shapes[] = { "quintic", "trapezoid" };

static double pick(double least, double most)
{
	return least + (most - least) * drand48();
}

static void pick_limits(struct motion_limits *l)
{
	const double range = pow(10, pick(-2, 1));

	*l = (struct motion_limits){ -range * drand48() - 0.001, range * drand48() + 0.001, pow(10, pick(-2, 2)),
				     pow(10, pick(-2, 3)), drand48() < 0.5 ? pow(10, pick(-1, 5)) : INFINITY };
	if (drand48() < 0.1)
		l->max_rad = INFINITY;
}

static double pick_position(const struct motion_limits *l)
{
	return pick(l->min_rad, isinf(l->max_rad) ? 5 : l->max_rad);
}

/* Positions in the range; velocity, acceleration and jerk within the limits, at every step; continuous. */
static void check_way(const struct plan_joint *j, const struct plan_move *move, double total_s, const char *shape,
		      const struct motion_state *from)
{
	const struct motion_limits *l = &j->limits;
	const double dt_s = total_s / STEPS, far = 1e-6 * (fabs(l->min_rad) + fabs(from->rad)) + 1e-9;
	struct motion_state last, at;

	plan_at(move, 0, &last);
	if (total_s > 0) {
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-9, from->rad, last.rad, shape);
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-9 * l->velocity_rad_s, from->rad_s, last.rad_s, shape);
	}
	for (int i = 0; i <= STEPS; i++) {
		plan_at(move, i * dt_s, &at);
		TEST_ASSERT_TRUE_MESSAGE(at.rad >= l->min_rad - far && at.rad <= l->max_rad + far, shape);
		TEST_ASSERT_TRUE_MESSAGE(fabs(at.rad_s) <= l->velocity_rad_s * (1 + 2e-6), shape);
		TEST_ASSERT_TRUE_MESSAGE(fabs(at.rad_s2) <= l->acceleration_rad_s2 * (1 + 2e-6), shape);
		TEST_ASSERT_TRUE_MESSAGE(fabs(at.rad_s - last.rad_s) <=
						 l->acceleration_rad_s2 * dt_s * (1 + 1e-5) + 1e-9 * l->velocity_rad_s,
					 shape);
		if (move->shape == PLAN_QUINTIC && isfinite(l->jerk_rad_s3))
			TEST_ASSERT_TRUE_MESSAGE(fabs(at.rad_s2 - last.rad_s2) <= l->jerk_rad_s3 * dt_s * (1 + 1e-5) +
											  1e-9 * l->acceleration_rad_s2,
						 shape);
		TEST_ASSERT_TRUE_MESSAGE(fabs(at.rad - last.rad) <= l->velocity_rad_s * dt_s * (1 + 1e-5) + far, shape);
		last = at;
	}
}

static void check_end(const struct plan_joint *j, double total_s)
{
	struct motion_state at;

	for (int i = 0; i < 2; i++) {
		plan_at(&j->move, total_s * (1 + i) + i, &at);
		TEST_ASSERT_EQUAL_DOUBLE(j->to_rad, at.rad);
		TEST_ASSERT_EQUAL_DOUBLE(0, at.rad_s);
		TEST_ASSERT_EQUAL_DOUBLE(0, at.rad_s2);
	}
}

static double of_trapezoid(double distance, const struct motion_limits *l)
{
	const double d = fabs(distance), v = l->velocity_rad_s, a = l->acceleration_rad_s2;

	return d < v * v / a ? 2 * sqrt(d / a) : d / v + v / a;
}

/* Whatever the limits: in them, exactly there, all together, and at most twice as slow as could be. */
TEST(motions_from_rest_keep_their_limits_and_arrive_together)
{
	for (int n = 0; n < 600; n++) {
		const enum plan_shape shape = n % 2 ? PLAN_TRAPEZOID : PLAN_QUINTIC;
		double total_s = 0, least_s = 0;
		size_t wrong;

		for (size_t i = 0; i < N; i++) {
			struct plan_joint *j = &joints[i];
			double d, s;

			pick_limits(&j->limits);
			j->from = (struct motion_state){ .rad = pick_position(&j->limits) };
			j->to_rad = n % 7 ? pick_position(&j->limits) : j->from.rad;
			d = fabs(j->to_rad - j->from.rad);
			s = of_trapezoid(d, &j->limits);
			if (shape == PLAN_QUINTIC) /* a jerk-limited one from rest to rest takes cbrt(32 D/J) */
				s = fmax(s, cbrt(32 * d / j->limits.jerk_rad_s3));
			least_s = fmax(least_s, s);
		}
		TEST_ASSERT_EQUAL_MESSAGE(0, plan_together(joints, N, shape, &total_s, &wrong), shapes[shape]);
		TEST_ASSERT_TRUE(total_s >= least_s * (1 - 1e-9));
		TEST_ASSERT_TRUE_MESSAGE(total_s <= least_s * (shape == PLAN_QUINTIC ? 15.0 / 8 : 1) + 1.1e-6,
					 shapes[shape]);
		for (size_t i = 0; i < N; i++) {
			check_way(&joints[i], &joints[i].move, total_s, shapes[shape], &joints[i].from);
			check_end(&joints[i], total_s);
		}
	}
}

/* Replacement and stop: from any state of a motion.  Both are always found, and keep all limits. */
TEST(motions_from_any_state_of_another_keep_their_limits)
{
	for (int n = 0; n < 600; n++) {
		const enum plan_shape shape = n % 3 ? PLAN_QUINTIC : PLAN_TRAPEZOID;
		double total_s = 0, again_s = 0, stop_s = 0, rest_s = 0;
		size_t wrong;

		for (size_t i = 0; i < N; i++) {
			pick_limits(&joints[i].limits);
			joints[i].from = (struct motion_state){ .rad = pick_position(&joints[i].limits) };
			joints[i].to_rad = pick_position(&joints[i].limits);
		}
		TEST_ASSERT_EQUAL(0, plan_together(joints, N, shape, &total_s, &wrong));
		for (int depth = 0; depth < 3; depth++) { /* and of one that was replaced */
			const double at_s = pick(0, total_s);

			stop_s = rest_s = 0;
			for (size_t i = 0; i < N; i++) {
				struct plan_joint *j = &joints[i];
				struct motion_state at;
				struct plan_move stop;

				plan_at(&j->move, at_s, &at);
				plan_stop(&stop, &at, &j->limits);
				if (shape == PLAN_QUINTIC)
					check_way(j, &stop, stop.brake.total_s, "stop", &at);
				j->from = at;
				j->to_rad = pick_position(&j->limits);
				stop_s = fmax(stop_s, stop.brake.total_s);
				rest_s = fmax(rest_s, quintic_shortest_s(j->to_rad - stop.brake.end_rad, &j->limits));
			}
			again_s = 0;
			TEST_ASSERT_EQUAL_MESSAGE(0, plan_together(joints, N, shape, &again_s, &wrong), shapes[shape]);
			TEST_ASSERT_TRUE_MESSAGE(again_s <= stop_s + rest_s + 1e-6, shapes[shape]);
			for (size_t i = 0; i < N; i++) {
				check_way(&joints[i], &joints[i].move, again_s, shapes[shape], &joints[i].from);
				check_end(&joints[i], again_s);
			}
			total_s = again_s;
		}
	}
}

/* A joint on its way that is told to go on does not stop first. */
TEST(a_target_moved_ahead_is_met_without_a_stop)
{
	struct plan_joint *j = joints;
	double total_s = 0, again_s = 0;
	struct motion_state at;
	size_t wrong;

	*j = (struct plan_joint){ .to_rad = 1, .limits = { -5, 5, 1, 4, 40 } };
	TEST_ASSERT_EQUAL(0, plan_together(j, 1, PLAN_QUINTIC, &total_s, &wrong));
	plan_at(&j->move, total_s / 2, &j->from);
	j->to_rad = 2;
	TEST_ASSERT_EQUAL(0, plan_together(j, 1, PLAN_QUINTIC, &again_s, &wrong));
	TEST_ASSERT_EQUAL_DOUBLE(0, j->move.brake.total_s);
	TEST_ASSERT_TRUE(again_s < 15.0 / 8 * 1.5);
	for (double s = 0; s < again_s * 0.6; s += 0.01) {
		plan_at(&j->move, s, &at);
		TEST_ASSERT_TRUE(at.rad_s > 0.3);
	}
}

/* As good as a search by small steps. */
TEST(hardly_a_shorter_way_is_possible)
{
	for (int n = 0; n < 40; n++) {
		struct plan_joint *j = joints;
		double found_s = 0, total_s;
		size_t wrong;

		*j = (struct plan_joint){ .from = { 0, pick(0.1, 0.9), 0 },
					  .to_rad = pick(0.5, 3),
					  .limits = { -5, 5, 1, 4, n % 2 ? 40 : INFINITY } };
		TEST_ASSERT_EQUAL(0, plan_together(j, 1, PLAN_QUINTIC, &found_s, &wrong));
		for (total_s = found_s * 0.5; plan_together(j, 1, PLAN_QUINTIC, &total_s, &wrong);
		     total_s += found_s * 1e-3)
			;
		TEST_ASSERT_TRUE(total_s <= found_s * 1.0011 && total_s > found_s * 0.997);
	}
}

TEST(a_joint_that_accelerates_at_no_velocity_is_not_at_rest)
{
	double total_s = 0;
	struct motion_state at;
	size_t wrong;

	joints[0] = (struct plan_joint){ .from = { 0, 0, -2 }, .to_rad = 1, .limits = { -5, 5, 1, 4, 40 } };
	TEST_ASSERT_EQUAL(0, plan_together(joints, 1, PLAN_QUINTIC, &total_s, &wrong));
	plan_at(&joints[0].move, 0, &at);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -2, at.rad_s2);
}

/* Measured there, it goes inwards, without a stop. */
TEST(a_joint_outside_its_range_goes_back)
{
	double total_s = 0;
	size_t wrong;

	for (int sign = -1; sign <= 1; sign += 2) {
		joints[0] = (struct plan_joint){ .from = { sign * 2.05, sign * -0.5, 0 },
						 .to_rad = sign * 1.0,
						 .limits = { -2, 2, 1, 4, 40 } };
		total_s = 0;
		TEST_ASSERT_EQUAL(0, plan_together(joints, 1, PLAN_QUINTIC, &total_s, &wrong));
		TEST_ASSERT_EQUAL_DOUBLE(0, joints[0].move.brake.total_s);
	}
}

TEST(the_bounds_of_what_is_given_are_possible)
{
	const struct plan_joint good = { .to_rad = 1, .limits = { -2, 2, 1e9, 1e9, INFINITY } };
	double total_s = 1e9;
	size_t wrong;

	for (int i = 0; i < 4; i++) {
		joints[0] = good;
		joints[0].from.rad = i == 0 ? PLAN_RAD_MAX : 0;
		joints[0].from.rad_s = i == 1 ? 1e9 : 0;
		joints[0].from.rad_s2 = i == 2 ? 1e9 : 0;
		joints[0].to_rad = i == 3 ? 2 : -2;
		total_s = i == 3 ? 1e9 : 0;
		TEST_ASSERT_EQUAL(0, plan_together(joints, 1, PLAN_QUINTIC, &total_s, &wrong));
	}
}

TEST(a_given_time_is_kept_or_refused)
{
	static const double shares[] = { 1, 1.001, 2, 1000 };

	for (int n = 0; n < 100; n++) {
		const enum plan_shape shape = n % 2 ? PLAN_TRAPEZOID : PLAN_QUINTIC;
		double least_s = 0, total_s;
		size_t wrong;

		for (size_t i = 0; i < N; i++) {
			pick_limits(&joints[i].limits);
			joints[i].from = (struct motion_state){ .rad = pick_position(&joints[i].limits) };
			joints[i].to_rad = pick_position(&joints[i].limits);
		}
		TEST_ASSERT_EQUAL(0, plan_together(joints, N, shape, &least_s, &wrong));
		for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
			total_s = least_s * shares[i];
			TEST_ASSERT_EQUAL(0, plan_together(joints, N, shape, &total_s, &wrong));
			TEST_ASSERT_EQUAL_DOUBLE(least_s * shares[i], total_s);
			for (size_t k = 0; k < N; k++) {
				struct motion_state at;

				check_way(&joints[k], &joints[k].move, total_s, shapes[shape], &joints[k].from);
				check_end(&joints[k], total_s);
				/* all of them still move a moment before the end */
				plan_at(&joints[k].move, total_s * 0.999, &at);
				if (fabs(joints[k].to_rad - joints[k].from.rad) > 1e-3)
					TEST_ASSERT_TRUE_MESSAGE(at.rad != joints[k].to_rad, shapes[shape]);
			}
		}
		total_s = least_s * 0.999;
		TEST_ASSERT_EQUAL(-ERANGE, plan_together(joints, N, shape, &total_s, &wrong));
		TEST_ASSERT_TRUE(wrong < N);
	}
}

TEST(a_time_too_short_for_a_moving_joint_is_refused)
{
	double total_s = 0.3; /* 0.25 s to brake, and back */
	size_t wrong;

	for (int shape = 0; shape < 2; shape++) {
		joints[0] =
			(struct plan_joint){ .from = { 0, 1, 0 }, .to_rad = -1, .limits = { -5, 5, 1, 4, INFINITY } };
		TEST_ASSERT_EQUAL(-ERANGE, plan_together(joints, 1, (enum plan_shape)shape, &total_s, &wrong));
		TEST_ASSERT_EQUAL(0, wrong);
	}
	/* A trapezoid would just do, but no quintic. */
	total_s = 0.5;
	joints[0].from = (struct motion_state){ 0, 0.5, 0 };
	joints[0].to_rad = 0.3;
	TEST_ASSERT_EQUAL(-ERANGE, plan_together(joints, 1, PLAN_QUINTIC, &total_s, &wrong));
}

TEST(what_cannot_be_meant_is_refused)
{
	static const double bad[] = { NAN, INFINITY, -INFINITY, 1e300, -1e12 };
	const struct plan_joint good = { .from = { 0.1, 0.1, 0.1 }, .to_rad = 1, .limits = { -2, 2, 0.5, 2, 20 } };
	double total_s;
	size_t wrong;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		double *const values[] = { &joints[1].from.rad,
					   &joints[1].from.rad_s,
					   &joints[1].from.rad_s2,
					   &joints[1].to_rad,
					   &joints[1].limits.velocity_rad_s,
					   &joints[1].limits.acceleration_rad_s2,
					   &joints[1].limits.jerk_rad_s3 };

		for (size_t k = 0; k < sizeof(values) / sizeof(*values); k++) {
			if (k == 6 && bad[i] == INFINITY) /* no limit */
				continue;
			joints[0] = joints[1] = good;
			*values[k] = bad[i];
			total_s = 0;
			TEST_ASSERT_EQUAL(-EDOM, plan_together(joints, 2, PLAN_QUINTIC, &total_s, &wrong));
			TEST_ASSERT_EQUAL(1, wrong);
		}
		joints[0] = good;
		total_s = bad[i];
		TEST_ASSERT_EQUAL(-EDOM, plan_together(joints, 1, PLAN_QUINTIC, &total_s, &wrong));
	}
	joints[0] = good;
	joints[0].to_rad = 2.001;
	total_s = 0;
	TEST_ASSERT_EQUAL(-ERANGE, plan_together(joints, 1, PLAN_QUINTIC, &total_s, &wrong));
	joints[0].to_rad = -2.001;
	TEST_ASSERT_EQUAL(-ERANGE, plan_together(joints, 1, PLAN_QUINTIC, &total_s, &wrong));
}

TEST(limits_that_cannot_be_planned_with_are_named)
{
	struct motion_limits l = { -1, 1, 1, 1, INFINITY };

	TEST_ASSERT_NULL(plan_wrong(&l));
	l.min_rad = 1;
	TEST_ASSERT_NULL(plan_wrong(&l));
	l.min_rad = 1.1;
	TEST_ASSERT_EQUAL_STRING("position", plan_wrong(&l));
	l.min_rad = NAN;
	TEST_ASSERT_EQUAL_STRING("position", plan_wrong(&l));
	l.jerk_rad_s3 = 0;
	TEST_ASSERT_EQUAL_STRING("jerk", plan_wrong(&l));
	l.jerk_rad_s3 = NAN;
	TEST_ASSERT_EQUAL_STRING("jerk", plan_wrong(&l));
	l.acceleration_rad_s2 = INFINITY;
	TEST_ASSERT_EQUAL_STRING("acceleration", plan_wrong(&l));
	l.velocity_rad_s = 1e-7;
	TEST_ASSERT_EQUAL_STRING("velocity", plan_wrong(&l));
	l.velocity_rad_s = 1e-6;
	TEST_ASSERT_EQUAL_STRING("acceleration", plan_wrong(&l));
	l.velocity_rad_s = 1.1e9;
	TEST_ASSERT_EQUAL_STRING("velocity", plan_wrong(&l));
}

TEST(the_limit_that_is_exceeded_is_named)
{
	const struct motion_limits l = { -1, 2, 3, 4, 5 };
	const struct motion_peaks fine = { -1, 2, -3, 3, 4, 5 };
	static const struct {
		const char *name;
		struct motion_peaks peaks;
		double value, limit;
	} cases[] = {
		{ "velocity", { -1, 2, -3.1, 3, 4, 5 }, 3.1, 3 },
		{ "velocity", { -1, 2, -3, 3.1, 4, 5 }, 3.1, 3 },
		{ "acceleration", { -1, 2, -3, 3, 4.1, 5 }, 4.1, 4 },
		{ "jerk", { -1, 2, -3, 3, 4, 5.1 }, 5.1, 5 },
		{ "position", { -1.1, 2, -3, 3, 4, 5 }, -1.1, -1 },
		{ "position", { -1, 2.1, -3, 3, 4, 5 }, 2.1, 2 },
		{ "jerk", { -1, 2, -3, 3, 4, NAN }, NAN, 5 },
		{ "jerk", { -1, 2, -3, 3, 4, 5.00001 }, 5.00001, 5 },
	};
	double value, limit;

	TEST_ASSERT_NULL(plan_exceeds(&fine, &l, &value, &limit));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		TEST_ASSERT_EQUAL_STRING(cases[i].name, plan_exceeds(&cases[i].peaks, &l, &value, &limit));
		if (!isnan(cases[i].value))
			TEST_ASSERT_EQUAL_DOUBLE(cases[i].value, value);
		TEST_ASSERT_EQUAL_DOUBLE(cases[i].limit, limit);
	}
}

/* Nothing but a clean plan of numbers so small, or so large, that they could hurt. */
TEST(extreme_numbers_give_a_clean_plan)
{
	static const double distances[] = { 0, DBL_TRUE_MIN, DBL_MIN, 1e-200, 1e-12, 1e-6, 1e6 };
	static const double limits[] = { 1e-6, 1, 1e9 };

	for (size_t i = 0; i < sizeof(distances) / sizeof(*distances); i++) {
		for (int n = 0; n < 27 * 2; n++) {
			const struct motion_limits l = { -2e6, 2e6, limits[n % 3], limits[n / 3 % 3],
							 limits[n / 9 % 3] };
			double total_s = 0;
			size_t wrong;

			joints[0] = (struct plan_joint){ .to_rad = distances[i], .limits = l };
			TEST_ASSERT_EQUAL(0, plan_together(joints, 1, n / 27 ? PLAN_TRAPEZOID : PLAN_QUINTIC, &total_s,
							   &wrong));
			TEST_ASSERT_TRUE(isfinite(total_s) && total_s >= 0);
			check_way(joints, &joints[0].move, total_s, "extreme", &joints[0].from);
			check_end(joints, total_s);
		}
	}
}

/* With its jerk limited it would leave the range, in which the motion turns. */
TEST(a_stop_leaves_the_range_of_no_position)
{
	const struct motion_limits l = { -1, 1, 10, 4, 8 };
	const struct motion_state from = { 0.9, 0.8, -3 };
	struct motion_state at;
	struct plan_move stop;
	struct brake with_jerk;

	brake_plan(&with_jerk, &from, &l);
	TEST_ASSERT_TRUE(with_jerk.end_rad > 1);
	plan_stop(&stop, &from, &l);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0.9 + 0.8 * 0.8 / 8, stop.brake.end_rad);
	plan_at(&stop, 9, &at);
	TEST_ASSERT_EQUAL_DOUBLE(stop.brake.end_rad, at.rad);
	TEST_ASSERT_EQUAL_DOUBLE(0, at.rad_s);
	plan_stop(&stop, &(struct motion_state){ -0.9, -0.8, 3 }, &l);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -0.98, stop.brake.end_rad);
}

TEST(a_point_is_passed_as_a_parabola_does)
{
	struct motion_state at = { .rad = 3 }; /* 3 + 2t + t^2 at t = -0.5 is 2.25, at 1.5 8.25 */

	plan_pass(&at, 2.25, 0.5, 8.25, 1.5);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2, at.rad_s);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2, at.rad_s2);
}
