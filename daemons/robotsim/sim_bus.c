/* sim_bus.c: units on their buses.
 *
 * On a soft wire each has a controller of its own, which acknowledges while it has power; on SocketCAN each has a
 * socket of its own, and hears the others as it hears anybody.
 *
 * Units with a common ear (sim.h) listen through that, and their own controllers deliver nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemons/robotsim/sim.h"

#define BATCH 16
#define RETRY_NS 200000	   /* for a frame for which there was no room */
#define BEHIND_NS 20000000 /* frames that are older will not come any more */

static bool is_wire(const struct robot_bus *on)
{
	return !strncmp(on->interface, "wire:", 5);
}

static int open_bus(struct sim_unit *unit, struct error_sink *errors)
{
	const struct bus_options options = {
		.filters = unit->filters,
		.filters_n = unit->ear ? 0 : unit->filters_n,
		.sends = &unit->sends,
		.sends_n = 1,
		.no_echo = true,
		.later = true,
	};

	unit->holds = false;
	return bus_open(&unit->bus, unit->bus_name, &options, errors);
}

static int open_ear(struct sim_ear *ear, struct error_sink *errors)
{
	const struct bus_options options = {
		.filters = ear->filters,
		.filters_n = ear->filters_n,
		.no_echo = true,
		.later = true,
	};

	return bus_open(&ear->bus, ear->bus_name, &options, errors);
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

/* An ear is open while one of its units is on the bus. */
static int connect_ear(struct sim *sim, struct sim_ear *ear, struct error_sink *errors)
{
	bool wanted = false;
	int r = 0;

	for (size_t i = 0; i < sim->units_n; i++)
		wanted |= sim->units[i].ear == ear && sim->units[i].bus;
	if (wanted && !ear->bus) {
		r = open_ear(ear, errors);
		if (r)
			ear->bus = NULL;
	} else if (!wanted && ear->bus) {
		bus_close(ear->bus);
		ear->bus = NULL;
	}
	return r;
}

static void name_bus(char *name, size_t size, const struct robot_bus *on, const char *controller)
{
	snprintf(name, size, is_wire(on) ? "%s@%s" : "%s", on->interface, controller);
}

int sim_open(struct sim *sim, struct error_sink *errors)
{
	const int64_t now_ns = clock_now_ns();

	for (size_t i = 0; i < sim->units_n; i++) {
		struct sim_unit *unit = &sim->units[i];

		name_bus(unit->bus_name, sizeof(unit->bus_name), unit->on, unit->name);
	}
	for (size_t i = 0; i < sim->ears_n; i++)
		name_bus(sim->ears[i].bus_name, sizeof(sim->ears[i].bus_name), sim->ears[i].on,
			 sim->ears[i].device->name);
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
	for (size_t i = 0; i < sim->ears_n; i++) {
		const int r = connect_ear(sim, &sim->ears[i], errors);

		if (r) {
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
	for (size_t i = 0; i < sim->ears_n; i++) {
		bus_close(sim->ears[i].bus);
		sim->ears[i].bus = NULL;
	}
}

/* Nothing comes to a unit with an ear once it is attached: sim_beat finds out when the bus is gone. */
static bool waits(const struct sim_unit *unit)
{
	return unit->bus && (!unit->ear || bus_state(unit->bus) == BUS_ABSENT);
}

size_t sim_fds(const struct sim *sim, struct clock_fd *fds)
{
	size_t n = 0;

	for (size_t i = 0; i < sim->units_n; i++)
		fds[n++] = (struct clock_fd){ .fd = waits(&sim->units[i]) ? bus_fd(sim->units[i].bus) : -1,
					      .events = POLLIN };
	for (size_t i = 0; i < sim->ears_n; i++)
		fds[n++] =
			(struct clock_fd){ .fd = sim->ears[i].bus ? bus_fd(sim->ears[i].bus) : -1, .events = POLLIN };
	return n;
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
	for (size_t i = 0; i < sim->ears_n; i++)
		if (sim->ears[i].bus)
			next_ns = earlier(next_ns, bus_next_ns(sim->ears[i].bus));
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

static bool is_for(const struct sim_unit *unit, const struct sim_ear *ear, const struct frame *frame)
{
	return unit->ear == ear && unit->bus && bus_filters_take(unit->filters, unit->filters_n, frame->id) &&
	       (!unit->kind->hears || unit->kind->hears(unit->state, frame));
}

static void receive_ear(struct sim *sim, const struct sim_ear *ear)
{
	struct bus_frame frames[BATCH];
	int n;

	while ((n = bus_receive(ear->bus, frames, BATCH)) > 0)
		for (int i = 0; i < n; i++)
			for (size_t u = 0; u < sim->units_n; u++)
				if (is_for(&sim->units[u], ear, &frames[i].frame))
					add_pending(sim, &sim->units[u], &frames[i]);
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
	for (size_t i = 0; i < sim->ears_n; i++) {
		struct bus *bus = sim->ears[i].bus;

		if (bus && (!fds || fds[sim->units_n + i].ready || now_ns >= bus_next_ns(bus)))
			receive_ear(sim, &sim->ears[i]);
	}
	deliver(sim);
	sim_body_advance(sim, now_ns);
	for (size_t i = 0; i < sim->units_n; i++)
		if (sim->units[i].bus)
			send(&sim->units[i], now_ns);
}

void sim_beat(struct sim *sim, int64_t now_ns)
{
	struct error_sink ignored = { 0 };

	for (size_t i = 0; i < sim->units_n; i++) {
		struct sim_unit *unit = &sim->units[i];

		if (unit->kind->advance)
			unit->kind->advance(unit->state, now_ns - BEHIND_NS);
		if (unit->bus && unit->ear)
			receive(sim, unit);
		if (unit->bus && is_wire(unit->on) && bus_state(unit->bus) == BUS_OFF) {
			bus_close(unit->bus); /* devices take themselves back from bus-off */
			unit->bus = NULL;
		}
		sim_connect(unit);
	}
	for (size_t i = 0; i < sim->ears_n; i++)
		connect_ear(sim, &sim->ears[i], &ignored); /* the next beat tries again */
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
