/* hubod_comply.c: compliant joints: boards that are driven with open-loop duty by the law of comply.h.
 *
 * A board takes either references or a duty for all of its motors, so it is compliant as a whole as soon as a reference
 * asks one of its joints to be.  It keeps its last duty when nothing comes any more; the states are made for a driver
 * that is killed in any of them:
 *	rigid		references
 *	entering	references, until a state was published that says it is compliant: the next driver reads that
 *	compliant	a duty in each cycle
 *	returning	control is switched on, by which a board holds where it is; until that was on the wire
 */
#include <math.h>

#include "daemons/hubo/hubod.h"

#define HOLDS 3		/* control on: the board may miss one such frame */
#define HOLD_EVERY 10	/* cycles between two of them */
#define FASTER_THAN 1.2 /* times the limit of velocity; a measured velocity is not exact */
#define FAULT "comply"

/* ---- may it be? ---- */

static bool is_wanted(const struct hubod_board *b, const struct drv_orders *orders)
{
	for (unsigned int k = 0; k < b->joints_n; k++)
		if (orders->joint[b->joints[k]].mode == MSG_MODE_COMPLIANT)
			return true;
	return false;
}

/* Also of a joint that is in fault, and does not follow. */
static bool is_asked_for(const struct hubod_board *b, const struct msg_joint_ref *ref)
{
	for (unsigned int k = 0; ref && k < b->joints_n; k++)
		if (ref->mode[b->joints[k]] == MSG_MODE_COMPLIANT)
			return true;
	return false;
}

static const char *why_rigid(const struct hubod *h, const struct hubod_board *b, int joint)
{
	const enum hubo_limb limb = hubo_joint_limb(joint);

	if (!b->complies)
		return "only boards with one or two motors comply";
	if (b->dropped)
		return "its board was switched off";
	if ((limb == HUBO_LLEG || limb == HUBO_RLEG) && !h->settings.hung)
		return "legs comply only when the robot hangs: set hung";
	if (!h->joints[joint].homed)
		return "it is not homed";
	return h->joints[joint].gains[COMPLY_PWM] > 0 ? NULL : "its comply-pwm is 0";
}

/* Does a joint of the board forbid it?  Reported once. */
static bool is_refused(const struct hubod *h, struct drv *drv, struct hubod_board *b)
{
	for (unsigned int k = 0; k < b->joints_n; k++) {
		const int i = (int)b->joints[k];
		const char *why = why_rigid(h, b, i);

		if (!why)
			continue;
		if (!b->refused)
			drv_event(drv, MSG_SEVERITY_WARNING, "rigid", "%s stays rigid, and holds: %s: %s",
				  b->table->name, hubo_joint_name(i), why);
		b->refused = true;
		return true;
	}
	return false;
}

/* The limits of the robot file are those of a compliant joint, too: beyond them it becomes rigid. */
static bool is_beyond(const struct hubod *h, struct drv *drv, struct hubod_board *b)
{
	bool beyond = false;

	for (unsigned int k = 0; k < b->joints_n; k++) {
		const unsigned int i = b->joints[k];
		const struct drv_ref_limits *l = drv_limits(drv, i);
		const struct hubod_joint *j = &h->joints[i];
		const bool outside = j->position_rad < l->position_min_rad || j->position_rad > l->position_max_rad;

		if (!outside && fabs(j->velocity_rad_s) <= FASTER_THAN * l->velocity_rad_s)
			continue;
		drv_fault(drv, i, FAULT, "%s cannot be compliant: %s its limits (%.3f rad, %.3f rad/s)",
			  hubo_joint_name((int)i), outside ? "beyond" : "faster than", j->position_rad,
			  j->velocity_rad_s);
		beyond = b->beyond = true;
	}
	return beyond;
}

/* A board stops being kept rigid when no reference asks for compliance any more. */
static void forgive(struct drv *drv, struct hubod_board *b)
{
	for (unsigned int k = 0; b->beyond && k < b->joints_n; k++)
		drv_fault_clear(drv, b->joints[k], FAULT);
	b->beyond = b->dropped = b->refused = false;
}

/* ---- frames ---- */

