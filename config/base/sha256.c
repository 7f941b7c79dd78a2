/* sha256.c: SHA-256. */
#include <stdio.h>
#include <string.h>

#include "config/base/sha256.h"

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void take_block(struct sha256 *s)
{
	uint32_t w[64], a[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)s->block[4 * i] << 24 | (uint32_t)s->block[4 * i + 1] << 16 |
		       (uint32_t)s->block[4 * i + 2] << 8 | s->block[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(a, s->h, sizeof(a));
	for (int i = 0; i < 64; i++) {
		const uint32_t one = a[7] + (turn(a[4], 6) ^ turn(a[4], 11) ^ turn(a[4], 25)) +
				     ((a[4] & a[5]) ^ (~a[4] & a[6])) + k[i] + w[i];
		const uint32_t two = (turn(a[0], 2) ^ turn(a[0], 13) ^ turn(a[0], 22)) +
				     ((a[0] & a[1]) ^ (a[0] & a[2]) ^ (a[1] & a[2]));

		memmove(a + 1, a, 7 * sizeof(*a));
		a[4] += one;
		a[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		s->h[i] += a[i];
}

void sha256_start(struct sha256 *s)
{
	/* The same of the square roots of the first 8. */
	static const uint32_t start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	*s = (struct sha256){ .len = 0 };
	memcpy(s->h, start, sizeof(start));
}

void sha256_add(struct sha256 *s, const void *bytes, size_t len)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; i < len; i++) {
		s->block[s->len++ % 64] = b[i];
		if (s->len % 64 == 0)
			take_block(s);
	}
}

void sha256_end(struct sha256 *s, uint8_t digest[SHA256_BYTES])
{
	const uint64_t bits = 8 * s->len;
	uint8_t end[8];

	for (int i = 0; i < 8; i++)
		end[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(s, "\x80", 1);
	while (s->len % 64 != 56)
		sha256_add(s, "", 1);
	sha256_add(s, end, sizeof(end));
	for (int i = 0; i < SHA256_BYTES; i++)
		digest[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_text(struct sha256 *s, char text[SHA256_TEXT_MAX])
{
	uint8_t digest[SHA256_BYTES];

	sha256_end(s, digest);
	for (int i = 0; i < SHA256_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
}
