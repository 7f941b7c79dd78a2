/* Messages as struct, text and JSON; what is refused, and with which words. */
#include <inttypes.h>
#include <math.h>

#include "channels/msg/msg.h"
#include "config/base/json.h"
#include "config/settings/yaml.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define ROUNDS LIB_REPEAT(200)
#define TEXT_SIZE (256 * 1024)
#define MESSAGE_SIZE 8192

static uint64_t state;
static uint8_t sent[MESSAGE_SIZE], back[MESSAGE_SIZE];
static char text[TEXT_SIZE], error[512];

void setUp(void)
{
	lib_watchdog("test_msg", LIB_HANG_S);
	state = 0x9e3779b97f4a7c15;
}

static const struct msg_type *type_of(const char *name)
{
	const struct msg_type *type = msg_type_by_name(name);

	TEST_ASSERT_NOT_NULL_MESSAGE(type, name);
	return type;
}

/* ---- text and JSON in memory ---- */

static size_t write_text(char *to, size_t size, const struct msg_type *type, const void *msg)
{
	FILE *file = fmemopen(to, size, "w");

	msg_text(file, type, msg);
	fclose(file);
	return strlen(to);
}

static size_t write_json(char *to, size_t size, const struct msg_type *type, const void *msg)
{
	FILE *file = fmemopen(to, size, "w");
	struct json j = json_to(file);

	msg_json(&j, NULL, type, msg);
	fclose(file);
	return strlen(to);
}

struct room {
	char *text;
	size_t size;
};

static void keep_first(void *to, const char *line)
{
	struct room *room = to;

	if (!*room->text)
		snprintf(room->text, room->size, "%s", line);
}

static int read_json(const struct msg_type *type, void *msg, const char *json, char *why, size_t why_size)
{
	struct room room = { why, why_size };
	struct error_sink errors = { keep_first, &room, 0 };
	struct yaml *doc;
	int status;

	*why = '\0';
	if (yaml_open_text(&doc, "JSON", json, strlen(json), &errors))
		return -1;
	status = msg_from_node(type, msg, yaml_root(doc), why, why_size);
	yaml_close(doc);
	return status;
}

/* ---- random messages ---- */

static uint64_t below(uint64_t n)
{
	return lib_random(&state) % n;
}

/* What people, devices and mistakes put into text; the last few are worth a thought in YAML, JSON or a terminal. */
static const char *const pieces[] = {
	"a",
	"Z",
	"0",
	"7",
	" ",
	"-",
	"_",
	".",
	"=",
	"#",
	":",
	",",
	"{",
	"}",
	"[",
	"]",
	"|",
	"'",
	"\"",
	"\\",
	"/",
	"%s",
	"\n",
	"\r",
	"\t",
	"\x01",
	"\x1b[2J",
	"\x7f",
	"ä",
	"€",
	"\\u",
	"\\n",
	"null",
	"nan",
	"😀",
	"\xc2\x85",
	"\xe2\x80\xa8",
	"\xef\xbb\xbf",
	"~",
	"!",
};

static void random_string(char *to, size_t size)
{
	size_t len = below(4) ? below(size) : size - 1, at = 0;

	memset(to, 0, size);
	while (at < len) {
		const char *piece = pieces[below(sizeof(pieces) / sizeof(*pieces))];
		char whole[8];

		snprintf(whole, sizeof(whole), "%s", piece);
		if (strlen(whole) > len - at)
			snprintf(whole, sizeof(whole), "x");
		memcpy(to + at, whole, strlen(whole));
		at += strlen(whole);
	}
}

static double random_real(void)
{
	static const double odd[] = { 0.0,	-0.0,	   1.0,
				      -1.0,	0.1,	   1.0 / 3,
				      1e300,	-1e-300,   5e-324,
				      -5e-324,	2.2e-308,  1.7976931348623157e308,
				      INFINITY, -INFINITY, 9007199254740993.0,
				      1e21,	1e22,	   123456789.123456789 };
	double v;
	uint64_t bits;

	if (!below(8))
		return NAN;
	if (below(2))
		return odd[below(sizeof(odd) / sizeof(*odd))];
	do {
		bits = lib_random(&state);
		memcpy(&v, &bits, sizeof(v));
	} while (isnan(v)); /* one NaN is as good as another, but memcmp does not know */
	return v;
}

static uint64_t random_whole(void)
{
	static const uint64_t odd[] = {
		0,	   1, 8, 255, 32767, 32768, 2147483647, 2147483648, 4294967295u, INT64_MAX, (uint64_t)INT64_MIN,
		UINT64_MAX
	};

	return below(2) ? odd[below(sizeof(odd) / sizeof(*odd))] : lib_random(&state);
}

static void random_group(const struct msg_group *group, uint8_t *base);

static void random_element(const struct msg_field *f, uint8_t *at)
{
	double real;
	uint64_t whole;

	switch (f->kind) {
	case MSG_group:
		random_group(f->group, at);
		return;
	case MSG_name:
	case MSG_text:
		random_string((char *)at, f->size);
		return;
	case MSG_f64:
		real = random_real();
		memcpy(at, &real, sizeof(real));
		return;
	case MSG_word:
		whole = below(2) ? below(9) : random_whole(); /* words, and numbers beyond them */
		break;
	case MSG_flags:
		whole = below(2) ? below(512) : random_whole();
		break;
	default:
		whole = random_whole();
	}
	memcpy(at, &whole, f->size);
}

static uint16_t room_counted_by(const struct msg_group *group, const char *name)
{
	for (size_t i = 0; i < group->n; i++)
		if (group->fields[i].used && !strcmp(group->fields[i].used, name))
			return group->fields[i].count;
	return 0;
}

/* What does not count, and what is reserved, is zero: it has no text. */
static void random_group(const struct msg_group *group, uint8_t *base)
{
	uint8_t *at = base;

	memset(base, 0, group->size);
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; f++) {
		uint16_t room = room_counted_by(group, f->name);
		uint32_t count = room ? (uint32_t)(below(3) ? below(room + 1u) : room) : 0;

		if (room)
			memcpy(at, &count, sizeof(count)); /* it stands before the arrays */
		else if (strcmp(f->name, "reserved"))
			for (size_t i = 0; i < msg_used(group, f, base); i++)
				random_element(f, at + i * f->size);
		at += (size_t)f->size * (f->count ? f->count : 1u);
	}
	TEST_ASSERT_EQUAL_size_t(group->size, (size_t)(at - base));
}

