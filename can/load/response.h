/* response.h: the longest time from the release of a frame to its end on the wire.  Pure.
 *
 *	struct response_frame frames[] = {
 *		{ .order = 1, .sender = RESPONSE_ALONE, .cause = -1, .time_ns = 1000000, .period_ns = 2500000 },
 *		{ .order = 2, .sender = RESPONSE_ALONE, .cause = -1, .time_ns = 1000000, .period_ns = 3500000 },
 *	};
 *
 *	response_solve(frames, 2, 1000);
 *	...frames[0].response_ns...
 *
 * Frames that each have a mailbox of their own, as if every node sent its most urgent frame first: Davis, Burns, Bril,
 * Lukkien, Controller Area Network (CAN) schedulability analysis: refuted, revisited and revised, Real-Time Systems
 * 35(3), 2007.  A frame is blocked by the longest one of lower priority, delayed by all of higher priority, and its
 * worst instance need not be the first of a busy period, so all of them are examined.
 *
 * Frames of one sender share its queue, as those of all processes on one SocketCAN interface do: an urgent frame
 * waits behind others, whatever their priority, and these wait for every frame that is above the least urgent one of
 * the queue.  After Davis, Kollmann, Pollex, Slomka, Controller Area Network (CAN) schedulability analysis with FIFO
 * queues, ECRTS 2011, with one difference: processes order their waiting frames themselves (slots.h), so a frame that
 * is released later may leave earlier.  Therefore all frames of the queue count as often as they are released, in
 * whatever order they leave.  For the frames of others the time in the queue is jitter.
 *
 * An answer is released when its request has been on the wire, up to delay_ns later.  Before a busy period of the
 * queue began, all requests had been sent; so answers in it are those to requests in it, and those to requests that
 * ended within delay_ns before it, which are no more than the wire can carry in that time.
 *
 * A frame without a period (period_ns 0) may block others: one of them in a busy period counts, the longest, whatever
 * its priority.  It has no bound itself.
 * Bounds assume a bus without errors, and processes that hand over a frame as soon as there is room for it.
 */
#pragma once

#include "config/base/base.h"

#define RESPONSE_NEVER INT64_MAX /* no bound: the bus has no time left for it */
#define RESPONSE_ALONE (-1)	 /* sender: a mailbox of its own */

struct response_frame {
	uint32_t order;	    /* bits_arbitration: the lower one wins */
	int sender;	    /* RESPONSE_ALONE, or the number of the queue that it shares with others */
	int64_t time_ns;    /* on the wire, at most, with the space behind it */
	int64_t least_ns;   /* the same, at least; 0: always time_ns */
	int64_t period_ns;  /* between two releases, at least; 0: at any time */
	unsigned int burst; /* frames released together; 0: one */
	int64_t jitter_ns;  /* by which a release may be late */
	int cause;	    /* of an answer: which of the frames is its request, with the same period; else -1 */
	int64_t delay_ns;   /* of an answer: from the end of the request, at most */

	/* found */
	/* From the release, jitter included, of a burst that of the last frame; of an answer from when the device has
	 * it ready. */
	int64_t response_ns;
	unsigned int instance; /* which one of a busy period takes longest, from 0 */
};

/* bit_ns: the time of a bit, in which a frame that is released after the start may still win the arbitration. */
void response_solve(struct response_frame *frames, size_t n, int64_t bit_ns);