/* A joint of the board that is to be rigid is kept where its reference is, by the same law. */
static double rest_rad(const struct hubod_joint *j, const struct drv_orders *orders, const struct drv_ref_command *c)
{
	if (c->mode == MSG_MODE_POSITION || c->mode == MSG_MODE_COMPLIANT)
		return c->position_rad;
	return (j->driven ? j->sent_rad : j->position_rad) +
	       (c->mode == MSG_MODE_VELOCITY ? c->velocity_rad_s * orders->dt_s : 0);
}

static bool send_duty(struct hubod *h, struct drv *drv, struct hubod_board *b, const struct drv_orders *orders)
{
	const int32_t up = h->settings.clockwise_down ? 1 : -1; /* of a duty; clockwise is negative */
	int32_t duty[JMC_MOTORS_MAX] = { 0 };
	struct frame frame;

	for (unsigned int k = 0; k < b->joints_n; k++) {
		const unsigned int i = b->joints[k];
		struct hubod_joint *j = &h->joints[i];
		const struct comply_at at = { .rest_rad = rest_rad(j, orders, &orders->joint[i]),
					      .position_rad = j->position_rad,
					      .velocity_rad_s = j->velocity_rad_s,
					      .min_rad = drv_limits(drv, i)->position_min_rad,
					      .max_rad = drv_limits(drv, i)->position_max_rad };

		if (comply_duty(&duty[j->motor], j->gains, &at))
			return false;
		duty[j->motor] *= up;
		j->sent_rad = at.rest_rad;
	}
	return !jmc_encode_duty(&frame, b->kind, (unsigned int)b->table->number, duty, true, true) &&
	       !drv_send(drv, b->duty, &frame);
}

/* Whatever a board makes of the last reference that it had, it has this one when control is switched on. */
static void send_here(const struct hubod *h, struct drv *drv, const struct hubod_board *b)
{
	int32_t counts[JMC_MOTORS_MAX] = { 0 };
	struct frame frame;

	for (unsigned int k = 0; k < b->joints_n; k++)
		counts[h->joints[b->joints[k]].motor] = h->joints[b->joints[k]].counts;
	if (b->heard_ns && !b->silent &&
	    !jmc_encode_reference(&frame, b->kind, (unsigned int)b->table->number, counts,
				  h->settings.second_slot == HUBOD_SECOND_REPEAT))
		drv_send_stop(drv, b->reference, &frame);
}

static void send_hold(struct hubod *h, struct drv *drv, struct hubod_board *b)
{
	struct frame frame;

	if (!b->holds_left || h->home.on || h->cycle.now < b->hold_at || !(b->heard_ns || b->silent))
		return;
	jmc_encode(&frame, (unsigned int)b->table->number, JMC_CONTROL_ON, 0, NULL);
	drv_send_stop(drv, b->home, &frame);
	b->hold_at = h->cycle.now + HOLD_EVERY;
}

static void set_freewheel(struct hubod *h, struct drv *drv, const struct hubod_board *b, int32_t on)
{
	if (h->settings.comply_freewheel)
		hubod_command(h, drv, (unsigned int)(b - h->boards), JMC_FREEWHEEL, 0, &on);
}

/* ---- a cycle ---- */

void hubod_comply_return(struct hubod *h, struct hubod_board *b)
{
	b->comply = HUBOD_RETURNING;
	b->holds_left = HOLDS;
	b->hold_at = h->cycle.now;
}

static void leave(struct hubod *h, struct drv *drv, struct hubod_board *b)
{
	const bool was = b->comply == HUBOD_COMPLIANT;

	b->comply = HUBOD_RIGID;
	if (was)
		hubod_comply_return(h, b);
	set_freewheel(h, drv, b, 0);
	drv_event(drv, MSG_SEVERITY_INFO, "rigid-again", "%s is rigid again, where it is", b->table->name);
}

/* While it is refused a joint holds, and the place around which it would give way does not go on without it. */
static void hold_ramps(struct drv *drv, const struct hubod_board *b, const struct drv_orders *orders)
{
	for (unsigned int k = 0; k < b->joints_n; k++)
		if (orders->joint[b->joints[k]].mode == MSG_MODE_COMPLIANT)
			drv_not_driven(drv, b->joints[k], true);
}

