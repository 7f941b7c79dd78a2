/* test_ati.c: the codec of an ATI force/torque sensor says the vectors of its page; a sample is of one request. */
#include <math.h>

#include "can/bus/frame_text.h"
#include "daemons/ft/ati.h"
#include "test/daemons/drv/page_lib.h"
#include "test/lib/testcase.h"

#define PAGE "hw-docs/devices/ati.md"

static bool say_error(char *said, int status)
{
	TEST_ASSERT(status == 0 || status == -EMSGSIZE || status == -EPROTO);
	strcpy(said, status == -EMSGSIZE ? "EMSGSIZE" : "EPROTO");
	return status;
}

/* ---- the page ---- */

static void say_ask(char said[PAGE_LIB_TEXT], char *words)
{
	unsigned int base, opcode, argument;
	struct frame frame;

	TEST_ASSERT_EQUAL(3, sscanf(words, "%x %u %u", &base, &opcode, &argument));
	memset(&frame, 0x5A, sizeof(frame));
	ati_encode(&frame, base, (enum ati_opcode)opcode, (uint8_t)argument);
	TEST_ASSERT_TRUE(frame_valid(&frame));
	TEST_ASSERT_EQUAL(frame.len ? argument : 0, frame.data[0]);
	TEST_ASSERT_EQUAL(0, frame.data[1]);
	frame_text_write(said, &frame);
}

static void say_sample(char said[PAGE_LIB_TEXT], char *words)
{
	struct ati_halves halves = { 0 };
	struct ati_sample s;
	struct frame frame;
	int64_t t_ns = 0;

	strcpy(said, "nothing");
	while (page_lib_frame(&words, &frame)) {
		memset(&s, 0x5A, sizeof(s));
		t_ns += 100;
		if (!ati_halves_take(&halves, &frame, t_ns, &s))
			continue;
		TEST_ASSERT_EQUAL(t_ns - 100, s.t_ns);
		sprintf(said, "status %04x gauges %d %d %d %d %d %d saturated %02x", s.status, s.gauge[0], s.gauge[1],
			s.gauge[2], s.gauge[3], s.gauge[4], s.gauge[5], ati_saturated(&s, 32000));
	}
}

static void say_row(char said[PAGE_LIB_TEXT], char *words)
{
	const struct frame frame = page_lib_read(words + 3);
	const unsigned int place = (unsigned int)(words[1] - '0');
	double row[ATI_GAUGES + 2] = { 7, 7, 7, 7, 7, 7, 7, 7 };
	unsigned int kept = 0;

	if (say_error(said, ati_decode_row(row, place, &frame)))
		return;
	for (unsigned int i = 0; i < 8; i++)
		kept += row[i] == 7;
	TEST_ASSERT_EQUAL(6, kept);
	sprintf(said, "%.6f %.6f", row[2 * place], row[2 * place + 1]);
}

static void say_serial(char said[PAGE_LIB_TEXT], char *words)
{
	const struct frame frame = page_lib_read(words + 1);
	char serial[ATI_SERIAL_LEN + 1];

	memset(serial, 'X', sizeof(serial));
	if (!say_error(said, ati_decode_serial(serial, &frame)))
		strcpy(said, serial);
}

static void say_firmware(char said[PAGE_LIB_TEXT], char *words)
{
	const struct frame frame = page_lib_read(words + 1);
	struct ati_firmware f;

	if (!say_error(said, ati_decode_firmware(&f, &frame)))
		sprintf(said, "%u.%u.%u", f.major, f.minor, f.build);
}

static void say_counts(char said[PAGE_LIB_TEXT], char *words)
{
	const struct frame frame = page_lib_read(words + 1);
	uint32_t counts[2];

	if (!say_error(said, ati_decode_counts(counts, &frame)))
		sprintf(said, "%u %u", counts[0], counts[1]);
}

static void say_units(char said[PAGE_LIB_TEXT], char *words)
{
	const struct frame frame = page_lib_read(words + 1);
	uint8_t codes[2];

	if (!say_error(said, ati_decode_units(codes, &frame)))
		sprintf(said, "%.15g %.15g", ati_force_n(codes[0]), ati_torque_nm(codes[1]));
}