static void random_message(const struct msg_type *type)
{
	struct msg_header h;

	random_group(type->body, sent);
	memcpy(&h, sent, sizeof(h));
	h.type = type->number;
	h.version = type->version;
	h.size = (uint32_t)type->body->size;
	memcpy(sent, &h, sizeof(h));
}

/* ---- there and back ---- */

typedef size_t write_fn(char *to, size_t size, const struct msg_type *type, const void *msg);
typedef int read_fn(const struct msg_type *type, void *msg, const char *from, char *why, size_t why_size);

/* Reports the first field that differs. */
static void assert_same(const struct msg_type *type)
{
	static char other[TEXT_SIZE];

	if (!memcmp(sent, back, type->body->size))
		return;
	write_text(text, sizeof(text), type, sent);
	write_text(other, sizeof(other), type, back);
	for (char *a = text, *b = other; *a; a = strchr(a, '\0') + 1, b = strchr(b, '\0') + 1) {
		a[strcspn(a, "\n")] = '\0';
		b[strcspn(b, "\n")] = '\0';
		TEST_ASSERT_EQUAL_STRING(a, b);
	}
	TEST_ASSERT_EQUAL_MEMORY_MESSAGE(sent, back, type->body->size,
					 type->name); /* the same text, yet not the same */
}

static void round_trips(write_fn *write, read_fn *read)
{
	for (size_t t = 0; t < msg_types_n; t++)
		for (int i = 0; i < ROUNDS; i++) {
			const struct msg_type *type = &msg_types[t];
			size_t len;

			random_message(type);
			len = write(text, sizeof(text), type, sent);
			TEST_ASSERT_LESS_THAN_size_t(sizeof(text), len);
			TEST_ASSERT_EQUAL_size_t(strlen(text), len);
			memset(back, 0xa5, sizeof(back));
			*error = '\0';
			TEST_ASSERT_EQUAL_INT_MESSAGE(0, read(type, back, text, error, sizeof(error)), error);
			assert_same(type);
			TEST_ASSERT_EACH_EQUAL_HEX8(0xa5, back + type->body->size, sizeof(back) - type->body->size);
		}
}

TEST(test_text_and_back)
{
	round_trips(write_text, msg_from_text);
}

TEST(test_json_and_back)
{
	round_trips(write_json, read_json);
}

TEST(test_json_is_one_line)
{
	for (size_t t = 0; t < msg_types_n; t++)
		for (int i = 0; i < ROUNDS; i++) {
			random_message(&msg_types[t]);
			write_json(text, sizeof(text), &msg_types[t], sent);
			for (const char *c = text; *c; c++)
				TEST_ASSERT_GREATER_OR_EQUAL_UINT8(0x20, (uint8_t)*c);
		}
}

/* Every kind that a table may use, also those that no message uses yet; 0 and all ones, and one below and above. */
TEST(test_elements)
{
	static const char *const words[] = { "zero", "one", NULL };
	static const struct {
		enum msg_kind kind;
		uint16_t size;
		const char *good[6];
		const char *bad[8];
	} cases[] = {
		{ MSG_u8, 1, { "0", "255", "17" }, { "256", "-1", "x", "", "1.5", "1 ", "99999999999999999999" } },
		{ MSG_u16, 2, { "0", "65535" }, { "65536", "-1", "" } },
		{ MSG_u32, 4, { "0", "4294967295" }, { "4294967296", "-1", "" } },
		{ MSG_u64, 8, { "0", "18446744073709551615" }, { "18446744073709551616", "-1", "" } },
		{ MSG_i32, 4, { "0", "-2147483648", "2147483647" }, { "2147483648", "-2147483649", "", "nan" } },
		{ MSG_i64,
		  8,
		  { "0", "-9223372036854775808", "9223372036854775807" },
		  { "9223372036854775808", "-9223372036854775809", "" } },
		{ MSG_f64, 8, { "0", "-0", "nan", "inf", "-inf", "0.1" }, { "", "x", "1,5", "1 2", "--1" } },
		{ MSG_word, 4, { "zero", "one", "2", "4294967295" }, { "two", "", "-1", "4294967296", "ONE" } },
		{ MSG_flags,
		  4,
		  { "-", "zero", "zero|one", "one|0xf0", "0x80000000" },
		  { "", "two", "zero|", "|", "zero one", "0x100000000", "zero|-" } },
		{ MSG_name,
		  MSG_NAME_SIZE,
		  { "", "x", "12345678901234567890123" },
		  { "123456789012345678901234", "1234567890123456789012345678901234567890" } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct msg_field f = {
			.name = "f", .kind = cases[i].kind, .size = cases[i].size, .unit = "", .words = words
		};
		uint8_t element[MSG_NAME_SIZE + 8];

		for (size_t k = 0; k < 6 && cases[i].good[k]; k++) {
			memset(element, 0xa5, sizeof(element));
			TEST_ASSERT_EQUAL_INT_MESSAGE(0, msg_element_parse(&f, element, cases[i].good[k]),
						      cases[i].good[k]);
			TEST_ASSERT_EACH_EQUAL_HEX8(0xa5, element + f.size, sizeof(element) - f.size);
			msg_element_text(text, sizeof(text), &f, element);
			TEST_ASSERT_EQUAL_STRING(cases[i].good[k], text);
		}
		for (size_t k = 0; k < 8 && cases[i].bad[k]; k++)
			TEST_ASSERT_EQUAL_INT_MESSAGE(-1, msg_element_parse(&f, element, cases[i].bad[k]),
						      cases[i].bad[k]);
	}
}

TEST(test_a_nan_is_a_nan_whatever_its_bits)
{
	static const uint64_t nans[] = { 0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000001,
					 0xffffffffffffffff };
	const struct msg_type *type = type_of("imu");
	struct msg_imu imu;

	for (size_t i = 0; i < sizeof(nans) / sizeof(*nans); i++) {
		msg_init(sent, type);
		memcpy(sent + offsetof(struct msg_imu, temperature), &nans[i], sizeof(nans[i]));
		write_json(text, sizeof(text), type, sent);
		TEST_ASSERT_NOT_NULL(strstr(text, "\"temperature\":null"));
		TEST_ASSERT_EQUAL_INT(0, read_json(type, &imu, text, error, sizeof(error)));
		TEST_ASSERT_TRUE(isnan(imu.temperature));
		write_text(text, sizeof(text), type, sent);
		TEST_ASSERT_NOT_NULL(strstr(text, "temperature = nan K\n"));
		TEST_ASSERT_EQUAL_INT(0, msg_from_text(type, &imu, text, error, sizeof(error)));
		TEST_ASSERT_TRUE(isnan(imu.temperature));
	}
}

/* Text that no terminating zero ends, or that was cut inside a character, must not make invalid JSON. */
TEST(test_text_that_is_not_text)
{
	const struct msg_type *type = type_of("event");
	struct msg_event e;

	msg_init(&e, type);
	memset(e.source, 'x', sizeof(e.source));
	memcpy(e.text, "caf\xc3", 4);
	memcpy(e.code, "\xff\xfe", 2);
	write_json(text, sizeof(text), type, &e);
	TEST_ASSERT_NOT_NULL(strstr(text, "\"source\":\"xxxxxxxxxxxxxxxxxxxxxxxx\",\"code\":\"\\ufffd\\ufffd\","));
	TEST_ASSERT_NOT_NULL(strstr(text, "\"text\":\"caf\\ufffd\"}"));
	write_text(text, sizeof(text), type, &e);
	TEST_ASSERT_NOT_NULL(strstr(text, "\nsource = \"xxxxxxxxxxxxxxxxxxxxxxxx\"\n"));
	memcpy(e.code, "xxxxxxxxxxxxxxxxxxxxxx\xc3", sizeof(e.code)); /* cut by the field's end */
	write_json(text, sizeof(text), type, &e);
	TEST_ASSERT_NOT_NULL(strstr(text, "\"code\":\"xxxxxxxxxxxxxxxxxxxxxx\","));
}

TEST(test_count_beyond_the_room)
{
	const struct msg_type *type = type_of("gripper-ref");
	struct msg_gripper_ref ref;
	struct msg_place place;

	msg_init(&ref, type);
	ref.count = UINT32_MAX;
	TEST_ASSERT_EQUAL_INT(0, msg_find(type, "speed", &place, error, sizeof(error)));
	TEST_ASSERT_EQUAL_size_t(MSG_FINGERS, msg_elements(&ref, &place));
	write_text(text, sizeof(text), type, &ref);
	TEST_ASSERT_NOT_NULL(strstr(text, "\nspeed = 0 0 0 0\n"));
	memcpy(sent, &ref, sizeof(ref));
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, msg_from_text(type, back, text, error, sizeof(error)), error);
	assert_same(type);
	write_json(text, sizeof(text), type, &ref);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, read_json(type, back, text, error, sizeof(error)), error);
	assert_same(type);
}

