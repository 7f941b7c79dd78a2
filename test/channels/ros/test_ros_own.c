/* endplate_msgs: every message there and back, and every place at which one may be cut.
 * Also for ros_layout.c, ros_text.c, ros_schema.c, ros_put.c. */
#include <sys/mman.h>

#include "channels/ros/ros_own.h"
#include "test/channels/ros/ros_idl.h"
#include "test/lib/testcase.h"

static uint8_t cdr[ROS_CDR_MAX];
static uint64_t message[MSG_SIZE_MAX / 8], back[MSG_SIZE_MAX / 8];
static uint32_t random_state;

void setUp(void)
{
	random_state = 1;
}

void tearDown(void)
{
}

static uint32_t next_random(void)
{
	random_state = random_state * 1664525 + 1013904223;
	return random_state >> 8;
}

/* Values in every field that counts; counts stay. */
static void fill(const struct msg_group *group, uint8_t *base)
{
	uint8_t *at = base;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; at += msg_field_size(f), f++) {
		const size_t n = msg_used(group, f, base);
		bool is_count = false;

		for (size_t i = 0; i < group->n; i++)
			is_count |= group->fields[i].used && !strcmp(group->fields[i].used, f->name);
		if (is_count || !strcmp(f->name, "reserved") || !strcmp(f->name, "type") ||
		    !strcmp(f->name, "version") || !strcmp(f->name, "size"))
			continue;
		for (size_t i = 0; i < n; i++) {
			uint8_t *to = at + i * f->size;

			if (f->kind == MSG_group)
				fill(f->group, to);
			else if (f->kind == MSG_name || f->kind == MSG_text)
				snprintf((char *)to, f->size, "%s%u", f->name, next_random() & 255);
			else if (f->kind == MSG_f64)
				memcpy(to, &(double){ next_random() / 1000.0 }, sizeof(double));
			else
				for (size_t k = 0; k < f->size; k++)
					to[k] = (uint8_t)next_random();
		}
	}
}

static void set_counts(const struct msg_group *group, uint8_t *base, uint32_t n)
{
	uint8_t *at = base;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; at += msg_field_size(f), f++) {
		if (f->kind == MSG_group && !f->count)
			set_counts(f->group, at, n);
		for (size_t i = 0; i < group->n; i++)
			if (group->fields[i].used && !strcmp(group->fields[i].used, f->name))
				memcpy(at, &(uint32_t){ n < group->fields[i].count ? n : group->fields[i].count }, 4);
	}
}

static size_t encode_for(const struct msg_type *type, const char *device)
{
	const struct ros_context context = { .device = device, .wall_ns = 5 };

	return ros_encode(ros_map_for(type->number, ROS_OWN), message, type->body->size, &context, cdr, sizeof(cdr));
}

static size_t encode(const struct msg_type *type)
{
	return encode_for(type, "arm");
}

TEST(every_message_comes_back_as_it_was)
{
	for (size_t i = 0; i < msg_types_n; i++)
		for (uint32_t n = 0; n < 200; n = 2 * n + 1)
			for (int unknown = 0; unknown < 2; unknown++) {
				const struct msg_type *type = &msg_types[i];
				size_t len;

				msg_init(message, type);
				if (unknown)
					msg_unknown(message, type);
				set_counts(type->body, (uint8_t *)message, n);
				fill(type->body, (uint8_t *)message);
				len = encode(type);
				TEST_ASSERT_GREATER_THAN_size_t(0, len);
				memset(back, 0x55, sizeof(back));
				TEST_ASSERT_EQUAL_INT(0, ros_own_decode(cdr, len, type,
									unknown ? ROS_UNUSED_UNKNOWN : ROS_UNUSED_ZERO,
									back));
				TEST_ASSERT_EQUAL_MEMORY_MESSAGE(message, back, type->body->size, type->name);
			}
}

/* ---- one field after the other, in either byte order ---- */

static uint8_t slow[ROS_CDR_MAX];
static size_t slow_len;
static bool slow_swapped;

static void slow_number(const void *number, size_t size)
{
	while ((slow_len - 4) % size)
		slow[slow_len++] = 0;
	for (size_t i = 0; i < size; i++)
		slow[slow_len++] = ((const uint8_t *)number)[slow_swapped ? size - 1 - i : i];
}

