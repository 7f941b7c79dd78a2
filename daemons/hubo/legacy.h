/* legacy.h: the reference and state structs of hubo-ach, and what stands for them in our messages.  Pure.
 *
 * hw-docs/devices/hubo-legacy.md has both layouts.  They are packed, have no version, and are known by their size.
 */
#pragma once

#include "channels/msg/types.h"
#include "daemons/hubo/hubo_table.h"

#define LEGACY_REF_CHANNEL "hubo-ref"
#define LEGACY_STATE_CHANNEL "hubo-state"
#define LEGACY_DRIVERS 0x36 /* places for boards, by number */

enum legacy_mode { LEGACY_FILTER, LEGACY_DIRECT, LEGACY_COMPLIANT, LEGACY_ENCODER_FILTER, LEGACY_MODES };

struct legacy_ref {
	double ref[HUBO_JOINTS]; /* rad; of a finger -1 to 1 */
	int16_t mode[HUBO_JOINTS];
	int8_t comply[HUBO_JOINTS]; /* 0 rigid, 1 compliant */
} __attribute__((packed));

struct legacy_state {
	struct {
		double a_x, a_y, a_z, w_x, w_y, w_z;
	} __attribute__((packed)) imu[3]; /* right foot, left foot, body */
	struct {
		double m_x, m_y, f_z;
	} __attribute__((packed)) ft[4]; /* right hand, left hand, right foot, left foot */
	struct {
		double ref;
		uint8_t comply;
		double pos, cur, vel, duty, heat, tmp;
		uint8_t active, zeroed;
	} __attribute__((packed)) joint[HUBO_JOINTS];
	struct {
		uint8_t driver_on, ctrl_on, mode, limit_switch, home_flag;
		uint8_t jam, pwm_saturated, big_error, enc_error, driver_fault, motor_fail_0, motor_fail_1;
		uint8_t pos_min, pos_max, velocity, acceleration, temperature;
	} __attribute__((packed)) status[HUBO_JOINTS];
	double driver_temp[LEGACY_DRIVERS]; /* degrees C */
	double voltage, current, power;
	double time; /* s */
	int16_t ref_wait;
} __attribute__((packed));

_Static_assert(sizeof(struct legacy_ref) == 462, "as hubo-ach has it");
_Static_assert(sizeof(struct legacy_state) == 3898, "as hubo-ach has it");

/* ---- references ---- */

/* What a joint of ours is asked for. */
struct legacy_joint {
	bool active, finger;
	double current_a;  /* of a finger at 1 */
	bool begun;	   /* it has followed since the client came */
	double filter_rad; /* the filter's output */
};

/* 0, or -EINVAL: a number that is not finite, or a mode or compliance that does not exist, of an active joint. */
int legacy_check(const struct legacy_ref *from, const struct legacy_joint joints[HUBO_JOINTS]);
/* The reference of a tick that is dt_s long. */
void legacy_refer(struct msg_joint_ref *to, const struct legacy_ref *from, struct legacy_joint joints[HUBO_JOINTS],
		  const struct msg_joint_state *state, double dt_s);

/* ---- states ---- */

/* NULL: there is none of it yet. */
void legacy_joints(struct legacy_state *to, const struct msg_joint_state *from, const struct legacy_ref *ref);
void legacy_force(struct legacy_state *to, unsigned int sensor, const struct msg_ft *from);
void legacy_incline(struct legacy_state *to, unsigned int which, const struct msg_imu *from); /* of imu */
void legacy_power(struct legacy_state *to, const struct msg_battery *from);
