/* test_hubod_comply.c: compliant joints of hubod. */
#include <math.h>
#include <signal.h>

#include "channels/clock/clock.h"
#include "channels/msg/msg.h"
#include "test/can/bus/wire_lib.h"
#include "test/daemons/hubo/hubod_rig.h"
#include "test/lib/estop_talk.h"
#include "test/lib/testcase.h"

void setUp(void)
{
	rig_set_up();
}

void tearDown(void)
{
	rig_finish();
}

/* ---- compliance ---- */

static double at_rad(const char *joint)
{
	return hubod_rig.state.position[rig_place(joint)];
}

/* The table of Hubo2+ has none. */
static void set_gains(void)
{
	TEST_ASSERT_EQUAL(0, rig_ask_value(MSG_VERB_SET, "rarm.comply-kp", "80"));
	TEST_ASSERT_EQUAL(0, rig_ask_value(MSG_VERB_SET, "rarm.comply-kd", "1"));
	TEST_ASSERT_EQUAL(0, rig_ask_value(MSG_VERB_SET, "rarm.comply-pwm", "8"));
}

/* All stand at 0 but one arm, one joint of which is to be compliant. */
static void soften(const char *joint, double rad, const char *settings)
{
	hubod_rig.span_rad = 0;
	rig_up(settings);
	set_gains();
	hubod_rig.soft = joint;
	hubod_rig.soft_rad = rad;
	hubod_rig.referring = true;
	rig_pass(100);
}

static bool is_soft(const char *joint)
{
	return hubod_rig.state.status[rig_place(joint)] & MSG_JOINT_COMPLIANT;
}

/* It has its references again, each within the limits of the one before. */
static void check_rigid(const char *unit, const char *does)
{
	const int64_t from_ns = clock_now_ns();

	rig_pass(100);
	TEST_ASSERT_EQUAL(0, rig_count(DUTY, rig_moved[RSP].board, from_ns));
	TEST_ASSERT_TRUE_MESSAGE(rig_sim_says(unit, does), hubod_rig.said);
	TEST_ASSERT_FALSE(is_soft("RSP"));
	rig_check_steps(&rig_moved[RSP]);
	rig_check_steps(&rig_moved[RSR]);
}

static double pushed_rad(const char *unit, const char *joint)
{
	char question[64];
	double before = at_rad(joint);

	snprintf(question, sizeof(question), "push %s 8 300ms", unit);
	rig_ask_sim(question);
	rig_pass(300);
	return fabs(at_rad(joint) - before);
}

TEST(a_compliant_joint_gives_way_and_comes_back)
{
	static const char *const sims[] = { "", ", pwm_is_control: no", ", clockwise: down" };
	static const char *const settings[] = { "", "", "clockwise: down" };

	for (unsigned int i = 0; i < 3; i++) {
		int64_t from_ns;
		double way_rad;

		if (i)
			rig_finish();
		hubod_rig.sim_more = sims[i];
		soften("RSP", -0.2, settings[i]);
		rig_pass(800);
		from_ns = clock_now_ns();
		TEST_ASSERT_TRUE(is_soft("RSP") && is_soft("RSR")); /* one frame drives both */
		TEST_ASSERT_FALSE(is_soft("RSY"));
		TEST_ASSERT_TRUE(rig_sim_says("hubo.JMC8", "RSP_does pwm"));
		TEST_ASSERT_DOUBLE_WITHIN(0.02, -0.2, at_rad("RSP"));
		TEST_ASSERT_TRUE(pushed_rad("hubo.JMC10", "LSP") < 0.02); /* a rigid one does not */
		way_rad = pushed_rad("hubo.JMC8", "RSP");
		TEST_ASSERT_TRUE(way_rad > 0.1 && way_rad < 0.5);
		rig_pass(1500);
		TEST_ASSERT_DOUBLE_WITHIN(0.02, -0.2, at_rad("RSP"));
		TEST_ASSERT_DOUBLE_WITHIN(0.02, 0, at_rad("RSR"));
		TEST_ASSERT_EQUAL(0, rig_count(REFERENCE, rig_moved[RSP].board, from_ns));
		TEST_ASSERT_UINT_WITHIN(3, (unsigned int)((clock_now_ns() - from_ns) / PERIOD_NS),
					rig_count(DUTY, rig_moved[RSP].board, from_ns));
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, hubod_rig.state.lifecycle[rig_place("RSP")]);
		way_rad = pushed_rad("hubo.JMC8", "RSP");
		hubod_rig.soft = NULL; /* rigid from where it is, back to 0 */
		rig_pass(15);
		TEST_ASSERT_DOUBLE_WITHIN(0.05, -0.2 + way_rad, at_rad("RSP"));
		rig_pass(1000);
		check_rigid("hubo.JMC8", "RSP_does position");
		TEST_ASSERT_DOUBLE_WITHIN(0.002, 0, at_rad("RSP"));
		TEST_ASSERT_EQUAL(0, rig_happened("motor") + rig_happened("off") + rig_happened("comply"));
	}
}

