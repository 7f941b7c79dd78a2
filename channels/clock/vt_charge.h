/* vt_charge.h: processor time that passes on the virtual clock.
 *
 * Between two turns a process uses processor time, which is read at both ends.  It counts scale times, less what the
 * reading itself costs.  A rest below a nanosecond, or below zero because a reading was cheaper than the mean, is
 * kept for the next turn: nothing is cut, so errors do not add up.  Pure: readings are arguments. */
#pragma once

#include "config/base/base.h"

struct vt_charge {
	double scale;	  /* 0: nothing is charged */
	double cost_ns;	  /* of one reading */
	double rest_ns;	  /* not passed yet */
	int64_t begin_ns; /* reading at the begin of this turn */
};

void vt_charge_begin(struct vt_charge *c, int64_t cpu_ns);
/* How much time has passed since the turn began; never negative. */
int64_t vt_charge_passed_ns(const struct vt_charge *c, int64_t cpu_ns);
/* The turn ends: returns the time that passes with it, and keeps the rest. */
int64_t vt_charge_end(struct vt_charge *c, int64_t cpu_ns);
