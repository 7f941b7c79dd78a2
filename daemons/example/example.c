/* example.c: the codec of the example device.  Checked: pure, covered. */
#include <math.h>

#include "config/base/base.h"
#include "daemons/example/example.h"

int example_decode(struct example_state *state, const struct frame *frame, int64_t t_ns)
{
	if (frame->len != 6)
		return -EMSGSIZE;
	state->t_ns = t_ns;
	state->position_rad = (int32_t)frame_le32(frame->data) * 1e-6;
	state->velocity_rad_s = (int16_t)frame_le16(frame->data + 4) * 1e-3;
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
