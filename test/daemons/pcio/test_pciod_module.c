/* test_pciod_module.c: the life of a module: take-over, verification, driving, halting, silence.
 * Also for pciod_actuator.c. */
#include <math.h>

#include "test/lib/testcase.h"

#include "test/daemons/pcio/pciod_fake.h"

#define COMMANDS(expected) TEST_ASSERT_EQUAL_STRING(expected, fake_commands(&f))

static struct fake f;
static char code[PCIOD_CODE_MAX], text[PCIOD_WORDS_MAX];

void setUp(void)
{
	fake_start(&f);
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

static void hold(void)
{
	f.command = (struct drv_ref_command){ .mode = MSG_MODE_VELOCITY };
	f.input.command = &f.command;
}

/* ---- take-over ---- */

TEST(the_first_frames_are_questions)
{
	fake_ask(&f);
	TEST_ASSERT_EQUAL_HEX32(PCIOD_SAMPLE, f.asked);
	COMMANDS("");
	TEST_ASSERT_FALSE(pciod_module_knows(&f.m));
	TEST_ASSERT_EQUAL_HEX32(MSG_JOINT_SILENT, pciod_module_status(&f.m));
	TEST_ASSERT_EQUAL_INT64(0, pciod_module_oldest_ns(&f.m));
	TEST_ASSERT_FALSE(trouble());
}

TEST(a_value_never_measured_is_not_the_oldest)
{
	fake_ask(&f);
	fake_answer(&f, PCIOD_Q_VELOCITY, f.now_ns + 2 * MS);
	TEST_ASSERT_EQUAL_INT64(f.now_ns + 2 * MS, pciod_module_oldest_ns(&f.m));
	fake_answer(&f, PCIOD_Q_CURRENT, f.now_ns + MS);
	TEST_ASSERT_EQUAL_INT64(f.now_ns + MS, pciod_module_oldest_ns(&f.m));
}

TEST(a_sample_is_there_after_one_tick)
{
	fake_tick(&f);
	TEST_ASSERT_TRUE(pciod_module_knows(&f.m));
	TEST_ASSERT_EQUAL_HEX32(PCIOD_SAMPLE, f.m.fresh);
	TEST_ASSERT_EQUAL_DOUBLE(1.5, f.m.position_rad);
	TEST_ASSERT_EQUAL_INT64(f.now_ns + MS, pciod_module_oldest_ns(&f.m));
	TEST_ASSERT_FALSE((f.m.phase == PCIOD_UP));
}

TEST(a_standing_module_is_left_alone)
{
	f.config |= PCIO_CONFIG_WATCHDOG; /* its driver was there before */
	fake_tick(&f);
	fake_tick(&f);
	TEST_ASSERT_TRUE_MESSAGE((f.m.phase == PCIOD_UP), "two ticks are enough if nothing has to be written");
	fake_ticks(&f, 3);
	COMMANDS("");
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_FALSE(f.m.a.found.moving || f.m.a.found.halted);
	TEST_ASSERT_EQUAL_HEX32(MSG_JOINT_HOMED | MSG_JOINT_ENABLED, pciod_module_status(&f.m));
}

TEST(the_first_command_to_a_moving_module_is_velocity_0)
{
	f.config |= PCIO_CONFIG_WATCHDOG;
	f.state |= PCIO_STATE_MOVING;
	f.velocity = 0.25f;
	fake_tick(&f);
	COMMANDS("");
	fake_tick(&f);
	COMMANDS("v 0");
	fake_tick(&f);
	COMMANDS("v 0");
	TEST_ASSERT_TRUE((f.m.phase == PCIOD_UP));
	TEST_ASSERT_EQUAL_HEX32(MSG_JOINT_HOMED | MSG_JOINT_ENABLED | MSG_JOINT_MOVING, pciod_module_status(&f.m));
	hold();
	f.command.track_rad_s = 0.2; /* the loop's ramp begins where the module was found */
	fake_ticks(&f, 2);
	COMMANDS("v 0; v 0");
	f.velocity = 0.001f; /* as good as standing, whatever it says */
	fake_tick(&f);
	COMMANDS("v 0");
	fake_tick(&f);
	COMMANDS("v 0.2");
	TEST_ASSERT_TRUE(f.m.a.found.moving);
}

TEST(a_reference_may_take_it_on_while_it_moves)
{
	f.state |= PCIO_STATE_MOVING;
	f.velocity = 0.25f;
	fake_up(&f);
	fake_commands(&f);
	hold();
	f.command.track_rad_s = 0.2;
	f.input.following = true;
	fake_tick(&f);
	COMMANDS("v 0.2");
}

TEST(velocity_0_goes_on_until_it_is_driven)
{
	f.state |= PCIO_STATE_MOVING;
	f.velocity = 0.25f;
	fake_up(&f);
	f.state &= ~(uint32_t)PCIO_STATE_MOVING;
	fake_ticks(&f, 3);
	fake_commands(&f);
	fake_tick(&f);
	COMMANDS("v 0");
}

TEST(the_verification_does_not_flood_the_bus)
{
	f.input.verify_max = 2;
	fake_tick(&f);
	fake_tick(&f);
	TEST_ASSERT_EQUAL_HEX32(PCIOD_SAMPLE | PCIOD_Q_BIT_CONFIG | PCIOD_Q_BIT_VERSION, f.asked);
	fake_up(&f);
}

TEST(the_config_is_written_once_and_read_back)
{
	fake_up(&f);
	COMMANDS("config 01000118");
	TEST_ASSERT_EQUAL_HEX32(0x01000118, f.m.config);
	TEST_ASSERT_EQUAL_UINT(0x2501, f.m.version);
	TEST_ASSERT_EQUAL_UINT32(1015, f.m.serial);
	TEST_ASSERT_EQUAL_DOUBLE(0.125, f.m.home_offset_rad);
	fake_ticks(&f, 100);
	COMMANDS("");
}

TEST(a_write_that_is_answered_a_tick_later_is_not_repeated)
{
	f.deaf_to = PCIOD_Q_BIT_SET_CONFIG;
	fake_ticks(&f, 4);
	COMMANDS("config 01000118");
	fake_answer(&f, PCIOD_Q_SET_CONFIG, f.now_ns + 2 * MS);
	fake_up(&f);
	COMMANDS("");
}

TEST(an_unanswered_question_is_asked_again)
{
	f.deaf_to = PCIOD_Q_BIT_SET_CONFIG;
	fake_ticks(&f, 30);
	COMMANDS("config 01000118; config 01000118");
	TEST_ASSERT_FALSE((f.m.phase == PCIOD_UP));
	f.deaf_to = 0;
	fake_ticks(&f, 30);
	TEST_ASSERT_TRUE((f.m.phase == PCIOD_UP));
}

TEST(only_our_bits_of_the_config_are_changed)
{
	f.config = 0x0AB0FFF8 & ~(uint32_t)(PCIO_CONFIG_LINEAR |
					    PCIO_CONFIG_LINEAR_SCREW); /* with sync-motion, which is not wanted */
	fake_up(&f);
	COMMANDS("config 0390FFF8");
	fake_start(&f);
	f.settings.full_current = f.settings.sync_motion = true;
	fake_up(&f);
	COMMANDS("config 09080118");
}

TEST(the_other_home_offset_is_a_setting)
{
	f.settings.home_offset = 1;
	fake_up(&f);
	TEST_ASSERT_EQUAL_DOUBLE(0.25, f.m.home_offset_rad);
	fake_start(&f);
	f.deaf_to = PCIOD_Q_BIT_HOME_OFFSET;
	fake_up(&f); /* also without that parameter */
	TEST_ASSERT_TRUE(isnan(f.m.home_offset_rad));
}

TEST(its_limits_are_kept_away_from)
{
	fake_up(&f);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, -1.92, f.m.limits.position_min_rad);
	TEST_ASSERT_DOUBLE_WITHIN(1e-12, 1.92, f.m.limits.position_max_rad);
	TEST_ASSERT_EQUAL_DOUBLE(0.5, f.m.limits.velocity_rad_s);
	TEST_ASSERT_EQUAL_DOUBLE(2, f.m.limits.acceleration_rad_s2);
	TEST_ASSERT_EQUAL_DOUBLE(10, f.m.limits.current_a);
	TEST_ASSERT_TRUE(isinf(f.m.limits.step_rad));
	f.position = 1.95f;
	fake_tick(&f);
	TEST_ASSERT_BITS_HIGH(MSG_JOINT_LIMIT_HIGH, pciod_module_status(&f.m));
	f.position = -1.95f;
	fake_tick(&f);
	TEST_ASSERT_BITS_HIGH(MSG_JOINT_LIMIT_LOW, pciod_module_status(&f.m));
	TEST_ASSERT_BITS_LOW(MSG_JOINT_LIMIT_HIGH, pciod_module_status(&f.m));
}

