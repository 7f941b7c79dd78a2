/* client.c: one connection. */
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "launch/achweb/client.h"

/* Scripts and styles of this server only, in no frame; no other origin may read what it sends. */
#define SAFE                                                                                                     \
	"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
	"img-src 'self'; manifest-src 'self'; worker-src 'none'; base-uri 'none'; form-action 'none'; "          \
	"frame-ancestors 'none'\r\n"                                                                             \
	"X-Content-Type-Options: nosniff\r\n"                                                                    \
	"Referrer-Policy: no-referrer\r\n"                                                                       \
	"Cross-Origin-Opener-Policy: same-origin\r\n"                                                            \
	"Cross-Origin-Resource-Policy: same-origin\r\n"                                                          \
	"Cache-Control: no-store\r\n"

#define CLIENT_PROOF_MAX (PROOF_MAX + 16)
#define FRONT_MAX (PROOF_MAX + PROOF_WORD + 24)

/* ---- bytes of several clients ---- */

struct blob *blob_make(const void *bytes, size_t len)
{
	struct blob *blob = malloc(sizeof(*blob) + len);

	if (!blob)
		return NULL;
	blob->refs = 1;
	*blob->digest = 0;
	blob->len = len;
	if (bytes)
		memcpy(blob->bytes, bytes, len);
	return blob;
}

struct blob *blob_join(const void *front, size_t len, struct blob *blob)
{
	struct blob *whole = blob ? blob_make(NULL, len + blob->len) : NULL;

	if (whole) {
		memcpy(whole->bytes, front, len);
		memcpy(whole->bytes + len, blob->bytes, blob->len);
	}
	blob_drop(blob);
	return whole;
}

struct blob *blob_keep(struct blob *blob)
{
	blob->refs++;
	return blob;
}

void blob_drop(struct blob *blob)
{
	if (blob && !--blob->refs)
		free(blob);
}

/* The stream of all objects. */
static struct {
	FILE *to;
	char *text;
	size_t size;
	struct json j;
} object;

struct json *blob_begin(void)
{
	if (!object.to && !(object.to = open_memstream(&object.text, &object.size)))
		abort(); /* before anything was served */
	rewind(object.to);
	object.j = json_to(object.to);
	json_object(&object.j, NULL);
	return &object.j;
}

struct blob *blob_end(void)
{
	json_end(&object.j);
	return fflush(object.to) || ferror(object.to) ? NULL : blob_make(object.text, object.size);
}

struct blob *blob_result(bool ok, const char *name, const char *text)
{
	struct json *j = blob_begin();

	json_bool(j, "ok", ok);
	json_text(j, name, text);
	return blob_end();
}

/* ---- the connection ---- */

struct client *client_open(int fd, uint64_t serial, int64_t now_ns)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->fd = fd;
	c->serial = serial;
	c->heard_ns = c->moved_ns = now_ns;
	return c;
}

void client_close(struct client *c)
{
	close(c->fd);
	for (size_t i = 0; i < c->queue_n; i++)
		blob_drop(c->queue[i].blob);
	blob_drop(c->blob);
	free(c->studio);
	free(c);
}

bool client_read(struct client *c, int64_t now_ns)
{
	const ssize_t n = recv(c->fd, c->in + c->in_len, sizeof(c->in) - c->in_len, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!n) /* its end, or there is no room: it sends before it has got its answer */
		return false;
	if (!c->in_len)
		c->began_ns = now_ns;
	c->in_len += (size_t)n;
	c->heard_ns = now_ns;
	return true;
}

void client_take(struct client *c, size_t n)
{
	memmove(c->in, c->in + n, c->in_len - n);
	c->in_len -= n;
}

/* ---- sending ---- */

static bool is_under_way(const struct client *c)
{
	return c->head_len;
}

bool client_is_free(const struct client *c)
{
	return !is_under_way(c) && !c->queue_n && !c->closing;
}

static void begin(struct client *c, const char *body, size_t len, struct blob *blob)
{
	c->body = body;
	c->body_len = len;
	c->blob = blob ? blob_keep(blob) : NULL;
	c->sent = 0;
}

static void begin_queued(struct client *c)
{
	struct blob *blob = c->queue[0].blob;
	const enum wsock_opcode opcode = c->queue[0].opcode;

	memmove(c->queue, c->queue + 1, --c->queue_n * sizeof(*c->queue));
	client_message(c, opcode, blob);
	blob_drop(blob);
}

