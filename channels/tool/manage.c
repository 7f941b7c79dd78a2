/* manage.c: ach rm, chmod, dump and file: a channel's name, mode and memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "channels/tool/tool.h"
#include "config/base/text.h"

struct manage {
	bool verbose, orphans;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("orphans", struct manage, orphans, "no",
		      "remove abandoned memory of yours: killed creators, rm of a file"),
	SETTINGS_BOOL("verbose", struct manage, verbose, "no", "say what was done", .letter = 'v'),
	SETTINGS_END,
};
#define VERBOSE_ROWS (rows + 1) /* of the other commands */

/* ---- rm: programs that have the channel open go on among themselves ---- */

static int run_rm(void *values, int argc, char **argv)
{
	const struct manage *rm = values;
	int status = 0;

	if (!argc && !rm->orphans)
		return program_report(TOOL_USAGE, "which channel? give its NAME, or --orphans");
	for (int i = 0; i < argc; i++) {
		enum ach_status removed = ach_unlink(argv[i]);

		if (removed != ACH_OK)
			status = chan_refused(argv[i], removed);
		else if (rm->verbose)
			printf("%s: removed\n", argv[i]);
	}
	if (rm->orphans) {
		int n = ach_orphan_remove(ACH_ORPHAN_AGE_S, true);

		if (rm->verbose)
			printf("abandoned segments and files removed: %d\n", n);
	}
	return status;
}

TOOL_COMMAND(rm, run_rm, rows, struct manage, "[NAME...]", 0, -1,
	     "removes channels; programs that have them open keep what they have", NULL);

/* ---- chmod ---- */

int tool_mode_refused(const char *option, const char *text)
{
	size_t len = strlen(text);
	char quoted[TEXT_QUOTED_MAX];

	if (len >= 1 && len <= 5 && strspn(text, "01234567") == len && tool_mode(text) <= 0777)
		return 0;
	return program_report(TOOL_USAGE, "%s%s is not a mode in octal, 0 to 0777, such as 640", option,
			      text_quote(quoted, text));
}

mode_t tool_mode(const char *text)
{
	return (mode_t)strtoul(text, NULL, 8);
}

static int run_chmod(void *values, int argc, char **argv)
{
	const struct manage *line = values;
	int status = tool_mode_refused("", argv[0]);

	if (status)
		return status;
	for (int i = 1; i < argc; i++) {
		ach_channel_t chan;
		enum ach_status changed = ach_open(&chan, argv[i], NULL);

		if (changed == ACH_OK) {
			changed = ach_chmod(&chan, tool_mode(argv[0]));
			ach_close(&chan);
		}
		if (changed != ACH_OK)
			status = chan_refused(argv[i], changed);
		else if (line->verbose)
			printf("%s: %04o\n", argv[i], (unsigned)tool_mode(argv[0]));
	}
	return status;
}

TOOL_COMMAND(chmod, run_chmod, VERBOSE_ROWS, struct manage, "MODE NAME...", 2, -1,
	     "changes who may read and write channels; MODE is octal: 640", NULL);

/* ---- dump: the words of a channel's memory as they are ---- */

static int run_dump(void *values, int argc, char **argv)
{
	ach_channel_t chan;
	int status = 0;

	(void)values;
	(void)argc;
	if (chan_open(&chan, argv[0]))
		return TOOL_FAILED;
	/* ach_dump speaks to stderr; here it is what was asked for. */
	if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		status = tool_fail("no standard output: %s", strerror(errno));
	else
		ach_dump(chan.shm);
	ach_close(&chan);
	return status;
}

TOOL_COMMAND(dump, run_dump, VERBOSE_ROWS, struct manage, "NAME", 1, 1,
	     "prints the state of a channel's memory, for those who know how channels work", NULL);

/* ---- file ---- */

static int run_file(void *values, int argc, char **argv)
{
	char path[ACH_FILE_PATH_LEN];

	(void)values;
	(void)argc;
	if (ach_file_check_name(argv[0]) != ACH_OK)
		return tool_fail("%s", ach_errstr());
	ach_file_channel_path(path, argv[0]);
	puts(path);
	return 0;
}

TOOL_COMMAND(file, run_file, VERBOSE_ROWS, struct manage, "NAME", 1, 1,
	     "prints the path of a channel's file, whether the channel exists or not", NULL);
