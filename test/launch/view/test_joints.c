/* test_joints.c: which joints a robot has, and what is odd about them. */
#include <math.h>

#include "test/lib/testcase.h"

#include "launch/view/joints.h"

#define ALL 4

static struct robot_channels channels;
static struct robot_channel rooms[ALL];
static struct msg_joint_state states[ALL];
static struct joint joints[JOINTS_MAX];

/* A device with these joints, "a b c", all as usual. */
static struct msg_joint_state *add(const char *name, const char *list)
{
	struct robot_channel *one = &rooms[channels.n];
	struct msg_joint_state *s = &states[channels.n];
	char words[64], *word, *rest;

	*one = (struct robot_channel){ .ours = true, .state = true, .joints = s };
	snprintf(one->name, sizeof(one->name), "%s-state", name);
	channels.at[channels.n++] = one;
	memset(s, 0, sizeof(*s));
	s->common.lifecycle = MSG_LIFE_ACTIVE;
	snprintf(words, sizeof(words), "%s", list);
	for (word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		strcpy(s->joint[s->count], word);
		s->temperature[s->count] = NAN;
		s->lifecycle[s->count++] = MSG_LIFE_ACTIVE;
	}
	return s;
}

static size_t list(void)
{
	return joints_list(&channels, joints);
}

void setUp(void)
{
	channels.n = 0;
}

TEST(test_each_joint_is_there_once)
{
	static struct robot_channel other = { .name = "imu-state" };

	add("hubo", "RSP RSR WST");
	add("hubo-rarm", "RSP RSR"); /* a limb */
	add("hubo-2", "RSP");	     /* another robot's would look so, too: the same joint */
	add("huboid", "RSP");
	channels.at[channels.n++] = &other;
	TEST_ASSERT_EQUAL_size_t(4, list());
	TEST_ASSERT_EQUAL_STRING("hubo", joints[2].device);
	TEST_ASSERT_EQUAL_STRING("WST", joints[2].name);
	TEST_ASSERT_EQUAL_STRING("huboid", joints[3].device);
	strcpy(states[1].joint[1], "LSR"); /* which the whole does not have */
	TEST_ASSERT_EQUAL_size_t(6, list());
}

TEST(devices_with_the_same_joint_are_not_parts_of_each_other)
{
	add("knee", "knee");
	add("knee-2", "knee");
	TEST_ASSERT_EQUAL_size_t(2, list());
}

TEST(test_joint_that_the_robot_does_not_have_is_left_out)
{
	struct msg_joint_state *s = add("hubo", "a b c");

	s->lifecycle[0] = s->lifecycle[1] = MSG_LIFE_DOWN;
	s->position[0] = NAN;
	TEST_ASSERT_EQUAL_size_t(2, list());
	TEST_ASSERT_EQUAL_STRING("b", joints[0].name);
	TEST_ASSERT_EQUAL_STRING("down", joints[0].doubt);
}

TEST(test_what_is_odd)
{
	static const struct {
		uint32_t life, flags;
		enum status_rank rank;
		const char *doubt;
	} cases[] = {
		{ MSG_LIFE_ACTIVE, MSG_JOINT_HOMED | MSG_JOINT_ENABLED | MSG_JOINT_MOVING, STATUS_FINE, "" },
		{ MSG_LIFE_ACTIVE, MSG_JOINT_BRAKED, STATUS_FINE, "" },
		{ MSG_LIFE_ACTIVE, MSG_JOINT_COMPLIANT, STATUS_FINE, "compliant" },
		{ MSG_LIFE_HOMING, 0, STATUS_FINE, "homing" },
		{ MSG_LIFE_ACTIVE, MSG_JOINT_LIMIT_HIGH | MSG_JOINT_WARNING, STATUS_ODD, "warning, limit-high" },
		{ MSG_LIFE_FAULT, 0, STATUS_BAD, "fault" },
		{ MSG_LIFE_FAULT, MSG_JOINT_FAULT | MSG_JOINT_SILENT, STATUS_BAD, "fault, silent" },
		{ MSG_LIFE_HOLDING, MSG_JOINT_SILENT, STATUS_BAD, "holding, silent" },
		{ 99, ~0u & ~(MSG_JOINT_FAULT | MSG_JOINT_SILENT | MSG_JOINT_COMPLIANT), STATUS_ODD,
		  "unknown, warning, limit-low, limit-high" },
	};
	struct msg_joint_state *s = add("arm", "a");

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		s->lifecycle[0] = cases[i].life;
		s->status[0] = cases[i].flags;
		TEST_ASSERT_EQUAL_size_t(1, list());
		TEST_ASSERT_EQUAL_STRING(cases[i].doubt, joints[0].doubt);
		TEST_ASSERT_EQUAL_INT(cases[i].rank, joints[0].rank);
		TEST_ASSERT_FALSE(joints[0].old);
	}
}

TEST(test_old_state_is_said_to_be_old)
{
	add("arm", "a");
	rooms[0].read_ns = 3100000000;
	list();
	TEST_ASSERT_TRUE(joints[0].old);
	TEST_ASSERT_EQUAL_STRING("no state for 3 s", joints[0].doubt);
	TEST_ASSERT_EQUAL_INT(STATUS_BAD, joints[0].rank);
}

TEST(test_position_is_compared_with_the_limits_of_the_device)
{
	static struct msg_device_info info = { .count = 6,
					       .joint = { "a", "b", "c", "d", "e", "f" },
					       .position_min = { -1, -INFINITY, -1, 2, 0, NAN },
					       .position_max = { 3, INFINITY, INFINITY, 1, 1, 1 } };
	static struct robot_channel room = { .name = "arm-info", .info = &info },
				    other = { .name = "ar-info", .info = &info };
	static const double expected[] = { 0.25, NAN, NAN, NAN, NAN, NAN, NAN };
	struct msg_joint_state *s = add("arm", "a b c d e f g");

	channels.at[channels.n++] = &other;
	s->position[4] = NAN;
	list();
	TEST_ASSERT_TRUE(isnan(joints[0].at)); /* that is another device */
	channels.at[channels.n++] = &room;
	TEST_ASSERT_EQUAL_size_t(7, list());
	for (size_t i = 0; i < 7; i++)
		TEST_ASSERT_EQUAL_DOUBLE(expected[i], joints[i].at);
	s->position[0] = 3.4; /* beyond */
	list();
	TEST_ASSERT_EQUAL_DOUBLE(1.1, joints[0].at);
	info.count = UINT32_MAX;
	list();
	info.count = 6;
}

TEST(test_any_message_can_be_listed)
{
	struct msg_joint_state *s = add("arm", "");

	memset(s, 0xff, sizeof(*s));
	TEST_ASSERT_EQUAL_size_t(MSG_JOINTS, list());
	TEST_ASSERT_EQUAL_STRING("???????????????????????", joints[0].name);
	TEST_ASSERT_TRUE(isnan(joints[0].position_rad));
}
