/* pciod_drive.c: the move that follows from what the loop commands a joint. */
#include <math.h>

#include "daemons/pcio/pciod_drive.h"

struct pciod_move pciod_drive(struct pciod_drive *drive, const struct drv_ref_command *command, bool stand)
{
	const bool current = command->mode == MSG_MODE_CURRENT && !stand;
	const double value = current ? command->current_a : command->track_rad_s;

	*drive = (struct pciod_drive){ .on = true };
	return (struct pciod_move){ .motion = current ? PCIO_CURRENT_STATE : PCIO_VELOCITY_STATE,
				    .value = isfinite(value) ? value : 0,
				    .stops = command->stops || stand };
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