static void not_up(const char *expected_code, const char *expected)
{
	fake_ticks(&f, 40);
	TEST_ASSERT_FALSE((f.m.phase == PCIOD_UP));
	trouble_is(expected_code, expected);
	TEST_ASSERT_BITS_HIGH(MSG_JOINT_FAULT, pciod_module_status(&f.m));
}

TEST(a_config_that_does_not_stay_is_a_fault)
{
	f.config_stays = false;
	not_up("config-15", "module 15: the config 0x01000118 was written, but reads back as 0x00000118");
	COMMANDS("config 01000118; config 01000118; config 01000118");
	TEST_ASSERT_EQUAL_INT(0, pciod_module_clearable(&f.m, text));
	pciod_module_clear(&f.m, f.now_ns);
	not_up("config-15", "module 15: the config 0x01000118 was written, but reads back as 0x00000118");
	COMMANDS("config 01000118; config 01000118; config 01000118");
	pciod_module_clear(&f.m, f.now_ns);
	f.config_stays = true;
	fake_up(&f);
	COMMANDS("config 01000118");
	TEST_ASSERT_FALSE(trouble());
}

/* It lost its power, and with it the config, before that could be read back: too short to be silent. */
TEST(a_config_that_was_lost_is_written_again)
{
	f.config_stays = false;
	for (int i = 0; i < 40 && f.m.config_writes < 2; i++)
		fake_tick(&f);
	TEST_ASSERT_EQUAL_UINT(2, f.m.config_writes);
	f.config_stays = true;
	fake_up(&f);
	TEST_ASSERT_FALSE(trouble());
}

