/* estop_write.c: raises, lowerings, and what is done about a channel that cannot be trusted.  Checked: covered. */
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/estop/estop.h"
#include "config/base/base.h"

struct estop_seen estop_seen(const struct estop *e)
{
	struct estop_seen seen;

	for (unsigned int i = 0; i < ESTOP_CHANNELS; i++) {
		seen.id[i] = e->channel[i].window.id;
		seen.seq[i] = e->channel[i].window.newest;
	}
	return seen;
}

struct estop_kept estop_kept(const struct estop *e)
{
	return e->rule.kept;
}

/* ---- messages ---- */

static struct msg_estop message(const struct estop *e, enum msg_estop_kind kind, enum msg_level level,
				const struct estop_seen *seen)
{
	struct msg_estop msg;

	msg_init(&msg, msg_type_by_number(msg_estop_number));
	msg.header.t_sample_ns = msg.header.t_publish_ns = clock_now_ns();
	msg.kind = kind;
	msg.level = level;
	msg.epoch = e->epoch;
	memcpy(msg.boot, e->boot, sizeof(msg.boot));
	memcpy(msg.chan, seen->id, sizeof(msg.chan));
	memcpy(msg.seen, seen->seq, sizeof(msg.seen));
	msg.pid = (uint32_t)getpid();
	return msg;
}

static void sign(struct msg_estop *msg, const char *who, uid_t uid, const char *why)
{
	msg->uid = uid;
	snprintf(msg->who, sizeof(msg->who), "%s", who);
	snprintf(msg->why, sizeof(msg->why), "%s", why);
}

static enum ach_status put(struct estop_channel *c, const struct msg_estop *msg)
{
	enum ach_status status = c->open ? ach_put(&c->chan, msg, sizeof(*msg)) : c->status;

	if (status != ACH_OK && c->open)
		snprintf(c->why, sizeof(c->why), "%s: %s", ach_result_to_string(status), ach_errstr());
	return status;
}

/* ---- raising ---- */

/* A raise is put, or its channel is condemned: every reader finds one or the other.  A channel that is condemned
 * already says the same.  One whose file was overwritten cannot be opened, but readers still have it: it is removed,
 * which they notice. */
static enum ach_status put_or_condemn(struct estop_channel *c, const struct msg_estop *msg)
{
	const enum ach_status status = put(c, msg);

	if (!c->open && status == ACH_CORRUPT)
		return ACH_OK;
	if (!c->open && status == ACH_BAD_SHM_FILE)
		return ach_unlink(c->name);
	if (status == ACH_OK || !c->open)
		return status;
	return ach_condemn(&c->chan);
}

int estop_raise(struct estop *e, enum msg_level level, const char *who, uid_t uid, const char *why,
		struct error_sink *errors)
{
	int status = -EIO;

	/* estop-b first, which every user who may raise can write.  What is written to estop then says that estop-b was
	 * read, so it has to carry whatever was raised there. */
	for (unsigned int i = ESTOP_CHANNELS; i-- > 0;) {
		const struct estop_seen seen = estop_seen(e);
		struct msg_estop msg = message(e, MSG_ESTOP_RAISE, level, &seen);
		enum ach_status put;

		sign(&msg, who, uid, why);
		put = put_or_condemn(&e->channel[i], &msg);
		if (put == ACH_OK)
			status = 0;
		else if (put != ACH_EACCES || i) /* operators may not write estop */
			error_add(errors, "channel %s: %s", e->channel[i].name, e->channel[i].why);
		if (estop_read(e, clock_now_ns()) > level)
			level = e->level;
	}
	return status;
}

/* ---- lowering ---- */

int estop_lower(struct estop *e, const struct estop_seen *seen, enum msg_level level, int64_t until_ns, uint64_t epoch,
		const char *who, uid_t uid, const char *why, uint64_t *base, struct error_sink *errors)
{
	struct msg_estop msg = message(e, MSG_ESTOP_LOWER, level, seen);
	struct estop_channel *c = &e->channel[0];

	sign(&msg, who, uid, why);
	msg.epoch = epoch;
	msg.until_ns = until_ns;
	*base = seen->seq[0] + 1;
	if (put(c, &msg) == ACH_OK)
		return 0;
	return error_refuse(errors, -EIO, "channel %s: %s", c->name, c->why);
}

/* ---- for the others ---- */

/* Copies the level of estop-b, or that it cannot be trusted, to estop, which operators cannot change. */
static void ratify(struct estop *e)
{
	const struct estop_seen seen = estop_seen(e);
	struct msg_estop msg = message(e, MSG_ESTOP_RAISE, e->rule.kept.level, &seen);
	char why[MSG_TEXT_SIZE];

	snprintf(why, sizeof(why), "%.80s%s%.32s", e->why, *e->why && *e->who ? ", " : "", e->who);
	sign(&msg, e->options.name, geteuid(), why);
	put_or_condemn(&e->channel[0], &msg);
}

static bool was_removed(const struct estop *e, struct estop_channel *c, int64_t now_ns)
{
	if (c->watched && c->removals == e->options.removal->events && !clock_is_due(c->look_ns, now_ns, ESTOP_FILE_NS))
		return false;
	if (c->watched)
		c->removals = e->options.removal->events;
	c->look_ns = now_ns + ESTOP_FILE_NS;
	return port_is_gone(&c->chan);
}

/* A channel that opens and cannot be read, because it is condemned, is not opened in every turn. */
static void reopen(struct estop *e, unsigned int i, int64_t now_ns)
{
	struct estop_channel *c = &e->channel[i];

	if (c->open && was_removed(e, c, now_ns)) {
		estop_channel_close(c, ACH_ENOENT, "it was removed");
		c->removed = true;
	}
	if (c->open || !clock_is_due(c->retry_ns, now_ns, ESTOP_READ_NS))
		return;
	c->retry_ns = now_ns + ESTOP_READ_NS;
	estop_channel_open(e, i, c);
}

void estop_maintain(struct estop *e, int64_t now_ns)
{
	struct estop_window w[ESTOP_CHANNELS];

	for (unsigned int i = 0; i < ESTOP_CHANNELS; i++)
		w[i] = e->channel[i].window;
	if (e->options.ratify && estop_rule_must_ratify(&e->rule, w))
		ratify(e);
	if (e->options.ratify && e->rule.back_b)
		ach_condemn(&e->channel[1].chan);
	for (unsigned int i = 0; i < ESTOP_CHANNELS; i++)
		reopen(e, i, now_ns);
}
