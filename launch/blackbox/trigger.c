/* trigger.c: what makes an incident. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "launch/blackbox/trigger.h"

/* Codes of achstart that are incidents from that severity on. */
static const struct {
	const char *code;
	enum msg_severity from;
	const char *what;
} codes[] = {
	{ "ended", MSG_SEVERITY_ERROR, "died" },
	{ "killed", MSG_SEVERITY_WARNING, "watchdog" },
	{ "failed", MSG_SEVERITY_ERROR, "given up" },
	{ "raised", MSG_SEVERITY_WARNING, "stop" },
};

bool trigger_event(struct trigger *t, const struct msg_event *event, char why[TRIGGER_WHY_MAX])
{
	(void)t;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		if (strncmp(event->code, codes[i].code, sizeof(event->code)) != 0 || event->severity < codes[i].from)
			continue;
		snprintf(why, TRIGGER_WHY_MAX, "%s: %.*s: %.*s", codes[i].what, (int)sizeof(event->source),
			 event->source, (int)sizeof(event->text), event->text);
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

bool trigger_skipped(struct trigger *t, const char *name, uint32_t incarnation, uint64_t skipped,
		     char why[TRIGGER_WHY_MAX])
{
	struct trigger_state *state = state_of(t, name);
	uint64_t more;

	if (!state)
		return false;
	more = state->incarnation == incarnation && skipped > state->skipped ? skipped - state->skipped : 0;
	state->incarnation = incarnation;
	state->skipped = skipped;
	if (!t->skipped_max || more <= t->skipped_max)
		return false;
	snprintf(why, TRIGGER_WHY_MAX, "overrun: %s: %" PRIu64 " ticks skipped", name, more);
	return true;
}
