/* table.h: columns for people, on paper or on a screen.  Pure.
 *
 * Rows of cells, and below a row a note, if there is something to explain.  If a table is too wide, the columns with
 * the least weight are left out; if it is too long, notes, then rows, those with the highest rank last.
 */
#pragma once

#include "config/base/base.h"

#define TABLE_COLUMNS_MAX 12
#define TABLE_ROWS_MAX 256
#define TABLE_CELL_MAX 32
#define TABLE_NOTE_MAX 240

enum tone { TONE_PLAIN, TONE_HEAD, TONE_GOOD, TONE_ODD, TONE_BAD, TONE_DIM, TONE_PICKED, TONES };

/* Where it is drawn. */
struct paint {
	void (*text)(struct paint *paint, enum tone tone, const char *text);
	void (*end)(struct paint *paint); /* of the line; counts it */
	size_t lines;			  /* ended so far */
	size_t left;			  /* where lines begin, in columns: right of what was drawn before */
};

struct table_column {
	const char *title;
	bool left;  /* set to the left, as words are; else to the right */
	int weight; /* 0: it always stays */
};

struct table_row {
	struct {
		char text[TABLE_CELL_MAX];
		enum tone tone;
		double at; /* of a bar */
	} cell[TABLE_COLUMNS_MAX];
	char note[TABLE_NOTE_MAX];
	enum tone note_tone;
	int rank; /* higher ones are shown before others, if there is no room for all */
};

struct table {
	struct table_column columns[TABLE_COLUMNS_MAX]; /* set before table_begin */
	const char *title;				/* of the first column, instead of its own; NULL: its own */
	bool plain;					/* bars are of ASCII characters */
	size_t bar; /* the column that has bars, and gets what room is left; 0: none */
	size_t columns_n, rows_n;
	struct table_row rows[TABLE_ROWS_MAX];
};

/* Forgets the rows; n of the columns count, and none has bars. */
void table_begin(struct table *table, size_t n);
/* One more row, empty; NULL: there is no room. */
struct table_row *table_add(struct table *table);
void table_cell(struct table_row *row, size_t column, enum tone tone, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* A value in the column of bars: 0 at its left end, 1 at its right one; NaN: none. */
void table_bar(const struct table *table, struct table_row *row, enum tone tone, double at);

/* How many lines it takes, heading and notes included. */
size_t table_lines(const struct table *table);
/* Draws it, width columns wide and at most height lines long, beginning with row `from`.  How many rows were drawn. */
size_t table_paint(const struct table *table, struct paint *paint, size_t width, size_t height, size_t from);

/* Draws what fits into *left columns, and takes its width from them. */
void table_text(struct paint *paint, enum tone tone, const char *text, size_t *left);
/* Bytes of text that fit into the columns, whole characters only; *columns is what they take.  For tests. */
size_t table_fitting_bytes(const char *text, size_t width, size_t *columns);
