/* Endplate messages as ROS 2 messages, field by field, as tables.
 * Also for ros_encode.c, ros_diag.c, ros_put.c. */
#include <math.h>

#include "channels/ros/ros_map.h"
#include "channels/ros/ros_own.h"
#include "test/lib/testcase.h"

#define WALL_NS INT64_C(1700000000000000000)

static uint8_t cdr[ROS_CDR_MAX];
static struct ros_context context;

void setUp(void)
{
	context = (struct ros_context){ .device = "waist", .wall_ns = WALL_NS };
	memset(cdr, 0xEE, sizeof(cdr));
}

void tearDown(void)
{
}

/* ---- reading what was written ---- */

static struct cdr_in encoded(const struct ros_map *map, const void *msg)
{
	const struct msg_type *type = msg_type_by_number(map->msg);
	const size_t len = ros_encode(map, msg, type->body->size, &context, cdr, sizeof(cdr));

	TEST_ASSERT_GREATER_THAN_size_t(0, len);
	return cdr_in(cdr, len);
}

static struct cdr_in as_ros(const char *name, const void *msg)
{
	struct msg_header h;
	const struct ros_map *map;

	memcpy(&h, msg, sizeof(h));
	map = ros_map_of(h.type, NULL);
	while (map && strcmp(map->type_name, name) != 0)
		map = ros_map_of(h.type, map);
	TEST_ASSERT_NOT_NULL_MESSAGE(map, name);
	return encoded(map, msg);
}

static void is_text(struct cdr_in *in, const char *expected)
{
	size_t len;
	const char *text = cdr_get_string(in, &len);
	char copy[256] = "";

	memcpy(copy, text, len < sizeof(copy) ? len : sizeof(copy) - 1);
	TEST_ASSERT_EQUAL_STRING(expected, copy);
}

static void is_header(struct cdr_in *in, int32_t sec, uint32_t nanosec, const char *frame_id)
{
	TEST_ASSERT_EQUAL_INT32(sec, cdr_get_i32(in));
	TEST_ASSERT_EQUAL_UINT32(nanosec, cdr_get_u32(in));
	is_text(in, frame_id);
}

static double get_real(struct cdr_in *in)
{
	double v;

	cdr_get(in, &v, sizeof(v), 1);
	return v;
}

static void is_real(struct cdr_in *in, double expected)
{
	const double v = get_real(in);

	TEST_ASSERT_TRUE_MESSAGE(isnan(expected) ? isnan(v) : v == expected, "a number differs");
}

static void is_reals(struct cdr_in *in, const double *expected, uint32_t n)
{
	TEST_ASSERT_EQUAL_UINT32(n, cdr_get_u32(in));
	for (uint32_t i = 0; i < n; i++)
		is_real(in, expected[i]);
}

static void is_float(struct cdr_in *in, float expected)
{
	float v;

	cdr_get(in, &v, sizeof(v), 1);
	TEST_ASSERT_TRUE_MESSAGE(isnan(expected) ? isnan(v) : v == expected, "a number differs");
}

static void is_end(const struct cdr_in *in)
{
	TEST_ASSERT_FALSE(in->bad);
	TEST_ASSERT_EQUAL_size_t(in->len, in->at);
}

