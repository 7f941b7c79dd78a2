/* test_safety_device.c: a device that is silent, has no power, has a fault; homing; on the wire and in the state. */
#include <math.h>
#include <signal.h>

#include "channels/clock/clock.h"
#include "test/daemons/safety/safety_lib.h"
#include "test/lib/testcase.h"

#define SILENT_MS 100
static const struct safety_set quick = { .silent_ms = SILENT_MS };

static double commanded(void)
{
	return safety_commanded(INT64_MIN);
}

static void armed(const struct safety_set *set)
{
	safety_bench(set);
	safety_driver();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_DISARMED || safety_state()->common.latches);
	if (safety_state()->common.latches)
		safety_clear(); /* it was never homed, and a person takes it as it is */
	safety_arm();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING && safety_last(SAFETY_MOVE));
}

static void moving(const struct safety_set *set)
{
	armed(set);
	safety_velocity(-SAFETY_CRUISE);
	SAFETY_UNTIL(safety_reached(-SAFETY_CRUISE, INT64_MIN));
}

static bool partial(unsigned int state)
{
	return safety.states[state].header.flags & MSG_FLAG_PARTIAL;
}

/* Active again, and on the way there it never jumped. */
static void check_goes_on(int64_t from_ns)
{
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(-SAFETY_CRUISE, from_ns));
	safety_check_ramp(from_ns, INT64_MAX, 0, SAFETY_VELOCITY);
}

/* ---- silence ---- */

static void appear(void)
{
	char words[64];

	snprintf(words, sizeof(words), "%s clear", safety_on->fault_silent);
	safety_fault(words);
}

TEST_NEEDS(silent_and_back, SAFETY_VELOCITIES)
{
	unsigned int first, n = 0;
	int64_t back_ns;

	moving(&quick);
	first = safety.states_n;
	safety_fault(safety_on->fault_silent);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	safety_ticks(60);
	TEST_ASSERT_TRUE_MESSAGE(safety_said(safety_on->event_silent), "no words");
	TEST_ASSERT_TRUE(safety_state()->status[0] & MSG_JOINT_SILENT);
	TEST_ASSERT_TRUE_MESSAGE(safety_state()->age_ns[0] > SILENT_MS * SAFETY_MS, "the sample is old, and says so");
	/* One state in every tick all the time; those without an answer say so. */
	safety_check_rate(first);
	for (unsigned int i = first; i < safety.states_n; i++)
		n += partial(i);
	TEST_ASSERT_GREATER_THAN_UINT(60, n);
	TEST_ASSERT_TRUE(partial(safety.states_n - 1));
	/* It hears, and was commanded to stand. */
	TEST_ASSERT_EQUAL_DOUBLE(0, commanded());
	SAFETY_UNTIL(safety_sim_speed() < 0.001);

	back_ns = clock_now_ns();
	appear();
	check_goes_on(back_ns);
	TEST_ASSERT_TRUE(safety_driver_lives());
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HOME, INT64_MIN));
	TEST_ASSERT_EQUAL_DOUBLE(0, safety_trips());
}

/* Its power fails: the brake closes, it forgets where it is.  Back again it counts from elsewhere: it waits for a
 * person, whatever references come. */
TEST_NEEDS(power_off_and_on, SAFETY_VELOCITIES | SAFETY_LOSES_POWER)
{
	int64_t back_ns;
	uint64_t id;

	moving(&quick);
	safety_fault("power-off");
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	safety_ticks(20);
	back_ns = clock_now_ns();
	safety_fault("power-on");
	/* Its watchdog, which sleeps after power-up, is set again. */
	SAFETY_UNTIL(safety_said(safety_on->event_power) && safety_count(SAFETY_SET, back_ns) &&
		     safety_sim_number("watchdog_us") > 0);
	safety_ticks(40);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, safety_life());
	TEST_ASSERT_TRUE(safety_state()->status[0] & MSG_JOINT_FAULT);
	TEST_ASSERT_FALSE(safety_state()->status[0] & MSG_JOINT_HOMED);
	safety_check_still(back_ns, 0.01);
	TEST_ASSERT_EQUAL_DOUBLE(0, safety_sim_speed());

	safety_quiet();
	id = safety_request(MSG_VERB_CLEAR, "");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_reply(id)->result, safety_reply(id)->error);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HOME, INT64_MIN));
	back_ns = clock_now_ns();
	safety_velocity(-SAFETY_CRUISE);
	check_goes_on(back_ns);
}