/* Its greatest duty is kept, whatever pushes. */
TEST(the_duty_of_a_compliant_joint_is_limited)
{
	int32_t most = 0;

	soften("RSP", -1, "");
	rig_pass(2500);
	pushed_rad("hubo.JMC8", "RSP");
	for (unsigned int i = 0; i < hubod_rig.sent_n; i++)
		if (hubod_rig.sent[i].kind == DUTY && hubod_rig.sent[i].board == rig_moved[RSP].board)
			most = abs(hubod_rig.sent[i].counts[0]) > most ? abs(hubod_rig.sent[i].counts[0]) : most;
	TEST_ASSERT_EQUAL(80, most);
}

TEST(a_duty_for_the_weight_carries_a_limb)
{
	double sag_rad;

	hubod_rig.sim_more = ", weight: 3";
	soften("RSP", -0.5, "");
	rig_pass(2000);
	sag_rad = at_rad("RSP") + 0.5; /* 3 N m * sin 0.5 of 50 N m at full duty, by 80 %/rad */
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0.035, sag_rad);
	TEST_ASSERT_EQUAL(0, rig_ask_value(MSG_VERB_SET, "RSP.comply-grav", "-2.9"));
	rig_pass(1500);
	TEST_ASSERT_DOUBLE_WITHIN(0.005, -0.5, at_rad("RSP"));
}

/* REB may not go beyond 0; a direction that is wired the other way round leads there, too. */
TEST(a_compliant_joint_that_leaves_its_limits_becomes_rigid)
{
	static const char *const sims[] = { "", ", clockwise: down" };

	for (unsigned int i = 0; i < 2; i++) {
		int64_t from_ns;

		if (i)
			rig_finish();
		hubod_rig.sim_more = sims[i];
		soften("REB", i ? -0.3 : -0.05, "");
		if (!i) {
			rig_pass(500);
			TEST_ASSERT_TRUE(is_soft("REB"));
			rig_ask_sim("push hubo.JMC9 8 300ms");
		}
		rig_pass(1000);
		TEST_ASSERT_EQUAL(1, rig_happened("comply"));
		TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, hubod_rig.state.lifecycle[rig_place("REB")]);
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, hubod_rig.state.lifecycle[rig_place("RSP")]);
		from_ns = clock_now_ns();
		rig_pass(300);
		TEST_ASSERT_EQUAL(0, rig_count(DUTY, 0x09, from_ns)); /* though it is still asked for */
		TEST_ASSERT_TRUE(rig_sim_says("hubo.JMC9", "REB_does position"));
		TEST_ASSERT_TRUE(fabs(at_rad("REB")) < 0.05);
		hubod_rig.soft = NULL;
		rig_pass(300);
		TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, hubod_rig.state.lifecycle[rig_place("REB")]);
	}
}

