/* launch_relations.c: how the daemons of a launch file depend on each other: buses, needs, order, groups, the clock. */
#include "launch/file/launch_inside.h"

/* ---- buses ---- */

static const struct robot_bus *bus_named(const struct launch *launch, const struct yaml_node *name,
					 struct error_sink *errors)
{
	const struct robot_bus *bus = robot_bus(&launch->robot, name->text);
	const char *best = NULL;

	if (bus)
		return bus;
	for (size_t i = 0; i < launch->robot.buses_n; i++)
		nearest_try(name->text, launch->robot.buses[i].name, &best);
	launch_unknown(errors, name, name->text, "bus: ", "the robot file has no bus", best, " under buses");
	return NULL;
}

static void add_bus(struct launch_daemon *daemon, const struct robot_bus *bus, const char *role)
{
	daemon->raw.roles[daemon->buses_n] = role;
	daemon->buses[daemon->buses_n++] = bus;
}

/* The buses in the launch file: a name, a list, or a mapping from role to name. */
static void given_buses(const struct launch *launch, struct launch_daemon *daemon, struct error_sink *errors)
{
	const struct yaml_node *node = daemon->raw.bus, *one = node->kind == YAML_TEXT ? node : node->first;
	const size_t most = daemon->kind == LAUNCH_CANWIRE ? LAUNCH_BUSES_MAX : ROBOT_ROLES_MAX;

	if (node->kind != YAML_TEXT && (!node->count || node->count > most)) {
		yaml_error(errors, node, "%zu buses; write 1 to %zu", node->count, most);
		return;
	}
	for (; one; one = one == node ? NULL : one->next) {
		const struct robot_bus *bus;

		if (one->kind != YAML_TEXT || yaml_is_null(one)) {
			yaml_error(errors, node, "write the name of a bus, or a list of names");
			continue;
		}
		if (node->kind == YAML_MAP && daemon->kind != LAUNCH_DRIVER)
			yaml_error(errors, one, "only a driver's buses have roles: write a list");
		else if (node->kind == YAML_MAP && !text_is_name(one->key))
			yaml_error(errors, one, "not a valid name of a role");
		bus = bus_named(launch, one, errors);
		if (bus)
			add_bus(daemon, bus, node->kind == YAML_MAP ? one->key : "");
	}
}

static void wire_buses(const struct launch *launch, struct launch_daemon *daemon, struct error_sink *errors)
{
	size_t all = 0;

	for (size_t i = 0; i < launch->robot.buses_n; i++) {
		if (!launch_bus_wire(&launch->robot.buses[i]))
			continue;
		if (all++ < LAUNCH_BUSES_MAX)
			add_bus(daemon, &launch->robot.buses[i], "");
	}
	if (!all)
		yaml_error(errors, daemon->node, "the robot file has no bus wire:NAME that it could serve");
	if (all > LAUNCH_BUSES_MAX)
		yaml_error(errors, daemon->node,
			   "%zu soft wires; one canwire serves %d: share them out with bus: [...]", all,
			   LAUNCH_BUSES_MAX);
}

/* A canwire has one bit rate, and one of data. */
static void check_wires(const struct launch *launch, const struct launch_daemon *daemon, struct error_sink *errors)
{
	const struct yaml_node *node = daemon->raw.bus ? daemon->raw.bus : daemon->node;

	for (size_t i = 0; i < daemon->buses_n; i++) {
		const struct robot_bus *bus = daemon->buses[i];

		if (!launch_bus_wire(bus))
			yaml_error(errors, node, "bus %s is %s: canwire serves wire:NAME only", bus->name,
				   bus->interface);
		for (const struct launch_daemon *other = launch->daemons; other < daemon; other++) {
			for (size_t j = 0; other->kind == LAUNCH_CANWIRE && j < other->buses_n; j++) {
				if (other->buses[j] == bus)
					yaml_error(errors, node, "bus %s is served by %s (line %u) already", bus->name,
						   other->name, other->node->line);
			}
		}
	}
	for (size_t i = 1; i < daemon->buses_n; i++) {
		const struct robot_bus *first = daemon->buses[0], *bus = daemon->buses[i];

		if (bus->bitrate != first->bitrate) {
			yaml_error(errors, node,
				   "%s has %lld bit/s and %s %lld: write a canwire for each rate, with bus: [...]",
				   first->name, (long long)first->bitrate, bus->name, (long long)bus->bitrate);
			return;
		}
		if (bus->data_bitrate != first->data_bitrate) {
			yaml_error(errors, node,
				   "%s has a data_bitrate of %lld and %s of %lld: write a canwire for each, with "
				   "bus: [...]",
				   first->name, (long long)first->data_bitrate, bus->name,
				   (long long)bus->data_bitrate);
			return;
		}
	}
}

