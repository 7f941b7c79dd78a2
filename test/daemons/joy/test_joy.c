/* test_joy.c: what a joystick asks for. */
#include <linux/input-event-codes.h>

#include "daemons/joy/joy.h"
#include "test/lib/testcase.h"

#define MS INT64_C(1000000)
#define BEGIN (1000 * MS)

/* Behind those that are used: it must not count, and not change. */
static const struct joy_axis unused = { .code = ABS_Y, .scale = 5, .low = -100, .high = 100, .value = 1 };
static struct joy joy;
static double value[JOY_AXES_MAX];

void setUp(void)
{
	joy = (struct joy){ .rules = { .deadman = BTN_TL,
				       .stop = BTN_EAST,
				       .dead_zone = 0.1,
				       .centre = true,
				       .idle_ns = 1000 * MS,
				       .frozen_ns = 100 * MS },
			    .axes_n = 2,
			    .axes = { { .code = ABS_Y, .scale = -0.5, .low = -100, .high = 100 },
				      { .code = ABS_X, .scale = 2, .low = 0, .high = 200 },
				      unused } };
	joy_plug(&joy);
}

void tearDown(void)
{
	TEST_ASSERT_EQUAL_MEMORY(&unused, &joy.axes[2], sizeof(unused));
}

static void event(uint16_t type, uint16_t code, int32_t number, int at_ms)
{
	joy_take(&joy, type, code, number, BEGIN + at_ms * MS);
}

static enum joy_state poll_at(int at_ms)
{
	joy_poll(&joy, BEGIN + at_ms * MS);
	memset(value, 0x55, sizeof(value));
	return joy_command(&joy, value);
}

/* ---- the dead-man switch ---- */

/* What is given, and the state that a poll finds then.  Codes of no device stand for calls. */
enum { PLUG = 0x300, UNPLUG, NOTHING };
struct step {
	int at_ms;
	uint16_t type, code;
	int32_t number;
	enum joy_state state;
};

static void play(const struct step *steps, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		const struct step *s = &steps[i];
		char what[96];

		if (s->code == PLUG)
			joy_plug(&joy);
		else if (s->code == UNPLUG)
			joy_unplug(&joy);
		else if (s->code != NOTHING)
			event(s->type, s->code, s->number, s->at_ms);
		snprintf(what, sizeof(what), "%s, step %zu at %d ms", name, i, s->at_ms);
		TEST_ASSERT_EQUAL_MESSAGE(s->state, poll_at(s->at_ms), what);
		for (unsigned int axis = 0; axis < JOY_AXES_MAX && s->state != JOY_ACTIVE; axis++)
			TEST_ASSERT_EQUAL_DOUBLE(0, value[axis]);
	}
}

#define PLAY(name, ...)                                             \
	do {                                                        \
		static const struct step steps[] = { __VA_ARGS__ }; \
		setUp();                                            \
		play(steps, sizeof(steps) / sizeof(*steps), name);  \
	} while (0)
#define Y(at, n, s)                     \
	{                               \
		at, EV_ABS, ABS_Y, n, s \
	}
#define X(at, n, s)                     \
	{                               \
		at, EV_ABS, ABS_X, n, s \
	}
#define HOLD(at, n, s)                   \
	{                                \
		at, EV_KEY, BTN_TL, n, s \
	}
#define NO(at, s)                    \
	{                            \
		at, 0, NOTHING, 0, s \
	}

TEST(it_commands_only_while_the_switch_is_held)
{
	PLAY("held", NO(0, JOY_RELEASED), Y(1, 50, JOY_RELEASED), Y(2, 0, JOY_RELEASED), HOLD(3, 1, JOY_ACTIVE),
	     Y(4, 100, JOY_ACTIVE), HOLD(5, 2, JOY_ACTIVE), HOLD(6, 0, JOY_RELEASED), Y(7, 0, JOY_RELEASED),
	     HOLD(8, 2, JOY_RELEASED), HOLD(9, 1, JOY_ACTIVE));
	PLAY("another button", { 0, EV_KEY, BTN_TR, 1, JOY_RELEASED }, { 1, EV_KEY, BTN_EAST, 1, JOY_RELEASED },
	     HOLD(2, 1, JOY_ACTIVE), { 3, EV_KEY, BTN_TR, 0, JOY_ACTIVE }, { 4, EV_KEY, BTN_EAST, 0, JOY_ACTIVE });
	PLAY("a code of another type", { 0, EV_REL, BTN_TL, 1, JOY_RELEASED }, HOLD(1, 1, JOY_ACTIVE),
	     { 2, EV_MSC, BTN_TL, 0, JOY_ACTIVE }, { 3, EV_SYN, SYN_REPORT, 0, JOY_ACTIVE },
	     { 4, EV_ABS, SYN_DROPPED, 0, JOY_ACTIVE });
}

