/* top_draw.c: draws the robot's state on a screen of any size. */
#include <math.h>

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
	/* Where nothing flows there is little to see: requests, answers, events are shown when asked for. */
	for (size_t i = 0; i < channels->n; i++)
		if (all || channels->at[i]->state || channels->at[i]->rate_hz > 0 ||
		    lines_before(channels->at[i]->name, "-ref"))
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

/* ---- a robot that balances, as a small picture from its left side, with what it does in words ---- */

#define PICTURE_LINES 9
#define PICTURE_COLUMNS 26		  /* of the drawing; words stand beside it */
#define DOTS_ACROSS (2 * PICTURE_COLUMNS) /* a character of braille has 2 by 4 */
#define DOTS_DOWN (4 * PICTURE_LINES)
#define DOTS_PER_M 17.5
#define AXLE_DOT 29.5 /* from the top */
#define WHEEL_M 0.264
#define BASE_M 0.51  /* axle to waist */
#define UPPER_M 0.95 /* waist to head */
#define HEAD_M 0.09
#define SILENT_NS 200000000 /* balance */
#define TEXT_MAX 80

struct canvas {
	bool dot[DOTS_DOWN][DOTS_ACROSS];
};

static void put_dot(struct canvas *c, double forward_m, double up_m)
{
	const long x = lround(DOTS_ACROSS / 2 + forward_m * DOTS_PER_M), y = lround(AXLE_DOT - up_m * DOTS_PER_M);

	if (x >= 0 && x < DOTS_ACROSS && y >= 0 && y < DOTS_DOWN)
		c->dot[y][x] = true;
}

static void draw_line(struct canvas *c, double forward_m, double up_m, double angle_rad, double long_m)
{
	for (double at_m = 0; at_m <= long_m; at_m += 0.4 / DOTS_PER_M)
		put_dot(c, forward_m + at_m * sin(angle_rad), up_m + at_m * cos(angle_rad));
}

static void draw_circle(struct canvas *c, double forward_m, double up_m, double radius_m)
{
	for (double angle = 0; angle < 2 * M_PI; angle += 0.5 / (radius_m * DOTS_PER_M))
		put_dot(c, forward_m + radius_m * sin(angle), up_m + radius_m * cos(angle));
}

static void draw_robot(struct canvas *c, const struct msg_balance_state *s)
{
	const double upper_rad = s->pitch + s->waist_position;
	const double waist_forward_m = BASE_M * sin(s->pitch), waist_up_m = BASE_M * cos(s->pitch);

	draw_circle(c, 0, 0, WHEEL_M);
	draw_line(c, 0, 0, M_PI + s->travel / WHEEL_M, WHEEL_M); /* a spoke shows that it rolls */
	draw_line(c, 0, 0, s->pitch, BASE_M);
	draw_line(c, 1.5 / DOTS_PER_M, 0, s->pitch, BASE_M); /* the base is thicker */
	draw_line(c, waist_forward_m, waist_up_m, upper_rad, UPPER_M);
	draw_circle(c, waist_forward_m + (UPPER_M + HEAD_M) * sin(upper_rad),
		    waist_up_m + (UPPER_M + HEAD_M) * cos(upper_rad), HEAD_M);
	for (double forward_m = -1.5; forward_m < 1.5; forward_m += 2 / DOTS_PER_M)
		put_dot(c, forward_m, -WHEEL_M - 1 / DOTS_PER_M);
}

