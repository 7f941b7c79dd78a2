/* server.c: connections, and what each client gets. */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "launch/achweb/page_json.h"
#include "launch/achweb/server.h"

#define EVENTS_AT_ONCE 64
#define RETRY_NS 20000000     /* between two attempts to send to a socket that was full */
#define SILENT_NS 10000000000 /* a connection without a request, or a request that does not become whole */
#define STUCK_NS 10000000000  /* a client that does not read */
#define SEND_BYTES (32 << 10) /* that the kernel keeps for one client */
#define LISTENER ((uint64_t)1 << 32)
#define SESSIONS_NS 1000000000
#define MESSAGE_NS 50000000 /* between two messages of a client, on average */

/* ---- connections ---- */

static void count(struct server *s, const struct client *c, int n)
{
	size_t *const counts[] = {
		[CLIENT_HTTP] = &s->http_n,
		[CLIENT_VISITOR] = &s->visitors_n,
		[CLIENT_PAGE] = &s->pages_n,
		[CLIENT_STUDIO] = &s->studios_n,
	};

	*counts[c->kind] += (size_t)n;
}

static void drop(struct server *s, size_t slot)
{
	struct client *c = s->clients[slot];

	count(s, c, -1);
	s->clients_n--;
	s->clients[slot] = NULL;
	client_close(c);
}

/* The connection of that kind that has been quiet for longest makes room. */
static void make_room(struct server *s, enum client_kind kind)
{
	size_t quiet = SERVER_CLIENTS_MAX;

	for (size_t i = 0; i < SERVER_CLIENTS_MAX; i++) {
		const struct client *c = s->clients[i];

		if (c && c->kind == kind && !c->waiting &&
		    (quiet == SERVER_CLIENTS_MAX || c->heard_ns < s->clients[quiet]->heard_ns))
			quiet = i;
	}
	if (quiet < SERVER_CLIENTS_MAX)
		drop(s, quiet);
}

static size_t free_slot(struct server *s)
{
	size_t slot = 0;

	if (s->http_n >= SERVER_HTTP_MAX)
		make_room(s, CLIENT_HTTP);
	if (s->visitors_n > SERVER_VISITORS_MAX)
		make_room(s, CLIENT_VISITOR);
	if (s->http_n >= SERVER_HTTP_MAX)
		return SERVER_CLIENTS_MAX;
	while (slot < SERVER_CLIENTS_MAX && s->clients[slot])
		slot++;
	return slot;
}

/* ---- reading ---- */

static void read_messages(struct server *s, struct client *c, int64_t now_ns)
{
	size_t at = 0, taken;

	while (at < c->in_len && !c->closing) {
		const enum wsock_got got = wsock_read(&c->ws, c->in + at, c->in_len - at, &taken);

		at += taken;
		if (got != WSOCK_MORE && !rate_take(&c->rate, now_ns, MESSAGE_NS, 100)) {
			client_end(c, 1008, "too many messages");
			break;
		}
		if (got == WSOCK_PING)
			client_queue(c, WSOCK_OP_PONG, blob_make(c->ws.control, c->ws.control_len));
		else if (got == WSOCK_CLOSE)
			client_end(c, 1000, "");
		else if (got == WSOCK_BAD)
			client_end(c, c->ws.close, "");
		else if (got == WSOCK_TEXT || got == WSOCK_BINARY)
			serve_message(s, c, got == WSOCK_BINARY, now_ns);
	}
	client_take(c, c->closing ? c->in_len : at);
}

/* The kind may change: it becomes a WebSocket, and then a page. */
static void serve_client(struct server *s, struct client *c, int64_t now_ns)
{
	count(s, c, -1);
	if (c->kind == CLIENT_HTTP)
		serve_requests(s, c, now_ns);
	if (c->kind != CLIENT_HTTP)
		read_messages(s, c, now_ns);
	count(s, c, 1);
}

/* false: the connection has ended. */
static bool read_client(struct server *s, struct client *c, int64_t now_ns)
{
	if (!client_read(c, now_ns))
		return false;
	serve_client(s, c, now_ns);
	return true;
}

/* ---- accepting ---- */

