/* status_print.c: the status as lines and tables. */
#include <math.h>

#include "launch/achctl/status_print.h"

#define OLD_END_S 60 /* uptime after which the end of the previous process is not shown */
#define DEAD_MS 1000 /* an older state is of a daemon that has ended */

/* ---- numbers, short, for people ---- */

static void none(char text[STATUS_PRINT_MAX])
{
	snprintf(text, STATUS_PRINT_MAX, "-");
}

void status_print_uptime(char text[STATUS_PRINT_MAX], double s)
{
	if (!isfinite(s))
		none(text);
	else if (s < 9.95)
		snprintf(text, STATUS_PRINT_MAX, "%.1f s", s);
	else if (s < 119.5)
		snprintf(text, STATUS_PRINT_MAX, "%.0f s", s);
	else if (s < 119.5 * 60)
		snprintf(text, STATUS_PRINT_MAX, "%.0f min", s / 60);
	else if (s < 47.5 * 3600)
		snprintf(text, STATUS_PRINT_MAX, "%.0f h", s / 3600);
	else
		snprintf(text, STATUS_PRINT_MAX, "%.0f d", s / 86400);
}

void status_print_us(char text[STATUS_PRINT_MAX], double us)
{
	if (!isfinite(us))
		none(text);
	else if (fabs(us) < 999.5)
		snprintf(text, STATUS_PRINT_MAX, "%.0f us", us);
	else if (fabs(us) < 9950)
		snprintf(text, STATUS_PRINT_MAX, "%.1f ms", us / 1e3);
	else if (fabs(us) < 999500)
		snprintf(text, STATUS_PRINT_MAX, "%.0f ms", us / 1e3);
	else
		status_print_uptime(text, us / 1e6);
}

void status_print_hz(char text[STATUS_PRINT_MAX], double hz)
{
	if (!isfinite(hz))
		none(text);
	else
		snprintf(text, STATUS_PRINT_MAX, hz > 0 && hz < 9.95 ? "%.1f Hz" : "%.0f Hz", hz);
}

void status_print_count(char text[STATUS_PRINT_MAX], int64_t n)
{
	if (n < 100000)
		snprintf(text, STATUS_PRINT_MAX, "%lld", (long long)n);
	else if (n < 10000000)
		snprintf(text, STATUS_PRINT_MAX, "%lldk", (long long)n / 1000);
	else
		snprintf(text, STATUS_PRINT_MAX, "%lldM", (long long)n / 1000000);
}

/* ---- lines ---- */

__attribute__((format(printf, 4, 5))) static void say(struct paint *p, size_t *left, enum tone tone, const char *fmt,
						      ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	table_text(p, tone, text, left);
}

/* On a line of its own if there is no room. */
static void say_pace(const struct status *v, struct paint *p, size_t left, size_t width)
{
	char pace[64], behind[64] = "";

	snprintf(pace, sizeof(pace), "virtual clock, %.2g x life", v->pace);
	if (v->behind_s >= 0)
		snprintf(behind, sizeof(behind), ", %.3g s behind", v->behind_s);
	if (strlen(", ") + strlen(pace) + strlen(behind) > left) {
		p->end(p);
		left = width;
	} else {
		say(p, &left, TONE_PLAIN, ", ");
	}
	say(p, &left, TONE_ODD, "%s%s", pace, behind);
	p->end(p);
}

