/* test_safety_bus.c: a bus that stands, is off, is down, is gone; and comes back: what is on it then, and what the
 * driver says of it. */
#include <math.h>

#include "channels/clock/clock.h"
#include "test/daemons/safety/safety_lib.h"
#include "test/lib/testcase.h"

static const struct safety_set quick = { .watchdog_ms = 200, .silent_ms = 100 };

static unsigned int first_state; /* of those without a bus */

static const struct msg_bus *bus(void)
{
	return &safety_state()->common.bus[0];
}

static void moving(void)
{
	safety_start(&quick);
	safety_arm();
	safety_velocity(-SAFETY_CRUISE);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(-SAFETY_CRUISE, INT64_MIN));
	first_state = safety.states_n;
}

/* Without a bus the driver publishes on, at its rate, in fault; its module has stopped by itself. */
static void check_without_bus(const char *words)
{
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	SAFETY_UNTIL(safety_trips() >= safety_has(SAFETY_TRIPS) && safety_sim_speed() == 0);
	safety_ticks(40);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, safety_life());
	TEST_ASSERT_TRUE(safety_state()->header.flags & MSG_FLAG_PARTIAL);
	TEST_ASSERT_TRUE_MESSAGE(safety_reported("bus", words), "no words");
	TEST_ASSERT_TRUE(safety_driver_lives());
	safety_check_rate(first_state);
}

/* The first thing after the bus is back: it stands.  The fault of one that trips is explained by the bus, and is
 * cleared once. */
static int64_t begins_again(int64_t back_ns)
{
	if (!safety_has(SAFETY_TRIPS)) {
		SAFETY_UNTIL(safety_stop_frame(back_ns));
		return safety_stop_frame(back_ns)->t_ns;
	}
	SAFETY_UNTIL(safety_first(SAFETY_RESET, back_ns));
	return safety_first(SAFETY_RESET, back_ns)->t_ns;
}

/* From back_ns on the bus is there again.  Of before there are at most so many moves, and then nothing moves but by
 * what comes now, from rest. */
static void check_back(int64_t back_ns, unsigned int stale_max)
{
	const int64_t anew_ns = begins_again(back_ns);
	unsigned int stale = 0, n;
	double moves[16];

	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(-SAFETY_CRUISE, anew_ns));
	n = safety_moves(back_ns, anew_ns, moves, 16);
	for (unsigned int i = 0; i < n; i++)
		stale += moves[i] != 0;
	TEST_ASSERT_LESS_OR_EQUAL_UINT_MESSAGE(stale_max, stale, "moves of before");
	TEST_ASSERT_LESS_OR_EQUAL_UINT64(4, bus()->stale); /* questions, perhaps: they do no harm */
	safety_check_resets(1, back_ns);
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HOME, INT64_MIN));
	safety_check_ramp(anew_ns, INT64_MAX, 0, SAFETY_VELOCITY);
	SAFETY_UNTIL(bus()->state ==
		     MSG_LINK_ERROR_ACTIVE); /* each frame that is acknowledged counts its errors down */
	TEST_ASSERT_EQUAL_INT64(0, bus()->stalled_since_ns);
	TEST_ASSERT_EQUAL_UINT32(1, safety_state()->header.incarnation);
}

/* ---- a bus that stands ---- */

static void stalled(bool reset)
{
	int64_t back_ns;

	moving();
	safety_wire("fault stuck 60s");
	SAFETY_UNTIL(bus()->stalled_since_ns);
	check_without_bus("stalled");
	if (reset)
		safety_wire("link reset host");
	safety_ticks(4);
	back_ns = clock_now_ns();
	safety_wire("fault stuck off");
	check_back(back_ns, reset ? 0 : 2);
}

TEST_NEEDS(stalled_without_a_reset, SAFETY_VELOCITIES)
{
	stalled(false);
}

