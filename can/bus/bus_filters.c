/* bus_filters.c: which frames are wanted, and which the kernel must let through for it. */
#include <linux/can.h>

#include "can/bus/bus_filters.h"

_Static_assert(BUS_FILTERS_MAX <= CAN_RAW_FILTER_MAX, "the kernel takes no more");
_Static_assert(sizeof(struct bus_filter) == sizeof(struct can_filter), "the kernel's: identifier, mask");

/* The list of the kernel, on all bits in which data and remote frames can differ. */
#define ID_BITS (FRAME_EXT | FRAME_RTR | FRAME_EXT_MASK)

bool bus_filters_want(const struct bus_filters *f, uint32_t id)
{
	return f->all || bus_filters_take(f->wanted, f->wanted_n, id);
}

static void add_to_kernel(struct bus_filters *f, uint32_t id, uint32_t mask)
{
	if (f->kernel_n == BUS_FILTERS_MAX) { /* no room: let it all through and sort it out here */
		f->kernel_n = 0;
		f->more = true;
		id = mask = 0;
	}
	f->kernel[f->kernel_n++] = (struct bus_filter){ id, mask };
}

bool bus_filters_echo(struct bus_filters *f, uint32_t id)
{
	/* One identifier and nothing but it: the kernel finds those by a table. */
	uint32_t mask = FRAME_EXT | FRAME_RTR | (id & FRAME_EXT ? FRAME_EXT_MASK : FRAME_STD_MASK);

	if (f->all || bus_filters_take(f->kernel, f->kernel_n, id))
		return false;
	add_to_kernel(f, id, mask);
	f->more = true;
	return true;
}

void bus_filters_start(struct bus_filters *f, const struct bus_options *options)
{
	memset(f, 0, sizeof(*f));
	f->all = !options->filters;
	for (size_t i = 0; i < options->filters_n; i++) {
		const struct bus_filter *wanted = &options->filters[i];

		f->wanted[f->wanted_n++] = *wanted;
		/* FRAME_ERR means something else to the kernel in a filter.  One that asks for it takes no frame. */
		if (!(wanted->id & wanted->mask & FRAME_ERR))
			add_to_kernel(f, wanted->id & ID_BITS, wanted->mask & ID_BITS);
	}
	for (size_t i = 0; i < options->sends_n && !options->no_echo; i++)
		bus_filters_echo(f, options->sends[i]);
}