/* ---- known forms ---- */

TEST(test_forms)
{
	const struct msg_type *type = type_of("gripper-ref");
	struct msg_gripper_ref ref;

	msg_init(&ref, type);
	ref.header.flags = MSG_FLAG_HELD | MSG_FLAG_SIMULATED;
	ref.header.sequence = 7;
	ref.header.valid_until_ns = -1;
	ref.grip = MSG_GRIP_PINCH;
	ref.count = 2;
	ref.position[1] = 0.1;
	ref.speed[0] = INFINITY;
	ref.force[1] = NAN;
	write_text(text, sizeof(text), type, &ref);
	TEST_ASSERT_EQUAL_STRING("header.type = 6\n"
				 "header.version = 1\n"
				 "header.uncertainty_us = 0 us\n"
				 "header.size = 160 B\n"
				 "header.incarnation = 0\n"
				 "header.flags = held|simulated\n"
				 "header.for_incarnation = 0\n"
				 "header.sequence = 7\n"
				 "header.t_sample_ns = 0 ns\n"
				 "header.t_publish_ns = 0 ns\n"
				 "header.valid_until_ns = -1 ns\n"
				 "grip = pinch\n"
				 "count = 2\n"
				 "position = 0 0.1\n"
				 "speed = inf 0\n"
				 "force = 0 nan\n",
				 text);
	write_json(text, sizeof(text), type, &ref);
	TEST_ASSERT_EQUAL_STRING("{\"type\":\"gripper-ref\",\"header\":{\"type\":6,\"version\":1,"
				 "\"uncertainty_us\":0,\"size\":160,"
				 "\"incarnation\":0,\"flags\":\"held|simulated\",\"for_incarnation\":0,\"sequence\":7,"
				 "\"t_sample_ns\":0,\"t_publish_ns\":0,\"valid_until_ns\":-1},\"grip\":\"pinch\","
				 "\"count\":2,\"position\":[0,0.1],\"speed\":[\"inf\",0],\"force\":[0,null]}",
				 text);
}

TEST(test_what_is_not_named_stays_zero)
{
	const struct msg_type *type = type_of("joint-ref");
	struct msg_joint_ref ref, expected;

	msg_init(&expected, type);
	expected.count = 2;
	expected.position[0] = 0.5;
	expected.position[1] = -1;
	memset(&ref, 0xa5, sizeof(ref));
	TEST_ASSERT_EQUAL_INT(0, read_json(type, &ref, "{\"position\":[0.5,-1]}", error, sizeof(error)));
	TEST_ASSERT_EQUAL_MEMORY(&expected, &ref, sizeof(ref));
	memset(&ref, 0xa5, sizeof(ref));
	TEST_ASSERT_EQUAL_INT(0, msg_from_text(type, &ref, "\n  position  = 0.5 -1 rad\n\n", error, sizeof(error)));
	TEST_ASSERT_EQUAL_MEMORY(&expected, &ref, sizeof(ref));
	TEST_ASSERT_EQUAL_INT(0, msg_from_text(type, &ref, "position = 0.5 -1", error, sizeof(error)));
	TEST_ASSERT_EQUAL_MEMORY(&expected, &ref, sizeof(ref));
	msg_init(&expected, type);
	TEST_ASSERT_EQUAL_INT(0, read_json(type, &ref, "{}", error, sizeof(error)));
	TEST_ASSERT_EQUAL_MEMORY(&expected, &ref, sizeof(ref));
	TEST_ASSERT_EQUAL_INT(0, msg_from_text(type, &ref, "", error, sizeof(error)));
	TEST_ASSERT_EQUAL_MEMORY(&expected, &ref, sizeof(ref));
}

/* ---- refusals ---- */

struct bad {
	const char *type, *given, *line;
};

