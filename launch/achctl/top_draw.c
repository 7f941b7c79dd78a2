/* top_draw.c: draws the robot's state on a screen of any size. */
#include "launch/achctl/status_print.h"
#include "launch/achctl/top.h"

#define LEAST 3 /* lines of a table that gives way: its heading and two rows */
#define ACROSS_MAX 4
#define PICKED_RANK 1000
#define PICTURE_FROM 30	  /* lines of a screen that has room for a picture */
#define ACROSS_COLUMNS 38 /* that one channel takes */
#define WIDE 160	  /* columns of a screen that shows tables beside each other */
#define BETWEEN 3	  /* columns between those */
#define CLOCK_SHARE 8	  /* of the lines, at most, for the clock */
#define EVENTS_SHARE 6	  /* of the lines, at least, for events */

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
	/* Where little flows there is little to see: requests, answers, events, infos are shown when asked for. */
	for (size_t i = 0; i < channels->n; i++)
		if (all || channels->at[i]->state || (channels->at[i]->rate_hz > 0 && !channels->at[i]->info) ||
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

/* In the order in which they are drawn. */
enum section { DAEMONS, BUSES, JOINTS, CHANNELS, EVENTS, SECTIONS };
static const char *const names[SECTIONS] = { "DAEMON", "BUS", "JOINT", "CHANNEL", "EVENT" };

static void fill(const struct top *top, enum section section, struct table *t, size_t width)
{
	if (section == DAEMONS)
		show_daemons(top, t);
	else if (section == BUSES)
		status_print_buses(&top->view, t);
	else if (section == JOINTS)
		top_joints(top, t);
	else if (section == CHANNELS)
		show_channels(&top->channels, t, width, top->pane != TOP_ALL);
	else
		table_begin(t, 0);
}

void top_share(size_t *lines, const size_t *least, size_t n, size_t room)
{
	size_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += lines[i];
	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = n; i-- > 0 && total > room;) {
			const size_t keep = pass ? 0 : lines[i] < least[i] ? lines[i] : least[i];
			const size_t spare = lines[i] - keep, over = total - room;

			lines[i] -= spare < over ? spare : over;
			total -= spare < over ? spare : over;
		}
}

static void draw_table(struct table *t, const char *name, struct paint *p, size_t width, size_t height, size_t from)
{
	char title[64];

	if (height > 1 && height - 1 < t->rows_n) {
		const size_t shown = t->rows_n - from < height - 1 ? t->rows_n - from : height - 1;

		if (strcmp(name, names[CHANNELS]) != 0)
			snprintf(title, sizeof(title), "%s %zu of %zu", name, shown, t->rows_n);
		else
			snprintf(title, sizeof(title), "CHANNEL (not all)"); /* rows of several */
		t->title = title;
	}
	table_paint(t, p, width, height, from);
	t->title = NULL;
}

/* The newest one at the bottom, as achctl events prints them. */
static void draw_events(const struct top *top, struct paint *p, size_t width, size_t height)
{
	const size_t kept = top_events_kept(top), n = height - 1 < kept ? height - 1 : kept;
	size_t left = width;

	table_text(p, TONE_HEAD, names[EVENTS], &left);
	p->end(p);
	for (uint64_t i = top->events_n - n; i < top->events_n; i++) {
		const struct top_event *e = &top->events[i % TOP_EVENTS_MAX];

		left = width;
		table_text(p, e->tone, e->text, &left);
		p->end(p);
	}
}

static void draw_pane(struct top *top, struct paint *p, size_t width, size_t room)
{
	static const enum section sections[] = {
		[TOP_DAEMONS] = DAEMONS, [TOP_BUSES] = BUSES, [TOP_JOINTS] = JOINTS, [TOP_CHANNELS] = CHANNELS
	};
	static struct table table;

	table.plain = top->plain;
	fill(top, sections[top->pane], &table, width);
	for (size_t i = 0; i < table.rows_n; i++)
		table.rows[i].rank = 0; /* in order: there is a way to see the others */
	if (top->from >= table.rows_n)
		top->from = table.rows_n ? table.rows_n - 1 : 0;
	draw_table(&table, table.columns[0].title, p, width, room, top->from);
}