/* Not there when the driver starts: it waits, and says so, and takes it when it comes. */
TEST_NEEDS(absent_at_the_start, 0)
{
	safety_bench(&(struct safety_set){ .silent_ms = SILENT_MS, .sim = safety_on->sim_absent });
	if (!safety_on->sim_absent)
		safety_fault(safety_on->fault_silent);
	safety_driver();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	safety_ticks(20);
	safety_check_rate(0);
	TEST_ASSERT_TRUE(safety_said(safety_on->event_silent));
	TEST_ASSERT_TRUE(isnan(safety_position()));
	TEST_ASSERT_TRUE(safety_driver_lives());
	if (safety_on->sim_absent)
		safety_fault("power-on");
	else
		appear();
	if (safety_has(SAFETY_LOSES_POWER)) { /* nothing proves that it knows where it is */
		SAFETY_UNTIL(safety_said(safety_on->event_absent) && safety_life() == MSG_LIFE_FAULT);
		safety_clear();
	}
	SAFETY_UNTIL(safety_life() == MSG_LIFE_DISARMED);
	safety_arm();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
}

/* ---- faults ---- */

TEST_NEEDS(a_fault_waits_for_a_person, SAFETY_VELOCITIES | SAFETY_FAULTS | SAFETY_HALTS)
{
	int64_t t_ns;
	uint64_t id;

	moving(NULL);
	t_ns = clock_now_ns();
	safety_fault(safety_on->fault_waits);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	safety_ticks(100);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, safety_life());
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_count(SAFETY_RESET, t_ns), "a reset without a request");
	TEST_ASSERT_TRUE_MESSAGE(safety_said(safety_on->event_waits), "no words");
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

TEST_NEEDS(a_fault_that_only_power_ends, SAFETY_VELOCITIES | SAFETY_FAULTS | SAFETY_LOSES_POWER)
{
	uint64_t id;

	moving(NULL);
	safety_fault(safety_on->fault_needs_power);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	id = safety_request(MSG_VERB_CLEAR, "");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_NOT_EQUAL(0, safety_reply(id)->result);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(safety_reply(id)->error, "power off and on"), safety_reply(id)->error);
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_RESET, safety_first(SAFETY_MOVE, INT64_MIN)->t_ns));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, safety_life());
}

/* ---- homing ---- */

TEST_NEEDS(homing_only_when_armed, SAFETY_HOMES)
{
	uint64_t id;

	safety_start(NULL);
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
TEST_NEEDS(homing_and_on, SAFETY_VELOCITIES | SAFETY_HOMES)
{
	const struct bus_frame *home;
	struct msg_request again;
	int64_t done_ns;
	uint64_t id;

	armed(&(struct safety_set){ .at_rad = SAFETY_MAX - 0.3 });
	id = safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(while_homing(safety_last(SAFETY_HOME)));
	safety_velocity(-SAFETY_CRUISE);
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
	safety_put(SAFETY_DEVICE "-req", &again, sizeof(again));
	SAFETY_UNTIL(safety.replies_n == 2);
	safety_ticks(10);
	TEST_ASSERT_EQUAL_UINT64(id, safety.replies[1].id);
	TEST_ASSERT_EQUAL(0, safety.replies[1].result);
	TEST_ASSERT_EQUAL(1, safety_count(SAFETY_HOME, INT64_MIN));
}

static void holding_at(double rad, const char *sim)
{
	armed(&(struct safety_set){ .sim = sim });
	safety_position_to(rad);
	SAFETY_UNTIL(fabs(safety_position() - rad) < 0.001 && safety_sim_speed() < 0.001);
	safety_quiet();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	safety_ticks(20);
}

/* Off and on, faster than its silence is noticed: it counts from 0 again, and its watchdog is off. */
static void loses_its_power_for_a_moment(void)
{
	const int64_t from_ns = clock_now_ns();

	safety_fault("power-off");
	safety_fault("power-on");
	SAFETY_UNTIL(safety_first(SAFETY_SET, from_ns));
	safety_ticks(60);
	safety_check_still(from_ns, 0.02);
	if (safety_on->check_set_up)
		safety_on->check_set_up();
}

TEST_NEEDS(a_moment_without_power_moves_nothing, SAFETY_POSITIONS | SAFETY_LOSES_POWER)
{
	holding_at(SAFETY_START_RAD + 0.44, safety_on->sim_boots_fast);
	loses_its_power_for_a_moment();
	TEST_ASSERT_TRUE(safety_said(safety_on->event_power));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, safety_life());
}

TEST_NEEDS(nor_one_that_was_never_homed, SAFETY_POSITIONS | SAFETY_LOSES_POWER | SAFETY_HOMES)
{
	holding_at(SAFETY_START_RAD + 0.44, safety_on->sim_not_homed);
	loses_its_power_for_a_moment();
}

