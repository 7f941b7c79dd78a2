/* schedule.h: when the frames of a log are due.
 *
 * Every moment is counted from one start, never from the frame before, so errors do not add up.  A stamp before the
 * newest so far is due at once, without moving anything else; one that lies more than SCHEDULE_STEP_NS back is a clock
 * that was set: time goes on from there.  A silence longer than max_gap_ns lasts so long only.
 */
#ifndef CAN_TOOL_SCHEDULE_H
#define CAN_TOOL_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#define SCHEDULE_STEP_NS 1000000000

struct schedule {
	double speed;	    /* 2: twice as fast */
	int64_t max_gap_ns; /* in the time of the log; 0: no limit */

	/* private */
	bool begun;
	int64_t start_ns, base_ns; /* what has the stamp base_ns is due at start_ns */
	int64_t newest_ns;	   /* stamp */
	int64_t first_at_ns, at_ns;
	uint64_t n; /* of this round */
};

/* The first frame from now on is due at start_ns. */
void schedule_start(struct schedule *s, int64_t start_ns);

/* The moment of the next frame; never before that of the one before. */
int64_t schedule_at(struct schedule *s, int64_t stamp_ns);

/* When another round may begin: one mean interval after the last frame. */
int64_t schedule_again(const struct schedule *s);

#endif
