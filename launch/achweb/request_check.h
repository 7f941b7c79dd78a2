/* request_check.h: which requests are answered at all; pure, one table.
 *
 * Any web page in a browser on this machine can send requests to a loopback address, and any local user, too.  So
 *	Host	has to be a name of this server (against DNS rebinding)
 *	Origin	has to be this server for POST and WebSockets: browsers let any page open a WebSocket
 *	POST	carries JSON and the header X-Endplate, which no form can send
 *	rights	come from the proof in that header (proof.h), or of a studio from the key in its address; a WebSocket of
 *		the page is proven by its first message
 */
#pragma once

#include "launch/achweb/http.h"
#include "launch/achweb/token.h"

#define REQUEST_CHECK_NAMES_MAX 16

enum request_check_route {
	REQUEST_CHECK_NOTHING, /* no such path */
	REQUEST_CHECK_FILE,    /* a part of the page, which is public */
	REQUEST_CHECK_SOCKET,  /* GET /socket: the robot, as it is */
	REQUEST_CHECK_STUDIO,  /* GET /foxglove */
	REQUEST_CHECK_LOGIN,   /* POST /login */
	REQUEST_CHECK_STOP,    /* POST /stop */
	REQUEST_CHECK_ACT,     /* POST /act */
};

struct request_check {
	const char *hosts[REQUEST_CHECK_NAMES_MAX]; /* "127.0.0.1:8765" */
	size_t hosts_n;
	const struct token_store *links; /* that were given out, */
	const char *suffix; /* with names of their own and this behind them: ".localhost:8765"; NULL: not so */
	const char *origins[REQUEST_CHECK_NAMES_MAX]; /* of studios, "https://app.example": /foxglove alone */
	size_t origins_n;
};

enum request_check_route request_check_route(const struct http *request, bool is_file);

/* 0, or the status of the refusal with *why.  rights: that it has proven, 0 for none. */
int request_check_check(const struct request_check *guard, const struct http *request, enum request_check_route route,
			unsigned int rights, const char **why);
