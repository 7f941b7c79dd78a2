/* check.c: whether a robot can be started. */
#include "launch/check/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/check/check_run.h"
#include "launch/file/launch_find.h"

#define EXIT_WORLD 111

/* ---- programs and cores ---- */

static bool check_program(const struct launch_daemon *daemon, char path[LAUNCH_FIND_MAX], struct error_sink *errors)
{
	const char *program = daemon->argv[0];
	int err = launch_find(path, program);

	if (err == -ENOENT && !strchr(program, '/'))
		yaml_error(errors, daemon->node,
			   "the program %s is neither beside achstart nor in $PATH: build or install it, or correct "
			   "its name",
			   program);
	else if (err)
		yaml_error(errors, daemon->node, "the program %s: %s", program, strerror(-err));
	return !err;
}

static void check_core(const struct launch_daemon *daemon, struct error_sink *errors)
{
	long cores = sysconf(_SC_NPROCESSORS_CONF);

	if (daemon->core >= cores)
		yaml_error(errors, yaml_find(daemon->node, "core"), "this machine has cores 0 to %ld", cores - 1);
}

/* ---- drivers, and the simulator ---- */

struct asked {
	const struct launch_daemon *daemon;
	char path[LAUNCH_FIND_MAX];
	char **argv; /* with one option more */
	bool fine;
};

/* What it said, line by line; it begins with the program's name already. */
static void pass_on(const char *say, struct error_sink *to)
{
	while (*say) {
		int len = (int)strcspn(say, "\n");

		if (len)
			error_add(to, "%.*s", len, say);
		say += len + (say[len] == '\n');
	}
}

/* true: it answered, and said 0. */
static bool judge(const struct check_run *run, int64_t within_ns, const char *name, const char *option,
		  struct error_sink *errors, struct error_sink *warnings)
{
	char within[TEXT_VALUE_MAX];
	int code;

	if (run->err == -ETIME) {
		text_from_duration(within, within_ns);
		error_add(errors, "%s: %s %s did not end within %s", name, run->argv[0], option, within);
		return false;
	}
	if (run->err) {
		error_add(errors, "%s: %s %s: %s", name, run->argv[0], option, strerror(-run->err));
		return false;
	}
	if (!WIFEXITED(run->status)) {
		error_add(errors, "%s: %s %s was killed by signal %d (%s)", name, run->argv[0], option,
			  WTERMSIG(run->status), strsignal(WTERMSIG(run->status)));
		return false;
	}
	code = WEXITSTATUS(run->status);
	if (!code)
		return true;
	if (run->say_len)
		pass_on(run->say, code == EXIT_WORLD ? warnings : errors);
	else
		error_add(code == EXIT_WORLD ? warnings : errors, "%s: %s %s ended with status %d and said nothing",
			  name, run->argv[0], option, code);
	return false;
}

/* The command line of a daemon and one option more; NULL: no memory. */
static char **line_with(const struct launch_daemon *daemon)
{
	size_t n = 0;
	char **argv;

	while (daemon->argv[n])
		n++;
	argv = calloc(n + 2, sizeof(*argv));
	if (argv)
		memcpy(argv, daemon->argv, n * sizeof(*argv));
	return argv;
}

static void set_option(char **argv, const struct launch_daemon *daemon, char *option)
{
	size_t n = 0;

	while (daemon->argv[n])
		n++;
	argv[n] = option;
}

/* Asks all that are fine; those that do not answer well are no longer. */
static void ask(struct check *check, struct asked *asked, size_t n, char *option, int64_t within_ns,
		struct error_sink *errors, struct error_sink *warnings)
{
	struct check_run runs[LAUNCH_DAEMONS_MAX] = { 0 };
	size_t m = 0, at = 0;

	for (size_t i = 0; i < n; i++) {
		if (!asked[i].fine)
			continue;
		set_option(asked[i].argv, asked[i].daemon, option);
		runs[m++] = (struct check_run){ .path = asked[i].path,
						.argv = asked[i].argv,
						.environment = asked[i].daemon->environment };
	}
	check_run(runs, m, within_ns);
	for (size_t i = 0; i < n; i++) {
		const struct check_run *run = &runs[at];

		if (!asked[i].fine)
			continue;
		at++;
		asked[i].fine = judge(run, within_ns, asked[i].daemon->name, option, errors, warnings);
		if (asked[i].fine && !strcmp(option, "--frames"))
			check_frames_read(&check->frames, &check->claims, asked[i].daemon, run->out, run->out_len,
					  errors);
	}
	check_run_free(runs, m);
}

