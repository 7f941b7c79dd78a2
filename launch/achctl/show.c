/* show.c: what a view looks like. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "launch/achctl/show.h"

#define OLD_END_S 60 /* so long ago, the end of the process before explains nothing */
#define DEAD_MS 1000 /* what is older was said by one that is not there any more */

/* ---- lines ---- */

static void say(struct paint *p, size_t *left, enum tone tone, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void say(struct paint *p, size_t *left, enum tone tone, const char *fmt, ...)
{
	char text[512];
	size_t columns;
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	text[table_fit(text, *left, &columns)] = 0;
	if (*text)
		p->text(p, tone, text);
	*left -= columns;
}

enum tone show_level_tone(const char *level)
{
	return !strcmp(level, "run") ? TONE_GOOD : !strcmp(level, "hold") ? TONE_ODD : TONE_BAD;
}

void show_robot(const struct view *v, struct paint *p, size_t width)
{
	const struct view_daemon *apart = view_apart(v);
	char up[SHOW_TEXT_MAX];
	size_t left = width, ready = 0, wanted = 0;

	say(p, &left, TONE_HEAD, "%s", *v->robot ? v->robot : "robot");
	say(p, &left, TONE_PLAIN, "  ");
	if (*v->level) {
		say(p, &left, show_level_tone(v->level), "%s", v->level);
		if (apart)
			say(p, &left, TONE_BAD, ", but %s is at %s", apart->name, apart->level);
		say(p, &left, TONE_PLAIN, ", epoch %lld", (long long)v->epoch);
		if (*v->who)
			say(p, &left, TONE_PLAIN, ", by %s", v->who);
		if (*v->why)
			say(p, &left, TONE_PLAIN, ": %s", v->why);
	} else {
		say(p, &left, *v->why ? TONE_BAD : TONE_DIM, "%s", *v->why ? v->why : "no e-stop channels");
	}
	p->end(p);
	for (size_t i = 0; i < v->daemons_n; i++) {
		wanted += v->daemons[i].wanted;
		ready += v->daemons[i].wanted && view_daemon_is_fine(&v->daemons[i]);
	}
	left = width;
	if (v->supervised) {
		show_uptime(up, v->uptime_s);
		say(p, &left, TONE_PLAIN, "achstart %lld, up %s", (long long)v->pid, up);
	} else {
		say(p, &left, TONE_BAD, "no answer from achstart");
		say(p, &left, TONE_PLAIN, ": this is what the channels say");
	}
	if (v->stopping)
		say(p, &left, TONE_ODD, ", stopping");
	say(p, &left, TONE_PLAIN, ", ");
	say(p, &left, ready == wanted ? TONE_GOOD : TONE_ODD, "%zu of %zu %s", ready, wanted,
	    v->supervised ? "ready" : "running");
	p->end(p);
}

/* Names of those that follow the clock, with their phase where it is known, or of those in free run. */
static void say_followers(const struct view *v, bool freerun, struct paint *p, size_t *left)
{
	const enum tone tone = freerun ? TONE_ODD : TONE_PLAIN;
	bool any = false;

	for (size_t i = 0; i < v->daemons_n; i++) {
		const struct view_daemon *d = &v->daemons[i];
		char phase[SHOW_TEXT_MAX];

		if (!*d->life || !strcmp(d->name, v->clock.name) || d->freerun != freerun || d->age_ms > DEAD_MS)
			continue;
		say(p, left, tone, "%s%s", any ? " " : freerun ? ", free run: " : ", locked: ", d->name);
		any = true;
		if (isfinite(d->phase_us) && !freerun) {
			show_us(phase, d->phase_us);
			say(p, left, TONE_DIM, " +%s", phase);
		}
	}
}

void show_clock(const struct view *v, struct paint *p, size_t width)
{
	char rate[SHOW_TEXT_MAX], late[SHOW_TEXT_MAX];
	size_t left = width;

	if (!*v->clock.name)
		return;
	show_hz(rate, isfinite(v->clock.rate_hz) ? v->clock.rate_hz : 1e6 / v->clock.period_us);
	show_us(late, v->clock.late_us);
	say(p, &left, TONE_HEAD, "%s", v->clock.name);
	say(p, &left, TONE_PLAIN, "  %s, late %s, cycle %lld", rate, late, (long long)v->clock.cycle);
	say_followers(v, true, p, &left);
	say_followers(v, false, p, &left);
	p->end(p);
}

/* ---- daemons ---- */

enum { D_NAME, D_STATE, D_LIFE, D_INC, D_UP, D_RESTARTS, D_RATE, D_AGE, D_LATE, D_PID, D_COLUMNS };

static const struct table_column daemon_columns[D_COLUMNS] = {
	[D_NAME] = { "DAEMON", true, 0 }, [D_STATE] = { "STATE", true, 0 }, [D_LIFE] = { "LIFE", true, 9 },
	[D_INC] = { "INC", false, 5 },	  [D_UP] = { "UP", false, 8 },	    [D_RESTARTS] = { "RESTARTS", false, 7 },
	[D_RATE] = { "RATE", false, 4 },  [D_AGE] = { "AGE", false, 3 },    [D_LATE] = { "LATE", false, 6 },
	[D_PID] = { "PID", false, 2 },
};

static enum tone rank_tone(enum view_rank rank)
{
	static const enum tone tones[] = { TONE_GOOD, TONE_ODD, TONE_BAD };

	return tones[rank];
}

/* What there is to say about one that is not as wanted. */
static void explain(const struct view_daemon *d, struct table_row *row)
{
	const char *parts[] = { d->why, d->pid > 0 && strcmp(d->status, d->life) ? d->status : "", "" };
	char end[VIEW_TEXT_MAX + 8] = "";
	size_t len = 0;

	if (*d->last_end && !(d->ready && d->uptime_s > OLD_END_S))
		snprintf(end, sizeof(end), "last: %s", d->last_end);
	parts[2] = end;
	for (size_t i = 0; i < 3; i++)
		if (*parts[i] && len < sizeof(row->note))
			len += (size_t)snprintf(row->note + len, sizeof(row->note) - len, "%s%s", len ? "; " : "",
						parts[i]);
	row->note_tone = TONE_DIM;
}

static void daemon_row(const struct view *v, const struct view_daemon *d, struct table_row *row)
{
	const enum view_rank rank = view_daemon_rank(d);
	char text[SHOW_TEXT_MAX];
	const bool apart = *d->level && *v->level && strcmp(d->level, v->level) != 0;

	row->rank = (int)rank;
	table_cell(row, D_NAME, TONE_PLAIN, "%s", d->name);
	table_cell(row, D_STATE, d->wanted ? rank_tone(rank) : TONE_DIM, "%s", *d->state ? d->state : "-");
	table_cell(row, D_LIFE,
		   d->age_ms > DEAD_MS	       ? TONE_DIM
		   : !strcmp(d->life, "fault") ? TONE_BAD
					       : TONE_PLAIN,
		   "%s%s%s", *d->life ? d->life : "-", apart ? " " : "", apart ? d->level : "");
	table_cell(row, D_INC, TONE_PLAIN, "%lld", (long long)d->incarnation);
	show_uptime(text, d->uptime_s);
	table_cell(row, D_UP, TONE_PLAIN, "%s", text);
	show_count(text, d->restarts);
	table_cell(row, D_RESTARTS, d->restarts ? TONE_ODD : TONE_PLAIN, "%s", text);
	show_hz(text, d->rate_hz);
	table_cell(row, D_RATE, TONE_PLAIN, "%s", text);
	show_us(text, d->age_ms * 1e3);
	table_cell(row, D_AGE, TONE_PLAIN, "%s", text);
	show_us(text, d->late_p99_us);
	table_cell(row, D_LATE, TONE_PLAIN, "%s", text);
	table_cell(row, D_PID, TONE_DIM, "-");
	if (d->pid > 0)
		table_cell(row, D_PID, TONE_DIM, "%lld", (long long)d->pid);
	if (rank != VIEW_FINE)
		explain(d, row);
	if (d->freerun && !*row->note) {
		snprintf(row->note, sizeof(row->note), "in free run: it does not see its clock");
		row->note_tone = TONE_ODD;
	}
}

void show_daemons(const struct view *v, struct table *t)
{
	table_begin(t, daemon_columns, D_COLUMNS);
	for (size_t i = 0; i < v->daemons_n; i++) {
		struct table_row *row = table_add(t);

		if (row)
			daemon_row(v, &v->daemons[i], row);
	}
}

/* ---- buses ---- */

enum { B_NAME, B_INTERFACE, B_STATE, B_LOAD, B_STALE, B_ERRORS, B_REPLACED, B_EXPIRED, B_LOST, B_RESETS, B_COLUMNS };

static const struct table_column bus_columns[B_COLUMNS] = {
	[B_NAME] = { "BUS", true, 0 },		 [B_INTERFACE] = { "INTERFACE", true, 2 },
	[B_STATE] = { "STATE", true, 0 },	 [B_LOAD] = { "LOAD", false, 9 },
	[B_STALE] = { "STALE", false, 8 },	 [B_ERRORS] = { "ERRORS", false, 7 },
	[B_REPLACED] = { "REPLACED", false, 5 }, [B_EXPIRED] = { "EXPIRED", false, 6 },
	[B_LOST] = { "LOST", false, 3 },	 [B_RESETS] = { "RESETS", false, 1 },
};

static void counter(struct table_row *row, size_t column, int64_t n, bool harmless)
{
	char text[SHOW_TEXT_MAX];

	show_count(text, n);
	table_cell(row, column, n && !harmless ? TONE_ODD : TONE_PLAIN, "%s", text);
}

static void bus_row(const struct view_bus *b, struct table_row *row)
{
	const enum view_rank rank = view_bus_rank(b);
	const bool known = strcmp(b->state, "unknown") != 0;

	row->rank = (int)rank;
	table_cell(row, B_NAME, TONE_PLAIN, "%s", b->name);
	table_cell(row, B_INTERFACE, TONE_DIM, "%s", b->interface);
	table_cell(row, B_STATE, known ? rank_tone(rank) : TONE_DIM, "%s", b->stalled ? "stalled" : b->state);
	if (isfinite(b->load))
		table_cell(row, B_LOAD, b->load > 0.9 ? TONE_BAD : TONE_PLAIN, "%.0f %%", 100 * b->load);
	else
		table_cell(row, B_LOAD, TONE_PLAIN, "-");
	counter(row, B_STALE, b->stale, false);
	counter(row, B_ERRORS, (int64_t)((uint64_t)b->errors + (uint64_t)b->rx_dropped), false);
	counter(row, B_REPLACED, b->replaced, true);
	counter(row, B_EXPIRED, b->expired, false);
	counter(row, B_LOST, b->lost, false);
	counter(row, B_RESETS, b->resets, true);
}

void show_buses(const struct view *v, struct table *t)
{
	table_begin(t, bus_columns, B_COLUMNS);
	for (size_t i = 0; i < v->buses_n; i++) {
		struct table_row *row = table_add(t);

		if (row)
			bus_row(&v->buses[i], row);
	}
}

/* ---- a stream ---- */

static void stream_text(struct paint *p, enum tone tone, const char *text)
{
	static const char *const codes[TONES] = {
		[TONE_HEAD] = "\033[1m",   [TONE_GOOD] = "\033[32m", [TONE_ODD] = "\033[33m",
		[TONE_BAD] = "\033[1;31m", [TONE_DIM] = "\033[2m",
	};
	const struct show_stream *s = (const struct show_stream *)p;

	if (s->colour && codes[tone])
		fprintf(s->to, "%s%s\033[0m", codes[tone], text);
	else
		fputs(text, s->to);
}

static void stream_end(struct paint *p)
{
	fputc('\n', ((const struct show_stream *)p)->to);
}

void show_stream(struct show_stream *s, FILE *to, bool colour)
{
	*s = (struct show_stream){ { stream_text, stream_end }, to, colour };
}
