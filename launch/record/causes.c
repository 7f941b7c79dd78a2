/* causes.c: what of the events, stops and states of a robot is an incident. */
#include "channels/clock/clock.h"
#include "launch/record/causes.h"

#define STATES_NS 500000000 /* between two looks at states */

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

static void keep_state(struct causes_source *s, const void *bytes)
{
	const struct {
		struct msg_header header;
		struct msg_common common;
	} *state = bytes;

	s->unseen = true;
	s->incarnation = state->header.incarnation;
	s->skipped = state->common.skipped;
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
		keep_state(s, bytes);
}

/* How many ticks each has skipped. */
void causes_look(struct causes *c, int64_t now_ns)
{
	char why[TRIGGER_WHY_MAX];

	if (now_ns < c->look_ns)
		return;
	c->look_ns = now_ns + STATES_NS;
	for (struct causes_source *s = c->sources; s < c->sources + c->n; s++) {
		const struct trigger_ticks ticks = { s->name + c->prefix, s->incarnation, s->skipped, now_ns };
		const enum trigger_kind kind = s->unseen ? trigger_skipped(&c->trigger, &ticks, why) : TRIGGER_NONE;

		s->unseen = false;
		if (kind)
			c->found(kind, now_ns, why);
	}
}
