/* sha256.h: SHA-256 (FIPS 180-4).  Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct sha256 {
	uint32_t h[8];
	uint64_t len;
	uint8_t block[64];
};

#define SHA256_BYTES 32
#define SHA256_TEXT_MAX (2 * SHA256_BYTES + 1)

void sha256_start(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t len);
/* Each ends it; the text is in hexadecimal digits. */
void sha256_end(struct sha256 *s, uint8_t digest[SHA256_BYTES]);
void sha256_text(struct sha256 *s, char text[SHA256_TEXT_MAX]);
