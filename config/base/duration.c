/* duration.c: a time for people. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/base/duration.h"

const char *duration_text(char text[DURATION_TEXT_MAX], int64_t ns)
{
	static const struct {
		int64_t ns;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };
	size_t i = 0;
	double v;

	while (units[i].ns > 1 && llabs(ns) < units[i].ns)
		i++;
	v = (double)ns / (double)units[i].ns;
	snprintf(text, DURATION_TEXT_MAX, "%.*f %s",
		 units[i].ns == 1 ? 0
		 : fabs(v) >= 100 ? 1
		 : fabs(v) >= 10  ? 2
				  : 3,
		 v, units[i].name);
	return text;
}
