/* amciod_turn.c: a tick: commands, faults, requests. */
#include <math.h>

#include "daemons/amc/amciod.h"

#define RESET_NS 200000000	/* a fault that a reset has not ended by then stays */
#define ENABLE_NS 1000000000	/* and a drive that is not enabled by then does not obey */
#define ABSENT_NS 1000000000	/* at the start the other drives do not wait for it any longer */
#define STOP_BRAKE_NS 300000000 /* when stopping: the bridge is off after that */
#define REST_RAD_S 5e-3

/* ---- is it there ---- */

static bool is_ready(const struct amciod_drive *d)
{
	return d->t_ns && (d->phase == AMCIOD_UP || (d->phase == AMCIOD_ATTACH && amciod_known(d)));
}

static bool in_fault(const struct amciod_drive *d)
{
	return d->state == CIA402_FAULT || d->state == CIA402_FAULT_REACTION;
}

/* Each drive takes its current away unless it hears from this driver: in every phase, as long as this runs. */
static void feed(struct amciod *a, struct drv *drv, const struct drv_orders *orders)
{
	const struct amciod_settings *s = &a->settings;
	struct frame frame;

	for (unsigned int i = 0; i < drv_buses(drv); i++) {
		struct amciod_bus *b = &a->buses[i];

		if (b->fed_ns && orders->tick_ns - b->fed_ns < s->heartbeat_ns - (int64_t)(orders->dt_s * 5e8))
			continue;
		b->fed_ns = orders->tick_ns;
		if (s->guard == AMCIOD_GUARD_HEARTBEAT) {
			nmt_heartbeat(&frame, (unsigned int)s->host_node, NMT_OPERATIONAL);
			drv_send(drv, b->send_heartbeat, &frame);
			continue;
		}
		for (unsigned int k = 0; k < a->n; k++) {
			if (a->drives[k].bus != i)
				continue;
			nmt_guard(&frame, a->drives[k].node);
			drv_send(drv, a->drives[k].send_guard, &frame);
		}
	}
}

/* ---- commands ---- */

static uint32_t mode_for(const struct amciod *a, const struct drv_ref_command *command)
{
	switch (command->mode) {
	case MSG_MODE_CURRENT:
		return AMC_MODE_CURRENT;
	case MSG_MODE_POSITION:
		if (a->settings.position_by == AMCIOD_POSITION_BY_DRIVE)
			return AMC_MODE_POSITION;
		break;
	case MSG_MODE_VELOCITY:
	case MSG_MODE_NONE:
	case MSG_MODE_COMPLIANT: /* refused */
		break;
	}
	return AMC_MODE_VELOCITY;
}

static void put(struct amciod_drive *d, struct drv *drv, enum cia402_goal goal, double value, bool stops)
{
	const unsigned int row = d->mode == AMC_MODE_POSITION ? 0 : d->mode == AMC_MODE_VELOCITY ? 1 : 2;
	static const enum amc_mode modes[] = { AMC_MODE_POSITION, AMC_MODE_VELOCITY, AMC_MODE_CURRENT };
	const uint32_t id = amciod_pdo_id(d->node) + row;
	/* One rising edge for each reset, then the bit stays. */
	const bool edge_done =
		goal == CIA402_TO_RESET && d->controlword & CIA402_FAULT_RESET && d->state == CIA402_FAULT;
	struct frame frame;

	if (!edge_done)
		d->controlword = cia402_controlword(d->state, goal, d->controlword);
	if (amc_encode(&frame, id, modes[row], d->controlword, value, &d->scale))
		return;
	for (unsigned int i = 0; i < 3; i++)
		if (i != row)
			drv_cancel(drv, d->send_rpdo[i]);
	if (stops)
		drv_send_stop(drv, d->send_rpdo[row], &frame);
	else
		drv_send(drv, d->send_rpdo[row], &frame);
}

/* The value by which it stays as it is. */
static double neutral(const struct amciod_drive *d)
{
	return d->mode == AMC_MODE_POSITION ? d->got.position_rad : 0;
}

static double value_of(const struct amciod *a, const struct amciod_drive *d, const struct drv_ref_command *command)
{
	if (d->mode == AMC_MODE_CURRENT)
		return command->current_a;
	if (d->mode == AMC_MODE_POSITION)
		return command->position_rad;
	return a->settings.position_by == AMCIOD_POSITION_BY_VELOCITY ? command->track_rad_s : command->velocity_rad_s;
}

