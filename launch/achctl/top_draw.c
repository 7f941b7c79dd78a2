/* top_draw.c: draws the robot's state on a screen of any size. */
#include <stdio.h>
#include <string.h>

#include "config/base/lines.h"
#include "launch/achctl/picture.h"
#include "launch/achctl/status_print.h"
#include "launch/achctl/top.h"

#define SECTIONS 3
#define LEAST 3 /* lines of a table that gives way: its heading and two rows */
#define ACROSS_MAX 4
#define PICKED_RANK 1000
#define PICTURE_FROM 30	  /* lines of a screen that has room for a picture */
#define ACROSS_COLUMNS 38 /* that one channel takes */

/* ---- channels, several in a row ---- */

static const struct table_column channel_columns[] = { { "CHANNEL", true, 0 },
						       { "RATE", false, 0 },
						       { "AGE", false, 0 } };

/* Where nothing flows there is little to see: requests, answers, events are shown when asked for. */
static bool worth_it(const struct robot_channel *one, bool all)
{
	return all || one->state || one->rate_hz > 0 || lines_before(one->name, "-ref");
}

static void channel_cells(const struct robot_channel *one, struct table_row *row, size_t place)
{
	const bool still = !(one->rate_hz > 0);
	const enum tone tone = still ? TONE_DIM : TONE_PLAIN;
	char text[STATUS_PRINT_MAX];

	table_cell(row, 3 * place, tone, "%.24s", one->name);
	status_print_hz(text, one->rate_hz);
	table_cell(row, 3 * place + 1, tone, "%s", text);
	status_print_us(text, robot_channel_age_ms(one) * 1e3);
	table_cell(row, 3 * place + 2, tone, "%s", text);
}

static void show_channels(const struct robot_channels *channels, struct table *t, size_t width, bool all)
{
	const struct robot_channel *shown[ROBOT_CHANNELS_MAX];
	size_t n = 0, across = width / ACROSS_COLUMNS, down;

	across = across < 1 ? 1 : across > ACROSS_MAX ? ACROSS_MAX : across;
	for (size_t i = 0; i < channels->n; i++)
		if (worth_it(channels->at[i], all))
			shown[n++] = channels->at[i];
	down = (n + across - 1) / across;
	across = n ? (n + down - 1) / down : 1;
	for (size_t c = 0; c < 3 * across; c++)
		t->columns[c] = channel_columns[c % 3];
	table_begin(t, 3 * across);
	for (size_t r = 0; r < down; r++) {
		struct table_row *row = table_add(t);

		for (size_t c = 0; row && c < across; c++)
			if (c * down + r < n)
				channel_cells(shown[c * down + r], row, c);
	}
}

/* ---- daemons ---- */

/* The selected one is shown before others. */
static void show_daemons(const struct top *top, struct table *t)
{
	status_print_daemons(&top->view, t);
	if (top->selected && top->selected <= t->rows_n) {
		t->rows[top->selected - 1].cell[0].tone = TONE_PICKED;
		t->rows[top->selected - 1].rank = PICKED_RANK;
	}
}

/* ---- sections ---- */

void top_share(size_t *lines, size_t n, size_t room)
{
	static const size_t least[] = { LEAST, 0 };
	size_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += lines[i];
	for (size_t pass = 0; pass < sizeof(least) / sizeof(*least); pass++)
		for (size_t i = n; i-- > 0 && total > room;) {
			const size_t keep = lines[i] < least[pass] ? lines[i] : least[pass];
			const size_t spare = lines[i] - keep, over = total - room;

			lines[i] -= spare < over ? spare : over;
			total -= spare < over ? spare : over;
		}
}

static void draw_section(struct table *t, const char *name, struct paint *p, size_t width, size_t height, size_t from)
{
	char title[64];

	if (height > 1 && height - 1 < t->rows_n) {
		const size_t shown = t->rows_n - from < height - 1 ? t->rows_n - from : height - 1;

		if (strcmp(name, "CHANNEL") != 0)
			snprintf(title, sizeof(title), "%s %zu of %zu", name, shown, t->rows_n);
		else
			snprintf(title, sizeof(title), "CHANNEL (not all)"); /* rows of several */
		t->title = title;
	}
	table_paint(t, p, width, height, from);
	t->title = NULL;
}

