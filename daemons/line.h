/* line.h: one bus of a driver: what may be sent on it, what is wanted of it, and how it is.
 *
 * Rows are declared first (line_send, line_receive), then it is opened; there is no other way to send.
 */
#ifndef DAEMONS_LINE_H
#define DAEMONS_LINE_H

#include "can/slots_bus.h"
#include "channels/msg/msg.h"
#include "daemons/drv.h"
#include "daemons/setup.h"

/* Rows of one bus.  A Hubo with all of its 26 boards on one bus: 19 of 6 kinds (encoder, its second half, status,
 * current, parameters, info) and 7 sensors of 3, 135.  CANopen: 32 drives of 7 kinds (4 PDOs, SDO, emergency,
 * heartbeat), 224.  The kernel has 512 filters, of which the identifiers sent need one each. */
#define LINE_RECEIVES_MAX 256

struct line_receive {
	struct drv_receive row;
	unsigned int number; /* as the driver knows it */
	int64_t due_ns;	     /* of one with a period: when it is missing; 0: none has come yet */
	int64_t heard_ns;    /* 0: never */
	bool silent;
	unsigned int joint; /* that is in fault with it, from 1; 0: the device */
};

struct line {
	const struct setup_bus *setup;
	struct drv *drv; /* whose it is */
	struct bus *bus;
	struct slots slots;
	struct slots_bus pump;
	bool watched; /* everything is wanted, by the row watch */
	struct line_receive watch;
	bool ended;	/* a log that is over */
	bool quiet;	/* nothing has come since it was last read */
	bool real;	/* something may move */
	bool can_reset; /* somebody here may reset its link */
	bool no_echo_told;
	bool tick_wanted; /* the frame that the loop ticks on, the robot's clock or another */
	uint32_t tick_id;

	struct drv_send sends[SLOTS_ROWS_MAX];
	struct slots_row rows[SLOTS_ROWS_MAX];
	unsigned int send_numbers[SLOTS_ROWS_MAX]; /* as the driver knows them */
	unsigned int sends_n;
	bool moves;		     /* a row does */
	bool joints;		     /* some hang on it, and fail with it */
	bool moving[SLOTS_ROWS_MAX]; /* what was last put into the row moves, and may still wait */
	struct line_receive receives[LINE_RECEIVES_MAX];
	unsigned int receives_n;
	uint16_t first[FRAME_STD_MASK + 1]; /* row that takes an 11-bit data frame, from 1; 0: none does */

	uint64_t odd, missing;
	struct bus_filter filters[LINE_RECEIVES_MAX + 1];
	uint32_t send_ids[SLOTS_ROWS_MAX];
};

/* The row's number on this line, or -ENOSPC. */
int line_add_send(struct line *line, const struct drv_send *send, unsigned int number);
int line_add_receive(struct line *line, const struct drv_receive *receive, unsigned int number);

/* A bus that is absent or down is attached to when it appears.  0, or the exit status, 100 or 111, with a line. */
int line_open(struct line *line, int64_t now_ns, struct error_sink *errors);
void line_close(struct line *line);

/* The row that takes this frame, by its identifier and its length; NULL: none.  Counts what is odd and what comes by
 * its rate. */
struct line_receive *line_takes(struct line *line, const struct bus_frame *got);
bool line_is_silent(const struct line *line); /* a row that belongs to no joint is */
bool line_heard(const struct line *line);     /* every row that is watched for silence, once at least */
/* The first row that is silent; NULL: none.  What was never heard is silent since_ns. */
const struct line_receive *line_silent(struct line *line, int64_t since_ns, int64_t now_ns);
/* Frames with a period that did not come. */
void line_count_missing(struct line *line, int64_t now_ns);

bool line_dead(const struct line *line);
void line_fill(const struct line *line, struct msg_bus *to); /* its part of the common block */

#endif
