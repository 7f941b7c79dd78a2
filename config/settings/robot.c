/* robot.c: the robot file: from its tree to the structs, and how its parts fit together. */
#include <math.h>

#include "config/settings/robot.h"

#define ID_MAX 0x1FFFFFFF /* of 29 bits */

const struct robot_bus *robot_bus(const struct robot *robot, const char *name)
{
	for (size_t i = 0; i < robot->buses_n; i++)
		if (!strcmp(robot->buses[i].name, name))
			return &robot->buses[i];
	return NULL;
}

const struct robot_device *robot_device(const struct robot *robot, const char *name)
{
	for (size_t i = 0; i < robot->devices_n; i++)
		if (!strcmp(robot->devices[i].name, name))
			return &robot->devices[i];
	return NULL;
}

const struct robot_limits *robot_limits(const struct robot_device *device, const char *joint)
{
	for (size_t i = 0; i < device->joints_n; i++)
		if (!strcmp(device->joints[i].name, joint))
			return &device->joints[i].limits;
	return &device->limits;
}

static void take_name(char name[TEXT_NAME_MAX + 1], const struct yaml_node *node, struct error_sink *errors)
{
	if (!text_is_name(node->key))
		yaml_error(errors, node, "a name has 1 to %d of A-Z a-z 0-9 _ . -, a letter or digit first",
			   TEXT_NAME_MAX);
	snprintf(name, TEXT_NAME_MAX + 1, "%s", node->key);
}

/* ---- buses ---- */

static void read_buses(struct robot *robot, struct error_sink *errors)
{
	size_t n = yaml_count(robot->buses_node, "name", errors);
	const struct yaml_node *node = yaml_first(robot->buses_node);
	struct robot_bus *bus = yaml_room(robot->doc, n, sizeof(*bus), errors);

	if (n > ROBOT_BUSES_MAX)
		yaml_error(errors, robot->buses_node, "%zu buses; a robot has %d at most", n, ROBOT_BUSES_MAX);
	if (!bus)
		return;
	robot->buses = bus;
	robot->buses_n = n;
	for (; n; n--, node = node->next, bus++) {
		struct settings table = { .rows = robot_bus_rows, .values = bus, .noun = "key of a bus" };

		bus->node = node;
		take_name(bus->name, node, errors);
		settings_fill(&table, node, errors);
		if (!strcmp(bus->clock, "none"))
			*bus->clock = '\0';
		if (bus->data_bitrate && bus->data_bitrate < bus->bitrate)
			yaml_error(errors, yaml_find(node, "data_bitrate") ? yaml_find(node, "data_bitrate") : node,
				   "it is lower than the bit rate, %lld: write that or more, or 0 for a classic bus",
				   (long long)bus->bitrate);
	}
}

/* ---- limits ---- */

static void read_limits(struct settings *table, const struct yaml_node *node, struct error_sink *errors)
{
	const struct robot_limits *limits = table->values;
	const struct yaml_node *position;

	if (settings_read(table, node, errors))
		return;
	position = yaml_find(node, "position");
	if (position && (limits->position_n != 2 || limits->position[0] > limits->position[1]))
		yaml_error(errors, position, "write [lowest, highest], the lowest first");
}

static void read_device_limits(struct robot *robot, struct robot_device *device, struct error_sink *errors)
{
	struct robot_joints joints = { NULL };
	struct settings of_joints = { .rows = robot_joints_rows, .values = &joints };
	struct settings table = { .rows = robot_limits_rows, .values = &device->limits, .noun = "limit" };
	struct robot_joint *joint;

	device->limits = (struct robot_limits){
		{ -INFINITY, INFINITY }, 2, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY
	};
	table.next = &of_joints;
	read_limits(&table, device->limits_node, errors);
	table.next = NULL;
	device->joints_n = yaml_count(joints.node, "name", errors);
	joint = device->joints = yaml_room(robot->doc, device->joints_n, sizeof(*joint), errors);
	if (!joint) {
		device->joints_n = 0;
		return;
	}
	for (const struct yaml_node *node = device->joints_n ? joints.node->first : NULL; node;
	     node = node->next, joint++) {
		take_name(joint->name, node, errors);
		joint->node = node;
		joint->limits = device->limits;
		table.values = &joint->limits;
		read_limits(&table, node, errors);
	}
}

