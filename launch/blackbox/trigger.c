/* trigger.c: what makes an incident. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "launch/blackbox/trigger.h"

/* Codes that are incidents from that severity on. */
static const struct {
	const char *code;
	enum msg_severity from;
	const char *what;
	bool lasts; /* it is reported again and again */
} codes[] = {
	{ "ended", MSG_SEVERITY_ERROR, "died", false },
	{ "killed", MSG_SEVERITY_WARNING, "watchdog", false },
	{ "failed", MSG_SEVERITY_ERROR, "given up", false },
	{ "raised", MSG_SEVERITY_WARNING, "stop", false },
	{ "late-frame", MSG_SEVERITY_WARNING, "late frame", true },
};

static struct trigger_state *state_of(struct trigger *t, const char *name)
{
	for (unsigned int i = 0; i < t->states_n; i++)
		if (!strcmp(t->states[i].name, name))
			return &t->states[i];
	if (t->states_n == TRIGGER_STATES_MAX)
		return NULL;
	t->states[t->states_n] = (struct trigger_state){ 0 };
	snprintf(t->states[t->states_n].name, sizeof(t->states->name), "%s", name);
	return &t->states[t->states_n++];
}

/* Is it the first report, or the first for a long time? */
static bool begins(struct trigger_state *state, int64_t t_ns)
{
	const bool first = !state->last_ns || t_ns - state->last_ns > TRIGGER_AGAIN_NS;

	state->last_ns = t_ns;
	return first;
}

bool trigger_event(struct trigger *t, const struct msg_event *event, char why[TRIGGER_WHY_MAX])
{
	char source[sizeof(event->source) + 1];
	struct trigger_state *state;

	snprintf(source, sizeof(source), "%.*s", (int)sizeof(event->source), event->source);
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		if (strncmp(event->code, codes[i].code, sizeof(event->code)) != 0 || event->severity < codes[i].from)
			continue;
		state = codes[i].lasts ? state_of(t, source) : NULL;
		if (codes[i].lasts && (!state || !begins(state, event->header.t_publish_ns)))
			return false;
		snprintf(why, TRIGGER_WHY_MAX, "%s: %s: %.*s", codes[i].what, source, (int)sizeof(event->text),
			 event->text);
		return true;
	}
	return false;
}

bool trigger_estop(struct trigger *t, const struct msg_estop *estop, char why[TRIGGER_WHY_MAX])
{
	const bool was_armed = t->armed;

	t->armed = estop->kind == MSG_ESTOP_LOWER && estop->level == MSG_LEVEL_RUN;
	if (!was_armed || t->armed || estop->level == MSG_LEVEL_RUN)
		return false;
	snprintf(why, TRIGGER_WHY_MAX, "stop: level %s by %.*s: %.*s",
		 estop->level == MSG_LEVEL_HOLD ? "hold" : "estop", (int)sizeof(estop->who), estop->who,
		 (int)sizeof(estop->why), estop->why);
	return true;
}

bool trigger_skipped(struct trigger *t, const struct trigger_ticks *ticks, char why[TRIGGER_WHY_MAX])
{
	struct trigger_state *state = state_of(t, ticks->name);
	uint64_t more;

	if (!state)
		return false;
	more = state->incarnation == ticks->incarnation && ticks->skipped > state->skipped
		       ? ticks->skipped - state->skipped
		       : 0;
	state->incarnation = ticks->incarnation;
	state->skipped = ticks->skipped;
	if (!t->skipped_max || more <= t->skipped_max || !begins(state, ticks->t_ns))
		return false;
	snprintf(why, TRIGGER_WHY_MAX, "overrun: %s: %" PRIu64 " ticks skipped", ticks->name, more);
	return true;
}
