/* sample.h: the message that publish sends and subscribe prints, and the clock it is stamped with. */
#pragma once

#include <stdint.h>
#include <time.h>

#define SAMPLE_KEPT 64 /* messages the channel retains */

struct sample {
	uint64_t count;
	int64_t t_ns; /* CLOCK_MONOTONIC: the same in every process of a machine */
};

static inline int64_t sample_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline void sample_sleep_until(int64_t t_ns)
{
	struct timespec at = { .tv_sec = t_ns / 1000000000, .tv_nsec = t_ns % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}
