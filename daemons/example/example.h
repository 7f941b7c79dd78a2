/* example.h: frames of the example device, a turntable; see hw-docs/devices/example.md.  Pure. */
#pragma once

#include "can/bus/frame.h"

#define EXAMPLE_ID_STATE 0x190u /* + node: every 5 ms, position in urad (i32), velocity in mrad/s (i16) */
#define EXAMPLE_ID_TURN 0x210u	/* + node: turn with this velocity in mrad/s (i16); for 100 ms, then it stops */
#define EXAMPLE_STATE_NS 5000000

struct example_state {
	int64_t t_ns;
	double position_rad, velocity_rad_s;
};

/* 0, or -EMSGSIZE: not of this length. */
int example_decode(struct example_state *state, const struct frame *frame, int64_t t_ns);

/* 0, or -EDOM: not finite, -ERANGE: more than the frame can say. */
int example_encode_turn(unsigned int node, double velocity_rad_s, struct frame *frame);
