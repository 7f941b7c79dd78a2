/* relay_clock.h: how far the clock of another machine is ahead, by questions and answers.
 *
 *	t1	asked here		t2	question there
 *	t4	answer here		t3	answered there
 *
 * Whatever the network does, the offset lies within half of the time that both ways took together of
 * ((t2 - t1) + (t3 - t4)) / 2.  The fastest of the last answers is used; each ages, since clocks drift.  Pure.
 */
#pragma once

#include "config/base/base.h"

#define RELAY_CLOCK_KEPT 16
#define RELAY_CLOCK_DRIFT 200e-6 /* of two clocks against each other, at most: each 100 ppm */

struct relay_clock {
	struct relay_clock_answer {
		int64_t offset_ns, error_ns, at_ns; /* at: asked */
	} answers[RELAY_CLOCK_KEPT];
	size_t n, next;
};

/* Can that be a time of a clock?  Differences of such times do not overflow. */
bool relay_clock_is_sane(int64_t t_ns);
/* false: these four times cannot be. */
bool relay_clock_add(struct relay_clock *clock, int64_t t1_ns, int64_t t2_ns, int64_t t3_ns, int64_t t4_ns);
/* The other clock less ours, and how wrong that may be.  false: no answer yet. */
bool relay_clock_offset(const struct relay_clock *clock, int64_t now_ns, int64_t *offset_ns, int64_t *error_ns);
