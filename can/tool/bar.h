/* bar.h: how far it is, on a terminal, and never in the way of what is due. */
#ifndef CAN_TOOL_BAR_H
#define CAN_TOOL_BAR_H

#include <stdbool.h>
#include <stdint.h>

struct bar {
	uint64_t all; /* frames; 0: nobody knows how many */

	/* private */
	int64_t began_ns, next_ns;
	bool drawn;
};

/* Nothing is drawn before two seconds are over, and never if standard error is no terminal. */
void bar_start(struct bar *b, int64_t now_ns);

/* When it wants to be drawn; CLOCK_NEVER: not at all. */
int64_t bar_next_ns(const struct bar *b);

/* Draws it if it is time, and the next frame is not due too soon for that. */
void bar_draw(struct bar *b, uint64_t done, int64_t now_ns, int64_t due_ns);
void bar_clear(struct bar *b);

#endif
