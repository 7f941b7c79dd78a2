/* sim.c: kinds, units, names. */
#include "daemons/robotsim/sim.h"

#include "daemons/drv/setup_rows.h"

const struct sim_kind *sim_kind(const struct robot_device *device)
{
	for (const struct sim_kind *const *kind = sim_kinds; *kind; kind++)
		if ((*kind)->load && !strcmp((*kind)->driver, device->driver))
			return *kind;
	return sim_object_kind(device->driver);
}

int sim_find_bus(const void *of, const char *name)
{
	const struct robot_device *device = of;

	for (size_t i = 0; i < device->roles_n; i++)
		if (!strcmp(device->roles[i].role, name) || !strcmp(device->roles[i].bus->name, name))
			return (int)i;
	return -ENOENT;
}

/* As the driver reads them (daemons/drv/setup.c); what the loop takes of them is only checked. */
static int read_settings(const struct sim_kind *kind, const struct robot_device *device, void *values, void *of_loop,
			 struct error_sink *errors)
{
	struct settings own = { .rows = kind->settings, .values = values };
	struct settings actuated = { .rows = setup_actuated_rows, .values = of_loop, .next = &own };
	struct settings loop = { .rows = setup_loop_rows, .values = of_loop, .next = kind->no_ref ? &own : &actuated };
	char where[ERROR_LINE_MAX / 2];
	int r = settings_defaults(&loop, errors);

	snprintf(where, sizeof(where), "%s:%u: %s", device->node->file, device->node->line, device->name);
	if (!r)
		r = settings_read(&loop, device->settings, errors);
	return settings_missing(&loop, where, errors) ? -EINVAL : r;
}

static int load(struct sim *sim, const struct sim_kind *kind, const struct robot_device *device,
		struct error_sink *errors)
{
	void *values = calloc(1, kind->settings_size), *of_loop = calloc(1, setup_rows_size);
	int r = -EINVAL;

	if (!values || !of_loop)
		error_add(errors, "%s: no memory", device->name);
	else if (!read_settings(kind, device, values, of_loop, errors))
		r = kind->load(sim, device, values, errors);
	free(of_loop);
	free(values);
	return r;
}

/* The clock of the buses has no device on them. */
static bool is_missing(const struct robot_device *device)
{
	return device->roles_n && !sim_kind(device) && strcmp(device->driver, "hubo-daemon") != 0;
}

void sim_missing(const struct robot *robot, struct error_sink *errors)
{
	for (size_t i = 0; i < robot->devices_n; i++)
		if (is_missing(&robot->devices[i]))
			sim_object_missing(&robot->devices[i], errors);
}

int sim_load(struct sim *sim, const struct robot *robot, struct error_sink *errors)
{
	int r = 0;

	for (size_t i = 0; i < robot->devices_n; i++) {
		const struct robot_device *device = &robot->devices[i];
		const struct sim_kind *kind;

		if (is_missing(device) && sim_object_load(device, errors) == -EINVAL)
			r = -EINVAL;
		kind = sim_kind(device);
		if (!kind || (kind->bus_optional && !device->roles_n))
			continue;
		if (!device->roles_n) {
			yaml_error(errors, device->node, "no bus: write bus: NAME");
			r = -EINVAL;
		} else if (load(sim, kind, device, errors)) {
			r = -EINVAL;
		}
	}
	for (size_t i = 0; i < sim->units_n; i++)
		if (!strncmp(sim->units[i].on->interface, "log:", 4)) {
			yaml_error(errors, sim->units[i].on->node,
				   "a log is not a bus for devices: write wire:%s or vcan0", sim->units[i].on->name);
			r = -EINVAL;
			break;
		}
	if (!r && !sim->units_n) {
		sim_missing(robot, errors);
		error_add(errors, "there is nothing to play: no device of this robot has a driver that robotsim knows "
				  "(robotsim run --help lists them)");
		r = -EINVAL;
	}
	if (!r)
		r = sim_body_load(sim, robot, errors);
	if (r)
		sim_unload(sim);
	return r;
}

void sim_unload(struct sim *sim)
{
	sim->body.is_there = false;
	while (sim->units_n)
		free(sim->units[--sim->units_n].state);
	sim->ears_n = 0;
}

struct sim_unit *sim_add(struct sim *sim, const struct robot_device *device, const char *part, size_t size,
			 struct error_sink *errors)
{
	struct sim_unit *unit = &sim->units[sim->units_n];

	if (sim->units_n == SIM_UNITS_MAX) {
		error_add(errors, "%s: there are too many: robotsim plays %d at most", device->name, SIM_UNITS_MAX);
		return NULL;
	}
	*unit = (struct sim_unit){ .device = device, .kind = sim_kind(device), .state = calloc(1, size) };
	if (!unit->state) {
		error_add(errors, "%s: no memory", device->name);
		return NULL;
	}
	if (snprintf(unit->name, sizeof(unit->name), "%s.%s", device->name, part) >= (int)sizeof(unit->name)) {
		error_add(errors, "%s.%s: that name is too long for a controller: at most %d letters", device->name,
			  part, TEXT_NAME_MAX);
		free(unit->state);
		return NULL;
	}
	sim->units_n++;
	return unit;
}

int sim_share_ear(struct sim *sim, struct sim_unit *unit, struct error_sink *errors)
{
	struct sim_ear *ear;

	for (size_t i = 0; i < sim->ears_n; i++)
		if (sim->ears[i].device == unit->device && sim->ears[i].on == unit->on) {
			unit->ear = &sim->ears[i];
			return 0;
		}
	if (sim->ears_n == SIM_EARS_MAX)
		return error_refuse(errors, -EINVAL, "%s: robotsim plays such boards on %d buses at most", unit->name,
				    SIM_EARS_MAX);
	ear = unit->ear = &sim->ears[sim->ears_n++];
	*ear = (struct sim_ear){ .device = unit->device, .on = unit->on, .filters_n = unit->filters_n };
	memcpy(ear->filters, unit->filters, sizeof(ear->filters));
	return 0;
}

int sim_add_node(struct sim *sim, const struct robot_device *device, const struct sim_node *node,
		 struct error_sink *errors)
{
	struct settings settings = { .rows = sim_kind(device)->rows, .values = node->state };
	struct sim_unit *unit;
	char part[12];

	if (settings_defaults(&settings, errors) || settings_read(&settings, device->sim, errors))
		return -EINVAL;
	snprintf(part, sizeof(part), "%u", node->node);
	unit = sim_add(sim, device, part, node->size, errors);
	if (!unit)
		return -EINVAL;
	memcpy(unit->state, node->state, node->size);
	unit->on = device->roles[0].bus;
	unit->filters[0] = (struct bus_filter){ node->hears, FRAME_STD_MASK | FRAME_EXT | FRAME_RTR };
	unit->filters_n = 1;
	unit->sends = node->sends;
	return 0;
}

struct sim_unit *sim_find(struct sim *sim, const char *name, struct rpc_text *answer)
{
	const char *best = NULL;

	for (size_t i = 0; i < sim->units_n; i++) {
		if (!strcmp(sim->units[i].name, name))
			return &sim->units[i];
		nearest_try(name, sim->units[i].name, &best);
	}
	rpc_say(answer, "error %s: nothing of that name is played here%s%s%s", name,
		best ? "; did you mean " : ": robotsim report lists what is", best ? best : "", best ? "?" : "");
	return NULL;
}
