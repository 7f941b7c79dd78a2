/* schedule.h: when the items of a recording are due: the frames of a log, the messages of channels.
 *
 * Due times are computed from the start of the pass, not from the previous item, so errors do not add up.  An item
 * whose stamp is older than the newest so far is due at once.  If it is older by more than SCHEDULE_STEP_NS, the clock
 * was set back while recording, and time continues from that stamp.  A gap longer than max_gap_ns is shortened to it.
 */
#pragma once

#include "config/base/base.h"

#define SCHEDULE_STEP_NS 1000000000

struct schedule {
	double speed;	    /* 2: twice as fast */
	int64_t max_gap_ns; /* in the time of the recording; 0: no limit */
	int64_t pause_ns;   /* between two passes at least */

	/* private */
	bool begun;
	int64_t start_ns, base_ns; /* an item with the stamp base_ns is due at start_ns */
	int64_t newest_ns;	   /* stamp */
	int64_t first_at_ns, at_ns;
	uint64_t n; /* items of this pass */
};

/* Begins a pass: its first item is due at start_ns. */
void schedule_start(struct schedule *s, int64_t start_ns);

/* The due time of the next item; never before that of the previous item. */
int64_t schedule_at(struct schedule *s, int64_t stamp_ns);

/* Begins another pass, one mean interval after the last item, but not before the pause is over. */
void schedule_repeat(struct schedule *s);
