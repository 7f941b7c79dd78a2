/* table.c: columns for people. */
#include <math.h>

#include "launch/achctl/table.h"

#define GAP 2
#define BAR_MIN 8
#define BAR_MAX 42
#define LINE_BYTES 1024

void table_begin(struct table *t, size_t n)
{
	t->columns_n = n;
	t->rows_n = 0;
	t->title = NULL;
	t->bar = 0;
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

size_t table_fitting_bytes(const char *text, size_t width, size_t *columns)
{
	size_t bytes = 0, len = strlen(text), n = 0;
	uint32_t c;

	while (bytes < len) {
		const size_t size = utf8_character(text + bytes, len - bytes, &c), wide = size ? utf8_columns(c) : 1;

		if (n + wide > width)
			break;
		bytes += size ? size : 1;
		n += wide;
	}
	*columns = n;
	return bytes;
}

void table_bar(const struct table *t, struct table_row *row, enum tone tone, double at)
{
	if (isnan(at))
		return;
	table_cell(row, t->bar, tone, "|");
	row->cell[t->bar].at = at;
}

static const char *title(const struct table *t, size_t column)
{
	return !column && t->title ? t->title : t->columns[column].title;
}

/* ---- how wide ---- */

/* The width of each column; 0: there is no room for it. */
typedef size_t widths[TABLE_COLUMNS_MAX];

static size_t total(const struct table *t, const widths w)
{
	size_t sum = 0;

	for (size_t i = 0; i < t->columns_n; i++)
		if (w[i])
			sum += w[i] + (sum ? GAP : 0);
	return sum;
}

static void drop_one(const struct table *t, widths w)
{
	size_t least = TABLE_COLUMNS_MAX;

	for (size_t i = 0; i < t->columns_n; i++)
		if (t->columns[i].weight && w[i] &&
		    (least == TABLE_COLUMNS_MAX || t->columns[i].weight < t->columns[least].weight))
			least = i;
	if (least < TABLE_COLUMNS_MAX)
		w[least] = 0;
}

static void find_widths(const struct table *t, size_t width, widths w)
{
	for (size_t i = 0; i < t->columns_n; i++) {
		w[i] = i && i == t->bar ? BAR_MIN : strlen(title(t, i));
		for (size_t r = 0; r < t->rows_n; r++) {
			size_t columns;

			table_fitting_bytes(t->rows[r].cell[i].text, TABLE_CELL_MAX, &columns);
			if (columns > w[i])
				w[i] = columns;
		}
	}
	for (size_t i = 0; i < t->columns_n && total(t, w) > width; i++)
		drop_one(t, w);
	if (t->bar && w[t->bar] && total(t, w) < width)
		w[t->bar] += width - total(t, w);
	if (t->bar && w[t->bar] > BAR_MAX)
		w[t->bar] = BAR_MAX;
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

/* A scale with its ends, and a mark where the value is; beyond an end an arrow is in its place. */
static void paint_bar(struct paint *p, enum tone tone, bool plain, double at, size_t width, size_t *left)
{
	static const char *const signs[2][4] = { { "├", "─", "┤", "●" }, { "[", "-", "]", "o" } };
	const size_t last = width - 1;
	const size_t mark = at < 0 ? 0 : at > 1 ? last : 1 + (size_t)lround(at * (double)(last - 2));
	char text[sizeof("├") * BAR_MAX];
	struct text_out out = text_out(text, sizeof(text));

	for (size_t i = 0; i < mark; i++)
		text_add(&out, "%s", signs[plain][i > 0]);
	if (mark)
		table_text(p, TONE_DIM, text, left);
	table_text(p, tone, !mark ? "<" : mark == last ? ">" : signs[plain][3], left);
	out = text_out(text, sizeof(text));
	for (size_t i = mark + 1; i < width; i++)
		text_add(&out, "%s", signs[plain][i < last ? 1 : 2]);
	if (mark < last)
		table_text(p, TONE_DIM, text, left);
}

/* The heading, if row is NULL. */
static void paint_row(const struct table *t, const widths w, struct paint *p, const struct table_row *row, size_t width)
{
	size_t left = width, blanks = 0; /* behind the column before */

	for (size_t i = 0; i < t->columns_n; i++) {
		const char *text = row ? row->cell[i].text : title(t, i);
		size_t columns;

		if (!w[i])
			continue;
		table_fitting_bytes(text, w[i], &columns);
		paint_blanks(p, blanks + (t->columns[i].left ? 0 : w[i] - columns), &left);
		if (row && i && i == t->bar && *text)
			paint_bar(p, row->cell[i].tone, t->plain, row->cell[i].at, columns = w[i], &left);
		else
			table_text(p, row ? row->cell[i].tone : TONE_HEAD, text, &left);
		blanks = GAP + (t->columns[i].left ? w[i] - columns : 0);
	}
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
	widths w;
	size_t n, spare;

	if (!height)
		return 0;
	find_widths(t, width, w);
	n = choose(t, from, height - 1, chosen);
	spare = height - 1 - n;
	paint_row(t, w, p, NULL, width);
	for (size_t i = from; i < t->rows_n; i++) {
		if (!chosen[i])
			continue;
		paint_row(t, w, p, &t->rows[i], width);
		if (*t->rows[i].note && spare) {
			size_t left = width;

			paint_blanks(p, GAP, &left);
			table_text(p, t->rows[i].note_tone, t->rows[i].note, &left);
			p->end(p);
			spare--;
		}
	}
	return n;
}
