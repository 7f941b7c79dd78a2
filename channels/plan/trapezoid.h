/* trapezoid.h: from one position to another within limits of velocity and acceleration, in the shortest time.
 *
 *	trapezoid_plan(&t, 0.3, 0, 1.2, &(struct trapezoid_limits){ 0.43, 1.7 });
 *	trapezoid_at(&t, 0.5, &state);		half a second later
 *
 * Velocity over time is a trapezoid: it accelerates, goes on at the limit, and brakes.  A short way is a triangle.
 * Begun while moving the wrong way, or too fast to stop in time, it turns round.  Pure.
 */
#pragma once

#include "channels/plan/motion.h"

struct trapezoid_limits {
	double velocity_rad_s, acceleration_rad_s2; /* finite, above 0 */
};

#define TRAPEZOID_PHASES 3

struct trapezoid {
	double to_rad;
	double total_s;
	struct trapezoid_phase {
		double for_s, from_rad, from_rad_s, acceleration_rad_s2;
	} phases[TRAPEZOID_PHASES];
};

void trapezoid_plan(struct trapezoid *t, double from_rad, double from_rad_s, double to_rad,
		    const struct trapezoid_limits *limits);
/* Where and how fast after_s after its begin; at rest at its end from total_s on. */
void trapezoid_at(const struct trapezoid *t, double after_s, struct motion_state *at);
