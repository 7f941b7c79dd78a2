/* request.h: one request to a driver and its reply, by the driver's channels; nothing waits.
 *
 *	if (request_open(&r, "waist", MSG_VERB_HOME, "", "", &errors))
 *		...
 *	while (!request_step(&r, now_ns, &reply))
 *		...
 *	request_close(&r);
 *
 * NAME-req gets {id, pid, verb, key, value}, NAME-rep the one reply of that id.  msg.header.valid_until_ns, set before
 * the first step, is the deadline.  If the reply was overwritten before it was read, the request is sent again with the
 * same id: the driver repeats the reply, not the action.
 */
#pragma once

#include "channels/port/port.h"

struct request {
	struct port req, rep;
	struct msg_request msg;
	bool put; /* sent, and no reply was missed since */
};

/* Has the driver created its channel NAME-req? */
bool request_is_possible(const char *name);
/* Creates missing channels: call it only for a driver that runs.  0, or -errno with a line. */
int request_open(struct request *r, const char *name, enum msg_verb verb, const char *key, const char *value,
		 struct error_sink *errors);
void request_close(struct request *r);

/* Sends the request if it has not been sent, and reads the reply.  true: it is in *reply, its texts end with a zero. */
bool request_step(struct request *r, int64_t now_ns, struct msg_reply *reply);
int request_fd(struct request *r); /* readable after a reply; may change with each step; or -1 */

/* Asks the driver to end it: the reply is ECANCELED, unless the driver is done or cannot end it. */
void request_cancel(struct request *r);

/* All of it, through achstart or, where none runs, by the channels. */
struct request_ask {
	const char *device;
	enum msg_verb verb;
	const char *key, *value;
	int64_t within_ns; /* how long to wait for the reply */
	bool deadline;	   /* the driver ends it when that time is over, and replies ETIMEDOUT */
	int cancel_fd;	   /* cancels it when it is readable; -1: none */
};
/* 0 and the driver's reply, or -errno with a line in errors: -EPERM if achstart refuses it, -ETIMEDOUT, -ENOENT if
 * there is no such driver, or why achstart cannot be asked. */
int request_ask(const struct request_ask *ask, struct msg_reply *reply, struct error_sink *errors);

extern const char *const request_verbs[]; /* by enum msg_verb; ends with NULL */
bool request_verb(const char *word, enum msg_verb *verb);
bool request_moves(enum msg_verb verb);
