/* ctl_doctor.c: what achdoctor(1) finds before a robot on a real bus is armed.
 *
 * The checks are those that take no time and write nothing.  Limits are those of achstart, and an interface that this
 * process does not see may be in the network namespace of the robot: drivers use it, and achstart checks its state.
 */
#include <string.h>

#include "launch/achctl/ctl.h"
#include "launch/achdoctor/facts.h"

static bool is_real(const struct status_bus *bus)
{
	return *bus->interface && !strchr(bus->interface, ':') && !link_is_virtual(bus->interface);
}

static bool has_real_bus(const struct status *robot)
{
	for (size_t i = 0; i < robot->buses_n; i++)
		if (is_real(&robot->buses[i]))
			return true;
	return false;
}

static void examine(const struct status *robot, struct doctor_report *report)
{
	static struct doctor_machine machine;
	static struct doctor_robot files;
	struct robot config;
	const bool readable = *robot->config && !robot_open(&config, robot->config, &(struct error_sink){ 0 });
	const struct facts_scope scope = { .root = "", .pid = (pid_t)robot->pid, .robot = readable ? &config : NULL };

	facts_machine(&machine, &scope);
	doctor_machine(&machine, report);
	for (size_t i = 0; i < robot->buses_n; i++) {
		struct doctor_bus bus = { .running = true };

		if (!is_real(&robot->buses[i]))
			continue;
		snprintf(bus.name, sizeof(bus.name), "%.*s", (int)sizeof(bus.name) - 1, robot->buses[i].name);
		snprintf(bus.interface, sizeof(bus.interface), "%s", robot->buses[i].interface);
		facts_bus(&bus, &scope);
		bus.links = true; /* the launch file, which is not read, is achstart's affair */
		doctor_bus(&bus, report);
	}
	doctor_part(report, "robot %s", robot->robot);
	facts_robot(&files, &scope);
	doctor_files(&files, report);
	if (readable)
		robot_close(&config);
}

int ctl_doctor(const struct ctl_line *line, const struct status *robot)
{
	static struct doctor_report report;
	struct lines all;

	if (!has_real_bus(robot))
		return 0;
	lines_begin(&all);
	examine(robot, &report);
	for (size_t i = 0; i < report.n; i++) {
		const struct doctor_finding *f = &report.at[i];

		if (f->verdict != DOCTOR_FAIL)
			continue;
		error_add(&all.sink, "%s: %s%s%s", f->part, f->found, *f->mend ? ": " : "", f->mend);
		if (!line->json)
			ctl_fail(line, CTL_NO, "refused: %s: %s%s%s", f->part, f->found, *f->mend ? ": " : "", f->mend);
	}
	if (all.sink.count && line->json)
		ctl_fail(line, CTL_NO, "refused: %s", all.text);
	return all.sink.count ? CTL_NO : 0;
}
