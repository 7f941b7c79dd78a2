/* hubod_turn.c: a cycle: references first, then requests for encoders, sensors, one status and one current on each bus.
 *
 * Slots keep that order whatever the identifiers are: references stand in a class before requests.  Requests have the
 * higher priority on the wire, but the first of them is handed over after the last reference.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "channels/clock.h"
#include "daemons/hubo-daemon/hubod.h"

#define READY_CYCLES 3 /* kept in a row, of each board */
#define ENABLE_CYCLES 50
#define STOP_CYCLES 10		 /* fingers are ordered to stop: one such frame may be lost */
#define START_WAIT_NS 1000000000 /* a board that did not reply for so long is left out of the start */

static unsigned int first_joint(const struct hubod *h, const struct hubod_board *b)
{
	for (int m = 0; m < b->table->motors; m++)
		if (b->table->joint[m] != HUBO_NONE && h->joints[b->table->joint[m]].active)
			return (unsigned int)b->table->joint[m];
	return DRV_ALL;
}

/* ---- commands ---- */

int hubod_command(struct hubod *h, struct drv *drv, unsigned int board, enum jmc_command command, unsigned int motor,
		  const int32_t *values)
{
	struct hubod_board *b = &h->boards[board];
	struct frame frame;
	const int status = jmc_encode(&frame, (unsigned int)b->table->number, command, motor, values);
	const bool moves = command == JMC_HOME || command == JMC_CONTROL_ON || (command == JMC_FET && values[0]);

	return status ? status : drv_send(drv, moves ? b->home : b->command, &frame);
}

void hubod_enable(struct hubod *h, struct drv *drv, unsigned int board)
{
	const int32_t on = 1;

	hubod_command(h, drv, board, JMC_FET, 0, &on);
	hubod_command(h, drv, board, JMC_CONTROL_ON, 0, NULL);
	h->boards[board].is_on = true; /* until its next status: a second time would end a homing */
	for (int i = 0; i < HUBO_JOINTS; i++)
		h->joints[i].on |= h->joints[i].active && h->joints[i].board == board;
	hubod_set_off(h, drv, &h->boards[board], false);
}

/* Most often it was without power, and has forgotten its zeros: to switch it on again is for a person to ask. */
void hubod_set_off(struct hubod *h, struct drv *drv, struct hubod_board *board, bool off)
{
	const unsigned int joint = first_joint(h, board);

	if (off && !board->off)
		drv_fault(drv, joint, "off", "%s (%s ...) is off: home it, or activate it if its zero is right",
			  board->table->name, hubo_joint_name((int)joint));
	else if (!off && board->off)
		drv_well(drv, joint, "off");
	board->off = off;
}

/* Boards that say they are off; each ENABLE_CYCLES, since the next status has to come first. */
static void enable_boards(struct hubod *h, struct drv *drv)
{
	if (!h->settings.enable || !drv_may_move(drv) || h->home.on || h->cycle.now % ENABLE_CYCLES)
		return;
	for (unsigned int i = 0; i < h->boards_n; i++)
		if (h->boards[i].active && h->boards[i].status_known && !h->boards[i].is_on && !h->boards[i].off &&
		    !h->boards[i].silent)
			hubod_enable(h, drv, i);
}

void hubod_quiet(struct hubod *h, int64_t until_ns)
{
	if (h->quiet_until_ns < until_ns)
		h->quiet_until_ns = until_ns;
}

/* ---- references ---- */

/* Where the joint is to be at the end of this cycle; NaN: that cannot be said.  A velocity goes on from the last
 * position that was sent; a joint that brakes by itself, or that would be compliant but is not, gets that one again. */
static double target_rad(const struct hubod_joint *j, const struct drv_ref_command *c, double dt_s)
{
	if (c->mode == MSG_MODE_POSITION)
		return c->position_rad;
	return (j->driven ? j->sent_rad : j->position_rad) +
	       (c->mode == MSG_MODE_VELOCITY ? c->velocity_rad_s * dt_s : 0);
}

