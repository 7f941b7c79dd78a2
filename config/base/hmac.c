/* hmac.c: HMAC-SHA-256. */
#include <string.h>

#include "config/base/hmac.h"

#define BLOCK 64

static void begin(struct sha256 *s, const uint8_t key[BLOCK], uint8_t pad)
{
	uint8_t block[BLOCK];

	for (size_t i = 0; i < BLOCK; i++)
		block[i] = key[i] ^ pad;
	sha256_start(s);
	sha256_add(s, block, sizeof(block));
}

void hmac_start(struct hmac *h, const void *key, size_t len)
{
	uint8_t block[BLOCK] = { 0 };

	if (len > BLOCK) {
		sha256_start(&h->inner);
		sha256_add(&h->inner, key, len);
		sha256_end(&h->inner, block);
	} else {
		memcpy(block, key, len);
	}
	begin(&h->inner, block, 0x36);
	begin(&h->outer, block, 0x5c);
}

void hmac_add(struct hmac *h, const void *bytes, size_t len)
{
	sha256_add(&h->inner, bytes, len);
}

void hmac_end(struct hmac *h, uint8_t digest[SHA256_BYTES])
{
	sha256_end(&h->inner, digest);
	sha256_add(&h->outer, digest, SHA256_BYTES);
	sha256_end(&h->outer, digest);
}
