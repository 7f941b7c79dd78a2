/* ROS 2 messages as references and as an e-stop: what is taken, what is refused and why. */
#include <math.h>

#include "channels/ros/ros_map.h"
#include "test/lib/testcase.h"

static uint8_t cdr[4096];
static uint64_t message[MSG_SIZE_MAX / 8];
static char error[160];
static const char *const joints[] = { "hip", "knee", "ankle" };
static struct ros_context context;

void setUp(void)
{
	context = (struct ros_context){ .joints = joints, .joints_n = 3 };
	strcpy(error, "none");
}

void tearDown(void)
{
}

static int decode(const char *type, const char *into, const struct cdr_out *o)
{
	uint8_t *copy = malloc(o->len); /* of exactly that size, for the sanitizer */
	int r;

	memcpy(copy, o->bytes, o->len);
	memset(message, 0xFF, sizeof(message)); /* NaN, also behind the message */
	r = ros_decode(ros_type_by_name(type), copy, o->len, &context, msg_type_by_name(into), message, error,
		       sizeof(error));
	free(copy);
	return r;
}

/* Each shorter one is refused. */
static void refuses_cuts(const char *type, const char *into, const struct cdr_out *whole)
{
	for (size_t len = 0; len < whole->len; len++) {
		const struct cdr_out cut = { whole->bytes, whole->room, len };

		TEST_ASSERT_EQUAL_INT(-1, decode(type, into, &cut));
		TEST_ASSERT_EQUAL_STRING(len < 4 ? "not plain CDR" : "the message is cut off or not of its type",
					 error);
	}
}

static void is_fresh(const char *type)
{
	const struct msg_header *h = (const struct msg_header *)message;
	const struct msg_type *t = msg_type_by_name(type);
	const struct msg_header expected = { .type = t->number,
					     .version = t->version,
					     .size = (uint32_t)t->body->size };

	TEST_ASSERT_EQUAL_MEMORY(&expected, h, sizeof(expected));
}

/* ---- joint-ref ---- */

struct joint_state {
	const char *names[5];
	uint32_t names_n, positions, velocities, efforts;
	double position[4], velocity[4];
	const char *error; /* NULL: taken */
};

static struct cdr_out joint_state(const struct joint_state *s)
{
	static const double effort[4];
	struct cdr_out o = cdr_out(cdr, sizeof(cdr));

	cdr_put_i32(&o, 1);
	cdr_put_u32(&o, 2);
	cdr_put_string(&o, "base", 4);
	cdr_put_u32(&o, s->names_n);
	for (uint32_t i = 0; i < s->names_n; i++)
		cdr_put_string(&o, s->names[i], 80);
	cdr_put_u32(&o, s->positions);
	cdr_put(&o, s->position, 8, s->positions);
	cdr_put_u32(&o, s->velocities);
	cdr_put(&o, s->velocity, 8, s->velocities);
	cdr_put_u32(&o, s->efforts);
	cdr_put(&o, effort, 8, s->efforts);
	return o;
}

