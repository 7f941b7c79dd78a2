/* kept_sockets.h: the listening sockets of a daemon with listen: in the launch file, on 127.0.0.1 and ::1.
 *
 * achstart opens them before the daemon is first started, and keeps them while it is restarted: no other user can have
 * the port in between, and connections wait.  The daemon has them, too, and sends them to an achstart that has adopted
 * it (FDSTORE=1), so that they outlive either process, but not both.
 */
#pragma once

#include "config/base/base.h"
#include "launch/view/listener.h"

/* All zeroes to begin with. */
struct kept_sockets {
	int fd[LISTENER_PAIR];
	size_t n;
};

/* Opens them if there are none yet; port 0: there are none to open.  A port that another process of this user has is a
 * line in warnings, and another port.  0, or -errno with a line. */
int kept_sockets_open(struct kept_sockets *sockets, int port, struct error_sink *errors, struct error_sink *warnings);
/* true: it is a socket of the pair, which was missing and is kept from now on. */
bool kept_sockets_take(struct kept_sockets *sockets, int port, int fd);
void kept_sockets_close(struct kept_sockets *sockets);
