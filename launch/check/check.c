/* check.c: whether a robot can be started. */
#include "launch/check/check.h"

#include <sys/wait.h>
#include <unistd.h>

#include "launch/check/check_run.h"
#include "launch/view/listener.h"

/* ---- programs and cores ---- */

/* A program that several daemons run is reported once: ", also of larm (line 7)". */
static bool is_first(const struct launch *launch, const struct launch_daemon *daemon, char also[ERROR_LINE_MAX / 2])
{
	bool before = true;

	*also = '\0';
	for (size_t i = 0; i < launch->daemons_n; i++) {
		const struct launch_daemon *other = &launch->daemons[i];

		before &= other != daemon;
		if (other == daemon || !other->wanted || strcmp(other->argv[0], daemon->argv[0]) != 0)
			continue;
		if (before)
			return false;
		lines_append(also, ERROR_LINE_MAX / 2, "", ", also of %s (line %u)", other->name, other->node->line);
	}
	return true;
}

static bool check_program(const struct launch *launch, const struct launch_daemon *daemon, char path[LAUNCH_FIND_MAX],
			  struct error_sink *errors)
{
	const char *program = daemon->argv[0];
	const int err = launch_find(path, program);
	char also[ERROR_LINE_MAX / 2];

	if (!err && (daemon->kind != LAUNCH_DRIVER || launch_is_driver(path)))
		return true;
	if (!is_first(launch, daemon, also))
		return false;
	if (!err)
		yaml_error(errors, daemon->node,
			   "%s (%s)%s is not an Endplate driver: correct driver: of device %s in the robot file",
			   program, path, also, daemon->device->name);
	else if (err == -ENOENT && !strchr(program, '/'))
		yaml_error(errors, daemon->node,
			   "the program %s%s is neither beside achstart nor in $PATH: build or install it, or correct "
			   "its name%s",
			   program, also, daemon->device ? "; if it is in another folder, give object: its .so" : "");
	else
		yaml_error(errors, daemon->node, "the program %s%s: %s", program, also, strerror(-err));
	return false;
}

/* ---- drivers, and the simulator ---- */

/* The drivers and the simulator. */
struct asked {
	const struct launch_daemon *daemon[LAUNCH_DAEMONS_MAX];
	char path[LAUNCH_DAEMONS_MAX][LAUNCH_FIND_MAX];
	struct check_run run[LAUNCH_DAEMONS_MAX];
	size_t n;
};

/* Drivers and the simulator find the same mistakes in the robot file: it is reported at the first driver. */
static bool said_elsewhere(const struct asked *asked, size_t i, const char *line, size_t len)
{
	const bool sim = asked->daemon[i]->kind == LAUNCH_ROBOTSIM;

	for (size_t j = 0; j < asked->n; j++) {
		const struct check_run *run = &asked->run[j];

		if (j != i && (sim || (j < i && asked->daemon[j]->kind == LAUNCH_DRIVER)) && !run->err && run->status &&
		    memmem(run->say, run->say_len, line, len))
			return true;
	}
	return false;
}

/* Its lines, without its own name: "pciod[waist]: fatal: ". */
static void pass_on(const struct asked *asked, size_t i, struct error_sink *to)
{
	const char fatal[] = ": fatal: ", *line = asked->run[i].say, *end, *rest;

	for (; *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		rest = memmem(line, (size_t)(end - line), fatal, strlen(fatal));
		if (end == line || (rest && said_elsewhere(asked, i, rest, (size_t)(end - rest) + 1)))
			continue;
		rest = rest ? rest + strlen(fatal) : line;
		yaml_error(to, asked->daemon[i]->node, "%.*s", (int)(end - rest), rest);
	}
}

/* true: it ended with status 0. */
static bool report(const struct asked *asked, size_t i, int64_t within_ns, struct error_sink *errors,
		   struct error_sink *warnings)
{
	const struct check_run *run = &asked->run[i];
	const struct yaml_node *node = asked->daemon[i]->node;
	struct error_sink *to = errors;
	char within[TEXT_VALUE_MAX];

