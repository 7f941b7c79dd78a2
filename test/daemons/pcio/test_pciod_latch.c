/* test_pciod_latch.c: what of a module only a person may end, and what ends it.
 * Also for pciod_actuator.c. */
#include "test/lib/testcase.h"

#include "test/daemons/pcio/pciod_fake.h"

#define COMMANDS(expected) TEST_ASSERT_EQUAL_STRING(expected, fake_commands(&f))
#define LATCHED(expected) TEST_ASSERT_EQUAL_HEX32(expected, f.m.a.latches)
#define HOMED PCIO_STATE_HOMED
#define HALT PCIO_STATE_HALTED
#define COMM (PCIO_STATE_ERROR | HALT | PCIO_STATE_COMM_ERROR)
#define TOW (PCIO_STATE_ERROR | HALT | PCIO_STATE_TOW_ERROR)
#define POSITION MSG_LATCH_POSITION_UNKNOWN
#define HOMING MSG_LATCH_HOMING_ABORTED
#define OTHER MSG_LATCH_HALTED_BY_OTHER
#define WAITS MSG_LATCH_WAITS_FOR_PERSON

static struct fake f;

void setUp(void)
{
	fake_start(&f);
	f.config |= PCIO_CONFIG_WATCHDOG;
}

/* As the driver does it: nothing is reset by itself while something is latched. */
static void ticks(unsigned int n)
{
	while (n--) {
		f.input.resets = !f.m.a.latches && !f.input.halt;
		fake_tick(&f);
	}
}

static void up(void)
{
	fake_up(&f);
	f.command = (struct drv_ref_command){ .mode = MSG_MODE_VELOCITY };
	f.input.command = &f.command;
	ticks(30);
	fake_commands(&f);
	LATCHED(0);
}

/* ---- found ---- */

TEST(the_state_found_is_compared_with_the_state_left)
{
	static const struct {
		const char *name;
		struct pciod_actuator_before before;
		uint32_t state, latches;
	} rows[] = {
		{ "as it was", { .known = true, .homed = true }, HOMED, 0 },
		{ "homed no more", { .known = true, .homed = true }, 0, POSITION },
		{ "never homed, and accepted so", { .known = true }, 0, 0 },
		{ "halted by the driver before",
		  { .known = true, .homed = true, .halted_by_us = true },
		  HOMED | HALT,
		  0 },
		{ "halted by another since", { .known = true, .homed = true }, HOMED | HALT, OTHER },
		{ "its watchdog tripped", { .known = true, .homed = true }, HOMED | COMM, 0 },
		{ "a fault", { .known = true, .homed = true }, HOMED | TOW, WAITS },
		{ "first start, well", { 0 }, HOMED, 0 },
		{ "first start, not homed", { 0 }, 0, POSITION | HOMING },
		{ "first start, halted", { 0 }, HOMED | HALT, OTHER },
		{ "first start, its watchdog tripped", { 0 }, HOMED | COMM, OTHER | WAITS },
		{ "latched, and well", { .known = true, .homed = true, .latches = WAITS }, HOMED, WAITS },
		{ "latched, and its watchdog tripped",
		  { .known = true, .homed = true, .latches = OTHER },
		  HOMED | COMM,
		  OTHER },
		{ "nothing can be read",
		  { .latches = POSITION | HOMING | OTHER | WAITS },
		  HOMED,
		  POSITION | HOMING | OTHER | WAITS },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		setUp();
		f.state = rows[i].state;
		fake_restart(&f, &rows[i].before);
		ticks(2);
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(rows[i].latches, f.m.a.latches, rows[i].name);
		ticks(40);
		TEST_ASSERT_EQUAL_HEX32_MESSAGE(rows[i].latches, f.m.a.latches, rows[i].name);
		if (rows[i].latches) {
			TEST_ASSERT_NULL_MESSAGE(strstr(fake_commands(&f), "reset"), rows[i].name);
			TEST_ASSERT_TRUE_MESSAGE(pciod_module_status(&f.m) & MSG_JOINT_FAULT, rows[i].name);
		}
	}
}

