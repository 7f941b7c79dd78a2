/* test_pciod_actuator.c: whose halt it is, what is excused, reset, latched and cleared, and when exactly. */
#include "test/daemons/pcio/actuator_names.h"
#include "test/lib/testcase.h"

#include "channels/msg/types.h"
#include "daemons/pcio/pciod_actuator.h"

#define MS INT64_C(1000000)
#define T (1000 * MS)
#define CONFIRM (100 * MS)

static struct pciod_actuator a;
static const struct pciod_actuator_word none, homed = { .homed = true };
static const struct pciod_actuator_word halted = { .halted = true, .homed = true };
static const struct pciod_actuator_word unfed = { .fault = true, .unfed = true, .excusable = true, .homed = true };

/* In this state since T, with this word; nothing is excused, and no driver was there before. */
static void in(enum pciod_actuator_state state, struct pciod_actuator_word word)
{
	a = (struct pciod_actuator){ .state = state,
				     .state_ns = T,
				     .word = word,
				     .asked_ns = T,
				     .confirm_ns = CONFIRM,
				     .zero = PCIOD_ACTUATOR_ZERO_HOMED };
}

void setUp(void)
{
	in(PCIOD_ACTUATOR_FREE, homed);
}

/* ---- beginning ---- */

TEST(it_begins_with_what_was_left)
{
	struct pciod_actuator expected = { .state = PCIOD_ACTUATOR_UNKNOWN,
					   .state_ns = T,
					   .confirm_ns = CONFIRM,
					   .zero = PCIOD_ACTUATOR_ZERO_HOMED,
					   .latches = 4,
					   .excuse_ns = T,
					   .ours_ns = 1,
					   .take_on_ns = T + 100 * MS };

	memset(&a, 0xFF, sizeof(a));
	pciod_actuator_init(
		&a, &(struct pciod_actuator_before){ .known = true, .homed = true, .halted_by_us = true, .latches = 4 },
		CONFIRM, T);
	TEST_ASSERT_EQUAL_MEMORY(&expected, &a, sizeof(a));
}

TEST(a_take_over_forgets)
{
	for (int ours = 0; ours < 2; ours++) {
		in(PCIOD_ACTUATOR_FREE, homed);
		a.reset_failed = a.reset_asked = a.from_rest = a.was_excused = true;
		a.found = halted;
		a.clear_ns = a.excused_ns = a.take_on_ns = 5;
		a.ours_ns = ours ? 5 : 0;
		a.latches = 3;
		TEST_ASSERT_EQUAL_HEX32(PCIOD_ACTUATOR_DO_TAKE_OVER, pciod_actuator_silence(&a, T + 1));
		TEST_ASSERT_FALSE(a.reset_failed || a.reset_asked || a.from_rest || a.was_excused);
		TEST_ASSERT_EQUAL_MEMORY(&none, &a.found, sizeof(none));
		TEST_ASSERT_EQUAL_INT64(0, a.clear_ns);
		TEST_ASSERT_EQUAL_INT64(0, a.excused_ns);
		TEST_ASSERT_EQUAL_INT64(0, a.take_on_ns);
		TEST_ASSERT_EQUAL_INT64(ours, a.ours_ns);
		TEST_ASSERT_EQUAL_HEX32(3, a.latches);
		TEST_ASSERT_EQUAL_INT64(T + 1, a.state_ns);
	}
}

/* ---- times ---- */

