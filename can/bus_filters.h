/* bus_filters.h: which frames are wanted, and which the kernel must let through for it.  Pure.
 *
 * The kernel's filters do not know an echo from any other frame, so its list is made of the filters that were asked
 * for and of the identifiers that are sent.  What the kernel then lets through beyond what is wanted is sorted out
 * here.
 */
#ifndef CAN_BUS_FILTERS_H
#define CAN_BUS_FILTERS_H

#include <linux/can.h>

#include "can/bus.h"

struct bus_filters {
	bool all; /* everything is wanted: the kernel has no list */
	struct bus_filter wanted[BUS_FILTERS_MAX];
	size_t wanted_n;
	struct can_filter kernel[BUS_FILTERS_MAX];
	size_t kernel_n;
	bool more; /* the kernel lets through more than is wanted */
};

/* Takes filters and sends of the options. */
void bus_filters_start(struct bus_filters *f, const struct bus_options *options);

/* The echo of id is to come.  true: the kernel has to be told a new list. */
bool bus_filters_echo(struct bus_filters *f, uint32_t id);

/* Is it wanted, as a frame of somebody else? */
bool bus_filters_want(const struct bus_filters *f, uint32_t id);

#endif
