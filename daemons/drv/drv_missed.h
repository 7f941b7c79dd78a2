/* drv_missed.h: what a device has not said: silence, and losses. */
#pragma once

#include "config/base/base.h"
#include "daemons/drv/drv.h"

/* How long a device has been silent, in ms, if that is more than after_ns (1 ms or more); else 0.  It counts from
 * heard_ns, the newest sample, or from waits_ns, when the wait for one began, whichever is later.  A pause of this
 * process or of the first bus is not silence. */
static inline long long drv_missed_ms(const struct drv *drv, int64_t heard_ns, int64_t waits_ns, int64_t after_ns,
				      int64_t now_ns)
{
	const int64_t since_ns = num_max(heard_ns, waits_ns), silent_ns = now_ns - since_ns;

	return silent_ns - drv_paused_ns(drv, 0, since_ns) > after_ns ? silent_ns / NS_PER_MS : 0;
}

/* Has a count of losses changed since the last time?  drv_event says so once a second at most. */
static inline bool drv_missed_more(uint32_t *noted, uint32_t count)
{
	const bool more = count != *noted;

	*noted = count;
	return more;
}
