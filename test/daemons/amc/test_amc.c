/* test_amc.c: the codec of AMC drives: the vectors of its page, and what they do not say. */
#include <math.h>

#include "can/bus/frame_text.h"
#include "can/canopen/cia402.h"
#include "daemons/amc/amc.h"
#include "test/daemons/drv/page_lib.h"
#include "test/lib/testcase.h"

#define PAGE "hw-docs/devices/amc.md"
#define COUNTS_PER_RAD (4000 * 15 / (2 * M_PI))

/* One count is one rad, and one raw velocity one rad/s, so that values are raw numbers. */
static struct amc_scale raw_scale(double kp_a)
{
	return (struct amc_scale){ .kp_a = kp_a, .ks_hz = 131072, .ki = 1, .counts_per_rad = 1 };
}

static int raw_current(const struct frame *frame)
{
	return (int16_t)(frame->data[2] | frame->data[3] << 8);
}

/* ---- the page ---- */

static const char *state_word(enum cia402_state state)
{
	static const char *const words[CIA402_STATES] = { "not-ready", "switch-on-disabled", "ready",	 "switched-on",
							  "enabled",   "quick-stop",	     "reaction", "fault" };

	return words[state];
}

static void say_pdo(char *said, const char *name, const char *text)
{
	const struct amc_scale scale = raw_scale(8192);
	struct amc_sample s = { .current_a = NAN };
	const struct frame frame = page_lib_read(text);

	if (!strcmp(name, "Tpdo26")) {
		TEST_ASSERT_EQUAL(0, amc_decode(&s, &frame, AMC_POSITION, &scale));
		sprintf(said, "Status %u Position %.0f Current %.0f", s.status, s.position_rad, s.current_a);
	} else if (!strcmp(name, "Tpdo4")) {
		TEST_ASSERT_EQUAL(0, amc_decode(&s, &frame, AMC_VELOCITY_ONLY, &scale));
		sprintf(said, "Status %u Velocity %.0f", s.status, s.velocity_rad_s);
		TEST_ASSERT_TRUE(isnan(s.current_a));
	} else {
		*said = '\0'; /* not received */
	}
}

/* Our frame for what the page says that a RPDO carries. */
static void say_rpdo(char *said, const char *name, const char *answer)
{
	static const enum amc_mode modes[] = {
		['3'] = AMC_MODE_POSITION, ['4'] = AMC_MODE_VELOCITY, ['5'] = AMC_MODE_CURRENT
	};
	const struct amc_scale scale = raw_scale(32768);
	struct frame frame;
	unsigned int control;
	double value;

	TEST_ASSERT_EQUAL(2, sscanf(answer, "Control %u %*s %lf", &control, &value));
	TEST_ASSERT_EQUAL(0, amc_encode(&frame, 0x2E0u + (unsigned int)name[4] - '3', modes[(int)name[4]],
					(uint16_t)control, value, &scale));
	TEST_ASSERT_TRUE(frame_valid(&frame));
	frame_text_write(said, &frame);
}

