/* test_hubo_jmc.c: the codec of Hubo's boards says the vectors of its page.
 * Also for jmc.c, jmc_reply.c and jmc_param.c. */
#include <errno.h>
#include <math.h>

#include "can/bus/frame_text.h"
#include "daemons/hubo/jmc.h"
#include "test/daemons/drv/page_lib.h"
#include "test/lib/testcase.h"

#define PAGE "hw-docs/devices/hubo.md"

static const char *const kind_names[] = { "one", "two", "neck", "wrist", "hand" };

static enum jmc_kind read_kind(char **words)
{
	char word[16];
	int n;

	TEST_ASSERT_EQUAL_MESSAGE(1, sscanf(*words, "%15s%n", word, &n), *words);
	*words += n;
	for (int i = 0; i < (int)(sizeof(kind_names) / sizeof(*kind_names)); i++)
		if (!strcmp(word, kind_names[i]))
			return (enum jmc_kind)i;
	TEST_FAIL_MESSAGE(word);
	return JMC_ONE;
}

/* The frame if there is no error, else its name. */
static void say_frame(char *said, const struct frame *frame, int status)
{
	TEST_ASSERT(status == 0 || status == -EINVAL || status == -ERANGE);
	if (!status) {
		TEST_ASSERT_TRUE(frame_valid(frame));
		for (unsigned int i = frame->len; i < sizeof(frame->data); i++)
			TEST_ASSERT_EQUAL(0, frame->data[i]);
		frame_text_write(said, frame);
	} else {
		strcpy(said, status == -EINVAL ? "EINVAL" : "ERANGE");
	}
}

static bool say_error(char *said, int status)
{
	TEST_ASSERT(status == 0 || status == -EMSGSIZE);
	strcpy(said, "EMSGSIZE");
	return status;
}

static unsigned int read_values(char *words, int32_t *values, unsigned int room)
{
	unsigned int count = 0;
	int n;

	for (; count < room && sscanf(words, "%d%n", &values[count], &n) == 1; count++)
		words += n;
	return count;
}

/* ---- sent ---- */

static void say_counts(char *said, char *words)
{
	double rad, scale;

	TEST_ASSERT_EQUAL(2, sscanf(words, "%lf %lf", &rad, &scale));
	sprintf(said, "%d", jmc_counts(rad, scale, JMC_COUNTS_MAX));
}

static void say_neck_counts(char *said, char *words)
{
	sprintf(said, "%d", jmc_neck_counts(atof(words)));
}

static void say_neck_rad(char *said, char *words)
{
	sprintf(said, "%.6f", jmc_neck_rad(atoi(words)));
}

static void say_reference(char *said, char *words)
{
	const enum jmc_kind kind = read_kind(&words);
	int32_t values[JMC_MOTORS_MAX];
	struct frame frame;
	unsigned int board;

	memset(&frame, 0x5A, sizeof(frame));
	memset(values, 0x5A, sizeof(values)); /* what a board has not must not count */
	TEST_ASSERT_EQUAL(1, sscanf(words, "%x", &board));
	TEST_ASSERT_EQUAL(jmc_motors(kind), read_values(words + 3, values, JMC_MOTORS_MAX));
	TEST_ASSERT_EQUAL(kind, jmc_kind(board, jmc_motors(kind)));
	say_frame(said, &frame, jmc_encode_reference(&frame, kind, board, values, strstr(words, "repeat")));
}

static void say_duty(char *said, char *words)
{
	const enum jmc_kind kind = read_kind(&words);
	int32_t values[JMC_MOTORS_MAX];
	struct frame frame;
	unsigned int board;

	memset(&frame, 0x5A, sizeof(frame));
	memset(values, 0x5A, sizeof(values));
	TEST_ASSERT_EQUAL(1, sscanf(words, "%x", &board));
	TEST_ASSERT_EQUAL(jmc_motors(kind), read_values(words + 3, values, JMC_MOTORS_MAX));
	say_frame(said, &frame,
		  jmc_encode_duty(&frame, kind, board, values, strstr(words, "fine"), !strstr(words, "stop")));
}

static uint64_t commands_seen;