TEST(joint_states_are_taken_by_name)
{
	static const struct joint_state rows[] = {
		{ { "ankle", "hip" }, 2, 2, 0, 0, { 0.5, -0.25 }, { 0 }, NULL },
		{ { "ankle", "hip" }, 2, 2, 2, 2, { 0.5, -0.25 }, { 9, 9 }, NULL },
		{ { "ankle", "hip" }, 2, 0, 2, 0, { 0 }, { 0.5, -0.25 }, NULL },
		{ { "ankle", "hip" }, 2, 0, 0, 2, { 0 }, { 0 }, "neither position nor velocity is given" },
		{ { "ankle", "hipp" }, 2, 2, 0, 0, { 0 }, { 0 }, "\"hipp\" is not a joint of the device" },
		{ { "ankle", "hi" }, 2, 2, 0, 0, { 0 }, { 0 }, "\"hi\" is not a joint of the device" },
		{ { "ankle", "kne1" }, 2, 2, 0, 0, { 0 }, { 0 }, "\"kne1\" is not a joint of the device" },
		{ { "hip", "hip" }, 2, 2, 0, 0, { 0 }, { 0 }, "\"hip\" is named twice" },
		{ { "ankle", "ankle" }, 2, 2, 0, 0, { 0 }, { 0 }, "\"ankle\" is named twice" },
		{ { "knee", "hip", "knee" }, 3, 3, 0, 0, { 0 }, { 0 }, "\"knee\" is named twice" },
		{ { "ankle", "hip" }, 2, 1, 0, 0, { 0 }, { 0 }, "position has length 1, but there are 2 names" },
		{ { "ankle", "hip" }, 2, 0, 3, 0, { 0 }, { 0 }, "velocity has length 3, but there are 2 names" },
		{ { "ankle", "hip" }, 2, 2, 0, 0, { 0, NAN }, { 0 }, "position[1] is not a finite number" },
		{ { "ankle", "hip" }, 2, 2, 2, 0, { 0 }, { INFINITY }, "velocity[0] is not a finite number" },
		{ { "hip", "knee", "ankle", "toe" }, 4, 4, 0, 0, { 0 }, { 0 }, "4 joints, but the device has 3" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct msg_joint_ref *ref = (const struct msg_joint_ref *)message;
		const struct cdr_out o = joint_state(&rows[i]);
		const int r = decode("sensor_msgs/msg/JointState", "joint-ref", &o);
		const bool by_position = rows[i].positions;
		const double *values = by_position ? ref->position : ref->velocity;
		const double *others = by_position ? ref->velocity : ref->position;

		if (rows[i].error) {
			TEST_ASSERT_EQUAL_INT(-1, r);
			TEST_ASSERT_EQUAL_STRING(rows[i].error, error);
			continue;
		}
		TEST_ASSERT_EQUAL_INT_MESSAGE(0, r, error);
		is_fresh("joint-ref");
		TEST_ASSERT_EQUAL_UINT32(3, ref->count);
		TEST_ASSERT_EQUAL_UINT32(by_position ? MSG_MODE_POSITION : MSG_MODE_VELOCITY, ref->mode[0]);
		TEST_ASSERT_EQUAL_UINT32(MSG_MODE_NONE, ref->mode[1]);
		TEST_ASSERT_EQUAL_UINT32(ref->mode[0], ref->mode[2]);
		TEST_ASSERT_EQUAL_DOUBLE(-0.25, values[0]);
		TEST_ASSERT_EQUAL_DOUBLE(0, values[1]);
		TEST_ASSERT_EQUAL_DOUBLE(0.5, values[2]);
		for (int k = 0; k < MSG_JOINTS; k++)
			TEST_ASSERT_TRUE(others[k] == 0 && ref->current[k] == 0);
	}
}

TEST(all_joints_may_be_named)
{
	static const struct joint_state s = { { "ankle", "hip", "knee" }, 3, 3, 0, 0, { 1, 2, 3 }, { 0 }, NULL };
	const struct msg_joint_ref *ref = (const struct msg_joint_ref *)message;
	const struct cdr_out o = joint_state(&s);

	TEST_ASSERT_EQUAL_INT(0, decode("sensor_msgs/msg/JointState", "joint-ref", &o));
	TEST_ASSERT_EQUAL_DOUBLE(3, ref->position[1]);
}

TEST(joint_states_that_are_cut_are_refused)
{
	static const struct joint_state s = { { "ankle", "hip" }, 2, 2, 2, 0, { 1, 2 }, { 3, 4 }, NULL };
	struct cdr_out o = joint_state(&s);

	o.len -= 4; /* effort is not read: it is not used */
	refuses_cuts("sensor_msgs/msg/JointState", "joint-ref", &o);
}

/* As many joints as a reference has room for. */
TEST(every_joint_of_a_large_device_is_taken)
{
	const struct msg_joint_ref *ref = (const struct msg_joint_ref *)message;
	struct cdr_out o = cdr_out(cdr, sizeof(cdr));
	static char names[MSG_JOINTS][8];
	const char *many[MSG_JOINTS];

	cdr_put_i32(&o, 0);
	cdr_put_u32(&o, 0);
	cdr_put_string(&o, "", 0);
	cdr_put_u32(&o, MSG_JOINTS);
	for (int i = 0; i < MSG_JOINTS; i++) {
		snprintf(names[i], sizeof(names[i]), "j%d", i);
		many[i] = names[i];
		cdr_put_string(&o, names[i], sizeof(names[i]));
	}
	for (int list = 0; list < 2; list++) {
		cdr_put_u32(&o, MSG_JOINTS);
		for (int i = 0; i < MSG_JOINTS; i++)
			cdr_put_f64(&o, i);
	}
	context = (struct ros_context){ .joints = many, .joints_n = MSG_JOINTS };
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, decode("sensor_msgs/msg/JointState", "joint-ref", &o), error);
	for (int i = 0; i < MSG_JOINTS; i++)
		TEST_ASSERT_EQUAL_DOUBLE(i, ref->position[i]);
}