TEST(unplugged_lost_events_and_a_gap_are_a_release)
{
	PLAY("unplugged", HOLD(0, 1, JOY_ACTIVE), { 1, 0, UNPLUG, 0, JOY_ABSENT }, { 2, 0, PLUG, 0, JOY_RELEASED },
	     HOLD(3, 1, JOY_ACTIVE));
	PLAY("plugged again while held", HOLD(0, 1, JOY_ACTIVE), { 1, 0, PLUG, 0, JOY_RELEASED });
	PLAY("lost events", HOLD(0, 1, JOY_ACTIVE), { 1, EV_SYN, SYN_DROPPED, 0, JOY_RELEASED }, Y(2, 0, JOY_RELEASED),
	     HOLD(3, 1, JOY_ACTIVE));
	PLAY("not read", HOLD(0, 1, JOY_ACTIVE), NO(100, JOY_ACTIVE), NO(201, JOY_RELEASED), HOLD(202, 1, JOY_ACTIVE));
	PLAY("not read, and an event waits", HOLD(0, 1, JOY_ACTIVE), Y(101, 5, JOY_RELEASED));
	/* The first poll after it is plugged in has none before. */
	PLAY("plugged", { 5000, 0, PLUG, 0, JOY_RELEASED }, HOLD(5050, 1, JOY_ACTIVE),
	     { 5060, 0, UNPLUG, 0, JOY_ABSENT }, { 9000, 0, PLUG, 0, JOY_RELEASED }, HOLD(9001, 1, JOY_ACTIVE));
}

TEST(plugged_in_the_time_of_the_last_poll_is_forgotten)
{
	poll_at(0);
	event(EV_KEY, BTN_TL, 1, 1);
	joy_unplug(&joy);
	TEST_ASSERT_FALSE(joy.held);
	joy_plug(&joy);
	event(EV_KEY, BTN_TL, 1, 5000);
	TEST_ASSERT_EQUAL(JOY_ACTIVE, poll_at(5000));
	TEST_ASSERT_EQUAL_INT64(BEGIN + 5000 * MS, joy.event_ns);
	joy_plug(&joy);
	TEST_ASSERT_EQUAL_INT64(0, joy.event_ns);
}

TEST(idle_is_a_release_until_the_switch_is_pressed_again)
{
	joy.rules.frozen_ns = INT64_MAX;
	event(EV_KEY, BTN_TL, 1, 0);
	TEST_ASSERT_EQUAL(JOY_ACTIVE, poll_at(1000));
	event(EV_ABS, ABS_Y, 20, 1000); /* an event of an axis is one */
	TEST_ASSERT_EQUAL(JOY_ACTIVE, poll_at(2000));
	event(EV_SYN, SYN_REPORT, 0, 2000); /* and this is not one */
	TEST_ASSERT_EQUAL(JOY_IDLE, poll_at(2001));
	event(EV_ABS, ABS_Y, 0, 2002);
	TEST_ASSERT_EQUAL(JOY_IDLE, poll_at(2002));
	TEST_ASSERT_EQUAL(JOY_IDLE, poll_at(9000));
	event(EV_KEY, BTN_TL, 0, 9001);
	TEST_ASSERT_EQUAL(JOY_RELEASED, poll_at(9001));
	TEST_ASSERT_EQUAL(JOY_RELEASED, poll_at(20000)); /* released, it is not idle */
	event(EV_KEY, BTN_TL, 1, 20001);
	TEST_ASSERT_EQUAL(JOY_ACTIVE, poll_at(20001));
	/* Pressed again without a release in between, it is a hold like any other. */
	TEST_ASSERT_EQUAL(JOY_IDLE, poll_at(30000));
	event(EV_KEY, BTN_TL, 1, 30001);
	TEST_ASSERT_EQUAL(JOY_ACTIVE, poll_at(30001));
	event(EV_KEY, BTN_TL, 0, 30002);
	TEST_ASSERT_EQUAL(JOY_RELEASED, poll_at(30002));
	/* Idle, then unplugged. */
	event(EV_KEY, BTN_TL, 1, 30003);
	TEST_ASSERT_EQUAL(JOY_IDLE, poll_at(40000));
	joy_unplug(&joy);
	joy_plug(&joy);
	TEST_ASSERT_EQUAL(JOY_RELEASED, poll_at(40001));
}

