/* test_controld.c: controld as a process, on the virtual clock; the test plays the device. */
#include <errno.h>
#include <math.h>
#include <signal.h>

#include "channels/clock/clock.h"
#include "test/daemons/drv/controller_lib.h"
#include "test/lib/estop_talk.h"
#include "test/lib/testcase.h"

#define MS CONTROLLER_LIB_MS
#define START(more)                                                                             \
	controller_lib_start("controld", "--name control --set device=waist --set source=none " \
					 "--set acceleration=2 " more)

static struct msg_joint_ref ref;
static struct msg_joint_state state;

void setUp(void)
{
	controller_lib_begin();
	controller_lib.follows = true;
}

void tearDown(void)
{
	controller_lib_end();
}

static int set(const char *key, const char *value)
{
	return controller_lib_request("control", MSG_VERB_SET, key, value);
}

static void read_state(void)
{
	controller_lib_newest("control-state", &state, sizeof(state));
}

#define POSITION (controller_lib.waist.position[0])

/* So many ms in which the references make no step: 0.43 rad/s at most, and 2 rad/s^2. */
static void smooth(int ms)
{
	static double last_rad_s;

	for (int i = 0; i < ms; i += 5) {
		const double rad_s = controller_lib.waist.velocity[0];

		controller_lib_ms(5);
		TEST_ASSERT_TRUE(fabs(controller_lib.waist.velocity[0]) <= 0.43 + 1e-6);
		if (i)
			TEST_ASSERT_TRUE(fabs(rad_s - last_rad_s) <= 2 * 0.010 + 1e-6);
		last_rad_s = rad_s;
	}
}

TEST(a_move_arrives_and_ends)
{
	START("");
	controller_lib_arm();
	controller_lib_ms(10);
	TEST_ASSERT_EQUAL_INT(0, set("move", "waist 1 0.43"));
	TEST_ASSERT_EQUAL_INT(0, controller_lib_request("control", MSG_VERB_GET, "goal", ""));
	TEST_ASSERT_EQUAL_STRING("move", controller_lib_said);
	smooth(1000);
	read_state();
	TEST_ASSERT_EQUAL_STRING("waist", state.joint[0]);
	TEST_ASSERT_EQUAL(MSG_JOINT_MOVING, state.status[0]);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, POSITION, state.position[0]);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.43, state.velocity[0]);
	TEST_ASSERT_TRUE(isnan(state.position[1]));
	TEST_ASSERT_TRUE(controller_lib_ref(&ref));
	TEST_ASSERT_EQUAL(MSG_MODE_NONE, ref.mode[1]);
	smooth(2000);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1, POSITION);
	TEST_ASSERT_FALSE(controller_lib_ref(&ref));
	read_state();
	TEST_ASSERT_EQUAL(0, state.status[0]);
	TEST_ASSERT_EQUAL(0, controller_lib_stop(SIGTERM));
}

TEST(a_command_that_cannot_be_done_is_refused_with_a_reason)
{
	static const struct {
		const char *key, *value, *why;
		int status;
	} cases[] = {
		{ "move", "1", "waist has several joints: name one", -EINVAL },
		{ "move", "hip 1", "waist has no joint hip", -EINVAL },
		{ "move", "waist", "expected move [JOINT] ANGLE [SPEED], in rad and rad/s", -EINVAL },
		{ "jump", "waist 1", "controld cannot change that while it runs", -EOPNOTSUPP },
	};

	START("");
	TEST_ASSERT_EQUAL_INT(-EPERM, set("move", "waist 1"));
	TEST_ASSERT_EQUAL_STRING("not armed: nothing moves at level estop", controller_lib_said);
	controller_lib_arm();
	controller_lib_ms(10);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].status, set(cases[i].key, cases[i].value), cases[i].why);
		TEST_ASSERT_EQUAL_STRING(cases[i].why, controller_lib_said);
	}
	TEST_ASSERT_FALSE(controller_lib_ref(&ref));
}

static void stops_at(enum msg_level level)
{
	TEST_ASSERT_EQUAL_INT(0, set("swing", "waist 0.5 -0.5 0.43"));
	controller_lib_ms(300);
	TEST_ASSERT_TRUE(controller_lib_ref(&ref));
	estop_talk_raise_both(level);
	controller_lib_ms(50);
	TEST_ASSERT_FALSE(controller_lib_ref(&ref));
	controller_lib_arm();
	controller_lib_ms(100);
	TEST_ASSERT_FALSE(controller_lib_ref(&ref)); /* only by a new command */
}

TEST(hold_and_estop_end_a_motion_for_good)
{
	START("");
	controller_lib_arm();
	controller_lib_ms(10);
	stops_at(MSG_LEVEL_HOLD);
	stops_at(MSG_LEVEL_ESTOP);
	TEST_ASSERT_EQUAL_INT(0, set("swing", "waist 0.5 -0.5 0.43"));
	controller_lib_ms(100);
	TEST_ASSERT_TRUE(controller_lib_ref(&ref));
	TEST_ASSERT_EQUAL_INT(0, set("stop", "now"));
	controller_lib_ms(50);
	TEST_ASSERT_FALSE(controller_lib_ref(&ref));
}

TEST(after_a_restart_of_the_device_it_goes_on_from_where_it_is)
{
	double before;

	START("");
	controller_lib_arm();
	controller_lib_ms(10);
	TEST_ASSERT_EQUAL_INT(0, set("move", "waist 1 0.43"));
	smooth(1000);
	before = POSITION;
	controller_lib_restart();
	controller_lib_ms(20);
	TEST_ASSERT_EQUAL_DOUBLE(before, POSITION);
	smooth(2500);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1, POSITION);
}

TEST(the_first_command_is_carried_out_once_armed_but_not_after_a_restart)
{
#define FIRST "--set first='move waist 0.2' --set sign=-1"
	START(FIRST);
	controller_lib_ms(500);
	TEST_ASSERT_EQUAL_DOUBLE(0, POSITION);
	controller_lib_arm();
	controller_lib_ms(3000);
	TEST_ASSERT_DOUBLE_WITHIN(1e-6, -0.2, POSITION);
	controller_lib_stop(SIGKILL);
	controller_lib.waist.position[0] = 0;
	START(FIRST);
	controller_lib_ms(1000);
	TEST_ASSERT_EQUAL_DOUBLE(0, POSITION);
}
