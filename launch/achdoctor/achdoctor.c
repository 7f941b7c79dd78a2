/* achdoctor.c: the main of achdoctor(1): examines whether this machine is fit to run a robot. */
#include <unistd.h>

#include "channels/client/robot_choice.h"
#include "config/settings/options.h"
#include "launch/achdoctor/facts.h"
#include "launch/view/logs.h"

#define FAILS 1
#define WRONG 2

struct achdoctor_options {
	bool json;
	const char *root;
	struct settings_strings record;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("json", struct achdoctor_options, json, "no", "print the findings as JSON"),
	SETTINGS_STRINGS("record", struct achdoctor_options, record,
			 "also examine this folder, in which recordings are written", .value = "FOLDER"),
	SETTINGS_STRING("root", struct achdoctor_options, root, "", "read /proc, /sys, /dev and /etc below this folder",
			.value = "FOLDER"),
	SETTINGS_END,
};

/* ---- files ---- */

struct files {
	struct launch launch;
	struct robot robot;
	bool has_launch, has_robot;
};

/* A launch file lists daemons; a robot file does not. */
static bool is_launch(const char *path)
{
	struct yaml *doc;
	bool found;

	if (yaml_open_file(&doc, path, &(struct error_sink){ 0 }))
		return true; /* which reports what is wrong */
	found = yaml_find(yaml_root(doc), "daemons");
	yaml_close(doc);
	return found;
}

static int open_files(struct files *f, const char *path, struct error_sink *errors)
{
	int status;

	if (!path)
		return 0;
	if (!is_launch(path)) {
		status = robot_open(&f->robot, path, errors);
		f->has_robot = !status;
		return status;
	}
	status = launch_open(&f->launch, path, errors);
	f->has_launch = !status;
	return status ? status : launch_rights(&f->launch, errors);
}

/* ---- the examination ---- */

static void examine_buses(const struct facts_scope *scope, struct doctor_report *report)
{
	for (size_t i = 0; scope->robot && i < scope->robot->buses_n; i++) {
		const struct robot_bus *bus = &scope->robot->buses[i];
		struct doctor_bus b = { 0 };

		if (scope->launch && !launch_uses(scope->launch, bus))
			continue;
		memcpy(b.name, bus->name, sizeof(b.name));
		memcpy(b.interface, bus->interface, sizeof(b.interface));
		facts_bus(&b, scope);
		doctor_bus(&b, report);
	}
}

static void examine_robot(const struct facts_scope *scope, const struct achdoctor_options *options,
			  struct doctor_report *report)
{
	static struct doctor_robot r;
	const char *name = scope->launch ? scope->launch->name : scope->robot ? scope->robot->name : NULL;
	struct robot_choice_asked asked;
	char path[RUN_PATH_MAX];
	struct error_sink quiet = { 0 };

	if (name && !robot_choice_begin(&asked, name)) {
		doctor_part(report, "robot %s", name);
		if (robot_choice_use(&asked, &quiet) >= 0)
			facts_robot(&r, scope);
		doctor_files(&r, report);
	}
	if (!r.there || logs_path(path, ""))
		snprintf(path, sizeof(path), "/var/log/");
	*strrchr(path, '/') = 0;
	facts_disk(&r, path, scope->measure);
	for (size_t i = 0; i < options->record.n; i++)
		facts_disk(&r, options->record.item[i], scope->measure);
	doctor_disks(&r, report);
}

static int examine(const struct files *f, const struct achdoctor_options *options)
{
	static struct doctor_report report;
	static struct doctor_machine machine;
	const struct facts_scope scope = {
		.root = options->root,
		.measure = true,
		.launch = f->has_launch ? &f->launch : NULL,
		.robot = f->has_launch	? &f->launch.robot
			 : f->has_robot ? &f->robot
					: NULL,
	};

	facts_machine(&machine, &scope);
	doctor_machine(&machine, &report);
	examine_buses(&scope, &report);
	if (!scope.robot)
		doctor_part(&report, "machine");
	examine_robot(&scope, options, &report);
	if (options->json)
		doctor_print_json(&report, stdout);
	else
		doctor_print(&report, stdout, isatty(STDOUT_FILENO) && !getenv("NO_COLOR"));
	return doctor_count(&report, DOCTOR_FAIL) ? FAILS : 0;
}

int main(int argc, char **argv)
{
	struct error_sink plain = { error_to_stderr, NULL, 0 },
			  errors = ERROR_TO_STDERR("achdoctor", NULL, ERROR_FATAL);
	struct achdoctor_options options = { 0 };
	struct options command = { .program = "achdoctor",
				   .about = "examines whether this machine is fit to run a robot",
				   .rows = rows,
				   .values = &options,
				   .arguments = "[FILE]",
				   .arguments_max = 1,
				   .version = OPTIONS_VERSION,
				   .notes = "\nFILE is a launch file or a robot file.\n"
					    "Exit status: 0 no check fails, 1 a check fails, 2 invalid command line or "
					    "file.\n" };
	static struct files files;
	int status = WRONG;

	switch (options_read(&command, &argc, argv, &plain)) {
	case OPTIONS_WRONG:
		return WRONG;
	case OPTIONS_ANSWER:
		options_answer(&command, stdout);
		return 0;
	case OPTIONS_GO:
		break;
	}
	if (!open_files(&files, argc ? argv[0] : NULL, &errors))
		status = examine(&files, &options);
	if (files.has_launch)
		launch_close(&files.launch);
	if (files.has_robot)
		robot_close(&files.robot);
	return fflush(stdout) ? WRONG : status;
}
