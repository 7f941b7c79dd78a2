/* hubod_turn.c: a cycle: references first, then requests for encoders, sensors, one status and one current on each bus.
 *
 * Slots keep that order whatever the identifiers are: references stand in a class before requests.  Requests have the
 * higher priority on the wire, but the first of them is handed over after the last reference.
 */
#include "daemons/hubo/hubod.h"

#define READY_CYCLES 3		 /* kept in a row, of each board */
#define START_WAIT_NS 1000000000 /* a board that did not reply within it is left out of the start */

static void turn(struct hubod *h, struct drv *drv, const struct drv_orders *orders)
{
	const bool quiet = orders->tick_ns < h->quiet_until_ns || h->home.on;
	bool counted, refers;

	clock_grid_paused(&h->cycle, drv_paused_ns(drv, DRV_CHANNEL, h->began_ns));
	h->began_ns = clock_grid_began_ns(orders->now_ns, h->period_ns);
	h->late_ns = orders->now_ns - h->began_ns;
	counted = clock_grid_came(&h->cycle, clock_grid_at(orders->now_ns, h->period_ns), h->late_ns);
	hubod_account(h, drv, orders->now_ns);
	refers = hubod_send_references(h, drv, orders, quiet);
	hubod_read_step(h, drv);
	hubod_ask(h, drv, orders->now_ns, quiet, !refers);
	hubod_enable_boards(h, drv);
	hubod_home_step(h, drv, orders);
	for (unsigned int b = 0; b < HUBO_BUSES; b++)
		clock_bus_update(&h->bus[b], drv, b, orders->now_ns);
	if (counted)
		clock_bus_report_skipped(&h->cycle, drv);
	hubod_put_clock(h, drv, orders->now_ns);
	hubod_board_param_put(h, drv, orders->now_ns);
}

static bool all_reply(const struct hubod *h, int64_t now_ns)
{
	unsigned int kept = 0;

	for (const struct hubod_board *b = h->boards; b < h->boards + h->boards_n; b++) {
		if (!b->active)
			continue;
		if (b->kept < READY_CYCLES && now_ns - h->start_ns < START_WAIT_NS)
			return false;
		kept += b->kept >= READY_CYCLES;
	}
	return kept;
}

/* The first tick is anywhere, and says which cycle is under way; the next one is where a cycle begins. */
enum drv_step hubod_start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct hubod *h = self;

	if (!h->begun) {
		h->begun = true;
		h->cycle.period_ns = h->period_ns;
		h->start_ns = orders->now_ns;
		hubod_quiet(h, orders->tick_ns + h->settings.quiet_start_ns);
		for (unsigned int b = 0; b < HUBO_BUSES; b++)
			clock_bus_start(&h->bus[b], orders->now_ns);
		hubod_take_over(h, drv_previous(drv));
	}
	if (clock_grid_began_ns(orders->tick_ns, h->period_ns) != orders->tick_ns) {
		h->began_ns = clock_grid_began_ns(orders->now_ns, h->period_ns);
		h->late_ns = orders->now_ns - h->began_ns;
		drv_tick_at(drv, clock_grid_next_ns(orders->now_ns, h->period_ns));
		return DRV_AGAIN;
	}
	turn(h, drv, orders);
	h->up = clock_grid_ready(&h->cycle) && all_reply(h, orders->now_ns);
	return h->up ? DRV_DONE : DRV_AGAIN;
}

void hubod_tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	turn(self, drv, orders);
}

/* The ramps bring every joint to rest; then the boards hold by themselves. */
enum drv_step hubod_stop(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct hubod *h = self;

	turn(h, drv, orders);
	for (unsigned int i = 0; i < h->boards_n; i++)
		if (h->boards[i].comply != HUBOD_RIGID)
			return DRV_AGAIN;
	for (int i = 0; i < HUBO_JOINTS; i++)
		if (h->joints[i].driven && !h->joints[i].finger && orders->joint[i].mode == MSG_MODE_POSITION &&
		    orders->joint[i].velocity_rad_s != 0)
			return DRV_AGAIN;
	drv_event(drv, MSG_SEVERITY_INFO, "replies", "missed %llu: unsent %llu late %llu lost %llu",
		  (unsigned long long)h->missed.all, (unsigned long long)h->missed.unsent,
		  (unsigned long long)h->missed.late, (unsigned long long)h->missed.lost);
	return DRV_DONE;
}
