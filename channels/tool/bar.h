/* bar.h: a progress bar on the terminal. */
#pragma once

#include "config/base/base.h"

struct bar {
	const char *unit; /* "frames" */
	uint64_t all;	  /* the value of done at the end; 0: unknown */

	/* private */
	int64_t began_ns, next_ns;
	bool drawn;
};

/* Nothing is drawn in the first two seconds, nor if standard error is not a terminal. */
void bar_start(struct bar *b, int64_t now_ns);

/* When to call bar_draw; CLOCK_NEVER: there is nothing to draw. */
int64_t bar_next_ns(const struct bar *b);

/* Draws the bar and the count of units, unless the next item is due before that would be finished. */
void bar_draw(struct bar *b, uint64_t done, uint64_t count, int64_t now_ns, int64_t due_ns);
void bar_clear(struct bar *b);