static void draw_pane(const struct top *top, struct paint *p, size_t width, size_t room)
{
	static struct table table;
	size_t from = top->from;

	if (top->pane == TOP_DAEMONS)
		show_daemons(top, &table);
	else if (top->pane == TOP_BUSES)
		status_print_buses(&top->view, &table);
	else
		show_channels(&top->channels, &table, width, true);
	for (size_t i = 0; i < table.rows_n; i++)
		table.rows[i].rank = 0; /* in order: there is a way to see the others */
	if (table.rows_n && from >= table.rows_n)
		from = table.rows_n - 1;
	draw_section(&table, table.columns[0].title, p, width, room, from);
}

static void draw_all(const struct top *top, struct paint *p, size_t width, size_t room)
{
	static struct table tables[SECTIONS];
	static const char *const names[SECTIONS] = { "DAEMON", "BUS", "CHANNEL" };
	size_t lines[SECTIONS], wanted = 0, gaps = 0;

	show_daemons(top, &tables[0]);
	status_print_buses(&top->view, &tables[1]);
	show_channels(&top->channels, &tables[2], width, false);
	for (size_t i = 0; i < SECTIONS; i++) {
		lines[i] = tables[i].rows_n ? table_lines(&tables[i]) : 0;
		wanted += lines[i];
		gaps += lines[i] && i;
	}
	gaps = wanted + gaps <= room;
	top_share(lines, SECTIONS, room);
	for (size_t i = 0; i < SECTIONS; i++) {
		if (i && lines[i] && gaps)
			p->end(p);
		draw_section(&tables[i], names[i], p, width, lines[i], 0);
	}
}

static void draw_tables(const struct top *top, struct paint *p, size_t width, size_t room)
{
	if (top->pane == TOP_ALL)
		draw_all(top, p, width, room);
	else
		draw_pane(top, p, width, room);
}

/* ---- the foot ---- */

static void draw_hints(const struct top *top, struct paint *p, size_t width)
{
	static const struct {
		enum tone tone;
		const char *text;
	} hints[] = {
		{ TONE_BAD, "e E-STOP at once" }, { TONE_ODD, "  h hold" },	  { TONE_PLAIN, "  a all  d daemons" },
		{ TONE_PLAIN, "  b buses" },	  { TONE_PLAIN, "  c channels" }, { TONE_PLAIN, "  k kill" },
		{ TONE_PLAIN, "  q quit" },
	};
	size_t left = width;

	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints) && strlen(hints[i].text) <= left; i++) {
		p->text(p, hints[i].tone, hints[i].text);
		left -= strlen(hints[i].text);
	}
	if (top->pane != TOP_ALL && left > 10)
		p->text(p, TONE_DIM, "  arrows");
}

static void draw_picture(const struct top *top, struct paint *p, size_t width)
{
	const struct robot_channels *c = &top->channels;
	const struct picture picture = {
		.balance = &c->balance,
		.mux = c->has_mux ? &c->mux : NULL,
		.now_ns = top->now_ns,
		.plain = top->plain,
	};

	picture_draw(&picture, p, width);
	p->end(p);
}

void top_draw(const struct top *top, struct paint *p, size_t width, size_t height)
{
	const size_t foot = *top->notice && height > 1 ? 2 : 1;
	size_t left = width;

	if (height > 4) {
		status_print_robot(&top->view, p, width);
		status_print_clock(&top->view, p, width);
	}
	if (height >= 20)
		p->end(p);
	if (height >= PICTURE_FROM && top->pane == TOP_ALL && top->channels.has_balance)
		draw_picture(top, p, width);
	if (height > p->lines + foot)
		draw_tables(top, p, width, height - p->lines - foot);
	while (p->lines + foot < height)
		p->end(p);
	if (foot == 2) {
		table_text(p, top->notice_tone, top->notice, &left);
		p->end(p);
	}
	draw_hints(top, p, width);
}