static void slow_u32(uint32_t number)
{
	slow_number(&number, sizeof(number));
}

static void slow_string(const char *text)
{
	slow_u32((uint32_t)strlen(text) + 1);
	memcpy(slow + slow_len, text, strlen(text) + 1);
	slow_len += strlen(text) + 1;
}

static void slow_group(const struct msg_group *group, const uint8_t *base)
{
	const uint8_t *at = base;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; at += msg_field_size(f), f++) {
		const size_t n = msg_used(group, f, base);

		if (!strcmp(f->name, "reserved") || !strcmp(f->name, "count") || strstr(f->name, "_count"))
			continue;
		if (f->used)
			slow_u32((uint32_t)n);
		for (size_t i = 0; i < n; i++) {
			if (f->kind == MSG_group)
				slow_group(f->group, at + i * f->size);
			else if (f->kind == MSG_name || f->kind == MSG_text)
				slow_string((const char *)at + i * f->size);
			else
				slow_number(at + i * f->size, f->size);
		}
	}
}

static void encode_slowly(const struct msg_type *type, const char *device, bool swapped)
{
	struct msg_header h;

	memcpy(&h, message, sizeof(h));
	slow_swapped = swapped;
	memcpy(slow, swapped ? "\0\0\0" : "\0\1\0", 4);
	slow_len = 4;
	slow_u32((uint32_t)((h.t_sample_ns + 5) / 1000000000));
	slow_u32((uint32_t)((h.t_sample_ns + 5) % 1000000000));
	slow_string(device);
	slow_group(type->body, (const uint8_t *)message);
}

/* The names move everything behind them to every place that there is. */
TEST(what_is_copied_at_once_lies_as_if_it_were_copied_field_by_field)
{
	static const char *const devices[] = { "", "1", "12", "123", "1234", "12345", "123456", "1234567" };

	for (size_t i = 0; i < msg_types_n; i++)
		for (uint32_t n = 0; n < 8; n++)
			for (size_t k = 0; k < sizeof(devices) / sizeof(*devices); k++) {
				const struct msg_type *type = &msg_types[i];
				size_t len;

				msg_init(message, type);
				set_counts(type->body, (uint8_t *)message, n);
				fill(type->body, (uint8_t *)message);
				((struct msg_header *)message)->t_sample_ns = 1700000000123456789;
				len = encode_for(type, devices[k]);
				encode_slowly(type, devices[k], false);
				TEST_ASSERT_EQUAL_size_t_MESSAGE(slow_len, len, type->name);
				TEST_ASSERT_EQUAL_MEMORY_MESSAGE(slow, cdr, len, type->name);
				encode_slowly(type, devices[k], true);
				TEST_ASSERT_EQUAL_INT(0, ros_own_decode(slow, slow_len, type, ROS_UNUSED_ZERO, back));
				TEST_ASSERT_EQUAL_MEMORY_MESSAGE(message, back, type->body->size, type->name);
			}
}

/* ---- */

static bool comes_back(const struct msg_type *type, enum ros_unused unused)
{
	const size_t len = encode(type);

	TEST_ASSERT_GREATER_THAN_size_t(0, len);
	return !ros_own_decode(cdr, len, type, unused, back) && !memcmp(message, back, type->body->size);
}

static void same_answer(const struct msg_type *type, enum ros_unused unused, const void *empty)
{
	TEST_ASSERT_EQUAL_MESSAGE(comes_back(type, unused), ros_own_keeps(type, message, empty), type->name);
}

