/* drv_refused.h: a reference that is not taken, as an event. */
#pragma once

#include "daemons/drv/drv.h"

/* The event names the channel (NULL: the device's own), the writer, the reason and what to write instead, once, and is
 * then counted.  There is none for a reference that was put before the first tick, nor for one that was over because
 * this process was paused, which has an event of its own.  refs_refused is left to the caller. */
void drv_refused(struct drv *drv, const char *channel, enum ref_verdict verdict, const void *msg, size_t len,
		 const struct ref_rules *rules, int64_t now_ns);