/* A line in which @v is the version of the type, @s the size of its messages, and @- that size less one. */
static const char *line_of(const struct msg_type *type, const char *line)
{
	static char out[512];
	size_t at = 0;

	for (; *line && at < sizeof(out) - 8; line++) {
		size_t number = type->body->size;

		if (*line != '@') {
			out[at++] = *line;
			continue;
		}
		line++;
		number = *line == 'v' ? type->version : number - (*line == '-');
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%zu", number);
	}
	out[at] = '\0';
	return out;
}

static void refused(const struct bad *cases, size_t n, read_fn *read)
{
	for (size_t i = 0; i < n; i++) {
		snprintf(error, sizeof(error), "nothing said");
		TEST_ASSERT_EQUAL_INT_MESSAGE(
			-1, read(type_of(cases[i].type), back, cases[i].given, error, sizeof(error)), cases[i].given);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(line_of(type_of(cases[i].type), cases[i].line), error, cases[i].given);
	}
}

TEST(test_bad_json)
{
	static const struct bad cases[] = {
		{ "imu", "[]", "expected an object: {\"field\": value, ...}" },
		{ "imu", "", "JSON:1: nothing in it" },
		{ "imu", "7", "expected an object: {\"field\": value, ...}" },
		{ "imu", "{\"type\":\"estop\"}", "is a message of type estop; expected imu" },
		{ "imu", "{\"rat\":[1,2,3]}", "imu has no field rat; did you mean rate?" },
		{ "imu", "{\"nix\":1}", "imu has no field nix" },
		{ "imu", "{\"header\":{\"sequenc\":1}}",
		  "imu has no field header.sequenc; did you mean header.sequence?" },
		{ "imu", "{\"header.sequenc\":1}", "imu has no field header.sequenc; did you mean header.sequence?" },
		{ "imu", "{\"heder.sequence\":1}", "imu has no field heder; did you mean header?" },
		{ "imu", "{\"common\":{\"refs_refused\":{\"pst\":1}}}",
		  "imu has no field common.refs_refused.pst; did you mean common.refs_refused.past?" },
		{ "imu", "{\"common\":{\"bus\":[{\"set\":1}]}}",
		  "imu has no field common.bus[0].set; did you mean common.bus[0].sent?" },
		{ "imu", "{\"header\":{\"sequence\":1},\"header.sequence\":1}", "header.sequence: said twice" },
		{ "imu", "{\"rate[0]\":1,\"rate\":[1,2,3]}", "rate[0]: said twice" },
		{ "imu", "{\"rate[0]\":[1]}", "rate[0]: \"a list\" is not a number" },
		{ "imu", "{\"type\":[\"imu\"]}", "type: is the name of a type, such as imu" },
		{ "imu", "{\"type\":{}}", "type: is the name of a type, such as imu" },
		{ "imu", "{\"rate\":[1,2,3,4]}", "rate: is a list of at most 3" },
		{ "imu", "{\"rate\":1}", "rate: is a list of at most 3" },
		{ "imu", "{\"rate\":{}}", "rate: is a list of at most 3" },
		{ "imu", "{\"rate\":[1,\"fast\"]}", "rate[1]: \"fast\" is not a number" },
		{ "imu", "{\"rate\":[[]]}", "rate[0]: \"a list\" is not a number" },
		{ "imu", "{\"temperature\":{}}", "temperature: \"a mapping\" is not a number" },
		{ "imu", "{\"samples\":-1}", "samples: \"-1\" is not a whole number of 32 bits" },
		{ "imu", "{\"samples\":4294967296}", "samples: \"4294967296\" is not a whole number of 32 bits" },
		{ "imu", "{\"samples\":1.5}", "samples: \"1.5\" is not a whole number of 32 bits" },
		{ "imu", "{\"samples\":null}", "samples: \"null\" is not a whole number of 32 bits" },
		{ "imu", "{\"age_ns\":\"x\"}", "age_ns: \"x\" is not a whole number, signed, of 64 bits" },
		{ "imu", "{\"common\":1}", "common: is an object of fields" },
		{ "imu", "{\"common\":{\"bus\":[1]}}", "common.bus[0]: is an object of fields" },
		{ "imu", "{\"common\":{\"bus\":[{\"sent\":\"x\"}]}}",
		  "common.bus[0].sent: \"x\" is not a whole number of 64 bits" },
		{ "imu", "{\"common\":{\"bus\":[{},{},{},{},{},{},{},{},{}]}}", "common.bus: is a list of at most 8" },
		{ "imu", "{\"header\":{\"flags\":\"partial|late\"}}",
		  "header.flags: \"partial|late\" is not some of partial|held|freerun|simulated|replayed" },
		{ "estop", "{\"level\":\"stop\"}", "level: \"stop\" is not one of run, hold, estop" },
		{ "estop", "{\"who\":\"a name of 24 characters!\"}",
		  "who: \"a name of 24 characters!\" is not text of at most 23 bytes" },
		{ "imu", "{\"header\":{\"version\":99}}", "imu of version 99; this program knows version @v" },
		{ "imu", "{\"header\":{\"type\":11}}", "a message of type estop; expected imu" },
		{ "imu", "{\"header\":{\"type\":999}}", "@s bytes of an unknown type; expected imu" },
		{ "imu", "{\"header\":{\"size\":1}}", "imu of @s bytes that says it has 1; it should have @s" },
		{ "imu",
		  "{\"header\":{\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		  "xxxxxxxxxxxxxxxxxxxx\":1}}",
		  "header.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…: no field has such a name" },
	};

	refused(cases, sizeof(cases) / sizeof(*cases), read_json);
	/* What the reader of JSON itself says has the place. */
	TEST_ASSERT_EQUAL_INT(-1, read_json(type_of("imu"), back, "{\n\"samples\":1", error, sizeof(error)));
	TEST_ASSERT_EQUAL_STRING_LEN("JSON:2: ", error, 8);
	TEST_ASSERT_EQUAL_INT(-1,
			      read_json(type_of("imu"), back, "{\"samples\":1,\"samples\":2}", error, sizeof(error)));
	TEST_ASSERT_EQUAL_STRING_LEN("JSON:1: ", error, 8);
}

