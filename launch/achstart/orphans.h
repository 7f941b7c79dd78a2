/* orphans.h: processes that outlive the daemon which started them.
 *
 * A daemon is its process group: child.h signals all of it, and when the leader has ended the rest is killed.  A
 * process that has left the group (setsid, a double fork) is found by its environment, ENDPLATE_RUN and
 * ENDPLATE_DAEMON, which it has from the daemon; also by another achstart.  It is an orphan, and killed, if its daemon
 * has no process, or has one that began later.
 */
#ifndef LAUNCH_ACHSTART_ORPHANS_H
#define LAUNCH_ACHSTART_ORPHANS_H

#include "launch/achstart/supervise.h"

/* From now on orphans are our children. */
void orphans_open(void);
/* Kills orphans: those that are our children, or of all processes of the system.  How many there were. */
unsigned int orphans_look(struct supervisor *s, bool all, int64_t now_ns);
/* The robot is stopped: until there are none, for a second at most. */
void orphans_end(struct supervisor *s);
/* Takes the exit status of those that have ended. */
void orphans_reap(const struct supervisor *s);

#endif
