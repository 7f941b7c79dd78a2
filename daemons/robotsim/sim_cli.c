/* sim_cli.c: robotsim fault, push, set, report: questions to the robotsim that runs. */
#include <ctype.h>

#include "config/settings/options.h"
#include "daemons/robotsim/sim.h"

#define ANSWER_NS 2000000000
#define ARGUMENTS_MAX 16

struct ask {
	const char *robot;
	bool clear, json;
};

#define ROBOT SETTINGS_STRING("robot", struct ask, robot, NULL, "name of the robot; selects its folder", .value = "R")
static const struct settings_row rows[] = { ROBOT, SETTINGS_END };
static const struct settings_row fault_rows[] = {
	SETTINGS_BOOL("clear", struct ask, clear, "no", "end it"),
	ROBOT,
	SETTINGS_END,
};
static const struct settings_row report_rows[] = {
	SETTINGS_BOOL("json", struct ask, json, "no", "as JSON"),
	ROBOT,
	SETTINGS_END,
};

static char answer[SIM_ANSWER_MAX];

/* VERB and the words behind it.  The exit status. */
static int ask(const char *program, const struct ask *line, const char *verb, int argc, char **argv)
{
	struct error_sink errors = ERROR_TO_STDERR(program, NULL, ERROR_PLAIN);
	char path[RUN_PATH_MAX], text[400];
	struct rpc_text question = { text, 0, sizeof(text) };
	int r;

	rpc_say(&question, "%s", verb);
	for (int i = 0; i < argc; i++)
		rpc_say(&question, " %s", argv[i]);
	rpc_say(&question, "%s", line->clear ? " clear" : "");
	if (question.len + 1 >= sizeof(text))
		error_add(&errors, "that is too long");
	else if (line->robot && run_robot(line->robot))
		error_add(&errors, "--robot: %s is not a valid name", line->robot);
	if (errors.count)
		return EXIT_WRONG;
	if (run_path(path, SIM_SOCKET, &errors))
		return EXIT_RETRY;
	r = rpc_call(path, text, answer, sizeof(answer), clock_now_ns() + ANSWER_NS, &errors);
	if (r == -ENOENT || r == -ECONNREFUSED)
		error_add(&errors, "no robotsim runs for this robot (no socket at %s): start it with robotsim run FILE",
			  path);
	else if (r && r != -EINVAL)
		error_add(&errors, "robotsim does not answer at %s: %s", path, strerror(-r));
	return r ? EXIT_RETRY : 0;
}

/* A negative torque is not an option. */
static int with_dashes(int argc, char **argv, char **to)
{
	static char dashes[] = "--";
	int n = 0;
	bool done = false;

	for (int i = 0; i < argc && n < ARGUMENTS_MAX - 1; i++) {
		if (!done && argv[i][0] == '-' && (isdigit((unsigned char)argv[i][1]) || argv[i][1] == '.')) {
			to[n++] = dashes;
			done = true;
		}
		to[n++] = argv[i];
	}
	to[n] = NULL;
	return n;
}

/* ---- report ---- */

static void print_json(char *text)
{
	struct json j = json_to(stdout);
	char *save = NULL;

	json_object(&j, NULL);
	json_array(&j, "units");
	for (char *row = strtok_r(text, "\n", &save); row; row = strtok_r(NULL, "\n", &save)) {
		char *words = NULL;
		const char *key, *value;

		json_object(&j, NULL);
		json_text(&j, "name", strtok_r(row, " ", &words));
		while ((key = strtok_r(NULL, " ", &words)) && (value = strtok_r(NULL, " ", &words))) {
			double number;

			if (!text_real(value, &number) && strncmp(value, "0x", 2) != 0)
				json_raw(&j, key, value);
			else
				json_text(&j, key, value);
		}
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	putchar('\n');
}

static void print_table(char *text)
{
	char *save = NULL;

	for (char *row = strtok_r(text, "\n", &save); row; row = strtok_r(NULL, "\n", &save)) {
		char *words = NULL;
		const char *key, *value;
		int column = printf("%s:", strtok_r(row, " ", &words));
		const char *comma = "";

		while ((key = strtok_r(NULL, " ", &words)) && (value = strtok_r(NULL, " ", &words))) {
			if (!strcmp(value, "0") && strcmp(key, "state") != 0)
				continue;
			column += printf("%s", comma);
			if (column + strlen(key) + strlen(value) + 3 > 79)
				column = printf("\n     ") - 1;
			column += printf(" %s %s", key, value);
			comma = ",";
		}
		printf("\n");
	}
}

/* ---- commands ---- */

static const struct options verbs[] = {
	{
		.program = "robotsim fault",
		.about = "Breaks something in a simulated device, or mends it.",
		.rows = fault_rows,
		.arguments = "NAME FAULT",
		.arguments_min = 2,
		.arguments_max = 2,
		.notes = "cut           no connection to its bus\n"
			 "silent        hears and obeys, and answers nothing\n"
			 "power-off, power-on\n"
			 "supply-low    no motor supply, as by an emergency stop\n"
			 "jammed        the joint does not move\n"
			 "of an AMC drive:\n"
			 "over-temperature under-voltage stuck-in-fault encoder-stuck\n"
			 "of a gripper: garbage refuses loses jams blocked\n"
			 "and bits of a PowerCube's state word:\n"
			 "error homed halted power-fault tow-error comm-error home-switch limit-switch-1\n"
			 "limit-switch-2 brake current-limit voltage fet-temperature motor-temperature\n"
			 "short-circuit hall-sensor overload cpu-overload hard-limit soft-limit\n"
			 "logic-voltage\n",
	},
	{
		.program = "robotsim push",
		.about = "Pushes a simulated joint with a torque, or the body with a force.",
		.rows = rows,
		.arguments = "NAME TORQUE_NM|FORCE_N DURATION",
		.arguments_min = 3,
		.arguments_max = 3,
	},
	{
		.program = "robotsim set",
		.about = "Changes how a simulated device or the body behaves, as its settings do.",
		.rows = rows,
		.arguments = "NAME KEY=VALUE...",
		.arguments_min = 2,
		.arguments_max = ARGUMENTS_MAX - 2,
	},
	{
		.program = "robotsim report",
		.about = "Shows the state of the simulated devices.",
		.rows = report_rows,
		.arguments = "[NAME]",
		.arguments_max = 1,
	},
};

int sim_cli(int argc, char **argv)
{
	const char *verb = argv[0];
	const struct options *row = verbs;
	struct ask line = { 0 };
	char *words[ARGUMENTS_MAX + 1];
	struct options options;
	int status;

	while (strcmp(strchr(row->program, ' ') + 1, verb) != 0)
		row++;
	options = *row;
	options.values = &line;
	argc = with_dashes(argc, argv, words);
	status = options_main(&options, &argc, words);
	if (status != OPTIONS_RUN)
		return status;
	status = ask(options.program, &line, verb, argc, words);
	if (!status && row->rows == report_rows)
		(line.json ? print_json : print_table)(answer);
	return status;
}
