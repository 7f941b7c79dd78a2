/* canwire.c: CAN buses in user space: serve them, send and receive, show statistics, inject faults. */
#include "can/bus/attach.h"
#include "can/tool/can_tool.h"
#include "can/tool/canwire.h"
#include "can/wire/fault.h"
#include "config/settings/program.h"

#define AS(help) SETTINGS_STRING("as", struct canwire_options, as, ATTACH_HOST, help, .value = "CONTROLLER")
#define ROBOT SETTINGS_STRING("robot", struct canwire_options, robot, NULL, "robot of the bus", .value = "R")

static const struct settings_row send_rows[] = { AS("the controller to send as"), ROBOT, SETTINGS_END };
static const struct settings_row dump_rows[] = {
	AS("the controller to listen as"),
	SETTINGS_INT("count", struct canwire_options, count, "", NULL, "1", NULL, "end after that many frames",
		     .value = "N"),
	SETTINGS_BOOL("errors", struct canwire_options, errors, "no", "error frames too"),
	ROBOT,
	SETTINGS_END,
};
static const struct settings_row stats_rows[] = {
	SETTINGS_BOOL("json", struct canwire_options, json, "no", "as JSON"),
	ROBOT,
	SETTINGS_END,
};
static const struct settings_row rows[] = { ROBOT, SETTINGS_END };

static const struct command {
	const char *name, *line;
	int (*run)(const struct canwire_options *w, int argc, char **argv); /* NULL: canwire_run */
	const char *about, *arguments;
	int min, max; /* of them */
	const struct settings_row *rows;
	const char *notes;
} commands[] = {
	{ "run", "serve buses until stopped", NULL, NULL, NULL, 0, 0, NULL, NULL },
	{ "send", "send frames and wait until they were on the wire", canwire_send,
	  "Sends frames one after the other, each when the previous one was on the wire.", "BUS FRAME...", 2, -1,
	  send_rows, NULL },
	{ "dump", "print the frames of a wire, as candump -L does", canwire_dump,
	  "Prints the frames of a wire, a line each as candump -L does, until ^C.", "BUS", 1, 1, dump_rows, NULL },
	{ "stats", "load, errors, controllers and programs of a bus", canwire_stats,
	  "Shows load, errors, controllers and programs of a bus.", "BUS", 1, 1, stats_rows, NULL },
	{ "fault", "inject a fault, or clear it", canwire_fault, "Breaks something on a bus, or mends it.",
	  "BUS WORD...", 2, -1, rows, fault_help },
	{ "link", "up, down, reset or restart a controller", canwire_link,
	  "Controls a controller on a bus, as the owner of the link does.",
	  "BUS up|down|reset|restart|look|set [CONTROLLER] ...", 2, 5, rows,
	  "The controller is " ATTACH_HOST " unless another is named.\n"
	  "set takes a controller, restart_ms or queue, and a number.\n" },
};
#define COMMANDS (sizeof(commands) / sizeof(*commands))

static int run(const struct command *c, int argc, char **argv)
{
	static char program[32];
	struct canwire_options values = { 0 };
	struct options options = { .program = program,
				   .about = c->about,
				   .rows = c->rows,
				   .values = &values,
				   .arguments = c->arguments,
				   .arguments_min = c->min,
				   .arguments_max = c->max,
				   .notes = c->notes };
	int status;

	if (!c->run)
		return canwire_run(argc, argv);
	snprintf(program, sizeof(program), "canwire %s", c->name);
	status = program_options(&options, &argc, argv);
	if (status != OPTIONS_RUN)
		return status;
	status = can_tool_robot(values.robot, true);
	return status ? status : c->run(&values, argc, argv);
}

static int usage(void)
{
	puts("usage: canwire COMMAND [OPTION...]\n"
	     "       canwire COMMAND --help\n"
	     "\n"
	     "CAN buses in user space, bit by bit, for programs that open wire:BUS.\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-6s %s\n", commands[i].name, commands[i].line);
	return 0;
}

int main(int argc, char **argv)
{
	const char *best = NULL;
	char quoted[TEXT_QUOTED_MAX];

	program_name = "canwire";
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help"))
		return argc < 2 ? program_wrong("which command? (canwire --help lists them)") : usage();
	if (!strcmp(argv[1], "--version")) {
		puts("canwire " OPTIONS_VERSION);
		return 0;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return run(&commands[i], argc - 1, argv + 1);
	for (size_t i = 0; i < COMMANDS; i++)
		nearest_try(argv[1], commands[i].name, &best);
	text_quote(quoted, argv[1]);
	return best ? program_wrong("%s: unknown command; did you mean %s? (canwire --help lists them)", quoted, best)
		    : program_wrong("%s: unknown command (canwire --help lists them)", quoted);
}
