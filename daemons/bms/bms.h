/* bms.h: thresholds of a battery, with hysteresis, and its cells.  Pure. */
#pragma once

#include "config/base/base.h"

#define BMS_CELLS_MAX 128

enum bms_crossing { BMS_NOTHING, BMS_CROSSED, BMS_CLEARED };

/* A value, and whether it is across its threshold.  below: small values are.  It is back when it is better than the
 * threshold by the hysteresis.  NaN changes nothing. */
struct bms_threshold {
	double threshold, hysteresis;
	bool below;
};
enum bms_crossing bms_cross(bool *crossed, double value, const struct bms_threshold *threshold);

struct bms_cells {
	unsigned int n;						/* by the caller: how many there are */
	int64_t stale_ns;					/* by the caller: older ones are unknown */
	double voltage_v[BMS_CELLS_MAX], open_v[BMS_CELLS_MAX]; /* now, and without load */
	int64_t t_ns[BMS_CELLS_MAX];				/* 0: never heard */
};

double bms_cell_v(const struct bms_cells *cells, unsigned int cell, int64_t now_ns); /* NaN: unknown */
/* Highest minus lowest of the known voltages, without load: they are not measured at the same time.  NaN: fewer than
 * two are known. */
double bms_spread_v(const struct bms_cells *cells, int64_t now_ns);
