/* test_pciod_fault.c: faults of a module, what is forgiven, what a person clears; and homing.
 * Also for drv_actuator.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "test/daemons/actuator_names.h"
#include "unity.h"

#include "test/daemons/pciod/pciod_fake.h"

#define COMMANDS(expected) TEST_ASSERT_EQUAL_STRING(expected, fake_commands(&f))
#define LIFE(expected) TEST_ASSERT_EQUAL_STRING(actuator_states[DRV_ACTUATOR_##expected], actuator_states[f.m.a.state])
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
	f.goal.command = &f.command;
	fake_ticks(&f, 30); /* forgiveness ends after 100 ms */
	fake_commands(&f);
}

/* ---- the comm-error ---- */

static void what_our_absence_explains_is_reset_once(void)
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

static void it_waits_for_the_end_of_an_estop(void)
{
	f.state |= COMM;
	f.goal.halt = true;
	f.goal.resets = false;
	fake_up(&f);
	fake_ticks(&f, 40);
	COMMANDS("");
	TEST_ASSERT_FALSE(trouble());
	f.goal.halt = false;
	f.goal.resets = true;
	fake_ticks(&f, 4);
	COMMANDS("reset");
	TEST_ASSERT_FALSE(trouble());
}

static void an_estop_in_the_middle_does_not_use_it_up(void)
{
	f.state |= COMM;
	f.reset_helps = false;
	fake_ticks(&f, 2);
	COMMANDS("reset");
	f.goal.halt = true;
	f.goal.resets = false;
	fake_ticks(&f, 2);
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_FALSE(f.m.a.was_excused);
	f.goal.halt = false;
	f.goal.resets = f.reset_helps = true;
	fake_ticks(&f, 3);
	COMMANDS("reset");
	TEST_ASSERT_FALSE(trouble());
}

static void later_it_has_another_cause(void)
{
	up_and_driven();
	f.state |= COMM;
	fake_ticks(&f, 10);
	COMMANDS("v 0");
	trouble_is("comm-error-15", "module 15: comm-error; the request clear resets it, once the cause is gone");
}

static void unless_we_were_away_again(void)
{
	up_and_driven();
	f.state |= COMM;
	drv_actuator_excuse(&f.m.a, f.now_ns);
	fake_ticks(&f, 3);
	COMMANDS("v 0; reset");
	TEST_ASSERT_FALSE(trouble());
}

static void or_it_was(void)
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

static void a_short_silence_explains_nothing(void)
{
	f.settings.silent_after_ns = 10 * MS;
	up_and_driven();
	f.mute = true;
	fake_ticks(&f, 4);
	TEST_ASSERT_TRUE(drv_actuator_silent(&f.m.a));
	f.mute = false;
	f.state |= COMM;
	fake_commands(&f);
	fake_forget(&f); /* asked at once */
	fake_ticks(&f, 30);
	COMMANDS("V 0");
	trouble_is("comm-error-15", "module 15: comm-error; the request clear resets it, once the cause is gone");
}

static void a_failed_reset_is_not_reported_as_done(void)
{
	f.state |= COMM;
	f.reset_helps = false;
	fake_ticks(&f, 40);
	COMMANDS("reset");
	TEST_ASSERT_FALSE(f.m.a.was_excused);
	trouble_is("comm-error-15", "module 15: comm-error; a reset did not clear it; is the cause gone?");
}

static void a_reset_that_is_not_answered_may_have_helped(void)
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

static void a_reset_that_never_left_is_sent_again(void)
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

static void and_one_that_was_asked_for(void)
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

static void but_not_if_it_left_after_all(void)
{
	f.state |= COMM;
	lose_the_reset();
	f.state &= ~(uint32_t)COMM;
	fake_ticks(&f, 30);
	COMMANDS("");
}

static void nor_if_it_leaves_late(void)
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