static void say_command(char *said, char *words)
{
	struct jmc_command_about about;
	int32_t values[JMC_VALUES_MAX];
	unsigned int board, motor;
	struct frame frame;
	char name[32];
	int command, n;

	TEST_ASSERT_EQUAL(3, sscanf(words, "%31s %x %u%n", name, &board, &motor, &n));
	command = jmc_command_find(name);
	TEST_ASSERT_MESSAGE(command >= 0 && command < JMC_COMMANDS, name);
	about = jmc_command_about((enum jmc_command)command);
	TEST_ASSERT_EQUAL_STRING(name, about.name);
	TEST_ASSERT_EQUAL_MESSAGE(about.values, read_values(words + n, values, JMC_VALUES_MAX), words);
	memset(&frame, 0x5A, sizeof(frame));
	say_frame(said, &frame, jmc_encode(&frame, board, (enum jmc_command)command, motor, values));
	if (*said == '0')
		commands_seen |= 1ull << command;
}

static void say_sensor(char *said, char *words)
{
	struct frame frame;
	unsigned int sensor;
	char what[16];

	TEST_ASSERT_EQUAL(2, sscanf(words, "%u %15s", &sensor, what));
	memset(&frame, 0x5A, sizeof(frame));
	jmc_encode_sensor(&frame, sensor, *what == 'f' ? JMC_IS_FORCE : *what == 't' ? JMC_IS_TILT : JMC_IS_IMU);
	say_frame(said, &frame, 0);
}

/* ---- received ---- */

static void say_encoders(char *said, char *words)
{
	const enum jmc_kind kind = read_kind(&words);
	const struct frame frame = page_lib_read(words + 1);
	struct jmc_encoders e;

	memset(&e, 0x5A, sizeof(e));
	if (say_error(said, jmc_decode_encoders(&e, kind, &frame)))
		return;
	said += sprintf(said, "%u:", e.first);
	for (unsigned int i = 0; i < JMC_MOTORS_MAX; i++)
		if (i >= e.first && i < e.first + e.n)
			said += sprintf(said, " %d", e.counts[i]);
		else
			TEST_ASSERT_EQUAL_HEX32(0x5A5A5A5A, e.counts[i]);
}

static void say_status(char *said, char *words)
{
	const enum jmc_kind kind = read_kind(&words);
	const struct frame frame = page_lib_read(words + 1);
	struct jmc_status s;

	memset(&s, 0x5A, sizeof(s));
	if (say_error(said, jmc_decode_status(&s, kind, &frame)))
		return;
	for (unsigned int i = 0; i < JMC_MOTORS_MAX; i++)
		if (i < jmc_motors(kind))
			said += sprintf(said, "%s%04x/%x", i ? " " : "", s.flags[i], s.home[i]);
		else
			TEST_ASSERT_EQUAL_HEX32(0x5A5A5A5A, s.flags[i]);
}

static void say_currents(char *said, char *words)
{
	const enum jmc_kind kind = read_kind(&words);
	const struct frame frame = page_lib_read(words + 1);
	struct jmc_currents c;

	memset(&c, 0, sizeof(c));
	if (say_error(said, jmc_decode_currents(&c, kind, &frame)))
		return;
	for (unsigned int i = 0; i < JMC_MOTORS_MAX; i++)
		if (i < jmc_motors(kind))
			said += sprintf(said, "%.3f ", c.current_a[i]);
		else
			TEST_ASSERT_TRUE(c.current_a[i] == 0);
	if (isnan(c.temperature_c))
		strcpy(said, "none");
	else
		sprintf(said, "%.0f", c.temperature_c);
}

static void say_measured(char *said, const char *words, enum jmc_measured what, unsigned int n, const char *decimals)
{
	const struct frame frame = page_lib_read(words + 1);
	double value[JMC_MEASURED_MAX];

	if (say_error(said, jmc_decode_measured(value, what, &frame)))
		return;
	for (unsigned int i = 0; i < n; i++)
		said += sprintf(said, "%s%.*f", i ? " " : "", decimals[i] - '0', value[i]);
}

static void say_force(char *said, char *words)
{
	say_measured(said, words, JMC_IS_FORCE, 3, "221");
}