	if (run->err == -ETIME) {
		text_from_duration(within, within_ns);
		yaml_error(errors, node, "%s %s did not end within %s", run->argv[0], run->option, within);
	} else if (run->err) {
		yaml_error(errors, node, "%s %s: %s", run->argv[0], run->option, strerror(-run->err));
	} else if (!WIFEXITED(run->status)) {
		yaml_error(errors, node, "%s %s was killed by signal %d (%s)", run->argv[0], run->option,
			   WTERMSIG(run->status), strsignal(WTERMSIG(run->status)));
	} else if (run->status) {
		to = WEXITSTATUS(run->status) == EXIT_RETRY ? warnings : errors;
		if (run->say_len)
			pass_on(asked, i, to);
		else
			yaml_error(to, node, "%s %s ended with status %d and printed nothing", run->argv[0],
				   run->option, WEXITSTATUS(run->status));
	}
	return !run->err && !run->status;
}

/* Runs each with the option.  Drivers that ended with status 0 stay.  What they print goes to check or to json. */
static void ask(struct check *check, struct json *json, struct asked *asked, const char *option, int64_t within_ns,
		struct error_sink *errors, struct error_sink *warnings)
{
	size_t left = 0;
	bool fine[LAUNCH_DAEMONS_MAX] = { false };

	for (size_t i = 0; i < asked->n; i++)
		asked->run[i] = (struct check_run){ .path = asked->path[i],
						    .argv = asked->daemon[i]->argv,
						    .option = option,
						    .environment = asked->daemon[i]->environment };
	check_run(asked->run, asked->n, within_ns);
	for (size_t i = 0; i < asked->n; i++) {
		fine[i] = report(asked, i, within_ns, errors, warnings);
		if (fine[i] && check)
			check_frames_read(&check->frames, asked->daemon[i], asked->run[i].out, asked->run[i].out_len,
					  errors);
		if (fine[i] && json)
			json_raw(json, NULL, asked->run[i].out);
	}
	check_run_free(asked->run, asked->n);
	for (size_t i = 0; i < asked->n; i++) {
		if (!fine[i] || asked->daemon[i]->kind != LAUNCH_DRIVER)
			continue;
		asked->daemon[left] = asked->daemon[i];
		memmove(asked->path[left++], asked->path[i], LAUNCH_FIND_MAX);
	}
	asked->n = left;
}

/* The wanted drivers, and if all daemons are checked the simulator, whose programs are there. */
static struct asked *find_asked(const struct launch *launch, bool all, struct error_sink *errors)
{
	static struct asked asked; /* too large for the stack */
	const long cores = sysconf(_SC_NPROCESSORS_CONF);

	asked.n = 0;
	for (size_t i = 0; i < launch->daemons_n; i++) {
		const struct launch_daemon *daemon = &launch->daemons[i];
		const bool driver = daemon->kind == LAUNCH_DRIVER;

		if (!daemon->wanted || !(all || driver))
			continue;
		if (all && daemon->core >= cores)
			yaml_error(errors, yaml_find(daemon->node, "core"),
				   "this machine has %ld core%s, numbered from 0", cores, cores == 1 ? "" : "s");
		if (check_program(launch, daemon, asked.path[asked.n], errors) &&
		    (driver || daemon->kind == LAUNCH_ROBOTSIM))
			asked.daemon[asked.n++] = daemon;
	}
	return &asked;
}

void check_frames_print(const struct launch *launch, int64_t within_ns, FILE *to, struct error_sink *errors)
{
	struct asked *asked = find_asked(launch, false, errors);
	struct json j = json_to(to);

	json_object(&j, NULL);
	json_text(&j, "robot", launch->name);
	json_array(&j, "buses");
	for (size_t i = 0; i < launch->robot.buses_n; i++) {
		json_object(&j, NULL);
		json_text(&j, "name", launch->robot.buses[i].name);
		json_text(&j, "interface", launch->robot.buses[i].interface);
		json_int(&j, "bitrate", launch->robot.buses[i].bitrate);
		json_uint_or_null(&j, "data_bitrate", (uint64_t)launch->robot.buses[i].data_bitrate);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "drivers");
	ask(NULL, &j, asked, "--frames", within_ns, errors, errors);
	json_end(&j);
	json_end(&j);
	fputc('\n', to);
}

/* ---- interfaces ---- */

struct link_settings check_link_settings(const struct robot_bus *bus)
{
	return (struct link_settings){
		.bitrate = (uint32_t)bus->bitrate,
		.data_bitrate = (uint32_t)bus->data_bitrate,
		.sample_point_pm = (uint32_t)(bus->sample_point * 1000 + 0.5),
		.restart_ms = (uint32_t)bus->restart_ms,
	};
}

