/* chmod.c: ach chmod, changes who may read and write channels. */
#include <stdlib.h>
#include <string.h>

#include "channels/tool/tool.h"
#include "config/text.h"

struct chmod {
	bool verbose;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("verbose", struct chmod, verbose, "no", "say what was changed", .letter = 'v'),
	SETTINGS_END,
};

int tool_mode_refused(const char *option, const char *text)
{
	size_t len = strlen(text);
	char quoted[TEXT_QUOTED_MAX];

	if (len >= 1 && len <= 5 && strspn(text, "01234567") == len && strtoul(text, NULL, 8) <= 0777)
		return 0;
	return tool_report(TOOL_USAGE, "%s%s%s is not a mode in octal, 0 to 0777, such as 640", option ? option : "",
			   option ? ": " : "", text_quote(quoted, text));
}

mode_t tool_mode(const char *text)
{
	return (mode_t)strtoul(text, NULL, 8);
}

static int change(const char *name, mode_t mode)
{
	ach_channel_t chan;
	enum ach_status status = ach_open(&chan, name, NULL);

	if (status == ACH_OK) {
		status = ach_chmod(&chan, mode);
		ach_close(&chan);
	}
	return status == ACH_OK ? 0 : tool_refused(name, status);
}

int tool_chmod(int argc, char **argv)
{
	struct chmod line = { 0 };
	struct options options = {
		.program = "ach chmod",
		.about = "changes who may read and write channels; MODE is octal: 640",
		.rows = rows,
		.values = &line,
		.arguments = "MODE NAME...",
		.arguments_min = 2,
		.arguments_max = -1,
	};
	int status = tool_options(&options, &argc, argv);

	if (status != TOOL_GO)
		return status;
	status = tool_mode_refused(NULL, argv[0]);
	if (status)
		return status;
	for (int i = 1; i < argc; i++) {
		int changed = change(argv[i], tool_mode(argv[0]));

		status |= changed;
		if (!changed && line.verbose)
			printf("%s: %04o\n", argv[i], (unsigned)tool_mode(argv[0]));
	}
	return status;
}