/* false: of another kind. */
static bool say(const char *line, const char *answer, char *said, const char **expected)
{
	static char frame_text[64];
	char name[32];
	unsigned int word, ki;
	double a, b;
	struct amc_scale scale;
	struct amc_sample s;
	struct frame frame;

	*expected = answer;
	if (sscanf(line, "status %x", &word) == 1) {
		strcpy(said, state_word(cia402_state((uint16_t)word)));
	} else if (sscanf(line, "current %lf %lf", &a, &b) == 2) {
		scale = raw_scale(a);
		TEST_ASSERT_EQUAL(0, amc_encode(&frame, 0x2E2, AMC_MODE_CURRENT, 0x0F, b, &scale));
		sprintf(said, "%d", raw_current(&frame));
	} else if (sscanf(line, "measured %lf %lf", &a, &b) == 2) {
		scale = raw_scale(a);
		frame = page_lib_read("2E3#0000000000000000");
		frame.data[6] = (uint8_t)(int)b;
		frame.data[7] = (uint8_t)((int)b >> 8);
		TEST_ASSERT_EQUAL(0, amc_decode(&s, &frame, AMC_POSITION, &scale));
		sprintf(said, "%.12g", s.current_a);
	} else if (sscanf(line, "velocity %lf %u %lf", &a, &ki, &b) == 3) {
		scale = (struct amc_scale){ .ks_hz = a, .ki = ki, .kp_a = 1, .counts_per_rad = 1 };
		frame = page_lib_read("2E4#000000000000");
		for (unsigned int i = 0; i < 4; i++)
			frame.data[2 + i] = (uint8_t)((int32_t)b >> 8 * i);
		TEST_ASSERT_EQUAL(0, amc_decode(&s, &frame, AMC_VELOCITY_ONLY, &scale));
		sprintf(said, "%.12g", s.velocity_rad_s);
	} else if (sscanf(line, "pdo %31s %63s", name, frame_text) == 2 && name[0] == 'R') {
		say_rpdo(said, name, answer);
		*expected = frame_text;
	} else if (sscanf(line, "pdo %31s %63s", name, frame_text) == 2) {
		say_pdo(said, name, frame_text);
		return *said;
	} else {
		return false;
	}
	return true;
}

static bool take_vector(char *line)
{
	const char *answer = strstr(line, " = "), *expected;
	char said[PAGE_LIB_TEXT];

	if (!answer || !say(line, answer + 3, said, &expected))
		return false;
	TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, said, line);
	return true;
}

TEST(the_vectors_of_the_page)
{
	TEST_ASSERT_GREATER_THAN(20, page_lib_lines(PAGE, take_vector));
}

/* ---- what the page does not say ---- */

TEST(a_drive_that_counts_backwards_turns_every_sign)
{
	const struct amc_scale scale = { .kp_a = 20, .ks_hz = 20000, .ki = 1, .counts_per_rad = -COUNTS_PER_RAD };
	const struct frame frame = page_lib_read("2EA#37023075000000F0");
	const struct frame velocity = page_lib_read("2EB#370290D00300");
	struct amc_sample s;
	struct frame command;

	TEST_ASSERT_EQUAL(0, amc_decode(&s, &frame, AMC_POSITION, &scale));
	TEST_ASSERT_EQUAL_HEX16(0x0237, s.status);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -M_PI, s.position_rad);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 10, s.current_a);
	TEST_ASSERT_EQUAL(0, amc_decode(&s, &velocity, AMC_VELOCITY_ONLY, &scale));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -250000.0 * 20000 / 131072.0 / COUNTS_PER_RAD, s.velocity_rad_s);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, -M_PI, s.position_rad); /* of before */
	TEST_ASSERT_EQUAL(0, amc_encode(&command, 0x2E9, AMC_MODE_CURRENT, 0x0F, 5, &scale));
	TEST_ASSERT_EQUAL(-8192, raw_current(&command));
	TEST_ASSERT_EQUAL(0, amc_encode(&command, 0x2E7, AMC_MODE_POSITION, 0x0F, -M_PI, &scale));
	TEST_ASSERT_EQUAL_HEX8(0x30, command.data[2]);
	TEST_ASSERT_EQUAL_HEX8(0x75, command.data[3]);
	TEST_ASSERT_EQUAL(0, amc_encode(&command, 0x2E8, AMC_MODE_VELOCITY, 0x0F,
					-250000.0 * 20000 / 131072.0 / COUNTS_PER_RAD, &scale));
	TEST_ASSERT_EQUAL_HEX8_ARRAY(velocity.data + 2, command.data + 2, 4);
}

