/* test_robotsim_hubo.c: the simulated boards of Hubo say what their page says; frames are written out by hand. */
#include <math.h>

#include "can/bus/frame_text.h"
#include "daemons/robotsim/hubo_boards.h"
#include "daemons/robotsim/jmc_board.h"
#include "test/daemons/robotsim/robotsim_unit.h"
#include "test/lib/testcase.h"

#define MS INT64_C(1000000)

void tearDown(void)
{
	unit_unload();
}

static int load(const char *tables, const char *buses, const char *rows)
{
	return unit_load("robot: test\nbuses: {lower: {interface: wire:lower}, upper: {interface: wire:upper}}\n"
			 "devices: {hubo: {driver: hubod, bus: %s, settings: {joints: config/hubo/%s.joints, "
			 "sensors: config/hubo/%s.sensors, home: config/hubo/%s.home}, sim: {%s}}}\n",
			 buses, tables, tables, tables, rows);
}

static void start(const char *tables, const char *rows)
{
	TEST_ASSERT_EQUAL_MESSAGE(0, load(tables, "[lower, upper]", rows), said);
	unit_start(1000 * MS);
}

static struct sim_unit *unit(const char *name)
{
	struct rpc_text to = { said, 0, sizeof(said) };
	struct sim_unit *found = sim_find(&sim, name, &to);

	TEST_ASSERT_NOT_NULL_MESSAGE(found, said);
	return found;
}

static struct jmc_board *board(const char *name)
{
	return unit(name)->state;
}

/* To all boards, as their ear does it. */
static void hear(const char *text)
{
	struct frame frame;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&frame, text, strlen(text)), text);
	for (size_t i = 0; i < sim.units_n; i++)
		if (sim.units[i].kind->hears(sim.units[i].state, &frame))
			sim.units[i].kind->frame(sim.units[i].state, &frame, now_ns);
}

/* All that boards say in that time. */
static const char *listen(int64_t ns)
{
	struct frame frame;

	*said = 0;
	now_ns += ns;
	for (size_t i = 0; i < sim.units_n; i++)
		while (sim.units[i].kind->next_ns(sim.units[i].state) <= now_ns &&
		       sim.units[i].kind->send(sim.units[i].state, now_ns, &frame)) {
			strcat(said, *said ? " " : "");
			frame_text_write(said + strlen(said), &frame);
		}
	return said;
}

static const char *ask(const char *text)
{
	hear(text);
	return listen(MS);
}

static void expect(const char *request, const char *reply)
{
	TEST_ASSERT_EQUAL_STRING_MESSAGE(reply, ask(request), request);
}

static void pass(int64_t ns)
{
	now_ns += ns;
	for (size_t i = 0; i < sim.units_n; i++)
		if (sim.units[i].kind->advance)
			sim.units[i].kind->advance(sim.units[i].state, now_ns);
}

/* The reference every 5 ms. */
static void refer(const char *text, unsigned int n)
{
	for (; n; n--) {
		hear(text);
		pass(5 * MS);
	}
}

static void fault(const char *name, const char *word, bool clear)
{
	struct rpc_text to = { said, 0, sizeof(said) };

	TEST_ASSERT_EQUAL_MESSAGE(0, sim_fault(unit(name), word, clear, now_ns, &to), said);
}

#define AT_HOME "position: 0, homed: yes, on: yes, gravity: 0"
/* No jump is too long, so that one reference is enough. */
#define JUMPS ", input_difference: 65535, big_error: 65535"

TEST(the_goldens_of_the_page_are_followed_and_reported)
{
	start("hubo2plus", AT_HOME JUMPS);
	refer("010#2B3E00E03E80", 200); /* RHY 15915, RHR -16096 counts */
	expect("001#000300", "060#2B3E000020C1FFFF");
	refer("011#359580359580", 200); /* RHP -38197, and the same in the second slot */
	expect("001#010300", "061#CB6AFFFF00000000");
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, 0.1, board("hubo.JMC0")->motor[0].counts / 159154.94);
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, -0.05, board("hubo.JMC0")->motor[1].counts / 321925.26);
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, -0.3, board("hubo.JMC1")->motor[0].counts / 127323.95);
}

