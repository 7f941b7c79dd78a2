/* bms.c: thresholds and cells of a battery; see bms.h.  Checked: pure, covered. */
#include <math.h>

#include "daemons/bms/bms.h"

enum bms_crossing bms_cross(bool *crossed, double value, const struct bms_threshold *t)
{
	const double beyond = t->below ? t->threshold - value : value - t->threshold;

	if (!*crossed && beyond > 0) {
		*crossed = true;
		return BMS_CROSSED;
	}
	if (*crossed && beyond <= -t->hysteresis) {
		*crossed = false;
		return BMS_CLEARED;
	}
	return BMS_NOTHING;
}

static bool is_known(const struct bms_cells *c, unsigned int cell, int64_t now_ns)
{
	return c->t_ns[cell] && now_ns - c->t_ns[cell] <= c->stale_ns;
}

double bms_cell_v(const struct bms_cells *c, unsigned int cell, int64_t now_ns)
{
	return is_known(c, cell, now_ns) ? c->voltage_v[cell] : NAN;
}

double bms_spread_v(const struct bms_cells *c, int64_t now_ns)
{
	double low = NAN, high = NAN;
	unsigned int known = 0;

	for (unsigned int i = 0; i < c->n; i++) {
		if (!is_known(c, i, now_ns))
			continue;
		known++;
		low = fmin(low, c->open_v[i]);
		high = fmax(high, c->open_v[i]);
	}
	return known < 2 ? NAN : high - low;
}
