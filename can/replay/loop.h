/* loop.h: plays the devices of a recording to a live driver, and compares what the driver sends with the recording.
 *
 *	struct loop *loop;
 *
 *	loop_new(&loop, &rules, names, buses, &options);
 *	for each frame of the recording:
 *		loop_add(loop, bus, &frame, t_ns, line);
 *	loop_prepare(loop);
 *	loop_start(loop, now_ns);
 *	while (!loop_over(loop, now_ns)) {
 *		wait until loop_next_ns(loop), loop_pass_ns(loop), or a frame comes
 *		for each frame of another program:
 *			loop_heard(loop, bus, &frame, t_ns);
 *		loop_pass_time(loop, now_ns);
 *		while (loop_take(loop, now_ns, &play))
 *			send play.frame on play.bus
 *	}
 *	loop_finish(loop);
 *
 * A recorded frame is one of three: the driver's own (a rule has its identifier), an answer to one of those (by the
 * rule's reply), or any other: a cyclic frame, an event of a device, a frame of another program.  Own frames with the
 * same bits in their key are a stream.
 *
 * Time: the first own frame that the driver sends is the first of the recording, and all others follow from that.  What
 * was recorded before it is played from loop_start on; at the first own frame of the recording time stands still until
 * the driver sends.  Frames that answer nothing come at their recorded times, whatever the driver does.
 *
 * A frame of the driver is paired with the first recorded frame of its stream that has no partner and lies within the
 * stream's window around that moment: half of its mean interval, a second at most.  It is answered with the answers
 * to its partner, each after the time it took then.  A frame without partner is extra.  Its answer is borrowed from
 * the partner before, or the next one, of the same stream, since the same request was answered so; it is not answered
 * if the recording has no such request, or options.strict.  A recorded frame without partner is missing.
 *
 * If the driver does not begin as the recording does, or asks within a tenth of a second what was never recorded, the
 * beginning is missing in the recording: it then starts at the recording's first own frame, and differences count from
 * settle_ns on.
 *
 * Pure: frames and time are arguments.  Everything that happens to an own frame is an event.
 */
#ifndef CAN_REPLAY_LOOP_H
#define CAN_REPLAY_LOOP_H

#include "can/replay/loop_rules.h"
#include "can/replay/loop_same.h"

#define LOOP_WINDOW_MAX_NS 1000000000
#define LOOP_TAIL_NS 100000000 /* the longest wait for frames behind the end of the recording */
#define LOOP_BUSES_MAX 60

struct loop_item {
	int64_t t_ns; /* from the first frame of the recording */
	uint64_t line;
	struct frame frame;
	uint8_t bus;
	enum loop_kind { LOOP_OTHER, LOOP_OWN, LOOP_ANSWER } kind;
	uint32_t stream;  /* own: its number */
	uint32_t next;	  /* own: the next one of its stream; answer: the next one of its request; LOOP_NONE */
	uint32_t answers; /* own: the first; LOOP_NONE */
};
#define LOOP_NONE UINT32_MAX

/* What became of a frame of the driver. */
enum loop_what { LOOP_SAME, LOOP_PAYLOAD, LOOP_ORDER, LOOP_MISSING, LOOP_EXTRA, LOOP_WHATS };

struct loop_counts {
	uint64_t recorded, sent; /* frames of the driver, then and now */
	uint64_t what[LOOP_WHATS];
};

struct loop_stream {
	unsigned int bus;
	struct frame key; /* data: the bits of the key, 0 elsewhere */
	struct loop_counts counts;
	const struct loop_item *differs; /* the first that does; NULL: none, or an extra one */
	int64_t differs_ns;		 /* when, in the recording's time; INT64_MAX: never */

	/* private */
	unsigned int key_bytes; /* those that the frame has */
	uint32_t hash_next;
	uint32_t first, last, at; /* items: first, last, next without partner */
	uint32_t before;	  /* the partner before */
	int64_t window_ns;
};

struct loop_event {
	enum loop_what what;
	bool counts;		      /* it is a difference, and not within settle_ns, nor from_ns and until_ns */
	const struct loop_item *then; /* as recorded; NULL: extra */
	int64_t now_ns;		      /* when it was sent, in the recording's time; missing: when it was given up */
	const struct frame *now;      /* as sent; NULL: missing */
	unsigned int bus;
	struct loop_stream *stream; /* NULL: the recording has no such request */
	const struct loop_item
		*from; /* extra: of this one the answer is borrowed; order: it was recorded before this */
	char why[LOOP_SAME_TEXT_MAX]; /* payload: which bytes */
};

