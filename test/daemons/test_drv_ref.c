/* test_drv_ref.c: which references are taken. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unity.h"

#include "daemons/drv_ref.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define NOW 1000000000000
#define AHEAD 50000000
#define OWN 7

static struct msg_joint_ref ref;
static struct drv_ref_rules rules;

/* Seven joints, sound in every respect; behind them, where nothing counts, what would be refused. */
static void sound_ref(void)
{
	msg_init(&ref, msg_type_by_name("joint-ref"));
	ref.header.for_incarnation = OWN;
	ref.header.valid_until_ns = NOW + 1000;
	ref.count = 7;
	for (int i = 0; i < MSG_JOINTS; i++) {
		ref.mode[i] = i < 7 ? (uint32_t)i % 4 : 4;
		ref.position[i] = i < 7 ? i : (double)NAN;
		ref.velocity[i] = i < 7 ? -i : (double)INFINITY;
		ref.current[i] = i < 7 ? i * 0.5 : -(double)INFINITY;
	}
}

void setUp(void)
{
	sound_ref();
	rules = (struct drv_ref_rules){
		.type = msg_type_by_name("joint-ref"), .count = 7, .incarnation = OWN, .max_ahead_ns = AHEAD
	};
}

void tearDown(void)
{
}

static const char *verdict_at(int64_t now_ns)
{
	return drv_ref_verdict_name(drv_ref_check(&ref, sizeof(ref), &rules, now_ns));
}

#define VERDICT(expected) TEST_ASSERT_EQUAL_STRING(expected, verdict_at(NOW))

static void a_sound_one_is_taken(void)
{
	TEST_ASSERT_EQUAL(DRV_REF_TAKEN, drv_ref_check(&ref, sizeof(ref), &rules, NOW));
}

static void every_length_but_one_is_other_size(void)
{
	for (size_t len = 0; len <= sizeof(ref) + 8; len++) {
		uint8_t *bytes = malloc(len ? len : 1); /* its very size, so that a sanitizer sees one byte too many */

		memset(bytes, 0, len);
		memcpy(bytes, &ref, len < sizeof(ref) ? len : sizeof(ref));
		TEST_ASSERT_EQUAL_STRING(len == sizeof(ref) ? "taken" : "other size",
					 drv_ref_verdict_name(drv_ref_check(bytes, len, &rules, NOW)));
		free(bytes);
	}
}

static void the_header_says_the_same_size(void)
{
	ref.header.size--;
	VERDICT("other size");
	ref.header.size += 2;
	VERDICT("other size");
}

static void other_types_and_versions(void)
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
static void another_sound_message_is_other_type(void)
{
	struct msg_gripper_ref grip;

	msg_init(&grip, msg_type_by_name("gripper-ref"));
	TEST_ASSERT_EQUAL(DRV_REF_OTHER_TYPE, drv_ref_check(&grip, sizeof(grip), &rules, NOW));
}

static void as_many_joints_as_the_driver(void)
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

/* Nobody says how many: as many as there is room for. */
static void any_count_that_has_room(void)
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

static void words_exist(void)
{
	static const uint32_t none[] = { 4, 5, 1u << 31, UINT32_MAX };

	for (int joint = 0; joint < 7; joint++) {
		for (size_t i = 0; i < COUNT(none); i++) {
			ref.mode[joint] = none[i];
			VERDICT("other type");
		}
		for (uint32_t mode = 0; mode < 4; mode++) {
			ref.mode[joint] = mode;
			VERDICT("taken");
		}
	}
}

static void meant_for_this_incarnation(void)
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

static void valid_until_then_and_no_longer(void)
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

