/* legacy.c: the reference and state structs of hubo-ach.  Checked: covered. */
#include "daemons/hubo/legacy.h"

#include <math.h>

#define FILTER_S 0.2 /* hubo-ach: (39 f + r) / 40 every 5 ms */
#define LEGACY_FLAGS 16

/* ---- references ---- */

int legacy_check(const struct legacy_ref *from, const struct legacy_joint joints[HUBO_JOINTS])
{
	for (int i = 0; i < HUBO_JOINTS; i++)
		if (joints[i].active && (!isfinite(from->ref[i]) || from->mode[i] < 0 ||
					 from->mode[i] >= LEGACY_MODES || (from->comply[i] & ~1)))
			return -EINVAL;
	return 0;
}

static double filtered(double from_rad, double to_rad, double dt_s)
{
	return from_rad + (to_rad - from_rad) * fmin(1, dt_s / FILTER_S);
}

static double follow(struct legacy_joint *j, double ref_rad, enum legacy_mode mode, double measured_rad, double dt_s)
{
	if (!j->begun)
		j->filter_rad = measured_rad;
	j->begun = true;
	switch (mode) {
	case LEGACY_FILTER:
		return j->filter_rad = filtered(j->filter_rad, ref_rad, dt_s);
	case LEGACY_DIRECT:
		return j->filter_rad = ref_rad;
	case LEGACY_COMPLIANT:
		return j->filter_rad = measured_rad;
	default:
		return j->filter_rad = filtered(measured_rad, ref_rad, dt_s);
	}
}

void legacy_refer(struct msg_joint_ref *to, const struct legacy_ref *from, struct legacy_joint joints[HUBO_JOINTS],
		  const struct msg_joint_state *state, double dt_s)
{
	to->count = HUBO_JOINTS;
	for (int i = 0; i < HUBO_JOINTS; i++) {
		struct legacy_joint *j = &joints[i];

		to->mode[i] = MSG_MODE_NONE;
		if (!j->active || !isfinite(state->position[i])) {
			j->begun = false;
		} else if (j->finger) {
			to->mode[i] = MSG_MODE_CURRENT;
			to->current[i] = fmax(-1, fmin(1, from->ref[i])) * j->current_a;
		} else {
			to->mode[i] = from->comply[i] ? MSG_MODE_COMPLIANT : MSG_MODE_POSITION;
			to->position[i] =
				follow(j, from->ref[i], (enum legacy_mode)from->mode[i], state->position[i], dt_s);
		}
	}
}

/* ---- states ---- */

static double known(double value)
{
	return isfinite(value) ? value : 0;
}

void legacy_joints(struct legacy_state *to, const struct msg_joint_state *from, const struct legacy_ref *ref)
{
	for (unsigned int i = 0; i < HUBO_JOINTS; i++) {
		const uint32_t word = from->state_word[i];
		uint8_t *status = (uint8_t *)&to->status[i];

		to->joint[i].ref = ref ? ref->ref[i] : 0;
		to->joint[i].comply = (from->status[i] & MSG_JOINT_COMPLIANT) != 0;
		to->joint[i].pos = known(from->position[i]);
		to->joint[i].cur = known(from->current[i]);
		to->joint[i].vel = known(from->velocity[i]);
		to->joint[i].tmp = known(from->temperature[i] - KELVIN);
		to->joint[i].active = from->lifecycle[i] != MSG_LIFE_DOWN;
		to->joint[i].zeroed = (from->status[i] & MSG_JOINT_HOMED) != 0;
		/* The flags in their order, and behind the first four the home flag. */
		for (unsigned int flag = 0; flag < LEGACY_FLAGS; flag++)
			status[flag < 4 ? flag : flag + 1] = word >> flag & 1;
		to->status[i].home_flag = (uint8_t)(word >> 16 & 0xF);
	}
	to->time = (double)from->header.t_sample_ns / 1e9;
}

void legacy_force(struct legacy_state *to, unsigned int sensor, const struct msg_ft *from)
{
	to->ft[sensor].m_x = from->torque[0];
	to->ft[sensor].m_y = from->torque[1];
	to->ft[sensor].f_z = from->force[2];
}

/* Roll and pitch of an orientation without yaw. */
void legacy_incline(struct legacy_state *to, unsigned int which, const struct msg_imu *from)
{
	const double *q = from->orientation;

	to->imu[which].a_x = atan2(2 * (q[0] * q[1] + q[2] * q[3]), 1 - 2 * (q[1] * q[1] + q[2] * q[2]));
	to->imu[which].a_y = asin(fmax(-1, fmin(1, 2 * (q[0] * q[2] - q[3] * q[1]))));
	to->imu[which].w_x = known(from->rate[0]);
	to->imu[which].w_y = known(from->rate[1]);
}

void legacy_power(struct legacy_state *to, const struct msg_battery *from)
{
	to->voltage = from->voltage;
	to->current = -from->current; /* ours charges */
	to->power = to->voltage * to->current;
}