static void say_tilt(char *said, char *words)
{
	say_measured(said, words, JMC_IS_TILT, 3, "223");
}

static void say_imu(char *said, char *words)
{
	say_measured(said, words, JMC_IS_IMU, 4, "2222");
}

static void say_power(char *said, char *words)
{
	say_measured(said, words, JMC_IS_POWER, 3, "221");
}

static void say_index(char *said, char *words)
{
	char letter;
	unsigned int motor;

	TEST_ASSERT_EQUAL(2, sscanf(words, " %c %u", &letter, &motor));
	sprintf(said, "%u", jmc_parameter_index((unsigned int)(letter - 'A'), motor));
}

static void say_parameter(char *said, char *words)
{
	const struct frame frame = page_lib_read(words + 3);
	struct jmc_parameters p = { 0 };
	const char *blank = "";

	if (say_error(said, jmc_decode_parameter(&p, (unsigned int)(words[1] - 'A'), &frame)))
		return;
	for (unsigned int i = 0; i < JMC_NUMBERS; i++)
		if (jmc_parameter_about(i).letters & 1u << (words[1] - 'A')) {
			said += sprintf(said, "%s%lld", blank, (long long)jmc_parameter_value(&p, i));
			blank = " ";
		}
}

/* A number by its name. */
static int32_t number(const struct jmc_parameters *p, const char *name)
{
	return (int32_t)jmc_parameter_value(p, (unsigned int)jmc_parameter_find(name));
}

static const struct {
	const char *word;
	void (*say)(char said[PAGE_LIB_TEXT], char *words);
	unsigned int vectors;
} kinds[] = {
	{ "counts", say_counts, 6 },	 { "neck-counts", say_neck_counts, 7 },
	{ "neck-rad", say_neck_rad, 3 }, { "reference", say_reference, 21 },
	{ "duty", say_duty, 15 },	 { "command", say_command, 62 },
	{ "sensor", say_sensor, 3 },	 { "encoders", say_encoders, 13 },
	{ "status", say_status, 15 },	 { "currents", say_currents, 8 },
	{ "force", say_force, 2 },	 { "tilt", say_tilt, 2 },
	{ "imu", say_imu, 2 },		 { "power", say_power, 3 },
	{ "index", say_index, 9 },	 { "parameter", say_parameter, 10 },
};

TEST(the_pages_vectors)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		TEST_ASSERT_EQUAL_MESSAGE(kinds[i].vectors, page_lib_each(PAGE, kinds[i].word, kinds[i].say),
					  kinds[i].word);
	/* Each command was encoded once at least. */
	TEST_ASSERT_EQUAL_HEX64((1ull << JMC_COMMANDS) - 1, commands_seen);
}

TEST(names_that_do_not_exist)
{
	TEST_ASSERT_EQUAL(-1, jmc_command_find("fe"));
	TEST_ASSERT_EQUAL(-1, jmc_command_find("initialize-sensors"));
}

/* A number that comes in two replies is whole in whatever order they come. */
TEST(halves_of_parameters)
{
	const struct frame b = page_lib_read("1C0#0000000000003412"), c = page_lib_read("1C0#7856000000009ABC"),
			   d = page_lib_read("1C0#DE00000000000000");
	struct jmc_parameters p;

	memset(&p, 0xFF, sizeof(p));
	jmc_decode_parameter(&p, 1, &b);
	TEST_ASSERT_EQUAL_HEX32(0xFFFF1234, number(&p, "home-offset"));
	jmc_decode_parameter(&p, 2, &c);
	jmc_decode_parameter(&p, 3, &d);
	TEST_ASSERT_EQUAL_HEX32(0x56781234, number(&p, "home-offset"));
	TEST_ASSERT_EQUAL_HEX32(0x00DEBC9A, number(&p, "upper"));
	memset(&p, 0xFF, sizeof(p));
	jmc_decode_parameter(&p, 3, &d);
	TEST_ASSERT_EQUAL_HEX32(0x00DEFFFF, number(&p, "upper"));
	jmc_decode_parameter(&p, 2, &c);
	jmc_decode_parameter(&p, 1, &b);
	TEST_ASSERT_EQUAL_HEX32(0x56781234, number(&p, "home-offset"));
	TEST_ASSERT_EQUAL_HEX32(0x00DEBC9A, number(&p, "upper"));
}