struct loop_options {
	int64_t window_ns;	   /* of all streams; 0: as above */
	int64_t settle_ns;	   /* with a missing beginning differences count from there on */
	int64_t from_ns, until_ns; /* differences between them do not count; both 0: all do */
	bool strict;		   /* borrow no answers */
	bool any_order;		   /* frames in another order are equal */
	struct loop_same *same;
	void (*event)(void *to, const struct loop_event *event); /* may be NULL */
	void *to;
};

struct loop_totals {
	uint64_t own, answers, others; /* in the recording */
	uint64_t unanswered;	       /* own: a reply is declared, and none was recorded */
	uint64_t answered, borrowed;   /* answers played, and answers played again */
	uint64_t unknown;	       /* requests that got no answer because the recording has no such request */
	uint64_t cyclic;	       /* other frames played */
	uint64_t left_out;	       /* other frames before the driver's first one that came too early for them */
	uint64_t after;		       /* frames of the driver behind the end of the recording */
	uint64_t foreign;	       /* frames on the bus that are neither the driver's nor ours */
	bool middle;		       /* the beginning is missing in the recording */
};

#define LOOP_HEADS 4096

struct loop {
	bool begun;	   /* the driver has sent a frame, or the recording has none of its */
	int64_t offset_ns; /* from the recording's time to the clock's, once begun */
	int64_t first_ns;  /* stamp of the first frame, as it was added */
	bool time_was_set; /* a stamp went back by more than a second */
	struct loop_stream *streams;
	uint32_t streams_n;
	struct loop_totals totals;
	uint64_t differences; /* events that count */

	/* private */
	const struct loop_rules *rules;
	const struct loop_options *options;
	const char *const *names;
	unsigned int buses;
	struct loop_id *ids;
	size_t ids_n;
	const struct loop_rule **id_rules; /* of all of them */

	struct loop_item *items;
	uint32_t n;
	size_t room;
	int64_t shift_ns, newest_ns; /* of stamps */

	size_t streams_room;
	uint32_t heads[LOOP_HEADS]; /* streams by hash */
	uint32_t first_own;	    /* item; LOOP_NONE */

	/* playing */
	uint32_t at; /* the next item to look at for others */
	struct loop_due *due;
	size_t due_n, due_room;
	uint64_t asked;
	int64_t expires_ns;		 /* the earliest moment, recorded, at which a frame is given up */
	uint32_t newest[LOOP_BUSES_MAX]; /* partner with the highest number; LOOP_NONE */
	int64_t end_ns;			 /* recorded: then everything is over */
	struct loop_counts strangers;	 /* frames without a stream */
};

/* names: of the buses of the recording, by which the rules find them; a driver with one bus matches a recording with
 * one.  0; -EINVAL with a line: a bus of the rules is not in the recording; -ENOMEM.  rules and options are kept. */
int loop_new(struct loop **loop, const struct loop_rules *rules, const char *const *names, unsigned int buses,
	     const struct loop_options *options, struct error_sink *errors);
void loop_free(struct loop *loop); /* NULL is fine */

/* In the order of the recording.  Stamps that go back by less than a second are taken for the one before; by more, time
 * goes on from there.  0 or -ENOMEM. */
int loop_add(struct loop *loop, unsigned int bus, const struct frame *frame, int64_t t_ns, uint64_t line);
/* All are there.  0 or -ENOMEM. */
int loop_prepare(struct loop *loop);

void loop_start(struct loop *loop, int64_t now_ns);
/* A frame of another program was on the bus.  0 or -ENOMEM. */
int loop_heard(struct loop *loop, unsigned int bus, const struct frame *frame, int64_t t_ns);

struct loop_play {
	unsigned int bus;
	const struct frame *frame;
	int64_t due_ns;
	const struct loop_item *item;
};
/* The next frame that is due until then; false: none. */
bool loop_take(struct loop *loop, int64_t until_ns, struct loop_play *play);
/* Counts recorded frames whose window has passed as missing. */
void loop_pass_time(struct loop *loop, int64_t now_ns);
/* The clock went on while everything else stood still: all that follows is later by that. */
void loop_shift(struct loop *loop, int64_t by_ns);
/* When the next frame is due; INT64_MAX: only after a frame of the driver. */
int64_t loop_next_ns(struct loop *loop);
/* When to call loop_pass_time, or loop_over; INT64_MAX: only after a frame of the driver. */
int64_t loop_pass_ns(const struct loop *loop);

bool loop_over(const struct loop *loop, int64_t now_ns);
/* Recorded frames that have no partner yet are missing. */
void loop_finish(struct loop *loop);

bool loop_is_counted(const struct loop *loop, int64_t recorded_ns); /* a difference at that time */
struct loop_counts loop_counts(const struct loop *loop);	    /* of all streams, and of frames that have none */

#endif