TEST(a_board_with_one_motor_has_a_second_slot_as_the_setting_says)
{
	static const struct {
		const char *rows, *encoder, *status;
	} cases[] = {
		{ "zero", "061#0000000000000000", "151#6B00000000000000" },
		{ "repeat", "061#0000000000000000", "151#6B0000006B000000" },
		{ "none", "061#00000000", "151#6B000000" },
	};
	char rows[128];

	for (size_t i = 0; i < 3; i++) {
		snprintf(rows, sizeof(rows), AT_HOME ", second_slot: %s", cases[i].rows);
		start("hubo2plus", rows);
		expect("001#010300", cases[i].encoder);
		expect("001#0102", cases[i].status);
		expect("001#010200", cases[i].status);
	}
}

TEST(requests_have_one_reply_and_unknown_boards_none)
{
	start("hubo2plus", AT_HOME);
	expect("001#0C0300", "");
	expect("001#0E0300", "");
	expect("001#000302", "");
	expect("001#0003", "");
	expect("001#00", "");
	expect("001#0004", "1C0#07071E0A"); /* 0.30 A each, 30 degrees */
	expect("001#0402", "154#6300000063000000");
	expect("001#240300", "084#000000000000");
	expect("001#240301", "084#00000000");
	expect("001#250301", "085#00000000");
	expect("001#240200", "174#0101010101"); /* bridges on */
	expect("001#2404", "1E4#000000000000");
	expect("001#220300", "082#000800080008"); /* absolute: half a turn */
	expect("001#2204", "1E2#4B4B1E4B");
	TEST_ASSERT_EQUAL(2, board("hubo.JMC0")->ignored);
}

TEST(the_reply_comes_after_its_delay)
{
	start("hubo2plus", "reply_delay: 300us");
	hear("001#000300");
	TEST_ASSERT_EQUAL_INT64(now_ns + 300000, unit("hubo.JMC0")->kind->next_ns(board("hubo.JMC0")));
	TEST_ASSERT_EQUAL_STRING("", listen(299999));
	TEST_ASSERT_EQUAL_STRING_LEN("060#", listen(1), 4);
	TEST_ASSERT_EQUAL_STRING("", listen(10 * MS));
}

TEST(sensors_say_the_goldens_of_the_page)
{
	start("hubo2plus",
	      "torque: [1.23, -0.5], force: 250, tilt: [0.0261799, -0.0054105], tilt_z: -4, "
	      "angle: [0.0261799, -0.0392699], rate: [0.1745329, -0.0087266], voltage: 48.12, supply: 3.5");
	expect("002#0112", "041#7B00CEFFC409");
	expect("002#0122", "051#9600E1FF48F4");
	expect("002#030001", "053#96001FFFE803CEFF");
	expect("001#0EE0", "06E#CC125E019406");
	expect("002#0612", "046#7B00CEFFC409");
	expect("002#0622", ""); /* a wrist has no tilt */
	expect("002#0312", "");
	expect("002#0812", "");
	expect("002#0112FF", "");
	hear("002#0112"); /* both at once, as a driver asks */
	expect("002#0122", "041#7B00CEFFC409 051#9600E1FF48F4");
	expect("001#308100", ""); /* null force and torque of board 1 */
	expect("002#0112", "041#000000000000");
	expect("002#0122", "051#9600E1FF48F4");
	expect("001#308104", "");
	expect("002#0122", "051#0000000048F4");
	expect("001#3281", "");
	expect("002#030001", "053#00000000E803CEFF");
	start("drc-hubo", "torque: [1.23, -0.5], force: 250");
	expect("002#0112", "041#85FF3200C409"); /* its right foot has Mx and My the other way */
}

TEST(references_are_ignored_while_control_is_off)
{
	start("hubo2plus", "position: 0, homed: yes, gravity: 0" JUMPS);
	refer("010#2B3E00E03E80", 100);
	expect("001#000300", "060#0000000000000000");
	TEST_ASSERT_EQUAL(100, board("hubo.JMC0")->unused);
	TEST_ASSERT_TRUE(board("hubo.JMC0")->pll.locked);
	expect("001#000E", ""); /* without bridges nothing */
	expect("001#0002", "150#6000000068000000");
	expect("001#000B01", "");
	expect("001#000E", "");
	expect("001#0002", "150#630000006B000000");
	refer("010#2B3E00E03E80", 200);
	expect("001#000300", "060#2B3E000020C1FFFF");
	expect("001#000F", "");
	expect("001#0002", "150#6900040069000400");
}

