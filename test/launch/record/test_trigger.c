/* test_trigger.c: what makes an incident. */
#include "test/lib/testcase.h"

#include "launch/record/trigger.h"

#define S INT64_C(1000000000)

static struct trigger t;
static char why[TRIGGER_WHY_MAX];

void setUp(void)
{
	memset(&t, 0, sizeof(t));
	strcpy(why, "unchanged");
}

static enum trigger_kind event_at(const char *source, const char *code, enum msg_severity severity, int64_t t_s)
{
	struct msg_event e = { .header.t_publish_ns = t_s * S, .severity = severity };

	snprintf(e.source, sizeof(e.source), "%s", source);
	snprintf(e.code, sizeof(e.code), "%s", code);
	snprintf(e.text, sizeof(e.text), "signal 9");
	return trigger_event(&t, &e, why);
}

static enum trigger_kind event(const char *code, enum msg_severity severity)
{
	return event_at("waist", code, severity, 1);
}

static const struct {
	const char *code;
	enum msg_severity severity;
	const char *why; /* NULL: no incident */
	enum trigger_kind kind;
} events[] = {
	{ "ended", MSG_SEVERITY_ERROR, "died: waist: signal 9", TRIGGER_ONCE },
	{ "ended", MSG_SEVERITY_FATAL, "died: waist: signal 9", TRIGGER_ONCE },
	{ "ended", MSG_SEVERITY_WARNING, NULL, TRIGGER_NONE },
	{ "ended", MSG_SEVERITY_INFO, NULL, TRIGGER_NONE },
	{ "killed", MSG_SEVERITY_WARNING, "watchdog: waist: signal 9", TRIGGER_ONCE },
	{ "killed", MSG_SEVERITY_INFO, NULL, TRIGGER_NONE },
	{ "failed", MSG_SEVERITY_FATAL, "given up: waist: signal 9", TRIGGER_ONCE },
	{ "failed", MSG_SEVERITY_ERROR, "given up: waist: signal 9", TRIGGER_ONCE },
	{ "failed", MSG_SEVERITY_WARNING, NULL, TRIGGER_NONE },
	{ "raised", MSG_SEVERITY_WARNING, "stop: waist: signal 9", TRIGGER_ONCE },
	{ "raised", MSG_SEVERITY_INFO, NULL, TRIGGER_NONE },
	{ "late-frame", MSG_SEVERITY_WARNING, "late frame: waist: signal 9", TRIGGER_LATE },
	{ "late-frame", MSG_SEVERITY_INFO, NULL, TRIGGER_NONE },
	{ "ready", MSG_SEVERITY_ERROR, NULL, TRIGGER_NONE },
	{ "", MSG_SEVERITY_FATAL, NULL, TRIGGER_NONE },
};

TEST(events_by_code_and_severity)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		setUp();
		TEST_ASSERT_EQUAL_MESSAGE(events[i].kind, event(events[i].code, events[i].severity), events[i].code);
		TEST_ASSERT_EQUAL_STRING(events[i].why ? events[i].why : "unchanged", why);
	}
}

static enum trigger_kind estop(uint32_t kind, enum msg_level level)
{
	struct msg_estop e = { .kind = kind, .level = level };

	snprintf(e.who, sizeof(e.who), "root");
	snprintf(e.why, sizeof(e.why), "a hand");
	return trigger_estop(&t, &e, why);
}

TEST(a_raise_counts_behind_a_lowering)
{
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_RAISE, MSG_LEVEL_ESTOP));
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_LOWER, MSG_LEVEL_RUN));
	TEST_ASSERT_EQUAL(TRIGGER_ONCE, estop(MSG_ESTOP_RAISE, MSG_LEVEL_ESTOP));
	TEST_ASSERT_EQUAL_STRING("stop: level estop by root: a hand", why);
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_RAISE, MSG_LEVEL_ESTOP)); /* again: it is the same one */
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_LOWER, MSG_LEVEL_HOLD));
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_RAISE, MSG_LEVEL_ESTOP)); /* it was not armed */
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_LOWER, MSG_LEVEL_RUN));
	TEST_ASSERT_TRUE(estop(MSG_ESTOP_RAISE, MSG_LEVEL_HOLD));
	TEST_ASSERT_EQUAL_STRING("stop: level hold by root: a hand", why);
}

TEST(arming_again_is_not_a_trigger)
{
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_LOWER, MSG_LEVEL_RUN));
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_LOWER, MSG_LEVEL_RUN));
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_RAISE, MSG_LEVEL_RUN));
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_RAISE, MSG_LEVEL_ESTOP)); /* nor does a raise arm */
}

/* Unlike deaths, which are each an incident. */
TEST(late_frames_that_last_are_one)
{
	TEST_ASSERT_TRUE(event_at("waist", "late-frame", MSG_SEVERITY_WARNING, 100));
	TEST_ASSERT_FALSE(event_at("waist", "late-frame", MSG_SEVERITY_WARNING, 101));
	TEST_ASSERT_TRUE(event_at("larm", "late-frame", MSG_SEVERITY_WARNING, 102));
	TEST_ASSERT_EQUAL_STRING("late frame: larm: signal 9", why);
	TEST_ASSERT_FALSE(event_at("waist", "late-frame", MSG_SEVERITY_WARNING, 161)); /* 60 s behind the last */
	TEST_ASSERT_TRUE(event_at("waist", "late-frame", MSG_SEVERITY_WARNING, 222));
	TEST_ASSERT_TRUE(event_at("waist", "ended", MSG_SEVERITY_ERROR, 223));
	TEST_ASSERT_TRUE(event_at("waist", "ended", MSG_SEVERITY_ERROR, 224));
}

