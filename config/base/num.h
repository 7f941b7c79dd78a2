/* num.h: the smaller, the larger, the nearest in a range. */
#pragma once

#include <stdint.h>

#define KELVIN 273.15 /* 0 degrees Celsius */

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
	value = value < min || value != value ? min : value;
	return value > max ? max : value;
}
