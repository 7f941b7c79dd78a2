/* tap.h: a bus that is recorded: its name, its frames, the state of its link. */
#ifndef CAN_TOOL_TAP_H
#define CAN_TOOL_TAP_H

#include <stdbool.h>
#include <stdint.h>

#include "can/bus.h"
#include "can/log.h"
#include "can/tool/ids.h"
#include "can/tool/merge.h"

struct tap {
	const char *text;	/* the bus, as on the command line */
	char name[LOG_BUS_MAX]; /* its name in the file */
	struct bus *bus;
	struct merge_bus *held;
	bool ended; /* a log that is over */
	bool more;  /* not read to the end: no room */

	/* private */
	uint64_t dropped; /* as the bus last said */
	int error;	  /* its last answer: 0, -ENETDOWN, -ENODEV */
	enum bus_state state;
};

/* "can0", "left=wire:larm0", "log:FILE@can1".  0, or PROGRAM_WRONG after a line. */
int tap_read(struct tap *t, const char *text);

/* 0, or PROGRAM_FAILED after a line. */
int tap_open(struct tap *t, const struct bus_options *options);
void tap_close(struct tap *t);

/* Adds all selected frames, losses, and remarks on the link, which are printed as well. */
void tap_receive(struct tap *t, const struct ids *ids, bool errors);

#endif
