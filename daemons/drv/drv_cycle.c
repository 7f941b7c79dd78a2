/* drv_cycle.c: one cycle of the loop: frames that arrive, buses and lifecycle, the tick and the calls of the driver. */
#include "daemons/drv/drv_inside.h"

#define BATCH 32
#define BATCHES_MAX 128 /* in one turn; more than any bus carries in a tick */

/* ---- frames ---- */

/* The cycle it was sent in: the last one, by what the clock's channel said, in which this bus had its turn. */
static void see_clock_frame(struct drv *drv, const struct robot_bus *bus, int64_t t_ns)
{
	const uint64_t turns = (uint64_t)bus->clock_divider;
	const int64_t period_ns =
		drv->clock_period_ns ? drv->clock_period_ns : drv->tick.period_ns / drv->setup.rule.divider;
	uint64_t cycle = drv->clock_cycle;

	if (drv->clock_cycle_ns && t_ns > drv->clock_cycle_ns)
		cycle += (uint64_t)((t_ns - drv->clock_cycle_ns) / period_ns);
	drv->clock_frame_ns = t_ns;
	drv_tick_clock(&drv->tick, cycle - cycle % turns, t_ns, period_ns, t_ns);
}

static void take_frame(struct drv *drv, struct drv_bus *bus, const struct bus_frame *got)
{
	const struct drv_tick_rule *rule = &drv->setup.rule;
	const struct drv_bus_receive *row;

	if (bus->tick_wanted && got->frame.id == bus->tick_id && !(got->flags & (BUS_OWN | BUS_QUEUED))) {
		if (rule->kind == DRV_TICK_FRAME)
			drv_tick_event(&drv->tick, got->t_ns);
		else if (frame_equal(&got->frame, &drv->clock_frame))
			see_clock_frame(drv, bus->setup->robot, got->t_ns);
	}
	row = drv_bus_takes(bus, got);
	if (!row || drv_question_reply(drv, row->number, got))
		return;
	if (drv->driver->rx && drv->driver->rx(drv->self, drv, row->number, got))
		drv_complete(drv);
}

void drv_cycle_receive(struct drv *drv, struct drv_bus *bus, int64_t now_ns)
{
	struct bus_frame got[BATCH];
	struct slots_loss loss;
	int n = 1;

	for (int batch = 0; n > 0 && batch < BATCHES_MAX; batch++) {
		n = slots_bus_receive(&bus->pump, got, BATCH, now_ns);
		for (int i = 0; i < n; i++)
			take_frame(drv, bus, &got[i]);
	}
	bus->ended = n == -ENODATA;
	while (slots_lost(&bus->slots, &loss)) {
		const unsigned int send = bus->send_numbers[loss.row];

		drv_ask_lost(&drv->asks, send, &loss.frame, loss.why != SLOTS_EXPIRED && loss.why != SLOTS_REJECTED);
		if (drv->driver->lost)
			drv->driver->lost(drv->self, drv, send, &loss.frame);
	}
}

/* ---- life ---- */

static const char *death_of(const struct drv_bus *bus)
{
	const enum bus_state state = bus_state(bus->bus);

	if (!drv_bus_is_dead(bus))
		return NULL;
	if (slots_state(&bus->slots) == SLOTS_STALLED)
		return "stalled";
	if (state == BUS_ABSENT || state == BUS_STOPPED || state == BUS_OFF)
		return bus_state_name(state);
	return "down"; /* it was, and will be there in a moment */
}

/* Reports the first dead bus and its state: a stalled bus may be off next. */
static void report_buses(struct drv *drv)
{
	const struct drv_bus *dead = NULL;
	const char *how = NULL;

	for (unsigned int i = 0; i < drv->buses_n && !how && !drv->driver->outlives_buses; i++) {
		dead = &drv->buses[i];
		how = death_of(dead);
	}
	if (how && (dead != drv->bus_dead || how != drv->bus_how))
		drv_event(drv, MSG_SEVERITY_ERROR, "bus", "bus %s (%s) is %s", dead->setup->name,
			  dead->setup->interface, how);
	else if (!how && drv->bus_how)
		drv_event(drv, MSG_SEVERITY_INFO, "bus-back", "the bus is back");
	drv->bus_dead = dead;
	drv->bus_how = how;
}

