/* serve.c: requests of a connection. */
#include <sys/random.h>

#include "launch/achweb/handshake.h"
#include "launch/achweb/page.h"
#include "launch/achweb/page_json.h"
#include "launch/achweb/server.h"

#define REQUEST_NS 50000000 /* between two requests of a connection, on average, */
#define REQUESTS 60	    /* and at once */
#define LOGIN_NS 1000000000
#define LOGINS 10
#define TOO_MANY "too many pages are open"

/* ---- answers ---- */

void serve_result(struct client *c, bool ok, const char *text)
{
	c->waiting = false;
	client_answer_json(c, 200, blob_result(ok, "text", text));
}

/* The page asks again with this challenge. */
static void ask_again(struct client *c, const char *challenge)
{
	struct json *j = blob_begin();

	json_bool(j, "ok", false);
	json_text(j, "text", "the challenge of this request has ended");
	json_text(j, "challenge", challenge);
	client_answer_json(c, 409, blob_end());
}

/* ---- proofs ---- */

/* What a client sends: METHOD, PATH and BODY, and whose key it is for. */
struct asked {
	enum request_check_route route;
	const char *method, *path, *body;
	size_t len;
};

static struct token *find_token(struct server *s, const struct proof_claim *claim, const struct asked *a,
				int64_t now_ns)
{
	struct token *t = (a->route == REQUEST_CHECK_LOGIN ? token_link : token_session)(&s->tokens, claim->id, now_ns);
	char digest[PROOF_MAX];

	if (!t || (a->route == REQUEST_CHECK_ACT && !(t->rights & TOKEN_ACT)))
		return NULL;
	proof_digest(digest, a->body, a->len);
	return proof_is_right(claim, a->route == REQUEST_CHECK_ACT ? t->act : t->look, a->method, a->path, digest)
		       ? t
		       : NULL;
}

static void take_person(struct client *c, const struct token *t)
{
	c->rights = t->rights;
	c->uid = t->uid;
	memcpy(c->session, t->id, sizeof(c->session));
	snprintf(c->who, sizeof(c->who), "%s", t->who);
}

static void take_proof(struct client *c, const struct proof_claim *claim, const struct token *t, bool act)
{
	c->proof = (struct client_proof){ .right = true, .claim = *claim };
	memcpy(c->proof.key, act ? t->act : t->look, sizeof(c->proof.key));
	take_person(c, t);
}

static void forget_proof(struct client *c)
{
	memset(&c->proof, 0, sizeof(c->proof));
	c->rights = 0;
	c->uid = (uid_t)-1;
	*c->session = *c->who = 0;
}

/* Whatever else is wrong with it, an answer to a proven request is proven.  *found: the link or the session.  0; 409:
 * the challenge has ended; 401: it is not proven, or was used; 429: too many loads of the page. */
static int check_claim(struct server *s, struct client *c, const char *text, const struct asked *a, int64_t now_ns,
		       struct token **found)
{
	struct proof_claim claim;
	enum fresh_taken taken;

	forget_proof(c);
	*found = proof_read(&claim, text) ? find_token(s, &claim, a, now_ns) : NULL;
	if (!*found)
		return 401;
	take_proof(c, &claim, *found, a->route == REQUEST_CHECK_ACT);
	if (!fresh_has(&s->fresh, claim.challenge))
		return 409;
	taken = fresh_take((*found)->windows, claim.client, claim.number, s->fresh.turn);
	/* A stop has room always: once more within seconds does no harm. */
	if (taken == FRESH_USED || (taken == FRESH_FULL && a->route != REQUEST_CHECK_STOP))
		return taken == FRESH_USED ? 401 : 429;
	if (a->route != REQUEST_CHECK_LOGIN)
		token_keep(*found, now_ns);
	return 0;
}

/* ---- POST ---- */

static void log_in(struct server *s, struct client *c, struct token *link, int64_t now_ns)
{
	uint8_t random[TOKEN_ID_RANDOM];
	const struct token *session = NULL;

	if (getrandom(random, sizeof(random), 0) == sizeof(random))
		session = token_redeem(&s->tokens, link, c->proof.claim.client, random, now_ns);
	if (session)
		client_answer_json(c, 200, blob_result(true, "session", session->id));
	else
		client_refuse(c, 503, "too many users have sessions: wait until one of them ends");
}

/* Guesses are limited; a client with a valid link is never refused for them. */
static void refuse_login(struct server *s, struct client *c, int64_t now_ns)
{
	if (rate_take(&s->logins, now_ns, LOGIN_NS, LOGINS))
		client_refuse(c, 401, "this link was used, or is older than 5 minutes: achctl web prints another");
	else
		client_refuse(c, 429, "too many attempts to log in: wait a second");
}