/* The value of a motor in its board's frame; false: there is none. */
static bool motor_value(struct hubod *h, struct hubod_board *b, unsigned int motor, const struct drv_orders *orders,
			const struct drv *drv, int32_t *value)
{
	const int joint = b->table->joint[motor];
	const struct drv_ref_command *c;
	struct hubod_joint *j;

	*value = 0;
	if (joint == HUBO_NONE)
		return true;
	j = &h->joints[joint];
	c = &orders->joint[joint];
	if (!j->active || !j->on) { /* it stays where it is */
		*value = b->kind == JMC_NECK ? jmc_neck_counts(jmc_neck_rad(j->counts)) : j->finger ? 0 : j->counts;
		return j->t_ns;
	}
	if (j->finger) {
		const double limit_a = drv_limits((struct drv *)drv, (unsigned int)joint)->current_a;
		const double share = c->mode == MSG_MODE_CURRENT && isfinite(limit_a) ? c->current_a / limit_a : 0;

		if (b->kind == JMC_HAND)
			*value = jmc_counts(share, JMC_DUTY_MAX_PERCENT, JMC_DUTY_MAX_PERCENT);
		else
			*value = jmc_counts(c->mode == MSG_MODE_CURRENT ? c->current_a * j->table->direction : 0, 100,
					    JMC_FINGER_CURRENT_MAX_CA);
		return true;
	}
	j->sent_rad = target_rad(j, c, orders->dt_s);
	if (!isfinite(j->sent_rad))
		return false;
	*value = b->kind == JMC_NECK ? jmc_neck_counts(j->sent_rad)
				     : jmc_counts(j->sent_rad, j->table->counts_per_rad, JMC_COUNTS_MAX);
	return true;
}

static bool board_stops(const struct hubod *h, const struct hubod_board *b, const struct drv_orders *orders)
{
	for (int m = 0; m < b->table->motors; m++)
		if (b->table->joint[m] != HUBO_NONE && h->joints[b->table->joint[m]].active &&
		    !orders->joint[b->table->joint[m]].stops)
			return false;
	return true;
}

/* Its reference left. */
static bool send_reference(struct hubod *h, struct drv *drv, struct hubod_board *b, const struct drv_orders *orders)
{
	int32_t values[JMC_MOTORS_MAX] = { 0 };
	struct frame frame;

	for (int m = 0; m < b->table->motors; m++)
		if (!motor_value(h, b, (unsigned int)m, orders, drv, &values[m]))
			return false;
	if (jmc_encode_reference(&frame, b->kind, (unsigned int)b->table->number, values,
				 h->settings.second_slot == HUBOD_SECOND_REPEAT))
		return false;
	memcpy(b->last, values, sizeof(b->last));
	b->referred = true;
	return !(board_stops(h, b, orders) ? drv_send_stop(drv, b->reference, &frame)
					   : drv_send(drv, b->reference, &frame));
}

/* Fingers have no position loop: without a reference they would push on as they did.  The wrist in the same frame stays
 * at its last reference; if that was another driver's, where it is. */
static void stop_fingers(struct hubod *h, struct drv *drv, struct hubod_board *b)
{
	const int joint = b->table->joint[0];
	const bool wrist = b->kind == JMC_WRIST && joint != HUBO_NONE;
	const int32_t at = wrist ? h->joints[joint].counts : 0;
	const int32_t values[JMC_MOTORS_MAX] = { b->referred ? b->last[0] : at };
	const unsigned int number = (unsigned int)b->table->number;
	struct frame frame;
	int status;

	if (wrist && !h->joints[joint].t_ns)
		return;
	b->stop_left--;
	if (b->kind == JMC_HAND)
		status = jmc_encode_duty(&frame, b->kind, number, values, false, false);
	else
		status = jmc_encode_reference(&frame, b->kind, number, values,
					      h->settings.second_slot == HUBOD_SECOND_REPEAT);
	if (!status)
		drv_send_stop(drv, b->reference, &frame);
}

