/* live.h: does a running robot read that channel?
 *
 * Applies to the e-stop (estop and estop-b behind any prefix), references (X-ref) and requests (X-req): a message there
 * moves a robot.  The robot is live if a channel that it writes (X-state or X-event; for an e-stop any
 * -state, -event or clock with its prefix) was last written by a process that still runs, or less than LIVE_NS ago, or
 * cannot be read, so that it is unknown.
 */
#ifndef CHANNELS_TOOL_LIVE_H
#define CHANNELS_TOOL_LIVE_H

#include <stdbool.h>

#include "channels/ach/ach.h"

#define LIVE_NS 10000000000

/* The channel by which it was seen, in by. */
bool live_listens(const char *channel, char by[ACH_CHAN_NAME_MAX]);

#endif