TEST(a_config_that_is_refused_is_reported)
{
	f.config_stays = false;
	f.status = 0;
	not_up("config-15", "module 15 refused the config 0x01000118, so its watchdog is not set");
	COMMANDS("config 01000118");
	fake_start(&f);
	f.status = 0x33;
	f.settings.ack_ok = 0x33;
	fake_up(&f);
}

TEST(a_module_without_acknowledge_is_not_commanded)
{
	f.config |= PCIO_CONFIG_NO_ACKNOWLEDGE;
	not_up("config-15",
	       "module 15: its config 0x04000118 has no-acknowledge: nothing can be confirmed; clear the bit");
	COMMANDS("");
}

TEST(a_linear_one_is_not_touched)
{
	f.config |= PCIO_CONFIG_LINEAR;
	not_up("config-15", "module 15: its config 0x00020118 says linear: its units are m, not rad");
	COMMANDS("");
}

TEST(limits_that_make_no_sense_are_a_fault)
{
	f.max_position = f.min_position;
	not_up("limits-15", "module 15: its limits make no sense: -2 to -2 rad, 0.5 rad/s, 2 rad/s^2, 10 A");
	pciod_module_clear(&f.m, f.now_ns);
	f.max_position = 2;
	fake_up(&f);
	for (float *limit[] = { &f.max_velocity, &f.max_acceleration, &f.max_current, NULL }, **l = limit; *l; l++) {
		float before = **l;

		fake_start(&f);
		**l = 0;
		fake_ticks(&f, 10);
		TEST_ASSERT_TRUE(trouble());
		TEST_ASSERT_EQUAL_STRING("limits-15", code);
		**l = before;
	}
}

