/* settings_print.c: values as text, and the table that people read. */
#include "config/settings/settings_value.h"

static void number_text(const struct settings_row *row, const void *place, char text[TEXT_VALUE_MAX])
{
	int64_t i;
	double r;

	memcpy(&i, place, sizeof(i));
	memcpy(&r, place, sizeof(r));
	if (row->type == SETTINGS_IS_REAL || row->type == SETTINGS_IS_REALS)
		text_from_real(text, r);
	else if (row->type == SETTINGS_IS_DURATION)
		text_from_duration(text, i);
	else
		snprintf(text, TEXT_VALUE_MAX, "%lld", (long long)i);
}

static int list_text(const struct settings_row *row, const void *values, char *text, size_t size)
{
	struct text_out out = text_out(text, size);
	const char *base = values;
	char one[TEXT_VALUE_MAX];
	size_t n = row->room;

	if (!row->vector)
		memcpy(&n, base + row->count_offset, sizeof(n));
	for (size_t i = 0; i < n; i++) {
		number_text(row, base + row->offset + i * sizeof(double), one);
		text_add(&out, "%s%s", i ? ", " : "[", one);
	}
	text_add(&out, n ? "]" : "[]");
	return (int)out.len;
}

int settings_value_text(const struct settings_row *row, const void *values, char *text, size_t size)
{
	const char *place = (const char *)values + row->offset, *string = NULL;
	char number[TEXT_VALUE_MAX];
	int word;

	switch (row->type) {
	case SETTINGS_IS_BOOL:
		return snprintf(text, size, "%s", *(const bool *)place ? "yes" : "no");
	case SETTINGS_IS_WORD:
		memcpy(&word, place, sizeof(word));
		return snprintf(text, size, "%s", row->words[word]);
	case SETTINGS_IS_TEXT:
		return snprintf(text, size, "%s", place);
	case SETTINGS_IS_STRING:
		memcpy(&string, place, sizeof(string));
		return snprintf(text, size, "%s", string ? string : "");
	case SETTINGS_IS_REALS:
	case SETTINGS_IS_INTS:
		return list_text(row, values, text, size);
	case SETTINGS_IS_NODE:
	case SETTINGS_IS_STRINGS:
		return snprintf(text, size, "%s", "");
	default:
		number_text(row, place, number);
		return snprintf(text, size, "%s", number);
	}
}

/* ---- text in columns ---- */

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

/* ---- the table ---- */

enum { KEY, VALUE, UNIT, RANGE, COLUMNS };
#define CELL_MAX 24 /* a wider range goes to the help, a wider value is cut */
#define HELP_MIN 30

struct settings_print_line {
	char cell[COLUMNS][SETTINGS_TEXT_MAX];
	char help[2 * SETTINGS_TEXT_MAX];
};

static void fill(struct settings_print_line *line, const struct settings *settings, size_t i)
{
	const struct settings_row *row = &settings->rows[i];
	bool has_value = settings->given >> i & 1 || (row->preset && row->preset != SETTINGS_REQUIRED);
	char *value = line->cell[VALUE], *range = line->cell[RANGE];

	snprintf(line->cell[KEY], SETTINGS_TEXT_MAX, "%s", row->key);
	snprintf(line->cell[UNIT], SETTINGS_TEXT_MAX, "%s", row->unit);
	snprintf(value, SETTINGS_TEXT_MAX, "%s", row->preset == SETTINGS_REQUIRED ? "required" : "-");
	if (has_value && settings_value_text(row, settings->values, value, SETTINGS_TEXT_MAX) > CELL_MAX)
		strcpy(value + CELL_MAX - 3, "...");
	settings_value_range(row, range, SETTINGS_TEXT_MAX);
	snprintf(line->help, sizeof(line->help), "%s", row->help);
	if (strlen(range) > CELL_MAX) {
		snprintf(line->help, sizeof(line->help), "%s (%s)", row->help, range);
		*range = '\0';
	}
}

static void measure(const struct settings_print_line *line, int width[COLUMNS])
{
	for (int c = 0; c < COLUMNS; c++) {
		int len = (int)strlen(line->cell[c]);

		width[c] = len > width[c] ? len : width[c];
	}
}

static void print_line(FILE *to, const struct settings_print_line *line, const int width[COLUMNS])
{
	int at = 0, column = 0;

	for (int c = 0; c < COLUMNS; c++) {
		if (*line->cell[c]) {
			wrap_pad(to, &at, column);
			at += fprintf(to, "%s", line->cell[c]);
		}
		column += width[c] ? width[c] + WRAP_GAP : 0;
	}
	/* No room for help beside: it gets a line of its own. */
	if (column > WRAP_COLUMNS - HELP_MIN)
		column = 8;
	wrap_pad(to, &at, column);
	wrap_text(to, line->help, at, column);
}

void settings_print(const struct settings *settings, FILE *to)
{
	struct settings_print_line head = { { "setting", "default", "unit", "allowed" }, "what it is" }, line;
	int width[COLUMNS] = { 0 };

	for (const struct settings *s = settings; s; s = s->next)
		if (s->given)
			strcpy(head.cell[VALUE], "value");
	measure(&head, width);
	for (const struct settings *s = settings; s; s = s->next) {
		for (size_t i = 0; s->rows[i].key; i++) {
			fill(&line, s, i);
			measure(&line, width);
		}
	}
	print_line(to, &head, width);
	for (const struct settings *s = settings; s; s = s->next) {
		for (size_t i = 0; s->rows[i].key; i++) {
			fill(&line, s, i);
			print_line(to, &line, width);
		}
	}
}
