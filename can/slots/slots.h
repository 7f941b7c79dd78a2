/* slots.h: the frames that a process wants to send on a bus.  The newest frame wins, and no stale frame is sent.
 *
 *	static const struct slots_row rows[] = {
 *		{ .id = 0x0e4, .class = SLOTS_LATEST, .period_ns = 5000000 },
 *		{ .id = 0x0c4, .class = SLOTS_QUEUE, .key = { 0xff, 0xff }, .deadline_ns = 50000000 },
 *		{ .id = 0x0e4, .class = SLOTS_URGENT, .deadline_ns = 20000000 },
 *	};
 *	static struct slots slots;
 *
 *	if (slots_init(&slots, rows, 3, &(struct slots_options){ .bitrate = 1000000 }, &errors))
 *		return 100;
 *	slots_put(&slots, 0, &reference, now_ns);
 *	while ((frame = slots_take(&slots, now_ns))) {
 *		if (bus_send(bus, frame)) {
 *			slots_refused(&slots, now_ns);	(it stays, and may be replaced meanwhile)
 *			break;
 *		}
 *		slots_handed(&slots, now_ns);
 *	}
 *	...
 *	slots_echo(&slots, &got.frame, got.t_ns);	(each own frame that comes back; slots_received: each other)
 *
 * slots_bus.h is that loop, for a struct bus.  Pure: no descriptor, clock, allocation or print; all memory is in
 * struct slots.  Every call is short and bounded.
 *
 * Order: urgent, latest, command, queue; within a class the lowest step; within a step the lowest identifier, as
 * arbitration orders them; within an identifier first come, first served.  References go before requests because their
 * number is bounded by their periods, so a request waits for a time that can be computed, while a burst of requests
 * would make every reference behind it late.  On an overloaded bus the requests are reported lost.
 * Commands go before questions and have a room of their own: however many questions wait, a reset is neither refused
 * nor late by more than the frames before it.  A frame that replaces another takes its place in the row, so a key that
 * is renewed often does not fall behind those that are not.
 *
 * Steps: frames that must leave in a given order whatever their identifiers say, such as the PDOs of a tick and the
 * SYNC by which the drives act on them, stand in one class and have steps: PDOs 0 and SYNC 1, or SYNC 0 and PDOs 1 for
 * drives that act on the SYNC after.  A frame is handed over only while no frame of its class with a lower step waits,
 * and an interface sends in the order of hand-over, however many are in flight.  So of the frames put before one pump
 * (the whole of a tick) no SYNC leaves between two PDOs.
 *	- Put again while a higher step of the tick before still waits: it leaves before that.  A SYNC that is late is
 *	  replaced by the SYNC of the next tick, behind all PDOs of that tick: it is neither doubled nor early.  With
 *	  SYNC first, the new SYNC overtakes the PDOs that still wait; those that are put with it replace them, and a
 *	  driver that does not put them all cancels the others.
 *	- Refused by the bus: it keeps its place, and only frames of a lower rank overtake it.
 *	- Replaced, expired, rejected, cancelled, or lost in flight: the higher steps do not wait for it any more and
 *	  leave without it.  A SYNC whose deadline is not longer than that of its PDOs expires no later than they do,
 *	  so it never leaves because a PDO has expired.  After a loss the driver cancels it, if it matters.
 *	- In a stall nothing leaves; afterwards frames that have not expired leave in the same order.
 * A step orders its class only: a halt does not wait for the PDOs of a tick, and no question holds up a reference.
 * Frames of another class, or of the same step, may leave in between.  On a bus that is not proven (below) harmless
 * frames leave alone, so a row that is harmless must not have a higher step than one of its class that is not.
 *
 * A frame is in flight from its hand-over until its echo confirms it; slots_options limits the number in flight.  The
 * kernel sends a frame in flight however old it is; only a reset of the link removes it.  Two keep a controller busy.
 * An adapter that confirms late, as over USB, needs more on a full bus.  With one, the next frame is chosen as late as
 * possible, at the price of a gap behind each frame.  Harmless frames may stand twice as deep (slots_quiet): they are
 * handed over in fewer turns, and none that matters has to wait behind them.
 *
 * Stall: a frame in flight has not been confirmed for its row's deadline (at least 2 ms and a frame time for each that
 * may be in flight and for one more, at least 3 in all) in which nothing was received, or for twice that (at least 20
 * ms) whatever was received.  The time counts from its hand-over or from the last confirmation: before that it stood
 * behind another.  A pause of this process or of the wire does not count (slots_paused), and after one there is at
 * least the shortest such time, and an eighth of the pause, at most 10 ms, in which the wire sends what all processes
 * were late with: a stalled wire has had time to send, and did not.  During a stall nothing is handed
 * over and waiting frames expire.  It ends with the reset of the link or with a confirmation, whichever comes first.
 * After 50 ms without either, the link has no owner: then the frames in flight are the probe, and if there is only one,
 * a fresh one joins it, whatever slots_options says: if the kernel has lost one, the other ends the stall.  More do not
 * join: they would be stale when the bus comes back.
 *
 * A link that was reset, or was not used yet, may still lead to a dead bus, on which frames handed over become stale
 * before the next reset.  So until a first confirmation (slots_proven) a single frame is in flight, and if the table
 * has harmless rows, only a frame of those or an urgent one.  With such a row the kernel never holds a reference for a
 * dead bus; the driver must then put such a frame from time to time until the bus is proven.
 *
 * A frame can vanish from the kernel without an echo.  The link reports that it went down or bus-off (slots_link_down).
 * If a later frame is confirmed first, the earlier one is gone: an interface sends in the order of hand-over.  If all
 * are gone at once (a queueing discipline that drops, a receive buffer that overflowed while this process was stopped),
 * the bus looks dead though it is not.  Neither silence nor a flood of frames with a higher priority proves a loss; so
 * the oldest frame is given up only upon evidence (receptions were dropped, or a frame was received during the stall
 * that would have lost arbitration against it) and a second without a confirmation.  One piece of evidence gives up one
 * frame, and a fresh one takes its place as the probe.
 *
 * Offered to other folders:
 *	pauses.h slots_bus.h
 */
