/* token.h: who may look and who may act: tokens of one use, and the sessions that they are exchanged for; pure.
 *
 * A token is 128 random bits, printed by achctl web.  Whoever shows it first gets a session, and the token is gone.  A
 * session ends when it was not used for TOKEN_SESSION_NS.
 *
 * A session has two secrets.  The text is a cookie, which a browser sends to every port of this machine, those of other
 * users too: it looks and stops.  To act takes the key, which a browser gives to pages of this server alone.
 */
#ifndef LAUNCH_ACHWEB_TOKEN_H
#define LAUNCH_ACHWEB_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOKEN_RANDOM 32
#define TOKEN_MAX (TOKEN_RANDOM + 1) /* hexadecimal digits of half of it */
#define TOKEN_WHO_MAX 24

#define TOKEN_LIFE_NS 300000000000	/* 5 min */
#define TOKEN_SESSION_NS 43200000000000 /* 12 h */

#define TOKEN_LOOK 1u /* and stop */
#define TOKEN_ACT 2u

struct token {
	char text[TOKEN_MAX], key[TOKEN_MAX]; /* "": unused */
	unsigned int rights;
	int64_t until_ns;
	char who[TOKEN_WHO_MAX]; /* the user that it was given to */
};

#define TOKEN_SESSIONS 64

struct token_store {
	struct token tokens[16], sessions[TOKEN_SESSIONS];
	uint64_t begun; /* sessions, ever */
};

/* A new token, or a session without one; the one that would end first makes room. */
const struct token *token_issue(struct token_store *store, const uint8_t random[TOKEN_RANDOM], unsigned int rights,
				const char *who, int64_t now_ns);
const struct token *token_begin_session(struct token_store *store, const uint8_t random[TOKEN_RANDOM],
					unsigned int rights, const char *who, int64_t now_ns);
/* Exchanges a token for a session; NULL: there is no such token any more. */
const struct token *token_redeem(struct token_store *store, const char *text, const uint8_t random[TOKEN_RANDOM],
				 int64_t now_ns);
/* The session, whose time begins again; NULL: there is none. */
const struct token *token_session(struct token_store *store, const char *text, int64_t now_ns);
const struct token *token_session_of_key(struct token_store *store, const char *key, int64_t now_ns);

#endif
