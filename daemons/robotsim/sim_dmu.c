/* sim_dmu.c: the frames of a simulated Silicon Sensing DMU, written from hw-docs/devices/imu.md. */
#include <math.h>

#include "daemons/robotsim/imu_unit.h"

#define RATE_ID 0x040u
#define FORCE_ID 0x050u
#define TOGGLE_ID 0x090u
#define TOGGLE 0x0F
#define COUNTS_PER_RAD_S (180 / M_PI / 0.008)
#define COUNTS_PER_M_S2 (1 / 9.80665 / 0.0003)

static void make(struct frame *f, uint32_t id, const double values[3], double counts_per, uint32_t number)
{
	*f = (struct frame){ .id = id, .len = 8 };
	for (unsigned int i = 0; i < 3; i++)
		frame_put_le(f->data + 2 * i, sim_base_i16(values[i] * counts_per), 2);
	f->data[7] = (uint8_t)number;
}

static unsigned int frames(struct imu_unit *unit, struct frame to[IMU_UNIT_BURST_MAX])
{
	make(&to[0], RATE_ID, unit->rate, COUNTS_PER_RAD_S, unit->number);
	make(&to[1], FORCE_ID, unit->force, COUNTS_PER_M_S2, unit->number);
	return 2;
}

static void hear(struct imu_unit *unit, const struct frame *f, int64_t t_ns)
{
	if (f->id != TOGGLE_ID || f->len != 1 || f->data[0] != TOGGLE)
		return;
	unit->toggles++;
	unit->streaming = !unit->streaming;
	if (unit->streaming)
		unit->sample_ns = t_ns + unit->toggle_delay_ns;
}

const struct imu_unit_wire imu_unit_dmu = {
	.hears = TOGGLE_ID, .sends = RATE_ID, .frames = frames, .hear = hear, .half = FORCE_ID
};
