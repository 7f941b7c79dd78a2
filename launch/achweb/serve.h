/* serve.h: requests of a connection, and messages of a WebSocket. */
#ifndef LAUNCH_ACHWEB_SERVE_H
#define LAUNCH_ACHWEB_SERVE_H

#include "launch/achweb/server.h"

/* The requests that have come whole, one after another: each is answered before the next one is read. */
void serve_requests(struct server *server, struct client *client, int64_t now_ns);
/* The message in client->ws. */
void serve_message(struct server *server, struct client *client, bool binary, int64_t now_ns);
/* The answer to a POST, whose result is known now. */
void serve_result(struct client *client, bool ok, const char *text);

#endif
