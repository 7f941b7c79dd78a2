/* replay_match.h: plays the devices of a recording to a live driver, and compares what the driver sends with the
 * recording.
 *
 *	struct replay_match *loop;
 *
 *	replay_match_new(&loop, &rules, names, buses, &options);
 *	for each frame of the recording:
 *		replay_match_add(loop, bus, &frame, t_ns, line);
 *	replay_match_prepare(loop);
 *	replay_match_start(loop, now_ns);
 *	while (!replay_match_over(loop, now_ns)) {
 *		wait until replay_match_next_ns(loop), replay_match_pass_ns(loop), or a frame comes
 *		for each frame of another program:
 *			replay_match_heard(loop, bus, &frame, t_ns);
 *		replay_match_pass_time(loop, now_ns);
 *		while (replay_match_take(loop, now_ns, &play))
 *			send play.frame on play.bus
 *	}
 *	replay_match_finish(loop);
 *
 * A recorded frame is one of three: the driver's own (a rule has its identifier), an answer to one of those (by the
 * rule's reply), or any other: a cyclic frame, an event of a device, a frame of another program.  Own frames with the
 * same bits in their key are a stream.
 *
 * Time: the first own frame that the driver sends is the first of the recording, and all others follow from that.  What
 * was recorded before it is played from replay_match_start on; at the first own frame of the recording time stands
 * still until the driver sends.  Frames that answer nothing come at their recorded times, whatever the driver does.
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
#pragma once

#include "can/replay/replay_match_rules.h"
#include "can/replay/replay_match_same.h"

#define REPLAY_MATCH_WINDOW_MAX_NS 1000000000
#define REPLAY_MATCH_TAIL_NS 100000000 /* the longest wait for frames behind the end of the recording */
#define REPLAY_MATCH_BUSES_MAX 60

struct replay_match_item {
	int64_t t_ns; /* from the first frame of the recording */
	uint64_t line;
	struct frame frame;
	uint8_t bus;
	enum replay_match_kind { REPLAY_MATCH_OTHER, REPLAY_MATCH_OWN, REPLAY_MATCH_ANSWER } kind;
	uint32_t stream;  /* own: its number */
	uint32_t next;	  /* own: the next one of its stream; answer: the next one of its request; REPLAY_MATCH_NONE */
	uint32_t answers; /* own: the first; REPLAY_MATCH_NONE */
};
#define REPLAY_MATCH_NONE UINT32_MAX

/* The result of comparing a frame of the driver with the recording. */
enum replay_match_what {
	REPLAY_MATCH_SAME,
	REPLAY_MATCH_PAYLOAD,
	REPLAY_MATCH_ORDER,
	REPLAY_MATCH_MISSING,
	REPLAY_MATCH_EXTRA,
	REPLAY_MATCH_WHATS
};

struct replay_match_counts {
	uint64_t recorded, sent; /* frames of the driver, then and now */
	uint64_t what[REPLAY_MATCH_WHATS];
};

struct replay_match_stream {
	unsigned int bus;
	struct frame key; /* data: the bits of the key, 0 elsewhere */
	struct replay_match_counts counts;
	const struct replay_match_item *differs; /* the first that does; NULL: none, or an extra one */
	int64_t differs_ns;			 /* when, in the recording's time; INT64_MAX: never */

	/* private */
	unsigned int key_bytes; /* those that the frame has */
	uint32_t hash_next;
	uint32_t first, last, at; /* items: first, last, next without partner */
	uint32_t before;	  /* the partner before */
	int64_t window_ns;
};

struct replay_match_event {
	enum replay_match_what what;
	bool counts; /* it is a difference, and not within settle_ns, nor from_ns and until_ns */
	const struct replay_match_item *then; /* as recorded; NULL: extra */
	int64_t now_ns;		 /* when it was sent, in the recording's time; missing: when it was given up */
	const struct frame *now; /* as sent; NULL: missing */
	unsigned int bus;
	struct replay_match_stream *stream; /* NULL: the recording has no such request */
	const struct replay_match_item
		*from; /* extra: of this one the answer is borrowed; order: it was recorded before this */
	char why[REPLAY_MATCH_SAME_TEXT_MAX]; /* payload: which bytes */
};

