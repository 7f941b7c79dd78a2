/* sim_bus.c: units on their buses.
 *
 * On a soft wire each has a controller of its own, which acknowledges while it has power; on SocketCAN each has a
 * socket of its own, and hears the others as it hears anybody.
 *
 * Units with a common ear (sim.h) listen through that, and their own controllers deliver nothing.
 */
#include "daemons/robotsim/sim.h"

#define BATCH 16
#define RETRY_NS 200000	   /* for a frame for which there was no room */
#define BEHIND_NS 20000000 /* frames that are older will not come any more */

static bool is_wire(const struct robot_bus *on)
{
	return !strncmp(on->interface, "wire:", 5);
}

static int open_line(struct sim *sim, struct sim_line *line, const char *name, const struct bus_filter *filters,
		     size_t filters_n, const uint32_t *sends, struct error_sink *errors)
{
	const struct bus_options options = { .filters = filters,
					     .filters_n = filters_n,
					     .sends = sends,
					     .sends_n = sends ? 1 : 0,
					     .no_echo = true,
					     .later = true };
	int r = bus_open(&line->bus, name, &options, errors);

	if (r) {
		line->bus = NULL;
		return r;
	}
	r = bus_join(line->bus, sim->set, line->tag);
	if (r)
		error_add(errors, "%s: %s", name, strerror(-r));
	return r;
}

static void close_line(struct sim_line *line)
{
	bus_close(line->bus);
	line->bus = NULL;
	line->ready = false;
}

static int open_bus(struct sim *sim, struct sim_unit *unit, struct error_sink *errors)
{
	unit->holds = false;
	return open_line(sim, &unit->line, unit->bus_name, unit->filters, unit->ear ? 0 : unit->filters_n, &unit->sends,
			 errors);
}

static bool has_power(const struct sim_unit *unit)
{
	return !unit->kind->has_power || unit->kind->has_power(unit->state);
}

void sim_connect(struct sim *sim, struct sim_unit *unit)
{
	const bool wanted = !unit->cut && has_power(unit);
	struct error_sink ignored = { 0 };

	if (wanted && !unit->line.bus)
		open_bus(sim, unit, &ignored); /* the next beat tries again */
	else if (!wanted && unit->line.bus)
		close_line(&unit->line);
}

/* An ear is open while one of its units is on the bus. */
static int connect_ear(struct sim *sim, struct sim_ear *ear, struct error_sink *errors)
{
	bool wanted = false;
	int r = 0;

	for (size_t i = 0; i < sim->units_n; i++)
		wanted |= sim->units[i].ear == ear && sim->units[i].line.bus;
	if (wanted && !ear->line.bus)
		r = open_line(sim, &ear->line, ear->bus_name, ear->filters, ear->filters_n, NULL, errors);
	else if (!wanted && ear->line.bus)
		close_line(&ear->line);
	return r;
}

static void name_bus(char *name, size_t size, const struct robot_bus *on, const char *controller)
{
	snprintf(name, size, is_wire(on) ? "%s@%s" : "%s", on->interface, controller);
}

int sim_open(struct sim *sim, struct clock_set *set, struct error_sink *errors)
{
	int r = 0;

	sim->set = set;
	for (size_t i = 0; i < sim->units_n; i++) {
		struct sim_unit *unit = &sim->units[i];

		name_bus(unit->bus_name, sizeof(unit->bus_name), unit->on, unit->name);
		unit->line.tag = (uint32_t)i;
	}
	for (size_t i = 0; i < sim->ears_n; i++) {
		struct sim_ear *ear = &sim->ears[i];

		name_bus(ear->bus_name, sizeof(ear->bus_name), ear->on, ear->device->name);
		ear->line.tag = SIM_UNITS_MAX + (uint32_t)i;
	}
	sim_start(sim, clock_now_ns());
	for (size_t i = 0; i < sim->units_n && !r; i++)
		if (has_power(&sim->units[i]))
			r = open_bus(sim, &sim->units[i], errors);
	for (size_t i = 0; i < sim->ears_n && !r; i++)
		r = connect_ear(sim, &sim->ears[i], errors);
	if (r)
		sim_close(sim);
	return r;
}