/* At level estop it is halted before its first answer, and that halt is ours. */
TEST(a_halt_of_ours_before_the_first_answer_is_ours)
{
	fake_restart(&f, &(struct pciod_actuator_before){ .known = true, .homed = true });
	f.input.halt = true;
	f.mute = true;
	ticks(2);
	COMMANDS("halt");
	f.mute = false;
	ticks(30);
	TEST_ASSERT_TRUE(f.state & HALT);
	LATCHED(0);
}

/* Our halt does not explain an answer from before it. */
TEST(an_answer_from_before_our_halt_shows_a_halt_by_another)
{
	fake_restart(&f, &(struct pciod_actuator_before){ .known = true, .homed = true });
	f.state |= HALT;
	f.input.halt = true;
	fake_ask(&f);
	fake_ask(&f);
	COMMANDS("halt");
	fake_answer(&f, PCIOD_Q_STATE, f.now_ns + MS);
	LATCHED(OTHER);
}

/* ---- while it runs ---- */

TEST(a_halt_that_it_did_not_obey_explains_no_other)
{
	up();
	f.deaf_to_halt = true;
	f.input.halt = true;
	ticks(3);
	f.input.halt = false;
	ticks(10);
	LATCHED(0);
	f.state |= HALT;
	fake_commands(&f);
	ticks(20);
	LATCHED(OTHER);
	TEST_ASSERT_NULL(strstr(fake_commands(&f), "reset"));
}

TEST(a_condition_that_ends_by_itself_stays_latched)
{
	static const struct {
		uint32_t set, gone, latches;
	} rows[] = {
		{ TOW, 0, WAITS },
		{ HALT, 0, OTHER },
		{ 0, HOMED, POSITION },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		setUp();
		up();
		f.state = (f.state | rows[i].set) & ~rows[i].gone;
		ticks(30);
		LATCHED(rows[i].latches);
		f.state = HOMED;
		ticks(30);
		LATCHED(rows[i].latches);
		TEST_ASSERT_NULL(strstr(fake_commands(&f), "reset"));
	}
}

/* Its answer came too late, but it did what it should. */
TEST(a_reset_that_helped_after_all_is_not_latched)
{
	up();
	f.input.halt = true;
	ticks(2);
	f.input.halt = false;
	f.deaf_to = PCIOD_Q_BIT_RESET;
	ticks(60);
	LATCHED(0);
}

TEST(a_reset_that_did_not_help_latches)
{
	up();
	f.input.halt = true;
	ticks(2);
	f.input.halt = false;
	f.reset_helps = false;
	ticks(60);
	LATCHED(WAITS);
}

/* ---- clear ---- */

static void clear(void)
{
	char text[PCIOD_WORDS_MAX];

	TEST_ASSERT_EQUAL_INT(0, pciod_module_clearable(&f.m, text));
	pciod_module_clear(&f.m, f.now_ns);
	TEST_ASSERT_TRUE(pciod_module_clearing(&f.m));
}

static void halted_by_another(void)
{
	up();
	f.state |= HALT;
	ticks(5);
	LATCHED(OTHER);
	fake_commands(&f);
}

TEST(it_ends_when_the_module_has_confirmed)
{
	halted_by_another();
	clear();
	LATCHED(OTHER);
	ticks(1);
	COMMANDS("reset");
	LATCHED(OTHER);
	ticks(3);
	TEST_ASSERT_FALSE(pciod_module_clearing(&f.m));
	LATCHED(0);
}

/* A state word that was asked for before says nothing about it. */
TEST(an_old_answer_confirms_nothing)
{
	up();
	f.m.a.latches = WAITS;
	fake_ask(&f);
	clear();
	fake_answer(&f, PCIOD_Q_STATE, f.now_ns + MS);
	pciod_actuator_latch(&f.m.a, f.m.phase == PCIOD_UP && !f.m.wrong, f.m.wrong);
	LATCHED(WAITS);
	ticks(1);
	LATCHED(0);
	COMMANDS("v 0; V 0");
}