static void say_calibration(char said[PAGE_LIB_TEXT], char *words)
{
	const struct frame frame = page_lib_read(words + 1);
	uint8_t index;

	if (!say_error(said, ati_decode_calibration(&index, &frame)))
		sprintf(said, "%u", index);
}

static void say_wrench(char *said, const struct ati_wrench *w)
{
	double v[6];

	for (unsigned int i = 0; i < 6; i++) {
		v[i] = i < 3 ? w->force_n[i] : w->torque_nm[i - 3];
		v[i] = fabs(v[i]) < 1e-9 ? 0 : v[i]; /* no -0 */
	}
	sprintf(said, "%.6f %.6f %.6f %.6f %.6f %.6f", v[0], v[1], v[2], v[3], v[4], v[5]);
}

static void say_mount(char said[PAGE_LIB_TEXT], char *words)
{
	struct mounting mounting;
	struct ati_wrench w;
	double degrees[3];

	TEST_ASSERT_EQUAL(9, sscanf(words, "%lf %lf %lf: %lf %lf %lf %lf %lf %lf", &degrees[0], &degrees[1],
				    &degrees[2], &w.force_n[0], &w.force_n[1], &w.force_n[2], &w.torque_nm[0],
				    &w.torque_nm[1], &w.torque_nm[2]));
	mounting = mounting_of(degrees);
	ati_mount(&mounting, &w);
	say_wrench(said, &w);
}

static void say_weight(char said[PAGE_LIB_TEXT], char *words)
{
	double mass, center[3], direction[3];
	struct ati_wrench w;

	TEST_ASSERT_EQUAL(7, sscanf(words, "%lf %lf %lf %lf: %lf %lf %lf", &mass, &center[0], &center[1], &center[2],
				    &direction[0], &direction[1], &direction[2]));
	w = ati_weight(mass, center, direction);
	say_wrench(said, &w);
}

static const struct {
	const char *word;
	void (*say)(char said[PAGE_LIB_TEXT], char *words);
} kinds[] = { { "ask", say_ask },	{ "sample", say_sample },	    { "row", say_row },
	      { "serial", say_serial }, { "firmware", say_firmware },	    { "counts", say_counts },
	      { "units", say_units },	{ "calibration", say_calibration }, { "mount", say_mount },
	      { "weight", say_weight } };

TEST(the_pages_vectors)
{
	unsigned int vectors = 0;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		vectors += page_lib_each(PAGE, kinds[i].word, kinds[i].say);
	TEST_ASSERT_EQUAL(70, vectors);
}

/* ---- samples ---- */

