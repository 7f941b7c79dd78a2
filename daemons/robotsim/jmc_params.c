/* jmc_params.c: what a simulated Hubo joint board has stored. */
#include "daemons/robotsim/jmc_params.h"

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

/* A number that is stored: its place in replies, 8 bytes of each letter, and in the command that changes it. */
struct number {
	size_t offset;
	uint8_t size;
	char letter; /* 0: in no reply */
	uint8_t at;
	uint8_t code, from, bytes; /* of the command; 0: there is none */
};
#define NUMBER(of, member, ...)                                                 \
	{                                                                       \
		offsetof(of, member), sizeof(((of *)NULL)->member), __VA_ARGS__ \
	}
#define MOTOR(...) NUMBER(struct jmc_motor_params, __VA_ARGS__)
#define BOARD(...) NUMBER(struct jmc_params, __VA_ARGS__)
#define NO_REPLY 0, 0
#define NO_COMMAND 0, 0, 0
#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define LETTERS ('I' - 'A' + 1)

static const struct number of_motor[] = {
	MOTOR(position_gain, 'A', 0, 0x07, 2, 6),
	MOTOR(encoder, 'A', 6, 0x38, 2, 2),
	MOTOR(dead_zone, 'B', 0, 0x20, 2, 1),
	MOTOR(home_direction, 'B', 2, 0x30, 3, 1),
	MOTOR(home_mode, 'B', 3, 0x60, 5, 1),
	MOTOR(home_search, 'B', 4, 0x30, 2, 1),
	MOTOR(home_offset, 'B', 6, 0x30, 4, 4),
	MOTOR(lower, 'C', 2, NO_COMMAND),
	MOTOR(upper, 'C', 6, NO_COMMAND),
	MOTOR(acceleration, 'D', 2, 0x40, 2, 2),
	MOTOR(velocity, 'D', 4, 0x40, 4, 2),
	MOTOR(pwm, 'D', 6, NO_COMMAND),
	MOTOR(current, 'E', 0, NO_COMMAND),
	MOTOR(current_gain[0], 'E', 4, 0x09, 2, 2),
	MOTOR(current_gain[1], 'F', 0, 0x09, 4, 2),
	MOTOR(current_gain[2], 'E', 6, 0x09, 6, 2),
	MOTOR(home_acceleration, NO_REPLY, 0x60, 2, 1),
	MOTOR(home_to_limit, NO_REPLY, 0x60, 3, 1),
	MOTOR(home_to_offset, NO_REPLY, 0x60, 4, 1),
	MOTOR(home_duty, NO_REPLY, 0x60, 6, 1),
};

static const struct number of_board[] = {
	BOARD(can_rate_ms, 'G', 2, NO_COMMAND),
	BOARD(motor[0].home_acceleration, 'G', 6, NO_COMMAND),
	BOARD(motor[0].home_to_limit, 'H', 0, NO_COMMAND),
	BOARD(motor[0].home_to_offset, 'H', 2, NO_COMMAND),
	BOARD(jam_ms, 'H', 4, 0xF2, 2, 2),
	BOARD(saturated_ms, 'H', 6, 0xF2, 4, 2),
	BOARD(saturated_duty, 'I', 0, 0xF2, 7, 1),
	BOARD(jam_duty, 'I', 1, 0xF2, 6, 1),
	BOARD(input_difference, 'I', 2, 0xF3, 2, 2),
	BOARD(max_error, 'I', 4, 0xF3, 4, 2),
	BOARD(encoder_error, 'I', 6, NO_COMMAND),
	BOARD(temperature, NO_REPLY, 0xF3, 6, 2),
};

/* ---- commands ---- */

/* Our machines are little endian, as the board is. */
static void take(void *to, const struct number *numbers, size_t n, uint8_t code, const uint8_t *d)
{
	for (size_t i = 0; i < n; i++) {
		char *at = (char *)to + numbers[i].offset;

		if (numbers[i].code != code)
			continue;
		memset(at, 0, numbers[i].size);
		memcpy(at, d + numbers[i].from, numbers[i].bytes);
	}
}

/* Bit 1 of the first byte: the limit itself is to be stored, too. */
static void set_limit(struct jmc_motor_params *m, unsigned int upper, const uint8_t *d)
{
	m->limits[upper] = d[2] & 1;
	if (d[2] & 2)
		*(upper ? &m->upper : &m->lower) = (int32_t)frame_le32(d + 3);
}

bool jmc_params_command(struct jmc_params *p, unsigned int motors, const struct frame *f)
{
	static const struct {
		uint8_t first, len;
		uint8_t motors; /* 0: those of the board */
	} groups[] = { { 0x07, 8, 2 }, { 0x09, 8, 2 }, { 0x20, 3, 0 }, { 0x30, 8, 0 }, { 0x38, 4, 0 },
		       { 0x40, 6, 0 }, { 0x50, 7, 0 }, { 0x56, 7, 0 }, { 0x60, 7, 0 } };
	const uint8_t *d = f->data, code = d[1];

	for (unsigned int i = 0; i < COUNT(groups); i++) {
		const uint8_t first = groups[i].first;
		const unsigned int n = groups[i].motors ? groups[i].motors : motors;

		if (code < first || code >= first + n || f->len != groups[i].len || code == 0x24)
			continue;
		if (first == 0x50 || first == 0x56)
			set_limit(&p->motor[code - first], first == 0x56, d);
		take(&p->motor[code - first], of_motor, COUNT(of_motor), first, d);
		return true;
	}
	if (f->len != 8 || (code != 0xF2 && code != 0xF3))
		return false;
	take(p, of_board, COUNT(of_board), code, d);
	return true;
}

/* ---- replies ---- */

static void give(uint8_t *replies, const void *from, const struct number *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (numbers[i].letter)
			memcpy(replies + 8 * (numbers[i].letter - 'A') + numbers[i].at,
			       (const char *)from + numbers[i].offset, numbers[i].size);
}

bool jmc_params_reply(const struct jmc_params *p, unsigned int motors, uint8_t which, uint8_t data[8])
{
	const unsigned int place = which >= 24 ? which - 6u : which - 1u; /* motors from the fourth on: 5 more */
	const bool board = which >= 20 && which <= 22;
	uint8_t replies[8 * LETTERS] = { 0 };

	if (!board && (which == 0 || which == 19 || which == 23 || place / 6 >= motors))
		return false;
	give(replies, p, of_board, COUNT(of_board));
	replies[8 * ('G' - 'A') + 4] = (uint8_t)motors;
	if (!board)
		give(replies, &p->motor[place / 6], of_motor, COUNT(of_motor));
	memcpy(data, replies + 8 * (board ? 'G' - 'A' + which - 20u : place % 6), 8);
	return true;
}
