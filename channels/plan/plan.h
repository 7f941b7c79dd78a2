/* plan.h: several joints to rest at their targets, all at the same time, from any state.
 *
 *	struct plan_joint joints[2] = { { .from = { 0.1 }, .to_rad = 1, .limits = { -2, 2, 0.5, 2, INFINITY } }, ... };
 *
 *	if (!plan_together(joints, 2, PLAN_QUINTIC, 0, &seconds, &wrong))
 *		plan_at(&joints[0].move, 0.3, &state);
 *
 * The slowest joint decides, and the others take as long.  A joint at rest gets one quintic, or one trapezoid; so does
 * one that moves, if that keeps the limits and does not turn; else it comes to rest first (brake.h), from where every
 * target can be reached.  Pure; the work is bounded: at most about forty quintics for each joint.
 *
 * Offered to other folders:
 *	trapezoid.h
 */
#pragma once

#include <stddef.h>

#include "channels/plan/brake.h"
#include "channels/plan/quintic.h"
#include "channels/plan/trapezoid.h"

#define PLAN_RAD_MAX 1e6 /* of positions; a double resolves 1e-10 rad there */

enum plan_shape { PLAN_QUINTIC, PLAN_TRAPEZOID };

struct plan_move {
	enum plan_shape shape;
	struct brake brake; /* first; then, from its end: */
	struct quintic quintic;
	struct trapezoid trapezoid;
};

struct plan_joint {
	struct motion_state from;
	double to_rad;
	struct motion_limits limits;
	struct plan_move move;
};

/* NULL, or what is wrong with them: "velocity", ... */
const char *plan_wrong(const struct motion_limits *limits);
/* NULL, or the first limit that is exceeded by more than the share 1e-6, and by what value. */
const char *plan_exceeds(const struct motion_peaks *peaks, const struct motion_limits *limits, double *value,
			 double *limit);

/* Fills in the moves.  total_s: as long as it is to take; 0: as short as possible, and what that is.  0; or -errno, and
 * the joint:
 *	-EDOM	limits that plan_wrong refuses, or a state that is not finite or beyond all limits
 *	-ERANGE	the target is outside its range, or total_s is too short */
int plan_together(struct plan_joint joints[], size_t n, enum plan_shape shape, double *total_s, size_t *wrong);

/* To rest as fast as possible.  Where a limited jerk would leave the range of positions, the jerk is not kept. */
void plan_stop(struct plan_move *move, const struct motion_state *from, const struct motion_limits *limits);

void plan_at(const struct plan_move *move, double after_s, struct motion_state *at);

/* Sets velocity and acceleration at a point between two others, before_s and after_s away: those of the parabola
 * through the three. */
void plan_pass(struct motion_state *at, double before_rad, double before_s, double after_rad, double after_s);