TEST(a_module_with_open_questions_is_not_up)
{
	f.deaf_to = PCIOD_Q_BIT_MAX_CURRENT;
	fake_ticks(&f, 150);
	TEST_ASSERT_FALSE(trouble());
	fake_ticks(&f, 100);
	TEST_ASSERT_FALSE((f.m.phase == PCIOD_UP));
	trouble_is("unanswered-15", "module 15 answers, but not in time (reply_late) when asked for max-current");
	f.deaf_to = 0;
	fake_ticks(&f, 25); /* it is still asked */
	TEST_ASSERT_TRUE((f.m.phase == PCIOD_UP));
	TEST_ASSERT_FALSE(trouble());
}

/* ---- driving ---- */

TEST(it_is_driven_when_it_is_up)
{
	fake_up(&f);
	fake_commands(&f);
	hold();
	f.command.track_rad_s = 0.25;
	fake_tick(&f);
	COMMANDS("v 0.25");
	TEST_ASSERT_EQUAL_HEX32(
		PCIOD_Q_BIT_STATE | PCIOD_Q_BIT_VELOCITY | PCIOD_Q_BIT_CURRENT | PCIOD_Q_BIT_MOVE_VELOCITY, f.asked);
	TEST_ASSERT_EQUAL_HEX32(PCIOD_SAMPLE, f.m.fresh); /* the position came with the move */
	f.command = (struct drv_ref_command){ .mode = MSG_MODE_CURRENT, .current_a = -1 };
	fake_tick(&f);
	COMMANDS("c -1");
	f.input.stand = true;
	fake_tick(&f);
	COMMANDS("v 0");
}

TEST(a_move_does_not_wait_for_the_answer_to_the_last_one)
{
	fake_up(&f);
	fake_commands(&f);
	hold();
	f.deaf_to = PCIOD_Q_BIT_MOVE_VELOCITY;
	f.command.track_rad_s = 0.25;
	fake_ticks(&f, 2);
	COMMANDS("v 0.25; V 0.25");
	TEST_ASSERT_EQUAL_HEX32(PCIOD_SAMPLE, f.asked);
	TEST_ASSERT_EQUAL_HEX32(PCIOD_SAMPLE, f.m.fresh);
	f.command = (struct drv_ref_command){ .mode = MSG_MODE_CURRENT, .current_a = 1 };
	f.deaf_to |= PCIOD_Q_BIT_MOVE_CURRENT;
	fake_ticks(&f, 2);
	COMMANDS("c 1; C 1");
}

TEST(a_late_answer_is_not_a_sample)
{
	fake_up(&f);
	f.deaf_to = PCIOD_Q_BIT_VELOCITY;
	fake_tick(&f);
	f.velocity = 7;
	fake_ticks(&f, 6); /* 30 ms */
	fake_answer(&f, PCIOD_Q_VELOCITY, f.now_ns + 2 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, f.m.velocity_rad_s);
	TEST_ASSERT_BITS_LOW(PCIOD_Q_BIT_VELOCITY, f.m.fresh);
	f.velocity = 3;
	f.deaf_to = 0;
	fake_tick(&f);
	TEST_ASSERT_EQUAL_DOUBLE(3, f.m.velocity_rad_s);
}

