/* test_drv_info.c: what the loop says of a device on NAME-info: drv_info.c, drv_part.c. */
#include <math.h>

#include "channels/clock/clock.h"
#include "daemons/drv/drv_inside.h"
#include "test/daemons/drv/test_drv_lib.h"
#include "test/lib/testcase.h"

static struct msg_device_info info;

void setUp(void)
{
	drv_lib_begin();
}

void tearDown(void)
{
	drv_lib_end();
}

/* On a log, with these further keys of the device; then its first info. */
static void run_with(const char *device, double ms, const char *more)
{
	char text[1024], line[512];

	snprintf(text, sizeof(text),
		 "robot: lab\nbuses:\n  lab: {interface: \"log:%s\"}\ndevices:\n  arm: {driver: faked, bus: lab%s}\n",
		 drv_lib_log(ms), device);
	snprintf(line, sizeof(line), "--name arm --set lock_memory=no --config %s %s", drv_lib_file("lab.yaml", text),
		 more);
	TEST_ASSERT_EQUAL_MESSAGE(0, drv_lib_main(line), drv_lib.said);
	drv_lib_get("arm-info", &info, msg_device_info_number);
}

TEST(the_robot_file_is_what_it_says)
{
	run_with(", limits: {position: [-1, 2], velocity: 0.5, acceleration: 2, jerk: 30, current: 7}", 20,
		 "--set ref_max=33ms");
	TEST_ASSERT_EQUAL_UINT32(1, info.header.incarnation);
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(DRV_LIB_START_NS, info.header.t_publish_ns);
	TEST_ASSERT_EQUAL_STRING("faked", info.driver);
	TEST_ASSERT_EQUAL_STRING("joint-state", info.state_type);
	TEST_ASSERT_EQUAL_STRING("joint-ref", info.ref_type);
	TEST_ASSERT_EQUAL_INT64(DRV_LIB_TICK_NS, info.period_ns);
	TEST_ASSERT_EQUAL_INT64(33 * DRV_LIB_MS, info.valid_max_ns);
	TEST_ASSERT_EQUAL_UINT32(1, info.count);
	TEST_ASSERT_EQUAL_STRING("elbow", info.joint[0]);
	TEST_ASSERT_EQUAL_HEX32(MSG_MODE_BIT_POSITION | MSG_MODE_BIT_VELOCITY | MSG_MODE_BIT_CURRENT, info.modes[0]);
	TEST_ASSERT_EQUAL_DOUBLE(-1, info.position_min[0]);
	TEST_ASSERT_EQUAL_DOUBLE(2, info.position_max[0]);
	TEST_ASSERT_EQUAL_DOUBLE(0.5, info.velocity[0]);
	TEST_ASSERT_EQUAL_DOUBLE(2, info.acceleration[0]);
	TEST_ASSERT_EQUAL_DOUBLE(30, info.jerk[0]);
	TEST_ASSERT_EQUAL_DOUBLE(7, info.current[0]);
}

TEST(no_limit_is_infinite)
{
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	drv_lib_get("arm-info", &info, msg_device_info_number);
	TEST_ASSERT_EQUAL_DOUBLE(-INFINITY, info.position_min[0]);
	TEST_ASSERT_EQUAL_DOUBLE(INFINITY, info.position_max[0]);
	TEST_ASSERT_EQUAL_DOUBLE(INFINITY, info.velocity[0]);
	TEST_ASSERT_EQUAL_DOUBLE(INFINITY, info.jerk[0]);
	TEST_ASSERT_EQUAL_INT64(5 * DRV_LIB_TICK_NS, info.valid_max_ns);
}

/* Also once the device is up, which may have limits of its own. */
TEST(it_is_there_before_the_first_tick_and_once_a_second)
{
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL_UINT64(2, drv_lib_seq("arm-info"));
	TEST_ASSERT_EQUAL(0, drv_lib_run(2500, ""));
	TEST_ASSERT_EQUAL_UINT64(2 + 4, drv_lib_seq("arm-info"));
}

