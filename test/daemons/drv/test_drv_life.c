/* test_drv_life.c: the lifecycle, every state with every event, and every event with all that is known. */
#include "test/lib/testcase.h"

#include "daemons/drv/drv_life.h"

#define STATES (MSG_LIFE_STOPPING + 1)

/* ---- events ---- */

static void event_is(enum drv_life_event event, struct drv_life_now now)
{
	TEST_ASSERT_EQUAL_INT(event, drv_life_event(&now));
}

TEST(test_the_first_that_holds)
{
	struct drv_life_now now = {
		.stop = true, .fault = true, .homing = true, .ref = true, .level = MSG_LEVEL_ESTOP
	};

	event_is(DRV_LIFE_STOP, now);
	now.stop = false;
	event_is(DRV_LIFE_FAULT, now);
	now.fault = false;
	event_is(DRV_LIFE_BUSY, now);
	now.up = true;
	event_is(DRV_LIFE_ESTOP, now);
	now.level = MSG_LEVEL_HOLD;
	event_is(DRV_LIFE_HOLD, now);
	now.level = MSG_LEVEL_RUN;
	event_is(DRV_LIFE_HOMING, now);
	now.homing = false;
	event_is(DRV_LIFE_REF, now);
	now.ref = false;
	event_is(DRV_LIFE_IDLE, now);
}

/* At hold a driver that balances goes on; at estop none does. */
TEST(test_a_driver_that_balances_goes_on_at_hold)
{
	struct drv_life_now now = { .up = true, .balances = true, .level = MSG_LEVEL_HOLD };

	event_is(DRV_LIFE_IDLE, now);
	now.ref = true;
	event_is(DRV_LIFE_REF, now);
	now.homing = true;
	event_is(DRV_LIFE_HOMING, now);
	now.level = MSG_LEVEL_ESTOP;
	event_is(DRV_LIFE_ESTOP, now);
	now.level = MSG_LEVEL_RUN;
	event_is(DRV_LIFE_HOMING, now);
}

TEST(test_an_invalid_level_counts_as_estop)
{
	event_is(DRV_LIFE_ESTOP, (struct drv_life_now){ .up = true, .ref = true, .level = MSG_LEVEL_ESTOP + 1 });
}

/* ---- states ---- */

/* A letter for what each state becomes at STOP FAULT BUSY ESTOP HOLD HOMING IDLE REF. */
static const char letters[STATES + 1] = "-sdhmaf."; /* down starting disarmed holding homing active fault stopping */

static void becomes(enum msg_life state, bool sensor, const char *expected)
{
	char got[DRV_LIFE_EVENTS + 1] = "";

	for (int event = 0; event < DRV_LIFE_EVENTS; event++)
		got[event] = letters[drv_life_next(state, (enum drv_life_event)event, sensor)];
	TEST_ASSERT_EQUAL_STRING(expected, got);
}

TEST(test_actuated)
{
	becomes(MSG_LIFE_DOWN, false, ".fsdhhhh");
	becomes(MSG_LIFE_STARTING, false, ".fsdhhhh");
	becomes(MSG_LIFE_DISARMED, false, ".fsdhhhh");
	becomes(MSG_LIFE_HOLDING, false, ".fsdhmha");
	becomes(MSG_LIFE_HOMING, false, ".fsdhmhh");
	becomes(MSG_LIFE_ACTIVE, false, ".fsdhmha");
	becomes(MSG_LIFE_FAULT, false, ".fsdhhhh");
	becomes(MSG_LIFE_STOPPING, false, "........");
}

TEST(test_sensor)
{
	for (int state = MSG_LIFE_DOWN; state < MSG_LIFE_STOPPING; state++)
		becomes((enum msg_life)state, true, ".fsaaaaa");
	becomes(MSG_LIFE_STOPPING, true, "........");
}

static bool moves(enum msg_life state)
{
	return state == MSG_LIFE_HOMING || state == MSG_LIFE_ACTIVE;
}

/* Whatever came before, one tick of holding lies between a state without power over the device and motion. */
TEST(test_holding_comes_before_motion)
{
	for (int state = 0; state < STATES; state++)
		for (int event = 0; event < DRV_LIFE_EVENTS; event++) {
			enum msg_life next = drv_life_next((enum msg_life)state, (enum drv_life_event)event, false);

			if (moves(next) && !moves((enum msg_life)state))
				TEST_ASSERT_EQUAL_INT(MSG_LIFE_HOLDING, state);
			if (event == DRV_LIFE_STOP || event == DRV_LIFE_FAULT || event == DRV_LIFE_BUSY ||
			    event == DRV_LIFE_ESTOP || event == DRV_LIFE_HOLD || event == DRV_LIFE_IDLE)
				TEST_ASSERT_FALSE(moves(next));
		}
}
