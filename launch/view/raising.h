/* raising.h: raises the level of one robot, by its channels and at the same time through achstart.
 *
 *	raising_begin(&r, MSG_LEVEL_ESTOP, who, why);
 *	while (!raising_step(&r, clock_now_ns()) && ...)
 *		...5 ms...
 *	raising_end(&r);
 *
 * $ENDPLATE_PREFIX and $ENDPLATE_RUN are those of the robot whenever one of these is called.  The level is raised
 * when the state of every driver shows it: a channel that is gone, condemned or corrupt has the same effect as a raise.
 * If no message could be put and achstart did not answer, a driver must have published since: the last states of
 * drivers that were killed prove nothing, and the next achstart would not know of the raise.
 */
#ifndef LAUNCH_VIEW_RAISING_H
#define LAUNCH_VIEW_RAISING_H

#include "channels/client/ask.h"
#include "config/base/lines.h"
#include "launch/view/robot_channels.h"

#define RAISING_EVERY_NS 5000000
#define RAISING_WITHIN_NS 2000000000

struct raising {
	enum msg_level level;
	const char *who, *why;
	struct estop estop;
	bool put;	    /* on a channel, or one is condemned */
	bool answered;	    /* achstart has raised */
	size_t drivers;	    /* that run */
	bool shown;	    /* a driver has published since the raise, so it runs */
	char behind[200];   /* names of the drivers that do not show it; "": all do */
	struct lines lines; /* errors of the channels */

	bool asking; /* achstart, which has not answered yet */

	/* private */
	int64_t begun_ns, put_ns;
	struct estop_seen seen; /* behind the raise */
	struct robot_channels channels;
	struct ask ask;
};

void raising_begin(struct raising *r, enum msg_level level, const char *who, const char *why);
/* true: it is raised. */
bool raising_step(struct raising *r, int64_t now_ns);
/* There are neither channels nor drivers nor achstart: trying again is useless. */
bool raising_is_hopeless(const struct raising *r);
bool raising_is_absent(const struct raising *r); /* and neither channel exists */
void raising_end(struct raising *r);

/* All of it.  true: raised; else the reason is in lines, or names are in behind. */
bool raising_all(struct raising *r, enum msg_level level, const char *who, const char *why);

#endif