static int declare_odd(struct drv *drv, struct error_sink *errors)
{
	const unsigned int joints[] = { 2, 1 };
	const int blind = drv_add_joint(drv, "blind", errors), absent = drv_add_joint(drv, "absent", errors);

	drv_joint_no_position(drv, (unsigned int)blind);
	drv_joint_absent(drv, (unsigned int)absent);
	return drv_add_part(drv, "hand", joints, 2, errors) < 0 ? -1 : 0;
}

TEST(modes_are_those_that_a_joint_can_follow)
{
	fake.declare = declare_odd;
	drv_lib_driver.complies = true;
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	drv_lib_get("arm-info", &info, msg_device_info_number);
	TEST_ASSERT_EQUAL_UINT32(3, info.count);
	TEST_ASSERT_EQUAL_HEX32(MSG_MODE_BIT_POSITION | MSG_MODE_BIT_VELOCITY | MSG_MODE_BIT_CURRENT |
					MSG_MODE_BIT_COMPLIANT,
				info.modes[0]);
	TEST_ASSERT_EQUAL_HEX32(MSG_MODE_BIT_VELOCITY | MSG_MODE_BIT_CURRENT, info.modes[1]);
	TEST_ASSERT_EQUAL_HEX32(0, info.modes[2]);
}

TEST(a_part_has_its_own_joints)
{
	fake.declare = declare_odd;
	TEST_ASSERT_EQUAL(0, drv_lib_run(20, ""));
	TEST_ASSERT_EQUAL_UINT64(2, drv_lib_seq("arm-hand-info"));
	drv_lib_get("arm-hand-info", &info, msg_device_info_number);
	TEST_ASSERT_EQUAL_STRING("faked", info.driver);
	TEST_ASSERT_EQUAL_UINT32(2, info.count);
	TEST_ASSERT_EQUAL_STRING("absent", info.joint[0]);
	TEST_ASSERT_EQUAL_STRING("blind", info.joint[1]);
	TEST_ASSERT_EQUAL_STRING("", info.joint[2]);
	TEST_ASSERT_EQUAL_HEX32(0, info.modes[0]);
	TEST_ASSERT_EQUAL_HEX32(MSG_MODE_BIT_VELOCITY | MSG_MODE_BIT_CURRENT, info.modes[1]);
}

static void tighten(void)
{
	struct drv_ref_limits narrow = drv_ref_no_limits;

	narrow.velocity_rad_s = 0.1;
	drv_ref_tighten(drv_limits(fake.drv, 0), &narrow);
}

TEST(what_the_device_says_tightens_the_limits)
{
	struct msg_device_info newest;
	ach_channel_t chan;
	size_t len;

	drv_lib_at(1, tighten); /* while it starts */
	run_with(", limits: {velocity: 0.5, acceleration: 2}", 20, "");
	TEST_ASSERT_EQUAL_DOUBLE(0.5, info.velocity[0]);
	TEST_ASSERT_EQUAL(ACH_OK, ach_open(&chan, drv_lib_channel("arm-info"), NULL));
	ach_get(&chan, &newest, sizeof(newest), &len, NULL, ACH_O_LAST);
	ach_close(&chan);
	TEST_ASSERT_EQUAL_DOUBLE(0.1, newest.velocity[0]);
}

DRV_LIB_HOOK(remove_info, drv_lib_remove("arm-info"); drv_lib_remove("arm-hand-info"));

TEST(a_removed_channel_comes_back)
{
	fake.declare = declare_odd;
	drv_lib_at(10, remove_info);
	TEST_ASSERT_EQUAL(0, drv_lib_run(2500, ""));
	TEST_ASSERT_EQUAL_UINT64(2, drv_lib_seq("arm-info"));
	TEST_ASSERT_EQUAL_UINT64(2, drv_lib_seq("arm-hand-info"));
}
