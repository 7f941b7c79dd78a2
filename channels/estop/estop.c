/* estop.c: the two channels of the e-stop, read into windows and written.  Checked: covered. */
#include "channels/ach/ach_ring.h"
#include "channels/clock/clock.h"
#include "channels/estop/estop.h"
#include "config/base/base.h"

#define AT_ONCE (2 * ESTOP_RETAINED) /* messages read of one channel in one look */
#define SUSPENDED_NS 50000000	     /* a longer one is noticed */

static const struct {
	const char *name;
	mode_t mode; /* with a group of operators; 0600 without */
} channels[ESTOP_CHANNELS] = { { "estop", 0640 }, { "estop-b", 0660 } };

/* ---- opening ---- */

static void begin_window(struct estop_channel *c)
{
	c->window = (struct estop_window){ .messages = c->messages, .room = ESTOP_RETAINED };
}

void estop_channel_close(struct estop_channel *c, enum ach_status status, const char *why)
{
	if (c->open)
		ach_close(&c->chan);
	c->open = false;
	c->status = status;
	snprintf(c->why, sizeof(c->why), "%s%s%s", ach_result_to_string(status), *why ? ": " : "", why);
	begin_window(c);
}

enum ach_status estop_channel_open(const struct estop *e, unsigned int i, struct estop_channel *c)
{
	const enum ach_status status = port_attach(&c->chan, c->name, e->options.owner, channels[i].mode);

	c->open = status == ACH_OK;
	if (c->open && c->chan.handle->lsize / c->chan.handle->count < sizeof(struct msg_estop)) {
		estop_channel_close(c, ACH_BAD_SHM_FILE, "it is too small for e-stop messages");
		return ACH_BAD_SHM_FILE;
	}
	if (!c->open) {
		estop_channel_close(c, status, ach_errstr());
		return status;
	}
	*c->why = 0;
	begin_window(c);
	c->watched = e->options.removal && !removal_watch(e->options.removal, &c->chan);
	c->look_ns = INT64_MIN; /* it may have been removed before it was watched */
	return ACH_OK;
}

static enum ach_status make_channel(const struct estop *e, unsigned int i, struct estop_channel *c)
{
	const struct msg_type *type = msg_type_by_number(msg_estop_number);
	const bool shared = e->options.group != (gid_t)-1;
	enum ach_status status;
	ach_create_attr_t attr;

	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, shared ? channels[i].mode : 0600, e->options.group);
	status = ach_create(c->name, ESTOP_RETAINED, type->body->size, &attr);
	if (status == ACH_OK || status == ACH_EEXIST)
		return estop_channel_open(e, i, c);
	estop_channel_close(c, status, ach_errstr());
	return status;
}

void estop_why_closed(const struct estop *e, struct error_sink *errors)
{
	for (unsigned int i = 0; i < ESTOP_CHANNELS; i++)
		if (!e->channel[i].open)
			error_add(errors, "channel %s: %s", e->channel[i].name, e->channel[i].why);
}

static int error_of(const struct estop *e)
{
	for (unsigned int i = 0; i < ESTOP_CHANNELS; i++)
		if (!e->channel[i].open)
			return port_error(e->channel[i].status);
	return 0;
}

int estop_open(struct estop *e, const struct estop_options *options, struct error_sink *errors)
{
	memset(e, 0, sizeof(*e));
	return estop_take_over(e, options, errors);
}

int estop_take_over(struct estop *e, const struct estop_options *options, struct error_sink *errors)
{
	e->options = *options;
	e->level = MSG_LEVEL_ESTOP;
	e->suspended_ns = clock_suspended_ns();
	boot_id_read(e->boot);
	estop_rule_start(&e->rule, options->predecessor, e->boot);
	for (unsigned int i = 0; i < ESTOP_CHANNELS; i++) {
		struct estop_channel *c = &e->channel[i];

		if (port_name(c->name, channels[i].name))
			return error_refuse(errors, -EINVAL, "%s: the channel's name is longer than %d bytes",
					    channels[i].name, PORT_NAME_MAX - 1);
		if (c->open && port_is_gone(&c->chan))
			estop_channel_close(c, ACH_ENOENT, "");
		if (!c->open && estop_channel_open(e, i, c) == ACH_ENOENT && options->make)
			make_channel(e, i, c);
	}
	estop_why_closed(e, errors);
	return error_of(e);
}

void estop_close(struct estop *e)
{
	for (unsigned int i = 0; i < ESTOP_CHANNELS; i++)
		if (e->channel[i].open)
			estop_channel_close(&e->channel[i], ACH_CLOSED, "");
}

