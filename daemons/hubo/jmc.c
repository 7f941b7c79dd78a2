/* jmc.c: references and commands to Hubo's boards.  Checked: pure, covered. */
#include <math.h>

#include "config/base/base.h"
#include "daemons/hubo/jmc.h"

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

	return (int32_t)fmax(-limit, fmin(limit, counts)); /* of NaN limit */
}

int32_t jmc_neck_counts(double rad)
{
	const double counts = (rad + M_PI) / (2 * M_PI) * NECK_TURN_SENT;

	return (int32_t)fmin(JMC_NECK_MAX, fmax(0, counts)); /* of NaN 0 */
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
			frame_put_le(&frame->data[2 * i], (uint32_t)value[i], 2);
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
		frame_put_le(&frame->data[3], sign_magnitude(value[1], 23), 3);
		break;
	default:
		if (repeat)
			frame_put_le(&frame->data[3], sign_magnitude(value[0], 23), 3);
	}
	if (!within(value[0], JMC_COUNTS_MAX))
		return -ERANGE;
	frame_put_le(&frame->data[0], sign_magnitude(value[0], 23), 3);
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
#define U8(a) { .at = a, .bytes = 1, .max = UINT8_MAX }
#define U16(a) { .at = a, .bytes = 2, .max = UINT16_MAX }
#define I32(a) { .at = a, .bytes = 4, .min = INT32_MIN, .max = INT32_MAX }
#define UP_TO(a, most) { .at = a, .bytes = 1, .max = most }
#define BETWEEN(a, least, most, ...) { .at = a, .bytes = 1, .min = least, .max = most, __VA_ARGS__ }
#define ROW(n, c, l, ...) { .name = n, .code = c, .len = l, __VA_ARGS__ }
#define VALUES(...) .value = { __VA_ARGS__ }
/* clang-format on */

static const struct row {
	const char *name;
	uint8_t code, len;
	uint8_t motors;	  /* one code for each of them */
	uint8_t constant; /* byte 2, beside its value */
	struct value value[JMC_VALUES_MAX];
} rows[JMC_COMMANDS] = {
	/* hubo-ach sends it with a third byte, so this one does; no source uses that byte */
	[JMC_GET_STATUS] = ROW("get-status", 0x02, 3),
	[JMC_GET_ENCODER] = ROW("get-encoder", 0x03, 3, VALUES(UP_TO(2, 1))),
	[JMC_GET_CURRENT] = ROW("get-current", 0x04, 2),
	[JMC_GET_PARAMETER] = ROW("get-parameter", 0x24, 3, VALUES(BETWEEN(2, 1, 35))),
	[JMC_GET_POWER] = ROW("get-power", 0xE0, 2),
	[JMC_ZERO] = ROW("zero", 0x06, 3, VALUES(BETWEEN(2, 0, 4, .or_this = JMC_ALL_MOTORS))),
	[JMC_POSITION_GAINS] = ROW("position-gains", 0x07, 8, .motors = 2, VALUES(U16(2), U16(4), U16(6))),
	[JMC_CURRENT_GAINS] = ROW("current-gains", 0x09, 8, .motors = 2, VALUES(U16(2), U16(4), U16(6))),
	[JMC_FET] = ROW("fet", 0x0B, 3, VALUES(UP_TO(2, 1))),
	[JMC_CONTROL_ON] = ROW("control-on", 0x0E, 2),
	[JMC_CONTROL_OFF] = ROW("control-off", 0x0F, 2),
	[JMC_MODE] = ROW("mode", 0x10, 3, VALUES(UP_TO(2, 2))),
	[JMC_HOME] = ROW("home", 0x11, 8, VALUES(BETWEEN(2, 1, 5, .or_this = JMC_ALL_MOTORS))),
	[JMC_FREEWHEEL] = ROW("freewheel", 0x13, 3, VALUES(UP_TO(2, 1))),
	[JMC_DEAD_ZONE] = ROW("dead-zone", 0x20, 3, .motors = 4, VALUES(U8(2))),
	[JMC_HOME_SEARCH] = ROW("home-search", 0x30, 8, .motors = 5, VALUES(U8(2), UP_TO(3, 1), I32(4))),
	[JMC_ENCODER_RESOLUTION] = ROW("encoder-resolution", 0x38, 4, .motors = 5, VALUES(U16(2))),
	[JMC_MOTION_LIMITS] = ROW("motion-limits", 0x40, 6, .motors = 5, VALUES(U16(2), U16(4))),
	[JMC_LOWER_LIMIT] = ROW("lower-limit", 0x50, 7, .motors = 5, VALUES(UP_TO(2, 3), I32(3))),
	[JMC_UPPER_LIMIT] = ROW("upper-limit", 0x56, 7, .motors = 5, VALUES(UP_TO(2, 3), I32(3))),
	[JMC_HOME_MOTION] =
		ROW("home-motion", 0x60, 7, .motors = 5, VALUES(U8(2), U8(3), U8(4), UP_TO(5, 2), UP_TO(6, 100))),
	[JMC_GAIN_OVERRIDE] = ROW("gain-override", 0x6F, 6, VALUES(UP_TO(2, 100), UP_TO(3, 100), U16(4))),
	[JMC_NULL_FORCE] = ROW("null-force", 0x81, 3),
	[JMC_NULL_TILT] = ROW("null-tilt", 0x81, 3, .constant = 0x04),
	[JMC_NULL_IMU] = ROW("null-imu", 0x81, 2),
	[JMC_ALARM] = ROW("alarm", 0x82, 3, VALUES(UP_TO(2, 4))),
	[JMC_BEEP] = ROW("beep", 0x83, 3, VALUES(BETWEEN(2, 1, UINT8_MAX))),
	[JMC_BOARD_NUMBER] = ROW("board-number", 0xF0, 4, VALUES(UP_TO(2, 0x35), BETWEEN(3, 1, UINT8_MAX))),
	[JMC_JAM_LIMITS] = ROW("jam-limits", 0xF2, 8, VALUES(U16(2), U16(4), UP_TO(6, 100), UP_TO(7, 100))),
	[JMC_ERROR_LIMITS] = ROW("error-limits", 0xF3, 8, VALUES(U16(2), U16(4), U16(6))),
	[JMC_INITIALIZE] = ROW("initialize", 0xFA, 2),
	[JMC_INITIALIZE_SENSOR] = ROW("initialize-sensor", 0xFA, 3, .constant = 0xAA),
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
		frame_put_le(&frame->data[v->at], (uint32_t)values[i], v->bytes);
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
