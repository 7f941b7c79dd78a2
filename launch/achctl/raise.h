/* raise.h: raises the level of one robot, by its channels and at the same time through achstart.
 *
 *	raise_begin(&r, MSG_LEVEL_ESTOP, who, why);
 *	while (!raise_step(&r, clock_now_ns()) && ...)
 *		...5 ms...
 *	raise_end(&r);
 *
 * $ENDPLATE_PREFIX and $ENDPLATE_RUN are those of the robot whenever one of these is called.  Raised means that every
 * driver's state shows the level: a channel that is gone, condemned or garbage has the same effect as a raise.  If
 * nothing could be put and achstart did not answer, a driver must have published since: the last states of drivers that
 * were killed prove nothing, and the next achstart would not know of the raise.
 */
#ifndef LAUNCH_ACHCTL_RAISE_H
#define LAUNCH_ACHCTL_RAISE_H

#include "launch/common/ask.h"
#include "launch/achctl/ctl.h"
#include "launch/achctl/judged.h"

#define RAISE_EVERY_NS 5000000
#define RAISE_WITHIN_NS 2000000000

struct raise {
	enum msg_level level;
	const char *who, *why;
	struct estop estop;
	bool put;		/* on a channel, or one is condemned */
	bool answered;		/* achstart has raised */
	size_t drivers;		/* that are there */
	bool shown;		/* one of them has published since, so it is alive */
	char behind[200];	/* names of those that do not show it; "": all do */
	struct ctl_lines lines; /* what is wrong with the channels */

	/* private */
	int64_t begun_ns, put_ns;
	struct estop_seen seen; /* behind the raise */
	struct chans chans;
	struct ask ask;
	bool asking;
};

void raise_begin(struct raise *r, enum msg_level level, const char *who, const char *why);
/* true: it is raised. */
bool raise_step(struct raise *r, int64_t now_ns);
/* Neither channels nor drivers nor achstart: to try again is of no use. */
bool raise_is_hopeless(const struct raise *r);
bool raise_is_absent(const struct raise *r); /* of these: there is no channel, either */
void raise_end(struct raise *r);

/* All of it, for a robot whose estop is to be raised.  true: raised; else a reason in lines, or names in behind. */
bool raise_all(struct raise *r, enum msg_level level, const char *who, const char *why);

#endif
