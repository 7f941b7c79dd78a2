/* engine_queue.c: the mailbox and the FIFO of a node. */
#include "can/wire/engine_inner.h"

#define SLOTS (ENGINE_QUEUE_MAX + 1) /* FIFO and mailbox */

static struct engine_entry *entry_at(struct engine_node *n, unsigned int i)
{
	return &n->entries[(n->head + i) % SLOTS];
}

void engine_queue_add(struct engine *e, int node, const struct engine_entry *entry)
{
	struct engine_node *n = &e->node[node];

	*entry_at(n, n->waiting) = *entry;
	if (!n->waiting++)
		engine_node_update(e, node);
}

void engine_queue_pop(struct engine *e, int node)
{
	struct engine_node *n = &e->node[node];

	n->head = (n->head + 1) % SLOTS;
	if (!--n->waiting)
		engine_node_update(e, node);
	engine_wire_changed(e, engine_node_wire(e, node));
}

static void purged(struct engine *e, int node, const struct engine_entry *entry, enum engine_why why, int64_t t_ns)
{
	ENGINE_COUNT(e, node, purged);
	engine_emit(e, &(struct engine_event){ .kind = ENGINE_PURGED,
					       .node = node,
					       .t_ns = t_ns,
					       .frame = &entry->frame,
					       .tag = entry->tag,
					       .why = why });
}

void engine_queue_purge(struct engine *e, int node, bool on_wire, enum engine_why why, int64_t t_ns)
{
	struct engine_node *n = &e->node[node];
	const unsigned int waiting = n->waiting;

	n->waiting = on_wire && waiting;
	if (n->waiting)
		entry_at(n, 0)->last = true;
	for (unsigned int i = n->waiting; i < waiting; i++)
		purged(e, node, entry_at(n, i), why, t_ns);
	engine_node_update(e, node);
}

void engine_queue_let_go(struct engine *e, uint32_t contenders, int64_t t_ns)
{
	for (ENGINE_EACH(i, contenders)) {
		struct engine_node *n = &e->node[i];
		const struct engine_entry *head = &n->entries[n->head];

		if (n->waiting && head->last) {
			engine_queue_pop(e, i);
			purged(e, i, head, ENGINE_DETACHED, t_ns);
		}
		if (n->leaving)
			engine_node_free(e, i);
	}
}