TEST(nonsense_is_not_a_measurement)
{
	static const char *const values[] = { "0A3C0000C07F", "0A3C0000807F", "0A3C00409C46" /* 20000 */ };

	fake_up(&f);
	for (unsigned int i = 0; i < 3; i++) {
		fake_ask(&f);
		TEST_ASSERT_EQUAL(PCIOD_NEWS_ODD, fake_reply(&f, values[i], f.now_ns + MS));
		TEST_ASSERT_EQUAL_DOUBLE(1.5, f.m.position_rad);
		TEST_ASSERT_BITS_LOW(PCIOD_Q_BIT_POSITION, f.m.fresh);
		for (unsigned int q = 0; q < PCIOD_SAMPLES; q++)
			if (q != PCIOD_Q_POSITION)
				fake_answer(&f, q, f.now_ns + MS);
	}
	TEST_ASSERT_EQUAL(PCIOD_NEWS_ODD, fake_reply(&f, "0B", f.now_ns + MS));
	TEST_ASSERT_EQUAL(PCIOD_NEWS_ODD, fake_reply(&f, "FF0102", f.now_ns + MS));
	fake_tick(&f);
	TEST_ASSERT_EQUAL_HEX32(PCIOD_SAMPLE, f.m.fresh);
}

TEST(a_module_that_does_not_answer_everything_is_stale)
{
	fake_up(&f);
	f.deaf_to = PCIOD_Q_BIT_STATE;
	fake_ticks(&f, 25);
	TEST_ASSERT_FALSE(trouble());
	fake_ticks(&f, 10);
	trouble_is("stale-15", "module 15 answers, but not in time (reply_late) when asked for state");
	f.m.paused_ns = 1000 * MS; /* since that sample */
	TEST_ASSERT_FALSE(trouble());
	f.m.paused_ns = 0;
	f.deaf_to = 0;
	fake_ticks(&f, 25);
	TEST_ASSERT_FALSE(trouble());
}

TEST(nonsense_for_ever_is_stale_too)
{
	fake_up(&f);
	f.deaf_to = PCIOD_Q_BIT_VELOCITY;
	for (unsigned int i = 0; i < 40; i++) {
		fake_tick(&f);
		fake_reply(&f, "0A410000C07F", f.now_ns + MS);
	}
	trouble_is("stale-15", "module 15 answers, but not in time (reply_late) when asked for actual-velocity");
}

TEST(a_module_without_a_state_word_is_unknown)
{
	f.deaf_to = PCIOD_Q_BIT_STATE;
	fake_ticks(&f, 100);
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_EQUAL_INT(-EPERM, pciod_module_clearable(&f.m, text));
	fake_ticks(&f, 150);
	trouble_is("unanswered-15", "module 15 answers, but not in time (reply_late) when asked for state");
	COMMANDS("");
}

TEST(a_refused_move_is_reported)
{
	fake_up(&f);
	TEST_ASSERT_EQUAL(PCIOD_NEWS_NONE, fake_reply(&f, "0B0764", f.now_ns));
	TEST_ASSERT_EQUAL(PCIOD_NEWS_NONE, fake_reply(&f, "02", f.now_ns));
	TEST_ASSERT_EQUAL(PCIOD_NEWS_REFUSED, fake_reply(&f, "0B0700", f.now_ns));
}

/* It has another zero: what it is commanded means another place. */
TEST(a_module_that_jumped_is_taken_over_again)
{
	for (int moves = 0; moves < 2; moves++) {
		setUp();
		fake_up(&f);
		hold();
		if (moves)
			f.state |= PCIO_STATE_MOVING;
		f.velocity = 0.2f;
		fake_ticks(&f, 2);
		fake_commands(&f);
		f.command.track_rad_s = 0.25;
		f.position = 1.56f; /* as far as it may get */
		fake_ticks(&f, 2);
		COMMANDS("v 0.25; v 0.25");
		f.limits.velocity_rad_s = 1;
		f.position = 2.5f;
		fake_tick(&f);
		COMMANDS("v 0.25");
		fake_tick(&f);
		COMMANDS(moves ? "v 0" : "");
		TEST_ASSERT_FALSE((f.m.phase == PCIOD_UP));
		fake_up(&f);
	}
}

/* ---- halting ---- */

