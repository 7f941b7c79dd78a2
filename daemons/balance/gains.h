/* gains.h: gains of the balancing controller, computed from the model for every posture.
 *
 *	current = k . (lean, lean rate, wheel angle, wheel rate)
 *
 * They minimise the sum over all ticks of weight_i * state_i^2 + weight_current * current^2 (linear quadratic
 * regulator, current held during a tick).  All are positive: a robot that leans forward, or stands too far ahead,
 * drives forward first.  scripts/balance-gains computes the same numbers in another way, and prints them.
 */
#pragma once

#include "daemons/balance/model.h"

#define GAINS_STEP_RAD 0.1 /* of the waist, between two postures */
#define GAINS_MAX 31	   /* 0 to 3 rad */

struct gains {
	double lean, lean_rate, wheel, wheel_rate; /* A per rad, A per rad/s; of each motor */
};

struct gains_table {
	struct gains gains[GAINS_MAX];
	struct model_linear linear[GAINS_MAX];
};

struct gains_weights {
	double lean, lean_rate, wheel, wheel_rate, current;
};

/* The gains of one angle of the waist; for tests. */
struct gains gains_of(const struct model_linear *linear, const struct gains_weights *weights, double period_s);
void gains_fill(struct gains_table *table, const struct model *model, const struct gains_weights *weights,
		double period_s);
/* Between two postures linear; beyond the ends those of the end. */
struct gains gains_at(const struct gains_table *table, double waist_rad);
struct model_linear gains_linear_at(const struct gains_table *table, double waist_rad);
