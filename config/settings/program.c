/* program.c: see program.h. */
#include <ctype.h>

#include "config/settings/program.h"

const char *program_name = "endplate";
void (*program_before_line)(void);

/* ---- lines ---- */

int program_report(int status, const char *fmt, ...)
{
	char what[ERROR_LINE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	if (program_before_line)
		program_before_line();
	fflush(stdout); /* in the order in which it was said, where both go to one place */
	error_say(program_name, NULL, ERROR_PLAIN, "%s", what);
	return status;
}

static void sink_line(void *to, const char *line)
{
	(void)to;
	program_say("%s", line);
}

struct error_sink program_errors = { .line = sink_line };

/* ---- the command line ---- */

int program_options(struct options *options, int *argc, char **argv)
{
	program_name = options->program;
	return options_main(options, argc, argv);
}

int program_time(const char *option, const char *text, bool zero, int64_t *ns)
{
	char with_unit[64], quoted[TEXT_QUOTED_MAX];
	const char *unit = "";
	size_t len;
	int64_t value;

	if (!text)
		return 0;
	len = strlen(text);
	if (len && (isdigit((unsigned char)text[len - 1]) || text[len - 1] == '.'))
		unit = "s";
	else if (len > 1 && text[len - 1] == 'm' && isdigit((unsigned char)text[len - 2]))
		unit = "in";
	snprintf(with_unit, sizeof(with_unit), "%s%s", text, unit);
	if (text_duration(with_unit, &value) || value < 0 || (!value && !zero))
		return program_wrong("%s: %s is not a time such as 10s or 5min", option, text_quote(quoted, text));
	*ns = value;
	return 0;
}

int program_size(const char *option, const char *text, int64_t *bytes)
{
	static const char letters[] = "kMG";
	char digits[32], quoted[TEXT_QUOTED_MAX];
	size_t len;
	const char *letter;
	int64_t value, unit = 1;

	if (!text)
		return 0;
	len = strlen(text);
	letter = len ? strchr(letters, text[len - 1]) : NULL;
	for (const char *l = letters; letter && l <= letter; l++)
		unit *= 1000;
	snprintf(digits, sizeof(digits), "%.*s", (int)(len - (letter ? 1 : 0)), text);
	if (!isdigit((unsigned char)*digits) || text_int(digits, &value) || value <= 0 || value > INT64_MAX / unit)
		return program_wrong("%s: %s is not a number of bytes such as 100M", option, text_quote(quoted, text));
	*bytes = value * unit;
	return 0;
}
