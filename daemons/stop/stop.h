/* stop.h: is a stop input closed?  Readings and times in, a state out.
 *
 *	stop_read(&stop, closed, t_ns);		each reading: a bit for each channel that is closed
 *	stop_lose(&stop);			nothing can be read
 *	if (stop_evaluate(&stop, now_ns) != STOP_CLOSED)
 *		(raise the e-stop)
 *
 * Pure: times are arguments.  The input is closed while every channel is, and has been for close_after_ns, and readings
 * come.  It opens with the first reading of an open channel: only closing is filtered.
 */
#pragma once

#include "can/bus/frame.h"
#include "config/base/base.h"

#define STOP_CHANNELS_MAX 2

enum stop_state {
	STOP_CLOSED,
	STOP_OPEN,
	STOP_SILENT, /* no reading, or none for too long */
	STOP_DIFFER, /* the channels have differed for too long; both have to be open once */
};

struct stop_rules {
	unsigned int channels;
	int64_t close_after_ns;	 /* closed for this time it counts as closed */
	int64_t silent_after_ns; /* how long a reading counts */
	int64_t differ_after_ns; /* how long channels may differ, while a contact moves */
};

struct stop {
	struct stop_rules rules;
	bool read;	       /* there is a reading */
	int64_t read_ns;       /* and when it was */
	unsigned int closed;   /* and what it was */
	int64_t closed_ns;     /* all are closed since; with all_closed */
	bool all_closed;       /* in every reading since closed_ns */
	int64_t differ_ns;     /* they differ since; with differ */
	bool differ, differed; /* differed: for too long, and they were not all open since */
};

void stop_read(struct stop *stop, unsigned int closed, int64_t t_ns);
void stop_lose(struct stop *stop);
enum stop_state stop_evaluate(struct stop *stop, int64_t now_ns);

/* Where a frame of an I/O module has the channels. */
struct stop_frame {
	unsigned int byte;
	unsigned int bits[STOP_CHANNELS_MAX], channels;
	bool closed_is_0;
};
/* The channels that are closed; a frame that is too short has none, and so has a remote frame. */
unsigned int stop_decode(const struct stop_frame *where, const struct frame *frame);
