/* robot_view.h: the robot as this process sees it: what achstart answers, what the channels say, the level of the
 * e-stop, the last events.  It only reads, and never waits for achstart.
 */
#pragma once

#include "launch/achdoctor/doctor.h"
#include "launch/view/status.h"
#include "launch/view/status_poll.h"

#define ROBOT_VIEW_DEVICES 96
#define ROBOT_VIEW_EVENTS 100

/* The newest message of a channel. */
struct robot_view_device {
	char channel[ACH_CHAN_NAME_MAX]; /* "waist-state", "clock" */
	char name[ACH_CHAN_NAME_MAX];	 /* "waist", "hubo-power"; "": the clock */
	const struct msg_type *type;
	uint64_t number; /* of this message, among all that were ever read */
	union {
		struct msg_header header;
		char bytes[MSG_SIZE_MAX];
	} msg;
};

struct robot_view_event {
	int64_t real_ns; /* CLOCK_REALTIME */
	struct msg_event msg;
};

struct robot_view {
	struct status status;
	struct status_poll achstart;
	struct robot_channels channels;
	struct estop estop;
	struct robot_view_device *devices[ROBOT_VIEW_DEVICES];
	size_t devices_n;
	struct robot_view_event events[ROBOT_VIEW_EVENTS]; /* a ring */
	uint64_t events_n;				   /* ever */
	struct doctor_report doctor;			   /* what fails before an arming; empty on soft wires */
	uint64_t answers;				   /* of achstart, ever */
	uint64_t messages;				   /* states that were read, ever */

	/* private */
	int64_t doctor_ns;
};

void robot_view_open(struct robot_view *view);
void robot_view_close(struct robot_view *view);

/* The descriptor of the question under way to achstart, or -1; whenever it is ready, robot_view_answer. */
int robot_view_fd(const struct robot_view *view);
void robot_view_answer(struct robot_view *view);
/* Reads the channels. */
void robot_view_read(struct robot_view *view);
/* Reads them, asks achstart from time to time, and computes the level. */
void robot_view_update(struct robot_view *view, int64_t now_ns);
/* Examines the machine now, whatever was found before. */
void robot_view_examine(struct robot_view *view, int64_t now_ns);