#pragma once

#include "can/bus/frame.h"
#include "can/slots/pauses.h"

/* ---- rows ---- */

enum slots_class {
	SLOTS_URGENT,  /* halt, zero current: before everything else; a newer one of the same key replaces the older */
	SLOTS_LATEST,  /* references, keep-alives: a newer one of the same key replaces the older */
	SLOTS_COMMAND, /* reset, configuration, home: in order, bounded, never replaced */
	SLOTS_QUEUE,   /* questions, SDO: as commands, behind them, with a queue of their own */
};
#define SLOTS_CLASSES 4

struct slots_row {
	uint32_t id;		     /* with FRAME_EXT, FRAME_RTR */
	uint8_t key[FRAME_DATA_MAX]; /* bits of the first eight bytes that distinguish frames; none: all are the same */
	enum slots_class class;
	int64_t period_ns;   /* 0: not periodic */
	int64_t deadline_ns; /* from slots_put; after it the frame is worth nothing.  0: the period */
	bool harmless;	     /* does no harm however late it is sent: a question, a keep-alive */
	uint8_t step;	     /* within the class: the lower one leaves first */
};

/* Rows of one bus.  pciod: 31 modules with 5 rows each and one for all, 156.  A Hubo with all of its 26 boards on one
 * bus: 26 of 15 kinds (2 ways to stop, reference, 4 polls, 4 commands, 4 questions), 390.  CANopen: 64 drives of 7
 * kinds (4 PDOs, SDO, guarding, NMT) and SYNC, 449. */
#define SLOTS_ROWS_MAX 512
/* Waiting frames of a class: those that the above put in one tick. */
#define SLOTS_URGENT_MAX 128  /* 64 drives: disable and NMT stop */
#define SLOTS_LATEST_MAX 384  /* 64 drives: 4 PDOs and guarding, 320, and SYNC */
#define SLOTS_COMMAND_MAX 128 /* 31 modules: reset, configuration, 2 limits, 124; 26 boards: 4 */
#define SLOTS_QUEUE_MAX 128   /* 31 modules: 3 questions, 93; 26 boards: 4, 104 */
#define SLOTS_WAITING_MAX (SLOTS_URGENT_MAX + SLOTS_LATEST_MAX + SLOTS_COMMAND_MAX + SLOTS_QUEUE_MAX)
#define SLOTS_IN_FLIGHT_MAX 8 /* more would only be stale after a stall, and a queue of the kernel may have 10 */
/* Reports kept until they are fetched, then the oldest make room: all that can be lost at one time. */
#define SLOTS_LOSSES_MAX (SLOTS_URGENT_MAX + SLOTS_COMMAND_MAX + SLOTS_QUEUE_MAX + SLOTS_IN_FLIGHT_MAX)
#define SLOTS_DEADLINE_MAX_NS 3600000000000

