/* engine_request.c: requests to send. */
#include "can/wire/engine_inner.h"
#include "config/base/base.h"

/* When the sender made the request, within the limits that engine.h gives. */
static int64_t clamp(struct engine *e, struct engine_node *n, unsigned int w, int64_t stamp_ns, int64_t now_ns)
{
	const int64_t outage_ns = e->settings.outage_ns;
	int64_t t_ns = stamp_ns < now_ns ? stamp_ns : now_ns;
	bool late = t_ns <= e->wire[w].horizon_ns;

	if (outage_ns && t_ns < now_ns - outage_ns) { /* too old to be true */
		t_ns = now_ns;
		late = true;
	}
	n->stats.late += late;
	e->stats.late += late;
	if (t_ns < n->last_ns)
		t_ns = n->last_ns;
	if (t_ns < e->wire[w].horizon_ns)
		t_ns = e->wire[w].horizon_ns;
	if (t_ns < e->event_ns) /* not before the last event */
		t_ns = e->event_ns;
	return t_ns;
}

/* Its bits on this bus; false: it cannot be sent there. */
static bool measure(const struct engine *e, const struct engine_node *n, const struct frame *frame,
		    struct engine_entry *entry)
{
	struct bits_fd bits;

	if ((frame->flags & FRAME_FD && (!e->settings.data_bitrate || n->classic)) || !bits_any_of(&bits, frame))
		return false;
	entry->bits = (uint16_t)(bits.slow + bits.fast);
	entry->fast = (uint16_t)bits.fast;
	entry->fast_from = (uint16_t)(bits.slow - BITS_ACK_FROM_END - BITS_INTERFRAME);
	return true;
}

int engine_request(struct engine *e, int node, const struct frame *frame, int64_t stamp_ns, struct engine_tag tag,
		   int64_t now_ns)
{
	struct engine_node *n = &e->node[node];
	struct engine_entry entry = { .tag = tag };

	if (!engine_node_exists(e, node))
		return -ENOENT;
	if (!frame_valid(frame) || !measure(e, n, frame, &entry))
		return -EINVAL;
	engine_advance_outage(e, now_ns);
	if (n->state == BUS_STOPPED || n->state == BUS_OFF || n->leaving)
		return -ENETDOWN;
	if (stamp_ns < e->void_ns) {
		ENGINE_COUNT(e, node, late);
		return -ECANCELED;
	}
	if (n->waiting > n->queue) {
		ENGINE_COUNT(e, node, refused);
		return -ENOBUFS;
	}
	entry.frame = *frame;
	n->last_ns = clamp(e, n, engine_node_wire(e, node), stamp_ns, now_ns);
	entry.request_ns = n->last_ns + n->delay_ns;
	engine_queue_add(e, node, &entry);
	return 0;
}
