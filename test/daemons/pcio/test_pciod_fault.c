/* test_pciod_fault.c: faults of a module, what is forgiven, what a person clears; and homing.
 * Also for pciod_actuator.c. */
#include "test/daemons/pcio/actuator_names.h"
#include "test/lib/testcase.h"

#include "test/daemons/pcio/pciod_fake.h"

#define COMMANDS(expected) TEST_ASSERT_EQUAL_STRING(expected, fake_commands(&f))
#define LIFE(expected) \
	TEST_ASSERT_EQUAL_STRING(actuator_states[PCIOD_ACTUATOR_##expected], actuator_states[f.m.a.state])
#define COMM (PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_COMM_ERROR)

static struct fake f;
static char code[PCIOD_CODE_MAX], text[PCIOD_WORDS_MAX];

void setUp(void)
{
	fake_start(&f);
	f.config |= PCIO_CONFIG_WATCHDOG;
	*code = *text = '\0';
}

static bool trouble(void)
{
	return pciod_module_trouble(&f.m, f.now_ns, code, text);
}

static void trouble_is(const char *expected_code, const char *expected)
{
	TEST_ASSERT_TRUE_MESSAGE(trouble(), "nothing is wrong");
	TEST_ASSERT_EQUAL_STRING(expected, text);
	TEST_ASSERT_EQUAL_STRING(expected_code, code);
}

static void up_and_driven(void)
{
	fake_up(&f);
	f.command = (struct drv_ref_command){ .mode = MSG_MODE_VELOCITY };
	f.input.command = &f.command;
	fake_ticks(&f, 30); /* forgiveness ends after 100 ms */
	fake_commands(&f);
}

/* ---- the comm-error ---- */

TEST(a_comm_error_that_our_absence_explains_is_reset_once)
{
	f.state |= COMM;
	fake_tick(&f);
	TEST_ASSERT_FALSE(trouble());
	fake_up(&f);
	fake_ticks(&f, 3);
	COMMANDS("reset");
	TEST_ASSERT_FALSE(trouble());
	f.state |= COMM;
	fake_ticks(&f, 30);
	COMMANDS("");
	trouble_is("comm-error-15", "module 15: comm-error; the request clear resets it, once the cause is gone");
}

TEST(it_waits_for_the_end_of_an_estop)
{
	f.state |= COMM;
	f.input.halt = true;
	f.input.resets = false;
	fake_up(&f);
	fake_ticks(&f, 40);
	COMMANDS("");
	TEST_ASSERT_FALSE(trouble());
	f.input.halt = false;
	f.input.resets = true;
	fake_ticks(&f, 4);
	COMMANDS("reset");
	TEST_ASSERT_FALSE(trouble());
}

TEST(an_estop_in_the_middle_does_not_use_it_up)
{
	f.state |= COMM;
	f.reset_helps = false;
	fake_ticks(&f, 2);
	COMMANDS("reset");
	f.input.halt = true;
	f.input.resets = false;
	fake_ticks(&f, 2);
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_FALSE(f.m.a.was_excused);
	f.input.halt = false;
	f.input.resets = f.reset_helps = true;
	fake_ticks(&f, 3);
	COMMANDS("reset");
	TEST_ASSERT_FALSE(trouble());
}

TEST(later_it_has_another_cause)
{
	up_and_driven();
	f.state |= COMM;
	fake_ticks(&f, 10);
	COMMANDS("v 0");
	trouble_is("comm-error-15", "module 15: comm-error; the request clear resets it, once the cause is gone");
}

TEST(unless_we_were_away_again)
{
	up_and_driven();
	f.state |= COMM;
	pciod_actuator_excuse(&f.m.a, f.now_ns);
	fake_ticks(&f, 3);
	COMMANDS("v 0; reset");
	TEST_ASSERT_FALSE(trouble());
}

TEST(or_it_was)
{
	up_and_driven();
	f.mute = true;
	fake_ticks(&f, 20);
	TEST_ASSERT_TRUE(trouble());
	f.mute = false;
	f.state |= COMM;
	fake_commands(&f);
	fake_ticks(&f, 30);
	TEST_ASSERT_NOT_NULL(strstr(fake_commands(&f), "V 0; reset; v 0"));
	TEST_ASSERT_FALSE(trouble());
}

TEST(a_short_silence_explains_nothing)
{
	f.settings.silent_after_ns = 10 * MS;
	up_and_driven();
	f.mute = true;
	fake_ticks(&f, 4);
	TEST_ASSERT_TRUE(pciod_actuator_silent(&f.m.a));
	f.mute = false;
	f.state |= COMM;
	fake_commands(&f);
	fake_forget(&f); /* asked at once */
	fake_ticks(&f, 30);
	COMMANDS("V 0");
	trouble_is("comm-error-15", "module 15: comm-error; the request clear resets it, once the cause is gone");
}

TEST(a_failed_reset_is_not_reported_as_done)
{
	f.state |= COMM;
	f.reset_helps = false;
	fake_ticks(&f, 40);
	COMMANDS("reset");
	TEST_ASSERT_FALSE(f.m.a.was_excused);
	trouble_is("comm-error-15", "module 15: comm-error; a reset did not clear it; is the cause gone?");
}

TEST(a_reset_that_is_not_answered_may_have_helped)
{
	f.state |= PCIO_STATE_HALTED;
	f.deaf_to = PCIOD_Q_BIT_RESET;
	f.reset_helps = false;
	fake_ticks(&f, 10);
	COMMANDS("reset");
	trouble_is("reset-15",
		   "module 15 is still halted after a reset, or did not answer it; the request clear tries again");
	f.state &= ~(uint32_t)PCIO_STATE_HALTED;
	fake_tick(&f);
	TEST_ASSERT_FALSE(trouble());
}

/* It waits for a bus that stands. */
static void the_reset_waits(void)
{
	f.stands = PCIOD_Q_BIT_RESET;
	while (!strstr(f.commands, "reset"))
		fake_tick(&f);
	COMMANDS("reset");
	fake_ticks(&f, 10); /* longer than for an answer */
	COMMANDS("");
	LIFE(RESET_PUT);
	f.stands = 0;
}

static void lose_the_reset(void)
{
	the_reset_waits();
	fake_reset_lost(&f);
}

TEST(a_reset_that_never_left_is_sent_again)
{
	static const uint32_t why[] = { COMM, PCIO_STATE_HALTED };

	for (size_t i = 0; i < 2; i++) {
		setUp();
		f.state |= why[i];
		lose_the_reset();
		fake_ticks(&f, 30);
		COMMANDS("reset");
		TEST_ASSERT_FALSE(trouble());
		TEST_ASSERT_EQUAL(why[i] == COMM, f.m.a.was_excused);
	}
}

TEST(a_requested_reset_that_never_left_is_sent_again)
{
	fake_up(&f);
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_TOW_ERROR;
	fake_ticks(&f, 2);
	fake_commands(&f);
	pciod_module_clear(&f.m, f.now_ns);
	lose_the_reset();
	fake_ticks(&f, 30);
	COMMANDS("reset");
	TEST_ASSERT_FALSE(trouble());
}

TEST(a_reset_that_helped_before_it_was_lost_is_not_sent_again)
{
	f.state |= COMM;
	lose_the_reset();
	f.state &= ~(uint32_t)COMM;
	fake_ticks(&f, 30);
	COMMANDS("");
}

TEST(a_reset_that_leaves_late_is_not_sent_again)
{
	f.state |= COMM;
	the_reset_waits();
	fake_reset_sent(&f);
	f.state &= ~(uint32_t)COMM;
	fake_answer(&f, PCIOD_Q_RESET, f.now_ns + MS);
	fake_ticks(&f, 30);
	COMMANDS("");
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_TRUE(f.m.a.was_excused);
}

TEST(late_and_of_no_help)
{
	f.state |= COMM;
	the_reset_waits();
	fake_reset_sent(&f);
	fake_ticks(&f, 30);
	COMMANDS("");
	trouble_is("comm-error-15", "module 15: comm-error; a reset did not clear it; is the cause gone?");
}

TEST(a_loss_after_its_answer_changes_nothing)
{
	f.state |= COMM;
	f.deaf_to = PCIOD_Q_BIT_RESET;
	while (!strstr(f.commands, "reset"))
		fake_tick(&f);
	LIFE(RESET_SENT);
	fake_answer(&f, PCIOD_Q_RESET, f.now_ns + MS);
	pciod_module_event(&f.m, PCIOD_ACTUATOR_ON_RESET_LOST, f.m.a.state_ns);
	LIFE(RESET_CHECK);
}

TEST(a_halt_goes_before_a_reset_that_is_not_confirmed)
{
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_COMM_ERROR; /* not halted */
	f.reset_helps = false;
	fake_ticks(&f, 2);
	COMMANDS("reset");
	f.input.halt = true;
	f.input.resets = false;
	fake_tick(&f);
	COMMANDS("halt");
	LIFE(BLOCKED);
	TEST_ASSERT_NOT_EQUAL(0, f.m.a.excuse_ns);
}

TEST(no_reset_is_waited_for_while_it_moves)
{
	f.state |= COMM;
	the_reset_waits();
	f.input.resets = false;
	f.state = PCIO_STATE_HOMED;
	fake_ticks(&f, 2);
	LIFE(RESET_PUT);
	f.state |= PCIO_STATE_MOVING;
	f.velocity = 0.2f;
	fake_tick(&f);
	COMMANDS("");
	fake_tick(&f);
	COMMANDS("v 0");
	LIFE(STOPPING);
}

TEST(a_reset_that_is_not_allowed_any_more_is_given_up)
{
	f.state |= COMM;
	lose_the_reset();
	fake_tick(&f);
	LIFE(RESET_WANTED); /* the answer to the lost one is still owed */
	f.input.resets = false;
	fake_tick(&f);
	LIFE(RESET_WANTED);
	f.state = PCIO_STATE_HOMED;
	fake_ticks(&f, 2);
	LIFE(FREE);
	COMMANDS("");
}

/* A reset whose outcome is awaited gets it, whatever is allowed by then. */
TEST(a_sent_reset_is_waited_for)
{
	f.state |= COMM;
	f.deaf_to = PCIOD_Q_BIT_RESET;
	f.reset_helps = false;
	fake_ticks(&f, 2);
	COMMANDS("reset");
	f.input.resets = false;
	fake_ticks(&f, 10);
	LIFE(BLOCKED);
	TEST_ASSERT_TRUE(trouble());
}

TEST(a_module_found_halted_is_not_reset_for_a_fault)
{
	f.state |= PCIO_STATE_HALTED;
	f.input.resets = false;
	fake_up(&f);
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_TOW_ERROR;
	fake_tick(&f);
	f.input.resets = true;
	fake_ticks(&f, 10);
	COMMANDS("");
	TEST_ASSERT_TRUE(trouble());
}

TEST(another_fault_beside_it_is_not_explained)
{
	f.state |= COMM | PCIO_STATE_TOW_ERROR;
	fake_ticks(&f, 30);
	COMMANDS("");
	trouble_is("tow-error-15",
		   "module 15: tow-error, comm-error; the request clear resets it, once the cause is gone");
}

/* ---- what is lost with the power ---- */

TEST(a_module_that_lost_its_homing_waits_for_a_person)
{
	up_and_driven();
	f.mute = true;
	fake_ticks(&f, 30);
	TEST_ASSERT_TRUE(pciod_actuator_silent(&f.m.a));
	f.mute = false;
	f.state &= ~(uint32_t)PCIO_STATE_HOMED;
	fake_ticks(&f, 30);
	trouble_is("not-homed-15", "module 15 is not homed any more: it lost its power, and where it is; home "
				   "it, or clear it");
	TEST_ASSERT_TRUE(pciod_module_status(&f.m) & MSG_JOINT_FAULT);
	TEST_ASSERT_EQUAL_INT(0, pciod_module_clearable(&f.m, text));
	fake_commands(&f);
	pciod_module_clear(&f.m, f.now_ns);
	fake_ticks(&f, 10);
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_FALSE(pciod_module_status(&f.m) & MSG_JOINT_FAULT);
	TEST_ASSERT_NULL(strstr(fake_commands(&f), "reset"));
}

/* However short that was: its config went with it, and so did its watchdog. */
TEST(a_module_that_lost_its_power_is_verified_again)
{
	up_and_driven();
	fake_commands(&f);
	f.state &= ~(uint32_t)PCIO_STATE_HOMED;
	f.config = 0x118;
	fake_ticks(&f, 30);
	TEST_ASSERT_FALSE(pciod_actuator_silent(&f.m.a));
	TEST_ASSERT_EQUAL_HEX32(0x01000118, f.config);
	TEST_ASSERT_EQUAL(PCIOD_ACTUATOR_ZERO_LOST, f.m.a.zero);
	fake_commands(&f);
	fake_ticks(&f, 10);
	TEST_ASSERT_NULL_MESSAGE(strstr(fake_commands(&f), "config"), "once is enough");
}

TEST(a_module_that_never_was_homed_need_not_be)
{
	f.state &= ~(uint32_t)PCIO_STATE_HOMED;
	up_and_driven();
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_EQUAL_INT(1, pciod_module_clearable(&f.m, text));
}

TEST(homed_again_all_is_well)
{
	up_and_driven();
	f.state &= ~(uint32_t)PCIO_STATE_HOMED;
	fake_ticks(&f, 2);
	TEST_ASSERT_TRUE(trouble());
	f.state |= PCIO_STATE_HOMED;
	fake_ticks(&f, 2);
	TEST_ASSERT_FALSE(trouble());
}

TEST(while_it_is_homed_it_is_not)
{
	up_and_driven();
	pciod_module_event(&f.m, PCIOD_ACTUATOR_ON_HOME, f.now_ns);
	pciod_module_put(&f.m, PCIOD_Q_HOME, f.now_ns);
	f.state &= ~(uint32_t)PCIO_STATE_HOMED;
	fake_ticks(&f, 2);
	TEST_ASSERT_FALSE(trouble());
}

/* ---- other faults ---- */

TEST(a_fault_is_reported_and_nothing_moves)
{
	up_and_driven();
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_TOW_ERROR;
	fake_ticks(&f, 10);
	COMMANDS("v 0");
	trouble_is("tow-error-15", "module 15: tow-error; the request clear resets it, once the cause is gone");
	TEST_ASSERT_BITS_HIGH(MSG_JOINT_FAULT, pciod_module_status(&f.m));
	TEST_ASSERT_BITS_LOW(MSG_JOINT_ENABLED, pciod_module_status(&f.m));
}

TEST(a_person_clears_it)
{
	up_and_driven();
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_TOW_ERROR;
	fake_ticks(&f, 2);
	fake_commands(&f);
	TEST_ASSERT_EQUAL_INT(0, pciod_module_clearable(&f.m, text));
	pciod_module_clear(&f.m, f.now_ns);
	TEST_ASSERT_TRUE(pciod_module_clearing(&f.m));
	fake_ticks(&f, 5);
	TEST_ASSERT_FALSE(pciod_module_clearing(&f.m));
	COMMANDS("reset; v 0; v 0");
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_EQUAL_INT(1, pciod_module_clearable(&f.m, text));
}

TEST(at_estop_too_and_it_is_halted_again)
{
	up_and_driven();
	f.input.halt = true;
	f.input.resets = false;
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_TOW_ERROR;
	fake_ticks(&f, 3);
	fake_commands(&f);
	pciod_module_clear(&f.m, f.now_ns);
	fake_ticks(&f, 5);
	COMMANDS("reset; halt");
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_FALSE(f.m.a.reset_asked);
}

TEST(a_cause_that_stays_is_not_reset_again)
{
	up_and_driven();
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_VOLTAGE | PCIO_STATE_POWER_FAULT;
	f.reset_helps = false;
	fake_ticks(&f, 2);
	fake_commands(&f);
	pciod_module_clear(&f.m, f.now_ns);
	fake_ticks(&f, 50);
	COMMANDS("reset");
	TEST_ASSERT_FALSE(pciod_module_clearing(&f.m));
	trouble_is("power-fault-15", "module 15: power-fault, voltage; a reset did not clear it; is the cause gone?");
}

TEST(clearing_is_refused_if_only_a_power_cycle_clears_the_fault)
{
	up_and_driven();
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_TOW_ERROR | PCIO_STATE_OVERLOAD;
	fake_ticks(&f, 2);
	trouble_is("overload-15", "module 15: tow-error, overload; switch its power off and on");
	*text = '\0';
	TEST_ASSERT_EQUAL_INT(-EPERM, pciod_module_clearable(&f.m, text));
	TEST_ASSERT_EQUAL_STRING("module 15: tow-error, overload; switch its power off and on", text);
	f.state = PCIO_STATE_HOMED | PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_HARD_LIMIT;
	fake_ticks(&f, 1);
	TEST_ASSERT_EQUAL_INT(-EPERM, pciod_module_clearable(&f.m, text));
	TEST_ASSERT_EQUAL_STRING("module 15: hard-limit; move it off its limit by hand, as its manual says", text);
}

TEST(an_error_without_a_name_is_one_too)
{
	up_and_driven();
	f.state |= PCIO_STATE_ERROR;
	fake_ticks(&f, 2);
	trouble_is("error-15", "module 15: error; the request clear resets it, once the cause is gone");
}

TEST(every_fault_there_is_has_words_of_its_own)
{
	for (const struct pcio_bit *b = pcio_state_bits; b->bit; b++) {
		char expected[PCIOD_CODE_MAX];

		setUp();
		fake_up(&f);
		f.m.a.excuse_ns = 0;
		f.state |= b->bit;
		fake_tick(&f);
		if (b->kind < PCIO_KIND_FAULT)
			continue;
		snprintf(expected, sizeof(expected), "%s-15", b->name);
		TEST_ASSERT_TRUE_MESSAGE(trouble(), b->name);
		TEST_ASSERT_EQUAL_STRING(expected, code);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, b->name), text);
	}
}

