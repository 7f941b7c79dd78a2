/* engine_node.c: nodes and wires, and the sets that say which node takes part where; events. */
#include "can/wire/engine_inner.h"

void engine_emit(struct engine *e, struct engine_event *event)
{
	if (event->t_ns < e->event_ns)
		event->t_ns = e->event_ns;
	e->event_ns = event->t_ns;
	if (e->settings.event)
		e->settings.event(e->settings.to, event);
}

void engine_wire_init(struct engine_wire *wire, int64_t now_ns)
{
	const struct engine_instant now = engine_time_at(now_ns);

	*wire = (struct engine_wire){ .idle = now, .recessive = now, .held = now };
	wire->horizon_ns = wire->short_until_ns = wire->open_ns = wire->open_until_ns = INT64_MIN;
}

bool engine_node_exists(const struct engine *e, int node)
{
	return node >= 0 && node < ENGINE_NODES && e->nodes & ENGINE_BIT(node);
}

uint32_t engine_node_passives(const struct engine *e, uint32_t nodes)
{
	for (ENGINE_EACH(i, nodes))
		if (!engine_node_passive(e, i))
			nodes &= ~ENGINE_BIT(i);
	return nodes;
}

static void put(uint32_t *set, int node, bool in)
{
	*set = in ? *set | ENGINE_BIT(node) : *set & ~ENGINE_BIT(node);
}

void engine_node_update(struct engine *e, int node)
{
	const struct engine_node *n = &e->node[node];
	struct engine_wire *wire = &e->wire[engine_node_wire(e, node)];
	const bool present = n->up && n->power && n->state != BUS_OFF && !n->leaving;

	put(&wire->present, node, present);
	put(&wire->unjoined, node, present && !n->joined);
	put(&e->off, node, n->state == BUS_OFF);
	put(&e->pending, node, n->waiting || n->babbling);
	engine_wire_changed(e, engine_node_wire(e, node));
}

void engine_node_join(struct engine *e, int node, int64_t now_ns)
{
	e->node[node].joined = false;
	e->node[node].join_ns = now_ns;
	e->node[node].join_bits = ENGINE_JOIN;
	engine_node_update(e, node);
}

void engine_node_free(struct engine *e, int node)
{
	struct engine_node *n = &e->node[node];

	n->up = n->babbling = false;
	n->waiting = 0;
	n->state = BUS_STOPPED;
	engine_node_update(e, node);
	if (!n->connected)
		e->wires &= ~(UINT64_C(2) << node);
	e->nodes &= ~ENGINE_BIT(node);
	n->name[0] = 0;
}

uint32_t engine_node_classics(const struct engine *e, const struct engine_attempt *a)
{
	uint32_t classics = 0;

	for (ENGINE_EACH(i, a->entry.frame.flags & FRAME_FD ? e->nodes : 0))
		if (e->node[i].classic)
			classics |= ENGINE_BIT(i);
	return classics;
}
