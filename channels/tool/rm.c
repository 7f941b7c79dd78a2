/* rm.c: ach rm, removes channels.  Programs that have them open go on among themselves. */
#include "channels/ach_file.h"
#include "channels/tool/tool.h"

struct rm {
	bool verbose, orphans;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("verbose", struct rm, verbose, "no", "say what was removed", .letter = 'v'),
	SETTINGS_BOOL("orphans", struct rm, orphans, "no",
		      "remove abandoned memory of yours: killed creators, rm of a file"),
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
		.arguments = "[NAME...]",
		.arguments_max = -1,
	};
	int status = tool_options(&options, &argc, argv);

	if (status != TOOL_GO)
		return status;
	status = 0;
	if (!argc && !rm.orphans)
		return tool_report(TOOL_USAGE, "which channel? give its NAME, or --orphans");
	for (int i = 0; i < argc; i++) {
		enum ach_status removed = ach_unlink(argv[i]);

		if (removed != ACH_OK)
			status = tool_refused(argv[i], removed);
		else if (rm.verbose)
			printf("%s: removed\n", argv[i]);
	}
	if (rm.orphans) {
		int n = ach_orphan_remove(ACH_ORPHAN_AGE_S, true);

		if (rm.verbose)
			printf("abandoned segments and files removed: %d\n", n);
	}
	return status;
}