static void late_and_of_no_help(void)
{
	f.state |= COMM;
	the_reset_waits();
	fake_reset_sent(&f);
	fake_ticks(&f, 30);
	COMMANDS("");
	trouble_is("comm-error-15", "module 15: comm-error; a reset did not clear it; is the cause gone?");
}

static void a_loss_after_its_answer_changes_nothing(void)
{
	f.state |= COMM;
	f.deaf_to = PCIOD_Q_BIT_RESET;
	while (!strstr(f.commands, "reset"))
		fake_tick(&f);
	LIFE(RESET_SENT);
	fake_answer(&f, PCIOD_Q_RESET, f.now_ns + MS);
	pciod_module_event(&f.m, DRV_ACTUATOR_ON_RESET_LOST, f.m.a.state_ns);
	LIFE(RESET_CHECK);
}

static void a_halt_goes_before_a_reset_that_is_not_confirmed(void)
{
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_COMM_ERROR; /* not halted */
	f.reset_helps = false;
	fake_ticks(&f, 2);
	COMMANDS("reset");
	f.goal.halt = true;
	f.goal.resets = false;
	fake_tick(&f);
	COMMANDS("halt");
	LIFE(BLOCKED);
	TEST_ASSERT_NOT_EQUAL(0, f.m.a.excuse_ns);
}