void check_link(const struct launch *launch, const struct robot_bus *bus, const struct link_info *info,
		struct error_sink *errors, struct error_sink *warnings)
{
	const struct link_settings want = check_link_settings(bus);
	char other[LINK_OTHER_MAX];

	if (launch->arm == LAUNCH_ARM_AUTO && !launch_bus_wire(bus) && !link_kind_is_virtual(info->kind))
		yaml_error(errors, yaml_find(yaml_root(launch->doc), "arm"),
			   "%s of bus %s is not virtual: write no, and arm with achctl arm", bus->interface, bus->name);
	if (info->up && link_other(other, info, &want))
		error_add(warnings,
			  "bus %s: %s is up with %s: ip link set %s down, and achstart brings it up as it should be",
			  bus->name, bus->interface, other, bus->interface);
	if (!info->up && !launch->links)
		error_add(warnings, "bus %s: %s is down, and links: no leaves it so", bus->name, bus->interface);
}

/* A soft wire that is there, but may be gone when the robot is started. */
static void check_server(struct check *check, const struct robot_bus *bus, struct error_sink *warnings)
{
	const char *wire = launch_bus_wire(bus);

	if (!wire)
		return;
	check->notes++;
	error_add(warnings,
		  "bus %s: no canwire among the daemons serves %s, another process does now: add canwire, or "
		  "start canwire run %s before",
		  bus->name, bus->interface, wire);
}

/* The node of the first daemon that uses the bus; NULL: none does. */
static const struct yaml_node *user_of(const struct launch *launch, const struct robot_bus *bus)
{
	for (size_t i = 0; i < launch->daemons_n; i++)
		if (launch->daemons[i].wanted && launch_has_bus(&launch->daemons[i], bus))
			return launch->daemons[i].node;
	return NULL;
}

static void check_interfaces(struct check *check, const struct launch *launch, struct error_sink *errors,
			     struct error_sink *warnings)
{
	for (size_t i = 0; i < launch->robot.buses_n; i++) {
		const struct robot_bus *bus = &launch->robot.buses[i];
		struct launch_place place = { user_of(launch, bus), warnings };
		struct error_sink placed = launch_sink(&place);
		struct link_info info;
		int err;

		/* A log is opened by its reader; a wire that one of the daemons serves will be there. */
		if (!place.node || launch_server(launch, bus) || !strncmp(bus->interface, "log:", 4))
			continue;
		err = link_query(bus->interface, &info, &placed);
		if (!err) {
			check_link(launch, bus, &info, errors, &placed);
			check_server(check, bus, &placed);
		}
		if (err == -EAFNOSUPPORT)
			return; /* a kernel without CAN has none of the others */
	}
}

/* ---- ports ---- */

/* Programs that open network sockets, and the units that may. */
static const struct {
	const char *program, *unit, *suffix;
} networked[] = {
	{ "achweb", "systemctl enable --now achweb@", ".socket (achweb@.service)" },
	{ "achdds", "systemctl enable --now achdds@", " (achdds@.service)" },
};
#define NETWORKED (sizeof(networked) / sizeof(*networked))

static bool has_local_socket(const struct launch_daemon *daemon)
{
	for (char **arg = daemon->argv; *arg; arg++)
		if (strstr(*arg, "unix:/"))
			return true;
	return false;
}

/* Its place in networked, or NETWORKED. */
static size_t networked_find(const struct launch_daemon *daemon)
{
	const char *slash = strrchr(daemon->argv[0], '/');
	size_t i = 0;

	while (i < NETWORKED && strcmp(slash ? slash + 1 : daemon->argv[0], networked[i].program) != 0)
		i++;
	return i;
}

/* The check of a robot that runs finds its own sockets. */
static void check_port(const struct launch_daemon *daemon, struct error_sink *warnings)
{
	static const char *const addresses[LISTENER_PAIR] = { "127.0.0.1", "::1" };
	char taken[LISTENER_TAKEN_MAX];
	uid_t uid;

	for (int i = 0; i < LISTENER_PAIR; i++) {
		if (!listener_user(addresses[i], (int)daemon->listen, &uid) || uid == geteuid())
			continue;
		listener_taken(taken, addresses[i], (int)daemon->listen);
		yaml_error(warnings, yaml_find(daemon->node, "listen"), "%s: end that process, or take another port",
			   taken);
		return;
	}
}