void launch_read_buses(struct launch *launch, struct error_sink *errors)
{
	for (size_t place = 0; place < launch->daemons_n; place++) {
		struct launch_daemon *daemon = &launch->daemons[place];
		const bool wires = daemon->kind == LAUNCH_CANWIRE, driver = daemon->kind == LAUNCH_DRIVER;

		if (daemon->raw.bus && !wires && !driver)
			yaml_error(errors, daemon->raw.bus, "only drivers and canwire have buses: take this out");
		else if (daemon->raw.bus)
			given_buses(launch, daemon, errors);
		else if (wires)
			wire_buses(launch, daemon, errors);
		for (size_t i = 0; daemon->device && !daemon->raw.bus && i < daemon->device->roles_n; i++)
			add_bus(daemon, daemon->device->roles[i].bus, daemon->device->roles[i].role);
		if (wires)
			check_wires(launch, daemon, errors);
	}
}

/* ---- needs ---- */

static bool shares_bus(const struct launch_daemon *a, const struct launch_daemon *b)
{
	for (size_t i = 0; i < a->buses_n; i++) {
		for (size_t j = 0; j < b->buses_n; j++)
			if (a->buses[i] == b->buses[j])
				return true;
	}
	return false;
}

/* Needs by default: devices exist once the simulator plays them, wires once they are served. */
static bool needs_anyway(const struct launch_daemon *daemon, const struct launch_daemon *other)
{
	if (daemon->kind == LAUNCH_DRIVER)
		return other->kind == LAUNCH_ROBOTSIM || (other->kind == LAUNCH_CANWIRE && shares_bus(daemon, other));
	return (daemon->kind == LAUNCH_ROBOTSIM || daemon->kind == LAUNCH_BLACKBOX) && other->kind == LAUNCH_CANWIRE;
}

void launch_read_needs(struct launch *launch, struct error_sink *errors)
{
	for (size_t place = 0; place < launch->daemons_n; place++) {
		struct launch_daemon *daemon = &launch->daemons[place];
		const struct yaml_node *needs = launch_given(daemon->raw.needs), *one = NULL;

		if (needs && !launch_are_names(needs, "the name of a daemon, or a list of names", errors))
			needs = NULL;
		while ((one = launch_next(needs, one))) {
			const struct launch_daemon *other = launch_named(launch, one, "needs: ", errors);

			if (other)
				daemon->raw.needed |= UINT64_C(1) << other->raw.place;
		}
		for (size_t i = 0; i < launch->daemons_n; i++)
			if (needs_anyway(daemon, &launch->daemons[i]))
				daemon->raw.needed |= UINT64_C(1) << i;
	}
}

/* ---- order ---- */

/* From first along needs that are not placed yet until one comes again: "waist needs larm needs waist". */
static void report_circle(const struct launch *launch, size_t first, uint64_t *placed, struct error_sink *errors)
{
	char text[ERROR_LINE_MAX / 2] = "";
	uint64_t seen = 0, circle = 0;
	size_t at = first, end;

	for (; !(seen >> at & 1); at = (size_t)__builtin_ctzll(launch->daemons[at].raw.needed & ~*placed))
		seen |= UINT64_C(1) << at;
	end = at;
	lines_append(text, sizeof(text), "", "%s", launch->daemons[end].name);
	do {
		circle |= UINT64_C(1) << at;
		at = (size_t)__builtin_ctzll(launch->daemons[at].raw.needed & ~*placed);
		lines_append(text, sizeof(text), " needs ", "%s", launch->daemons[at].name);
	} while (at != end);
	yaml_error(errors, launch->daemons[end].raw.needs ? launch->daemons[end].raw.needs : launch->daemons[end].node,
		   "a circle: %s; take one of these out", text);
	*placed |= circle;
}

/* The first daemon of the file that is not placed, and whose needs are; false: there is none, only a circle. */
static bool find_next(const struct launch *launch, uint64_t placed, size_t *next)
{
	size_t left = launch->daemons_n;

	for (size_t i = 0; i < launch->daemons_n; i++) {
		if (placed >> i & 1)
			continue;
		*next = i;
		if (!(launch->daemons[i].raw.needed & ~placed))
			return true;
		left = left < i ? left : i;
	}
	*next = left;
	return false;
}

void launch_order(struct launch *launch, struct error_sink *errors)
{
	struct launch_daemon *sorted = yaml_room(launch->doc, launch->daemons_n, sizeof(*sorted), errors);
	size_t place_of[LAUNCH_DAEMONS_MAX] = { 0 }, n = 0, next;
	uint64_t placed = 0;

	while (sorted && n < launch->daemons_n && placed + 1 != UINT64_C(1) << launch->daemons_n) {
		if (!find_next(launch, placed, &next)) {
			report_circle(launch, next, &placed, errors);
			continue;
		}
		placed |= UINT64_C(1) << next;
		place_of[next] = n;
		sorted[n++] = launch->daemons[next];
	}
	if (n < launch->daemons_n)
		return; /* circles were reported */
	launch->daemons = sorted;
	for (struct launch_daemon *daemon = sorted; daemon < sorted + n; daemon++) {
		size_t *needs = yaml_room(launch->doc, (size_t)__builtin_popcountll(daemon->raw.needed), sizeof(*needs),
					  errors);

		daemon->needs = needs;
		for (size_t i = 0; needs && i < n; i++)
			if (daemon->raw.needed >> sorted[i].raw.place & 1)
				needs[daemon->needs_n++] = place_of[sorted[i].raw.place];
	}
}

