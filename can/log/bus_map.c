/* bus_map.c: where the frames of a log go. */
#include "can/log/bus_map.h"
#include "config/settings/program.h"

/* ---- names ---- */

/* The one of that name, which is new at first; NULL: there are too many. */
static struct bus_map_bus *bus_named(struct bus_map *map, const char *name)
{
	for (size_t i = 0; i < map->buses; i++)
		if (!strcmp(map->bus[i].name, name))
			return &map->bus[i];
	if (map->buses == BUS_MAP_BUSES_MAX)
		return NULL;
	snprintf(map->bus[map->buses].name, sizeof(map->bus->name), "%s", name);
	return &map->bus[map->buses++];
}

static struct bus_map_entry *entry_named(struct bus_map *map, const char *from, size_t len)
{
	for (size_t i = 0; i < map->n; i++)
		if (strlen(map->entry[i].from) == len && !memcmp(map->entry[i].from, from, len))
			return &map->entry[i];
	return NULL;
}

static const char *target_wrong(const char *to)
{
	if (!strncmp(to, "log:", 4))
		return "nothing can be sent to a log";
	if (strlen(to) >= sizeof(((struct bus_map_bus *)NULL)->name))
		return "the name is too long";
	return bus_name_wrong(to);
}

int bus_map_read(struct bus_map *map, const struct settings_strings *maps)
{
	for (size_t i = 0; i < maps->n; i++) {
		const char *item = maps->item[i], *equals = strchr(item, '='), *to, *wrong;
		size_t len = equals ? (size_t)(equals - item) : 0;
		struct bus_map_entry *entry = &map->entry[map->n];
		bool nowhere;

		if (!len || len >= LOG_BUS_MAX)
			return program_wrong("--map: %s is not OLD=NEW such as can0=vcan1", item);
		if (entry_named(map, item, len) || map->n == BUS_MAP_BUSES_MAX)
			return program_wrong(map->n == BUS_MAP_BUSES_MAX ? "--map: %.*s: too many buses"
									 : "--map: %.*s is mapped twice",
					     (int)len, item);
		to = equals + 1;
		nowhere = !*to || !strcmp(to, "-");
		wrong = nowhere ? NULL : target_wrong(to);
		if (wrong)
			return program_wrong("--map: %s: %s", item, wrong);
		*entry = (struct bus_map_entry){ .mapped = true, .to = nowhere ? NULL : bus_named(map, to) };
		memcpy(entry->from, item, len);
		if (!strcmp(entry->from, "*"))
			map->others = entry;
		map->n++;
	}
	return 0;
}

struct bus_map_entry *bus_map_of(struct bus_map *map, const char *from)
{
	struct bus_map_entry *entry = entry_named(map, from, strlen(from));

	if (!entry) {
		if (map->n == BUS_MAP_BUSES_MAX)
			return NULL;
		entry = &map->entry[map->n];
		*entry = (struct bus_map_entry){ .to = map->others ? map->others->to : bus_named(map, from) };
		if (!map->others && !entry->to)
			return NULL;
		snprintf(entry->from, sizeof(entry->from), "%s", from);
		map->n++;
	}
	entry->seen = true;
	return entry;
}

/* ---- buses ---- */

void bus_map_will_send(struct bus_map_bus *b, const struct frame *f)
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

static const struct bus_map_entry *unmapped_to(const struct bus_map *map, const struct bus_map_bus *b)
{
	for (size_t i = 0; i < map->n; i++)
		if (map->entry[i].to == b && !map->entry[i].mapped && !map->others)
			return &map->entry[i];
	return NULL;
}

int bus_map_open(struct bus_map *map, struct bus_map_bus *b)
{
	static const struct bus_filter
		none[1]; /* nothing but echoes: they say that there is room, and that it was sent */
	const struct bus_options options = { .filters = map->listen ? NULL : none,
					     .filters_n = 0,
					     .fd = true,
					     .sends = b->sends,
					     .sends_n = b->sends_n <= BUS_FILTERS_MAX ? b->sends_n : 0 };
	char why[ERROR_LINE_MAX] = "";
	struct error_sink keep = { error_keep_last, why, 0 };
	const struct bus_map_entry *unmapped = unmapped_to(map, b);
	int err = b->bus ? 0 : bus_open(&b->bus, b->name, &options, &keep);

	if (err && unmapped)
		return program_fail("%s; or --map %s=BUS sends its frames elsewhere, --map %s= leaves them out", why,
				    unmapped->from, unmapped->from);
	return err ? program_fail("%s", why) : 0;
}

void bus_map_close(struct bus_map *map)
{
	for (size_t i = 0; i < map->buses; i++)
		bus_close(map->bus[i].bus);
}
