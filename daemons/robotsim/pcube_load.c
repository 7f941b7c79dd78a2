/* pcube_load.c: which modules a device of the robot file is made of.
 *
 *	settings: {modules: "larm0:4-7,larm1:8-10"}	as its driver reads it
 *	sim: {type: PRL100, modules: {4: {type: PRL120}}}
 */
#include "daemons/robotsim/pcube_load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct with_modules {
	const struct yaml_node *modules;
};
static const struct settings_row with_modules_rows[] = {
	SETTINGS_NODE("modules", struct with_modules, modules, NULL,
		      "the same for single modules: {15: {type: PRL80}}"),
	SETTINGS_END,
};

/* Settings of the device, then those of the module alone. */
static int read_settings(struct pcube_unit *u, const struct robot_device *device, const char *joint,
			 struct error_sink *errors)
{
	struct with_modules with = { 0 };
	struct settings more = { .rows = with_modules_rows, .values = &with };
	struct settings settings = { .rows = pcube_rows, .values = &u->settings, .next = &more };
	char where[TEXT_NAME_MAX + 24];
	int r;

	snprintf(where, sizeof(where), "devices.%s.sim", device->name);
	r = settings_defaults(&settings, errors);
	if (!r)
		r = settings_read(&settings, device->sim, errors);
	settings.next = NULL;
	if (!r)
		r = settings_read(&settings, yaml_find(with.modules, joint), errors);
	return r ? r
		 : pcube_settings_complete(&settings, robot_limits(device, joint)->position, u->address, where, errors);
}

/* On which bus it is, and its number. */
struct item {
	const struct robot_bus *bus;
	unsigned int address;
};
struct list {
	struct item items[SIM_UNITS_MAX];
	size_t n;
};

/* By its number; where several buses have one of that number, by the bus too. */
static int add(struct sim *sim, const struct robot_device *device, const struct list *list, const struct item *item,
	       struct error_sink *errors)
{
	const uint32_t mask = FRAME_STD_MASK | FRAME_EXT | FRAME_RTR | FRAME_ERR;
	char joint[TEXT_NAME_MAX + 16];
	struct sim_unit *unit;
	struct pcube_unit *u;

	snprintf(joint, sizeof(joint), "%u", item->address);
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i].address == item->address && list->items[i].bus != item->bus)
			snprintf(joint, sizeof(joint), "%s.%u", item->bus->name, item->address);
	unit = sim_add(sim, device, joint, sizeof(*u), errors);
	if (!unit)
		return -EINVAL;
	unit->on = item->bus;
	unit->filters[0] = (struct bus_filter){ 0x0C0 + item->address, mask };
	unit->filters[1] = (struct bus_filter){ 0x0E0 + item->address, mask };
	unit->filters[2] = (struct bus_filter){ 0x100, mask };
	unit->filters_n = 3;
	unit->sends = 0x0A0 + item->address;
	u = unit->state;
	u->address = item->address;
	return read_settings(u, device, joint, errors);
}

/* A bus of the device by its role or its own name; without one the only one. */
static const struct robot_bus *find_bus(const struct robot_device *device, const char *name)
{
	if (!*name)
		return device->roles_n == 1 ? device->roles[0].bus : NULL;
	for (size_t i = 0; i < device->roles_n; i++)
		if (!strcmp(device->roles[i].role, name) || !strcmp(device->roles[i].bus->name, name))
			return device->roles[i].bus;
	return NULL;
}

static int put(struct list *list, const struct robot_bus *bus, unsigned int address)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->items[i].bus == bus && list->items[i].address == address)
			return -EEXIST;
	if (list->n == SIM_UNITS_MAX)
		return -ENOSPC;
	list->items[list->n++] = (struct item){ bus, address };
	return 0;
}

/* A number or a range, behind the name of its bus if it has one; otherwise it is of the bus named last. */
static int read_item(struct list *list, const struct robot_device *device, char *text, char bus_name[TEXT_NAME_MAX + 1])
{
	char *colon = strrchr(text, ':'), *number = colon ? colon + 1 : text, *end;
	const struct robot_bus *bus;
	unsigned long first, last;
	int r = 0;

	if (colon)
		snprintf(bus_name, TEXT_NAME_MAX + 1, "%.*s", (int)(colon - text), text);
	bus = find_bus(device, bus_name);
	first = last = strtoul(number, &end, 10);
	if (*end == '-')
		last = strtoul(end + 1, &end, 10);
	if (!bus || *end || !first || first > last || last > PCUBE_ADDRESS_MAX)
		return -EINVAL;
	for (; first <= last && !r; first++)
		r = put(list, bus, (unsigned int)first);
	return r;
}

/* larm0:4-7,larm1:8-10 */
static int read_list(struct list *list, const struct robot_device *device, const struct yaml_node *node,
		     struct error_sink *errors)
{
	char text[256], quoted[TEXT_QUOTED_MAX], bus_name[TEXT_NAME_MAX + 1] = "", *save = NULL;
	int r = 0;

	if (node->kind != YAML_TEXT) {
		yaml_error(errors, node, "is written as text: torso:13,15");
		return -EINVAL;
	}
	if (snprintf(text, sizeof(text), "%s", node->text) >= (int)sizeof(text))
		r = -EINVAL;
	for (char *item = strtok_r(text, ", ", &save); item && !r; item = strtok_r(NULL, ", ", &save))
		r = read_item(list, device, item, bus_name);
	if (!r && list->n)
		return 0;
	if (r == -EEXIST)
		yaml_error(errors, node, "a module stands there twice");
	else if (r == -ENOSPC)
		yaml_error(errors, node, "these are too many: robotsim plays %d at most", SIM_UNITS_MAX);
	else
		yaml_error(errors, node, "%s is no list of this device's buses with modules from 1 to %d: torso:13,15",
			   text_quote(quoted, node->text), PCUBE_ADDRESS_MAX);
	return -EINVAL;
}

/* What is said about single modules is about some that there are: those from first on. */
static int check_modules(const struct sim *sim, const struct robot_device *device, size_t first,
			 struct error_sink *errors)
{
	const size_t skip = strlen(device->name) + 1;

	for (const struct yaml_node *node = yaml_first(yaml_find(device->sim, "modules")); node; node = node->next) {
		size_t i = first;

		while (i < sim->units_n && strcmp(sim->units[i].name + skip, node->key ? node->key : "") != 0)
			i++;
		if (i == sim->units_n) {
			yaml_error(errors, node, "%s has no such module", device->name);
			return -EINVAL;
		}
	}
	return 0;
}

int pcube_load(struct sim *sim, const struct robot_device *device, struct error_sink *errors)
{
	const struct yaml_node *modules = yaml_find(device->settings, "modules");
	struct list list = { .n = 0 };

	if (!modules) {
		yaml_error(errors, device->node, "settings.modules is missing: buses with modules such as torso:13,15");
		return -EINVAL;
	}
	if (read_list(&list, device, modules, errors))
		return -EINVAL;
	for (size_t i = 0; i < list.n; i++)
		if (add(sim, device, &list, &list.items[i], errors))
			return -EINVAL;
	return check_modules(sim, device, sim->units_n - list.n, errors);
}
