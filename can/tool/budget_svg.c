/* budget_svg.c: the cycle of each bus as a picture. */
#include "can/tool/budget_frames.h"
#include "config/base/base.h"
#include "config/settings/program.h"

#define LEFT 110
#define WIDTH 1000	      /* of a cycle */
#define ROW 64		      /* of a bus */
#define BAR 22		      /* of a frame */
#define CYCLE_MAX_NS 20000000 /* slower frames are not in the picture */
#define SENT_MAX 4096	      /* frames in a cycle */

struct sent {
	const struct traffic_frame *frame;
	int64_t ready_ns, start_ns; /* start_ns less than 0: it waits */
	int request;		    /* of an answer: which; -1 */
};

struct cycle {
	int64_t span_ns;
	size_t n;
	struct sent sent[SENT_MAX];
};

/* ---- what is on the wire ---- */

static int64_t span_of(const struct traffic *traffic, unsigned int bus)
{
	int64_t span_ns = 1000000;

	for (size_t i = 0; i < traffic->frames_n; i++) {
		const int64_t period_ns = traffic->frames[i].r.period_ns;

		if (traffic->frames[i].bus == bus && period_ns > span_ns && period_ns <= CYCLE_MAX_NS)
			span_ns = period_ns;
	}
	return span_ns;
}

static bool is_used(const struct traffic *traffic, unsigned int bus)
{
	return traffic_frames_of(traffic, bus, &(size_t){ 0 });
}

/* Answers follow their requests, in the same order. */
static int find_request(const struct cycle *c, const struct traffic_frame *request, unsigned int which)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->sent[i].frame == request && !which--)
			return (int)i;
	return -1;
}

static void release(struct cycle *c, const struct traffic *traffic, unsigned int bus, bool answers)
{
	size_t first, n = traffic_frames_of(traffic, bus, &first);

	for (size_t i = first; i < first + n; i++) {
		const struct traffic_frame *f = &traffic->frames[i];
		unsigned int which = 0;

		if (!f->r.period_ns || f->r.period_ns > CYCLE_MAX_NS || (f->kind == TRAFFIC_ANSWER) != answers)
			continue;
		for (int64_t t_ns = 0; t_ns < c->span_ns; t_ns += f->r.period_ns)
			for (unsigned int k = 0; k < f->r.burst && c->n < SENT_MAX; k++, which++) {
				struct sent *s = &c->sent[c->n++];

				*s = (struct sent){ .frame = f, .ready_ns = t_ns, .start_ns = -1, .request = -1 };
				if (answers)
					s->request =
						find_request(c, &traffic->frames[first + (size_t)f->r.cause], which);
			}
	}
}

static int64_t ready_ns(const struct cycle *c, const struct sent *s, int64_t reply_ns)
{
	const struct sent *request;

	if (s->request < 0)
		return s->ready_ns;
	request = &c->sent[s->request];
	return request->start_ns < 0 ? INT64_MAX : request->start_ns + request->frame->r.time_ns + reply_ns;
}

/* Drivers hand over in order of time, then of priority; of all others the most urgent one competes with the first. */
static struct sent *next_sent(struct cycle *c, int64_t now_ns, int64_t reply_ns, int64_t *wake_ns)
{
	struct sent *host = NULL, *best = NULL;

	*wake_ns = INT64_MAX;
	for (size_t i = 0; i < c->n; i++) {
		struct sent *s = &c->sent[i];
		const int64_t ready = ready_ns(c, s, reply_ns);

		if (s->start_ns >= 0)
			continue;
		if (ready > now_ns)
			*wake_ns = ready < *wake_ns ? ready : *wake_ns;
		else if (s->frame->kind == TRAFFIC_SENT)
			host = !host || s->ready_ns < host->ready_ns ? s : host;
		else if (!best || s->frame->r.order < best->frame->r.order)
			best = s;
	}
	return host && (!best || host->frame->r.order <= best->frame->r.order) ? host : best;
}

