/* test_drv_ref.c: which references are taken. */
#include <math.h>

#include "test/lib/testcase.h"

#include "daemons/drv/drv_ref.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define NOW 1000000000000
#define AHEAD 50000000
#define OWN 7

static struct msg_joint_ref ref;
static struct ref_layout layout;
static struct ref_rules rules;

/* Seven joints, sound in every respect; behind them, where nothing counts, what would be refused. */
static void sound_ref(void)
{
	msg_init(&ref, msg_type_by_name("joint-ref"));
	ref.header.for_incarnation = OWN;
	ref.header.valid_until_ns = NOW + 1000;
	ref.count = 7;
	for (int i = 0; i < MSG_JOINTS; i++) {
		ref.mode[i] = i < 7 ? (uint32_t)i % 5 : 5;
		ref.position[i] = i < 7 ? i : (double)NAN;
		ref.velocity[i] = i < 7 ? -i : (double)INFINITY;
		ref.current[i] = i < 7 ? i * 0.5 : -(double)INFINITY;
	}
}

void setUp(void)
{
	sound_ref();
	TEST_ASSERT_EQUAL(0, ref_layout(&layout, msg_type_by_name("joint-ref")));
	rules = (struct ref_rules){ .layout = &layout, .count = 7, .incarnation = OWN, .max_ahead_ns = AHEAD };
}

static const char *name_of(enum ref_verdict verdict)
{
	static const char *const names[] = {
		[REF_OTHER_TYPE] = "other type",
		[REF_OTHER_VERSION] = "other version",
		[REF_OTHER_SIZE] = "other size",
		[REF_OTHER_INCARNATION] = "other incarnation",
		[REF_NO_VALIDITY] = "no validity",
		[REF_PAST] = "past",
		[REF_TOO_FAR] = "too far ahead",
		[REF_NOT_FINITE] = "not finite",
		[REF_TAKEN] = "taken",
	};

	return names[verdict];
}

static const char *verdict_at(int64_t now_ns)
{
	return name_of(ref_check(&ref, sizeof(ref), &rules, now_ns));
}

#define VERDICT(expected) TEST_ASSERT_EQUAL_STRING(expected, verdict_at(NOW))

TEST(a_sound_one_is_taken)
{
	TEST_ASSERT_EQUAL(REF_TAKEN, ref_check(&ref, sizeof(ref), &rules, NOW));
}

/* A writer that does not know of the virtual clock. */
TEST(a_time_of_the_machine_is_taken_as_one_from_now)
{
	static const struct {
		int64_t machine_ns, until_ns;
		const char *verdict;
		int64_t becomes_ns;
	} rows[] = {
		{ 0, NOW / 2 + 1, "past", NOW / 2 + 1 }, /* not on a virtual clock */
		{ NOW / 2, NOW / 2 + 1, "taken", NOW + 1 },
		{ NOW / 2, NOW / 2, "taken", NOW },
		{ NOW / 2, NOW / 2 + AHEAD, "taken", NOW + AHEAD },
		{ NOW / 2, NOW / 2 + AHEAD + 1, "past", NOW / 2 + AHEAD + 1 },
		{ NOW / 2, NOW / 2 - 1, "past", NOW / 2 - 1 },
		{ NOW / 2, NOW + 1, "taken", NOW + 1 }, /* it does know */
		{ NOW / 2, NOW - 1, "past", NOW - 1 },
		{ NOW / 2, 0, "no validity", 0 },
		{ NOW - 2 * AHEAD, NOW - 2 * AHEAD, "past", NOW - 2 * AHEAD }, /* whose it is cannot be told */
		{ NOW + 3 * AHEAD, NOW + 3 * AHEAD, "too far ahead", NOW + 3 * AHEAD },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		rules.machine_ns = rows[i].machine_ns;
		ref.header.valid_until_ns = rows[i].until_ns;
		TEST_ASSERT_EQUAL_STRING(rows[i].verdict, name_of(ref_take(&ref, sizeof(ref), &rules, NOW)));
		TEST_ASSERT_EQUAL_INT64(rows[i].becomes_ns, ref.header.valid_until_ns);
	}
}

