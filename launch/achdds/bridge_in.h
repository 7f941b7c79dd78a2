/* bridge_in.h: topics to references, and to raises of the e-stop.
 *
 * A reference has no validity and no incarnation in ROS.  It gets a short validity from its reception, and the
 * incarnation of the driver that the bridge has seen for PAUSE_NS: so its writer had the time to see a restart.  One
 * writer at a time: while a reference of one is valid, those of another are refused.  Behind the bridge the driver
 * checks references as it does all others.  The e-stop can be raised, and not lowered.
 */
#pragma once

#include "launch/achdds/bridge.h"

#define BRIDGE_IN_PAUSE_NS 500000000

struct bridge_in;

/* The readers of all topics.  0, or -errno with lines in errors. */
int bridge_in_open(struct bridge_in **subscribe, struct bridge *bridge, struct error_sink *errors);
void bridge_in_close(struct bridge_in *subscribe);

/* Takes what has come; not all of a flood, then dds_node_fd is readable again. */
void bridge_in_take(struct bridge_in *subscribe);
/* Looks at the drivers, and repeats raises that are not obeyed yet.  Returns when to look again. */
int64_t bridge_in_due(struct bridge_in *subscribe, int64_t now_ns);

void bridge_in_state(const struct bridge_in *subscribe, struct json *json, int64_t now_ns);