/* Bytes of each message are changed in turn, to what text, counts, reserved and unused places may not hold. */
TEST(what_does_not_come_back_is_known_before)
{
	static const uint8_t values[] = { 0, 1, 'A', 0x7F, 0x80, 0xC3, 0xFF };
	static uint64_t empty[MSG_SIZE_MAX / 8];

	for (size_t i = 0; i < msg_types_n; i++)
		for (uint32_t n = 0; n < 200; n = 3 * n + 3) /* 0, 3, 12, 39, and 120: all of them */
			for (int unknown = 0; unknown < 2; unknown++) {
				const struct msg_type *type = &msg_types[i];
				const enum ros_unused unused = unknown ? ROS_UNUSED_UNKNOWN : ROS_UNUSED_ZERO;

				ros_own_empty(type, unused, empty);
				memcpy(message, empty, type->body->size);
				set_counts(type->body, (uint8_t *)message, n);
				fill(type->body, (uint8_t *)message);
				TEST_ASSERT_TRUE_MESSAGE(ros_own_keeps(type, message, empty), type->name);
				for (size_t at = sizeof(uint32_t) * 3; at < type->body->size;
				     at += 1 + next_random() % 6) {
					uint8_t *byte = (uint8_t *)message + at;
					const uint8_t before = *byte;

					*byte = values[next_random() % sizeof(values)];
					same_answer(type, unused, empty);
					*byte = before;
				}
			}
}

TEST(texts_that_are_not_kept_are_known_before)
{
	static const char *const texts[] = {
		"",
		"plain",
		"12345678901234567890123",
		"123456789012345678901234", /* without its zero */
		"1234567890123456789012\xc3",
		"12345678901234567890\xc3\xa4",
		"123456789012345678901\xc3\xa4",
		"\xc3\xa4 umlaut",
		"tab\t",
		"\x7f",
		"a\xff",
		"\xe2\x80\xae",
	};
	const struct msg_type *type = msg_type_by_name("bus-stats");
	struct msg_bus_stats *s = (struct msg_bus_stats *)message;
	static uint64_t empty[MSG_SIZE_MAX / 8];
	size_t kept = 0;

	ros_own_empty(type, ROS_UNUSED_ZERO, empty);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		for (int behind = 0; behind < 2; behind++) {
			const size_t len = strlen(texts[i]);

			memcpy(message, empty, type->body->size);
			memset(s->name, 0, sizeof(s->name));
			if (behind)
				s->name[sizeof(s->name) - 1] = 'x';
			memcpy(s->name, texts[i], len < sizeof(s->name) ? len : sizeof(s->name));
			same_answer(type, ROS_UNUSED_ZERO, empty);
			kept += ros_own_keeps(type, message, empty);
		}
	TEST_ASSERT_EQUAL_size_t(6, kept); /* three of ASCII, three with an umlaut */
}

TEST(a_message_that_is_cut_or_of_another_type_is_not_decoded)
{
	const struct msg_type *type = msg_type_by_name("gripper-state");
	size_t len;

	msg_init(message, type);
	set_counts(type->body, (uint8_t *)message, 2);
	fill(type->body, (uint8_t *)message);
	len = encode(type);
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *copy = malloc(cut + 1);

		memcpy(copy, cdr, cut);
		TEST_ASSERT_EQUAL_INT(-1, ros_own_decode(copy, cut, type, ROS_UNUSED_ZERO, back));
		free(copy);
	}
	TEST_ASSERT_EQUAL_INT(-1, ros_own_decode(cdr, len, msg_type_by_name("body"), ROS_UNUSED_ZERO, back));
}

TEST(names_are_cut_and_cleaned)
{
	static const struct {
		const char *from, *text;
	} rows[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "12345678901234567890123", "12345678901234567890123" },
		{ "123456789012345678901234", "12345678901234567890123" },
		{ "1234567890123456789012\xc3\xa4", "1234567890123456789012" }, /* a character is not cut in two */
		{ "1234567890123456789012\xc3", "1234567890123456789012" },	/* nor left in two */
		{ "a\xff"
		  "b\n",
		  "a?b?" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct msg_type *type = msg_type_by_name("bus-stats");
		struct msg_bus_stats *s = (struct msg_bus_stats *)message, *b = (struct msg_bus_stats *)back;
		size_t len;

		msg_init(message, type);
		strncpy(s->name, rows[i].from, sizeof(s->name));
		len = encode(type);
		TEST_ASSERT_EQUAL_INT(0, ros_own_decode(cdr, len, type, ROS_UNUSED_ZERO, back));
		TEST_ASSERT_EQUAL_STRING(rows[i].text, b->name);
	}
}