TEST(every_length_but_one_is_other_size)
{
	for (size_t len = 0; len <= sizeof(ref) + 8; len++) {
		uint8_t *bytes = malloc(len ? len : 1); /* its very size, so that a sanitizer sees one byte too many */

		memset(bytes, 0, len);
		memcpy(bytes, &ref, len < sizeof(ref) ? len : sizeof(ref));
		TEST_ASSERT_EQUAL_STRING(len == sizeof(ref) ? "taken" : "other size",
					 name_of(ref_check(bytes, len, &rules, NOW)));
		free(bytes);
	}
}

TEST(the_header_says_the_same_size)
{
	ref.header.size--;
	VERDICT("other size");
	ref.header.size += 2;
	VERDICT("other size");
}

TEST(other_types_and_versions)
{
	for (uint32_t type = 0; type < 20; type++) {
		ref.header.type = type;
		VERDICT(type == 2 ? "taken" : "other type");
	}
	ref.header.type = 2;
	ref.header.version = 0;
	VERDICT("other version");
	ref.header.version = 2;
	VERDICT("other version");
}

/* A message of another kind is that, although it has another size, too. */
TEST(another_sound_message_is_other_type)
{
	struct msg_gripper_ref grip;

	msg_init(&grip, msg_type_by_name("gripper-ref"));
	TEST_ASSERT_EQUAL(REF_OTHER_TYPE, ref_check(&grip, sizeof(grip), &rules, NOW));
}

TEST(as_many_joints_as_the_driver)
{
	static const uint32_t counts[] = { 0, 6, 8, MSG_JOINTS, MSG_JOINTS + 1, 1u << 31, UINT32_MAX };

	for (size_t i = 0; i < COUNT(counts); i++) {
		ref.count = counts[i];
		VERDICT("other size");
	}
	sound_ref();
	rules.count = 6;
	VERDICT("other size");
}

/* Without a count: as many as there is room for. */
TEST(any_count_that_has_room)
{
	rules.count = 0;
	for (uint32_t n = 0; n <= 7; n++) {
		ref.count = n;
		VERDICT("taken");
	}
	for (int i = 0; i < MSG_JOINTS; i++) {
		ref.mode[i] = 0;
		ref.position[i] = ref.velocity[i] = ref.current[i] = 0;
	}
	ref.count = MSG_JOINTS;
	VERDICT("taken");
	ref.count = MSG_JOINTS + 1;
	VERDICT("other size");
	ref.count = UINT32_MAX;
	VERDICT("other size");
}

TEST(words_exist)
{
	static const uint32_t none[] = { 5, 6, 1u << 31, UINT32_MAX };

	for (int joint = 0; joint < 7; joint++) {
		for (size_t i = 0; i < COUNT(none); i++) {
			ref.mode[joint] = none[i];
			VERDICT("other type");
		}
		for (uint32_t mode = 0; mode < 5; mode++) {
			ref.mode[joint] = mode;
			VERDICT("taken");
		}
	}
}