TEST(drc_hubo_has_neck_and_wrists_of_its_own)
{
	start("drc-hubo", AT_HOME JUMPS);
	refer("032#FF07FF07000A", 400); /* 2560 of 4095 of a turn, from -pi on */
	TEST_ASSERT_DOUBLE_WITHIN(1e-3, 2560 / 4095.0 * 2 * M_PI - M_PI,
				  board("hubo.EJMC2")->motor[2].counts / board("hubo.EJMC2")->model[2].counts_per_rad);
	refer("034#EA0F008A0A", 200);
	TEST_ASSERT_EQUAL_STRING_LEN("084#EA0F", ask("001#240300"), 8);
	TEST_ASSERT_TRUE(board("hubo.EJMC4")->motor[1].counts < 0);
	TEST_ASSERT_TRUE(board("hubo.EJMC4")->motor[2].counts > 0);
}

TEST(a_hand_turns_by_duty)
{
	start("hubo2plus", AT_HOME);
	hear("001#240D0164E4000181");
	pass(100 * MS);
	TEST_ASSERT_TRUE(board("hubo.EJMC4")->motor[0].counts > 100);
	TEST_ASSERT_TRUE(board("hubo.EJMC4")->motor[1].counts < -100);
	TEST_ASSERT_TRUE(board("hubo.EJMC4")->motor[2].counts == 0);
	hear("001#240D000000000000");
	pass(100 * MS);
	TEST_ASSERT_EQUAL_DOUBLE(0, board("hubo.EJMC4")->motor[0].velocity);
	TEST_ASSERT_EQUAL(0, board("hubo.EJMC4")->ignored);
	hear("034#000000000000"); /* no reference frame */
	TEST_ASSERT_EQUAL(1, board("hubo.EJMC4")->ignored);
}

/* Counting from where it woke up, 0.1 rad, it finds the real zero, whichever side of the switch it is on. */
TEST(homing_finds_switch_index_and_offset)
{
	static const char *const positions[] = { "0.1", "-0.1", "0", "0.14" };
	char rows[64];

	for (size_t i = 0; i < 4; i++) {
		snprintf(rows, sizeof(rows), "position: %s", positions[i]);
		start("hubo2plus", rows);
		hear("001#000B01");
		hear("001#000E");
		expect("001#000300", "060#0000000000000000");
		hear("001#0011F20000000000"); /* all */
		TEST_ASSERT_EQUAL_STRING_LEN("150#1", ask("001#0002"), 5);
		refer("010#FFFF7FFFFF7F", 3); /* ignored meanwhile */
		TEST_ASSERT_EQUAL(3, board("hubo.JMC0")->unused);
		while (jmc_home_runs(&board("hubo.JMC0")->motor[0].home) ||
		       jmc_home_runs(&board("hubo.JMC0")->motor[1].home))
			pass(MS);
		pass(200 * MS);
		expect("001#000300", "060#0000000000000000");
		TEST_ASSERT_DOUBLE_WITHIN(1, 0, board("hubo.JMC0")->motor[0].counts);
		TEST_ASSERT_DOUBLE_WITHIN(1, 0, board("hubo.JMC0")->motor[1].counts);
		TEST_ASSERT_EQUAL_STRING_LEN("150#6", ask("001#0002"), 5);
		TEST_ASSERT_TRUE(now_ns < 11000 * MS);
	}
}