/* 0 means the value in brackets. */
struct slots_options {
	uint32_t bitrate;	/* bit/s (1000000) */
	uint32_t data_bitrate;	/* of CAN FD frames (bitrate) */
	int64_t longest_ns;	/* that a frame takes on the wire (that of a classic one) */
	unsigned int in_flight; /* frames in flight at a time, 1 to SLOTS_IN_FLIGHT_MAX (2) */
	int64_t retry_ns;	/* after a refusal, unless an echo comes earlier (3 frame times, at most 1 ms) */
};

/* ---- counts and losses ---- */

/* put = replaced + expired + lost + cancelled + confirmed + unsure + waiting + in flight */
struct slots_counts {
	uint64_t put;	    /* taken by slots_put */
	uint64_t no_room;   /* not taken by it */
	uint64_t replaced;  /* by a newer one before they were handed over */
	uint64_t expired;   /* class latest: the deadline passed before they were handed over */
	uint64_t lost;	    /* each of them is reported by slots_lost */
	uint64_t cancelled; /* by slots_cancel */
	uint64_t handed;    /* over to the bus */
	uint64_t refused;   /* by the bus, each time */
	uint64_t confirmed; /* by their echo */
	uint64_t unsure;    /* handed over to a bus that confirms nothing */
	uint64_t late;	    /* of those: on the wire after their deadline */
	uint64_t stale;	    /* of those again: they were in flight during a stall */
	uint64_t stray;	    /* echoes of frames reported lost */
	uint64_t stalls;
};

enum slots_why {
	SLOTS_EXPIRED,	 /* any class but latest: the deadline passed while it waited; it was not sent */
	SLOTS_REJECTED,	 /* not a valid frame for this bus; it was not sent */
	SLOTS_FLUSHED,	 /* in flight when the link went down.  This one and those below may have been sent */
	SLOTS_OVERTAKEN, /* in flight when a later one was confirmed */
	SLOTS_GIVEN_UP,	 /* in flight too long, with evidence */
};

struct slots_loss {
	unsigned int row;
	enum slots_why why;
	struct frame frame;
};

enum slots_state {
	SLOTS_RUNNING,
	SLOTS_STALLED,
	SLOTS_DOWN, /* the link is */
};

struct slots { /* private; about 120 kB */
	const struct slots_row *rows;
	unsigned int rows_n;
	struct slots_options options;
	int64_t frame_ns;
	int64_t patience_ns;	       /* the shortest time to a stall */
	bool harmless;		       /* there are such rows */
	uint64_t rank[SLOTS_ROWS_MAX]; /* the lower is sent first; equal for one class, step and id */

	struct slots_waiting {
		unsigned int row;
		uint64_t key, key_mask; /* the bits of the data that count, and which of them it carries */
		struct frame frame;
	} waiting[SLOTS_WAITING_MAX];
	int64_t deadlines_ns[SLOTS_WAITING_MAX]; /* of each of them; by themselves, for all are compared often */
	uint16_t order[SLOTS_WAITING_MAX];	 /* the first waiting_n: in the order of sending; then the free ones */
	unsigned int waiting_n, waiting_of[SLOTS_CLASSES];
	int64_t earliest_ns; /* no deadline of a waiting frame is before it */
	bool earliest_exact; /* one is at it */
	int taken;	     /* the place in order that slots_take returned; -1: none */

	struct slots_in_flight {
		unsigned int row;
		int64_t handed_ns, deadline_ns;
		bool stalled;
		struct frame frame;
	} in_flight[SLOTS_IN_FLIGHT_MAX]; /* in the order of hand-over */
	unsigned int in_flight_n;
	unsigned int stall_room; /* how many there may be in this stall */

