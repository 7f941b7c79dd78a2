/* work.h: computing that costs a given processor time, for programs that play a slow one.
 *
 * The kernel says what was used, so a processor that becomes faster or slower meanwhile changes nothing. */
#pragma once

#include "config/base/base.h"

struct work {
	int64_t mean_ns; /* of one piece; 0: nothing to do */
	int64_t seed;	 /* 0: each piece costs the mean; else 0 to twice the mean, by a pattern */
};

/* Pure: what the piece of that number costs. */
int64_t work_cost_ns(const struct work *work, uint64_t piece);

void work_do(int64_t cost_ns);
int64_t work_spent_ns(void); /* processor time of this process; to 1 us */
