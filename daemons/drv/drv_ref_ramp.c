/* drv_ref_ramp.c: limits, and how a joint gets to what a reference asks for.
 *
 * One formula does all braking.  A velocity v for the next dt, then less by a dt' per tick whatever the dt' are,
 * stops within v dt + v^2 / 2a: the tick k that goes from v to w = v - a dt' covers w dt' = w (v - w) / a, which is
 * at most (v^2 - w^2) / 2a.  So the greatest v with v dt + v^2 / 2a <= room never runs out of room; and what it
 * leaves over after a tick is enough for the same again, so the acceleration limit never gets in the way.  Near the
 * target the remaining distance shrinks quadratically: a handful of ticks to less than what a double resolves.
 *
 * Checked: covered.
 */
#include <float.h>
#include <math.h>

#include "config/base/base.h"
#include "daemons/drv/drv_ref.h"

#define TICK_MIN_S 1e-9	  /* no time has passed */
#define SETTLED_RAD 1e-12 /* this near, it is there: far below any encoder, above rounding */
#define VALUE_MAX 1e9	  /* nothing measured is beyond: with it all that is computed here is finite */

const struct drv_ref_limits drv_ref_no_limits = {
	-INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY
};

const char *const drv_ref_safe_words[] = { "hold", "zero-velocity", "zero-current", NULL };

/* ---- limits ---- */

/* fmin and fmax pass over a NaN. */
void drv_ref_tighten(struct drv_ref_limits *limits, const struct drv_ref_limits *others)
{
	limits->position_min_rad = fmax(limits->position_min_rad, others->position_min_rad);
	limits->position_max_rad = fmin(limits->position_max_rad, others->position_max_rad);
	limits->velocity_rad_s = fmin(limits->velocity_rad_s, others->velocity_rad_s);
	limits->acceleration_rad_s2 = fmin(limits->acceleration_rad_s2, others->acceleration_rad_s2);
	limits->current_a = fmin(limits->current_a, others->current_a);
	limits->current_slew_a_s = fmin(limits->current_slew_a_s, others->current_slew_a_s);
	limits->step_rad = fmin(limits->step_rad, others->step_rad);
}

void drv_ref_margin(struct drv_ref_limits *limits, double share)
{
	double range_rad = limits->position_max_rad - limits->position_min_rad;
	double margin_rad = num_clamp(share, 0, 0.5) * range_rad;

	/* An open range has no share of itself, an empty one none to give away. */
	if (!isfinite(range_rad) || range_rad < 0)
		return;
	limits->position_min_rad += margin_rad;
	limits->position_max_rad -= margin_rad;
}

/* Not NaN, not empty, and such that a motion can be ended. */
static bool limits_usable(const struct drv_ref_limits *l)
{
	return l->position_min_rad <= l->position_max_rad && l->velocity_rad_s >= 0 && l->acceleration_rad_s2 > 0 &&
	       l->current_a >= 0 && l->current_slew_a_s > 0 && l->step_rad >= 0;
}

/* ---- arithmetic ---- */

static bool usable(double value)
{
	return fabs(value) <= VALUE_MAX; /* a NaN is not */
}

static bool all_usable(double a, double b, double c)
{
	return usable(a) && usable(b) && usable(c);
}

/* By how much a value with that limit on its rate may change. */
static double change(double rate, double dt_s)
{
	return dt_s > 0 ? rate * dt_s : 0; /* infinity times 0 is not 0 */
}

double drv_ref_stoppable(double room_rad, double acceleration_rad_s2, double dt_s)
{
	if (!(room_rad > 0))
		return 0;
	if (isinf(room_rad))
		return INFINITY;
	return 2 * room_rad / (dt_s + sqrt(dt_s * dt_s + 2 * room_rad / acceleration_rad_s2));
}

/* As drv_ref_stoppable, for what cannot brake in time: it uses up the room. */
static double fastest_within(double room_rad, double dt_s)
{
	return room_rad > 0 ? room_rad / dt_s : 0;
}

/* From last_rad_s at position_rad as near to wanted_rad_s as the limits allow.  Where they contradict each other
 * (begun too near to a position limit, or tightened) that of the position wins, then that of the velocity. */
static double next_velocity(const struct drv_ref_limits *l, double wanted_rad_s, double last_rad_s, double position_rad,
			    double dt_s)
{
	double above_rad = l->position_max_rad - position_rad, below_rad = position_rad - l->position_min_rad;
	double most = change(l->acceleration_rad_s2, dt_s);
	double v = num_clamp(wanted_rad_s, -l->velocity_rad_s, l->velocity_rad_s);

	v = num_clamp(v, -drv_ref_stoppable(below_rad, l->acceleration_rad_s2, dt_s),
		      drv_ref_stoppable(above_rad, l->acceleration_rad_s2, dt_s));
	v = num_clamp(v, last_rad_s - most, last_rad_s + most);
	v = num_clamp(v, -l->velocity_rad_s, l->velocity_rad_s); /* it may have been narrowed */
	return num_clamp(v, -fastest_within(below_rad, dt_s), fastest_within(above_rad, dt_s));
}

