/* test_hubod_home.c: homing by hubod: stage by stage, legs only when the robot hangs, all stop when one fails, and a
 * board that comes back is waited for. */
#include "channels/clock/clock.h"
#include "channels/msg/msg.h"
#include "test/can/bus/wire_lib.h"
#include "test/daemons/hubo/hubod_rig.h"
#include "test/lib/estop_talk.h"
#include "test/lib/testcase.h"

#define LONG_MS 60000

void setUp(void)
{
	rig_set_up();
	hubod_rig.unhomed = true;
}

void tearDown(void)
{
	rig_finish();
}

static bool is_homed(const char *joint)
{
	return hubod_rig.state.status[rig_place(joint)] & MSG_JOINT_HOMED;
}

static int home(const char *key)
{
	return rig_result(rig_request(MSG_VERB_HOME, key, ""), LONG_MS);
}

/* Boards that have joints of a stage; those of the arms are on others than those of the wrists. */
static unsigned int stage_of(unsigned int board)
{
	return board == 0x24 || board == 0x25	? 0
	       : board == 0x20 || board == 0x21 ? 1
	       : board >= 0x08 && board <= 0x0B ? 3
	       : board == 0x23			? 4
						: 5;
}

/* Fingers, wrists, (neck,) arms, waist, legs; a stage when the one before it is home. */
TEST(all_joints_come_home_stage_by_stage)
{
	static const char *const settings[] = { "hung: yes, quiet_home: 500ms", "hung: no, quiet_home: 500ms" };

	for (unsigned int i = 0; i < 2; i++) {
		int64_t from_ns = 0, last_ns = 0;
		unsigned int stage = 0, homed[6] = { 0 };

		if (i)
			rig_finish();
		rig_up(settings[i]);
		TEST_ASSERT_EQUAL_MESSAGE(0, home(""), hubod_rig.reply.error);
		for (unsigned int k = 0; k < hubod_rig.sent_n; k++) {
			const struct sent *s = &hubod_rig.sent[k];
			const unsigned int now = stage_of(s->board);

			if (s->kind != HOME)
				continue;
			TEST_ASSERT_GREATER_OR_EQUAL(stage, now);
			if (now > stage)
				TEST_ASSERT_TRUE(s->t_ns - last_ns > 500 * MS);
			stage = now;
			last_ns = s->t_ns;
			from_ns = from_ns ? from_ns : s->t_ns;
			homed[now]++;
		}
		TEST_ASSERT_EQUAL(10, homed[0]);
		TEST_ASSERT_EQUAL(4, homed[1]);
		TEST_ASSERT_EQUAL(8, homed[3]);
		TEST_ASSERT_EQUAL(1, homed[4]);
		TEST_ASSERT_EQUAL(i ? 0 : 12, homed[5]);
		TEST_ASSERT_EQUAL(0, rig_count(REFERENCE, BOARDS, from_ns) - rig_count(REFERENCE, BOARDS, last_ns));
		TEST_ASSERT_TRUE(is_homed("RF5") && is_homed("LWP") && is_homed("REB") && is_homed("WST"));
		TEST_ASSERT_EQUAL(!i, is_homed("LKN"));
		rig_pass(700); /* and then they follow again */
		TEST_ASSERT_GREATER_THAN(0, rig_count(REFERENCE, 0x08, last_ns));
		TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, hubod_rig.state.common.lifecycle);
	}
}

TEST(a_joint_and_a_limb_are_homed_alone)
{
	rig_up("hung: no, quiet_home: 500ms");
	TEST_ASSERT_EQUAL(-EPERM, home("lleg"));
	TEST_ASSERT_EQUAL_STRING("legs are homed only when the robot hangs: set hung", hubod_rig.reply.error);
	TEST_ASSERT_EQUAL(-EPERM, home("RKN"));
	TEST_ASSERT_EQUAL(-ENOENT, home("NKY")); /* inactive */
	TEST_ASSERT_EQUAL(0, rig_count(HOME, BOARDS, 0));
	TEST_ASSERT_EQUAL_MESSAGE(0, home("RSP"), hubod_rig.reply.error);
	TEST_ASSERT_EQUAL(1, rig_count(HOME, BOARDS, 0));
	TEST_ASSERT_EQUAL(1, rig_count(HOME, 0x08, 0));
	TEST_ASSERT_TRUE(is_homed("RSP") && !is_homed("RSR"));
	TEST_ASSERT_EQUAL_MESSAGE(0, home("larm"), hubod_rig.reply.error);
	TEST_ASSERT_EQUAL(1 + 6, rig_count(HOME, BOARDS, 0));
}

