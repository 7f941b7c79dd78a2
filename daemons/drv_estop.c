/* drv_estop.c: which level of the e-stop a driver has to obey. */
#include <string.h>

#include "daemons/drv_estop.h"

static void raise_to(enum msg_level *level, enum msg_level to)
{
	if (to > *level)
		*level = to;
}

static void later(uint64_t *seq, uint64_t than)
{
	if (than > *seq)
		*seq = than;
}

static void copy(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size - 1);

	memset(to, 0, size);
	memcpy(to, from, len);
}

static void say(struct drv_estop *e, const char *who, const char *why)
{
	copy(e->who, who, sizeof(e->who));
	copy(e->why, why, sizeof(e->why));
}

void drv_estop_start(struct drv_estop *e)
{
	memset(e, 0, sizeof(*e));
	e->level = MSG_LEVEL_ESTOP;
	for (unsigned int i = 0; i < DRV_ESTOP_CHANNELS; i++)
		e->channel[i].level = MSG_LEVEL_ESTOP;
}

void drv_estop_begin(struct drv_estop *e)
{
	e->peak = MSG_LEVEL_RUN;
	for (unsigned int i = 0; i < DRV_ESTOP_CHANNELS; i++) {
		struct drv_estop_channel *c = &e->channel[i];

		if (c->unsaid)
			say(e, c->to_who, c->to_why);
		c->unsaid = c->trouble = false;
	}
}

/* ---- a new epoch ---- */

static void enter_epoch(struct drv_estop_channel *c, uint64_t epoch, uint64_t raise_seq)
{
	later(&c->raise_seq, c->epoch_raise_seq);
	c->epoch = epoch;
	c->epoch_raise_seq = raise_seq;
}

static void begin_lowering(struct drv_estop_channel *c, enum msg_level level, const struct msg_estop *msg)
{
	c->lowering = true;
	c->to_epoch = msg->epoch;
	c->to_level = c->to_lowest = level;
	c->to_raise_seq = 0;
	memset(c->seen_seq, 0, sizeof(c->seen_seq));
	copy(c->to_who, msg->who, sizeof(c->to_who));
	copy(c->to_why, msg->why, sizeof(c->to_why));
}

/* A message of its epoch: the first, or one more.  On the second channel a raise may even come before the lowering it
 * is meant for. */
static void join_lowering(struct drv_estop_channel *c, unsigned int channel, enum msg_level level,
			  const struct msg_estop *msg, uint64_t seq)
{
	if (level < c->to_lowest) {
		c->to_lowest = level;
		memset(c->seen_seq, 0, sizeof(c->seen_seq));
	}
	if (level == c->to_lowest) {
		c->judged = false;
		/* Nobody has seen what comes after his own message, whatever he says. */
		for (unsigned int i = 0; i < DRV_ESTOP_CHANNELS; i++)
			later(&c->seen_seq[i], i == channel && msg->seen[i] >= seq ? seq - 1 : msg->seen[i]);
	}
	if (level > c->to_level) {
		c->to_level = level;
		copy(c->to_who, msg->who, sizeof(c->to_who));
		copy(c->to_why, msg->why, sizeof(c->to_why));
	}
	if (level != MSG_LEVEL_RUN)
		c->to_raise_seq = seq;
}

static void take_lowering(struct drv_estop *e, struct drv_estop_channel *c)
{
	c->lowering = false;
	c->level = c->to_level;
	enter_epoch(c, c->to_epoch, c->to_raise_seq);
	/* What is obeyed in this turn is a raise before it, and so are its words. */
	c->unsaid = e->peak > c->to_level;
	if (!c->unsaid)
		say(e, c->to_who, c->to_why);
}

/* The lowering is not taken; what was raised since stays. */
static void drop_lowering(struct drv_estop_channel *c)
{
	if (!c->lowering)
		return;
	c->lowering = false;
	raise_to(&c->level, c->to_level);
	later(&c->raise_seq, c->to_raise_seq);
}

/* Does a raise that the lowering on c does not undo lie behind what its writer had seen? */
static bool is_void(const struct drv_estop *e, const struct drv_estop_channel *c)
{
	for (unsigned int i = 0; i < DRV_ESTOP_CHANNELS; i++) {
		const struct drv_estop_channel *other = &e->channel[i];

		if (other->raise_seq > c->seen_seq[i])
			return true;
		if (other->epoch < c->to_epoch && other->epoch_raise_seq > c->seen_seq[i])
			return true;
	}
	return false;
}

/* ---- a turn ---- */

void drv_estop_message(struct drv_estop *e, unsigned int channel, const struct msg_estop *msg, uint64_t seq)
{
	struct drv_estop_channel *c = &e->channel[channel];
	enum msg_level level = msg->level > MSG_LEVEL_ESTOP ? MSG_LEVEL_ESTOP : (enum msg_level)msg->level;

	raise_to(&e->peak, level);
	if (c->unsure) {
		c->unsure = false;
		c->raise_seq = seq - 1;
	}
	if (msg->epoch > (c->lowering ? c->to_epoch : c->epoch)) {
		drop_lowering(c);
		if (level < c->level) {
			begin_lowering(c, level, msg);
		} else {
			enter_epoch(c, msg->epoch, 0);
			say(e, msg->who, msg->why);
		}
	}
	if (c->lowering && msg->epoch == c->to_epoch) {
		join_lowering(c, channel, level, msg, seq);
	} else if (level != MSG_LEVEL_RUN) {
		if (level > c->level)
			say(e, msg->who, msg->why);
		raise_to(&c->level, level);
		*(msg->epoch == c->epoch ? &c->epoch_raise_seq : &c->raise_seq) = seq;
	}
}

void drv_estop_trouble(struct drv_estop *e, unsigned int channel, const char *why)
{
	struct drv_estop_channel *c = &e->channel[channel];

	c->trouble = true;
	c->unsure = true;
	c->lowering = false;
	c->raise_seq = 0;
	c->epoch_raise_seq = 0;
	c->level = MSG_LEVEL_ESTOP;
	e->peak = MSG_LEVEL_ESTOP;
	say(e, "", why);
}

enum msg_level drv_estop_end(struct drv_estop *e)
{
	struct drv_estop_channel *c = e->channel;
	bool refused[DRV_ESTOP_CHANNELS];

	/* Both before one is taken, which changes what the other is judged by. */
	for (unsigned int i = 0; i < DRV_ESTOP_CHANNELS; i++)
		refused[i] = is_void(e, &c[i]);
	for (unsigned int i = 0; i < DRV_ESTOP_CHANNELS; i++) {
		if (!c[i].lowering)
			continue;
		if (!c[i].judged && !refused[i]) {
			take_lowering(e, &c[i]);
			continue;
		}
		e->voided += !c[i].judged;
		c[i].judged = true;
		raise_to(&c[i].level, c[i].to_level);
	}
	e->level = c[0].level;
	raise_to(&e->level, c[1].level);
	if (e->peak > e->level)
		e->level = e->peak;
	else
		e->epoch = c[0].epoch < c[1].epoch ? c[0].epoch : c[1].epoch;
	return e->level;
}