static void expire(void)
{
	hubod_rig.referring = false;
}
static void estop(void)
{
	estop_talk_raise_both(MSG_LEVEL_ESTOP);
}
static void hold(void)
{
	estop_talk_raise_both(MSG_LEVEL_HOLD);
}
static void silence(void)
{
	rig_ask_sim("fault hubo.JMC8 silent");
}
static void jam_other(void)
{
	rig_ask_sim("fault hubo.JMC8 jam-1");
}
static void switch_off(void)
{
	TEST_ASSERT_EQUAL(0, rig_ask_value(MSG_VERB_SET, "RSP.control-off", ""));
}
static void stop_driver(void)
{
	rig_end(&hubod_rig.driver, SIGTERM);
}
/* The first control on is confirmed, and no board hears it. */
static void lose_frames(void)
{
	wire_lib_ask("wire:upper", "fault drop 100%");
	hubod_rig.soft = NULL;
	rig_pass(22);
	wire_lib_ask("wire:upper", "fault drop off");
}
static void stall(void)
{
	wire_lib_ask("wire:upper", "link down host");
	rig_pass(300);
	hubod_rig.soft = NULL;
	wire_lib_ask("wire:upper", "link up host");
}

TEST(whatever_ends_compliance_leaves_a_board_that_holds)
{
	static const struct {
		const char *name, *settings, *does;
		void (*ends)(void);
		bool lossy; /* what the driver knows is not what the ear hears */
	} rows[] = {
		{ "expired", "", "RSP_does position", expire, false },
		{ "e-stop", "", "RSP_does position", estop, false },
		{ "hold", "balance: no", "RSP_does position", hold, false },
		{ "silent", "", "RSP_does position", silence, false },
		{ "a fault of the other motor", "", "RSP_does position", jam_other, false },
		{ "switched off", "", "RSP_does off", switch_off, false },
		{ "driver asked to end", "", "RSP_does position", stop_driver, false },
		{ "lost frames", "", "RSP_does position", lose_frames, true },
		{ "bus down", "", "RSP_does position", stall, false },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int64_t from_ns;

		if (i)
			rig_finish();
		soften("RSP", -0.2, rows[i].settings);
		rig_pass(200);
		TEST_ASSERT_TRUE_MESSAGE(is_soft("RSP"), rows[i].name);
		rows[i].ends();
		rig_pass(250);
		from_ns = clock_now_ns();
		rig_pass(100);
		TEST_ASSERT_EQUAL_MESSAGE(0, rig_count(DUTY, rig_moved[RSP].board, from_ns), rows[i].name);
		TEST_ASSERT_TRUE_MESSAGE(rig_sim_says("hubo.JMC8", rows[i].does), rows[i].name);
		if (!rows[i].lossy)
			rig_check_steps(&rig_moved[RSP]);
	}
}

/* The first one as soon as a duty was on the wire: a state has to say before that what the next driver will find. */
TEST(a_driver_killed_while_a_joint_is_compliant_leaves_it_to_the_next_one)
{
	soften("RSP", -0.4, "");
	for (unsigned int i = 0; i < 4; i++) {
		int64_t from_ns;

		hubod_rig.soft = NULL;
		rig_pass(300);
		set_gains(); /* they ended with the process */
		hubod_rig.soft = "RSP";
		from_ns = clock_now_ns();
		for (int k = 0; k < 100 && !rig_count(DUTY, rig_moved[RSP].board, from_ns); k++)
			rig_pass(1);
		rig_pass(i == 3 ? 600 : (int)i);
		rig_end(&hubod_rig.driver, SIGKILL);
		TEST_ASSERT_TRUE(rig_sim_says("hubo.JMC8", "RSP_does pwm"));
		pushed_rad("hubo.JMC8", "RSP"); /* it gives way to anything */
		from_ns = clock_now_ns();
		if (i == 3)
			estop_talk_raise_both(MSG_LEVEL_ESTOP);
		hubod_rig.soft = NULL;
		hubod_rig_drive();
		rig_pass(200);
		TEST_ASSERT_TRUE_MESSAGE(rig_sim_says("hubo.JMC8", "RSP_does position"), hubod_rig.said);
		rig_pass(580);
		/* Before the window without references is over it gets those that say where it is. */
		for (unsigned int k = 0; k < hubod_rig.sent_n; k++)
			if (hubod_rig.sent[k].kind == REFERENCE && hubod_rig.sent[k].t_ns > from_ns) {
				TEST_ASSERT_EQUAL(rig_moved[RSP].board, hubod_rig.sent[k].board);
				TEST_ASSERT_EQUAL(hubod_rig.sent[k].measured[0], hubod_rig.sent[k].counts[0]);
			}
		TEST_ASSERT_EQUAL(0, rig_count(DUTY, rig_moved[RSP].board, from_ns));
		rig_pass(800);
		rig_check_steps(&rig_moved[RSP]);
		TEST_ASSERT_EQUAL(0, rig_happened("motor") + rig_happened("off"));
	}
	TEST_ASSERT_TRUE(rig_sim_says("hubo.JMC8", "RSP_does position"));
}

