/* plot_draw.h: curves over time, drawn with characters.  Knows no channel, no terminal and no clock.
 *
 * Time is cut into bins, each of which remembers the first, last, least and greatest value of a curve: memory and time
 * to draw are the same for 10 messages a second and for 10000, and no peak is lost.
 */
#pragma once

#include "config/base/base.h"

#define PLOT_CURVES 16
#define PLOT_BINS 2048 /* in a window; more than any terminal has dots in a line */

struct plot_bin {
	int64_t number; /* since time 0; what another number left in this place does not count */
	uint64_t n;	/* values in it */
	double first, last, min, max;
};

struct plot_curve {
	char label[64];
	const char *unit;
	char now[32]; /* the newest value, for the legend */
	double value; /* the same; NaN: not drawn */
	struct plot_bin bins[PLOT_BINS];
};

struct plot_picture {
	int64_t window_ns;
	size_t n;
	struct plot_curve *curves;
	char title[64], status[128];
	bool colour, ascii;
	double low, high; /* the scale; equal: none yet */
};

void plot_value(struct plot_picture *p, size_t curve, int64_t t_ns, double value);

/* A picture of columns x lines that ends at now_ns, through out_text.  moving: over the one before, from the
 * top of the screen; else as lines of text. */
void plot_draw(struct plot_picture *p, int64_t now_ns, int columns, int lines, bool moving);
