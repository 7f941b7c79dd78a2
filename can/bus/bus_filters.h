/* bus_filters.h: the filters of a bus, and the list of the kernel.  Pure.
 *
 * The kernel's filters do not distinguish an echo from another frame, so its list consists of the filters of the
 * options and of the identifiers that are sent.  Frames that pass the list but not the filters are dropped here.
 */
#pragma once

#include "can/bus/bus.h"

struct bus_filters {
	bool all; /* no filters: the kernel has no list */
	struct bus_filter wanted[BUS_FILTERS_MAX];
	size_t wanted_n;
	struct bus_filter kernel[BUS_FILTERS_MAX]; /* laid out as its struct can_filter */
	size_t kernel_n;
	bool more; /* the list of the kernel passes more than the filters */
};

/* Takes filters and sends of the options. */
void bus_filters_start(struct bus_filters *f, const struct bus_options *options);

/* The echo of id must pass.  true: pass the new list to the kernel. */
bool bus_filters_echo(struct bus_filters *f, uint32_t id);

/* Does a frame of another sender pass? */
bool bus_filters_want(const struct bus_filters *f, uint32_t id);
