/* options_help.c: what --help, --version and --settings print. */
#include "config/settings/options.h"
#include "config/settings/settings_value.h"

#define INDENT 2
#define HELP_AT_MAX 34 /* longer options get a line of their own */

/* "--hz N", "-n, --size BYTES" */
static void spelling(const struct settings_row *row, char *text, size_t size)
{
	bool flag = row->type == SETTINGS_IS_BOOL;
	const char letter[] = { '-', row->letter, ',', ' ', '\0' };
	const char *value = row->value ? row->value : "VALUE";

	snprintf(text, size, "%s--%s%s%s", row->letter ? letter : "", row->key, flag ? "" : " ", flag ? "" : value);
}

/* "messages a second (0.1 to 1000 Hz; default 10)" */
static void explain(const struct settings_row *row, char *text, size_t size)
{
	bool flag = row->type == SETTINGS_IS_BOOL, preset = row->preset && *row->preset && !flag;
	char range[SETTINGS_TEXT_MAX] = "", more[SETTINGS_TEXT_MAX] = "";
	const char *unit = row->unit;

	if (!flag)
		settings_value_range(row, range, sizeof(range));
	if (!*range || row->type == SETTINGS_IS_DURATION)
		unit = "";
	if (row->preset == SETTINGS_REQUIRED)
		snprintf(more, sizeof(more), "required");
	else if (row->type == SETTINGS_IS_STRINGS)
		snprintf(more, sizeof(more), "may be repeated");
	else if (preset)
		snprintf(more, sizeof(more), "default %s", row->preset);
	snprintf(text, size, "%s%s%s%s%s%s%s%s", row->help, *range || *more ? " (" : "", range, *unit ? " " : "", unit,
		 *range && *more ? "; " : "", more, *range || *more ? ")" : "");
}

static void print_row(const struct settings_row *row, FILE *to, int column)
{
	char text[4 * SETTINGS_TEXT_MAX];
	int at;

	spelling(row, text, sizeof(text));
	at = fprintf(to, "%*s%s", INDENT, "", text);
	wrap_pad(to, &at, column);
	explain(row, text, sizeof(text));
	wrap_text(to, text, at, column);
}

static int help_column(const struct settings_row *row)
{
	char text[SETTINGS_TEXT_MAX];
	int widest = (int)strlen("--settings");

	for (; row->key; row++) {
		int width;

		spelling(row, text, sizeof(text));
		width = (int)strlen(text);
		if (width > widest && width + INDENT + WRAP_GAP <= HELP_AT_MAX)
			widest = width;
	}
	return INDENT + widest + WRAP_GAP;
}

static void print_help(const struct options *options, FILE *to)
{
	const struct settings_row always[] = {
		{ .key = "settings", .unit = "", .help = "list the settings that --set and the robot file take" },
		{ .key = "help", .unit = "", .help = "print this help" },
		{ .key = "version", .unit = "", .help = "print the version" },
	};
	int column = help_column(options->rows);
	bool any = options->rows->key;

	fprintf(to, "usage: %s%s%s%s\n", options->program, any ? " [OPTION...]" : "", options->arguments ? " " : "",
		options->arguments ? options->arguments : "");
	fprintf(to, "%s: %s\n\n", options->program, options->about);
	for (const struct settings_row *row = options->rows; row->key; row++)
		print_row(row, to, column);
	for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
		if ((i != 0 || options->settings) && (i != 2 || options->version))
			print_row(&always[i], to, column);
	if (options->notes)
		fprintf(to, "\n%s", options->notes);
}

void options_answer(const struct options *options, FILE *to)
{
	struct error_sink ignored = { 0 };

	if (!strcmp(options->answer, "version")) {
		fprintf(to, "%s %s\n", options->program, options->version);
	} else if (!strcmp(options->answer, "settings")) {
		settings_defaults(options->settings, &ignored);
		settings_print(options->settings, to);
	} else {
		print_help(options, to);
	}
}

int options_main(struct options *options, int *argc, char **argv)
{
	const enum options_outcome outcome =
		options_read(options, argc, argv, &(struct error_sink){ error_to_stderr, NULL, 0 });

	if (outcome != OPTIONS_ANSWER)
		return outcome == OPTIONS_GO ? OPTIONS_RUN : EXIT_WRONG;
	options_answer(options, stdout);
	return 0;
}
