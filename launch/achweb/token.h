/* token.h: who may look and who may act: links, and the sessions that they are exchanged for; pure.
 *
 * achctl web prints a link with a token of 256 random bits, which never leaves the page.  Both sides derive from it
 *	id	names it in a request
 *	look	key of proofs to look and to stop
 *	act	key of proofs to act
 * The first proven login makes a session with keys of its own, and the link is gone: whoever finds the link later has
 * nothing.  A session ends when it was not used for TOKEN_SESSION_NS.
 *
 * The session of a studio has no keys: its id is the secret in the address.
 */
#pragma once

#include <sys/types.h>

#include "launch/achweb/fresh.h"

#define TOKEN_RANDOM PROOF_KEY
#define TOKEN_ID PROOF_WORD
#define TOKEN_ID_RANDOM ((TOKEN_ID - 1) / 2)
#define TOKEN_HOST 17 /* the first label of the link's own host name */
#define TOKEN_WHO_MAX 24

#define TOKEN_LIFE_NS 300000000000	/* 5 min */
#define TOKEN_SESSION_NS 43200000000000 /* 12 h */

#define TOKEN_LOOK 1u /* and stop */
#define TOKEN_ACT 2u

struct token {
	char id[TOKEN_ID]; /* "": unused */
	char host[TOKEN_HOST];
	bool studio;
	uint8_t look[PROOF_KEY], act[PROOF_KEY]; /* act: zeroes without that right */
	unsigned int rights;
	int64_t until_ns;
	uid_t uid; /* the user that it was given to */
	char who[TOKEN_WHO_MAX];
	struct fresh_window windows[FRESH_CLIENTS];
};

#define TOKEN_LINKS 16
#define TOKEN_SESSIONS 64

struct token_store {
	struct token links[TOKEN_LINKS], sessions[TOKEN_SESSIONS];
	uint64_t begun; /* sessions, ever */
};

/* The person that a link or a session is for. */
struct token_holder {
	unsigned int rights;
	uid_t uid;
	const char *who;
};

/* If all places are taken, the user who has most of them, or else the one who asks, loses the one that would end first.
 * NULL: as many users as there are places have one each. */
struct token *token_issue(struct token_store *store, const uint8_t random[TOKEN_RANDOM],
			  const struct token_holder *holder, int64_t now_ns);
struct token *token_begin_studio(struct token_store *store, const uint8_t random[TOKEN_ID_RANDOM],
				 const struct token_holder *holder, int64_t now_ns);
/* Exchanges a link for the session of that client (proof.h). */
struct token *token_redeem(struct token_store *store, struct token *link, const char *client,
			   const uint8_t random[TOKEN_ID_RANDOM], int64_t now_ns);

/* NULL: there is none any more. */
struct token *token_link(struct token_store *store, const char *id, int64_t now_ns);
struct token *token_session(struct token_store *store, const char *id, int64_t now_ns);
struct token *token_studio(struct token_store *store, const char *id, int64_t now_ns);
/* The time of a session begins again: after a proof, and while its page is open. */
void token_keep(struct token *session, int64_t now_ns);

/* From now on the session may look alone. */
void token_drop_act(struct token *session);

/* Is this the first label of a name that was given out? */
bool token_has_host(const struct token_store *store, const char *label, size_t len);
