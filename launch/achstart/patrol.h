/* patrol.h: the channels of the robot: the broken are removed, and at the end all of them.
 *
 * One of them at each turn is opened as any reader would.  One that was overwritten is removed, and whoever uses it
 * makes it anew: only achstart does that, and tells.  estop and estop-b are arm.h's.
 */
#ifndef LAUNCH_ACHSTART_PATROL_H
#define LAUNCH_ACHSTART_PATROL_H

#include <stdbool.h>
#include <stddef.h>

#include "daemons/port.h"
#include "launch/achstart/launch_file.h"

struct patrol {
	char (*names)[PORT_NAME_MAX]; /* with prefix */
	size_t n, at;
};

int patrol_open(struct patrol *patrol, const struct launch *launch); /* 0 or -ENOMEM */
void patrol_close(struct patrol *patrol);

/* Looks at the next one.  Its name if it was broken and has been removed; else NULL. */
const char *patrol_look(struct patrol *patrol);
/* Is this one broken?  Then it is removed. */
bool patrol_mend(const char *name);

/* Removes all of them, estop and estop-b too. */
void patrol_sweep(struct patrol *patrol);

#endif
