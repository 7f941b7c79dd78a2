/* robot_check.c: how the parts of a robot file fit together. */
#include <string.h>

#include "config/nearest.h"
#include "config/robot_read.h"

#define ID_MAX 0x1FFFFFFF /* of 29 bits */

/* ---- the buses of a device ---- */

static void unknown_bus(const struct robot *robot, const struct yaml_node *node, struct error_sink *errors)
{
	const char *best = NULL;
	char quoted[TEXT_QUOTED_MAX];

	for (size_t i = 0; i < robot->buses_n; i++)
		nearest_try(node->text, robot->buses[i].name, &best);
	text_quote(quoted, node->text);
	if (best)
		yaml_error(errors, node, "there is no bus %s; did you mean %s?", quoted, best);
	else
		yaml_error(errors, node, "there is no bus %s under buses", quoted);
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
			yaml_error(errors, one, "no name for a role");
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

void robot_check(const struct robot *robot, struct error_sink *errors)
{
	for (size_t i = 0; i < robot->buses_n; i++)
		check_interface(robot, i, errors);
	for (size_t i = 0; i < robot->devices_n; i++) {
		find_roles(robot, &robot->devices[i], errors);
		check_ids(robot->devices[i].ids, errors);
		check_restart(&robot->devices[i], errors);
	}
}