TEST(it_is_halted_until_it_says_so_and_reset_when_it_may_be)
{
	fake_up(&f);
	fake_commands(&f);
	hold();
	f.deaf_to = PCIOD_Q_BIT_STATE;
	f.input.halt = true;
	f.input.resets = false;
	fake_ticks(&f, 3);
	COMMANDS("halt; halt; halt");
	f.deaf_to = 0;
	fake_ticks(&f, 30);
	fake_commands(&f);
	fake_ticks(&f, 5);
	COMMANDS("");
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_EQUAL_HEX32(MSG_JOINT_HOMED | MSG_JOINT_BRAKED, pciod_module_status(&f.m));
	f.input.halt = false;
	f.input.resets = true;
	fake_ticks(&f, 2);
	COMMANDS("reset"); /* the first position after it is dropped */
	TEST_ASSERT_FALSE(trouble());
	fake_ticks(&f, 3);
	COMMANDS("v 0; v 0");
}

/* For one tick, while the joint moves. */
static void halt_once(void)
{
	hold();
	f.command.track_rad_s = 0.1;
	f.velocity = 0.1f;
	f.state |= PCIO_STATE_MOVING;
	fake_tick(&f);
	fake_commands(&f);
	f.input.halt = true;
	f.input.resets = false;
	fake_tick(&f);
	COMMANDS("halt");
	f.input.halt = false;
	f.input.resets = true;
}

TEST(nothing_moves_before_it_says_whether_it_was_halted)
{
	fake_up(&f);
	f.deaf_to = PCIOD_Q_BIT_STATE;
	halt_once();
	fake_ticks(&f, 3);
	COMMANDS("");
	TEST_ASSERT_FALSE(trouble());
	f.deaf_to = 0;
	fake_ticks(&f, 40);
	TEST_ASSERT_EQUAL_STRING_LEN("reset; v ", fake_commands(&f), 9);
}

TEST(a_state_of_before_the_halt_does_not_say_it)
{
	fake_up(&f);
	f.deaf_to = PCIOD_Q_BIT_STATE;
	halt_once(); /* its state was asked the tick before */
	f.state &= ~(uint32_t)PCIO_STATE_HALTED;
	fake_answer(&f, PCIOD_Q_STATE, f.now_ns + MS);
	fake_tick(&f);
	COMMANDS("");
	f.state |= PCIO_STATE_HALTED;
	fake_answer(&f, PCIOD_Q_STATE, f.now_ns + MS);
	fake_tick(&f);
	COMMANDS("reset");
}

TEST(a_halt_that_was_lost_is_not_waited_for)
{
	fake_up(&f);
	f.deaf_to_halt = true;
	halt_once();
	fake_ticks(&f, 5); /* it might have left late */
	COMMANDS("");
	fake_tick(&f);
	COMMANDS("v 0.1");
}

TEST(it_is_reset_when_it_has_come_to_rest)
{
	fake_up(&f);
	f.brakes_slowly = true;
	halt_once();
	fake_ticks(&f, 20);
	COMMANDS("");
	TEST_ASSERT_FALSE(trouble());
	f.velocity = 0.004f;
	fake_ticks(&f, 2);
	COMMANDS("reset");
	TEST_ASSERT_TRUE(f.m.a.from_rest); /* it begins at 0, not at what is measured */
	fake_ticks(&f, 4);
	COMMANDS("v 0.1; v 0.1");
	TEST_ASSERT_FALSE(f.m.a.from_rest);
	TEST_ASSERT_EQUAL(PCIOD_ACTUATOR_DRIVEN, f.m.a.state);
	f.input.command = NULL;
	fake_tick(&f);
	TEST_ASSERT_EQUAL(PCIOD_ACTUATOR_FREE, f.m.a.state);
	TEST_ASSERT_FALSE(f.m.a.from_rest); /* and after that at what is measured, as any other */
}

TEST(if_it_does_in_a_second)
{
	fake_up(&f);
	f.brakes_slowly = true;
	halt_once();
	fake_ticks(&f, 199);
	COMMANDS("");
	fake_ticks(&f, 2);
	COMMANDS("reset");
}

