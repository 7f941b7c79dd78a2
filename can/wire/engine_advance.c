/* engine_advance.c: handles due events in order of time. */
#include "can/wire/engine_inner.h"

/* ---- endless repetition ---- */

/* A lone passive sender starts every length + 8 bits; now_ns may be years later. */
static void settle(struct engine *e, unsigned int w, int64_t now_ns)
{
	struct engine_wire *wire = &e->wire[w];
	const struct engine_attempt *a = &wire->attempt;
	struct engine_node *n = &e->node[a->origin];
	const unsigned int period = a->length + ENGINE_SUSPEND;
	int64_t since_due, times;
	struct engine_instant last;

	if (!a->known || a->none || !a->endless)
		return;
	since_due = engine_time_bits(e, a->due, engine_time_at(now_ns));
	if (since_due < 0)
		return;
	times = since_due / period + 1;
	e->stats.attempts += (uint64_t)times;
	e->stats.errors += (uint64_t)times;
	e->stats.unacknowledged += (uint64_t)times;
	n->stats.retransmissions += (uint64_t)times;
	last = engine_time_add(e, a->start, (uint64_t)(times - 1) * period);
	if (w == 0)
		engine_load_add(e, engine_time_ns(a->start), engine_time_ns(engine_time_add(e, last, period)),
				a->length, period);
	wire->idle = engine_time_add(e, last, a->length);
	wire->recessive = engine_time_add(e, last, a->length - ENGINE_JOIN);
	wire->horizon_ns = last.ns;
	n->free = engine_time_add(e, wire->idle, ENGINE_SUSPEND);
	engine_wire_changed(e, w);
}

static void settle_all(struct engine *e, int64_t now_ns)
{
	for (ENGINE_EACH(i, e->wires)) {
		engine_arbitrate(e, (unsigned int)i);
		settle(e, (unsigned int)i, now_ns);
	}
}

/* ---- the next event ---- */

enum step { STEP_NONE, STEP_ATTEMPT, STEP_SHORT, STEP_RESTART, STEP_RECOVERED };

struct next {
	enum step step;
	int of; /* wire or node */
	int64_t ns;
};

static void earlier(struct next *next, enum step step, int of, int64_t ns)
{
	if (ns < next->ns)
		*next = (struct next){ step, of, ns };
}

/* When the node has seen enough recessive bits, if no frame comes between. */
static int64_t recovered_ns(const struct engine *e, int node)
{
	const struct engine_node *n = &e->node[node];
	const struct engine_wire *wire = &e->wire[engine_node_wire(e, node)];
	struct engine_instant at = engine_time_max(wire->recessive, engine_time_at(n->recover_ns));

	at = engine_time_add(e, at, (uint64_t)n->recover_left * ENGINE_JOIN);
	if (!wire->attempt.none && engine_time_before(wire->attempt.start, at))
		return ENGINE_NEVER;
	return engine_time_ns(at);
}

static struct next next(struct engine *e)
{
	struct next next = { STEP_NONE, 0, ENGINE_NEVER };

	for (ENGINE_EACH(i, e->wires)) {
		const struct engine_wire *wire = &e->wire[i];

		engine_arbitrate(e, (unsigned int)i);
		if (!wire->attempt.none && !wire->attempt.endless)
			earlier(&next, STEP_ATTEMPT, i, engine_time_ns(wire->attempt.due));
		if (wire->shorted)
			earlier(&next, STEP_SHORT, i, engine_time_ns(wire->short_next));
	}
	for (ENGINE_EACH(i, e->off)) {
		if (e->node[i].recovering)
			earlier(&next, STEP_RECOVERED, i, recovered_ns(e, i));
		else
			earlier(&next, STEP_RESTART, i, e->node[i].restart_ns);
	}
	return next;
}

/* ---- a short ---- */

/* The wire stays dominant: behind the flags, every eight bits add eight to the counters of senders and listeners.
 * Those of a listener stop once it is passive. */
