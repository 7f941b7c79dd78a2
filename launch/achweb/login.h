/* login.h: the socket RUN/web, through which achctl web gets a link: the kernel says who asks.
 *
 *	token look|act	a token of one use; whoever opens the link first has the session
 *	key look|act	a session, for a studio that has to connect again with the same address
 *
 * Everyone who may connect may look; act takes the right to arm.
 */
#ifndef LAUNCH_ACHWEB_LOGIN_H
#define LAUNCH_ACHWEB_LOGIN_H

#include "channels/query.h"
#include "launch/achweb/token.h"

#define LOGIN_SOCKET "web"
#define LOGIN_CLIENTS 4

struct login {
	struct query_server server;
	struct token_store *tokens;
	gid_t arming;	   /* (gid_t)-1: no group */
	char address[128]; /* "127.0.0.1:8765" */
};

/* In that folder; NULL: RUN.  0, or -errno with a line. */
int login_open(struct login *login, const char *folder, struct error_sink *errors);
void login_close(struct login *login);

#endif
