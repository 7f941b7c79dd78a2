/* test_safety_device.c: a module that is silent, has no power, has a fault; homing; on the wire and in the state. */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "channels/clock.h"
#include "test/daemons/safety_lib.h"
#include "unity.h"

#define QUICK "module_watchdog: 10s, silent_after: 100ms, tick: 5ms"

void setUp(void)
{
}

void tearDown(void)
{
}

static double commanded(void)
{
	return safety_commanded(INT64_MIN);
}

static void armed(const char *settings, const char *sim)
{
	safety_bench(settings, sim);
	safety_driver();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_DISARMED || safety_state()->common.latches);
	if (safety_state()->common.latches)
		safety_clear(); /* it was never homed, and a person takes it as it is */
	safety_arm();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING && safety_last(SAFETY_MOVE));
}

static void moving(const char *settings)
{
	armed(settings, NULL);
	safety_velocity(-0.2);
	SAFETY_UNTIL(commanded() <= -0.2 + SAFETY_ROUNDING);
}

static bool partial(unsigned int state)
{
	return safety.states[state].header.flags & MSG_FLAG_PARTIAL;
}

/* Active again, and on the way there it never jumped. */
static void check_goes_on(int64_t from_ns)
{
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_commanded(from_ns) <= -0.2 + SAFETY_ROUNDING);
	safety_check_ramp(from_ns, INT64_MAX, 0, SAFETY_VELOCITY);
}

/* ---- silence ---- */

static void silent_and_back(void)
{
	unsigned int first, n = 0;
	int64_t back_ns;

	moving(QUICK);
	first = safety.states_n;
	safety_sim("fault waist.15 silent");
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	safety_ticks(60);
	TEST_ASSERT_TRUE_MESSAGE(safety_told("silent-15", "module 15 does not answer"), "no words");
	TEST_ASSERT_TRUE(safety_state()->status[0] & MSG_JOINT_SILENT);
	TEST_ASSERT_TRUE_MESSAGE(safety_state()->age_ns[0] > 100 * SAFETY_MS, "the sample is old, and says so");
	/* One state in every tick all the time; those without an answer say so. */
	safety_check_rate(first);
	for (unsigned int i = first; i < safety.states_n; i++)
		n += partial(i);
	TEST_ASSERT_GREATER_THAN_UINT(60, n);
	TEST_ASSERT_TRUE(partial(safety.states_n - 1));
	/* It hears, and was told to stand. */
	TEST_ASSERT_EQUAL_DOUBLE(0, commanded());
	SAFETY_UNTIL(fabs(safety_sim_number("velocity")) < 0.001);

	back_ns = clock_now_ns();
	safety_sim("fault waist.15 silent clear");
	check_goes_on(back_ns);
	TEST_ASSERT_TRUE(safety_driver_lives());
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HOME, INT64_MIN));
	TEST_ASSERT_EQUAL_DOUBLE(0, safety_sim_number("trips"));
}

/* Its power fails: the brake closes, it forgets where it is.  Back again it counts from elsewhere: it waits for a
 * person, whatever references come. */
static void power_off_and_on(void)
{
	double moves[64];
	int64_t back_ns;
	unsigned int n;
	uint64_t id;

	moving(QUICK);
	safety_sim("fault waist.15 power-off");
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	safety_ticks(20);
	back_ns = clock_now_ns();
	safety_sim("fault waist.15 power-on");
	/* Its watchdog, which sleeps after power-up, is set again. */
	SAFETY_UNTIL(safety_told("not-homed-15", "after the request clear, home it") &&
		     safety_count(SAFETY_SET, back_ns) && safety_sim_number("watchdog_us") > 0);
	safety_ticks(40);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, safety_life());
	TEST_ASSERT_TRUE(safety_state()->status[0] & MSG_JOINT_FAULT);
	TEST_ASSERT_FALSE(safety_state()->status[0] & MSG_JOINT_HOMED);
	n = safety_moves(back_ns, INT64_MAX, moves, 64);
	for (unsigned int i = 0; i < n; i++)
		TEST_ASSERT_TRUE_MESSAGE(fabs(moves[i]) < 0.01, "it moves, and nobody knows where");
	TEST_ASSERT_EQUAL_DOUBLE(0, safety_sim_number("velocity"));

	safety_quiet();
	id = safety_request(MSG_VERB_CLEAR, "");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_reply(id)->result, safety_reply(id)->error);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HOME, INT64_MIN));
	back_ns = clock_now_ns();
	safety_velocity(-0.2);
	check_goes_on(back_ns);
}