TEST_NEEDS(stalled_and_reset_by_its_owner, SAFETY_VELOCITIES)
{
	stalled(true);
}

/* It was in motion when the bus stood, and its reference ran out: it comes to rest, and is not taken back to where it
 * was measured last. */
TEST_NEEDS(after_a_stall_it_does_not_go_back, SAFETY_POSITIONS)
{
	double moves[256], highest = 0;
	int64_t back_ns;
	unsigned int n;

	safety_start(NULL); /* its own watchdog does not stop it, if it can be set so */
	safety_arm();
	safety_position_to(SAFETY_START_RAD - 1.16);
	SAFETY_UNTIL(safety_sim_speed() > 0.97 * SAFETY_VELOCITY);
	safety_quiet();
	safety_wire("fault stuck 250ms");
	SAFETY_UNTIL(safety_reported("bus", "stalled"));
	SAFETY_UNTIL(safety_reported("bus-back", ""));
	back_ns = clock_now_ns();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING && safety_sim_speed() < 0.001);
	safety_ticks(60);
	n = safety_moves(back_ns, INT64_MAX, moves, 256);
	for (unsigned int i = 0; i < n; i++)
		highest = fmax(highest, moves[i]);
	TEST_ASSERT_GREATER_THAN_UINT(50, n);
	TEST_ASSERT_DOUBLE_WITHIN(0.05, 0, highest);
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_RESET, back_ns));
}

/* It does not go on homing, as if nothing had been, when the bus is back. */
TEST_NEEDS(a_stall_ends_homing, SAFETY_HOMES)
{
	uint64_t id;

	safety_start(NULL);
	safety_arm();
	do { /* refused as long as the module answers late */
		id = safety_request(MSG_VERB_HOME, "");
		SAFETY_UNTIL(safety_reply(id) || safety_life() == MSG_LIFE_HOMING);
	} while (safety_reply(id));
	SAFETY_UNTIL(safety_sim_speed() > 0.05);
	safety_wire("fault stuck 100ms");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL(-EIO, safety_reply(id)->result);
	SAFETY_UNTIL(safety_state()->common.latches && safety_sim_speed() < 0.001);
	safety_ticks(60);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, safety_life());
	TEST_ASSERT_EQUAL_HEX32(MSG_LATCH_HOMING_ABORTED, safety_state()->common.latches);
	TEST_ASSERT_EQUAL(1, safety_count(SAFETY_HOME, INT64_MIN));
}

/* The state shows how it is now, not how it began. */
TEST_NEEDS(stalled_and_then_down, SAFETY_VELOCITIES)
{
	moving();
	safety_wire("fault stuck 60s");
	SAFETY_UNTIL(safety_reported("bus", "stalled"));
	TEST_ASSERT_FALSE(safety_reported("bus", "stopped"));
	safety_wire("link down host");
	SAFETY_UNTIL(safety_reported("bus", "stopped"));
	TEST_ASSERT_FALSE(safety_reported("bus-back", ""));
}

/* A stall that is over before anything has a reason to give up, and no reference meanwhile. */
TEST_NEEDS(stalled_without_a_reference, SAFETY_VELOCITIES)
{
	int64_t back_ns;

	moving();
	safety_wire("fault stuck 60s");
	SAFETY_UNTIL(bus()->stalled_since_ns);
	safety_quiet();
	check_without_bus("stalled");
	safety_wire("link reset host");
	SAFETY_UNTIL(clock_now_ns() > safety.ref.header.valid_until_ns);
	back_ns = clock_now_ns();
	safety_wire("fault stuck off");
	begins_again(back_ns);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_HOLDING);
	safety_ticks(40);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOLDING, safety_life());
	safety_check_still(back_ns, 0.01);
}

