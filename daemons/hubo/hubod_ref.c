/* hubod_ref.c: the references of a cycle, board by board, and what the driver before this one left to be stopped. */
#include <math.h>

#include "daemons/hubo/hubod.h"

#define STOP_CYCLES 10 /* fingers are ordered to stop: one such frame may be lost */

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

static bool board_stops(const struct hubod_board *b, const struct drv_orders *orders)
{
	for (unsigned int k = 0; k < b->joints_n; k++)
		if (!orders->joint[b->joints[k]].stops)
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
	return !(board_stops(b, orders) ? drv_send_stop(drv, b->reference, &frame)
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

	for (unsigned int k = 0; k < b->joints_n; k++)
		on |= h->joints[b->joints[k]].on;
	return on && b->status_known && !b->silent;
}

/* A board whose encoders are not heard gets none: what it would do with them cannot be seen.  Nor does one that is off:
 * its references would go on without it, and it would jump to them when it is switched on.  A single motor that is off
 * gets the position where it is. */
bool hubod_send_references(struct hubod *h, struct drv *drv, const struct drv_orders *orders, bool quiet)
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
		for (unsigned int k = 0; k < b->joints_n; k++) {
			struct hubod_joint *j = &h->joints[b->joints[k]];

			j->driven = sent && j->on;
			if (!j->driven)
				drv_not_driven(drv, b->joints[k], true);
		}
	}
	drv_hand_over(drv);
	return allowed;
}

/* What the driver before this one left: fingers that push, boards that were on, or had gone off, and those that have
 * the last duty of joints that were compliant. */
void hubod_take_over(struct hubod *h, const struct msg_joint_state *previous)
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
