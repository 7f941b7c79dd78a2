/* fuzz_web.c: what comes from the network: requests, their bodies, and frames of WebSockets, in pieces.
 *
 * The first byte chooses what the others are.
 * Longest: 9000 bytes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launch/achweb/handshake.h"
#include "launch/achweb/post_body.h"
#include "launch/achweb/request_check.h"
#include "launch/achweb/wsock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_request(const char *bytes, size_t len)
{
	static const struct request_check guard = { .hosts = { "a:1" }, .hosts_n = 1 };
	char *copy = malloc(len + 1), value[33], accept[HANDSHAKE_ACCEPT_MAX];
	struct proof_claim claim;
	struct http r;
	const char *why;
	int n;

	memcpy(copy, bytes, len);
	n = http_read(&r, copy, len);
	assert(n <= (int)len && n <= HTTP_HEAD_MAX);
	if (n > 0) {
		const enum request_check_route route = request_check_route(&r, !strcmp(r.path, "/"));
		const int status = request_check_check(&guard, &r, route, 3, &why);

		assert(r.length <= HTTP_BODY_MAX);
		assert(status || !strcasecmp(r.host, "a:1"));
		assert(status || !r.post || (*r.origin && *r.proof));
		http_value(r.query, "key", value, sizeof(value));
		if (proof_read(&claim, r.proof))
			assert(claim.number &&
			       !proof_is_right(&claim, (const uint8_t[PROOF_KEY]){ 0 }, "POST", r.path, ""));
		handshake_accept(accept, r.ws_key);
	}
	free(copy);
}

static void try_frames(const uint8_t *bytes, size_t len)
{
	struct wsock *in = calloc(1, sizeof(*in));
	const size_t piece = len ? 1 + bytes[0] % 61 : 1;
	size_t taken;

	for (size_t at = 0; at < len; at += taken) {
		const enum wsock_got got = wsock_read(in, bytes + at, len - at < piece ? len - at : piece, &taken);

		assert(in->len <= WSOCK_TEXT_MAX && in->control_len <= WSOCK_CONTROL_MAX);
		if (got == WSOCK_BAD)
			break;
		assert(taken);
	}
	free(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct post_body order;

	if (!size)
		return 0;
	if (data[0] % 3 == 0)
		try_request((const char *)data + 1, size - 1);
	else if (data[0] % 3 == 1)
		try_frames(data + 1, size - 1);
	else
		post_body_read(&order, data[0] % 2 ? POST_BODY_ARM : POST_BODY_STOP, (const char *)data + 1,
			       size - 1 < HTTP_BODY_MAX ? size - 1 : HTTP_BODY_MAX, &(struct error_sink){ 0 });
	return 0;
}