TEST(what_a_frame_cannot_say_is_refused)
{
	static const struct {
		enum amc_mode mode;
		double value;
		int status;
	} rows[] = {
		{ AMC_MODE_CURRENT, 20, -ERANGE },     { AMC_MODE_CURRENT, 20.0 * 32767 / 32768, 0 },
		{ AMC_MODE_CURRENT, -20, 0 },	       { AMC_MODE_CURRENT, -20.001, -ERANGE },
		{ AMC_MODE_CURRENT, NAN, -EDOM },      { AMC_MODE_CURRENT, INFINITY, -EDOM },
		{ AMC_MODE_POSITION, 2147483647, 0 },  { AMC_MODE_POSITION, 2147483648, -ERANGE },
		{ AMC_MODE_POSITION, -2147483648, 0 }, { AMC_MODE_POSITION, -2147483649, -ERANGE },
		{ AMC_MODE_VELOCITY, 1e12, -ERANGE },  { AMC_MODE_VELOCITY, NAN, -EDOM },
	};
	const struct amc_scale scale = raw_scale(20);

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct frame frame = { .len = 0x5A };

		TEST_ASSERT_EQUAL(rows[i].status, amc_encode(&frame, 1, rows[i].mode, 0, rows[i].value, &scale));
		TEST_ASSERT_EQUAL(!!rows[i].status, frame.len == 0x5A);
	}
}

/* A drive that is to be stopped need not be known. */
TEST(zero_needs_no_scale)
{
	const struct amc_scale nothing = { 0 };
	struct frame frame;

	TEST_ASSERT_EQUAL(0, amc_encode(&frame, 0x2E2, AMC_MODE_CURRENT, 0x0F, 0, &nothing));
	TEST_ASSERT_EQUAL(0, raw_current(&frame));
	TEST_ASSERT_EQUAL(4, frame.len);
	TEST_ASSERT_EQUAL(-EDOM, amc_encode(&frame, 0x2E2, AMC_MODE_CURRENT, 0x0F, 1, &nothing));
	TEST_ASSERT_EQUAL(-EDOM, amc_encode(&frame, 0x2E1, AMC_MODE_VELOCITY, 0x0F, 1, &nothing));
}

TEST(other_lengths_are_refused)
{
	static const enum amc_layout layouts[] = { AMC_POSITION, AMC_VELOCITY, AMC_POSITION_ONLY, AMC_VELOCITY_ONLY };
	static const unsigned int lens[] = { 8, 8, 6, 6 };
	const struct amc_scale scale = raw_scale(20);

	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int len = 0; len <= 8; len++) {
			struct frame frame = { .len = (uint8_t)len };
			struct amc_sample s = { .status = 7 };

			TEST_ASSERT_EQUAL(len == lens[i] ? 0 : -EMSGSIZE, amc_decode(&s, &frame, layouts[i], &scale));
			TEST_ASSERT_EQUAL(len == lens[i] ? 0 : 7, s.status);
		}
}

TEST(each_layout_has_its_value)
{
	const struct amc_scale scale = raw_scale(8192);
	const struct frame long_one = page_lib_read("2E3#000010000000FCFF"),
			   short_one = page_lib_read("2E4#000020000000");
	struct amc_sample s = { 0 };

	TEST_ASSERT_EQUAL(0, amc_decode(&s, &long_one, AMC_VELOCITY, &scale));
	TEST_ASSERT_EQUAL_DOUBLE(16, s.velocity_rad_s);
	TEST_ASSERT_EQUAL_DOUBLE(-4, s.current_a);
	TEST_ASSERT_EQUAL_DOUBLE(0, s.position_rad);
	TEST_ASSERT_EQUAL(0, amc_decode(&s, &short_one, AMC_POSITION_ONLY, &scale));
	TEST_ASSERT_EQUAL_DOUBLE(32, s.position_rad);
	TEST_ASSERT_EQUAL_DOUBLE(16, s.velocity_rad_s);
}

TEST(objects_in_si_units)
{
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 20, amc_kp_a(200));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 20000, amc_ks_hz(0x00140000));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1.05 * 88 / 2, amc_voltage_v(8192, 880));
	TEST_ASSERT_EQUAL_HEX16(0x20D8, AMC_INDEX(AMC_KP));
	TEST_ASSERT_EQUAL_HEX8(0x0C, AMC_SUB(AMC_KP));
}
