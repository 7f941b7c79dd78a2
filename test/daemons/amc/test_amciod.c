/* test_amciod.c: what amciod does beyond the safety cases: two drives, currents, guards, faults; on a virtual clock. */
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

#include "channels/clock/clock.h"
#include "test/daemons/safety/safety_lib.h"

#define LEFT 0x2E0u /* first identifier of its PDOs */
#define RIGHT 0x2E7u
#define CURRENT 2 /* RPDO 5 */
#define ENABLE 0x0F
#define RESET 0x80
#define AMPERE (32768 / 60.0) /* Kp is 60 A */
#define GUARD_MS 200
#define TICK_NS (5 * SAFETY_MS)

/* ---- two wheels ---- */

extern const struct safety_actuator safety_amciod;
static struct safety_actuator wheels;

static void choose(void)
{
	wheels = safety_amciod;
	wheels.settings = "drives: '0x20 left, 0x21 right -', sync: no, period: 5ms, balance: yes, safe: zero-current";
	wheels.sim = "inertia: 50, friction: 0";
	wheels.unit = SAFETY_DEVICE ".left";
	wheels.filters[0] = (struct bus_filter){ LEFT, 0x7F0 };
	wheels.filters[1] = (struct bus_filter){ 0, 0x7FF };
	safety_on = &wheels;
}

static void start(const char *settings)
{
	choose();
	safety_start(&(struct safety_set){ .watchdog_ms = GUARD_MS, .settings = settings });
}

static void currents(double left_a, double right_a)
{
	safety_velocity(0);
	safety.ref.count = 2;
	safety.ref.mode[0] = safety.ref.mode[1] = MSG_MODE_CURRENT;
	safety.ref.current[0] = left_a;
	safety.ref.current[1] = right_a;
}

static bool measured(unsigned int joint, double a)
{
	return fabs(safety_state()->current[joint] - a) < 0.02;
}

static void start_with_currents(const char *settings)
{
	start(settings);
	safety_arm();
	currents(2, 1.5);
	SAFETY_UNTIL(measured(0, 2) && measured(1, 1.5));
}

/* ---- frames ---- */

/* The next RPDO of a drive from *at on; NULL: none. */
static const struct bus_frame *command(uint32_t drive, unsigned int *at)
{
	for (; *at < safety.frames_n; ++*at) {
		const struct bus_frame *f = &safety.frames[*at];

		if (f->frame.id >= drive && f->frame.id <= drive + CURRENT)
			return &safety.frames[(*at)++];
	}
	return NULL;
}

static double ampere(const struct bus_frame *f)
{
	return (int16_t)(f->frame.data[2] | f->frame.data[3] << 8) / AMPERE;
}

static unsigned int nmt_commands(unsigned int at)
{
	unsigned int n = 0;

	for (; at < safety.frames_n; at++)
		n += safety.frames[at].frame.id == 0;
	return n;
}

static void check_nothing_but_enabled(uint32_t drive, unsigned int at)
{
	const struct bus_frame *f;

	while ((f = command(drive, &at)))
		TEST_ASSERT_EQUAL_HEX8(ENABLE, f->frame.data[0]);
}

static unsigned int resets(uint32_t drive, unsigned int at)
{
	const struct bus_frame *f;
	unsigned int edges = 0;
	uint8_t last = RESET;

	while ((f = command(drive, &at))) {
		edges += f->frame.data[0] & RESET && !(last & RESET);
		last = f->frame.data[0];
	}
	return edges;
}

static enum msg_life life(unsigned int joint)
{
	return (enum msg_life)safety_state()->lifecycle[joint];
}

/* ---- taking over ---- */

TEST(an_enabled_drive_is_taken_over_as_it_is)
{
	unsigned int before, at;
	int64_t last_ns;

	start_with_currents(NULL);
	safety_end_driver(SIGKILL);
	safety_quiet();
	before = at = safety.frames_n;
	last_ns = safety_state()->header.t_publish_ns;
	safety_driver();
	SAFETY_UNTIL(safety_reported("taken-over-20", "taken over as it was") &&
		     safety_reported("taken-over-21", "taken over as it was"));
	TEST_ASSERT_EQUAL_PTR_MESSAGE(NULL, command(LEFT, &at), "it keeps its current, so nothing is sent");
	TEST_ASSERT_TRUE(measured(0, 2) && measured(1, 1.5));

	/* No reference comes: no longer than its guard would have kept it. */
	SAFETY_UNTIL(measured(0, 0) && measured(1, 0));
	at = before;
	TEST_ASSERT_TRUE(command(LEFT, &at)->t_ns >= last_ns + GUARD_MS * SAFETY_MS);
	at = before;
	TEST_ASSERT_TRUE(command(LEFT, &at)->t_ns <= last_ns + GUARD_MS * SAFETY_MS + 2 * TICK_NS);
	currents(1, 1);
	SAFETY_UNTIL(measured(0, 1) && measured(1, 1));
	check_nothing_but_enabled(LEFT, before);
	check_nothing_but_enabled(RIGHT, before);
	TEST_ASSERT_EQUAL_MESSAGE(0, nmt_commands(before), "no NMT");
	TEST_ASSERT_EQUAL_DOUBLE(1, safety_sim_number("enables"));
}

