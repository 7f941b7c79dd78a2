/* launch_order.c: who starts after whom. */
#include <string.h>

#include "launch/file/launch_inside.h"

/* From first along needs that are not placed yet until one comes again: "waist needs larm needs waist". */
static void tell_circle(const struct launch *launch, size_t first, uint64_t *placed, struct error_sink *errors)
{
	char text[ERROR_LINE_MAX / 2];
	uint64_t seen = 0, circle = 0;
	size_t at = first, end;
	int len;

	for (; !(seen >> at & 1); at = (size_t)__builtin_ctzll(launch->daemons[at].raw->needed & ~*placed))
		seen |= UINT64_C(1) << at;
	end = at;
	len = snprintf(text, sizeof(text), "%s", launch->daemons[end].name);
	do {
		circle |= UINT64_C(1) << at;
		at = (size_t)__builtin_ctzll(launch->daemons[at].raw->needed & ~*placed);
		if (len < (int)sizeof(text))
			len += snprintf(text + len, sizeof(text) - (size_t)len, " needs %s", launch->daemons[at].name);
	} while (at != end);
	yaml_error(errors,
		   launch->daemons[end].raw->needs ? launch->daemons[end].raw->needs : launch->daemons[end].node,
		   "a circle: %s; take one of these out", text);
	*placed |= circle;
}

/* The first of the file that is not placed and needs nobody who is not; or the first that is not placed: a circle. */
static bool find_next(const struct launch *launch, uint64_t placed, size_t *next)
{
	size_t left = launch->daemons_n;

	for (size_t i = 0; i < launch->daemons_n; i++) {
		if (placed >> i & 1)
			continue;
		*next = i;
		if (!(launch->daemons[i].raw->needed & ~placed))
			return true;
		left = left < i ? left : i;
	}
	*next = left;
	return false;
}

static const size_t *needs_of(struct launch *launch, const struct launch_daemon *daemon, const size_t *place_of,
			      struct error_sink *errors)
{
	size_t n = 0, *needs = launch_room(launch, daemon->needs_n, sizeof(*needs), errors);

	for (size_t i = 0; needs && i < launch->daemons_n; i++) {
		if (daemon->raw->needed >> launch->daemons[i].raw->place & 1)
			needs[n++] = place_of[launch->daemons[i].raw->place];
	}
	return needs;
}

void launch_order(struct launch *launch, struct error_sink *errors)
{
	struct launch_daemon *sorted = launch_room(launch, launch->daemons_n, sizeof(*sorted), errors);
	size_t place_of[LAUNCH_DAEMONS_MAX] = { 0 }, n = 0, next;
	uint64_t placed = 0;

	while (sorted && n < launch->daemons_n && placed + 1 != UINT64_C(1) << launch->daemons_n) {
		if (!find_next(launch, placed, &next)) {
			tell_circle(launch, next, &placed, errors);
			continue;
		}
		placed |= UINT64_C(1) << next;
		place_of[next] = n;
		sorted[n++] = launch->daemons[next];
	}
	if (n < launch->daemons_n)
		return; /* told */
	launch->daemons = sorted;
	for (size_t i = 0; i < n; i++) {
		sorted[i].needs_n = (size_t)__builtin_popcountll(sorted[i].raw->needed);
		sorted[i].needs = needs_of(launch, &sorted[i], place_of, errors);
	}
}