/* From where they stand by default, within the search limits of the home files. */
TEST(every_joint_can_be_homed)
{
	static const char *const tables[] = { "hubo2plus", "drc-hubo" };

	for (size_t t = 0; t < 2; t++) {
		start(tables[t], "on: yes");
		for (size_t i = 0; i < sim.units_n; i++) {
			char text[32];

			if (sim.units[i].kind != &hubo_boards_kind)
				continue;
			snprintf(text, sizeof(text), "001#%02X11F20000000000",
				 (unsigned int)((struct jmc_board *)sim.units[i].state)->settings.number);
			hear(text);
		}
		for (unsigned int i = 0; i < 30; i++)
			pass(1000 * MS);
		for (size_t i = 0; i < sim.units_n; i++) {
			const struct jmc_board *b = sim.units[i].state;

			for (unsigned int m = 0; sim.units[i].kind == &hubo_boards_kind && m < b->motors_n; m++) {
				TEST_ASSERT_EQUAL_MESSAGE(JMC_HOME_DONE, b->motor[m].home.phase, b->joint[m]);
				if (b->layout == JMC_JOINTS)
					TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1, 0, b->motor[m].counts, b->joint[m]);
			}
		}
	}
}

/* One turn to search is too short. */
TEST(homing_that_finds_nothing_fails)
{
	start("hubo2plus", "position: 0.2, on: yes");
	hear("001#0030010000000000");
	hear("001#0011120000000000"); /* motor 0 */
	pass(3000 * MS);
	TEST_ASSERT_EQUAL_STRING_LEN("150#39000000", ask("001#0002"), 12);
	TEST_ASSERT_EQUAL(1, board("hubo.JMC0")->homings);
}

