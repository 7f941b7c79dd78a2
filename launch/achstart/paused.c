/* paused.c: see paused.h. */
#include "daemons/drv/paused_text.h"
#include "launch/achstart/paused.h"

static bool overlap(const struct paused *p, int64_t from_ns, int64_t to_ns)
{
	return p->ms && from_ns <= p->to_ns + PAUSED_NEAR_NS && to_ns >= p->from_ns - PAUSED_NEAR_NS;
}

/* Begins another pause: the event of the last one has to be taken before. */
static void begin(struct paused *p, int64_t from_ns, int64_t to_ns, int64_t now_ns)
{
	*p = (struct paused){ .due_ns = now_ns + PAUSED_COLLECT_NS, .from_ns = from_ns, .to_ns = to_ns };
}

static void keep(struct paused *p, const struct msg_event *event, int64_t ms)
{
	p->n++;
	if (ms <= p->ms)
		return;
	p->ms = ms;
	p->longest = *event;
}

bool paused_hear(struct paused *p, const struct msg_event *event, int64_t now_ns)
{
	char text[MSG_TEXT_SIZE + 1];
	int64_t from_ns, to_ns;
	long long ms;

	snprintf(text, sizeof(text), "%.*s", MSG_TEXT_SIZE, event->text);
	if (strncmp(event->code, PAUSED_CODE, MSG_NAME_SIZE) || sscanf(text, PAUSED_TEXT, &ms) != 1 || ms <= 0 ||
	    ms > PAUSED_MS_MAX)
		return false;
	from_ns = event->header.t_sample_ns - ms * 1000000;
	to_ns = event->header.t_publish_ns;
	if (!overlap(p, from_ns, to_ns)) {
		if (p->n)
			return false;
		begin(p, from_ns, to_ns, now_ns);
	} else if (!p->n) {
		if (2 * ms <= 3 * p->ms)
			return true;
		begin(p, from_ns, to_ns, now_ns);
	}
	p->from_ns = from_ns < p->from_ns ? from_ns : p->from_ns;
	p->to_ns = to_ns > p->to_ns ? to_ns : p->to_ns;
	keep(p, event, ms);
	return true;
}

bool paused_take(struct paused *p, int64_t now_ns, struct msg_event *event)
{
	char text[2 * MSG_TEXT_SIZE];

	if (!p->n || now_ns < p->due_ns)
		return false;
	*event = p->longest;
	if (p->n > 1) {
		snprintf(event->source, sizeof(event->source), "achstart");
		snprintf(text, sizeof(text), PAUSED_TEXT " (%u daemons; longest: %.*s)" PAUSED_REMEDY, (long long)p->ms,
			 p->n, MSG_NAME_SIZE, p->longest.source);
		snprintf(event->text, sizeof(event->text), "%.*s", MSG_TEXT_SIZE - 1, text);
		event->repeated = 0;
	}
	p->n = 0;
	return true;
}
