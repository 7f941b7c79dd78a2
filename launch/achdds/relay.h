/* relay.h: channels of one Endplate machine on another, by name, whole messages.
 *
 * The sender publishes each message of a channel with its Ach sequence number.  The receiver measures how far the
 * sender's clock is ahead (relay_clock.h), translates the times in the message, and puts it into a channel of the same
 * name that it makes itself.  Messages lost on the way are counted by the sequence numbers.  Without a measured offset,
 * or while that may be wrong by more than the plan allows, nothing is delivered.
 *
 * A reference goes to the driver as any other (bridge_in.h): its validity, at most that of the plan, counts from its
 * reception, and it has to name the incarnation of the driver.
 */
#pragma once

#include "launch/achdds/bridge.h"

struct relay;

/* 0, or -errno with lines in errors; *relay is NULL if the plan has none. */
int relay_open(struct relay **relay, struct bridge *bridge, struct error_sink *errors);
void relay_close(struct relay *relay);

/* Sends and receives all that is there. */
void relay_read(struct relay *relay, uint32_t tag, int64_t now_ns);
void relay_take(struct relay *relay);
/* Asks for the time, opens what is missing.  Returns when to do it again. */
int64_t relay_due(struct relay *relay, int64_t now_ns);

void relay_state(const struct relay *relay, struct json *json, int64_t now_ns);
