/* sender.c: frames to the buses of a map, and what becomes of them. */
#include "can/replay/sender.h"
#include "channels/clock/clock.h"
#include "config/settings/program.h"

#define RETRY_NS 1000000      /* between two tries when the queue is full and no echo comes */
#define ECHOES 32	      /* frames of a burst between two checks for echoes */
#define CONFIRM_NS 1000000000 /* for the last echoes */

/* ---- waiting ---- */

static void take_echoes(const struct sender *s, struct bus_map_bus *b)
{
	struct bus_frame got[ECHOES];
	int n;

	b->since = 0;
	for (int i = 0; i < 8 && (n = bus_receive(b->bus, got, ECHOES)) > 0; i++)
		for (int k = 0; s->heard && k < n; k++)
			if (!(got[k].flags & (BUS_OWN | BUS_QUEUED)) && !(got[k].frame.id & FRAME_ERR))
				s->heard(s->heard_to, b, &got[k]);
}

int sender_wait(struct sender *s, int64_t until_ns)
{
	struct clock_fd fds[1 + BUS_MAP_BUSES_MAX] = { { .fd = s->stop_fd, .events = POLLIN } };
	struct bus_map *map = s->map;
	int64_t now;
	int r;

	for (size_t i = 0; i < map->buses; i++) {
		const struct bus *bus = map->bus[i].bus;

		fds[1 + i] = (struct clock_fd){ .fd = bus ? bus_fd(bus) : -1, .events = POLLIN };
		if (bus && bus_next_ns(bus) < until_ns)
			until_ns = bus_next_ns(bus);
	}
	r = clock_wait(fds, 1 + map->buses, until_ns);
	if (r < 0) {
		program_fail("cannot wait: %s", strerror(-r));
		return -1;
	}
	now = clock_now_ns();
	for (size_t i = 0; i < map->buses; i++) {
		struct bus_map_bus *b = &map->bus[i];

		if (b->bus && (fds[1 + i].ready || bus_next_ns(b->bus) <= now))
			take_echoes(s, b);
	}
	return fds[0].ready ? SENDER_STOP : SENDER_TIME;
}

/* ---- sending ---- */

/* 0, or -1: that ends it. */
static int not_sent(struct bus_map_bus *b, const struct log_record *r, int error)
{
	switch (-error) {
	case ENETDOWN:
	case ENODEV:
		if (!b->error)
			program_say("%s: %s; its frames are left out until it is back", b->name,
				    error == -ENODEV ? "the interface is gone" : "the link is down");
		b->error = error;
		b->down++;
		return 0;
	case EINVAL:
		if (!b->unfit++)
			program_say("line %" PRIu64 ": %s takes no such frame; those are left out", r->line, b->name);
		return 0;
	default:
		program_fail("%s: %s", b->name, strerror(-error));
		return -1;
	}
}

static int refused(struct sender *s, struct bus_map_bus *b)
{
	if (!b->refused++)
		program_say("%s: its queue has been full for %g s: does a node acknowledge? Frames are left out",
			    b->name, (double)s->max_late_ns * 1e-9);
	return 0;
}

int sender_send(struct sender *s, struct bus_map_bus *b, const struct log_record *r, int64_t due_ns)
{
	int error;

	while ((error = bus_send(b->bus, &r->frame)) == -ENOBUFS) {
		int64_t now = clock_now_ns();
		int stop;

		if (now >= due_ns + s->max_late_ns)
			return refused(s, b);
		stop = sender_wait(s, now + RETRY_NS);
		if (stop == SENDER_STOP || stop < 0)
			return stop;
	}
	if (error)
		return not_sent(b, r, error);
	if (!s->untimed)
		hist_add(&s->late, clock_now_ns() - due_ns);
	if (b->error)
		program_say("%s: is back", b->name);
	b->error = 0;
	b->sent++;
	if (++b->since >= ECHOES)
		take_echoes(s, b);
	return 0;
}

/* ---- the end ---- */

/* An echo that found no room in our own receive buffer is one nevertheless. */
static uint64_t unconfirmed(const struct bus_map_bus *b)
{
	const struct bus_stats *stats = b->bus ? bus_stats(b->bus) : NULL;
	uint64_t reported = stats ? stats->confirmed + stats->dropped : 0;

	return b->sent > reported ? b->sent - reported : 0;
}

