/* prearm.c: what achdoctor(1) finds before a robot on a real bus is armed. */
#include "launch/achdoctor/facts.h"
#include "launch/achdoctor/prearm.h"

static bool is_real(const struct status_bus *bus)
{
	return *bus->interface && !strchr(bus->interface, ':') && !link_is_virtual(bus->interface);
}

bool prearm_is_needed(const struct status *robot)
{
	for (size_t i = 0; i < robot->buses_n; i++)
		if (is_real(&robot->buses[i]))
			return true;
	return false;
}

void prearm_examine(const struct status *robot, struct doctor_report *report)
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