/* ---- devices ---- */

/* A null stands for nothing. */
static void forget_null(const struct yaml_node **node)
{
	if (*node && yaml_is_null(*node))
		*node = NULL;
}

static void read_device(struct robot *robot, struct robot_device *device, const struct yaml_node *node,
			struct error_sink *errors)
{
	struct settings table = { .rows = robot_device_rows, .values = device, .noun = "key of a device" };

	device->node = node;
	take_name(device->name, node, errors);
	settings_fill(&table, node, errors);
	/* A controller moves nothing itself: the devices do that take its references. */
	if (!device->bus_node && !settings_given(&table, "actuated"))
		device->actuated = false;
	forget_null(&device->settings);
	forget_null(&device->limits_node);
	forget_null(&device->sim);
	forget_null(&device->ids);
	if (device->settings && device->settings->kind != YAML_MAP)
		yaml_error(errors, device->settings, "%s where a mapping (key: value) is expected",
			   yaml_kind_name(device->settings));
	read_device_limits(robot, device, errors);
}

static void read_all(struct robot *robot, struct error_sink *errors)
{
	struct settings table = { .rows = robot_rows, .values = robot, .noun = "key" };
	const struct yaml_node *node;
	struct robot_device *device;
	size_t n;

	settings_fill(&table, yaml_root(robot->doc), errors);
	forget_null(&robot->body.node);
	read_buses(robot, errors);
	n = yaml_count(robot->devices_node, "name", errors);
	device = yaml_room(robot->doc, n, sizeof(*device), errors);
	if (!device)
		return;
	robot->devices = device;
	robot->devices_n = n;
	for (node = yaml_first(robot->devices_node); n; n--, node = node->next, device++)
		read_device(robot, device, node, errors);
}

/* ---- the buses of a device ---- */

/* "there is no bus can9; did you mean can0?"; all: where those that there are stand. */
static void unknown_name(struct error_sink *errors, const struct yaml_node *node, const char *what, const char *name,
			 const char *best, const char *all)
{
	char quoted[TEXT_QUOTED_MAX];

	yaml_error(errors, node, "there is no %s %s%s%s%s", what, text_quote(quoted, name),
		   best ? "; did you mean " : " under ", best ? best : all, best ? "?" : "");
}

static void unknown_bus(const struct robot *robot, const struct yaml_node *node, struct error_sink *errors)
{
	const char *best = NULL;

	for (size_t i = 0; i < robot->buses_n; i++)
		nearest_try(node->text, robot->buses[i].name, &best);
	unknown_name(errors, node, "bus", node->text, best, "buses");
}

static void add_role(const struct robot *robot, struct robot_device *device, const struct yaml_node *node,
		     const char *role, struct error_sink *errors)
{
	const struct robot_bus *bus;

	if (node->kind != YAML_TEXT || yaml_is_null(node)) {
		yaml_error(errors, node, "write the name of a bus");
		return;
	}
	bus = robot_bus(robot, node->text);
	if (!bus)
		unknown_bus(robot, node, errors);
	else if (device->roles_n < ROBOT_ROLES_MAX)
		device->roles[device->roles_n++] = (struct robot_role){ role, bus };
}

static void find_roles(const struct robot *robot, struct robot_device *device, struct error_sink *errors)
{
	const struct yaml_node *node = device->bus_node;

	if (!node)
		return;
	if (node->kind == YAML_TEXT) {
		add_role(robot, device, node, "", errors);
		return;
	}
	if (!node->count || node->count > ROBOT_ROLES_MAX)
		yaml_error(errors, node, "%zu buses; a device has 1 to %d", node->count, ROBOT_ROLES_MAX);
	for (const struct yaml_node *one = node->first; one; one = one->next) {
		if (one->key && !text_is_name(one->key))
			yaml_error(errors, one, "not a valid role name");
		add_role(robot, device, one, one->key ? one->key : "", errors);
	}
}

