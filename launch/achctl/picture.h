/* picture.h: a robot that balances, as a small picture from its left side, with what it does in words.  Pure. */
#ifndef LAUNCH_ACHCTL_PICTURE_H
#define LAUNCH_ACHCTL_PICTURE_H

#include "channels/msg/types.h"
#include "launch/achctl/table.h"

#define PICTURE_LINES 9
#define PICTURE_COLUMNS 26 /* of the drawing; words stand beside it */

struct picture {
	const struct msg_balance_state *balance;
	const struct msg_mux_state *mux; /* of the waist's references; NULL: they have one source */
	int64_t now_ns;
	bool plain; /* the terminal has ASCII characters only */
};

/* PICTURE_LINES lines, each at most width columns. */
void picture_draw(const struct picture *picture, struct paint *paint, size_t width);

#endif