TEST(warnings_are_not_faults)
{
	up_and_driven();
	f.state |= PCIO_STATE_CURRENT_LIMIT;
	fake_tick(&f);
	COMMANDS("v 0");
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_BITS_HIGH(MSG_JOINT_WARNING, pciod_module_status(&f.m));
}

/* ---- homing ---- */

static void begin_home(void)
{
	up_and_driven();
	TEST_ASSERT_NULL(pciod_module_not_homable(&f.m));
	pciod_module_event(&f.m, PCIOD_ACTUATOR_ON_HOME, f.now_ns);
	fake_tick(&f);
	COMMANDS("home");
	LIFE(HOME_BEGINS);
}

TEST(homing_ends_when_it_is_homed_and_stands)
{
	begin_home();
	fake_ticks(&f, 50);
	LIFE(HOME_BEGINS); /* homed is the old one's */
	f.state = PCIO_STATE_MOVING;
	fake_ticks(&f, 100);
	f.state |= PCIO_STATE_HOMED;
	fake_ticks(&f, 30);
	LIFE(HOME_RUNS);
	f.state = PCIO_STATE_HOMED;
	fake_ticks(&f, 10); /* it stands, and goes to zero once more */
	f.state |= PCIO_STATE_MOVING;
	fake_ticks(&f, 30);
	f.state = PCIO_STATE_HOMED;
	fake_ticks(&f, 20);
	LIFE(HOME_STILL);
	fake_ticks(&f, 2);
	LIFE(HOME_DONE);
	COMMANDS(""); /* no move meanwhile */
	pciod_module_event(&f.m, PCIOD_ACTUATOR_ON_END_HOME, f.now_ns);
	fake_tick(&f);
	COMMANDS("v 0");
	pciod_module_event(&f.m, PCIOD_ACTUATOR_ON_HOME, f.now_ns); /* once more, from the beginning */
	fake_ticks(&f, 50);
	COMMANDS("home");
	LIFE(HOME_BEGINS);
}

