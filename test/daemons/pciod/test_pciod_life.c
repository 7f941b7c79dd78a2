/* test_pciod_life.c: the table of a module's life, every entry of it. */
#include <stdio.h>
#include <string.h>

#include "unity.h"

#include "daemons/pcio/pciod_life.h"

void setUp(void)
{
}

void tearDown(void)
{
}

/* ---- the whole table ---- */

static const struct {
	uint32_t action;
	const char *name;
} actions[] = {
	{ PCIOD_ACT_HALT, "halt" },
	{ PCIOD_ACT_STAND, "stand" },
	{ PCIOD_ACT_BRAKE, "brake" },
	{ PCIOD_ACT_DRIVE, "drive" },
	{ PCIOD_ACT_RESET, "reset" },
	{ PCIOD_ACT_HOME, "home" },
	{ PCIOD_ACT_TAKE_OVER, "take-over" },
	{ PCIOD_ACT_EXCUSE, "excuse" },
	{ PCIOD_ACT_GIVE_BACK, "give-back" },
	{ PCIOD_ACT_FAIL_RESET, "fail-reset" },
	{ PCIOD_ACT_END_RESET, "end-reset" },
	{ PCIOD_ACT_DROP_RESET, "drop-reset" },
	{ PCIOD_ACT_LATCH_HOME, "latch-home" },
	{ PCIOD_ACT_END_HOME, "end-home" },
};

/* EVENT>NEXT+ACTION...; what is not listed changes nothing. */
static const char *const expected[PCIOD_LIFE_N] = {
	[PCIOD_LIFE_SILENT] = "halt>same+halt heard>unknown+take-over",
	[PCIOD_LIFE_SILENT_MOVING] = "wait>same+stand halt>same+halt heard>unknown+take-over",
	[PCIOD_LIFE_UNKNOWN] = "halt>same+halt silence>silent+take-over silence-moving>silent-moving+take-over "
			       "power-lost>unknown+take-over word-blocked>blocked word-free>free word-home>free "
			       "word-home-long>free",
	[PCIOD_LIFE_FREE] =
		"halt>blocked+halt keep>blocked reset>reset-wanted+reset+excuse freed>free+drop-reset "
		"stay>blocked rest>free brake>stopping+brake drive>driven+drive drive-moving>driven+drive "
		"silence>silent+take-over silence-moving>silent-moving+take-over power-lost>unknown+take-over "
		"home>home-wanted",
	[PCIOD_LIFE_STOPPING] =
		"halt>blocked+halt keep>blocked reset>reset-wanted+reset+excuse freed>free+drop-reset "
		"stay>blocked rest>same+brake brake>stopping+brake drive>driven+drive drive-moving>same+brake "
		"silence>silent+take-over silence-moving>silent-moving+take-over power-lost>unknown+take-over "
		"home>home-wanted",
	[PCIOD_LIFE_DRIVEN] =
		"halt>blocked+halt keep>blocked reset>reset-wanted+reset+excuse freed>free+drop-reset "
		"stay>blocked rest>free brake>stopping+brake drive>driven+drive drive-moving>driven+drive "
		"jumped>unknown+take-over jumped-moving>unknown+brake+take-over silence>silent-moving+take-over "
		"silence-moving>silent-moving+take-over power-lost>unknown+take-over home>home-wanted",
	[PCIOD_LIFE_BLOCKED] =
		"halt>blocked+halt keep>blocked reset>reset-wanted+reset+excuse freed>free+drop-reset "
		"stay>blocked rest>free brake>stopping+brake drive>driven+drive drive-moving>driven+drive "
		"silence>silent+take-over silence-moving>silent-moving+take-over power-lost>unknown+take-over "
		"home>home-wanted",
	[PCIOD_LIFE_RESET_WANTED] =
		"halt>blocked+halt+give-back keep>blocked+give-back reset>same+reset freed>free+drop-reset "
		"rest>free+give-back brake>stopping+brake+give-back drive>free+give-back "
		"drive-moving>stopping+brake+give-back silence>silent+take-over "
		"silence-moving>silent-moving+take-over reset-put>reset-put power-lost>unknown+take-over",
	[PCIOD_LIFE_RESET_PUT] =
		"halt>blocked+halt+give-back keep>blocked+give-back brake>stopping+brake+give-back "
		"drive-moving>stopping+brake+give-back silence>silent+take-over "
		"silence-moving>silent-moving+take-over reset-sent>reset-sent reset-answered>reset-check "
		"reset-lost>blocked+give-back power-lost>unknown+take-over",
	[PCIOD_LIFE_RESET_SENT] =
		"halt>blocked+halt+give-back keep>blocked+give-back brake>stopping+brake+give-back "
		"drive-moving>stopping+brake+give-back silence>silent+take-over "
		"silence-moving>silent-moving+take-over reset-answered>reset-check reset-lost>blocked+give-back "
		"reset-unanswered>blocked+fail-reset power-lost>unknown+take-over",
	[PCIOD_LIFE_RESET_CHECK] = "halt>blocked+halt+give-back keep>blocked+give-back brake>stopping+brake+give-back "
				   "drive-moving>stopping+brake+give-back silence>silent+take-over "
				   "silence-moving>silent-moving+take-over unconfirmed>blocked+fail-reset "
				   "power-lost>unknown+take-over word-free>free+end-reset word-home>free+end-reset "
				   "word-home-long>free+end-reset",
	[PCIOD_LIFE_HOME_WANTED] =
		"halt>blocked+halt keep>blocked reset>reset-wanted+reset+excuse stay>blocked rest>same+home "
		"brake>same+home drive>same+home drive-moving>same+home silence>silent-moving+take-over "
		"silence-moving>silent-moving+take-over home-put>home-put end-home>free",
	[PCIOD_LIFE_HOME_PUT] =
		"halt>blocked+halt+latch-home keep>blocked+latch-home reset>reset-wanted+reset+excuse+latch-home "
		"stay>blocked+latch-home silence>silent+take-over+latch-home "
		"silence-moving>silent-moving+take-over+latch-home home-answered>home-begins "
		"home-unanswered>home-failed+latch-home end-home>free+latch-home",
	[PCIOD_LIFE_HOME_BEGINS] =
		"halt>blocked+halt+latch-home keep>blocked+latch-home reset>reset-wanted+reset+excuse+latch-home "
		"stay>blocked+latch-home silence>silent+take-over+latch-home "
		"silence-moving>silent-moving+take-over+latch-home word-free>home-runs word-home-long>home-still "
		"end-home>free+latch-home",
	[PCIOD_LIFE_HOME_RUNS] =
		"halt>blocked+halt+latch-home keep>blocked+latch-home reset>reset-wanted+reset+excuse+latch-home "
		"stay>blocked+latch-home silence>silent+take-over+latch-home "
		"silence-moving>silent-moving+take-over+latch-home word-free>home-runs word-home>home-still "
		"word-home-long>home-still end-home>free+latch-home",
	[PCIOD_LIFE_HOME_STILL] =
		"halt>blocked+halt+latch-home keep>blocked+latch-home reset>reset-wanted+reset+excuse+latch-home "
		"stay>blocked+latch-home silence>silent+take-over+latch-home "
		"silence-moving>silent-moving+take-over+latch-home word-free>home-runs word-home-long>home-done "
		"end-home>free+latch-home",
	[PCIOD_LIFE_HOME_DONE] =
		"halt>blocked+halt+latch-home keep>blocked+latch-home reset>reset-wanted+reset+excuse+latch-home "
		"stay>blocked+latch-home silence>silent+take-over+latch-home "
		"silence-moving>silent-moving+take-over+latch-home end-home>free+end-home",
	[PCIOD_LIFE_HOME_FAILED] = "halt>blocked+halt keep>blocked reset>reset-wanted+reset+excuse stay>blocked "
				   "silence>silent+take-over silence-moving>silent-moving+take-over end-home>free",
};

