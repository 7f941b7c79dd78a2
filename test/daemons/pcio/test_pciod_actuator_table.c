/* test_pciod_actuator_table.c: the table of an actuator's state, every entry of it. */
#include "test/daemons/pcio/actuator_names.h"
#include "test/lib/testcase.h"

#include "daemons/pcio/pciod_actuator_table.h"

/* ---- the whole table ---- */

static const struct {
	uint32_t action;
	const char *name;
} actions[] = {
	{ PCIOD_ACTUATOR_DO_HALT, "halt" },
	{ PCIOD_ACTUATOR_DO_STAND, "stand" },
	{ PCIOD_ACTUATOR_DO_BRAKE, "brake" },
	{ PCIOD_ACTUATOR_DO_DRIVE, "drive" },
	{ PCIOD_ACTUATOR_DO_RESET, "reset" },
	{ PCIOD_ACTUATOR_DO_HOME, "home" },
	{ PCIOD_ACTUATOR_DO_TAKE_OVER, "take-over" },
	{ PCIOD_ACTUATOR_DO_EXCUSE, "excuse" },
	{ PCIOD_ACTUATOR_DO_GIVE_BACK, "give-back" },
	{ PCIOD_ACTUATOR_DO_FAIL_RESET, "fail-reset" },
	{ PCIOD_ACTUATOR_DO_END_RESET, "end-reset" },
	{ PCIOD_ACTUATOR_DO_DROP_RESET, "drop-reset" },
	{ PCIOD_ACTUATOR_DO_LATCH_HOME, "latch-home" },
	{ PCIOD_ACTUATOR_DO_END_HOME, "end-home" },
};