TEST(kinds_of_boards)
{
	TEST_ASSERT_EQUAL(JMC_ONE, jmc_kind(0x22, 1));
	TEST_ASSERT_EQUAL(JMC_TWO, jmc_kind(0x22, 2));
	TEST_ASSERT_EQUAL(JMC_NECK, jmc_kind(0x22, 3));
	TEST_ASSERT_EQUAL(JMC_WRIST, jmc_kind(0x24, 3));
	TEST_ASSERT_EQUAL(JMC_HAND, jmc_kind(0x24, 5));
}

/* Flags that the driver treats as faults, by hand. */
TEST(faults)
{
	TEST_ASSERT_EQUAL_HEX32(0x87F0, JMC_FAULTS);
}

/* ---- every limit of every command, by the page's table ---- */

static const struct limits {
	const char *name;
	uint8_t code, len, motors, constant;
	struct {
		uint8_t at, bytes;
		int64_t min, max, or_this;
	} value[JMC_VALUES_MAX];
} limits[] = {
	{ "get-status", 0x02, 3, 0, 0, { { 0, 0, 0, 0, 0 } } },
	{ "get-encoder", 0x03, 3, 0, 0, { { 2, 1, 0, 1, 0 } } },
	{ "get-current", 0x04, 2, 0, 0, { { 0, 0, 0, 0, 0 } } },
	{ "get-parameter", 0x24, 3, 0, 0, { { 2, 1, 1, 35, 0 } } },
	{ "get-power", 0xE0, 2, 0, 0, { { 0, 0, 0, 0, 0 } } },
	{ "zero", 0x06, 3, 0, 0, { { 2, 1, 0, 4, 15 } } },
	{ "position-gains", 0x07, 8, 2, 0, { { 2, 2, 0, 65535, 0 }, { 4, 2, 0, 65535, 0 }, { 6, 2, 0, 65535, 0 } } },
	{ "current-gains", 0x09, 8, 2, 0, { { 2, 2, 0, 65535, 0 }, { 4, 2, 0, 65535, 0 }, { 6, 2, 0, 65535, 0 } } },
	{ "fet", 0x0B, 3, 0, 0, { { 2, 1, 0, 1, 0 } } },
	{ "control-on", 0x0E, 2, 0, 0, { { 0, 0, 0, 0, 0 } } },
	{ "control-off", 0x0F, 2, 0, 0, { { 0, 0, 0, 0, 0 } } },
	{ "mode", 0x10, 3, 0, 0, { { 2, 1, 0, 2, 0 } } },
	{ "home", 0x11, 8, 0, 0, { { 2, 1, 1, 5, 15 } } },
	{ "freewheel", 0x13, 3, 0, 0, { { 2, 1, 0, 1, 0 } } },
	{ "dead-zone", 0x20, 3, 4, 0, { { 2, 1, 0, 255, 0 } } },
	{ "home-search", 0x30, 8, 5, 0, { { 2, 1, 0, 255, 0 }, { 3, 1, 0, 1, 0 }, { 4, 4, INT32_MIN, INT32_MAX, 0 } } },
	{ "encoder-resolution", 0x38, 4, 5, 0, { { 2, 2, 0, 65535, 0 } } },
	{ "motion-limits", 0x40, 6, 5, 0, { { 2, 2, 0, 65535, 0 }, { 4, 2, 0, 65535, 0 } } },
	{ "lower-limit", 0x50, 7, 5, 0, { { 2, 1, 0, 3, 0 }, { 3, 4, INT32_MIN, INT32_MAX, 0 } } },
	{ "upper-limit", 0x56, 7, 5, 0, { { 2, 1, 0, 3, 0 }, { 3, 4, INT32_MIN, INT32_MAX, 0 } } },
	{ "home-motion",
	  0x60,
	  7,
	  5,
	  0,
	  { { 2, 1, 0, 255, 0 }, { 3, 1, 0, 255, 0 }, { 4, 1, 0, 255, 0 }, { 5, 1, 0, 2, 0 }, { 6, 1, 0, 100, 0 } } },
	{ "gain-override", 0x6F, 6, 0, 0, { { 2, 1, 0, 100, 0 }, { 3, 1, 0, 100, 0 }, { 4, 2, 0, 65535, 0 } } },
	{ "null-force", 0x81, 3, 0, 0x00, { { 0, 0, 0, 0, 0 } } },
	{ "null-tilt", 0x81, 3, 0, 0x04, { { 0, 0, 0, 0, 0 } } },
	{ "null-imu", 0x81, 2, 0, 0, { { 0, 0, 0, 0, 0 } } },
	{ "alarm", 0x82, 3, 0, 0, { { 2, 1, 0, 4, 0 } } },
	{ "beep", 0x83, 3, 0, 0, { { 2, 1, 1, 255, 0 } } },
	{ "board-number", 0xF0, 4, 0, 0, { { 2, 1, 0, 53, 0 }, { 3, 1, 1, 255, 0 } } },
	{ "jam-limits",
	  0xF2,
	  8,
	  0,
	  0,
	  { { 2, 2, 0, 65535, 0 }, { 4, 2, 0, 65535, 0 }, { 6, 1, 0, 100, 0 }, { 7, 1, 0, 100, 0 } } },
	{ "error-limits", 0xF3, 8, 0, 0, { { 2, 2, 0, 65535, 0 }, { 4, 2, 0, 65535, 0 }, { 6, 2, 0, 65535, 0 } } },
	{ "initialize", 0xFA, 2, 0, 0, { { 0, 0, 0, 0, 0 } } },
	{ "initialize-sensor", 0xFA, 3, 0, 0xAA, { { 0, 0, 0, 0, 0 } } },
};