/* Programs of all, and what the drivers and the simulator say of themselves. */
static void check_daemons(struct check *check, const struct launch *launch, int64_t within_ns,
			  struct error_sink *errors, struct error_sink *warnings)
{
	static char check_option[] = "--check", frames_option[] = "--frames";
	struct asked *asked = calloc(LAUNCH_DAEMONS_MAX, sizeof(*asked));
	char path[LAUNCH_FIND_MAX];
	size_t n = 0;

	if (!asked) {
		error_add(errors, "%s: %s", launch->path, strerror(ENOMEM));
		return;
	}
	for (size_t i = 0; i < launch->daemons_n; i++) {
		const struct launch_daemon *daemon = &launch->daemons[i];

		if (!daemon->wanted)
			continue;
		check_core(daemon, errors);
		if (!check_program(daemon, path, errors) ||
		    (daemon->kind != LAUNCH_DRIVER && daemon->kind != LAUNCH_ROBOTSIM))
			continue;
		asked[n] = (struct asked){ .daemon = daemon, .argv = line_with(daemon) };
		strcpy(asked[n].path, path);
		asked[n].fine = asked[n].argv;
		n++;
	}
	/* One that refuses its configuration would only say so again. */
	ask(check, asked, n, check_option, within_ns, errors, warnings);
	for (size_t i = 0; i < n; i++)
		asked[i].fine &= asked[i].daemon->kind == LAUNCH_DRIVER;
	ask(check, asked, n, frames_option, within_ns, errors, warnings);
	for (size_t i = 0; i < n; i++)
		free(asked[i].argv);
	free(asked);
}

/* ---- interfaces ---- */

struct link_settings check_link_settings(const struct robot_bus *bus)
{
	return (struct link_settings){
		.bitrate = (uint32_t)bus->bitrate,
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

/* It is there; will it be, when the robot is started? */
static void check_server(struct check *check, const struct robot_bus *bus, struct error_sink *warnings)
{
	const char *wire = launch_bus_wire(bus);

	if (!wire)
		return;
	check->notes++;
	error_add(warnings,
		  "bus %s: no canwire among the daemons serves %s, somebody else does now: add canwire, or see to it "
		  "that canwire run %s is there first",
		  bus->name, bus->interface, wire);
}

static void check_interfaces(struct check *check, const struct launch *launch, struct error_sink *errors,
			     struct error_sink *warnings)
{
	for (size_t i = 0; i < launch->robot.buses_n; i++) {
		const struct robot_bus *bus = &launch->robot.buses[i];
		struct link_info info;
		int err;

		/* Logs are opened by whoever reads them; wires that are to be served will be there. */
		if (!launch_uses(launch, bus) || launch_server(launch, bus) || !strncmp(bus->interface, "log:", 4))
			continue;
		err = link_look(bus->interface, &info, warnings);
		if (!err) {
			check_link(launch, bus, &info, errors, warnings);
			check_server(check, bus, warnings);
		}
		if (err == -EAFNOSUPPORT)
			return; /* a kernel without CAN has none of the others */
	}
}

/* ---- all of it ---- */

unsigned int check_robot_within(struct check *check, const struct launch *launch, int64_t within_ns,
				struct error_sink *errors, struct error_sink *warnings)
{
	const unsigned int before = errors->count + warnings->count;

	*check = (struct check){ 0 };
	check_daemons(check, launch, within_ns, errors, warnings);
	check_frames_clashes(&check->frames, errors);
	check_claims_clashes(&check->claims, errors);
	check_frames_loads(&check->frames, launch, errors);
	check_interfaces(check, launch, errors, warnings);
	return errors->count + warnings->count - before;
}

unsigned int check_robot(struct check *check, const struct launch *launch, struct error_sink *errors,
			 struct error_sink *warnings)
{
	return check_robot_within(check, launch, CHECK_WITHIN_NS, errors, warnings);
}

void check_free(struct check *check)
{
	check_frames_free(&check->frames);
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
	for (size_t i = 0; i < launch->daemons_n; i++) {
		if (launch->daemons[i].wanted)
			print_daemon(launch, &launch->daemons[i], to);
	}
	fprintf(to, "\n%-16s %-16s %8s %5s  %s\n", "BUS", "INTERFACE", "BIT/S", "LOAD", "FRAMES/S");
	for (size_t i = 0; i < launch->robot.buses_n; i++) {
		const struct robot_bus *bus = &launch->robot.buses[i];

		if (launch_uses(launch, bus))
			fprintf(to, "%-16s %-16s %8lld %3.0f %%  %.0f\n", bus->name, bus->interface,
				(long long)bus->bitrate, 100 * check_frames_load(&check->frames, bus),
				check_frames_hz(&check->frames, bus));
	}
}
