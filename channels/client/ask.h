/* ask.h: asks achstart, through $RUN/control: a line of words, answered with a line of JSON (control.h).
 *
 *	struct ask ask;
 *
 *	if (ask_for(&ask, (const char *[]){ "restart", name, NULL }, deadline_ns, &errors))
 *		return CTL_WORLD;
 *	if (!ask.ok)
 *		...ask.error...
 *	...yaml_find(yaml_root(ask.doc), "epoch")...
 *	ask_end(&ask);
 *
 * or, beside other descriptors, ask_begin, and ask_step whenever ask_fd is ready.
 *
 * A command carries the time after which achstart ignores it, a little before the deadline: when achstart does not
 * answer, the command is not done later.
 */
#ifndef CHANNELS_CLIENT_ASK_H
#define CHANNELS_CLIENT_ASK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "channels/clock/clock.h"
#include "channels/estop/estop.h"
#include "channels/msg/msg.h"
#include "config/settings/yaml.h"

#define ASK_WITHIN_NS 3000000000 /* for an answer that achstart gives at once, on a machine that is busy */
#define ASK_GRACE_NS 200000000	 /* at most: for the answer to what was done just in time */

struct ask {
	pid_t pid;	   /* of achstart */
	char *text;	   /* the answer as it came, without its newline */
	struct yaml *doc;  /* the same, read */
	bool ok;	   /* what it says */
	const char *error; /* if not: why; never NULL */

	int fd; /* private */
};

/* Connects and sends, status or a command that counts until then.  0, or with a line in errors: -ENOENT (no achstart
 * runs), -EACCES, -EAGAIN (too many ask at once) ...  Nothing to end then. */
int ask_begin(struct ask *ask, const char *const *words, int64_t until_ns, struct error_sink *errors);
struct clock_fd ask_fd(const struct ask *ask);
/* 1: the answer is there; 0: more is to come; -errno with a line in errors. */
int ask_step(struct ask *ask, struct error_sink *errors);
void ask_cancel(struct ask *ask); /* a request to a driver; it is answered all the same */
void ask_end(struct ask *ask);
/* The driver's reply in the answer to a request. */
void ask_reply(const struct ask *ask, struct msg_reply *reply);

/* The words of a command to arm: by whom, and what that person has seen of the e-stop. */
struct ask_arm {
	char seen[4][24];
	const char *words[7];
};
const char *const *ask_arm(struct ask_arm *arm, const char *who, const struct estop_seen *seen);

/* After ask_begin or ask_for: achstart has not got the question, so it does not act on it. */
bool ask_did_not_arrive(int status);

/* All of it, until the deadline.  0, or -errno with a line; -ETIMEDOUT: it does not answer. */
int ask_for(struct ask *ask, const char *const *words, int64_t deadline_ns, struct error_sink *errors);

#endif
