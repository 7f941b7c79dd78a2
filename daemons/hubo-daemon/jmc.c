/* jmc.c: references and commands to Hubo's boards. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "daemons/hubo-daemon/jmc.h"

#define NECK_BOARD 0x22u
#define NECK_TURN_SENT 4095.0 /* a turn of the neck in references; in replies it is 4096 */
#define NECK_TURN_READ 4096.0

#define CODE_DUTY 0x0D
#define DUTY_STOP 0
#define DUTY_RUN 1
#define DUTY_RUN_FINE 3

enum jmc_kind jmc_kind(unsigned int board, unsigned int motors)
{
	switch (motors) {
	case 1:
		return JMC_ONE;
	case 2:
		return JMC_TWO;
	case 3:
		return board == NECK_BOARD ? JMC_NECK : JMC_WRIST;
	default:
		return JMC_HAND;
	}
}

unsigned int jmc_motors(enum jmc_kind kind)
{
	static const uint8_t motors[] = {
		[JMC_ONE] = 1, [JMC_TWO] = 2, [JMC_NECK] = 3, [JMC_WRIST] = 3, [JMC_HAND] = 5,
	};

	return motors[kind];
}

static void le(uint8_t *bytes, unsigned int n, uint32_t value)
{
	for (unsigned int i = 0; i < n; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

static void begin(struct frame *frame, uint32_t id, uint8_t len)
{
	memset(frame, 0, sizeof(*frame));
	frame->id = id;
	frame->len = len;
}

/* ---- references ---- */

int32_t jmc_counts(double rad, double counts_per_rad, int32_t limit)
{
	const double counts = rad * counts_per_rad;

	if (!(fabs(counts) < limit))
		return counts < 0 ? -limit : limit;
	return (int32_t)counts;
}

int32_t jmc_neck_counts(double rad)
{
	const double counts = (rad + M_PI) / (2 * M_PI) * NECK_TURN_SENT;

	if (!(counts > 0))
		return 0;
	return counts < JMC_NECK_MAX ? (int32_t)counts : JMC_NECK_MAX;
}

double jmc_neck_rad(int32_t counts)
{
	return counts / NECK_TURN_READ * 2 * M_PI - M_PI;
}

static bool within(int32_t value, int32_t limit)
{
	return value >= -limit && value <= limit;
}

static uint32_t sign_magnitude(int32_t value, unsigned int sign_bit)
{
	return value < 0 ? -(uint32_t)value | 1u << sign_bit : (uint32_t)value;
}

int jmc_encode_reference(struct frame *frame, enum jmc_kind kind, unsigned int board,
			 const int32_t value[JMC_MOTORS_MAX], bool repeat)
{
	if (kind == JMC_HAND)
		return jmc_encode_duty(frame, kind, board, value, false, true);
	begin(frame, JMC_REFERENCE + board, kind == JMC_WRIST ? 5 : 6);
	switch (kind) {
	case JMC_NECK:
		for (unsigned int i = 0; i < 3; i++) {
			if (value[i] < 0 || value[i] > JMC_NECK_MAX)
				return -ERANGE;
			le(&frame->data[2 * i], 2, (uint32_t)value[i]);
		}
		return 0;
	case JMC_WRIST:
		if (!within(value[1], JMC_FINGER_CURRENT_MAX_CA) || !within(value[2], JMC_FINGER_CURRENT_MAX_CA))
			return -ERANGE;
		frame->data[3] = (uint8_t)sign_magnitude(value[1], 7);
		frame->data[4] = (uint8_t)sign_magnitude(value[2], 7);
		break;
	case JMC_TWO:
		if (!within(value[1], JMC_COUNTS_MAX))
			return -ERANGE;
		le(&frame->data[3], 3, sign_magnitude(value[1], 23));
		break;
	default:
		if (repeat)
			le(&frame->data[3], 3, sign_magnitude(value[0], 23));
	}
	if (!within(value[0], JMC_COUNTS_MAX))
		return -ERANGE;
	le(&frame->data[0], 3, sign_magnitude(value[0], 23));
	return 0;
}

int jmc_encode_duty(struct frame *frame, enum jmc_kind kind, unsigned int board, const int32_t duty[JMC_MOTORS_MAX],
		    bool fine, bool run)
{
	const unsigned int motors = jmc_motors(kind);
	const bool two = motors <= 2; /* a board of one motor has the frame of two */

	begin(frame, JMC_COMMAND, two ? fine && run ? 7 : 8 : (uint8_t)(3 + motors));
	frame->data[0] = (uint8_t)board;
	frame->data[1] = CODE_DUTY;
	frame->data[2] = run ? two && fine ? DUTY_RUN_FINE : DUTY_RUN : DUTY_STOP;
	if (!run)
		return 0;
	for (unsigned int i = 0; i < motors; i++) {
		const uint32_t size = duty[i] < 0 ? -(uint32_t)duty[i] : (uint32_t)duty[i];
		uint8_t *to = &frame->data[two ? 3 + 2 * i : 3 + i];

		if (!within(duty[i], two && fine ? JMC_DUTY_MAX_PERMILLE : JMC_DUTY_MAX_PERCENT))
			return -ERANGE;
		if (!two) {
			*to = (uint8_t)sign_magnitude(duty[i], 7);
			continue;
		}
		to[0] = (uint8_t)((fine ? size >> 4 & 0xF0 : 0) | (duty[i] < 0));
		to[1] = (uint8_t)size;
	}
	return 0;
}

/* ---- commands ---- */

struct value {
	uint8_t at, bytes; /* bytes 0: there is none */
	int32_t min, max;
	int32_t or_this; /* beside what is between them; 0: nothing */
};
/* clang-format off */
#define U8(at) { at, 1, 0, 255, 0 }
#define U16(at) { at, 2, 0, 65535, 0 }
#define I32(at) { at, 4, INT32_MIN, INT32_MAX, 0 }
#define UP_TO(at, max) { at, 1, 0, max, 0 }
#define POSITIVE(at) { at, 1, 1, 255, 0 }
/* clang-format on */

static const struct row {
	const char *name;
	uint8_t code, len;
	uint8_t motors; /* one code for each of them */
	struct value value[JMC_VALUES_MAX];
	uint8_t constant; /* byte 2, beside its value */
} rows[JMC_COMMANDS] = {
	/* hubo-ach sends it with a third byte, so this one does; no source uses that byte */
	[JMC_GET_STATUS] = { "get-status", 0x02, 3, 0, { { 0 } }, 0 },
	[JMC_GET_ENCODER] = { "get-encoder", 0x03, 3, 0, { UP_TO(2, 1) }, 0 },
	[JMC_GET_CURRENT] = { "get-current", 0x04, 2, 0, { { 0 } }, 0 },
	[JMC_GET_PARAMETER] = { "get-parameter", 0x24, 3, 0, { { 2, 1, 1, 35, 0 } }, 0 },
	[JMC_GET_POWER] = { "get-power", 0xE0, 2, 0, { { 0 } }, 0 },
	[JMC_ZERO] = { "zero", 0x06, 3, 0, { { 2, 1, 0, 4, JMC_ALL_MOTORS } }, 0 },
	[JMC_POSITION_GAINS] = { "position-gains", 0x07, 8, 2, { U16(2), U16(4), U16(6) }, 0 },
	[JMC_CURRENT_GAINS] = { "current-gains", 0x09, 8, 2, { U16(2), U16(4), U16(6) }, 0 },
	[JMC_FET] = { "fet", 0x0B, 3, 0, { UP_TO(2, 1) }, 0 },
	[JMC_CONTROL_ON] = { "control-on", 0x0E, 2, 0, { { 0 } }, 0 },
	[JMC_CONTROL_OFF] = { "control-off", 0x0F, 2, 0, { { 0 } }, 0 },
	[JMC_MODE] = { "mode", 0x10, 3, 0, { UP_TO(2, 2) }, 0 },
	[JMC_HOME] = { "home", 0x11, 8, 0, { { 2, 1, 1, 5, JMC_ALL_MOTORS } }, 0 },
	[JMC_FREEWHEEL] = { "freewheel", 0x13, 3, 0, { UP_TO(2, 1) }, 0 },
	[JMC_DEAD_ZONE] = { "dead-zone", 0x20, 3, 4, { U8(2) }, 0 },
	[JMC_HOME_SEARCH] = { "home-search", 0x30, 8, 5, { U8(2), UP_TO(3, 1), I32(4) }, 0 },
	[JMC_ENCODER_RESOLUTION] = { "encoder-resolution", 0x38, 4, 5, { U16(2) }, 0 },
	[JMC_MOTION_LIMITS] = { "motion-limits", 0x40, 6, 5, { U16(2), U16(4) }, 0 },
	[JMC_LOWER_LIMIT] = { "lower-limit", 0x50, 7, 5, { UP_TO(2, 3), I32(3) }, 0 },
	[JMC_UPPER_LIMIT] = { "upper-limit", 0x56, 7, 5, { UP_TO(2, 3), I32(3) }, 0 },
	[JMC_HOME_MOTION] = { "home-motion", 0x60, 7, 5, { U8(2), U8(3), U8(4), UP_TO(5, 2), UP_TO(6, 100) }, 0 },
	[JMC_GAIN_OVERRIDE] = { "gain-override", 0x6F, 6, 0, { UP_TO(2, 100), UP_TO(3, 100), U16(4) }, 0 },
	[JMC_NULL_FORCE] = { "null-force", 0x81, 3, 0, { { 0 } }, 0x00 },
	[JMC_NULL_TILT] = { "null-tilt", 0x81, 3, 0, { { 0 } }, 0x04 },
	[JMC_NULL_IMU] = { "null-imu", 0x81, 2, 0, { { 0 } }, 0 },
	[JMC_ALARM] = { "alarm", 0x82, 3, 0, { UP_TO(2, 4) }, 0 },
	[JMC_BEEP] = { "beep", 0x83, 3, 0, { POSITIVE(2) }, 0 },
	[JMC_BOARD_NUMBER] = { "board-number", 0xF0, 4, 0, { UP_TO(2, 0x35), POSITIVE(3) }, 0 },
	[JMC_JAM_LIMITS] = { "jam-limits", 0xF2, 8, 0, { U16(2), U16(4), UP_TO(6, 100), UP_TO(7, 100) }, 0 },
	[JMC_ERROR_LIMITS] = { "error-limits", 0xF3, 8, 0, { U16(2), U16(4), U16(6) }, 0 },
	[JMC_INITIALIZE] = { "initialize", 0xFA, 2, 0, { { 0 } }, 0 },
	[JMC_INITIALIZE_SENSOR] = { "initialize-sensor", 0xFA, 3, 0, { { 0 } }, 0xAA },
};

#define HOME_STORED 0x02 /* by the settings that the board has stored */

struct jmc_command_about jmc_command_about(enum jmc_command command)
{
	const struct row *row = &rows[command];
	struct jmc_command_about about = { .name = row->name, .motors = row->motors };

	while (about.values < JMC_VALUES_MAX && row->value[about.values].bytes)
		about.values++;
	return about;
}

int jmc_command_find(const char *name)
{
	for (int i = 0; i < JMC_COMMANDS; i++)
		if (!strcmp(rows[i].name, name))
			return i;
	return -1;
}

int jmc_encode(struct frame *frame, unsigned int board, enum jmc_command command, unsigned int motor,
	       const int32_t *values)
{
	const struct row *row = &rows[command];

	if (row->motors ? motor >= row->motors : motor != 0)
		return -EINVAL;
	begin(frame, JMC_COMMAND, row->len);
	frame->data[0] = (uint8_t)board;
	frame->data[1] = (uint8_t)(row->code + motor);
	for (unsigned int i = 0; i < jmc_command_about(command).values; i++) {
		const struct value *v = &row->value[i];

		if ((values[i] < v->min || values[i] > v->max) && (!v->or_this || values[i] != v->or_this))
			return -ERANGE;
		le(&frame->data[v->at], v->bytes, (uint32_t)values[i]);
	}
	if (command == JMC_HOME)
		frame->data[2] = (uint8_t)(frame->data[2] << 4 | HOME_STORED);
	frame->data[2] |= row->constant;
	return 0;
}

void jmc_encode_sensor(struct frame *frame, unsigned int sensor, enum jmc_measured what)
{
	static const struct {
		uint8_t len, type[2];
	} requests[] = {
		[JMC_IS_FORCE] = { 2, { 0x12 } },
		[JMC_IS_TILT] = { 2, { 0x22 } },
		[JMC_IS_IMU] = { 3, { 0x00, 0x01 } },
	};

	begin(frame, JMC_SENSOR, requests[what].len);
	frame->data[0] = (uint8_t)sensor;
	frame->data[1] = requests[what].type[0];
	frame->data[2] = requests[what].type[1];
}