/* Not there when the driver starts: it waits, and says so, and takes it when it comes. */
static void absent_at_the_start(void)
{
	safety_bench(QUICK, SAFETY_SIM ", power: no");
	safety_driver();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	safety_ticks(20);
	safety_check_rate(0);
	TEST_ASSERT_TRUE(safety_told("silent-15", "module 15 does not answer"));
	TEST_ASSERT_TRUE(isnan(safety_position()));
	TEST_ASSERT_TRUE(safety_driver_lives());
	safety_sim("fault waist.15 power-on");
	/* Nothing proves that it knows where it is. */
	SAFETY_UNTIL(safety_told("latched-15", "module 15 is not homed") && safety_life() == MSG_LIFE_FAULT);
	safety_clear();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_DISARMED);
	safety_arm();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
}

/* ---- faults ---- */

static void a_fault_waits_for_a_person(void)
{
	int64_t t_ns;
	uint64_t id;

	moving(NULL);
	t_ns = clock_now_ns();
	safety_sim("fault waist.15 tow-error");
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	safety_ticks(100);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, safety_life());
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_count(SAFETY_RESET, t_ns), "nobody asked for a reset");
	TEST_ASSERT_TRUE_MESSAGE(safety_told("tow-error-15", "the request clear resets it"), "no words");
	TEST_ASSERT_TRUE(safety_state()->status[0] & MSG_JOINT_FAULT);
	TEST_ASSERT_TRUE(safety_driver_lives());
	safety_check_rate(0);

	id = safety_request(MSG_VERB_CLEAR, "");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_reply(id)->result, safety_reply(id)->error);
	TEST_ASSERT_NOT_NULL(safety_first(SAFETY_RESET, t_ns));
	check_goes_on(safety_first(SAFETY_RESET, t_ns)->t_ns);
	TEST_ASSERT_EQUAL(1, safety_count(SAFETY_RESET, t_ns));
}

static void a_fault_that_only_power_ends(void)
{
	uint64_t id;

	moving(NULL);
	safety_sim("fault waist.15 short-circuit");
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	id = safety_request(MSG_VERB_CLEAR, "");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_NOT_EQUAL(0, safety_reply(id)->result);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(safety_reply(id)->error, "power off and on"), safety_reply(id)->error);
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_RESET, safety_first(SAFETY_MOVE, INT64_MIN)->t_ns));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, safety_life());
}

/* ---- homing ---- */

static void homing_only_when_armed(void)
{
	uint64_t id;

	safety_start(NULL, NULL);
	id = safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_NOT_EQUAL(0, safety_reply(id)->result);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(safety_reply(id)->error, "not armed"), safety_reply(id)->error);
	safety_ticks(20);
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HOME, INT64_MIN));

	safety_arm();
	safety_raise(MSG_LEVEL_HOLD);
	SAFETY_UNTIL(safety_state()->common.level == MSG_LEVEL_HOLD);
	id = safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_NOT_EQUAL(0, safety_reply(id)->result);
	safety_ticks(20);
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HOME, INT64_MIN));
}

static bool while_homing(const struct bus_frame *home)
{
	return safety_life() == MSG_LIFE_HOMING && home;
}

