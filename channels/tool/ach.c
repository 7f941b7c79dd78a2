/* ach.c: the tool for channels.  One table of commands; each is a file of its own. */
#include <strings.h>

#include "channels/tool/tool.h"

static const struct tool_command *const commands[] = {
	&tool_ls,      &tool_info,  &tool_echo, &tool_hz, &tool_plot,  &tool_put,  &tool_record, &tool_play,
	&tool_convert, &tool_types, &tool_mk,	&tool_rm, &tool_chmod, &tool_dump, &tool_file,
};
#define COMMANDS (sizeof(commands) / sizeof(*commands))

/* The original's names, in which case does not matter. */
static const struct {
	const char *name, *command;
} aliases[] = {
	{ "create", "mk" },
	{ "make", "mk" },
	{ "unlink", "rm" },
	{ "remove", "rm" },
};

static const struct tool_command *command_named(const char *name)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
		if (!strcasecmp(name, aliases[i].name))
			name = aliases[i].command;
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcasecmp(name, commands[i]->name))
			return commands[i];
	return NULL;
}

static void list_commands(void)
{
	puts("usage: ach COMMAND [OPTION...]\n"
	     "       ach help COMMAND\n"
	     "\n"
	     "Makes, shows, feeds and records channels: shared memory in which the newest message wins.\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-7s %s\n", commands[i]->name, commands[i]->about);
}

/* Reads the line of a command into its struct, and runs it. */
static int run_command(const struct tool_command *command, int argc, char **argv)
{
	char program[32];
	void *values = calloc(1, command->size);
	struct options options = { .program = program,
				   .about = command->about,
				   .rows = command->rows,
				   .values = values,
				   .arguments = command->arguments,
				   .arguments_min = command->arguments_min,
				   .arguments_max = command->arguments_max,
				   .notes = command->notes };
	int status;

	if (!values)
		return tool_fail("no memory");
	snprintf(program, sizeof(program), "ach %s", command->name);
	status = options_main(&options, &argc, argv);
	if (status == OPTIONS_RUN)
		status = command->run(values, argc, argv);
	free(values);
	return status;
}

static int run(int argc, char **argv)
{
	char quoted[TEXT_QUOTED_MAX];
	const struct tool_command *command = command_named(argv[0]);
	const char *best = NULL;

	if (command) {
		static char ask[] = "--help", name[32];

		for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
			if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "-H") || !strcmp(argv[i], "-?"))
				argv[i] = ask;
		snprintf(name, sizeof(name), "ach %s", command->name);
		program_name = name;
		return run_command(command, argc, argv);
	}
	for (size_t i = 0; i < COMMANDS; i++)
		nearest_try(argv[0], commands[i]->name, &best);
	return program_report(EXIT_WRONG, "%s: unknown command%s%s%s (ach help lists them)",
			      text_quote(quoted, argv[0]), best ? "; did you mean " : "", best ? best : "",
			      best ? "?" : "");
}

static int help(int argc, char **argv)
{
	char ask[] = "--help";
	char *line[] = { argc > 1 ? argv[1] : NULL, ask, NULL };

	if (argc > 2)
		return program_report(EXIT_WRONG, "help: one command at a time");
	if (argc == 2 && argv[1][0] != '-')
		return run(2, line);
	list_commands();
	return 0;
}

/* Lines that begin with options, as the original's may: ach -1C NAME -m 10, ach -t mk NAME.  The command moves to the
 * front; the name behind its letter becomes an argument. */
static int old_spelling(int argc, char **argv)
{
	static char names[][5] = { "mk", "rm", "dump", "file" };
	static const char letters[] = "CUDF";
	char *name = NULL;
	int n = 1, found = 0;

	for (int i = 1; i < argc; i++) {
		char *word = argv[i], *letter = word[0] == '-' && word[1] != '-' ? strpbrk(word, letters) : NULL;

		if (letter) {
			argv[0] = names[strchr(letters, *letter) - letters];
			name = letter[1] ? letter + 1 : argv[++i];
			*letter = '\0';
			found++;
		} else if (!found && command_named(word)) {
			argv[0] = word;
			found++;
			continue;
		}
		if (strcmp(word, "-") != 0)
			argv[n++] = word;
	}
	if (found != 1)
		return program_report(EXIT_WRONG, "%s (ach help lists the commands)",
				      found ? "one command at a time" : "what to do is missing");
	if (name)
		argv[n++] = name;
	return run(n, argv);
}

int main(int argc, char **argv)
{
	int status;

	program_name = "ach";
	if (argc < 2 || !strcasecmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcasecmp(argv[1], "-h") ||
	    !strcmp(argv[1], "-?"))
		status = help(argc - 1, argv + 1);
	else if (!strcmp(argv[1], "-V") || !strcmp(argv[1], "--version"))
		status = printf("ach " TOOL_VERSION "\n") < 0 ? EXIT_RETRY : 0;
	else if (argv[1][0] == '-')
		status = old_spelling(argc, argv);
	else
		status = run(argc - 1, argv + 1);

	/* A full disk or a closed pipe is a failure, too. */
	if ((fflush(stdout) || ferror(stdout)) && !status)
		status = tool_fail("cannot write: %s", strerror(errno));
	return status;
}
