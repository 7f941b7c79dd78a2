/* pciod_drive.c: the move that follows from what the loop commands a joint. */
#include <math.h>

#include "daemons/pcio/pciod_drive.h"

static double within(double value, double min, double max)
{
	return fmin(fmax(value, min), max);
}

/* By how much the velocity may change in dt_s; without a limit also when no time has passed. */
static double change_rad_s(const struct drv_ref_limits *l, const struct pciod_drive_at *at)
{
	return isinf(l->acceleration_rad_s2) ? INFINITY : l->acceleration_rad_s2 * at->dt_s;
}

/* The greatest velocity for the next dt_s from which it can still stop within room. */
static double stoppable(double room_rad, double acceleration_rad_s2, double dt_s)
{
	if (room_rad <= 0)
		return 0;
	if (isinf(room_rad))
		return INFINITY;
	return 2 * room_rad / (dt_s + sqrt(dt_s * dt_s + 2 * room_rad / acceleration_rad_s2));
}

/* As near to wanted as the limits allow; those of the position win. */
static double limited(const struct pciod_drive *drive, double wanted_rad_s, const struct drv_ref_limits *l,
		      const struct pciod_drive_at *at)
{
	const double change = change_rad_s(l, at);
	double v = within(wanted_rad_s, -l->velocity_rad_s, l->velocity_rad_s);

	v = within(v, drive->velocity_rad_s - change, drive->velocity_rad_s + change);
	return within(v, -stoppable(at->position_rad - l->position_min_rad, l->acceleration_rad_s2, at->dt_s),
		      stoppable(l->position_max_rad - at->position_rad, l->acceleration_rad_s2, at->dt_s));
}

/* The velocity of a ramp that went on while the module could not is met within the acceleration limit; braking is not
 * limited here, for the ramp may have to, at a position limit. */
static double met(const struct pciod_drive *drive, double wanted_rad_s, const struct drv_ref_limits *l,
		  const struct pciod_drive_at *at)
{
	const double change = change_rad_s(l, at);

	if (!isfinite(wanted_rad_s))
		return 0;
	return within(wanted_rad_s, fmin(drive->velocity_rad_s, 0) - change, fmax(drive->velocity_rad_s, 0) + change);
}

/* How far the ramp is from the joint. */
static double bias(const struct drv_ref_command *command, const struct pciod_drive_at *at)
{
	const double rad = command->position_rad - at->position_rad;

	return isfinite(rad) ? rad : 0;
}

/* While a ramp comes to rest, the joint is no faster than it, or brakes until it is. */
static double slower(const struct pciod_drive *drive, const struct drv_ref_command *command,
		     const struct drv_ref_limits *l, const struct pciod_drive_at *at)
{
	return fmax(fabs(command->velocity_rad_s), fabs(drive->velocity_rad_s) - change_rad_s(l, at));
}

static void begin(struct pciod_drive *drive, const struct drv_ref_command *command, const struct pciod_drive_at *at)
{
	if (drive->on)
		return;
	drive->on = true;
	drive->velocity_rad_s = drive->stopped ? 0 : at->velocity_rad_s;
	drive->stopped = false;
	drive->bias_rad = command && command->mode == MSG_MODE_POSITION ? bias(command, at) : 0;
}

static struct pciod_move velocity(struct pciod_drive *drive, double value)
{
	/* Limits that contradict each other or a measurement that is none: standing is all that is safe. */
	drive->velocity_rad_s = isfinite(value) ? value : 0;
	return (struct pciod_move){ PCIO_VELOCITY_STATE, drive->velocity_rad_s };
}

struct pciod_move pciod_drive_stand(struct pciod_drive *drive, const struct drv_ref_limits *limits,
				    const struct pciod_drive_at *at)
{
	const double change = change_rad_s(limits, at);

	begin(drive, NULL, at);
	drive->bias_rad = 0;
	return velocity(drive, within(0, drive->velocity_rad_s - change, drive->velocity_rad_s + change));
}

struct pciod_move pciod_drive(struct pciod_drive *drive, const struct drv_ref_command *command,
			      const struct drv_ref_limits *limits, const struct pciod_drive_at *at)
{
	double fade_rad = isinf(limits->velocity_rad_s) ? INFINITY : limits->velocity_rad_s * at->dt_s / 2;
	double behind_rad, wanted_rad_s;

	if (command->mode == MSG_MODE_NONE || limits->position_min_rad > limits->position_max_rad)
		return pciod_drive_stand(drive, limits, at);
	begin(drive, command, at);
	if (command->anew && command->mode == MSG_MODE_POSITION)
		drive->bias_rad = bias(command, at);
	/* What is to stop must be slower from now on: it does not make up for what it is behind. */
	if (drive->followed && !at->following && command->mode == MSG_MODE_POSITION)
		drive->bias_rad = bias(command, at);
	drive->followed = at->following;
	if (command->mode == MSG_MODE_CURRENT) {
		drive->velocity_rad_s = at->velocity_rad_s;
		drive->bias_rad = 0;
		return (struct pciod_move){ PCIO_CURRENT_STATE, isfinite(command->current_a) ? command->current_a : 0 };
	}
	if (command->mode == MSG_MODE_VELOCITY) {
		drive->bias_rad = 0;
		return velocity(drive, met(drive, command->velocity_rad_s, limits, at));
	}
	if (at->following)
		drive->bias_rad -= within(drive->bias_rad, -fade_rad, fade_rad);
	behind_rad = at->measured ? command->position_rad - drive->bias_rad - at->position_rad : 0;
	wanted_rad_s = command->velocity_rad_s + at->gain_s * behind_rad;
	if (!isfinite(wanted_rad_s)) /* fmin and fmax would make a limit of it */
		return velocity(drive, 0);
	wanted_rad_s = limited(drive, wanted_rad_s, limits, at);
	if (!at->following && command->velocity_rad_s != 0)
		wanted_rad_s =
			within(wanted_rad_s, -slower(drive, command, limits, at), slower(drive, command, limits, at));
	return velocity(drive, wanted_rad_s);
}

void pciod_drive_off(struct pciod_drive *drive)
{
	drive->on = drive->stopped = false;
}

void pciod_drive_stop(struct pciod_drive *drive)
{
	drive->on = false;
	drive->stopped = true;
}
