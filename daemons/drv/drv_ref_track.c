/* drv_ref_track.c: the velocity to command to a device that takes velocities.
 *
 * The ramp's velocity is fed forward; what the joint is behind the ramp is made up for by a velocity in proportion.
 * A joint that was held back goes towards a target where its ramp has long arrived, and a proportional velocity alone
 * brakes too late for its acceleration limit: so it is held, too, to the velocity from which it can stop at the target.
 *
 * Checked: covered.
 */
#include <math.h>

#include "config/base/base.h"
#include "daemons/drv/drv_ref.h"

/* By how much the velocity may change in dt_s; without a limit also when no time has passed. */
static double change_rad_s(const struct drv_ref_limits *l, const struct drv_ref_at *at)
{
	return isinf(l->acceleration_rad_s2) ? INFINITY : l->acceleration_rad_s2 * at->dt_s;
}

static double stoppable_between(double velocity_rad_s, double min_rad, double max_rad, const struct drv_ref_limits *l,
				const struct drv_ref_at *at)
{
	const double a = l->acceleration_rad_s2, s = at->ahead_s;

	return num_clamp(velocity_rad_s, -drv_ref_stoppable(at->position_rad - min_rad, a, s),
			 drv_ref_stoppable(max_rad - at->position_rad, a, s));
}

/* Where the joint is now is compared with where the ramp is now: the command is where it will be. */
static double bias(const struct drv_ref_command *command, const struct drv_ref_at *at)
{
	const double rad = command->position_rad - command->velocity_rad_s * at->dt_s - at->position_rad;

	return isfinite(rad) ? rad : 0;
}

/* true: it does. */
static bool begin(struct drv_ref_track *track, const struct drv_ref_limits *l, const struct drv_ref_at *at)
{
	if (track->on)
		return false;
	track->on = true;
	track->followed = false;
	track->velocity_rad_s =
		isfinite(at->velocity_rad_s) ? num_clamp(at->velocity_rad_s, -l->velocity_rad_s, l->velocity_rad_s) : 0;
	return true;
}

/* A ramp that begins at what is measured is met within the acceleration limit of the last command; braking is
 * not limited here, for the ramp may have to, at a position limit. */
static double met(const struct drv_ref_track *track, double wanted_rad_s, double change)
{
	if (!isfinite(wanted_rad_s))
		return 0;
	return num_clamp(wanted_rad_s, fmin(track->velocity_rad_s, 0) - change,
			 fmax(track->velocity_rad_s, 0) + change);
}

/* If limits contradict each other or the measurement is not a number, only standing still is safe. */
static double limited_command(struct drv_ref_track *track, const struct drv_ref_limits *l, double value)
{
	track->velocity_rad_s =
		isfinite(value) && l->velocity_rad_s >= 0 ? num_clamp(value, -l->velocity_rad_s, l->velocity_rad_s) : 0;
	return track->velocity_rad_s;
}

double drv_ref_track_stand(struct drv_ref_track *track, const struct drv_ref_limits *limits,
			   const struct drv_ref_at *at)
{
	const double change = change_rad_s(limits, at);

	begin(track, limits, at);
	track->bias_rad = 0;
	return limited_command(track, limits,
			       num_clamp(0, track->velocity_rad_s - change, track->velocity_rad_s + change));
}

/* While a ramp comes to rest, the joint is not faster than the ramp, or brakes until it is not. */
static double slower(const struct drv_ref_track *track, const struct drv_ref_command *command, double value,
		     double change)
{
	const double most = fmax(fabs(command->velocity_rad_s), fabs(track->velocity_rad_s) - change);

	return command->stops && command->velocity_rad_s != 0 ? num_clamp(value, -most, most) : value;
}

static double track_position(struct drv_ref_track *track, const struct drv_ref_joint *joint,
			     const struct drv_ref_command *command, const struct drv_ref_limits *l,
			     const struct drv_ref_at *at)
{
	const double change = change_rad_s(l, at);
	const double fade_rad = isinf(l->velocity_rad_s) ? INFINITY : l->velocity_rad_s * at->dt_s / 2;
	double v;

	/* A joint that has to stop must be slower from now on: it does not make up for what it is behind. */
	if (track->followed && command->stops)
		track->bias_rad = bias(command, at);
	if (!command->stops)
		track->bias_rad -= num_clamp(track->bias_rad, -fade_rad, fade_rad);
	v = command->velocity_rad_s;
	if (at->fresh)
		v += at->gain_1_s * (bias(command, at) - track->bias_rad);
	if (!isfinite(v)) /* fmin and fmax would make a limit of it */
		return 0;
	if (!command->stops && at->fresh)
		v = stoppable_between(v, joint->target_rad, joint->target_rad, l, at);
	v = num_clamp(v, -l->velocity_rad_s, l->velocity_rad_s);
	v = num_clamp(v, track->velocity_rad_s - change, track->velocity_rad_s + change);
	v = stoppable_between(v, l->position_min_rad, l->position_max_rad, l, at);
	return slower(track, command, v, change);
}

double drv_ref_track(struct drv_ref_track *track, const struct drv_ref_joint *joint,
		     const struct drv_ref_command *command, const struct drv_ref_limits *limits,
		     const struct drv_ref_at *at)
{
	const bool pushes = command->mode == MSG_MODE_CURRENT || command->mode == MSG_MODE_COMPLIANT;

	if (command->mode == MSG_MODE_NONE || limits->position_min_rad > limits->position_max_rad)
		return drv_ref_track_stand(track, limits, at);
	if (pushes)
		track->on = false; /* what comes next begins at what is measured */
	if (begin(track, limits, at) || command->begins)
		track->bias_rad = bias(command, at);
	if (command->mode == MSG_MODE_POSITION)
		limited_command(track, limits, track_position(track, joint, command, limits, at));
	else
		track->bias_rad = 0;
	if (command->mode == MSG_MODE_VELOCITY)
		limited_command(track, limits, met(track, command->velocity_rad_s, change_rad_s(limits, at)));
	track->followed = !command->stops;
	return pushes ? 0 : track->velocity_rad_s;
}
