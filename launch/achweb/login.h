/* login.h: the socket RUN/web, through which achctl web gets a link: the kernel says who asks.
 *
 *	token look|act	a link of one use; the page that is opened first has the session
 *	key look|act	a session, for a studio that has to connect again with the same address
 *
 * Everyone who may connect may look; act takes the right to arm, of the process that asks and of its user by the user
 * database: a process keeps the groups that its user has lost.
 */
#pragma once

#include "channels/port/rpc.h"
#include "launch/achweb/token.h"

#define LOGIN_SOCKET "web"
#define LOGIN_CLIENTS 4

struct login {
	struct rpc_server server;
	struct token_store *tokens;
	gid_t arming;	     /* (gid_t)-1: no group */
	const char *holders; /* for refusals: who may act */
	char address[128];   /* "127.0.0.1:8765" */
	const char *suffix;  /* ".localhost:8765": each link has a host name of its own; NULL: not so */

	/* private */
	int folder;
	uint64_t kept;	 /* sessions begun when they were written last */
	int64_t kept_ns; /* and when that was */
};

/* In that folder; NULL: RUN.  Sessions of a process before this one go on.  0, or -errno with a line. */
int login_open(struct login *login, const char *folder, struct error_sink *errors);
/* Writes the sessions to their file, if there is a new one, and from time to time. */
void login_keep(struct login *login, int64_t now_ns);
void login_close(struct login *login);
