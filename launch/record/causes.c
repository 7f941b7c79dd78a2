/* causes.c: reads the events, stops and states of a robot for what is an incident. */
#include <stdio.h>
#include <string.h>

#include "config/base/text.h"
#include "launch/record/causes.h"

/* ---- channels ---- */

static void close_source(struct causes_source *s)
{
	if (s->open)
		ach_close(&s->chan);
	s->open = false;
}

/* A message of a channel that may be missing or made again.  Its length; 0: none. */
static size_t next_message(struct causes_source *s, void *message, size_t room, int options)
{
	enum ach_status status;
	size_t len = 0;

	if (!s->open)
		return 0;
	status = ach_get(&s->chan, message, room, &len, NULL, options);
	if (status == ACH_OK || status == ACH_MISSED_FRAME)
		return len;
	if (status != ACH_STALE_FRAMES)
		close_source(s);
	return 0;
}

static bool is_known(const struct causes *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->sources[i].name, name))
			return true;
	return false;
}

static void add_source(struct causes *c, const char *name)
{
	struct causes_source *s = &c->sources[c->n];
	const char *own = name + c->prefix;

	if (text_ends_with(own, "-event"))
		s->kind = CAUSES_EVENTS;
	else if (text_ends_with(own, "-state"))
		s->kind = CAUSES_STATE;
	else if (!strcmp(own, "estop") || !strcmp(own, "estop-b"))
		s->kind = CAUSES_STOPS;
	else
		return;
	if (c->n == CAUSES_SOURCES_MAX || strlen(name) >= sizeof(s->name) || is_known(c, name))
		return;
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->open = false;
	c->n++;
}

void causes_open(struct causes *c, const struct recorder *rec)
{
	for (size_t i = 0; i < rec->n && c->n < CAUSES_SOURCES_MAX; i++)
		add_source(c, rec->channels[i].name);
	for (size_t i = 0; i < c->n; i++) {
		struct causes_source *s = &c->sources[i];
		int unlinked = 0;

		if (s->open && (ach_unlinked(&s->chan, &unlinked) != ACH_OK || unlinked))
			close_source(s);
		if (!s->open)
			s->open = ach_open(&s->chan, s->name, NULL) == ACH_OK;
	}
}

void causes_close(struct causes *c)
{
	for (size_t i = 0; i < c->n; i++)
		close_source(&c->sources[i]);
}

/* ---- messages ---- */

static void read_events(struct causes *c, struct causes_source *s)
{
	char why[TRIGGER_WHY_MAX];
	enum trigger_kind kind;
	struct msg_event event;
	size_t len;

	while ((len = next_message(s, &event, sizeof(event), 0)))
		if (len == sizeof(event) && msg_check(&event, len, NULL, NULL) == MSG_FINE &&
		    (kind = trigger_event(&c->trigger, &event, why)))
			c->found(kind, event.header.t_sample_ns ? event.header.t_sample_ns : event.header.t_publish_ns,
				 why);
}

static void read_stops(struct causes *c, struct causes_source *s)
{
	char why[TRIGGER_WHY_MAX];
	enum trigger_kind kind;
	struct msg_estop estop;
	size_t len;

	while ((len = next_message(s, &estop, sizeof(estop), 0)))
		if (len == sizeof(estop) && msg_check(&estop, len, NULL, NULL) == MSG_FINE &&
		    (kind = trigger_estop(&c->trigger, &estop, why)))
			c->found(kind, estop.header.t_publish_ns, why);
}

void causes_read(struct causes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->sources[i].kind == CAUSES_EVENTS)
			read_events(c, &c->sources[i]);
		if (c->sources[i].kind == CAUSES_STOPS)
			read_stops(c, &c->sources[i]);
	}
}

/* How many ticks it has skipped. */
static void read_state(struct causes *c, struct causes_source *s)
{
	static uint8_t bytes[MSG_SIZE_MAX];
	const size_t len = next_message(s, bytes, sizeof(bytes), ACH_O_LAST);
	char why[TRIGGER_WHY_MAX];
	enum trigger_kind kind;
	struct trigger_ticks ticks = { .name = s->name + c->prefix, .t_ns = clock_now_ns() };
	struct {
		struct msg_header header;
		struct msg_common common;
	} state;

	if (len < sizeof(state) || msg_check(bytes, len, NULL, NULL) != MSG_FINE)
		return;
	memcpy(&state, bytes, sizeof(state));
	ticks.incarnation = state.header.incarnation;
	ticks.skipped = state.common.skipped;
	kind = trigger_skipped(&c->trigger, &ticks, why);
	if (kind)
		c->found(kind, ticks.t_ns, why);
}

void causes_states(struct causes *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->sources[i].kind == CAUSES_STATE)
			read_state(c, &c->sources[i]);
}
