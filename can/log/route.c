/* route.c: where the frames of a log go. */
#include <stdio.h>
#include <string.h>

#include "can/log/route.h"
#include "config/settings/program.h"

/* ---- names ---- */

/* The one of that name, which is new at first; NULL: there are too many. */
static struct route_bus *bus_named(struct routes *r, const char *name)
{
	for (size_t i = 0; i < r->buses; i++)
		if (!strcmp(r->bus[i].name, name))
			return &r->bus[i];
	if (r->buses == ROUTE_BUSES_MAX)
		return NULL;
	snprintf(r->bus[r->buses].name, sizeof(r->bus->name), "%s", name);
	return &r->bus[r->buses++];
}

static struct route *route_named(struct routes *r, const char *from, size_t len)
{
	for (size_t i = 0; i < r->n; i++)
		if (strlen(r->route[i].from) == len && !memcmp(r->route[i].from, from, len))
			return &r->route[i];
	return NULL;
}

static const char *target_wrong(const char *to)
{
	if (!strncmp(to, "log:", 4))
		return "nothing can be sent to a log";
	if (strlen(to) >= sizeof(((struct route_bus *)NULL)->name))
		return "the name is too long";
	return bus_name_wrong(to);
}

int routes_read(struct routes *r, const struct settings_strings *map)
{
	for (size_t i = 0; i < map->n; i++) {
		const char *item = map->item[i], *equals = strchr(item, '='), *to, *wrong;
		size_t len = equals ? (size_t)(equals - item) : 0;
		struct route *route = &r->route[r->n];
		bool nowhere;

		if (!len || len >= LOG_BUS_MAX)
			return program_wrong("--map: %s is not OLD=NEW such as can0=vcan1", item);
		if (route_named(r, item, len) || r->n == ROUTE_BUSES_MAX)
			return program_wrong(r->n == ROUTE_BUSES_MAX ? "--map: %.*s: too many buses"
								     : "--map: %.*s is mapped twice",
					     (int)len, item);
		to = equals + 1;
		nowhere = !*to || !strcmp(to, "-");
		wrong = nowhere ? NULL : target_wrong(to);
		if (wrong)
			return program_wrong("--map: %s: %s", item, wrong);
		*route = (struct route){ .mapped = true, .to = nowhere ? NULL : bus_named(r, to) };
		memcpy(route->from, item, len);
		if (!strcmp(route->from, "*"))
			r->others = route;
		r->n++;
	}
	return 0;
}

struct route *routes_of(struct routes *r, const char *from)
{
	struct route *route = route_named(r, from, strlen(from));

	if (!route) {
		if (r->n == ROUTE_BUSES_MAX)
			return NULL;
		route = &r->route[r->n];
		*route = (struct route){ .to = r->others ? r->others->to : bus_named(r, from) };
		if (!r->others && !route->to)
			return NULL;
		snprintf(route->from, sizeof(route->from), "%s", from);
		r->n++;
	}
	route->seen = true;
	return route;
}

/* ---- buses ---- */

void routes_will_send(struct route_bus *b, const struct frame *f)
{
	size_t room = sizeof(b->find) / sizeof(*b->find), at = (f->id * 2654435761u >> 16) % room;

	if (f->id & FRAME_ERR || b->sends_n > BUS_FILTERS_MAX)
		return;
	for (; b->find[at]; at = (at + 1) % room)
		if (b->sends[b->find[at] - 1] == f->id)
			return;
	if (b->sends_n < BUS_FILTERS_MAX) {
		b->sends[b->sends_n] = f->id;
		b->find[at] = (uint16_t)(b->sends_n + 1);
	}
	b->sends_n++;
}

static const struct route *unmapped_to(const struct routes *r, const struct route_bus *b)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->route[i].to == b && !r->route[i].mapped && !r->others)
			return &r->route[i];
	return NULL;
}

int routes_open(struct routes *r, struct route_bus *b)
{
	static const struct bus_filter
		none[1]; /* nothing but echoes: they say that there is room, and that it was sent */
	const struct bus_options options = { .filters = r->listen ? NULL : none,
					     .filters_n = 0,
					     .fd = true,
					     .sends = b->sends,
					     .sends_n = b->sends_n <= BUS_FILTERS_MAX ? b->sends_n : 0 };
	char why[ERROR_LINE_MAX] = "";
	struct error_sink keep = { error_keep_last, why, 0 };
	const struct route *unmapped = unmapped_to(r, b);
	int err = b->bus ? 0 : bus_open(&b->bus, b->name, &options, &keep);

	if (err && unmapped)
		return program_fail("%s; or --map %s=BUS sends its frames elsewhere, --map %s= leaves them out", why,
				    unmapped->from, unmapped->from);
	return err ? program_fail("%s", why) : 0;
}

void routes_close(struct routes *r)
{
	for (size_t i = 0; i < r->buses; i++)
		bus_close(r->bus[i].bus);
}
