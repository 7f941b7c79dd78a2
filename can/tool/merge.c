/* merge.c: what several buses say, in the order of its stamps. */
#include "can/tool/merge.h"

void merge_add(struct merge_bus *b, const struct merge_entry *entry)
{
	struct merge_entry *e = &b->entry[(b->first + b->n++) % MERGE_ROOM];

	*e = *entry;
	if ((e->note || e->lost) && e->t_ns < b->newest_ns)
		e->t_ns = b->newest_ns;
	if (e->t_ns > b->newest_ns)
		b->newest_ns = e->t_ns;
}

const struct merge_entry *merge_next(struct merge_bus *const *buses, size_t n, int64_t horizon_ns, size_t *bus)
{
	const struct merge_entry *next = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct merge_entry *e = &buses[i]->entry[buses[i]->first];

		if (buses[i]->n && e->t_ns <= horizon_ns && (!next || e->t_ns < next->t_ns)) {
			next = e;
			*bus = i;
		}
	}
	if (next) {
		buses[*bus]->first = (buses[*bus]->first + 1) % MERGE_ROOM;
		buses[*bus]->n--;
	}
	return next;
}