/* ---- modes: each goes on from joint->last ---- */

static struct drv_ref_command ramp_position(struct drv_ref_joint *joint, const struct drv_ref_limits *l,
					    double wanted_rad_s, double dt_s)
{
	struct drv_ref_command next = { .mode = MSG_MODE_POSITION };
	double from_rad = joint->last.position_rad, to_rad = joint->target_rad;

	next.velocity_rad_s = next_velocity(l, wanted_rad_s, joint->last.velocity_rad_s, from_rad, dt_s);
	next.position_rad = from_rad + next.velocity_rad_s * dt_s;
	if (fabs(to_rad - next.position_rad) <= SETTLED_RAD + 4 * DBL_EPSILON * (fabs(from_rad) + fabs(to_rad)))
		next.position_rad = to_rad;
	return next;
}

static struct drv_ref_command go_to(struct drv_ref_joint *joint, const struct drv_ref_limits *l, double position_rad,
				    double dt_s)
{
	double target_rad = num_clamp(position_rad, l->position_min_rad, l->position_max_rad);
	double distance_rad, towards_rad_s;

	target_rad = num_clamp(target_rad, joint->target_rad - l->step_rad, joint->target_rad + l->step_rad);
	joint->target_rad = num_clamp(target_rad, -VALUE_MAX, VALUE_MAX);
	distance_rad = joint->target_rad - joint->last.position_rad;
	towards_rad_s = drv_ref_stoppable(fabs(distance_rad), l->acceleration_rad_s2, dt_s);
	return ramp_position(joint, l, copysign(towards_rad_s, distance_rad), dt_s);
}

static struct drv_ref_command hold(struct drv_ref_joint *joint, const struct drv_ref_limits *l, double dt_s)
{
	struct drv_ref_command next = ramp_position(joint, l, 0, dt_s);

	joint->target_rad = next.position_rad; /* the next one is a step from here */
	return next;
}

static struct drv_ref_command ramp_velocity(const struct drv_ref_joint *joint, const struct drv_ref_limits *l,
					    double velocity_rad_s, double measured_rad, double dt_s)
{
	return (struct drv_ref_command){ .mode = MSG_MODE_VELOCITY,
					 .velocity_rad_s = next_velocity(l, velocity_rad_s, joint->last.velocity_rad_s,
									 measured_rad, dt_s) };
}

static struct drv_ref_command ramp_current(const struct drv_ref_joint *joint, const struct drv_ref_limits *l,
					   double current_a, double measured_rad, double measured_rad_s, double dt_s)
{
	double most = change(l->current_slew_a_s, dt_s);
	/* Where it would stand if it braked now. */
	double stop_rad = measured_rad + measured_rad_s * fabs(measured_rad_s) / (2 * l->acceleration_rad_s2);
	double min_a = stop_rad <= l->position_min_rad || measured_rad_s <= -l->velocity_rad_s ? 0 : -l->current_a;
	double max_a = stop_rad >= l->position_max_rad || measured_rad_s >= l->velocity_rad_s ? 0 : l->current_a;
	double a = num_clamp(current_a, joint->last.current_a - most, joint->last.current_a + most);

	/* Last, so that it applies at once: too much current heats, outward current breaks. */
	return (struct drv_ref_command){ .mode = MSG_MODE_CURRENT, .current_a = num_clamp(a, min_a, max_a) };
}

/* ---- a joint ---- */

void drv_ref_begin(struct drv_ref_joint *joint, double position_rad, double velocity_rad_s, double current_a)
{
	joint->begun = all_usable(position_rad, velocity_rad_s, current_a);
	joint->last = (struct drv_ref_command){ .mode = MSG_MODE_NONE,
						.position_rad = position_rad,
						.velocity_rad_s = velocity_rad_s,
						.current_a = current_a };
	joint->target_rad = position_rad;
}

void drv_ref_forget(struct drv_ref_joint *joint)
{
	joint->begun = false;
}

struct drv_ref_command drv_ref_rest(struct drv_ref_joint *joint, enum drv_ref_safe safe)
{
	joint->begun = false;
	return (struct drv_ref_command){ .mode = safe == DRV_REF_ZERO_CURRENT ? MSG_MODE_CURRENT : MSG_MODE_VELOCITY,
					 .begins = true,
					 .stops = true };
}

static enum msg_mode mode_of(const struct drv_ref_joint *joint, const struct drv_ref_want *want, enum drv_ref_safe safe)
{
	static const enum msg_mode safe_modes[] = {
		[DRV_REF_HOLD] = MSG_MODE_POSITION,
		[DRV_REF_ZERO_VELOCITY] = MSG_MODE_VELOCITY,
		[DRV_REF_ZERO_CURRENT] = MSG_MODE_CURRENT,
	};

