/* listen.h: the sockets that achweb listens on: its own, or those of the process that started it, which keeps them
 * while achweb is restarted (LISTEN_FDS, as sd_listen_fds(3) has it).  No other process can have the port then, and a
 * request that comes meanwhile waits.
 */
#pragma once

#include "channels/port/notify.h"
#include "config/settings/settings.h"
#include "launch/achweb/server.h"
#include "launch/view/listener.h"

#define LISTEN_PORT 8765

bool listen_is_valid(const char *address); /* numeric, or unix:/PATH */
int listen_given(void);			   /* how many sockets LISTEN_FDS gives to this process */

/* Listens on the sockets that were given; else on these addresses, by default both of the loopback, with that port; -1:
 * 8765, or any other, with a warning, if that is held by this user.  The port, 0 if there are local sockets alone; or
 * -errno with a line. */
int listen_begin(struct server *server, const struct settings_strings *addresses, int port, struct error_sink *errors);
void listen_end(struct server *server);

/* Where a browser on this machine reaches these sockets. */
struct listen_held {
	char address[LISTENER_TEXT_MAX]; /* "127.0.0.1:8765", or another that is held; "": local sockets alone */
	bool both;			 /* no other user can listen at any address that "localhost" may be */
};
void listen_held(struct listen_held *held, const struct server *server, int port);

/* With each beat: gives the sockets that came from achstart to the present one, which may be another (FDSTORE=1). */
void listen_store(const struct server *server, struct notify *notify);
