/* guard.h: which requests are answered at all; pure, one table.
 *
 * Any web page in a browser on this machine can send requests to a loopback address, and any local user, too.  So
 *	Host	has to be a name of this server (against DNS rebinding)
 *	Origin	has to be this server for POST and WebSockets: browsers let any page open a WebSocket
 *	POST	carries JSON and the header X-Endplate, which no form can send
 *	rights	come from the proof in that header (proof.h), or of a studio from the key in its address; a WebSocket of
 *		the page is proven by its first message
 */
#ifndef LAUNCH_ACHWEB_GUARD_H
#define LAUNCH_ACHWEB_GUARD_H

#include "launch/achweb/http.h"
#include "launch/achweb/token.h"

#define GUARD_NAMES_MAX 16

enum guard_route {
	GUARD_NOTHING, /* no such path */
	GUARD_FILE,    /* a part of the page, which is public */
	GUARD_SOCKET,  /* GET /socket: the robot, as it is */
	GUARD_STUDIO,  /* GET /foxglove */
	GUARD_LOGIN,   /* POST /login */
	GUARD_STOP,    /* POST /stop */
	GUARD_ACT,     /* POST /act */
};

struct guard {
	const char *hosts[GUARD_NAMES_MAX]; /* "127.0.0.1:8765" */
	size_t hosts_n;
	const struct token_store *links; /* that were given out, */
	const char *suffix; /* with names of their own and this behind them: ".localhost:8765"; NULL: not so */
	const char *origins[GUARD_NAMES_MAX]; /* of studios, "https://app.example": /foxglove alone */
	size_t origins_n;
};

enum guard_route guard_route(const struct http *request, bool is_file);

/* 0, or the status of the refusal with *why.  rights: that it has proven, 0 for none. */
int guard_check(const struct guard *guard, const struct http *request, enum guard_route route, unsigned int rights,
		const char **why);

#endif