TEST(a_halt_comes_before_what_is_known_but_not_before_the_first_question)
{
	f.input.halt = true;
	f.input.resets = false;
	f.mute = true;
	fake_tick(&f);
	COMMANDS("");
	fake_tick(&f);
	COMMANDS("halt");
}

TEST(a_module_halted_by_others_waits_for_a_person)
{
	fake_up(&f);
	fake_commands(&f);
	hold();
	fake_tick(&f);
	f.state |= PCIO_STATE_HALTED;
	fake_ticks(&f, 5);
	COMMANDS("v 0; v 0");
	trouble_is("halted-15", "module 15 was halted, not by this driver; the request clear resets it");
	TEST_ASSERT_EQUAL_INT(0, pciod_module_clearable(&f.m, text));
	pciod_module_clear(&f.m, f.now_ns);
	fake_ticks(&f, 5);
	COMMANDS("reset; v 0; v 0");
	TEST_ASSERT_FALSE(trouble());
}

TEST(a_module_halted_after_our_reset_waits_for_a_person)
{
	fake_up(&f);
	hold();
	f.input.halt = true;
	f.input.resets = false;
	fake_ticks(&f, 2);
	f.input.halt = false;
	f.input.resets = true;
	fake_ticks(&f, 5);
	TEST_ASSERT_FALSE(trouble());
	f.state |= PCIO_STATE_HALTED;
	fake_commands(&f);
	fake_ticks(&f, 5);
	COMMANDS("v 0");
	TEST_ASSERT_TRUE(trouble());
	TEST_ASSERT_EQUAL_STRING("halted-15", code);
}

TEST(a_module_found_halted_is_reset_when_it_may_move)
{
	f.state |= PCIO_STATE_HALTED;
	f.config |= PCIO_CONFIG_WATCHDOG;
	f.input.resets = false;
	fake_up(&f);
	fake_ticks(&f, 5);
	COMMANDS("");
	TEST_ASSERT_FALSE(trouble());
	f.input.resets = true;
	fake_tick(&f);
	COMMANDS("reset");
}

TEST(a_reset_that_does_not_help_is_not_repeated)
{
	f.state |= PCIO_STATE_HALTED;
	f.config |= PCIO_CONFIG_WATCHDOG;
	f.reset_helps = false;
	fake_ticks(&f, 60);
	COMMANDS("reset");
	trouble_is("reset-15",
		   "module 15 is still halted after a reset, or did not answer it; the request clear tries again");
	pciod_module_clear(&f.m, f.now_ns);
	fake_ticks(&f, 60);
	COMMANDS("reset");
	TEST_ASSERT_TRUE(trouble());
}

TEST(a_reset_that_is_not_answered_is_not_repeated)
{
	f.state |= PCIO_STATE_HALTED;
	f.config |= PCIO_CONFIG_WATCHDOG;
	f.reset_helps = false;
	f.deaf_to = PCIOD_Q_BIT_RESET;
	fake_ticks(&f, 60);
	COMMANDS("reset");
	TEST_ASSERT_TRUE(trouble());
}

TEST(a_reset_that_is_answered_a_tick_later_helped)
{
	f.state |= PCIO_STATE_HALTED;
	f.config |= PCIO_CONFIG_WATCHDOG;
	f.deaf_to = PCIOD_Q_BIT_RESET;
	fake_ticks(&f, 4);
	fake_answer(&f, PCIOD_Q_RESET, f.now_ns + 2 * MS);
	fake_ticks(&f, 5);
	COMMANDS("reset");
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_TRUE((f.m.phase == PCIOD_UP));
}

