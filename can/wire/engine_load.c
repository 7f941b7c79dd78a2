/* engine_load.c: bus load. */
#include "can/wire/engine_inner.h"

/* The last second is 50 parts of 20 ms.  The ring has a few more, so that the oldest part is not yet reused. */
#define PART_NS 20000000
#define SECOND_PARTS 50

static int64_t part_of(int64_t ns)
{
	return ns >= 0 ? ns / PART_NS : -((PART_NS - 1 - ns) / PART_NS);
}

static int64_t *busy_of(struct engine *e, int64_t part)
{
	unsigned int i = (unsigned int)(part & (ENGINE_LOAD_PARTS - 1));

	if (e->load_part[i] != part) {
		e->load_part[i] = part;
		e->load_busy_ns[i] = 0;
	}
	return &e->load_busy_ns[i];
}

void engine_load_add(struct engine *e, int64_t from_ns, int64_t to_ns, unsigned int busy, unsigned int of)
{
	int64_t part;

	/* Only the last second is kept. */
	if (to_ns - from_ns > (int64_t)SECOND_PARTS * PART_NS)
		from_ns = to_ns - (int64_t)SECOND_PARTS * PART_NS;
	for (part = part_of(from_ns); from_ns < to_ns; part++) {
		int64_t end_ns = (part + 1) * PART_NS < to_ns ? (part + 1) * PART_NS : to_ns;

		*busy_of(e, part) += (end_ns - from_ns) * busy / of;
		from_ns = end_ns;
	}
}

void engine_load_stuck(struct engine *e, int64_t now_ns)
{
	int64_t to_ns = now_ns < e->stuck_until_ns ? now_ns : e->stuck_until_ns;

	if (to_ns > e->stuck_ns) {
		engine_load_add(e, e->stuck_ns, to_ns, 1, 1);
		e->stuck_ns = to_ns;
	}
}

double engine_load(struct engine *e, int64_t now_ns)
{
	const int64_t last = part_of(now_ns), from_ns = (last - SECOND_PARTS + 1) * PART_NS;
	int64_t busy_ns = 0;
	double load;

	engine_load_stuck(e, now_ns);
	for (int64_t part = last - SECOND_PARTS + 1; part <= last; part++)
		busy_ns += *busy_of(e, part);
	load = now_ns > from_ns ? (double)busy_ns / (double)(now_ns - from_ns) : 0;
	return load > 1 ? 1 : load; /* a frame may end after now_ns */
}