/* Those which there is room for, of n; the last ones give way first. */
static void draw_sections(const struct top *top, struct paint *p, size_t width, size_t room,
			  const enum section *sections, size_t n)
{
	static struct table tables[SECTIONS];
	const size_t events = top_events_kept(top);
	size_t lines[SECTIONS], least[SECTIONS], needed = 0, shown = 0;
	bool gaps, any = false;

	for (size_t i = 0; i < n; i++) {
		struct table *t = &tables[sections[i]];

		t->plain = top->plain;
		fill(top, sections[i], t, width);
		lines[i] = sections[i] == EVENTS ? events + (events > 0) : t->rows_n ? table_lines(t) : 0;
		/* Joints and channels have a pane of their own; the last events are nowhere else. */
		least[i] = sections[i] == JOINTS || (sections[i] == CHANNELS && events) ? 0 : LEAST;
		if (sections[i] == EVENTS && room / EVENTS_SHARE > LEAST)
			least[i] = room / EVENTS_SHARE;
		needed += sections[i] > JOINTS && lines[i] > least[i] ? least[i] : lines[i];
		shown += lines[i] > 0;
	}
	gaps = shown && needed + shown - 1 <= room;
	top_share(lines, least, n, gaps ? room - (shown - 1) : room);
	for (size_t i = 0; i < n; i++) {
		if (lines[i] < 2) /* a heading alone */
			continue;
		if (any && gaps)
			p->end(p);
		any = true;
		if (sections[i] == EVENTS)
			draw_events(top, p, width, lines[i]);
		else
			draw_table(&tables[sections[i]], names[sections[i]], p, width, lines[i], 0);
	}
}

static void draw_left(const struct top *top, struct paint *p, size_t width, size_t height, const enum section *sections,
		      size_t n)
{
	if (height >= PICTURE_FROM && top->channels.has_balance)
		top_picture(top, p, width);
	if (height > p->lines)
		draw_sections(top, p, width, height - p->lines, sections, n);
}

/* The next line is this one. */
static void go_to(struct paint *p, size_t line)
{
	p->lines = line - 1;
	p->end(p);
}

static bool has_right(const struct top *top)
{
	bool any = top->events_n > 0;

	for (size_t i = 0; i < top->channels.n; i++)
		any |= top->channels.at[i]->joints != NULL;
	return any;
}

/* From the next line on, up to that height. */
static void draw_all(const struct top *top, struct paint *p, size_t width, size_t height)
{
	static const enum section all[] = { DAEMONS, BUSES, JOINTS, CHANNELS, EVENTS };
	static const enum section left[] = { DAEMONS, BUSES, CHANNELS }, right[] = { JOINTS, EVENTS };
	const size_t begin = p->lines, half = (width - BETWEEN) / 2;
	size_t end;

	if (width < WIDE || !has_right(top)) {
		draw_left(top, p, width, height, all, SECTIONS);
		return;
	}
	draw_left(top, p, half, height, left, 3);
	end = p->lines;
	p->left = half + BETWEEN;
	go_to(p, begin);
	draw_sections(top, p, half, height - begin, right, 2);
	p->left = 0;
	go_to(p, p->lines > end ? p->lines : end);
}

/* ---- the foot ---- */

static void draw_hints(const struct top *top, struct paint *p, size_t width)
{
	static const struct {
		enum tone tone;
		const char *text;
		int pane; /* which it leads to; it is not said there */
	} hints[] = {
		{ TONE_BAD, "e E-STOP at once", -1 },
		{ TONE_ODD, "  h hold ", -1 },
		{ TONE_PLAIN, " a all", TOP_ALL },
		{ TONE_PLAIN, " d daemons", TOP_DAEMONS },
		{ TONE_PLAIN, " j joints", TOP_JOINTS },
		{ TONE_PLAIN, " b buses", TOP_BUSES },
		{ TONE_PLAIN, " c channels", TOP_CHANNELS },
		{ TONE_PLAIN, "  k kill", -1 },
		{ TONE_PLAIN, "  q quit", -1 },
	};
	size_t left = width;

	for (size_t i = 0; i < sizeof(hints) / sizeof(*hints) && strlen(hints[i].text) <= left; i++) {
		if (hints[i].pane == (int)top->pane)
			continue;
		p->text(p, hints[i].tone, hints[i].text);
		left -= strlen(hints[i].text);
	}
	if (top->pane != TOP_ALL && left > 10)
		p->text(p, TONE_DIM, "  arrows");
}

void top_draw(struct top *top, struct paint *p, size_t width, size_t height)
{
	const size_t foot = *top->notice && height > 1 ? 2 : 1;
	size_t left = width;

	if (height > 4) {
		status_print_robot(&top->view, p, width);
		status_print_clock(&top->view, p, width, height / CLOCK_SHARE);
	}
	if (height >= 20)
		p->end(p);
	if (height > p->lines + foot && top->pane == TOP_ALL)
		draw_all(top, p, width, height - foot);
	else if (height > p->lines + foot)
		draw_pane(top, p, width, height - p->lines - foot);
	while (p->lines + foot < height)
		p->end(p);
	if (foot == 2) {
		table_text(p, top->notice_tone, top->notice, &left);
		p->end(p);
	}
	draw_hints(top, p, width);
}