int estop_mend(struct estop *e, struct error_sink *errors)
{
	int mended = 0;

	for (unsigned int i = 0; i < ESTOP_CHANNELS; i++) {
		struct estop_channel *c = &e->channel[i];

		if (c->open)
			continue;
		if (c->status == ACH_CORRUPT || c->status == ACH_BAD_SHM_FILE || c->status == ACH_EACCES)
			ach_unlink(c->name);
		if (make_channel(e, i, c) == ACH_OK)
			mended++;
		else
			error_add(errors, "channel %s: %s", c->name, c->why);
	}
	return mended;
}

/* ---- reading ---- */

static bool is_valid(const struct msg_estop *msg, size_t len)
{
	return msg_check(msg, len, msg_type_by_number(msg_estop_number), NULL) == MSG_FINE &&
	       msg->kind <= MSG_ESTOP_LOWER && msg->level <= MSG_LEVEL_ESTOP;
}

static void take(struct estop *e, struct estop_channel *c, struct msg_estop *msg, size_t len)
{
	struct estop_window *w = &c->window;
	const uint64_t seq = c->chan.seq_num;

	if (!is_valid(msg, len)) {
		*msg = (struct msg_estop){ .kind = ESTOP_INVALID };
		e->invalid++;
		snprintf(e->invalid_why, sizeof(e->invalid_why), "channel %s: invalid e-stop message of %zu bytes",
			 c->name, len);
	}
	msg->who[MSG_NAME_SIZE - 1] = msg->why[MSG_TEXT_SIZE - 1] = 0;
	if (seq != w->newest + 1 || !w->oldest) /* the first, or others between were overwritten */
		w->oldest = seq;
	w->newest = seq;
	if (w->newest - w->oldest >= w->room)
		w->oldest = w->newest - w->room + 1;
	c->messages[seq % w->room] = *msg;
}

/* A message longer than the buffer is read where it lies, so that the next one is reached. */
static enum ach_status step_over(struct estop_channel *c)
{
	const void *inside;
	const enum ach_status status = ach_peek(&c->chan, &inside, NULL, NULL, ACH_O_FIRST);

	return status == ACH_OK || status == ACH_MISSED_FRAME ? ach_peek_end(&c->chan) : status;
}

/* false: the channel cannot be read, or not to its end. */
static bool read_channel(struct estop *e, struct estop_channel *c)
{
	struct msg_estop msg;

	for (unsigned int i = 0; c->open && i < AT_ONCE; i++) {
		size_t len;
		enum ach_status status = ach_get(&c->chan, &msg, sizeof(msg), &len, NULL, ACH_O_FIRST);

		if (status == ACH_OVERFLOW)
			status = step_over(c);
		switch (status) {
		case ACH_OK:
		case ACH_MISSED_FRAME:
			take(e, c, &msg, len);
			break;
		case ACH_EAGAIN:
			return !ach_newer(c->chan.handle, c->chan.seq_num);
		default:
			estop_channel_close(c, status, ach_errstr());
		}
	}
	return false;
}

/* Messages may have been missed while the machine slept. */
static bool was_suspended(struct estop *e)
{
	const int64_t suspended_ns = clock_suspended_ns();
	const bool was = suspended_ns - e->suspended_ns > SUSPENDED_NS;

	if (was)
		e->suspended_ns = suspended_ns;
	return was;
}

/* In every tick of every driver: snprintf takes longer than the rest of a look. */
static void copy_text(char *to, const char *from, size_t size)
{
	const size_t len = strnlen(from, size - 1);

	memcpy(to, from, len);
	to[len] = 0;
}

static void keep_reason(struct estop *e)
{
	const struct msg_estop *m = e->rule.because;

	if (m && m->kind == ESTOP_INVALID)
		m = NULL;
	copy_text(e->who, m ? m->who : "", sizeof(e->who));
	copy_text(e->why, m ? m->why : e->rule.because ? e->invalid_why : e->rule.reason, sizeof(e->why));
	e->since_ns = m ? m->header.t_publish_ns : 0;
	if (e->rule.base)
		e->epoch = e->rule.base->epoch;
}

enum msg_level estop_read(struct estop *e, int64_t now_ns)
{
	const bool suspended = was_suspended(e);
	struct estop_window w[ESTOP_CHANNELS];

	for (unsigned int i = 0; i < ESTOP_CHANNELS; i++) {
		struct estop_channel *c = &e->channel[i];

		c->window.readable = read_channel(e, c) && !c->removed && !suspended;
		c->window.id = c->open ? c->chan.handle->id : 0;
		c->removed = false;
		w[i] = c->window;
	}
	e->level = estop_rule_level(&e->rule, w, now_ns);
	keep_reason(e);
	return e->level;
}
