/* test_drv_actuator.c: whose halt it is, what is excused, reset, latched and cleared, and when exactly. */
#include "test/daemons/safety/actuator_names.h"
#include "test/lib/testcase.h"

#include "channels/msg/types.h"
#include "daemons/drv/drv_actuator.h"

#define MS INT64_C(1000000)
#define T (1000 * MS)
#define CONFIRM (100 * MS)

static struct drv_actuator a;
static const struct drv_actuator_word none, homed = { .homed = true };
static const struct drv_actuator_word halted = { .halted = true, .homed = true };
static const struct drv_actuator_word unfed = { .fault = true, .unfed = true, .excusable = true, .homed = true };

/* In this state since T, with this word; nothing is excused, and no driver was there before. */
static void in(enum drv_actuator_state state, struct drv_actuator_word word)
{
	a = (struct drv_actuator){ .state = state,
				   .state_ns = T,
				   .word = word,
				   .asked_ns = T,
				   .confirm_ns = CONFIRM,
				   .zero = DRV_ACTUATOR_ZERO_HOMED };
}

void setUp(void)
{
	in(DRV_ACTUATOR_FREE, homed);
}

/* ---- beginning ---- */

TEST(it_begins_with_what_was_left)
{
	struct drv_actuator expected = { .state = DRV_ACTUATOR_UNKNOWN,
					 .state_ns = T,
					 .confirm_ns = CONFIRM,
					 .zero = DRV_ACTUATOR_ZERO_HOMED,
					 .latches = 4,
					 .excuse_ns = T,
					 .ours_ns = 1,
					 .take_on_ns = T + 100 * MS };

	memset(&a, 0xFF, sizeof(a));
	drv_actuator_init(
		&a, &(struct drv_actuator_before){ .known = true, .homed = true, .halted_by_us = true, .latches = 4 },
		CONFIRM, T);
	TEST_ASSERT_EQUAL_MEMORY(&expected, &a, sizeof(a));
}