	if (!want && safe == DRV_REF_HOLD && joint->no_position)
		return joint->last.mode == MSG_MODE_CURRENT ? MSG_MODE_CURRENT : MSG_MODE_VELOCITY;
	return want ? want->mode : safe_modes[safe];
}

static bool want_usable(const struct drv_ref_joint *joint, const struct drv_ref_want *want)
{
	switch (want->mode) {
	case MSG_MODE_POSITION:
	case MSG_MODE_COMPLIANT:
		return isfinite(want->position_rad) && !joint->no_position;
	case MSG_MODE_VELOCITY:
		return isfinite(want->velocity_rad_s);
	case MSG_MODE_CURRENT:
		return isfinite(want->current_a);
	case MSG_MODE_NONE:
		break;
	}
	return false;
}

bool drv_ref_begins(const struct drv_ref_joint *joint, const struct drv_ref_want *want, enum drv_ref_safe safe)
{
	return !joint->begun || (joint->last.mode != mode_of(joint, want, safe) && joint->last.mode != MSG_MODE_NONE);
}

/* Hold without a known position: brakes from the last commanded velocity. */
static struct drv_ref_command brake(const struct drv_ref_joint *joint, const struct drv_ref_limits *l, double dt_s)
{
	const double last_rad_s =
		joint->begun && joint->last.mode == MSG_MODE_VELOCITY ? joint->last.velocity_rad_s : 0;
	const double most = change(l->acceleration_rad_s2, dt_s);

	const double next_rad_s = last_rad_s - num_clamp(last_rad_s, -most, most);

	return (struct drv_ref_command){ .mode = MSG_MODE_VELOCITY,
					 .velocity_rad_s = num_clamp(next_rad_s, -l->velocity_rad_s, l->velocity_rad_s),
					 .begins = !joint->begun,
					 .stops = true };
}

/* The safe action, from joint->last. */
static struct drv_ref_command stop(struct drv_ref_joint *joint, const struct drv_ref_limits *l, enum msg_mode mode,
				   enum drv_ref_safe safe, double dt_s)
{
	struct drv_ref_command next = { .mode = mode };

	if (mode == MSG_MODE_POSITION)
		next = hold(joint, l, dt_s);
	else if (mode == MSG_MODE_VELOCITY && safe == DRV_REF_HOLD)
		next = ramp_velocity(joint, l, 0, 0, dt_s);
	next.stops = true;
	return next;
}

struct drv_ref_command drv_ref_joint(struct drv_ref_joint *joint, const struct drv_ref_limits *limits,
				     const struct drv_ref_want *want, enum drv_ref_safe safe, double measured_rad,
				     double measured_rad_s, double measured_a, double dt_s)
{
	struct drv_ref_limits l = *limits;
	enum msg_mode mode;
	bool begins;

	if (!limits_usable(&l)) {
		l = drv_ref_no_limits;
		want = NULL;
	}
	if (joint->no_position) {
		l.position_min_rad = -INFINITY;
		l.position_max_rad = INFINITY;
		measured_rad = 0;
		measured_rad_s = isnan(measured_rad_s) ? 0 : measured_rad_s;
	}
	if (want && (!want_usable(joint, want) || !all_usable(measured_rad, measured_rad_s, measured_a)))
		want = NULL;
	mode = mode_of(joint, want, safe);
	dt_s = dt_s >= TICK_MIN_S ? fmin(dt_s, DRV_REF_TICK_MAX_S) : 0;

	begins = drv_ref_begins(joint, want, safe);
	if (begins && mode == MSG_MODE_POSITION && !all_usable(measured_rad, measured_rad_s, measured_a)) {
		joint->last = brake(joint, &l, dt_s);
		return joint->last;
	}
	/* A joint that is to stop gets no higher speed than before: the sample may be older than the last command. */
	if (begins && !want && joint->begun && joint->last.mode == MSG_MODE_VELOCITY)
		measured_rad_s = num_clamp(measured_rad_s, fmin(joint->last.velocity_rad_s, 0),
					   fmax(joint->last.velocity_rad_s, 0));
	if (begins)
		drv_ref_begin(joint, measured_rad, measured_rad_s, measured_a);
	if (joint->last.mode == MSG_MODE_NONE) /* a glitch of a measurement must not become a command */
		joint->last.velocity_rad_s = num_clamp(joint->last.velocity_rad_s, -l.velocity_rad_s, l.velocity_rad_s);

	if (!want)
		joint->last = stop(joint, &l, mode, safe, dt_s);
	else if (mode == MSG_MODE_POSITION || mode == MSG_MODE_COMPLIANT)
		joint->last = go_to(joint, &l, want->position_rad, dt_s);
	else if (mode == MSG_MODE_VELOCITY)
		joint->last = ramp_velocity(joint, &l, want->velocity_rad_s, measured_rad, dt_s);
	else
		joint->last = ramp_current(joint, &l, want->current_a, measured_rad, measured_rad_s, dt_s);
	if (want)
		joint->last.mode = mode; /* what follows upon another one begins at the measured state */
	joint->begun = true;
	joint->last.begins = begins;
	return joint->last;
}