TEST(every_axis_has_to_be_centred_after_the_switch_is_pressed)
{
	PLAY("one is not", Y(0, 50, JOY_RELEASED), HOLD(1, 1, JOY_OFF_CENTRE), Y(2, 11, JOY_OFF_CENTRE),
	     Y(3, -11, JOY_OFF_CENTRE), Y(4, -10, JOY_ACTIVE), Y(5, 100, JOY_ACTIVE), HOLD(6, 0, JOY_RELEASED),
	     HOLD(7, 1, JOY_OFF_CENTRE), Y(8, 10, JOY_ACTIVE));
	PLAY("the last is not", X(0, 200, JOY_RELEASED), HOLD(1, 1, JOY_OFF_CENTRE), Y(2, 0, JOY_OFF_CENTRE),
	     X(3, 100, JOY_ACTIVE));
	PLAY("centred before the switch was pressed, and moved", Y(0, 0, JOY_RELEASED), Y(1, 50, JOY_RELEASED),
	     HOLD(2, 1, JOY_OFF_CENTRE));
	setUp();
	joy.rules.centre = false;
	event(EV_ABS, ABS_Y, 100, 0);
	event(EV_KEY, BTN_TL, 1, 0);
	TEST_ASSERT_EQUAL(JOY_ACTIVE, poll_at(0));
	TEST_ASSERT_EQUAL_DOUBLE(-0.5, value[0]);
}

/* ---- axes ---- */

TEST(axes_have_a_dead_zone_a_curve_and_a_scale)
{
	static const struct {
		double dead_zone, expo;
		int32_t y, x;
		double command[2];
	} rows[] = {
		{ 0, 0, 0, 100, { 0, 0 } },
		{ 0, 0, 100, 200, { -0.5, 2 } },
		{ 0, 0, -100, 0, { 0.5, -2 } },
		{ 0, 0, 50, 150, { -0.25, 1 } },
		{ 0, 0, 1000, -1000, { -0.5, -2 } }, /* beyond the range */
		{ 0.5, 0, 50, 150, { 0, 0 } },
		{ 0.5, 0, -50, 50, { 0, 0 } },
		{ 0.5, 0, 75, 25, { -0.25, -1 } },
		{ 0.5, 0, 100, 0, { -0.5, -2 } },
		{ 0, 1, 50, 150, { -0.0625, 0.25 } },
		{ 0, 1, -100, 0, { 0.5, -2 } },
		{ 0, 0.5, 50, 50, { -0.15625, -0.625 } },
	};

	joy.rules.centre = false;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char what[16];

		snprintf(what, sizeof(what), "row %zu", i);
		joy.rules.dead_zone = rows[i].dead_zone;
		joy.rules.expo = rows[i].expo;
		event(EV_ABS, ABS_Y, rows[i].y, 0);
		event(EV_ABS, ABS_X, rows[i].x, 0);
		event(EV_KEY, BTN_TL, 1, 0);
		TEST_ASSERT_EQUAL(JOY_ACTIVE, poll_at(0));
		for (unsigned int axis = 0; axis < 2; axis++)
			TEST_ASSERT_DOUBLE_WITHIN_MESSAGE(1e-12, rows[i].command[axis], value[axis], what);
		for (unsigned int axis = 2; axis < JOY_AXES_MAX; axis++)
			TEST_ASSERT_EQUAL_DOUBLE(0, value[axis]);
	}
}

