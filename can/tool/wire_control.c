/* wire_control.c: canwire stats, canwire fault, canwire link: questions to the canwire that serves a bus. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "can/tool/program.h"
#include "can/tool/wire.h"
#include "can/wire/attach.h"
#include "can/wire/fault.h"
#include "config/json.h"

struct wire_control {
	const char *robot;
	bool json;
};

static const struct settings_row rows[] = {
	SETTINGS_STRING("robot", struct wire_control, robot, NULL, "whose bus it is", .value = "R"),
	SETTINGS_END,
};

static const struct settings_row stats_rows[] = {
	SETTINGS_BOOL("json", struct wire_control, json, "no", "as JSON"),
	SETTINGS_STRING("robot", struct wire_control, robot, NULL, "whose bus it is", .value = "R"),
	SETTINGS_END,
};

static char answer[ATTACH_ANSWER_MAX];

static int ask(const struct wire_control *w, const char *bus, const char *question)
{
	struct error_sink errors = program_errors();

	if (program_robot(w->robot))
		return PROGRAM_WRONG;
	return attach_question(bus, question, answer, sizeof(answer), &errors) ? PROGRAM_FAILED : 0;
}

/* "fault", and the words behind the bus. */
static int ask_words(const struct wire_control *w, const char *verb, int argc, char **argv)
{
	char question[1024];
	size_t len = (size_t)snprintf(question, sizeof(question), "%s", verb);

	for (int i = 1; i < argc && len < sizeof(question); i++)
		len += (size_t)snprintf(question + len, sizeof(question) - len, " %s", argv[i]);
	if (len >= sizeof(question))
		return program_wrong("that is too long");
	return ask(w, argv[0], question);
}

/* ---- stats ---- */

static void write_value(struct json *j, const char *key, const char *value)
{
	if (value[strspn(value, "0123456789.")])
		json_text(j, key, value);
	else
		json_raw(j, key, value);
}

/* Each line is an object: its kind says in which list, then name and value by turns. */
static void print_json(char *text)
{
	struct json j = json_to(stdout);
	const char *list = NULL;
	char *save = NULL;

	json_object(&j, NULL);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *words = NULL, lists[32];
		const char *kind = strtok_r(line, " ", &words), *key;

		if (list && strcmp(list, kind) != 0)
			json_end(&j);
		snprintf(lists, sizeof(lists), "%ss", kind);
		if (!strcmp(kind, "bus")) {
			json_object(&j, "bus");
		} else {
			if (!list || strcmp(list, kind) != 0)
				json_array(&j, lists);
			json_object(&j, NULL);
			list = kind;
		}
		write_value(&j, strcmp(kind, "program") ? "name" : "pid", strtok_r(NULL, " ", &words));
		while ((key = strtok_r(NULL, " ", &words)))
			write_value(&j, key, strtok_r(NULL, " ", &words));
		json_end(&j);
	}
	while (j.depth)
		json_end(&j);
	putchar('\n');
}

/* For people: the name, then what is not 0, as many to a line as fit. */
static void print_table(char *text)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *words = NULL;
		const char *kind = strtok_r(line, " ", &words), *name = strtok_r(NULL, " ", &words), *key, *value;
		bool first = true;
		int column = printf("%s%s %s:", strcmp(kind, "bus") ? "  " : "", kind, name);

		while ((key = strtok_r(NULL, " ", &words)) && (value = strtok_r(NULL, " ", &words))) {
			char pair[80];
			int n;

			if (!strcmp(value, "0") && strcmp(key, "frames") && strcmp(key, "power") &&
			    strcmp(key, "connected"))
				continue;
			if ((!strcmp(key, "power") || !strcmp(key, "connected")) && !strcmp(value, "1"))
				continue;
			if (!strcmp(key, "state"))
				n = snprintf(pair, sizeof(pair), " %s", value);
			else
				n = snprintf(pair, sizeof(pair), " %s %s", key, value);
			if (column + n > 79)
				column = printf(",\n     ") - 2;
			else if (!first)
				column += printf(",");
			column += printf("%s", pair);
			first = false;
		}
		putchar('\n');
	}
}

int wire_stats(int argc, char **argv)
{
	struct wire_control w = { 0 };
	struct options options = { .program = "canwire stats",
				   .about = "Shows load, errors, controllers and programs of a bus.",
				   .rows = stats_rows,
				   .values = &w,
				   .arguments = "BUS",
				   .arguments_min = 1,
				   .arguments_max = 1 };
	int status = program_options(&options, &argc, argv);

	if (status != PROGRAM_GO)
		return status;
	status = ask(&w, argv[0], "stats");
	if (!status)
		(w.json ? print_json : print_table)(answer);
	return status;
}

/* ---- fault, link ---- */

int wire_fault(int argc, char **argv)
{
	struct wire_control w = { 0 };
	struct options options = { .program = "canwire fault",
				   .about = "Breaks something on a bus, or mends it.",
				   .rows = rows,
				   .values = &w,
				   .arguments = "BUS WORD...",
				   .arguments_min = 2,
				   .arguments_max = -1,
				   .notes = fault_help };
	int status = program_options(&options, &argc, argv);

	return status == PROGRAM_GO ? ask_words(&w, "fault", argc, argv) : status;
}

int wire_link(int argc, char **argv)
{
	struct wire_control w = { 0 };
	struct options options = { .program = "canwire link",
				   .about = "Controls a controller on a bus, as the owner of the link does.",
				   .rows = rows,
				   .values = &w,
				   .arguments = "BUS up|down|reset|restart|look|set [CONTROLLER] ...",
				   .arguments_min = 2,
				   .arguments_max = 5,
				   .notes = "The controller is " ATTACH_HOST " unless another is named.\n"
					    "set takes a controller, restart_ms or queue, and a number.\n" };
	char host[] = ATTACH_HOST, *with_host[4];
	int status = program_options(&options, &argc, argv);

	if (status != PROGRAM_GO)
		return status;
	if (argc == 2) {
		memcpy(with_host, (char *[]){ argv[0], argv[1], host, NULL }, sizeof(with_host));
		argv = with_host;
		argc = 3;
	}
	status = ask_words(&w, "link", argc, argv);
	if (!status && *answer)
		puts(answer);
	return status;
}