static void jam(void)
{
	rig_ask_sim("fault hubo.JMC9 jammed-0"); /* it will not be home in time, or say that it jams */
}
static void silence(void)
{
	rig_ask_sim("fault hubo.JMC9 silent");
}
static void estop(void)
{
	estop_talk_raise_both(MSG_LEVEL_ESTOP);
}

/* A board that misses replies goes on homing by itself, and hubod waits for it. */
TEST(a_board_that_comes_back_is_homed)
{
	uint64_t id;

	rig_up("quiet_home: 500ms, home_time: 20s");
	id = rig_request(MSG_VERB_HOME, "rarm", "");
	for (int k = 0; k < 1000 && !rig_count(HOME, 0x09, 0); k++)
		rig_pass(10);
	silence();
	rig_pass(1500); /* home_wait is 2 s */
	TEST_ASSERT_EQUAL_MESSAGE(0, hubod_rig.state.common.latches, "it does not wait");
	TEST_ASSERT_TRUE(hubod_rig.state.status[rig_place("REB")] & MSG_JOINT_SILENT);
	TEST_ASSERT_FALSE(is_homed("REB"));
	rig_ask_sim("fault hubo.JMC9 silent clear");
	TEST_ASSERT_EQUAL_MESSAGE(0, rig_result(id, LONG_MS), hubod_rig.reply.error);
	TEST_ASSERT_EQUAL_MESSAGE(2, rig_count(HOME, 0x09, 0), "each of its two joints is homed once");
	TEST_ASSERT_TRUE(is_homed("REB") && is_homed("RSP"));
	rig_pass(700);
	TEST_ASSERT_EQUAL(0, hubod_rig.state.common.latches);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, hubod_rig.state.common.lifecycle);
}

/* It has forgotten the command, so the joints would stay where they are until home_time. */
TEST(a_board_that_was_reset_is_told_again)
{
	uint64_t id;

	rig_up("quiet_home: 500ms, home_time: 20s");
	id = rig_request(MSG_VERB_HOME, "rarm", "");
	for (int k = 0; k < 1000 && !rig_count(HOME, 0x09, 0); k++)
		rig_pass(10);
	rig_pass(500);
	rig_ask_sim("fault hubo.JMC9 power-off");
	rig_ask_sim("fault hubo.JMC9 power-on");
	TEST_ASSERT_EQUAL_MESSAGE(0, rig_result(id, LONG_MS), hubod_rig.reply.error);
	TEST_ASSERT_EQUAL_MESSAGE(4, rig_count(HOME, 0x09, 0), "both of its joints, twice");
	TEST_ASSERT_EQUAL_MESSAGE(2, rig_count(HOME, 0x08, 0), "other boards go on");
	TEST_ASSERT_TRUE(is_homed("REB") && is_homed("RSP"));
	rig_pass(700);
	TEST_ASSERT_EQUAL(0, hubod_rig.state.common.latches);
}

/* Its zeros are gone with the command. */
TEST(a_board_that_was_home_and_is_reset_comes_home_after_the_others)
{
	unsigned int before;
	uint64_t id;

	rig_up("quiet_home: 500ms, home_time: 20s");
	id = rig_request(MSG_VERB_HOME, "rarm", "");
	for (int k = 0; k < 1000 && !rig_count(HOME, 0x09, 0); k++)
		rig_pass(10);
	before = rig_count(HOME, 0x20, 0);
	rig_ask_sim("fault hubo.EJMC0 power-off");
	rig_ask_sim("fault hubo.EJMC0 power-on");
	TEST_ASSERT_EQUAL_MESSAGE(0, rig_result(id, LONG_MS), hubod_rig.reply.error);
	TEST_ASSERT_EQUAL(2 * before, rig_count(HOME, 0x20, 0));
	TEST_ASSERT_TRUE(is_homed("RWY") && is_homed("REB"));
}

