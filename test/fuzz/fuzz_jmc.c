/* fuzz_jmc.c: arbitrary frames as those of Hubo's boards, and arbitrary values to them: what is decoded is within its
 * range, what is encoded is a valid frame that reads back as the value it was made of.
 *
 * Longest: 200 bytes.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemons/hubo/jmc.h"
#include "test/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int32_t magnitude(const uint8_t *bytes)
{
	const int32_t value = bytes[0] | bytes[1] << 8 | (bytes[2] & 0x7F) << 16;

	return bytes[2] & 0x80 ? -value : value;
}

static void check_sent(enum jmc_kind kind, const int32_t value[JMC_MOTORS_MAX], uint8_t which)
{
	const enum jmc_command command = which % JMC_COMMANDS;
	struct frame f;

	if (!jmc_encode_reference(&f, kind, 0x21, value, which & 1)) {
		must(frame_valid(&f) && f.len >= 5);
		if (kind == JMC_TWO)
			must(magnitude(&f.data[3]) == value[1]);
		if (kind == JMC_ONE || kind == JMC_TWO || kind == JMC_WRIST)
			must(magnitude(&f.data[0]) == value[0]);
	}
	if (!jmc_encode_duty(&f, kind, 0x21, value, which & 1, which & 2))
		must(frame_valid(&f) && f.id == JMC_COMMAND && f.data[0] == 0x21 && f.data[1] == 0x0D);
	if (!jmc_encode(&f, 0x21, command, which % 7, value))
		must(frame_valid(&f) && f.len >= 2 && which % 7 <= jmc_command_about(command).motors);
	must(abs(jmc_counts(value[0] / 1e3, 1e3, JMC_COUNTS_MAX)) <= JMC_COUNTS_MAX);
	must(jmc_neck_counts(value[0] / 1e6) >= 0 && jmc_neck_counts(value[0] / 1e6) <= JMC_NECK_MAX);
}

static void check_received(enum jmc_kind kind, const struct frame *f, uint8_t which)
{
	const unsigned int motors = jmc_motors(kind);
	struct jmc_parameters p = { 0 };
	struct jmc_encoders e;
	struct jmc_currents c;
	struct jmc_status s;
	double value[JMC_MEASURED_MAX] = { 0 };

	if (!jmc_decode_encoders(&e, kind, f))
		must(e.n && e.first + e.n <= motors);
	if (!jmc_decode_status(&s, kind, f))
		for (unsigned int i = 0; i < motors; i++)
			must(s.flags[i] <= 0xFFFF && (s.home[i] <= 15 || s.home[i] == JMC_HOME_UNKNOWN));
	if (!jmc_decode_currents(&c, kind, f)) {
		must(isnan(c.temperature_c) == (kind == JMC_HAND));
		for (unsigned int i = 0; i < motors; i++)
			must(c.current_a[i] >= 0 && c.current_a[i] <= 10.23);
	}
	for (enum jmc_measured what = JMC_IS_FORCE; what <= JMC_IS_POWER; what++)
		if (!jmc_decode_measured(value, what, f))
			must(fabs(value[0]) <= 327.68 && fabs(value[1]) <= 327.68 && fabs(value[2]) <= 3276.8 &&
			     fabs(value[3]) <= 327.68);
	must(!jmc_decode_parameter(&p, which % JMC_PARAMETERS, f) == (f->len == 8));
}

/* 32 bytes each time: kind, which, length, 8 of data, 5 values, one unused. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (; size >= 32; data += 32, size -= 32) {
		const enum jmc_kind kind = data[0] % (JMC_HAND + 1);
		struct frame f = { .id = 0x081, .len = data[2] % 9 };
		int32_t value[JMC_MOTORS_MAX];

		memcpy(f.data, data + 3, 8);
		memcpy(value, data + 11, sizeof(value));
		check_received(kind, &f, data[1]);
		check_sent(kind, value, data[1]);
	}
	return 0;
}
