/* pciod_drive.c: the move that follows from what the loop commands a joint. */
#include <math.h>

#include "daemons/pcio/pciod_drive.h"

static double within(double value, double min, double max)
{
	return fmin(fmax(value, min), max);
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
	double change = isinf(l->acceleration_rad_s2) ? INFINITY : l->acceleration_rad_s2 * at->dt_s;
	double v = within(wanted_rad_s, -l->velocity_rad_s, l->velocity_rad_s);

	v = within(v, drive->velocity_rad_s - change, drive->velocity_rad_s + change);
	return within(v, -stoppable(at->position_rad - l->position_min_rad, l->acceleration_rad_s2, at->dt_s),
		      stoppable(l->position_max_rad - at->position_rad, l->acceleration_rad_s2, at->dt_s));
}

static void begin(struct pciod_drive *drive, const struct drv_ref_command *command, const struct pciod_drive_at *at)
{
	if (drive->on)
		return;
	drive->on = true;
	drive->velocity_rad_s = at->velocity_rad_s;
	drive->bias_rad = command && command->mode == MSG_MODE_POSITION ? command->position_rad - at->position_rad : 0;
	if (!isfinite(drive->bias_rad))
		drive->bias_rad = 0;
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
	double change = isinf(limits->acceleration_rad_s2) ? INFINITY : limits->acceleration_rad_s2 * at->dt_s;

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
	if (command->mode == MSG_MODE_CURRENT) {
		drive->velocity_rad_s = at->velocity_rad_s;
		drive->bias_rad = 0;
		return (struct pciod_move){ PCIO_CURRENT_STATE, isfinite(command->current_a) ? command->current_a : 0 };
	}
	if (command->mode == MSG_MODE_VELOCITY) {
		drive->bias_rad = 0;
		return velocity(drive, command->velocity_rad_s);
	}
	if (at->following)
		drive->bias_rad -= within(drive->bias_rad, -fade_rad, fade_rad);
	behind_rad = command->position_rad - drive->bias_rad - at->position_rad;
	wanted_rad_s = command->velocity_rad_s + at->gain_s * behind_rad;
	/* fmin and fmax would make a limit of what is no number. */
	return velocity(drive, isfinite(wanted_rad_s) ? limited(drive, wanted_rad_s, limits, at) : 0);
}

void pciod_drive_off(struct pciod_drive *drive)
{
	drive->on = false;
}
