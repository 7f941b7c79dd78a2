/* joint.c: one simulated joint: motor, inertia, friction, brake, ends, encoder.  Checked: covered. */
#include "daemons/robotsim/joint.h"

#include <math.h>

#define HIT_HALVINGS 50 /* to find when it meets an end */

static int sign(double value)
{
	return (value > 0) - (value < 0);
}

/* ---- motor and friction ---- */

double joint_motor_nm(struct joint *j, const struct joint_drive *d)
{
	double share = 1;

	j->current = 0;
	j->limited = false;
	if (d->how == JOINT_TORQUE)
		return d->value;
	if (d->how != JOINT_CURRENT)
		return 0;
	j->current = num_clamp(d->value, -d->current_max, d->current_max);
	j->limited = j->current != d->value;
	if (sign(j->current) == sign(j->velocity))
		share = (j->velocity_none - fabs(j->velocity)) / (j->velocity_none - j->velocity_full);
	j->current *= num_clamp(share, 0, 1);
	return j->torque_per_a * j->current;
}

/* Dry friction against torque_nm, the sum of everything else: against the motion, or what holds the joint at rest. */
static double friction(const struct joint *j, double torque_nm, bool brake)
{
	const double more_nm = brake ? j->brake_nm : 0;

	if (j->velocity == 0 && fabs(torque_nm) <= fmax(j->stiction_nm, j->friction_nm) + more_nm)
		return -torque_nm;
	return -sign(j->velocity == 0 ? torque_nm : j->velocity) * (j->friction_nm + more_nm);
}

/* ---- pieces of a step ---- */

/* A motion with v' = acceleration - decay v. */
struct path {
	double acceleration; /* rad/s^2 */
	double decay;	     /* 1/s */
};

/* (t - (1 - e^-decay t) / decay) / decay t^2: 1/2 without decay. */
static double second(double decay, double t_s)
{
	const double z = decay * t_s;

	if (z > 1e-2)
		return (z + expm1(-z)) / (z * z);
	return 0.5 - z / 6 * (1 - z / 4 * (1 - z / 5));
}

static double path_position(const struct path *p, const struct joint *j, double t_s)
{
	const double change = p->acceleration - p->decay * j->velocity;

	return j->position + j->velocity * t_s + change * t_s * t_s * second(p->decay, t_s);
}

static double path_velocity(const struct path *p, const struct joint *j, double t_s)
{
	const double change = p->acceleration - p->decay * j->velocity;

	return j->velocity + change * t_s * (1 - p->decay * t_s * second(p->decay, t_s));
}

/* When velocity is 0; INFINITY: never. */
static double path_rest_s(const struct path *p, const struct joint *j)
{
	if (p->acceleration * j->velocity >= 0)
		return INFINITY;
	if (p->decay > 0)
		return log1p(-p->decay * j->velocity / p->acceleration) / p->decay;
	return -j->velocity / p->acceleration;
}

/* When it is at the end, on a path that passes it before t_s. */
static double path_hit_s(const struct path *p, const struct joint *j, double t_s, int direction, double end)
{
	double from_s = 0, to_s = t_s;

	for (int i = 0; i < HIT_HALVINGS; i++) {
		const double middle_s = (from_s + to_s) / 2;

		if (direction * (path_position(p, j, middle_s) - end) >= 0)
			to_s = middle_s;
		else
			from_s = middle_s;
	}
	return to_s;
}

/* Goes along the path for t_s, in one direction, and has the velocity given then; or comes to rest at an end.  How long
 * it went. */
static double go(struct joint *j, const struct path *p, double t_s, int direction, double velocity)
{
	const double end = j->ends[direction > 0], position = path_position(p, j, t_s);

	if (direction * (position - end) >= 0) {
		const double hit_s = path_hit_s(p, j, t_s, direction, end);

		joint_carry(j, end, 0);
		return hit_s;
	}
	joint_carry(j, position, velocity);
	return t_s;
}

/* With a torque that stays the same: to where friction stops it, and on from there if it does not hold. */
static void step_torque(struct joint *j, double torque_nm, bool brake, double left_s)
{
	while (left_s > 0) {
		const int direction = sign(j->velocity == 0 ? torque_nm : j->velocity);
		const struct path path = { (torque_nm + friction(j, torque_nm, brake)) / j->inertia,
					   j->viscous / j->inertia };
		const double rest_s = path_rest_s(&path, j);

		if (j->velocity == 0 && (path.acceleration == 0 || direction == j->end))
			return;
		if (rest_s <= left_s)
			left_s -= go(j, &path, rest_s, direction, 0);
		else
			left_s -= go(j, &path, left_s, direction, path_velocity(&path, j, left_s));
	}
}

static void step_velocity(struct joint *j, double wanted, double left_s)
{
	while (left_s > 0) {
		const double to =
			sign(j->velocity) * sign(wanted) < 0 ? 0 : wanted; /* first to rest, then the other way */
		const int direction = sign(j->velocity == 0 ? to : j->velocity);
		const struct path path = { sign(to - j->velocity) * j->acceleration, 0 };
		const double t_s = fabs(to - j->velocity) / j->acceleration;

		if (j->velocity == 0 && (to == 0 || direction == j->end))
			return;
		if (t_s > 0 && t_s <= left_s)
			left_s -= go(j, &path, t_s, direction, to);
		else
			left_s -= go(j, &path, left_s, direction, path_velocity(&path, j, left_s));
	}
}

/* ---- a step ---- */

void joint_carry(struct joint *j, double position, double velocity)
{
	j->position = position;
	j->velocity = velocity;
	j->end = position <= j->ends[0] ? -1 : position >= j->ends[1] ? 1 : 0;
}

void joint_step(struct joint *j, const struct joint_drive *d, double dt_s)
{
	const double steps = ceil(dt_s / JOINT_STEP_MAX_S), step_s = dt_s / steps;

	for (double i = 0; i < steps; i++) {
		/* Half-way through the step: no energy is gained or lost. */
		const double hangs = j->gravity_nm * sin(j->position + j->velocity * step_s / 2);
		const double torque_nm = joint_motor_nm(j, d) + d->load_nm - hangs;

		if (d->jammed)
			joint_carry(j, j->position, 0);
		else if (d->how == JOINT_VELOCITY)
			step_velocity(j, d->value, step_s);
		else
			step_torque(j, torque_nm, d->brake, step_s);
	}
}

/* ---- its encoder ---- */

/* -1 to 1, of the seed and the time. */
static double noise(int64_t seed, int64_t t_ns)
{
	uint64_t x = ((uint64_t)seed + 1) * 0x9E3779B97F4A7C15u + (uint64_t)t_ns;

	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
	x = (x ^ x >> 27) * 0x94D049BB133111EBu;
	return (double)(int64_t)(x ^ x >> 31) / 0x1p63;
}

double joint_counts(const struct joint_encoder *e, double position, int64_t t_ns)
{
	const double reading = (e->backwards ? -position : position) + e->offset;

	return floor((reading + e->noise * noise(e->seed, t_ns)) * e->counts_per_rad);
}

double joint_reading(const struct joint_encoder *e, double position, int64_t t_ns)
{
	return joint_counts(e, position, t_ns) / e->counts_per_rad;
}
