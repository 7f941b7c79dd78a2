/* control_call.h: asks achstart, through $RUN/control: a line of words, answered with a line of JSON (control.h).
 *
 *	struct control_call ask;
 *
 *	if (control_call_for(&ask, (const char *[]){ "restart", name, NULL }, deadline_ns, &errors))
 *		return EXIT_RETRY;
 *	if (!ask.ok)
 *		...ask.error...
 *	...yaml_find(yaml_root(ask.doc), "epoch")...
 *	control_call_end(&ask);
 *
 * or, beside other descriptors, control_call_begin, and control_call_step whenever control_call_fd is ready.
 *
 * A command carries the time after which achstart ignores it, a little before the deadline: when achstart does not
 * answer, the command is not done later.
 */
#pragma once

#include <sys/types.h>

#include "channels/clock/clock.h"
#include "channels/estop/estop.h"
#include "channels/msg/msg.h"
#include "config/base/base.h"
#include "config/settings/yaml.h"

#define CONTROL_CALL_WITHIN_NS 3000000000 /* for an answer that achstart gives at once, on a machine that is busy */
#define CONTROL_CALL_GRACE_NS 200000000	  /* at most: for the answer to what was done just in time */

struct control_call {
	pid_t pid;	   /* of achstart */
	char *text;	   /* the answer as it came, without its newline */
	struct yaml *doc;  /* the same, read */
	bool ok;	   /* what it says */
	const char *error; /* if not: why; never NULL */

	int fd; /* private */
};

/* Connects and sends, status or a command that counts until then.  0, or with a line in errors: -ENOENT (no achstart
 * runs), -EACCES, -EAGAIN (too many ask at once) ...  Nothing to end then. */
int control_call_begin(struct control_call *ask, const char *const *words, int64_t until_ns, struct error_sink *errors);
struct clock_fd control_call_fd(const struct control_call *ask);
/* 1: the answer is there; 0: more is to come; -errno with a line in errors. */
int control_call_step(struct control_call *ask, struct error_sink *errors);
void control_call_cancel(struct control_call *ask); /* a request to a driver; it is answered all the same */
void control_call_end(struct control_call *ask);
/* The driver's reply in the answer to a request. */
void control_call_reply(const struct control_call *ask, struct msg_reply *reply);

/* The words of a command to arm: by whom, and what that person has seen of the e-stop. */
struct control_call_arm {
	char seen[4][24];
	const char *words[7];
};
const char *const *control_call_arm(struct control_call_arm *arm, const char *who, const struct estop_seen *seen);

/* After control_call_begin or control_call_for: achstart has not got the question, so it does not act on it. */
bool control_call_did_not_arrive(int status);

/* All of it, until the deadline.  0, or -errno with a line; -ETIMEDOUT: it does not answer. */
int control_call_for(struct control_call *ask, const char *const *words, int64_t deadline_ns,
		     struct error_sink *errors);