/* ---- groups ---- */

void launch_read_groups(struct launch *launch, struct error_sink *errors)
{
	const struct yaml_node *node = launch_given(launch->raw.groups);

	if (!node)
		return;
	if (node->kind != YAML_MAP) {
		yaml_error(errors, node,
			   "write a mapping from the name of each group to its daemons: base: [imu, wheels]");
		return;
	}
	launch->groups = yaml_room(launch->doc, node->count, sizeof(*launch->groups), errors);
	for (node = launch->groups ? node->first : NULL; node; node = node->next) {
		const struct yaml_node *one = NULL;

		launch->groups[launch->groups_n++] = (struct launch_group){ node->key, node };
		if (!text_is_name(node->key))
			yaml_error(errors, node, "a name has 1 to %d of A-Z a-z 0-9 _ . -, a letter or digit first",
				   TEXT_NAME_MAX);
		if (!strcmp(node->key, LAUNCH_GROUP_ALL))
			yaml_error(errors, node, "%s is always every daemon: take another name", LAUNCH_GROUP_ALL);
		if (!launch_are_names(node, "a list of daemons: [imu, wheels]", errors))
			continue;
		while ((one = launch_next(node, one)))
			launch_named(launch, one, "groups: ", errors);
	}
}

static int no_group(const struct launch *launch, const char *name, struct error_sink *errors)
{
	char quoted[TEXT_QUOTED_MAX], known[ERROR_LINE_MAX / 2] = LAUNCH_GROUP_ALL;
	const char *best = NULL;

	nearest_try(name, LAUNCH_GROUP_ALL, &best);
	for (size_t i = 0; i < launch->groups_n; i++) {
		nearest_try(name, launch->groups[i].name, &best);
		lines_append(known, sizeof(known), ", ", "%s", launch->groups[i].name);
	}
	text_quote(quoted, name);
	if (best)
		error_add(errors, "--group: %s has no group %s; did you mean %s?", launch->path, quoted, best);
	else
		error_add(errors, "--group: %s has no group %s; there are %s", launch->path, quoted, known);
	return -EINVAL;
}

int launch_group(struct launch *launch, const char *name, struct error_sink *errors)
{
	const struct launch_group *group = NULL;
	const bool all = !name || !strcmp(name, LAUNCH_GROUP_ALL);
	const struct yaml_node *one = NULL;

	for (size_t i = 0; !all && i < launch->groups_n; i++)
		if (!strcmp(launch->groups[i].name, name))
			group = &launch->groups[i];
	if (!all && !group)
		return no_group(launch, name, errors);
	launch->group = all ? LAUNCH_GROUP_ALL : group->name;
	for (size_t i = 0; i < launch->daemons_n; i++)
		launch->daemons[i].wanted = all || launch->daemons[i].clock;
	while (group && (one = launch_next(group->node, one)))
		launch_daemon(launch, one->text)->wanted = true;
	/* The daemons that a daemon needs stand before it. */
	for (size_t i = launch->daemons_n; i-- > 0;) {
		const struct launch_daemon *daemon = &launch->daemons[i];

		for (size_t j = 0; daemon->wanted && j < daemon->needs_n; j++)
			launch->daemons[daemon->needs[j]].wanted = true;
	}
	return 0;
}

/* ---- the clock ---- */

static bool is_clock(const struct launch_daemon *daemon)
{
	return daemon->device && !strcmp(daemon->device->driver, "hubo-daemon");
}

/* The daemon that the file names, or the only driver that is a clock. */
void launch_read_clock(struct launch *launch, struct error_sink *errors)
{
	const struct yaml_node *top = yaml_root(launch->doc), *node = yaml_find(top, "clock");
	struct launch_daemon *clock = NULL;

	if (!strcmp(launch->raw.clock, "none"))
		return;
	if (*launch->raw.clock) {
		clock = launch_named(launch, node, "", errors);
		if (clock && clock->kind != LAUNCH_DRIVER)
			yaml_error(errors, node, "%s drives no device: name the daemon of hubo-daemon, or none",
				   clock->name);
		else if (clock && !is_clock(clock))
			yaml_error(errors, node, "%s is driven by %s: name the daemon of hubo-daemon, or none",
				   clock->name, clock->device->driver);
	}
	for (size_t i = 0; !node && i < launch->daemons_n; i++) {
		if (!is_clock(&launch->daemons[i]))
			continue;
		if (clock)
			yaml_error(errors, launch->daemons[i].node,
				   "%s (line %u) is driven by hubo-daemon, too: say which is the robot's clock "
				   "(clock: %s)",
				   clock->name, clock->node->line, clock->name);
		else
			clock = &launch->daemons[i];
	}
	if (!clock) {
		if (!launch->raw.clock_given && launch->daemons_n && !launch_is_unresolved(launch))
			yaml_error(
				errors, top,
				"no daemon is the robot's clock: add the device of hubo-daemon, or write clock: none");
		return;
	}
	clock->clock = true;
	launch->clock = clock->name;
}
