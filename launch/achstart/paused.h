/* paused.h: the pauses of a machine, which each driver reports, as one event of the robot.  Pure.
 *
 * A driver reports when its pause is over.  Reports whose pauses overlap in time are one: the longest, and how many
 * daemons said so.  It is due a while after the first of them.  Those that come later and overlap it, too, are left
 * out, unless they are half as long again; so those that a driver repeats (its longest of ten seconds) are.
 */
#pragma once

#include "channels/msg/msg.h"
#include "config/base/base.h"

#define PAUSED_COLLECT_NS 250000000 /* all drivers have had a turn by then */
#define PAUSED_NEAR_NS 10000000	    /* no two of them end at the same time */

struct paused { /* zeros: there was none */
	struct msg_event longest;
	unsigned int n;	 /* events in it; 0: none is kept */
	int64_t due_ns;	 /* of the one that is kept */
	int64_t from_ns; /* of the last one, kept or taken */
	int64_t to_ns, ms;
};

/* true: it is such a report, and is kept or left out. */
bool paused_hear(struct paused *p, const struct msg_event *event, int64_t now_ns);
/* true: the event that was kept, of all of them; at now_ns it is due.  Then none is kept. */
bool paused_take(struct paused *p, int64_t now_ns, struct msg_event *event);