TEST(homing_that_is_answered_a_tick_later_has_begun)
{
	up_and_driven();
	f.deaf_to = PCIOD_Q_BIT_HOME;
	pciod_module_event(&f.m, PCIOD_ACTUATOR_ON_HOME, f.now_ns);
	fake_ticks(&f, 2);
	LIFE(HOME_PUT);
	fake_answer(&f, PCIOD_Q_HOME, f.now_ns + 2 * MS);
	LIFE(HOME_BEGINS);
}

TEST(homing_at_home_needs_no_motion)
{
	begin_home();
	fake_ticks(&f, 250);
	LIFE(HOME_DONE);
}

TEST(homing_fails)
{
	begin_home();
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_TOW_ERROR;
	fake_ticks(&f, 2);
	LIFE(BLOCKED);
	TEST_ASSERT_BITS_HIGH(MSG_LATCH_HOMING_ABORTED, f.m.a.latches);

	setUp();
	begin_home();
	f.input.halt = true;
	f.input.resets = false;
	fake_tick(&f);
	COMMANDS("halt");
	LIFE(BLOCKED);
	TEST_ASSERT_BITS_HIGH(MSG_LATCH_HOMING_ABORTED, f.m.a.latches);

	setUp();
	begin_home();
	f.mute = true;
	fake_ticks(&f, 20);
	LIFE(SILENT);
	TEST_ASSERT_BITS_HIGH(MSG_LATCH_HOMING_ABORTED, f.m.a.latches);

	setUp();
	begin_home();
	f.state |= PCIO_STATE_MOVING;
	fake_tick(&f);
	f.mute = true;
	fake_ticks(&f, 12);
	LIFE(SILENT_MOVING);
	COMMANDS("V 0");
	TEST_ASSERT_BITS_HIGH(MSG_LATCH_HOMING_ABORTED, f.m.a.latches);

	setUp();
	begin_home();
	pciod_actuator_excuse(&f.m.a, f.now_ns);
	f.state |= COMM;
	fake_ticks(&f, 2);
	COMMANDS("reset");
	TEST_ASSERT_FALSE(pciod_actuator_homing(&f.m.a));
	TEST_ASSERT_BITS_HIGH(MSG_LATCH_HOMING_ABORTED, f.m.a.latches);

	setUp();
	up_and_driven();
	f.deaf_to = PCIOD_Q_BIT_HOME;
	pciod_module_event(&f.m, PCIOD_ACTUATOR_ON_HOME, f.now_ns);
	fake_ticks(&f, 10);
	COMMANDS("home");
	LIFE(HOME_FAILED);
	TEST_ASSERT_BITS_HIGH(MSG_LATCH_HOMING_ABORTED, f.m.a.latches);
}

static void not_homable(const char *expected)
{
	const char *why = pciod_module_not_homable(&f.m);

	TEST_ASSERT_NOT_NULL(why);
	TEST_ASSERT_EQUAL_STRING(expected, why);
}

TEST(a_module_that_cannot_be_homed_reports_why)
{
	not_homable("does not answer");
	fake_tick(&f);
	not_homable("is not verified yet");
	up_and_driven();
	f.state |= PCIO_STATE_HALTED;
	fake_tick(&f);
	not_homable("is halted");
	f.state |= PCIO_STATE_ERROR;
	fake_tick(&f);
	not_homable("has a fault");
	f.mute = true;
	fake_ticks(&f, 20);
	not_homable("does not answer");
}
