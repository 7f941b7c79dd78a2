/* setup.c: the input of a driver: command line, robot file, settings. */
#include "config/settings/options.h"
#include "daemons/drv/setup.h"
#include "daemons/drv/setup_rows.h"

#define REF_MAX_NS 200000000
#define REF_MAX_TICKS 5

/* ---- tables ---- */

struct setup_options {
	const char *name, *robot, *config;
	struct settings_strings bus, set;
	bool frames, check;
};

#define OPTION(TYPE, key, ...) SETTINGS_##TYPE(key, struct setup_options, __VA_ARGS__)
static const struct settings_row option_rows[] = {
	OPTION(STRING, "name", name, SETTINGS_REQUIRED, "the device's name, and that of its channels", .value = "N"),
	OPTION(STRINGS, "bus", bus, "a bus of the robot file, or an interface; wins over the device's buses",
	       .value = "[ROLE=]BUS"),
	OPTION(STRING, "robot", robot, NULL, "the robot's name: where its parts meet", .value = "R"),
	OPTION(STRING, "config", config, NULL, "the robot file, see robot(5)", .value = "FILE"),
	OPTION(STRINGS, "set", set, "a setting; wins over the file", .value = "K=V"),
	OPTION(BOOL, "frames", frames, "no", "print the frames it sends and receives, as JSON"),
	OPTION(BOOL, "check", check, "no", "check everything that can be without the bus, and stop"),
	SETTINGS_END,
};

/* ---- buses ---- */

/* torso of wire:torso, can0 of can0 */
static void name_of_interface(char name[TEXT_NAME_MAX + 1], const char *interface)
{
	const char *colon = strchr(interface, ':'), *from = colon ? colon + 1 : interface;
	size_t n = 0;

	for (; *from && n < TEXT_NAME_MAX; from++)
		if (strchr("_.-", *from) ? n > 0 : *from != '/' && *from != '@' && *from != '>')
			name[n++] = *from;
		else if (*from == '/')
			n = 0;
		else
			break;
	name[n] = 0;
	if (!text_is_name(name))
		snprintf(name, TEXT_NAME_MAX + 1, "bus");
}

static void take_robot_bus(struct setup_bus *bus, const struct robot_bus *from)
{
	snprintf(bus->name, sizeof(bus->name), "%s", from->name);
	snprintf(bus->interface, sizeof(bus->interface), "%s", from->interface);
	bus->bitrate = from->bitrate;
	bus->in_flight = from->in_flight;
	bus->robot = from;
}

static void check_twice(const struct setup *s, const struct setup_bus *bus, struct error_sink *errors)
{
	for (const struct setup_bus *b = s->buses; b < bus; b++)
		if (!strcmp(b->interface, bus->interface))
			error_add(errors, "--bus: %s is given twice", bus->interface);
		else if (!strcmp(b->name, bus->name))
			error_add(errors, "--bus: two buses are called %s: name them, as in left=%s", bus->name,
				  bus->interface);
}

static void take_given_bus(struct setup *s, const char *text, struct error_sink *errors)
{
	const char *equals = strchr(text, '='), *what = equals ? equals + 1 : text, *wrong;
	struct setup_bus *bus = &s->buses[s->buses_n];
	const struct robot_bus *from = s->device ? robot_bus(&s->robot, what) : NULL;
	char quoted[TEXT_QUOTED_MAX];

	if (s->buses_n == MSG_BUSES) {
		error_add(errors, "--bus: more than %d buses", MSG_BUSES);
		return;
	}
	*bus = (struct setup_bus){ .bitrate = 1000000 };
	if (equals)
		snprintf(bus->role, sizeof(bus->role), "%.*s", (int)(equals - text), text);
	if (equals && !text_is_name(bus->role)) {
		error_add(errors, "--bus: %s: the role before = is not a valid name", text_quote(quoted, text));
		return;
	}
	wrong = from ? NULL : bus_name_wrong(what);
	if (wrong) {
		error_add(errors, "--bus: %s: %s", text_quote(quoted, what), wrong);
		return;
	}
	if (from) {
		take_robot_bus(bus, from);
	} else {
		snprintf(bus->interface, sizeof(bus->interface), "%s", what);
		if (*bus->role)
			memcpy(bus->name, bus->role, sizeof(bus->name));
		else
			name_of_interface(bus->name, what);
	}
	check_twice(s, bus, errors);
	s->buses_n++;
}

static void take_buses(struct setup *s, const struct setup_options *given, struct error_sink *errors)
{
	if (s->driver->no_bus) {
		if (given->bus.n)
			error_add(errors, "--bus: %s uses no bus", s->driver->program);
		else if (s->device && s->device->bus_node)
			yaml_error(errors, s->device->bus_node, "%s uses no bus: take this out", s->driver->program);
		return;
	}
	for (size_t i = 0; i < given->bus.n; i++)
		take_given_bus(s, given->bus.item[i], errors);
	for (size_t i = 0; !given->bus.n && s->device && i < s->device->roles_n; i++) {
		snprintf(s->buses[i].role, sizeof(s->buses[i].role), "%s", s->device->roles[i].role);
		take_robot_bus(&s->buses[s->buses_n++], s->device->roles[i].bus);
	}
	if (s->driver->bus_optional)
		return;
	if (!s->buses_n && s->device && !errors->count)
		yaml_error(errors, s->device->node, "no bus: write bus: NAME");
	else if (!s->buses_n && !errors->count)
		error_add(errors, "no bus: say --bus can0, or name the device's file with --config");
}

