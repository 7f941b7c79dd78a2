/* token.c: links, and sessions. */
#include "launch/achweb/token.h"

static struct token *find(struct token *list, size_t n, const char *id, bool studio, int64_t now_ns)
{
	struct token *found = NULL;

	if (strlen(id) != TOKEN_ID - 1)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (proof_same(list[i].id, id, TOKEN_ID) && list[i].until_ns > now_ns && list[i].studio == studio)
			found = &list[i];
	return found;
}

/* ---- places ---- */

static size_t count_of(const struct token *list, size_t n, uid_t uid)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += list[i].uid == uid;
	return count;
}

/* The user who has most places; uid if no other user has more. */
static uid_t greediest(const struct token *list, size_t n, uid_t uid)
{
	size_t most = count_of(list, n, uid);

	for (size_t i = 0; i < n; i++) {
		const size_t count = count_of(list, n, list[i].uid);

		if (count > most) {
			most = count;
			uid = list[i].uid;
		}
	}
	return uid;
}

static struct token *find_place(struct token *list, size_t n, uid_t uid, int64_t now_ns)
{
	struct token *place = NULL;
	uid_t loser;

	for (size_t i = 0; i < n; i++)
		if (!*list[i].id || list[i].until_ns <= now_ns)
			return &list[i];
	loser = greediest(list, n, uid);
	if (loser != uid && count_of(list, n, loser) == 1)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (list[i].uid == loser && (!place || list[i].until_ns < place->until_ns))
			place = &list[i];
	return place;
}

static struct token *take_place(struct token *list, size_t n, const struct token_holder *holder, int64_t now_ns)
{
	struct token *place = find_place(list, n, holder->uid, now_ns);

	if (!place)
		return NULL;
	memset(place, 0, sizeof(*place));
	place->rights = holder->rights;
	place->uid = holder->uid;
	snprintf(place->who, sizeof(place->who), "%s", holder->who);
	return place;
}

static struct token *begin_session(struct token_store *s, const uint8_t random[TOKEN_ID_RANDOM],
				   const struct token_holder *holder, int64_t now_ns)
{
	struct token *t = take_place(s->sessions, TOKEN_SESSIONS, holder, now_ns);

	if (!t)
		return NULL;
	s->begun++;
	proof_hex(t->id, random, TOKEN_ID_RANDOM);
	t->until_ns = now_ns + TOKEN_SESSION_NS;
	return t;
}

/* ---- links and sessions ---- */

struct token *token_issue(struct token_store *s, const uint8_t random[TOKEN_RANDOM], const struct token_holder *holder,
			  int64_t now_ns)
{
	struct token *t = take_place(s->links, TOKEN_LINKS, holder, now_ns);
	uint8_t word[PROOF_KEY];

	if (!t)
		return NULL;
	t->until_ns = now_ns + TOKEN_LIFE_NS;
	proof_key(word, random, (const char *const[]){ "id", NULL });
	proof_hex(t->id, word, TOKEN_ID_RANDOM);
	proof_key(word, random, (const char *const[]){ "host", NULL });
	proof_hex(t->host, word, (TOKEN_HOST - 1) / 2);
	proof_key(t->look, random, (const char *const[]){ "look", NULL });
	if (t->rights & TOKEN_ACT)
		proof_key(t->act, random, (const char *const[]){ "act", NULL });
	return t;
}

struct token *token_begin_studio(struct token_store *s, const uint8_t random[TOKEN_ID_RANDOM],
				 const struct token_holder *holder, int64_t now_ns)
{
	struct token *t = begin_session(s, random, holder, now_ns);

	if (t)
		t->studio = true;
	return t;
}

struct token *token_redeem(struct token_store *s, struct token *link, const char *client,
			   const uint8_t random[TOKEN_ID_RANDOM], int64_t now_ns)
{
	const struct token_holder holder = { link->rights, link->uid, link->who };
	struct token *t = begin_session(s, random, &holder, now_ns);

	if (t) {
		const char *const fields[] = { "session", client, t->id, NULL };

		memcpy(t->host, link->host, sizeof(t->host));
		proof_key(t->look, link->look, fields);
		if (t->rights & TOKEN_ACT)
			proof_key(t->act, link->act, fields);
		memset(link, 0, sizeof(*link));
	}
	return t;
}

struct token *token_link(struct token_store *s, const char *id, int64_t now_ns)
{
	return find(s->links, TOKEN_LINKS, id, false, now_ns);
}

struct token *token_session(struct token_store *s, const char *id, int64_t now_ns)
{
	return find(s->sessions, TOKEN_SESSIONS, id, false, now_ns);
}

struct token *token_studio(struct token_store *s, const char *id, int64_t now_ns)
{
	return find(s->sessions, TOKEN_SESSIONS, id, true, now_ns);
}

void token_keep(struct token *session, int64_t now_ns)
{
	session->until_ns = now_ns + TOKEN_SESSION_NS;
}

void token_drop_act(struct token *session)
{
	session->rights &= ~TOKEN_ACT;
	memset(session->act, 0, sizeof(session->act));
}

static bool has_host(const struct token *list, size_t n, const char *label)
{
	for (size_t i = 0; i < n; i++)
		if (*list[i].host && !strncmp(list[i].host, label, TOKEN_HOST - 1))
			return true;
	return false;
}

bool token_has_host(const struct token_store *s, const char *label, size_t len)
{
	return len == TOKEN_HOST - 1 &&
	       (has_host(s->links, TOKEN_LINKS, label) || has_host(s->sessions, TOKEN_SESSIONS, label));
}
