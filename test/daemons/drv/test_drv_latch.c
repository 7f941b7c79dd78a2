/* test_drv_latch.c: what the loop does with a condition that only a person may end.  Also for drv_read.c. */
#include "daemons/drv/drv_inside.h"
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/testcase.h"

#define HALTED MSG_LATCH_HALTED_BY_OTHER
#define POSITION MSG_LATCH_POSITION_UNKNOWN

static bool ready; /* as of the last tick that looked */

void setUp(void)
{
	drv_lib_begin();
	ready = false;
}

void tearDown(void)
{
	drv_lib_end();
}

DRV_LIB_HOOK(read_ready, ready = fake.drv->ready);
DRV_LIB_HOOK(refer, drv_lib_put_ref(MSG_MODE_VELOCITY, 0.2, 20));
DRV_LIB_HOOK(latch, drv_latch(fake.drv, HALTED, "halted", "halted, not by %s", "this driver"));
DRV_LIB_HOOK(latch_position, drv_latch(fake.drv, POSITION, "power", "it lost its power"));
DRV_LIB_HOOK(unlatch, drv_unlatch(fake.drv, HALTED));
DRV_LIB_HOOK(clear, drv_lib_request(1, MSG_VERB_CLEAR, "", ""));
DRV_LIB_HOOK(home, drv_lib_request(2, MSG_VERB_HOME, "", ""));

static unsigned int followed(unsigned int from_tick)
{
	unsigned int n = 0;

	for (unsigned int i = from_tick; i < fake.ticks_n; i++)
		n += fake.ticks[i].orders.ref != NULL;
	return n;
}

/* ---- while it is set ---- */

TEST(a_latch_is_a_fault_that_is_named_and_nothing_is_followed)
{
	drv_lib_at(2, drv_lib_arm);
	drv_lib_at(6, latch);
	drv_lib_at(20, read_ready);
	drv_lib_always(refer);
	TEST_ASSERT_EQUAL(0, drv_lib_run(120, ""));
	TEST_ASSERT_GREATER_THAN_UINT(0, followed(0));
	TEST_ASSERT_EQUAL(0, followed(7));
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, drv_lib_last()->common.lifecycle);
	TEST_ASSERT_EQUAL_HEX32(HALTED, drv_lib_last()->common.latches);
	TEST_ASSERT_EQUAL_STRING("halted, not by this driver", drv_lib_event("halted")->text);
	TEST_ASSERT_EQUAL(MSG_SEVERITY_ERROR, drv_lib_event("halted")->severity);
	TEST_ASSERT_TRUE(ready);
}

DRV_LIB_HOOK(latch_otherwise, drv_latch(fake.drv, HALTED, "seen", "it was seen to be halted"));
DRV_LIB_HOOK(fault_like_it, drv_fault(fake.drv, DRV_ALL, "halted", "it is halted"));
DRV_LIB_HOOK(fault_unlike_it, drv_fault(fake.drv, DRV_ALL, "broken", "it is broken"));

/* For more than a second, so that a repetition would be counted. */
TEST(it_is_reported_once_for_each_reason)
{
	drv_lib_at(2, latch);
	drv_lib_at(4, latch);
	drv_lib_at(6, latch_otherwise);
	TEST_ASSERT_EQUAL(0, drv_lib_run(1500, ""));
	TEST_ASSERT_EQUAL_UINT(1, drv_lib_events("halted"));
	TEST_ASSERT_EQUAL_UINT(1, drv_lib_events("seen"));
}

TEST(a_fault_of_the_same_code_has_reported_it)
{
	drv_lib_at(2, fault_like_it);
	drv_lib_at(4, latch);
	TEST_ASSERT_EQUAL(0, drv_lib_run(1500, ""));
	TEST_ASSERT_EQUAL_UINT(1, drv_lib_events("halted"));
}

TEST(a_fault_of_another_name_has_not)
{
	drv_lib_at(2, fault_unlike_it);
	drv_lib_at(4, latch);
	TEST_ASSERT_EQUAL(0, drv_lib_run(100, ""));
	TEST_ASSERT_EQUAL_UINT(1, drv_lib_events("halted"));
}

/* Its start is never done: the device waits for a person, and so do those who need the driver, if it is not ready. */
TEST(a_driver_that_latches_in_its_start_is_ready)
{
	fake.starts_wanted = 1000;
	drv_lib_at(3, latch);
	drv_lib_at(6, read_ready);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_TRUE(ready);
}

TEST(without_a_latch_it_is_not)
{
	fake.starts_wanted = 1000;
	drv_lib_at(6, read_ready);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_FALSE(ready);
}

