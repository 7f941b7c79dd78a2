/* run_clock.c: which robot's virtual clock a program beside it means. */
#include "config/base/run_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/base/run_record.h"

static const char *value_of(const char *variable)
{
	const char *set = getenv(variable);

	return set ? set : "";
}

/* Are the channels of that robot those that this process opens? */
static bool is_meant(const char *run)
{
	struct run_record record;

	return !run_record_read(run, &record, &(struct error_sink){ 0 }) &&
	       !strcmp(record.prefix, value_of("ENDPLATE_PREFIX")) && !strcmp(record.channels, value_of("ACH_DIR"));
}

int run_clock_find(char path[RUN_PATH_MAX])
{
	glob_t folders;
	int n = 0;

	if (*value_of("ENDPLATE_RUN"))
		return run_path(path, "clock", &(struct error_sink){ 0 }) ? -ENOENT : 0;
	run_list(&folders, "clock", true);
	for (size_t i = 0; i < folders.gl_pathc; i++)
		if (is_meant(folders.gl_pathv[i]) && !n++)
			snprintf(path, RUN_PATH_MAX, "%s/clock", folders.gl_pathv[i]);
	globfree(&folders);
	return n == 1 ? 0 : -ENOENT;
}