TEST(test_bad_text)
{
	static const struct bad cases[] = {
		{ "imu", "rate", "\"rate\" is not field = value" },
		{ "imu", "samples = 1\nrat = 1 2", "imu has no field rat; did you mean rate?" },
		{ "imu", "samples = 1\nsamples = 1", "samples: said twice" },
		{ "imu", "rate = 1 2\nrate[1] = 2", "rate[1]: said twice" },
		{ "imu", "= 1", "imu has no field " },
		{ "imu", "rate = 1 2 3 4 rad/s", "rate: more than 3 values" },
		{ "imu", "rate = 1 2 3 rad", "rate: more than 3 values" },
		{ "imu", "rate = 1 2 rad", "rate: \"rad\" is not a number" },
		{ "imu", "temperature =", "temperature: \"\" is not a number" },
		{ "imu", "temperature = 1 2", "temperature: more than 1 values" },
		{ "imu", "rate[3] = 1", "rate[3]: an index of rate is 0 to 2" },
		{ "imu", "rate[x] = 1", "rate[x]: an index of rate is 0 to 2" },
		{ "imu", "common = 1", "common: \"1\" is not fields of its own" },
		{ "imu", "common.bus.sent = 1", "common.bus.sent: common.bus is not a single group of fields" },
		{ "estop", "level = stop", "level: \"stop\" is not one of run, hold, estop" },
		{ "estop", "who = a name", "who: more than 1 values" },
		{ "estop", "who = \"a name of 24 characters!\"",
		  "who: \"a name of 24 characters!\" is not text of at most 23 bytes" },
		{ "estop", "who = \"abc", "who: the quotes do not end" },
		{ "estop", "who = \"abc\\\"", "who: the quotes do not end" },
		{ "imu", "header.version = 99", "imu of version 99; this program knows version @v" },
	};
	static char long_line[9000];

	refused(cases, sizeof(cases) / sizeof(*cases), msg_from_text);
	memset(long_line, ' ', sizeof(long_line) - 1);
	TEST_ASSERT_EQUAL_INT(-1, msg_from_text(type_of("imu"), back, long_line, error, sizeof(error)));
	TEST_ASSERT_EQUAL_STRING("a line is longer than 8191 bytes", error);
}

/* ---- lists that count together ---- */

TEST(test_missing_numbers_are_nan)
{
	const struct msg_type *type = type_of("gripper-ref"), *state_type = type_of("joint-state");
	struct msg_gripper_ref ref;
	struct msg_joint_state joints;

	TEST_ASSERT_EQUAL_INT(0, read_json(type, &ref, "{\"speed\":[0.5,1],\"force\":[]}", error, sizeof(error)));
	for (int form = 0; form < 2; form++) {
		TEST_ASSERT_EQUAL_UINT32(2, ref.count);
		TEST_ASSERT_EQUAL_DOUBLE(1, ref.speed[1]);
		for (int i = 0; i < 2; i++)
			TEST_ASSERT_TRUE(isnan(ref.position[i]) && isnan(ref.force[i]));
		TEST_ASSERT_EQUAL_DOUBLE(0, ref.position[2]); /* does not count */
		TEST_ASSERT_EQUAL_INT(0, msg_from_text(type, &ref, "speed = 0.5 1", error, sizeof(error)));
	}
	TEST_ASSERT_EQUAL_INT(0, read_json(type, &ref, "{\"count\":1}", error, sizeof(error)));
	TEST_ASSERT_TRUE(isnan(ref.position[0]));
	TEST_ASSERT_EQUAL_INT(0, read_json(state_type, &joints, "{\"joint\":[\"a\"]}", error, sizeof(error)));
	TEST_ASSERT_EQUAL_UINT32(1, joints.count);
	TEST_ASSERT_TRUE(isnan(joints.position[0]) && isnan(joints.temperature[0]));
	TEST_ASSERT_EQUAL_INT64(0, joints.age_ns[0]);
	TEST_ASSERT_EQUAL_UINT32(0, joints.status[0]);
}

TEST(test_what_the_mode_names_must_be_there)
{
	static const struct bad cases[] = {
		{ "joint-ref", "{\"mode\":[\"position\"]}", "mode[0] is position, but there is no position" },
		{ "joint-ref", "{\"mode\":[\"position\",\"velocity\"],\"position\":[1,2]}",
		  "mode[1] is velocity, but there is no velocity" },
		{ "joint-ref", "{\"mode\":[\"current\"],\"current\":[]}",
		  "mode[0] is current, but there is no current" },
	};
	static const struct bad text_cases[] = {
		{ "joint-ref", "mode = position", "mode[0] is position, but there is no position" },
	};
	const struct msg_type *type = type_of("joint-ref");
	struct msg_joint_ref ref;

	refused(cases, sizeof(cases) / sizeof(*cases), read_json);
	refused(text_cases, sizeof(text_cases) / sizeof(*text_cases), msg_from_text);
	TEST_ASSERT_EQUAL_INT(0, read_json(type, &ref, "{\"mode\":[\"velocity\",\"none\"],\"velocity\":[1,null]}",
					   error, sizeof(error)));
	TEST_ASSERT_TRUE(isnan(ref.velocity[1]));
	TEST_ASSERT_EQUAL_DOUBLE(0, ref.position[0]); /* what no mode names is nothing, and drivers refuse a NaN */
	TEST_ASSERT_EQUAL_DOUBLE(0, ref.current[1]);
	TEST_ASSERT_EQUAL_INT(0, read_json(type, &ref, "{\"mode\":[\"none\",\"none\"]}", error, sizeof(error)));
	TEST_ASSERT_EQUAL_UINT32(2, ref.count);
}