TEST(an_axis_without_a_range_stays_in_the_middle)
{
	joy.axes[0].low = joy.axes[0].high = 7;
	event(EV_KEY, BTN_TL, 1, 0);
	event(EV_ABS, ABS_Y, 100, 0);
	TEST_ASSERT_EQUAL(JOY_ACTIVE, poll_at(0));
	TEST_ASSERT_EQUAL_DOUBLE(0, value[0]);
	joy.axes[0].low = 9; /* above the other */
	event(EV_ABS, ABS_Y, 100, 0);
	poll_at(0);
	TEST_ASSERT_EQUAL_DOUBLE(0, value[0]);
}

TEST(an_axis_of_two_or_three_positions)
{
	joy.axes[0].low = -1;
	joy.axes[0].high = 1;
	joy.axes[1].low = 0;
	joy.axes[1].high = 1;
	joy.rules.centre = false;
	event(EV_KEY, BTN_TL, 1, 0);
	event(EV_ABS, ABS_Y, -1, 0);
	event(EV_ABS, ABS_X, 1, 0);
	TEST_ASSERT_EQUAL(JOY_ACTIVE, poll_at(0));
	TEST_ASSERT_EQUAL_DOUBLE(0.5, value[0]);
	TEST_ASSERT_EQUAL_DOUBLE(2, value[1]);
}

TEST(a_joystick_begins_where_it_is)
{
	joy_begin(&joy, EV_ABS, ABS_Y, 100);
	joy_begin(&joy, EV_KEY, BTN_TL, 1); /* held when it was plugged in: that does not hold it */
	joy_begin(&joy, EV_REL, ABS_Y, 0);
	TEST_ASSERT_EQUAL(JOY_RELEASED, poll_at(0));
	event(EV_KEY, BTN_TL, 1, 0);
	TEST_ASSERT_EQUAL(JOY_OFF_CENTRE, poll_at(0));
	joy_plug(&joy); /* another one rests in the middle */
	event(EV_KEY, BTN_TL, 1, 0);
	TEST_ASSERT_EQUAL(JOY_ACTIVE, poll_at(0));
}

/* ---- the stop button ---- */

TEST(the_stop_button_asks_while_it_is_pressed_and_once_after)
{
	TEST_ASSERT_FALSE(joy_stop_asked(&joy));
	event(EV_KEY, BTN_EAST, 1, 0);
	TEST_ASSERT_TRUE(joy_stop_asked(&joy));
	TEST_ASSERT_TRUE(joy_stop_asked(&joy));
	event(EV_KEY, BTN_EAST, 0, 1);
	TEST_ASSERT_FALSE(joy_stop_asked(&joy));
	event(EV_KEY, BTN_EAST, 1, 2);
	event(EV_KEY, BTN_EAST, 0, 2);
	TEST_ASSERT_TRUE(joy_stop_asked(&joy));
	TEST_ASSERT_FALSE(joy_stop_asked(&joy));
	joy_begin(&joy, EV_KEY, BTN_EAST, 1);
	TEST_ASSERT_TRUE(joy_stop_asked(&joy));
	joy_begin(&joy, EV_ABS, BTN_EAST, 0);
	TEST_ASSERT_TRUE(joy_stop_asked(&joy));
	joy_plug(&joy);
	TEST_ASSERT_FALSE(joy_stop_asked(&joy));
	joy_begin(&joy, EV_KEY, BTN_EAST, 1);
	joy_unplug(&joy);
	TEST_ASSERT_FALSE(joy_stop_asked(&joy));
	/* Pressed and unplugged within a tick, it was pressed. */
	joy_plug(&joy);
	event(EV_KEY, BTN_EAST, 1, 3);
	joy_unplug(&joy);
	TEST_ASSERT_TRUE(joy_stop_asked(&joy));
}

TEST(without_a_stop_button_no_code_is_one)
{
	joy.rules.stop = JOY_NO_BUTTON;
	event(EV_KEY, JOY_NO_BUTTON, 1, 0);
	joy_begin(&joy, EV_KEY, JOY_NO_BUTTON, 1);
	event(EV_KEY, BTN_EAST, 1, 0);
	TEST_ASSERT_FALSE(joy_stop_asked(&joy));
}
