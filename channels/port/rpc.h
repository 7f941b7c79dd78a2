/* rpc.h: a question and its answer through a local socket: one datagram of text each way, then the server closes the
 * connection.
 *
 * The server never blocks and keeps nothing to be sent: a peer that says nothing, does not read, or comes a thousand
 * times costs the others nothing but one of the connections, of which each user has a few.
 *
 *	static void answer(void *context, struct rpc_client *client, char *question, int64_t now_ns)
 *	{
 *		rpc_answer(client, "ok");
 *	}
 *
 *	struct rpc_server server = { .question = answer, .clients_max = 4, .listener = fd };
 *
 *	rpc_server_init(&server);
 *	for (;;) {
 *		n = rpc_fds(&server, fds);
 *		clock_wait(fds, n, ...);
 *		rpc_serve(&server, fds, clock_now_ns());
 *	}
 */
#pragma once

#include <sys/types.h>

#include "channels/clock/clock.h"
#include "config/base/base.h"

#define RPC_QUESTION_MAX 512

/* ---- the server ---- */

#define RPC_CLIENTS_MAX 16
#define RPC_FDS_MAX (RPC_CLIENTS_MAX + 1)
#define RPC_PER_USER 6		 /* connections; root and the server's own user may have more */
#define RPC_SILENT_NS 1000000000 /* a client that has asked nothing by then is dropped */

struct rpc_client {
	int fd; /* -1: unused */
	uid_t uid;
	int64_t since_ns;
	bool asked; /* its question has been read, and is not answered yet */
};

struct rpc_server {
	/* Answers now, by rpc_answer, or in one of the next rounds; meanwhile client->asked is true. */
	void (*question)(void *context, struct rpc_client *client, char *question, int64_t now_ns);
	void *context;
	size_t clients_max;
	int listener; /* the caller's; when it changes, clients that are connected stay so */

	/* private */
	struct rpc_client clients[RPC_CLIENTS_MAX];
};

void rpc_server_init(struct rpc_server *server);
void rpc_server_close(struct rpc_server *server); /* the clients, not the listener */
/* The descriptors to wait for; clients_max + 1 of them. */
size_t rpc_fds(const struct rpc_server *server, struct clock_fd *fds);
void rpc_serve(struct rpc_server *server, const struct clock_fd *fds, int64_t now_ns);

/* Sends the answer and closes the connection. */
void rpc_answer(struct rpc_client *client, const char *answer);
/* After its question a client may send nothing, another datagram (which is read and dropped), or hang up. */
enum rpc_next { RPC_NOTHING, RPC_MORE, RPC_HUNG_UP };
enum rpc_next rpc_next(const struct rpc_client *client);
void rpc_drop(struct rpc_client *client);

/* An answer in the making; what does not fit is cut. */
struct rpc_text {
	char *text;
	size_t len, max;
};
void rpc_say(struct rpc_text *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- the client ---- */

/* A connection, not blocking, to the socket at that path: its folder is one of safe_path_open, and its process belongs
 * to the folder's owner or root.  A descriptor, or -ENOENT (no socket), -ECONNREFUSED (no process), -EACCES, -EAGAIN
 * (many others want one just now) ... */
int rpc_connect(const char *path, struct error_sink *errors);
/* The same, and waits for its turn until the deadline. */
int rpc_connect_by(const char *path, int64_t deadline_ns);
pid_t rpc_peer(int fd); /* the server's process; 0: unknown */
/* The datagram that has come, with a zero behind it, to be freed.  0, or -errno: -EAGAIN (not yet), -ECONNRESET. */
int rpc_receive(int fd, char **text);

/* All of it, for a server that answers "ok ANSWER" or "error WHY".  The answer, cut if need be, is without its ok.  0,
 * or -errno: -EINVAL with WHY in errors, -ETIMEDOUT, -EPROTO, or rpc_connect's. */
int rpc_call(const char *path, const char *question, char *answer, size_t size, int64_t deadline_ns,
	     struct error_sink *errors);
