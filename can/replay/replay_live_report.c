/* replay_live_report.c: what a driver sends beside what it sent when it was recorded. */
#include "can/bus/frame_text.h"
#include "can/log/log.h"
#include "can/replay/replay_live_report.h"
#include "config/settings/program.h"

#define CONTEXT 2 /* rows before a difference */
#define COLUMN 42

static const struct {
	char mark;
	const char *name;
} kinds[] = {
	[REPLAY_MATCH_SAME] = { ' ', "same" },	 [REPLAY_MATCH_PAYLOAD] = { '|', "payload" },
	[REPLAY_MATCH_ORDER] = { '~', "order" }, [REPLAY_MATCH_MISSING] = { '<', "missing" },
	[REPLAY_MATCH_EXTRA] = { '>', "extra" },
};

/* ---- rows ---- */

static struct replay_live_report_row row_of(const struct replay_match_event *e)
{
	return (struct replay_live_report_row){ .what = e->what,
						.counts = e->counts,
						.then = e->then,
						.from = e->from,
						.at_ns = e->then ? e->then->t_ns : e->now_ns,
						.now_ns = e->now_ns,
						.bus = e->bus,
						.now = e->now ? *e->now : (struct frame){ 0 } };
}

int replay_live_report_add(struct replay_live_report *r, const struct replay_match_event *e)
{
	struct replay_live_report_row *row;

	if (!r->diff)
		return 0;
	if (!grow(&r->rows, &r->room, r->n + 1, sizeof(*row)))
		return -ENOMEM;
	row = &r->rows[r->n];
	*row = row_of(e);
	row->number = r->n;
	if (*e->why) {
		row->why = strdup(e->why);
		if (!row->why)
			return -ENOMEM;
	}
	r->n++;
	return 0;
}

void replay_live_report_free(struct replay_live_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->rows[i].why);
	free(r->rows);
}

/* ---- lines ---- */

static size_t print_side(const struct replay_live_report *r, char *text, size_t size, int64_t t_ns, unsigned int bus,
			 const struct frame *f)
{
	char frame[FRAME_TEXT_MAX];

	frame_text_write(frame, f);
	return (size_t)snprintf(text, size, "%12.6f %s %s", (double)t_ns / 1e9, r->names[bus], frame);
}

static void print_row(const struct replay_live_report *r, const struct replay_live_report_row *row, const char *why,
		      char text[REPLAY_LIVE_REPORT_LINE_MAX])
{
	char then[LOG_WRITE_MAX] = "", now[LOG_WRITE_MAX] = "", more[LOG_WRITE_MAX] = "";

	if (row->then)
		print_side(r, then, sizeof(then), row->then->t_ns, row->bus, &row->then->frame);
	if (row->what != REPLAY_MATCH_MISSING)
		print_side(r, now, sizeof(now), row->now_ns, row->bus, &row->now);
	if (row->what == REPLAY_MATCH_ORDER)
		snprintf(more, sizeof(more), "order: now after line %" PRIu64, row->from->line);
	else if (row->what == REPLAY_MATCH_EXTRA && row->from)
		snprintf(more, sizeof(more), "extra; answered as line %" PRIu64, row->from->line);
	else
		snprintf(more, sizeof(more), "%s%s%s", row->what == REPLAY_MATCH_SAME ? "" : kinds[row->what].name,
			 why ? ": " : "", why ? why : "");
	snprintf(text, REPLAY_LIVE_REPORT_LINE_MAX, "%-*s %c %-*s %s%s", COLUMN, then, kinds[row->what].mark,
		 *more ? COLUMN : 0, now, more, row->what != REPLAY_MATCH_SAME && !row->counts ? " (not counted)" : "");
	for (size_t len = strlen(text); len && text[len - 1] == ' '; len--)
		text[len - 1] = 0;
}