TEST(test_lists_of_different_length)
{
	static const struct bad cases[] = {
		{ "joint-ref", "{\"mode\":[\"none\",\"none\",\"none\"],\"position\":[1]}",
		  "position has length 1, but mode has length 3" },
		{ "joint-ref", "{\"position\":[1],\"mode\":[\"none\",\"none\",\"none\"]}",
		  "position has length 1, but mode has length 3" },
		{ "joint-ref", "{\"mode\":[\"none\"],\"velocity\":[1,2]}",
		  "mode has length 1, but velocity has length 2" },
		{ "joint-ref", "{\"count\":3,\"position\":[1]}", "position has length 1, but count is 3" },
		{ "joint-ref", "{\"position\":[1],\"count\":3}", "position has length 1, but count is 3" },
		{ "joint-ref", "{\"position\":[1],\"count\":0}", "position has length 1, but count is 0" },
		{ "joint-ref", "{\"position[1]\":1}", "position[0] is missing" },
		{ "imu", "{\"common\":{\"bus_count\":2,\"bus\":[{}]}}",
		  "common.bus has length 1, but common.bus_count is 2" },
	};
	static const struct bad text_cases[] = {
		{ "joint-ref", "mode = none none none\nposition = 1 rad",
		  "position has length 1, but mode has length 3" },
		{ "joint-ref", "position[2] = 1", "position[0] is missing" },
		{ "imu", "common.bus[1].sent = 1", "common.bus[0] is missing" },
	};
	struct msg_imu imu;

	refused(cases, sizeof(cases) / sizeof(*cases), read_json);
	refused(text_cases, sizeof(text_cases) / sizeof(*text_cases), msg_from_text);
	TEST_ASSERT_EQUAL_INT(0, read_json(type_of("imu"), &imu, "{\"common\":{\"bus\":[{},{\"sent\":7}]}}", error,
					   sizeof(error)));
	TEST_ASSERT_EQUAL_UINT32(2, imu.common.bus_count);
	TEST_ASSERT_EQUAL_INT(0, msg_from_text(type_of("imu"), &imu, "common.bus[0].sent = 7", error, sizeof(error)));
	TEST_ASSERT_EQUAL_UINT32(1, imu.common.bus_count);
	/* Lists without a count have all their elements always. */
	TEST_ASSERT_EQUAL_INT(0, read_json(type_of("imu"), &imu, "{\"rate\":[1]}", error, sizeof(error)));
	TEST_ASSERT_EQUAL_DOUBLE(0, imu.rate[1]);
}

TEST(test_json_takes_paths_as_text_has_them)
{
	const struct msg_type *type = type_of("joint-state");
	static struct msg_joint_state nested, paths;

	TEST_ASSERT_EQUAL_INT_MESSAGE(0,
				      read_json(type, &nested,
						"{\"header\":{\"for_incarnation\":7},\"common\":{\"refs_refused\":"
						"{\"past\":3},\"bus\":[{\"sent\":5}]},\"position\":[1,2]}",
						error, sizeof(error)),
				      error);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0,
				      read_json(type, &paths,
						"{\"header.for_incarnation\":7,\"common.refs_refused.past\":3,"
						"\"common\":{\"bus[0]\":{\"sent\":5}},\"position[0]\":1,"
						"\"position[1]\":2}",
						error, sizeof(error)),
				      error);
	TEST_ASSERT_EQUAL_MEMORY(&nested, &paths, sizeof(nested));
	TEST_ASSERT_EQUAL_UINT32(7, paths.header.for_incarnation);
	TEST_ASSERT_EQUAL_UINT32(2, paths.count);
	TEST_ASSERT_EQUAL_UINT32(1, paths.common.bus_count);
}

static void refusal(enum msg_refusal expected, const char *line, const void *buf, size_t len,
		    const struct msg_type *wanted)
{
	const struct msg_type *found = wanted;
	char why[128];

	TEST_ASSERT_EQUAL_INT_MESSAGE(expected, msg_check(buf, len, wanted, &found), line);
	TEST_ASSERT_NULL(found);
	msg_refusal_text(why, sizeof(why), expected, buf, len, wanted);
	TEST_ASSERT_EQUAL_STRING(line_of(type_of("imu"), line), why);
	TEST_ASSERT_EQUAL_INT(expected, msg_check(buf, len, wanted, NULL));
}

TEST(test_foreign_messages)
{
	const struct msg_type *imu = type_of("imu"), *found;
	struct msg_imu msg, changed;

	msg_init(&msg, imu);
	TEST_ASSERT_EQUAL_INT(MSG_FINE, msg_check(&msg, sizeof(msg), imu, &found));
	TEST_ASSERT_EQUAL_PTR(imu, found);
	TEST_ASSERT_EQUAL_INT(MSG_FINE, msg_check(&msg, sizeof(msg), NULL, &found));
	TEST_ASSERT_EQUAL_PTR(imu, found);
	for (size_t t = 0; t < msg_types_n; t++)
		if (&msg_types[t] != imu)
			TEST_ASSERT_EQUAL_INT(MSG_OTHER_TYPE, msg_check(&msg, sizeof(msg), &msg_types[t], NULL));
	refusal(MSG_OTHER_TYPE, "a message of type imu; expected estop", &msg, sizeof(msg), type_of("estop"));
	refusal(MSG_SHORT, "0 bytes are not an Endplate message", &msg, 0, imu);
	refusal(MSG_SHORT, "55 bytes are not an Endplate message", &msg, sizeof(struct msg_header) - 1, NULL);
	for (size_t len = 0; len < sizeof(msg); len++)
		TEST_ASSERT_EQUAL_INT(len < sizeof(struct msg_header) ? MSG_SHORT : MSG_OTHER_SIZE,
				      msg_check(&msg, len, imu, NULL));
	refusal(MSG_OTHER_SIZE, "imu of @- bytes that says it has @s; it should have @s", &msg, sizeof(msg) - 1, imu);
	changed = msg;
	changed.header.size--;
	refusal(MSG_OTHER_SIZE, "imu of @s bytes that says it has @-; it should have @s", &changed, sizeof(changed),
		NULL);
	refusal(MSG_OTHER_SIZE, "imu of @- bytes that says it has @-; it should have @s", &changed, sizeof(changed) - 1,
		NULL);
	changed = msg;
	changed.header.version = 99;
	refusal(MSG_OTHER_VERSION, "imu of version 99; this program knows version @v", &changed, sizeof(changed), imu);
	changed.header.version = 0;
	refusal(MSG_OTHER_VERSION, "imu of version 0; this program knows version @v", &changed, sizeof(changed), NULL);
	changed = msg;
	changed.header.type = 0;
	refusal(MSG_OTHER_TYPE, "@s bytes of an unknown type", &changed, sizeof(changed), NULL);
	changed.header.type = UINT32_MAX;
	refusal(MSG_OTHER_TYPE, "@s bytes of an unknown type; expected imu", &changed, sizeof(changed), imu);
}

TEST(test_an_unaligned_message)
{
	const struct msg_type *imu = type_of("imu");
	static char aligned[TEXT_SIZE];
	struct msg_place place;
	double value = 0;

	random_message(imu);
	memcpy(back + 1, sent, sizeof(struct msg_imu));
	TEST_ASSERT_EQUAL_INT(MSG_FINE, msg_check(back + 1, sizeof(struct msg_imu), imu, NULL));
	write_json(aligned, sizeof(aligned), imu, sent);
	write_json(text, sizeof(text), imu, back + 1);
	TEST_ASSERT_EQUAL_STRING(aligned, text);
	TEST_ASSERT_EQUAL_INT(0, msg_find(imu, "samples", &place, error, sizeof(error)));
	TEST_ASSERT_EQUAL_INT(0, msg_value(back + 1, &place, 0, &value));
}

