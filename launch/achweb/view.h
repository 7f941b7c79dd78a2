/* view.h: the robot as this process sees it: what achstart answers, what the channels say, the level of the e-stop, the
 * last events.  It only reads, and never waits for achstart.
 */
#ifndef LAUNCH_ACHWEB_VIEW_H
#define LAUNCH_ACHWEB_VIEW_H

#include "launch/achdoctor/doctor.h"
#include "launch/view/status.h"
#include "launch/view/status_ask.h"

#define VIEW_DEVICES 96
#define VIEW_EVENTS 100

/* The newest message of a channel. */
struct view_device {
	char channel[ACH_CHAN_NAME_MAX]; /* "waist-state", "clock" */
	char name[ACH_CHAN_NAME_MAX];	 /* "waist", "hubo-power"; "": the clock */
	const struct msg_type *type;
	uint64_t number; /* of this message, among all that were ever read */
	union {
		struct msg_header header;
		char bytes[MSG_SIZE_MAX];
	} msg;
};

struct view_event {
	int64_t real_ns; /* CLOCK_REALTIME */
	struct msg_event msg;
};

struct view {
	struct status status;
	struct status_ask achstart;
	struct robot_channels channels;
	struct estop estop;
	struct view_device *devices[VIEW_DEVICES];
	size_t devices_n;
	struct view_event events[VIEW_EVENTS]; /* a ring */
	uint64_t events_n;		       /* ever */
	struct doctor_report doctor;	       /* what fails before an arming; empty on soft wires */
	uint64_t answers;		       /* of achstart, ever */
	uint64_t messages;		       /* states that were read, ever */

	/* private */
	int64_t doctor_ns;
};

void view_open(struct view *view);
void view_close(struct view *view);

/* The descriptor of the question under way to achstart, or -1; whenever it is ready, view_answer. */
int view_fd(const struct view *view);
void view_answer(struct view *view);
/* Reads the channels. */
void view_read(struct view *view);
/* Reads them, asks achstart from time to time, and computes the level. */
void view_update(struct view *view, int64_t now_ns);
/* Examines the machine now, whatever was found before. */
void view_examine(struct view *view, int64_t now_ns);

#endif