/* One character, as UTF-8: its dots are bits of a code point from 0x2800 on. */
static void character(const struct canvas *c, size_t line, size_t column, bool plain, char text[4])
{
	static const unsigned char bits[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
	unsigned int dots = 0, n = 0;

	for (size_t y = 0; y < 4; y++)
		for (size_t x = 0; x < 2; x++)
			if (c->dot[4 * line + y][2 * column + x]) {
				dots |= bits[y][x];
				n++;
			}
	if (plain)
		snprintf(text, 4, "%c", n > 2 ? '#' : n ? '.' : ' ');
	else if (!dots)
		snprintf(text, 4, " ");
	else
		snprintf(text, 4, "\xE2%c%c", (int)(0xA0 + (dots >> 6)), (int)(0x80 + (dots & 0x3F)));
}

static double degrees(double rad)
{
	return rad * 180 / M_PI;
}

/* In the order of MSG_INPUT_LOST and so on, and behind them what this version does not know. */
static const struct {
	const char *word;
	enum tone tone;
} inputs[] = { { "lost", TONE_BAD }, { "predicted", TONE_ODD }, { "fresh", TONE_PLAIN }, { "unknown", TONE_BAD } };

static size_t input(uint32_t value)
{
	return value <= MSG_INPUT_FRESH ? value : MSG_INPUT_FRESH + 1;
}

static enum tone mode(const struct msg_balance_state *s, char text[TEXT_MAX])
{
	static const char *const words[] = { "off", "standing up", "standing", "sitting down", "FALLEN" };

	snprintf(text, TEXT_MAX, "%s", s->mode < sizeof(words) / sizeof(*words) ? words[s->mode] : "unknown");
	return s->mode == MSG_BALANCE_FALLEN ? TONE_BAD : s->mode == MSG_BALANCE_STANDING ? TONE_GOOD : TONE_ODD;
}

/* The words of a line, and their tone. */
static enum tone words(const struct top *top, size_t line, char text[TEXT_MAX])
{
	const struct msg_balance_state *s = &top->channels.balance;
	const struct msg_mux_state *mux = &top->channels.mux;
	const int64_t silent_ns = top->now_ns - s->header.t_publish_ns;

	*text = 0;
	switch (line) {
	case 1:
		if (silent_ns < SILENT_NS)
			return mode(s, text);
		snprintf(text, TEXT_MAX, "balance is silent for %.1f s", (double)silent_ns * 1e-9);
		return TONE_BAD;
	case 2:
		snprintf(text, TEXT_MAX, "lean   %6.1f deg   speed  %6.2f m/s", degrees(s->lean), s->speed);
		return TONE_PLAIN;
	case 3:
		snprintf(text, TEXT_MAX, "pitch  %6.1f deg   travel %6.2f m", degrees(s->pitch), s->travel);
		return TONE_PLAIN;
	case 4:
		snprintf(text, TEXT_MAX, "waist  %6.1f deg   %s", degrees(s->waist_position),
			 inputs[input(s->waist)].word);
		return inputs[input(s->waist)].tone;
	case 5:
		snprintf(text, TEXT_MAX, "wheels %6.1f %.1f A   %s", s->current[0], s->current[1],
			 inputs[input(s->wheels)].word);
		return inputs[input(s->wheels)].tone;
	case 6:
		snprintf(text, TEXT_MAX, "imu    %s", inputs[input(s->imu)].word);
		return inputs[input(s->imu)].tone;
	case 7:
		if (top->channels.has_mux) /* of the waist's references */
			snprintf(text, TEXT_MAX, "%.24s follows %.24s", mux->output,
				 *mux->in_charge ? mux->in_charge : "no source");
		return TONE_PLAIN;
	}
	return TONE_PLAIN;
}

static void draw_picture(const struct top *top, struct paint *paint, size_t width)
{
	const struct msg_balance_state *s = &top->channels.balance;
	struct canvas canvas = { 0 };

	if (isfinite(s->pitch) && isfinite(s->waist_position))
		draw_robot(&canvas, s);
	for (size_t line = 0; line < PICTURE_LINES; line++) {
		char row[3 * PICTURE_COLUMNS + 1], text[TEXT_MAX];
		size_t len = 0, left = width;
		enum tone tone;

		for (size_t column = 0; column < PICTURE_COLUMNS; column++) {
			character(&canvas, line, column, top->plain, row + len);
			len += strlen(row + len);
		}
		table_text(paint, TONE_PLAIN, row, &left);
		table_text(paint, TONE_PLAIN, "  ", &left);
		tone = words(top, line, text);
		table_text(paint, tone, text, &left);
		paint->end(paint);
	}
	paint->end(paint);
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
		(top->pane == TOP_ALL ? draw_all : draw_pane)(top, p, width, height - p->lines - foot);
	while (p->lines + foot < height)
		p->end(p);
	if (foot == 2) {
		table_text(p, top->notice_tone, top->notice, &left);
		p->end(p);
	}
	draw_hints(top, p, width);
}
