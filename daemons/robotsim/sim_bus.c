/* sim_bus.c: units on their buses.
 *
 * On a soft wire each has a controller of its own, which acknowledges while it has power; on SocketCAN each has a
 * socket of its own, and hears the others as it hears anybody.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemons/robotsim/sim.h"

#define BATCH 16
#define RETRY_NS 200000	   /* for a frame for which there was no room */
#define BEHIND_NS 20000000 /* frames that are older will not come any more */

static bool is_wire(const struct sim_unit *unit)
{
	return !strncmp(unit->on->interface, "wire:", 5);
}

static int open_bus(struct sim_unit *unit, struct error_sink *errors)
{
	const struct bus_options options = {
		.filters = unit->filters,
		.filters_n = unit->filters_n,
		.sends = &unit->sends,
		.sends_n = 1,
		.no_echo = true,
		.later = true,
	};

	unit->holds = false;
	return bus_open(&unit->bus, unit->bus_name, &options, errors);
}

static bool has_power(const struct sim_unit *unit)
{
	return !unit->kind->has_power || unit->kind->has_power(unit->state);
}

void sim_connect(struct sim_unit *unit)
{
	const bool wanted = !unit->cut && has_power(unit);
	struct error_sink ignored = { 0 };

	if (wanted && !unit->bus) {
		if (open_bus(unit, &ignored))
			unit->bus = NULL; /* the next beat tries again */
	} else if (!wanted && unit->bus) {
		bus_close(unit->bus);
		unit->bus = NULL;
	}
}

int sim_open(struct sim *sim, struct error_sink *errors)
{
	const int64_t now_ns = clock_now_ns();

	for (size_t i = 0; i < sim->units_n; i++) {
		struct sim_unit *unit = &sim->units[i];

		snprintf(unit->bus_name, sizeof(unit->bus_name), is_wire(unit) ? "%s@%s" : "%s", unit->on->interface,
			 unit->name);
	}
	sim_start(sim, now_ns);
	for (size_t i = 0; i < sim->units_n; i++) {
		struct sim_unit *unit = &sim->units[i];
		int r;

		if (!has_power(unit))
			continue;
		r = open_bus(unit, errors);
		if (r) {
			unit->bus = NULL;
			sim_close(sim);
			return r;
		}
	}
	return 0;
}

void sim_close(struct sim *sim)
{
	for (size_t i = 0; i < sim->units_n; i++) {
		bus_close(sim->units[i].bus);
		sim->units[i].bus = NULL;
	}
}

size_t sim_fds(const struct sim *sim, struct clock_fd *fds)
{
	for (size_t i = 0; i < sim->units_n; i++)
		fds[i] =
			(struct clock_fd){ .fd = sim->units[i].bus ? bus_fd(sim->units[i].bus) : -1, .events = POLLIN };
	return sim->units_n;
}

static int64_t earlier(int64_t a_ns, int64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

int64_t sim_next_ns(const struct sim *sim)
{
	int64_t next_ns = CLOCK_NEVER;

	for (size_t i = 0; i < sim->units_n; i++) {
		const struct sim_unit *unit = &sim->units[i];

		if (!unit->bus)
			continue;
		next_ns = earlier(next_ns, bus_next_ns(unit->bus));
		next_ns = earlier(next_ns, unit->holds ? unit->retry_ns : unit->kind->next_ns(unit->state));
	}
	return next_ns;
}

static void deliver(struct sim *sim)
{
	for (size_t i = 0; i < sim->pending_n; i++) {
		struct sim_unit *unit = sim->pending[i].unit;

		sim_body_advance(sim, sim->pending[i].t_ns);
		unit->kind->frame(unit->state, &sim->pending[i].frame, sim->pending[i].t_ns);
	}
	sim->pending_n = 0;
}

/* Units of a body act on each other: frames of all of them go to them in the order of their times. */
static void add_pending(struct sim *sim, struct sim_unit *unit, const struct bus_frame *frame)
{
	size_t at;

	if (sim->pending_n == SIM_PENDING_MAX)
		deliver(sim);
	for (at = sim->pending_n++; at && sim->pending[at - 1].t_ns > frame->t_ns; at--)
		sim->pending[at] = sim->pending[at - 1];
	sim->pending[at].unit = unit;
	sim->pending[at].t_ns = frame->t_ns;
	sim->pending[at].frame = frame->frame;
}

static void receive(struct sim *sim, struct sim_unit *unit)
{
	struct bus_frame frames[BATCH];
	int n;

	while ((n = bus_receive(unit->bus, frames, BATCH)) > 0)
		for (int i = 0; i < n; i++)
			if (!(frames[i].flags & (BUS_OWN | BUS_QUEUED)))
				add_pending(sim, unit, &frames[i]);
}

/* A controller keeps a frame until the bus takes it; without a bus the frame is lost. */
static void send(struct sim_unit *unit, int64_t now_ns)
{
	while (unit->holds || unit->kind->send(unit->state, now_ns, &unit->held)) {
		int r;

		if (unit->holds && now_ns < unit->retry_ns)
			return;
		r = bus_send(unit->bus, &unit->held);
		unit->holds = r == -ENOBUFS;
		if (unit->holds) {
			unit->retry_ns = now_ns + RETRY_NS;
			return;
		}
		unit->dropped += r != 0;
	}
}

void sim_turn(struct sim *sim, const struct clock_fd *fds, int64_t now_ns)
{
	for (size_t i = 0; i < sim->units_n; i++) {
		struct sim_unit *unit = &sim->units[i];

		if (unit->bus && (!fds || fds[i].ready || now_ns >= bus_next_ns(unit->bus)))
			receive(sim, unit);
	}
	deliver(sim);
	sim_body_advance(sim, now_ns);
	for (size_t i = 0; i < sim->units_n; i++)
		if (sim->units[i].bus)
			send(&sim->units[i], now_ns);
}

void sim_beat(struct sim *sim, int64_t now_ns)
{
	for (size_t i = 0; i < sim->units_n; i++) {
		struct sim_unit *unit = &sim->units[i];

		if (unit->kind->advance)
			unit->kind->advance(unit->state, now_ns - BEHIND_NS);
		if (unit->bus && is_wire(unit) && bus_state(unit->bus) == BUS_OFF) {
			bus_close(unit->bus); /* devices take themselves back from bus-off */
			unit->bus = NULL;
		}
		sim_connect(unit);
	}
}

bool sim_is_attached(const struct sim *sim, const struct sim_unit **missing)
{
	for (size_t i = 0; i < sim->units_n; i++) {
		const struct sim_unit *unit = &sim->units[i];

		*missing = unit;
		if (unit->bus ? bus_state(unit->bus) <= BUS_STOPPED : !unit->cut && has_power(unit))
			return false;
	}
	return true;
}