/* Its first command is that of the reference: the current never passes through 0. */
TEST(a_reference_goes_on_where_the_last_one_was)
{
	unsigned int before, at, n = 0;
	const struct bus_frame *f;

	start_with_currents(NULL);
	safety_end_driver(SIGKILL);
	before = at = safety.frames_n;
	safety_driver();
	currents(2, 1.5);
	SAFETY_UNTIL(life(0) == MSG_LIFE_ACTIVE);
	safety_ticks(10);
	for (; (f = command(LEFT, &at)); n++)
		TEST_ASSERT_DOUBLE_WITHIN(0.01, 2, ampere(f));
	for (at = before; (f = command(RIGHT, &at)); n++)
		TEST_ASSERT_DOUBLE_WITHIN(0.01, -1.5, ampere(f)); /* it is mounted the other way round */
	TEST_ASSERT_GREATER_THAN(10, n);
	TEST_ASSERT_EQUAL(0, nmt_commands(before));
}

/* Another program has changed the left one while there was no driver. */
TEST(a_drive_with_another_set_up_is_set_up_again)
{
	const struct frame no_heartbeat = { .id = 0x620, .len = 8, .data = { 0x2B, 0x17, 0x10 } };
	const struct bus_options options = { .filters = &wheels.answers, .filters_n = 1 };
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct bus *other;
	unsigned int before;

	start_with_currents(NULL);
	safety_end_driver(SIGKILL);
	safety_quiet();
	TEST_ASSERT_EQUAL(0, bus_open(&other, "wire:torso@other", &options, &errors));
	TEST_ASSERT_EQUAL(0, bus_send(other, &no_heartbeat));
	before = safety.frames_n;
	safety_driver();
	SAFETY_UNTIL(safety_reported("other-set-up-20", "object 0x1017.00") && safety_reported("set-up-20", "") &&
		     life(0) == MSG_LIFE_HOLDING);
	bus_close(other);
	TEST_ASSERT_EQUAL(2, nmt_commands(before));
	check_nothing_but_enabled(RIGHT, before);
	currents(1, 1);
	SAFETY_UNTIL(measured(0, 1) && measured(1, 1));
}

TEST(a_drive_that_is_missing_does_not_keep_the_other_from_working)
{
	choose();
	safety_bench(&(struct safety_set){ .watchdog_ms = GUARD_MS });
	safety_fault("power-off");
	safety_driver();
	SAFETY_UNTIL(safety_reported("silent-20", "does not answer") && safety_life() == MSG_LIFE_DISARMED);
	safety_arm();
	currents(1, 1);
	SAFETY_UNTIL(measured(1, 1));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, life(0));
	safety_fault("power-on");
	SAFETY_UNTIL(measured(0, 1));
}

/* ---- guards ---- */

static void check_guard(const char *settings)
{
	int64_t dead_ns, zero_ns;

	start_with_currents(settings);
	safety_end_driver(SIGKILL);
	dead_ns = clock_now_ns();
	safety_quiet();
	TEST_ASSERT_DOUBLE_WITHIN(0.05, 2, safety_sim_number("current"));
	SAFETY_UNTIL(safety_sim_number("current") == 0);
	zero_ns = clock_now_ns();
	TEST_ASSERT_TRUE_MESSAGE(zero_ns - dead_ns <= GUARD_MS * SAFETY_MS + TICK_NS, "its guard takes it away");
	TEST_ASSERT_TRUE_MESSAGE(zero_ns - dead_ns > GUARD_MS * SAFETY_MS / 2, "but not before");
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(safety.said, "state fault"), safety.said);
}

TEST(killed_and_never_restarted_it_leaves_no_current)
{
	check_guard(NULL);
}

TEST(node_guarding_does_the_same)
{
	check_guard("guard: node");
}

TEST(a_guard_that_ran_out_is_reset_once)
{
	unsigned int before;

	check_guard(NULL);
	before = safety.frames_n;
	safety_driver();
	SAFETY_UNTIL(safety_reported("guard-cleared-20", "while this driver was away") && life(0) == MSG_LIFE_HOLDING);
	currents(1, 1);
	SAFETY_UNTIL(measured(0, 1) && measured(1, 1));
	TEST_ASSERT_EQUAL(1, resets(LEFT, before));
	TEST_ASSERT_EQUAL(1, resets(RIGHT, before));
	TEST_ASSERT_EQUAL(0, nmt_commands(before));
}

/* ---- faults ---- */