void sim_close(struct sim *sim)
{
	for (size_t i = 0; i < sim->units_n; i++)
		close_line(&sim->units[i].line);
	for (size_t i = 0; i < sim->ears_n; i++)
		close_line(&sim->ears[i].line);
}

int64_t sim_next_ns(const struct sim *sim)
{
	int64_t next_ns = CLOCK_NEVER;

	for (size_t i = 0; i < sim->units_n; i++) {
		const struct sim_unit *unit = &sim->units[i];

		if (!unit->line.bus)
			continue;
		next_ns = num_min(next_ns, bus_next_ns(unit->line.bus));
		next_ns = num_min(next_ns, unit->holds ? unit->retry_ns : unit->kind->next_ns(unit->state));
	}
	for (size_t i = 0; i < sim->ears_n; i++)
		if (sim->ears[i].line.bus)
			next_ns = num_min(next_ns, bus_next_ns(sim->ears[i].line.bus));
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

	while ((n = bus_receive(unit->line.bus, frames, BATCH)) > 0)
		for (int i = 0; i < n; i++)
			if (!(frames[i].flags & (BUS_OWN | BUS_QUEUED)))
				add_pending(sim, unit, &frames[i]);
}

static bool is_for(const struct sim_unit *unit, const struct sim_ear *ear, const struct frame *frame)
{
	return unit->ear == ear && unit->line.bus && bus_filters_take(unit->filters, unit->filters_n, frame->id) &&
	       (!unit->kind->hears || unit->kind->hears(unit->state, frame));
}

static void receive_ear(struct sim *sim, const struct sim_ear *ear)
{
	struct bus_frame frames[BATCH];
	int n;

	while ((n = bus_receive(ear->line.bus, frames, BATCH)) > 0)
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
		r = bus_send(unit->line.bus, &unit->held);
		unit->holds = r == -ENOBUFS;
		if (unit->holds) {
			unit->retry_ns = now_ns + RETRY_NS;
			return;
		}
		unit->dropped += r != 0;
	}
}

static bool is_due(struct sim_line *line, int64_t now_ns)
{
	const bool ready = line->ready;

	line->ready = false;
	return line->bus && (ready || now_ns >= bus_next_ns(line->bus));
}

void sim_ready(struct sim *sim, uint32_t tag)
{
	if (tag < sim->units_n)
		sim->units[tag].line.ready = true;
	else if (tag >= SIM_UNITS_MAX && tag - SIM_UNITS_MAX < sim->ears_n)
		sim->ears[tag - SIM_UNITS_MAX].line.ready = true;
}

void sim_turn(struct sim *sim, int64_t now_ns)
{
	for (size_t i = 0; i < sim->units_n; i++)
		if (is_due(&sim->units[i].line, now_ns))
			receive(sim, &sim->units[i]);
	for (size_t i = 0; i < sim->ears_n; i++)
		if (is_due(&sim->ears[i].line, now_ns))
			receive_ear(sim, &sim->ears[i]);
	deliver(sim);
	sim_body_advance(sim, now_ns);
	for (size_t i = 0; i < sim->units_n; i++)
		if (sim->units[i].line.bus)
			send(&sim->units[i], now_ns);
}

void sim_beat(struct sim *sim, int64_t now_ns)
{
	struct error_sink ignored = { 0 };

	for (size_t i = 0; i < sim->units_n; i++) {
		struct sim_unit *unit = &sim->units[i];

		if (unit->kind->advance)
			unit->kind->advance(unit->state, now_ns - BEHIND_NS);
		if (unit->line.bus && unit->ear)
			receive(sim, unit);
		if (unit->line.bus && is_wire(unit->on) && bus_state(unit->line.bus) == BUS_OFF)
			close_line(&unit->line); /* devices take themselves back from bus-off */
		sim_connect(sim, unit);
	}
	for (size_t i = 0; i < sim->ears_n; i++)
		connect_ear(sim, &sim->ears[i], &ignored); /* the next beat tries again */
}

bool sim_is_attached(const struct sim *sim, const struct sim_unit **missing)
{
	for (size_t i = 0; i < sim->units_n; i++) {
		const struct sim_unit *unit = &sim->units[i];

		*missing = unit;
		if (unit->line.bus ? bus_state(unit->line.bus) <= BUS_STOPPED : !unit->cut && has_power(unit))
			return false;
	}
	return true;
}
