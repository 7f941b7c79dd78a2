/* clock_bus.h: one bus of the robot, as its clock sees it: the clock frame, the load, what has become of it.
 *
 * Offered to other folders:
 *	clock_grid.h
 */
#pragma once

#include "daemons/clock/clock_grid.h"
#include "daemons/clock/load.h"
#include "daemons/drv/drv.h"

struct clock_bus {
	msg_name name, interface; /* as messages have them */
	msg_name code;		  /* of events about it, and its channel: bus-BUS */
	struct frame frame;	  /* of the clock */
	int send;		  /* its row; -1: the bus has no such frame */
	int output;		  /* bus-BUS */
	uint32_t divider, bitrate;
	bool dead;		/* as last reported */
	int64_t other_since_ns; /* when it began to differ from dead */
	int64_t quiet_ns;	/* no report before this time */
	uint64_t bus_offs;
	uint32_t tx_errors, rx_errors; /* of the last error frame */
	struct load load;
	double share;	   /* of the last second */
	int64_t published; /* number of the tenth of a second for which bus-BUS was published */
};

/* In declare: its frame, its channel, its claim; what is wrong is in errors. */
void clock_bus_declare(struct clock_bus *bus, struct drv *drv, unsigned int number, int64_t period_ns,
		       struct error_sink *errors);

void clock_bus_start(struct clock_bus *bus, int64_t now_ns);

/* Frames: of others, errors too; and the own one when it was on the wire.  It has to be quick: every frame of every bus
 * comes here. */
void clock_bus_received(struct clock_bus *bus, const struct bus_frame *got);
void clock_bus_sent(struct clock_bus *bus, const struct frame *frame, int64_t t_ns);
/* Is that the clock frame of this bus? */
bool clock_bus_is_clock(const struct clock_bus *bus, const struct frame *frame);

/* In each cycle: an event when the bus has died or is back; bus-BUS ten times a second. */
void clock_bus_update(struct clock_bus *bus, struct drv *drv, unsigned int number, int64_t now_ns);

/* After a second of cycles: the fault slow, or its end. */
void clock_bus_report_skipped(const struct clock_grid *cycle, struct drv *drv);

/* Its part of the message of the clock. */
void clock_bus_fill(const struct clock_bus *bus, const struct drv *drv, unsigned int number, struct msg_clock_bus *to);
