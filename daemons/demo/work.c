/* work.c: computing that costs a given processor time. */
#include "daemons/demo/work.h"

#include <sys/resource.h>

#define LOOPS 5000 /* some microseconds */
#define MIX UINT64_C(0x9E3779B97F4A7C15)

static volatile uint64_t result; /* so that the compiler keeps the loop */

/* Not inlined: the loop is the same code for every caller. */
static __attribute__((noinline)) void turn(uint64_t loops)
{
	uint64_t x = loops;

	while (loops--)
		x = (x ^ x >> 29) * MIX;
	result = x;
}

int64_t work_cost_ns(const struct work *work, uint64_t piece)
{
	uint64_t x = (uint64_t)work->seed * MIX + piece;

	if (!work->seed)
		return work->mean_ns;
	for (int i = 0; i < 3; i++)
		x = (x ^ x >> 30) * MIX;
	return (int64_t)((x >> 32) % (2 * (uint64_t)work->mean_ns + 1));
}

int64_t work_spent_ns(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * NS_PER_S +
	       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * INT64_C(1000);
}

void work_do(int64_t cost_ns)
{
	const int64_t end_ns = work_spent_ns() + cost_ns;

	while (cost_ns && work_spent_ns() < end_ns)
		turn(LOOPS);
}
