/* launch_file.c: opening, closing and querying a launch file. */
#include <grp.h>
#include <limits.h>
#include <unistd.h>

#include "launch/file/launch_inside.h"

/* ---- opening ---- */

static const char *keep(struct launch *launch, const char *text)
{
	return arena_copy(yaml_arena(launch->doc), text, strlen(text));
}

static void add_placed(void *to, const char *line)
{
	const struct launch_place *place = to;

	yaml_error(place->errors, place->node, "%s", line);
}

struct error_sink launch_sink(struct launch_place *place)
{
	return (struct error_sink){ add_placed, place, 0 };
}

/* The robot file; relative to the launch file, unless it begins with a slash. */
static int open_robot(struct launch *launch, const char *include, const struct yaml_node *node,
		      struct error_sink *errors)
{
	char path[LAUNCH_PATH_MAX], whole[PATH_MAX];
	struct launch_place place = { node, errors };
	struct error_sink included = launch_sink(&place);
	int err;

	if (*include == '/' || !strcmp(launch->folder, "."))
		err = snprintf(path, sizeof(path), "%s", include) >= (int)sizeof(path);
	else
		err = snprintf(path, sizeof(path), "%s/%s", launch->folder, include) >= (int)sizeof(path);
	if (err || access(path, R_OK))
		return yaml_error(errors, node, "%s: %s", path, strerror(err ? ENAMETOOLONG : errno));
	err = robot_open(&launch->robot, path, &included);
	if (err)
		return err;
	/* A daemon's command line is the same wherever achstart is run from. */
	launch->config = keep(launch, realpath(path, whole) ? whole : path);
	return launch->config ? 0 : -ENOMEM;
}

static void read_all(struct launch *launch, struct error_sink *errors)
{
	snprintf(launch->name, sizeof(launch->name), "%s", *launch->raw.robot ? launch->raw.robot : launch->robot.name);
	launch->operators = launch->arming = launch->moving = LAUNCH_NO_GROUP;
	launch->group = LAUNCH_GROUP_ALL;
	launch_read_daemons(launch, errors);
	launch_read_buses(launch, errors);
	launch_read_needs(launch, errors);
	launch_order(launch, errors);
	launch_read_groups(launch, errors);
	launch_read_clock(launch, errors);
	launch_command(launch, errors);
}

static int make(struct launch *launch, const char *path, struct error_sink *errors)
{
	const struct yaml_node *top = yaml_root(launch->doc);
	struct settings table = { .rows = launch_rows, .values = launch, .noun = "key" };
	const char *slash = strrchr(path, '/');
	unsigned int before = errors->count;
	char folder[LAUNCH_FIND_MAX], where[LAUNCH_FIND_MAX + 16];

	snprintf(where, sizeof(where), "%s:%u", path, top->line);
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	launch->path = keep(launch, path);
	launch->folder = keep(launch, *folder ? folder : "/");
	if (!launch->path || !launch->folder)
		return -ENOMEM;
	settings_defaults(&table, errors);
	if (settings_read(&table, top, errors) && top->kind != YAML_MAP)
		return -EINVAL;
	settings_missing(&table, where, errors);
	launch->raw.clock_given = settings_given(&table, "clock");
	if (!*launch->raw.include)
		return -EINVAL; /* reported before */
	if (open_robot(launch, launch->raw.include, yaml_find(top, "include"), errors))
		return -EINVAL;
	read_all(launch, errors);
	return errors->count == before ? 0 : -EINVAL;
}

int launch_open(struct launch *launch, const char *file, struct error_sink *errors)
{
	char path[LAUNCH_FIND_MAX];
	int err;

	memset(launch, 0, sizeof(*launch));
	err = launch_path(path, file, errors);
	if (err)
		return err;
	err = yaml_open_file(&launch->doc, path, errors);
	if (err)
		return err;
	err = make(launch, path, errors);
	if (err)
		launch_close(launch);
	return err;
}

void launch_close(struct launch *launch)
{
	robot_close(&launch->robot);
	yaml_close(launch->doc);
	memset(launch, 0, sizeof(*launch));
}

/* ---- groups of the system ---- */