/* EVENT>NEXT+ACTION...; what is not listed changes nothing. */
static const char *const expected[PCIOD_ACTUATOR_N] = {
	[PCIOD_ACTUATOR_SILENT] = "halt>same+halt heard>unknown+take-over",
	[PCIOD_ACTUATOR_SILENT_MOVING] = "wait>same+stand halt>same+halt heard>unknown+take-over",
	[PCIOD_ACTUATOR_UNKNOWN] = ("halt>same+halt silence>silent+take-over silence-moving>silent-moving+take-over "
				    "power-lost>unknown+take-over word-blocked>blocked word-free>free word-home>free "
				    "word-home-long>free"),
	[PCIOD_ACTUATOR_FREE] =
		("halt>blocked+halt keep>blocked reset>reset-wanted+reset+excuse freed>free+drop-reset "
		 "stay>blocked rest>free brake>stopping+brake drive>driven+drive drive-moving>driven+drive "
		 "silence>silent+take-over silence-moving>silent-moving+take-over power-lost>unknown+take-over "
		 "home>home-wanted"),
	[PCIOD_ACTUATOR_STOPPING] =
		("halt>blocked+halt keep>blocked reset>reset-wanted+reset+excuse freed>free+drop-reset "
		 "stay>blocked rest>same+brake brake>stopping+brake drive>driven+drive drive-moving>same+brake "
		 "silence>silent+take-over silence-moving>silent-moving+take-over power-lost>unknown+take-over "
		 "home>home-wanted"),
	[PCIOD_ACTUATOR_DRIVEN] =
		("halt>blocked+halt keep>blocked reset>reset-wanted+reset+excuse freed>free+drop-reset "
		 "stay>blocked rest>free brake>stopping+brake drive>driven+drive drive-moving>driven+drive "
		 "jumped>unknown+take-over jumped-moving>unknown+brake+take-over silence>silent-moving+take-over "
		 "silence-moving>silent-moving+take-over power-lost>unknown+take-over home>home-wanted"),
	[PCIOD_ACTUATOR_BLOCKED] =
		("halt>blocked+halt keep>blocked reset>reset-wanted+reset+excuse freed>free+drop-reset "
		 "stay>blocked rest>free brake>stopping+brake drive>driven+drive drive-moving>driven+drive "
		 "silence>silent+take-over silence-moving>silent-moving+take-over power-lost>unknown+take-over "
		 "home>home-wanted"),
	[PCIOD_ACTUATOR_RESET_WANTED] =
		("halt>blocked+halt+give-back keep>blocked+give-back reset>same+reset freed>free+drop-reset "
		 "rest>free+give-back brake>stopping+brake+give-back drive>free+give-back "
		 "drive-moving>stopping+brake+give-back silence>silent+take-over "
		 "silence-moving>silent-moving+take-over reset-put>reset-put power-lost>unknown+take-over"),
	[PCIOD_ACTUATOR_RESET_PUT] =
		("halt>blocked+halt+give-back keep>blocked+give-back brake>stopping+brake+give-back "
		 "drive-moving>stopping+brake+give-back silence>silent+take-over "
		 "silence-moving>silent-moving+take-over reset-sent>reset-sent reset-answered>reset-check "
		 "reset-lost>blocked+give-back power-lost>unknown+take-over"),
	[PCIOD_ACTUATOR_RESET_SENT] =
		("halt>blocked+halt+give-back keep>blocked+give-back brake>stopping+brake+give-back "
		 "drive-moving>stopping+brake+give-back silence>silent+take-over "
		 "silence-moving>silent-moving+take-over reset-answered>reset-check reset-lost>blocked+give-back "
		 "reset-unanswered>blocked+fail-reset power-lost>unknown+take-over"),
	[PCIOD_ACTUATOR_RESET_CHECK] =
		("halt>blocked+halt+give-back keep>blocked+give-back brake>stopping+brake+give-back "
		 "drive-moving>stopping+brake+give-back silence>silent+take-over "
		 "silence-moving>silent-moving+take-over unconfirmed>blocked+fail-reset "
		 "power-lost>unknown+take-over word-free>free+end-reset word-home>free+end-reset "
		 "word-home-long>free+end-reset"),
	[PCIOD_ACTUATOR_HOME_WANTED] =
		("halt>blocked+halt keep>blocked reset>reset-wanted+reset+excuse stay>blocked rest>same+home "
		 "brake>same+home drive>same+home drive-moving>same+home silence>silent-moving+take-over "
		 "silence-moving>silent-moving+take-over home-put>home-put end-home>free"),
	[PCIOD_ACTUATOR_HOME_PUT] =
		("halt>blocked+halt+latch-home keep>blocked+latch-home reset>reset-wanted+reset+excuse+latch-home "
		 "stay>blocked+latch-home silence>silent+take-over+latch-home "
		 "silence-moving>silent-moving+take-over+latch-home home-answered>home-begins "
		 "home-unanswered>home-failed+latch-home end-home>free+latch-home"),
	[PCIOD_ACTUATOR_HOME_BEGINS] =
		("halt>blocked+halt+latch-home keep>blocked+latch-home reset>reset-wanted+reset+excuse+latch-home "
		 "stay>blocked+latch-home silence>silent+take-over+latch-home "
		 "silence-moving>silent-moving+take-over+latch-home word-free>home-runs word-home-long>home-still "
		 "end-home>free+latch-home"),
	[PCIOD_ACTUATOR_HOME_RUNS] =
		("halt>blocked+halt+latch-home keep>blocked+latch-home reset>reset-wanted+reset+excuse+latch-home "
		 "stay>blocked+latch-home silence>silent+take-over+latch-home "
		 "silence-moving>silent-moving+take-over+latch-home word-free>home-runs word-home>home-still "
		 "word-home-long>home-still end-home>free+latch-home"),
	[PCIOD_ACTUATOR_HOME_STILL] =
		("halt>blocked+halt+latch-home keep>blocked+latch-home reset>reset-wanted+reset+excuse+latch-home "
		 "stay>blocked+latch-home silence>silent+take-over+latch-home "
		 "silence-moving>silent-moving+take-over+latch-home word-free>home-runs word-home-long>home-done "
		 "end-home>free+latch-home"),
	[PCIOD_ACTUATOR_HOME_DONE] =
		("halt>blocked+halt+latch-home keep>blocked+latch-home reset>reset-wanted+reset+excuse+latch-home "
		 "stay>blocked+latch-home silence>silent+take-over+latch-home "
		 "silence-moving>silent-moving+take-over+latch-home end-home>free+end-home"),
	[PCIOD_ACTUATOR_HOME_FAILED] =
		("halt>blocked+halt keep>blocked reset>reset-wanted+reset+excuse stay>blocked "
		 "silence>silent+take-over silence-moving>silent-moving+take-over end-home>free"),
};

static void describe(enum pciod_actuator_state state, char text[2048])
{
	size_t len = 0;

	*text = '\0';
	for (enum pciod_actuator_event event = 0; event < PCIOD_ACTUATOR_ON_N; event++) {
		const struct pciod_actuator_row *row = pciod_actuator_row(state, event);

		if (!row)
			continue;
		len += (size_t)snprintf(text + len, 2048 - len, "%s%s>%s", len ? " " : "", actuator_events[event],
					row->next == PCIOD_ACTUATOR_SAME ? "same" : actuator_states[row->next]);
		for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
			if (row->actions & actions[i].action)
				len += (size_t)snprintf(text + len, 2048 - len, "+%s", actions[i].name);
	}
}

TEST(every_entry_is_as_written)
{
	char text[2048];

	for (enum pciod_actuator_state state = 0; state < PCIOD_ACTUATOR_N; state++) {
		describe(state, text);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(expected[state], text, actuator_states[state]);
	}
}

/* ---- its form ---- */

TEST(no_entry_has_two_rows)
{
	for (unsigned int i = 0; i < pciod_actuator_rows_n; i++)
		for (unsigned int k = 0; k < i; k++) {
			const struct pciod_actuator_row *a = &pciod_actuator_rows[i], *b = &pciod_actuator_rows[k];

			TEST_ASSERT_FALSE(a->in & b->in && a->on & b->on);
		}
}

