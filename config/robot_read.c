/* robot_read.c: from the tree of the file to the structs. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "config/robot_read.h"

/* "robot.yaml:9: waist" */
static void place(char *where, size_t size, const struct yaml_node *node)
{
	snprintf(where, size, "%s:%u%s%s", node->file, node->line, node->key ? ": " : "", node->key ? node->key : "");
}

/* A mapping into its struct, with defaults, and what is missing in it. */
static void read_table(struct settings *table, const struct yaml_node *node, struct error_sink *errors)
{
	char where[ERROR_LINE_MAX / 2];

	settings_defaults(table, errors);
	if (settings_read(table, node, errors) && node->kind != YAML_MAP)
		return;
	place(where, sizeof(where), node);
	settings_missing(table, where, errors);
}

/* The entries of a mapping of names, or 0. */
static size_t count_named(const struct yaml_node *node, struct error_sink *errors)
{
	if (!node || yaml_is_null(node))
		return 0;
	if (node->kind == YAML_MAP)
		return node->count;
	yaml_error(errors, node, "%s where a mapping (name: ...) is expected", yaml_kind_name(node));
	return 0;
}

static void take_name(char name[TEXT_NAME_MAX + 1], const struct yaml_node *node, struct error_sink *errors)
{
	if (!text_is_name(node->key))
		yaml_error(errors, node, "a name has 1 to %d of A-Z a-z 0-9 _ . -, a letter or digit first",
			   TEXT_NAME_MAX);
	snprintf(name, TEXT_NAME_MAX + 1, "%s", node->key);
}

/* Room for n things in the document, or NULL with a line. */
static void *room(struct robot *robot, size_t n, size_t size, struct error_sink *errors)
{
	void *p = arena_alloc(yaml_arena(robot->doc), n * size);

	if (!p)
		error_add(errors, "%s: %s", yaml_root(robot->doc)->file, strerror(ENOMEM));
	return p;
}

/* ---- buses ---- */

static void read_buses(struct robot *robot, struct error_sink *errors)
{
	size_t n = count_named(robot->buses_node, errors);
	const struct yaml_node *node = yaml_first(robot->buses_node);
	struct robot_bus *bus = room(robot, n, sizeof(*bus), errors);

	if (!bus)
		return;
	robot->buses = bus;
	robot->buses_n = n;
	for (; n; n--, node = node->next, bus++) {
		struct settings table = { .rows = robot_bus_rows, .values = bus, .noun = "key of a bus" };

		bus->node = node;
		take_name(bus->name, node, errors);
		read_table(&table, node, errors);
		if (!strcmp(bus->clock, "none"))
			*bus->clock = '\0';
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

	device->limits =
		(struct robot_limits){ { -INFINITY, INFINITY }, 2, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY };
	table.next = &of_joints;
	read_limits(&table, device->limits_node, errors);
	table.next = NULL;
	device->joints_n = count_named(joints.node, errors);
	joint = device->joints = room(robot, device->joints_n, sizeof(*joint), errors);
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
	read_table(&table, node, errors);
	forget_null(&device->settings);
	forget_null(&device->limits_node);
	forget_null(&device->sim);
	forget_null(&device->ids);
	if (device->settings && device->settings->kind != YAML_MAP)
		yaml_error(errors, device->settings, "%s where a mapping (key: value) is expected",
			   yaml_kind_name(device->settings));
	read_device_limits(robot, device, errors);
}

void robot_read(struct robot *robot, struct error_sink *errors)
{
	struct settings table = { .rows = robot_rows, .values = robot, .noun = "key" };
	const struct yaml_node *node;
	struct robot_device *device;
	size_t n;

	read_table(&table, yaml_root(robot->doc), errors);
	forget_null(&robot->sim);
	read_buses(robot, errors);
	n = count_named(robot->devices_node, errors);
	device = room(robot, n, sizeof(*device), errors);
	if (!device)
		return;
	robot->devices = device;
	robot->devices_n = n;
	for (node = yaml_first(robot->devices_node); n; n--, node = node->next, device++)
		read_device(robot, device, node, errors);
}