/* ---- ids ---- */

static void check_ids(const struct yaml_node *node, struct error_sink *errors)
{
	int64_t id;

	if (!node)
		return;
	if (node->kind == YAML_TEXT && (yaml_int(node, &id) || id < 0 || id > ID_MAX))
		yaml_error(errors, node, "an id is a whole number from 0 to 0x1FFFFFFF");
	for (const struct yaml_node *one = node->first; one; one = one->next)
		check_ids(one, errors);
}

/* ---- the body ---- */

static const struct robot_device *find_part(const struct robot *robot, const char *role, const char *name,
					    struct error_sink *errors)
{
	const struct robot_device *device = robot_device(robot, name);
	const char *best = NULL;

	if (device || !*name)
		return device;
	for (size_t i = 0; i < robot->devices_n; i++)
		nearest_try(name, robot->devices[i].name, &best);
	unknown_name(errors, yaml_find(robot->body.node, role), "device", name, best, "devices");
	return NULL;
}

static void read_body(struct robot *robot, struct error_sink *errors)
{
	struct robot_body *body = &robot->body;
	struct settings table = { .rows = robot_body_rows, .values = body, .noun = "key of a body" };

	if (!body->node)
		return;
	settings_fill(&table, body->node, errors);
	forget_null(&body->settings);
	body->wheels = find_part(robot, "wheels", body->names[0], errors);
	body->imu = find_part(robot, "imu", body->names[1], errors);
	body->waist = find_part(robot, "waist", body->names[2], errors);
}

/* ---- buses ---- */

/* Two names of one interface would be two clocks and two owners of one link. */
static void check_interface(const struct robot *robot, size_t i, struct error_sink *errors)
{
	const struct robot_bus *bus = &robot->buses[i];

	for (size_t j = 0; j < i && *bus->interface; j++) {
		if (!strcmp(robot->buses[j].interface, bus->interface)) {
			yaml_error(errors, yaml_find(bus->node, "interface"), "%s is the interface of bus %s already",
				   bus->interface, robot->buses[j].name);
			return;
		}
	}
}

/* A controller that restarts by itself sends its queued frames, though the motors may not hold their position. */
static void check_restart(const struct robot_device *device, struct error_sink *errors)
{
	for (size_t i = 0; i < device->roles_n && device->actuated; i++) {
		const struct robot_bus *bus = device->roles[i].bus;

		if (bus->restart_ms)
			yaml_error(errors, yaml_find(bus->node, "restart_ms"),
				   "must be 0 on bus %s: %s on it is actuated", bus->name, device->name);
	}
}

static void check_all(const struct robot *robot, struct error_sink *errors)
{
	for (size_t i = 0; i < robot->buses_n; i++)
		check_interface(robot, i, errors);
	for (size_t i = 0; i < robot->devices_n; i++) {
		find_roles(robot, &robot->devices[i], errors);
		check_ids(robot->devices[i].ids, errors);
		check_restart(&robot->devices[i], errors);
	}
}

/* ---- the whole ---- */

static int make(struct robot *robot, int err, struct error_sink *errors)
{
	unsigned int before = errors->count;

	if (err)
		return err;
	err = yaml_join_like(robot->doc, "like", errors);
	if (err) {
		robot_close(robot);
		return err;
	}
	read_all(robot, errors);
	read_body(robot, errors);
	check_all(robot, errors);
	if (errors->count == before)
		return 0;
	robot_close(robot);
	return -EINVAL;
}

int robot_open(struct robot *robot, const char *path, struct error_sink *errors)
{
	memset(robot, 0, sizeof(*robot));
	return make(robot, yaml_open_file(&robot->doc, path, errors), errors);
}

int robot_open_text(struct robot *robot, const char *name, const char *text, size_t len, struct error_sink *errors)
{
	memset(robot, 0, sizeof(*robot));
	return make(robot, yaml_open_text(&robot->doc, name, text, len, errors), errors);
}

void robot_close(struct robot *robot)
{
	yaml_close(robot->doc);
	memset(robot, 0, sizeof(*robot));
}
