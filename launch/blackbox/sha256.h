/* sha256.h: SHA-256 (FIPS 180-4).  Pure. */
#ifndef LAUNCH_BLACKBOX_SHA256_H
#define LAUNCH_BLACKBOX_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
	uint32_t h[8];
	uint64_t len;
	uint8_t block[64];
};

#define SHA256_TEXT_MAX 65

void sha256_start(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t len);
void sha256_text(struct sha256 *s, char text[SHA256_TEXT_MAX]); /* ends it */

#endif
