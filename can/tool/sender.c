/* sender.c: frames to the buses of some routes, and what becomes of them. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "can/tool/program.h"
#include "can/tool/sender.h"
#include "channels/clock.h"

#define RETRY_NS 1000000      /* between two tries when the queue is full and no echo comes */
#define ECHOES 32	      /* frames of a burst between two checks for echoes */
#define CONFIRM_NS 1000000000 /* for the last echoes */

/* ---- waiting ---- */

static void take_echoes(struct route_bus *b)
{
	struct bus_frame got[ECHOES];

	b->since = 0;
	for (int i = 0; i < 8 && bus_receive(b->bus, got, ECHOES) > 0; i++)
		;
}

int sender_wait(struct sender *s, int64_t until_ns)
{
	struct clock_fd fds[2 + ROUTE_BUSES_MAX] = { { .fd = s->stop_fd, .events = POLLIN },
						     { .fd = s->key_fd, .events = POLLIN } };
	struct routes *routes = s->routes;
	int64_t now;
	int r;

	for (size_t i = 0; i < routes->buses; i++) {
		const struct bus *bus = routes->bus[i].bus;

		fds[2 + i] = (struct clock_fd){ .fd = bus ? bus_fd(bus) : -1, .events = POLLIN };
		if (bus && bus_next_ns(bus) < until_ns)
			until_ns = bus_next_ns(bus);
	}
	r = clock_wait(fds, 2 + routes->buses, until_ns);
	if (r < 0) {
		program_fail("cannot wait: %s", strerror(-r));
		return -1;
	}
	now = clock_now_ns();
	for (size_t i = 0; i < routes->buses; i++) {
		struct route_bus *b = &routes->bus[i];

		if (b->bus && (fds[2 + i].ready || bus_next_ns(b->bus) <= now))
			take_echoes(b);
	}
	return fds[0].ready ? SENDER_STOP : fds[1].ready ? SENDER_KEY : SENDER_TIME;
}

/* ---- sending ---- */

/* 0, or -1: that ends it. */
static int not_sent(struct route_bus *b, const struct log_record *r, int error)
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

static int refused(struct sender *s, struct route_bus *b)
{
	if (!b->refused++)
		program_say("%s: its queue has been full for %g s: does a node acknowledge? Frames are left out",
			    b->name, (double)s->max_late_ns * 1e-9);
	return 0;
}

int sender_send(struct sender *s, struct route_bus *b, const struct log_record *r, int64_t due_ns)
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
		take_echoes(b);
	return 0;
}

/* ---- the end ---- */

/* An echo that found no room in our own receive buffer is one nevertheless. */
uint64_t sender_unconfirmed(const struct route_bus *b)
{
	const struct bus_stats *stats = b->bus ? bus_stats(b->bus) : NULL;
	uint64_t reported = stats ? stats->confirmed + stats->dropped : 0;

	return b->sent > reported ? b->sent - reported : 0;
}

void sender_confirm(struct sender *s)
{
	int64_t until_ns = clock_now_ns() + CONFIRM_NS;
	uint64_t left;

	do {
		left = 0;
		for (size_t i = 0; i < s->routes->buses; i++)
			left += sender_unconfirmed(&s->routes->bus[i]);
	} while (left && clock_now_ns() < until_ns && sender_wait(s, until_ns) == SENDER_TIME);
}
