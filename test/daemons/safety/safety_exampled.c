/* safety_exampled.c: exampled and a simulated turntable, for the safety cases; from hw-docs/devices/example.md. */
#include <stdint.h>

#include "test/daemons/safety/safety_lib.h"
#include "unity.h"

#define ID_STATE 0x191
#define ID_TURN 0x211

static int16_t le16(const uint8_t *data)
{
	return (int16_t)(data[0] | data[1] << 8);
}

/* There is one command, and velocity 0 is how it stops. */
static enum safety_kind kind(const struct frame *frame)
{
	return frame->id == ID_TURN && frame->len == 2 ? SAFETY_MOVE : SAFETY_OTHER;
}

static double value(const struct frame *move)
{
	return le16(move->data) * 1e-3;
}

/* It says where it is by itself, every 5 ms. */
static void observe(struct bus *probe, struct safety_reading *seen)
{
	struct bus_frame got;

	for (safety_wait_begin(); bus_receive(probe, &got, 1) != 1; safety_wait("a state", __LINE__))
		;
	TEST_ASSERT_EQUAL(6, got.frame.len);
	seen->t_ns = got.t_ns;
	seen->position_rad = (int32_t)((uint32_t)(uint16_t)le16(got.frame.data) |
				       (uint32_t)(uint16_t)le16(got.frame.data + 2) << 16) *
			     1e-6;
	seen->velocity_rad_s = le16(got.frame.data + 4) * 1e-3;
}

const struct safety_actuator safety_exampled = {
	.program = "exampled",
	.careless = "test/daemons/careless/exampled",
	.has = SAFETY_VELOCITIES | SAFETY_POSITIONS | SAFETY_CARELESS,

	.min_rad = -1.5,
	.max_rad = 1.6,
	.velocity_rad_s = 0.5,
	.acceleration_rad_s2 = 2,
	.second = { "--name other --bus wire:torso" },

	.unit = SAFETY_DEVICE ".1",
	.fault_silent = "silent",
	.event_silent = { "silent", "the turntable has been silent" },

	.filters = { { ID_TURN, 0x7FF } },
	.filters_n = 1,
	.kind = kind,
	.value = value,
	.resolution_rad_s = 1e-3,

	.answers = { ID_STATE, 0x7FF },
	.observe = observe,
	.rests_ns = 150 * SAFETY_MS, /* 100 ms, and its braking time */
	.rests_rad = 0.5 * 0.15,
	.brakes_rad_s2 = 20,
};