/* Taken over with its current, which it keeps until a reference comes, or until its guard would have cut it. */
static bool keeps_current(const struct amciod *a, const struct amciod_drive *d, const struct drv_orders *orders)
{
	return d->attached && !d->followed && d->state == CIA402_ENABLED && orders->level < MSG_LEVEL_ESTOP &&
	       !a->stop_ns && orders->now_ns < a->hold_ns && (!d->mode || d->mode == AMC_MODE_CURRENT);
}

static enum cia402_goal goal_of(const struct amciod *a, const struct amciod_drive *d, const struct drv_orders *orders)
{
	if (d->reset_ns)
		return CIA402_TO_RESET;
	if (d->power_lost || d->mode_wanted)
		return d->state == CIA402_ENABLED && !d->power_lost ? CIA402_TO_ENABLED : CIA402_TO_READY;
	if (orders->level < MSG_LEVEL_ESTOP)
		return CIA402_TO_ENABLED;
	/* Holding a position does not stop it. */
	if (a->settings.on_estop == AMCIOD_ACTION_DISABLE &&
	    (orders->now_ns - a->estop_ns >= a->settings.disable_ns || d->mode == AMC_MODE_POSITION))
		return CIA402_TO_READY;
	return d->state == CIA402_ENABLED ? CIA402_TO_ENABLED : CIA402_TO_READY;
}

/* joint: NULL before the device is up. */
static void command(struct amciod *a, struct drv *drv, struct amciod_drive *d, const struct drv_orders *orders,
		    const struct drv_ref_command *joint)
{
	const unsigned int i = (unsigned int)(d - a->drives);
	const bool follows = joint && !joint->stops && orders->level < MSG_LEVEL_ESTOP;
	enum cia402_goal goal;

	d->followed |= follows && is_ready(d);
	if (keeps_current(a, d, orders) && !(follows && is_ready(d))) {
		drv_not_driven(drv, i, false);
		return;
	}
	if (joint && is_ready(d) && orders->level < MSG_LEVEL_ESTOP && !d->mode_wanted && mode_for(a, joint) != d->mode)
		d->mode_wanted = mode_for(a, joint);
	goal = goal_of(a, d, orders);
	if (joint && is_ready(d) && !d->mode_wanted && d->state == CIA402_ENABLED && goal == CIA402_TO_ENABLED &&
	    orders->level < MSG_LEVEL_ESTOP) {
		put(d, drv, goal, value_of(a, d, joint), joint->stops);
		return;
	}
	drv_not_driven(drv, i, true);
	/* A drive that is not known is sent something only to end what an earlier command may have begun. */
	if (is_ready(d) || d->controlword || d->state == CIA402_ENABLED)
		put(d, drv,
		    is_ready(d)			 ? goal
		    : d->state == CIA402_ENABLED ? CIA402_TO_ENABLED
						 : CIA402_TO_OFF,
		    neutral(d), true);
}

/* ---- faults ---- */

static bool by_absence(const struct amciod_drive *d)
{
	return d->error_known && ((uint16_t)d->error == EMCY_HEARTBEAT || (uint16_t)d->error == EMCY_RPDO_LATE);
}

static void reset(struct amciod_drive *d, int64_t now_ns)
{
	d->reset_ns = now_ns;
	d->reset_failed = false;
}

static void watch_fault(struct amciod_drive *d, struct drv *drv, int64_t now_ns)
{
	char code[AMCIOD_CODE_MAX];

	if (!in_fault(d)) {
		if (d->reset_ns || d->state == CIA402_ENABLED)
			d->error_known = false;
		d->reset_ns = 0;
		d->reset_failed = false;
		return;
	}
	if (d->reset_ns && now_ns - d->reset_ns > RESET_NS) {
		d->reset_ns = 0;
		d->reset_failed = true;
	}
	if (!d->reset_ns && d->excused && by_absence(d) && is_ready(d)) {
		d->excused = false;
		reset(d, now_ns);
		snprintf(code, sizeof(code), "guard-cleared-%02X", d->node);
		drv_event(drv, MSG_SEVERITY_INFO, code,
			  "drive 0x%02X %s: its guard ran out while this driver was away; it is reset once", d->node,
			  d->name);
	}
}

