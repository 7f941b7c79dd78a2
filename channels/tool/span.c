/* span.c: a time on the command line, and for people. */
#include <math.h>
#include <stdlib.h>

#include "channels/tool/span.h"
#include "channels/tool/tool.h"
#include "config/text.h"

int span_read(const char *option, const char *text, const char *unit, int64_t *ns)
{
	char with_unit[64], quoted[TEXT_QUOTED_MAX];
	double number;
	int64_t value;

	if (!text)
		return 0;
	snprintf(with_unit, sizeof(with_unit), "%s%s", text, text_real(text, &number) ? "" : unit);
	if (text_duration(with_unit, &value) || value <= 0)
		return tool_report(TOOL_USAGE, "%s: %s is not a time such as 5%s", option, text_quote(quoted, text),
				   unit);
	*ns = value;
	return 0;
}

const char *span_text(char text[SPAN_TEXT_MAX], int64_t ns)
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
	snprintf(text, SPAN_TEXT_MAX, "%.*f %s",
		 units[i].ns == 1 ? 0
		 : fabs(v) >= 100 ? 1
		 : fabs(v) >= 10  ? 2
				  : 3,
		 v, units[i].name);
	return text;
}