static void every_number_that_counts_is_finite(void)
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
static void the_first_reason_counts(void)
{
	ref.header.type = 99;
	ref.header.version = 9;
	ref.header.size = 9;
	ref.count = 8; /* with mode 4 and not finite */
	ref.header.for_incarnation = 1;
	ref.header.valid_until_ns = 0;
	TEST_ASSERT_EQUAL(DRV_REF_OTHER_SIZE, drv_ref_check(&ref, sizeof(ref.header) - 1, &rules, NOW));
	TEST_ASSERT_EQUAL(DRV_REF_OTHER_TYPE, drv_ref_check(&ref, sizeof(ref.header), &rules, NOW));
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

/* ---- other types: nothing is known of joints ---- */

static const char *verdict_of(const void *msg, const char *type, uint32_t count)
{
	struct drv_ref_rules r = rules;

	r.type = msg_type_by_name(type);
	r.count = count;
	return drv_ref_verdict_name(drv_ref_check(msg, r.type->body->size, &r, NOW));
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

static void a_gripper(void)
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

/* Fields in groups, groups in arrays, arrays without a count. */
static void groups_and_whole_arrays(void)
{
	struct msg_clock clock;
	struct msg_ft ft;

	begin_as(&clock, "clock");
	clock.bus_count = 2;
	clock.common.bus_count = 3;
	clock.bus[2].load = NAN;
	clock.common.bus[3].state = MSG_LINK_BUS_OFF + 1;
	TEST_ASSERT_EQUAL_STRING("taken", verdict_of(&clock, "clock", 0));
	clock.bus[1].load = NAN;
	TEST_ASSERT_EQUAL_STRING("not finite", verdict_of(&clock, "clock", 0));
	clock.common.bus[2].state = MSG_LINK_BUS_OFF + 1;
	TEST_ASSERT_EQUAL_STRING("other type", verdict_of(&clock, "clock", 0));
	clock.common.bus[2].state = MSG_LINK_BUS_OFF;
	clock.bus[1].load = 1;
	TEST_ASSERT_EQUAL_STRING("taken", verdict_of(&clock, "clock", 0));
	clock.common.bus_count = MSG_BUSES + 1;
	TEST_ASSERT_EQUAL_STRING("other size", verdict_of(&clock, "clock", 0));
	clock.common.bus_count = 0;
	clock.bus_count = MSG_BUSES + 1;
	TEST_ASSERT_EQUAL_STRING("other size", verdict_of(&clock, "clock", 0));

	begin_as(&ft, "force-torque");
	TEST_ASSERT_EQUAL_STRING("taken", verdict_of(&ft, "force-torque", 0));
	ft.bias_torque[2] = INFINITY;
	TEST_ASSERT_EQUAL_STRING("not finite", verdict_of(&ft, "force-torque", 0));
}

/* A type that has no joints cannot have as many as the driver. */
static void a_count_that_there_is_not(void)
{
	struct msg_estop estop;

	begin_as(&estop, "estop");
	TEST_ASSERT_EQUAL_STRING("taken", verdict_of(&estop, "estop", 0));
	TEST_ASSERT_EQUAL_STRING("other size", verdict_of(&estop, "estop", 1));
	estop.level = 3;
	TEST_ASSERT_EQUAL_STRING("other type", verdict_of(&estop, "estop", 0));
}

/* ---- counters ---- */

static void counted_by_reason(void)
{
	static const struct {
		enum drv_ref_verdict verdict;
		const char *name;
		const char *path;
	} reasons[] = {
		{ DRV_REF_OTHER_SIZE, "other size", "common.refs_refused.other_size" },
		{ DRV_REF_OTHER_TYPE, "other type", "common.refs_refused.other_type" },
		{ DRV_REF_OTHER_VERSION, "other version", "common.refs_refused.other_version" },
		{ DRV_REF_OTHER_INCARNATION, "other incarnation", "common.refs_refused.other_incarnation" },
		{ DRV_REF_NO_VALIDITY, "no validity", "common.refs_refused.no_validity" },
		{ DRV_REF_PAST, "past", "common.refs_refused.past" },
		{ DRV_REF_TOO_FAR, "too far ahead", "common.refs_refused.too_far" },
		{ DRV_REF_NOT_FINITE, "not finite", "common.refs_refused.not_finite" },
		{ DRV_REF_TAKEN, "taken", "common.refs_taken" },
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
			drv_ref_count(&state.common, reasons[i].verdict);
			TEST_ASSERT_EQUAL(0, msg_value(&state, &place, 0, &value));
			TEST_ASSERT_EQUAL_DOUBLE(times, value);
		}
		/* And nothing else. */
		memcpy((uint8_t *)&expected + place.offset, (uint8_t *)&state + place.offset, place.field->size);
		TEST_ASSERT_EQUAL_MEMORY(&expected, &state, sizeof(state));
		TEST_ASSERT_EQUAL_STRING(reasons[i].name, drv_ref_verdict_name(reasons[i].verdict));
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(a_sound_one_is_taken);
	RUN_TEST(every_length_but_one_is_other_size);
	RUN_TEST(the_header_says_the_same_size);
	RUN_TEST(other_types_and_versions);
	RUN_TEST(another_sound_message_is_other_type);
	RUN_TEST(as_many_joints_as_the_driver);
	RUN_TEST(any_count_that_has_room);
	RUN_TEST(words_exist);
	RUN_TEST(meant_for_this_incarnation);
	RUN_TEST(valid_until_then_and_no_longer);
	RUN_TEST(every_number_that_counts_is_finite);
	RUN_TEST(the_first_reason_counts);
	RUN_TEST(a_gripper);
	RUN_TEST(groups_and_whole_arrays);
	RUN_TEST(a_count_that_there_is_not);
	RUN_TEST(counted_by_reason);
	return UNITY_END();
}
