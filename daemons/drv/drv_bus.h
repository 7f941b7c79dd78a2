/* drv_bus.h: one bus of a driver: the rows that are sent and received, and its state.
 *
 * Rows are declared first (drv_bus_add_send, drv_bus_add_receive), then the bus is opened.
 */
#pragma once

#include "can/slots/slots_bus.h"
#include "daemons/drv/setup.h"

/* Rows of one bus.  A Hubo with all of its 26 boards on one bus: 19 of 6 kinds (encoder, its second half, status,
 * current, parameters, info) and 7 sensors of 3, 135.  CANopen: 32 drives of 7 kinds (4 PDOs, SDO, emergency,
 * heartbeat), 224.  The kernel has 512 filters, of which the identifiers sent need one each. */
#define DRV_BUS_RECEIVES_MAX 256

struct drv_bus_receive {
	struct drv_receive row;
	unsigned int number; /* as the driver knows it */
	int64_t due_ns;	     /* of one with a period: when it is missing; 0: none has come yet */
	int64_t heard_ns;    /* 0: never */
	bool silent;
};

struct drv_bus {
	const struct setup_bus *setup;
	struct drv *drv; /* whose it is */
	struct bus *bus;
	struct slots slots;
	struct slots_bus pump;
	bool watched; /* everything is wanted, by the row watch */
	struct drv_bus_receive watch;
	bool ended;	/* a log that is over */
	bool real;	/* something may move */
	bool can_reset; /* a process of this robot may reset its link */
	bool no_echo_reported;
	bool tick_wanted; /* the frame that the loop ticks on, the robot's clock or another */
	uint32_t tick_id;

	struct drv_send sends[SLOTS_ROWS_MAX];
	struct slots_row rows[SLOTS_ROWS_MAX];
	unsigned int send_numbers[SLOTS_ROWS_MAX]; /* as the driver knows them */
	int64_t bounds_ns[SLOTS_ROWS_MAX]; /* from hand-over to the end on the wire, as achstart computed; 0: none */
	unsigned int sends_n;
	bool moves;		     /* a row does */
	bool fd;		     /* a row is of CAN FD frames */
	bool joints;		     /* some hang on it, and fail with it */
	bool moving[SLOTS_ROWS_MAX]; /* what was last put into the row moves, and may still wait */
	struct drv_bus_receive receives[DRV_BUS_RECEIVES_MAX];
	unsigned int receives_n;
	uint16_t first[FRAME_STD_MASK + 1]; /* row that takes an 11-bit data frame, from 1; 0: none does */

	unsigned int awaited; /* answers of this tick, which the driver needs together: drv_await */
	int64_t awaited_ns;   /* that the shortest of them takes on the wire */

	struct pauses pauses;	/* of this process and of the wire */
	int64_t pause_begun_ns; /* the last one of the wire; 0: there was none */
	int64_t pause_seen_ns;	/* it was under way then */

	uint64_t odd, missing;
	struct bus_filter filters[DRV_BUS_RECEIVES_MAX + 1];
	uint32_t send_ids[SLOTS_ROWS_MAX];
};

/* The row's number on this bus, or -ENOSPC. */
int drv_bus_add_send(struct drv_bus *bus, const struct drv_send *send, unsigned int number);
int drv_bus_add_receive(struct drv_bus *bus, const struct drv_receive *receive, unsigned int number);

/* Bounds as ENDPLATE_BOUNDS has them, "torso:0EF=1250000 ...", of all buses; those that are not valid are ignored. */
void drv_bus_bounds(struct drv_bus *bus, const char *text);
/* A frame of the row was on the wire: an event if that took longer than its bound, and the driver is up. */
void drv_bus_check_bound(const struct drv_bus *bus, unsigned int row, int64_t t_ns, bool up);

/* A bus that is absent or down is attached to when it appears.  0, or the exit status, 100 or 111, with a line. */
int drv_bus_open(struct drv_bus *bus, struct error_sink *errors);
/* The second half, after all of them were opened: canwire answers while the others are asked. */
int drv_bus_settle(struct drv_bus *bus, int64_t now_ns, struct error_sink *errors);

/* The row that takes this frame, by its identifier and its length; NULL: none.  Counts what is odd and what comes by
 * its rate. */
struct drv_bus_receive *drv_bus_takes(struct drv_bus *bus, const struct bus_frame *got);
bool drv_bus_is_silent(const struct drv_bus *bus); /* a row is */
bool drv_bus_heard(const struct drv_bus *bus);	   /* every row that is watched for silence, once at least */
/* The first row that is silent; NULL: none.  Silence of a row without frames counts from since_ns. */
const struct drv_bus_receive *drv_bus_silent(struct drv_bus *bus, int64_t since_ns, int64_t now_ns);
/* Frames with a period that did not come. */
void drv_bus_count_missing(struct drv_bus *bus, int64_t now_ns);

/* The loop may sleep until then, whatever comes on this bus: the answers that are awaited cannot be there sooner.
 * 0: it may not, or it is not worth it. */
int64_t drv_bus_rest_ns(const struct drv_bus *bus, int64_t now_ns);

bool drv_bus_is_dead(const struct drv_bus *bus);
void drv_bus_fill(const struct drv_bus *bus, struct msg_bus *to); /* its part of the common block */