static void report(struct amciod *a, struct drv *drv, struct amciod_drive *d, const char *code, bool wrong,
		   const char *text)
{
	char full[AMCIOD_CODE_MAX];

	snprintf(full, sizeof(full), "%s-%02X", code, d->node);
	if (wrong)
		drv_fault(drv, (unsigned int)(d - a->drives), full, "drive 0x%02X %s: %s", d->node, d->name, text);
	else
		drv_fault_clear(drv, (unsigned int)(d - a->drives), full);
}

static void report_drive(struct amciod *a, struct drv *drv, struct amciod_drive *d, const struct drv_orders *orders)
{
	const bool silent = amciod_silent(d, orders->now_ns), there = is_ready(d) && !silent;
	const bool late = there && d->enabling_ns && orders->now_ns - d->enabling_ns > ENABLE_NS;
	char text[MSG_TEXT_SIZE];

	watch_fault(d, drv, orders->now_ns);
	snprintf(text, sizeof(text), "in fault%s: %s; %s", d->enabling_ns ? " although it is enabled" : "",
		 d->error_known ? emcy_words((uint16_t)d->error) : "cause unknown",
		 d->reset_failed ? "a reset did not help" : "the request clear resets it");
	report(a, drv, d, "fault", there && in_fault(d) && !d->reset_ns && !(d->excused && !d->error_known), text);
	snprintf(text, sizeof(text), "stays in state %s although it was enabled", cia402_words(d->state));
	report(a, drv, d, "not-enabled", late && !in_fault(d), text);
	report(a, drv, d, "power-lost", d->power_lost,
	       "lost its power while armed; the request clear, or disarming, lets it go on");
	snprintf(text, sizeof(text), "silent: %s; NMT state %s",
		 d->phase == AMCIOD_SEEK ? "it does not answer" : "it sends no samples, is there a SYNC?",
		 d->nmt.heard_ns ? nmt_words(d->nmt.state) : "unknown");
	report(a, drv, d, "silent", silent || (!d->t_ns && orders->now_ns - d->phase_ns > ABSENT_NS / 2), text);
}

/* ---- requests ---- */

/* What is read now and then, in words. */
static int get(const struct amciod *a, struct drv *drv, const char *key)
{
	char text[MSG_TEXT_SIZE];
	struct text_out out = text_out(text, sizeof(text));
	const bool voltage = !strcmp(key, "voltage");

	if (!voltage && strcmp(key, "protection") != 0)
		return drv_refuse(drv, -ENOENT, "no such value; there are voltage, protection and the settings");
	for (unsigned int i = 0; i < a->n; i++) {
		const struct amciod_drive *d = &a->drives[i];

		if (voltage)
			text_add(&out, "%s%s %.1f V", i ? ", " : "", d->name,
				 amc_voltage_v((uint16_t)d->slow[0], d->kov));
		else
			text_add(&out, "%s%s drive %04X system %04X status %04X", i ? ", " : "", d->name, d->slow[1],
				 d->slow[2], d->slow[3]);
	}
	drv_why(drv, "%s", text);
	return 0;
}

int amciod_request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns)
{
	struct amciod *a = self;
	bool known = !*request->key, any = false;

	if (request->verb == MSG_VERB_GET)
		return get(a, drv, request->key);

	for (unsigned int i = 0; i < a->n; i++) {
		struct amciod_drive *d = &a->drives[i];

		if (*request->key && strncmp(request->key, d->name, sizeof(request->key)) != 0)
			continue;
		known = true;
		d->power_lost = false;
		if (in_fault(d)) {
			reset(d, now_ns);
			any = true;
		}
	}
	if (!known)
		return drv_refuse(drv, -ENOENT, "no such joint; the key is a joint, or empty for all");
	if (!any) {
		drv_unlatch(drv, drv_latched(drv));
		return 0;
	}
	a->clear = handle;
	a->clearing = true;
	return DRV_LATER;
}