TEST(faults_are_latched_until_they_are_cleared)
{
	static const struct {
		const char *word, *status;
	} cases[] = {
		{ "jam-0", "150#610100006B000000" },	      { "saturated-0", "150#610200006B000000" },
		{ "big-error-0", "150#610400006B000000" },    { "encoder-error-1", "150#6300000069080000" },
		{ "driver-fault-1", "150#6300000069100000" }, { "motor-fail-0", "150#612000006B000000" },
		{ "lower-limit-0", "150#630001006B000000" },  { "upper-limit-0", "150#630002006B000000" },
		{ "velocity-0", "150#630004006B000000" },     { "acceleration-0", "150#630008006B000000" },
		{ "temperature", "150#6100100069001000" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		start("hubo2plus", AT_HOME);
		fault("hubo.JMC0", cases[i].word, false);
		hear("001#000E"); /* control on does not help */
		expect("001#0002", cases[i].status);
		hear("001#00060F"); /* clears, and the encoder is 0 here: not homed */
		hear("001#000E");
		expect("001#0002", "150#030000000B000000");
	}
}

TEST(a_jammed_motor_has_a_big_error_or_jams)
{
	start("hubo2plus", AT_HOME);
	fault("hubo.JMC8", "jammed-1", false);
	refer("018#000000D00780", 20); /* -2000 counts */
	expect("001#080300", "068#0000000000000000");
	pass(1200 * MS);
	TEST_ASSERT_EQUAL_HEX32(JMC_JAM, board("hubo.JMC8")->motor[1].latched & JMC_JAM);
	start("hubo2plus", AT_HOME);
	fault("hubo.JMC8", "jammed-1", false);
	for (unsigned int i = 1; i < 10; i++) {
		char text[32];

		snprintf(text, sizeof(text), "018#000000%02X%02X00", i * 1000 & 0xFF, i * 1000 >> 8);
		refer(text, 1);
	}
	TEST_ASSERT_EQUAL_HEX32(JMC_BIG_ERROR, board("hubo.JMC8")->motor[1].latched);
	TEST_ASSERT_EQUAL(JMC_OFF, board("hubo.JMC8")->motor[1].how);
	TEST_ASSERT_EQUAL(JMC_POSITION, board("hubo.JMC8")->motor[0].how);
}

TEST(a_reference_too_far_from_the_one_before_is_a_big_error)
{
	start("hubo2plus", AT_HOME);
	refer("010#D007000000"
	      "00",
	      2); /* 2000 counts */
	TEST_ASSERT_EQUAL_HEX32(0, board("hubo.JMC0")->motor[0].latched);
	refer("010#A10F00000000", 1); /* 2001 more */
	TEST_ASSERT_EQUAL_HEX32(JMC_BIG_ERROR, board("hubo.JMC0")->motor[0].latched);
}

TEST(references_stop_at_the_limits_of_the_home_file)
{
	start("hubo2plus", AT_HOME JUMPS);
	for (unsigned int i = 1; i < 80; i++) {
		char text[32];

		snprintf(text, sizeof(text), "010#%02X%02X%02X000000", i * 5000 & 0xFF, i * 5000 >> 8 & 0xFF,
			 i * 5000 >> 16);
		refer(text, 1);
	}
	pass(500 * MS);
	TEST_ASSERT_EQUAL_HEX32(JMC_MAX_POSITION, board("hubo.JMC0")->motor[0].latched);
	TEST_ASSERT_DOUBLE_WITHIN(1e-4, 1.57, board("hubo.JMC0")->motor[0].counts / 159154.94);
	hear("001#00560000000000"); /* upper limit off */
	TEST_ASSERT_FALSE(board("hubo.JMC0")->params.motor[0].limits[1]);
}

TEST(parameters_are_set_and_read)
{
	static const struct {
		const char *set, *get, *reply;
	} cases[] = {
		{ "", "001#002401", "1C0#90010000C800A00F" },
		{ "001#0008010002000300", "001#002407", "1C0#010002000300A00F" },
		{ "001#00303C0182A0FFFF", "001#002402", "1C0#000001003C0082A0" },
		{ "001#00303C0182A0FFFF", "001#002403", "1C0#FFFF" },
		{ "001#005603785634"
		  "12",
		  "001#002404", "1C0#3412E803E8036400" },
		{ "001#0023FF", "001#00240D", "" },
		{ "", "001#002400", "" },
		{ "", "001#002413", "" },
		{ "", "001#002414", "1C0#0000050002006400" },
		{ "001#00F2D007E803"
		  "1E50",
		  "001#002415", "1C0#3C003C00D007E803" },
		{ "001#00F3D007A00F3C00", "001#002416", "1C0#5A14D007A00FA00F" },
		{ "", "001#242418", "1E4#90010000C8008000" },
		{ "", "001#242423", "1E4#0000000000000000" },
		{ "", "001#242424", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		start("hubo2plus", "");
		if (*cases[i].set)
			expect(cases[i].set, "");
		ask(cases[i].get);
		TEST_ASSERT_EQUAL_STRING_LEN_MESSAGE(cases[i].reply, said, *cases[i].reply ? strlen(cases[i].reply) : 1,
						     cases[i].get);
	}
}

/* By the wire, or by robotsim set hubo.JMC0 number=4 and the other way. */
TEST(two_boards_may_be_swapped)
{
	start("hubo2plus", "position: 0, homed: yes, on: yes" JUMPS);
	board("hubo.JMC0")->settings.number = 4;
	board("hubo.JMC4")->settings.number = 0;
	refer("010#2B3E00E03E80", 200);
	expect("001#000300", "060#2B3E000020C1FFFF");
	TEST_ASSERT_DOUBLE_WITHIN(1, 15915, board("hubo.JMC4")->motor[0].counts);
	TEST_ASSERT_DOUBLE_WITHIN(1, 0, board("hubo.JMC0")->motor[0].counts);
	expect("001#04F00C05", "");
	expect("001#040300", "");
	TEST_ASSERT_EQUAL_STRING_LEN("06C#", ask("001#0C0300"), 4);
}

TEST(it_locks_to_references_and_reports_how_well)
{
	struct rpc_text to = { said, 0, sizeof(said) };

	start("hubo2plus", AT_HOME);
	for (unsigned int i = 0; i < 1000; i++) {
		char text[32];

		snprintf(text, sizeof(text), "010#%02X%02X00000000", i * 10 & 0xFF, i * 10 >> 8);
		refer(text, 1);
	}
	unit("hubo.JMC0")->kind->report(board("hubo.JMC0"), &to);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, " lock yes locks 1 losses 0 period_us 5000.00"), said);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, " ripple 0.000000 ripple_max 0.000000 held 0 "), said);
	TEST_ASSERT_TRUE(fabs(jmc_pll_mean_ns(&board("hubo.JMC0")->pll)) < 2);
	/* one period behind: the last reference is reached now */
	TEST_ASSERT_DOUBLE_WITHIN(1, 9990 - 10 * 0.1, board("hubo.JMC0")->motor[0].path.at + 10 * 0.1);
	pass(8 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(1, 9990, board("hubo.JMC0")->motor[0].counts);
	pass(40 * MS);
	TEST_ASSERT_FALSE(board("hubo.JMC0")->pll.locked);
	TEST_ASSERT_DOUBLE_WITHIN(1, 9990, board("hubo.JMC0")->motor[0].counts); /* holds */
	TEST_ASSERT_EQUAL_HEX32(0, board("hubo.JMC0")->motor[0].latched);
}

