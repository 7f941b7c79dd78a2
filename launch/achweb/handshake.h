/* handshake.h: the answer to a WebSocket handshake (RFC 6455, section 4.2.2). */
#pragma once

#include "config/base/base.h"

#define HANDSHAKE_KEY_LEN 24	/* base64 of 16 bytes */
#define HANDSHAKE_ACCEPT_MAX 29 /* base64 of 20 bytes, and a zero */

/* Sec-WebSocket-Accept of a Sec-WebSocket-Key.  false: key is not base64 of 16 bytes. */
bool handshake_accept(char accept[HANDSHAKE_ACCEPT_MAX], const char *key);

/* For the tests: SHA-1, which serves the protocol here, not security. */
void handshake_sha1(uint8_t digest[20], const void *bytes, size_t len);
