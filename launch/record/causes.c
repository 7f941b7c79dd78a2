/* causes.c: what of the events, stops and states of a robot is an incident. */
#include "channels/clock/clock.h"
#include "launch/record/causes.h"

#define STATES_NS 500000000 /* between two looks at a state */

/* NULL: there are too many. */
static struct causes_source *source_of(struct causes *c, const char *name)
{
	struct causes_source *s;

	for (s = c->sources; s < c->sources + c->n; s++)
		if (!strcmp(s->name, name))
			return s;
	if (c->n == CAUSES_SOURCES_MAX || strlen(name) >= sizeof(s->name))
		return NULL;
	strcpy(s->name, name);
	c->n++;
	return s;
}

static bool is_new(struct causes_source *s, const struct recorder_channel *from)
{
	if (s->id == from->id && from->f.chan.seq_num <= s->number)
		return false;
	s->id = from->id;
	s->number = from->f.chan.seq_num;
	return true;
}

static void read_event(struct causes *c, const struct msg_event *event)
{
	char why[TRIGGER_WHY_MAX];
	const enum trigger_kind kind = trigger_event(&c->trigger, event, why);

	if (kind)
		c->found(kind, event->header.t_sample_ns ? event->header.t_sample_ns : event->header.t_publish_ns, why);
}

static void read_stop(struct causes *c, const struct msg_estop *estop)
{
	char why[TRIGGER_WHY_MAX];
	const enum trigger_kind kind = trigger_estop(&c->trigger, estop, why);

	if (kind)
		c->found(kind, estop->header.t_publish_ns, why);
}

/* How many ticks it has skipped. */
static void read_state(struct causes *c, struct causes_source *s, const void *bytes)
{
	const struct {
		struct msg_header header;
		struct msg_common common;
	} *state = bytes;
	const struct trigger_ticks ticks = { s->name + c->prefix, state->header.incarnation, state->common.skipped,
					     clock_now_ns() };
	char why[TRIGGER_WHY_MAX];
	enum trigger_kind kind;

	if (ticks.t_ns < s->look_ns)
		return;
	s->look_ns = ticks.t_ns + STATES_NS;
	kind = trigger_skipped(&c->trigger, &ticks, why);
	if (kind)
		c->found(kind, ticks.t_ns, why);
}

void causes_seen(struct causes *c, const struct recorder_channel *from)
{
	const char *own = from->name + c->prefix;
	const bool event = text_ends_with(own, "-event"), state = text_ends_with(own, "-state");
	const bool stop = !strcmp(own, "estop") || !strcmp(own, "estop-b");
	struct causes_source *s = event || state || stop ? source_of(c, from->name) : NULL;
	const void *bytes = from->f.bytes;
	const size_t len = from->f.len;

	if (!s || !is_new(s, from) || msg_check(bytes, len, NULL, NULL) != MSG_FINE)
		return;
	if (event && len == sizeof(struct msg_event))
		read_event(c, bytes);
	if (stop && len == sizeof(struct msg_estop))
		read_stop(c, bytes);
	if (state && len >= sizeof(struct msg_header) + sizeof(struct msg_common))
		read_state(c, s, bytes);
}
