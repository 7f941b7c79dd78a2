/* live.h: does a live robot listen to that channel?
 *
 * Asked for the e-stop (estop and estop-b behind any prefix), references (X-ref) and requests (X-req): whatever is put
 * there moves a robot.  The robot is live if a channel on which it speaks (X-state or X-event; for an e-stop any
 * -state, -event or clock with its prefix) was last written by a process that is there, or less than LIVE_NS ago, or
 * cannot be read, so that nobody knows.
 */
#ifndef CHANNELS_TOOL_LIVE_H
#define CHANNELS_TOOL_LIVE_H

#include <stdbool.h>

#include "channels/ach.h"

#define LIVE_NS 10000000000

/* The channel by which it was seen, in by. */
bool live_listens(const char *channel, char by[ACH_CHAN_NAME_MAX]);

#endif