TEST(an_answer_that_the_request_did_not_wait_for_confirms_nothing)
{
	halted_by_another();
	f.deaf_to = PCIOD_Q_BIT_STATE;
	clear();
	ticks(2);
	f.m.a.clear_ns = 0;
	f.deaf_to = 0;
	ticks(60);
	LATCHED(OTHER);
}

TEST(silent_meanwhile_it_is_cleared_no_more)
{
	up();
	f.m.a.latches = WAITS;
	clear();
	f.mute = true;
	ticks(30);
	TEST_ASSERT_TRUE(pciod_actuator_silent(&f.m.a));
	f.mute = false;
	ticks(60);
	TEST_ASSERT_TRUE((f.m.phase == PCIOD_UP));
	LATCHED(WAITS);
}

TEST(a_fault_that_stays_is_latched_on)
{
	up();
	f.state |= TOW;
	f.reset_helps = false;
	ticks(5);
	clear();
	ticks(60);
	LATCHED(WAITS);
	TEST_ASSERT_FALSE(pciod_module_clearing(&f.m));
}

/* At level estop nothing is reset for it: the brake stays closed. */
TEST(an_own_halt_is_cleared_without_a_reset)
{
	up();
	f.input.halt = true;
	ticks(3);
	f.m.a.latches = HOMING;
	fake_commands(&f);
	clear();
	ticks(3);
	LATCHED(0);
	COMMANDS("");
	f.input.halt = false;
	ticks(3);
	TEST_ASSERT_NOT_NULL(strstr(fake_commands(&f), "reset"));
}

/* ---- homing ---- */

static void home(void)
{
	up();
	f.m.a.latches = POSITION;
	pciod_module_event(&f.m, PCIOD_ACTUATOR_ON_HOME, f.now_ns);
	ticks(3);
	TEST_ASSERT_EQUAL(PCIOD_ACTUATOR_HOME_BEGINS, f.m.a.state);
}

TEST(homing_ends_what_it_can)
{
	home();
	f.m.a.latches |= WAITS;
	f.m.a.state = PCIOD_ACTUATOR_HOME_DONE;
	pciod_module_event(&f.m, PCIOD_ACTUATOR_ON_END_HOME, f.now_ns);
	LATCHED(WAITS);
	pciod_module_event(&f.m, PCIOD_ACTUATOR_ON_END_HOME, f.now_ns);
	LATCHED(WAITS);
}

TEST(homing_that_does_not_end_well_is_latched)
{
	home();
	pciod_module_event(&f.m, PCIOD_ACTUATOR_ON_END_HOME, f.now_ns);
	LATCHED(POSITION | HOMING);
}

TEST(unless_it_was_never_begun)
{
	up();
	pciod_module_event(&f.m, PCIOD_ACTUATOR_ON_HOME, f.now_ns);
	pciod_module_event(&f.m, PCIOD_ACTUATOR_ON_END_HOME, f.now_ns);
	LATCHED(0);
}

/* ---- words ---- */

TEST(each_latch_has_words)
{
	static const struct {
		uint32_t latches;
		const char *text;
	} rows[] = {
		{ POSITION, "module 15 is not homed; it waits for the request home, or clear" },
		{ HOMING, "module 15: homing was aborted; it waits for the request home, or clear" },
		{ POSITION | HOMING, "module 15 is not homed; it waits for the request home, or clear" },
		{ OTHER, "module 15 was halted, not by this driver; it waits for the request clear" },
		{ WAITS, "module 15 had a fault; it waits for the request clear" },
		{ POSITION | HOMING | OTHER | WAITS,
		  "module 15: it may have been halted, or have lost its position; the request clear ends it" },
	};
	char code[PCIOD_CODE_MAX], text[PCIOD_WORDS_MAX];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		f.m.a.latches = rows[i].latches;
		pciod_module_latched(&f.m, code, text);
		TEST_ASSERT_EQUAL_STRING(rows[i].text, text);
		TEST_ASSERT_EQUAL_STRING("latched-15", code);
	}
}
