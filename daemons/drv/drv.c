/* drv.c: the one loop that every driver runs; see drv.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "channels/clock.h"
#include "daemons/drv/drv_inside.h"

#define BATCH 32
#define BATCHES_MAX 128 /* in one turn; more than any bus carries in a tick */
#define LOOK_NS 1000000000
#define STOP_NS 500000000
#define STREAM_TICKS 10
#define FROZEN_NS 50000000 /* so long without a tick that was due: what was commanded before counts no more */

/* ---- publication ---- */

uint32_t drv_flags(const struct drv *drv, bool partial, int64_t now_ns)
{
	uint32_t flags = partial ? MSG_FLAG_PARTIAL : 0;

	if (drv->life == MSG_LIFE_HOLDING)
		flags |= MSG_FLAG_HELD;
	if (drv_tick_freerun(&drv->tick, now_ns))
		flags |= MSG_FLAG_FREERUN;
	for (unsigned int i = 0; i < drv->lines_n; i++) {
		if (!strncmp(drv->lines[i].setup->interface, "log:", 4))
			flags |= MSG_FLAG_REPLAYED;
		else if (!drv->lines[i].real)
			flags |= MSG_FLAG_SIMULATED;
	}
	return flags;
}

/* For its successor, and for achstart, which waits until every driver obeys a lowering. */
void drv_fill_kept(const struct drv *drv, struct msg_common *common)
{
	const struct estop_kept kept = estop_kept(&drv->estop);

	memcpy(common->boot, drv->estop.boot, sizeof(common->boot));
	common->base_chan = kept.chan;
	common->base_seq = kept.base;
	common->base_level = kept.level;
	common->latches = drv_latch_word(drv);
}

void drv_fill_common(struct drv *drv, struct msg_common *common, int64_t now_ns)
{
	if (now_ns >= drv->late_p99_at_ns) {
		drv->late_p99_ns = hist_quantile(&drv->late, 0.99);
		drv->late_p99_at_ns = now_ns + LOOK_NS;
	}
	common->lifecycle = drv->life;
	common->level = drv->estop.level;
	common->epoch = drv->estop.epoch;
	drv_fill_kept(drv, common);
	common->period_ns = drv_period_ns(drv);
	common->ticks = drv->ticks;
	common->skipped = drv->tick.skipped;
	common->late_p99_ns = drv->late_p99_ns;
	common->late_max_ns = drv->late.max_ns;
	common->put_timeouts = drv->state_port.puts_failed;
	common->frames_withheld = drv->withheld;
	common->frames_odd = common->frames_missing = 0;
	for (unsigned int i = 0; i < drv->lines_n; i++) {
		common->frames_odd += drv->lines[i].odd;
		common->frames_missing += drv->lines[i].missing;
		drv_bus_fill(&drv->lines[i], &common->bus[i]);
	}
}

/* Puts the state that was made; that may take as long as another writer holds the channel. */
static void post(struct drv *drv)
{
	if (drv->outbox_full && port_put(&drv->state_port, &drv->outbox))
		drv_latch_published(drv);
	drv->outbox_full = false;
}

/* Makes the state; it is put when the frames of this turn are with the buses. */
static void publish(struct drv *drv, bool partial, int64_t now_ns)
{
	struct msg_header *header = &drv->state.header;
	const int64_t sample_ns = drv->driver->fill(drv->self, drv, &drv->state, now_ns);

	drv_fill_common(drv, &drv->state.state.common, now_ns);
	for (unsigned int i = 0; i < drv->joints_n && drv->driver->state == msg_joint_state_number; i++)
		drv->state.joints.lifecycle[i] = drv->life == MSG_LIFE_DOWN ? MSG_LIFE_DOWN : drv->joint_life[i];
	header->flags = drv_flags(drv, partial, now_ns);
	header->t_sample_ns = sample_ns;
	header->t_publish_ns = now_ns;
	post(drv);
	drv->outbox = drv->state;
	drv->outbox_full = drv->published = true;
	drv->published_ns = now_ns;
	drv->published_life = drv->life;
	drv->published_level = drv->estop.level;
}

void drv_publish(struct drv *drv)
{
	publish(drv, false, clock_now_ns());
}

/* Nothing was published in this tick: is that to be made up for?  A stream says what changed, and that it lives. */
static bool owes_state(const struct drv *drv, int64_t now_ns)
{
	return !drv->driver->streams || drv->life != drv->published_life || drv->estop.level != drv->published_level ||
	       now_ns - drv->published_ns >= STREAM_TICKS * drv->tick.period_ns;
}

/* ---- what arrives ---- */

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

