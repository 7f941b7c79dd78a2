/* test_drv_ref_random.c: what ramps keep to whatever the limits, ticks, targets and beginnings are.
 *
 * Tolerances.  Positions are below 30 rad, where a double's last bit is worth 3.6e-15 rad; a tick adds a few of
 * those, and the ramp takes 1e-12 rad for arrived: SLACK_RAD.  Velocities are sums of terms that each are exact to
 * 2e-16 of the greatest: SHARE of it.  Who arrives 1e-12 rad early has sqrt(2 a 1e-12) more velocity than there is
 * room for: that much may be lost in the tick after an arrival, nowhere else.
 */
#include <math.h>

#include "test/lib/testcase.h"

#include "daemons/drv/drv_ref.h"

#define SLACK_RAD 2e-12
#define SHARE 1e-13
#define RUNS 1500
#define TICKS 300

static uint64_t seed;
static int run, at_tick;

/* 0 to 1 */
static double chance(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) * 0x1p-53;
}

static double between(double min, double max)
{
	return min + (max - min) * chance();
}

/* As many small ones as large ones. */
static double magnitude(double min, double max)
{
	return min * pow(max / min, chance());
}

static double or_infinite(double value)
{
	return chance() < 0.15 ? INFINITY : value;
}

static struct drv_ref_limits random_limits(void)
{
	struct drv_ref_limits l = drv_ref_no_limits;
	double middle = between(-2, 2), half = magnitude(0.05, 6);

	if (chance() < 0.8)
		l.position_min_rad = middle - half;
	if (chance() < 0.8)
		l.position_max_rad = middle + half;
	l.velocity_rad_s = or_infinite(magnitude(0.02, 50));
	l.acceleration_rad_s2 = or_infinite(magnitude(0.05, 2000));
	l.current_a = or_infinite(magnitude(0.1, 50));
	l.current_slew_a_s = or_infinite(magnitude(1, 10000));
	l.step_rad = chance() < 0.8 ? INFINITY : magnitude(0.001, 1);
	return l;
}

/* Ticks of a run are about dt_s, but each differs; some are 0, some are far too long. */
static double random_dt(double dt_s)
{
	double c = chance();

	return c < 0.02 ? 0 : c < 0.04 ? 30 : dt_s * between(0.2, 2);
}

static double counted_dt(double dt_s)
{
	return fmin(dt_s, DRV_REF_TICK_MAX_S);
}

/* Far, near, on the limits, outside, or as before. */
static double random_target(const struct drv_ref_limits *l, double before)
{
	double c = chance();

	if (c < 0.1 && isfinite(l->position_max_rad))
		return l->position_max_rad;
	if (c < 0.2 && isfinite(l->position_min_rad))
		return l->position_min_rad;
	return c < 0.4 ? before + between(-0.01, 0.01) : c < 0.5 ? between(-1000, 1000) : between(-8, 8);
}

static double inside(double value, double min, double max)
{
	return fmin(fmax(value, min), max);
}