/* A string takes four bytes at least, an empty one without its zero. */
TEST(names_may_be_as_short_as_can_be)
{
	struct cdr_out o = cdr_out(cdr, sizeof(cdr));
	const char *many[MSG_JOINTS];

	for (int i = 0; i < MSG_JOINTS; i++)
		many[i] = "x";
	context = (struct ros_context){ .joints = many, .joints_n = MSG_JOINTS };
	cdr_put_i32(&o, 0);
	cdr_put_u32(&o, 0);
	cdr_put_u32(&o, 0);
	cdr_put_u32(&o, MSG_JOINTS);
	for (int i = 0; i < MSG_JOINTS; i++)
		cdr_put_u32(&o, 0);
	TEST_ASSERT_EQUAL_INT(-1, decode("sensor_msgs/msg/JointState", "joint-ref", &o));
	TEST_ASSERT_EQUAL_STRING("\"\" is not a joint of the device", error);
}

static struct cdr_out array(uint32_t dims, uint32_t offset, uint32_t n, double value)
{
	struct cdr_out o = cdr_out(cdr, sizeof(cdr));

	cdr_put_u32(&o, dims);
	for (uint32_t i = 0; i < dims; i++) {
		cdr_put_string(&o, "x", 1);
		cdr_put_u32(&o, 3);
		cdr_put_u32(&o, 3);
	}
	cdr_put_u32(&o, offset);
	cdr_put_u32(&o, n);
	for (uint32_t i = 0; i < n; i++)
		cdr_put_f64(&o, value + i);
	return o;
}

TEST(arrays_are_positions_of_all_joints)
{
	static const struct {
		uint32_t dims, offset, n;
		double value;
		const char *error;
	} rows[] = {
		{ 0, 0, 3, 1, NULL },
		{ 2, 0, 3, 1, NULL },
		{ 0, 1, 3, 1, "data_offset is not 0" },
		{ 0, 0, 2, 1, "data has length 2, but the device has 3 joints" },
		{ 0, 0, 4, 1, "data has length 4, but the device has 3 joints" },
		{ 0, 0, 3, NAN, "data[0] is not a finite number" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct cdr_out o = array(rows[i].dims, rows[i].offset, rows[i].n, rows[i].value);
		const struct msg_joint_ref *ref = (const struct msg_joint_ref *)message;

		TEST_ASSERT_EQUAL_INT(rows[i].error ? -1 : 0,
				      decode("std_msgs/msg/Float64MultiArray", "joint-ref", &o));
		if (rows[i].error) {
			TEST_ASSERT_EQUAL_STRING(rows[i].error, error);
			continue;
		}
		is_fresh("joint-ref");
		TEST_ASSERT_EQUAL_UINT32(3, ref->count);
		for (int k = 0; k < 3; k++) {
			TEST_ASSERT_EQUAL_UINT32(MSG_MODE_POSITION, ref->mode[k]);
			TEST_ASSERT_EQUAL_DOUBLE(1 + k, ref->position[k]);
		}
		refuses_cuts("std_msgs/msg/Float64MultiArray", "joint-ref", &o);
	}
}

/* A dimension takes twelve bytes at least: a label without its zero, and two numbers. */
TEST(dimensions_may_be_as_short_as_can_be)
{
	struct cdr_out o = cdr_out(cdr, sizeof(cdr));

	cdr_put_u32(&o, 60);
	for (int i = 0; i < 3 * 60; i++)
		cdr_put_u32(&o, 0);
	cdr_put_u32(&o, 0);
	cdr_put_u32(&o, 3);
	for (int i = 0; i < 3; i++)
		cdr_put_f64(&o, i);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, decode("std_msgs/msg/Float64MultiArray", "joint-ref", &o), error);
}

TEST(a_device_has_no_more_joints_than_a_reference)
{
	const char *many[MSG_JOINTS + 2];
	struct cdr_out o;

	for (int i = 0; i < MSG_JOINTS + 2; i++)
		many[i] = "x";
	context = (struct ros_context){ .joints = many, .joints_n = MSG_JOINTS + 2 };
	o = array(0, 0, MSG_JOINTS, 1);
	TEST_ASSERT_EQUAL_INT(0, decode("std_msgs/msg/Float64MultiArray", "joint-ref", &o));
}

