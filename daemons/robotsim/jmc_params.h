/* jmc_params.h: what a simulated Hubo joint board has stored: the commands that change it, and parameter replies.
 *
 * Written from hw-docs/devices/hubo.md; pure.  Little endian.  Defaults and all units that the page does not state are
 * assumed.
 */
#pragma once

#include "can/bus/frame.h"
#include "config/base/base.h"

#define JMC_MOTORS_MAX 5

struct jmc_motor_params {
	uint16_t position_gain[3], current_gain[3]; /* Kp, Ki, Kd */
	uint16_t encoder;			    /* bits 0-13 counts per turn, 14 auto-scale, 15 direction */
	uint16_t dead_zone;
	uint8_t home_direction, home_mode;
	uint16_t home_search; /* motor turns */
	int32_t home_offset, lower, upper;
	uint8_t limits[2]; /* bit 0: the lower, the upper limit counts */
	uint16_t acceleration, velocity, pwm, current;
	uint8_t home_acceleration, home_to_limit, home_to_offset, home_duty; /* velocities: 10 motor turns per minute */
};

struct jmc_params {
	struct jmc_motor_params motor[JMC_MOTORS_MAX];
	uint16_t can_rate_ms;
	uint16_t jam_ms, saturated_ms;
	uint8_t jam_duty, saturated_duty;
	uint16_t input_difference, max_error, encoder_error; /* counts */
	uint16_t temperature;				     /* degrees Celsius */
};

void jmc_params_defaults(struct jmc_params *params);
/* A command (id 0x001) to this board that changes one of them, with its length.  false: it is another one. */
bool jmc_params_command(struct jmc_params *params, unsigned int motors, const struct frame *frame);
/* The 8 bytes of the reply to request 0x24.  false: there is no such parameter. */
bool jmc_params_reply(const struct jmc_params *params, unsigned int motors, uint8_t which, uint8_t data[8]);
