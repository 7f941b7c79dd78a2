/* launch_tables.c: the keys of the launch file. */

#include "launch/file/launch_inside.h"

static const char *const arm_words[] = { "no", "auto", NULL };
/* In the order of enum launch_overload. */
static const char *const overload_words[] = { "refuse", "report", NULL };
static const char *const when_words[] = { "always", "never", NULL };
/* In the order of enum msg_level. */
static const char *const critical_words[] = { "no", "hold", "estop", NULL };
/* In the order of enum launch_alive. */
static const char *const alive_words[] = { "state", "watchdog", "process", NULL };

/* In the order of enum vt_over. */
static const char *const over_words[] = { "report", "suspend", "fail", NULL };

static const char *path_form(const char *text)
{
	return *text ? NULL : "a file, as seen from this one: ../config/robots/waist.yaml";
}

static const char *program_form(const char *text)
{
	return *text ? NULL : "a program: a name, or a path as seen from this file";
}

static const char *object_form(const char *text)
{
	return *text ? NULL : "a shared object: a name, or a path as seen from this file";
}

/* clang-format off */
const struct settings_row launch_rows[] = {
	SETTINGS_TEXT("include", struct launch, raw.include, SETTINGS_REQUIRED,
		      "the robot file, as seen from this file", .check = path_form),
	SETTINGS_TEXT("robot", struct launch, raw.robot, NULL, "the robot's name; else that of the robot file",
		      .check = text_name_form),
	SETTINGS_WORD("arm", struct launch, arm, arm_words, "no",
		      "auto: armed once all is ready, on wires and vcan only"),
	SETTINGS_DURATION("unsupervised", struct launch, unsupervised_ns, "10s", "0", "1h",
			  "hold the robot if achstart died and no other one came for that long; 0: never",
			  .was = "alone"),
	SETTINGS_BOOL("links", struct launch, links, "yes", "bring SocketCAN links up and keep them so"),
	SETTINGS_WORD("overload", struct launch, overload, overload_words, "refuse",
		      "report: start although a bus has no time for its frames"),
	SETTINGS_TEXT("clock", struct launch, raw.clock, NULL, "the daemon that is the robot's clock, or none",
		      .check = text_name_form),
	SETTINGS_TEXT("operators", struct launch, raw.operators, NULL,
		      "group that may look and raise the e-stop", .check = text_name_form),
	SETTINGS_TEXT("arming", struct launch, raw.arming, NULL,
		      "group that may also arm, clear, home, start and stop", .check = text_name_form),
	SETTINGS_TEXT("moving", struct launch, raw.moving, NULL,
		      "group that may also write references", .check = text_name_form),
	SETTINGS_NODE("groups", struct launch, raw.groups, NULL, "parts of the robot that may run alone"),
	SETTINGS_NODE("environment", struct launch, raw.environment, NULL, "variables of every daemon"),
	SETTINGS_NODE("daemons", struct launch, raw.daemons, SETTINGS_REQUIRED, "what runs, by name"),
	SETTINGS_END,
};

const struct settings_row launch_daemon_rows[] = {
	SETTINGS_TEXT("device", struct launch_daemon, raw.device, NULL,
		      "a device of the robot file, if not that of its name", .check = text_name_form),
	SETTINGS_TEXT("program", struct launch_daemon, raw.program, NULL, "a program that drives no device",
		      .check = program_form),
	SETTINGS_TEXT("object", struct launch_daemon, raw.object, NULL,
		      "the driver of the device as a shared object, which drvhost runs", .check = object_form),
	SETTINGS_NODE("args", struct launch_daemon, raw.args, NULL, "its arguments; of a driver more of them"),
	SETTINGS_NODE("bus", struct launch_daemon, raw.bus, NULL, "other buses than the robot file gives it"),
	SETTINGS_NODE("needs", struct launch_daemon, raw.needs, NULL, "daemons that are ready before it starts"),
	SETTINGS_INT("priority", struct launch_daemon, priority, "", "0", "0", "99", "SCHED_FIFO priority; 0: none"),
	SETTINGS_INT("core", struct launch_daemon, core, "", NULL, "0", "1023", "the processor core that it runs on"),
	SETTINGS_INT("listen", struct launch_daemon, listen, "", NULL, "1", "65535",
		     "port on which achstart listens for it, also while it is restarted"),
	SETTINGS_NODE("restart", struct launch_daemon, raw.restart, NULL, "always, never, or a mapping"),
	SETTINGS_WORD("critical", struct launch_daemon, critical, critical_words, "no",
		      "level of the e-stop that it raises when it dies again and again"),
	SETTINGS_DURATION("ready_within", struct launch_daemon, rules.ready_within_ns, "5s", "10ms", "10min",
			  "warn if it is not ready by then"),
	SETTINGS_WORD("alive", struct launch_daemon, alive, alive_words, NULL, "how it shows that it lives"),
	SETTINGS_DURATION("dead_after", struct launch_daemon, dead_after_ns, NULL, "20ms", "1h",
			  "kill it if it has been silent for that long"),
	SETTINGS_DURATION("kill_within", struct launch_daemon, rules.kill_within_ns, NULL, "10ms", "10min",
			  "from SIGTERM to SIGKILL"),
	SETTINGS_BOOL("spare", struct launch_daemon, spare, NULL,
		      "a second process waits to take over; default for a critical driver"),
	SETTINGS_BOOL("keep", struct launch_daemon, keep, "no",
		      "its state and events stay readable after the robot has stopped"),
	SETTINGS_BOOL("world", struct launch_daemon, world, "no",
		      "it simulates what is around the robot: on a virtual clock its computing takes no time"),
	SETTINGS_DURATION("period", struct launch_daemon, period_ns, NULL, "100us", "1h",
			  "in which its budget counts; of a driver its tick"),
	SETTINGS_DURATION("budget", struct launch_daemon, budget_ns, NULL, "1us", "1h",
			  "that it may compute in a period on a virtual clock; else the period"),
	SETTINGS_WORD("over", struct launch_daemon, over, over_words, "report",
		      "what happens to it over its budget: report, suspend, or fail"),
	SETTINGS_INT("weight", struct launch_daemon, weight, "", NULL, "1", "1000",
		     "without a period: share of what the others leave"),
	SETTINGS_NODE("environment", struct launch_daemon, raw.environment, NULL, "its variables"),
	SETTINGS_END,
};

const struct settings_row launch_restart_rows[] = {
	SETTINGS_WORD("when", struct policy_rules, never, when_words, "always", "always or never"),
	SETTINGS_DURATION("settled", struct policy_rules, settled_ns, "1s", "0", "1h",
			  "time in READY after which a death no longer counts as early"),
	SETTINGS_DURATION("backoff", struct policy_rules, backoff_ns, "100ms", "1ms", "1h",
			  "pause after an early death, doubled each time"),
	SETTINGS_DURATION("backoff_max", struct policy_rules, backoff_max_ns, "5s", "1ms", "1h", "longest pause"),
	SETTINGS_INT("budget", struct policy_rules, budget, "deaths", "10", "1", "100",
		     "early deaths until it is given up"),
	SETTINGS_DURATION("within", struct policy_rules, budget_within_ns, "1min", "1s", "24h",
			  "time in which the budget is counted"),
	SETTINGS_END,
};
/* clang-format on */