static bool is_driven(const struct hubod *h, const struct hubod_board *b)
{
	bool on = false;

	for (int m = 0; m < b->table->motors; m++)
		on |= b->table->joint[m] != HUBO_NONE && h->joints[b->table->joint[m]].on;
	return on && b->status_known && !b->silent;
}

/* A board whose encoders are not heard gets none: what it would do with them cannot be seen.  Nor does one that is off:
 * its references would go on without it, and it would jump to them when it is switched on.  A single motor that is off
 * gets the position where it is. */
static void send_references(struct hubod *h, struct drv *drv, const struct drv_orders *orders, bool quiet)
{
	const bool allowed = h->up && orders->level < MSG_LEVEL_ESTOP && !quiet && !drv_latched(drv);

	for (struct hubod_board *b = h->boards; b < h->boards + h->boards_n; b++) {
		const bool may = allowed && is_driven(h, b);
		const bool duty = hubod_comply(h, drv, b, orders, may);
		const bool sent = duty || (may && b->comply != HUBOD_RETURNING && send_reference(h, drv, b, orders));

		if (sent)
			b->stop_left = b->kind == JMC_HAND || b->kind == JMC_WRIST ? STOP_CYCLES : 0;
		else if (h->up && !quiet && b->stop_left)
			stop_fingers(h, drv, b);
		for (int m = 0; m < b->table->motors; m++) {
			const int joint = b->table->joint[m];

			if (joint == HUBO_NONE || !h->joints[joint].active)
				continue;
			h->joints[joint].driven = sent && h->joints[joint].on;
			if (!h->joints[joint].driven)
				drv_not_driven(drv, (unsigned int)joint, true);
		}
	}
	drv_hand_over(drv);
}

/* ---- requests ---- */

static void ask_board(struct drv *drv, const struct hubod_board *b, unsigned int row, enum jmc_command command,
		      int32_t value)
{
	struct frame frame;

	jmc_encode(&frame, (unsigned int)b->table->number, command, 0, &value);
	drv_send(drv, row, &frame);
}

/* A board gets its next request when it has answered the last one: nothing is known of boards that are asked twice. */
void hubod_ask_next(struct hubod *h, struct drv *drv, unsigned int board)
{
	struct hubod_board *b = &h->boards[board];
	struct frame frame;

	if (b->due & 1) /* a reply to the cycle before came late */
		return;
	if (b->due) {
		ask_board(drv, b, b->encoder[HUBOD_HALVES - 1], JMC_GET_ENCODER, HUBOD_HALVES - 1);
	} else if (b->wants & HUBOD_WANTS_STATUS) {
		b->wants &= (uint8_t)~HUBOD_WANTS_STATUS;
		ask_board(drv, b, b->status, JMC_GET_STATUS, 0);
	} else if (b->wants & HUBOD_WANTS_CURRENT) {
		b->wants &= (uint8_t)~HUBOD_WANTS_CURRENT;
		jmc_encode(&frame, (unsigned int)b->table->number, JMC_GET_CURRENT, 0, NULL);
		drv_ask(drv, b->values, &frame, board); /* refused while a parameter is under way */
	} else if (b->wants & HUBOD_WANTS_PARAMETER) {
		b->wants &= (uint8_t)~HUBOD_WANTS_PARAMETER;
		hubod_read_ask(h, drv, board);
	}
}

static void ask_encoders(struct hubod *h, struct drv *drv, int64_t now_ns)
{
	for (struct hubod_board *b = h->boards; b < h->boards + h->boards_n; b++) {
		if (!b->active)
			continue;
		b->due = (uint8_t)((1u << b->halves) - 1);
		b->asked_ns = now_ns;
		for (unsigned int i = 0; i < b->halves; i++)
			hubod_missed_ask(h, b->encoder[i]);
		ask_board(drv, b, b->encoder[0], JMC_GET_ENCODER, 0);
	}
}

