/* ach.c: the tool for channels.  One table of commands; each is a file of its own. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "channels/tool/tool.h"
#include "config/nearest.h"
#include "config/text.h"

static const struct tool_command commands[] = {
	{ "ls", tool_ls, "list the channels: what flows, how fast, how old, from whom" },
	{ "info", tool_info, "all about one channel" },
	{ "echo", tool_echo, "print the messages of a channel" },
	{ "hz", tool_hz, "measure rate, jitter, gaps and latency" },
	{ "plot", tool_plot, "draw fields of the messages, live, in the terminal" },
	{ "put", tool_put, "publish a message" },
	{ "record", tool_record, "write all messages of channels to a file" },
	{ "play", tool_play, "publish the messages of a file again" },
	{ "convert", tool_convert, "rewrite a file in the present versions of its messages" },
	{ "types", tool_types, "print the layout of messages, for people or as JSON" },
	{ "mk", tool_mk, "make a channel" },
	{ "rm", tool_rm, "remove channels" },
	{ "chmod", tool_chmod, "change who may read and write channels" },
	{ "dump", tool_dump, "print the state of a channel's memory" },
	{ "file", tool_file, "print the path of a channel's file" },
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
		if (!strcasecmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static void list_commands(void)
{
	puts("usage: ach COMMAND [OPTION...]\n"
	     "       ach help COMMAND\n"
	     "\n"
	     "Makes, shows, feeds and records channels: shared memory in which the newest message wins.\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-7s %s\n", commands[i].name, commands[i].line);
}

static int run(int argc, char **argv)
{
	char quoted[TEXT_QUOTED_MAX];
	const struct tool_command *command = command_named(argv[0]);
	const char *best = NULL;

	if (command) {
		static char ask[] = "--help";

		for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
			if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "-H") || !strcmp(argv[i], "-?"))
				argv[i] = ask;
		tool_name = command->name;
		return command->run(argc, argv);
	}
	for (size_t i = 0; i < COMMANDS; i++)
		nearest_try(argv[0], commands[i].name, &best);
	return tool_report(TOOL_USAGE, "%s: unknown command%s%s%s (ach help lists them)", text_quote(quoted, argv[0]),
			   best ? "; did you mean " : "", best ? best : "", best ? "?" : "");
}

static int help(int argc, char **argv)
{
	char ask[] = "--help";
	char *line[] = { argc > 1 ? argv[1] : NULL, ask, NULL };

	if (argc > 2)
		return tool_report(TOOL_USAGE, "help: one command at a time");
	if (argc == 2 && argv[1][0] != '-')
		return run(2, line);
	list_commands();
	return 0;
}

/* ---- lines that begin with options, as the original's may: ach -C NAME -m 10, ach -1 mk NAME ---- */

struct old {
	const char *create, *unlink, *dump, *file;
	const char *count, *size, *mode;
	bool truncate, once, verbose, help, help_too, version;
	bool kernel, user, anonymous, posix; /* mappings: all are shared memory here */
};

static const struct settings_row old_rows[] = {
	SETTINGS_STRING("create", struct old, create, NULL, "ach mk", .value = "NAME", .letter = 'C'),
	SETTINGS_STRING("unlink", struct old, unlink, NULL, "ach rm", .value = "NAME", .letter = 'U'),
	SETTINGS_STRING("dump", struct old, dump, NULL, "ach dump", .value = "NAME", .letter = 'D'),
	SETTINGS_STRING("file", struct old, file, NULL, "ach file", .value = "NAME", .letter = 'F'),
	SETTINGS_STRING("count", struct old, count, NULL, "of ach mk", .value = "COUNT", .letter = 'm'),
	SETTINGS_STRING("size", struct old, size, NULL, "of ach mk", .value = "SIZE", .letter = 'n'),
	SETTINGS_STRING("mode", struct old, mode, NULL, "of ach mk", .value = "MODE", .letter = 'o'),
	SETTINGS_BOOL("truncate", struct old, truncate, "no", "of ach mk", .letter = 't'),
	SETTINGS_BOOL("once", struct old, once, "no", "of ach mk", .letter = '1'),
	SETTINGS_BOOL("verbose", struct old, verbose, "no", "say what was done", .letter = 'v'),
	SETTINGS_BOOL("kernel", struct old, kernel, "no", "of ach mk", .letter = 'k'),
	SETTINGS_BOOL("user", struct old, user, "no", "of ach mk", .letter = 'u'),
	SETTINGS_BOOL("anonymous", struct old, anonymous, "no", "of ach mk", .letter = 'a'),
	SETTINGS_BOOL("posix", struct old, posix, "no", "of ach mk", .letter = 'p'),
	SETTINGS_BOOL("help", struct old, help, "no", "list the commands", .letter = 'h'),
	SETTINGS_BOOL("usage", struct old, help_too, "no", "list the commands", .letter = 'H'),
	SETTINGS_BOOL("version", struct old, version, "no", "print the version", .letter = 'V'),
	SETTINGS_END,
};

#define OLD_LINE_MAX 16

struct old_line {
	const char *word[OLD_LINE_MAX];
	int n;
};

static void old_add(struct old_line *line, const char *option, const char *value)
{
	if (!value)
		return;
	if (option)
		line->word[line->n++] = option;
	line->word[line->n++] = value;
}

/* Translates it to a line that begins with its command. */
static int old_spelling(int argc, char **argv)
{
	struct old old = { 0 };
	struct options options = {
		.program = "ach",
		.rows = old_rows,
		.values = &old,
		.arguments = "COMMAND",
		.arguments_max = 3,
	};
	struct old_line line = { .n = 0 };
	int status = tool_options(&options, &argc, argv), asked;

	if (status != TOOL_GO)
		return status;
	if (old.help || old.help_too || old.version) {
		if (!old.version)
			list_commands();
		else
			puts("ach " TOOL_VERSION);
		return 0;
	}
	for (int i = 0; i < argc; i++)
		old_add(&line, NULL, argv[i]);
	old_add(&line, old.create ? "mk" : NULL, old.create);
	old_add(&line, old.unlink ? "rm" : NULL, old.unlink);
	old_add(&line, old.dump ? "dump" : NULL, old.dump);
	old_add(&line, old.file ? "file" : NULL, old.file);
	asked = !!argc + !!old.create + !!old.unlink + !!old.dump + !!old.file;
	if (asked != 1)
		return tool_report(TOOL_USAGE, "%s (ach help lists the commands)",
				   asked ? "one command at a time" : "what to do is missing");
	old_add(&line, "-m", old.count);
	old_add(&line, "-n", old.size);
	old_add(&line, "-o", old.mode);
	old_add(&line, NULL, old.truncate ? "-t" : NULL);
	old_add(&line, NULL, old.once ? "-1" : NULL);
	old_add(&line, NULL, old.verbose ? "-v" : NULL);
	return run(line.n, (char **)(uintptr_t)line.word);
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 2 || !strcasecmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-?"))
		status = help(argc - 1, argv + 1);
	else if (argv[1][0] == '-')
		status = old_spelling(argc, argv);
	else
		status = run(argc - 1, argv + 1);

	/* A full disk or a closed pipe is a failure, too. */
	if ((fflush(stdout) || ferror(stdout)) && !status)
		status = tool_fail("cannot write: %s", strerror(errno));
	return status;
}
