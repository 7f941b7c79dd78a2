/* pcube_load.c: which modules a device of the robot file is made of.
 *
 *	settings: {modules: "larm0:4-7,larm1:8-10"}	read by the driver's own pciod_list.c
 *	sim: {type: PRL100, modules: {4: {type: PRL120}}}
 */
#include "daemons/robotsim/pcube.h"

#include "daemons/pcio/pciod_list.h"
#include "daemons/pcio/pciod_settings.h"
#include "daemons/robotsim/sim.h"

struct with_modules {
	const struct yaml_node *modules;
};
static const struct settings_row with_modules_rows[] = {
	SETTINGS_NODE("modules", struct with_modules, modules, NULL,
		      "the same for single modules: {15: {type: PRL80}}"),
	SETTINGS_END,
};

/* Settings of the device, then those of the module alone. */
static int read_settings(struct pcube *m, const struct robot_device *device, const struct pciod_settings *driver,
			 const char *joint, struct error_sink *errors)
{
	struct with_modules with = { 0 };
	struct settings more = { .rows = with_modules_rows, .values = &with };
	struct settings settings = { .rows = pcube_rows, .values = &m->settings, .next = &more };
	char where[TEXT_NAME_MAX + 24];
	const struct pcube_given given = { driver, robot_limits(device, joint)->position, m->values.address, where };
	int r;

	snprintf(where, sizeof(where), "devices.%s.sim", device->name);
	r = settings_defaults(&settings, errors);
	if (!r)
		r = settings_read(&settings, device->sim, errors);
	settings.next = NULL;
	if (!r)
		r = settings_read(&settings, yaml_find(with.modules, joint), errors);
	return r ? r : pcube_settings_complete(&settings, &given, errors);
}

static int add(struct sim *sim, const struct robot_device *device, const struct pciod_settings *driver,
	       const struct pciod_list_item *item, struct error_sink *errors)
{
	const uint32_t mask = FRAME_STD_MASK | FRAME_EXT | FRAME_RTR | FRAME_ERR;
	struct sim_unit *unit = sim_add(sim, device, item->joint, sizeof(struct pcube), errors);
	struct pcube *m;

	if (!unit)
		return -EINVAL;
	unit->on = device->roles[item->bus].bus;
	unit->filters[0] = (struct bus_filter){ 0x0C0 + item->number, mask };
	unit->filters[1] = (struct bus_filter){ 0x0E0 + item->number, mask };
	unit->filters[2] = (struct bus_filter){ 0x100, mask };
	unit->filters_n = 3;
	unit->sends = 0x0A0 + item->number;
	m = unit->state;
	m->values.address = (uint8_t)item->number;
	return read_settings(m, device, driver, item->joint, errors);
}

static const char *name_bus(const void *of, unsigned int bus)
{
	return ((const struct robot_device *)of)->roles[bus].bus->name;
}

/* ---- all of it ---- */

/* Settings of single modules name modules that exist: those from first on. */
static int check_modules(const struct sim *sim, const struct robot_device *device, size_t first,
			 struct error_sink *errors)
{
	const size_t skip = strlen(device->name) + 1;

	for (const struct yaml_node *node = yaml_first(yaml_find(device->sim, "modules")); node; node = node->next) {
		size_t i = first;

		while (i < sim->units_n && strcmp(sim->units[i].name + skip, node->key ? node->key : "") != 0)
			i++;
		if (i == sim->units_n)
			return yaml_error(errors, node, "%s has no such module", device->name);
	}
	return 0;
}

int pcube_load(struct sim *sim, const struct robot_device *device, const void *of_driver, struct error_sink *errors)
{
	const struct pciod_settings *driver = of_driver;
	const struct yaml_node *node = yaml_find(device->settings, "modules");
	char where[ERROR_LINE_MAX / 2];
	const struct pciod_list_buses buses = { where, (unsigned int)device->roles_n, sim_find_bus, name_bus, device };
	struct pciod_list list;

	snprintf(where, sizeof(where), "%s:%u: modules", node->file, node->line);
	if (pciod_list_read(&list, driver->modules, &buses, errors))
		return -EINVAL;
	for (unsigned int i = 0; i < list.n; i++)
		if (add(sim, device, driver, &list.item[i], errors))
			return -EINVAL;
	return check_modules(sim, device, sim->units_n - list.n, errors);
}
