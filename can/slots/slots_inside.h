/* slots_inside.h: shared by the files of slots.
 *
 *	slots.c		rows, losses, how it is
 *	slots_wait.c	waiting frames: order, replacement, deadlines
 *	slots_flight.c	frames in flight: hand-over, echoes, stall, link
 */
#pragma once

#include "can/slots/slots.h"

#define SLOTS_PROBE_AFTER_NS (50 * NS_PER_MS) /* a stall this long without a reset: the link has no owner */
#define SLOTS_GIVE_UP_NS (1000 * NS_PER_MS)   /* from the evidence that a frame in flight is gone */
#define SLOTS_PROBES 2			      /* in flight in a stall, if fewer were when it began */

static inline int64_t slots_deadline_ns(const struct slots *s, unsigned int row)
{
	return s->rows[row].deadline_ns ? s->rows[row].deadline_ns : s->rows[row].period_ns;
}

/* ---- slots.c ---- */

void slots_lose(struct slots *s, unsigned int row, const struct frame *frame, enum slots_why why);

/* ---- slots_wait.c ---- */

/* The one at this place in the order of sending, from 0 to waiting_n. */
static inline struct slots_waiting *slots_place(struct slots *s, unsigned int place)
{
	return &s->waiting[s->order[place]];
}

void slots_leave(struct slots *s, unsigned int place); /* its frame stays readable until the next slots_put */
void slots_expire(struct slots *s, int64_t now_ns);
int64_t slots_earliest_ns(struct slots *s); /* of the deadlines; CLOCK_NEVER */
