/* vt_core.h: whose turn it is on the virtual clock, and when.  Pure: no system call, no clock, no pointer kept.
 *
 * A process has a slot; the number of a slot is its rank.  One process runs at a time, at the instant now_ns; the
 * others sleep.  An instant has rounds, and in a round slots run in the order of their rank:
 *
 *	1. While the round is not empty, its lowest slot runs.
 *	2. Then the next round is made of the slots that are marked and of those whose deadline has come.
 *	3. If there are none, everything is at rest, and the earliest deadline becomes now.
 *
 * A process that is marked during a round runs in the next one, whatever its rank.  So the order of turns depends on
 * nothing but marks and deadlines, and a run repeats. */
#pragma once

#include "config/base/base.h"

#define VT_SLOTS 64
#define VT_COORDINATOR 0 /* gets the turn if no other slot has one before limit_ns */
#define VT_NEVER INT64_MAX

static inline uint64_t vt_bit(int slot)
{
	return UINT64_C(1) << slot;
}

struct vt_core {
	int64_t now_ns;
	uint64_t round; /* slots that still have a turn in this round */
	uint64_t turns, rounds, instants;
	uint32_t rounds_here; /* at this instant */
};

/* What the core decides by; read once, before. */
struct vt_view {
	uint64_t live, held, dirty;
	int64_t limit_ns;	       /* beyond it the coordinator decides */
	int64_t deadline_ns[VT_SLOTS]; /* VT_NEVER: none */
	int64_t floor_ns[VT_SLOTS];    /* no turn before: the process starts up, or computes */
};

/* The core after the next turn was given, and in *who the slot that has it. */
struct vt_core vt_core_next(struct vt_core core, const struct vt_view *view, int *who);