static void take_connection(struct server *s, int fd, int64_t now_ns)
{
	const size_t slot = free_slot(s);
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = slot };
	struct client *c = slot < SERVER_CLIENTS_MAX ? client_open(fd, ++s->serial, now_ns) : NULL;

	if (!c || epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event)) {
		s->refused++;
		if (c)
			client_close(c);
		else
			close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){ SEND_BYTES }, sizeof(int));
	s->clients[slot] = c;
	s->clients_n++;
	count(s, c, 1);
	/* Most requests are there already: so a burst of WebSockets does not fill the places of requests. */
	if (!read_client(s, c, now_ns))
		drop(s, slot);
}

static void accept_all(struct server *s, int listener, int64_t now_ns)
{
	for (int i = 0; i < EVENTS_AT_ONCE; i++) {
		const int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return;
		take_connection(s, fd, now_ns);
	}
}

/* ---- writing ---- */

/* The newest of what this client has not got yet. */
static bool send_next(struct server *s, struct client *c, int64_t now_ns)
{
	if (c->kind == CLIENT_STUDIO)
		return studio_send(c, &s->topics, &s->view, now_ns);
	if (c->kind != CLIENT_PAGE)
		return false;
	for (size_t i = 0; i < CLIENT_SNAPSHOTS; i++)
		if (s->snapshots[i].blob && c->seen[i] != s->snapshots[i].n) {
			c->seen[i] = s->snapshots[i].n;
			client_message_proven(c, s->fresh.now, s->snapshots[i].blob);
			return true;
		}
	return false;
}

/* false: the connection has ended. */
static bool write_client(struct server *s, struct client *c, int64_t now_ns)
{
	do {
		if (!client_write(c, now_ns))
			return false;
	} while (client_is_free(c) && send_next(s, c, now_ns));
	if (c->kind == CLIENT_HTTP && c->in_len && client_is_free(c))
		serve_client(s, c, now_ns); /* that came behind another request */
	return true;
}

static bool is_stuck(struct server *s, const struct client *c, int64_t now_ns)
{
	if (!client_is_free(c) && now_ns - c->moved_ns > STUCK_NS) {
		s->dropped++;
		return true;
	}
	return c->kind <= CLIENT_VISITOR && !c->waiting && client_is_free(c) &&
	       now_ns - (c->in_len ? c->began_ns : c->heard_ns) > SILENT_NS;
}

static void write_all(struct server *s, int64_t now_ns)
{
	s->pending = false;
	for (size_t i = 0; i < SERVER_CLIENTS_MAX; i++) {
		struct client *c = s->clients[i];

		if (!c)
			continue;
		if (!write_client(s, c, now_ns) || is_stuck(s, c, now_ns))
			drop(s, i);
		else
			s->pending |= !client_is_free(c);
	}
}

/* An open page uses its session, so that its stop works after days; if the session is gone the page says so. */
static void keep_sessions(struct server *s, int64_t now_ns)
{
	if (now_ns < s->sessions_ns)
		return;
	s->sessions_ns = now_ns + SESSIONS_NS;
	for (size_t i = 0; i < SERVER_CLIENTS_MAX; i++) {
		struct client *c = s->clients[i];
		struct token *t;

		if (!c || c->kind < CLIENT_PAGE || c->closing)
			continue;
		t = (c->kind == CLIENT_PAGE ? token_session : token_studio)(&s->tokens, c->session, now_ns);
		if (t)
			token_keep(t, now_ns);
		else
			client_end(c, 1008, "the session has ended: achctl web prints another link");
	}
}

/* ---- the robot ---- */

static void replace(struct server *s, enum client_snapshot which, struct blob *blob)
{
	if (!blob)
		return;
	blob_drop(s->snapshots[which].blob);
	s->snapshots[which].blob = blob;
	s->snapshots[which].n++;
}

static void update_snapshots(struct server *s, int64_t now_ns)
{
	const uint64_t events = s->view.events_n;

	robot_view_update(&s->view, now_ns);
	if (!s->snapshots[CLIENT_FACTS].blob || (strcmp(s->config, s->view.status.config) && !s->view.achstart.away)) {
		snprintf(s->config, sizeof(s->config), "%s", s->view.status.config);
		replace(s, CLIENT_FACTS, page_json_facts(s->config));
	}
	if (!s->snapshots[CLIENT_EVENTS].blob || events != s->view.events_n)
		replace(s, CLIENT_EVENTS, page_json_events(&s->view));
	if (s->pages_n)
		replace(s, CLIENT_ROBOT, page_json_robot(&s->view, clock_now_ns()));
}

