/* quintic.h: a polynomial of the fifth degree from one position, velocity and acceleration to others in a given time.
 *
 * From rest to rest over a distance D in a time T its peaks are 15/8 D/T, 10/sqrt(3) D/T^2 and 60 D/T^3.  Those of
 * other motions are found exactly: each derivative peaks where the next one is 0, which lies between the peaks of that
 * one.  Pure.
 */
#pragma once

#include "channels/plan/motion.h"

#define QUINTIC_COEFFICIENTS 6

struct quintic {
	double total_s;
	double c[QUINTIC_COEFFICIENTS]; /* of time as a share of the total */
	struct motion_state to;
};

/* The shortest time from rest to rest within the limits; 0 for no distance. */
double quintic_shortest_s(double distance_rad, const struct motion_limits *limits);
void quintic_fit(struct quintic *q, const struct motion_state *from, const struct motion_state *to, double total_s);
/* after_s after its begin; exactly its end from total_s on. */
void quintic_at(const struct quintic *q, double after_s, struct motion_state *at);
void quintic_peaks(const struct quintic *q, struct motion_peaks *peaks);