#define HOLDS(condition)                                                                                   \
	do {                                                                                               \
		if (!(condition)) {                                                                        \
			char where_[200];                                                                  \
			snprintf(where_, sizeof(where_), "%s: run %d, tick %d", #condition, run, at_tick); \
			TEST_FAIL_MESSAGE(where_);                                                         \
		}                                                                                          \
	} while (0)

/* In which direction, and how fast, may it go so that it can still stop before it comes to the limit? */
static double random_velocity(const struct drv_ref_limits *l, double position_rad)
{
	double up = fmax(0, l->position_max_rad - position_rad), down = fmax(0, position_rad - l->position_min_rad);
	double a = l->acceleration_rad_s2, most = fmin(l->velocity_rad_s, 20);

	if (isinf(a))
		return 0;
	return between(-fmin(most, sqrt(2 * a * fmin(down, 100))), fmin(most, sqrt(2 * a * fmin(up, 100))));
}

static void check_rates(const struct drv_ref_limits *l, double v, double before, double dt_s, bool arrived)
{
	double most = isinf(l->acceleration_rad_s2) ? INFINITY : l->acceleration_rad_s2 * dt_s;
	double slack = SHARE * (fabs(v) + fabs(before));

	if (arrived && isfinite(l->acceleration_rad_s2))
		slack += sqrt(2 * l->acceleration_rad_s2 * SLACK_RAD);
	HOLDS(isfinite(v));
	HOLDS(fabs(v) <= l->velocity_rad_s + slack);
	HOLDS(fabs(v - before) <= most + slack);
}

/* ---- position ---- */

static void check_position(const struct drv_ref_limits *l, const struct drv_ref_joint *before,
			   const struct drv_ref_command *c, double target_rad, double dt_s)
{
	double p = before->last.position_rad, v = before->last.velocity_rad_s, left = target_rad - p;
	double needed = v * v / (2 * l->acceleration_rad_s2);

	HOLDS(c->mode == MSG_MODE_POSITION && isfinite(c->position_rad));
	check_rates(l, c->velocity_rad_s, v, dt_s, p == before->target_rad);
	/* The position is the velocity's, so that it makes no step either. */
	HOLDS(fabs(c->position_rad - p - c->velocity_rad_s * dt_s) <= SLACK_RAD);
	HOLDS(c->position_rad <= fmax(p, l->position_max_rad) + SLACK_RAD);
	HOLDS(c->position_rad >= fmin(p, l->position_min_rad) - SLACK_RAD);
	/* A joint that can stop before the target, or moves away from it, does not pass it. */
	if (left >= 0 && (v <= 0 || needed <= left))
		HOLDS(c->position_rad <= target_rad + 1e-9);
	if (left <= 0 && (v >= 0 || needed <= -left))
		HOLDS(c->position_rad >= target_rad - 1e-9);
}

/* With a fixed target: brake, go, brake; then 60 ticks to spare.  Exactly there, and it stays. */
static void check_arrival(struct drv_ref_joint *joint, struct drv_ref_limits *l, double dt_s)
{
	const struct drv_ref_want want = { MSG_MODE_POSITION, inside(0.123, l->position_min_rad, l->position_max_rad),
					   0, 0 };
	double v = fabs(joint->last.velocity_rad_s), a = l->acceleration_rad_s2;
	double way, time_s;
	struct drv_ref_command c;

	l->step_rad = INFINITY;
	way = fabs(want.position_rad - joint->last.position_rad) + v * v / (2 * a);
	time_s = v / a + way / l->velocity_rad_s + 2 * sqrt(2 * way / a);
	dt_s = fmax(dt_s, time_s / 2000);
	dt_s = fmin(dt_s, DRV_REF_TICK_MAX_S);
	for (double t = 0; t < time_s + 60 * dt_s; t += dt_s) {
		struct drv_ref_joint before = *joint;

		c = drv_ref_joint(joint, l, &want, DRV_REF_HOLD, 0, 0, 0, dt_s);
		check_position(l, &before, &c, want.position_rad, dt_s);
	}
	for (int i = 0; i < 5; i++) {
		c = drv_ref_joint(joint, l, &want, DRV_REF_HOLD, 0, 0, 0, random_dt(dt_s));
		HOLDS(c.position_rad == want.position_rad && c.velocity_rad_s == 0);
	}
}

TEST(position_keeps_to_everything)
{
	for (run = 0; run < RUNS; run++) {
		struct drv_ref_joint joint = { 0 };
		struct drv_ref_limits l;
		struct drv_ref_want want = { .mode = MSG_MODE_POSITION };
		double dt_s, start, often;

		seed = 1000003u * (uint64_t)(run + 1);
		l = random_limits();
		dt_s = magnitude(1e-4, 0.1);
		often = chance() < 0.3 ? 1 : 0.03; /* a new target in every tick, or now and then */
		start = inside(between(-8, 8), l.position_min_rad, l.position_max_rad);
		want.position_rad = start;
		drv_ref_begin(&joint, start, random_velocity(&l, start), 0);
		for (at_tick = 0; at_tick < TICKS; at_tick++) {
			struct drv_ref_joint before = joint;
			double dt = random_dt(dt_s), target, last_target = joint.target_rad;
			struct drv_ref_command c;

			if (chance() < often)
				want.position_rad = random_target(&l, want.position_rad);
			target = inside(want.position_rad, l.position_min_rad, l.position_max_rad);
			target = inside(target, last_target - l.step_rad, last_target + l.step_rad);
			c = drv_ref_joint(&joint, &l, &want, DRV_REF_HOLD, 99, 99, 99, dt);
			HOLDS(joint.target_rad == target);
			check_position(&l, &before, &c, target, counted_dt(dt));
			/* Expired now and then: the same limits hold. */
			if (chance() < 0.02) {
				before = joint;
				c = drv_ref_joint(&joint, &l, NULL, DRV_REF_HOLD, 99, 99, 99, dt);
				HOLDS(fabs(c.velocity_rad_s) <= fabs(before.last.velocity_rad_s));
				check_rates(&l, c.velocity_rad_s, before.last.velocity_rad_s, counted_dt(dt),
					    before.last.position_rad == before.target_rad);
				HOLDS(c.position_rad <= l.position_max_rad + SLACK_RAD);
				HOLDS(c.position_rad >= l.position_min_rad - SLACK_RAD);
			}
		}
		check_arrival(&joint, &l, dt_s);
	}
}

/* Begun anywhere, moving anyhow: what must hold is that it never goes further out and that velocity is limited. */
TEST(position_from_anywhere)
{
	for (run = 0; run < RUNS; run++) {
		struct drv_ref_joint joint = { 0 };
		struct drv_ref_limits l;
		double dt_s, last, at;

		seed = 7000003u * (uint64_t)(run + 1);
		l = random_limits();
		dt_s = magnitude(1e-4, 0.1);
		last = at = between(-15, 15);
		for (at_tick = 0; at_tick < TICKS; at_tick++) {
			struct drv_ref_want want = { .mode = MSG_MODE_POSITION, .position_rad = between(-20, 20) };
			struct drv_ref_command c = drv_ref_joint(&joint, &l, &want, DRV_REF_HOLD, at, between(-99, 99),
								 0, random_dt(dt_s));

			HOLDS(c.mode == MSG_MODE_POSITION && isfinite(c.position_rad));
			HOLDS(fabs(c.velocity_rad_s) <= l.velocity_rad_s * (1 + SHARE));
			HOLDS(c.position_rad <= fmax(last, l.position_max_rad) + SLACK_RAD);
			HOLDS(c.position_rad >= fmin(last, l.position_min_rad) - SLACK_RAD);
			last = c.position_rad;
		}
	}
}

/* Limits narrowed on the way: no command exceeds the new one, and all else keeps to the acceleration limit. */
TEST(narrowed_on_the_way)
{
	for (run = 0; run < RUNS; run++) {
		struct drv_ref_joint joint = { 0 };
		struct drv_ref_limits l = drv_ref_no_limits;
		struct drv_ref_want want = { MSG_MODE_POSITION, 1e6, 1e6, 0 };

		seed = 3000017u * (uint64_t)(run + 1);
		if (run % 2)
			want.mode = MSG_MODE_VELOCITY;
		l.velocity_rad_s = magnitude(1, 20);
		l.acceleration_rad_s2 = magnitude(1, 100);
		drv_ref_begin(&joint, 0, between(-1, 1), 0);
		for (at_tick = 0; at_tick < TICKS; at_tick++) {
			double v = joint.last.velocity_rad_s, dt = random_dt(0.01), most;
			struct drv_ref_command c;

			if (at_tick && chance() < 0.05)
				l.velocity_rad_s = magnitude(0.1, 20);
			c = drv_ref_joint(&joint, &l, &want, DRV_REF_HOLD, 0, 0, 0, dt);
			most = l.acceleration_rad_s2 * counted_dt(dt);
			HOLDS(fabs(c.velocity_rad_s - v) <= most + SHARE * 40 ||
			      fabs(c.velocity_rad_s) == l.velocity_rad_s);
			HOLDS(fabs(c.velocity_rad_s) <= l.velocity_rad_s);
		}
	}
}

/* However far, whatever the first position: from one command to the next never more than velocity x time. */
TEST(a_far_target_is_not_a_step)
{
	struct drv_ref_limits l = drv_ref_no_limits;
	struct drv_ref_joint joint = { 0 };
	const struct drv_ref_want want = { MSG_MODE_POSITION, 1e6, 0, 0 };
	double last = -3, last_v = 0;

	l.velocity_rad_s = 0.4;
	l.acceleration_rad_s2 = 2;
	for (at_tick = 0; at_tick < 5000; at_tick++) {
		struct drv_ref_command c = drv_ref_joint(&joint, &l, &want, DRV_REF_HOLD, -3, 0, 0, 0.002);

		HOLDS(c.position_rad - last <= 0.4 * 0.002 + 1e-12 && c.position_rad >= last);
		HOLDS((c.position_rad - last) / 0.002 - last_v <= 2 * 0.002 + 1e-9);
		last_v = (c.position_rad - last) / 0.002;
		last = c.position_rad;
	}
	/* 0.2 s to get going, in which it lost 0.04 rad less half a tick. */
	TEST_ASSERT_DOUBLE_WITHIN(0.001, -3 + 0.4 * 10 - 0.04, last);
}

/* ---- velocity: an ideal joint ---- */

TEST(velocity_keeps_to_everything)
{
	for (run = 0; run < RUNS; run++) {
		struct drv_ref_joint joint = { 0 };
		struct drv_ref_limits l;
		struct drv_ref_want want = { .mode = MSG_MODE_VELOCITY };
		double dt_s, at, v, often;

		seed = 5000011u * (uint64_t)(run + 1);
		l = random_limits();
		dt_s = magnitude(1e-4, 0.1);
		often = chance() < 0.3 ? 1 : 0.03;
		at = inside(between(-8, 8), l.position_min_rad, l.position_max_rad);
		v = random_velocity(&l, at);
		drv_ref_begin(&joint, at, v, 0);
		for (at_tick = 0; at_tick < TICKS; at_tick++) {
			double dt = random_dt(dt_s);
			struct drv_ref_command c;

			if (!at_tick || chance() < often)
				want.velocity_rad_s = chance() < 0.1 ? 0 : between(-1, 1) * magnitude(0.1, 100);
			c = drv_ref_joint(&joint, &l, &want, DRV_REF_HOLD, at, v, 0, dt);
			HOLDS(c.mode == MSG_MODE_VELOCITY);
			/* At a limit the same early arrival. */
			check_rates(&l, c.velocity_rad_s, v, counted_dt(dt),
				    fmin(at - l.position_min_rad, l.position_max_rad - at) <= SLACK_RAD);
			v = c.velocity_rad_s;
			at += v * counted_dt(dt);
			HOLDS(at <= l.position_max_rad + SLACK_RAD && at >= l.position_min_rad - SLACK_RAD);
		}
	}
}

/* A joint that is late, pushed or outside.  Outside only inwards; a command that would leave the limits within the
 * tick is never given. */
TEST(velocity_wherever_the_joint_is)
{
	for (run = 0; run < RUNS; run++) {
		struct drv_ref_joint joint = { 0 };
		struct drv_ref_limits l;

		seed = 9000011u * (uint64_t)(run + 1);
		l = random_limits();
		for (at_tick = 0; at_tick < TICKS; at_tick++) {
			struct drv_ref_want want = { MSG_MODE_VELOCITY, 0, between(-30, 30), 0 };
			double at = between(-10, 10), dt = random_dt(0.01), v;

			v = drv_ref_joint(&joint, &l, &want, DRV_REF_HOLD, at, between(-99, 99), 0, dt).velocity_rad_s;
			HOLDS(isfinite(v) && fabs(v) <= l.velocity_rad_s);
			HOLDS(at < l.position_max_rad || v <= 0);
			HOLDS(at > l.position_min_rad || v >= 0);
			if (at <= l.position_max_rad && at >= l.position_min_rad) {
				HOLDS(at + v * counted_dt(dt) <= l.position_max_rad + SLACK_RAD);
				HOLDS(at + v * counted_dt(dt) >= l.position_min_rad - SLACK_RAD);
			}
		}
	}
}

/* ---- current ---- */

TEST(current_keeps_to_everything)
{
	for (run = 0; run < RUNS; run++) {
		struct drv_ref_joint joint = { 0 };
		struct drv_ref_limits l;
		double a = between(-1, 1);

		seed = 11000027u * (uint64_t)(run + 1);
		l = random_limits();
		a = inside(a, -l.current_a, l.current_a);
		drv_ref_begin(&joint, 0, 0, a);
		for (at_tick = 0; at_tick < TICKS; at_tick++) {
			struct drv_ref_want want = { MSG_MODE_CURRENT, 0, 0, between(-60, 60) };
			double at = between(-5, 5), dt = random_dt(0.002), now;
			double most = dt > 0 ? l.current_slew_a_s * counted_dt(dt) : 0;

			now = drv_ref_joint(&joint, &l, &want, DRV_REF_HOLD, at, 0, 0, dt).current_a;
			HOLDS(isfinite(now) && fabs(now) <= l.current_a);
			HOLDS(at < l.position_max_rad || now <= 0);
			HOLDS(at > l.position_min_rad || now >= 0);
			/* Down to none is always allowed. */
			HOLDS(now == 0 || fabs(now - a) <= most + SHARE * 100);
			a = now;
		}
	}
}

/* ---- any input: finite, and a mode that was asked for ---- */

static double anything(void)
{
	static const double odd[] = { 0,    -0.0, 1e-320, 1e9,	 -1e9,	   1e308,     -1e308,
				      1e-9, 0.2,  1e-15,  -1e15, INFINITY, -INFINITY, NAN };
	size_t i = (size_t)(chance() * 2 * (double)(sizeof(odd) / sizeof(*odd)));

	return i < sizeof(odd) / sizeof(*odd) ? odd[i] : between(-1, 1) * magnitude(1e-3, 1e3);
}

TEST(always_finite)
{
	seed = 424242;
	for (run = 0; run < 20000; run++) {
		struct drv_ref_joint joint = { 0 };
		struct drv_ref_limits l = { anything(), anything(), anything(), anything(),
					    anything(), anything(), anything() };

		if (chance() < 0.7) /* most of those cannot be kept */
			l = (struct drv_ref_limits){ -fabs(anything()), fabs(anything()), fabs(anything()),
						     fabs(anything()),	fabs(anything()), fabs(anything()),
						     fabs(anything()) };
		for (at_tick = 0; at_tick < 12; at_tick++) {
			struct drv_ref_want want = { (enum msg_mode)(int)(chance() * 6), anything(), anything(),
						     anything() };
			enum drv_ref_safe safe = (enum drv_ref_safe)(int)(chance() * 3);
			struct drv_ref_command c;

			if (chance() < 0.1)
				drv_ref_begin(&joint, anything(), anything(), anything());
			if (chance() < 0.1)
				drv_ref_forget(&joint);
			c = drv_ref_joint(&joint, &l, chance() < 0.1 ? NULL : &want, safe,
					  chance() < 0.7 ? 0 : anything(), chance() < 0.7 ? 1 : anything(),
					  chance() < 0.7 ? 0 : anything(), anything());
			HOLDS(isfinite(c.position_rad) && isfinite(c.velocity_rad_s) && isfinite(c.current_a));
			HOLDS(c.mode != MSG_MODE_NONE && c.mode <= MSG_MODE_COMPLIANT);
		}
	}
}