/* Devices that fall silent; also for a driver that sends nothing, whose bus never stalls. */
static void report_silence(struct drv *drv, int64_t now_ns)
{
	const struct drv_bus_receive *before = drv->silent, *silent = NULL;
	char skips[DRV_SKIPS_TEXT_MAX];

	if (!drv->since_ns)
		drv->since_ns = now_ns;
	for (unsigned int i = 0; i < drv->buses_n; i++) {
		const struct drv_bus_receive *row = drv_bus_silent(&drv->buses[i], drv->since_ns, now_ns);

		silent = silent ? silent : row;
	}
	drv->silent = silent;
	if (silent && silent != before)
		drv_event(drv, MSG_SEVERITY_ERROR, "silent", "%s has been silent for %lld ms%s", silent->row.from,
			  (long long)(silent->row.silent_after_ns / 1000000), drv_skips_text(&drv->skips, skips));
	else if (!silent && before)
		drv_event(drv, MSG_SEVERITY_INFO, "heard", "%s is heard again", before->row.from);
}

/* With why it is not ready, for achstart: "not ready within 5 s: starting; this machine skipped ..." */
static void show_life(struct drv *drv, enum msg_life before, int64_t now_ns)
{
	const bool skips = !drv->ready && drv_skips_many(&drv->skips);
	char why[DRV_SKIPS_TEXT_MAX], status[DRV_SKIPS_TEXT_MAX + MSG_NAME_SIZE];

	if (drv->life == before && skips == drv->skips_shown)
		return;
	drv->skips_shown = skips;
	snprintf(status, sizeof(status), "%s%s", msg_life_word(drv->life),
		 skips ? drv_skips_text(&drv->skips, why) : "");
	notify_status(&drv->notify, now_ns, status);
}

/* After a fault the joint may be far from its ramp, and homing changes its position: the ramp begins again. */
static void live_joint(struct drv *drv, unsigned int joint, struct drv_life_now now)
{
	const enum msg_life before = drv->joint_life[joint];

	if (drv->joint_absent[joint])
		return;
	now.fault |= drv->joint_faulty[joint];
	drv->joint_life[joint] = drv_life_next(before, drv_life_event(&now), !drv->driver->ref);
	if (drv->joint_life[joint] != before && (before == MSG_LIFE_FAULT || before == MSG_LIFE_HOMING))
		drv_ref_forget(&drv->ramps[joint]);
}

static void live(struct drv *drv, int64_t now_ns)
{
	struct drv_life_now now = {
		.stop = drv->stopping,
		.up = drv->up,
		.homing = drv->homing,
		.balances = drv->setup.balance,
		.level = drv->estop.level,
	};
	enum msg_life before = drv->life;
	bool unwell;

	drv_fault_spread(drv);
	unwell = drv_fault_device(drv);
	now.fault = unwell || drv_latch_blocks(drv);
	if (drv->ref_there && drv->refs[drv->ref].header.valid_until_ns < now_ns)
		drv->ref_there = false;
	drv->stale = drv->ref_there && drv_may_move(drv) ? drv_joints_stale(drv, now_ns) : NULL;
	now.ref = drv->ref_there && !drv->stale;
	drv->life = drv_life_next(before, drv_life_event(&now), !drv->driver->ref);
	for (unsigned int i = 0; i < drv->joints_n; i++)
		live_joint(drv, i, now);
	if (drv->life != before) {
		drv_event(drv, MSG_SEVERITY_INFO, msg_life_word(drv->life), "%s", msg_life_word(drv->life));
		if (drv->seat)
			drv->seat->life = (int)drv->life;
	}
	show_life(drv, before, now_ns);
	/* A driver with a latch counts as ready: it waits for a person. */
	if (!drv->ready && (drv->latches ? drv->up || drv->latched_here : drv->up && !unwell)) {
		drv->ready = true;
		notify_ready(&drv->notify);
		if (drv->seat)
			drv->seat->ready = true;
	}
}

/* Since the last tick, by what the clock says now: ticks on references may come twice in a period.  At most a period:
 * what a late tick takes longer is not made up for.  But ticks that keep a phase, to a hundredth of a period, come
 * early after a late one, and its lateness is kept for that. */
