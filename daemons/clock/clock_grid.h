/* clock_grid.h: the cycles of the robot's clock, and whether they are kept.
 *
 * Cycle n is at n periods of CLOCK_MONOTONIC.  So there is nothing to remember: a clock that is killed at any
 * instruction and started again, at once or after an hour, goes on in the same grid with the same count, and drivers
 * that are locked to it find it where they expect it.
 *
 * Pure: times are arguments.
 */
#pragma once

#include "config/base/base.h"

/* The cycle that t_ns is in, and when it began. */
uint64_t clock_grid_at(int64_t t_ns, int64_t period_ns);
int64_t clock_grid_began_ns(int64_t t_ns, int64_t period_ns);

/* When the first cycle begins that is not before t_ns. */
int64_t clock_grid_next_ns(int64_t t_ns, int64_t period_ns);

/* Does the bus with this divider get its clock frame in this cycle, given the previous cycle that was not skipped?  If
 * its number is a multiple of the divider; also if that cycle was skipped and less than half of the bus's own period
 * is over, since otherwise the next one is nearer.  Never twice for one multiple. */
bool clock_grid_due(uint64_t previous, uint64_t cycle, uint32_t divider);

/* ---- are they kept? ---- */

#define CLOCK_GRID_READY 3		  /* kept in a row */
#define CLOCK_GRID_COUNTED_NS 1000000000  /* time over which it counts; ten cycles at least */
#define CLOCK_GRID_SKIPPED_MAX_PERCENT 10 /* of them; above that the clock is not ready */

struct clock_grid { /* begins as zeros but for */
	int64_t period_ns;
	bool begun;
	uint64_t now, previous; /* numbers of this one and of the one before it that was not skipped */
	uint64_t kept;		/* in a row: none skipped before, late by less than half a period */
	uint64_t since;		/* the first that was not counted yet, */
	uint64_t skipped;	/* and how many since then were skipped, */
	uint64_t paused;	/* but for those in a pause of the machine: this many before the next cycle */
	uint64_t counted, counted_skipped;
};

/* The process was paused for paused_ns since the last cycle.  A pause of CLOCK_GRID_PAUSE_NS or more is reported, and
 * excuses the cycles that it skipped; shorter ones show that the machine or the tick is too slow.  Call it before
 * clock_grid_came. */
#define CLOCK_GRID_PAUSE_NS 20000000
void clock_grid_paused(struct clock_grid *c, int64_t paused_ns);

/* A cycle has come.  true: a second is over, and counted_skipped of counted cycles were skipped in it. */
bool clock_grid_came(struct clock_grid *c, uint64_t cycle, int64_t late_ns);

bool clock_grid_ready(const struct clock_grid *c);
bool clock_grid_too_slow(const struct clock_grid *c); /* in the last second that was counted */