/* A text that has no zero, at the end of the memory that may be read. */
TEST(nothing_is_read_behind_a_text)
{
	const struct msg_type *type = msg_type_by_name("request");
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct msg_request *r = (struct msg_request *)(memory + page - sizeof(*r));
	static uint64_t empty[MSG_SIZE_MAX / 8];
	const struct ros_context context = { .device = "arm" };

	TEST_ASSERT_TRUE(memory != MAP_FAILED && !mprotect(memory + page, page, PROT_NONE));
	TEST_ASSERT_EQUAL_PTR(memory + page, r->value + sizeof(r->value));
	ros_own_empty(type, ROS_UNUSED_ZERO, empty);
	msg_init(r, type);
	memset(r->value, 'x', sizeof(r->value));
	TEST_ASSERT_FALSE(ros_own_keeps(type, r, empty));
	TEST_ASSERT_GREATER_THAN_size_t(0, ros_encode(ros_map_for(type->number, ROS_OWN), r, sizeof(*r), &context, cdr,
						      sizeof(cdr)));
	munmap(memory, 2 * page);
}

/* A hand-written gripper-ref with lists of these lengths, and a string of that length in the header. */
static int decode_lists(uint32_t position, uint32_t speed, uint32_t force)
{
	const struct msg_type *type = msg_type_by_name("gripper-ref");
	const uint32_t lengths[] = { position, speed, force };
	struct cdr_out o = cdr_out(cdr, sizeof(cdr));

	cdr_put_i32(&o, 0);
	cdr_put_u32(&o, 0);
	cdr_put_string(&o, "", 0);
	cdr_put_u32(&o, type->number);
	cdr_put(&o, &type->version, 2, 1);
	cdr_put_u32(&o, (uint32_t)type->body->size);
	for (int i = 0; i < 3; i++) /* incarnation, flags, for_incarnation */
		cdr_put_u32(&o, 0);
	for (int i = 0; i < 4; i++)
		cdr_put(&o, &(uint64_t){ 0 }, 8, 1);
	cdr_put_u32(&o, MSG_GRIP_WIDE);
	for (int i = 0; i < 3; i++) {
		cdr_put_u32(&o, lengths[i]);
		for (uint32_t k = 0; k < lengths[i] && k < 8; k++)
			cdr_put_f64(&o, k);
	}
	return ros_own_decode(cdr, o.len, type, ROS_UNUSED_ZERO, back);
}

TEST(lists_that_count_together_have_one_length)
{
	TEST_ASSERT_EQUAL_INT(0, decode_lists(2, 2, 2));
	TEST_ASSERT_EQUAL_UINT32(2, ((struct msg_gripper_ref *)back)->count);
	TEST_ASSERT_EQUAL_UINT32(MSG_GRIP_WIDE, ((struct msg_gripper_ref *)back)->grip);
	TEST_ASSERT_EQUAL_DOUBLE(1, ((struct msg_gripper_ref *)back)->force[1]);
	TEST_ASSERT_EQUAL_INT(0, decode_lists(0, 0, 0));
	TEST_ASSERT_EQUAL_INT(0, decode_lists(4, 4, 4));
	TEST_ASSERT_EQUAL_INT(-1, decode_lists(5, 5, 5));
	TEST_ASSERT_EQUAL_INT(-1, decode_lists(2, 1, 2));
	TEST_ASSERT_EQUAL_INT(-1, decode_lists(2, 2, 0));
	TEST_ASSERT_EQUAL_INT(-1, decode_lists(0, 1, 1));
}

/* A name of 23 bytes is the longest that there is room for. */
TEST(strings_that_are_too_long_are_refused)
{
	const struct msg_type *type = msg_type_by_name("bus-stats");
	struct msg_bus_stats *b = (struct msg_bus_stats *)back;

	for (size_t len = 0; len < 30; len++) {
		struct cdr_out o = cdr_out(cdr, sizeof(cdr));
		char name[32] = "";
		uint8_t zeros[64] = { 0 };
		int r;

		memset(name, 'x', len);
		cdr_put_i32(&o, 0);
		cdr_put_u32(&o, 0);
		cdr_put_string(&o, "", 0);
		cdr_put_u32(&o, type->number);
		cdr_put(&o, &type->version, 2, 1);
		cdr_put_u32(&o, (uint32_t)type->body->size);
		cdr_put(&o, zeros, 4, 3);
		cdr_put(&o, zeros, 8, 4);
		cdr_put_string(&o, "name", 4);
		cdr_put_string(&o, name, sizeof(name));
		cdr_put(&o, zeros, 4, 4);
		cdr_put(&o, zeros, 8, 6);
		memset(back, 0x55, sizeof(back));
		r = ros_own_decode(cdr, o.len, type, ROS_UNUSED_ZERO, back);
		TEST_ASSERT_EQUAL_INT(len < sizeof(b->interface) ? 0 : -1, r);
		TEST_ASSERT_EQUAL_STRING(r ? "" : name, b->interface);
	}
}

