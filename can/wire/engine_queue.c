/* engine_queue.c: the mailbox and the FIFO of a node. */
#include "can/wire/engine_inner.h"

#include <stddef.h>

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
	e->node[node].stats.purged++;
	e->stats.purged++;
	engine_emit(e, &(struct engine_event){ .kind = ENGINE_PURGED,
					       .node = node,
					       .t_ns = t_ns,
					       .frame = &entry->frame,
					       .tag = entry->tag,
					       .why = why });
}

static bool matches(const struct engine_entry *entry, const struct engine_tag *upto)
{
	return !upto ||
	       (entry->tag.connection == upto->connection && (int32_t)(entry->tag.sequence - upto->sequence) <= 0);
}

int engine_queue_purge(struct engine *e, int node, const struct engine_tag *upto, bool on_wire, enum engine_why why,
		       int64_t t_ns)
{
	struct engine_node *n = &e->node[node];
	const unsigned int waiting = n->waiting;
	const bool first = waiting && matches(entry_at(n, 0), upto);

	n->waiting = 0;
	if (first && on_wire) {
		entry_at(n, 0)->last = true;
		n->waiting = 1;
	} else if (first) {
		/* The next request enters the mailbox now, not when it was made. */
		for (unsigned int i = 1; i < waiting; i++)
			if (entry_at(n, i)->request_ns < t_ns)
				entry_at(n, i)->request_ns = t_ns;
	}
	for (unsigned int i = n->waiting; i < waiting; i++) {
		const struct engine_entry *entry = entry_at(n, i);

		if (matches(entry, upto))
			purged(e, node, entry, why, t_ns);
		else
			*entry_at(n, n->waiting++) = *entry;
	}
	engine_node_update(e, node);
	return (int)(waiting - n->waiting);
}

void engine_queue_let_go(struct engine *e, uint32_t contenders, int64_t t_ns)
{
	for (ENGINE_EACH(i, contenders)) {
		struct engine_node *n = &e->node[i];
		const struct engine_entry *head = &n->entries[n->head];

		if (n->waiting && head->last) {
			engine_queue_pop(e, i);
			purged(e, i, head, n->leaving ? ENGINE_DETACHED : ENGINE_ABORTED, t_ns);
		}
		if (n->leaving)
			engine_node_free(e, i);
	}
}
