/* hz.c: ach hz: how fast, how evenly, how completely and how late messages come. */
#include <math.h>

#include "channels/clock/clock.h"
#include "channels/tool/tool.h"

/* Times between messages.  A struct hist is exact to 1 in 32, and 3 % of an interval is much as jitter goes, so what it
 * counts is by how much the interval differs from a fixed one, the first. */
struct hz_interval {
	int64_t base_ns;
	int64_t max_ns;
	struct hist shorter, longer;
};

/* Statistics of a channel, of the last second or of the whole run. */
struct hz_seen {
	uint64_t messages; /* that were read */
	uint64_t missed;   /* overwritten before they were read */
	uint64_t gaps;	   /* the writer counted on without a message */
	uint64_t timed;	   /* from the first to the last, those missed included */
	int64_t first_ns, last_ns;
	bool started; /* first_ns is known, from before this second perhaps */
	struct hz_interval interval;
	struct hist latency; /* publication to here */
};

struct hz_channel {
	struct hz_seen second, all;
	bool after; /* there was a message before: h and t_ns are its */
	bool ours;  /* it had a header */
	struct msg_header h;
	int64_t t_ns; /* when it was published, or read if it does not say */
};

struct hz {
	int64_t for_ns, count;
	bool json;
	const char *robot;
	size_t n;
	struct follow f[FOLLOW_MAX];
	struct hz_channel channels[FOLLOW_MAX];
	int width; /* of the longest name */
};

static const struct settings_row rows[] = {
	SETTINGS_TIME("for", struct hz, for_ns, "s", NULL, "1ns", NULL, "end after that many seconds; else ^C ends it",
		      .value = "S"),
	SETTINGS_INT("count", struct hz, count, "", NULL, "1", NULL, "end after that many messages in all",
		     .value = "N"),
	SETTINGS_BOOL("json", struct hz, json, "no", "the summary as a line of JSON per channel"),
	TOOL_ROBOT(struct hz),
	SETTINGS_END,
};

/* ---- counting ---- */

static void interval_add(struct hz_interval *v, int64_t ns)
{
	uint64_t n = v->shorter.count + v->longer.count;

	if (!n)
		v->base_ns = ns;
	v->max_ns = n && v->max_ns > ns ? v->max_ns : ns;
	if (ns < v->base_ns)
		hist_add(&v->shorter, v->base_ns - ns);
	else
		hist_add(&v->longer, ns - v->base_ns);
}

static int64_t interval_quantile(const struct hz_interval *v, double part)
{
	double shorter = (double)v->shorter.count, longer = (double)v->longer.count, rank = part * (shorter + longer);

	if (rank <= shorter && shorter > 0)
		return v->base_ns - hist_quantile(&v->shorter, 1 - rank / shorter);
	return v->base_ns + hist_quantile(&v->longer, (rank - shorter) / longer);
}

static void seen_message(struct hz_seen *s, uint64_t missed, uint64_t gaps, int64_t t_ns)
{
	s->messages++;
	if (s->started)
		s->timed += missed + 1;
	else
		s->first_ns = t_ns;
	s->started = true;
	s->last_ns = t_ns;
	s->missed += missed;
	s->gaps += gaps;
}

/* Numbers left out by the writer itself.  A lower number or another incarnation is another writer. */
static uint64_t left_out(const struct msg_header *before, const struct msg_header *h, uint64_t missed)
{
	uint64_t step = h->sequence - before->sequence;

	if (h->incarnation != before->incarnation || h->sequence <= before->sequence || step <= missed + 1)
		return 0;
	return step - missed - 1;
}

static void count_message(struct hz_channel *c, const struct follow *f, int64_t now_ns)
{
	bool ours = msg_check(f->bytes, f->len, NULL, NULL) == MSG_FINE;
	struct hz_seen *const both[] = { &c->second, &c->all };
	struct msg_header h = { 0 };
	uint64_t gaps = 0;
	int64_t t_ns = now_ns;

	if (ours) {
		memcpy(&h, f->bytes, sizeof(h));
		t_ns = h.t_publish_ns;
		gaps = c->after && c->ours ? left_out(&c->h, &h, f->missed) : 0;
	}
	for (size_t i = 0; i < 2; i++) {
		seen_message(both[i], f->missed, gaps, t_ns);
		if (c->after && c->ours == ours && !f->missed)
			interval_add(&both[i]->interval, t_ns - c->t_ns);
		if (ours)
			hist_add(&both[i]->latency, now_ns - t_ns);
	}
	c->after = true;
	c->ours = ours;
	c->h = h;
	c->t_ns = t_ns;
}

/* From the first to the last message, by the writer's stamps; 0: there are not two. */
static double rate(const struct hz_seen *s)
{
	int64_t span = s->last_ns - s->first_ns;

	return span > 0 ? (double)s->timed * 1e9 / (double)span : 0;
}

/* ---- printing ---- */

static void print_heading(const struct hz *hz)
{
	out_text("%-*s %10s %12s %8s %8s %6s %4s %11s %8s %8s\n", hz->width, "channel", "rate", "interval p50", "p99",
		 "max", "missed", "gaps", "latency p50", "p99", "max");
}

