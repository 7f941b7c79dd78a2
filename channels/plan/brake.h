/* brake.h: to rest in the shortest time, from any velocity and acceleration, within limits of acceleration and jerk.
 *
 * Acceleration over time is a trapezoid: it goes to that which brakes, stays there, and goes back to 0.  Such a stop
 * always exists.  From a state of any motion that keeps the limits and turns nowhere but at rest, this one stops within
 * the way of that motion, and is never faster: v(t) of this one is the least that still ends with v = a = 0.  Pure.
 */
#pragma once

#include "channels/plan/motion.h"

#define BRAKE_PHASES 3

struct brake {
	double total_s, end_rad;
	struct brake_phase {
		double for_s, jerk_rad_s3;
		struct motion_state from;
	} phases[BRAKE_PHASES];
};

void brake_plan(struct brake *b, const struct motion_state *from, const struct motion_limits *limits);
/* after_s after its begin; at rest at its end from total_s on. */
void brake_at(const struct brake *b, double after_s, struct motion_state *at);
