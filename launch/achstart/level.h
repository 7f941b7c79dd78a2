/* level.h: the level of the e-stop, as achstart maintains it.
 *
 * Fifty times a second it reads and evaluates the channels (daemons/estop/estop.h), copies an operator's raise to the
 * channel that operators cannot write, and creates a missing or unusable channel again: every driver is at estop then.
 * It reports each of these once.
 */
#ifndef LAUNCH_ACHSTART_LEVEL_H
#define LAUNCH_ACHSTART_LEVEL_H

#include "daemons/estop/estop.h"
#include "launch/common/lowering.h"

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

/* achstart itself raises, if the level is lower. */
void level_raise(struct supervisor *s, enum msg_level level, const char *source, const char *why, int64_t now_ns);
/* A user does, through the control socket.  0, or -errno with lines. */
int level_raise_for(struct supervisor *s, enum msg_level level, const char *who, uid_t uid, const char *why,
		    int64_t now_ns, struct error_sink *errors);

#endif
