/* arming.h: one arm request at a time, from the request until every driver has taken it.  Nothing here waits.
 *
 *	QUIET	nothing was written to the e-stop channels since the operator read them, and drivers have had the time
 *		to copy what they had read
 *	PUT	the lowering is written, and drivers take it until taken_until_ns
 *	DONE	every driver's state names it; REFUSED: why
 *
 * A lowering that was not taken by every driver is followed by a raise before the request is refused: a refused request
 * never has an effect.
 */
#ifndef LAUNCH_ACHSTART_ARMING_H
#define LAUNCH_ACHSTART_ARMING_H

#include "daemons/estop/estop.h"
#include "launch/common/lines.h"

struct supervisor;

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
	size_t taken;	/* by so many drivers */
	bool by_itself; /* arm: auto */
	struct lines why;
};

/* May the robot be armed?  Every actuated driver is ready, publishes, and is disarmed or holding; on a real bus it also
 * has a real-time priority, its memory locked and a working link, and the operator is named.  0, or -EPERM with a line
 * for each obstacle. */
int arming_check(struct supervisor *s, const char *who, int64_t now_ns, struct error_sink *errors);
/* Takes over who, claimed, uid, seen, until_ns, lower_ns and by_itself of the request.  The state is QUIET or
 * REFUSED afterwards. */
void arming_begin(struct supervisor *s, const struct arming *request, int64_t now_ns);
bool arming_is_under_way(const struct arming *a);
/* In each update, after states and e-stop were read. */
void arming_update(struct supervisor *s, int64_t now_ns);
/* The operator does not wait any more. */
void arming_cancel(struct supervisor *s, const char *why, int64_t now_ns);

#endif
