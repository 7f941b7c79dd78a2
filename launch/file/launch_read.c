/* launch_read.c: the daemons of a launch file, each by itself. */
#include "launch/file/launch_inside.h"

/* Programs that know the robot file, by name. */
static const struct {
	const char *program;
	enum launch_kind kind;
} known[] = { { "canwire", LAUNCH_CANWIRE }, { "robotsim", LAUNCH_ROBOTSIM }, { "blackbox", LAUNCH_BLACKBOX } };
#define KNOWN (sizeof(known) / sizeof(*known))

/* ---- names ---- */

const struct yaml_node *launch_given(const struct yaml_node *node)
{
	return node && !yaml_is_null(node) ? node : NULL;
}

bool launch_are_names(const struct yaml_node *names, const char *what, struct error_sink *errors)
{
	const struct yaml_node *one = names->kind == YAML_LIST ? names->first : names;

	for (; one; one = one == names ? NULL : one->next) {
		if (one->kind != YAML_TEXT || yaml_is_null(one)) {
			yaml_error(errors, names, "write %s", what);
			return false;
		}
	}
	return true;
}

const struct yaml_node *launch_next(const struct yaml_node *names, const struct yaml_node *last)
{
	if (!last)
		return !names || names->kind == YAML_TEXT ? names : names->first;
	return last == names ? NULL : last->next;
}

bool launch_is_unresolved(const struct launch *launch)
{
	for (size_t i = 0; i < launch->daemons_n; i++)
		if (launch->daemons[i].kind == LAUNCH_DRIVER && !launch->daemons[i].device)
			return true;
	return false;
}

void launch_unknown(struct error_sink *errors, const struct yaml_node *node, const char *name, const char *key,
		    const char *what, const char *best, const char *otherwise)
{
	char quoted[TEXT_QUOTED_MAX];

	text_quote(quoted, name);
	yaml_error(errors, node, "%s%s %s%s%s%s", node->key ? "" : key, what, quoted,
		   best ? "; did you mean " : otherwise, best ? best : "", best ? "?" : "");
}

struct launch_daemon *launch_named(const struct launch *launch, const struct yaml_node *name, const char *key,
				   struct error_sink *errors)
{
	struct launch_daemon *daemon = launch_daemon(launch, name->text);
	const char *best = NULL;

	/* The daemon of that device is misspelt, and was reported. */
	if (daemon || (robot_device(&launch->robot, name->text) && launch_is_unresolved(launch)))
		return daemon;
	for (size_t i = 0; i < launch->daemons_n; i++)
		nearest_try(name->text, launch->daemons[i].name, &best);
	launch_unknown(errors, name, name->text, key, "there is no daemon", best, " under daemons");
	return NULL;
}

/* ---- what it is ---- */

static const struct robot_device *find_device(const struct launch *launch, const struct yaml_node *node,
					      const char *name, bool by_name, struct error_sink *errors)
{
	const struct robot_device *device = robot_device(&launch->robot, name);
	const char *best = NULL;

	if (device)
		return device;
	for (size_t i = 0; i < launch->robot.devices_n; i++)
		nearest_try(name, launch->robot.devices[i].name, &best);
	for (size_t i = 0; by_name && i < KNOWN; i++)
		nearest_try(name, known[i].program, &best);
	launch_unknown(errors, node, name, "", "the robot file has no device", best,
		       by_name ? ": write which it is (device: NAME), or program: NAME" : " under devices");
	return NULL;
}

static enum launch_kind kind_of(const char *program)
{
	const char *slash = strrchr(program, '/');

	program = slash ? slash + 1 : program;
	for (size_t i = 0; i < KNOWN; i++)
		if (!strcmp(program, known[i].program))
			return known[i].kind;
	return LAUNCH_PROGRAM;
}

/* The device or program given; else the device of the daemon's name; else a known program by its name. */
static void find_kind(const struct launch *launch, struct launch_daemon *daemon, bool named, struct error_sink *errors)
{
	struct launch_raw *raw = &daemon->raw;

	if (*raw->device && *raw->program) {
		yaml_error(errors, daemon->node, "it is either a device or a program: take one of the two out");
	} else if (*raw->program) {
		daemon->kind = kind_of(raw->program);
	} else if (*raw->device) {
		daemon->device = find_device(launch, yaml_find(daemon->node, "device"), raw->device, false, errors);
	} else if (!named) {
		return; /* its name, or the key that says what it is, was reported */
	} else if (robot_device(&launch->robot, daemon->name) || kind_of(daemon->name) == LAUNCH_PROGRAM) {
		daemon->device = find_device(launch, daemon->node, daemon->name, true, errors);
	} else {
		daemon->kind = kind_of(daemon->name);
		snprintf(raw->program, sizeof(raw->program), "%s", daemon->name);
	}
}

static void check_once(const struct launch *launch, const struct launch_daemon *daemon, struct error_sink *errors)
{
	for (const struct launch_daemon *other = launch->daemons; other < daemon; other++) {
		if (daemon->device && other->device == daemon->device)
			yaml_error(errors, daemon->node, "device %s is run by %s (line %u) already",
				   daemon->device->name, other->name, other->node->line);
		if (daemon->kind == LAUNCH_ROBOTSIM && other->kind == LAUNCH_ROBOTSIM)
			yaml_error(errors, daemon->node, "the devices are played by %s (line %u) already", other->name,
				   other->node->line);
	}
}

