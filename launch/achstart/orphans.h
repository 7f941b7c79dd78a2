/* orphans.h: processes that outlive the daemon that started them.
 *
 * A daemon is its process group: child.h signals all of it, and when the leader has ended the rest is killed.  A
 * process that has left the group (setsid, a double fork) is found by its environment, ENDPLATE_RUN and
 * ENDPLATE_DAEMON, which it has from the daemon; also by another achstart.  It is an orphan, and killed, if its daemon
 * has no process, or has a younger one. */
#pragma once

#include "launch/achstart/supervise.h"

void orphans_adopt(void);		       /* from now on they are children of this process */
void orphans_reap(const struct supervisor *s); /* those that have ended */

/* Kill orphans among our children, or among all processes of the system; return how many. */
unsigned int orphans_kill_children(struct supervisor *s, int64_t now_ns);
unsigned int orphans_kill_all(struct supervisor *s, int64_t now_ns);

/* The robot is stopped: kills orphans until none is left, for a second at most. */
void orphans_kill_at_end(struct supervisor *s);