static void ask_sensor(struct drv *drv, const struct hubod_sensor *s, int row, enum jmc_measured what)
{
	struct frame frame;

	jmc_encode_sensor(&frame, (unsigned int)s->table->number, what);
	drv_send(drv, (unsigned int)row, &frame);
}

void hubod_ask_tilt(struct hubod *h, struct drv *drv, unsigned int sensor)
{
	const struct hubod_sensor *s = &h->sensors[sensor];

	if (s->tilt_due)
		ask_sensor(drv, s, s->ask_tilt, sensor >= HUBO_IMU0 ? JMC_IS_IMU : JMC_IS_TILT);
}

static void ask_sensors(struct hubod *h, struct drv *drv)
{
	struct frame frame;

	for (unsigned int i = 0; i < HUBO_SENSORS; i++) {
		struct hubod_sensor *s = &h->sensors[i];

		if (!s->table->line || !s->table->active)
			continue;
		s->force_due = s->ask_force >= 0;
		s->tilt_due = s->ask_tilt >= 0;
		hubod_missed_ask(h, (unsigned int)s->ask_force);
		hubod_missed_ask(h, (unsigned int)s->ask_tilt);
		if (s->force_due)
			ask_sensor(drv, s, s->ask_force, JMC_IS_FORCE);
		else
			hubod_ask_tilt(h, drv, i);
	}
	h->power_due = false;
	if (h->ask_power < 0 || h->cycle.now % (uint64_t)h->settings.slow_every)
		return;
	hubod_missed_ask(h, (unsigned int)h->ask_power);
	jmc_encode(&frame, JMC_POWER_BOARD, JMC_GET_POWER, 0, NULL);
	h->power_due = !drv_send(drv, (unsigned int)h->ask_power, &frame);
}

/* The board after this one on the bus, around. */
static unsigned int next_board(const struct hubod *h, unsigned int bus, unsigned int board)
{
	for (unsigned int i = 0; i < h->boards_n; i++) {
		board = (board + 1) % h->boards_n;
		if (h->boards[board].active && h->boards[board].bus == bus)
			break;
	}
	return board;
}

/* One status and one current on each bus.  In the windows without references, when joints are homed, there is room for
 * the status of every second board. */
static void want_slow(struct hubod *h, bool quiet)
{
	for (unsigned int i = 0; i < h->boards_n; i++)
		h->boards[i].wants = quiet && (i + h->cycle.now) % 2 == 0 ? HUBOD_WANTS_STATUS : 0;
	if (h->read.on && !h->read.asked)
		h->boards[h->joints[h->read.joint].board].wants |= HUBOD_WANTS_PARAMETER;
	if (h->cycle.now % (uint64_t)h->settings.slow_every)
		return;
	for (unsigned int bus = 0; bus < HUBO_BUSES; bus++) {
		h->next_status[bus] = next_board(h, bus, h->next_status[bus]);
		h->next_values[bus] = next_board(h, bus, h->next_values[bus]);
		h->boards[h->next_status[bus]].wants |= HUBOD_WANTS_STATUS;
		h->boards[h->next_values[bus]].wants |= HUBOD_WANTS_CURRENT;
	}
}

/* ---- what became of the last cycle ---- */

static void report_silence(struct hubod *h, struct drv *drv, struct hubod_board *b, int64_t now_ns)
{
	const int64_t since_ns = b->heard_ns ? b->heard_ns : h->start_ns;
	const bool silent = now_ns - since_ns > h->settings.silent_after_ns && (h->up || b->heard_ns);
	const unsigned int joint = first_joint(h, b);

	if (silent && !b->silent)
		drv_fault(drv, joint, "silent", "%s (%s ...) has not replied for %lld ms", b->table->name,
			  hubo_joint_name((int)joint), (long long)((now_ns - since_ns) / 1000000));
	else if (!silent && b->silent)
		drv_well(drv, joint, "silent");
	b->silent = silent;
	b->status_known &= !silent; /* what it is like when it is back has to be heard first */
}

