/* drv_estop.h: which level of the e-stop a driver has to obey.
 *
 * Two channels, estop and estop-b, carry the same messages, and the higher level counts: a writer that was stopped
 * inside one put cannot block a stop.  Anybody may raise the level.  Lowering it takes a new epoch, on both channels,
 * and that its writer had seen every raise: seen_seq[2] are the Ach sequence numbers of the last message it had read
 * on each.  A raise after them makes it void.
 *
 *	drv_estop_begin(&estop);
 *	for each channel:	drv_estop_message(&estop, 0, &message, sequence);	each one, in order
 *				drv_estop_trouble(&estop, 0, why);	missed, missing, unreadable, corrupt
 *	level = drv_estop_end(&estop);
 *
 * Pure.  Per channel:
 *
 *	a new epoch, level lower	a lowering, if no raise of an older epoch, on either channel, lies behind what
 *					its writer had seen; it is judged in drv_estop_end, when all raises of this
 *					turn are known.  Messages of its epoch that follow belong to it: the highest
 *					level of them counts, and what the writers of the lowest had seen
 *	a new epoch otherwise		taken at once, as a raise
 *	any other epoch			a raise, if its level is not run; nothing is ever lowered by it
 *	trouble				estop, until a new epoch, whose writer has to have seen everything before the
 *					first message read after the trouble: what was missed may have been a raise.
 *					Sequence numbers may begin anew after it (another file under the old name)
 *
 * A raise and its lowering in one turn: the raised level is obeyed in this turn and the lowering in the next, so that
 * the action is taken.  To begin with both are at estop in epoch 0: a robot comes up stopped.
 */
#ifndef DRV_ESTOP_H
#define DRV_ESTOP_H

#include <stdbool.h>
#include <stdint.h>

#include "channels/msg/msg.h"

#define DRV_ESTOP_CHANNELS 2

struct drv_estop_channel {
	uint64_t epoch;
	enum msg_level level;
	uint64_t raise_seq;	  /* of the last raise of an epoch before this one */
	uint64_t epoch_raise_seq; /* of this epoch's last message that was not run */
	bool trouble;		  /* in this turn */
	bool unsure;		  /* nothing read since there was trouble */
	/* The newest lowering, until it is taken.  One that is void stays: others of its epoch may join it. */
	bool lowering;
	bool judged; /* and found void, as it is */
	uint64_t to_epoch;
	enum msg_level to_level;  /* the highest of its epoch so far */
	enum msg_level to_lowest; /* the lowest, to which seen_seq belongs */
	uint64_t to_raise_seq;	  /* epoch_raise_seq, once it is taken */
	uint64_t seen_seq[DRV_ESTOP_CHANNELS];
	char to_who[MSG_NAME_SIZE];
	char to_why[MSG_TEXT_SIZE];
	bool unsaid; /* the words of a lowering that is obeyed in the next turn only */
};

struct drv_estop {
	struct drv_estop_channel channel[DRV_ESTOP_CHANNELS];
	enum msg_level level;	 /* obeyed */
	uint64_t epoch;		 /* obeyed: the lower one of the channels' */
	enum msg_level peak;	 /* the highest in this turn */
	uint64_t voided;	 /* lowerings that a raise made void */
	char who[MSG_NAME_SIZE]; /* of the last message that changed something */
	char why[MSG_TEXT_SIZE];
};

void drv_estop_start(struct drv_estop *e);

void drv_estop_begin(struct drv_estop *e);
/* A message that msg_check found fine; a level that is none counts as estop. */
void drv_estop_message(struct drv_estop *e, unsigned int channel, const struct msg_estop *msg, uint64_t seq);
void drv_estop_trouble(struct drv_estop *e, unsigned int channel, const char *why);
enum msg_level drv_estop_end(struct drv_estop *e);

#endif
