/* level.h: the level of the e-stop, as achstart maintains it.
 *
 * Fifty times a second it reads and evaluates the channels (channels/estop/estop.h), copies an operator's raise to the
 * channel that operators cannot write, and creates a missing or unusable channel again: every driver is at estop then.
 * It reports each of these once.
 */
#pragma once

#include "channels/estop/estop.h"
#include "channels/estop/estop_lower.h"
#include "config/base/base.h"

struct supervisor;

struct level {
	struct estop_seen seen;	     /* at the last look */
	int64_t quiet_since_ns;	     /* when both channels were last found changed */
	struct epoch epoch;	     /* as in $RUN/epoch */
	bool untouched;		     /* this achstart created both channels, and neither has been written since */
	int64_t created_ns;	     /* when a channel was last created again; 0: never */
	bool reported_closed;	     /* that a channel cannot be created */
	uint64_t reported_invalid;   /* messages */
	int64_t reported_invalid_ns; /* 0: never */
};

/* After the daemons' channels are open.  0, or -errno with lines: a channel of the e-stop cannot be used. */
int level_open(struct supervisor *s, int64_t now_ns, struct error_sink *errors);
/* Before the first daemon is started: if none was adopted, no driver goes on where its predecessor was killed. */
void level_begin(struct supervisor *s, bool adopted, int64_t now_ns);
/* stopped: every daemon was. */
void level_close(struct supervisor *s, bool stopped);
void level_update(struct supervisor *s, int64_t now_ns);

/* achstart itself raises, if the level is lower; then say so, which others may read, once what is done is kept. */
bool level_raise(struct supervisor *s, enum msg_level level, const char *source, const char *why, int64_t now_ns);
void level_say_raised(struct supervisor *s, enum msg_level level, const char *source, const char *why, int64_t now_ns);
/* A user does, through the control socket.  0, or -errno with lines. */
int level_raise_for(struct supervisor *s, enum msg_level level, const char *who, uid_t uid, const char *why,
		    int64_t now_ns, struct error_sink *errors);

/* ---- one arm request at a time, from the request until every driver has taken it.  Nothing here waits.
 *
 *	QUIET	nothing was written to the e-stop channels since the operator read them, and drivers have had the time
 *		to copy what they had read
 *	PUT	the lowering is written, and drivers take it until taken_until_ns
 *	DONE	every driver's state names it; REFUSED: why
 *
 * A lowering that was not taken by every driver is followed by a raise before the request is refused: a refused request
 * never has an effect.
 */

enum arming_state { ARMING_NONE, ARMING_QUIET, ARMING_PUT, ARMING_DONE, ARMING_REFUSED };

struct arming {
	enum arming_state state;
	char who[MSG_NAME_SIZE];     /* as the kernel says */
	char claimed[MSG_NAME_SIZE]; /* by the operator */
	uid_t uid;
	struct estop_seen seen; /* by the operator */
	int64_t until_ns;	/* the operator waits */
	int64_t lower_ns;	/* how long the lowering may be taken */
	int64_t taken_until_ns;
	uint64_t base, epoch;
	size_t taken;	/* by how many drivers */
	bool by_itself; /* arm: auto */
	struct lines why;
};

/* May the robot be armed?  Every critical daemon and every actuated driver is ready and not in fault; a driver also
 * publishes and is disarmed or holding, and on a real bus has a real-time priority, its memory locked and a working
 * link, and the operator is named.  0, or -EPERM with a line for each obstacle. */
int arming_check(struct supervisor *s, const char *who, int64_t now_ns, struct error_sink *errors);
/* Takes over who, claimed, uid, seen, until_ns, lower_ns and by_itself of the request.  The state is QUIET or
 * REFUSED afterwards. */
void arming_begin(struct supervisor *s, const struct arming *request, int64_t now_ns);
bool arming_is_under_way(const struct arming *a);
/* In each update, after states and e-stop were read. */
void arming_update(struct supervisor *s, int64_t now_ns);
/* The operator does not wait any more. */
void arming_cancel(struct supervisor *s, const char *why, int64_t now_ns);