struct replay_match_options {
	int64_t window_ns;	   /* of all streams; 0: as above */
	int64_t settle_ns;	   /* with a missing beginning differences count from there on */
	int64_t from_ns, until_ns; /* differences between them do not count; both 0: all do */
	bool strict;		   /* borrow no answers */
	bool any_order;		   /* frames in another order are equal */
	struct replay_match_same *same;
	void (*event)(void *to, const struct replay_match_event *event); /* may be NULL */
	void *to;
};

struct replay_match_totals {
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

#define REPLAY_MATCH_HEADS 4096

struct replay_match {
	bool begun;	   /* the driver has sent a frame, or the recording has none of its */
	int64_t offset_ns; /* from the recording's time to the clock's, once begun */
	int64_t first_ns;  /* stamp of the first frame, as it was added */
	bool time_was_set; /* a stamp went back by more than a second */
	struct replay_match_stream *streams;
	uint32_t streams_n;
	struct replay_match_totals totals;
	uint64_t differences; /* events that count */

	/* private */
	const struct replay_match_rules *rules;
	const struct replay_match_options *options;
	const char *const *names;
	unsigned int buses;
	struct replay_match_id *ids;
	size_t ids_n;
	const struct replay_match_rule **id_rules; /* of all of them */

	struct replay_match_item *items;
	uint32_t n;
	size_t room;
	int64_t shift_ns, newest_ns; /* of stamps */

	size_t streams_room;
	uint32_t heads[REPLAY_MATCH_HEADS]; /* streams by hash */
	uint32_t first_own;		    /* item; REPLAY_MATCH_NONE */

	/* playing */
	uint32_t at; /* the next item to look at for others */
	struct replay_match_due *due;
	size_t due_n, due_room;
	uint64_t asked;
	int64_t expires_ns;			 /* the earliest moment, recorded, at which a frame is given up */
	uint32_t newest[REPLAY_MATCH_BUSES_MAX]; /* partner with the highest number; REPLAY_MATCH_NONE */
	int64_t end_ns;				 /* recorded: then everything is over */
	struct replay_match_counts strangers;	 /* frames without a stream */
};

/* names: of the buses of the recording, by which the rules find them; a driver with one bus matches a recording with
 * one.  0; -EINVAL with a line: a bus of the rules is not in the recording; -ENOMEM.  rules and options are kept. */
int replay_match_new(struct replay_match **loop, const struct replay_match_rules *rules, const char *const *names,
		     unsigned int buses, const struct replay_match_options *options, struct error_sink *errors);
void replay_match_free(struct replay_match *loop); /* NULL is fine */

/* In the order of the recording.  Stamps that go back by less than a second are taken for the one before; by more, time
 * goes on from there.  0 or -ENOMEM. */
int replay_match_add(struct replay_match *loop, unsigned int bus, const struct frame *frame, int64_t t_ns,
		     uint64_t line);
/* All are there.  0 or -ENOMEM. */
int replay_match_prepare(struct replay_match *loop);

void replay_match_start(struct replay_match *loop, int64_t now_ns);
/* A frame of another program was on the bus.  0 or -ENOMEM. */
int replay_match_heard(struct replay_match *loop, unsigned int bus, const struct frame *frame, int64_t t_ns);

struct replay_match_play {
	unsigned int bus;
	const struct frame *frame;
	int64_t due_ns;
	const struct replay_match_item *item;
};
/* The next frame that is due until then; false: none. */
bool replay_match_take(struct replay_match *loop, int64_t until_ns, struct replay_match_play *play);
/* Counts recorded frames whose window has passed as missing. */
void replay_match_pass_time(struct replay_match *loop, int64_t now_ns);
/* The clock went on while everything else stood still: all that follows is later by that. */
void replay_match_shift(struct replay_match *loop, int64_t by_ns);
/* When the next frame is due; INT64_MAX: only after a frame of the driver. */
int64_t replay_match_next_ns(struct replay_match *loop);
/* When to call replay_match_pass_time, or replay_match_over; INT64_MAX: only after a frame of the driver. */
int64_t replay_match_pass_ns(const struct replay_match *loop);

bool replay_match_over(const struct replay_match *loop, int64_t now_ns);
/* Recorded frames that have no partner yet are missing. */
void replay_match_finish(struct replay_match *loop);

bool replay_match_is_counted(const struct replay_match *loop, int64_t recorded_ns); /* a difference at that time */
struct replay_match_counts
replay_match_counts(const struct replay_match *loop); /* of all streams, and of frames that have none */
