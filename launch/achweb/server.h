/* server.h: connections, requests, and what each client gets. */
#pragma once

#include "launch/achweb/request_check.h"
#include "launch/achweb/studio.h"

#define SERVER_SOCKETS_MAX 256 /* pages and studios */
#define SERVER_HTTP_MAX 64     /* beside them, so that a stop always has room; the quietest makes room */
#define SERVER_VISITORS_MAX 64 /* WebSockets that have proven nothing yet; the same */
#define SERVER_CLIENTS_MAX (SERVER_SOCKETS_MAX + SERVER_HTTP_MAX + SERVER_VISITORS_MAX)
#define SERVER_LISTENERS_MAX 8
#define SERVER_LOOK_NS 100000000 /* between two snapshots */

/* Begins with zeroes. */
struct server {
	struct request_check guard;
	struct token_store tokens;
	struct robot_view view;
	struct web_actions acts;
	struct studio_topics topics;
	struct fresh fresh;
	int epoll;
	int listeners[SERVER_LISTENERS_MAX];
	size_t listeners_n;

	struct client *clients[SERVER_CLIENTS_MAX];
	size_t clients_n, pages_n, studios_n, http_n, visitors_n;
	uint64_t serial, refused,
		dropped; /* connections ever; refused since there was no room; dropped for not reading */
	struct rate logins;
	struct {
		struct blob *blob; /* the newest */
		uint64_t n;	   /* its number */
	} snapshots[CLIENT_SNAPSHOTS];
	char config[STATUS_PATH_MAX]; /* that facts are of */
	int64_t look_ns, studio_ns;   /* when to look next */
	int64_t sessions_ns;	      /* and at the sessions of pages and studios */
	bool pending;		      /* a client's message is under way */
};

int server_open(struct server *server); /* 0 or -errno */
void server_close(struct server *server);
int server_listen(struct server *server, int fd); /* takes the descriptor over; 0 or -errno */
void server_unlisten(struct server *server);

/* Whatever is ready, and due.  When to call it again. */
int64_t server_turn(struct server *server, int64_t now_ns);

/* ---- serve.c: requests of a connection, and messages of a WebSocket ---- */

/* The requests that have come whole, one after another: each is answered before the next one is read. */
void serve_requests(struct server *server, struct client *client, int64_t now_ns);
/* The message in client->ws. */
void serve_message(struct server *server, struct client *client, bool binary, int64_t now_ns);
/* Answers a POST request once its result is known. */
void serve_result(struct client *client, bool ok, const char *text);
