/* locked_socket.h: where a process is found by others: a lock and a listening socket of one name in a folder.
 *
 * Both are for their owner alone, and the folder is one of safe_path.h: another user can neither take the lock nor put
 * a socket in its place.  The lock, NAME.lock, says who is there: a socket's file stays behind a kill, a lock does not.
 * If they, or the folder, are removed, connections stay, but new clients would not find the process, so
 * locked_socket_take recreates what is missing.
 */
#pragma once

#include <stdbool.h>

#include "config/base/error.h"

struct locked_socket {
	const char *name;	/* of the socket; a SOCK_SEQPACKET, mode 0600 */
	const char *who, *busy; /* said if another process is there: "torso", "is served already" */
	int backlog;
	int lock, listener; /* -1: none */
};

/* Are lock and socket in that folder still ours? */
bool locked_socket_is_ours(const struct locked_socket *place, int folder);

/* Takes it, or recreates what was removed; the old descriptors are kept until the new ones are
 * there.  0; -EBUSY: another process is there; or -errno; with a line. */
int locked_socket_take(struct locked_socket *place, int folder, struct error_sink *errors);

/* Closes both, and removes the socket unless it is another's by now. */
void locked_socket_leave(struct locked_socket *place, int folder);
