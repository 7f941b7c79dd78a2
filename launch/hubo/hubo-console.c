/* hubo-console.c: a command line for Hubo, with the verbs of hubo-ach's. */
#include <histedit.h>
#include <unistd.h>

#include "channels/msg/msg.h"
#include "config/settings/options.h"
#include "launch/hubo/console_run.h"

#define HISTORY_LINES 500
#define FAILED 1

struct hubo_console_options {
	const char *robot;
	struct settings_strings commands;
	int64_t within_ns;
	bool verbs;
};

static const struct settings_row rows[] = {
	SETTINGS_STRINGS("command", struct hubo_console_options, commands, "carry it out and end; may be repeated",
			 .value = "LINE", .letter = 'c'),
	SETTINGS_STRING("robot", struct hubo_console_options, robot, NULL, "the robot", .value = "R"),
	SETTINGS_DURATION("within", struct hubo_console_options, within_ns, "0", "0", "1h",
			  "longest wait for a lifecycle in which a line is not refused"),
	SETTINGS_BOOL("verbs", struct hubo_console_options, verbs, "no",
		      "print which verb is refused in which lifecycle"),
	SETTINGS_END,
};

/* A line for each verb, a column for each lifecycle: yes, no, or off where only switching off is not refused. */
static void print_verbs(void)
{
	printf("%-13s", "verb");
	for (int life = MSG_LIFE_DOWN; life <= MSG_LIFE_STOPPING; life++)
		printf(" %s", msg_life_word((enum msg_life)life));
	putchar('\n');
	for (const struct console_verb *v = console_verbs; v->name; v++) {
		printf("%-13s", v->name);
		for (int life = MSG_LIFE_DOWN; life <= MSG_LIFE_STOPPING; life++)
			printf(" %s", v->in & 1u << life ? "yes" : v->in_off & 1u << life ? "off" : "no");
		putchar('\n');
	}
}

/* ---- a terminal ---- */

static char *prompt(EditLine *edit)
{
	static char text[] = "hubo> ";

	(void)edit;
	return text;
}

/* As much as all words have in common; if that is nothing more, they are listed. */
static unsigned char complete(EditLine *edit, int key)
{
	const LineInfo *info = el_line(edit);
	const size_t len = (size_t)(info->cursor - info->buffer);
	const char *first = console_complete(info->buffer, len, 0), *one;
	size_t begun = 0, same = first ? strlen(first) : 0;
	char more[CONSOLE_LINE_MAX];
	unsigned int n = 0;

	(void)key;
	if (!first)
		return CC_ERROR;
	while (begun < len && info->buffer[len - 1 - begun] != ' ')
		begun++;
	for (; (one = console_complete(info->buffer, len, n)); n++)
		while (strncmp(one, first, same) != 0)
			same--;
	snprintf(more, sizeof(more), "%.*s%s", (int)(same - begun), first + begun, n == 1 ? " " : "");
	if (*more)
		return el_insertstr(edit, more) ? CC_ERROR : CC_REFRESH;
	putchar('\n');
	for (n = 0; (one = console_complete(info->buffer, len, n)); n++)
		printf("%s ", one);
	putchar('\n');
	return CC_REDISPLAY;
}

static int talk(struct console *console)
{
	EditLine *edit = el_init("hubo-console", stdin, stdout, stderr);
	History *past = history_init();
	enum console_end end = CONSOLE_DONE;
	const char *line;
	HistEvent event;
	int n;

	if (!edit || !past)
		return EXIT_RETRY;
	history(past, &event, H_SETSIZE, HISTORY_LINES);
	history(past, &event, H_SETUNIQUE, 1);
	el_set(edit, EL_PROMPT, prompt);
	el_set(edit, EL_EDITOR, "emacs");
	el_set(edit, EL_SIGNAL, 1);
	el_set(edit, EL_HIST, history, past);
	el_set(edit, EL_ADDFN, "hubo-complete", "complete a verb, a joint, a limb or a sensor", complete);
	el_set(edit, EL_BIND, "^I", "hubo-complete", NULL);
	while (end != CONSOLE_ENDS && (line = el_gets(edit, &n)) && n > 0) {
		if (n > 1)
			history(past, &event, H_ENTER, line);
		end = console_run(console, line);
	}
	history_end(past);
	el_end(edit);
	return 0;
}

/* ---- without one ---- */

/* The lines of a script up to the first that fails. */
static int run_script(struct console *console, FILE *from)
{
	enum console_end end = CONSOLE_DONE;
	char line[2 * CONSOLE_LINE_MAX];

	while (end == CONSOLE_DONE && fgets(line, sizeof(line), from)) {
		line[strcspn(line, "\n")] = 0;
		end = console_run(console, line);
	}
	return end == CONSOLE_FAILED ? FAILED : 0;
}

static int run_commands(struct console *console, const struct settings_strings *commands)
{
	enum console_end end = CONSOLE_DONE;

	for (size_t i = 0; i < commands->n && end == CONSOLE_DONE; i++)
		end = console_run(console, commands->item[i]);
	return end == CONSOLE_FAILED ? FAILED : 0;
}

/* Else a person would see a prompt and no robot. */
static void say_if_absent(const struct console *console)
{
	struct msg_joint_state state;
	struct endplate_view view;
	const int status = endplate_state(console->device, &state, sizeof(state), &view);

	if (status)
		fprintf(stderr, "hubo-console: %s: %s: start it with achstart FILE; until then each command fails\n",
			console->name, endplate_strerror(status));
}

static int run(const struct hubo_console_options *options, const char *device)
{
	struct console console = { .name = device, .within_ns = options->within_ns, .out = stdout, .err = stderr };
	int status = endplate_open(&console.robot, options->robot);

	if (!status)
		status = endplate_device_open(console.robot, device, msg_joint_state_number, &console.device);
	if (status) {
		fprintf(stderr, "hubo-console: %s: %s%s%s\n", device, endplate_strerror(status),
			*endplate_errstr() ? ": " : "", endplate_errstr());
		endplate_close(console.robot);
		return EXIT_RETRY;
	}
	if (options->commands.n) {
		status = run_commands(&console, &options->commands);
	} else if (!isatty(STDIN_FILENO)) {
		status = run_script(&console, stdin);
	} else {
		say_if_absent(&console);
		status = talk(&console);
	}
	endplate_close(console.robot);
	return status;
}

int main(int argc, char **argv)
{
	struct hubo_console_options options = { 0 };
	struct options command = { .program = "hubo-console",
				   .about = "a command line for Hubo",
				   .rows = rows,
				   .values = &options,
				   .arguments = "[DEVICE]",
				   .arguments_max = 1,
				   .version = OPTIONS_VERSION };
	int status = options_main(&command, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	if (!options.verbs)
		return run(&options, argc ? argv[0] : "hubo");
	print_verbs();
	return 0;
}
