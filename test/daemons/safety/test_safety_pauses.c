/* test_safety_pauses.c: a machine that pauses is not a fault of a device, and faults are found as soon as without that.
 *
 * Times are of the virtual clock, on which processes are stopped and go on.
 */
#include <signal.h>

#include "channels/clock/clock.h"
#include "test/daemons/safety/safety_lib.h"
#include "test/lib/testcase.h"
#include "test/lib/virtual_lib.h"

#define SILENT_MS 25 /* of drivers that have the setting */
#define PAUSE_MS 40  /* longer than that, and than any bus may stall */
#define TICK_NS (5 * SAFETY_MS)

#define OF_DRIVER 1
#define OF_WIRE 2
#define OF_DEVICE 4

static const struct msg_bus *bus(void)
{
	return &safety_state()->common.bus[0];
}

static void moving(void)
{
	safety_start(&(struct safety_set){ .silent_ms = SILENT_MS });
	safety_arm();
	safety_velocity(-SAFETY_CRUISE);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(-SAFETY_CRUISE, INT64_MIN));
}

static void signal_to(unsigned int whom, int signal)
{
	if (whom & OF_WIRE)
		virtual_lib_signal(safety.wire, signal);
	if (whom & OF_DEVICE)
		virtual_lib_signal(safety.sim, signal);
	if (whom & OF_DRIVER && signal == SIGSTOP)
		safety_stop_driver();
	else if (whom & OF_DRIVER)
		safety_go_on();
}

static void pass(int64_t ns)
{
	for (const int64_t until_ns = clock_now_ns() + ns; clock_now_ns() < until_ns;)
		safety_turn();
}

/* ---- pauses ---- */

static void check_no_fault(unsigned int first, unsigned int whom)
{
	char message[80];

	snprintf(message, sizeof(message), "paused: %s%s%s", whom & OF_DRIVER ? "driver " : "",
		 whom & OF_WIRE ? "wire " : "", whom & OF_DEVICE ? "device" : "");
	for (unsigned int i = first; i < safety.states_n; i++) {
		TEST_ASSERT_NOT_EQUAL_MESSAGE(MSG_LIFE_FAULT, safety.states[i].common.lifecycle, message);
		TEST_ASSERT_FALSE_MESSAGE(safety.states[i].status[0] & MSG_JOINT_SILENT, message);
	}
	TEST_ASSERT_FALSE_MESSAGE(safety_reported("bus", ""), message);
	TEST_ASSERT_TRUE_MESSAGE(safety_reported("paused", "this machine paused for "), message);
}

static void paused(unsigned int whom)
{
	unsigned int first;
	int64_t back_ns;

	moving();
	first = safety.states_n;
	signal_to(whom, SIGSTOP);
	pass(PAUSE_MS * SAFETY_MS);
	back_ns = clock_now_ns();
	signal_to(whom, SIGCONT);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(-SAFETY_CRUISE, back_ns) &&
		     safety_count(SAFETY_MOVE, back_ns) > 20);
	check_no_fault(first, whom);
}

TEST_NEEDS(a_paused_driver_is_no_fault_of_the_device, SAFETY_VELOCITIES)
{
	paused(OF_DRIVER);
}

TEST_NEEDS(a_paused_wire_is_no_fault_of_the_device, SAFETY_VELOCITIES)
{
	paused(OF_WIRE);
}

TEST_NEEDS(a_paused_simulator_is_no_fault_of_the_device, SAFETY_VELOCITIES)
{
	paused(OF_DEVICE);
}

TEST_NEEDS(a_pause_of_everything_is_no_fault_of_the_device, SAFETY_VELOCITIES)
{
	paused(OF_DRIVER | OF_WIRE | OF_DEVICE);
}

/* Longer than what is silent after it, and than the machines of users were seen to pause. */
TEST_NEEDS(a_pause_of_100_ms_of_everything_is_no_fault_of_the_bus, SAFETY_VELOCITIES)
{
	unsigned int first;

	moving();
	first = safety.states_n;
	signal_to(OF_DRIVER | OF_WIRE | OF_DEVICE, SIGSTOP);
	pass(100 * SAFETY_MS);
	signal_to(OF_DRIVER | OF_WIRE | OF_DEVICE, SIGCONT);
	pass(4 * TICK_NS);
	SAFETY_UNTIL(safety.states_n > first + 4);
	TEST_ASSERT_FALSE(safety_reported("bus", ""));
	TEST_ASSERT_TRUE(safety_reported("paused", "this machine paused for "));
}