/* Values at their least; one of them is this one. */
static void check_value(const struct limits *l, unsigned int which, int64_t value, bool allowed)
{
	int32_t values[JMC_VALUES_MAX] = { 0 };
	struct frame frame;
	uint64_t got = 0, home = !strcmp(l->name, "home") ? 2 : 0;
	int status;

	if (value < INT32_MIN || value > INT32_MAX)
		return;
	for (unsigned int i = 0; i < JMC_VALUES_MAX; i++)
		values[i] = (int32_t)(i == which ? value : l->value[i].min);
	status = jmc_encode(&frame, 0x21, (enum jmc_command)jmc_command_find(l->name), 0, values);
	TEST_ASSERT_EQUAL_MESSAGE(allowed ? 0 : -ERANGE, status, l->name);
	if (!allowed)
		return;
	for (unsigned int i = 0; i < l->value[which].bytes; i++)
		got |= (uint64_t)frame.data[l->value[which].at + i] << 8 * i;
	value &= (1ll << 8 * l->value[which].bytes) - 1;
	TEST_ASSERT_EQUAL_HEX64_MESSAGE(home ? (uint64_t)value << 4 | home : (uint64_t)value, got, l->name);
	for (unsigned int i = l->len; i < sizeof(frame.data); i++)
		TEST_ASSERT_EQUAL_HEX8(0, frame.data[i]);
}

TEST(limits_of_commands)
{
	TEST_ASSERT_EQUAL(JMC_COMMANDS, sizeof(limits) / sizeof(*limits));
	for (const struct limits *l = limits; l < limits + JMC_COMMANDS; l++) {
		const enum jmc_command command = (enum jmc_command)jmc_command_find(l->name);
		int32_t values[JMC_VALUES_MAX];
		struct frame frame;

		for (unsigned int i = 0; i < JMC_VALUES_MAX; i++)
			values[i] = (int32_t)l->value[i].min;
		for (unsigned int motor = 0; motor < 8; motor++) {
			const bool allowed = l->motors ? motor < l->motors : !motor;

			TEST_ASSERT_EQUAL_MESSAGE(allowed ? 0 : -EINVAL,
						  jmc_encode(&frame, 0x21, command, motor, values), l->name);
			if (!allowed)
				continue;
			TEST_ASSERT_EQUAL_HEX8(l->code + motor, frame.data[1]);
			TEST_ASSERT_EQUAL(l->len, frame.len);
			if (!l->value[0].bytes)
				TEST_ASSERT_EQUAL_HEX8_MESSAGE(l->constant, frame.data[2], l->name);
		}
		TEST_ASSERT_EQUAL(l->motors, jmc_command_about(command).motors);
		for (unsigned int i = 0; i < JMC_VALUES_MAX && l->value[i].bytes; i++) {
			check_value(l, i, l->value[i].min, true);
			check_value(l, i, l->value[i].max, true);
			check_value(l, i, l->value[i].min - 1, false);
			check_value(l, i, l->value[i].max + 1, false);
			if (l->value[i].or_this)
				check_value(l, i, l->value[i].or_this, true);
			TEST_ASSERT_EQUAL(l->value[i].bytes && i < jmc_command_about(command).values, true);
		}
	}
}

