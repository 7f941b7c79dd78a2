/* achctl.c: the main of achctl(1): one table of commands, each in a file of its own. */
#include "config/settings/options.h"
#include "launch/achctl/ctl.h"

#define USUAL                                                                                                        \
	SETTINGS_STRING("robot", struct ctl_line, robot, NULL, "name of the robot; default: the only one that runs", \
			.value = "R"),                                                                               \
		SETTINGS_BOOL("json", struct ctl_line, json, "no", "print the answer as a line of JSON")
#define WITHIN(preset, min, what) \
	SETTINGS_DURATION("within", struct ctl_line, within_ns, preset, min, "1h", what, .value = "TIME")

static const struct settings_row plain_rows[] = { USUAL, SETTINGS_END };
static const struct settings_row top_rows[] = {
	USUAL,
	SETTINGS_DURATION("every", struct ctl_line, every_ns, "500ms", "50ms", "1h", "update interval",
			  .value = "TIME"),
	SETTINGS_END,
};
static const struct settings_row start_rows[] = { USUAL, WITHIN("10s", "0", "wait until it is ready; 0: do not wait"),
						  SETTINGS_END };
static const struct settings_row stop_rows[] = { USUAL, WITHIN("60s", "0", "wait until it has stopped; 0: do not wait"),
						 SETTINGS_END };
static const struct settings_row log_rows[] = {
	USUAL,
	SETTINGS_BOOL("follow", struct ctl_line, follow, "no", "continue with new lines", .letter = 'f'),
	SETTINGS_INT("lines", struct ctl_line, lines, "", "100", "0", "100000000", "number of last lines", .value = "N",
		     .letter = 'n'),
	SETTINGS_END,
};
static const struct settings_row raise_rows[] = {
	USUAL,
	SETTINGS_STRING("why", struct ctl_line, why, NULL, "reason, shown to other users", .value = "TEXT"),
	SETTINGS_END,
};
static const struct settings_row arm_rows[] = {
	USUAL,
	SETTINGS_STRING("who", struct ctl_line, who, NULL, "name of the operator; default: the user", .value = "NAME"),
	SETTINGS_BOOL("unsupervised", struct ctl_line, unsupervised, "no",
		      "without achstart: for drivers started by hand", .was = "alone"),
	WITHIN("3s", "500ms", "raise the level and give up if there is no answer by then"),
	SETTINGS_END,
};
static const struct settings_row request_rows[] = {
	USUAL,
	WITHIN(NULL, "0", "deadline; without it the answer is awaited for 10s, or 60s for home and activate"),
	SETTINGS_END,
};

static const struct settings_row web_rows[] = {
	USUAL,
	SETTINGS_BOOL("act", struct ctl_line, act, "no", "a link with which one may also arm, home, clear and restart"),
	SETTINGS_BOOL("foxglove", struct ctl_line, studio, "no", "an address for Foxglove or Lichtblick, for 12 hours"),
	SETTINGS_END,
};
static const struct settings_row incident_rows[] = {
	USUAL,
	SETTINGS_STRING("folder", struct ctl_line, folder, NULL,
			"where blackbox writes incidents; default: with the logs", .value = "DIR"),
	SETTINGS_END,
};

static const struct {
	const char *name;
	int (*run)(const struct ctl_line *line);
	const char *about;
	const struct settings_row *rows;
	const char *arguments;
	int min, max;
} commands[] = {
	{ "status", ctl_status, "state of the robot", plain_rows, NULL, 0, 0 },
	{ "top", ctl_top, "live state on the whole screen", top_rows, NULL, 0, 0 },
	{ "show", ctl_show, "joints, limits, modes and rates of a device; without a name a line per device", plain_rows,
	  "[DEVICE]", 0, 1 },
	{ "start", ctl_start, "start a daemon and wait until it is ready", start_rows, "NAME", 1, 1 },
	{ "restart", ctl_start, "stop and start a daemon and wait until it is ready", start_rows, "NAME", 1, 1 },
	{ "stop", ctl_stop, "stop a daemon; without a name the robot and achstart", stop_rows, "[NAME]", 0, 1 },
	{ "log", ctl_log, "output of a daemon", log_rows, "NAME", 1, 1 },
	{ "events", ctl_events, "events of the robot", log_rows, NULL, 0, 0 },
	{ "incident", ctl_incident, "incidents that blackbox has recorded: list, show [NAME], export [NAME [FILE]]",
	  incident_rows, "[list|show|export [NAME [FILE]]]", 0, 3 },
	{ "env", ctl_env, "variables by which programs find the robot: eval \"$(achctl env)\"", plain_rows, NULL, 0,
	  0 },
	{ "hold", ctl_level, "protective stop: all but the balance holds", raise_rows, NULL, 0, 0 },
	{ "estop", ctl_level, "emergency stop: every driver, the wheels too", raise_rows, NULL, 0, 0 },
	{ "arm", ctl_arm, "lower the level to run if every driver is ready", arm_rows, NULL, 0, 0 },
	{ "clear", ctl_clear, "start a failed daemon, or clear the fault of a device", request_rows, "NAME", 1, 1 },
	{ "request", ctl_request, "send a request to a driver: home, reset, clear, bias, activate, set, get",
	  request_rows, "NAME VERB [KEY [VALUE]]", 2, 4 },
	{ "web", ctl_web, "print a link of one use to the page of achweb", web_rows, NULL, 0, 0 },
};
#define COMMANDS (sizeof(commands) / sizeof(*commands))