void replay_live_report_line(const struct replay_live_report *r, const struct replay_match_event *e,
			     char text[REPLAY_LIVE_REPORT_LINE_MAX])
{
	const struct replay_live_report_row row = row_of(e);

	print_row(r, &row, *e->why ? e->why : NULL, text);
}

static int by_time(const void *a, const void *b)
{
	const struct replay_live_report_row *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static void print_time_lines(struct replay_live_report *r, const struct replay_match *loop)
{
	size_t printed = 0; /* rows up to here */
	bool any = false;

	qsort(r->rows, r->n, sizeof(*r->rows), by_time);
	for (size_t i = 0; i < r->n; i++) {
		char text[REPLAY_LIVE_REPORT_LINE_MAX];
		size_t from = i;

		r->rows[i].counts = replay_match_is_counted(loop, r->rows[i].at_ns); /* known only now */
		if (!r->all && r->rows[i].what == REPLAY_MATCH_SAME)
			continue;
		if (!any)
			fprintf(r->to, "%-*s   %s\n", COLUMN, "recorded", "now");
		while (!r->all && from > printed && i - from < CONTEXT)
			from--;
		if (any && from > printed)
			fprintf(r->to, "...\n");
		for (; from <= i; from++) {
			print_row(r, &r->rows[from], r->rows[from].why, text);
			fprintf(r->to, "%s\n", text);
		}
		any = true;
		printed = i + 1;
	}
	if (any)
		fprintf(r->to, "\n");
}

/* ---- sums ---- */

static void print_key(const struct replay_live_report *r, const struct replay_match_stream *s, char text[LOG_WRITE_MAX])
{
	char frame[FRAME_TEXT_MAX];

	frame_text_write(frame, &s->key);
	snprintf(text, LOG_WRITE_MAX, "%s %s", r->names[s->bus], frame);
}

static void print_table(const struct replay_live_report *r, const struct replay_match *loop)
{
	fprintf(r->to, "%-28s %9s %9s %9s %9s %9s %9s %9s  %s\n", "REQUEST", "RECORDED", "NOW", "SAME", "PAYLOAD",
		"ORDER", "MISSING", "EXTRA", "FIRST DIFFERENCE");
	for (size_t i = 0; i < loop->streams_n; i++) {
		const struct replay_match_stream *s = &loop->streams[i];
		const struct replay_match_counts *c = &s->counts;
		char key[LOG_WRITE_MAX], first[64] = "";

		print_key(r, s, key);
		if (s->differs_ns != INT64_MAX)
			snprintf(first, sizeof(first), "  %.6f s", (double)s->differs_ns / 1e9);
		if (s->differs)
			snprintf(first + strlen(first), sizeof(first) - strlen(first), ", line %" PRIu64,
				 s->differs->line);
		fprintf(r->to, "%-28s %9" PRIu64 " %9" PRIu64, key, c->recorded, c->sent);
		for (int what = 0; what < REPLAY_MATCH_WHATS; what++)
			fprintf(r->to, " %9" PRIu64, c->what[what]);
		fprintf(r->to, "%s\n", first);
	}
}

static size_t add_up(const struct replay_live_report *r, const struct replay_match *loop, struct program_count sums[16])
{
	const struct replay_match_totals *t = &loop->totals;
	const struct replay_match_counts c = replay_match_counts(loop);
	const struct program_count all[] = {
		{ "recorded", "frames of the driver were recorded", c.recorded },
		{ "sent", "frames of the driver now", c.sent },
		{ "answered", "answers played", t->answered },
		{ "cyclic", "other frames played", t->cyclic },
		{ "borrowed", "answers played again, for requests that were not sent then", t->borrowed },
		{ "unknown", "requests without an answer: the recording has no such request with an answer",
		  t->unknown },
		{ "unanswered", "requests without an answer in the recording", t->unanswered },
		{ "left_out", "other frames left out, from before the driver's first frame", t->left_out },
		{ "after", "frames of the driver behind the end of the recording", t->after },
		{ "foreign", "frames on the bus that neither the driver nor the recording sent", t->foreign },
		{ "references", "references played", r->references },
		{ "early", "references left out, from before the driver's first frame", r->early },
		{ "lost", "frames lost when it was recorded: differences may be theirs", r->lost },
	};

	memcpy(sums, all, sizeof(all));
	return sizeof(all) / sizeof(*all);
}

static void print_verdict(const struct replay_live_report *r, const struct replay_match *loop)
{
	const struct replay_match_counts c = replay_match_counts(loop);
	const struct replay_match_stream *first = NULL;
	const uint64_t all = c.what[REPLAY_MATCH_PAYLOAD] + c.what[REPLAY_MATCH_ORDER] + c.what[REPLAY_MATCH_MISSING] +
			     c.what[REPLAY_MATCH_EXTRA];
	unsigned int differ = 0;
	char key[LOG_WRITE_MAX];

	for (size_t i = 0; i < loop->streams_n; i++) {
		const struct replay_match_stream *s = &loop->streams[i];

		differ += s->differs_ns != INT64_MAX;
		if (s->differs_ns != INT64_MAX && (!first || s->differs_ns < first->differs_ns))
			first = s;
	}
	if (!loop->differences && all) {
		fprintf(r->to, "no difference that counts; %" PRIu64 " are not counted\n", all);
	} else if (!loop->differences) {
		fprintf(r->to, "no difference\n");
	} else if (!first) {
		fprintf(r->to, "%" PRIu64 " differences, all in requests that were not recorded\n", loop->differences);
	} else {
		print_key(r, first, key);
		fprintf(r->to, "%" PRIu64 " difference%s in %u of %u requests; the first at %.6f s in %s\n",
			loop->differences, loop->differences == 1 ? "" : "s", differ, loop->streams_n,
			(double)first->differs_ns / 1e9, key);
	}
}

int replay_live_report_print(struct replay_live_report *r, const struct replay_match *loop)
{
	struct program_count sums[16];
	const size_t n = add_up(r, loop, sums);

	if (r->diff) {
		print_time_lines(r, loop);
		print_table(r, loop);
	}
	for (size_t i = 0; i < n; i++)
		if (sums[i].n || i < 2)
			fprintf(r->to, "%8" PRIu64 " %s\n", sums[i].n, sums[i].text);
	if (loop->totals.middle)
		fprintf(r->to,
			"the recording begins in the middle: the driver's first request is not at its beginning\n");
	if (r->diff)
		print_verdict(r, loop);
	return fflush(r->to) ? -errno : 0;
}

static void write_counts(struct json *j, const struct replay_match_counts *c)
{
	for (int what = 0; what < REPLAY_MATCH_WHATS; what++)
		json_uint(j, kinds[what].name, c->what[what]);
}

int replay_live_report_json(struct replay_live_report *r, const struct replay_match *loop)
{
	const struct replay_match_counts c = replay_match_counts(loop);
	struct json j = json_to(r->to);
	struct program_count sums[16];
	const size_t n = add_up(r, loop, sums);

	json_object(&j, NULL);
	for (size_t i = 0; i < n; i++)
		json_uint(&j, sums[i].key, sums[i].n);
	json_bool(&j, "middle", loop->totals.middle);
	write_counts(&j, &c);
	json_uint(&j, "differences", loop->differences);
	json_array(&j, "requests");
	for (size_t i = 0; i < loop->streams_n; i++) {
		const struct replay_match_stream *s = &loop->streams[i];
		char key[LOG_WRITE_MAX];

		print_key(r, s, key);
		json_object(&j, NULL);
		json_text(&j, "request", key);
		json_uint(&j, "recorded", s->counts.recorded);
		json_uint(&j, "sent", s->counts.sent);
		write_counts(&j, &s->counts);
		if (s->differs_ns != INT64_MAX)
			json_int(&j, "first_ns", s->differs_ns);
		else
			json_null(&j, "first_ns");
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	fputc('\n', r->to);
	return fflush(r->to) ? -errno : 0;
}
