/* drv_missed.h: what a device has not said: silence, and losses. */
#ifndef DAEMONS_DRV_DRV_MISSED_H
#define DAEMONS_DRV_DRV_MISSED_H

#include "daemons/drv/drv.h"

/* For how many ms nothing has come, neither since heard_ns, the newest sample, nor since waits_ns, from when it is
 * waited for, if that is longer than after_ns, of 1 ms or more; else 0.  In a pause of this process or of the first
 * bus nothing can come. */
static inline long long drv_missed_ms(const struct drv *drv, int64_t heard_ns, int64_t waits_ns, int64_t after_ns,
				      int64_t now_ns)
{
	const int64_t since_ns = heard_ns > waits_ns ? heard_ns : waits_ns;
	const int64_t heard_not_ns = now_ns - since_ns;

	return heard_not_ns - drv_paused_ns(drv, 0, since_ns) > after_ns ? heard_not_ns / 1000000 : 0;
}

/* Has a count of losses changed since the last time?  drv_event says so once a second at most. */
static inline bool drv_missed_more(uint32_t *noted, uint32_t count)
{
	const bool more = count != *noted;

	*noted = count;
	return more;
}

#endif
