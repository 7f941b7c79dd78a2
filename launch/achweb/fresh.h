/* fresh.h: a proof is good once, and for seconds: challenges of this process, and counts that were used; pure.
 *
 * The newest challenge and the one before it are good, each for FRESH_NS as the newest.  They are random for each
 * process: what another program collected on our port while no achweb was there is worth nothing to the next one.
 */
#pragma once

#include "launch/achweb/proof.h"

#define FRESH_NS 4000000000
#define FRESH_RANDOM 16
#define FRESH_CLIENTS 8 /* loads of the page in a session, within the life of a challenge */
#define FRESH_COUNTS 32 /* by how many requests of a page may overtake each other */

struct fresh {
	char now[PROOF_WORD], before[PROOF_WORD]; /* "": none */
	uint64_t turn;				  /* how many there were */
	int64_t until_ns;
};

bool fresh_is_due(const struct fresh *fresh, int64_t now_ns);
void fresh_renew(struct fresh *fresh, const uint8_t random[FRESH_RANDOM], int64_t now_ns);
bool fresh_has(const struct fresh *fresh, const char *challenge);

/* Counts of one load of the page.  Begins with zeroes. */
struct fresh_window {
	char client[PROOF_WORD];
	uint64_t highest, turn; /* turn: of the challenge when it was last used */
	uint32_t used;		/* bit i: highest - i */
};

enum fresh_taken { FRESH_TAKEN, FRESH_USED, FRESH_FULL };
/* Takes a count, once.  A window makes room when every challenge that its counts came with has ended. */
enum fresh_taken fresh_take(struct fresh_window windows[FRESH_CLIENTS], const char *client, uint64_t count,
			    uint64_t turn);
