/* hubo-daemon.c: the clock of the robot.  See hubo-daemon(1).
 *
 * In each cycle: the clock frames first, then what has become of the buses, then the message of the channel clock.  It
 * waits for nothing that others send, so a bus that is dead or away only loses its own frames.
 */
#include "daemons/clock/clock_bus.h"

struct hubo {
	int64_t period_ns;
	int64_t began_ns, late_ns; /* of the cycle that is now */
	struct clock_grid cycle;
	bool begun, up;
	unsigned int buses;
	struct clock_bus bus[MSG_BUSES];
	unsigned int by_send[MSG_BUSES]; /* bus of each row */
};

static const struct settings_row rows[] = { SETTINGS_END };

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct hubo *h = self;

	h->period_ns = drv_period_ns(drv);
	h->buses = drv_buses(drv);
	for (unsigned int b = 0; b < h->buses; b++) {
		clock_bus_declare(&h->bus[b], drv, b, h->period_ns, errors);
		if (h->bus[b].send >= 0)
			h->by_send[h->bus[b].send] = b;
	}
	return errors->count ? -EINVAL : 0;
}

/* ---- a cycle ---- */

static void note_time(struct hubo *h, int64_t now_ns)
{
	h->began_ns = clock_grid_began_ns(now_ns, h->period_ns);
	h->late_ns = now_ns - h->began_ns;
}

static void turn(struct hubo *h, struct drv *drv, const struct drv_orders *orders)
{
	bool counted;

	clock_grid_paused(&h->cycle, drv_paused_ns(drv, DRV_CHANNEL, h->began_ns));
	note_time(h, orders->now_ns);
	counted = clock_grid_came(&h->cycle, clock_grid_at(orders->now_ns, h->period_ns), h->late_ns);
	for (unsigned int b = 0; b < h->buses; b++) {
		const struct clock_bus *bus = &h->bus[b];

		if (bus->send >= 0 && clock_grid_due(h->cycle.previous, h->cycle.now, bus->divider))
			drv_send(drv, (unsigned int)bus->send, &bus->frame);
	}
	for (unsigned int b = 0; b < h->buses; b++)
		clock_bus_update(&h->bus[b], drv, b, orders->now_ns);
	if (counted)
		clock_bus_report_skipped(&h->cycle, drv);
	drv_complete(drv);
}

/* The first tick is anywhere, and says which cycle is under way; the next one is where a cycle begins. */
static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct hubo *h = self;

	if (!h->begun) {
		h->begun = true;
		h->cycle.period_ns = h->period_ns;
		for (unsigned int b = 0; b < h->buses; b++)
			clock_bus_start(&h->bus[b], orders->now_ns);
	}
	if (clock_grid_began_ns(orders->tick_ns, h->period_ns) != orders->tick_ns) {
		note_time(h, orders->now_ns);
		drv_tick_at(drv, clock_grid_next_ns(orders->now_ns, h->period_ns));
		drv_complete(drv);
		return DRV_AGAIN;
	}
	turn(h, drv, orders);
	h->up = clock_grid_ready(&h->cycle);
	return h->up ? DRV_DONE : DRV_AGAIN;
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	turn(self, drv, orders);
}

/* ---- what is on the buses ---- */

static bool rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	struct hubo *h = self;
	struct clock_bus *bus = &h->bus[drv_row_bus(drv, row)];

	clock_bus_received(bus, got);
	/* Frames that a killed clock had handed over are still sent, but before this one is up. */
	if (h->up && clock_bus_is_clock(bus, &got->frame))
		drv_event(drv, MSG_SEVERITY_ERROR, "second-clock", "another node sends the clock frame of %s, too",
			  bus->name);
	return false;
}

static void sent(void *self, struct drv *drv, unsigned int send, const struct frame *frame, int64_t t_ns)
{
	struct hubo *h = self;

	(void)drv;
	clock_bus_sent(&h->bus[h->by_send[send]], frame, t_ns);
}

/* ---- the channel clock ---- */

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	struct hubo *h = self;
	struct msg_clock *clock = state;

	if (!h->begun)
		note_time(h, now_ns);
	clock->cycle = clock_grid_at(h->began_ns, h->period_ns);
	clock->t_cycle_ns = h->began_ns;
	clock->period_ns = h->period_ns;
	clock->late_ns = h->late_ns;
	clock->bus_count = h->buses;
	for (unsigned int b = 0; b < h->buses; b++)
		clock_bus_fill(&h->bus[b], drv, b, &clock->bus[b]);
	return h->began_ns;
}

static const struct drv_driver driver = {
	.program = "hubo-daemon",
	.about = "gives the robot its clock",
	.size = sizeof(struct hubo),
	.settings = rows,
	.tick_preset = "1ms",
	.own_period = true,
	.outlives_buses = true,
	.state = msg_clock_number,
	.state_channel = "clock",
	.declare = declare,
	.start = start,
	.tick = tick,
	.rx = rx,
	.sent = sent,
	.fill = fill,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