static void take_frame(struct drv *drv, unsigned int l, const struct bus_frame *got)
{
	struct drv_bus *line = &drv->lines[l];
	const struct drv_tick_rule *rule = &drv->setup.rule;
	const struct drv_bus_receive *row;

	if (line->tick_wanted && got->frame.id == line->tick_id && !(got->flags & (BUS_OWN | BUS_QUEUED))) {
		if (rule->kind == DRV_TICK_FRAME)
			drv_tick_event(&drv->tick, got->t_ns);
		else if (frame_equal(&got->frame, &drv->clock_frame))
			see_clock_frame(drv, line->setup->robot, got->t_ns);
	}
	row = drv_bus_takes(line, got);
	if (!row || drv_question_reply(drv, row->number, got))
		return;
	if (drv->driver->rx && drv->driver->rx(drv->self, drv, row->number, got))
		drv->complete = true;
}

static void receive(struct drv *drv, unsigned int l, int64_t now_ns)
{
	struct drv_bus *line = &drv->lines[l];
	struct bus_frame got[BATCH];
	struct slots_loss loss;
	int n = 1;

	for (int batch = 0; n > 0 && batch < BATCHES_MAX; batch++) {
		n = slots_bus_receive(&line->pump, got, BATCH, now_ns);
		for (int i = 0; i < n; i++)
			take_frame(drv, l, &got[i]);
	}
	line->ended = n == -ENODATA;
	while (slots_lost(&line->slots, &loss)) {
		drv_question_lost(drv, line->send_numbers[loss.row], &loss);
		if (drv->driver->lost)
			drv->driver->lost(drv->self, drv, line->send_numbers[loss.row], &loss.frame);
	}
}

/* ---- life ---- */

static const char *death_of(const struct drv_bus *line)
{
	if (!drv_bus_is_dead(line))
		return NULL;
	if (slots_state(&line->slots) == SLOTS_STALLED)
		return "stalled";
	switch (bus_state(line->bus)) {
	case BUS_ABSENT:
	case BUS_STOPPED:
	case BUS_OFF:
		return bus_state_name(bus_state(line->bus));
	default:
		return "down"; /* it was, and will be there in a moment */
	}
}