/* 1: all of it has left; 0: the socket is full; -1: it is broken. */
static int send_some(struct client *c)
{
	struct iovec parts[2];
	struct msghdr msg = { .msg_iov = parts };
	ssize_t n;

	if (c->sent < c->head_len)
		parts[msg.msg_iovlen++] = (struct iovec){ c->head + c->sent, c->head_len - c->sent };
	if (c->body_len) {
		const size_t at = c->sent > c->head_len ? c->sent - c->head_len : 0;

		parts[msg.msg_iovlen++] = (struct iovec){ (char *)(uintptr_t)c->body + at, c->body_len - at };
	}
	n = sendmsg(c->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : -1;
	c->sent += (size_t)n;
	return c->sent == c->head_len + c->body_len;
}

bool client_write(struct client *c, int64_t now_ns)
{
	for (;;) {
		const size_t before = c->sent;
		int status;

		if (!is_under_way(c)) {
			if (!c->queue_n) {
				c->moved_ns = now_ns;
				return !c->closing || c->waiting;
			}
			begin_queued(c);
		}
		status = send_some(c);
		if (c->sent != before)
			c->moved_ns = now_ns;
		if (status < 0)
			return false;
		if (!status)
			return true;
		blob_drop(c->blob);
		c->blob = NULL;
		c->head_len = c->body_len = c->sent = 0;
	}
}

/* ---- HTTP ---- */

/* "X-Endplate: PROOF", or "" if the request was not proven. */
static void write_proof(char header[CLIENT_PROOF_MAX], const struct client *c, int status, const char *body, size_t len)
{
	char digest[PROOF_MAX], proof[PROOF_MAX], number[16];

	*header = 0;
	if (!c->proof.right)
		return;
	snprintf(number, sizeof(number), "%d", status);
	proof_digest(digest, body, len);
	proof_make(proof, c->proof.key,
		   (const char *const[]){ "answer", c->proof.claim.challenge, c->proof.claim.client,
					  c->proof.claim.count, number, digest, NULL });
	snprintf(header, CLIENT_PROOF_MAX, "X-Endplate: %s\r\n", proof);
}

void client_answer(struct client *c, int status, const char *type, const char *body, size_t len, struct blob *blob)
{
	char proof[CLIENT_PROOF_MAX];
	int n;

	write_proof(proof, c, status, body, len);
	n = snprintf(c->head, sizeof(c->head),
		     "HTTP/1.1 %d %s\r\n" SAFE "Content-Type: %s\r\nContent-Length: %zu\r\n%s%s\r\n", status,
		     http_reason(status), type, len, proof, c->closing ? "Connection: close\r\n" : "");
	c->head_len = (size_t)n < sizeof(c->head) ? (size_t)n : sizeof(c->head) - 1;
	begin(c, body, len, blob);
}

void client_answer_json(struct client *c, int status, struct blob *json)
{
	client_answer(c, status, "application/json", json ? json->bytes : "", json ? json->len : 0, json);
	blob_drop(json);
}

void client_refuse(struct client *c, int status, const char *why)
{
	c->closing = true;
	client_answer_json(c, status, blob_result(false, "text", why));
}

void client_upgrade(struct client *c, const char *accept, const char *protocol)
{
	const int n = snprintf(c->head, sizeof(c->head),
			       "HTTP/1.1 101 %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
			       "Sec-WebSocket-Accept: %s\r\n%s%s%s\r\n",
			       http_reason(101), accept, *protocol ? "Sec-WebSocket-Protocol: " : "", protocol,
			       *protocol ? "\r\n" : "");

	c->head_len = (size_t)n;
	begin(c, "", 0, NULL);
}

/* ---- WebSocket ---- */

void client_message_behind(struct client *c, enum wsock_opcode opcode, const void *front, size_t len, struct blob *blob)
{
	const size_t header = wsock_header((uint8_t *)c->head, opcode, len + blob->len);

	if (len)
		memcpy(c->head + header, front, len);
	c->head_len = header + len;
	begin(c, blob->bytes, blob->len, blob);
}

void client_message(struct client *c, enum wsock_opcode opcode, struct blob *blob)
{
	client_message_behind(c, opcode, NULL, 0, blob);
}

void client_queue(struct client *c, enum wsock_opcode opcode, struct blob *blob)
{
	if (!blob || c->queue_n == CLIENT_QUEUE) {
		blob_drop(blob);
		c->closing = true;
		return;
	}
	c->queue[c->queue_n].blob = blob;
	c->queue[c->queue_n++].opcode = opcode;
}

static size_t write_front(char front[FRONT_MAX], struct client *c, const char *challenge, struct blob *blob)
{
	char number[24], proof[PROOF_MAX];

	if (!*blob->digest)
		proof_digest(blob->digest, blob->bytes, blob->len);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)++c->proof.number);
	proof_make(proof, c->proof.key,
		   (const char *const[]){ "snapshot", c->proof.claim.client, c->proof.claim.count, number, challenge,
					  blob->digest, NULL });
	return (size_t)snprintf(front, FRONT_MAX, "%s %s %s\n", proof, number, challenge);
}

void client_message_proven(struct client *c, const char *challenge, struct blob *blob)
{
	char front[FRONT_MAX];
	const size_t len = write_front(front, c, challenge, blob);

	client_message_behind(c, WSOCK_OP_TEXT, front, len, blob);
}

void client_queue_proven(struct client *c, const char *challenge, struct blob *blob)
{
	char front[FRONT_MAX];
	const size_t len = blob ? write_front(front, c, challenge, blob) : 0;

	client_queue(c, WSOCK_OP_TEXT, blob_join(front, len, blob));
}

void client_end(struct client *c, uint16_t code, const char *why)
{
	char bytes[WSOCK_CONTROL_MAX + 1] = { (char)(code >> 8), (char)code };

	snprintf(bytes + 2, sizeof(bytes) - 2, "%s", why);
	client_queue(c, WSOCK_OP_CLOSE, blob_make(bytes, 2 + strlen(bytes + 2)));
	c->closing = true;
}
