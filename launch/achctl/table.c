/* table.c: columns for people. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/base/utf8.h"
#include "launch/achctl/table.h"

#define GAP 2
#define LINE_BYTES 1024

void table_begin(struct table *t, size_t n)
{
	t->columns_n = n;
	t->rows_n = 0;
	t->title = NULL;
}

struct table_row *table_add(struct table *t)
{
	struct table_row *row = t->rows_n < TABLE_ROWS_MAX ? &t->rows[t->rows_n++] : NULL;

	if (row)
		memset(row, 0, sizeof(*row));
	return row;
}

void table_cell(struct table_row *row, size_t column, enum tone tone, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(row->cell[column].text, TABLE_CELL_MAX, fmt, args);
	va_end(args);
	row->cell[column].tone = tone;
}

/* Every character counts as one column: names and reasons hardly ever hold others. */
size_t table_fitting_bytes(const char *text, size_t width, size_t *columns)
{
	size_t bytes = 0, len = strlen(text), n = 0;
	uint32_t c;

	while (n < width && bytes < len) {
		const size_t size = utf8_character(text + bytes, len - bytes, &c);

		bytes += size ? size : 1;
		n++;
	}
	*columns = n;
	return bytes;
}

static const char *title(const struct table *t, size_t column)
{
	return !column && t->title ? t->title : t->columns[column].title;
}

/* ---- how wide ---- */

struct widths {
	size_t column[TABLE_COLUMNS_MAX];
	bool dropped[TABLE_COLUMNS_MAX];
};

static size_t total(const struct table *t, const struct widths *w)
{
	size_t sum = 0;

	for (size_t i = 0; i < t->columns_n; i++)
		if (!w->dropped[i])
			sum += w->column[i] + (sum ? GAP : 0);
	return sum;
}

static void drop_one(const struct table *t, struct widths *w)
{
	size_t least = TABLE_COLUMNS_MAX;

	for (size_t i = 0; i < t->columns_n; i++)
		if (t->columns[i].weight && !w->dropped[i] &&
		    (least == TABLE_COLUMNS_MAX || t->columns[i].weight < t->columns[least].weight))
			least = i;
	if (least < TABLE_COLUMNS_MAX)
		w->dropped[least] = true;
}

static void find_widths(const struct table *t, size_t width, struct widths *w)
{
	memset(w, 0, sizeof(*w));
	for (size_t i = 0; i < t->columns_n; i++) {
		w->column[i] = strlen(title(t, i));
		for (size_t r = 0; r < t->rows_n; r++) {
			size_t columns;

			table_fitting_bytes(t->rows[r].cell[i].text, TABLE_CELL_MAX, &columns);
			if (columns > w->column[i])
				w->column[i] = columns;
		}
	}
	for (size_t i = 0; i < t->columns_n && total(t, w) > width; i++)
		drop_one(t, w);
}

/* ---- drawing ---- */

void table_text(struct paint *p, enum tone tone, const char *text, size_t *left)
{
	char bytes[LINE_BYTES];
	size_t columns;

	snprintf(bytes, sizeof(bytes), "%.*s", (int)table_fitting_bytes(text, *left, &columns), text);
	if (*bytes)
		p->text(p, tone, bytes);
	*left -= columns;
}

static void paint_blanks(struct paint *p, size_t n, size_t *left)
{
	char blanks[LINE_BYTES];

	snprintf(blanks, sizeof(blanks), "%*s", (int)n, "");
	table_text(p, TONE_PLAIN, blanks, left);
}

static void paint_cell(struct paint *p, const struct table_column *column, size_t width, enum tone tone,
		       const char *text, bool last, size_t *left)
{
	size_t columns;

	table_fitting_bytes(text, width, &columns);
	if (!column->left)
		paint_blanks(p, width - columns, left);
	table_text(p, tone, text, left);
	if (column->left && !last)
		paint_blanks(p, width - columns, left);
}

/* The heading, if row is NULL. */
static void paint_row(const struct table *t, const struct widths *w, struct paint *p, const struct table_row *row,
		      size_t width)
{
	size_t left = width;
	bool first = true;

	for (size_t i = 0; i < t->columns_n; i++) {
		bool last = true;

		if (w->dropped[i])
			continue;
		for (size_t j = i + 1; j < t->columns_n; j++)
			last &= w->dropped[j];
		if (!first)
			paint_blanks(p, GAP, &left);
		first = false;
		paint_cell(p, &t->columns[i], w->column[i], row ? row->cell[i].tone : TONE_HEAD,
			   row ? row->cell[i].text : title(t, i), last, &left);
	}
	p->end(p);
}

static void paint_note(struct paint *p, const struct table_row *row, size_t width)
{
	size_t left = width;

	paint_blanks(p, GAP, &left);
	table_text(p, row->note_tone, row->note, &left);
	p->end(p);
}

/* ---- how long ---- */

size_t table_lines(const struct table *t)
{
	size_t lines = 1 + t->rows_n;

	for (size_t i = 0; i < t->rows_n; i++)
		lines += *t->rows[i].note != 0;
	return lines;
}

/* Which rows there is room for: the bad ones first, and among those of a rank the first ones. */
static size_t choose(const struct table *t, size_t from, size_t room, bool chosen[TABLE_ROWS_MAX])
{
	size_t n = 0;
	int rank = 0;

	memset(chosen, 0, TABLE_ROWS_MAX * sizeof(*chosen));
	for (size_t i = from; i < t->rows_n; i++)
		rank = t->rows[i].rank > rank ? t->rows[i].rank : rank;
	for (; rank >= 0; rank--)
		for (size_t i = from; i < t->rows_n && n < room; i++)
			if (t->rows[i].rank == rank) {
				chosen[i] = true;
				n++;
			}
	return n;
}

size_t table_paint(const struct table *t, struct paint *p, size_t width, size_t height, size_t from)
{
	bool chosen[TABLE_ROWS_MAX];
	struct widths w;
	size_t n, spare;

	if (!height)
		return 0;
	find_widths(t, width, &w);
	n = choose(t, from, height - 1, chosen);
	spare = height - 1 - n;
	paint_row(t, &w, p, NULL, width);
	for (size_t i = from; i < t->rows_n; i++) {
		if (!chosen[i])
			continue;
		paint_row(t, &w, p, &t->rows[i], width);
		if (*t->rows[i].note && spare) {
			paint_note(p, &t->rows[i], width);
			spare--;
		}
	}
	return n;
}