TEST(arming_ends_nothing)
{
	drv_lib_at(2, latch);
	drv_lib_at(4, drv_lib_arm);
	drv_lib_at(8, drv_lib_estop);
	drv_lib_at(12, drv_lib_arm);
	TEST_ASSERT_EQUAL(0, drv_lib_run(100, ""));
	TEST_ASSERT_EQUAL_HEX32(HALTED, drv_lib_last()->common.latches);
}

/* ---- over a restart ---- */

TEST(the_next_process_has_it_before_its_first_tick)
{
	drv_lib_at(2, latch);
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	drv_lib_forget();
	drv_lib_at(1, drv_lib_arm);
	drv_lib_at(5, read_ready);
	drv_lib_always(refer);
	fake.ticks_n = 0;
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL_HEX32_MESSAGE(HALTED, drv_lib.first.common.latches, "its first state says so");
	TEST_ASSERT_EQUAL_HEX32(HALTED, drv_lib_last()->common.latches);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, drv_lib_last()->common.lifecycle);
	TEST_ASSERT_EQUAL(2, drv_lib_last()->header.incarnation);
	TEST_ASSERT_EQUAL(0, followed(0));
	TEST_ASSERT_TRUE(ready);
	TEST_ASSERT_EQUAL_STRING("since before this start: halted-by-other; the request clear ends it",
				 drv_lib_event("latched")->text);
}

TEST(several_are_named_in_order)
{
	drv_lib_at(2, latch);
	drv_lib_at(3, latch_position);
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	drv_lib_forget();
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_EQUAL_STRING(
		"since before this start: position-unknown, halted-by-other; the request clear ends it",
		drv_lib_event("latched")->text);
}

TEST(a_state_that_cannot_be_read_sets_all_latches)
{
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	drv_lib_put("arm-state", "abc", 4);
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_EQUAL_HEX32(DRV_PREVIOUS_ALL, drv_lib_last()->common.latches);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, drv_lib_last()->common.lifecycle);
	TEST_ASSERT_EQUAL_MESSAGE(2, drv_lib_last()->header.incarnation, "garbage does not lower it");
	TEST_ASSERT_NOT_NULL(strstr(drv_lib_event("latched")->text, "cannot be read"));
}

TEST(a_state_that_cannot_be_read_latches_no_sensor)
{
	drv_lib_driver.ref = 0;
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	drv_lib_put("arm-state", "abc", 4);
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	drv_lib_driver.ref = msg_joint_ref_number;
	TEST_ASSERT_EQUAL_HEX32(0, drv_lib_last()->common.latches);
	TEST_ASSERT_EQUAL(MSG_LIFE_ACTIVE, drv_lib_last()->common.lifecycle);
}

static const struct msg_joint_state *before;
static double before_rad;

static void read_previous(void)
{
	before = drv_previous(fake.drv);
	before_rad = before ? before->position[0] : 0;
}

TEST(the_last_state_is_there)
{
	fake.position_rad = 1.25;
	drv_lib_at(1, read_previous);
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_NULL(before);
	fake.position_rad = 0;
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_NOT_NULL(before);
	TEST_ASSERT_EQUAL_DOUBLE(1.25, before_rad);
	drv_lib_put("arm-state", "abc", 4);
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_NULL(before);
}

/* ---- its end ---- */

static uint32_t latched_in[3];

static void see_0(void)
{
	drv_unlatch(fake.drv, HALTED);
	latched_in[0] = drv_latched(fake.drv);
}

DRV_LIB_HOOK(see_1, latched_in[1] = drv_latched(fake.drv));

/* Not before the state that says so. */
TEST(it_ends_with_the_next_state)
{
	drv_lib_at(2, latch);
	drv_lib_at(4, see_0);
	drv_lib_at(5, see_1);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL_HEX32(HALTED, latched_in[0]);
	TEST_ASSERT_EQUAL_HEX32(0, latched_in[1]);
	TEST_ASSERT_EQUAL_HEX32(HALTED, drv_lib.states[2].common.latches);
	TEST_ASSERT_EQUAL_HEX32(0, drv_lib.states[3].common.latches);
	TEST_ASSERT_EQUAL_STRING("halted is over", drv_lib_event("well")->text);
	TEST_ASSERT_EQUAL(MSG_LIFE_DISARMED, drv_lib_last()->common.lifecycle);
}

TEST(its_end_is_reported_once)
{
	drv_lib_at(2, latch);
	drv_lib_at(4, unlatch);
	TEST_ASSERT_EQUAL(0, drv_lib_run(1500, ""));
	TEST_ASSERT_EQUAL_UINT(1, drv_lib_events("well"));
}

DRV_LIB_HOOK(unlatch_position, drv_unlatch(fake.drv, POSITION));