static void answer_clear(struct amciod *a, struct drv *drv)
{
	const struct amciod_drive *stays = NULL;

	if (!a->clearing)
		return;
	for (unsigned int i = 0; i < a->n; i++) {
		if (a->drives[i].reset_ns)
			return;
		if (in_fault(&a->drives[i]))
			stays = &a->drives[i];
	}
	a->clearing = false;
	if (stays) {
		drv_reply(drv, a->clear, -EIO, "drive 0x%02X stays in fault: %s", stays->node,
			  emcy_words((uint16_t)stays->error));
		return;
	}
	drv_unlatch(drv, drv_latched(drv));
	drv_reply(drv, a->clear, 0, "no drive is in fault");
}

/* ---- a tick ---- */

static void begin(struct amciod *a, const struct drv *drv, const struct drv_orders *orders)
{
	const struct msg_joint_state *last = drv_previous(drv);

	if (a->begun)
		return;
	a->begun = true;
	a->hold_ns = last ? last->header.t_publish_ns + a->settings.guard_ns : 0;
	for (unsigned int i = 0; i < a->n; i++) {
		a->drives[i].excused = a->drives[i].attached = true; /* until it is found otherwise */
		amciod_seek(&a->drives[i], orders->now_ns);
	}
}

static void turn(struct amciod *a, struct drv *drv, const struct drv_orders *orders, bool commanded)
{
	begin(a, drv, orders);
	if (orders->level < MSG_LEVEL_ESTOP)
		a->estop_ns = 0;
	else if (!a->estop_ns)
		a->estop_ns = orders->now_ns;
	for (unsigned int i = 0; i < a->n; i++) {
		struct amciod_drive *d = &a->drives[i];
		const struct amciod_bus *b = &a->buses[d->bus];

		d->fresh = 0;
		/* It was not fed: stopped, or the bus was down. */
		if (b->heard_fed_ns && orders->now_ns - b->heard_fed_ns > a->settings.guard_ns / 2)
			d->excused = true;
		d->power_lost &= orders->level < MSG_LEVEL_ESTOP;
		command(a, drv, d, orders, commanded ? &orders->joint[i] : NULL);
		if (d->state == CIA402_ENABLED || d->controlword != CIA402_ENABLE)
			d->enabling_ns = goal_of(a, d, orders) == CIA402_TO_ENABLED && d->state != CIA402_ENABLED
						 ? (d->enabling_ns ? d->enabling_ns : orders->now_ns)
						 : 0;
	}
	drv_hand_over(drv); /* commands before what may follow */
	feed(a, drv, orders);
	for (unsigned int i = 0; i < a->n; i++) {
		a->drives[i].paused_ns = drv_paused_ns(drv, a->drives[i].bus, a->drives[i].t_ns);
		amciod_setup(a, drv, &a->drives[i], orders);
		report_drive(a, drv, &a->drives[i], orders);
	}
	answer_clear(a, drv);
}

/* A drive that is missing is waited for, but not for ever: it must not keep the others from working. */
enum drv_step amciod_start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct amciod *a = self;
	unsigned int ready = 0, waited = 0;

	turn(a, drv, orders, false);
	for (unsigned int i = 0; i < a->n; i++) {
		ready += is_ready(&a->drives[i]);
		waited += !is_ready(&a->drives[i]) && !a->drives[i].failures &&
			  orders->now_ns - a->drives[i].phase_ns < ABSENT_NS;
	}
	return ready && !waited ? DRV_DONE : DRV_AGAIN;
}

void amciod_tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	turn(self, drv, orders, true);
}

enum drv_step amciod_stop(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct amciod *a = self;
	struct drv_orders off = *orders;
	bool moves = false, enabled = false;

	if (!a->stop_ns)
		a->stop_ns = orders->now_ns;
	for (unsigned int i = 0; i < a->n; i++) {
		moves |= a->drives[i].mode == AMC_MODE_VELOCITY && fabs(orders->joint[i].track_rad_s) > REST_RAD_S;
		enabled |= is_ready(&a->drives[i]) && a->drives[i].state == CIA402_ENABLED;
	}
	if (!moves || orders->level >= MSG_LEVEL_ESTOP || orders->now_ns - a->stop_ns > STOP_BRAKE_NS) {
		off.level = MSG_LEVEL_ESTOP;
		a->estop_ns = orders->now_ns - a->settings.disable_ns - 1;
	}
	turn(a, drv, &off, true);
	return enabled ? DRV_AGAIN : DRV_DONE;
}
