/* safety_amciod.c: amciod and a simulated AMC drive, for the safety cases; from hw-docs/devices/amc.md. */
#include <math.h>
#include <stdint.h>

#include "test/daemons/safety/safety_lib.h"
#include "unity.h"

#define NODE 0x20
#define ID_VELOCITY (0x200 + 7 * NODE + 1)
#define ID_CURRENT (0x200 + 7 * NODE + 2)
#define ID_SAMPLE (0x200 + 7 * NODE + 3)
#define RAD_PER_COUNT (2 * M_PI / (1000000 * 15.0))
#define COUNTS_S_PER_RAW (20000 / 131072.0) /* KS 20 kHz, KI 1 */

static int32_t le32(const uint8_t *data)
{
	return (int32_t)(data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24);
}

/* Velocity 0 is how it stops, with the controlword that enables it or with one that switches it off. */
static enum safety_kind kind(const struct frame *frame)
{
	return frame->id == ID_VELOCITY && frame->len == 6 ? SAFETY_MOVE : SAFETY_OTHER;
}

static double value(const struct frame *move)
{
	return le32(move->data + 2) * COUNTS_S_PER_RAW * RAD_PER_COUNT;
}

/* It says where it is by itself; how fast, from two samples. */
static void observe(struct bus *probe, struct safety_reading *seen)
{
	struct safety_reading last = { 0 };
	struct bus_frame got;

	for (safety_wait_begin();; safety_wait("two samples", __LINE__)) {
		if (bus_receive(probe, &got, 1) != 1)
			continue;
		TEST_ASSERT_EQUAL(8, got.frame.len);
		seen->t_ns = got.t_ns;
		seen->position_rad = le32(got.frame.data + 2) * RAD_PER_COUNT;
		if (last.t_ns)
			break;
		last = *seen;
	}
	seen->velocity_rad_s = (seen->position_rad - last.position_rad) / ((double)(seen->t_ns - last.t_ns) * 1e-9);
}

const struct safety_actuator safety_amciod = {
	.program = "amciod",
	.has = SAFETY_VELOCITIES | SAFETY_POSITIONS,

	.settings = "drives: 0x20 hip, counts: 1000000, sync: no, period: 5ms, position_by: velocity, second_tpdo: yes",
	.watchdog = "guard_time: %dms",
	.sim = "friction: 0.2, inertia: 0.2, velocity_gain: 300, current_lag: 0, velocity_filter: 200us",
	.sim_absent = "power: no",
	.limits = "current: 20",
	.min_rad = -1.5,
	.max_rad = 1.6,
	.velocity_rad_s = 0.5,
	.acceleration_rad_s2 = 2,
	.second = { "--name other --bus wire:torso --set 'drives=0x20 hip'" },

	.unit = SAFETY_DEVICE ".hip",
	.fault_silent = "silent",
	.event_silent = { "silent-20", "drive 0x20 hip: silent" },

	.filters = { { ID_VELOCITY, 0x7FF }, { ID_CURRENT, 0x7FF } },
	.filters_n = 2,
	.kind = kind,
	.value = value,
	.resolution_rad_s = COUNTS_S_PER_RAW * RAD_PER_COUNT,

	.answers = { ID_SAMPLE, 0x7FF },
	.observe = observe,
	.watchdog_ms = 200,
	.rests_ns = 750 * SAFETY_MS,
	.rests_rad = 0.5 * 0.5,
	.brakes_rad_s2 = 1,
};
