/* utf8.c: is this text at all? */
#include <stdint.h>

#include "config/utf8.h"

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
		/* A byte order mark is a character of its own only at the start. */
		if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || (c > 0x7E && c < 0xA0 && c != 0x85) ||
		    (c >= 0xFFFE && c <= 0xFFFF) || (c == 0xFEFF && p != text))
			return "a control character";
		*line += c == '\n' || (c == '\r' && !(p + 1 < end && p[1] == '\n'));
		p += n;
	}
	return NULL;
}
