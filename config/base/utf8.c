/* utf8.c: is this text at all, and may a terminal or a reader of JSON have it? */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/base/utf8.h"

size_t utf8_character(const char *text, size_t len, uint32_t *c)
{
	const unsigned char *p = (const unsigned char *)text;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = !len ? 0 : *p < 0x80 ? 1 : *p >> 5 == 6 ? 2 : *p >> 4 == 14 ? 3 : *p >> 3 == 30 ? 4 : 0;

	if (!n || n > len)
		return 0;
	*c = n == 1 ? *p : *p & (0xFFu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		*c = *c << 6 | (p[i] & 0x3F);
	}
	return *c < least[n] || *c > 0x10FFFF || *c >> 11 == 0x1B ? 0 : n;
}

const char *utf8_check(const char *text, size_t len, unsigned int *line)
{
	const char *p = text, *end = p + len;
	uint32_t c = 0;

	for (*line = 1; p < end;) {
		size_t n = utf8_character(p, (size_t)(end - p), &c);

		if (!n)
			return "not UTF-8";
		if (!c)
			return "a zero byte";
		/* YAML ends a line there, editors and other programs do not: a comment could hide a key. */
		if (c == 0x85 || c == 0x2028 || c == 0x2029)
			return c == 0x85 ? "U+0085" : c == 0x2028 ? "U+2028" : "U+2029";
		/* A byte order mark is a character of its own only at the start. */
		if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || (c > 0x7E && c < 0xA0) ||
		    (c >= 0xFFFE && c <= 0xFFFF) || (c == 0xFEFF && p != text))
			return "a control character";
		*line += c == '\n' || (c == '\r' && !(p + 1 < end && p[1] == '\n'));
		p += n;
	}
	return NULL;
}

bool utf8_is_plain(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} odd[] = {
		{ 0, 0x1f },	    { 0x7f, 0x9f },						/* control characters */
		{ 0x61c, 0x61c },   { 0x200e, 0x200f }, { 0x202a, 0x202e }, { 0x2066, 0x2069 }, /* direction */
		{ 0x2028, 0x2029 },								/* line ends */
		{ 0xfeff, 0xfeff }, { 0xfffe, 0xffff },
	};

	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		if (c >= odd[i].first && c <= odd[i].last)
			return false;
	return true;
}

size_t utf8_columns(uint32_t c)
{
	static const struct {
		uint32_t first, last;
		size_t columns;
	} others[] = {
		{ 0x300, 0x36f, 0 },	 { 0x200b, 0x200d, 0 },	  { 0x20d0, 0x20ff, 0 },   { 0xfe00, 0xfe0f, 0 },
		{ 0x1100, 0x115f, 2 },	 { 0x2e80, 0x303e, 2 },	  { 0x3041, 0xa4cf, 2 },   { 0xac00, 0xd7a3, 2 },
		{ 0xf900, 0xfaff, 2 },	 { 0xfe30, 0xfe6f, 2 },	  { 0xff00, 0xff60, 2 },   { 0xffe0, 0xffe6, 2 },
		{ 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 }, { 0x20000, 0x3fffd, 2 },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (c >= others[i].first && c <= others[i].last)
			return others[i].columns;
	return 1;
}

void utf8_clean(char *text)
{
	for (size_t left = strlen(text); left;) {
		uint32_t c = 0;
		const size_t n = utf8_character(text, left, &c), bytes = n ? n : 1;

		if (!n || !utf8_is_plain(c))
			memset(text, '?', bytes);
		text += bytes;
		left -= bytes;
	}
}

void utf8_mend(char *text)
{
	const size_t len = strlen(text);
	size_t tail = 0;
	unsigned char first;

	while (tail < 3 && tail < len && (text[len - tail - 1] & 0xC0) == 0x80)
		tail++;
	if (tail == len)
		return;
	first = (unsigned char)text[len - tail - 1];
	if (first >= 0xC0 && tail < (first < 0xE0 ? 1u : first < 0xF0 ? 2u : 3u))
		text[len - tail - 1] = '\0';
}

size_t utf8_json(char json[UTF8_JSON_MAX], const char *text, size_t len)
{
	uint32_t c = 0;
	const size_t n = utf8_character(text, len, &c);

	if (!n)
		snprintf(json, UTF8_JSON_MAX, "\\ufffd");
	else if (!utf8_is_plain(c))
		snprintf(json, UTF8_JSON_MAX, "\\u%04" PRIx32, c & 0xffff);
	else
		snprintf(json, UTF8_JSON_MAX, "%s%.*s", c == '"' || c == '\\' ? "\\" : "", (int)n, text);
	return n ? n : 1;
}