/* ---- fields ---- */

TEST(test_paths)
{
	static const struct {
		const char *type, *path;
		size_t offset, elements, used;
	} good[] = {
		{ "imu", "rate", offsetof(struct msg_imu, rate), 3, MSG_ALL },
		{ "imu", "rate[2]", offsetof(struct msg_imu, rate[2]), 1, MSG_ALL },
		{ "imu", "header.sequence", offsetof(struct msg_imu, header.sequence), 1, MSG_ALL },
		{ "imu", "header", 0, 1, MSG_ALL },
		{ "imu", "common.bus", offsetof(struct msg_imu, common.bus), 8,
		  offsetof(struct msg_imu, common.bus_count) },
		{ "imu", "common.bus[7]", offsetof(struct msg_imu, common.bus[7]), 1, MSG_ALL },
		{ "imu", "common.bus[7].rx_dropped", offsetof(struct msg_imu, common.bus[7].rx_dropped), 1, MSG_ALL },
		{ "joint-state", "state_word", offsetof(struct msg_joint_state, state_word), 48,
		  offsetof(struct msg_joint_state, count) },
		{ "joint-state", "joint[47]", offsetof(struct msg_joint_state, joint[47]), 1, MSG_ALL },
		{ "clock", "bus[1].load", offsetof(struct msg_clock, bus[1].load), 1, MSG_ALL },
		{ "battery", "cell", offsetof(struct msg_battery, cell), 128,
		  offsetof(struct msg_battery, cell_count) },
	};
	static const struct bad bad[] = {
		{ "imu", "", "imu has no field " },
		{ "imu", "rat", "imu has no field rat; did you mean rate?" },
		{ "imu", "rate2", "imu has no field rate2; did you mean rate?" },
		{ "imu", ".rate", "imu has no field " },
		{ "imu", "header.", "imu has no field header." },
		{ "imu", "header.seq", "imu has no field header.seq" },
		{ "imu", "rate[3]", "rate[3]: an index of rate is 0 to 2" },
		{ "imu", "rate[-1]", "rate[-1]: an index of rate is 0 to 2" },
		{ "imu", "rate[]", "rate[]: an index of rate is 0 to 2" },
		{ "imu", "rate[1", "rate[1: an index of rate is 0 to 2" },
		{ "imu", "rate[1]x", "rate[1]x: rate[1] is not a single group of fields" },
		{ "imu", "rate[1][1]", "rate[1][1]: rate[1] is not a single group of fields" },
		{ "imu", "rate[99999999999999999999]", "rate[99999999999999999999]: an index of rate is 0 to 2" },
		{ "imu", "temperature[0]", "temperature[0]: temperature is not a list" },
		{ "imu", "temperature.x", "temperature.x: temperature is not a single group of fields" },
		{ "imu", "common.bus.sent", "common.bus.sent: common.bus is not a single group of fields" },
		{ "imu", "common.bus[8].sent", "common.bus[8].sent: an index of common.bus is 0 to 7" },
	};
	struct msg_place place;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		TEST_ASSERT_EQUAL_INT_MESSAGE(
			0, msg_find(type_of(good[i].type), good[i].path, &place, error, sizeof(error)), error);
		TEST_ASSERT_EQUAL_size_t_MESSAGE(good[i].offset, place.offset, good[i].path);
		TEST_ASSERT_EQUAL_size_t_MESSAGE(good[i].elements, place.elements, good[i].path);
		TEST_ASSERT_EQUAL_size_t_MESSAGE(good[i].used, place.used, good[i].path);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		TEST_ASSERT_EQUAL_INT_MESSAGE(
			-1, msg_find(type_of(bad[i].type), bad[i].given, &place, error, sizeof(error)), bad[i].given);
		TEST_ASSERT_EQUAL_STRING(bad[i].line, error);
	}
}

TEST(test_values)
{
	const struct msg_type *type = type_of("reply"), *imu = type_of("imu");
	struct msg_reply reply;
	struct msg_imu msg;
	struct msg_place place;
	double value;

	msg_init(&reply, type);
	reply.result = -22;
	TEST_ASSERT_EQUAL_INT(0, msg_find(type, "result", &place, error, sizeof(error)));
	TEST_ASSERT_EQUAL_INT(0, msg_value(&reply, &place, 0, &value));
	TEST_ASSERT_EQUAL_DOUBLE(-22, value);
	TEST_ASSERT_EQUAL_INT(0, msg_find(type, "error", &place, error, sizeof(error)));
	TEST_ASSERT_EQUAL_INT(-1, msg_value(&reply, &place, 0, &value));
	TEST_ASSERT_EQUAL_INT(0, msg_find(type, "header", &place, error, sizeof(error)));
	TEST_ASSERT_EQUAL_INT(-1, msg_value(&reply, &place, 0, &value));

	msg_init(&msg, imu);
	msg.rate[2] = 2.5;
	msg.common.lifecycle = MSG_LIFE_FAULT;
	msg.header.flags = MSG_FLAG_REPLAYED;
	msg.header.t_sample_ns = -5;
	TEST_ASSERT_EQUAL_INT(0, msg_find(imu, "rate", &place, error, sizeof(error)));
	TEST_ASSERT_EQUAL_INT(0, msg_value(&msg, &place, 2, &value));
	TEST_ASSERT_EQUAL_DOUBLE(2.5, value);
	TEST_ASSERT_EQUAL_INT(0, msg_find(imu, "common.lifecycle", &place, error, sizeof(error)));
	TEST_ASSERT_EQUAL_INT(0, msg_value(&msg, &place, 0, &value));
	TEST_ASSERT_EQUAL_DOUBLE(6, value);
	TEST_ASSERT_EQUAL_INT(0, msg_find(imu, "header.flags", &place, error, sizeof(error)));
	TEST_ASSERT_EQUAL_INT(0, msg_value(&msg, &place, 0, &value));
	TEST_ASSERT_EQUAL_DOUBLE(16, value);
	TEST_ASSERT_EQUAL_INT(0, msg_find(imu, "header.t_sample_ns", &place, error, sizeof(error)));
	TEST_ASSERT_EQUAL_INT(0, msg_value(&msg, &place, 0, &value));
	TEST_ASSERT_EQUAL_DOUBLE(-5, value);
}

