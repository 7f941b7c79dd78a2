/* rpc_serve.c: answers questions that come through a local socket. */
#include <sys/socket.h>
#include <unistd.h>

#include "channels/port/rpc.h"

#define ANSWER_ROOM 131072 /* twice the longest answer, whatever the machine is set to */

void rpc_server_init(struct rpc_server *s)
{
	for (size_t i = 0; i < RPC_CLIENTS_MAX; i++)
		s->clients[i] = (struct rpc_client){ .fd = -1 };
}

void rpc_drop(struct rpc_client *c)
{
	if (c->fd >= 0) {
		clock_touch(0); /* the client sees the end of the connection */
		close(c->fd);
	}
	*c = (struct rpc_client){ .fd = -1 };
}

void rpc_server_close(struct rpc_server *s)
{
	for (size_t i = 0; i < s->clients_max; i++)
		rpc_drop(&s->clients[i]);
}

/* The queue of a client is empty when it is answered: if there is no room for the answer, there never is. */
void rpc_answer(struct rpc_client *c, const char *answer)
{
	clock_touch(0);
	send(c->fd, answer, strlen(answer), MSG_NOSIGNAL | MSG_DONTWAIT);
	rpc_drop(c);
}

enum rpc_next rpc_next(const struct rpc_client *c)
{
	char byte;
	const ssize_t n = recv(c->fd, &byte, 1, MSG_DONTWAIT);

	if (n > 0)
		return RPC_MORE;
	return n && errno == EAGAIN ? RPC_NOTHING : RPC_HUNG_UP;
}

static void read_question(struct rpc_server *s, struct rpc_client *c, int64_t now_ns)
{
	char question[RPC_QUESTION_MAX];
	const ssize_t n = recv(c->fd, question, sizeof(question) - 1, MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0 || (size_t)n >= sizeof(question)) {
		rpc_drop(c);
		return;
	}
	question[n] = 0;
	question[strcspn(question, "\n")] = 0;
	c->asked = true;
	s->question(s->context, c, question, now_ns);
}

/* An unused place, or else that of the client that has been silent for longest; NULL: none, or the user has enough. */
static struct rpc_client *find_place(struct rpc_server *s, uid_t uid)
{
	const bool limited = uid && uid != geteuid();
	struct rpc_client *place = NULL;
	unsigned int same = 0;

	for (size_t i = 0; i < s->clients_max; i++) {
		struct rpc_client *c = &s->clients[i];

		same += c->fd >= 0 && c->uid == uid;
		if (c->fd >= 0 && c->asked)
			continue;
		if (!place || (place->fd >= 0 && (c->fd < 0 || c->since_ns < place->since_ns)))
			place = c;
	}
	return limited && same >= RPC_PER_USER ? NULL : place;
}

static void accept_one(struct rpc_server *s, int64_t now_ns)
{
	const int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(peer);
	struct rpc_client *place;

	if (fd < 0)
		return;
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){ ANSWER_ROOM }, sizeof(int));
	place = find_place(s, peer.uid);
	if (!place) {
		close(fd);
		return;
	}
	rpc_drop(place);
	*place = (struct rpc_client){ .fd = fd, .uid = peer.uid, .since_ns = now_ns };
	read_question(s, place, now_ns);
}

/* A client that has asked is not waited for: its end would be ready in every round. */
size_t rpc_fds(const struct rpc_server *s, struct clock_fd *fds)
{
	fds[0] = (struct clock_fd){ .fd = s->listener, .events = POLLIN };
	for (size_t i = 0; i < s->clients_max; i++)
		fds[1 + i] = (struct clock_fd){ .fd = s->clients[i].asked ? -1 : s->clients[i].fd, .events = POLLIN };
	return s->clients_max + 1;
}

void rpc_serve(struct rpc_server *s, const struct clock_fd *fds, int64_t now_ns)
{
	for (size_t i = 0; i < s->clients_max; i++) {
		struct rpc_client *c = &s->clients[i];

		if (c->fd < 0 || c->asked)
			continue;
		if (fds[1 + i].ready)
			read_question(s, c, now_ns);
		else if (now_ns - c->since_ns > RPC_SILENT_NS)
			rpc_drop(c);
	}
	if (fds[0].ready)
		accept_one(s, now_ns);
}

void rpc_say(struct rpc_text *to, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(to->text + to->len, to->max - to->len, fmt, args);
	va_end(args);
	to->len += n < 0 ? 0 : (size_t)n;
	if (to->len >= to->max)
		to->len = to->max - 1;
}
