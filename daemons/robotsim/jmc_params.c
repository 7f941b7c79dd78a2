/* jmc_params.c: what a simulated Hubo joint board has stored. */
#include "daemons/robotsim/jmc_params.h"

#include <string.h>

void jmc_params_defaults(struct jmc_params *p)
{
	*p = (struct jmc_params){
		.can_rate_ms = 5,
		.jam_ms = 1000,
		.saturated_ms = 1000,
		.jam_duty = 20,
		.saturated_duty = 90,
		.input_difference = 2000,
		.max_error = 4000,
		.encoder_error = 4000,
		.temperature = 80,
	};
	for (unsigned int i = 0; i < JMC_MOTORS_MAX; i++)
		p->motor[i] = (struct jmc_motor_params){
			.position_gain = { 400, 0, 200 },
			.current_gain = { 100, 0, 0 },
			.acceleration = 1000,
			.velocity = 1000,
			.pwm = 100,
			.current = 1000,
			.home_search = 20,
			.home_acceleration = 100,
			.home_to_limit = 60,
			.home_to_offset = 60,
			.home_duty = 50,
		};
}

static uint16_t u16(const uint8_t *from)
{
	return (uint16_t)(from[0] | from[1] << 8);
}

static int32_t i32(const uint8_t *from)
{
	return (int32_t)((uint32_t)u16(from) | (uint32_t)u16(from + 2) << 16);
}

static void put(uint8_t *to, uint32_t value)
{
	to[0] = (uint8_t)value;
	to[1] = (uint8_t)(value >> 8);
}

/* ---- commands ---- */

static void set_words(uint16_t *to, const uint8_t *from, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		to[i] = u16(from + 2 * i);
}

static void set_home(struct jmc_motor_params *m, const uint8_t *d)
{
	m->home_search = d[2];
	m->home_direction = d[3];
	m->home_offset = i32(d + 4);
}

/* Bit 1 of the first byte: the limit itself is to be stored, too. */
static void set_limit(struct jmc_motor_params *m, unsigned int upper, const uint8_t *d)
{
	m->limits[upper] = d[2] & 1;
	if (d[2] & 2)
		*(upper ? &m->upper : &m->lower) = i32(d + 3);
}

static void set_home_velocities(struct jmc_motor_params *m, const uint8_t *d)
{
	m->home_acceleration = d[2];
	m->home_to_limit = d[3];
	m->home_to_offset = d[4];
	m->home_mode = d[5];
	m->home_duty = d[6];
}

static void set_motor(struct jmc_motor_params *m, unsigned int group, const uint8_t *d)
{
	switch (group) {
	case 0x20:
		m->dead_zone = d[2];
		break;
	case 0x30:
		set_home(m, d);
		break;
	case 0x38:
		m->encoder = u16(d + 2);
		break;
	case 0x40:
		m->acceleration = u16(d + 2);
		m->velocity = u16(d + 4);
		break;
	case 0x50:
	case 0x56:
		set_limit(m, group == 0x56, d);
		break;
	default:
		set_home_velocities(m, d);
	}
}

bool jmc_params_command(struct jmc_params *p, unsigned int motors, const struct frame *f)
{
	static const struct {
		uint8_t first, len;
	} groups[] = { { 0x20, 3 }, { 0x30, 8 }, { 0x38, 4 }, { 0x40, 6 }, { 0x50, 7 }, { 0x56, 7 }, { 0x60, 7 } };
	const uint8_t *d = f->data, code = d[1];

	for (unsigned int i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		if (code >= groups[i].first && code < groups[i].first + motors && f->len == groups[i].len &&
		    !(groups[i].first == 0x20 && code == 0x24)) {
			set_motor(&p->motor[code - groups[i].first], groups[i].first, d);
			return true;
		}
	if (f->len != 8)
		return false;
	if (code == 0x07 || code == 0x08) {
		set_words(p->motor[code - 0x07].position_gain, d + 2, 3);
	} else if (code == 0x09 || code == 0x0A) {
		set_words(p->motor[code - 0x09].current_gain, d + 2, 3);
	} else if (code == 0xF2) {
		p->jam_ms = u16(d + 2);
		p->saturated_ms = u16(d + 4);
		p->jam_duty = d[6];
		p->saturated_duty = d[7];
	} else if (code == 0xF3) {
		p->input_difference = u16(d + 2);
		p->max_error = u16(d + 4);
		p->temperature = u16(d + 6);
	} else {
		return false;
	}
	return true;
}

/* ---- replies ---- */

static void put_words(uint8_t data[8], uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	put(data, a);
	put(data + 2, b);
	put(data + 4, c);
	put(data + 6, d);
}

static void reply_motor(const struct jmc_motor_params *m, unsigned int letter, uint8_t data[8])
{
	const uint32_t offset = (uint32_t)m->home_offset, lower = (uint32_t)m->lower, upper = (uint32_t)m->upper;

	switch (letter) {
	case 'A':
		put_words(data, m->position_gain[0], m->position_gain[1], m->position_gain[2], m->encoder);
		break;
	case 'B':
		put_words(data, m->dead_zone, (uint32_t)(m->home_direction | m->home_mode << 8), m->home_search,
			  offset);
		break;
	case 'C':
		put_words(data, offset >> 16, lower, lower >> 16, upper);
		break;
	case 'D':
		put_words(data, upper >> 16, m->acceleration, m->velocity, m->pwm);
		break;
	case 'E':
		put_words(data, m->current, 0, m->current_gain[0], m->current_gain[2]);
		break;
	default:
		put_words(data, m->current_gain[1], 0, 0, 0);
	}
}

bool jmc_params_reply(const struct jmc_params *p, unsigned int motors, uint8_t which, uint8_t data[8])
{
	const unsigned int place = which >= 24 ? which - 6u : which - 1u; /* motors from the fourth on: 5 more */
	const struct jmc_motor_params *first = &p->motor[0];

	memset(data, 0, 8);
	if (which == 20) {
		put_words(data, 0, p->can_rate_ms, motors, first->home_acceleration);
	} else if (which == 21) {
		put_words(data, first->home_to_limit, first->home_to_offset, p->jam_ms, p->saturated_ms);
	} else if (which == 22) {
		put_words(data, (uint32_t)(p->saturated_duty | p->jam_duty << 8), p->input_difference, p->max_error,
			  p->encoder_error);
	} else if (which == 0 || which == 19 || which == 23 || place / 6 >= motors) {
		return false;
	} else {
		reply_motor(&p->motor[place / 6], 'A' + place % 6, data);
	}
	return true;
}
