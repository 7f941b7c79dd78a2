/* recorded_bus.h: a bus that is recorded: its name, its frames, the state of its link.
 *
 * Each bus is in order by itself and read a batch at a time.  recorded_bus_next merges them: an entry may leave once no
 * bus can bring anything earlier, up to a time that the reader of the buses knows.
 */
#pragma once

#include "can/log/id_filter.h"
#include "can/log/log.h"

#define RECORDED_BUS_ROOM 4096 /* entries held of a bus */

struct recorded_bus_entry {
	int64_t t_ns;
	const char *note; /* a remark instead of a frame; or NULL, */
	uint64_t lost;	  /* frames that are lost here; or 0, */
	struct frame frame;
};

struct recorded_bus_held {
	struct recorded_bus_entry entry[RECORDED_BUS_ROOM];
	size_t first, n;
	int64_t newest_ns; /* of those that were ever added */
};

struct recorded_bus {
	const char *text;	/* the bus, as on the command line */
	char name[LOG_BUS_MAX]; /* its name in the file */
	struct bus *bus;
	struct recorded_bus_held *held;
	bool ended; /* a log that is over */
	bool more;  /* not read to the end: no room */

	/* private */
	uint64_t dropped; /* as the bus last said */
	int error;	  /* its last answer: 0, -ENETDOWN, -ENODEV */
	enum bus_state state;
};

/* "can0", "left=wire:larm0", "log:FILE@can1".  0, or EXIT_WRONG after a line. */
int recorded_bus_read(struct recorded_bus *t, const char *text);

/* 0, or EXIT_RETRY after a line. */
int recorded_bus_open(struct recorded_bus *t, const struct bus_options *options);
void recorded_bus_close(struct recorded_bus *t);

/* Adds all selected frames, losses, and remarks on the link, which are printed as well. */
void recorded_bus_receive(struct recorded_bus *t, const struct id_filter *ids, bool errors);

/* The next up to horizon_ns, and the index of its bus; NULL: none.  Valid until the next recorded_bus_receive. */
const struct recorded_bus_entry *recorded_bus_next(struct recorded_bus_held *const *buses, size_t n, int64_t horizon_ns,
						   size_t *bus);
