/* engine_request.c: the mailbox and the FIFO behind it: what comes in, what is taken out again. */
#include "can/wire/engine_inner.h"

#include <errno.h>

#define SLOTS (ENGINE_QUEUE_MAX + 1) /* FIFO and mailbox */

static struct engine_entry *entry_at(struct engine_node *n, unsigned int i)
{
	return &n->entries[(n->head + i) % SLOTS];
}

/* When the sender handed it over, as far as that can be. */
static int64_t clamp(struct engine *e, struct engine_node *n, unsigned int w, int64_t stamp_ns, int64_t now_ns)
{
	const int64_t outage_ns = e->settings.outage_ns;
	int64_t t_ns = stamp_ns < now_ns ? stamp_ns : now_ns;
	bool late = t_ns <= e->wire[w].horizon_ns;

	/* So long ago that it is no stamp to believe. */
	if (outage_ns && t_ns < now_ns - outage_ns) {
		t_ns = now_ns;
		late = true;
	}
	n->stats.late += late;
	e->stats.late += late;
	if (t_ns < n->last_ns)
		t_ns = n->last_ns;
	if (t_ns < e->wire[w].horizon_ns)
		t_ns = e->wire[w].horizon_ns;
	if (t_ns < e->event_ns) /* nothing happens before what has been told */
		t_ns = e->event_ns;
	return t_ns;
}

int engine_request(struct engine *e, int node, const struct frame *frame, int64_t stamp_ns, struct engine_tag tag,
		   int64_t now_ns)
{
	struct engine_node *n = &e->node[node];
	struct engine_entry *entry;
	struct bits bits;

	if (node < 0 || node >= ENGINE_NODES || !(e->nodes & ENGINE_BIT(node)))
		return -ENOENT;
	if (!frame_valid(frame) || !bits_of(&bits, frame))
		return -EINVAL;
	engine_step_away(e, now_ns);
	if (n->state == BUS_STOPPED || n->state == BUS_OFF || n->leaving)
		return -ENETDOWN;
	if (stamp_ns < e->void_ns) {
		n->stats.late++;
		e->stats.late++;
		return -ECANCELED;
	}
	if (n->waiting > n->queue) {
		n->stats.refused++;
		e->stats.refused++;
		return -ENOBUFS;
	}
	entry = entry_at(n, n->waiting);
	entry->tag = tag;
	entry->bits = (uint16_t)bits.all;
	entry->last = false;
	entry->frame = *frame;
	n->last_ns = clamp(e, n, engine_plan_wire(e, node), stamp_ns, now_ns);
	entry->request_ns = n->last_ns + n->delay_ns;
	if (!n->waiting++)
		engine_refresh(e, node);
	return 0;
}

void engine_pop(struct engine *e, int node)
{
	struct engine_node *n = &e->node[node];

	n->head = (n->head + 1) % SLOTS;
	if (!--n->waiting)
		engine_refresh(e, node);
	engine_plan_again(e, engine_plan_wire(e, node));
}

/* Takes out what goes, but for the first keep. */
static int sieve(struct engine *e, int node, unsigned int keep, bool (*goes)(const struct engine_entry *, const void *),
		 const void *which, enum engine_why why, int64_t t_ns)
{
	struct engine_node *n = &e->node[node];
	const unsigned int waiting = n->waiting;
	int gone = 0;

	n->waiting = keep;
	if (!keep && waiting && goes(entry_at(n, 0), which)) {
		/* What comes into the mailbox now was not in it before. */
		for (unsigned int i = 1; i < waiting; i++)
			if (entry_at(n, i)->request_ns < t_ns)
				entry_at(n, i)->request_ns = t_ns;
	}
	for (unsigned int i = keep; i < waiting; i++) {
		struct engine_entry *entry = entry_at(n, i);
		struct engine_event event = { .kind = ENGINE_PURGED, .node = node, .t_ns = t_ns, .why = why };

		if (!goes(entry, which)) {
			*entry_at(n, n->waiting++) = *entry;
			continue;
		}
		gone++;
		n->stats.purged++;
		e->stats.purged++;
		event.frame = &entry->frame;
		event.tag = entry->tag;
		engine_emit(e, &event);
	}
	engine_refresh(e, node);
	return gone;
}

static bool every(const struct engine_entry *entry, const void *which)
{
	(void)entry;
	(void)which;
	return true;
}

static bool up_to(const struct engine_entry *entry, const void *which)
{
	const struct engine_tag *upto = which;

	return entry->tag.connection == upto->connection && (int32_t)(entry->tag.sequence - upto->sequence) <= 0;
}

/* A node that leaves keeps what is on the wire until the attempt is over. */
void engine_purge(struct engine *e, int node, enum engine_why why, int64_t t_ns)
{
	struct engine_node *n = &e->node[node];
	const bool keep = n->leaving && why == ENGINE_DETACHED && n->waiting;

	if (keep)
		n->entries[n->head].last = true;
	sieve(e, node, keep, every, NULL, why, t_ns);
}

int engine_abort(struct engine *e, int node, struct engine_tag upto, int64_t now_ns)
{
	struct engine_node *n = &e->node[node];
	const struct engine_attempt *a;
	unsigned int w, keep = 0;

	if (node < 0 || node >= ENGINE_NODES || !(e->nodes & ENGINE_BIT(node)))
		return -ENOENT;
	w = engine_plan_wire(e, node);
	a = &e->wire[w].attempt;
	engine_step_settle(e, now_ns);
	engine_plan(e, w);
	if (n->waiting && up_to(&n->entries[n->head], &upto) && !a->none && a->start.ns < now_ns &&
	    a->senders & ~a->babblers & ENGINE_BIT(node)) {
		n->entries[n->head].last = true;
		keep = 1;
	}
	return sieve(e, node, keep, up_to, &upto, ENGINE_ABORTED, now_ns);
}
