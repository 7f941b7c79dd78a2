/* wsock.h: frames of a WebSocket (RFC 6455), as a server reads and writes them; pure.
 *
 *	while (at < len) {
 *		switch (wsock_read(&in, bytes + at, len - at, &taken)) {
 *		case WSOCK_TEXT:
 *			... in.text, in.len
 */
#pragma once

#include "config/base/base.h"

#define WSOCK_TEXT_MAX 8192   /* bytes of a message from a client */
#define WSOCK_CONTROL_MAX 125 /* bytes of a ping */
#define WSOCK_HEADER_MAX 10

enum wsock_opcode {
	WSOCK_OP_CONTINUE = 0,
	WSOCK_OP_TEXT = 1,
	WSOCK_OP_BINARY = 2,
	WSOCK_OP_CLOSE = 8,
	WSOCK_OP_PING = 9,
	WSOCK_OP_PONG = 10,
};

enum wsock_got {
	WSOCK_MORE,   /* nothing whole yet, all bytes are taken */
	WSOCK_TEXT,   /* a message, in text, with a zero behind it */
	WSOCK_BINARY, /* the same */
	WSOCK_PING,   /* in control, control_len */
	WSOCK_PONG,
	WSOCK_CLOSE,
	WSOCK_BAD, /* against the protocol, or too long: close with the code in close; nothing more is read */
};

/* Begins with zeroes. */
struct wsock {
	char text[WSOCK_TEXT_MAX + 1];
	size_t len;
	uint8_t control[WSOCK_CONTROL_MAX];
	size_t control_len;
	uint16_t close; /* why it is closed: 1002 protocol, 1007 not UTF-8, 1009 too long */

	/* private */
	uint8_t head[14];
	size_t head_len;
	uint64_t payload, at; /* of the frame under way */
	uint8_t opcode;	      /* of the message under way; 0: none */
	bool whole;	      /* the last message was returned, and the next begins */
};

/* The next thing in these bytes, *taken of which it has used. */
enum wsock_got wsock_read(struct wsock *in, const void *bytes, size_t len, size_t *taken);

/* The header of an unmasked frame with a payload of len bytes; its length. */
size_t wsock_header(uint8_t header[WSOCK_HEADER_MAX], enum wsock_opcode opcode, size_t len);