TEST(a_word_counts_for_what_was_before_it)
{
	static const struct {
		enum pciod_actuator_state in;
		int64_t asked_ns, t_ns;
		enum pciod_actuator_state next;
	} rows[] = {
		{ PCIOD_ACTUATOR_RESET_CHECK, T, T + 1, PCIOD_ACTUATOR_RESET_CHECK },
		{ PCIOD_ACTUATOR_RESET_CHECK, T + 1, T + 1, PCIOD_ACTUATOR_FREE },
		{ PCIOD_ACTUATOR_UNKNOWN, T - 1, T + 1, PCIOD_ACTUATOR_FREE },
		{ PCIOD_ACTUATOR_HOME_STILL, T + 1, T + 100 * MS - 1, PCIOD_ACTUATOR_HOME_STILL },
		{ PCIOD_ACTUATOR_HOME_STILL, T + 1, T + 100 * MS, PCIOD_ACTUATOR_HOME_DONE },
		{ PCIOD_ACTUATOR_HOME_BEGINS, T + 1, T + 1000 * MS, PCIOD_ACTUATOR_HOME_BEGINS },
		{ PCIOD_ACTUATOR_HOME_BEGINS, T + 1, T + 1000 * MS + 1, PCIOD_ACTUATOR_HOME_STILL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		in(rows[i].in, homed);
		TEST_ASSERT_EQUAL_HEX32(rows[i].in == PCIOD_ACTUATOR_RESET_CHECK && rows[i].next == PCIOD_ACTUATOR_FREE
						? PCIOD_ACTUATOR_DO_END_RESET
						: 0,
					pciod_actuator_word(&a, &homed, rows[i].asked_ns, rows[i].t_ns));
		TEST_ASSERT_EQUAL_STRING(actuator_states[rows[i].next], actuator_states[a.state]);
	}
}

TEST(an_excuse_lasts_for_a_while)
{
	static const struct {
		int64_t after_ns;
		struct pciod_actuator_word word;
		bool excused;
	} rows[] = {
		{ 1, { .homed = true }, true },
		{ CONFIRM, { .homed = true }, true },
		{ CONFIRM + 1, { .homed = true }, false },
		{ CONFIRM + 1, { .homed = true, .fault = true, .unfed = true }, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		in(PCIOD_ACTUATOR_FREE, homed);
		pciod_actuator_excuse(&a, T);
		pciod_actuator_word(&a, &rows[i].word, T + rows[i].after_ns, T + rows[i].after_ns);
		TEST_ASSERT_EQUAL_INT64(rows[i].excused ? T : 0, a.excuse_ns);
	}
}

TEST(a_reset_that_failed_is_latched_by_a_later_word)
{
	for (int later = 0; later < 2; later++) {
		in(PCIOD_ACTUATOR_BLOCKED, halted);
		a.reset_failed = true;
		pciod_actuator_word(&a, &halted, T + later, T + 5);
		TEST_ASSERT_EQUAL_HEX32(later ? MSG_LATCH_WAITS_FOR_PERSON : 0, a.latches);
		pciod_actuator_word(&a, &homed, T + 2, T + 5);
		TEST_ASSERT_FALSE(a.reset_failed);
	}
}

/* ---- whose halt it is ---- */

TEST(a_halt_is_ours_from_the_time_of_it)
{
	for (int64_t asked_ns = T - 1; asked_ns <= T + 1; asked_ns++) {
		in(PCIOD_ACTUATOR_UNKNOWN, none);
		a.ours_ns = T;
		pciod_actuator_word(&a, &halted, asked_ns, T + 5);
		TEST_ASSERT_EQUAL_HEX32(asked_ns < T ? MSG_LATCH_HALTED_BY_OTHER : 0, a.latches);
	}
}

TEST(what_is_free_after_our_halt_is_not_halted_by_us)
{
	for (int64_t asked_ns = T; asked_ns <= T + 1; asked_ns++) {
		in(PCIOD_ACTUATOR_BLOCKED, homed);
		a.ours_ns = 5;
		a.halt_ns = T;
		pciod_actuator_word(&a, &homed, asked_ns, T + 5);
		TEST_ASSERT_EQUAL_INT64(asked_ns > T ? 0 : 5, a.ours_ns);
	}
}

/* ---- homed ---- */

TEST(a_position_never_homed_is_not_lost)
{
	in(PCIOD_ACTUATOR_UNKNOWN, none);
	a.zero = PCIOD_ACTUATOR_ZERO_UNKNOWN;
	pciod_actuator_word(&a, &none, T + 1, T + 5);
	TEST_ASSERT_EQUAL(PCIOD_ACTUATOR_ZERO_NOT_HOMED, a.zero);
	pciod_actuator_word(&a, &none, T + 6, T + 7);
	TEST_ASSERT_FALSE(pciod_actuator_lost(&a));
}

TEST(a_homing_device_has_no_zero)
{
	in(PCIOD_ACTUATOR_HOME_WANTED, homed);
	pciod_actuator_event(&a, PCIOD_ACTUATOR_ON_HOME_PUT, T + 1);
	TEST_ASSERT_EQUAL(PCIOD_ACTUATOR_ZERO_NOT_HOMED, a.zero);
}

/* ---- resets ---- */

TEST(an_excuse_is_used_up_or_given_back)
{
	static const struct {
		enum pciod_actuator_state in;
		enum pciod_actuator_event on;
		int64_t excuse_ns;
		bool was_excused, asked;
	} rows[] = {
		{ PCIOD_ACTUATOR_RESET_SENT, PCIOD_ACTUATOR_ON_RESET_LOST, 7, false, true },
		{ PCIOD_ACTUATOR_RESET_SENT, PCIOD_ACTUATOR_ON_RESET_UNANSWERED, 0, false, false },
		{ PCIOD_ACTUATOR_RESET_CHECK, PCIOD_ACTUATOR_ON_WORD_HOME, 0, true, false },
		{ PCIOD_ACTUATOR_RESET_WANTED, PCIOD_ACTUATOR_ON_FREED, 0, false, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		in(rows[i].in, unfed);
		a.excused_ns = 7;
		a.ours_ns = 8;
		a.reset_asked = true;
		pciod_actuator_event(&a, rows[i].on, T + 1);
		TEST_ASSERT_EQUAL_INT64(rows[i].excuse_ns, a.excuse_ns);
		TEST_ASSERT_EQUAL_INT64(0, a.excused_ns);
		TEST_ASSERT_EQUAL(rows[i].was_excused, a.was_excused);
		TEST_ASSERT_EQUAL(rows[i].asked, a.reset_asked);
		TEST_ASSERT_EQUAL_INT64(rows[i].was_excused ? 0 : 8, a.ours_ns);
	}
}

TEST(what_may_be_reset)
{
	static const struct {
		const char *name;
		enum pciod_actuator_state in;
		struct pciod_actuator_word word;
		int64_t ours_ns, excuse_ns, after_ns;
		bool failed, asked;
		struct pciod_actuator_goal goal;
		uint32_t actions;
		enum pciod_actuator_state next;
	} rows[] = {
#define RESET (PCIOD_ACTUATOR_DO_RESET | PCIOD_ACTUATOR_DO_EXCUSE)
#define MAY .resets = true, .resettable = true
		{ "ours",
		  PCIOD_ACTUATOR_BLOCKED,
		  { .halted = true },
		  5,
		  0,
		  1,
		  0,
		  0,
		  { MAY, .stands = true },
		  RESET,
		  PCIOD_ACTUATOR_RESET_WANTED },
		{ "ours, at its fault",
		  PCIOD_ACTUATOR_BLOCKED,
		  { .halted = true, .fault = true },
		  5,
		  0,
		  1,
		  0,
		  0,
		  { MAY, .stands = true },
		  0,
		  PCIOD_ACTUATOR_BLOCKED },
		{ "another's",
		  PCIOD_ACTUATOR_BLOCKED,
		  { .halted = true },
		  0,
		  0,
		  1,
		  0,
		  0,
		  { MAY, .stands = true },
		  0,
		  PCIOD_ACTUATOR_BLOCKED },
		{ "not known well",
		  PCIOD_ACTUATOR_BLOCKED,
		  { .halted = true },
		  5,
		  0,
		  1,
		  0,
		  0,
		  { .resets = true, .stands = true },
		  0,
		  PCIOD_ACTUATOR_BLOCKED },
		{ "failed",
		  PCIOD_ACTUATOR_BLOCKED,
		  { .halted = true },
		  5,
		  0,
		  1,
		  true,
		  0,
		  { MAY, .stands = true },
		  0,
		  PCIOD_ACTUATOR_BLOCKED },
		{ "moves",
		  PCIOD_ACTUATOR_BLOCKED,
		  { .halted = true },
		  5,
		  0,
		  1000 * MS,
		  0,
		  0,
		  { MAY },
		  0,
		  PCIOD_ACTUATOR_BLOCKED },
		{ "moves for long",
		  PCIOD_ACTUATOR_BLOCKED,
		  { .halted = true },
		  5,
		  0,
		  1000 * MS + 1,
		  0,
		  0,
		  { MAY },
		  RESET,
		  PCIOD_ACTUATOR_RESET_WANTED },
		{ "excused",
		  PCIOD_ACTUATOR_BLOCKED,
		  { .fault = true, .excusable = true },
		  0,
		  5,
		  1,
		  0,
		  0,
		  { MAY },
		  RESET,
		  PCIOD_ACTUATOR_RESET_WANTED },
		{ "a person asks",
		  PCIOD_ACTUATOR_BLOCKED,
		  { .fault = true },
		  0,
		  0,
		  1,
		  0,
		  true,
		  { .halt = true },
		  RESET,
		  PCIOD_ACTUATOR_RESET_WANTED },
		{ "wanted, not allowed any more",
		  PCIOD_ACTUATOR_RESET_WANTED,
		  { .halted = true },
		  5,
		  0,
		  1,
		  0,
		  0,
		  { .stands = true },
		  0,
		  PCIOD_ACTUATOR_RESET_WANTED },
		{ "sent, moving, halted",
		  PCIOD_ACTUATOR_RESET_CHECK,
		  { .halted = true },
		  5,
		  0,
		  CONFIRM + 1,
		  0,
		  0,
		  { 0 },
		  PCIOD_ACTUATOR_DO_FAIL_RESET,
		  PCIOD_ACTUATOR_BLOCKED },
		{ "sent, standing, free",
		  PCIOD_ACTUATOR_RESET_CHECK,
		  { 0 },
		  5,
		  0,
		  CONFIRM + 1,
		  0,
		  0,
		  { .stands = true },
		  PCIOD_ACTUATOR_DO_FAIL_RESET,
		  PCIOD_ACTUATOR_BLOCKED },
		{ "not yet",
		  PCIOD_ACTUATOR_RESET_CHECK,
		  { .halted = true },
		  5,
		  0,
		  CONFIRM,
		  0,
		  0,
		  { .stands = true },
		  0,
		  PCIOD_ACTUATOR_RESET_CHECK },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pciod_actuator_goal goal = rows[i].goal;

		in(rows[i].in, rows[i].word);
		a.asked_ns = T + 2;
		a.halt_ns = T;
		a.ours_ns = rows[i].ours_ns;
		a.excuse_ns = rows[i].excuse_ns;
		a.reset_failed = rows[i].failed;
		a.reset_asked = rows[i].asked;
		goal.now_ns = T + rows[i].after_ns;
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(rows[i].actions, pciod_actuator_tick(&a, &goal), rows[i].name);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(actuator_states[rows[i].next], actuator_states[a.state], rows[i].name);
	}
}

/* ---- where it begins ---- */

TEST(it_begins_at_rest_after_a_stop)
{
	static const struct {
		const char *name;
		enum pciod_actuator_state in;
		struct pciod_actuator_word word;
		bool before, ours, halt_open;
		struct pciod_actuator_goal goal;
		bool from_rest;
	} rows[] = {
		{ "brakes", PCIOD_ACTUATOR_FREE, { 0 }, 0, 0, 0, { 0 }, true },
		{ "stands", PCIOD_ACTUATOR_FREE, { 0 }, 0, 0, 0, { .stands = true }, false },
		{ "still stands", PCIOD_ACTUATOR_FREE, { 0 }, true, 0, 0, { .stands = true }, true },
		{ "was driven", PCIOD_ACTUATOR_DRIVEN, { 0 }, true, 0, 0, { .stands = true }, false },
		{ "is driven", PCIOD_ACTUATOR_FREE, { 0 }, true, true, 0, { .stands = true, .drive = true }, false },
		{ "halted by us", PCIOD_ACTUATOR_BLOCKED, { .halted = true }, 0, true, 0, { 0 }, true },
		{ "by another", PCIOD_ACTUATOR_BLOCKED, { .halted = true }, true, 0, 0, { 0 }, false },
		{ "a fault", PCIOD_ACTUATOR_BLOCKED, { .fault = true }, true, true, 0, { 0 }, false },
		{ "halt sent", PCIOD_ACTUATOR_BLOCKED, { 0 }, 0, 0, true, { 0 }, true },
		{ "is being reset",
		  PCIOD_ACTUATOR_RESET_SENT,
		  { .fault = true },
		  0,
		  true,
		  0,
		  { .resets = true },
		  true },
		{ "homes", PCIOD_ACTUATOR_HOME_RUNS, { 0 }, true, 0, 0, { .stands = true }, false },
		{ "homes, standing", PCIOD_ACTUATOR_HOME_RUNS, { 0 }, 0, 0, 0, { .stands = true }, false },
		{ "silent", PCIOD_ACTUATOR_SILENT, { .halted = true }, true, true, 0, { 0 }, false },
		{ "freed", PCIOD_ACTUATOR_RESET_WANTED, { 0 }, true, 0, 0, { .resets = true, .stands = true }, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pciod_actuator_goal goal = rows[i].goal;

		in(rows[i].in, rows[i].word);
		a.from_rest = rows[i].before;
		a.ours_ns = rows[i].ours;
		a.halt_ns = rows[i].halt_open ? T : 0;
		goal.now_ns = T + 1;
		pciod_actuator_tick(&a, &goal);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].from_rest, a.from_rest, rows[i].name);
	}
}

TEST(a_joint_found_moving_is_taken_on_as_it_moves)
{
	static const struct {
		const char *name;
		int64_t before_ns; /* the end of the time for it */
		struct pciod_actuator_goal first;
		bool from_rest;
	} rows[] = {
		{ "brakes", 1, { 0 }, false },
		{ "too late", 0, { 0 }, true },
		{ "was halted", 1, { .halt = true }, true },
		{ "was driven", 1, { .drive = true, .following = true }, true },
		{ "waits for a reference", 1, { .drive = true }, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pciod_actuator_goal goal = rows[i].first;

		in(PCIOD_ACTUATOR_FREE, none);
		a.take_on_ns = T + 10 * MS;
		goal.now_ns = a.take_on_ns - rows[i].before_ns;
		pciod_actuator_tick(&a, &goal);
		a.halt_ns = 0;
		goal = (struct pciod_actuator_goal){ .now_ns = goal.now_ns };
		pciod_actuator_tick(&a, &goal);
		TEST_ASSERT_EQUAL_MESSAGE(PCIOD_ACTUATOR_STOPPING, a.state, rows[i].name);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].from_rest, a.from_rest, rows[i].name);
	}
}

/* ---- latches ---- */

TEST(what_is_latched)
{
	static const struct {
		const char *name;
		enum pciod_actuator_state in;
		struct pciod_actuator_word word;
		bool ours, excused, wrong;
		uint32_t latches;
	} rows[] = {
		{ "well", PCIOD_ACTUATOR_FREE, { 0 }, 0, 0, 0, 0 },
		{ "wrong", PCIOD_ACTUATOR_FREE, { 0 }, 0, 0, true, MSG_LATCH_WAITS_FOR_PERSON },
		{ "unknown", PCIOD_ACTUATOR_UNKNOWN, { .fault = true }, 0, 0, true, 0 },
		{ "a fault",
		  PCIOD_ACTUATOR_BLOCKED,
		  { .fault = true, .halted = true },
		  0,
		  0,
		  0,
		  MSG_LATCH_WAITS_FOR_PERSON },
		{ "excused", PCIOD_ACTUATOR_BLOCKED, { .fault = true, .excusable = true }, 0, true, 0, 0 },
		{ "not excused",
		  PCIOD_ACTUATOR_BLOCKED,
		  { .fault = true, .excusable = true },
		  0,
		  0,
		  0,
		  MSG_LATCH_WAITS_FOR_PERSON },
		{ "halted by another", PCIOD_ACTUATOR_BLOCKED, { .halted = true }, 0, 0, 0, MSG_LATCH_HALTED_BY_OTHER },
		{ "by us", PCIOD_ACTUATOR_BLOCKED, { .halted = true }, true, 0, 0, 0 },
		{ "being reset", PCIOD_ACTUATOR_RESET_SENT, { .halted = true }, 0, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		in(rows[i].in, rows[i].word);
		a.ours_ns = rows[i].ours;
		a.excuse_ns = rows[i].excused;
		pciod_actuator_latch(&a, false, rows[i].wrong);
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(rows[i].latches, a.latches, rows[i].name);
	}
}

TEST(what_can_be_cleared_and_is_reset_for_it)
{
	static const struct {
		const char *name;
		struct pciod_actuator_word word;
		bool ours, failed, lost, wrong;
		uint32_t latches;
		bool clearable, reset;
	} rows[] = {
		{ "well", { 0 }, 0, 0, 0, 0, 0, false, false },
		{ "a fault", { .fault = true }, 0, 0, 0, 0, 0, true, true },
		{ "a failed reset", { .halted = true }, true, true, 0, 0, 0, true, true },
		{ "lost", { 0 }, 0, 0, true, 0, 0, true, false },
		{ "latched", { 0 }, 0, 0, 0, 0, 2, true, false },
		{ "halted by another", { .halted = true }, 0, 0, 0, 0, 0, true, true },
		{ "by us", { .halted = true }, true, 0, 0, 0, 0, false, false },
		{ "by us, and wrong", { .halted = true }, true, 0, 0, true, 0, false, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		in(PCIOD_ACTUATOR_BLOCKED, rows[i].word);
		a.ours_ns = rows[i].ours;
		a.reset_failed = rows[i].failed;
		a.latches = rows[i].latches;
		a.zero = rows[i].lost ? PCIOD_ACTUATOR_ZERO_LOST : PCIOD_ACTUATOR_ZERO_HOMED;
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].clearable, pciod_actuator_clearable(&a), rows[i].name);
		pciod_actuator_clear(&a, rows[i].wrong, T + 1);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].reset, a.reset_asked, rows[i].name);
		TEST_ASSERT_FALSE(a.reset_failed);
		TEST_ASSERT_EQUAL(PCIOD_ACTUATOR_ZERO_NOT_HOMED, a.zero);
		TEST_ASSERT_EQUAL_INT64(T + 1, a.clear_ns);
	}
}
