/* lines.c: an error sink that keeps its lines, for tests. */
#include <stdio.h>
#include <string.h>

#include "test/config/settings/lines.h"

char lines[1 << 16];

static void keep(void *to, const char *line)
{
	char *text = to;
	size_t len = strlen(text);

	snprintf(text + len, sizeof(lines) - len, "%s\n", line);
}

static struct error_sink sink = { keep, lines, 0 };

struct error_sink *lines_start(void)
{
	*lines = '\0';
	sink.count = 0;
	return &sink;
}