/* ---- definitions ---- */

TEST(a_schema_is_the_definition_and_those_that_it_refers_to)
{
	static const char line[] = "================================================================================\n";
	char text[ROS_SCHEMA_MAX], expected[2048];

	ros_schema(ros_type_by_name("geometry_msgs/msg/WrenchStamped"), text);
	snprintf(expected, sizeof(expected),
		 "std_msgs/Header header\ngeometry_msgs/Wrench wrench\n"
		 "%sMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"
		 "%sMSG: geometry_msgs/Wrench\ngeometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque\n"
		 "%sMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
		 "%sMSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n",
		 line, line, line, line);
	TEST_ASSERT_EQUAL_STRING(expected, text);
	for (size_t i = 0; i < ros_types_n; i++) {
		const size_t len = ros_schema(&ros_types[i], text);

		TEST_ASSERT_EQUAL_size_t_MESSAGE(strlen(text), len, ros_types[i].name);
		TEST_ASSERT_TRUE(len && len < sizeof(text));
	}
	TEST_ASSERT_EQUAL_size_t(0, ros_definition("std_msgs/Nothing", text, sizeof(text)));
	TEST_ASSERT_EQUAL_size_t(12, ros_definition("std_msgs/String", text, sizeof(text)));
}

TEST(definitions_follow_the_tables)
{
	const struct msg_group *ref = msg_type_by_name("gripper-ref")->body;
	char text[2048];

	ros_own_msg(text, sizeof(text), ref);
	TEST_ASSERT_EQUAL_STRING("std_msgs/Header header\n"
				 "endplate_msgs/MessageHeader endplate\n"
				 "uint32 GRIP_BASIC=0\nuint32 GRIP_PINCH=1\nuint32 GRIP_WIDE=2\n"
				 "uint32 GRIP_SCISSOR=3\nuint32 GRIP_UNKNOWN=4\n"
				 "uint32 grip\n"
				 "float64[<=4] position\nfloat64[<=4] speed\nfloat64[<=4] force\n",
				 text);
	ros_own_idl(text, sizeof(text), ref);
	TEST_ASSERT_EQUAL_STRING("#include \"std_msgs/msg/Header.idl\"\n"
				 "#include \"endplate_msgs/msg/MessageHeader.idl\"\n\n"
				 "module endplate_msgs {\n  module msg {\n"
				 "    module GripperRef_Constants {\n"
				 "      const uint32 GRIP_BASIC = 0;\n      const uint32 GRIP_PINCH = 1;\n"
				 "      const uint32 GRIP_WIDE = 2;\n      const uint32 GRIP_SCISSOR = 3;\n"
				 "      const uint32 GRIP_UNKNOWN = 4;\n    };\n"
				 "    struct GripperRef {\n      std_msgs::msg::Header header;\n"
				 "      endplate_msgs::msg::MessageHeader endplate;\n      uint32 grip;\n"
				 "      sequence<double, 4> position;\n      sequence<double, 4> speed;\n"
				 "      sequence<double, 4> force;\n    };\n  };\n};\n",
				 text);
	for (size_t i = 0; i < msg_structs_n; i++)
		if (!strcmp(msg_structs[i].name, "msg_bus"))
			ros_own_msg(text, sizeof(text), msg_structs[i].group);
	TEST_ASSERT_EQUAL_STRING("string<=23 name\nstring<=23 interface_name\n"
				 "uint32 STATE_ABSENT=0\nuint32 STATE_STOPPED=1\nuint32 STATE_ERROR_ACTIVE=2\n"
				 "uint32 STATE_WARNING=3\nuint32 STATE_PASSIVE=4\nuint32 STATE_BUS_OFF=5\n"
				 "uint32 state\nuint32 can_reset\nint64 stalled_since_ns # ns\n"
				 "int64 last_confirmed_ns # ns\nint64 last_received_ns # ns\nuint64 sent\n"
				 "uint64 confirmed\nuint64 replaced\nuint64 expired\nuint64 lost\nuint64 stale\n"
				 "uint64 rx_dropped\nuint64 errors\n",
				 text);
}