/* ---- balance-ref ---- */

TEST(a_twist_is_speed_and_turn_rate)
{
	static const char *const names[] = { NULL, "linear.y", "linear.z", "angular.x", "angular.y", NULL };
	const struct msg_balance_ref *ref = (const struct msg_balance_ref *)message;

	for (int i = 0; i < 6; i++) {
		double v[6] = { 0.5, 0, 0, 0, 0, -1 };
		struct cdr_out o = cdr_out(cdr, sizeof(cdr));
		char expected[160];

		cdr_put(&o, v, 8, 6);
		TEST_ASSERT_EQUAL_INT(0, decode("geometry_msgs/msg/Twist", "balance-ref", &o));
		is_fresh("balance-ref");
		TEST_ASSERT_EQUAL_DOUBLE(0.5, ref->speed);
		TEST_ASSERT_EQUAL_DOUBLE(-1, ref->turn_rate);
		refuses_cuts("geometry_msgs/msg/Twist", "balance-ref", &o);

		v[i] = NAN;
		o = cdr_out(cdr, sizeof(cdr));
		cdr_put(&o, v, 8, 6);
		TEST_ASSERT_EQUAL_INT(-1, decode("geometry_msgs/msg/Twist", "balance-ref", &o));
		TEST_ASSERT_EQUAL_STRING("a component of the twist is not a finite number", error);

		v[i] = 0.25;
		o = cdr_out(cdr, sizeof(cdr));
		cdr_put(&o, v, 8, 6);
		TEST_ASSERT_EQUAL_INT(names[i] ? -1 : 0, decode("geometry_msgs/msg/Twist", "balance-ref", &o));
		if (!names[i])
			continue;
		snprintf(expected, sizeof(expected), "%s is not 0, but the robot moves by linear.x and angular.z only",
			 names[i]);
		TEST_ASSERT_EQUAL_STRING(expected, error);
	}
}

/* ---- estop ---- */

TEST(a_string_raises_the_e_stop_and_is_the_reason)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "smoke", "smoke" },
		{ "", "" },
		{ "a\xff\nb", "a??b" },
		{ "123456789012345678901234567890123456789012345678901234567890"
		  "12345678901234567890123456789012345678901234567890"
		  "12345678\xc3\xa4",
		  "123456789012345678901234567890123456789012345678901234567890"
		  "12345678901234567890123456789012345678901234567890"
		  "12345678" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct msg_estop *stop = (const struct msg_estop *)message;
		struct cdr_out o = cdr_out(cdr, sizeof(cdr));

		cdr_put_string(&o, rows[i].text, 999);
		TEST_ASSERT_EQUAL_INT(0, decode("std_msgs/msg/String", "estop", &o));
		is_fresh("estop");
		TEST_ASSERT_EQUAL_UINT32(MSG_ESTOP_RAISE, stop->kind);
		TEST_ASSERT_EQUAL_UINT32(MSG_LEVEL_ESTOP, stop->level);
		TEST_ASSERT_EQUAL_STRING(rows[i].why, stop->why);
		TEST_ASSERT_EQUAL_STRING("", stop->who);
		refuses_cuts("std_msgs/msg/String", "estop", &o);
	}
}

TEST(the_e_stop_is_raised_to_a_level_and_never_lowered)
{
	for (uint32_t level = 0; level < 5; level++) {
		const struct msg_estop *stop = (const struct msg_estop *)message;
		struct cdr_out o = cdr_out(cdr, sizeof(cdr));
		const bool raises = level == MSG_LEVEL_HOLD || level == MSG_LEVEL_ESTOP;
		char expected[80];

		cdr_put_u32(&o, level);
		cdr_put_string(&o, "why", 3);
		TEST_ASSERT_EQUAL_INT(raises ? 0 : -1, decode("endplate_msgs/msg/EstopRaise", "estop", &o));
		snprintf(expected, sizeof(expected), "level %u is neither hold (1) nor estop (2)", level);
		if (!raises) {
			TEST_ASSERT_EQUAL_STRING(expected, error);
			continue;
		}
		is_fresh("estop");
		TEST_ASSERT_EQUAL_UINT32(MSG_ESTOP_RAISE, stop->kind);
		TEST_ASSERT_EQUAL_UINT32(level, stop->level);
		TEST_ASSERT_EQUAL_STRING("why", stop->why);
		refuses_cuts("endplate_msgs/msg/EstopRaise", "estop", &o);
	}
}