#define START(msg, of)                                   \
	struct of msg;                                   \
	msg_init(&msg, msg_type_by_number(of##_number)); \
	msg.header.t_sample_ns = 2500000000;             \
	msg.header.t_publish_ns = 9000000000

/* ---- the table ---- */

TEST(every_message_has_its_own_type_and_every_mapping_a_type)
{
	for (size_t i = 0; i < msg_types_n; i++) {
		const struct ros_map *own = ros_map_for(msg_types[i].number, ROS_OWN), *last = NULL;
		char name[ROS_OWN_NAME_MAX], full[ROS_NAME_MAX];
		enum ros_use use = ROS_STANDARD;

		TEST_ASSERT_NOT_NULL_MESSAGE(own, msg_types[i].name);
		snprintf(full, sizeof(full), "endplate_msgs/msg/%s", ros_own_name(name, msg_types[i].body));
		TEST_ASSERT_EQUAL_STRING(full, own->type_name);
		for (const struct ros_map *map = ros_map_of(msg_types[i].number, NULL); map;
		     map = ros_map_of(msg_types[i].number, map)) {
			TEST_ASSERT_NOT_NULL_MESSAGE(ros_map_type(map), map->type_name);
			TEST_ASSERT_EQUAL_STRING(map->type_name, ros_map_type(map)->name);
			TEST_ASSERT_TRUE(map->use >= use);
			TEST_ASSERT_EQUAL(map->use == ROS_OWN, !map->topic);
			use = map->use;
			last = map;
		}
		TEST_ASSERT_EQUAL_PTR(own, last);
		TEST_ASSERT_EQUAL(msg_is_state(&msg_types[i]) || msg_types[i].number == msg_bus_stats_number ||
					  msg_types[i].number == msg_estop_number,
				  ros_map_for(msg_types[i].number, ROS_DIAGNOSTICS) != NULL);
	}
	TEST_ASSERT_NULL(ros_map_of(9999, NULL));
	TEST_ASSERT_NULL(ros_map_for(msg_joint_ref_number, ROS_STANDARD));
}

TEST(types_are_found_by_both_forms_of_their_name)
{
	static const char *const unknown[] = {
		"",
		"/",
		"JointState",
		"sensor_msgs",
		"sensor_msgs/",
		"sensor_msgs/msg",
		"sensor_msgs/JointStates",
		"sensor_msgs/JointStat",
		"sensor_msg/JointState",
		"sensor_msgs/msgs/JointState",
		"sensor_msgs/msg/msg/JointState",
		"sensor_msgs/msg/Nothing",
		"a/of_a_package_with_a_name_that_is_longer_than_any_that_could_be_known_here",
	};
	const struct ros_type *type = ros_type_by_name("sensor_msgs/msg/JointState");

	TEST_ASSERT_NOT_NULL(type);
	TEST_ASSERT_EQUAL_STRING("sensor_msgs::msg::dds_::JointState_", type->dds_name);
	TEST_ASSERT_EQUAL_PTR(type, ros_type_by_name("sensor_msgs/JointState"));
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		TEST_ASSERT_NULL_MESSAGE(ros_type_by_name(unknown[i]), unknown[i]);
	for (size_t i = 0; i < ros_types_n; i++) {
		TEST_ASSERT_NOT_NULL_MESSAGE(ros_types[i].hash, ros_types[i].name);
		TEST_ASSERT_EQUAL_size_t(7 + 64, strlen(ros_types[i].hash));
		TEST_ASSERT_EQUAL_PTR(&ros_types[i], ros_type_by_name(ros_types[i].name));
	}
}

TEST(what_is_not_a_message_of_the_type_or_does_not_fit_is_not_encoded)
{
	START(s, msg_imu);
	const struct ros_map *map = ros_map_for(msg_imu_number, ROS_STANDARD);
	const size_t len = ros_encode(map, &s, sizeof(s), &context, cdr, sizeof(cdr));
	char shifted[sizeof(s) + 1];

	TEST_ASSERT_EQUAL_size_t(0, ros_encode(map, &s, sizeof(s) - 1, &context, cdr, sizeof(cdr)));
	TEST_ASSERT_EQUAL_size_t(0, ros_encode(map, &s, sizeof(s), &context, cdr, len - 1));
	TEST_ASSERT_EQUAL_size_t(len, ros_encode(map, &s, sizeof(s), &context, cdr, len));
	memcpy(shifted + 1, &s, sizeof(s)); /* at an odd address */
	TEST_ASSERT_EQUAL_size_t(len, ros_encode(map, shifted + 1, sizeof(s), &context, cdr, len));
	s.header.version++;
	TEST_ASSERT_EQUAL_size_t(0, ros_encode(map, &s, sizeof(s), &context, cdr, sizeof(cdr)));
}

static const void *encoded_from;

static void note_place(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c)
{
	(void)c;
	encoded_from = msg;
	cdr_put_bytes(o, msg, type->body->size);
}

/* Some processors cannot read a struct from any place; to copy each message would take time. */
TEST(only_a_message_that_is_not_aligned_is_copied)
{
	static const struct ros_map map = { .msg = msg_imu_number, .encode = note_place };
	static uint64_t room[sizeof(struct msg_imu) / 8 + 1];
	START(s, msg_imu);

	for (size_t at = 0; at <= 8; at++) {
		const void *given = memcpy((char *)room + at, &s, sizeof(s));

		memset(cdr, 0, sizeof(cdr));
		TEST_ASSERT_EQUAL_size_t(CDR_HEADER + sizeof(s),
					 ros_encode(&map, given, sizeof(s), &context, cdr, sizeof(cdr)));
		TEST_ASSERT_EQUAL_MEMORY(&s, cdr + CDR_HEADER, sizeof(s));
		TEST_ASSERT_EQUAL_size_t(0, (uintptr_t)encoded_from % 8);
		TEST_ASSERT_EQUAL(at % 8 == 0, encoded_from == given);
	}
}

/* The fullest message that there can be. */
TEST(any_message_fits_into_the_room_that_is_always_enough)
{
	for (size_t i = 0; i < msg_types_n; i++) {
		uint64_t msg[MSG_SIZE_MAX / 8];
		struct msg_header h;

		memset(msg, 0xFF, sizeof(msg)); /* counts beyond all room, names without end, NaN */
		memset(&h, 0xFF, sizeof(h));
		h.type = msg_types[i].number;
		h.version = msg_types[i].version;
		h.size = (uint32_t)msg_types[i].body->size;
		memcpy(msg, &h, sizeof(h));
		for (const struct ros_map *map = ros_map_of(msg_types[i].number, NULL); map;
		     map = ros_map_of(msg_types[i].number, map))
			encoded(map, msg);
	}
}

/* ---- standard types ---- */

TEST(stamps_are_of_the_sample_or_of_the_publication_plus_the_offset)
{
	static const struct {
		int64_t sample_ns, publish_ns, wall_ns;
		int32_t sec;
		uint32_t nanosec;
	} rows[] = {
		{ 2500000000, 9, WALL_NS, 1700000002, 500000000 },
		{ 0, 3000000001, WALL_NS, 1700000003, 1 },
		{ 2500000000, 9, 0, 2, 500000000 },
		{ 2500000000, 9, -3000000000, -1, 500000000 },
		{ 2000000000, 9, -3000000000, -1, 0 },
		{ INT64_MAX, 9, 1, (int32_t)-633437445, 145224192 }, /* no clock has it: modulo 2^64 */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		START(s, msg_ft);
		struct cdr_in in;

		s.header.t_sample_ns = rows[i].sample_ns;
		s.header.t_publish_ns = rows[i].publish_ns;
		context.wall_ns = rows[i].wall_ns;
		in = as_ros("geometry_msgs/msg/WrenchStamped", &s);
		is_header(&in, rows[i].sec, rows[i].nanosec, "waist");
	}
}

TEST(joint_states_have_names_positions_and_velocities)
{
	static const char *const names[] = { "a", "b" };
	START(s, msg_joint_state);
	struct cdr_in in;

	s.count = 3;
	strcpy(s.joint[0], "hip");
	for (int i = 0; i < MSG_JOINTS; i++) {
		s.position[i] = i + 0.5;
		s.velocity[i] = NAN;
		s.current[i] = 7;
	}
	s.position[1] = NAN;
	context.joints = names;
	context.joints_n = 2;
	context.frame_id = "base";
	in = as_ros("sensor_msgs/msg/JointState", &s);
	is_header(&in, 1700000002, 500000000, "base");
	TEST_ASSERT_EQUAL_UINT32(3, cdr_get_u32(&in));
	is_text(&in, "hip");
	is_text(&in, "b");
	is_text(&in, "waist_2");
	is_reals(&in, (double[]){ 0.5, NAN, 2.5 }, 3);
	is_reals(&in, NULL, 0); /* of no joint is a velocity known */
	is_reals(&in, NULL, 0); /* a current is not an effort */
	is_end(&in);

	s.velocity[2] = 4;
	s.count = MSG_JOINTS + 1;
	context = (struct ros_context){ .wall_ns = 0 };
	in = as_ros("sensor_msgs/msg/JointState", &s);
	is_header(&in, 2, 500000000, "");
	TEST_ASSERT_EQUAL_UINT32(MSG_JOINTS, cdr_get_u32(&in));
	is_text(&in, "hip");
	is_text(&in, "_1");
}

TEST(a_list_is_given_if_one_joint_was_measured)
{
	for (int measured = 0; measured < 4; measured++) {
		START(s, msg_joint_state);
		struct cdr_in in;

		s.count = 3; /* the fourth does not count */
		for (int i = 0; i < MSG_JOINTS; i++)
			s.position[i] = s.velocity[i] = i == measured ? 2 : NAN;
		memset(s.joint[0], 'x', sizeof(s.joint[0])); /* without a zero */
		in = as_ros("sensor_msgs/msg/JointState", &s);
		is_header(&in, 1700000002, 500000000, "waist");
		TEST_ASSERT_EQUAL_UINT32(3, cdr_get_u32(&in));
		is_text(&in, "xxxxxxxxxxxxxxxxxxxxxxxx");
		is_text(&in, "waist_1");
		is_text(&in, "waist_2");
		for (int list = 0; list < 2; list++)
			is_reals(&in, s.position, measured < 3 ? 3 : 0);
	}
}

static void is_covariance(struct cdr_in *in, double first)
{
	is_real(in, first);
	for (int i = 1; i < 9; i++)
		is_real(in, 0);
}

TEST(an_imu_has_its_orientation_as_x_y_z_w)
{
	for (int unknown = -1; unknown < 4; unknown++) {
		START(s, msg_imu);
		struct cdr_in in;

		for (int i = 0; i < 4; i++)
			s.orientation[i] = i == unknown ? NAN : 0.1 * (i + 1); /* w x y z */
		for (int i = 0; i < 3; i++) {
			s.rate[i] = i + 1;
			s.acceleration[i] = i + 4;
		}
		in = as_ros("sensor_msgs/msg/Imu", &s);
		is_header(&in, 1700000002, 500000000, "waist");
		is_real(&in, unknown < 0 ? 0.1 * 2 : 0);
		is_real(&in, unknown < 0 ? 0.1 * 3 : 0);
		is_real(&in, unknown < 0 ? 0.1 * 4 : 0);
		is_real(&in, unknown < 0 ? 0.1 : 1);
		is_covariance(&in, unknown < 0 ? 0 : -1);
		for (int i = 0; i < 3; i++)
			is_real(&in, i + 1);
		is_covariance(&in, 0);
		for (int i = 0; i < 3; i++)
			is_real(&in, i + 4);
		is_covariance(&in, 0);
		is_end(&in);
	}
}

TEST(the_temperature_of_an_imu_is_in_degrees)
{
	START(s, msg_imu);
	struct cdr_in in;

	s.temperature = 273.15 + 25;
	in = as_ros("sensor_msgs/msg/Temperature", &s);
	is_header(&in, 1700000002, 500000000, "waist");
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 25, get_real(&in));
	is_real(&in, 0);
	is_end(&in);
}

TEST(a_wrench_is_force_then_torque)
{
	START(s, msg_ft);
	struct cdr_in in;

	for (int i = 0; i < 3; i++) {
		s.force[i] = i + 1;
		s.torque[i] = -i - 1;
		s.bias_force[i] = 100;
	}
	in = as_ros("geometry_msgs/msg/WrenchStamped", &s);
	is_header(&in, 1700000002, 500000000, "waist");
	for (int i = 0; i < 3; i++)
		is_real(&in, i + 1);
	for (int i = 0; i < 3; i++)
		is_real(&in, -i - 1);
	is_end(&in);
}

TEST(a_battery_has_status_and_health)
{
	static const struct {
		double current;
		uint32_t alarms, cells;
		uint8_t status, health;
	} rows[] = {
		{ -2, 0, 0, 2, 1 },
		{ 2, MSG_ALARM_OVER_TEMPERATURE, 2, 1, 2 },
		{ 0, MSG_ALARM_OVER_VOLTAGE | MSG_ALARM_UNDER_TEMPERATURE, 2, 3, 4 },
		{ NAN, MSG_ALARM_UNDER_TEMPERATURE | MSG_ALARM_INTERNAL, 3, 0, 6 },
		{ 1, MSG_ALARM_INTERNAL, MSG_CELLS, 1, 5 },
		{ 1, MSG_ALARM_CHARGE_REFUSED, MSG_CELLS + 1, 1, 5 },
		{ 1, MSG_ALARM_OVER_TEMPERATURE | MSG_ALARM_OVER_VOLTAGE, 1, 1, 2 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const uint32_t cells = rows[i].cells < MSG_CELLS ? rows[i].cells : MSG_CELLS;
		START(s, msg_battery);
		struct cdr_in in;

		s.voltage = 48.5;
		s.current = rows[i].current;
		s.charge = 0.75;
		s.health = 0.9;
		s.temperature = 273.15 + 20;
		s.alarms = rows[i].alarms;
		s.cell_count = rows[i].cells;
		for (uint32_t k = 0; k < cells; k++)
			s.cell[k] = 3 + k;
		in = as_ros("sensor_msgs/msg/BatteryState", &s);
		is_header(&in, 1700000002, 500000000, "waist");
		is_float(&in, 48.5f);
		is_float(&in, 20.0f);
		is_float(&in, (float)rows[i].current);
		for (int k = 0; k < 3; k++)
			is_float(&in, NAN);
		is_float(&in, 0.75f);
		TEST_ASSERT_EQUAL_UINT8(rows[i].status, cdr_get_u8(&in));
		TEST_ASSERT_EQUAL_UINT8(rows[i].health, cdr_get_u8(&in));
		TEST_ASSERT_EQUAL_UINT8(0, cdr_get_u8(&in));
		TEST_ASSERT_EQUAL_UINT8(1, cdr_get_u8(&in));
		TEST_ASSERT_EQUAL_UINT32(cells, cdr_get_u32(&in));
		for (uint32_t k = 0; k < cells; k++)
			is_float(&in, (float)(3 + k));
		TEST_ASSERT_EQUAL_UINT32(0, cdr_get_u32(&in));
		is_text(&in, "waist");
		is_text(&in, "");
		is_end(&in);
	}
}

TEST(an_event_is_a_log_entry)
{
	static const uint8_t levels[] = { 20, 30, 40, 50, 40 };

	for (uint32_t severity = 0; severity < sizeof(levels); severity++) {
		START(e, msg_event);
		struct cdr_in in;

		e.severity = severity;
		strcpy(e.source, "pciod");
		strcpy(e.code, "bus-off");
		strcpy(e.text, "can0 is off\xff");
		in = as_ros("rcl_interfaces/msg/Log", &e);
		TEST_ASSERT_EQUAL_INT32(1700000002, cdr_get_i32(&in));
		TEST_ASSERT_EQUAL_UINT32(500000000, cdr_get_u32(&in));
		TEST_ASSERT_EQUAL_UINT8(levels[severity], cdr_get_u8(&in));
		is_text(&in, "pciod");
		is_text(&in, "can0 is off?");
		is_text(&in, "");
		is_text(&in, "bus-off");
		TEST_ASSERT_EQUAL_UINT32(0, cdr_get_u32(&in));
		is_end(&in);
	}
}

/* ---- diagnostics ---- */

struct status {
	uint8_t level;
	char name[64], message[64], hardware[64];
	uint32_t values;
	struct {
		char key[64], value[64];
	} value[256];
};
static struct status statuses[1 + MSG_JOINTS];

static void get_text(struct cdr_in *in, char text[64])
{
	size_t len;
	const char *from = cdr_get_string(in, &len);

	TEST_ASSERT_LESS_THAN_size_t(64, len);
	snprintf(text, 64, "%.*s", (int)len, from);
}

static uint32_t diagnose(const void *msg)
{
	struct cdr_in in = as_ros("diagnostic_msgs/msg/DiagnosticArray", msg);
	uint32_t n;

	is_header(&in, 1700000002, 500000000, "waist");
	n = cdr_get_u32(&in);
	TEST_ASSERT_LESS_THAN_UINT32(2 + MSG_JOINTS, n);
	for (uint32_t i = 0; i < n; i++) {
		struct status *s = &statuses[i];

		s->level = cdr_get_u8(&in);
		get_text(&in, s->name);
		get_text(&in, s->message);
		get_text(&in, s->hardware);
		TEST_ASSERT_EQUAL_STRING("waist", s->hardware);
		s->values = cdr_get_u32(&in);
		TEST_ASSERT_LESS_THAN_UINT32(256, s->values);
		for (uint32_t k = 0; k < s->values; k++) {
			get_text(&in, s->value[k].key);
			get_text(&in, s->value[k].value);
		}
	}
	is_end(&in);
	return n;
}

static const char *value(const struct status *s, const char *key)
{
	for (uint32_t i = 0; i < s->values; i++)
		if (!strcmp(s->value[i].key, key))
			return s->value[i].value;
	return "missing";
}

TEST(the_level_of_a_device_is_that_of_its_worst_part)
{
	static const struct {
		uint32_t life, level, latches, buses, link;
		uint8_t expected;
	} rows[] = {
		{ MSG_LIFE_ACTIVE, MSG_LEVEL_RUN, 0, 1, MSG_LINK_ERROR_ACTIVE, 0 },
		{ MSG_LIFE_ACTIVE, MSG_LEVEL_RUN, 0, 0, MSG_LINK_BUS_OFF, 0 },
		{ MSG_LIFE_ACTIVE, MSG_LEVEL_HOLD, 0, 1, MSG_LINK_ERROR_ACTIVE, 1 },
		{ MSG_LIFE_ACTIVE, MSG_LEVEL_ESTOP, 0, 1, MSG_LINK_ERROR_ACTIVE, 1 },
		{ MSG_LIFE_ACTIVE, MSG_LEVEL_RUN, MSG_LATCH_POSITION_UNKNOWN, 1, MSG_LINK_ERROR_ACTIVE, 1 },
		{ MSG_LIFE_FAULT, MSG_LEVEL_RUN, 0, 1, MSG_LINK_ERROR_ACTIVE, 2 },
		{ MSG_LIFE_FAULT, MSG_LEVEL_RUN, 1, 1, MSG_LINK_WARNING, 2 },
		{ MSG_LIFE_DOWN, MSG_LEVEL_RUN, 0, 1, MSG_LINK_ERROR_ACTIVE, 3 },
		{ MSG_LIFE_DISARMED, MSG_LEVEL_RUN, 0, 1, MSG_LINK_WARNING, 1 },
		{ MSG_LIFE_DISARMED, MSG_LEVEL_RUN, 0, 1, MSG_LINK_PASSIVE, 1 },
		{ MSG_LIFE_DISARMED, MSG_LEVEL_RUN, 0, 1, MSG_LINK_BUS_OFF, 2 },
		{ MSG_LIFE_DISARMED, MSG_LEVEL_RUN, 0, 1, MSG_LINK_ABSENT, 2 },
		{ MSG_LIFE_DISARMED, MSG_LEVEL_RUN, 0, 99, MSG_LINK_STOPPED, 2 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		START(s, msg_imu);

		s.common.lifecycle = rows[i].life;
		s.common.level = rows[i].level;
		s.common.latches = rows[i].latches;
		s.common.bus_count = rows[i].buses;
		for (int k = 0; k < MSG_BUSES; k++)
			s.common.bus[k].state = rows[i].link;
		TEST_ASSERT_EQUAL_UINT32(1, diagnose(&s));
		TEST_ASSERT_EQUAL_UINT8_MESSAGE(rows[i].expected, statuses[0].level, "of a row");
		TEST_ASSERT_EQUAL_STRING("waist", statuses[0].name);
		TEST_ASSERT_EQUAL_STRING(msg_life_word(rows[i].life), statuses[0].message);
	}
}

TEST(the_worst_bus_counts)
{
	for (uint32_t off = 0; off < 3; off++) {
		START(s, msg_imu);

		s.common.lifecycle = MSG_LIFE_ACTIVE;
		s.common.bus_count = 2;
		for (uint32_t i = 0; i < 3; i++)
			s.common.bus[i].state = i == off ? MSG_LINK_BUS_OFF : MSG_LINK_ERROR_ACTIVE;
		diagnose(&s);
		TEST_ASSERT_EQUAL_UINT8(off < 2 ? 2 : 0, statuses[0].level);
	}
}

TEST(measurements_are_not_keys)
{
	START(battery, msg_battery);
	START(joints, msg_joint_state);

	diagnose(&battery);
	TEST_ASSERT_EQUAL_STRING("missing", value(&statuses[0], "voltage"));
	joints.count = 1;
	diagnose(&joints);
	TEST_ASSERT_EQUAL_STRING("missing", value(&statuses[0], "state_word")); /* that of a joint */
}

TEST(single_fields_and_those_of_buses_are_keys)
{
	START(s, msg_imu);

	s.common.ticks = 12;
	s.common.refs_refused.past = 5;
	s.common.bus_count = 2;
	strcpy(s.common.bus[0].name, "left");
	strcpy(s.common.bus[1].name, "right");
	strcpy(s.common.bus[2].name, "none");
	s.common.bus[1].lost = 9;
	s.temperature = 273.15 + 36.5;
	s.status = 77;
	diagnose(&s);
	TEST_ASSERT_EQUAL_STRING("12", value(&statuses[0], "ticks"));
	TEST_ASSERT_EQUAL_STRING("5", value(&statuses[0], "past"));
	TEST_ASSERT_EQUAL_STRING("0", value(&statuses[0], "left lost"));
	TEST_ASSERT_EQUAL_STRING("9", value(&statuses[0], "right lost"));
	TEST_ASSERT_EQUAL_STRING("missing", value(&statuses[0], "none lost"));
	TEST_ASSERT_EQUAL_STRING("36.50", value(&statuses[0], "temperature_degc"));
	TEST_ASSERT_EQUAL_STRING("77", value(&statuses[0], "status"));
	TEST_ASSERT_EQUAL_STRING("missing", value(&statuses[0], "rate"));     /* a list */
	TEST_ASSERT_EQUAL_STRING("missing", value(&statuses[0], "reserved")); /* not for people */
	TEST_ASSERT_EQUAL_STRING("missing", value(&statuses[0], "sequence")); /* of the header */
}

TEST(each_joint_has_a_status)
{
	static const struct {
		uint32_t life, status;
		uint8_t level;
	} rows[] = {
		{ MSG_LIFE_ACTIVE, 0, 0 },
		{ MSG_LIFE_ACTIVE, MSG_JOINT_WARNING, 1 },
		{ MSG_LIFE_ACTIVE, MSG_JOINT_FAULT | MSG_JOINT_WARNING, 2 },
		{ MSG_LIFE_FAULT, MSG_JOINT_WARNING, 2 },
		{ MSG_LIFE_ACTIVE, MSG_JOINT_SILENT | MSG_JOINT_FAULT, 3 },
		{ MSG_LIFE_ACTIVE, MSG_JOINT_ENABLED, 0 },
	};
	const uint32_t n = sizeof(rows) / sizeof(*rows);
	START(s, msg_joint_state);

	s.common.lifecycle = MSG_LIFE_ACTIVE;
	s.count = n;
	for (uint32_t i = 0; i < n; i++) {
		snprintf(s.joint[i], sizeof(s.joint[i]), "j%u", i);
		s.lifecycle[i] = rows[i].life;
		s.status[i] = rows[i].status;
		s.temperature[i] = 273.15 + i;
		s.position[i] = 5;
		s.state_word[i] = 100 + i;
	}
	TEST_ASSERT_EQUAL_UINT32(1 + n, diagnose(&s));
	TEST_ASSERT_EQUAL_UINT8(0, statuses[0].level);
	for (uint32_t i = 0; i < n; i++) {
		char text[32];

		TEST_ASSERT_EQUAL_UINT8(rows[i].level, statuses[1 + i].level);
		snprintf(text, sizeof(text), "waist: j%u", i);
		TEST_ASSERT_EQUAL_STRING(text, statuses[1 + i].name);
		TEST_ASSERT_EQUAL_STRING(msg_life_word(rows[i].life), statuses[1 + i].message);
		snprintf(text, sizeof(text), "%u.00", i);
		TEST_ASSERT_EQUAL_STRING(text, value(&statuses[1 + i], "temperature_degc"));
		snprintf(text, sizeof(text), "%u", 100 + i);
		TEST_ASSERT_EQUAL_STRING(text, value(&statuses[1 + i], "state_word"));
		TEST_ASSERT_EQUAL_STRING("missing", value(&statuses[1 + i], "position"));
		TEST_ASSERT_EQUAL_STRING("missing", value(&statuses[1 + i], "joint"));
	}
	s.count = MSG_JOINTS + 5;
	TEST_ASSERT_EQUAL_UINT32(1 + MSG_JOINTS, diagnose(&s));
}

TEST(buses_and_the_e_stop_have_a_level)
{
	START(bus, msg_bus_stats);
	START(stop, msg_estop);

	bus.state = MSG_LINK_PASSIVE;
	bus.frames = 3;
	diagnose(&bus);
	TEST_ASSERT_EQUAL_UINT8(1, statuses[0].level);
	TEST_ASSERT_EQUAL_STRING("passive", statuses[0].message);
	TEST_ASSERT_EQUAL_STRING("3", value(&statuses[0], "frames"));
	stop.kind = MSG_ESTOP_RAISE;
	stop.level = MSG_LEVEL_ESTOP;
	strcpy(stop.why, "a person");
	diagnose(&stop);
	TEST_ASSERT_EQUAL_UINT8(1, statuses[0].level);
	TEST_ASSERT_EQUAL_STRING("estop", statuses[0].message);
	TEST_ASSERT_EQUAL_STRING("a person", value(&statuses[0], "why"));
	stop.kind = MSG_ESTOP_LOWER;
	stop.level = MSG_LEVEL_RUN;
	diagnose(&stop);
	TEST_ASSERT_EQUAL_UINT8(0, statuses[0].level);
}
