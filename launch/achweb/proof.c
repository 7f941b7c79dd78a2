/* proof.c: proofs of requests, answers and snapshots. */
#include "launch/achweb/proof.h"

#define HEX "0123456789abcdef"

void proof_hex(char *text, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

bool proof_same(const char *a, const char *b, size_t len)
{
	unsigned int differ = 0;

	for (size_t i = 0; i < len; i++)
		differ |= (unsigned int)(a[i] ^ b[i]);
	return !differ;
}

void proof_digest(char body[PROOF_MAX], const void *bytes, size_t len)
{
	struct sha256 s;

	sha256_start(&s);
	sha256_add(&s, bytes, len);
	sha256_text(&s, body);
}

void proof_key(uint8_t out[PROOF_KEY], const uint8_t key[PROOF_KEY], const char *const *fields)
{
	struct hmac h;
	char len[24];

	hmac_start(&h, key, PROOF_KEY);
	for (; *fields; fields++) {
		snprintf(len, sizeof(len), "%zu:", strlen(*fields));
		hmac_add(&h, len, strlen(len));
		hmac_add(&h, *fields, strlen(*fields));
	}
	hmac_end(&h, out);
}

void proof_make(char proof[PROOF_MAX], const uint8_t key[PROOF_KEY], const char *const *fields)
{
	uint8_t digest[PROOF_KEY];

	proof_key(digest, key, fields);
	proof_hex(proof, digest, sizeof(digest));
}

/* Takes a word of digits, and the blank or the end behind it. */
static bool take(const char **at, char *to, size_t least, size_t most, const char *digits)
{
	const size_t n = strspn(*at, digits);

	if (n < least || n > most || ((*at)[n] && (*at)[n] != ' '))
		return false;
	memcpy(to, *at, n);
	to[n] = 0;
	*at += n + ((*at)[n] == ' ');
	return true;
}

bool proof_read(struct proof_claim *c, const char *text)
{
	const size_t word = PROOF_WORD - 1;

	if (!take(&text, c->id, word, word, HEX) || !take(&text, c->client, word, word, HEX) ||
	    !take(&text, c->count, 1, PROOF_COUNT - 1, "0123456789") || *c->count == '0')
		return false;
	c->number = strtoull(c->count, NULL, 10);
	return (take(&text, c->challenge, word, word, HEX) || take(&text, c->challenge, 1, 1, PROOF_NONE)) &&
	       take(&text, c->proof, PROOF_MAX - 1, PROOF_MAX - 1, HEX) && !*text && text[-1] != ' ';
}

bool proof_is_right(const struct proof_claim *c, const uint8_t key[PROOF_KEY], const char *method, const char *path,
		    const char *body)
{
	char proof[PROOF_MAX];

	proof_make(proof, key,
		   (const char *const[]){ "ask", c->challenge, c->client, c->count, method, path, body, NULL });
	return proof_same(proof, c->proof, sizeof(proof));
}
