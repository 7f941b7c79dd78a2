/* wsock.c: frames of a WebSocket. */
#include "launch/achweb/wsock.h"

static enum wsock_got bad(struct wsock *w, uint16_t code)
{
	w->close = code;
	return WSOCK_BAD;
}

/* ---- the header ---- */

static size_t header_size(const struct wsock *w)
{
	const unsigned int len = w->head_len < 2 ? 0 : w->head[1] & 0x7Fu;

	return w->head_len < 2 ? 2 : 2 + (len == 126 ? 2 : len == 127 ? 8 : 0) + 4;
}

static bool is_control(const struct wsock *w)
{
	return w->head[0] & 0x08;
}

/* Checks the whole header; 0, or the code to close with. */
static uint16_t begin_frame(struct wsock *w)
{
	const unsigned int opcode = w->head[0] & 0x0Fu, len = w->head[1] & 0x7Fu;
	const unsigned int more = len == 126 ? 2 : len == 127 ? 8 : 0;

	w->payload = more ? 0 : len;
	for (unsigned int i = 0; i < more; i++)
		w->payload = w->payload << 8 | w->head[2 + i];
	w->at = 0;
	if (w->head[0] & 0x70 || !(w->head[1] & 0x80))
		return 1002; /* an extension, or a frame that is not masked */
	if (is_control(w)) {
		w->control_len = 0;
		return opcode > WSOCK_OP_PONG || !(w->head[0] & 0x80) || len > WSOCK_CONTROL_MAX ? 1002 : 0;
	}
	if (opcode > WSOCK_OP_BINARY || (opcode == WSOCK_OP_CONTINUE) != (w->opcode != 0))
		return 1002;
	if (opcode) {
		w->opcode = (uint8_t)opcode;
		w->len = 0;
	}
	return w->payload > WSOCK_TEXT_MAX - w->len ? 1009 : 0;
}

/* ---- the payload ---- */

static void take_payload(struct wsock *w, const uint8_t *bytes, size_t n)
{
	const uint8_t *mask = w->head + w->head_len - 4;
	uint8_t *to = is_control(w) ? w->control + w->control_len : (uint8_t *)w->text + w->len;

	for (size_t i = 0; i < n; i++)
		to[i] = bytes[i] ^ mask[(w->at + i) % 4];
	w->at += n;
	if (is_control(w))
		w->control_len += n;
	else
		w->len += n;
}

static bool is_utf8(const char *text, size_t len)
{
	for (size_t at = 0, n; at < len; at += n) {
		uint32_t c;

		n = utf8_character(text + at, len - at, &c);
		if (!n)
			return false;
	}
	return true;
}

static enum wsock_got end_frame(struct wsock *w)
{
	const bool last = w->head[0] & 0x80;

	w->head_len = 0;
	switch (w->head[0] & 0x0F) {
	case WSOCK_OP_CLOSE:
		return WSOCK_CLOSE;
	case WSOCK_OP_PING:
		return WSOCK_PING;
	case WSOCK_OP_PONG:
		return WSOCK_PONG;
	}
	if (!last)
		return WSOCK_MORE;
	w->whole = true;
	w->text[w->len] = 0;
	if (w->opcode == WSOCK_OP_BINARY)
		return WSOCK_BINARY;
	return is_utf8(w->text, w->len) ? WSOCK_TEXT : bad(w, 1007);
}

enum wsock_got wsock_read(struct wsock *w, const void *bytes, size_t len, size_t *taken)
{
	const uint8_t *from = bytes;
	enum wsock_got got = WSOCK_MORE;
	uint16_t code;

	*taken = 0;
	if (w->close)
		return WSOCK_BAD;
	if (w->whole) {
		w->whole = false;
		w->opcode = 0;
	}
	while (got == WSOCK_MORE && *taken < len) {
		const size_t size = header_size(w);

		if (w->head_len < size) {
			w->head[w->head_len++] = from[(*taken)++];
			if (w->head_len < 2 || w->head_len < header_size(w))
				continue;
			code = begin_frame(w);
			if (code)
				return bad(w, code);
		} else {
			const uint64_t left = w->payload - w->at;
			const size_t n = left < len - *taken ? (size_t)left : len - *taken;

			take_payload(w, from + *taken, n);
			*taken += n;
		}
		if (w->head_len == header_size(w) && w->at == w->payload)
			got = end_frame(w);
	}
	return got;
}

size_t wsock_header(uint8_t header[WSOCK_HEADER_MAX], enum wsock_opcode opcode, size_t len)
{
	const unsigned int more = len < 126 ? 0 : len <= UINT16_MAX ? 2 : 8;

	header[0] = (uint8_t)(0x80u | opcode);
	header[1] = (uint8_t)(!more ? len : more == 2 ? 126 : 127);
	for (unsigned int i = 0; i < more; i++)
		header[2 + i] = (uint8_t)((uint64_t)len >> 8 * (more - 1 - i));
	return 2 + more;
}