/* From unknown, where each module begins. */
TEST(every_state_is_reached_and_left)
{
	uint32_t reached = 1u << PCIOD_ACTUATOR_UNKNOWN, left = 0, before;

	do {
		before = reached;
		for (unsigned int i = 0; i < pciod_actuator_rows_n; i++) {
			const struct pciod_actuator_row *row = &pciod_actuator_rows[i];

			if (row->next == PCIOD_ACTUATOR_SAME)
				continue;
			left |= row->in & ~(1u << row->next);
			if (row->in & reached)
				reached |= 1u << row->next;
		}
	} while (reached != before);
	TEST_ASSERT_EQUAL_HEX32((1u << PCIOD_ACTUATOR_N) - 1, reached);
	TEST_ASSERT_EQUAL_HEX32((1u << PCIOD_ACTUATOR_N) - 1, left);
}

/* ---- properties ---- */

/* A device that has to be halted gets the halt in every state, until it reports it. */
TEST(a_halt_is_sent_in_every_state)
{
	for (enum pciod_actuator_state state = 0; state < PCIOD_ACTUATOR_N; state++) {
		const struct pciod_actuator_row *row = pciod_actuator_row(state, PCIOD_ACTUATOR_ON_HALT);

		TEST_ASSERT_NOT_NULL_MESSAGE(row, actuator_states[state]);
		TEST_ASSERT_BITS_HIGH_MESSAGE(PCIOD_ACTUATOR_DO_HALT, row->actions, actuator_states[state]);
	}
}

TEST(nothing_moves_that_is_halted_or_has_a_fault)
{
	static const enum pciod_actuator_event events[] = { PCIOD_ACTUATOR_ON_WAIT, PCIOD_ACTUATOR_ON_KEEP,
							    PCIOD_ACTUATOR_ON_STAY, PCIOD_ACTUATOR_ON_RESET };

	for (enum pciod_actuator_state state = 0; state < PCIOD_ACTUATOR_N; state++)
		for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
			const struct pciod_actuator_row *row = pciod_actuator_row(state, events[i]);

			TEST_ASSERT_FALSE_MESSAGE(row && row->actions &
								  (PCIOD_ACTUATOR_DO_DRIVE | PCIOD_ACTUATOR_DO_HOME),
						  actuator_states[state]);
		}
}

TEST(it_is_reset_for_one_event_alone)
{
	for (unsigned int i = 0; i < pciod_actuator_rows_n; i++)
		if (pciod_actuator_rows[i].actions & PCIOD_ACTUATOR_DO_RESET)
			TEST_ASSERT_EQUAL_HEX32(1u << PCIOD_ACTUATOR_ON_RESET, pciod_actuator_rows[i].on);
}

/* However a homing that may have begun ends: it is latched unless it was completed. */
TEST(a_homing_is_completed_or_latched)
{
	static const enum pciod_actuator_state begun[] = { PCIOD_ACTUATOR_HOME_PUT, PCIOD_ACTUATOR_HOME_BEGINS,
							   PCIOD_ACTUATOR_HOME_RUNS, PCIOD_ACTUATOR_HOME_STILL,
							   PCIOD_ACTUATOR_HOME_DONE };

	for (size_t i = 0; i < sizeof(begun) / sizeof(*begun); i++)
		for (enum pciod_actuator_event event = 0; event < PCIOD_ACTUATOR_ON_N; event++) {
			const struct pciod_actuator_row *row = pciod_actuator_row(begun[i], event);
			const bool done = begun[i] == PCIOD_ACTUATOR_HOME_DONE && event == PCIOD_ACTUATOR_ON_END_HOME;

			if (!row || (row->next >= PCIOD_ACTUATOR_HOME_PUT && row->next <= PCIOD_ACTUATOR_HOME_DONE))
				continue;
			TEST_ASSERT_EQUAL_HEX32_MESSAGE(
				done ? PCIOD_ACTUATOR_DO_END_HOME : PCIOD_ACTUATOR_DO_LATCH_HOME,
				row->actions & (PCIOD_ACTUATOR_DO_END_HOME | PCIOD_ACTUATOR_DO_LATCH_HOME),
				actuator_events[event]);
		}
}

/* ---- groups ---- */

TEST(groups_are_as_they_are_named)
{
	for (enum pciod_actuator_state state = 0; state < PCIOD_ACTUATOR_N; state++) {
		const char *name = actuator_states[state];

		TEST_ASSERT_EQUAL_MESSAGE(!strncmp(name, "silent", 6), !!(1u << state & pciod_actuator_silent_states),
					  name);
		TEST_ASSERT_EQUAL_MESSAGE(!strncmp(name, "reset", 5), !!(1u << state & pciod_actuator_reset_states),
					  name);
		TEST_ASSERT_EQUAL_MESSAGE(!strncmp(name, "home", 4), !!(1u << state & pciod_actuator_home_states),
					  name);
	}
}
