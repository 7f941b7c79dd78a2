/* hmac.h: HMAC-SHA-256 (RFC 2104).  Pure. */
#pragma once

#include "config/base/sha256.h"

struct hmac {
	struct sha256 inner, outer;
};

void hmac_start(struct hmac *h, const void *key, size_t len);
void hmac_add(struct hmac *h, const void *bytes, size_t len);
void hmac_end(struct hmac *h, uint8_t digest[SHA256_BYTES]);
