/* test_stall.c: a soft wire that stands for a second under two drivers at 1 kHz, in every way it can; and what was
 * on it when it came back.
 * waits: mostly */

#include "test/lib/testcase.h"

#include "can/bus/attach.h"
#include "test/can/bus/wire_lib.h"
#include "test/can/slots/stall_lib.h"

#define SECOND_NS 1000000000
#define HEARD 100 /* references of each driver after it */

static long outages;

static bool purged(void)
{
	return wire_lib_number("torso", "torso", "outages") > outages;
}

static const struct stall_bus wire = {
	.near = "wire:torso", .far = "wire:torso@device", .deadline_ns = 5000000, .exact = true, .purged = purged
};

/* Not through a program: that would take longer than a frame may wait for the trace. */
static void ask(const char *question)
{
	static char answer[ATTACH_ANSWER_MAX];
	struct error_sink errors = { .line = error_to_stderr };

	TEST_ASSERT_EQUAL_INT_MESSAGE(0, attach_question("wire:torso", question, answer, sizeof(answer), &errors),
				      question);
}

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	outages = wire_lib_number("torso", "torso", "outages");
}

void tearDown(void)
{
	stall_clean();
	ask("fault clear");
	ask("link up host");
}

static void broken_by(const char *fault)
{
	ask(fault);
	stall_broke();
}

static void without_power(void)
{
	broken_by("fault power off device");
	stall_unheard();
}

static void back_by(const char *fault)
{
	stall_back();
	ask(fault);
	stall_until_heard(HEARD);
	stall_end();
}

/* ---- stalled ---- */

TEST(stalled_and_reset)
{
	stall_begin(&wire, STALL_RESETS);
	broken_by("fault stuck 60s");
	stall_for(SECOND_NS);
	stall_until_reset();
	back_by("fault stuck off");
	stall_check(0, 0);
}

TEST(stalled_without_a_reset)
{
	stall_begin(&wire, 0);
	broken_by("fault stuck 60s");
	stall_for(SECOND_NS);
	stall_until_state(SLOTS_STALLED);
	back_by("fault stuck off");
	stall_check(1, 2);
}

/* ---- power ---- */

/* No node is left to acknowledge. */
TEST(device_without_power_and_reset)
{
	stall_begin(&wire, STALL_RESETS);
	without_power();
	stall_for(SECOND_NS);
	stall_until_reset();
	back_by("fault power on device");
	stall_check(0, 0);
}

TEST(device_without_power_is_not_reset)
{
	stall_begin(&wire, 0);
	without_power();
	stall_for(SECOND_NS);
	stall_until_state(SLOTS_STALLED);
	back_by("fault power on device");
	stall_check(1, 2);
}

TEST(bus_without_power)
{
	stall_begin(&wire, 0);
	without_power();
	ask("fault power off host");
	stall_for(SECOND_NS);
	stall_until_state(SLOTS_DOWN);
	stall_back();
	ask("fault power on host");
	back_by("fault power on device");
	stall_check(0, 0);
}

/* ---- bus-off ---- */

TEST(bus_off_again_and_again)
{
	stall_begin(&wire, STALL_RESETS | STALL_RESTARTS);
	broken_by("fault corrupt 100%");
	stall_for(SECOND_NS);
	TEST_ASSERT_GREATER_THAN_UINT(1, stall_restarts());
	back_by("fault corrupt off");
	stall_check(0, 0);
}

/* Bus-off for a controller that was sending, passive for a controller that was not and cannot start now. */
TEST(shorted)
{
	stall_begin(&wire, STALL_RESETS | STALL_RESTARTS);
	broken_by("fault stuck dominant 60s");
	stall_for(SECOND_NS);
	stall_until_reset();
	back_by("fault stuck off");
	stall_check(0, 0);
}

/* Open somewhere: a sender does not even hear itself, which is bus-off for every one. */
TEST(open_wire)
{
	stall_begin(&wire, STALL_RESTARTS);
	broken_by("fault stuck recessive 60s");
	stall_until_state(SLOTS_DOWN);
	stall_for(SECOND_NS);
	back_by("fault stuck off");
	TEST_ASSERT_GREATER_THAN_UINT(0, stall_restarts());
	stall_check(0, 0);
}

/* ---- death ---- */

TEST(driver_killed_and_reset)
{
	stall_begin(&wire, STALL_RESETS);
	broken_by("fault stuck 60s");
	stall_until_full();
	stall_kill(0);
	stall_for(SECOND_NS);
	stall_until_reset();
	back_by("fault stuck off");
	stall_check(0, 0);
}

TEST(driver_killed_without_a_reset)
{
	stall_begin(&wire, 0);
	broken_by("fault stuck 60s");
	stall_for(SECOND_NS);
	stall_until_state(SLOTS_STALLED);
	stall_kill(0);
	back_by("fault stuck off");
	stall_check(1, 2);
}

void testcase_begin(void)
{
	wire_lib_start("torso");
}