/* Pauses one after the other: those of before do not add to the next. */
TEST_NEEDS(many_pauses_are_no_fault_of_the_device, SAFETY_VELOCITIES)
{
	unsigned int first;

	moving();
	first = safety.states_n;
	for (unsigned int i = 0; i < 12; i++) {
		const unsigned int whom = 1u << i % 3;

		signal_to(whom, SIGSTOP);
		pass(PAUSE_MS * SAFETY_MS);
		signal_to(whom, SIGCONT);
		pass(4 * TICK_NS);
	}
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE && safety_reached(-SAFETY_CRUISE, INT64_MIN));
	check_no_fault(first, OF_DRIVER | OF_WIRE | OF_DEVICE);
}

/* ---- faults ---- */

/* Between its last sample and the tick that finds it silent: after_ns, and five ticks at most, which pciod takes. */
static void check_found_silent(int64_t after_ns)
{
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	TEST_ASSERT_TRUE_MESSAGE(safety_said(safety_on->event_silent), "no words");
	TEST_ASSERT_LESS_OR_EQUAL_INT64(after_ns + 5 * TICK_NS, safety_state()->age_ns[0]);
}

static int64_t silent_after_ns(void)
{
	return safety_on->silent ? SILENT_MS * SAFETY_MS : 100 * SAFETY_MS;
}

TEST_NEEDS(a_dead_device_is_found_as_soon_as_ever, SAFETY_VELOCITIES)
{
	moving();
	safety_fault(safety_on->fault_silent);
	check_found_silent(silent_after_ns());
	TEST_ASSERT_FALSE(safety_reported("paused", ""));
}

/* Right after a pause, too: the pause itself does not count, and nothing else is forgiven. */
TEST_NEEDS(a_device_that_dies_in_a_pause_is_found, SAFETY_VELOCITIES)
{
	for (unsigned int whom = OF_DRIVER; whom <= OF_WIRE; whom <<= 1) {
		if (whom != OF_DRIVER) {
			safety_end();
			safety_begin();
		}
		moving();
		safety_fault(safety_on->fault_silent);
		signal_to(whom, SIGSTOP);
		pass(PAUSE_MS * SAFETY_MS);
		signal_to(whom, SIGCONT);
		check_found_silent(silent_after_ns() + (PAUSE_MS + 1) * SAFETY_MS);
	}
}

TEST_NEEDS(a_dead_bus_is_found_as_soon_as_ever, SAFETY_VELOCITIES)
{
	int64_t last_ns;

	moving();
	safety_wire("fault stuck 60s");
	SAFETY_UNTIL(bus()->stalled_since_ns);
	last_ns =
		bus()->last_confirmed_ns > bus()->last_received_ns ? bus()->last_confirmed_ns : bus()->last_received_ns;
	TEST_ASSERT_LESS_OR_EQUAL_INT64(5 * TICK_NS, bus()->stalled_since_ns - last_ns);
	TEST_ASSERT_FALSE(safety_reported("paused", ""));
}

/* What does not come back is a fault, of the bus and not of the machine, 150 ms later than without pauses. */
TEST_NEEDS(a_wire_that_stays_stopped_is_a_fault, SAFETY_VELOCITIES)
{
	int64_t t_ns;

	moving();
	t_ns = clock_now_ns();
	signal_to(OF_WIRE, SIGSTOP);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_FAULT);
	TEST_ASSERT_LESS_OR_EQUAL_INT64(185 * SAFETY_MS, safety_state()->header.t_publish_ns - t_ns);
	safety_check_still(t_ns, SAFETY_VELOCITY);
	signal_to(OF_WIRE, SIGCONT);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE);
}

TEST_NEEDS(a_simulator_that_stays_stopped_is_silent, SAFETY_VELOCITIES)
{
	moving();
	signal_to(OF_DEVICE, SIGSTOP);
	check_found_silent(silent_after_ns() + 155 * SAFETY_MS);
	signal_to(OF_DEVICE, SIGCONT);
	SAFETY_UNTIL(safety_life() == MSG_LIFE_ACTIVE);
}

int main(int argc, char **argv)
{
	return safety_main(argc, argv);
}