TEST(a_board_that_is_reset_again_and_again_ends_homing)
{
	uint64_t id;

	rig_up("quiet_home: 500ms, home_time: 60s");
	id = rig_request(MSG_VERB_HOME, "REB", "");
	for (int k = 0; k < 6; k++) {
		rig_pass(1000);
		rig_ask_sim("fault hubo.JMC9 power-off");
		rig_ask_sim("fault hubo.JMC9 power-on");
	}
	TEST_ASSERT_EQUAL(-EIO, rig_result(id, 2000));
	TEST_ASSERT_EQUAL_STRING("REB: a board is reset again and again", hubod_rig.reply.error);
	TEST_ASSERT_EQUAL(4, rig_count(HOME, 0x09, 0));
}

/* It was with the kernel when the link was reset: perhaps it was not sent, and without it no joint comes home. */
TEST(a_home_command_that_was_lost_is_sent_again)
{
	uint64_t id;

	rig_up("quiet_home: 500ms, home_time: 20s");
	wire_lib_ask("wire:upper", "fault stuck 60s");
	id = rig_request(MSG_VERB_HOME, "RSP", "");
	rig_pass(20);
	wire_lib_ask("wire:upper", "link reset host");
	wire_lib_ask("wire:upper", "fault stuck off");
	TEST_ASSERT_EQUAL_MESSAGE(0, rig_result(id, LONG_MS), hubod_rig.reply.error);
	TEST_ASSERT_GREATER_OR_EQUAL(1, rig_count(HOME, 0x08, 0));
	TEST_ASSERT_TRUE(is_homed("RSP"));
	rig_pass(50);
	TEST_ASSERT_EQUAL(0, hubod_rig.state.common.latches);
}

/* Of the right arm's boards those of the wrists come first, and are home when one of the others fails. */
TEST(one_joint_that_fails_stops_all)
{
	static const struct {
		const char *name;
		void (*fails)(void);
	} rows[] = { { "jam", jam }, { "silent", silence }, { "e-stop", estop } };

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int64_t from_ns;
		uint64_t id;

		if (i)
			rig_finish();
		rig_up("quiet_home: 500ms, home_time: 5s");
		id = rig_request(MSG_VERB_HOME, "rarm", "");
		for (int k = 0; k < 1000 && !rig_count(HOME, 0x09, 0); k++)
			rig_pass(10);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LIFE_HOMING, hubod_rig.state.common.lifecycle, rows[i].name);
		from_ns = clock_now_ns();
		rows[i].fails();
		TEST_ASSERT_EQUAL_MESSAGE(-EIO, rig_result(id, LONG_MS), rows[i].name);
		rig_pass(50);
		TEST_ASSERT_GREATER_THAN_MESSAGE(0, rig_count(CONTROL_OFF, 0x08, from_ns), rows[i].name);
		TEST_ASSERT_GREATER_THAN_MESSAGE(0, rig_count(CONTROL_OFF, 0x09, from_ns), rows[i].name);
		TEST_ASSERT_EQUAL_MESSAGE(0, rig_count(CONTROL_OFF, 0x20, from_ns), rows[i].name);
		TEST_ASSERT_TRUE_MESSAGE(rig_sim_says("hubo.JMC8", "RSP_does off"), rows[i].name);
		TEST_ASSERT_EQUAL_MESSAGE(MSG_LATCH_HOMING_ABORTED, hubod_rig.state.common.latches, rows[i].name);
		from_ns = clock_now_ns();
		rig_pass(800);
		TEST_ASSERT_EQUAL_MESSAGE(0, rig_count(REFERENCE, BOARDS, from_ns), rows[i].name);
		TEST_ASSERT_EQUAL_MESSAGE(0, rig_count(HOME, BOARDS, from_ns), rows[i].name);
		TEST_ASSERT_EQUAL_MESSAGE(-EPERM, rig_ask(MSG_VERB_ACTIVATE, "RSP"), rows[i].name);
	}
	rig_arm(); /* of the e-stop; the request home ends it */
	TEST_ASSERT_EQUAL_MESSAGE(0, home("rarm"), hubod_rig.reply.error);
	rig_pass(700);
	TEST_ASSERT_EQUAL(0, hubod_rig.state.common.latches);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, hubod_rig.state.common.lifecycle);
}
