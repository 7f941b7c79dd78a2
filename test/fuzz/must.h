/* must.h: what has to hold for every input of a fuzz target. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "config/base/error.h"

static inline void must(int holds)
{
	if (!holds)
		abort();
}

/* For an error sink: one line, which begins with the name of the file, fuzz. */
static inline void must_be_line(void *to, const char *line)
{
	(void)to;
	must(!strncmp(line, "fuzz:", 5) && strlen(line) < ERROR_LINE_MAX);
	for (; *line; line++)
		must((unsigned char)*line >= 0x20 && *line != 0x7F);
}
