/* ctl_env.c: achctl env: the variables by which other programs find the robot. */
#include "launch/achctl/ctl.h"

static const char *const names[] = { "ENDPLATE_RUN", "ENDPLATE_PREFIX", "ACH_DIR" };
#define NAMES (sizeof(names) / sizeof(*names))

/* In single quotes. */
static void print_export(const char *name, const char *value)
{
	printf("export %s='", name);
	for (; *value; value++)
		if (*value == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*value);
	puts("'");
}

int ctl_env(const struct ctl_line *line)
{
	char path[RUN_PATH_MAX];
	struct lines lines;
	struct json j;

	if (run_path(path, NULL, lines_begin(&lines)))
		return ctl_fail(line, EXIT_RETRY, "%s", lines.text);
	setenv("ENDPLATE_RUN", path, 1);
	if (ctl_json(line, &j)) {
		for (size_t i = 0; i < NAMES; i++)
			json_text(&j, names[i], getenv(names[i]) ? getenv(names[i]) : "");
		return ctl_json_end(&j);
	}
	for (size_t i = 0; i < NAMES; i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			print_export(names[i], value);
		else
			printf("unset %s\n", names[i]);
	}
	return 0;
}
