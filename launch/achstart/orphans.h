/* orphans.h: processes that outlive the daemon that started them.
 *
 * A daemon is its process group: child.h signals all of it, and when the leader has ended the rest is killed.  A
 * process that has left the group (setsid, a double fork) is found by its environment, ENDPLATE_RUN and
 * ENDPLATE_DAEMON, which it has from the daemon; also by another achstart.  It is an orphan, and killed, if its daemon
 * has no process, or has a younger one.
 */
#ifndef LAUNCH_ACHSTART_ORPHANS_H
#define LAUNCH_ACHSTART_ORPHANS_H

#include "launch/achstart/supervise.h"

/* From now on orphans are our children. */
void orphans_open(void);
/* Kills orphans among our children, or among all processes of the system.  Returns how many. */
unsigned int orphans_kill(struct supervisor *s, bool all, int64_t now_ns);
/* The robot is stopped: kills orphans until there are none left, for a second at most. */
void orphans_end(struct supervisor *s);
/* Reaps those that have ended. */
void orphans_reap(const struct supervisor *s);

#endif
