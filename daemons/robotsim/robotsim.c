/* robotsim.c: plays the devices of a robot that is not there. */
#include "config/settings/options.h"
#include "daemons/robotsim/sim.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *line;
} commands[] = {
	{ "run", sim_run, "play the devices of a robot file" },
	{ "fault", sim_cli, "break something in one of them, or mend it" },
	{ "push", sim_cli, "push a joint or the body" },
	{ "set", sim_cli, "change how one behaves" },
	{ "report", sim_cli, "show what they do" },
};
#define COMMANDS (sizeof(commands) / sizeof(*commands))

static int help(void)
{
	printf("usage: robotsim COMMAND [OPTION...] [ARGUMENT...]\n\n"
	       "Plays the devices of a robot that is not there.\n\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-8s %s\n", commands[i].name, commands[i].line);
	printf("\nrobotsim COMMAND --help says more.\n");
	return 0;
}

int main(int argc, char **argv)
{
	const char *near = NULL;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return help();
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		printf("robotsim %s\n", OPTIONS_VERSION);
		return 0;
	}
	for (size_t i = 0; argc > 1 && i < COMMANDS; i++) {
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
		nearest_try(argv[1], commands[i].name, &near);
	}
	if (argc < 2)
		error_say("robotsim", NULL, ERROR_PLAIN, "which command? robotsim --help lists them");
	else
		error_say("robotsim", NULL, ERROR_PLAIN, "%s: no such command%s%s%s", argv[1],
			  near ? "; did you mean " : ": robotsim --help lists them", near ? near : "", near ? "?" : "");
	return EXIT_WRONG;
}