/* By turns 1 ms and 9 ms apart: two come for one tick, and the next tick finds none. */
TEST(references_that_come_after_their_tick_ripple)
{
	start("hubo2plus", AT_HOME);
	for (unsigned int i = 0; i < 2000; i++) {
		char text[32];

		if (i == 1000)
			TEST_ASSERT_EQUAL_DOUBLE(0, jmc_path_rms(&board("hubo.JMC0")->motor[0].path));
		snprintf(text, sizeof(text), "010#%02X%02X00000000", i * 10 & 0xFF, i * 10 >> 8);
		hear(text);
		pass(i < 1000 ? 5 * MS : i % 2 ? MS : 9 * MS);
	}
	TEST_ASSERT_TRUE(board("hubo.JMC0")->pll.locked);
	TEST_ASSERT_TRUE(board("hubo.JMC0")->motor[0].path.held > 400);
	TEST_ASSERT_TRUE(jmc_path_rms(&board("hubo.JMC0")->motor[0].path) > 0.3);
	TEST_ASSERT_DOUBLE_WITHIN(1e5, 1e6, board("hubo.JMC0")->pll.quality.max_ns);
}

TEST(a_board_warms_up_and_switches_off_when_it_is_too_hot)
{
	start("hubo2plus", AT_HOME ", idle: 1, heat: 30, warms_in: 1s");
	pass(1000 * MS);
	/* towards 30 + 30 * 2 */
	TEST_ASSERT_DOUBLE_WITHIN(0.1, 30 + 60 * (1 - exp(-1)), board("hubo.JMC0")->temperature_c);
	pass(2000 * MS);
	TEST_ASSERT_EQUAL_HEX32(JMC_TEMPERATURE, board("hubo.JMC0")->motor[0].latched);
	TEST_ASSERT_EQUAL(JMC_OFF, board("hubo.JMC0")->motor[1].how);
}

TEST(power_off_makes_it_forget)
{
	start("hubo2plus", AT_HOME ", boot: 50ms");
	hear("001#00F3010001000100");
	fault("hubo.JMC0", "power-off", false);
	TEST_ASSERT_FALSE(unit("hubo.JMC0")->kind->has_power(board("hubo.JMC0")));
	expect("001#000300", "");
	fault("hubo.JMC0", "power-on", false);
	expect("001#000300", "");
	pass(50 * MS);
	expect("001#0002", "150#0000000008000000");
	TEST_ASSERT_EQUAL(2000, board("hubo.JMC0")->params.input_difference);
	TEST_ASSERT_EQUAL(JMC_OFF, board("hubo.JMC0")->motor[0].how);
}

TEST(faults_of_frames)
{
	start("hubo2plus", AT_HOME);
	fault("hubo.JMC0", "silent", false);
	expect("001#000300", "");
	fault("hubo.JMC0", "silent", true);
	fault("hubo.JMC0", "short", false);
	expect("001#000300", "060#00000000000000");
	fault("hubo.JMC0", "short", true);
	fault("hubo.JMC0", "twice", false);
	expect("001#000300", "060#0000000000000000 060#0000000000000000");
	fault("hubo.JMC0", "twice", true);
	fault("hubo.JMC0", "garbage", false);
	TEST_ASSERT_NOT_EQUAL(0, strcmp("060#0000000000000000", ask("001#000300")));
	fault("hubo.RFFT", "silent", false);
	expect("002#0112", "");
	fault("hubo.RFFT", "silent", true);
	fault("hubo.RFFT", "short", false);
	expect("002#0112", "041#0000000000");
	fault("hubo.RFFT", "power-off", false);
	expect("002#0112", "");
}

TEST(a_stuck_encoder_says_the_same)
{
	start("hubo2plus", AT_HOME ", input_difference: 65535");
	fault("hubo.JMC0", "encoder-stuck-0", false);
	refer("010#B80B00000000", 50);
	TEST_ASSERT_EQUAL_STRING_LEN("060#00000000", ask("001#000300"), 12);
	TEST_ASSERT_TRUE(board("hubo.JMC0")->motor[0].counts > 3000); /* runs away */
}

