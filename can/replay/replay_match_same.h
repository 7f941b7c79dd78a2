/* replay_match_same.h: are two frames the same, within tolerances?
 *
 *	0EF:2:f32=0.001		the float in bytes 2 to 5 of 0EF may differ by 0.001
 *	0EF#0B11:2:f32=0.001	only in frames that begin with 0B11
 *	181:6:u16=offset	a counter: it may differ by what it differed by in the first frame
 *	77F:0:u8=any		any value
 *	order			frames may be in another order
 *
 * Types: u8 i8 u16 i16 u32 i32 f32 f64, little endian; with be behind it (u16be) big endian.  Integers are compared
 * modulo their width.  All other bytes, length and flags have to be equal.  NaN is the same as NaN.
 */
#pragma once

#include "can/bus/frame.h"
#include "config/base/base.h"

#define REPLAY_MATCH_SAME_ROWS_MAX 64
#define REPLAY_MATCH_SAME_TEXT_MAX 160

struct replay_match_same_row {
	uint32_t id; /* with FRAME_EXT */
	uint8_t begins[FRAME_DATA_MAX];
	unsigned int begins_n;
	unsigned int at;
	unsigned int type; /* of replay_match_same.c */
	bool big_endian;
	enum { REPLAY_MATCH_SAME_WITHIN, REPLAY_MATCH_SAME_OFFSET, REPLAY_MATCH_SAME_ANY } how;
	double within;
	bool known; /* offset: */
	uint64_t offset;
};

struct replay_match_same {
	struct replay_match_same_row rows[REPLAY_MATCH_SAME_ROWS_MAX];
	size_t n;
	bool any_order;
};

/* One of the above.  0, or -EINVAL or -ENOSPC with a line in errors. */
int replay_match_same_read(struct replay_match_same *same, const char *text, struct error_sink *errors);

/* same may be NULL: no tolerances.  Else why says what differs: "f32 in bytes 2-5: 0.05, now 0.075; byte 7". */
bool replay_match_same_frames(struct replay_match_same *same, const struct frame *then, const struct frame *now,
			      char why[REPLAY_MATCH_SAME_TEXT_MAX]);
