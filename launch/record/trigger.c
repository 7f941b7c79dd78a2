/* trigger.c: what makes an incident.  Checked: covered. */
#include "launch/record/trigger.h"

/* Codes that are incidents from that severity on. */
static const struct {
	const char *code;
	enum msg_severity from;
	const char *what;
	enum trigger_kind kind; /* all but TRIGGER_ONCE are reported again and again */
} codes[] = {
	{ "ended", MSG_SEVERITY_ERROR, "died", TRIGGER_ONCE },
	{ "killed", MSG_SEVERITY_WARNING, "watchdog", TRIGGER_ONCE },
	{ "failed", MSG_SEVERITY_ERROR, "given up", TRIGGER_ONCE },
	{ "raised", MSG_SEVERITY_WARNING, "stop", TRIGGER_ONCE },
	{ "late-frame", MSG_SEVERITY_WARNING, "late frame", TRIGGER_LATE },
};

static struct trigger_state *state_of(struct trigger *t, const char *name)
{
	for (unsigned int i = 0; i < t->states_n; i++)
		if (!strcmp(t->states[i].name, name))
			return &t->states[i];
	if (t->states_n == TRIGGER_STATES_MAX)
		return NULL;
	snprintf(t->states[t->states_n].name, sizeof(t->states->name), "%s", name);
	return &t->states[t->states_n++];
}

/* Is it the first report, or the first for a long time? */
static bool is_new(struct trigger_state *state, int64_t t_ns)
{
	const bool first = !state->last_ns || t_ns - state->last_ns > TRIGGER_AGAIN_NS;

	state->last_ns = t_ns;
	return first;
}

/* Is it the first of a lasting cause of this source? */
static bool source_is_new(struct trigger *t, const char *source, int64_t t_ns)
{
	struct trigger_state *state = state_of(t, source);

	return state && is_new(state, t_ns);
}

enum trigger_kind trigger_event(struct trigger *t, const struct msg_event *event, char why[TRIGGER_WHY_MAX])
{
	char source[sizeof(event->source) + 1];

	snprintf(source, sizeof(source), "%.*s", (int)sizeof(event->source), event->source);
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		if (strncmp(event->code, codes[i].code, sizeof(event->code)) != 0 || event->severity < codes[i].from)
			continue;
		if (codes[i].kind != TRIGGER_ONCE && !source_is_new(t, source, event->header.t_publish_ns))
			return TRIGGER_NONE;
		snprintf(why, TRIGGER_WHY_MAX, "%s: %s: %.*s", codes[i].what, source, (int)sizeof(event->text),
			 event->text);
		return codes[i].kind;
	}
	return TRIGGER_NONE;
}

enum trigger_kind trigger_estop(struct trigger *t, const struct msg_estop *estop, char why[TRIGGER_WHY_MAX])
{
	const bool was_armed = t->armed;

	t->armed = estop->kind == MSG_ESTOP_LOWER && estop->level == MSG_LEVEL_RUN;
	if (!was_armed || t->armed || estop->level == MSG_LEVEL_RUN)
		return TRIGGER_NONE;
	snprintf(why, TRIGGER_WHY_MAX, "stop: level %s by %.*s: %.*s",
		 estop->level == MSG_LEVEL_HOLD ? "hold" : "estop", (int)sizeof(estop->who), estop->who,
		 (int)sizeof(estop->why), estop->why);
	return TRIGGER_ONCE;
}

enum trigger_kind trigger_skipped(struct trigger *t, const struct trigger_ticks *ticks, char why[TRIGGER_WHY_MAX])
{
	struct trigger_state *state = state_of(t, ticks->name);
	uint64_t more;

	if (!state)
		return TRIGGER_NONE;
	more = state->incarnation == ticks->incarnation && ticks->skipped > state->skipped
		       ? ticks->skipped - state->skipped
		       : 0;
	state->incarnation = ticks->incarnation;
	state->skipped = ticks->skipped;
	if (!t->skipped_max || more <= t->skipped_max || !is_new(state, ticks->t_ns))
		return TRIGGER_NONE;
	snprintf(why, TRIGGER_WHY_MAX, "overrun: %s: %" PRIu64 " ticks skipped", ticks->name, more);
	return TRIGGER_OVERRUN;
}

bool trigger_begins(struct trigger *t, enum trigger_kind kind, int64_t t_ns)
{
	int64_t *began_ns = &t->began_ns[kind];

	if (kind != TRIGGER_ONCE && *began_ns && t_ns - *began_ns < t->repeat_after_ns)
		return false;
	*began_ns = t_ns;
	return true;
}
