/* rm.c: ach rm, removes channels.  Programs that have them open go on among themselves. */
#include "channels/tool/tool.h"

struct rm {
	bool verbose;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("verbose", struct rm, verbose, "no", "say what was removed", .letter = 'v'),
	SETTINGS_END,
};

int tool_rm(int argc, char **argv)
{
	struct rm rm = { 0 };
	struct options options = {
		.program = "ach rm",
		.about = "removes channels; programs that have them open keep what they have",
		.rows = rows,
		.values = &rm,
		.arguments = "NAME...",
		.arguments_min = 1,
		.arguments_max = -1,
	};
	int status = tool_options(&options, &argc, argv);

	if (status != TOOL_GO)
		return status;
	status = 0;
	for (int i = 0; i < argc; i++) {
		enum ach_status removed = ach_unlink(argv[i]);

		if (removed != ACH_OK)
			status = tool_refused(argv[i], removed);
		else if (rm.verbose)
			printf("%s: removed\n", argv[i]);
	}
	return status;
}
