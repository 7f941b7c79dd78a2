/* estop_rule.h: which level of the e-stop holds.  Pure: windows of the two channels and the time are arguments.
 *
 * Channel 0, estop:   written by the robot's user only; lowerings and raises.
 * Channel 1, estop-b: written by operators as well; everything in it is a raise.
 *
 * A lowering is valid at one place only: right behind what its writer had read of channel 0 (seen[0] + 1 is its own Ach
 * sequence number), in these two channels (chan[]), in this boot.  The base is the newest valid lowering, provided that
 * this reader may obey it: it read it before until_ns, or its predecessor obeyed it.  The level is the highest of
 *	the base's,
 *	what lies behind the base in channel 0,
 *	what lies behind the base's seen[1] in channel 1.
 * A raise whose writer had not read the base counts as estop; so does a message that is invalid or was overwritten
 * before it was read, a channel that cannot be read, and having no base.
 */
#pragma once

#include "channels/msg/msg.h"

#define ESTOP_CHANNELS 2
#define ESTOP_INVALID UINT32_MAX /* as kind: the message is not a valid e-stop message */

/* What a reader holds of a channel. */
struct estop_window {
	bool readable;		 /* there, owned as it must be, sound, not condemned */
	uint64_t id;		 /* of the channel */
	uint64_t oldest, newest; /* Ach sequence numbers; newest 0: empty */
	const struct msg_estop *messages;
	size_t room; /* message seq is messages[seq % room] */
};

/* What a driver keeps in its state for its successor: the lowering it obeys and the highest level since. */
struct estop_kept {
	uint64_t boot[2], chan, base; /* base 0: none */
	enum msg_level level;
};

struct estop_rule {
	uint64_t boot[2];
	uint64_t id[ESTOP_CHANNELS], high[ESTOP_CHANNELS]; /* the newest message read of each */
	uint64_t void_to; /* lowerings up to here were written without knowing of some trouble */
	struct estop_kept kept;
	bool unsure;	/* there was trouble in the last look */
	bool trouble_b; /* in this look, with channel 1 */
	bool back_b;	/* it went back: its messages were changed after they were written, so it is to be condemned */

	struct estop_window evaluated[ESTOP_CHANNELS]; /* by the last look */
	bool settled;				       /* it was the second at them, and found nothing new any more */
	uint64_t mentioned;			       /* the newest message of channel 1 that channel 0 mentions */

	/* found by the last look */
	enum msg_level level;
	const struct msg_estop *base;	 /* NULL: none */
	const struct msg_estop *because; /* the message that gives the level; NULL: the reason is in words: */
	const char *reason;
};

/* predecessor NULL, or of another boot: none. */
void estop_rule_start(struct estop_rule *rule, const struct estop_kept *predecessor, const uint64_t boot[2]);
enum msg_level estop_rule_level(struct estop_rule *rule, const struct estop_window w[ESTOP_CHANNELS], int64_t now_ns);
/* For the windows of the last look: does channel 1 hold a raise, or was there trouble with it, of which channel 0,
 * which operators cannot change, does not say anything yet? */
bool estop_rule_must_ratify(const struct estop_rule *rule, const struct estop_window w[ESTOP_CHANNELS]);