TEST(the_first_position_after_a_reset_is_dropped)
{
	f.state |= PCIO_STATE_HALTED;
	f.config |= PCIO_CONFIG_WATCHDOG;
	f.input.resets = false;
	fake_up(&f);
	f.input.resets = true;
	f.position = 9;
	fake_tick(&f); /* its question went out with the reset */
	TEST_ASSERT_EQUAL_DOUBLE(1.5, f.m.position_rad);
	fake_tick(&f);
	TEST_ASSERT_EQUAL_DOUBLE(1.5, f.m.position_rad);
	f.position = 1.25f;
	fake_tick(&f);
	TEST_ASSERT_EQUAL_DOUBLE(1.25, f.m.position_rad);
}

/* ---- silence ---- */

TEST(silence_is_reported_after_its_time_and_not_before)
{
	fake_up(&f);
	hold();
	fake_tick(&f);
	f.mute = true;
	fake_commands(&f);
	fake_ticks(&f, 10);
	TEST_ASSERT_FALSE(trouble());
	fake_ticks(&f, 2);
	trouble_is("silent-15", "module 15 does not answer; is it powered, on this bus, and of this bit rate?");
	TEST_ASSERT_BITS_HIGH(MSG_JOINT_SILENT, pciod_module_status(&f.m));
	TEST_ASSERT_BITS_LOW(MSG_JOINT_ENABLED, pciod_module_status(&f.m));
	TEST_ASSERT_EQUAL_DOUBLE(1.5, f.m.position_rad);
	fake_commands(&f);
	fake_ticks(&f, 3);
	COMMANDS("V 0; V 0; V 0");
	TEST_ASSERT_EQUAL_INT(-EPERM, pciod_module_clearable(&f.m, text));
	TEST_ASSERT_EQUAL_STRING("module 15 does not answer; it is taken back when it does", text);
}

/* It may hear, and would keep its last velocity. */
TEST(a_module_silent_in_motion_gets_velocity_0)
{
	fake_up(&f);
	f.state |= PCIO_STATE_MOVING;
	f.input.command = NULL;
	fake_tick(&f);
	f.mute = true;
	fake_ticks(&f, 12);
	fake_commands(&f);
	fake_ticks(&f, 2);
	COMMANDS("V 0; V 0");
	for (unsigned int i = 0; i < 300; i++) {
		fake_tick(&f);
		fake_commands(&f);
	}
	fake_ticks(&f, 400);
	COMMANDS("V 0; V 0"); /* with each probe */
	/* It came back standing, and is silent again: now it is left alone. */
	f.mute = false;
	f.state &= ~(uint32_t)PCIO_STATE_MOVING;
	fake_ticks(&f, 210);
	fake_up(&f);
	fake_commands(&f);
	f.mute = true;
	fake_ticks(&f, 20);
	COMMANDS("");
}

TEST(it_is_probed_once_a_second_and_taken_back)
{
	unsigned int asked = 0;

	fake_up(&f);
	f.mute = true;
	fake_ticks(&f, 250);
	for (unsigned int i = 0; i < 1000; i++) {
		fake_tick(&f);
		asked += f.asked != 0;
		TEST_ASSERT_EQUAL_HEX32(0, f.asked & ~PCIOD_Q_BIT_STATE);
	}
	TEST_ASSERT_EQUAL_UINT(5, asked);
	f.mute = false;
	f.config = 0x118; /* it was off */
	fake_commands(&f);
	fake_ticks(&f, 201);
	fake_up(&f);
	COMMANDS("config 01000118");
	TEST_ASSERT_FALSE(trouble());
}

TEST(whoever_was_stopped_himself_does_not_call_it_silent)
{
	fake_up(&f);
	f.now_ns += 300 * MS;
	fake_tick(&f);
	TEST_ASSERT_FALSE(pciod_actuator_silent(&f.m.a));
	fake_tick(&f);
	TEST_ASSERT_FALSE(trouble());
	TEST_ASSERT_TRUE((f.m.phase == PCIOD_UP));
}

TEST(a_silent_one_is_halted_with_each_probe)
{
	fake_up(&f);
	f.mute = true;
	fake_ticks(&f, 300);
	fake_commands(&f);
	f.input.halt = true;
	fake_ticks(&f, 400);
	COMMANDS("halt; halt");
}
