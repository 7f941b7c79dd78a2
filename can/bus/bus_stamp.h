/* bus_stamp.h: from the kernel's stamps to CLOCK_MONOTONIC.  Pure: every time is an argument.
 *
 * The kernel stamps frames with CLOCK_REALTIME, which may be set (slewing affects both clocks alike).  Both clocks are
 * sampled with each batch:
 *
 *	bus_stamp_start(&stamps, now_ns);
 *	...
 *	bus_stamp_batch(&stamps, before_ns, real_ns, after_ns);
 *	for each frame
 *		restamped = bus_stamp_frame(&stamps, &t_ns, real_ns);
 *
 * Times never go back and are never in the future.  A stamp that would break this rule was written before the clock was
 * set; it is replaced by the time of arrival, that of the batch, and bus_stamp_frame returns true.  Usual jitter
 * (BUS_STAMP_JITTER_NS) is corrected without that.
 */
#pragma once

#include "config/base/base.h"

/* Frames that passed two cores may be out of order by this much, plus the uncertainty of an interrupted sample. */
#define BUS_STAMP_JITTER_NS 1000000

/* Two clocks read within this time are one sample; a longer time means an interruption. */
#define BUS_STAMP_SAMPLE_NS 20000

struct bus_stamp {
	bool sampled;
	int64_t offset_ns;  /* CLOCK_MONOTONIC less CLOCK_REALTIME, of this batch */
	int64_t unsure_ns;  /* its uncertainty */
	int64_t arrival_ns; /* of this batch */
	int64_t last_ns;    /* of the last frame */
};

/* No frame is older than now_ns: the bus is being opened. */
void bus_stamp_start(struct bus_stamp *s, int64_t now_ns);

/* CLOCK_MONOTONIC before and after CLOCK_REALTIME was read, after the batch had come.  An interrupted
 * sample is ignored unless it contradicts the one before. */
void bus_stamp_batch(struct bus_stamp *s, int64_t before_ns, int64_t real_ns, int64_t after_ns);

/* One frame of the batch: real_ns is its stamp of CLOCK_REALTIME; 0: it has none (the kernel begins to stamp a moment
 * after the request).  Returns true if *t_ns is the time of arrival instead. */
bool bus_stamp_frame(struct bus_stamp *s, int64_t *t_ns, int64_t real_ns);