static void no_reset_is_waited_for_while_it_moves(void)
{
	f.state |= COMM;
	the_reset_waits();
	f.goal.resets = false;
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

static void a_reset_that_is_not_allowed_any_more_is_given_up(void)
{
	f.state |= COMM;
	lose_the_reset();
	fake_tick(&f);
	LIFE(RESET_WANTED); /* the answer to the lost one is still owed */
	f.goal.resets = false;
	fake_tick(&f);
	LIFE(RESET_WANTED);
	f.state = PCIO_STATE_HOMED;
	fake_ticks(&f, 2);
	LIFE(FREE);
	COMMANDS("");
}

/* A reset whose outcome is awaited gets it, whatever is allowed by then. */
static void a_sent_reset_is_waited_for(void)
{
	f.state |= COMM;
	f.deaf_to = PCIOD_Q_BIT_RESET;
	f.reset_helps = false;
	fake_ticks(&f, 2);
	COMMANDS("reset");
	f.goal.resets = false;
	fake_ticks(&f, 10);
	LIFE(BLOCKED);
	TEST_ASSERT_TRUE(trouble());
}

static void one_found_halted_is_not_reset_for_a_fault(void)
{
	f.state |= PCIO_STATE_HALTED;
	f.goal.resets = false;
	fake_up(&f);
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_TOW_ERROR;
	fake_tick(&f);
	f.goal.resets = true;
	fake_ticks(&f, 10);
	COMMANDS("");
	TEST_ASSERT_TRUE(trouble());
}

static void another_fault_beside_it_is_not_explained(void)
{
	f.state |= COMM | PCIO_STATE_TOW_ERROR;
	fake_ticks(&f, 30);
	COMMANDS("");
	trouble_is("tow-error-15",
		   "module 15: tow-error, comm-error; the request clear resets it, once the cause is gone");
}

/* ---- what is lost with the power ---- */

static void a_module_that_lost_its_homing_waits_for_a_person(void)
{
	up_and_driven();
	f.mute = true;
	fake_ticks(&f, 30);
	TEST_ASSERT_TRUE(drv_actuator_silent(&f.m.a));
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
static void a_module_that_lost_its_power_is_verified_again(void)
{
	up_and_driven();
	fake_commands(&f);
	f.state &= ~(uint32_t)PCIO_STATE_HOMED;
	f.config = 0x118;
	fake_ticks(&f, 30);
	TEST_ASSERT_FALSE(drv_actuator_silent(&f.m.a));
	TEST_ASSERT_EQUAL_HEX32(0x01000118, f.config);
	TEST_ASSERT_EQUAL(DRV_ACTUATOR_ZERO_LOST, f.m.a.zero);
	fake_commands(&f);
	fake_ticks(&f, 10);
	TEST_ASSERT_NULL_MESSAGE(strstr(fake_commands(&f), "config"), "once is enough");
}

static void a_module_that_never_was_homed_need_not_be(void)
{
	f.state &= ~(uint32_t)PCIO_STATE_HOMED;
	up_and_driven();
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_EQUAL_INT(1, pciod_module_clearable(&f.m, text));
}

static void homed_again_all_is_well(void)
{
	up_and_driven();
	f.state &= ~(uint32_t)PCIO_STATE_HOMED;
	fake_ticks(&f, 2);
	TEST_ASSERT_TRUE(trouble());
	f.state |= PCIO_STATE_HOMED;
	fake_ticks(&f, 2);
	TEST_ASSERT_FALSE(trouble());
}

static void while_it_is_homed_it_is_not(void)
{
	up_and_driven();
	pciod_module_event(&f.m, DRV_ACTUATOR_ON_HOME, f.now_ns);
	pciod_module_put(&f.m, PCIOD_Q_HOME, f.now_ns);
	f.state &= ~(uint32_t)PCIO_STATE_HOMED;
	fake_ticks(&f, 2);
	TEST_ASSERT_FALSE(trouble());
}

/* ---- other faults ---- */

static void a_fault_is_reported_and_nothing_moves(void)
{
	up_and_driven();
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_TOW_ERROR;
	fake_ticks(&f, 10);
	COMMANDS("v 0");
	trouble_is("tow-error-15", "module 15: tow-error; the request clear resets it, once the cause is gone");
	TEST_ASSERT_BITS_HIGH(MSG_JOINT_FAULT, pciod_module_status(&f.m));
	TEST_ASSERT_BITS_LOW(MSG_JOINT_ENABLED, pciod_module_status(&f.m));
}

static void a_person_clears_it(void)
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

static void at_estop_too_and_it_is_halted_again(void)
{
	up_and_driven();
	f.goal.halt = true;
	f.goal.resets = false;
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_TOW_ERROR;
	fake_ticks(&f, 3);
	fake_commands(&f);
	pciod_module_clear(&f.m, f.now_ns);
	fake_ticks(&f, 5);
	COMMANDS("reset; halt");
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_FALSE(f.m.a.reset_asked);
}

static void a_cause_that_stays_is_not_reset_again(void)
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

static void what_only_power_clears_is_refused(void)
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

static void an_error_without_a_name_is_one_too(void)
{
	up_and_driven();
	f.state |= PCIO_STATE_ERROR;
	fake_ticks(&f, 2);
	trouble_is("error-15", "module 15: error; the request clear resets it, once the cause is gone");
}

static void every_fault_there_is_has_words_of_its_own(void)
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

static void warnings_are_not_faults(void)
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
	pciod_module_event(&f.m, DRV_ACTUATOR_ON_HOME, f.now_ns);
	fake_tick(&f);
	COMMANDS("home");
	LIFE(HOME_BEGINS);
}

static void homing_ends_when_it_is_homed_and_stands(void)
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
	pciod_module_event(&f.m, DRV_ACTUATOR_ON_END_HOME, f.now_ns);
	fake_tick(&f);
	COMMANDS("v 0");
	pciod_module_event(&f.m, DRV_ACTUATOR_ON_HOME, f.now_ns); /* once more, from the beginning */
	fake_ticks(&f, 50);
	COMMANDS("home");
	LIFE(HOME_BEGINS);
}

static void homing_that_is_answered_a_tick_later_has_begun(void)
{
	up_and_driven();
	f.deaf_to = PCIOD_Q_BIT_HOME;
	pciod_module_event(&f.m, DRV_ACTUATOR_ON_HOME, f.now_ns);
	fake_ticks(&f, 2);
	LIFE(HOME_PUT);
	fake_answer(&f, PCIOD_Q_HOME, f.now_ns + 2 * MS);
	LIFE(HOME_BEGINS);
}

