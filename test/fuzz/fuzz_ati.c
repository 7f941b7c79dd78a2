/* fuzz_ati.c: arbitrary frames as those of an ATI force/torque sensor: a sample is a first and a second half in answer
 * to one request, next to each other; what is measured is finite; a serial number is text.
 *
 * Longest: 240 bytes.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "daemons/ft/ati.h"
#include "test/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_items(const struct frame *f, struct ati_calibration *c, uint8_t at)
{
	char serial[ATI_SERIAL_LEN + 1];
	struct ati_firmware firmware;
	uint32_t counts[2];
	uint8_t codes[2];

	if (!ati_decode_serial(serial, f))
		for (const char *letter = serial; *letter; letter++)
			must(*letter >= ' ' && *letter <= '~');
	ati_decode_firmware(&firmware, f);
	if (!ati_decode_counts(counts, f) && c->force_n > 0) {
		c->force_n = 1.0 / counts[0];
		c->torque_nm = 1.0 / counts[1];
	}
	if (!ati_decode_units(codes, f))
		must(ati_force_n(codes[0]) >= 0 && ati_torque_nm(codes[1]) >= 0);
	ati_decode_calibration(codes, f);
	ati_decode_row(c->matrix[at % ATI_AXES], at / 16, f);
}

static void check_sample(const struct ati_calibration *c, const struct ati_sample *s)
{
	const struct mounting mounting = mounting_of((const double[3]){ 10, -20, 135 });
	const struct ati_wrench w = ati_measure(c, s);
	struct ati_wrench turned = w;
	double before = 0, after = 0;

	ati_mount(&mounting, &turned);
	for (unsigned int i = 0; i < 3; i++) {
		must(isfinite(w.force_n[i]) && isfinite(w.torque_nm[i]));
		before += w.force_n[i] * w.force_n[i];
		after += turned.force_n[i] * turned.force_n[i];
	}
	must(!(fabs(before - after) > 1e-6 * (1 + before)));
	must(ati_saturated(s, 1000) <= 0x3F);
}

/* Of each frame 10 bytes: opcode, a request before it or not; length; data. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ati_calibration calibration = { .force_n = 1, .torque_nm = 1 };
	struct ati_halves halves = { 0 };
	struct frame before = { 0 };
	int64_t t_ns = 0;
	bool fresh = true; /* no frame of a sample since the request */

	for (; size >= 10; data += 10, size -= 10) {
		struct frame f = { .id = 0x200u | (data[0] & 0xF), .len = data[1] % 9 };
		struct ati_sample s;

		t_ns++;
		memcpy(f.data, data + 2, 8);
		check_items(&f, &calibration, data[0]);
		if (data[0] & 0x80) {
			ati_halves_begin(&halves);
			before = (struct frame){ 0 };
			fresh = true;
		}
		f.id &= ~0xEu;
		if (ati_halves_take(&halves, &f, t_ns, &s)) {
			must(f.id == 0x201 && f.len == 6 && before.id == 0x200 && before.len == 8);
			must(s.t_ns == t_ns - 1 && s.status == (before.data[0] << 8 | before.data[1]));
			must(s.gauge[5] == (int16_t)(f.data[4] << 8 | f.data[5]));
			check_sample(&calibration, &s);
			before = (struct frame){ 0 };
			fresh = false;
		} else {
			before = fresh && f.id == 0x200 ? f : (struct frame){ 0 };
			fresh = false;
		}
	}
	return 0;
}
