/* budget_over.c: load over time. */
#include "can/budget_over.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *budget_room(void *at, size_t size, size_t n, size_t *room)
{
	size_t want = *room ? 2 * *room : 16;
	void *more;

	if (n < *room)
		return at;
	more = reallocarray(at, want, size);
	if (more)
		*room = want;
	return more;
}

/* ---- the peak ---- */

static int recent_grow(struct budget_bus *bus)
{
	size_t room = bus->recent_room ? 2 * bus->recent_room : 64;
	struct budget_recent *recent = calloc(room, sizeof(*recent));

	if (!recent)
		return -ENOMEM;
	for (size_t i = 0; i < bus->recent_n; i++)
		recent[i] = bus->recent[(bus->recent_first + i) % bus->recent_room];
	free(bus->recent);
	bus->recent = recent;
	bus->recent_room = room;
	bus->recent_first = 0;
	return 0;
}

/* A window ends with each frame; a window that begins before the first frame stands for the window that begins with it.
 * Of the frame that lies across its start only the part inside counts. */
int budget_over_peak(const struct budget *b, struct budget_bus *bus, int64_t t_ns, int64_t busy_ns)
{
	const int64_t start = t_ns - b->options.window_ns;
	const struct budget_recent *oldest;
	int64_t before, inside;

	if (bus->recent_n == bus->recent_room && recent_grow(bus))
		return -ENOMEM;
	bus->recent[(bus->recent_first + bus->recent_n++) % bus->recent_room] = (struct budget_recent){ t_ns, busy_ns };
	bus->recent_ns += busy_ns;
	for (oldest = &bus->recent[bus->recent_first]; oldest->t_ns <= start;
	     oldest = &bus->recent[bus->recent_first]) {
		bus->recent_ns -= oldest->busy_ns;
		bus->recent_first = (bus->recent_first + 1) % bus->recent_room;
		bus->recent_n--;
	}
	before = start - (oldest->t_ns - oldest->busy_ns);
	inside = bus->recent_ns - (before > 0 ? before : 0);
	if (inside > bus->peak_ns) {
		bus->peak_ns = inside;
		bus->peak_at_ns = t_ns;
	}
	return 0;
}

/* ---- intervals ---- */

/* Frames come in order, but a frame that began in the interval before also counts there; that may be a new interval. */
static struct budget_interval *interval_of(struct budget_bus *bus, int64_t number)
{
	size_t at = bus->intervals_n;
	struct budget_interval *more;

	while (at && bus->intervals[at - 1].number > number)
		at--;
	if (at && bus->intervals[at - 1].number == number)
		return &bus->intervals[at - 1];
	more = budget_room(bus->intervals, sizeof(*more), bus->intervals_n, &bus->intervals_room);
	if (!more)
		return NULL;
	bus->intervals = more;
	memmove(&bus->intervals[at + 1], &bus->intervals[at], (bus->intervals_n++ - at) * sizeof(*bus->intervals));
	bus->intervals[at] = (struct budget_interval){ .number = number };
	return &bus->intervals[at];
}

int budget_over_add(const struct budget *b, struct budget_bus *bus, int64_t t_ns, int64_t busy_ns)
{
	const int64_t over = b->options.over_ns;
	int64_t from = t_ns > busy_ns ? t_ns - busy_ns : 0;
	/* A frame that ends exactly at the end of an interval is inside. */
	struct budget_interval *last = interval_of(bus, (t_ns > 0 ? t_ns - 1 : 0) / over);

	if (!last)
		return -ENOMEM;
	last->frames++;
	while (from < t_ns) {
		int64_t number = from / over, end = (number + 1) * over < t_ns ? (number + 1) * over : t_ns;
		struct budget_interval *i = interval_of(bus, number);

		if (!i)
			return -ENOMEM;
		i->busy_ns += end - from;
		from = end;
	}
	return 0;
}
