/* file.c: ach file, where a channel's file is or would be. */
#include "channels/ach_file.h"
#include "channels/tool/tool.h"

struct file {
	bool verbose;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("verbose", struct file, verbose, "no", "for old scripts; changes nothing", .letter = 'v'),
	SETTINGS_END,
};

int tool_file(int argc, char **argv)
{
	struct file file = { 0 };
	struct options options = {
		.program = "ach file",
		.about = "prints the path of a channel's file, whether the channel exists or not",
		.rows = rows,
		.values = &file,
		.arguments = "NAME",
		.arguments_min = 1,
		.arguments_max = 1,
	};
	int status = tool_options(&options, &argc, argv);
	char path[ACH_FILE_PATH_LEN];

	if (status != TOOL_GO)
		return status;
	if (ach_file_check_name(argv[0]) != ACH_OK)
		return tool_fail("%s", ach_errstr());
	ach_file_channel_path(path, argv[0]);
	puts(path);
	return 0;
}