static void describe(enum pciod_life life, char text[2048])
{
	size_t len = 0;

	*text = '\0';
	for (enum pciod_event event = 0; event < PCIOD_EVENT_N; event++) {
		const struct pciod_row *row = pciod_life_row(life, event);

		if (!row)
			continue;
		len += (size_t)snprintf(text + len, 2048 - len, "%s%s>%s", len ? " " : "", pciod_event_name(event),
					row->next == PCIOD_LIFE_SAME ? "same" : pciod_life_name(row->next));
		for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
			if (row->actions & actions[i].action)
				len += (size_t)snprintf(text + len, 2048 - len, "+%s", actions[i].name);
	}
}

static void every_entry_is_as_written(void)
{
	char text[2048];

	for (enum pciod_life life = 0; life < PCIOD_LIFE_N; life++) {
		describe(life, text);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(expected[life], text, pciod_life_name(life));
	}
}

/* ---- its form ---- */

static void no_entry_has_two_rows(void)
{
	for (unsigned int i = 0; i < pciod_life_rows_n; i++)
		for (unsigned int k = 0; k < i; k++) {
			const struct pciod_row *a = &pciod_life_rows[i], *b = &pciod_life_rows[k];

			TEST_ASSERT_FALSE_MESSAGE(a->in & b->in && a->on & b->on, a->why);
		}
}

static void every_row_has_a_reason(void)
{
	for (unsigned int i = 0; i < pciod_life_rows_n; i++)
		TEST_ASSERT_TRUE(strlen(pciod_life_rows[i].why) > 8);
}