void status_print_robot(const struct status *v, struct paint *p, size_t width)
{
	const struct status_daemon *apart = status_other_level(v);
	const enum tone tone = !strcmp(v->level, "run") ? TONE_GOOD : !strcmp(v->level, "hold") ? TONE_ODD : TONE_BAD;
	char up[STATUS_PRINT_MAX];
	size_t left = width, ready = 0, wanted = 0;

	say(p, &left, TONE_HEAD, "%s", *v->robot ? v->robot : "robot");
	say(p, &left, TONE_PLAIN, "  ");
	if (*v->level) {
		say(p, &left, tone, "%s", v->level);
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
		ready += v->daemons[i].wanted && status_daemon_is_fine(&v->daemons[i]);
	}
	left = width;
	if (v->supervised) {
		status_print_uptime(up, v->uptime_s);
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
	if (!isnan(v->pace)) /* 0: it stood still while it was measured */
		say_pace(v, p, left, width);
	else
		p->end(p);
	if (*v->clock_still) {
		left = width;
		say(p, &left, TONE_BAD, "the robot's clock stands still: %s", v->clock_still);
		p->end(p);
	}
}

/* A line that goes on in the next one. */
struct flow {
	struct paint *p;
	size_t width, left, lines; /* lines: how many are left, with this one */
};

/* Both in the same line; without room for them, what does not fit is left out. */
static void flow_say(struct flow *f, enum tone tone, const char *text, const char *dim)
{
	const size_t need = strlen(text) + strlen(dim);

	if (need > f->left && f->lines > 1) {
		f->p->end(f->p);
		f->lines--;
		f->left = f->width;
		text += strspn(text, " ");
		say(f->p, &f->left, TONE_PLAIN, "  ");
	}
	say(f->p, &f->left, tone, "%s", text);
	say(f->p, &f->left, TONE_DIM, "%s", dim);
}

/* Names of the drivers that are locked to the clock, with their phase, or of the drivers in free run. */
static void say_followers(const struct status *v, bool freerun, struct flow *f)
{
	const enum tone tone = freerun ? TONE_ODD : TONE_PLAIN;
	bool any = false;

	for (size_t i = 0; i < v->daemons_n; i++) {
		const struct status_daemon *d = &v->daemons[i];
		char name[STATUS_NAME_MAX + 16], us[STATUS_PRINT_MAX], phase[STATUS_PRINT_MAX + 2] = "";

		if (!*d->life || !strcmp(d->name, v->clock.name) || d->freerun != freerun || d->age_ms > DEAD_MS)
			continue;
		if (!any) {
			say(f->p, &f->left, TONE_PLAIN, ",");
			flow_say(f, tone, freerun ? " free run:" : " locked:", "");
		}
		any = true;
		snprintf(name, sizeof(name), " %s", d->name);
		if (isfinite(d->phase_us) && !freerun) {
			status_print_us(us, d->phase_us);
			snprintf(phase, sizeof(phase), " +%s", us);
		}
		flow_say(f, tone, name, phase);
	}
}

void status_print_clock(const struct status *v, struct paint *p, size_t width, size_t lines)
{
	struct flow f = { p, width, width, lines };
	char text[STATUS_PRINT_MAX];

	if (!*v->clock.name)
		return;
	say(p, &f.left, TONE_HEAD, "%s", v->clock.name);
	status_print_hz(text, isfinite(v->clock.rate_hz) ? v->clock.rate_hz : 1e6 / v->clock.period_us);
	say(p, &f.left, TONE_PLAIN, "  %s", text);
	status_print_us(text, v->clock.late_us);
	say(p, &f.left, TONE_PLAIN, ", late %s, cycle %lld", text, (long long)v->clock.cycle);
	say_followers(v, true, &f);
	say_followers(v, false, &f);
	p->end(p);
}

/* ---- tables of status.h's fields ---- */

static void print_ms(char text[STATUS_PRINT_MAX], double ms)
{
	status_print_us(text, ms * 1e3);
}

static void print_share(char text[STATUS_PRINT_MAX], double share)
{
	snprintf(text, STATUS_PRINT_MAX, isfinite(share) ? "%.0f %%" : "-", 100 * share);
}

static void cell_text(char text[STATUS_PRINT_MAX], const struct status_field *f, const void *at)
{
	static void (*const print[])(char text[STATUS_PRINT_MAX], double value) = {
		[STATUS_S] = status_print_uptime, [STATUS_MS] = print_ms,	[STATUS_US] = status_print_us,
		[STATUS_HZ] = status_print_hz,	  [STATUS_SHARE] = print_share,
	};

	if (f->unit == STATUS_COUNT)
		status_print_count(text, *(const int64_t *)at);
	else if (f->unit != STATUS_PLAIN)
		print[f->unit](text, *(const double *)at);
	else if (f->kind == STATUS_WHOLE)
		snprintf(text, STATUS_PRINT_MAX, "%lld", (long long)*(const int64_t *)at);
	else
		snprintf(text, STATUS_PRINT_MAX, "%.*s", STATUS_PRINT_MAX - 1,
			 *(const char *)at ? (const char *)at : "-");
}

static void begin_table(struct table *t, const struct status_field *f)
{
	size_t n = 0;

	for (; f->key; f++) {
		if (!f->title)
			continue;
		t->columns[f->column] =
			(struct table_column){ f->title, f->kind == STATUS_TEXT || f->kind == STATUS_WORD, f->weight };
		n++;
	}
	table_begin(t, n);
}

static void fill_row(struct table_row *row, const struct status_field *f, const void *base)
{
	for (; f->key; f++) {
		const void *at = (const char *)base + f->offset;
		char text[STATUS_PRINT_MAX];

		if (!f->title)
			continue;
		cell_text(text, f, at);
		table_cell(row, f->column, f->alarm && *(const int64_t *)at ? TONE_ODD : TONE_PLAIN, "%s", text);
	}
}

static enum tone rank_tone(enum status_rank rank)
{
	static const enum tone tones[] = { TONE_GOOD, TONE_ODD, TONE_BAD };

	return tones[rank];
}

/* Explains a daemon with a problem. */
static void explain(const struct status_daemon *d, struct table_row *row)
{
	const char *parts[] = { d->why, d->pid > 0 && strcmp(d->status, d->life) ? d->status : "", "" };
	char end[STATUS_TEXT_MAX + 8] = "";

	if (*d->last_end && !(d->ready && d->uptime_s > OLD_END_S))
		snprintf(end, sizeof(end), "last: %s", d->last_end);
	parts[2] = end;
	for (size_t i = 0; i < 3; i++)
		if (*parts[i])
			lines_append(row->note, sizeof(row->note), "; ", "%s", parts[i]);
	row->note_tone = TONE_DIM;
}

static void daemon_row(const struct status *v, const struct status_daemon *d, struct table_row *row)
{
	const enum status_rank rank = status_daemon_rank(d);
	const bool other = *d->level && *v->level && strcmp(d->level, v->level) != 0;
	char refused[STATUS_PRINT_MAX];

	row->rank = (int)rank;
	row->cell[STATUS_DAEMON_STATE].tone = d->wanted ? rank_tone(rank) : TONE_DIM;
	table_cell(row, STATUS_DAEMON_LIFE,
		   d->age_ms > DEAD_MS	       ? TONE_DIM
		   : !strcmp(d->life, "fault") ? TONE_BAD
					       : TONE_PLAIN,
		   "%s%s%s", *d->life ? d->life : "-", other ? " " : "", other ? d->level : "");
	row->cell[STATUS_DAEMON_PID].tone = TONE_DIM;
	if (!d->pid)
		table_cell(row, STATUS_DAEMON_PID, TONE_DIM, "-");
	if (rank != STATUS_FINE)
		explain(d, row);
	if (*d->refusal && d->refs_refused > 0) {
		status_print_count(refused, d->refs_refused);
		lines_append(row->note, sizeof(row->note), "; ", "%s refused: %s", refused, d->refusal);
		row->note_tone = TONE_ODD;
	}
	if (d->freerun && !*row->note) {
		snprintf(row->note, sizeof(row->note), "in free run: it does not see its clock");
		row->note_tone = TONE_ODD;
	}
}

static void bus_row(const struct status_bus *b, struct table_row *row)
{
	const enum status_rank rank = status_bus_rank(b);
	const bool known = strcmp(b->state, "unknown") != 0;

	row->rank = (int)rank;
	row->cell[STATUS_BUS_INTERFACE].tone = TONE_DIM;
	table_cell(row, STATUS_BUS_STATE, known ? rank_tone(rank) : TONE_DIM, "%s", b->stalled ? "stalled" : b->state);
	if (b->load > 0.9)
		row->cell[STATUS_BUS_LOAD].tone = TONE_BAD;
}

void status_print_daemons(const struct status *v, struct table *t)
{
	struct table_row *row;

	begin_table(t, status_daemon_fields);
	for (size_t i = 0; i < v->daemons_n && (row = table_add(t)); i++) {
		fill_row(row, status_daemon_fields, &v->daemons[i]);
		daemon_row(v, &v->daemons[i], row);
	}
}

void status_print_buses(const struct status *v, struct table *t)
{
	struct table_row *row;

	begin_table(t, status_bus_fields);
	for (size_t i = 0; i < v->buses_n && (row = table_add(t)); i++) {
		struct status_bus bus = v->buses[i];

		bus.errors = (int64_t)((uint64_t)bus.errors + (uint64_t)bus.rx_dropped); /* one column for both */
		fill_row(row, status_bus_fields, &bus);
		bus_row(&bus, row);
	}
}

/* ---- a stream ---- */

static void stream_text(struct paint *p, enum tone tone, const char *text)
{
	static const char *const codes[TONES] = {
		[TONE_HEAD] = "\033[1m",   [TONE_GOOD] = "\033[32m", [TONE_ODD] = "\033[33m",
		[TONE_BAD] = "\033[1;31m", [TONE_DIM] = "\033[2m",
	};
	const struct status_print_stream *s = (const struct status_print_stream *)p;

	if (s->colour && codes[tone])
		fprintf(s->to, "%s%s\033[0m", codes[tone], text);
	else
		fputs(text, s->to);
}

static void stream_end(struct paint *p)
{
	p->lines++;
	fputc('\n', ((const struct status_print_stream *)p)->to);
}

void status_print_stream(struct status_print_stream *s, FILE *to, bool colour)
{
	*s = (struct status_print_stream){ { stream_text, stream_end, 0, 0 }, to, colour };
}