/* ---- files and settings ---- */

static void find_device(struct setup *s, const char *file, struct error_sink *errors)
{
	const char *best = NULL;

	s->device = robot_device(&s->robot, s->name);
	for (size_t i = 0; !s->device && i < s->robot.devices_n; i++)
		nearest_try(s->name, s->robot.devices[i].name, &best);
	if (!s->device)
		error_add(errors, "--name: there is no device %s in %s%s%s%s", s->name, file,
			  best ? "; did you mean " : "", best ? best : "", best ? "?" : "");
	else if (strcmp(s->device->driver, s->driver->program) != 0)
		yaml_error(errors, s->device->node, "its driver is %s, not %s", s->device->driver, s->driver->program);
}

/* The period of the robot's clock, as its own settings say; 0: they do not. */
static int64_t clock_period_ns(const struct robot *robot)
{
	for (size_t i = 0; i < robot->devices_n; i++) {
		const struct robot_device *d = &robot->devices[i];
		const struct yaml_node *tick = strcmp(d->driver, "hubo-daemon") ? NULL : yaml_find(d->settings, "tick");
		struct drv_tick_rule rule;

		if (tick && tick->kind == YAML_TEXT && !drv_tick_parse(&rule, tick->text) &&
		    rule.kind == DRV_TICK_PERIOD)
			return rule.period_ns;
	}
	return 0;
}

static void derive(struct setup *s, struct error_sink *errors)
{
	const char *wrong = drv_tick_parse(&s->rule, s->tick);

	if (!wrong)
		wrong = drv_tick_pace(&s->rule, clock_period_ns(&s->robot));
	if (wrong)
		error_add(errors, "tick: %s; expected %s", s->tick, wrong);
	else
		settings_check(&s->loop, s->rule.period_ns, errors);
	if (!s->ref_max_ns)
		s->ref_max_ns = REF_MAX_TICKS * s->rule.period_ns;
	if (s->ref_max_ns > REF_MAX_NS)
		s->ref_max_ns = REF_MAX_NS;
	if (!settings_given(&s->loop, "any_incarnation"))
		s->any_incarnation = s->balance;
}

static void read_settings(struct setup *s, const struct setup_options *given, struct error_sink *errors)
{
	char where[ERROR_LINE_MAX / 2] = "--set";

	if (s->device) {
		settings_read(&s->loop, s->device->settings, errors);
		snprintf(where, sizeof(where), "%s:%u: %s", s->device->node->file, s->device->node->line, s->name);
	}
	for (size_t i = 0; i < given->set.n; i++)
		settings_assign(&s->loop, "--set", given->set.item[i], errors);
	settings_missing(&s->loop, where, errors);
	if (!errors->count)
		derive(s, errors);
}

static void link_tables(struct setup *s)
{
	size_t n = 0;

	do
		s->loop_rows[n] = setup_loop_rows[n];
	while (setup_loop_rows[n++].key);
	if (s->driver->tick_preset)
		s->loop_rows[0].preset = s->driver->tick_preset;
	s->own = (struct settings){ .rows = s->driver->settings, .values = s->self };
	s->actuated = (struct settings){ .rows = setup_actuated_rows, .values = s, .next = &s->own };
	s->loop =
		(struct settings){ .rows = s->loop_rows, .values = s, .next = s->driver->ref ? &s->actuated : &s->own };
}

/* ---- all of it ---- */

static bool is_fine(struct setup *s, const struct setup_options *given)
{
	struct error_sink errors = ERROR_TO_STDERR(s->driver->program, given->name, ERROR_FATAL);

	s->name = given->name;
	if (!text_is_name(s->name))
		error_add(&errors, "--name: a name has 1 to %d of A-Z a-z 0-9 _ . -, a letter or digit first",
			  TEXT_NAME_MAX);
	if (given->robot && run_robot(given->robot))
		error_add(&errors, "--robot: %s is not a valid name", given->robot);
	if (given->config && !robot_open(&s->robot, given->config, &errors))
		find_device(s, given->config, &errors);
	if (errors.count)
		return false;
	take_buses(s, given, &errors);
	read_settings(s, given, &errors);
	return !errors.count;
}

int setup_read(struct setup *s, const struct drv_driver *driver, int argc, char **argv)
{
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct setup_options given = { 0 };
	struct options options = {
		.program = driver->program,
		.about = driver->about,
		.rows = option_rows,
		.values = &given,
		.version = OPTIONS_VERSION,
		.settings = &s->loop,
	};
	int status;

	memset(s, 0, sizeof(*s));
	s->driver = driver;
	s->self = calloc(1, driver->size ? driver->size : 1);
	if (!s->self) {
		error_say(driver->program, NULL, ERROR_FATAL, "%s", strerror(ENOMEM));
		return EXIT_RETRY;
	}
	link_tables(s);
	if (settings_defaults(&s->loop, &errors))
		return EXIT_WRONG;
	status = options_main(&options, &argc, argv);
	if (status != OPTIONS_RUN)
		return status;
	s->frames = given.frames;
	s->check = given.check;
	return is_fine(s, &given) ? SETUP_GO : EXIT_WRONG;
}

void setup_close(struct setup *s)
{
	if (s->robot.doc)
		robot_close(&s->robot);
	free(s->self);
}
