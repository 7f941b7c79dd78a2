/* estop_talk.h: raising and lowering the e-stop from a test, as achctl and achstart do, on the channels of
 * $ENDPLATE_PREFIX. */
#pragma once

#include "channels/estop/estop.h"

/* A message whose writer has read everything there is on both channels. */
struct msg_estop estop_talk_message(enum msg_estop_kind kind, enum msg_level level);
/* Puts it on one channel, 0 or 1. */
void estop_talk_put(unsigned int channel, const struct msg_estop *msg);
void estop_talk_raise(unsigned int channel, enum msg_level level);
void estop_talk_raise_both(enum msg_level level);
/* Has what is on estop-b been copied to estop?  Until then a lowering may come too late by one message. */
bool estop_talk_is_ratified(void);
void estop_talk_mend(void); /* makes channels that are missing or cannot be used */
/* Mends, then lowers.  The lowering's sequence number. */
uint64_t estop_talk_lower(enum msg_level level, uint64_t epoch);
