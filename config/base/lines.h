/* lines.h: texts that are put together piece by piece: error lines "a; b", and lists "waist, larm". */
#pragma once

#include "config/base/error.h"

/* Appends to text, after the separator unless text is empty; cut to size bytes. */
void lines_append(char *text, size_t size, const char *separator, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* The length of text before that ending, "waist" of "waist-state"; 0: text does not end so, or is nothing else. */
size_t lines_before(const char *text, const char *ending);

/* Error lines of libraries, joined. */
struct lines {
	struct error_sink sink;
	char text[ERROR_LINE_MAX];
};
struct error_sink *lines_begin(struct lines *lines);
