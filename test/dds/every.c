/* every.c: a message of every type, and all that it becomes, for tests of achdds.
 *
 *	every plan		publish: of a bridge, a topic for each mapping
 *	every topics		"TOPIC TYPE reliable", for fast and ear
 *	every put		makes a channel for each type, and puts one message there
 *	every expect		"TOPIC HEX" of each message, without encapsulation and stamp: the first 12 bytes
 *	every inputs		"TOPIC TYPE reliable HEX" for each type that becomes a reference or a raise
 *	every drive SECONDS	active drivers of the devices that the inputs are for
 *	every steer SECONDS	a controller of joint: a reference, valid for 100 ms, every 10 ms; prints, each second,
 *				"PUT AGE DOUBTS": references put, age of the newest state in ms, what is wrong with it
 *
 * Names begin with $ENDPLATE_PREFIX.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/client/endplate.h"
#include "channels/clock/clock.h"
#include "channels/port/port.h"
#include "channels/ros/ros_map.h"
#include "test/lib/lib.h"

#define STAMP 12 /* bytes before what does not depend on the time */

/* ---- messages ---- */

static bool counts(const struct msg_group *group, const char *name)
{
	for (size_t i = 0; i < group->n; i++)
		if (group->fields[i].used && !strcmp(group->fields[i].used, name))
			return true;
	return false;
}

/* Values that all differ, and that their fields allow. */
static void fill(const struct msg_group *group, uint8_t *at, unsigned int *k)
{
	for (size_t i = 0; i < group->n; i++) {
		const struct msg_field *f = &group->fields[i];

		for (size_t e = 0; e < (f->count ? f->count : 1u); e++, at += f->size) {
			const double real = ++*k * 0.25;
			const uint64_t number = *k;

			if (f->kind == MSG_group)
				fill(f->group, at, k);
			else if (f->kind == MSG_f64)
				memcpy(at, &real, sizeof(real));
			else if (f->kind == MSG_name || f->kind == MSG_text)
				snprintf((char *)at, f->size, "n%u", *k);
			else if (f->kind == MSG_word || f->kind == MSG_flags)
				memcpy(at, &(uint32_t){ 1 }, sizeof(uint32_t));
			else if (counts(group, f->name))
				memcpy(at, &(uint32_t){ 3 }, sizeof(uint32_t));
			else
				memcpy(at, &number, f->size);
		}
	}
}

static const void *message(const struct msg_type *type)
{
	static uint8_t msg[MSG_SIZE_MAX];
	struct msg_header *header = (struct msg_header *)msg;
	unsigned int k = 0;

	fill(type->body, msg, &k);
	header->type = type->number;
	header->version = type->version;
	header->size = (uint32_t)type->body->size;
	return msg;
}

static void put_message(const struct msg_type *type)
{
	static uint8_t msg[MSG_SIZE_MAX];
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct port port = { 0 };

	memcpy(msg, message(type), type->body->size);
	LIB_CHECK(!port_open(&port, type->name, type, 0640, &errors));
	LIB_CHECK(port_put(&port, msg));
	port_close(&port);
}

static void print_expected(const char *topic, const struct msg_type *type, const struct ros_map *map)
{
	static uint8_t msg[MSG_SIZE_MAX], cdr[ROS_CDR_MAX];
	const char *dash = strrchr(type->name, '-');
	char device[64];
	struct ros_context context = { .device = device };
	size_t len;

	snprintf(device, sizeof(device), "%.*s", dash ? (int)(dash - type->name) : 63, type->name);
	memcpy(msg, message(type), type->body->size);
	((struct msg_header *)msg)->sequence = 1; /* of the port */
	len = ros_encode(map, msg, type->body->size, &context, cdr, sizeof(cdr));
	LIB_CHECK(len > STAMP);
	printf("%s ", topic);
	for (size_t i = STAMP; i < len; i++)
		printf("%02x", cdr[i]);
	for (; len % 4; len++)
		printf("00"); /* the network's padding */
	printf("\n");
}

