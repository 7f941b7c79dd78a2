/* patrol.h: removes the broken channels of the robot, and all of its channels at the end.
 *
 * At each call it opens one channel as its driver would.  It removes a channel that was overwritten and reports that;
 * the processes that use it recreate it.  Only achstart removes channels.  estop and estop-b are level.h's.
 */
#ifndef LAUNCH_ACHSTART_PATROL_H
#define LAUNCH_ACHSTART_PATROL_H

#include <stdbool.h>
#include <stddef.h>

#include "channels/port/port.h"
#include "launch/file/launch_file.h"

struct patrol {
	struct patrol_channel {
		char name[PORT_NAME_MAX]; /* with prefix */
		const char *of;		  /* the daemon that opens it; NULL: several do */
		mode_t mode;		  /* at most */
		bool moves;		  /* references that the group moving may write */
		bool keep;		  /* state and events that outlive the robot */
	} * channels;
	size_t n, at;
	gid_t moving;
};

int patrol_open(struct patrol *patrol, const struct launch *launch); /* 0 or -ENOMEM */
void patrol_close(struct patrol *patrol);

/* Before any daemon is started.  A channel that another user created first, or whose mode grants more than
 * endplate(7), is removed, and replaced says so.  The references of actuated devices are made for the group
 * moving, if one is named: a driver cannot.  0, or -EACCES with a line for each that cannot be removed: without
 * root's rights another user's can not. */
int patrol_begin(struct patrol *patrol, void (*replaced)(void *to, const char *why), void *to,
		 struct error_sink *errors);

/* Before a daemon is started: it would exit and stay down if one of its channels is broken.  mended says which
 * were, and have been removed.  all: those that several daemons open, too, which takes longer. */
void patrol_before(const struct patrol *patrol, const char *daemon, bool all,
		   void (*mended)(void *to, const char *name), void *to);

/* Looks at the next one.  Its name if it was broken, or another user's, and has been removed; else NULL. */
const char *patrol_check(struct patrol *patrol);
/* Is this one broken, or another user's?  Then it is removed, if that can be. */
bool patrol_mend(const char *name);

/* Removes all of them, estop and estop-b too, except those to be kept; on a virtual clock those, too: the next run
 * has another. */
void patrol_sweep(struct patrol *patrol);

#endif
