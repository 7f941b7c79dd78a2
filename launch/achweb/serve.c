/* serve.c: requests of a connection. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "launch/achweb/handshake.h"
#include "launch/achweb/page.h"
#include "launch/achweb/server.h"
#include "launch/achweb/snapshot.h"
#include "launch/common/lines.h"

#define REQUEST_NS 50000000 /* between two requests of a connection, on average, */
#define REQUESTS 60	    /* and so many at once */
#define LOGIN_NS 1000000000
#define LOGINS 10

/* ---- answers ---- */

void serve_result(struct client *c, bool ok, const char *text)
{
	c->waiting = false;
	client_answer_json(c, 200, "", blob_result(ok, "text", text));
}

/* ---- POST ---- */

static void login(struct server *s, struct client *c, const struct order *order, int64_t now_ns)
{
	uint8_t random[TOKEN_RANDOM];
	const struct token *session;
	char cookie[160];

	session = getrandom(random, sizeof(random), 0) == sizeof(random)
			  ? token_redeem(&s->tokens, order->token, random, now_ns)
			  : NULL;
	/* Guesses are limited; a client with a valid token is never refused for them. */
	if (!session && !rate_take(&s->logins, now_ns, LOGIN_NS, LOGINS)) {
		client_refuse(c, 429, "too many attempts to log in: wait a second");
		return;
	}
	if (!session) {
		client_refuse(c, 401, "this link was used, or is older than 5 minutes: achctl web prints another");
		return;
	}
	/* Without an age: the session ends here (token.h), not in the browser while its page is open. */
	snprintf(cookie, sizeof(cookie), "Set-Cookie: %s=%s; HttpOnly; SameSite=Strict; Path=/\r\n", s->cookie,
		 session->text);
	client_answer_json(c, 200, cookie, blob_result(true, "key", session->key));
}

static void serve_post(struct server *s, struct client *c, enum guard_route route, const char *body, size_t len,
		       int64_t now_ns)
{
	const enum order_kind kind = route == GUARD_LOGIN ? ORDER_LOGIN : route == GUARD_STOP ? ORDER_STOP : ORDER_ARM;
	struct order order;
	struct lines why;

	if (order_read(&order, kind, body, len, lines_begin(&why))) {
		client_refuse(c, 400, why.text);
	} else if (route == GUARD_LOGIN) {
		login(s, c, &order, now_ns);
	} else if (route == GUARD_ACT && !act_may_begin(&s->acts, now_ns)) {
		client_refuse(c, 429, ACT_TOO_MANY);
	} else {
		c->waiting = true;
		act_begin(&s->acts, &order, c->serial, c->who, now_ns);
	}
}

/* ---- WebSockets ---- */

static void open_socket(struct server *s, struct client *c, const struct http *r, enum client_kind kind)
{
	const char *protocol = studio_protocol(r->ws_protocols);
	char accept[HANDSHAKE_ACCEPT_MAX];

	if (!handshake_accept(accept, r->ws_key)) {
		client_refuse(c, 400, "Sec-WebSocket-Key is not base64 of 16 bytes");
		return;
	}
	if (kind == CLIENT_STUDIO && !protocol) {
		client_refuse(c, 400, "neither foxglove.sdk.v1 nor foxglove.websocket.v1 is offered");
		return;
	}
	if (s->pages_n + s->studios_n >= SERVER_SOCKETS_MAX) {
		client_refuse(c, 503, "too many pages are open");
		return;
	}
	client_upgrade(c, accept, kind == CLIENT_STUDIO ? protocol : "");
	c->kind = kind;
	if (kind == CLIENT_PAGE)
		client_queue(c, WSOCK_OP_TEXT, snapshot_hello(c));
	else if (!studio_begin(c, &s->view))
		c->closing = true;
}

/* A page sends nothing: what it asks for are requests. */
void serve_message(struct server *s, struct client *c, bool binary, int64_t now_ns)
{
	if (c->kind == CLIENT_STUDIO)
		studio_take(c, &s->topics, &s->acts, binary, now_ns);
	else
		client_end(c, 1008);
}

/* ---- requests ---- */

/* Of the sessions whose cookies came, the one of the key, or else the one with most rights: a cookie that another
 * server on this machine has set does no harm. */
static const struct token *session_of_cookies(struct server *s, const char *cookies, const struct token *of_key,
					      int64_t now_ns)
{
	const struct token *best = NULL;
	char text[TOKEN_MAX];

	while (http_next_value(&cookies, ';', s->cookie, text, sizeof(text))) {
		const struct token *one = token_session(&s->tokens, text, now_ns);

		if (one && one == of_key)
			return one;
		if (one && (!best || one->rights > best->rights))
			best = one;
	}
	return best;
}

/* The rights: of the cookie to look, of the key to act. */
static unsigned int find_session(struct server *s, struct client *c, const struct http *r, enum guard_route route,
				 int64_t now_ns)
{
	const struct token *of_key = token_session_of_key(&s->tokens, r->csrf, now_ns);
	const struct token *session = session_of_cookies(s, r->cookie, of_key, now_ns);
	char text[TOKEN_MAX] = "";
	bool acts = false;

	if (session && route != GUARD_STUDIO)
		acts = route != GUARD_ACT || session == of_key;
	if (route == GUARD_STUDIO && http_value(r->query, '&', "key", text, sizeof(text))) {
		session = token_session_of_key(&s->tokens, text, now_ns);
		acts = true;
	}
	c->rights = !session ? 0 : acts ? session->rights : session->rights & TOKEN_LOOK;
	snprintf(c->session, sizeof(c->session), "%s", session ? session->text : "");
	snprintf(c->who, sizeof(c->who), "%s", session ? session->who : "");
	return c->rights;
}

static void serve(struct server *s, struct client *c, const struct http *r, const char *body, int64_t now_ns)
{
	const struct page *page = page_find(r->path);
	const enum guard_route route = guard_route(r, page);
	const unsigned int rights = find_session(s, c, r, route, now_ns);
	const char *why;
	const int status = guard_check(&s->guard, r, route, rights, &why);

	c->closing = r->old || http_lists(r->connection, "close");
	if (status)
		client_refuse(c, status, why);
	else if (route != GUARD_STOP && !rate_take(&c->rate, now_ns, REQUEST_NS, REQUESTS))
		client_refuse(c, 429, "too many requests");
	else if (route == GUARD_FILE)
		client_answer(c, 200, page->type, "", page->bytes, (size_t)(page->end - page->bytes), NULL);
	else if (route == GUARD_SESSION)
		serve_result(c, true, c->rights & TOKEN_ACT ? "look and act" : "look");
	else if (route == GUARD_SOCKET)
		open_socket(s, c, r, CLIENT_PAGE);
	else if (route == GUARD_STUDIO)
		open_socket(s, c, r, CLIENT_STUDIO);
	else
		serve_post(s, c, route, body, r->length, now_ns);
}

void serve_requests(struct server *s, struct client *c, int64_t now_ns)
{
	static char copy[sizeof(c->in)]; /* in which texts are ended */

	while (c->in_len && c->kind == CLIENT_HTTP && client_is_free(c) && !c->waiting) {
		struct http request;
		int n;

		memcpy(copy, c->in, c->in_len);
		n = http_read(&request, copy, c->in_len);
		if (n < 0) {
			client_refuse(c, -n, http_reason(-n));
			return;
		}
		if (!n || c->in_len < (size_t)n + request.length)
			return;
		serve(s, c, &request, copy + n, now_ns);
		client_take(c, (size_t)n + request.length);
		if (!client_write(c, now_ns))
			c->closing = true;
	}
}