TEST(meant_for_this_incarnation)
{
	static const struct {
		uint32_t meant, own;
		bool any, taken;
	} cases[] = {
		{ OWN, OWN, false, true },	{ OWN, OWN, true, true },      { OWN - 1, OWN, false, false },
		{ OWN + 1, OWN, false, false }, { OWN - 1, OWN, true, false }, { OWN + 1, OWN, true, false },
		{ 0, OWN, false, false },	{ 0, OWN, true, true },	       { 0, 0, false, false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		ref.header.for_incarnation = cases[i].meant;
		rules.incarnation = cases[i].own;
		rules.any_incarnation = cases[i].any;
		VERDICT(cases[i].taken ? "taken" : "other incarnation");
	}
}

TEST(valid_until_then_and_no_longer)
{
	static const struct {
		int64_t until_ns, now_ns;
		const char *verdict;
	} cases[] = {
		{ 0, NOW, "no validity" },
		{ -1, NOW, "no validity" },
		{ INT64_MIN, NOW, "no validity" },
		{ -1, -2, "no validity" },
		{ 0, 0, "no validity" },
		{ 1, NOW, "past" },
		{ NOW - 1, NOW, "past" },
		{ NOW, NOW, "taken" },
		{ NOW + 1, NOW, "taken" },
		{ NOW + AHEAD, NOW, "taken" },
		{ NOW + AHEAD + 1, NOW, "too far ahead" },
		{ INT64_MAX, NOW, "too far ahead" },
		{ 1, 0, "taken" },
		{ 1, INT64_MIN, "too far ahead" }, /* the difference does not fit */
		{ INT64_MAX, -1, "too far ahead" },
		{ INT64_MAX, INT64_MAX, "taken" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		ref.header.valid_until_ns = cases[i].until_ns;
		TEST_ASSERT_EQUAL_STRING(cases[i].verdict, verdict_at(cases[i].now_ns));
	}
	ref.header.valid_until_ns = NOW + 1;
	rules.max_ahead_ns = 0;
	VERDICT("too far ahead");
	ref.header.valid_until_ns = NOW;
	VERDICT("taken");
}

TEST(every_number_that_counts_is_finite)
{
	double *const arrays[] = { ref.position, ref.velocity, ref.current };
	const double bad[] = { NAN, -NAN, INFINITY, -INFINITY };

	for (size_t a = 0; a < COUNT(arrays); a++)
		for (int joint = 0; joint < 7; joint++) {
			double was = arrays[a][joint];

			for (size_t b = 0; b < COUNT(bad); b++) {
				arrays[a][joint] = bad[b];
				VERDICT("not finite");
			}
			arrays[a][joint] = 1.7e308;
			VERDICT("taken");
			arrays[a][joint] = was;
		}
	rules.count = 0;
	ref.count = 8;
	ref.mode[7] = 0;
	VERDICT("not finite");
}

/* Everything is wrong; one thing after the other is put right. */
TEST(the_first_reason_counts)
{
	ref.header.type = 99;
	ref.header.version = 9;
	ref.header.size = 9;
	ref.count = 8; /* with mode 4 and not finite */
	ref.header.for_incarnation = 1;
	ref.header.valid_until_ns = 0;
	TEST_ASSERT_EQUAL(REF_OTHER_SIZE, ref_check(&ref, sizeof(ref.header) - 1, &rules, NOW));
	TEST_ASSERT_EQUAL(REF_OTHER_TYPE, ref_check(&ref, sizeof(ref.header), &rules, NOW));
	VERDICT("other type");
	ref.header.type = 2;
	VERDICT("other version");
	ref.header.version = 1;
	VERDICT("other size");
	ref.header.size = sizeof(ref);
	VERDICT("other size");
	rules.count = 8;
	VERDICT("other type");
	ref.mode[7] = 3;
	VERDICT("other incarnation");
	ref.header.for_incarnation = OWN;
	VERDICT("no validity");
	ref.header.valid_until_ns = 1;
	VERDICT("past");
	ref.header.valid_until_ns = INT64_MAX;
	VERDICT("too far ahead");
	ref.header.valid_until_ns = NOW;
	VERDICT("not finite");
	ref.position[7] = ref.velocity[7] = ref.current[7] = 0;
	VERDICT("taken");
}

/* Of a driver without compliant joints; its other modes stay, and other types are left as they are. */
TEST(a_rigid_driver_refuses_mode_compliant)
{
	struct msg_gripper_ref grip;

	ref_layout_rigid(&layout);
	VERDICT("other type");
	ref.mode[4] = MSG_MODE_CURRENT;
	VERDICT("taken");
	ref.mode[7] = MSG_MODE_COMPLIANT; /* does not count */
	VERDICT("taken");
	TEST_ASSERT_EQUAL(0, ref_layout(&layout, msg_type_by_name("gripper-ref")));
	ref_layout_rigid(&layout);
	memset(&grip, 0, sizeof(grip));
	msg_init(&grip, msg_type_by_name("gripper-ref"));
	grip.header.for_incarnation = OWN;
	grip.header.valid_until_ns = NOW;
	rules.count = 0;
	TEST_ASSERT_EQUAL(REF_TAKEN, ref_check(&grip, sizeof(grip), &rules, NOW));
}

/* ---- other types: nothing is known of joints ---- */

static const char *verdict_of(const void *msg, const char *type, uint32_t count)
{
	struct ref_rules r = rules;

	TEST_ASSERT_EQUAL(0, ref_layout(&layout, msg_type_by_name(type)));
	r.count = count;
	return name_of(ref_check(msg, layout.type->body->size, &r, NOW));
}

static void begin_as(void *msg, const char *type)
{
	struct msg_header h;

	msg_init(msg, msg_type_by_name(type));
	memcpy(&h, msg, sizeof(h));
	h.for_incarnation = OWN;
	h.valid_until_ns = NOW;
	memcpy(msg, &h, sizeof(h));
}

TEST(a_gripper)
{
	struct msg_gripper_ref grip;

	begin_as(&grip, "gripper-ref");
	grip.grip = MSG_GRIP_SCISSOR;
	grip.count = 3;
	grip.force[3] = NAN;
	TEST_ASSERT_EQUAL_STRING("taken", verdict_of(&grip, "gripper-ref", 3));
	TEST_ASSERT_EQUAL_STRING("other size", verdict_of(&grip, "gripper-ref", 4));
	grip.count = 4;
	TEST_ASSERT_EQUAL_STRING("not finite", verdict_of(&grip, "gripper-ref", 4));
	grip.grip = MSG_GRIP_SCISSOR + 1;
	TEST_ASSERT_EQUAL_STRING("other type", verdict_of(&grip, "gripper-ref", 4));
	grip.count = 5;
	TEST_ASSERT_EQUAL_STRING("other size", verdict_of(&grip, "gripper-ref", 5));
}

/* Words and numbers of the header are not looked at: it must have none. */
TEST(the_header_has_nothing_to_look_at)
{
	const struct msg_group *header = msg_type_by_name("joint-ref")->body->fields[0].group;

	TEST_ASSERT_EQUAL(sizeof(struct msg_header), header->size);
	for (size_t i = 0; i < header->n; i++) {
		const struct msg_field *f = &header->fields[i];

		TEST_ASSERT_TRUE_MESSAGE(f->kind != MSG_word && f->kind != MSG_f64 && f->kind != MSG_group, f->name);
		TEST_ASSERT_EQUAL_MESSAGE(0, f->count, f->name);
	}
}

TEST(no_field_of_a_reference_is_forgotten)
{
	static const char *const refs[] = { "joint-ref", "gripper-ref" };
	static const unsigned int parts[] = { 4, 4 };

	for (size_t i = 0; i < COUNT(refs); i++) {
		TEST_ASSERT_EQUAL(0, ref_layout(&layout, msg_type_by_name(refs[i])));
		TEST_ASSERT_EQUAL_MESSAGE(parts[i], layout.n, refs[i]);
	}
}

/* A state has a common block: a group, in which words and numbers would be overlooked. */
TEST(a_type_with_groups_cannot_be_a_reference)
{
	static const char *const none[] = { "joint-state", "clock", "force-torque", "imu" };

	for (size_t i = 0; i < COUNT(none); i++)
		TEST_ASSERT_EQUAL_MESSAGE(-EINVAL, ref_layout(&layout, msg_type_by_name(none[i])), none[i]);
}

/* ---- a type as none is yet ---- */

#define FIELD(name_, kind_, size_, ...)                                        \
	{                                                                      \
		.name = name_, .kind = MSG_##kind_, .size = size_, __VA_ARGS__ \
	}

static const char *const colours[] = { "red", "green", NULL };

/* Whole arrays, single values, a list of names that only has a count, and a count behind an array. */
TEST(every_kind_of_field)
{
	const struct msg_field fields[] = { *msg_type_by_name("joint-ref")->body->fields,
					    FIELD("whole", f64, 8, .count = 3),
					    FIELD("single", f64, 8, ),
					    FIELD("plain", u32, 4, ),
					    FIELD("many", u32, 4, ),
					    FIELD("colours", word, 4, .count = 2, .words = colours),
					    FIELD("names", name, MSG_NAME_SIZE, .count = 4, .used = "many") };
	const struct msg_group body = { fields, COUNT(fields), sizeof(struct msg_header) + 48 + 4 * MSG_NAME_SIZE };
	const struct msg_type type = { 2, 1, "made-up", &body, 1 };
	struct {
		struct msg_header header;
		double whole[3], single;
		uint32_t plain, many, colours[2];
		char names[4][MSG_NAME_SIZE];
	} msg;
	struct ref_rules r = { .layout = &layout, .incarnation = OWN, .max_ahead_ns = AHEAD };

	TEST_ASSERT_EQUAL(sizeof(msg), body.size);
	TEST_ASSERT_EQUAL(0, ref_layout(&layout, &type));
	msg_init(&msg, &type);
	msg.header.for_incarnation = OWN;
	msg.header.valid_until_ns = NOW;
	msg.plain = UINT32_MAX;
	memset(msg.names, 0xFF, sizeof(msg.names)); /* no words, no numbers */
	msg.many = 4;
	TEST_ASSERT_EQUAL(REF_TAKEN, ref_check(&msg, sizeof(msg), &r, NOW));
	msg.many = 5;
	TEST_ASSERT_EQUAL(REF_OTHER_SIZE, ref_check(&msg, sizeof(msg), &r, NOW));
	msg.many = 0;
	for (int i = 0; i < 4; i++) {
		double *real = i < 3 ? &msg.whole[i] : &msg.single;

		*real = INFINITY;
		TEST_ASSERT_EQUAL(REF_NOT_FINITE, ref_check(&msg, sizeof(msg), &r, NOW));
		*real = 0;
	}
	for (int i = 0; i < 2; i++) {
		msg.colours[i] = 2;
		TEST_ASSERT_EQUAL(REF_OTHER_TYPE, ref_check(&msg, sizeof(msg), &r, NOW));
		msg.colours[i] = 1;
		TEST_ASSERT_EQUAL(REF_TAKEN, ref_check(&msg, sizeof(msg), &r, NOW));
	}
}

TEST(as_many_fields_as_there_is_room_for)
{
	struct msg_field fields[REF_PARTS_MAX + 2] = { *msg_type_by_name("joint-ref")->body->fields };
	struct {
		struct msg_header header;
		double real[REF_PARTS_MAX + 1];
	} msg;
	struct msg_group body = { fields, REF_PARTS_MAX + 1, sizeof(msg) };
	const struct msg_type type = { 2, 1, "made-up", &body, 1 };
	struct {
		struct ref_layout layout;
		struct ref_part behind;
	} full = { .behind = { .at = sizeof(msg) - sizeof(double), .room = 1, .real = true } };

	for (size_t i = 1; i < COUNT(fields); i++)
		fields[i] = (struct msg_field)FIELD("real", f64, 8, );
	TEST_ASSERT_EQUAL(0, ref_layout(&full.layout, &type));
	TEST_ASSERT_EQUAL(REF_PARTS_MAX, full.layout.n);
	TEST_ASSERT_EQUAL_PTR(&full.behind, full.layout.parts + full.layout.n);
	rules.layout = &full.layout;
	rules.count = 0;
	msg_init(&msg, &type);
	msg.header.for_incarnation = OWN;
	msg.header.valid_until_ns = NOW;
	msg.real[REF_PARTS_MAX] = NAN;
	TEST_ASSERT_EQUAL(REF_TAKEN, ref_check(&msg, sizeof(msg), &rules, NOW));
	body.n++;
	TEST_ASSERT_EQUAL(-EINVAL, ref_layout(&full.layout, &type));
}

/* A type that has no joints cannot have as many as the driver. */
TEST(a_count_that_there_is_not)
{
	struct msg_estop estop;

	begin_as(&estop, "estop");
	TEST_ASSERT_EQUAL_STRING("taken", verdict_of(&estop, "estop", 0));
	TEST_ASSERT_EQUAL_STRING("other size", verdict_of(&estop, "estop", 1));
	estop.level = 3;
	TEST_ASSERT_EQUAL_STRING("other type", verdict_of(&estop, "estop", 0));
}

/* ---- counters ---- */

/* ---- in words ---- */

static const msg_name names[] = { "rsp", "rsr", "rsy", "reb", "rwy", "rwp", "rwr" };

static const char *text_at(int64_t now_ns)
{
	static char text[MSG_TEXT_SIZE];
	const enum ref_verdict verdict = ref_check(&ref, sizeof(ref), &rules, now_ns);

	*text = 'x';
	ref_refusal_text(text, sizeof(text), verdict, &ref, sizeof(ref), &rules, now_ns);
	return text;
}

#define SAYS(expected) TEST_ASSERT_EQUAL_STRING(expected, text_at(NOW))

TEST(a_refusal_says_why_and_what_to_write)
{
	SAYS("");
	rules.joints = names;
	ref.header.valid_until_ns = NOW + 900000000;
	SAYS("valid for 900 ms, at most 50 ms: give it less");
	ref.header.t_publish_ns = NOW - 100000000; /* what its writer gave, not what is left of it */
	SAYS("valid for 1000 ms, at most 50 ms: give it less");
	ref.header.valid_until_ns = NOW - 2000000;
	SAYS("over for 2 ms when it was read: give it more time, at most 50 ms");
	ref.header.valid_until_ns = 0;
	SAYS("valid_until_ns is 0: give it a validity, at most 50 ms");
	ref.header.valid_until_ns = NOW + 1000000000000;
	SAYS("valid_until_ns is 1000 s ahead: give it in CLOCK_MONOTONIC");
	ref.header.valid_until_ns = NOW - 100000000000;
	SAYS("valid_until_ns is 100 s ago: give it in CLOCK_MONOTONIC");
	ref.header.valid_until_ns = INT64_MAX;
	ref.header.t_publish_ns = INT64_MIN;
	TEST_ASSERT_NOT_NULL(strstr(text_at(NOW), "ahead: give it in CLOCK_MONOTONIC"));

	sound_ref();
	ref.velocity[3] = NAN;
	SAYS("velocity[3] (reb) is nan: give a finite number");
	ref.position[0] = -INFINITY;
	SAYS("position[0] (rsp) is -inf: give a finite number");
	ref.position[0] = INFINITY;
	rules.joints = NULL;
	SAYS("position[0] is inf: give a finite number");

	sound_ref();
	rules.joints = names;
	ref.header.for_incarnation = OWN - 1;
	SAYS("for incarnation 6, the driver is 7: read its state again");
	ref.header.for_incarnation = 0;
	SAYS("for no incarnation, the driver is 7: read its state, and fill in for_incarnation");
	ref.count = 6;
	SAYS("6 joints, the device has 7: give one value for each");
	rules.count = 0;
	ref.count = MSG_JOINTS + 1;
	SAYS("more joints than there is room for");
	rules.count = 7;

	sound_ref();
	ref.mode[0] = 17;
	SAYS("mode[0] (rsp) is 17: give none, position, velocity, current or compliant");
	ref.mode[0] = MSG_MODE_NONE;
	ref.mode[1] = 17;
	SAYS("mode[1] (rsr) is 17: give none, position, velocity, current or compliant");
	ref_layout_rigid(&layout);
	ref.mode[1] = MSG_MODE_COMPLIANT;
	SAYS("mode[1] (rsr) is compliant: give none, position, velocity or current");
	ref.header.version = 3;
	SAYS("joint-ref of version 3, the driver takes version 1: build its writer with the same headers");
	ref.header.type = msg_imu_number;
	SAYS("a message of type imu; expected joint-ref");
	sound_ref();
	ref.header.size = 12;
	SAYS("joint-ref of 1408 bytes that says it has 12; it should have 1408");
}

TEST(a_refusal_says_who)
{
	char text[MSG_TEXT_SIZE], both[32];
	char *const short_one = memset(both, '#', sizeof(both));

	ref.header.valid_until_ns = NOW + 900000000;
	ref_refusal_by(text, sizeof(text), REF_TOO_FAR, &ref, sizeof(ref), &rules, NOW);
	TEST_ASSERT_EQUAL_STRING("a reference: valid for 900 ms, at most 50 ms: give it less", text);
	ref.header.incarnation = 4711;
	ref_refusal_by(text, sizeof(text), REF_TOO_FAR, &ref, sizeof(ref), &rules, NOW);
	TEST_ASSERT_EQUAL_STRING("process 4711: valid for 900 ms, at most 50 ms: give it less", text);
	ref_refusal_by(short_one, 12, REF_TOO_FAR, &ref, sizeof(ref), &rules, NOW);
	TEST_ASSERT_EQUAL_STRING("process 471", short_one);
	ref_refusal_by(short_one, 20, REF_TOO_FAR, &ref, sizeof(ref), &rules, NOW);
	TEST_ASSERT_EQUAL_STRING("process 4711: valid", short_one);
	TEST_ASSERT_EQUAL_MEMORY("############", both + 20, 12);
	/* Four bytes are all that there is: the rest of the header is not looked at. */
	ref_refusal_by(text, sizeof(text), REF_OTHER_SIZE, "abc", 4, &rules, NOW);
	TEST_ASSERT_EQUAL_STRING("a reference: 4 bytes are not an Endplate message", text);
}

TEST(every_reason_has_words_and_fits_an_event)
{
	char text[MSG_TEXT_SIZE];

	for (enum ref_verdict v = 0; v < REF_TAKEN; v++)
		TEST_ASSERT_MESSAGE(*ref_reason_text(v) && strlen(ref_reason_text(v)) < MSG_TEXT_SIZE, name_of(v));
	TEST_ASSERT_EQUAL_STRING("", ref_reason_text(REF_TAKEN));
	/* Whatever the verdict: the message need not have what it says. */
	for (enum ref_verdict v = 0; v <= REF_TAKEN; v++)
		ref_refusal_by(text, sizeof(text), v, &ref, sizeof(ref), &rules, NOW);
}

TEST(the_counter_that_rose_says_why)
{
	struct msg_common before = { 0 }, after;

	TEST_ASSERT_EQUAL(REF_TAKEN, ref_counted(&before.refs_refused, &before.refs_refused));
	for (enum ref_verdict v = 0; v < REF_TAKEN; v++) {
		after = before;
		ref_count(&after, v);
		TEST_ASSERT_EQUAL_MESSAGE(v, ref_counted(&before.refs_refused, &after.refs_refused), name_of(v));
	}
}

TEST(counted_by_reason)
{
	static const struct {
		enum ref_verdict verdict;
		const char *path;
	} reasons[] = {
		{ REF_OTHER_SIZE, "common.refs_refused.other_size" },
		{ REF_OTHER_TYPE, "common.refs_refused.other_type" },
		{ REF_OTHER_VERSION, "common.refs_refused.other_version" },
		{ REF_OTHER_INCARNATION, "common.refs_refused.other_incarnation" },
		{ REF_NO_VALIDITY, "common.refs_refused.no_validity" },
		{ REF_PAST, "common.refs_refused.past" },
		{ REF_TOO_FAR, "common.refs_refused.too_far" },
		{ REF_NOT_FINITE, "common.refs_refused.not_finite" },
		{ REF_TAKEN, "common.refs_taken" },
	};
	const struct msg_type *type = msg_type_by_name("joint-state");
	struct msg_joint_state state;

	msg_init(&state, type);
	for (size_t i = 0; i < COUNT(reasons); i++) {
		struct msg_joint_state expected = state;
		struct msg_place place;
		double value;
		char error[100];

		TEST_ASSERT_EQUAL(0, msg_find(type, reasons[i].path, &place, error, sizeof(error)));
		for (int times = 1; times <= 2; times++) {
			ref_count(&state.common, reasons[i].verdict);
			TEST_ASSERT_EQUAL(0, msg_value(&state, &place, 0, &value));
			TEST_ASSERT_EQUAL_DOUBLE(times, value);
		}
		/* And nothing else. */
		memcpy((uint8_t *)&expected + place.offset, (uint8_t *)&state + place.offset, place.field->size);
		TEST_ASSERT_EQUAL_MEMORY(&expected, &state, sizeof(state));
	}
}