struct hz_times {
	bool any;
	int64_t p50, p99, max;
};

static struct hz_times interval_times(const struct hz_interval *v)
{
	return (struct hz_times){ v->shorter.count + v->longer.count > 0, interval_quantile(v, 0.5),
				  interval_quantile(v, 0.99), v->max_ns };
}

static struct hz_times latency_times(const struct hist *h)
{
	return (struct hz_times){ h->count > 0, hist_quantile(h, 0.5), hist_quantile(h, 0.99), h->max_ns };
}

static void print_times(int width, struct hz_times t)
{
	char text[3][DURATION_TEXT_MAX] = { "-", "-", "-" };

	if (t.any) {
		duration_text(text[0], t.p50);
		duration_text(text[1], t.p99);
		duration_text(text[2], t.max);
	}
	out_text(" %*s %8s %8s", width, text[0], text[1], text[2]);
}

static void print_line(const struct hz *hz, size_t i, const struct hz_seen *s)
{
	char text[32] = "-";

	if (rate(s) > 0)
		snprintf(text, sizeof(text), "%.1f Hz", rate(s));
	out_text("%-*s %10s", hz->width, hz->f[i].name, text);
	print_times(12, interval_times(&s->interval));
	out_text(" %6" PRIu64 " %4" PRIu64, s->missed, s->gaps);
	print_times(11, latency_times(&s->latency));
	out_text("\n");
}

static void print_json_times(struct json *j, const char *name, struct hz_times t)
{
	if (!t.any) {
		json_null(j, name);
		return;
	}
	json_object(j, name);
	json_int(j, "p50", t.p50);
	json_int(j, "p99", t.p99);
	json_int(j, "max", t.max);
	json_end(j);
}

static void print_json(const struct hz *hz, size_t i, const struct hz_seen *s)
{
	struct json j = json_to(out_file());

	json_object(&j, NULL);
	json_text(&j, "name", hz->f[i].name);
	json_uint(&j, "messages", s->messages);
	json_fixed(&j, "rate_hz", 3, rate(s) > 0 ? rate(s) : NAN);
	json_uint(&j, "missed", s->missed);
	json_uint(&j, "gaps", s->gaps);
	print_json_times(&j, "interval_ns", interval_times(&s->interval));
	print_json_times(&j, "latency_ns", latency_times(&s->latency));
	json_end(&j);
	out_text("\n");
}

static bool print_seconds(void *with)
{
	struct hz *hz = with;

	for (size_t i = 0; i < hz->n; i++) {
		struct hz_channel *c = &hz->channels[i];

		print_line(hz, i, &c->second);
		memset(&c->second, 0, sizeof(c->second));
		c->second.started = c->after;
		c->second.first_ns = c->t_ns;
	}
	return false;
}

static void print_summary(const struct hz *hz, bool lines)
{
	if (lines)
		out_text("\nall together\n");
	if (!hz->json)
		print_heading(hz);
	for (size_t i = 0; i < hz->n; i++) {
		const struct hz_seen *s = &hz->channels[i].all;

		if (hz->json)
			print_json(hz, i, s);
		else
			print_line(hz, i, s);
	}
}

/* ---- the loop ---- */

static int take_message(void *with, size_t i)
{
	struct hz *hz = with;

	count_message(&hz->channels[i], &hz->f[i], clock_now_ns());
	return 1;
}

static int measure(struct hz *hz)
{
	const bool lines = tool_is_terminal(stdout) && !hz->json;
	const int64_t now_ns = clock_now_ns();
	struct tool_stream stream = { .with = hz,
				      .f = hz->f,
				      .n = hz->n,
				      .left = hz->count ? hz->count : INT64_MAX,
				      .until_ns = hz->for_ns ? now_ns + hz->for_ns : CLOCK_NEVER,
				      .message = take_message,
				      .every = lines ? print_seconds : NULL,
				      .next_ns = now_ns + NS_PER_S,
				      .every_ns = NS_PER_S };

	if (lines)
		print_heading(hz);
	if (tool_stream(&stream))
		return EXIT_RETRY;
	print_summary(hz, lines);
	return out_end();
}

static int run(void *values, int argc, char **argv)
{
	struct hz *hz = values;
	int status = names_find(hz->robot, argv, argc, false);

	hz->width = (int)strlen("channel");
	while (!status && hz->n < (size_t)argc) {
		const char *name = argv[hz->n];

		status = follow_open(&hz->f[hz->n], name);
		if (!status) {
			follow_from(&hz->f[hz->n++], 0);
			hz->width = (int)strlen(name) > hz->width ? (int)strlen(name) : hz->width;
		}
	}
	if (!status)
		status = measure(hz);
	while (hz->n)
		follow_close(&hz->f[--hz->n]);
	return status;
}

TOOL_COMMAND(hz, run, rows, struct hz, "CHANNEL...", 1, FOLLOW_MAX, "measures rate, jitter, gaps and latency", NULL);