static void is_file(const char *folder, const char *name, const char *text, size_t len)
{
	static char got[32768];
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "channels/ros/endplate_msgs/%s/%s.%s", folder, name, folder);
	f = fopen(path, "re");
	TEST_ASSERT_NOT_NULL_MESSAGE(f, path);
	got[fread(got, 1, sizeof(got) - 1, f)] = 0;
	fclose(f);
	TEST_ASSERT_EQUAL_STRING_MESSAGE(got, text, path);
	TEST_ASSERT_EQUAL_size_t_MESSAGE(strlen(got), len, path);
}

TEST(the_files_that_are_installed_are_what_the_tables_give)
{
	static char text[32768];

	for (size_t i = 0; i < msg_structs_n; i++) {
		char name[ROS_OWN_NAME_MAX], full[ROS_NAME_MAX];

		ros_own_name(name, msg_structs[i].group);
		is_file("msg", name, text, ros_own_msg(text, sizeof(text), msg_structs[i].group));
		snprintf(full, sizeof(full), ROS_OWN_PACKAGE "/%s", name);
		is_file("msg", name, text, ros_definition(full, text, sizeof(text)));
		is_file("idl", name, text, ros_own_idl(text, sizeof(text), msg_structs[i].group));
	}
}

TEST(flags_have_a_bit_each_and_fixed_lists_their_length)
{
	char text[8192];

	for (size_t i = 0; i < msg_structs_n; i++)
		if (!strcmp(msg_structs[i].name, "msg_header"))
			ros_own_msg(text, sizeof(text), msg_structs[i].group);
	TEST_ASSERT_NOT_NULL(strstr(text, "uint32 FLAGS_PARTIAL=1\nuint32 FLAGS_HELD=2\nuint32 FLAGS_FREERUN=4\n"));
	ros_own_msg(text, sizeof(text), msg_type_by_name("imu")->body);
	TEST_ASSERT_NOT_NULL(strstr(text, "float64[3] acceleration # m/s^2\n"));
	ros_own_idl(text, sizeof(text), msg_type_by_name("imu")->body);
	TEST_ASSERT_NOT_NULL(strstr(text, "      @unit (value=\"m/s^2\")\n      double acceleration[3];\n"));
}

TEST(names_are_not_words_of_idl)
{
	static const char *const words[] = {
		"abstract", "any",	"attribute", "boolean",	 "case",    "char",	"component", "const",
		"context",  "custom",	"default",   "double",	 "emits",   "enum",	"exception", "factory",
		"finder",   "fixed",	"float",     "home",	 "import",  "in",	"inout",     "interface",
		"local",    "long",	"manages",   "map",	 "module",  "multiple", "native",    "object",
		"octet",    "oneway",	"out",	     "port",	 "private", "provides", "public",    "publishes",
		"raises",   "readonly", "sequence",  "setter",	 "short",   "string",	"struct",    "supports",
		"switch",   "typedef",	"typeid",    "typename", "union",   "unsigned", "uses",	     "valuetype",
		"void",	    "wchar",	"wstring",
	};

	for (size_t i = 0; i < msg_structs_n; i++)
		for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++) {
			char text[16384], field[32];

			ros_own_msg(text, sizeof(text), msg_structs[i].group);
			snprintf(field, sizeof(field), " %s\n", words[k]);
			TEST_ASSERT_NULL_MESSAGE(strstr(text, field), words[k]);
			snprintf(field, sizeof(field), " %s #", words[k]);
			TEST_ASSERT_NULL_MESSAGE(strstr(text, field), words[k]);
		}
}
