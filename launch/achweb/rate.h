/* rate.h: at most one in every_ns on average, and burst at once; pure. */
#pragma once

#include "config/base/base.h"

struct rate {
	int64_t full_ns; /* when all that was taken has been paid back; begins with 0 */
};

static inline bool rate_take(struct rate *rate, int64_t now_ns, int64_t every_ns, int64_t burst)
{
	const int64_t from_ns = rate->full_ns > now_ns ? rate->full_ns : now_ns;

	if (from_ns + every_ns > now_ns + burst * every_ns)
		return false;
	rate->full_ns = from_ns + every_ns;
	return true;
}
