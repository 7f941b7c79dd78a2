/* num.h: the smaller, the larger, the nearest in a range. */
#ifndef CONFIG_BASE_NUM_H
#define CONFIG_BASE_NUM_H

#include <math.h>
#include <stdint.h>

static inline int64_t num_min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t num_max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* NaN becomes min. */
static inline double num_clamp(double value, double min, double max)
{
	return fmin(fmax(value, min), max);
}

#endif
