/* replay_live_report.h: what a driver sends beside what it sent when it was recorded. */
#pragma once

#include "can/replay/replay_match.h"

struct replay_live_report {
	FILE *to;
	bool diff;		    /* print the time-lines */
	bool all;		    /* also what does not differ */
	const char *const *names;   /* of the buses */
	uint64_t references, early; /* published, and left out because they lie before the driver's first frame */
	uint64_t lost;		    /* frames of which the recording says that it has lost them */

	/* private */
	struct replay_live_report_row {
		enum replay_match_what what;
		bool counts;
		const struct replay_match_item *then, *from;
		int64_t at_ns, now_ns;
		unsigned int bus;
		struct frame now;
		char *why;
		size_t number;
	} * rows;
	size_t n, room;
};

/* One more row.  0 or -ENOMEM. */
int replay_live_report_add(struct replay_live_report *r, const struct replay_match_event *e);

/* "   0.010012 torso 0EF#0B11CDCC4C3D   |    0.010012 torso 0EF#0B119A99993D   byte 3: CC, now 99" */
#define REPLAY_LIVE_REPORT_LINE_MAX 800
void replay_live_report_line(const struct replay_live_report *r, const struct replay_match_event *e,
			     char text[REPLAY_LIVE_REPORT_LINE_MAX]);

/* The time-lines side by side, each difference with what was before it; then a table of the requests, and the sums.
 * 0, or -errno if it cannot be written. */
int replay_live_report_print(struct replay_live_report *r, const struct replay_match *loop);
int replay_live_report_json(struct replay_live_report *r, const struct replay_match *loop);
void replay_live_report_free(struct replay_live_report *r);