static void serve_order(struct server *s, struct client *c, const struct asked *a, int64_t now_ns)
{
	struct post_body order;
	struct lines why;

	if (post_body_read(&order, a->route == REQUEST_CHECK_STOP ? POST_BODY_STOP : POST_BODY_ARM, a->body, a->len,
			   lines_begin(&why))) {
		client_refuse(c, 400, why.text);
	} else if (a->route == REQUEST_CHECK_ACT && !web_action_may_begin(&s->acts, now_ns)) {
		client_refuse(c, 429, WEB_ACTION_TOO_MANY);
	} else {
		c->waiting = true;
		web_action_begin(&s->acts, &order, c->serial, (struct web_action_person){ c->uid, c->who }, now_ns);
	}
}

static void serve_post(struct server *s, struct client *c, const struct asked *a, int claim, struct token *found,
		       int64_t now_ns)
{
	if (claim == 409)
		ask_again(c, s->fresh.now);
	else if (claim == 401)
		client_refuse(c, 401, "this request was used already");
	else if (claim)
		client_refuse(c, claim, "too many loads of this page: wait ten seconds");
	else if (a->route == REQUEST_CHECK_LOGIN)
		log_in(s, c, found, now_ns);
	else
		serve_order(s, c, a, now_ns);
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
	if (kind == CLIENT_STUDIO && s->pages_n + s->studios_n >= SERVER_SOCKETS_MAX) {
		client_refuse(c, 503, TOO_MANY);
		return;
	}
	client_upgrade(c, accept, kind == CLIENT_STUDIO ? protocol : "");
	c->kind = kind;
	if (kind == CLIENT_STUDIO && !studio_begin(c, &s->view))
		c->closing = true;
}

/* The first message of a page is its proof.  If the challenge has ended it gets the new one, and sends another. */
static void greet(struct server *s, struct client *c, int64_t now_ns)
{
	const struct asked a = { REQUEST_CHECK_SOCKET, "GET", "/socket", "", 0 };
	struct token *session;
	const int status = check_claim(s, c, c->ws.text, &a, now_ns, &session);

	if (status == 409) {
		client_queue_proven(c, s->fresh.now, page_json_again());
	} else if (status) {
		client_end(c, 1008, "not logged in: open the link that achctl web prints");
	} else if (s->pages_n + s->studios_n >= SERVER_SOCKETS_MAX) {
		client_end(c, 1013, TOO_MANY);
	} else {
		c->kind = CLIENT_PAGE;
		client_queue_proven(c, s->fresh.now, page_json_hello(c));
	}
}

/* Behind its proof a page sends nothing: what it asks for are requests. */
void serve_message(struct server *s, struct client *c, bool binary, int64_t now_ns)
{
	if (c->kind == CLIENT_STUDIO)
		studio_take(c, &s->topics, &s->acts, binary, now_ns);
	else if (c->kind == CLIENT_VISITOR && !binary)
		greet(s, c, now_ns);
	else
		client_end(c, 1008, "a page sends its proof and nothing else");
}

/* ---- requests ---- */

/* A studio has the key in its address. */
static void find_studio(struct server *s, struct client *c, const struct http *r, int64_t now_ns)
{
	char id[TOKEN_ID] = "";
	struct token *t = http_value(r->query, "key", id, sizeof(id)) ? token_studio(&s->tokens, id, now_ns) : NULL;

	forget_proof(c);
	if (!t)
		return;
	token_keep(t, now_ns);
	take_person(c, t);
}

static void serve(struct server *s, struct client *c, const struct http *r, const char *body, int64_t now_ns)
{
	const struct page *page = page_find(r->path);
	const struct asked a = { request_check_route(r, page), r->post ? "POST" : "GET", r->path, body, r->length };
	struct token *found = NULL;
	int claim = 0, status;
	const char *why;

	if (a.route == REQUEST_CHECK_STUDIO)
		find_studio(s, c, r, now_ns);
	else if (r->post)
		claim = check_claim(s, c, r->proof, &a, now_ns, &found);
	else
		forget_proof(c);
	status = request_check_check(&s->guard, r, a.route, c->rights, &why);
	c->closing = r->old || http_lists(r->connection, "close");
	if (status == 401 && a.route == REQUEST_CHECK_LOGIN)
		refuse_login(s, c, now_ns);
	else if (status)
		client_refuse(c, status, why);
	else if (a.route != REQUEST_CHECK_STOP && !rate_take(&c->rate, now_ns, REQUEST_NS, REQUESTS))
		client_refuse(c, 429, "too many requests");
	else if (a.route == REQUEST_CHECK_FILE)
		client_answer(c, 200, page->type, page->bytes, (size_t)(page->end - page->bytes), NULL);
	else if (a.route == REQUEST_CHECK_SOCKET || a.route == REQUEST_CHECK_STUDIO)
		open_socket(s, c, r, a.route == REQUEST_CHECK_SOCKET ? CLIENT_VISITOR : CLIENT_STUDIO);
	else
		serve_post(s, c, &a, claim, found, now_ns);
}

void serve_requests(struct server *s, struct client *c, int64_t now_ns)
{
	static char copy[sizeof(c->in)]; /* in which texts are ended */

	while (c->in_len && c->kind == CLIENT_HTTP && client_is_free(c) && !c->waiting) {
		struct http request;
		int n;

		forget_proof(c);
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