TEST(what_is_wrong_is_said)
{
	struct rpc_text to = { said, 0, sizeof(said) };

	TEST_ASSERT_NOT_EQUAL(0, load("hubo2plus", "lower", ""));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "is on the second bus: write bus: [LOWER, UPPER]"), said);
	TEST_ASSERT_NOT_EQUAL(0, load("hubo3", "[lower, upper]", ""));
	TEST_ASSERT_NOT_EQUAL(0, load("hubo2plus", "[lower, upper]", "number: 3"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "number: is set of one board while it runs"), said);
	TEST_ASSERT_NOT_EQUAL(0, load("hubo2plus", "[lower, upper]", "torque: [1]"));
	TEST_ASSERT_NOT_EQUAL(0, load("hubo2plus", "[lower, upper]", "torqe: [1]"));
	start("hubo2plus", "");
	*said = 0;
	TEST_ASSERT_EQUAL(-EINVAL, sim_fault(unit("hubo.JMC1"), "jam-1", false, now_ns, &to));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "error jam-1: no such fault: a board of 1 motor"), said);
}

/* Boards of a bus have one ear; 26 units are two ears. */
TEST(boards_of_a_bus_share_an_ear)
{
	start("hubo2plus", "");
	TEST_ASSERT_EQUAL(26, sim.units_n);
	TEST_ASSERT_EQUAL(2, sim.ears_n);
	TEST_ASSERT_EQUAL_PTR(unit("hubo.JMC0")->ear, unit("hubo.IMU0")->ear);
	TEST_ASSERT_EQUAL_PTR(unit("hubo.EJMC5")->ear, unit("hubo.POWER")->ear);
	TEST_ASSERT_NOT_EQUAL(unit("hubo.JMC0")->ear, unit("hubo.POWER")->ear);
}

/* ---- pushes ---- */

static double push_rad(const char *name, double torque_nm)
{
	struct jmc_motor *m = &board(name)->motor[0];
	const double before = m->counts;

	unit(name)->kind->push(unit(name)->state, torque_nm, 100 * MS, now_ns);
	pass(100 * MS);
	return (m->counts - before) / m->model->counts_per_rad;
}

/* 5 of 50 N m are a tenth of 7 rad/s; in position control 20 Hz hold against it. */
TEST(a_push_moves_what_does_not_hold)
{
	start("drc-hubo", AT_HOME);
	TEST_ASSERT_DOUBLE_WITHIN(0.001, 0.7 / (2 * M_PI * 20), push_rad("hubo.JMC8", 5));
	pass(200 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.0001, 0, board("hubo.JMC8")->motor[0].counts / 159154.94);
	hear("001#080D0300000000"); /* open loop, no duty */
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.07, push_rad("hubo.JMC8", 5));
	hear("001#080D0300320000"); /* 5 %, counter-clockwise, which counts down */
	TEST_ASSERT_DOUBLE_WITHIN(0.005, 0.035, push_rad("hubo.JMC8", 5));
	hear("001#080F");
	TEST_ASSERT_DOUBLE_WITHIN(0.005, -0.07, push_rad("hubo.JMC8", -5)); /* off */
}

TEST(a_limb_that_is_level_weighs)
{
	start("drc-hubo", "position: -1.5707963, homed: yes, on: yes, weight: 5");
	pass(100 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(0.002, -M_PI / 2 + 0.7 / (2 * M_PI * 20), /* it gives way a little */
				  board("hubo.JMC8")->motor[0].counts / 159154.94);
}

/* Whether control is on in open loop is the page's open question. */
TEST(in_open_loop_control_is_on_as_the_setting_says)
{
	start("drc-hubo", AT_HOME);
	hear("001#080D0300000000");
	expect("001#080200", "158#6B00000063000000");
	start("drc-hubo", AT_HOME ", pwm_is_control: no");
	hear("001#080D0300000000");
	expect("001#080200", "158#6900000061000000");
	hear("001#080E");
	expect("001#080200", "158#6B00000063000000");
}
