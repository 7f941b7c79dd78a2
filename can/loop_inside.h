/* loop_inside.h: private to loop*.c. */
#ifndef CAN_LOOP_INSIDE_H
#define CAN_LOOP_INSIDE_H

#include "can/loop.h"

#define LOOP_HEADS 4096

/* An identifier of the driver, with all that its rules say. */
struct loop_id {
	unsigned int bus;
	uint32_t id;
	uint8_t len;			/* of the longest */
	uint8_t key[FRAME_DATA_MAX_FD]; /* of all rules */
	const struct loop_rule **rules; /* those with an answer */
	size_t rules_n;
	bool echoed; /* the device answers with the same identifier */
};

/* An answer that is to be played. */
struct loop_due {
	int64_t due_ns;
	uint64_t number; /* in the order of asking, where two are due at the same time */
	uint32_t item;
};

struct loop {
	const struct loop_rules *rules;
	const struct loop_options *options;
	const char *const *names;
	unsigned int buses;
	struct loop_id *ids;
	size_t ids_n;
	const struct loop_rule **id_rules; /* of all of them */

	struct loop_item *items;
	uint32_t n, room;
	int64_t first_ns, shift_ns, newest_ns; /* of stamps */
	bool time_was_set;

	struct loop_stream *streams;
	uint32_t streams_n, streams_room;
	uint32_t heads[LOOP_HEADS]; /* streams by hash */
	uint32_t first_own;	    /* item; LOOP_NONE */

	/* playing */
	bool begun;
	int64_t offset_ns; /* from the recording's time to the clock's */
	uint32_t at;	   /* the next item to look at for others */
	struct loop_due *due;
	size_t due_n, due_room;
	uint64_t asked;
	int64_t expires_ns;		 /* the earliest moment, recorded, at which a frame is given up */
	uint32_t newest[LOOP_BUSES_MAX]; /* partner with the highest number; LOOP_NONE */
	int64_t end_ns;			 /* recorded: then everything is over */
	struct loop_counts strangers;	 /* frames without a stream */
	struct loop_totals totals;
	uint64_t differences;
};

/* The identifier of an own frame; NULL: it is none. */
const struct loop_id *loop_id_of(const struct loop *l, unsigned int bus, uint32_t id);
/* The stream of an own frame; NULL: there is none. */
struct loop_stream *loop_stream_of(struct loop *l, const struct loop_id *id, const struct frame *frame);
/* Which of the recorded frames answers which; sets kind, stream, next and answers of all items.  0 or -ENOMEM. */
int loop_sort(struct loop *l);

#endif
