/* lowering.c: which lowering of the e-stop drivers obey. */
#include <string.h>

#include "launch/common/lowering.h"

bool lowering_is_driver(const struct msg_common *state, const uint64_t boot[2])
{
	return (boot[0] || boot[1]) && !memcmp(state->boot, boot, sizeof(state->boot));
}

bool lowering_is_taken(const struct msg_common *state, const uint64_t boot[2], uint64_t chan, uint64_t base)
{
	return lowering_is_driver(state, boot) && base && state->base_chan == chan && state->base_seq == base &&
	       state->level == MSG_LEVEL_RUN;
}

void lowering_add(struct estop_kept *kept, const struct msg_common *state, const uint64_t boot[2], uint64_t chan)
{
	const enum msg_level level =
		state->base_level > MSG_LEVEL_ESTOP ? MSG_LEVEL_ESTOP : (enum msg_level)state->base_level;

	if (!lowering_is_driver(state, boot) || state->base_chan != chan || !state->base_seq ||
	    state->base_seq < kept->base)
		return;
	if (state->base_seq == kept->base && level <= kept->level)
		return;
	*kept = (struct estop_kept){ { boot[0], boot[1] }, chan, state->base_seq, level };
}