static void each(const char *what)
{
	for (size_t i = 0, n = 0; i < msg_types_n; i++) {
		const struct msg_type *type = &msg_types[i];

		if (!strcmp(what, "put"))
			put_message(type);
		for (const struct ros_map *map = ros_map_of(type->number, NULL); map;
		     map = ros_map_of(type->number, map)) {
			const struct ros_type *ros = ros_map_type(map);
			char topic[32];

			snprintf(topic, sizeof(topic), "rt/t%zu", n++);
			if (!strcmp(what, "plan"))
				printf("  %s: {channel: %s, type: %s, qos: latched}\n", topic + 2, type->name,
				       ros->name);
			if (!strcmp(what, "topics"))
				printf("%s %s reliable\n", topic, ros->dds_name);
			if (!strcmp(what, "expect"))
				print_expected(topic, type, map);
		}
	}
}

/* ---- what comes in ---- */

/* The CDR bytes of sensible values. */
static void write_input(struct cdr_out *o, const char *type)
{
	static const double positions[] = { 0.5, -0.25 }, twist[] = { 0.5, 0, 0, 0, 0, 0.25 };

	if (strstr(type, "sensor_msgs/")) { /* JointState */
		cdr_put_i32(o, 0);
		cdr_put_u32(o, 0);
		cdr_put_string(o, "", 0);
		cdr_put_u32(o, 2);
		cdr_put_string(o, "j0", 2);
		cdr_put_string(o, "j1", 2);
		cdr_put_u32(o, 2);
		cdr_put(o, positions, 8, 2);
		cdr_put_u32(o, 0);
		cdr_put_u32(o, 0);
	} else if (strstr(type, "MultiArray")) {
		cdr_put_u32(o, 0); /* dimensions */
		cdr_put_u32(o, 0); /* offset */
		cdr_put_u32(o, 2);
		cdr_put(o, positions, 8, 2);
	} else if (strstr(type, "Twist")) {
		cdr_put(o, twist, 8, 6);
	} else if (strstr(type, "String")) {
		cdr_put_string(o, "from outside", 12);
	} else if (strstr(type, "EstopRaise")) {
		cdr_put_u32(o, MSG_LEVEL_HOLD);
		cdr_put_string(o, "from outside", 12);
	}
}

static void print_input(const char *topic, const struct ros_type *type, const uint8_t *cdr, size_t len)
{
	printf("rt/in/%s %s reliable ", topic, type->dds_name);
	for (size_t i = 0; i < len; i++)
		printf("%02x", cdr[i]);
	printf("\n");
}

/* A reference as its own type. */
static void own_input(const char *topic, enum msg_number number)
{
	static uint8_t msg[MSG_SIZE_MAX], cdr[ROS_CDR_MAX];
	const struct msg_type *type = msg_type_by_number(number);
	const struct ros_map *map = ros_map_for(number, ROS_OWN);

	memcpy(msg, message(type), type->body->size);
	if (number == msg_joint_ref_number)
		((struct msg_joint_ref *)msg)->count = 2;
	if (number == msg_gripper_ref_number)
		((struct msg_gripper_ref *)msg)->count = 1;
	print_input(topic, ros_map_type(map), cdr,
		    ros_encode(map, msg, type->body->size, &(struct ros_context){ 0 }, cdr, sizeof(cdr)));
}

static void inputs(void)
{
	static const struct {
		const char *topic, *type;
	} rows[] = { { "joint", "sensor_msgs/msg/JointState" },
		     { "array", "std_msgs/msg/Float64MultiArray" },
		     { "twist", "geometry_msgs/msg/Twist" },
		     { "estop", "std_msgs/msg/String" },
		     { "raise", "endplate_msgs/msg/EstopRaise" } };
	uint8_t cdr[1024];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct cdr_out o = cdr_out(cdr, sizeof(cdr));
		const struct ros_type *type = ros_type_by_name(rows[i].type);

		LIB_CHECK(type);
		write_input(&o, rows[i].type);
		LIB_CHECK(o.len <= sizeof(cdr));
		print_input(rows[i].topic, type, cdr, o.len);
	}
	own_input("ownjoint", msg_joint_ref_number);
	own_input("gripper", msg_gripper_ref_number);
	own_input("ownbalance", msg_balance_ref_number);
}

/* ---- drivers ---- */