TEST(another_does_not_end_with_it)
{
	drv_lib_at(2, latch);
	drv_lib_at(3, unlatch_position);
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_EQUAL_HEX32(HALTED, drv_lib_last()->common.latches);
	drv_lib_forget();
	drv_lib_at(2, latch_position);
	drv_lib_at(4, unlatch_position);
	TEST_ASSERT_EQUAL(0, drv_lib_run(30, ""));
	TEST_ASSERT_EQUAL_HEX32(HALTED, drv_lib_last()->common.latches);
	TEST_ASSERT_FALSE(drv_lib_reported("well"));
}

TEST(set_again_in_the_same_tick_it_stays)
{
	drv_lib_at(2, latch);
	drv_lib_at(4, unlatch);
	drv_lib_at(4, latch);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL_HEX32(HALTED, drv_lib_last()->common.latches);
}

DRV_LIB_HOOK(unwell, drv_fault(fake.drv, DRV_ALL, "broken", "it is broken"));

/* A driver that knows no clear. */
TEST(the_loop_clears_for_a_driver_that_cannot)
{
	fake.answer = -EOPNOTSUPP;
	drv_lib_at(2, latch);
	drv_lib_at(4, clear);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(0, drv_lib_answer(1)->result);
	TEST_ASSERT_EQUAL_STRING("cleared", drv_lib_answer(1)->value);
	TEST_ASSERT_EQUAL_HEX32(0, drv_lib_last()->common.latches);
}

TEST(the_loop_does_not_clear_while_the_device_is_unwell)
{
	fake.answer = -EOPNOTSUPP;
	drv_lib_at(2, latch);
	drv_lib_at(3, unwell);
	drv_lib_at(4, clear);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(-EPERM, drv_lib_answer(1)->result);
	TEST_ASSERT_EQUAL_STRING("the device is not well: broken", drv_lib_answer(1)->error);
	TEST_ASSERT_EQUAL_HEX32(HALTED, drv_lib_last()->common.latches);
}

TEST(the_loop_does_not_clear_while_the_device_starts)
{
	fake.answer = -EOPNOTSUPP;
	fake.starts_wanted = 1000;
	drv_lib_at(2, latch);
	drv_lib_at(4, clear);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL_STRING("the device is not well: it is starting", drv_lib_answer(1)->error);
	TEST_ASSERT_EQUAL_HEX32(HALTED, drv_lib_last()->common.latches);
}

static int cleared;
static char why[sizeof(((struct drv *)0)->why)];

static void clear_with_a_dead_bus(void)
{
	fake.drv->buses[0].slots.state = SLOTS_STALLED;
	cleared = drv_latch_clear(fake.drv);
	fake.drv->buses[0].slots.state = SLOTS_RUNNING;
	memcpy(why, fake.drv->why, sizeof(why));
}

TEST(the_loop_does_not_clear_while_the_bus_is_dead)
{
	drv_lib_at(2, latch);
	drv_lib_at(4, clear_with_a_dead_bus);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(-EPERM, cleared);
	TEST_ASSERT_EQUAL_STRING("the device is not well: its bus is dead", why);
	TEST_ASSERT_EQUAL_HEX32(HALTED, drv_lib_last()->common.latches);
}

TEST(a_driver_that_can_clears_by_itself)
{
	fake.answer = 0;
	drv_lib_at(2, latch);
	drv_lib_at(4, clear);
	TEST_ASSERT_EQUAL(0, drv_lib_run(50, ""));
	TEST_ASSERT_EQUAL(1, fake.requests_n);
	TEST_ASSERT_EQUAL_HEX32(HALTED, drv_lib_last()->common.latches);
}

/* ---- homing ---- */

TEST(a_halted_device_is_not_homed)
{
	drv_lib_at(2, drv_lib_arm);
	drv_lib_at(3, latch);
	drv_lib_at(6, home);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(-EPERM, drv_lib_answer(2)->result);
	TEST_ASSERT_EQUAL_STRING("latched: halted-by-other; the request clear comes first", drv_lib_answer(2)->error);
	TEST_ASSERT_EQUAL(0, fake.requests_n);
}

DRV_LIB_HOOK(begin_homing, drv_homing(fake.drv, true));

TEST(a_device_without_a_position_is_homed)
{
	drv_lib_at(2, drv_lib_arm);
	drv_lib_at(3, latch_position);
	drv_lib_at(6, home);
	drv_lib_at(8, begin_homing);
	TEST_ASSERT_EQUAL(0, drv_lib_run(60, ""));
	TEST_ASSERT_EQUAL(1, fake.requests_n);
	TEST_ASSERT_EQUAL(MSG_LIFE_FAULT, drv_lib.states[5].common.lifecycle);
	TEST_ASSERT_EQUAL(MSG_LIFE_HOMING, drv_lib_last()->common.lifecycle);
	TEST_ASSERT_EQUAL_HEX32_MESSAGE(POSITION, drv_lib_last()->common.latches, "until it is done");
}