struct total {
	uint64_t sent, unconfirmed, refused, down, unfit;
};

static struct total add_up(const struct sender *s)
{
	struct total t = { 0 };

	for (size_t i = 0; i < s->map->buses; i++) {
		const struct bus_map_bus *b = &s->map->bus[i];

		t.sent += b->sent;
		t.unconfirmed += unconfirmed(b);
		t.refused += b->refused;
		t.down += b->down;
		t.unfit += b->unfit;
	}
	return t;
}

/* Waits a second at most for the echoes of the last ones, also after it was stopped. */
static struct total confirm(struct sender *s)
{
	const int64_t until_ns = clock_now_ns() + CONFIRM_NS;

	s->stop_fd = -1;
	while (add_up(s).unconfirmed && clock_now_ns() < until_ns && sender_wait(s, until_ns) == SENDER_TIME)
		;
	return add_up(s);
}

/* Frames that a bus did not confirm were not acknowledged, even if its queue never was full. */
static void explain(const struct sender *s)
{
	for (size_t i = 0; i < s->map->buses; i++) {
		const struct bus_map_bus *b = &s->map->bus[i];
		const uint64_t n = unconfirmed(b);

		if (n && !b->refused)
			program_say("%s: %" PRIu64 " of %" PRIu64
				    " frames were not acknowledged: is another node on the bus, "
				    "at the same bit rate?",
				    b->name, n, b->sent);
	}
}

/* ---- the summary ---- */

static void print(const struct sender *s, const struct sender_log *log, const struct program_count *counts, size_t n)
{
	char took[DURATION_TEXT_MAX], p50[DURATION_TEXT_MAX], p99[DURATION_TEXT_MAX], max[DURATION_TEXT_MAX];
	const uint64_t sent = counts[0].n;

	printf("%" PRIu64 " frame%s sent in %s", sent, sent == 1 ? "" : "s", duration_text(took, log->took_ns));
	if (s->late.count)
		printf("; late p50 %s, p99 %s, max %s", duration_text(p50, hist_quantile(&s->late, 0.5)),
		       duration_text(p99, hist_quantile(&s->late, 0.99)), duration_text(max, s->late.max_ns));
	printf("\n");
	for (size_t i = 0; i < n; i++)
		if (counts[i].n && counts[i].text)
			printf("%8" PRIu64 " %s\n", counts[i].n, counts[i].text);
}

static void print_json(const struct sender *s, const struct sender_log *log, const struct program_count *counts,
		       size_t n)
{
	struct json j = json_to(stdout);

	json_object(&j, NULL);
	for (size_t i = 0; i < n; i++)
		if (counts[i].key)
			json_uint(&j, counts[i].key, counts[i].n);
	json_uint(&j, "passes", log->passes);
	json_int(&j, "took_ns", log->took_ns);
	if (s->late.count) {
		json_object(&j, "late_ns");
		json_int(&j, "p50", hist_quantile(&s->late, 0.5));
		json_int(&j, "p99", hist_quantile(&s->late, 0.99));
		json_int(&j, "max", s->late.max_ns);
		json_end(&j);
	} else {
		json_null(&j, "late_ns");
	}
	json_end(&j);
	putchar('\n');
}

bool sender_summary(struct sender *s, const struct sender_log *log, bool json)
{
	const struct total t = confirm(s);
	const struct program_count counts[] = {
		{ "sent", NULL, t.sent },
		{ "confirmed", NULL, t.sent - t.unconfirmed },
		{ NULL, "sent, but not confirmed by the bus", t.unconfirmed },
		{ "refused", "left out: the queue was full", t.refused },
		{ "down", "left out: the link was down", t.down },
		{ "unfit", "left out: no frames for that bus", t.unfit },
		{ "errors_left_out", "error frames left out", log->errors_left_out },
		{ "damaged", "damaged lines in the file", log->damaged },
		{ "backward", "stamps that go backwards", log->backward },
		{ "lost", "frames lost when it was recorded", log->lost },
	};

	explain(s);
	(json ? print_json : print)(s, log, counts, sizeof(counts) / sizeof(*counts));
	return !t.unconfirmed && !t.refused && !t.down && !t.unfit;
}