/* All replies with the bytes 01 to 08, but the two with halves of numbers, which have others. */
TEST(parameters_have_names)
{
	static const struct {
		const char *name, *letters;
		int64_t value;
	} rows[] = {
		{ "kp", "A", 0x0201 },
		{ "ki", "A", 0x0403 },
		{ "kd", "A", 0x0605 },
		{ "encoder", "A", 0x0807 },
		{ "dead-zone", "B", 0x0201 },
		{ "home-direction", "B", 0x03 },
		{ "home-mode", "B", 0x04 },
		{ "search-turns", "B", 0x0605 },
		{ "home-offset", "BC", 0x12110807 },
		{ "lower", "C", 0x16151413 },
		{ "upper", "CD", (int32_t)0xF2F11817 },
		{ "acceleration", "D", 0xF4F3 },
		{ "velocity", "D", 0xF6F5 },
		{ "pwm", "D", 0xF8F7 },
		{ "current", "E", 0x0201 },
		{ "current-kp", "E", 0x0605 },
		{ "current-kd", "E", 0x0807 },
		{ "current-kf", "F", 0x0201 },
		{ "rate", "G", 0x0403 },
		{ "board-type", "G", 0x05 },
		{ "home-acceleration", "G", 0x0807 },
		{ "home-to-limit", "H", 0x0201 },
		{ "home-to-offset", "H", 0x0403 },
		{ "jam-time", "H", 0x0605 },
		{ "saturation-time", "H", 0x0807 },
		{ "saturation-duty", "I", 0x01 },
		{ "jam-duty", "I", 0x02 },
		{ "input-difference", "I", 0x0403 },
		{ "error", "I", 0x0605 },
		{ "encoder-error", "I", 0x0807 },
	};
	const unsigned int n = sizeof(rows) / sizeof(*rows);
	struct jmc_parameters parameters = { 0 };

	for (unsigned int letter = 0; letter < JMC_PARAMETERS; letter++) {
		struct frame frame = { .len = 8, .data = { 1, 2, 3, 4, 5, 6, 7, 8 } };

		for (unsigned int i = 0; i < 8; i++)
			frame.data[i] |= letter == 2 ? 0x10 : letter == 3 ? 0xF0 : 0;
		TEST_ASSERT_EQUAL(0, jmc_decode_parameter(&parameters, letter, &frame));
	}
	for (unsigned int i = 0; i < n; i++) {
		uint16_t letters = 0;

		for (const char *letter = rows[i].letters; *letter; letter++)
			letters |= (uint16_t)(1u << (*letter - 'A'));
		TEST_ASSERT_EQUAL_MESSAGE(i, jmc_parameter_find(rows[i].name), rows[i].name);
		TEST_ASSERT_EQUAL_STRING(rows[i].name, jmc_parameter_about(i).name);
		TEST_ASSERT_EQUAL_HEX_MESSAGE(letters, jmc_parameter_about(i).letters, rows[i].name);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(rows[i].value, jmc_parameter_value(&parameters, i), rows[i].name);
		TEST_ASSERT_LESS_THAN_MESSAGE(20, strlen(rows[i].name),
					      "too long behind a joint for the key of a request");
	}
	TEST_ASSERT_NULL(jmc_parameter_about(n).name);
	TEST_ASSERT_EQUAL(0, jmc_parameter_about(n).letters);
	TEST_ASSERT_EQUAL(-1, jmc_parameter_find("nothing"));
}