TEST(a_take_over_forgets)
{
	for (int ours = 0; ours < 2; ours++) {
		in(DRV_ACTUATOR_FREE, homed);
		a.reset_failed = a.reset_asked = a.from_rest = a.was_excused = true;
		a.found = halted;
		a.clear_ns = a.excused_ns = a.take_on_ns = 5;
		a.ours_ns = ours ? 5 : 0;
		a.latches = 3;
		TEST_ASSERT_EQUAL_HEX32(DRV_ACTUATOR_DO_TAKE_OVER, drv_actuator_silence(&a, T + 1));
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
		enum drv_actuator_state in;
		int64_t asked_ns, t_ns;
		enum drv_actuator_state next;
	} rows[] = {
		{ DRV_ACTUATOR_RESET_CHECK, T, T + 1, DRV_ACTUATOR_RESET_CHECK },
		{ DRV_ACTUATOR_RESET_CHECK, T + 1, T + 1, DRV_ACTUATOR_FREE },
		{ DRV_ACTUATOR_UNKNOWN, T - 1, T + 1, DRV_ACTUATOR_FREE },
		{ DRV_ACTUATOR_HOME_STILL, T + 1, T + 100 * MS - 1, DRV_ACTUATOR_HOME_STILL },
		{ DRV_ACTUATOR_HOME_STILL, T + 1, T + 100 * MS, DRV_ACTUATOR_HOME_DONE },
		{ DRV_ACTUATOR_HOME_BEGINS, T + 1, T + 1000 * MS, DRV_ACTUATOR_HOME_BEGINS },
		{ DRV_ACTUATOR_HOME_BEGINS, T + 1, T + 1000 * MS + 1, DRV_ACTUATOR_HOME_STILL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		in(rows[i].in, homed);
		TEST_ASSERT_EQUAL_HEX32(rows[i].in == DRV_ACTUATOR_RESET_CHECK && rows[i].next == DRV_ACTUATOR_FREE
						? DRV_ACTUATOR_DO_END_RESET
						: 0,
					drv_actuator_word(&a, &homed, rows[i].asked_ns, rows[i].t_ns));
		TEST_ASSERT_EQUAL_STRING(actuator_states[rows[i].next], actuator_states[a.state]);
	}
}

TEST(an_excuse_lasts_for_a_while)
{
	static const struct {
		int64_t after_ns;
		struct drv_actuator_word word;
		bool excused;
	} rows[] = {
		{ 1, { .homed = true }, true },
		{ CONFIRM, { .homed = true }, true },
		{ CONFIRM + 1, { .homed = true }, false },
		{ CONFIRM + 1, { .homed = true, .fault = true, .unfed = true }, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		in(DRV_ACTUATOR_FREE, homed);
		drv_actuator_excuse(&a, T);
		drv_actuator_word(&a, &rows[i].word, T + rows[i].after_ns, T + rows[i].after_ns);
		TEST_ASSERT_EQUAL_INT64(rows[i].excused ? T : 0, a.excuse_ns);
	}
}

TEST(a_reset_that_failed_is_latched_by_a_later_word)
{
	for (int later = 0; later < 2; later++) {
		in(DRV_ACTUATOR_BLOCKED, halted);
		a.reset_failed = true;
		drv_actuator_word(&a, &halted, T + later, T + 5);
		TEST_ASSERT_EQUAL_HEX32(later ? MSG_LATCH_WAITS_FOR_PERSON : 0, a.latches);
		drv_actuator_word(&a, &homed, T + 2, T + 5);
		TEST_ASSERT_FALSE(a.reset_failed);
	}
}

/* ---- whose halt it is ---- */

TEST(a_halt_is_ours_from_the_time_of_it)
{
	for (int64_t asked_ns = T - 1; asked_ns <= T + 1; asked_ns++) {
		in(DRV_ACTUATOR_UNKNOWN, none);
		a.ours_ns = T;
		drv_actuator_word(&a, &halted, asked_ns, T + 5);
		TEST_ASSERT_EQUAL_HEX32(asked_ns < T ? MSG_LATCH_HALTED_BY_OTHER : 0, a.latches);
	}
}

TEST(what_is_free_after_our_halt_is_not_halted_by_us)
{
	for (int64_t asked_ns = T; asked_ns <= T + 1; asked_ns++) {
		in(DRV_ACTUATOR_BLOCKED, homed);
		a.ours_ns = 5;
		a.halt_ns = T;
		drv_actuator_word(&a, &homed, asked_ns, T + 5);
		TEST_ASSERT_EQUAL_INT64(asked_ns > T ? 0 : 5, a.ours_ns);
	}
}

/* ---- homed ---- */

TEST(a_position_never_homed_is_not_lost)
{
	in(DRV_ACTUATOR_UNKNOWN, none);
	a.zero = DRV_ACTUATOR_ZERO_UNKNOWN;
	drv_actuator_word(&a, &none, T + 1, T + 5);
	TEST_ASSERT_EQUAL(DRV_ACTUATOR_ZERO_NOT_HOMED, a.zero);
	drv_actuator_word(&a, &none, T + 6, T + 7);
	TEST_ASSERT_FALSE(drv_actuator_lost(&a));
}

TEST(a_homing_device_has_no_zero)
{
	in(DRV_ACTUATOR_HOME_WANTED, homed);
	drv_actuator_event(&a, DRV_ACTUATOR_ON_HOME_PUT, T + 1);
	TEST_ASSERT_EQUAL(DRV_ACTUATOR_ZERO_NOT_HOMED, a.zero);
}

/* ---- resets ---- */

TEST(an_excuse_is_used_up_or_given_back)
{
	static const struct {
		enum drv_actuator_state in;
		enum drv_actuator_event on;
		int64_t excuse_ns;
		bool was_excused, asked;
	} rows[] = {
		{ DRV_ACTUATOR_RESET_SENT, DRV_ACTUATOR_ON_RESET_LOST, 7, false, true },
		{ DRV_ACTUATOR_RESET_SENT, DRV_ACTUATOR_ON_RESET_UNANSWERED, 0, false, false },
		{ DRV_ACTUATOR_RESET_CHECK, DRV_ACTUATOR_ON_WORD_HOME, 0, true, false },
		{ DRV_ACTUATOR_RESET_WANTED, DRV_ACTUATOR_ON_FREED, 0, false, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		in(rows[i].in, unfed);
		a.excused_ns = 7;
		a.ours_ns = 8;
		a.reset_asked = true;
		drv_actuator_event(&a, rows[i].on, T + 1);
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
		enum drv_actuator_state in;
		struct drv_actuator_word word;
		int64_t ours_ns, excuse_ns, after_ns;
		bool failed, asked;
		struct drv_actuator_goal goal;
		uint32_t actions;
		enum drv_actuator_state next;
	} rows[] = {
#define RESET (DRV_ACTUATOR_DO_RESET | DRV_ACTUATOR_DO_EXCUSE)
#define MAY .resets = true, .resettable = true
		{ "ours",
		  DRV_ACTUATOR_BLOCKED,
		  { .halted = true },
		  5,
		  0,
		  1,
		  0,
		  0,
		  { MAY, .stands = true },
		  RESET,
		  DRV_ACTUATOR_RESET_WANTED },
		{ "ours, at its fault",
		  DRV_ACTUATOR_BLOCKED,
		  { .halted = true, .fault = true },
		  5,
		  0,
		  1,
		  0,
		  0,
		  { MAY, .stands = true },
		  0,
		  DRV_ACTUATOR_BLOCKED },
		{ "another's",
		  DRV_ACTUATOR_BLOCKED,
		  { .halted = true },
		  0,
		  0,
		  1,
		  0,
		  0,
		  { MAY, .stands = true },
		  0,
		  DRV_ACTUATOR_BLOCKED },
		{ "not known well",
		  DRV_ACTUATOR_BLOCKED,
		  { .halted = true },
		  5,
		  0,
		  1,
		  0,
		  0,
		  { .resets = true, .stands = true },
		  0,
		  DRV_ACTUATOR_BLOCKED },
		{ "failed",
		  DRV_ACTUATOR_BLOCKED,
		  { .halted = true },
		  5,
		  0,
		  1,
		  true,
		  0,
		  { MAY, .stands = true },
		  0,
		  DRV_ACTUATOR_BLOCKED },
		{ "moves",
		  DRV_ACTUATOR_BLOCKED,
		  { .halted = true },
		  5,
		  0,
		  1000 * MS,
		  0,
		  0,
		  { MAY },
		  0,
		  DRV_ACTUATOR_BLOCKED },
		{ "moves for long",
		  DRV_ACTUATOR_BLOCKED,
		  { .halted = true },
		  5,
		  0,
		  1000 * MS + 1,
		  0,
		  0,
		  { MAY },
		  RESET,
		  DRV_ACTUATOR_RESET_WANTED },
		{ "excused",
		  DRV_ACTUATOR_BLOCKED,
		  { .fault = true, .excusable = true },
		  0,
		  5,
		  1,
		  0,
		  0,
		  { MAY },
		  RESET,
		  DRV_ACTUATOR_RESET_WANTED },
		{ "a person asks",
		  DRV_ACTUATOR_BLOCKED,
		  { .fault = true },
		  0,
		  0,
		  1,
		  0,
		  true,
		  { .halt = true },
		  RESET,
		  DRV_ACTUATOR_RESET_WANTED },
		{ "wanted, not allowed any more",
		  DRV_ACTUATOR_RESET_WANTED,
		  { .halted = true },
		  5,
		  0,
		  1,
		  0,
		  0,
		  { .stands = true },
		  0,
		  DRV_ACTUATOR_RESET_WANTED },
		{ "sent, moving, halted",
		  DRV_ACTUATOR_RESET_CHECK,
		  { .halted = true },
		  5,
		  0,
		  CONFIRM + 1,
		  0,
		  0,
		  { 0 },
		  DRV_ACTUATOR_DO_FAIL_RESET,
		  DRV_ACTUATOR_BLOCKED },
		{ "sent, standing, free",
		  DRV_ACTUATOR_RESET_CHECK,
		  { 0 },
		  5,
		  0,
		  CONFIRM + 1,
		  0,
		  0,
		  { .stands = true },
		  DRV_ACTUATOR_DO_FAIL_RESET,
		  DRV_ACTUATOR_BLOCKED },
		{ "not yet",
		  DRV_ACTUATOR_RESET_CHECK,
		  { .halted = true },
		  5,
		  0,
		  CONFIRM,
		  0,
		  0,
		  { .stands = true },
		  0,
		  DRV_ACTUATOR_RESET_CHECK },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct drv_actuator_goal goal = rows[i].goal;

		in(rows[i].in, rows[i].word);
		a.asked_ns = T + 2;
		a.halt_ns = T;
		a.ours_ns = rows[i].ours_ns;
		a.excuse_ns = rows[i].excuse_ns;
		a.reset_failed = rows[i].failed;
		a.reset_asked = rows[i].asked;
		goal.now_ns = T + rows[i].after_ns;
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(rows[i].actions, drv_actuator_tick(&a, &goal), rows[i].name);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(actuator_states[rows[i].next], actuator_states[a.state], rows[i].name);
	}
}

/* ---- where it begins ---- */

TEST(it_begins_at_rest_after_a_stop)
{
	static const struct {
		const char *name;
		enum drv_actuator_state in;
		struct drv_actuator_word word;
		bool before, ours, halt_open;
		struct drv_actuator_goal goal;
		bool from_rest;
	} rows[] = {
		{ "brakes", DRV_ACTUATOR_FREE, { 0 }, 0, 0, 0, { 0 }, true },
		{ "stands", DRV_ACTUATOR_FREE, { 0 }, 0, 0, 0, { .stands = true }, false },
		{ "still stands", DRV_ACTUATOR_FREE, { 0 }, true, 0, 0, { .stands = true }, true },
		{ "was driven", DRV_ACTUATOR_DRIVEN, { 0 }, true, 0, 0, { .stands = true }, false },
		{ "is driven", DRV_ACTUATOR_FREE, { 0 }, true, true, 0, { .stands = true, .drive = true }, false },
		{ "halted by us", DRV_ACTUATOR_BLOCKED, { .halted = true }, 0, true, 0, { 0 }, true },
		{ "by another", DRV_ACTUATOR_BLOCKED, { .halted = true }, true, 0, 0, { 0 }, false },
		{ "a fault", DRV_ACTUATOR_BLOCKED, { .fault = true }, true, true, 0, { 0 }, false },
		{ "halt sent", DRV_ACTUATOR_BLOCKED, { 0 }, 0, 0, true, { 0 }, true },
		{ "is being reset", DRV_ACTUATOR_RESET_SENT, { .fault = true }, 0, true, 0, { .resets = true }, true },
		{ "homes", DRV_ACTUATOR_HOME_RUNS, { 0 }, true, 0, 0, { .stands = true }, false },
		{ "homes, standing", DRV_ACTUATOR_HOME_RUNS, { 0 }, 0, 0, 0, { .stands = true }, false },
		{ "silent", DRV_ACTUATOR_SILENT, { .halted = true }, true, true, 0, { 0 }, false },
		{ "freed", DRV_ACTUATOR_RESET_WANTED, { 0 }, true, 0, 0, { .resets = true, .stands = true }, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct drv_actuator_goal goal = rows[i].goal;

		in(rows[i].in, rows[i].word);
		a.from_rest = rows[i].before;
		a.ours_ns = rows[i].ours;
		a.halt_ns = rows[i].halt_open ? T : 0;
		goal.now_ns = T + 1;
		drv_actuator_tick(&a, &goal);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].from_rest, a.from_rest, rows[i].name);
	}
}

TEST(a_joint_found_moving_is_taken_on_as_it_moves)
{
	static const struct {
		const char *name;
		int64_t before_ns; /* the end of the time for it */
		struct drv_actuator_goal first;
		bool from_rest;
	} rows[] = {
		{ "brakes", 1, { 0 }, false },
		{ "too late", 0, { 0 }, true },
		{ "was halted", 1, { .halt = true }, true },
		{ "was driven", 1, { .drive = true, .following = true }, true },
		{ "waits for a reference", 1, { .drive = true }, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct drv_actuator_goal goal = rows[i].first;

		in(DRV_ACTUATOR_FREE, none);
		a.take_on_ns = T + 10 * MS;
		goal.now_ns = a.take_on_ns - rows[i].before_ns;
		drv_actuator_tick(&a, &goal);
		a.halt_ns = 0;
		goal = (struct drv_actuator_goal){ .now_ns = goal.now_ns };
		drv_actuator_tick(&a, &goal);
		TEST_ASSERT_EQUAL_MESSAGE(DRV_ACTUATOR_STOPPING, a.state, rows[i].name);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].from_rest, a.from_rest, rows[i].name);
	}
}

/* ---- latches ---- */

TEST(what_is_latched)
{
	static const struct {
		const char *name;
		enum drv_actuator_state in;
		struct drv_actuator_word word;
		bool ours, excused, wrong;
		uint32_t latches;
	} rows[] = {
		{ "well", DRV_ACTUATOR_FREE, { 0 }, 0, 0, 0, 0 },
		{ "wrong", DRV_ACTUATOR_FREE, { 0 }, 0, 0, true, MSG_LATCH_WAITS_FOR_PERSON },
		{ "unknown", DRV_ACTUATOR_UNKNOWN, { .fault = true }, 0, 0, true, 0 },
		{ "a fault",
		  DRV_ACTUATOR_BLOCKED,
		  { .fault = true, .halted = true },
		  0,
		  0,
		  0,
		  MSG_LATCH_WAITS_FOR_PERSON },
		{ "excused", DRV_ACTUATOR_BLOCKED, { .fault = true, .excusable = true }, 0, true, 0, 0 },
		{ "not excused",
		  DRV_ACTUATOR_BLOCKED,
		  { .fault = true, .excusable = true },
		  0,
		  0,
		  0,
		  MSG_LATCH_WAITS_FOR_PERSON },
		{ "halted by another", DRV_ACTUATOR_BLOCKED, { .halted = true }, 0, 0, 0, MSG_LATCH_HALTED_BY_OTHER },
		{ "by us", DRV_ACTUATOR_BLOCKED, { .halted = true }, true, 0, 0, 0 },
		{ "being reset", DRV_ACTUATOR_RESET_SENT, { .halted = true }, 0, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		in(rows[i].in, rows[i].word);
		a.ours_ns = rows[i].ours;
		a.excuse_ns = rows[i].excused;
		drv_actuator_latch(&a, false, rows[i].wrong);
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(rows[i].latches, a.latches, rows[i].name);
	}
}

TEST(what_can_be_cleared_and_is_reset_for_it)
{
	static const struct {
		const char *name;
		struct drv_actuator_word word;
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
		in(DRV_ACTUATOR_BLOCKED, rows[i].word);
		a.ours_ns = rows[i].ours;
		a.reset_failed = rows[i].failed;
		a.latches = rows[i].latches;
		a.zero = rows[i].lost ? DRV_ACTUATOR_ZERO_LOST : DRV_ACTUATOR_ZERO_HOMED;
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].clearable, drv_actuator_clearable(&a), rows[i].name);
		drv_actuator_clear(&a, rows[i].wrong, T + 1);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].reset, a.reset_asked, rows[i].name);
		TEST_ASSERT_FALSE(a.reset_failed);
		TEST_ASSERT_EQUAL(DRV_ACTUATOR_ZERO_NOT_HOMED, a.zero);
		TEST_ASSERT_EQUAL_INT64(T + 1, a.clear_ns);
	}
}
