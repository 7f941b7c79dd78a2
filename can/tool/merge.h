/* merge.h: what several buses say, in the order of its stamps.
 *
 * Each bus is in order by itself and read a batch at a time.  An entry may leave once no bus can bring
 * anything earlier: up to a time that the reader of the buses knows.
 */
#ifndef CAN_TOOL_MERGE_H
#define CAN_TOOL_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "can/frame.h"

#define MERGE_ROOM 4096 /* entries held of a bus */

struct merge_entry {
	int64_t t_ns;
	const char *note; /* a remark instead of a frame; or NULL, */
	uint64_t lost;	  /* so many frames that are lost here; or 0, */
	struct frame frame;
};

struct merge_bus {
	struct merge_entry entry[MERGE_ROOM];
	size_t first, n;
	int64_t newest_ns; /* of those that were ever added */
};

static inline size_t merge_room(const struct merge_bus *b)
{
	return MERGE_ROOM - b->n;
}

/* There must be room.  A remark or a loss stays behind the entries added before it, whatever its time. */
void merge_add(struct merge_bus *b, const struct merge_entry *entry);

/* The next up to horizon_ns, and the index of its bus; NULL: none.  Valid until the next merge_add. */
const struct merge_entry *merge_next(struct merge_bus *const *buses, size_t n, int64_t horizon_ns, size_t *bus);

#endif
