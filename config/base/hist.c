/* hist.c: see hist.h. */
#include <stddef.h>

#include "config/base/hist.h"

_Static_assert(sizeof(struct hist) == 3 * 8 + (HIST_PARTS + 1) * 8, "no holes: it may be shared and compared");

/* Below 2^PART_BITS a value is its own index; above, the power of two counts, and the bits after the leading one. */
static size_t part_of(int64_t ns)
{
	int shift = 63 - HIST_PART_BITS - __builtin_clzll((uint64_t)ns | 1);

	if (ns >> HIST_RANGE_BITS)
		return HIST_PARTS;
	return shift <= 0 ? (size_t)ns : ((size_t)shift << HIST_PART_BITS) + (size_t)(ns >> shift);
}

/* The greatest value that part_of maps to it. */
static int64_t part_last(size_t part)
{
	int shift = (int)(part >> HIST_PART_BITS) - 1;

	if (shift <= 0)
		return (int64_t)part;
	return (((int64_t)(part - ((size_t)shift << HIST_PART_BITS)) + 1) << shift) - 1;
}

void hist_add(struct hist *h, int64_t ns)
{
	if (ns < 0)
		ns = 0;
	if (!h->count || ns < h->min_ns)
		h->min_ns = ns;
	if (ns > h->max_ns)
		h->max_ns = ns;
	h->count++;
	h->parts[part_of(ns)]++;
}

/* How many values the quantile covers, 1 to count. */
static uint64_t rank_of(uint64_t count, double part)
{
	/* 0.07 is a little more than 7 in 100: that must not ask for the eighth. */
	double want = part * (double)count * (1 - 1e-12);
	uint64_t rank;

	if (part >= 1)
		return count;
	if (!(want > 0)) /* NaN too */
		return 1;
	rank = (uint64_t)want;
	return (double)rank < want ? rank + 1 : rank;
}

int64_t hist_quantile(const struct hist *h, double part)
{
	uint64_t rank, seen = 0;
	size_t i = 0;

	if (!h->count)
		return 0;
	rank = rank_of(h->count, part);
	if (rank == 1)
		return h->min_ns;
	while (i < HIST_PARTS && (seen += h->parts[i]) < rank)
		i++;
	return i == HIST_PARTS || part_last(i) > h->max_ns || rank == h->count ? h->max_ns : part_last(i);
}