/* Errors: a daemon with listen:, an achweb without local sockets or an achdds, where this process may open no network
 * socket, as in endplate@.service.  Warnings: a port that another user has. */
static void check_listen(const struct launch *launch, struct error_sink *errors, struct error_sink *warnings)
{
	const bool forbidden = listener_is_forbidden();

	for (size_t i = 0; i < launch->daemons_n; i++) {
		const struct launch_daemon *daemon = &launch->daemons[i];
		const size_t known = networked_find(daemon);

		if (!daemon->wanted || (!daemon->listen && (known == NETWORKED || has_local_socket(daemon))))
			continue;
		if (!forbidden && daemon->listen)
			check_port(daemon, warnings);
		else if (forbidden)
			yaml_error(errors, daemon->node,
				   "achstart " LISTENER_FORBIDDEN ": take %s out of this file, and run it by a unit of "
				   "its own: %s%s%s",
				   daemon->name, known < NETWORKED ? networked[known].unit : "as achweb@.service does",
				   known < NETWORKED ? launch->name : "",
				   known < NETWORKED ? networked[known].suffix : "");
	}
}

/* ---- limits ---- */

static void check_doubts(struct check *check, const struct launch *launch, struct error_sink *warnings)
{
	const unsigned int before = warnings->count;

	for (size_t i = 0; i < launch->daemons_n; i++)
		if (launch->daemons[i].wanted && launch->daemons[i].device)
			robot_doubts(launch->daemons[i].device, warnings);
	check->notes += warnings->count - before;
}

/* ---- all of it ---- */

void check_robot(struct check *check, const struct launch *launch, int64_t within_ns, struct error_sink *errors,
		 struct error_sink *warnings)
{
	struct asked *asked = find_asked(launch, true, errors);
	unsigned int before;

	check->notes = 0;
	check_frames_begin(&check->frames, launch);
	ask(NULL, NULL, asked, "--check", within_ns, errors, warnings);
	ask(check, NULL, asked, "--frames", within_ns, errors, warnings);
	check_frames_conflicts(&check->frames, errors);
	before = warnings->count;
	/* With overload: report a bus without time does not keep the robot from starting. */
	check_frames_times(&check->frames, launch->overload == LAUNCH_OVERLOAD_REPORT ? warnings : errors);
	check->notes += warnings->count - before;
	check_interfaces(check, launch, errors, warnings);
	check_listen(launch, errors, warnings);
	check_doubts(check, launch, warnings);
}

static void print_daemon(const struct launch *launch, const struct launch_daemon *daemon, FILE *to)
{
	char priority[24] = "-", core[24] = "-";

	if (daemon->priority)
		snprintf(priority, sizeof(priority), "%lld", (long long)daemon->priority);
	if (daemon->core >= 0)
		snprintf(core, sizeof(core), "%lld", (long long)daemon->core);
	fprintf(to, "%-16s %-16s %8s %5s  ", daemon->name, daemon->argv[0], priority, core);
	for (size_t i = 0; i < daemon->needs_n; i++)
		fprintf(to, "%s%s", i ? ", " : "", launch->daemons[daemon->needs[i]].name);
	fprintf(to, "%s\n", daemon->needs_n ? "" : "-");
}

void check_print(const struct check *check, const struct launch *launch, FILE *to)
{
	fprintf(to, "%-16s %-16s %8s %5s  %s\n", "DAEMON", "PROGRAM", "PRIORITY", "CORE", "NEEDS");
	for (size_t i = 0; i < launch->daemons_n; i++)
		if (launch->daemons[i].wanted)
			print_daemon(launch, &launch->daemons[i], to);
	fprintf(to, "\n%-16s %-16s %8s %8s %5s  %s\n", "BUS", "INTERFACE", "BIT/S", "DATA", "LOAD", "FRAMES/S");
	for (size_t i = 0; i < launch->robot.buses_n; i++) {
		const struct traffic_bus *found = &check->frames.traffic.buses[i];
		const struct robot_bus *bus = &launch->robot.buses[i];
		char data[24] = "-";

		if (bus->data_bitrate)
			snprintf(data, sizeof(data), "%lld", (long long)bus->data_bitrate);
		if (launch_uses(launch, bus))
			fprintf(to, "%-16s %-16s %8lld %8s %3.0f %%  %.0f\n", bus->name, bus->interface,
				(long long)bus->bitrate, data, 100 * found->load_most, found->hz);
	}
}
