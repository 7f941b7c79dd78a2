/* pciod_drive.h: the move that follows from what the loop commands a joint.
 *
 * A current goes to the module as it is, anything else as a velocity: what the loop's tracking says.  Pure.
 */
#ifndef PCIOD_DRIVE_H
#define PCIOD_DRIVE_H

#include <stdbool.h>

#include "daemons/drv.h"
#include "daemons/pcio/pcio.h"

struct pciod_drive {
	bool on;      /* it was commanded in the last tick */
	bool stopped; /* it was told velocity 0 instead, or halted, and has not begun since */
};

struct pciod_move {
	enum pcio_motion motion; /* PCIO_VELOCITY_STATE or PCIO_CURRENT_STATE */
	double value;
	bool stops; /* it brakes, or holds */
};

/* stand: velocity to 0, whatever is commanded. */
struct pciod_move pciod_drive(struct pciod_drive *drive, const struct drv_ref_command *command, bool stand);
/* Not commanded in this tick; or told velocity 0, however fast it is: then it begins from there. */
void pciod_drive_off(struct pciod_drive *drive);
void pciod_drive_stop(struct pciod_drive *drive);

#endif