/* A number is a group id, also of a group without a name. */
static bool find_group(const char *word, gid_t *gid)
{
	const struct group *group;
	int64_t number;

	if (!text_int(word, &number)) {
		*gid = (gid_t)number;
		return number >= 0 && number < LAUNCH_NO_GROUP;
	}
	group = getgrnam(word);
	if (group)
		*gid = group->gr_gid;
	return group;
}

int launch_rights(struct launch *launch, struct error_sink *errors)
{
	const struct {
		const char *key;
		gid_t *gid;
	} keys[] = { { "operators", &launch->operators },
		     { "arming", &launch->arming },
		     { "moving", &launch->moving } };
	const unsigned int before = errors->count;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct yaml_node *node = yaml_find(yaml_root(launch->doc), keys[i].key);

		if (node && !find_group(node->text, keys[i].gid))
			yaml_error(errors, node, "there is no group %s on this system", node->text);
	}
	return errors->count == before ? 0 : -EINVAL;
}

/* ---- queries ---- */

struct launch_daemon *launch_daemon(const struct launch *launch, const char *name)
{
	for (size_t i = 0; i < launch->daemons_n; i++)
		if (!strcmp(launch->daemons[i].name, name))
			return &launch->daemons[i];
	return NULL;
}

bool launch_has_bus(const struct launch_daemon *daemon, const struct robot_bus *bus)
{
	for (size_t i = 0; i < daemon->buses_n; i++)
		if (daemon->buses[i] == bus)
			return true;
	return false;
}

const struct launch_daemon *launch_server(const struct launch *launch, const struct robot_bus *bus)
{
	for (size_t i = 0; i < launch->daemons_n; i++) {
		const struct launch_daemon *daemon = &launch->daemons[i];

		if (daemon->wanted && daemon->kind == LAUNCH_CANWIRE && launch_has_bus(daemon, bus))
			return daemon;
	}
	return NULL;
}

bool launch_uses(const struct launch *launch, const struct robot_bus *bus)
{
	for (size_t i = 0; i < launch->daemons_n; i++)
		if (launch->daemons[i].wanted && launch_has_bus(&launch->daemons[i], bus))
			return true;
	return false;
}

const char *launch_bus_wire(const struct robot_bus *bus)
{
	return strncmp(bus->interface, "wire:", 5) ? NULL : bus->interface + 5;
}

/* FNV-1a, over each string with its end. */
static uint64_t hash_strings(uint64_t hash, char *const *strings)
{
	for (; *strings; strings++) {
		for (const char *c = *strings;; c++) {
			hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
			if (!*c)
				break;
		}
	}
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

uint64_t launch_hash(const struct launch_daemon *daemon)
{
	return hash_strings(hash_strings(UINT64_C(0xcbf29ce484222325) ^ (uint64_t)daemon->listen, daemon->argv),
			    daemon->environment);
}

/* ---- which references a refmuxd reads and writes, as its settings in the robot file say ---- */

/* "joy:50ms,control": what is not valid is reported by the daemon's own check. */
static void add_sources(struct launch_mux *mux, const char *text)
{
	for (const char *end; *(text += strspn(text, ", ")); text = end) {
		char *name = mux->sources[mux->n];

		end = text + strcspn(text, ", ");
		if (mux->n == MSG_SOURCES)
			return;
		snprintf(name, TEXT_NAME_MAX + 1, "%.*s", (int)strcspn(text, ":, "), text);
		mux->n += text_is_name(name);
	}
}

bool launch_mux(const struct launch_daemon *daemon, struct launch_mux *mux)
{
	const struct yaml_node *output, *sources, *one = NULL;

	*mux = (struct launch_mux){ 0 };
	if (!daemon->wanted || !daemon->device || strcmp(daemon->device->driver, "refmuxd") != 0)
		return false;
	output = yaml_find(daemon->device->settings, "output");
	if (!output || output->kind != YAML_TEXT || !text_is_name(output->text))
		return false;
	mux->output = output->text;
	sources = launch_given(yaml_find(daemon->device->settings, "sources"));
	while ((one = launch_next(sources, one)))
		if (one->kind == YAML_TEXT)
			add_sources(mux, one->text);
	return true;
}

bool launch_is_muxed(const struct launch *launch, const struct robot_device *device)
{
	struct launch_mux mux;

	for (size_t i = 0; i < launch->daemons_n; i++)
		if (launch_mux(&launch->daemons[i], &mux) && !strcmp(mux.output, device->name))
			return true;
	return false;
}
