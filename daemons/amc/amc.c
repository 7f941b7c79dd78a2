/* amc.c: the codec of AMC DigiFlex drives.  Checked: pure, covered. */
#include "config/base/base.h"
#include "daemons/amc/amc.h"

#include <math.h>

#define VELOCITY_SHIFT 131072.0 /* 2^17 */
#define COMMAND_SHIFT 32768.0	/* 2^15: of a commanded current */
#define MEASURED_SHIFT 8192.0	/* 2^13: of a measured one */
#define VOLTAGE_SHIFT 16384.0	/* 2^14 */
#define VOLTAGE_HEADROOM 1.05

double amc_kp_a(uint32_t raw)
{
	return raw * 0.1;
}

double amc_ks_hz(uint32_t raw)
{
	return raw / 65536.0 * 1000;
}

double amc_voltage_v(uint16_t raw, uint32_t kov)
{
	return raw * VOLTAGE_HEADROOM * (kov * 0.1) / VOLTAGE_SHIFT;
}

unsigned int amc_layout_len(enum amc_layout layout)
{
	return layout == AMC_POSITION || layout == AMC_VELOCITY ? 8 : 6;
}

static double counts_per_raw(const struct amc_scale *scale)
{
	return scale->ki * scale->ks_hz / VELOCITY_SHIFT;
}

static double turned(double value, const struct amc_scale *scale)
{
	return scale->counts_per_rad < 0 ? -value : value;
}

static double raw_of(enum amc_mode mode, double value, const struct amc_scale *scale)
{
	switch (mode) {
	case AMC_MODE_POSITION:
		return value * scale->counts_per_rad;
	case AMC_MODE_VELOCITY:
		return value * scale->counts_per_rad / counts_per_raw(scale);
	case AMC_MODE_CURRENT:
		break;
	}
	return turned(value, scale) * COMMAND_SHIFT / scale->kp_a;
}

int amc_encode(struct frame *frame, uint32_t id, enum amc_mode mode, uint16_t controlword, double value,
	       const struct amc_scale *scale)
{
	const unsigned int bytes = mode == AMC_MODE_CURRENT ? 2 : 4;
	/* 0 is 0 in any scale: it is sent to a drive of which nothing is known yet. */
	const double raw = value == 0 ? 0 : round(raw_of(mode, value, scale));
	uint32_t word;

	if (!isfinite(raw))
		return -EDOM;
	if (raw < (bytes == 2 ? INT16_MIN : INT32_MIN) || raw > (bytes == 2 ? INT16_MAX : INT32_MAX))
		return -ERANGE;
	*frame = (struct frame){ .id = id, .len = (uint8_t)(2 + bytes) };
	frame->data[0] = (uint8_t)controlword;
	frame->data[1] = (uint8_t)(controlword >> 8);
	word = (uint32_t)(int32_t)raw;
	for (unsigned int i = 0; i < bytes; i++)
		frame->data[2 + i] = (uint8_t)(word >> 8 * i);
	return 0;
}

int amc_decode(struct amc_sample *sample, const struct frame *frame, enum amc_layout layout,
	       const struct amc_scale *scale)
{
	double counts;

	if (frame->len != amc_layout_len(layout))
		return -EMSGSIZE;
	counts = (int32_t)frame_le32(frame->data + 2);
	sample->status = frame_le16(frame->data);
	if (layout == AMC_POSITION || layout == AMC_POSITION_ONLY)
		sample->position_rad = counts / scale->counts_per_rad;
	else
		sample->velocity_rad_s = counts * counts_per_raw(scale) / scale->counts_per_rad;
	if (frame->len == 8)
		sample->current_a = turned((int16_t)frame_le16(frame->data + 6), scale) * scale->kp_a / MEASURED_SHIFT;
	return 0;
}