static void play(struct cycle *c, int64_t reply_ns)
{
	int64_t now_ns = 0, wake_ns;

	for (;;) {
		struct sent *s = next_sent(c, now_ns, reply_ns, &wake_ns);

		if (s) {
			s->start_ns = now_ns;
			now_ns += s->frame->r.time_ns;
		} else if (wake_ns == INT64_MAX) {
			return;
		} else {
			now_ns = wake_ns;
		}
	}
}

/* ---- the picture ---- */

static void draw_scale(FILE *to, const struct cycle *c, int y)
{
	for (int i = 0; i <= 10; i++) {
		const double x = LEFT + WIDTH * i / 10.0;

		fprintf(to, "<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' stroke='#ccc'/>", x, y, x, y + BAR + 6);
		fprintf(to, "<text x='%.1f' y='%d' font-size='9' text-anchor='middle'>%.3g ms</text>\n", x,
			y + BAR + 16, (double)c->span_ns * i / 1e7);
	}
}

static void draw_sent(FILE *to, const struct traffic *traffic, const struct cycle *c, const struct sent *s, int y)
{
	static const char *const colours[] = { "#4c78a8", "#f58518", "#54a24b", "#e45756",
					       "#72b7b2", "#b279a2", "#9d755d", "#eeca3b" };
	const struct traffic_frame *f = s->frame;
	const double scale = (double)WIDTH / (double)c->span_ns;
	char id[BUDGET_ID_MAX], takes[16];

	budget_id_text(id, f->id);
	fprintf(to,
		"<rect x='%.2f' y='%d' width='%.2f' height='%d' fill='%s' fill-opacity='%s' stroke='white' "
		"stroke-width='0.5'><title>%s, %s%s, %.3f ms, %s</title></rect>\n",
		LEFT + scale * (double)s->start_ns, y, scale * (double)f->r.time_ns, BAR, colours[f->driver % 8],
		f->kind == TRAFFIC_SENT ? "1" : "0.45", id, f->kind == TRAFFIC_SENT ? "" : "device of ",
		traffic->drivers[f->driver].name, (double)s->start_ns / 1e6, budget_time_text(takes, f->r.time_ns));
}

static void draw_bus(FILE *to, const struct traffic *traffic, struct cycle *c, unsigned int bus, int y)
{
	char load[16];

	*c = (struct cycle){ .span_ns = span_of(traffic, bus) };
	release(c, traffic, bus, false);
	release(c, traffic, bus, true);
	play(c, traffic->reply_ns);
	fprintf(to, "<text x='4' y='%d' font-size='12'>%s</text>", y + 10, traffic->buses[bus].name);
	fprintf(to, "<text x='4' y='%d' font-size='9'>at most %s</text>\n", y + 22,
		budget_percent_text(load, traffic->buses[bus].load_most));
	draw_scale(to, c, y);
	for (size_t i = 0; i < c->n; i++)
		if (c->sent[i].start_ns >= 0 && c->sent[i].start_ns < c->span_ns)
			draw_sent(to, traffic, c, &c->sent[i], y);
}

int budget_svg(const struct traffic *traffic, const char *path)
{
	struct cycle *c = malloc(sizeof(*c));
	FILE *to = fopen(path, "we");
	int y = 30, buses = 0;

	for (unsigned int b = 0; b < traffic->buses_n; b++)
		buses += is_used(traffic, b);
	if (!c || !to) {
		free(c);
		if (to)
			fclose(to);
		return program_fail("--svg: %s: %s", path, strerror(to ? ENOMEM : errno));
	}
	fprintf(to,
		"<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif'>\n"
		"<rect width='100%%' height='100%%' fill='white'/>\n"
		"<text x='4' y='16' font-size='11'>A cycle of each bus, all drivers ticking at once, every frame as "
		"long as it can be; paler: frames of devices</text>\n",
		LEFT + WIDTH + 30, 40 + ROW * buses);
	for (unsigned int b = 0; b < traffic->buses_n; b++)
		if (is_used(traffic, b)) {
			draw_bus(to, traffic, c, b, y);
			y += ROW;
		}
	fprintf(to, "</svg>\n");
	free(c);
	return fclose(to) ? program_fail("--svg: %s: %s", path, strerror(errno)) : 0;
}
