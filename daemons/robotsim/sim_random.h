/* sim_random.h: the random numbers of simulated devices: the same after each start with the same seed. */
#pragma once

#include "channels/clock/vt_clock.h"
#include "config/base/base.h"

static inline uint64_t sim_random_seed(int64_t seed)
{
	return (uint64_t)vt_clock_seed(seed) * 0x9E3779B97F4A7C15u + 1;
}

/* 0 to below 1.  The state is never 0. */
static inline double sim_random_share(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)((*state * 2685821657736338717u) >> 11) * 0x1p-53;
}

/* Nearly normal, rms 1. */
static inline double sim_random_normal(uint64_t *state)
{
	double sum = -6;

	for (unsigned int i = 0; i < 12; i++)
		sum += sim_random_share(state);
	return sum;
}
