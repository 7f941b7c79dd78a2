/* wire_control.c: canwire stats, canwire fault, canwire link: questions to the canwire that serves a bus. */
#include <stdio.h>
#include <string.h>

#include "can/tool/program.h"
#include "can/tool/wire.h"
#include "can/wire/attach.h"
#include "config/json.h"

static char answer[ATTACH_ANSWER_MAX];

static int ask(const char *bus, const char *question)
{
	struct error_sink errors = program_errors();

	return attach_question(bus, question, answer, sizeof(answer), &errors) ? PROGRAM_FAILED : 0;
}

/* "fault", and the words behind the bus. */
static int ask_words(const char *verb, int argc, char **argv)
{
	char question[1024];
	size_t len = (size_t)snprintf(question, sizeof(question), "%s", verb);

	for (int i = 1; i < argc && len < sizeof(question); i++)
		len += (size_t)snprintf(question + len, sizeof(question) - len, " %s", argv[i]);
	if (len >= sizeof(question))
		return program_wrong("that is too long");
	return ask(argv[0], question);
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

int wire_stats(const struct wire_options *w, int argc, char **argv)
{
	int status = ask(argv[0], "stats");

	(void)argc;
	if (!status)
		(w->json ? print_json : print_table)(answer);
	return status;
}

/* ---- fault, link ---- */

int wire_fault(const struct wire_options *w, int argc, char **argv)
{
	(void)w;
	return ask_words("fault", argc, argv);
}

int wire_link(const struct wire_options *w, int argc, char **argv)
{
	char host[] = ATTACH_HOST, *with_host[] = { argv[0], argv[1], host };
	int status = argc == 2 ? ask_words("link", 3, with_host) : ask_words("link", argc, argv);

	(void)w;
	if (!status && *answer)
		puts(answer);
	return status;
}
