/* publish.h: channels to topics.
 *
 * Each channel that matches a topic of the plan is one link.  Reading a channel takes no lock, so no driver waits for
 * it; a message is encoded once and handed to the library, which never waits for a reader.  A link with a rate takes
 * the newest message when it is due, and leaves the others out.
 */
#ifndef LAUNCH_ACHDDS_PUBLISH_H
#define LAUNCH_ACHDDS_PUBLISH_H

#include "launch/achdds/bridge.h"

#define PUBLISH_LINKS_MAX 500

struct publish;

/* The writers of all topics.  0, or -errno with lines in errors. */
int publish_open(struct publish **publish, struct bridge *bridge, struct error_sink *errors);
void publish_close(struct publish *publish);

/* Links channels that have appeared since the last time. */
void publish_scan(struct publish *publish);
/* The link with that tag has messages. */
void publish_read(struct publish *publish, uint32_t tag, int64_t now_ns);
/* Publishes what is due, opens again what was removed.  Returns when there is more to do. */
int64_t publish_due(struct publish *publish, int64_t now_ns);

void publish_state(const struct publish *publish, struct json *json, int64_t now_ns);

#endif