TEST(test_types)
{
	static const struct {
		const char *channel, *type;
	} channels[] = {
		{ "estop", "estop" },	    { "estop-b", "estop" },
		{ "clock", "clock" },	    { "waist-event", "event" },
		{ "waist-req", "request" }, { "waist-rep", "reply" },
		{ "k2-estop", "estop" },    { "waist-state", NULL },
		{ "hubo-ref", NULL },	    { "", NULL },
	};

	for (size_t i = 0; i < msg_types_n; i++) {
		TEST_ASSERT_EQUAL_PTR(&msg_types[i], msg_type_by_number(msg_types[i].number));
		TEST_ASSERT_EQUAL_PTR(&msg_types[i], msg_type_by_name(msg_types[i].name));
		TEST_ASSERT_GREATER_THAN_size_t(0, msg_types[i].retained);
	}
	TEST_ASSERT_NULL(msg_type_by_number(0));
	TEST_ASSERT_NULL(msg_type_by_name("im"));
	TEST_ASSERT_NULL(msg_type_by_name("imuu"));
	for (size_t i = 0; i < sizeof(channels) / sizeof(*channels); i++) {
		const struct msg_type *type = msg_type_by_channel(channels[i].channel);

		TEST_ASSERT_EQUAL_STRING_MESSAGE(channels[i].type, type ? type->name : NULL, channels[i].channel);
	}
}

/* ---- buffers of any size ---- */

/* By the paths that people use: fields without a measurement say so, other fields are left alone. */
TEST(test_what_was_never_measured)
{
	static const struct {
		const char *type, *path;
		double value;
	} cases[] = {
		{ "imu", "acceleration", NAN },
		{ "imu", "orientation", NAN },
		{ "imu", "temperature", NAN },
		{ "imu", "age_ns", 9223372036854775807.0 },
		{ "imu", "samples", 0 },
		{ "force-torque", "force", NAN },
		{ "force-torque", "bias_torque", NAN },
		{ "joint-state", "position", NAN },
		{ "joint-state", "age_ns", 9223372036854775807.0 },
		{ "joint-state", "state_word", 0 },
		{ "joint-state", "common.ticks", 0 },
		{ "joint-state", "common.lifecycle", MSG_LIFE_DOWN },
		{ "joint-state", "header.type", 1 },
		{ "gripper-state", "grip", MSG_GRIP_UNKNOWN },
		{ "gripper-state", "finger", MSG_FINGER_UNKNOWN },
		{ "gripper-state", "position", NAN },
		{ "battery", "voltage", NAN },
		{ "battery", "cell", NAN },
		{ "battery", "alarms", 0 },
		{ "clock", "bus[0].load", NAN },
		{ "clock", "bus[7].load", NAN },
		{ "clock", "cycle", 0 },
		{ "bus-stats", "load", NAN },
	};
	union {
		double align;
		char bytes[MSG_SIZE_MAX];
	} msg;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct msg_type *type = msg_type_by_name(cases[i].type);
		struct msg_place place;
		double value;

		msg_init(&msg, type);
		msg_unknown(&msg, type);
		TEST_ASSERT_EQUAL_INT_MESSAGE(0, msg_find(type, cases[i].path, &place, error, sizeof(error)),
					      cases[i].path);
		for (size_t e = 0; e < place.elements; e++) {
			TEST_ASSERT_EQUAL_INT(0, msg_value(&msg, &place, e, &value));
			TEST_ASSERT_TRUE_MESSAGE(isnan(cases[i].value) ? isnan(value) : value == cases[i].value,
						 cases[i].path);
		}
	}
}

TEST(test_small_error_buffers)
{
	for (size_t size = 1; size < 60; size++) {
		char *room = malloc(size);

		TEST_ASSERT_EQUAL_INT(-1, read_json(type_of("imu"), back, "{\"rat\":1}", room, size));
		TEST_ASSERT_LESS_THAN_size_t(size, strlen(room));
		TEST_ASSERT_EQUAL_INT(-1, read_json(type_of("imu"), back, "{", room, size));
		TEST_ASSERT_LESS_THAN_size_t(size, strlen(room));
		TEST_ASSERT_EQUAL_INT(-1, msg_from_text(type_of("imu"), back, "samples = x", room, size));
		TEST_ASSERT_LESS_THAN_size_t(size, strlen(room));
		free(room);
	}
}

/* ---- damaged text ---- */

static size_t damage(char *s, size_t len, size_t size)
{
	static const char signs[] = "\"\\{}[],:-|.0e=\n \xff";
	size_t at = below(len + 1);

	switch (below(5)) {
	case 0: /* cut */
		len = at;
		break;
	case 1: /* another byte */
		if (at < len)
			s[at] = (char)(1 + below(255));
		break;
	case 2: /* a sign that means something */
		if (at < len)
			s[at] = signs[below(sizeof(signs) - 1)];
		break;
	case 3: /* a byte gone */
		if (at < len)
			memmove(s + at, s + at + 1, len-- - at - 1);
		break;
	default: /* a piece twice */
		if (at < len && len + len - at < size) {
			memmove(s + len, s + at, len - at);
			len += len - at;
		}
	}
	s[len] = '\0';
	return len;
}

static void survives(write_fn *write, read_fn *read)
{
	int taken = 0, not_taken = 0;

	for (int i = 0; i < 6000; i++) {
		const struct msg_type *type = &msg_types[below(msg_types_n)];
		uint8_t *msg = malloc(type->body->size);
		char *given;
		size_t len;

		random_message(type);
		len = write(text, sizeof(text) / 2, type, sent);
		for (uint64_t k = below(4) + 1; k; k--)
			len = damage(text, len, sizeof(text) / 2);
		given = malloc(len + 1); /* exact, so that the sanitizer sees a read behind it */
		memcpy(given, text, len + 1);
		*error = '\0';
		if (read(type, msg, given, error, sizeof(error))) {
			TEST_ASSERT_GREATER_THAN_size_t(0, strlen(error));
			not_taken++;
		} else {
			TEST_ASSERT_EQUAL_INT(MSG_FINE, msg_check(msg, type->body->size, type, NULL));
			taken++;
		}
		free(given);
		free(msg);
	}
	TEST_ASSERT_GREATER_THAN_INT(0, taken);
	TEST_ASSERT_GREATER_THAN_INT(1000, not_taken);
}

TEST(test_damaged_json)
{
	survives(write_json, read_json);
}

TEST(test_damaged_text)
{
	survives(write_text, msg_from_text);
}