/* E and e are a first half, O and o a second half, with other values in lower case; R is a request; X spoils. */
TEST(halves_of_two_requests_are_never_a_sample)
{
	static const struct {
		const char *events;
		const char *samples; /* of which halves */
	} cases[] = {
		{ "REO", "EO" }, { "REOReo", "EOeo" }, { "REReo", "eo" },      { "REROeo", "" },   { "ROReo", "eo" },
		{ "RERo", "" },	 { "REeo", "" },       { "REOo", "EO" },       { "REOeo", "EO" },  { "REXO", "" },
		{ "RXEO", "" },	 { "REXReo", "eo" },   { "REOREReo", "EOeo" }, { "RRRREO", "EO" }, { "REORORo", "EO" },
		{ "EO", "EO" },	 { "EOeo", "EO" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ati_halves halves = { 0 };
		char samples[16] = "";

		for (const char *at = cases[i].events; *at; at++) {
			const bool first = *at == 'E' || *at == 'e', low = *at >= 'a';
			struct frame f = { .id = 0x200 | !first, .len = first ? 8 : 6 };
			struct ati_sample s;

			memset(f.data, low ? 0x22 : 0x11, sizeof(f.data));
			if (*at == 'R') {
				ati_halves_begin(&halves);
			} else if (*at == 'X') {
				halves.spoiled = true;
			} else if (ati_halves_take(&halves, &f, at - cases[i].events, &s)) {
				strcat(samples, s.gauge[0] == 0x2222 ? "e" : "E");
				strcat(samples, s.gauge[1] == 0x2222 ? "o" : "O");
			}
		}
		TEST_ASSERT_EQUAL_STRING_MESSAGE(cases[i].samples, samples, cases[i].events);
	}
}

/* ---- wrenches ---- */

TEST(the_matrix_is_used_row_by_row)
{
	const struct ati_sample sample = { .gauge = { 1, -2, 3, 100, -1000, 32767 } };
	struct ati_calibration c = { .force_n = 0.5, .torque_nm = 0.25 };
	struct ati_wrench w;

	for (unsigned int i = 0; i < ATI_AXES; i++)
		for (unsigned int j = 0; j < ATI_GAUGES; j++)
			c.matrix[i][j] = i + 1 + 10 * j;
	w = ati_measure(&c, &sample);
	for (unsigned int i = 0; i < ATI_AXES; i++) {
		/* sum of (i + 1) g[j], and of 10 j g[j] */
		const double wanted = (i + 1) * 31869.0 + 10 * (-2 + 6 + 300 - 4000 + 163835.0);

		TEST_ASSERT_EQUAL_DOUBLE(wanted * (i < 3 ? 0.5 : 0.25), i < 3 ? w.force_n[i] : w.torque_nm[i - 3]);
	}
}

TEST(wrenches_are_added)
{
	const struct ati_wrench a = { { 1, 2, 3 }, { 4, 5, 6 } }, b = { { 10, 20, 30 }, { 40, 50, 60 } };
	const struct ati_wrench w = ati_add(&a, -2, &b);

	for (unsigned int i = 0; i < 3; i++) {
		TEST_ASSERT_EQUAL_DOUBLE(-19.0 * (i + 1), w.force_n[i]);
		TEST_ASSERT_EQUAL_DOUBLE(-19.0 * (i + 4), w.torque_nm[i]);
	}
}

/* What lies behind an array is neither read nor written. */
TEST(arrays_end_where_they_end)
{
	const struct frame evens = { .id = 0x200, .len = 8, .data = { [8] = 0x12, [9] = 0x34 } };
	const double turned[4] = { 0, 0, 0, 90 };
	const struct ati_wrench plain = { .force_n = { 1, 2, 3 }, .torque_nm = { 4, 5, 6 } };
	struct {
		struct ati_halves halves;
		int16_t guard[2 * ATI_GAUGES];
	} h;
	struct ati_sample sample, untouched;
	const struct mounting mounting = mounting_of(turned);
	struct ati_wrench w = plain;

	ati_mount(&mounting, &w);
	TEST_ASSERT_EQUAL_DOUBLE_ARRAY(plain.force_n, w.force_n, 3);
	TEST_ASSERT_EQUAL_DOUBLE_ARRAY(plain.torque_nm, w.torque_nm, 3);
	memset(&h, 0xA5, sizeof(h));
	memset(&untouched, 0xA5, sizeof(untouched));
	ati_halves_begin(&h.halves);
	TEST_ASSERT_FALSE(ati_halves_take(&h.halves, &evens, 1, &sample));
	TEST_ASSERT_EQUAL_MEMORY((const char *)&untouched + offsetof(struct ati_sample, gauge[ATI_GAUGES]),
				 (const char *)&h.halves.sample + offsetof(struct ati_sample, gauge[ATI_GAUGES]),
				 sizeof(untouched) - offsetof(struct ati_sample, gauge[ATI_GAUGES]));
	for (size_t i = 0; i < sizeof(h.guard) / sizeof(*h.guard); i++)
		TEST_ASSERT_EQUAL_HEX16(0xA5A5, (uint16_t)h.guard[i]);
	memset(&sample, 0x7F, sizeof(sample));
	memset(sample.gauge, 0, sizeof(sample.gauge));
	TEST_ASSERT_EQUAL_HEX32(0, ati_saturated(&sample, 32000));
}

TEST(a_half_is_known_by_its_whole_opcode)
{
	const struct frame units = { .id = 0x208, .len = 8 };
	struct ati_halves halves;
	struct ati_sample sample;

	ati_halves_begin(&halves);
	TEST_ASSERT_FALSE(ati_halves_take(&halves, &units, 1, &sample));
	TEST_ASSERT_TRUE(halves.spoiled);
	TEST_ASSERT_EQUAL_DOUBLE(0, ati_torque_nm(0));
	TEST_ASSERT_EQUAL_DOUBLE(0, ati_force_n(0));
}
