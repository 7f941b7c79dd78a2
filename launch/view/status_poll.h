/* status_poll.h: the status of the robot, again and again: from achstart, which is never waited for, and from the
 * channels while it does not answer.
 *
 *	struct status_poll a = { .away = true };
 *
 *	for (;;) {
 *		status_poll_begin(&a, every_ns, now_ns);
 *		status_poll_channels(&a, &status, &channels);
 *		fds[0] = status_poll_fd(&a);
 *		clock_wait(fds, ...);
 *		if (fds[0].ready)
 *			status_poll_answer(&a, &status);
 *	}
 */
#pragma once

#include "channels/client/control_call.h"
#include "launch/view/observe.h"

struct status_poll {
	bool away;   /* achstart does not answer: the status is from the channels */
	bool asking; /* a question is under way */
	char why[ERROR_LINE_MAX];
	int64_t asked_ns;

	/* private */
	struct control_call ask;
	char robot[STATUS_NAME_MAX];
};

/* Asks, unless a question is under way or the last one was less than every_ns ago. */
void status_poll_begin(struct status_poll *a, int64_t every_ns, int64_t now_ns);
struct clock_fd status_poll_fd(const struct status_poll *a);	       /* whenever it is ready: */
bool status_poll_answer(struct status_poll *a, struct status *status); /* true: achstart has answered */
/* While achstart is away: the status from the channels. */
void status_poll_channels(const struct status_poll *a, struct status *status, const struct robot_channels *channels);
void status_poll_end(struct status_poll *a);
