/* engine_arbitrate.c: which frame is sent next, and when it starts.
 *
 * An attempt is the next frame if no other request or command comes.  It is computed again whenever one comes, until
 * its end is due and engine_advance.c finishes it.  So a request that comes late, but was stamped in time, still takes
 * part.
 */
#include "can/wire/engine_inner.h"
#include "config/base/base.h"

/* ---- senders ---- */

/* When the node may take part. */
static struct engine_instant joins(const struct engine *e, const struct engine_wire *wire, const struct engine_node *n)
{
	return engine_time_add(e, engine_time_max(wire->recessive, engine_time_at(n->join_ns)), n->join_bits);
}

static struct engine_instant earliest(const struct engine *e, int node, const struct engine_entry *entry)
{
	const struct engine_node *n = &e->node[node];
	const struct engine_wire *wire = &e->wire[engine_node_wire(e, node)];
	struct engine_instant t = engine_time_max(engine_time_at(entry->request_ns), wire->idle);

	t = engine_time_max(engine_time_max(t, wire->held), n->free);
	return n->joined ? t : engine_time_max(t, joins(e, wire, n));
}

/* The entry that the node would send, or NULL. */
static const struct engine_entry *wants(const struct engine *e, int node)
{
	const struct engine_node *n = &e->node[node];

	if (n->babbling && earliest(e, node, &n->babble).ns < n->babble_until_ns)
		return &n->babble;
	return n->waiting ? &n->entries[n->head] : NULL;
}

/* Among the nodes that start together. */
static void arbitrate(const struct engine *e, struct engine_attempt *a)
{
	const struct engine_entry *best;

	a->origin = __builtin_ctz(a->contenders);
	a->senders = ENGINE_BIT(a->origin);
	best = engine_node_sends(e, a, a->origin);
	for (ENGINE_EACH(i, a->contenders & ~a->senders)) {
		const struct engine_entry *entry = engine_node_sends(e, a, i);
		int order = bits_arbitrate(&entry->frame, &best->frame);

		if (order < 0) {
			best = entry;
			a->senders = 0;
			a->origin = i;
		}
		if (order <= 0)
			a->senders |= ENGINE_BIT(i);
	}
	a->entry = *best;
}

static void choose(struct engine *e, unsigned int w)
{
	struct engine_wire *wire = &e->wire[w];
	struct engine_attempt *a = &wire->attempt;
	const uint32_t wanting = e->pending & wire->present;
	struct engine_instant from[ENGINE_NODES];

	a->none = true;
	a->babblers = 0;
	a->cut = a->opened = -1;
	for (ENGINE_EACH(i, wanting)) {
		const struct engine_entry *entry = wants(e, i);

		if (!entry) { /* its babble is over */
			from[i] = engine_time_at(ENGINE_NEVER);
			continue;
		}
		if (entry == &e->node[i].babble)
			a->babblers |= ENGINE_BIT(i);
		from[i] = earliest(e, i, entry);
		if (a->none || engine_time_before(from[i], a->start))
			a->start = from[i];
		a->none = false;
	}
	if (a->none)
		return;
	a->contenders = 0;
	for (ENGINE_EACH(i, wanting))
		if (!engine_time_before(a->start, from[i]))
			a->contenders |= ENGINE_BIT(i);
	arbitrate(e, a);
	a->listeners = wire->present & ~a->senders;
	for (ENGINE_EACH(i, wire->unjoined))
		if (engine_time_before(a->start, joins(e, wire, &e->node[i])))
			a->listeners &= ~ENGINE_BIT(i);
}

/* ---- the attempt ---- */

void engine_arbitrate(struct engine *e, unsigned int w)
{
	struct engine_attempt *a = &e->wire[w].attempt;

	if (a->known)
		return;
	a->known = true;
	if (a->fixed)
		return;
	a->endless = false;
	if (!a->frozen)
		choose(e, w);
	if (!a->none)
		engine_outcome(e, w);
}

void engine_arbitrate_freeze(struct engine *e, unsigned int w, int64_t now_ns)
{
	struct engine_wire *wire = &e->wire[w];
	struct engine_attempt *a = &wire->attempt;
	unsigned int decisive;

	engine_arbitrate(e, w);
	if (a->none || a->start.ns >= now_ns)
		return;
	a->frozen = true;
	a->endless = false;
	wire->horizon_ns = a->start.ns;
	decisive = a->end == ENGINE_END_GOOD ? a->length - BITS_INTERFRAME - BITS_ACK_FROM_END : a->bit;
	a->fixed = engine_time_frame_bit(e, a, engine_time_at(now_ns)) > decisive;
}

void engine_arbitrate_cut(struct engine *e, unsigned int w, int node, int64_t now_ns)
{
	struct engine_attempt *a = &e->wire[w].attempt;
	const uint32_t stay = ~ENGINE_BIT(node);

	engine_arbitrate_freeze(e, w, now_ns);
	engine_wire_changed(e, w);
	if (!a->frozen)
		return;
	a->contenders &= stay;
	a->listeners &= stay;
	a->deaf &= stay;
	a->sending &= stay;
	a->dropped &= stay;
	a->still &= stay;
	a->late &= stay;
	if (!(a->senders & ENGINE_BIT(node)))
		return;
	a->senders &= stay;
	if (a->fixed)
		return;
	if (a->senders) {
		a->origin = __builtin_ctz(a->senders);
		a->entry = *engine_node_sends(e, a, a->origin);
		return;
	}
	a->cut = (int)engine_time_frame_bit(e, a, engine_time_at(now_ns));
	if (a->cut < 1)
		a->frozen = false; /* not even its start bit */
}

void engine_arbitrate_join(struct engine *e, unsigned int w, int64_t now_ns)
{
	struct engine_wire *wire = &e->wire[w];
	struct engine_instant by = engine_time_at(now_ns);

	engine_arbitrate(e, w);
	if (!wire->attempt.none && engine_time_before(wire->attempt.start, by))
		by = wire->attempt.start; /* since then it was not recessive */
	for (ENGINE_EACH(i, wire->unjoined)) {
		if (engine_time_before(by, joins(e, wire, &e->node[i])))
			continue;
		e->node[i].joined = true;
		engine_node_update(e, i);
	}
}

bool engine_arbitrate_sending(struct engine *e, int node, int64_t now_ns)
{
	const struct engine_attempt *a = &e->wire[engine_node_wire(e, node)].attempt;

	engine_arbitrate(e, engine_node_wire(e, node));
	return !a->none && a->start.ns < now_ns && a->senders & ~a->babblers & ENGINE_BIT(node);
}
