/* jmc_reply.c: what Hubo's boards reply. */
#include <errno.h>
#include <math.h>

#include "daemons/hubo/jmc.h"

static int16_t i16(const uint8_t *bytes)
{
	return (int16_t)frame_le16(bytes);
}

int jmc_decode_encoders(struct jmc_encoders *e, enum jmc_kind kind, const struct frame *frame)
{
	const bool wide = kind == JMC_ONE || kind == JMC_TWO;
	const unsigned int bytes = wide ? 4 : 2;

	e->first = 0;
	e->n = jmc_motors(kind);
	if (kind == JMC_HAND) { /* two frames of one identifier: fingers 1 to 3, and 4 and 5 */
		e->first = frame->len == 4 ? 3 : 0;
		e->n = frame->len == 4 ? 2 : 3;
	}
	/* Whether a board with one motor sends four bytes or eight is not known. */
	if (frame->len != e->n * bytes && (kind != JMC_ONE || frame->len != 8))
		return -EMSGSIZE;
	for (unsigned int i = 0; i < e->n; i++)
		e->counts[e->first + i] = wide ? (int32_t)frame_le32(&frame->data[4 * i]) : i16(&frame->data[2 * i]);
	return 0;
}

/* Three bytes of a motor: their bits from bit 0 of the first, as flags; 0: unused. */
static const uint16_t flags_of_bits[3][8] = {
	{ JMC_DRIVER_ON, JMC_CONTROL_IS_ON, JMC_CURRENT_MODE, JMC_LIMIT_SWITCH },
	{ JMC_JAM, JMC_PWM_SATURATED, JMC_BIG_ERROR, JMC_ENCODER_ERROR, JMC_DRIVER_FAULT, JMC_MOTOR_FAIL_0,
	  JMC_MOTOR_FAIL_1 },
	{ JMC_BELOW_LOWER, JMC_ABOVE_UPPER, JMC_VELOCITY, JMC_ACCELERATION, JMC_TEMPERATURE },
};

static uint32_t flags_of(const uint8_t bytes[3])
{
	uint32_t flags = 0;

	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int bit = 0; bit < 8; bit++)
			flags |= bytes[i] & 1u << bit ? flags_of_bits[i][bit] : 0;
	return flags;
}

int jmc_decode_status(struct jmc_status *status, enum jmc_kind kind, const struct frame *frame)
{
	const unsigned int motors = jmc_motors(kind), bytes = motors <= 2 ? 4 : 1;

	if (frame->len < motors * bytes)
		return -EMSGSIZE;
	for (unsigned int i = 0; i < motors; i++) {
		const uint8_t *from = &frame->data[i * bytes];

		/* The one byte of the others has the eight first flags in their order. */
		status->flags[i] = motors <= 2 ? flags_of(from) : *from;
		status->home[i] = motors <= 2 ? *from >> 4 : JMC_HOME_UNKNOWN;
	}
	return 0;
}

int jmc_decode_currents(struct jmc_currents *c, enum jmc_kind kind, const struct frame *frame)
{
	static const uint8_t three[] = { 0, 1, 3 }, five[] = { 0, 1, 2, 4, 5 };
	const unsigned int motors = jmc_motors(kind);

	if (frame->len < (kind == JMC_HAND ? 6 : 4))
		return -EMSGSIZE;
	c->temperature_c = kind == JMC_HAND ? NAN : frame->data[2];
	for (unsigned int i = 0; i < motors; i++) {
		if (motors <= 2)
			c->current_a[i] = (frame->data[i] << 2 | (frame->data[3] >> 2 * i & 3)) / 100.0;
		else if (motors == 3)
			c->current_a[i] = frame->data[three[i]] / 250.0;
		else
			c->current_a[i] = frame->data[five[i]] / 1000.0;
	}
	return 0;
}

int jmc_decode_force(struct jmc_force *force, const struct frame *frame)
{
	if (frame->len != 6)
		return -EMSGSIZE;
	force->mx_nm = i16(&frame->data[0]) / 100.0;
	force->my_nm = i16(&frame->data[2]) / 100.0;
	force->fz_n = i16(&frame->data[4]) / 10.0;
	return 0;
}

