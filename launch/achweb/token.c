/* token.c: tokens of one use, and sessions. */
#include <stdio.h>
#include <string.h>

#include "launch/achweb/token.h"

/* Takes the same time wherever the texts differ. */
static bool is_same(const char a[TOKEN_MAX], const char b[TOKEN_MAX])
{
	unsigned int differ = 0;

	for (size_t i = 0; i < TOKEN_MAX; i++)
		differ |= (unsigned int)(a[i] ^ b[i]);
	return !differ;
}

static struct token *find(struct token *list, size_t n, const char *text, bool key, int64_t now_ns)
{
	char padded[TOKEN_MAX] = "";
	struct token *found = NULL;

	if (strlen(text) != TOKEN_MAX - 1)
		return NULL;
	memcpy(padded, text, TOKEN_MAX - 1);
	for (size_t i = 0; i < n; i++)
		if (is_same(key ? list[i].key : list[i].text, padded) && list[i].until_ns > now_ns)
			found = &list[i];
	return found;
}

static struct token *add(struct token *list, size_t n, const uint8_t random[TOKEN_RANDOM])
{
	struct token *place = list;

	for (size_t i = 1; i < n; i++)
		if (list[i].until_ns < place->until_ns)
			place = &list[i];
	for (size_t i = 0; i < TOKEN_RANDOM / 2; i++) {
		snprintf(place->text + 2 * i, 3, "%02x", random[i]);
		snprintf(place->key + 2 * i, 3, "%02x", random[TOKEN_RANDOM / 2 + i]);
	}
	return place;
}

const struct token *token_issue(struct token_store *s, const uint8_t random[TOKEN_RANDOM], unsigned int rights,
				const char *who, int64_t now_ns)
{
	struct token *t = add(s->tokens, sizeof(s->tokens) / sizeof(*s->tokens), random);

	t->rights = rights;
	t->until_ns = now_ns + TOKEN_LIFE_NS;
	snprintf(t->who, sizeof(t->who), "%s", who);
	return t;
}

const struct token *token_begin_session(struct token_store *s, const uint8_t random[TOKEN_RANDOM], unsigned int rights,
					const char *who, int64_t now_ns)
{
	struct token *t = add(s->sessions, TOKEN_SESSIONS, random);

	s->begun++;
	t->rights = rights;
	t->until_ns = now_ns + TOKEN_SESSION_NS;
	snprintf(t->who, sizeof(t->who), "%s", who);
	return t;
}

const struct token *token_redeem(struct token_store *s, const char *text, const uint8_t random[TOKEN_RANDOM],
				 int64_t now_ns)
{
	struct token *t = find(s->tokens, sizeof(s->tokens) / sizeof(*s->tokens), text, false, now_ns);
	const struct token *session;

	if (!t)
		return NULL;
	session = token_begin_session(s, random, t->rights, t->who, now_ns);
	memset(t, 0, sizeof(*t));
	return session;
}

static const struct token *use_session(struct token_store *s, const char *text, bool key, int64_t now_ns)
{
	struct token *t = find(s->sessions, TOKEN_SESSIONS, text, key, now_ns);

	if (t)
		t->until_ns = now_ns + TOKEN_SESSION_NS;
	return t;
}

const struct token *token_session(struct token_store *s, const char *text, int64_t now_ns)
{
	return use_session(s, text, false, now_ns);
}

const struct token *token_session_of_key(struct token_store *s, const char *key, int64_t now_ns)
{
	return use_session(s, key, true, now_ns);
}