/* From its command to its end no move and no other command; references are not followed; then they are. */
static void homing_and_on(void)
{
	const struct bus_frame *home;
	struct msg_request again;
	int64_t done_ns;
	uint64_t id;

	armed(NULL, SAFETY_SIM ", position: -0.3");
	id = safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(while_homing(safety_last(SAFETY_HOME)));
	safety_velocity(-0.2);
	SAFETY_UNTIL(safety_reply(id));
	done_ns = safety_reply(id)->header.t_publish_ns;
	home = safety_last(SAFETY_HOME);
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_reply(id)->result, safety_reply(id)->error);
	TEST_ASSERT_EQUAL(1, safety_count(SAFETY_HOME, INT64_MIN));
	TEST_ASSERT_EQUAL_MESSAGE(safety_count(SAFETY_MOVE, home->t_ns), safety_count(SAFETY_MOVE, done_ns),
				  "a move while it homed");
	TEST_ASSERT_GREATER_THAN_UINT_MESSAGE(5, safety_count(SAFETY_FEED, home->t_ns), "it is fed meanwhile");
	check_goes_on(done_ns);
	TEST_ASSERT_TRUE(safety_state()->status[0] & MSG_JOINT_HOMED);

	/* The same request once more is answered, and not done. */
	msg_init(&again, msg_type_by_number(msg_request_number));
	again.id = id;
	again.client_pid = safety_reply(id)->client_pid;
	again.verb = MSG_VERB_HOME;
	safety_put("waist-req", &again, sizeof(again));
	SAFETY_UNTIL(safety.replies_n == 2);
	safety_ticks(10);
	TEST_ASSERT_EQUAL_UINT64(id, safety.replies[1].id);
	TEST_ASSERT_EQUAL(0, safety.replies[1].result);
	TEST_ASSERT_EQUAL(1, safety_count(SAFETY_HOME, INT64_MIN));
}

static void holding_at(double rad, const char *sim)
{
	armed("tick: 5ms", sim);
	safety_position_to(rad);
	SAFETY_UNTIL(fabs(safety_position() - rad) < 0.001 && fabs(safety_sim_number("velocity")) < 0.001);
	safety_quiet();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	safety_ticks(20);
}

/* Off and on, faster than its silence is noticed: it counts from 0 again, and its watchdog is off. */
static void loses_its_power_for_a_moment(void)
{
	const int64_t from_ns = clock_now_ns();
	unsigned int n;
	double moves[256];

	safety_sim("fault waist.15 power-off");
	safety_sim("fault waist.15 power-on");
	SAFETY_UNTIL(safety_first(SAFETY_SET, from_ns));
	safety_ticks(60);
	n = safety_moves(from_ns, INT64_MAX, moves, 256);
	for (unsigned int i = 0; i < n; i++)
		TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(0.02, 0, moves[i], "nobody told it to move");
	TEST_ASSERT_EQUAL(0x01000118, (uint32_t)safety_sim_number("config"));
}

static void a_moment_without_power_moves_nothing(void)
{
	holding_at(-1, "boot: 5ms");
	loses_its_power_for_a_moment();
	TEST_ASSERT_TRUE(safety_told("not-homed-15", "lost its power"));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, safety_life());
}

static void nor_one_that_was_never_homed(void)
{
	holding_at(-1, "boot: 5ms, homed: no");
	loses_its_power_for_a_moment();
}

/* Where it was told to be before has no meaning any more, and nobody tells it to go anywhere. */
static void homed_it_stays(void)
{
	double at_rad, moves[100];
	unsigned int n;
	int64_t done_ns;
	uint64_t id;

	armed(NULL, SAFETY_SIM ", position: -0.9, home: -1.4, home_offset: -1.4");
	safety_position_to(-0.7);
	SAFETY_UNTIL(fabs(safety_position() + 0.7) < 0.01 && fabs(safety_sim_number("velocity")) < 0.001);
	safety_quiet();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	id = safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_reply(id)->result, safety_reply(id)->error);
	done_ns = safety_reply(id)->header.t_publish_ns;
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	at_rad = safety_position();
	TEST_ASSERT_TRUE_MESSAGE(at_rad < -0.1 && fabs(at_rad + 0.7) > 0.1, "the case needs another place");
	safety_ticks(60);
	TEST_ASSERT_DOUBLE_WITHIN(0.002, at_rad, safety_position());
	n = safety_moves(done_ns, INT64_MAX, moves, 100);
	TEST_ASSERT_GREATER_THAN_UINT(10, n);
	for (unsigned int i = 0; i < n; i++)
		TEST_ASSERT_DOUBLE_WITHIN(0.01, 0, moves[i]);
}