/* The earlier position has no meaning any more, and no reference moves it. */
TEST_NEEDS(homed_it_stays, SAFETY_POSITIONS | SAFETY_HOMES)
{
	const double told_rad = SAFETY_MAX - 0.7;
	int64_t done_ns;
	double at_rad;
	uint64_t id;

	armed(&(struct safety_set){ .at_rad = SAFETY_MAX - 0.9, .sim = safety_on->sim_homes_elsewhere });
	safety_position_to(told_rad);
	SAFETY_UNTIL(fabs(safety_position() - told_rad) < 0.01 && safety_sim_speed() < 0.001);
	safety_quiet();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	id = safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_reply(id)->result, safety_reply(id)->error);
	done_ns = safety_reply(id)->header.t_publish_ns;
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	at_rad = safety_position();
	TEST_ASSERT_TRUE_MESSAGE(at_rad < SAFETY_MAX - 0.1 && fabs(at_rad - told_rad) > 0.1,
				 "the case needs another place");
	safety_ticks(60);
	TEST_ASSERT_DOUBLE_WITHIN(0.002, at_rad, safety_position());
	TEST_ASSERT_GREATER_THAN_UINT(10, safety_count(SAFETY_MOVE, done_ns));
	safety_check_still(done_ns, 0.01);
}

TEST_NEEDS(estop_while_homing, SAFETY_HOMES)
{
	int64_t t_ns, next_ns;
	uint64_t id;

	armed(NULL);
	id = safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(while_homing(safety_last(SAFETY_HOME)) && safety_sim_speed() > 0.05);
	t_ns = clock_now_ns();
	safety_raise(MSG_LEVEL_ESTOP);
	next_ns = safety_decided_after(clock_now_ns());
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT && safety_reply(id) && safety_sim_has(safety_on->word_halted));
	TEST_ASSERT_NOT_NULL(safety_first(SAFETY_HALT, t_ns));
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_MOVE, next_ns));
	TEST_ASSERT_NOT_EQUAL(0, safety_reply(id)->result);
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(safety_reply(id)->error, "estop"), safety_reply(id)->error);
	SAFETY_UNTIL(safety_sim_speed() == 0);
	/* Armed again, it still waits for a person. */
	safety_arm();
	safety_velocity(-SAFETY_CRUISE);
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

TEST_NEEDS(hold_while_homing, SAFETY_HOMES)
{
	uint64_t id;

	armed(NULL);
	id = safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(while_homing(safety_last(SAFETY_HOME)) && safety_sim_speed() > 0.05);
	safety_raise(MSG_LEVEL_HOLD);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT && safety_reply(id));
	TEST_ASSERT_NOT_EQUAL(0, safety_reply(id)->result);
	SAFETY_UNTIL(safety_sim_speed() < 0.001);
	TEST_ASSERT_EQUAL_HEX32(MSG_LATCH_HOMING_ABORTED, safety_state()->common.latches);
}

/* Homed to its end, whatever was latched for want of it is over. */
TEST_NEEDS(homing_ends_its_latch, SAFETY_HOMES)
{
	uint64_t id;

	armed(&(struct safety_set){ .at_rad = SAFETY_MAX - 0.3 });
	safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(while_homing(safety_last(SAFETY_HOME)) && safety_sim_speed() > 0.05);
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

/* Where it is is not known after it lost its power: homing finds out, without a clear before it. */
TEST_NEEDS(homing_ends_a_lost_position, SAFETY_HOMES)
{
	uint64_t id;

	armed(&(struct safety_set){ .at_rad = SAFETY_MAX - 0.3 });
	safety_fault("power-off");
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	safety_fault("power-on");
	SAFETY_UNTIL(safety_state()->common.latches & MSG_LATCH_POSITION_UNKNOWN);
	for (;;) { /* the module comes up meanwhile */
		id = safety_request(MSG_VERB_HOME, "");
		SAFETY_UNTIL(safety_reply(id));
		if (!safety_reply(id)->result || !strstr(safety_reply(id)->error, "not verified"))
			break;
	}
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_reply(id)->result, safety_reply(id)->error);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	TEST_ASSERT_EQUAL_HEX32(0, safety_state()->common.latches);
}

/* Its driver is killed meanwhile: the new one does not go on with what its predecessor was asked for. */
TEST_NEEDS(killed_while_homing, SAFETY_HOMES)
{
	uint64_t id;
	int64_t t_ns;

	armed(NULL);
	id = safety_request(MSG_VERB_HOME, "");
	SAFETY_UNTIL(while_homing(safety_last(SAFETY_HOME)) && safety_sim_speed() > 0.05);
	safety_end_driver(SIGKILL);
	t_ns = clock_now_ns();
	safety_driver();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT && safety_sim_speed() < 0.001);
	safety_ticks(20);
	TEST_ASSERT_BITS_HIGH(MSG_LATCH_HOMING_ABORTED, safety_state()->common.latches);
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HOME, t_ns));
	TEST_ASSERT_EQUAL_DOUBLE(0, safety_on->value(&safety_first(SAFETY_MOVE, t_ns)->frame));
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_RESET, t_ns));
	TEST_ASSERT_TRUE(!safety_reply(id) || safety_reply(id)->result);
}

int main(int argc, char **argv)
{
	return safety_main(argc, argv);
}
