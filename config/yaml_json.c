/* yaml_json.c: what JSON writes differently. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "config/yaml_tree.h"

static bool looks_like_json(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && strchr(" \t\r\n", text[i]))
		i++;
	return i < len && (text[i] == '{' || text[i] == '[');
}

/* The 16 bits of \uXXXX at p, or 0. */
static uint32_t escape(const char *p, const char *end)
{
	uint32_t value = 0;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return 0;
	for (int i = 2; i < 6; i++) {
		const char digits[] = "0123456789abcdefABCDEF";
		const char *digit = memchr(digits, p[i], sizeof(digits) - 1);

		if (!digit)
			return 0;
		value = value << 4 | (uint32_t)(digit - digits - (digit - digits > 15 ? 6 : 0));
	}
	return value;
}

size_t yaml_json_escapes(char *text, size_t len)
{
	const char *from = text, *end = text + len;
	char *to = text, code[16];

	if (!looks_like_json(text, len))
		return len;
	while (from < end) {
		uint32_t high = escape(from, end);
		uint32_t low = high >> 10 == 0x36 ? escape(from + 6, end) : 0;

		if (low >> 10 == 0x37) {
			snprintf(code, sizeof(code), "\\U%08X", 0x10000 + ((high & 0x3FF) << 10 | (low & 0x3FF)));
			memcpy(to, code, 10);
			to += 10;
			from += 12;
			continue;
		}
		/* A backslash hides the character behind it, another backslash too. */
		if (*from == '\\' && from + 1 < end)
			*to++ = *from++;
		*to++ = *from++;
	}
	return (size_t)(to - text);
}