static void list_commands(void)
{
	puts("usage: achctl [--robot R] [--json] COMMAND [OPTION...]\n"
	     "       achctl COMMAND --help\n"
	     "\n"
	     "Shows and commands a robot that achstart runs.\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-8s %s\n", commands[i].name, commands[i].about);
	puts("\n"
	     "hold and estop need no achstart.\n"
	     "Exit status: 0 done, 1 refused or not ready, 100 invalid command line, 111 no robot or no answer.");
}

/* Also on an invalid command line. */
static bool wants_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "--json"))
			return true;
	return false;
}

static int run(size_t which, int argc, char **argv)
{
	struct ctl_line line = { .command = commands[which].name, .within_ns = -1 };
	const struct ctl_line wrong = { .json = wants_json(argc, argv) };
	struct error_sink plain = { error_to_stderr, NULL, 0 };
	struct lines lines;
	char program[32], quoted[TEXT_QUOTED_MAX];
	struct options options = { .program = program,
				   .about = commands[which].about,
				   .rows = commands[which].rows,
				   .values = &line,
				   .arguments = commands[which].arguments,
				   .arguments_min = commands[which].min > 1 ? commands[which].min : 0,
				   .arguments_max = commands[which].max };
	int status = 0;
	enum options_outcome found;

	snprintf(program, sizeof(program), "achctl %s", commands[which].name);
	found = options_read(&options, &argc, argv, wrong.json ? lines_begin(&lines) : &plain);
	if (found == OPTIONS_WRONG)
		return wrong.json ? ctl_fail(&wrong, EXIT_WRONG, "%s", lines.text) : EXIT_WRONG;
	if (found == OPTIONS_ANSWER) {
		options_answer(&options, stdout);
		return 0;
	}
	if (robot_choice_begin(&line.asked, line.robot))
		return ctl_fail(&line, EXIT_WRONG, "--robot: %s is not a valid name", text_quote(quoted, line.robot));
	if (argc && !text_is_name(argv[0]))
		return ctl_fail(&line, EXIT_WRONG, "%s is not a valid name of a daemon (achctl status lists them)",
				text_quote(quoted, argv[0]));
	line.argc = argc;
	line.argv = argv;
	if (commands[which].run != ctl_level) /* which chooses all that may be meant */
		status = ctl_robot(&line);
	if (status)
		return status;
	return argc < commands[which].min ? ctl_daemon_missing(&line) : commands[which].run(&line);
}

static int unknown(const struct ctl_line *line, const char *word)
{
	char quoted[TEXT_QUOTED_MAX];
	const char *best = NULL;

	for (size_t i = 0; i < COMMANDS; i++)
		nearest_try(word, commands[i].name, &best);
	text_quote(quoted, word);
	if (*word == '-')
		return ctl_fail(line, EXIT_WRONG, "%s: unknown option (achctl --help)", quoted);
	return ctl_fail(line, EXIT_WRONG, "%s: unknown command%s%s%s (achctl --help lists them)", quoted,
			best ? "; did you mean " : "", best ? best : "", best ? "?" : "");
}

/* Position of the command, after the options that all commands have; argc if there is no command. */
static int find_command(int argc, char **argv)
{
	int at = 1;

	while (at < argc && (!strcmp(argv[at], "--json") || !strncmp(argv[at], "--robot", 7)))
		at += strcmp(argv[at], "--robot") ? 1 : 2;
	return at < argc ? at : argc;
}

static int obey(int argc, char **argv)
{
	static char ask_help[] = "--help";
	const struct ctl_line line = { .json = wants_json(argc, argv) };
	const int at = find_command(argc, argv);
	char *word = at < argc ? argv[at] : NULL;

	if (!word)
		return ctl_fail(&line, EXIT_WRONG, "which command? (achctl --help lists them)");
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || (!strcmp(word, "help") && at + 1 == argc)) {
		list_commands();
		return 0;
	}
	if (!strcmp(word, "help")) {
		word = argv[at + 1];
		argv[at + 1] = ask_help;
	}
	if (!strcmp(word, "--version")) {
		puts("achctl " OPTIONS_VERSION);
		return 0;
	}
	if (at + 1 < argc && !strcmp(argv[at + 1], "-h"))
		argv[at + 1] = ask_help;
	/* The command comes first, so that the options before it are read as its own. */
	memmove(argv + 1, argv, (size_t)at * sizeof(*argv));
	argv[1] = word;
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(word, commands[i].name))
			return run(i, argc - 1, argv + 1);
	return unknown(&line, word);
}

int main(int argc, char **argv)
{
	int status = obey(argc, argv);

	/* A full disk or a closed pipe is a failure. */
	if ((fflush(stdout) || ferror(stdout)) && !status) {
		error_say("achctl", NULL, ERROR_PLAIN, "cannot write: %s", strerror(errno));
		status = EXIT_RETRY;
	}
	return status;
}