union state {
	struct {
		struct msg_header header;
		struct msg_common common;
	} front;
	struct msg_joint_state joints;
	struct msg_gripper_state gripper;
	struct msg_balance_state balance;
};

struct driver {
	const char *name;
	enum msg_number state, ref;
	struct port ports[2];
	union state msg;
};

static void open_driver(struct driver *d, uint32_t incarnation)
{
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	const struct msg_type *type = msg_type_by_number(d->state);
	char channel[64];

	snprintf(channel, sizeof(channel), "%s-state", d->name);
	LIB_CHECK(!port_open(&d->ports[0], channel, type, 0640, &errors));
	snprintf(channel, sizeof(channel), "%s-ref", d->name);
	LIB_CHECK(!port_open(&d->ports[1], channel, msg_type_by_number(d->ref), 0660, &errors));
	msg_init(&d->msg, type);
	d->msg.front.header.incarnation = incarnation;
	d->msg.front.common.lifecycle = MSG_LIFE_ACTIVE;
	if (d->state == msg_gripper_state_number)
		d->msg.gripper.count = 1;
	if (d->state == msg_joint_state_number)
		d->msg.joints.count = 2;
	for (int i = 0; d->state == msg_joint_state_number && i < 2; i++)
		snprintf(d->msg.joints.joint[i], MSG_NAME_SIZE, "j%d", i);
}

static void drive(double seconds, uint32_t incarnation)
{
	static struct driver drivers[] = {
#define DRIVER(called, type) { .name = called, .state = msg_##type##_state_number, .ref = msg_##type##_ref_number }
		DRIVER("joint", joint),	   DRIVER("array", joint),     DRIVER("twist", balance),
		DRIVER("ownjoint", joint), DRIVER("gripper", gripper), DRIVER("ownbalance", balance),
	};
	const size_t n = sizeof(drivers) / sizeof(*drivers);
	const int64_t end_ns = clock_now_ns() + (int64_t)(seconds * 1e9);

	for (size_t i = 0; i < n; i++)
		open_driver(&drivers[i], incarnation);
	for (int64_t now_ns = clock_now_ns(); now_ns < end_ns; now_ns += 10000000) {
		for (size_t i = 0; i < n; i++) {
			drivers[i].msg.front.header.t_sample_ns = drivers[i].msg.front.header.t_publish_ns =
				clock_now_ns();
			port_put(&drivers[i].ports[0], &drivers[i].msg);
		}
		clock_wait(NULL, 0, now_ns);
	}
}

/* ---- a controller ---- */

static void steer(double seconds)
{
	struct msg_joint_ref ref = { .count = 2, .mode = { MSG_MODE_POSITION, MSG_MODE_POSITION } };
	const int64_t end_ns = clock_now_ns() + (int64_t)(seconds * 1e9);
	struct endplate_device *joint;
	struct msg_joint_state state;
	struct endplate_view view;
	struct endplate *robot;
	unsigned int put = 0;

	LIB_CHECK(!endplate_open(&robot, NULL));
	LIB_CHECK(!endplate_device_open(robot, "joint", msg_joint_state_number, &joint));
	for (int64_t i = 1, now_ns = clock_now_ns(); now_ns < end_ns; i++, now_ns += 10000000) {
		const int r = endplate_state(joint, &state, sizeof(state), &view);

		if (!r && !view.doubts)
			put += !endplate_put(joint, &ref, sizeof(ref), 100000000);
		if (i % 100 == 0) {
			printf("%u %.0f %u\n", put, (double)view.age_ns * 1e-6, view.doubts);
			fflush(stdout);
		}
		clock_wait(NULL, 0, now_ns);
	}
	endplate_close(robot);
}

int main(int argc, char **argv)
{
	LIB_CHECK(argc > 1);
	if (!strcmp(argv[1], "inputs"))
		inputs();
	else if (!strcmp(argv[1], "steer"))
		steer(argc > 2 ? atof(argv[2]) : 1);
	else if (!strcmp(argv[1], "drive"))
		drive(argc > 2 ? atof(argv[2]) : 1, argc > 3 ? (uint32_t)atoi(argv[3]) : 1);
	else
		each(argv[1]);
	return 0;
}
