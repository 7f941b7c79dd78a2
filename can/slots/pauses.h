/* pauses.h: when this process, or a wire, was paused: a host took the processor away, or other programs had it.
 *
 * What did not happen in a pause is nobody's fault: time of waiting for a device or a bus does not count in it.  The
 * newest pauses are kept; of an older one the time counts.  Pure.
 */
#pragma once

#include "config/base/base.h"

#define PAUSES_MAX 64

struct pauses { /* zeros: none */
	struct {
		int64_t from_ns, to_ns;
	} of[PAUSES_MAX]; /* disjoint, in the order of time */
	unsigned int n;
};

/* A pause that overlaps or continues the newest extends it.  Nothing happens if to_ns is not after from_ns. */
void pauses_add(struct pauses *p, int64_t from_ns, int64_t to_ns);
int64_t pauses_within_ns(const struct pauses *p, int64_t from_ns, int64_t to_ns); /* how much of that time was paused */
int64_t pauses_end_ns(const struct pauses *p);	/* of the newest; INT64_MIN: there was none */
int64_t pauses_last_ns(const struct pauses *p); /* how long the newest was; 0: there was none */
