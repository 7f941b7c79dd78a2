/* place.h: where a process is found by others: a lock and a listening socket of one name in a folder.
 *
 * Both are for their owner alone, and the folder is one of owned.h: another user can neither take the lock nor put a
 * socket in its place.  The lock, NAME.lock, says who is there: a socket's file stays behind a kill, a lock does not.
 * If they, or the folder, are removed, connections stay, but new clients would not find the process, so place_take
 * recreates what is missing.
 */
#ifndef CONFIG_BASE_PLACE_H
#define CONFIG_BASE_PLACE_H

#include <stdbool.h>

#include "config/base/error.h"

struct place {
	const char *name;	/* of the socket; a SOCK_SEQPACKET, mode 0600 */
	const char *who, *busy; /* said if another process is there: "torso", "is served already" */
	int backlog;
	int lock, listener; /* -1: none */
};

/* Are lock and socket in that folder still ours? */
bool place_is_ours(const struct place *place, int folder);

/* Takes it, or recreates what was removed; the old descriptors are kept until the new ones are
 * there.  0; -EBUSY: another process is there; or -errno; with a line. */
int place_take(struct place *place, int folder, struct error_sink *errors);

/* Closes both, and removes the socket unless it is another's by now. */
void place_leave(struct place *place, int folder);

#endif