TEST(a_joint_that_may_not_be_compliant_holds_and_says_why)
{
	static const struct {
		const char *joint, *settings;
		bool unhomed;
		const char *why;
	} rows[] = {
		{ "LSP", "", false, "LSP: its comply-pwm is 0" },
		{ "RHY", "hung: no", false, "RHY: legs comply only when the robot hangs: set hung" },
		{ "RF1", "", false, "RF1: only boards with one or two motors comply" },
		{ "RSP", "", true, "RSP: it is not homed" },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		unsigned int n = 0;

		if (i)
			rig_finish();
		hubod_rig.unhomed = rows[i].unhomed;
		soften(rows[i].joint, -0.3, rows[i].settings);
		rig_pass(500);
		TEST_ASSERT_FALSE(is_soft(rows[i].joint));
		TEST_ASSERT_TRUE_MESSAGE(fabs(at_rad(rows[i].joint)) < 0.01, rows[i].joint);
		for (unsigned int k = 0; k < hubod_rig.events_n; k++)
			n += !strcmp(hubod_rig.events[k].code, "rigid") &&
			     strstr(hubod_rig.events[k].text, rows[i].why);
		TEST_ASSERT_EQUAL_MESSAGE(1, n, rows[i].why);
		TEST_ASSERT_EQUAL(1, rig_happened("rigid"));
	}
}

TEST(gains_are_set_within_the_limits_and_read)
{
	static const struct {
		const char *key, *value;
		int result;
	} rows[] = {
		{ "RSP.comply-kp", "100", 0 },	     { "RSP.comply-kp", "100.5", -ERANGE },
		{ "RSP.comply-kp", "-1", -ERANGE },  { "RSP.comply-kp", "nan", -ERANGE },
		{ "RSP.comply-kp", "inf", -ERANGE }, { "RSP.comply-kp", "", -ERANGE },
		{ "RSP.comply-kd", "20", 0 },	     { "RSP.comply-kd", "20.5", -ERANGE },
		{ "all.comply-pwm", "10", 0 },	     { "rarm.comply-pwm", "11", -ERANGE },
		{ "RSP.comply-grav", "-10", 0 },     { "RSP.comply-grav", "-10.5", -ERANGE },
		{ "NKY.comply-kp", "1", -ENOENT },   { "RSP.comply-ki", "1", -EINVAL },
	};

	soften("RSP", 0, "");
	TEST_ASSERT_EQUAL(-EBUSY, rig_ask(MSG_VERB_HOME, "RSP"));
	TEST_ASSERT_EQUAL_STRING("JMC8 is compliant: end that first", hubod_rig.reply.error);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].result, rig_ask_value(MSG_VERB_SET, rows[i].key, rows[i].value),
					  rows[i].key);
	TEST_ASSERT_EQUAL(-ERANGE, rig_ask_value(MSG_VERB_SET, "RSP.comply-kp", "1e9"));
	TEST_ASSERT_EQUAL_STRING("comply-kp: write a number from 0 to 100 %/rad (comply_kp_max)",
				 hubod_rig.reply.error);
	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_GET, "RSP.comply-kp"));
	TEST_ASSERT_EQUAL_STRING("100", hubod_rig.reply.value);
	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_GET, "LF5.comply-pwm"));
	TEST_ASSERT_EQUAL_STRING("10", hubod_rig.reply.value);
	TEST_ASSERT_EQUAL(0, rig_ask(MSG_VERB_GET, "RSP.comply-grav"));
	TEST_ASSERT_EQUAL_STRING("-10", hubod_rig.reply.value);
}
