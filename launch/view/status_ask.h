/* status_ask.h: the status of the robot, again and again: from achstart, which is never waited for, and from the
 * channels while it does not answer.
 *
 *	struct status_ask a = { .away = true };
 *
 *	for (;;) {
 *		status_ask_begin(&a, every_ns, now_ns);
 *		status_ask_channels(&a, &status, &channels);
 *		fds[0] = status_ask_fd(&a);
 *		clock_wait(fds, ...);
 *		if (fds[0].ready)
 *			status_ask_answer(&a, &status);
 *	}
 */
#ifndef LAUNCH_VIEW_STATUS_ASK_H
#define LAUNCH_VIEW_STATUS_ASK_H

#include "channels/client/ask.h"
#include "launch/view/observe.h"

struct status_ask {
	bool away;   /* achstart does not answer: the status is from the channels */
	bool asking; /* a question is under way */
	char why[ERROR_LINE_MAX];
	int64_t asked_ns;

	/* private */
	struct ask ask;
	char robot[STATUS_NAME_MAX];
};

/* Asks, unless a question is under way or the last one was less than every_ns ago. */
void status_ask_begin(struct status_ask *a, int64_t every_ns, int64_t now_ns);
struct clock_fd status_ask_fd(const struct status_ask *a);	     /* whenever it is ready: */
bool status_ask_answer(struct status_ask *a, struct status *status); /* true: achstart has answered */
/* While achstart is away: the status from the channels. */
void status_ask_channels(const struct status_ask *a, struct status *status, const struct robot_channels *channels);
void status_ask_end(struct status_ask *a);

#endif
