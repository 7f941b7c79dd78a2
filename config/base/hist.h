/* hist.h: how often which lateness, in fixed memory.
 *
 * Log-linear: every power of two from 1 ns to 2^42 ns (73 minutes) is cut into 32 equal parts, and one more counts what
 * lies above.  Values below 64 have a part of their own.  Adding is a few instructions, whatever has been added before.
 * Nothing here allocates, reads a clock or holds a pointer, so a struct hist may be copied and lie in shared memory.
 * A struct of all zeroes is empty.
 */
#pragma once

#include <stdint.h>

#define HIST_PART_BITS 5   /* 2^5 parts in a power of two, which is also the error: 1 in 2^5 */
#define HIST_RANGE_BITS 42 /* from 2^42 ns on it is an overflow */
#define HIST_PARTS ((HIST_RANGE_BITS - HIST_PART_BITS + 1) << HIST_PART_BITS)

struct hist {
	uint64_t count;			/* of all, the overflows too */
	int64_t min_ns, max_ns;		/* exact; 0 when empty */
	uint64_t parts[HIST_PARTS + 1]; /* the last is the overflow */
};

void hist_add(struct hist *h, int64_t ns); /* negative, early, counts as 0 */

/* A value that at least that part (0 to 1) of the values does not exceed.  With v the least value for which that holds,
 * the answer is from v to v + v/32, exact below 64 ns and for the smallest and the greatest value; among overflows it
 * is the greatest.  0 when empty. */
int64_t hist_quantile(const struct hist *h, double part);