	enum slots_state state;
	int64_t since_ns; /* of the state */
	bool proven;
	bool unconfirmed;
	int64_t confirmed_ns, received_ns; /* the last of each on the wire */
	int64_t flight_ns;		   /* from the hand-over of the last one confirmed to its end */
	int64_t link_ns;		   /* when the link last came up */
	int64_t retry_ns;		   /* hand over nothing before */
	int64_t quiet_ns;		   /* of slots_quiet */
	struct pauses pauses;
	int64_t doubt_ns; /* time of the evidence that the oldest in flight is gone; CLOCK_NEVER: none */

	struct slots_loss losses[SLOTS_LOSSES_MAX];
	unsigned int losses_first, losses_n;
	struct slots_counts counts;
};
_Static_assert(SLOTS_WAITING_MAX <= UINT16_MAX, "order has 16 bits");

/* rows is kept, options (may be NULL) is copied.  -EINVAL with a line for each row that is not valid. */
int slots_init(struct slots *s, const struct slots_row *rows, unsigned int rows_n, const struct slots_options *options,
	       struct error_sink *errors);

/* ---- the driver's half ---- */

/* 0, or
 *	-EINVAL	no such row, another identifier than the row's, or not a valid frame
 *	-ENOSPC	the queue of this class is full: the bus is too slow, or stalled */
int slots_put(struct slots *s, unsigned int row, const struct frame *frame, int64_t now_ns);

/* Until then only harmless frames are put, except in an emergency: up to twice as many of those may be in flight as
 * long as they are on the wire before it. */
void slots_quiet(struct slots *s, int64_t until_ns);

/* Drops the waiting frames of a row, or of all rows but the urgent ones: they must not follow a halt. */
#define SLOTS_ALL (~0u)
void slots_cancel(struct slots *s, unsigned int row);

/* The next frame that was lost, oldest first; false: no more.  For class latest, those that were in flight only. */
bool slots_lost(struct slots *s, struct slots_loss *loss);

/* ---- the bus's half: first all received frames, then the frames to send ---- */

/* The echo of an own frame, complete on the wire at t_ns.  Returns its row, or -ENOENT if it was reported lost. */
int slots_echo(struct slots *s, const struct frame *frame, int64_t t_ns);
/* After slots_echo: the time from the hand-over of that frame to its end on the wire; 0: it was lost, or in a stall. */
int64_t slots_flight_ns(const struct slots *s);
/* The bus does not confirm (bus_confirms): a frame handed over does not count as in flight, a stall is not detected,
 * and a frame of another node proves the bus. */
void slots_unconfirmed(struct slots *s, bool unconfirmed);
/* A frame of another node or program; not for error frames. */
void slots_received(struct slots *s, const struct frame *frame, int64_t t_ns);
/* A received frame, perhaps an echo, was dropped before it came here. */
void slots_overflow(struct slots *s, int64_t now_ns);

/* This process, or the wire, was paused. */
void slots_paused(struct slots *s, int64_t from_ns, int64_t to_ns);

/* The link went down or bus-off: frames in flight are gone, and nothing is handed over until slots_link_up. */
void slots_link_down(struct slots *s, int64_t now_ns);
void slots_link_up(struct slots *s, int64_t now_ns);

/* The frame to hand over now, or NULL.  One of the three below must follow at once.  It also detects
 * stalls, so call slots_echo and slots_received for everything received before. */
const struct frame *slots_take(struct slots *s, int64_t now_ns);
void slots_handed(struct slots *s, int64_t now_ns);  /* the bus has it */
void slots_refused(struct slots *s, int64_t now_ns); /* ENOBUFS, ENETDOWN ...: again later */
void slots_rejected(struct slots *s);		     /* EINVAL: never */

/* When to call slots_take at the latest; 0: at once, CLOCK_NEVER: only after another call. */
int64_t slots_next_ns(struct slots *s);

/* ---- how it is ---- */

enum slots_state slots_state(const struct slots *s);
int64_t slots_since_ns(const struct slots *s); /* of the state; 0: of the start */
bool slots_proven(const struct slots *s); /* something was confirmed since the start, the last reset, the last stall */
unsigned int slots_waiting(const struct slots *s);
unsigned int slots_in_flight(const struct slots *s);
/* Before this the frames in flight cannot all have been on the wire: by the last stamp or hand-over and by length. */
int64_t slots_clear_ns(const struct slots *s);
int64_t slots_frame_ns(const struct slots *s, uint32_t id, unsigned int len, uint8_t flags); /* on the wire, at least */
const struct slots_counts *slots_counts(const struct slots *s);