static double elapsed_s(struct drv *drv, int64_t now_ns)
{
	const bool phase = drv->setup.rule.kind == DRV_TICK_PERIOD || drv->setup.rule.kind == DRV_TICK_CLOCK;
	const int64_t period_ns = drv->tick.period_ns, least_ns = phase ? period_ns - period_ns / 50 : period_ns;
	const int64_t passed_ns = drv->tick_now_ns ? now_ns - drv->tick_now_ns + drv->tick_kept_ns : period_ns;
	const int64_t kept_ns = passed_ns - period_ns;

	drv->tick_kept_ns = !phase || kept_ns < 0 ? 0 : kept_ns < period_ns ? kept_ns : period_ns;
	return (double)(passed_ns < least_ns ? passed_ns : period_ns) / 1e9;
}

static bool start(struct drv *drv, const struct drv_orders *orders)
{
	bool heard = true;

	if (drv->driver->start)
		return drv->driver->start(drv->self, drv, orders) == DRV_DONE;
	for (unsigned int i = 0; i < drv->buses_n; i++)
		heard &= drv_bus_heard(&drv->buses[i]);
	return heard;
}

static void be_up(struct drv *drv, const struct drv_orders *orders)
{
	drv->up = start(drv, orders);
	if (drv->up)
		drv->info_ns = 0; /* the device has said which limits it has itself */
}

static void call_driver(struct drv *drv, int64_t now_ns)
{
	const double dt_s = elapsed_s(drv, now_ns);
	const struct drv_orders orders = {
		.now_ns = now_ns,
		.tick_ns = drv->tick.last_ns,
		.dt_s = dt_s,
		.tick = drv->tick.ticks,
		.cycle = drv->clock_cycle,
		.freerun = drv_tick_freerun(&drv->tick, now_ns),
		.life = drv->life,
		.level = drv->estop.level,
		.armed = drv_armed(drv),
		.ref = drv->life == MSG_LIFE_ACTIVE && drv->ref_there ? &drv->refs[drv->ref] : NULL,
		.joint = drv->commands,
		.joint_life = drv->joint_life,
	};

	drv_joints_command(drv, dt_s, now_ns);
	if (drv->stopping)
		drv->over |= !drv->driver->stop || drv->driver->stop(drv->self, drv, &orders) == DRV_DONE;
	else if (!drv->up)
		be_up(drv, &orders);
	else if (drv->driver->tick)
		drv->driver->tick(drv->self, drv, &orders);
}

/* ---- time ---- */

void drv_cycle_tick(struct drv *drv, int64_t now_ns)
{
	for (unsigned int i = 0; i < drv->buses_n; i++)
		drv->buses[i].awaited = 0;
	report_buses(drv);
	report_silence(drv, now_ns);
	drv_read_ref(drv, now_ns);
	live(drv, now_ns);
	drv_expire_requests(drv, now_ns);
	if (drv->asked)
		drv_read_requests(drv, now_ns);
	call_driver(drv, now_ns);
	drv->tick_now_ns = now_ns;
}

static void report_no_echo(struct drv *drv)
{
	for (struct drv_bus *bus = drv->buses; bus < drv->buses + drv->buses_n; bus++) {
		if (!bus_confirms(bus->bus) && !bus->no_echo_reported)
			drv_event(drv, MSG_SEVERITY_WARNING, "no-echo",
				  "bus %s: %s has no echo of its own: nothing sent is confirmed, no stall is noticed",
				  bus->setup->name, bus->setup->interface);
		bus->no_echo_reported = !bus_confirms(bus->bus);
	}
}

void drv_cycle_end(struct drv *drv, int64_t now_ns)
{
	hist_add(&drv->late, drv->late_ns);
	drv_reopen_ports(drv, now_ns);
	drv_info_put(drv, now_ns);
	drv->asked = port_has_news(&drv->req_port); /* to be read in the next tick, behind the e-stop */
	report_no_echo(drv);
	drv_report_withheld(drv);
	drv_joints_report(drv);
	report_tick(&drv->report, drv->report.held ? clock_now_ns() : now_ns);
	for (unsigned int i = 0; i < drv->buses_n; i++)
		drv_bus_count_missing(&drv->buses[i], now_ns);
}
