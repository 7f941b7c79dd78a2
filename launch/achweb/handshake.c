/* handshake.c: the answer to a WebSocket handshake. */
#include "launch/achweb/handshake.h"

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#define DIGITS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

/* ---- SHA-1, FIPS 180-4 ---- */

static uint32_t rotate(uint32_t x, unsigned int n)
{
	return x << n | x >> (32 - n);
}

static void add_block(uint32_t h[5], const uint8_t block[64])
{
	uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

	for (unsigned int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (unsigned int i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (unsigned int i = 0; i < 80; i++) {
		const uint32_t f = i < 20	       ? (b & c) | (~b & d)
				   : i < 40 || i >= 60 ? b ^ c ^ d
						       : (b & c) | (d & (b | c));
		const uint32_t k = i < 20 ? 0x5A827999 : i < 40 ? 0x6ED9EBA1 : i < 60 ? 0x8F1BBCDC : 0xCA62C1D6;
		const uint32_t next = rotate(a, 5) + f + e + k + w[i];

		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

void handshake_sha1(uint8_t digest[20], const void *bytes, size_t len)
{
	uint32_t h[5] = { 0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0 };
	const size_t whole = len / 64 * 64, rest = len - whole, last = rest < 56 ? 64 : 128;
	uint8_t tail[128] = { 0 };

	for (size_t at = 0; at < whole; at += 64)
		add_block(h, (const uint8_t *)bytes + at);
	memcpy(tail, (const uint8_t *)bytes + whole, rest);
	tail[rest] = 0x80;
	for (unsigned int i = 0; i < 8; i++)
		tail[last - 1 - i] = (uint8_t)((uint64_t)len * 8 >> 8 * i);
	for (size_t at = 0; at < last; at += 64)
		add_block(h, tail + at);
	for (unsigned int i = 0; i < 20; i++)
		digest[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}

/* ---- the answer ---- */

bool handshake_accept(char accept[HANDSHAKE_ACCEPT_MAX], const char *key)
{
	char text[HANDSHAKE_KEY_LEN + sizeof(GUID)];
	uint8_t digest[20];

	if (strspn(key, DIGITS) != HANDSHAKE_KEY_LEN - 2 || strcmp(key + HANDSHAKE_KEY_LEN - 2, "==") != 0)
		return false;
	memcpy(text, key, HANDSHAKE_KEY_LEN);
	memcpy(text + HANDSHAKE_KEY_LEN, GUID, sizeof(GUID));
	handshake_sha1(digest, text, strlen(text));
	accept[base64_write(accept, digest, sizeof(digest))] = 0;
	return true;
}