static void check_listen(const struct launch *launch, const struct launch_daemon *daemon, struct error_sink *errors)
{
	const struct yaml_node *node = yaml_find(daemon->node, "listen");

	if (daemon->listen && daemon->kind != LAUNCH_PROGRAM)
		yaml_error(errors, node, "only a program that takes LISTEN_FDS listens: take this out");
	for (const struct launch_daemon *other = launch->daemons; daemon->listen && other < daemon; other++)
		if (other->listen == daemon->listen)
			yaml_error(errors, node, "%s (line %u) listens there already: take another port", other->name,
				   other->node->line);
}

/* ---- restart ---- */

static void read_restart(struct launch_daemon *daemon, struct error_sink *errors)
{
	const struct yaml_node *node = daemon->raw.restart;
	struct policy_rules *rules = &daemon->rules;
	struct settings table = { .rows = launch_restart_rows, .values = rules, .noun = "key of restart" };
	char quoted[TEXT_QUOTED_MAX];

	settings_defaults(&table, errors);
	if (node && node->kind == YAML_TEXT && !strcmp(node->text, "never"))
		rules->never = 1;
	else if (node && node->kind == YAML_TEXT && strcmp(node->text, "always") != 0)
		yaml_error(errors, node, "%s is not always, never, or a mapping such as {budget: 3, within: 10s}",
			   text_quote(quoted, node->text));
	else if (node && node->kind != YAML_TEXT)
		settings_read(&table, node, errors);
	if (rules->backoff_max_ns < rules->backoff_ns)
		yaml_error(errors, yaml_find(node, settings_given(&table, "backoff_max") ? "backoff_max" : "backoff"),
			   "the longest pause is shorter than the first");
	if (rules->critical && rules->never)
		yaml_error(errors, yaml_find(daemon->node, "critical"),
			   "a critical daemon is restarted: take out restart: never, or this");
}

/* ---- one, and all ---- */

static bool check_name(const struct yaml_node *node, struct error_sink *errors)
{
	const unsigned int before = errors->count;

	if (!text_is_name(node->key))
		yaml_error(errors, node, "a name has 1 to %d of A-Z a-z 0-9 _ . -, a letter or digit first",
			   TEXT_NAME_MAX);
	else if (!strcmp(node->key, "achstart"))
		yaml_error(errors, node, "achstart is the supervisor's own name: take another");
	else if (lines_before(node->key, ".log"))
		yaml_error(errors, node, "a name that ends in .log is that of a log: take another");
	return errors->count == before;
}

static void read_daemon(struct launch *launch, struct launch_daemon *daemon, struct error_sink *errors)
{
	struct settings table = { .rows = launch_daemon_rows, .values = daemon, .noun = "key of a daemon" };
	bool named = check_name(daemon->node, errors);

	settings_defaults(&table, errors);
	settings_read(&table, daemon->node, errors);
	named &= settings_given(&table, "device") == (*daemon->raw.device != 0);
	named &= settings_given(&table, "program") == (*daemon->raw.program != 0);
	daemon->rules.critical = daemon->critical;
	read_restart(daemon, errors);
	find_kind(launch, daemon, named, errors);
	daemon->world |= daemon->kind == LAUNCH_CANWIRE || daemon->kind == LAUNCH_ROBOTSIM;
	if (*daemon->raw.object && daemon->kind != LAUNCH_DRIVER)
		yaml_error(errors, yaml_find(daemon->node, "object"),
			   "only a driver of a device is a shared object: take this out");
	if (!settings_given(&table, "spare"))
		daemon->spare = daemon->critical && daemon->kind == LAUNCH_DRIVER;
	else if (daemon->spare && (daemon->kind != LAUNCH_DRIVER || daemon->rules.never))
		yaml_error(errors, yaml_find(daemon->node, "spare"),
			   "only a driver that is restarted has a spare: take this out");
	check_once(launch, daemon, errors);
	check_listen(launch, daemon, errors);
}

void launch_read_daemons(struct launch *launch, struct error_sink *errors)
{
	const struct yaml_node *node = launch->raw.daemons;

	if (!node)
		return; /* reported as missing */
	if (node->kind != YAML_MAP || !node->count || node->count > LAUNCH_DAEMONS_MAX) {
		yaml_error(errors, node, "write a mapping of 1 to %d daemons (name: ...)", LAUNCH_DAEMONS_MAX);
		return;
	}
	launch->daemons = yaml_room(launch->doc, node->count, sizeof(*launch->daemons), errors);
	/* All names first: daemons refer to each other. */
	for (node = launch->daemons ? node->first : NULL; node; node = node->next, launch->daemons_n++)
		launch->daemons[launch->daemons_n] = (struct launch_daemon){ .node = node,
									     .name = node->key,
									     .wanted = true,
									     .core = -1,
									     .alive = LAUNCH_ALIVE_UNSAID,
									     .raw.place = launch->daemons_n };
	for (size_t i = 0; i < launch->daemons_n; i++)
		read_daemon(launch, &launch->daemons[i], errors);
}
