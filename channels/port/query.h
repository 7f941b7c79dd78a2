/* query.h: a question and its answer through a local socket: one datagram of text each way, then the server closes the
 * connection.
 *
 * The server never blocks and keeps nothing to be sent: a peer that says nothing, does not read, or comes a thousand
 * times costs the others nothing but one of the connections, of which each user has a few.
 *
 *	static void answer(void *context, struct query_client *client, char *question, int64_t now_ns)
 *	{
 *		query_answer(client, "ok");
 *	}
 *
 *	struct query_server server = { .question = answer, .clients_max = 4, .listener = fd };
 *
 *	query_server_init(&server);
 *	for (;;) {
 *		n = query_fds(&server, fds);
 *		clock_wait(fds, n, ...);
 *		query_serve(&server, fds, clock_now_ns());
 *	}
 */
#ifndef CHANNELS_PORT_QUERY_H
#define CHANNELS_PORT_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "channels/clock/clock.h"
#include "config/base/error.h"

#define QUERY_QUESTION_MAX 512

/* ---- the server ---- */

#define QUERY_CLIENTS_MAX 16
#define QUERY_FDS_MAX (QUERY_CLIENTS_MAX + 1)
#define QUERY_PER_USER 6	   /* connections; root and the server's own user may have more */
#define QUERY_SILENT_NS 1000000000 /* a client that has asked nothing by then is dropped */

struct query_client {
	int fd; /* -1: unused */
	uid_t uid;
	int64_t since_ns;
	bool asked; /* its question has been read, and is not answered yet */
};

struct query_server {
	/* Answers now, by query_answer, or in one of the next rounds; meanwhile client->asked is true. */
	void (*question)(void *context, struct query_client *client, char *question, int64_t now_ns);
	void *context;
	size_t clients_max;
	int listener; /* the caller's; when it changes, clients that are connected stay so */

	/* private */
	struct query_client clients[QUERY_CLIENTS_MAX];
};

void query_server_init(struct query_server *server);
void query_server_close(struct query_server *server); /* the clients, not the listener */
/* The descriptors to wait for; clients_max + 1 of them. */
size_t query_fds(const struct query_server *server, struct clock_fd *fds);
void query_serve(struct query_server *server, const struct clock_fd *fds, int64_t now_ns);

/* Sends the answer and closes the connection. */
void query_answer(struct query_client *client, const char *answer);
/* What came from a client that has asked: nothing, another datagram (which is taken), or its end. */
enum query_next { QUERY_NOTHING, QUERY_MORE, QUERY_HUNG_UP };
enum query_next query_next(const struct query_client *client);
void query_drop(struct query_client *client);

/* An answer in the making; what does not fit is cut. */
struct query_text {
	char *text;
	size_t len, max;
};
void query_say(struct query_text *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- the client ---- */

/* A connection, not blocking, to the socket at that path: its folder is one of owned_open, and its process belongs to
 * the folder's owner or root.  A descriptor, or -ENOENT (no socket), -ECONNREFUSED (no process), -EACCES, -EAGAIN (many
 * others want one just now) ... */
int query_connect(const char *path, struct error_sink *errors);
/* The same, and waits for its turn until the deadline. */
int query_connect_by(const char *path, int64_t deadline_ns);
pid_t query_peer(int fd); /* the server's process; 0: unknown */
/* The datagram that has come, with a zero behind it, to be freed.  0, or -errno: -EAGAIN (not yet), -ECONNRESET. */
int query_receive(int fd, char **text);

/* All of it, for a server that answers "ok ANSWER" or "error WHY".  The answer, cut if need be, is without its ok.  0,
 * or -errno: -EINVAL with WHY in errors, -ETIMEDOUT, -EPROTO, or query_connect's. */
int query_ask(const char *path, const char *question, char *answer, size_t size, int64_t deadline_ns,
	      struct error_sink *errors);

#endif
