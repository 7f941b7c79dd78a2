/* channel_guard.h: removes the broken channels of the robot, and all of its channels at the end.
 *
 * At each call it opens one channel as its driver would.  It removes a channel that was overwritten and reports that;
 * the processes that use it recreate it.  Only achstart removes channels.  estop and estop-b are level.h's.
 */
#pragma once

#include "channels/port/port.h"
#include "config/base/base.h"
#include "launch/file/launch_file.h"

struct channel_guard {
	struct channel_guard_channel {
		char name[PORT_NAME_MAX]; /* with prefix */
		const char *of;		  /* the daemon that opens it; NULL: several do */
		mode_t mode;		  /* at most */
		bool moves;		  /* references that the group moving may write */
		bool keep;		  /* state and events that outlive the robot */
	} * channels;
	size_t n, at;
	gid_t moving;
};

int channel_guard_open(struct channel_guard *guard, const struct launch *launch); /* 0 or -ENOMEM */
void channel_guard_close(struct channel_guard *guard);

/* Before any daemon is started.  A channel that another user created first, or whose mode grants more than
 * endplate(7), is removed, and replaced says so.  The references of actuated devices are made for the group
 * moving, if one is named: a driver cannot.  0, or -EACCES with a line for each that cannot be removed: without
 * root's rights another user's can not. */
int channel_guard_begin(struct channel_guard *guard, void (*replaced)(void *to, const char *why), void *to,
			struct error_sink *errors);

/* Before a daemon is started: it would exit and stay down if one of its channels is broken.  mended says which
 * were, and have been removed.  all: those that several daemons open, too, which takes longer. */
void channel_guard_before(const struct channel_guard *guard, const char *daemon, bool all,
			  void (*mended)(void *to, const char *name), void *to);

/* Looks at the next one.  Its name if it was broken, or another user's, and has been removed; else NULL. */
const char *channel_guard_check(struct channel_guard *guard);
/* Is this one broken, or another user's?  Then it is removed, if that can be. */
bool channel_guard_mend(const char *name);

/* Removes all of them, estop and estop-b too, except those to be kept; on a virtual clock those, too: the next run
 * has another. */
void channel_guard_sweep(struct channel_guard *guard);