static void estop_while_homing(void)
{
	int64_t t_ns, next_ns;
	uint64_t id;

	armed(NULL, NULL);
	id = safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(while_homing(safety_last(SAFETY_HOME)) && fabs(safety_sim_number("velocity")) > 0.05);
	t_ns = clock_now_ns();
	safety_raise(MSG_LEVEL_ESTOP);
	next_ns = safety_decided_after(clock_now_ns());
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT && safety_reply(id) && safety_sim_has("halted"));
	TEST_ASSERT_NOT_NULL(safety_first(SAFETY_HALT, t_ns));
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_MOVE, next_ns));
	TEST_ASSERT_NOT_EQUAL(0, safety_reply(id)->result);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(safety_reply(id)->error, "estop"), safety_reply(id)->error);
	SAFETY_UNTIL(safety_sim_number("velocity") == 0);
	/* Armed again, it still waits for a person. */
	safety_arm();
	safety_velocity(-0.2);
	safety_ticks(20);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, safety_life());
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_RESET, t_ns));
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_MOVE, next_ns));
	safety_quiet();
	safety_ticks(50); /* until the last reference has expired */
	safety_clear();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	safety_ticks(20);
	TEST_ASSERT_EQUAL(1, safety_count(SAFETY_HOME, INT64_MIN));
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, safety_life());
}

static void hold_while_homing(void)
{
	uint64_t id;

	armed(NULL, NULL);
	id = safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(while_homing(safety_last(SAFETY_HOME)) && fabs(safety_sim_number("velocity")) > 0.05);
	safety_raise(MSG_LEVEL_HOLD);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT && safety_reply(id));
	TEST_ASSERT_NOT_EQUAL(0, safety_reply(id)->result);
	SAFETY_UNTIL(fabs(safety_sim_number("velocity")) < 0.001);
	TEST_ASSERT_EQUAL_HEX32(MSG_LATCH_HOMING_ABORTED, safety_state()->common.latches);
}

/* Homed to its end, whatever was latched for want of it is over. */
static void homing_ends_its_latch(void)
{
	uint64_t id;

	armed(NULL, SAFETY_SIM ", position: -0.3");
	safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(while_homing(safety_last(SAFETY_HOME)) && fabs(safety_sim_number("velocity")) > 0.05);
	safety_raise(MSG_LEVEL_HOLD);
	SAFETY_UNTIL(safety_state()->common.latches == MSG_LATCH_HOMING_ABORTED);
	safety_lower();
	SAFETY_UNTIL(safety_state()->common.level == MSG_LEVEL_RUN);
	id = safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_reply(id)->result, safety_reply(id)->error);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	TEST_ASSERT_EQUAL_HEX32(0, safety_state()->common.latches);
}

/* Its driver is killed meanwhile: the new one does not go on with what its predecessor was asked for. */
static void killed_while_homing(void)
{
	uint64_t id;
	int64_t t_ns;

	armed(NULL, NULL);
	id = safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(while_homing(safety_last(SAFETY_HOME)) && fabs(safety_sim_number("velocity")) > 0.05);
	safety_end_driver(SIGKILL);
	t_ns = clock_now_ns();
	safety_driver();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT && fabs(safety_sim_number("velocity")) < 0.001);
	safety_ticks(20);
	TEST_ASSERT_BITS_HIGH(MSG_LATCH_HOMING_ABORTED, safety_state()->common.latches);
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HOME, t_ns));
	TEST_ASSERT_EQUAL_DOUBLE(0, safety_value(&safety_first(SAFETY_MOVE, t_ns)->frame));
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_RESET, t_ns));
	TEST_ASSERT_TRUE(!safety_reply(id) || safety_reply(id)->result);
}

int main(void)
{
	UNITY_BEGIN();
	SAFETY_TEST(silent_and_back);
	SAFETY_TEST(power_off_and_on);
	SAFETY_TEST(absent_at_the_start);
	SAFETY_TEST(a_fault_waits_for_a_person);
	SAFETY_TEST(a_fault_that_only_power_ends);
	SAFETY_TEST(homing_only_when_armed);
	SAFETY_TEST(homing_and_on);
	SAFETY_TEST(a_moment_without_power_moves_nothing);
	SAFETY_TEST(nor_one_that_was_never_homed);
	SAFETY_TEST(homed_it_stays);
	SAFETY_TEST(estop_while_homing);
	SAFETY_TEST(hold_while_homing);
	SAFETY_TEST(homing_ends_its_latch);
	SAFETY_TEST(killed_while_homing);
	safety_clean();
	return UNITY_END();
}
