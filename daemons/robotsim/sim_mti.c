/* sim_mti.c: the frames of a simulated Xsens MTi, written from hw-docs/devices/imu.md. */
#include <math.h>

#include "daemons/robotsim/imu_unit.h"

#define HEARS 0x7FFu /* nothing that it takes is sent */
#define TIME_ID 0x005u
#define COUNTER_ID 0x006u
#define STATUS_ID 0x011u
#define QUATERNION_ID 0x021u
#define FORCE_ID 0x034u
#define TEMPERATURE_ID 0x051u

#define STATUS_GOOD 0x3u  /* self-test passed, filter valid */
#define CLIP_FORCE 0x100u /* x; y and z follow */
#define CLIP_RATE 0x800u
#define CELSIUS 30.5

static struct frame number(uint32_t id, uint32_t value, uint8_t len)
{
	struct frame f = { .id = id, .len = len };

	for (unsigned int i = 0; i < len; i++)
		f.data[i] = (uint8_t)(value >> 8 * (len - 1u - i));
	return f;
}

static struct frame words(uint32_t id, const double *values, unsigned int n, double counts_per, uint32_t clip,
			  uint32_t *status)
{
	struct frame f = { .id = id, .len = (uint8_t)(2 * n) };

	for (unsigned int i = 0; i < n; i++) {
		const double counts = round(values[i] * counts_per);
		const uint16_t word = (uint16_t)(int16_t)num_clamp(counts, INT16_MIN, INT16_MAX);

		if (counts > INT16_MAX || counts < INT16_MIN)
			*status |= clip << i;
		f.data[2 * i] = (uint8_t)(word >> 8);
		f.data[2 * i + 1] = (uint8_t)word;
	}
	return f;
}

/* How the sensor stands, as if what it feels were its weight alone; it looks along the world's x axis. */
static void orientation(const double force[3], double q[4])
{
	const double roll = atan2(force[1], force[2]) / 2, pitch = atan2(-force[0], hypot(force[1], force[2])) / 2;

	q[0] = cos(pitch) * cos(roll);
	q[1] = cos(pitch) * sin(roll);
	q[2] = sin(pitch) * cos(roll);
	q[3] = -sin(pitch) * sin(roll);
}

static unsigned int frames(struct imu_unit *unit, struct frame to[IMU_UNIT_BURST_MAX])
{
	uint32_t status = STATUS_GOOD, none = 0;
	unsigned int n = 0;
	const struct frame rate = words((uint32_t)unit->settings.rate_id, unit->rate, 3, 512, CLIP_RATE, &status);
	const struct frame force =
		words((uint32_t)unit->settings.acceleration_id, unit->force, 3, 256, CLIP_FORCE, &status);
	double q[4];

	orientation(unit->force, q);
	to[n++] = number(TIME_ID, (uint32_t)(unit->t_ns / 1000), 4);
	to[n++] = number(COUNTER_ID, unit->number, 2);
	to[n++] = number(STATUS_ID, status, 4);
	if (unit->orientation)
		to[n++] = words(QUATERNION_ID, q, 4, 32767, 0, &none);
	to[n++] = rate;
	to[n++] = force;
	to[n++] = number(TEMPERATURE_ID, (uint32_t)(CELSIUS * 256), 2);
	return n;
}

const struct imu_unit_wire imu_unit_mti = {
	.hears = HEARS, .sends = TIME_ID, .frames = frames, .half = FORCE_ID, .streams = true
};
