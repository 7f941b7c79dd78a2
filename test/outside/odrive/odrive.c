/* odrive.c: the codec of an ODrive.  Pure. */
#include <math.h>

#include "config/base/base.h"
#include "odrive.h"

static double get_f32(const uint8_t *data)
{
	const uint32_t bits = frame_le32(data);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return (double)value;
}

static void put_f32(uint8_t *data, double value)
{
	const float number = (float)value;
	uint32_t bits;

	memcpy(&bits, &number, sizeof(bits));
	frame_put_le(data, bits, 4);
}

/* ---- what it sends ---- */

int odrive_decode_heartbeat(struct odrive_heartbeat *got, const struct frame *frame, int64_t t_ns)
{
	if (frame_data_len(frame) != 8)
		return -EMSGSIZE;
	*got = (struct odrive_heartbeat){ t_ns, frame_le32(frame->data), frame->data[4], frame->data[5] };
	return 0;
}

int odrive_decode_estimates(struct odrive_estimates *got, const struct frame *frame, int64_t t_ns)
{
	const double position = get_f32(frame->data), velocity = get_f32(frame->data + 4);

	if (frame_data_len(frame) != 8)
		return -EMSGSIZE;
	if (!isfinite(position) || !isfinite(velocity))
		return -EDOM;
	*got = (struct odrive_estimates){ t_ns, position * 2 * M_PI, velocity * 2 * M_PI };
	return 0;
}

int odrive_decode_u32(uint32_t *value, const struct frame *frame, unsigned int at)
{
	if (frame_data_len(frame) < at + 4)
		return -EMSGSIZE;
	*value = frame_le32(frame->data + at);
	return 0;
}

/* ---- what it is sent ---- */

static void begin(struct frame *frame, unsigned int node, enum odrive_command command, uint8_t len)
{
	*frame = (struct frame){ .id = ODRIVE_ID(node, command), .len = len };
}

void odrive_encode_ask(unsigned int node, enum odrive_command command, struct frame *frame)
{
	begin(frame, node, command, 8);
	frame->id |= FRAME_RTR;
}

void odrive_encode_read(unsigned int node, uint16_t endpoint, struct frame *frame)
{
	begin(frame, node, ODRIVE_READ, 4);
	frame_put_le(frame->data + 1, endpoint, 2);
}

void odrive_encode_clear(unsigned int node, struct frame *frame)
{
	begin(frame, node, ODRIVE_CLEAR, 1);
}

void odrive_encode_state(unsigned int node, enum odrive_state state, struct frame *frame)
{
	begin(frame, node, ODRIVE_STATE, 4);
	frame_put_le(frame->data, state, 4);
}

void odrive_encode_mode(unsigned int node, enum odrive_control control, struct frame *frame)
{
	begin(frame, node, ODRIVE_MODE, 8);
	frame_put_le(frame->data, control, 4);
	frame->data[4] = 1; /* the input is passed through */
}

int odrive_encode_position(unsigned int node, double position_rad, double velocity_rad_s, struct frame *frame)
{
	const double velocity = round(velocity_rad_s / (2 * M_PI) * 1000);

	if (!isfinite(position_rad) || !isfinite(velocity))
		return -EDOM;
	if (fabs(velocity) > INT16_MAX)
		return -ERANGE;
	begin(frame, node, ODRIVE_POSITION, 8);
	put_f32(frame->data, position_rad / (2 * M_PI));
	frame_put_le(frame->data + 4, (uint64_t)(int64_t)velocity, 2);
	return 0;
}

int odrive_encode_velocity(unsigned int node, double velocity_rad_s, struct frame *frame)
{
	if (!isfinite(velocity_rad_s))
		return -EDOM;
	begin(frame, node, ODRIVE_VELOCITY, 8);
	put_f32(frame->data, velocity_rad_s / (2 * M_PI));
	return 0;
}

bool odrive_is_order(const struct frame *frame)
{
	const uint32_t orders = 1u << ODRIVE_STATE | 1u << ODRIVE_MODE | 1u << ODRIVE_POSITION | 1u << ODRIVE_VELOCITY;

	return !(frame->id & FRAME_RTR) && orders & 1u << (frame->id & 0x1F);
}

/* ---- words ---- */

static const struct {
	uint32_t bit;
	const char *word;
} errors_of[] = {
	{ 0x1, "initializing" },
	{ 0x2, "system" },
	{ 0x4, "timing" },
	{ 0x8, "missing estimate" },
	{ 0x10, "bad configuration" },
	{ 0x20, "gate driver" },
	{ 0x40, "missing input" },
	{ 0x100, "over-voltage" },
	{ 0x200, "under-voltage" },
	{ 0x400, "over-current" },
	{ 0x800, "regenerative over-current" },
	{ 0x1000, "current limit" },
	{ 0x2000, "motor too hot" },
	{ 0x4000, "inverter too hot" },
	{ 0x8000, "velocity limit" },
	{ 0x10000, "position limit" },
	{ ODRIVE_WATCHDOG, "watchdog" },
	{ 0x2000000, "e-stop" },
	{ 0x4000000, "spin-out" },
	{ 0x8000000, "brake resistor" },
	{ 0x10000000, "thermistor" },
	{ 0x40000000, "calibration" },
};

const char *odrive_error_words(char words[ODRIVE_WORDS_MAX], uint32_t errors)
{
	*words = 0;
	for (size_t i = 0; i < sizeof(errors_of) / sizeof(*errors_of); i++) {
		if (errors & errors_of[i].bit)
			lines_append(words, ODRIVE_WORDS_MAX, ", ", "%s", errors_of[i].word);
		errors &= ~errors_of[i].bit;
	}
	if (errors || !*words)
		lines_append(words, ODRIVE_WORDS_MAX, ", ", errors ? "0x%X" : "none", errors);
	return words;
}