/* The first one that is dead is told, and how: one that stalls may be off next. */
static void watch_buses(struct drv *drv)
{
	const struct drv_bus *dead = NULL;
	const char *how = NULL;

	for (unsigned int i = 0; i < drv->lines_n && !how && !drv->driver->outlives_buses; i++) {
		dead = &drv->lines[i];
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

/* A device that should be heard and is not: also of a driver that sends nothing, for which no bus stalls. */
static void watch_silence(struct drv *drv, int64_t now_ns)
{
	const struct drv_bus_receive *before = drv->silent, *silent = NULL;

	if (!drv->since_ns)
		drv->since_ns = now_ns;
	for (unsigned int i = 0; i < drv->lines_n; i++) {
		const struct drv_bus_receive *row = drv_bus_silent(&drv->lines[i], drv->since_ns, now_ns);

		silent = silent ? silent : row;
	}
	drv->silent = silent;
	if (silent && silent != before)
		drv_event(drv, MSG_SEVERITY_ERROR, "silent", "%s has been silent for %lld ms", silent->row.from,
			  (long long)(silent->row.silent_after_ns / 1000000));
	else if (!silent && before)
		drv_event(drv, MSG_SEVERITY_INFO, "heard", "%s is heard again", before->row.from);
}

/* After a fault the joint may be far from its ramp, and homing changes its position: the ramp begins again. */
static void live_joint(struct drv *drv, unsigned int joint, struct drv_life_now now)
{
	const enum msg_life before = drv->joint_life[joint];

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
		notify_status(&drv->notify, now_ns, msg_life_word(drv->life));
	}
	/* What waits for a person is not broken. */
	if (!drv->ready && (drv->latches ? drv->up || drv->latched_here : drv->up && !unwell)) {
		drv->ready = true;
		notify_ready(&drv->notify);
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
	if (drv->driver->start)
		return drv->driver->start(drv->self, drv, orders) == DRV_DONE;
	for (unsigned int i = 0; i < drv->lines_n; i++)
		if (!drv_bus_heard(&drv->lines[i]))
			return false;
	return true;
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
		drv->up = start(drv, &orders);
	else if (drv->driver->tick)
		drv->driver->tick(drv->self, drv, &orders);
}

/* ---- time ---- */

static void tick(struct drv *drv, int64_t now_ns)
{
	if (!drv->published && owes_state(drv, now_ns))
		publish(drv, true, now_ns);
	drv->published = drv->complete = false;
	drv->ticks = drv->tick.ticks;
	if (!drv->hurry) /* else that has called us: a second look would end what acts once */
		drv_read_estop(drv, now_ns);
	watch_buses(drv);
	watch_silence(drv, now_ns);
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
	for (struct drv_bus *line = drv->lines; line < drv->lines + drv->lines_n; line++) {
		if (!bus_confirms(line->bus) && !line->no_echo_told)
			drv_event(drv, MSG_SEVERITY_WARNING, "no-echo",
				  "bus %s: %s has no echo of its own: nothing sent is confirmed, no stall is noticed",
				  line->setup->name, line->setup->interface);
		line->no_echo_told = !bus_confirms(line->bus);
	}
}

/* What can wait until everything is sent. */
static void keep_house(struct drv *drv, int64_t now_ns)
{
	hist_add(&drv->late, drv->late_ns);
	drv_look_at_ports(drv, now_ns);
	drv->asked = port_has_news(&drv->req_port); /* to be read in the next tick, behind the e-stop */
	report_no_echo(drv);
	drv_report_withheld(drv);
	drv_joints_report(drv);
	report_look(&drv->report, clock_now_ns());
	for (unsigned int i = 0; i < drv->lines_n; i++)
		drv_bus_count_missing(&drv->lines[i], now_ns);
}

/* ---- the loop ---- */

static void read_signals(struct drv *drv, int64_t now_ns)
{
	struct signalfd_siginfo info;

	if (read(drv->signals, &info, sizeof(info)) != sizeof(info) || drv->stopping)
		return;
	drv->stopping = true;
	drv->stop_by_ns = now_ns + STOP_NS;
	notify_stopping(&drv->notify);
}

static bool all_sent(struct drv *drv)
{
	for (unsigned int i = 0; i < drv->lines_n; i++)
		if (slots_waiting(&drv->lines[i].slots) || slots_in_flight(&drv->lines[i].slots))
			return false;
	return true;
}

static bool all_ended(const struct drv *drv)
{
	for (unsigned int i = 0; i < drv->lines_n; i++)
		if (!drv->lines[i].ended)
			return false;
	return drv->lines_n > 0;
}

static bool moves_something(const struct drv *drv)
{
	for (unsigned int i = 0; i < drv->lines_n; i++)
		if (drv->lines[i].moves)
			return true;
	return drv->driver->ref;
}

/* A driver with long ticks obeys as soon as the others; one that moves nothing, as the clock, keeps its pace. */
static void watch_estop(struct drv *drv, int64_t now_ns)
{
	if (now_ns - drv->estop_ns < ESTOP_LOOK_NS)
		return;
	drv->hurry = drv_read_estop(drv, now_ns) && moves_something(drv);
	if (drv->hurry)
		tick(drv, now_ns);
}

/* What goes out, frames first: the others may have to wait for somebody who holds a channel. */
static void send_all(struct drv *drv)
{
	drv_hand_over(drv);
	post(drv);
	drv_put_replies(drv);
	report_release(&drv->report, clock_now_ns());
}

static bool tick_if_due(struct drv *drv, int64_t now_ns)
{
	uint64_t skipped;

	if (drv_tick_next_ns(&drv->tick) <= now_ns)
		drv_read_clock(drv, now_ns);
	if (!drv_tick_due(&drv->tick, now_ns, &drv->late_ns, &skipped))
		return false;
	if (skipped && drv->tick_now_ns && now_ns - drv->tick_now_ns >= FROZEN_NS)
		drv_joints_freeze(drv, now_ns);
	tick(drv, now_ns);
	return true;
}

static void wake_driver(struct drv *drv, int64_t now_ns)
{
	if (now_ns < drv->wake_ns)
		return;
	drv->wake_ns = CLOCK_NEVER;
	if (drv->driver->wake)
		drv->driver->wake(drv->self, drv, now_ns);
}

static bool turn(struct drv *drv)
{
	const int64_t now_ns = clock_now_ns();
	bool ticked;

	drv->now_ns = now_ns;
	report_hold(&drv->report);
	for (unsigned int i = 0; i < drv->lines_n; i++)
		if (!drv->lines[i].quiet || bus_next_ns(drv->lines[i].bus) <= now_ns)
			receive(drv, i, now_ns);
	drv_question_due(drv, now_ns);
	if (drv->complete && !drv->published)
		publish(drv, false, now_ns);
	drv->hurry = false;
	ticked = tick_if_due(drv, now_ns);
	if (!ticked)
		watch_estop(drv, now_ns);
	wake_driver(drv, now_ns);
	send_all(drv);
	if ((drv->complete || drv->hurry) && !drv->published) {
		publish(drv, !drv->complete, now_ns);
		post(drv);
	}
	drv_quiet_bell(drv);
	if (ticked || drv->estop_ns == now_ns || drv->removed)
		estop_tend(&drv->estop, now_ns);
	if (ticked)
		keep_house(drv, now_ns);
	notify_watchdog(&drv->notify, now_ns);
	if (drv->stopping)
		return !(drv->over && all_sent(drv)) && now_ns < drv->stop_by_ns;
	return !all_ended(drv);
}

static int64_t next_ns(struct drv *drv)
{
	int64_t next = drv_tick_next_ns(&drv->tick);

	if (drv->wake_ns < next)
		next = drv->wake_ns;
	if (drv->estop_ns + ESTOP_LOOK_NS < next)
		next = drv->estop_ns + ESTOP_LOOK_NS;
	if (drv_ask_next_ns(&drv->asks) < next)
		next = drv_ask_next_ns(&drv->asks);
	for (unsigned int i = 0; i < drv->lines_n; i++) {
		const int64_t line_ns = slots_bus_next_ns(&drv->lines[i].pump);

		if (line_ns < next)
			next = line_ns;
	}
	return next;
}

static void wake(struct drv *drv, uint32_t by)
{
	if (by == DRV_WAKE_SIGNAL)
		read_signals(drv, clock_now_ns());
	else if (by == DRV_WAKE_BELL)
		drv->rung = true;
	else if (by == DRV_WAKE_REMOVAL)
		drv->removed = removal_read(&drv->removal);
	else
		drv->lines[by - DRV_WAKE_LINE].quiet = false;
}

static int loop(struct drv *drv)
{
	uint32_t by[DRV_WAKE_LINE + MSG_BUSES];

	while (turn(drv)) {
		const int n = clock_set_wait(drv->set, by, DRV_WAKE_LINE + MSG_BUSES, next_ns(drv));

		if (n < 0)
			return n;
		drv->rung = drv->removed = false;
		for (unsigned int i = 0; i < drv->lines_n; i++)
			drv->lines[i].quiet = bus_fd(drv->lines[i].bus) >= 0;
		for (int i = 0; i < n; i++)
			wake(drv, by[i]);
		if (drv->rung)
			drv_answer_bell(drv);
	}
	report_end(&drv->report, clock_now_ns());
	drv->life = MSG_LIFE_DOWN;
	publish(drv, true, clock_now_ns());
	post(drv);
	return 0;
}

/* ---- the program ---- */

/* Without a robot file there are no limits: fit for a soft bus or a recording. */
static int check_limits(const struct drv *drv, struct error_sink *errors)
{
	for (unsigned int i = 0; i < drv->lines_n && drv->joints_n && drv->driver->ref && !drv->setup.device; i++) {
		if (!drv->lines[i].real)
			continue;
		error_add(errors,
			  "no limits for joint %s on %s: write limits: in a robot file, and give it with --config",
			  drv->joints[0], drv->lines[i].setup->interface);
		return EXIT_WRONG;
	}
	return 0;
}

static int run(struct drv *drv, struct error_sink *errors)
{
	int status;

	signal(SIGPIPE, SIG_IGN); /* whoever read stderr may be gone */
	status = drv_open(drv, errors);
	if (!status)
		status = check_limits(drv, errors);
	if (status)
		return status;
	drv->life = MSG_LIFE_STARTING;
	for (unsigned int i = 0; i < drv->joints_n; i++)
		drv->joint_life[i] = drv->life;
	drv->wake_ns = CLOCK_NEVER;
	drv_tick_start(&drv->tick, &drv->setup.rule, clock_now_ns());
	status = loop(drv);
	if (status)
		error_add(errors, "unable to wait: %s", strerror(-status));
	return status ? EXIT_WORLD : 0;
}

static int declare_and_run(struct drv *drv, struct error_sink *errors)
{
	int status = EXIT_WORLD;

	drv->lines = calloc(drv->setup.buses_n + 1, sizeof(*drv->lines)); /* there may be none */
	if (drv->lines)
		status = drv_declare(drv, errors);
	else
		error_add(errors, "%s", strerror(ENOMEM));
	if (!status && drv_joints_check(drv, errors))
		status = EXIT_WRONG;
	if (!status && drv->setup.frames)
		drv_frames_print(drv);
	else if (!status && !drv->setup.check)
		status = run(drv, errors);
	return status;
}

int drv_main(const struct drv_driver *driver, int argc, char **argv)
{
	struct drv *drv = calloc(1, sizeof(*drv));
	struct error_who who = { driver->program, NULL, ERROR_FATAL };
	struct error_sink errors = { error_to_stderr, &who, 0 };
	int status;

	if (!drv) {
		error_add(&errors, "%s", strerror(ENOMEM));
		return EXIT_WORLD;
	}
	status = setup_read(&drv->setup, driver, argc, argv);
	if (status == SETUP_GO) {
		who.instance = drv->setup.name;
		drv->driver = driver;
		drv->self = drv->setup.self;
		status = declare_and_run(drv, &errors);
	}
	drv_close(drv);
	free(drv);
	return status;
}
