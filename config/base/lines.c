/* lines.c: texts that are put together piece by piece. */
#include "config/base/lines.h"

#include <stdio.h>
#include <string.h>

void lines_append(char *text, size_t size, const char *separator, const char *fmt, ...)
{
	const size_t old = strlen(text), len = strnlen(old ? separator : "", size - 1 - old);
	va_list args;

	memcpy(text + old, separator, len);
	va_start(args, fmt);
	vsnprintf(text + old + len, size - old - len, fmt, args);
	va_end(args);
}

size_t lines_before(const char *text, const char *ending)
{
	const size_t len = strlen(text), tail = strlen(ending);

	return len > tail && !strcmp(text + len - tail, ending) ? len - tail : 0;
}

static void join(void *to, const char *line)
{
	struct lines *lines = to;

	lines_append(lines->text, sizeof(lines->text), "; ", "%s", line);
}

struct error_sink *lines_begin(struct lines *lines)
{
	*lines->text = 0;
	lines->sink = (struct error_sink){ join, lines, 0 };
	return &lines->sink;
}
