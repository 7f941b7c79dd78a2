/* test_trigger.c: what makes an incident. */
#include "test/channels/testcase.h"

#include "launch/blackbox/trigger.h"

static struct trigger t;
static char why[TRIGGER_WHY_MAX];

void setUp(void)
{
	memset(&t, 0, sizeof(t));
	strcpy(why, "unchanged");
}

static bool event(const char *code, enum msg_severity severity)
{
	struct msg_event e = { .severity = severity };

	snprintf(e.source, sizeof(e.source), "waist");
	snprintf(e.code, sizeof(e.code), "%s", code);
	snprintf(e.text, sizeof(e.text), "signal 9");
	return trigger_event(&t, &e, why);
}

static const struct {
	const char *code;
	enum msg_severity severity;
	const char *why; /* NULL: no incident */
} events[] = {
	{ "ended", MSG_SEVERITY_ERROR, "died: waist: signal 9" },
	{ "ended", MSG_SEVERITY_FATAL, "died: waist: signal 9" },
	{ "ended", MSG_SEVERITY_WARNING, NULL },
	{ "ended", MSG_SEVERITY_INFO, NULL },
	{ "killed", MSG_SEVERITY_WARNING, "watchdog: waist: signal 9" },
	{ "killed", MSG_SEVERITY_INFO, NULL },
	{ "failed", MSG_SEVERITY_FATAL, "given up: waist: signal 9" },
	{ "failed", MSG_SEVERITY_WARNING, NULL },
	{ "raised", MSG_SEVERITY_WARNING, "stop: waist: signal 9" },
	{ "raised", MSG_SEVERITY_INFO, NULL },
	{ "ready", MSG_SEVERITY_ERROR, NULL },
	{ "", MSG_SEVERITY_FATAL, NULL },
};

TEST(events_by_code_and_severity)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		setUp();
		TEST_ASSERT_EQUAL_MESSAGE(events[i].why != NULL, event(events[i].code, events[i].severity),
					  events[i].code);
		TEST_ASSERT_EQUAL_STRING(events[i].why ? events[i].why : "unchanged", why);
	}
}

static bool estop(uint32_t kind, enum msg_level level)
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
	TEST_ASSERT_TRUE(estop(MSG_ESTOP_RAISE, MSG_LEVEL_ESTOP));
	TEST_ASSERT_EQUAL_STRING("stop: level estop by root: a hand", why);
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_RAISE, MSG_LEVEL_ESTOP)); /* again: it is the same one */
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_LOWER, MSG_LEVEL_HOLD));
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_RAISE, MSG_LEVEL_ESTOP)); /* it was not armed */
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_LOWER, MSG_LEVEL_RUN));
	TEST_ASSERT_TRUE(estop(MSG_ESTOP_RAISE, MSG_LEVEL_HOLD));
	TEST_ASSERT_EQUAL_STRING("stop: level hold by root: a hand", why);
}

TEST(an_arming_again_is_none)
{
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_LOWER, MSG_LEVEL_RUN));
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_LOWER, MSG_LEVEL_RUN));
	TEST_ASSERT_FALSE(estop(MSG_ESTOP_RAISE, MSG_LEVEL_RUN));
}

TEST(skipped_ticks)
{
	t.skipped_max = 5;
	TEST_ASSERT_FALSE(trigger_skipped(&t, "waist-state", 1, 100, why)); /* the first look */
	TEST_ASSERT_FALSE(trigger_skipped(&t, "waist-state", 1, 105, why));
	TEST_ASSERT_TRUE(trigger_skipped(&t, "waist-state", 1, 111, why));
	TEST_ASSERT_EQUAL_STRING("overrun: waist-state: 6 ticks skipped", why);
	TEST_ASSERT_FALSE(trigger_skipped(&t, "waist-state", 1, 111, why));
	TEST_ASSERT_FALSE(trigger_skipped(&t, "waist-state", 2, 200, why)); /* another process counts from 0 */
	TEST_ASSERT_FALSE(trigger_skipped(&t, "waist-state", 2, 0, why));
	TEST_ASSERT_FALSE(trigger_skipped(&t, "wheels-state", 2, 50, why));
	TEST_ASSERT_TRUE(trigger_skipped(&t, "wheels-state", 2, 56, why));
}

TEST(any_number_may_be_allowed)
{
	TEST_ASSERT_FALSE(trigger_skipped(&t, "waist-state", 1, 0, why));
	TEST_ASSERT_FALSE(trigger_skipped(&t, "waist-state", 1, 1000000, why));
}

TEST(more_states_than_there_is_room_for)
{
	char name[16];

	t.skipped_max = 1;
	for (int i = 0; i < TRIGGER_STATES_MAX + 2; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		TEST_ASSERT_FALSE(trigger_skipped(&t, name, 1, 0, why));
	}
	TEST_ASSERT_TRUE(trigger_skipped(&t, "d127", 1, 9, why));
	TEST_ASSERT_FALSE(trigger_skipped(&t, "d128", 1, 9, why));
}