bool hubod_comply(struct hubod *h, struct drv *drv, struct hubod_board *b, const struct drv_orders *orders, bool may)
{
	const bool was = b->comply == HUBOD_ENTERING || b->comply == HUBOD_COMPLIANT;
	const bool wanted = may && b->comply != HUBOD_RETURNING && is_wanted(b, orders);
	const bool on = wanted && !is_refused(h, drv, b) && !is_beyond(h, drv, b);

	if (!is_asked_for(b, orders->ref))
		forgive(drv, b);
	if (wanted && !on)
		hold_ramps(drv, b, orders);
	if (on && !was) {
		b->comply = HUBOD_ENTERING;
		b->entered = h->filled;
		set_freewheel(h, drv, b, 1);
		drv_event(drv, MSG_SEVERITY_INFO, "compliant", "%s is compliant", b->table->name);
	} else if (on && h->filled != b->entered) {
		b->comply = HUBOD_COMPLIANT;
	}
	if (was && (!on || (b->comply == HUBOD_COMPLIANT && !send_duty(h, drv, b, orders))))
		leave(h, drv, b);
	if (b->comply == HUBOD_RETURNING)
		send_here(h, drv, b);
	send_hold(h, drv, b);
	return b->comply == HUBOD_COMPLIANT;
}

void hubod_comply_sent(struct hubod *h, unsigned int send, const struct frame *frame)
{
	struct frame hold;

	for (struct hubod_board *b = h->boards; b < h->boards + h->boards_n; b++) {
		if (!b->holds_left || b->home != send)
			continue;
		jmc_encode(&hold, (unsigned int)b->table->number, JMC_CONTROL_ON, 0, NULL);
		if (!frame_equal(frame, &hold))
			continue;
		b->holds_left--;
		if (b->comply == HUBOD_RETURNING)
			b->comply = HUBOD_RIGID;
	}
}

void hubod_comply_drop(struct hubod *h, struct hubod_board *b)
{
	for (unsigned int k = 0; b->comply != HUBOD_RIGID && k < b->joints_n; k++)
		h->joints[b->joints[k]].driven = false; /* it is not where its reference was */
	b->dropped |= b->comply != HUBOD_RIGID;
	b->comply = HUBOD_RIGID;
	b->holds_left = 0;
}

int hubod_comply_busy(struct hubod *h, struct drv *drv)
{
	for (struct hubod_board *b = h->boards; b < h->boards + h->boards_n; b++) {
		if (b->comply != HUBOD_RIGID)
			return drv_refuse(drv, -EBUSY, "%s is compliant: end that first", b->table->name);
		b->holds_left = 0;
	}
	return 0;
}

/* ---- gains ---- */

static const char *const most_names[] = { "comply_kp_max", "comply_kd_max", "comply_pwm_max", "comply_pwm_max" };

int hubod_comply_set(struct hubod *h, struct drv *drv, uint64_t joints, enum comply_gain gain, const char *text)
{
	const double most = h->comply_most[gain == COMPLY_GRAV ? COMPLY_PWM : gain];
	double value = NAN;

	if (text_real(text, &value))
		value = NAN;
	for (int i = 0; i < HUBO_JOINTS; i++)
		if (joints >> i & 1 && comply_set(h->joints[i].gains, h->comply_most, gain, value))
			return drv_refuse(drv, -ERANGE, "%s: write a number from %g to %g %s (%s)", comply_names[gain],
					  gain == COMPLY_GRAV ? -most : 0, most, comply_units[gain], most_names[gain]);
	return 0;
}

void hubod_comply_declare(struct hubod *h, struct error_sink *errors)
{
	h->comply_most[COMPLY_KP] = h->settings.comply_kp_max;
	h->comply_most[COMPLY_KD] = h->settings.comply_kd_max;
	h->comply_most[COMPLY_PWM] = h->settings.comply_pwm_max;
	for (int i = 0; i < HUBO_JOINTS; i++) {
		const struct hubo_joint *t = h->joints[i].table;
		const double gains[] = { t ? t->kp : 0, t ? t->kd : 0, t ? t->pwm_max : 0 };

		for (int gain = 0; h->joints[i].active && gain <= COMPLY_PWM; gain++)
			if (comply_set(h->joints[i].gains, h->comply_most, (enum comply_gain)gain, gains[gain]))
				error_add(errors,
					  "%s: its %s in line %u of the joint table is %g: lower it, or raise %s",
					  hubo_joint_name(i), comply_names[gain], t->line, gains[gain],
					  most_names[gain]);
	}
}
