/* replay_match_inside.h: private to loop*.c. */
#pragma once

#include "can/replay/replay_match.h"

/* An identifier of the driver, with all that its rules say. */
struct replay_match_id {
	unsigned int bus;
	uint32_t id;
	uint8_t len;				/* of the longest */
	uint8_t key[FRAME_DATA_MAX_FD];		/* of all rules */
	const struct replay_match_rule **rules; /* those with an answer */
	size_t rules_n;
	bool echoed; /* the device answers with the same identifier */
};

/* An answer that is to be played. */
struct replay_match_due {
	int64_t due_ns;
	uint64_t number; /* in the order of asking, where two are due at the same time */
	uint32_t item;
};

/* The identifier of an own frame; NULL: it is not an own frame. */
const struct replay_match_id *replay_match_id_of(const struct replay_match *l, unsigned int bus, uint32_t id);
/* The stream of an own frame; NULL: there is none. */
struct replay_match_stream *replay_match_stream_of(struct replay_match *l, const struct replay_match_id *id,
						   const struct frame *frame);
/* Which of the recorded frames answers which; sets kind, stream, next and answers of all items.  0 or -ENOMEM. */
int replay_match_sort(struct replay_match *l);
