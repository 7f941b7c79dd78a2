/* wrap.c: text in columns. */
#include <stdbool.h>
#include <string.h>

#include "config/wrap.h"

void wrap_pad(FILE *to, int *at, int column)
{
	if (*at && *at + WRAP_GAP > column) {
		fputc('\n', to);
		*at = 0;
	}
	fprintf(to, "%*s", column - *at, "");
	*at = column;
}

void wrap_text(FILE *to, const char *text, int at, int indent)
{
	bool first = true;

	while (*text) {
		int len = (int)strcspn(text, " ");

		if (!first && at + 1 + len > WRAP_COLUMNS) {
			fprintf(to, "\n%*s", indent, "");
			at = indent;
			first = true;
		}
		fprintf(to, "%s%.*s", first ? "" : " ", len, text);
		at += len + !first;
		first = false;
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', to);
}