/* An e-stop while the bus stands: the first thing after it is the halt, and no motion. */
TEST_NEEDS(estop_while_stalled, SAFETY_VELOCITIES)
{
	int64_t back_ns;

	moving();
	safety_wire("fault stuck 60s");
	SAFETY_UNTIL(bus()->stalled_since_ns);
	safety_raise(MSG_LEVEL_ESTOP);
	SAFETY_UNTIL(safety_state()->common.level == MSG_LEVEL_ESTOP);
	safety_wire("link reset host");
	safety_ticks(4);
	back_ns = clock_now_ns();
	safety_wire("fault stuck off");
	SAFETY_UNTIL(safety_life() == MSG_LIFE_DISARMED && safety_sim_has(safety_on->word_halted));
	safety_ticks(20);
	TEST_ASSERT_EQUAL(0, safety_motions(back_ns));
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_RESET, back_ns));
	SAFETY_UNTIL(safety_sim_speed() == 0);
}

/* ---- off, down, gone ---- */

TEST_NEEDS(bus_off, SAFETY_VELOCITIES)
{
	int64_t back_ns;

	char line[64];

	moving();
	TEST_ASSERT_EQUAL(0, bus()->errors);
	snprintf(line, sizeof(line), "link set %s restart_ms 10", safety_on->unit);
	safety_wire(line); /* a device helps itself */
	safety_wire("fault corrupt 100%");
	SAFETY_UNTIL(bus()->state == MSG_LINK_BUS_OFF);
	safety_wire("fault corrupt off");
	TEST_ASSERT_GREATER_THAN(0, bus()->errors);
	check_without_bus("bus-off");
	back_ns = clock_now_ns();
	safety_wire("link restart host");
	check_back(back_ns, 0);
}

TEST_NEEDS(link_down_and_up, SAFETY_VELOCITIES)
{
	int64_t back_ns;

	moving();
	safety_wire("link down host");
	SAFETY_UNTIL(bus()->state == MSG_LINK_STOPPED);
	check_without_bus("stopped");
	back_ns = clock_now_ns();
	safety_wire("link up host");
	check_back(back_ns, 0);
}

/* What was handed over before is gone with the bus. */
TEST_NEEDS(bus_gone_and_back, SAFETY_VELOCITIES)
{
	int64_t back_ns;

	moving();
	safety_kill_wire();
	SAFETY_UNTIL(bus()->state == MSG_LINK_ABSENT);
	check_without_bus("absent");
	back_ns = clock_now_ns();
	safety_start_wire();
	check_back(back_ns, 0);
}

/* The link is reset under it, so quickly that nothing else happens: it goes on, without a jump. */
TEST_NEEDS(reset_for_a_moment, SAFETY_VELOCITIES)
{
	int64_t t_ns;

	moving();
	t_ns = clock_now_ns();
	safety_wire("link reset host");
	safety_ticks(4);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(-SAFETY_CRUISE, t_ns));
	safety_ticks(20);
	TEST_ASSERT_EQUAL_DOUBLE(0, safety_trips());
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_RESET, t_ns));
	TEST_ASSERT_EQUAL(0, safety_count(SAFETY_HALT, t_ns));
	TEST_ASSERT_EQUAL_UINT64(0, bus()->stale);
}

TEST_NEEDS(no_bus_at_the_start, SAFETY_VELOCITIES)
{
	safety_bench(&quick);
	safety_kill_wire();
	safety_driver();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT && bus()->state == MSG_LINK_ABSENT);
	safety_ticks(40);
	safety_check_rate(0);
	TEST_ASSERT_TRUE(safety_reported("bus", "absent"));
	TEST_ASSERT_TRUE(safety_driver_lives());
	safety_start_wire();
	SAFETY_UNTIL(safety_life() == MSG_LIFE_DISARMED);
	safety_arm();
	safety_velocity(-SAFETY_CRUISE);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(-SAFETY_CRUISE, INT64_MIN));
	safety_check_ramp(INT64_MIN, INT64_MAX, 0, SAFETY_STEP);
}

int main(int argc, char **argv)
{
	return safety_main(argc, argv);
}
