/* canwire.c: CAN buses in user space: serve them, send and receive, show statistics, inject faults. */
#include <string.h>

#include "can/tool/program.h"
#include "can/tool/wire.h"
#include "config/nearest.h"
#include "config/text.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *line;
} commands[] = {
	{ "run", wire_run, "serve buses until stopped" },
	{ "send", wire_send, "send frames and wait until they were on the wire" },
	{ "dump", wire_dump, "print the frames of a wire, as candump -L does" },
	{ "stats", wire_stats, "load, errors, controllers and programs of a bus" },
	{ "fault", wire_fault, "inject a fault, or clear it" },
	{ "link", wire_link, "up, down, reset or restart a controller" },
};
#define COMMANDS (sizeof(commands) / sizeof(*commands))

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
		puts("canwire " PROGRAM_VERSION);
		return 0;
	}
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	for (size_t i = 0; i < COMMANDS; i++)
		nearest_try(argv[1], commands[i].name, &best);
	text_quote(quoted, argv[1]);
	return best ? program_wrong("%s: unknown command; did you mean %s? (canwire --help lists them)", quoted, best)
		    : program_wrong("%s: unknown command (canwire --help lists them)", quoted);
}
