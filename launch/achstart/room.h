/* room.h: room in $RUN for the states of the daemons, also when something else has filled the rest.
 *
 * $RUN/room is a file that takes it up.  Whoever finds the file system full when a state is to be written gives it up
 * and writes again; it is made anew once there is room.
 */
#ifndef LAUNCH_ACHSTART_ROOM_H
#define LAUNCH_ACHSTART_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/* For so many daemons; left if it is there.  0 or -errno. */
int room_make(size_t daemons);
/* true: it was there, and what it took up is free. */
bool room_give_up(void);

#endif
