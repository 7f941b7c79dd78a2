/* estop_raise.h: raises the level of one robot, by its channels and at the same time through achstart.
 *
 *	estop_raise_begin(&r, MSG_LEVEL_ESTOP, who, why);
 *	while (!estop_raise_step(&r, clock_now_ns()) && ...)
 *		...5 ms...
 *	estop_raise_end(&r);
 *
 * $ENDPLATE_PREFIX and $ENDPLATE_RUN are those of the robot whenever one of these is called.  The level is raised
 * when the state of every driver shows it: a channel that is gone, condemned or corrupt has the same effect as a raise.
 * If no message could be put and achstart did not answer, a driver must have published since: the last states of
 * drivers that were killed prove nothing, and the next achstart would not know of the raise.
 */
#pragma once

#include "channels/client/control_call.h"
#include "launch/view/robot_channels.h"

#define ESTOP_RAISE_EVERY_NS 5000000
#define ESTOP_RAISE_WITHIN_NS 2000000000

struct estop_raise {
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
	struct control_call ask;
};

void estop_raise_begin(struct estop_raise *r, enum msg_level level, const char *who, const char *why);
/* true: it is raised. */
bool estop_raise_step(struct estop_raise *r, int64_t now_ns);
/* There are neither channels nor drivers nor achstart: trying again is useless. */
bool estop_raise_is_hopeless(const struct estop_raise *r);
bool estop_raise_is_absent(const struct estop_raise *r); /* and neither channel exists */
void estop_raise_end(struct estop_raise *r);

/* All of it.  true: raised; else the reason is in lines, or names are in behind. */
bool estop_raise_all(struct estop_raise *r, enum msg_level level, const char *who, const char *why);
