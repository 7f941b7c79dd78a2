/* mcap_map.c: texts, and maps of texts. */
#include "channels/rec/mcap.h"

struct mcap_text mcap_text(const char *text)
{
	return (struct mcap_text){ text, strlen(text) };
}

bool mcap_is(struct mcap_text text, const char *other)
{
	return text.len == strlen(other) && !memcmp(text.at, other, text.len);
}

char *mcap_copy(struct mcap_text text, char *to, size_t size)
{
	const size_t len = text.len < size ? text.len : size - 1;

	if (len)
		memcpy(to, text.at, len);
	to[len] = '\0';
	return to;
}

static void add_text(struct mcap_map *map, const char *text)
{
	const uint32_t len = (uint32_t)strlen(text);

	memcpy(map->bytes + map->len, &len, sizeof(len));
	memcpy(map->bytes + map->len + sizeof(len), text, len);
	map->len += sizeof(len) + len;
}

void mcap_map_add(struct mcap_map *map, const char *key, const char *fmt, ...)
{
	char value[128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(value, sizeof(value), fmt, args);
	va_end(args);
	if (sizeof(map->bytes) - map->len < 2 * sizeof(uint32_t) + strlen(key) + strlen(value))
		return;
	add_text(map, key);
	add_text(map, value);
}

struct mcap_text mcap_map_text(const struct mcap_map *map)
{
	return (struct mcap_text){ map->bytes, map->len };
}

/* Takes a text off the bytes; false: they are not one. */
static bool take_text(struct mcap_text *bytes, struct mcap_text *text)
{
	uint32_t len;

	if (bytes->len < sizeof(len))
		return false;
	memcpy(&len, bytes->at, sizeof(len));
	if (len > bytes->len - sizeof(len))
		return false;
	*text = (struct mcap_text){ bytes->at + sizeof(len), len };
	bytes->at += sizeof(len) + len;
	bytes->len -= sizeof(len) + len;
	return true;
}

struct mcap_text mcap_map_get(struct mcap_text map, const char *key)
{
	struct mcap_text found, value;

	while (take_text(&map, &found) && take_text(&map, &value))
		if (mcap_is(found, key))
			return value;
	return (struct mcap_text){ NULL, 0 };
}

uint64_t mcap_map_number(struct mcap_text map, const char *key, uint64_t other)
{
	const struct mcap_text value = mcap_map_get(map, key);
	char text[24];
	char *end;
	uint64_t number;

	if (!value.len || value.len >= sizeof(text))
		return other;
	number = strtoull(mcap_copy(value, text, sizeof(text)), &end, 10);
	return *end ? other : number;
}