static void account(struct hubod *h, struct drv *drv, int64_t now_ns)
{
	for (struct hubod_board *b = h->boards; b < h->boards + h->boards_n; b++) {
		if (!b->active)
			continue;
		if (b->asked_ns) {
			b->kept = b->due ? 0 : b->kept + 1;
			b->missed += b->due && h->up;
			if (b->due && h->up)
				hubod_missed(h, b->encoder[!(b->due & 1)]);
		}
		report_silence(h, drv, b, now_ns);
	}
	for (struct hubod_sensor *s = h->sensors; s < h->sensors + HUBO_SENSORS && h->up; s++) {
		s->missed += s->force_due + s->tilt_due;
		if (s->force_due)
			hubod_missed(h, (unsigned int)s->ask_force);
		if (s->tilt_due)
			hubod_missed(h, (unsigned int)s->ask_tilt);
	}
	if (h->power_due && h->up)
		hubod_missed(h, (unsigned int)h->ask_power);
}

/* ---- a cycle ---- */

static void judge(const struct cycle *cycle, struct drv *drv)
{
	if (!cycle_too_slow(cycle))
		drv_well(drv, DRV_ALL, "slow");
	else
		drv_fault(drv, DRV_ALL, "slow",
			  "%llu of %llu cycles skipped: set a longer tick, or a priority and a core",
			  (unsigned long long)cycle->judged_skipped, (unsigned long long)cycle->judged);
}

static void turn(struct hubod *h, struct drv *drv, const struct drv_orders *orders)
{
	const bool quiet = orders->tick_ns < h->quiet_until_ns || h->home.on;
	bool judged;

	h->began_ns = cycle_began_ns(orders->now_ns, h->period_ns);
	h->late_ns = orders->now_ns - h->began_ns;
	judged = cycle_came(&h->cycle, cycle_at(orders->now_ns, h->period_ns), h->late_ns);
	account(h, drv, orders->now_ns);
	send_references(h, drv, orders, quiet);
	hubod_read_step(h, drv);
	want_slow(h, quiet);
	ask_encoders(h, drv, orders->now_ns);
	ask_sensors(h, drv);
	drv_hand_over(drv);
	enable_boards(h, drv);
	hubod_home_step(h, drv, orders);
	for (unsigned int b = 0; b < HUBO_BUSES; b++)
		paced_update(&h->bus[b], drv, b, orders->now_ns);
	if (judged)
		judge(&h->cycle, drv);
	hubod_put_clock(h, drv, orders->now_ns);
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

/* What the driver before this one left: fingers that push, boards that were on, or had gone off, and those that have
 * the last duty of joints that were compliant. */
static void take_over(struct hubod *h, const struct msg_joint_state *previous)
{
	for (struct hubod_board *b = h->boards; b < h->boards + h->boards_n; b++)
		b->stop_left = b->active && (b->kind == JMC_HAND || b->kind == JMC_WRIST) ? STOP_CYCLES : 0;
	for (int i = 0; i < HUBO_JOINTS && previous; i++) {
		struct hubod_board *b = &h->boards[h->joints[i].board];

		if (!h->joints[i].active)
			continue;
		b->was_on |= !h->joints[i].finger && previous->status[i] & (MSG_JOINT_ENABLED | MSG_JOINT_FAULT);
		if (b->complies && previous->status[i] & MSG_JOINT_COMPLIANT)
			hubod_comply_return(h, b);
	}
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
			paced_start(&h->bus[b], orders->now_ns);
		take_over(h, drv_previous(drv));
	}
	if (cycle_began_ns(orders->tick_ns, h->period_ns) != orders->tick_ns) {
		h->began_ns = cycle_began_ns(orders->now_ns, h->period_ns);
		h->late_ns = orders->now_ns - h->began_ns;
		drv_tick_at(drv, cycle_next_ns(orders->now_ns, h->period_ns));
		return DRV_AGAIN;
	}
	turn(h, drv, orders);
	h->up = cycle_ready(&h->cycle) && all_reply(h, orders->now_ns);
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
