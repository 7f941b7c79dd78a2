/* pciod_drive.h: the move that follows from what the loop commands a joint.
 *
 * Velocity and current go to the module as they are.  A position is a velocity, too: that of the ramp, fed forward,
 * and gain times how far the joint is behind the ramp; within the velocity and acceleration limits, and never so that
 * the joint could not stop before a position limit.  Pure.
 */
#ifndef PCIOD_DRIVE_H
#define PCIOD_DRIVE_H

#include <stdbool.h>

#include "daemons/drv.h"
#include "daemons/pcio/pcio.h"

struct pciod_drive {
	bool on;	       /* it was commanded in the last tick */
	bool stopped;	       /* it was told velocity 0 instead, or halted, and has not begun since */
	double velocity_rad_s; /* what it was told */
	/* A ramp that went on while the module could not (it was halted, homing, or away) is elsewhere than the
	 * joint, by so much; and so is one that is to stop while the joint is still behind it.  It is not made up for
	 * while holding, and slowly when a reference is followed. */
	double bias_rad;
	bool followed; /* a reference, in the last tick */
};

struct pciod_move {
	enum pcio_motion motion; /* PCIO_VELOCITY_STATE or PCIO_CURRENT_STATE */
	double value;
};

struct pciod_drive_at { /* how it is */
	double position_rad, velocity_rad_s;
	bool measured; /* just now: else nobody knows how far it is behind, and it goes as fast as its ramp */
	double gain_s; /* 1/s */
	double dt_s;
	bool following; /* a reference, not the safe action */
};

struct pciod_move pciod_drive(struct pciod_drive *drive, const struct drv_ref_command *command,
			      const struct drv_ref_limits *limits, const struct pciod_drive_at *at);
/* Velocity to 0 within the acceleration limit, wherever the joint is. */
struct pciod_move pciod_drive_stand(struct pciod_drive *drive, const struct drv_ref_limits *limits,
				    const struct pciod_drive_at *at);
/* Not commanded in this tick; or told velocity 0, however fast it is: then it begins from there. */
void pciod_drive_off(struct pciod_drive *drive);
void pciod_drive_stop(struct pciod_drive *drive);

#endif
