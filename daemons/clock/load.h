/* load.h: how busy a bus is.
 *
 *	load_start(&load, 1000000, now_ns);
 *	load_add(&load, bits.all, got.t_ns);	each frame, by the time at which it was on the bus
 *	load_at(&load, now_ns);			from time to time: what is over is over, also when nothing came
 *	load_share(&load);
 *
 * Pure.  Bits are added up in windows of a tenth of a second, which is all that a frame costs here.  Frames that come
 * late (this process was held up) still find their own window.
 */
#pragma once

#include "config/base/base.h"

#define LOAD_WINDOW_NS 100000000
#define LOAD_WINDOWS 10 /* a second */

struct load {
	uint32_t bitrate;
	int64_t first, now; /* windows, by their number since the clock's beginning; the first is not whole */
	uint32_t bits[LOAD_WINDOWS + 1]; /* of the present window and of those before it */
	uint32_t most;			 /* bits in a whole one, ever */
};

void load_start(struct load *l, uint32_t bitrate, int64_t now_ns);
void load_add(struct load *l, uint32_t bits, int64_t t_ns);
void load_at(struct load *l, int64_t now_ns);

/* In the last second, or since the start if that was less than a second ago; 1: not a bit is free. */
double load_share(const struct load *l);
/* In the busiest tenth of a second since the start. */
double load_most(const struct load *l);