/* ---- own types ---- */

TEST(own_references_come_back_without_stamps_and_validity)
{
	static const char *const types[] = { "joint-ref", "gripper-ref", "balance-ref" };

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		const struct msg_type *type = msg_type_by_name(types[i]);
		const struct ros_map *map = ros_map_for(type->number, ROS_OWN);
		uint64_t sent[MSG_SIZE_MAX / 8];
		struct cdr_out o = { cdr, sizeof(cdr), 0 };
		struct msg_header h;

		msg_init(sent, type);
		if (type->number == msg_joint_ref_number)
			((struct msg_joint_ref *)sent)->count = 2;
		if (type->number == msg_gripper_ref_number)
			((struct msg_gripper_ref *)sent)->count = 2;
		if (type->number == msg_balance_ref_number)
			((struct msg_balance_ref *)sent)->turn_rate = 0.5;
		memcpy(&h, sent, sizeof(h));
		h.sequence = h.incarnation = h.for_incarnation = h.flags = 7;
		h.t_sample_ns = h.t_publish_ns = h.valid_until_ns = 99;
		memcpy(sent, &h, sizeof(h));
		o.len = ros_encode(map, sent, type->body->size, &context, cdr, sizeof(cdr));
		TEST_ASSERT_EQUAL_INT_MESSAGE(0, decode(map->type_name, types[i], &o), error);
		is_fresh(types[i]);
		msg_init(sent, type); /* and the fields as they were */
		TEST_ASSERT_EQUAL_MEMORY(sent, message, sizeof(h));
		if (type->number == msg_balance_ref_number)
			TEST_ASSERT_EQUAL_DOUBLE(0.5, ((struct msg_balance_ref *)message)->turn_rate);
		refuses_cuts(map->type_name, types[i], &o);
	}
}

TEST(own_references_that_are_not_finite_are_refused)
{
	struct msg_gripper_ref ref;
	struct cdr_out o = { cdr, sizeof(cdr), 0 };

	msg_init(&ref, msg_type_by_name("gripper-ref"));
	ref.count = 2;
	ref.speed[1] = NAN;
	o.len = ros_encode(ros_map_for(msg_gripper_ref_number, ROS_OWN), &ref, sizeof(ref), &context, cdr, sizeof(cdr));
	TEST_ASSERT_EQUAL_INT(-1, decode("endplate_msgs/msg/GripperRef", "gripper-ref", &o));
	TEST_ASSERT_EQUAL_STRING("speed[1] is not a finite number", error);
	ref.speed[1] = 0;
	ref.speed[0] = INFINITY;
	o.len = ros_encode(ros_map_for(msg_gripper_ref_number, ROS_OWN), &ref, sizeof(ref), &context, cdr, sizeof(cdr));
	TEST_ASSERT_EQUAL_INT(-1, decode("endplate_msgs/msg/GripperRef", "gripper-ref", &o));
	TEST_ASSERT_EQUAL_STRING("speed[0] is not a finite number", error);
	ref.speed[0] = 0;
	ref.speed[1] = NAN;
	ref.count = 1;
	o.len = ros_encode(ros_map_for(msg_gripper_ref_number, ROS_OWN), &ref, sizeof(ref), &context, cdr, sizeof(cdr));
	TEST_ASSERT_EQUAL_INT(0, decode("endplate_msgs/msg/GripperRef", "gripper-ref", &o));
}

TEST(no_other_pair_of_types_is_decoded)
{
	struct cdr_out o = cdr_out(cdr, sizeof(cdr));
	size_t pairs = 0;

	for (size_t i = 0; i < ros_types_n; i++)
		for (size_t k = 0; k < msg_types_n; k++)
			pairs += ros_decodes(&ros_types[i], &msg_types[k]);
	TEST_ASSERT_EQUAL_size_t(8, pairs);
	TEST_ASSERT_TRUE(ros_decodes(ros_type_by_name("geometry_msgs/msg/Twist"), msg_type_by_name("balance-ref")));
	TEST_ASSERT_EQUAL_INT(-1, decode("geometry_msgs/msg/Twist", "joint-ref", &o));
	TEST_ASSERT_EQUAL_STRING("geometry_msgs/msg/Twist does not become joint-ref", error);
}