static void homing_at_home_needs_no_motion(void)
{
	begin_home();
	fake_ticks(&f, 250);
	LIFE(HOME_DONE);
}

static void homing_fails(void)
{
	begin_home();
	f.state |= PCIO_STATE_ERROR | PCIO_STATE_HALTED | PCIO_STATE_TOW_ERROR;
	fake_ticks(&f, 2);
	LIFE(BLOCKED);
	TEST_ASSERT_BITS_HIGH(MSG_LATCH_HOMING_ABORTED, f.m.a.latches);

	setUp();
	begin_home();
	f.goal.halt = true;
	f.goal.resets = false;
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
	drv_actuator_excuse(&f.m.a, f.now_ns);
	f.state |= COMM;
	fake_ticks(&f, 2);
	COMMANDS("reset");
	TEST_ASSERT_FALSE(drv_actuator_homing(&f.m.a));
	TEST_ASSERT_BITS_HIGH(MSG_LATCH_HOMING_ABORTED, f.m.a.latches);

	setUp();
	up_and_driven();
	f.deaf_to = PCIOD_Q_BIT_HOME;
	pciod_module_event(&f.m, DRV_ACTUATOR_ON_HOME, f.now_ns);
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

static void what_cannot_be_homed_says_why(void)
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

int main(void)
{
	UNITY_BEGIN();
	RUN_TEST(what_our_absence_explains_is_reset_once);
	RUN_TEST(it_waits_for_the_end_of_an_estop);
	RUN_TEST(an_estop_in_the_middle_does_not_use_it_up);
	RUN_TEST(later_it_has_another_cause);
	RUN_TEST(unless_we_were_away_again);
	RUN_TEST(or_it_was);
	RUN_TEST(a_short_silence_explains_nothing);
	RUN_TEST(a_failed_reset_is_not_reported_as_done);
	RUN_TEST(a_reset_that_is_not_answered_may_have_helped);
	RUN_TEST(a_reset_that_never_left_is_sent_again);
	RUN_TEST(and_one_that_was_asked_for);
	RUN_TEST(but_not_if_it_left_after_all);
	RUN_TEST(nor_if_it_leaves_late);
	RUN_TEST(late_and_of_no_help);
	RUN_TEST(a_loss_after_its_answer_changes_nothing);
	RUN_TEST(a_halt_goes_before_a_reset_that_is_not_confirmed);
	RUN_TEST(no_reset_is_waited_for_while_it_moves);
	RUN_TEST(a_reset_that_is_not_allowed_any_more_is_given_up);
	RUN_TEST(a_sent_reset_is_waited_for);
	RUN_TEST(one_found_halted_is_not_reset_for_a_fault);
	RUN_TEST(another_fault_beside_it_is_not_explained);
	RUN_TEST(a_module_that_lost_its_homing_waits_for_a_person);
	RUN_TEST(a_module_that_lost_its_power_is_verified_again);
	RUN_TEST(a_module_that_never_was_homed_need_not_be);
	RUN_TEST(homed_again_all_is_well);
	RUN_TEST(while_it_is_homed_it_is_not);
	RUN_TEST(a_fault_is_reported_and_nothing_moves);
	RUN_TEST(a_person_clears_it);
	RUN_TEST(at_estop_too_and_it_is_halted_again);
	RUN_TEST(a_cause_that_stays_is_not_reset_again);
	RUN_TEST(what_only_power_clears_is_refused);
	RUN_TEST(an_error_without_a_name_is_one_too);
	RUN_TEST(every_fault_there_is_has_words_of_its_own);
	RUN_TEST(warnings_are_not_faults);
	RUN_TEST(homing_ends_when_it_is_homed_and_stands);
	RUN_TEST(homing_that_is_answered_a_tick_later_has_begun);
	RUN_TEST(homing_at_home_needs_no_motion);
	RUN_TEST(homing_fails);
	RUN_TEST(what_cannot_be_homed_says_why);
	return UNITY_END();
}
