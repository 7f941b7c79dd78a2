/* ati.c: the codec of an ATI Net CAN OEM force/torque sensor.  Checked: pure, covered. */
#include <math.h>

#include "config/base/base.h"
#include "daemons/ft/ati.h"

#define G_M_S2 9.80665
#define LBF_N 4.4482216152605
#define INCH_M 0.0254

static unsigned int opcode_of(const struct frame *frame)
{
	return frame->id & 0xF;
}

void ati_encode(struct frame *frame, unsigned int base, enum ati_opcode opcode, uint8_t argument)
{
	memset(frame, 0, sizeof(*frame));
	frame->id = base << 4 | (uint32_t)opcode;
	if (opcode == ATI_MATRIX || opcode == ATI_CALIBRATION) {
		frame->len = 1;
		frame->data[0] = argument;
	}
}

/* ---- what it is ---- */

int ati_decode_serial(char serial[ATI_SERIAL_LEN + 1], const struct frame *frame)
{
	if (frame->len != ATI_SERIAL_LEN)
		return -EMSGSIZE;
	for (unsigned int i = 0; i < ATI_SERIAL_LEN; i++) {
		const uint8_t letter = frame->data[i];

		/* It goes into an event. */
		serial[i] = (char)(!letter ? ' ' : letter < ' ' || letter > '~' ? '?' : letter);
	}
	for (unsigned int n = ATI_SERIAL_LEN; n && serial[n - 1] == ' '; n--)
		serial[n - 1] = 0;
	serial[ATI_SERIAL_LEN] = 0;
	return 0;
}

int ati_decode_firmware(struct ati_firmware *firmware, const struct frame *frame)
{
	if (frame->len != 4)
		return -EMSGSIZE;
	firmware->major = frame->data[0];
	firmware->minor = frame->data[1];
	firmware->build = (uint16_t)frame_be(frame->data + 2, 2);
	return 0;
}

int ati_decode_counts(uint32_t counts[2], const struct frame *frame)
{
	if (frame->len != 8)
		return -EMSGSIZE;
	counts[0] = frame_be(frame->data, 4);
	counts[1] = frame_be(frame->data + 4, 4);
	return counts[0] && counts[1] ? 0 : -EPROTO;
}

int ati_decode_units(uint8_t codes[2], const struct frame *frame)
{
	if (frame->len != 2)
		return -EMSGSIZE;
	codes[0] = frame->data[0];
	codes[1] = frame->data[1];
	return 0;
}

int ati_decode_calibration(uint8_t *index, const struct frame *frame)
{
	if (frame->len != 1)
		return -EMSGSIZE;
	*index = frame->data[0];
	return 0;
}

int ati_decode_row(double row[ATI_GAUGES], unsigned int place, const struct frame *frame)
{
	const unsigned int opcode = opcode_of(frame);

	if (frame->len != 8)
		return -EMSGSIZE;
	if (place >= ATI_ROW_FRAMES || (opcode != ATI_MATRIX && opcode != ATI_MATRIX + place))
		return -EPROTO;
	for (unsigned int i = 0; i < 2; i++) {
		const uint32_t bits = frame_be(frame->data + 4 * i, 4);
		float value;

		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			return -EPROTO;
		row[2 * place + i] = (double)value;
	}
	return 0;
}

double ati_force_n(uint8_t code)
{
	static const double units[] = { 0, LBF_N, 1, 1000 * LBF_N, 1000, G_M_S2, G_M_S2 / 1000 };

	return code < sizeof(units) / sizeof(*units) ? units[code] : 0;
}

double ati_torque_nm(uint8_t code)
{
	static const double units[] = { 0, LBF_N * INCH_M, LBF_N * 12 * INCH_M, 1, 0.001, G_M_S2 / 100, 1000 };

	return code < sizeof(units) / sizeof(*units) ? units[code] : 0;
}

/* ---- samples ---- */

void ati_halves_begin(struct ati_halves *halves)
{
	halves->evens = halves->spoiled = false;
}

bool ati_halves_take(struct ati_halves *h, const struct frame *frame, int64_t t_ns, struct ati_sample *sample)
{
	const bool evens = opcode_of(frame) == ATI_GAUGE;

	/* A second first half, and a second half without a first one, are of another sample. */
	if (evens == h->evens || frame->len != (evens ? 8 : 6))
		h->spoiled = true;
	if (h->spoiled)
		return false;
	if (evens) {
		h->evens = true;
		h->sample.t_ns = t_ns;
		h->sample.status = (uint16_t)frame_be(frame->data, 2);
	}
	for (unsigned int i = 0; i < ATI_GAUGES / 2; i++)
		h->sample.gauge[2 * i + !evens] = (int16_t)frame_be(frame->data + 2 * i + 2 * evens, 2);
	if (evens)
		return false;
	*sample = h->sample;
	h->spoiled = true; /* whatever comes now is of another one */
	return true;
}

uint32_t ati_saturated(const struct ati_sample *sample, int32_t limit)
{
	uint32_t bits = 0;

	for (unsigned int i = 0; i < ATI_GAUGES; i++)
		if (sample->gauge[i] >= limit || sample->gauge[i] <= -limit)
			bits |= 1u << i;
	return bits;
}

/* ---- wrenches ---- */

struct ati_wrench ati_measure(const struct ati_calibration *c, const struct ati_sample *sample)
{
	struct ati_wrench w = { 0 };

	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int j = 0; j < ATI_GAUGES; j++) {
			w.force_n[i] += c->force_n * c->matrix[i][j] * sample->gauge[j];
			w.torque_nm[i] += c->torque_nm * c->matrix[3 + i][j] * sample->gauge[j];
		}
	return w;
}

void ati_mount(const struct mounting *mounting, struct ati_wrench *wrench)
{
	mounting_turn(mounting, wrench->force_n);
	mounting_turn(mounting, wrench->torque_nm);
}

struct ati_wrench ati_weight(double mass_kg, const double center_m[3], const double direction[3])
{
	const double length =
		sqrt(direction[0] * direction[0] + direction[1] * direction[1] + direction[2] * direction[2]);
	struct ati_wrench w;

	for (unsigned int i = 0; i < 3; i++)
		w.force_n[i] = mass_kg * G_M_S2 * direction[i] / length;
	for (unsigned int i = 0; i < 3; i++) {
		const unsigned int j = (i + 1) % 3, k = (i + 2) % 3;

		w.torque_nm[i] = center_m[j] * w.force_n[k] - center_m[k] * w.force_n[j];
	}
	return w;
}

struct ati_wrench ati_add(const struct ati_wrench *a, double factor, const struct ati_wrench *b)
{
	struct ati_wrench w = *a;

	for (unsigned int i = 0; i < 3; i++) {
		w.force_n[i] += factor * b->force_n[i];
		w.torque_nm[i] += factor * b->torque_nm[i];
	}
	return w;
}