/* From unknown, where each module begins. */
static void every_state_is_reached_and_left(void)
{
	uint32_t reached = 1u << PCIOD_LIFE_UNKNOWN, left = 0, before;

	do {
		before = reached;
		for (unsigned int i = 0; i < pciod_life_rows_n; i++) {
			const struct pciod_row *row = &pciod_life_rows[i];

			if (row->next == PCIOD_LIFE_SAME)
				continue;
			left |= row->in & ~(1u << row->next);
			if (row->in & reached)
				reached |= 1u << row->next;
		}
	} while (reached != before);
	TEST_ASSERT_EQUAL_HEX32((1u << PCIOD_LIFE_N) - 1, reached);
	TEST_ASSERT_EQUAL_HEX32((1u << PCIOD_LIFE_N) - 1, left);
}

/* ---- properties ---- */

/* Whatever it does: when it has to be halted, it is told so, unless it says that it is. */
static void a_halt_is_told_in_every_state(void)
{
	for (enum pciod_life life = 0; life < PCIOD_LIFE_N; life++) {
		const struct pciod_row *row = pciod_life_row(life, PCIOD_EVENT_HALT);

		TEST_ASSERT_NOT_NULL_MESSAGE(row, pciod_life_name(life));
		TEST_ASSERT_BITS_HIGH_MESSAGE(PCIOD_ACT_HALT, row->actions, pciod_life_name(life));
	}
}

static void nothing_moves_that_is_halted_or_has_a_fault(void)
{
	static const enum pciod_event events[] = { PCIOD_EVENT_WAIT, PCIOD_EVENT_KEEP, PCIOD_EVENT_STAY,
						   PCIOD_EVENT_RESET };

	for (enum pciod_life life = 0; life < PCIOD_LIFE_N; life++)
		for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
			const struct pciod_row *row = pciod_life_row(life, events[i]);

			TEST_ASSERT_FALSE_MESSAGE(row && row->actions & (PCIOD_ACT_DRIVE | PCIOD_ACT_HOME),
						  pciod_life_name(life));
		}
}

static void it_is_reset_for_one_event_alone(void)
{
	for (unsigned int i = 0; i < pciod_life_rows_n; i++)
		if (pciod_life_rows[i].actions & PCIOD_ACT_RESET)
			TEST_ASSERT_EQUAL_HEX32(1u << PCIOD_EVENT_RESET, pciod_life_rows[i].on);
}

/* However a homing that may have begun ends: it is latched unless it was completed. */
static void a_homing_is_completed_or_latched(void)
{
	static const enum pciod_life begun[] = { PCIOD_LIFE_HOME_PUT, PCIOD_LIFE_HOME_BEGINS, PCIOD_LIFE_HOME_RUNS,
						 PCIOD_LIFE_HOME_STILL, PCIOD_LIFE_HOME_DONE };

	for (size_t i = 0; i < sizeof(begun) / sizeof(*begun); i++)
		for (enum pciod_event event = 0; event < PCIOD_EVENT_N; event++) {
			const struct pciod_row *row = pciod_life_row(begun[i], event);
			const bool done = begun[i] == PCIOD_LIFE_HOME_DONE && event == PCIOD_EVENT_END_HOME;

			if (!row || (row->next >= PCIOD_LIFE_HOME_PUT && row->next <= PCIOD_LIFE_HOME_DONE))
				continue;
			TEST_ASSERT_EQUAL_HEX32_MESSAGE(done ? PCIOD_ACT_END_HOME : PCIOD_ACT_LATCH_HOME,
							row->actions & (PCIOD_ACT_END_HOME | PCIOD_ACT_LATCH_HOME),
							pciod_event_name(event));
		}
}

/* ---- groups ---- */

static void groups_are_as_they_are_named(void)
{
	for (enum pciod_life life = 0; life < PCIOD_LIFE_N; life++) {
		const char *name = pciod_life_name(life);

		TEST_ASSERT_EQUAL_MESSAGE(!strncmp(name, "silent", 6), pciod_life_silent(life), name);
		TEST_ASSERT_EQUAL_MESSAGE(!strncmp(name, "reset", 5), pciod_life_resets(life), name);
		TEST_ASSERT_EQUAL_MESSAGE(!strncmp(name, "home", 4), pciod_life_homes(life), name);
	}
}

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(every_entry_is_as_written);
	RUN_TEST(no_entry_has_two_rows);
	RUN_TEST(every_row_has_a_reason);
	RUN_TEST(every_state_is_reached_and_left);
	RUN_TEST(a_halt_is_told_in_every_state);
	RUN_TEST(nothing_moves_that_is_halted_or_has_a_fault);
	RUN_TEST(it_is_reset_for_one_event_alone);
	RUN_TEST(a_homing_is_completed_or_latched);
	RUN_TEST(groups_are_as_they_are_named);
	return UNITY_END();
}
