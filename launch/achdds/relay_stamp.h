/* relay_stamp.h: the times in a message of another machine. */
#pragma once

#include "channels/msg/msg.h"
#include "config/base/base.h"

/* Is this a time of the clock, not a duration?  By its name: every i64 in ns is one or the other, which
 * test_relay.c checks. */
bool relay_stamp_is_time(const struct msg_field *field);

/* Adds to every time in the message, of that type and checked; 0 means none, and stays.  error_ns, how wrong by_ns may
 * be, is added to the uncertainty in its header. */
void relay_stamp_shift(const struct msg_type *type, void *msg, int64_t by_ns, int64_t error_ns);
