/* bridge_out.h: channels to topics.
 *
 * Each channel that matches a topic of the plan is one link.  Reading a channel takes no lock, so no driver waits for
 * it; a message is encoded once and handed to the library, which never waits for a reader.  A link with a rate takes
 * the newest message when it is due, and leaves the others out.
 */
#pragma once

#include "launch/achdds/bridge.h"

#define BRIDGE_OUT_LINKS_MAX 500

struct bridge_out;

/* The writers of all topics.  0, or -errno with lines in errors. */
int bridge_out_open(struct bridge_out **publish, struct bridge *bridge, struct error_sink *errors);
void bridge_out_close(struct bridge_out *publish);

/* Links channels that have appeared since the last time. */
void bridge_out_scan(struct bridge_out *publish);
/* The link with that tag has messages. */
void bridge_out_read(struct bridge_out *publish, uint32_t tag, int64_t now_ns);
/* Publishes what is due, opens again what was removed.  Returns when there is more to do. */
int64_t bridge_out_due(struct bridge_out *publish, int64_t now_ns);

void bridge_out_state(const struct bridge_out *publish, struct json *json, int64_t now_ns);