int jmc_decode_tilt(struct jmc_tilt *tilt, const struct frame *frame)
{
	if (frame->len != 6)
		return -EMSGSIZE;
	tilt->x_deg = i16(&frame->data[0]) / 100.0;
	tilt->y_deg = i16(&frame->data[2]) / 100.0;
	tilt->z = i16(&frame->data[4]) / 750.0;
	return 0;
}

int jmc_decode_imu(struct jmc_imu *imu, const struct frame *frame)
{
	if (frame->len != 8)
		return -EMSGSIZE;
	imu->roll_deg = i16(&frame->data[0]) / 100.0;
	imu->pitch_deg = i16(&frame->data[2]) / 100.0;
	imu->roll_deg_s = i16(&frame->data[4]) / 100.0;
	imu->pitch_deg_s = i16(&frame->data[6]) / 100.0;
	return 0;
}

int jmc_decode_power(struct jmc_power *power, const struct frame *frame)
{
	if (frame->len < 6)
		return -EMSGSIZE;
	power->voltage_v = i16(&frame->data[0]) / 100.0;
	power->current_a = i16(&frame->data[2]) / 100.0;
	power->power_w = i16(&frame->data[4]) / 10.0;
	return 0;
}

/* ---- parameters ---- */

uint8_t jmc_parameter_index(unsigned int letter, unsigned int motor)
{
	if (letter > 5)
		return (uint8_t)(letter - 6 + 20);
	return (uint8_t)(6 * motor + letter + 1 + (motor >= 3 ? 5 : 0));
}

static void set_low(int32_t *value, const uint8_t *bytes)
{
	*value = (int32_t)(((uint32_t)*value & 0xFFFF0000u) | frame_le16(bytes));
}

static void set_high(int32_t *value, const uint8_t *bytes)
{
	*value = (int32_t)(((uint32_t)*value & 0x0000FFFFu) | (uint32_t)frame_le16(bytes) << 16);
}

int jmc_decode_parameter(struct jmc_parameters *p, unsigned int letter, const struct frame *frame)
{
	const uint8_t *b = frame->data;

	if (frame->len != 8)
		return -EMSGSIZE;
	switch ('A' + letter) {
	case 'A':
		p->kp = frame_le16(b), p->ki = frame_le16(b + 2), p->kd = frame_le16(b + 4),
		p->encoder = frame_le16(b + 6);
		return 0;
	case 'B':
		p->dead_zone = frame_le16(b);
		p->home_direction = b[2], p->home_mode = b[3], p->search_turns = frame_le16(b + 4);
		set_low(&p->home_offset, b + 6);
		return 0;
	case 'C':
		set_high(&p->home_offset, b);
		p->lower = (int32_t)frame_le32(b + 2);
		set_low(&p->upper, b + 6);
		return 0;
	case 'D':
		set_high(&p->upper, b);
		p->acceleration_max = frame_le16(b + 2), p->velocity_max = frame_le16(b + 4),
		p->pwm_max = frame_le16(b + 6);
		return 0;
	case 'E':
		p->current_max = frame_le16(b), p->current_kp = frame_le16(b + 4), p->current_kd = frame_le16(b + 6);
		return 0;
	case 'F':
		p->current_kf = frame_le16(b);
		return 0;
	case 'G':
		p->rate_ms = frame_le16(b + 2), p->board_type = b[4], p->home_acceleration = frame_le16(b + 6);
		return 0;
	case 'H':
		p->home_velocity_limit = frame_le16(b), p->home_velocity_offset = frame_le16(b + 2);
		p->jam_time = frame_le16(b + 4), p->saturation_time = frame_le16(b + 6);
		return 0;
	default:
		p->saturation_duty = b[0], p->jam_duty = b[1];
		p->input_difference = frame_le16(b + 2), p->error_max = frame_le16(b + 4),
		p->encoder_error_max = frame_le16(b + 6);
		return 0;
	}
}