/* Between two snapshots only the channels are read. */
static void update_studios(struct server *s, int64_t now_ns)
{
	if (!s->studios_n || now_ns < s->studio_ns)
		return;
	s->studio_ns = now_ns + STUDIO_EVERY_NS;
	robot_view_read(&s->view);
	studio_find_topics(&s->topics, &s->view);
	for (size_t i = 0; i < SERVER_CLIENTS_MAX; i++)
		if (s->clients[i] && s->clients[i]->kind == CLIENT_STUDIO)
			studio_round(s->clients[i]);
}

/* ---- all ---- */

static void send_result(void *to, uint64_t serial, bool ok, const char *text)
{
	const unsigned int call = (unsigned int)(serial >> STUDIO_CALL_SHIFT);
	const uint64_t plain = serial & (((uint64_t)1 << STUDIO_CALL_SHIFT) - 1);
	struct server *s = to;

	for (size_t i = 0; i < SERVER_CLIENTS_MAX; i++) {
		struct client *c = s->clients[i];

		if (!c || c->serial != plain)
			continue;
		if (call && c->kind == CLIENT_STUDIO)
			studio_result(c, call - 1, ok, text);
		else if (!call && c->waiting)
			serve_result(c, ok, text);
	}
}

/* 0, or -errno: the one before stays, which is better than no stop. */
static int renew_challenge(struct server *s, int64_t now_ns)
{
	uint8_t random[FRESH_RANDOM];

	if (!fresh_is_due(&s->fresh, now_ns))
		return 0;
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return errno ? -errno : -EIO;
	fresh_renew(&s->fresh, random, now_ns);
	return 0;
}

int server_open(struct server *s)
{
	const int status = renew_challenge(s, clock_own_ns());

	if (status)
		return status;
	s->guard.links = &s->tokens;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return -errno;
	robot_view_open(&s->view);
	s->acts = (struct web_actions){ .view = &s->view, .done = send_result, .to = s, .arming = (gid_t)-1 };
	return 0;
}

void server_close(struct server *s)
{
	for (size_t i = 0; i < SERVER_CLIENTS_MAX; i++)
		if (s->clients[i])
			drop(s, i);
	server_unlisten(s);
	web_action_close(&s->acts);
	studio_close_topics(&s->topics);
	robot_view_close(&s->view);
	for (size_t i = 0; i < CLIENT_SNAPSHOTS; i++)
		blob_drop(s->snapshots[i].blob);
	close(s->epoll);
}

void server_unlisten(struct server *s)
{
	while (s->listeners_n)
		close(s->listeners[--s->listeners_n]);
}

int server_listen(struct server *s, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = LISTENER | s->listeners_n };

	if (s->listeners_n == SERVER_LISTENERS_MAX || listen(fd, 64) || epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event))
		return errno ? -errno : -E2BIG;
	s->listeners[s->listeners_n++] = fd;
	return 0;
}

static void read_ready(struct server *s, int64_t now_ns)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	const int n = clock_wait_set(s->epoll, events, EVENTS_AT_ONCE, 0);

	for (int i = 0; i < n; i++) {
		const uint64_t which = events[i].data.u64;

		if (which & LISTENER)
			accept_all(s, s->listeners[which & ~LISTENER], now_ns);
		else if (s->clients[which] && !read_client(s, s->clients[which], now_ns))
			drop(s, (size_t)which);
	}
}

int64_t server_turn(struct server *s, int64_t now_ns)
{
	int64_t next_ns;
	bool used;

	renew_challenge(s, now_ns);
	read_ready(s, now_ns);
	keep_sessions(s, now_ns);
	next_ns = web_action_step(&s->acts, now_ns);
	used = s->pages_n || s->studios_n || next_ns != CLOCK_NEVER;
	if (used && now_ns >= s->look_ns) {
		update_snapshots(s, now_ns);
		s->look_ns = now_ns + SERVER_LOOK_NS;
	}
	update_studios(s, now_ns);
	write_all(s, now_ns);
	if (used)
		next_ns = num_min(next_ns, s->look_ns);
	if (s->studios_n)
		next_ns = num_min(next_ns, s->studio_ns);
	if (s->pending)
		next_ns = num_min(next_ns, now_ns + RETRY_NS);
	if (s->clients_n)
		next_ns = num_min(next_ns, now_ns + SILENT_NS / 10);
	return next_ns;
}
