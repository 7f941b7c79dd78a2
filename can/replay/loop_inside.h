/* loop_inside.h: private to loop*.c. */
#ifndef CAN_REPLAY_LOOP_INSIDE_H
#define CAN_REPLAY_LOOP_INSIDE_H

#include "can/replay/loop.h"

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

/* The identifier of an own frame; NULL: it is not an own frame. */
const struct loop_id *loop_id_of(const struct loop *l, unsigned int bus, uint32_t id);
/* The stream of an own frame; NULL: there is none. */
struct loop_stream *loop_stream_of(struct loop *l, const struct loop_id *id, const struct frame *frame);
/* Which of the recorded frames answers which; sets kind, stream, next and answers of all items.  0 or -ENOMEM. */
int loop_sort(struct loop *l);

#endif