static void short_step(struct engine *e, int w)
{
	struct engine_wire *wire = &e->wire[w];
	const int64_t t_ns = engine_time_ns(wire->short_next);
	const uint32_t senders = wire->short_senders & wire->present;
	uint32_t listeners = wire->present & ~wire->unjoined & ~senders;

	if (t_ns > wire->short_until_ns) {
		wire->shorted = false;
		return;
	}
	listeners &= ~engine_node_passives(e, listeners);
	for (ENGINE_EACH(i, senders)) {
		if (wire->short_begun)
			engine_errors_tx(e, i, 8, t_ns);
		else
			engine_errors_report_tx(e, i, CAN_ERR_PROT, CAN_ERR_PROT_BIT1 | CAN_ERR_PROT_TX, 0, t_ns);
	}
	for (ENGINE_EACH(i, listeners)) {
		if (wire->short_begun)
			engine_errors_rx(e, i, 8, t_ns);
		else
			engine_errors_report_rx(e, i, 1, CAN_ERR_PROT_STUFF, 0, t_ns);
	}
	wire->short_begun = true;
	wire->shorted = senders || listeners;
	wire->short_next = engine_time_add(e, wire->short_next, 8);
}

/* ---- outages of the hub ---- */

void engine_advance_outage(struct engine *e, int64_t now_ns)
{
	const int64_t before_ns = now_ns - e->settings.outage_ns;
	int64_t since_ns = ENGINE_NEVER;

	if (!e->settings.outage_ns || e->now_ns > before_ns)
		return;
	for (ENGINE_EACH(i, e->wires)) {
		const struct engine_attempt *a = &e->wire[i].attempt;

		engine_arbitrate(e, (unsigned int)i);
		if (!a->none && !a->endless && engine_time_ns(a->due) < since_ns)
			since_ns = engine_time_ns(a->due);
	}
	if (since_ns > before_ns)
		return;
	e->stats.outages++;
	e->stats.outage_ns += now_ns - since_ns;
	e->void_ns = now_ns;
	engine_emit(e,
		    &(struct engine_event){ .kind = ENGINE_OUTAGE, .node = -1, .t_ns = now_ns, .since_ns = since_ns });
	for (ENGINE_EACH(i, e->nodes)) {
		engine_queue_purge(e, i, false, ENGINE_AWAY, now_ns);
		if (e->node[i].leaving)
			engine_node_free(e, i);
	}
	for (ENGINE_EACH(i, e->wires)) {
		struct engine_wire *wire = &e->wire[i];

		wire->attempt.known = wire->attempt.frozen = wire->attempt.fixed = false;
		wire->idle = engine_time_max(wire->idle, engine_time_at(now_ns));
		wire->horizon_ns = now_ns;
	}
}

/* ---- the loop ---- */

void engine_advance(struct engine *e, int64_t now_ns)
{
	struct next todo;

	if (now_ns < e->now_ns)
		now_ns = e->now_ns;
	engine_advance_outage(e, now_ns);
	while ((todo = next(e)).ns <= now_ns && todo.step != STEP_NONE) {
		switch (todo.step) {
		case STEP_ATTEMPT:
			engine_finish(e, (unsigned int)todo.of);
			break;
		case STEP_SHORT:
			short_step(e, todo.of);
			break;
		case STEP_RESTART:
			settle_all(e, todo.ns);
			engine_errors_recover(e, todo.of, todo.ns);
			break;
		case STEP_RECOVERED:
			engine_errors_recovered(e, todo.of, todo.ns);
			break;
		case STEP_NONE:
			break;
		}
	}
	e->now_ns = now_ns;
}

void engine_advance_all(struct engine *e, int64_t now_ns)
{
	engine_advance(e, now_ns);
	settle_all(e, now_ns);
}

int64_t engine_next_ns(struct engine *e)
{
	return next(e).ns;
}

int64_t engine_free_ns(struct engine *e, int64_t now_ns)
{
	const struct engine_wire *wire = &e->wire[0];
	const struct engine_attempt *a = &wire->attempt;
	struct engine_instant free = engine_time_max(wire->idle, wire->held);

	engine_arbitrate(e, 0);
	if (!a->none && !a->endless && a->start.ns < now_ns)
		free = engine_time_max(free, engine_time_frame(e, a, a->length));
	return engine_time_ns(free);
}
