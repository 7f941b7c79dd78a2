/* proof.h: proofs of requests, answers and snapshots: HMAC-SHA-256 with a key that is never sent; pure.
 *
 *	request		"ask" CHALLENGE CLIENT COUNT METHOD PATH BODY
 *	answer		"answer" CHALLENGE CLIENT COUNT STATUS BODY
 *	snapshot	"snapshot" CLIENT COUNT NUMBER CHALLENGE BODY
 *
 * Each field has its length before it, so that no two lists of fields have the same bytes.  BODY is the SHA-256 of the
 * body: a snapshot is hashed once for all pages.  CLIENT is random for each load of the page; COUNT and CHALLENGE keep
 * a proof from being used again (fresh.h).
 */
#pragma once

#include "config/base/base.h"

#define PROOF_KEY SHA256_BYTES
#define PROOF_MAX SHA256_TEXT_MAX
#define PROOF_WORD 33  /* 32 hexadecimal digits: id, client, challenge */
#define PROOF_COUNT 16 /* decimal digits of a count, which a browser keeps exactly, and a zero */
#define PROOF_NONE "-" /* challenge of a page that knows none yet */

/* "ID CLIENT COUNT CHALLENGE PROOF": the header X-Endplate, and the first message of a WebSocket. */
struct proof_claim {
	char id[PROOF_WORD], client[PROOF_WORD], count[PROOF_COUNT], challenge[PROOF_WORD], proof[PROOF_MAX];
	uint64_t number; /* the count */
};
bool proof_read(struct proof_claim *claim, const char *text);
/* Is it the proof of this request? */
bool proof_is_right(const struct proof_claim *claim, const uint8_t key[PROOF_KEY], const char *method, const char *path,
		    const char *body);

void proof_digest(char body[PROOF_MAX], const void *bytes, size_t len); /* of a body */
/* The HMAC of fields, the last of which is NULL. */
void proof_key(uint8_t out[PROOF_KEY], const uint8_t key[PROOF_KEY], const char *const *fields);
void proof_make(char proof[PROOF_MAX], const uint8_t key[PROOF_KEY], const char *const *fields);

void proof_hex(char *text, const uint8_t *bytes, size_t len); /* 2 * len digits, and a zero */
bool proof_same(const char *a, const char *b, size_t len);    /* takes the same time wherever they differ */
