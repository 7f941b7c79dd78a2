/* request.h: one request to a driver and its reply, by the driver's channels; nothing waits.
 *
 *	if (request_open(&r, "waist", MSG_VERB_HOME, "", "", &errors))
 *		...
 *	while (!request_step(&r, now_ns, &reply))
 *		...
 *	request_close(&r);
 *
 * NAME-req gets {id, pid, verb, key, value}, NAME-rep the one reply of that id.  A reply that was overwritten before it
 * was read is asked for again with the same id, which is answered again and not done again.
 */
#ifndef LAUNCH_COMMON_REQUEST_H
#define LAUNCH_COMMON_REQUEST_H

#include "daemons/drv/port.h"

struct request {
	struct port req, rep;
	struct msg_request msg;
	bool put; /* and no reply that may have been this one was missed since */
};

/* Is there a channel NAME-req, which the driver has made? */
bool request_is_possible(const char *name);
/* The channels are made if need be: ask only a driver that is known to run.  0, or -errno with a line. */
int request_open(struct request *r, const char *name, enum msg_verb verb, const char *key, const char *value,
		 struct error_sink *errors);
void request_close(struct request *r);

/* Puts the request if that is due, and looks for the reply.  true: it is in *reply, its texts ended by a zero. */
bool request_step(struct request *r, int64_t now_ns, struct msg_reply *reply);
int request_fd(struct request *r); /* readable after a reply; may change with each step; -1: none */

extern const char *const request_verbs[]; /* by enum msg_verb; ends with NULL */
bool request_verb(const char *word, enum msg_verb *verb);
bool request_moves(enum msg_verb verb);

#endif