TEST(a_fault_of_one_waits_for_clear_and_the_other_goes_on)
{
	unsigned int before;
	uint64_t id;

	start_with_currents(NULL);
	before = safety.frames_n;
	safety_fault("over-temperature");
	SAFETY_UNTIL(life(0) == MSG_LIFE_FAULT);
	TEST_ASSERT_TRUE(safety_reported("fault-20", "drive too hot"));
	safety_fault("over-temperature clear");
	safety_ticks(100);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, life(0));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, life(1));
	TEST_ASSERT_TRUE(measured(1, 1.5) && measured(0, 0));
	TEST_ASSERT_EQUAL(0, resets(LEFT, before));
	check_nothing_but_enabled(RIGHT, before);

	id = safety_request(MSG_VERB_CLEAR, "left");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL_MESSAGE(0, safety_reply(id)->result, safety_reply(id)->error);
	SAFETY_UNTIL(measured(0, 2));
	TEST_ASSERT_EQUAL(1, resets(LEFT, before));
	check_nothing_but_enabled(RIGHT, before);
}

TEST(a_drive_that_stays_in_fault_is_reported)
{
	uint64_t id;

	start_with_currents(NULL);
	safety_fault("stuck-in-fault");
	SAFETY_UNTIL(safety_reported("fault-20", "in fault"));
	id = safety_request(MSG_VERB_CLEAR, "");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL(-EIO, safety_reply(id)->result);
	TEST_ASSERT_NOT_NULL(strstr(safety_reply(id)->error, "stays in fault"));
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, life(1));
	id = safety_request(MSG_VERB_CLEAR, "middle");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL(-ENOENT, safety_reply(id)->result);
}

TEST(power_lost_by_one_waits_for_clear)
{
	unsigned int before;
	uint64_t id;

	start_with_currents(NULL);
	before = safety.frames_n;
	safety_fault("power-off");
	SAFETY_UNTIL(life(0) == MSG_LIFE_FAULT);
	safety_fault("power-on");
	SAFETY_UNTIL(safety_reported("power-lost-20", "lost its power") && safety_reported("set-up-20", "set up"));
	safety_ticks(100);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, life(0));
	TEST_ASSERT_TRUE(measured(1, 1.5));
	id = safety_request(MSG_VERB_CLEAR, "");
	SAFETY_UNTIL(safety_reply(id) && measured(0, 2));
	TEST_ASSERT_EQUAL(0, safety_reply(id)->result);
	check_nothing_but_enabled(RIGHT, before);
}

/* ---- e-stop, end, values ---- */

TEST(at_an_estop_the_current_is_0_at_once_and_the_bridge_off_later)
{
	unsigned int before, at;
	const struct bus_frame *f, *off = NULL;
	int64_t raised_ns;

	start_with_currents("disable_after: 300ms");
	raised_ns = clock_now_ns();
	before = safety.frames_n;
	safety_raise(MSG_LEVEL_ESTOP);
	SAFETY_UNTIL(safety_state()->status[0] == 0 && safety_state()->status[1] == 0);
	for (at = before; (f = command(LEFT, &at));) {
		if (f->t_ns > raised_ns + 2 * TICK_NS)
			TEST_ASSERT_EQUAL_DOUBLE(0, ampere(f));
		if (f->frame.data[0] != ENABLE && !off)
			off = f;
	}
	TEST_ASSERT_NOT_NULL(off);
	TEST_ASSERT_EQUAL_HEX8(0x06, off->frame.data[0]);
	TEST_ASSERT_TRUE(off->t_ns >= raised_ns + 300 * SAFETY_MS && off->t_ns <= raised_ns + 320 * SAFETY_MS);
	TEST_ASSERT_EQUAL(0, nmt_commands(before));
}

TEST(asked_to_end_it_switches_the_bridges_off)
{
	start_with_currents(NULL);
	safety_end_driver(SIGTERM);
	TEST_ASSERT_EQUAL(0, WEXITSTATUS(safety.driver_status));
	TEST_ASSERT_EQUAL_DOUBLE(0, safety_sim_number("current"));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(safety.said, "state ready"), safety.said);
}

TEST(voltage_and_protection_are_read)
{
	uint64_t id;

	start(NULL);
	safety_ticks(100);
	id = safety_request(MSG_VERB_GET, "voltage");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL_STRING("left 24.0 V, right 24.0 V", safety_reply(id)->value);
	id = safety_request(MSG_VERB_GET, "protection");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(safety_reply(id)->value, "left drive 0000 system 0000"),
				     safety_reply(id)->value);
	id = safety_request(MSG_VERB_GET, "colour");
	SAFETY_UNTIL(safety_reply(id));
	TEST_ASSERT_EQUAL(-ENOENT, safety_reply(id)->result);
}

int main(int argc, char **argv)
{
	char *arguments[] = { argv[0], (char[]){ "amciod" }, argc > 1 ? argv[1] : NULL, NULL };

	return safety_main(argc > 1 ? 3 : 2, arguments);
}