/* A name need not end with a zero. */
TEST(a_source_of_full_length)
{
	struct msg_event e = { .header.t_publish_ns = S, .severity = MSG_SEVERITY_ERROR, .code = "ended", .text = "x" };

	memset(e.source, 'a', sizeof(e.source));
	TEST_ASSERT_TRUE(trigger_event(&t, &e, why));
	TEST_ASSERT_EQUAL_STRING("died: aaaaaaaaaaaaaaaaaaaaaaaa: x", why);
}

static enum trigger_kind skipped(const char *name, uint32_t incarnation, uint64_t ticks, int64_t t_s)
{
	return trigger_skipped(&t, &(struct trigger_ticks){ name, incarnation, ticks, t_s * S }, why);
}

TEST(skipped_ticks)
{
	t.skipped_max = 5;
	TEST_ASSERT_FALSE(skipped("waist-state", 1, 100, 1)); /* the first look */
	TEST_ASSERT_FALSE(skipped("waist-state", 1, 105, 2));
	TEST_ASSERT_TRUE(skipped("waist-state", 1, 111, 3));
	TEST_ASSERT_EQUAL_STRING("overrun: waist-state: 6 ticks skipped", why);
	TEST_ASSERT_FALSE(skipped("waist-state", 1, 111, 4));
	TEST_ASSERT_FALSE(skipped("waist-state", 2, 200, 5)); /* another process counts from 0 */
	TEST_ASSERT_FALSE(skipped("waist-state", 2, 0, 6));
	TEST_ASSERT_FALSE(skipped("wheels-state", 2, 50, 7));
	TEST_ASSERT_EQUAL(TRIGGER_OVERRUN, skipped("wheels-state", 2, 56, 8));
	TEST_ASSERT_FALSE(skipped("lft-state", 1, 0, 9));
	TEST_ASSERT_FALSE(skipped("lft-state", 2, 50, 10)); /* another process, and more */
	TEST_ASSERT_FALSE(skipped("lft-state", 2, 10, 11)); /* less */
	TEST_ASSERT_TRUE(skipped("lft-state", 2, 16, 12));
}

TEST(an_overrun_that_lasts_is_one)
{
	t.skipped_max = 5;
	TEST_ASSERT_FALSE(skipped("waist-state", 1, 0, 1));
	TEST_ASSERT_TRUE(skipped("waist-state", 1, 10, 2));
	for (int i = 2; i < 200; i++)
		TEST_ASSERT_FALSE(skipped("waist-state", 1, (uint64_t)i * 10, 1 + i));
	TEST_ASSERT_FALSE(skipped("waist-state", 1, 2000, 259)); /* 60 s behind the last one */
	TEST_ASSERT_TRUE(skipped("waist-state", 1, 2010, 320));
}

TEST(any_number_may_be_allowed)
{
	TEST_ASSERT_FALSE(skipped("waist-state", 1, 0, 1));
	TEST_ASSERT_FALSE(skipped("waist-state", 1, 1000000, 2));
}

TEST(more_states_than_there_is_room_for)
{
	char name[16];

	t.skipped_max = 1;
	for (int i = 0; i < TRIGGER_STATES_MAX + 2; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		TEST_ASSERT_FALSE(skipped(name, 1, 0, 1));
	}
	TEST_ASSERT_TRUE(skipped("d127", 1, 9, 2));
	TEST_ASSERT_FALSE(skipped("d128", 1, 9, 2));
	TEST_ASSERT_FALSE(event_at("e", "late-frame", MSG_SEVERITY_WARNING, 2));
	TEST_ASSERT_TRUE(event_at("e", "ended", MSG_SEVERITY_ERROR, 2));
}

/* ---- which causes begin an incident ---- */

TEST(kinds_that_last_begin_incidents_apart)
{
	t.repeat_after_ns = 600 * S;
	TEST_ASSERT_TRUE(trigger_begins(&t, TRIGGER_LATE, 100 * S));
	TEST_ASSERT_FALSE(trigger_begins(&t, TRIGGER_LATE, 700 * S - 1));
	TEST_ASSERT_TRUE(trigger_begins(&t, TRIGGER_OVERRUN, 101 * S)); /* each kind by itself */
	TEST_ASSERT_FALSE(trigger_begins(&t, TRIGGER_OVERRUN, 101 * S));
	TEST_ASSERT_TRUE(trigger_begins(&t, TRIGGER_LATE, 700 * S));
	TEST_ASSERT_FALSE(trigger_begins(&t, TRIGGER_LATE, 1300 * S - 1)); /* from the last that it began */
	TEST_ASSERT_TRUE(trigger_begins(&t, TRIGGER_ONCE, 701 * S));
	TEST_ASSERT_TRUE(trigger_begins(&t, TRIGGER_ONCE, 701 * S));
	t.repeat_after_ns = 0; /* --repeat-after 0 */
	TEST_ASSERT_TRUE(trigger_begins(&t, TRIGGER_LATE, 701 * S));
	TEST_ASSERT_TRUE(trigger_begins(&t, TRIGGER_LATE, 701 * S));
}
