/* example.c: the codec of the example device. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "daemons/example/example.h"

static int32_t le32(const uint8_t *b)
{
	return (int32_t)((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24);
}

static int16_t le16(const uint8_t *b)
{
	return (int16_t)(b[0] | b[1] << 8);
}

int example_decode(struct example_state *state, const struct frame *frame, int64_t t_ns)
{
	if (frame->len != 6)
		return -EMSGSIZE;
	state->t_ns = t_ns;
	state->position_rad = le32(frame->data) * 1e-6;
	state->velocity_rad_s = le16(frame->data + 4) * 1e-3;
	return 0;
}

int example_encode_turn(unsigned int node, double velocity_rad_s, struct frame *frame)
{
	const double mrad_s = round(velocity_rad_s * 1000);

	if (!isfinite(velocity_rad_s))
		return -EDOM;
	if (fabs(mrad_s) > INT16_MAX)
		return -ERANGE;
	memset(frame, 0, sizeof(*frame));
	frame->id = EXAMPLE_ID_TURN + node;
	frame->len = 2;
	frame->data[0] = (uint8_t)(int)mrad_s;
	frame->data[1] = (uint8_t)((int)mrad_s >> 8);
	return 0;
}
