/* dump.c: ach dump, the words of a channel's memory as they are. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "channels/tool/tool.h"

struct dump {
	bool verbose;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("verbose", struct dump, verbose, "no", "for old scripts; changes nothing", .letter = 'v'),
	SETTINGS_END,
};

int tool_dump(int argc, char **argv)
{
	struct dump dump = { 0 };
	struct options options = {
		.program = "ach dump",
		.about = "prints the state of a channel's memory, for those who know how channels work",
		.rows = rows,
		.values = &dump,
		.arguments = "NAME",
		.arguments_min = 1,
		.arguments_max = 1,
	};
	int status = tool_options(&options, &argc, argv);
	ach_channel_t chan;

	if (status != TOOL_GO)
		return status;
	if (tool_open(&chan, argv[0], NULL))
		return TOOL_FAILED;
	/* ach_dump speaks to stderr; here it is what was asked for. */
	if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		status = tool_fail("no standard output: %s", strerror(errno));
	else
		ach_dump(chan.shm);
	ach_close(&chan);
	return status == TOOL_GO ? 0 : status;
}
