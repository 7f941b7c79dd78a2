/* run_clock.c: which robot's virtual clock a program beside it means. */
#include "config/base/run_clock.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/base/run_record.h"

#define SYSTEM "/run/endplate"

static const char *value_of(const char *variable)
{
	const char *set = getenv(variable);

	return set ? set : "";
}

/* Are the channels of the robot with that clock those that this process opens? */
static bool is_meant(const char *clock)
{
	char run[RUN_PATH_MAX];
	struct run_record record;

	snprintf(run, sizeof(run), "%.*s", (int)(strrchr(clock, '/') - clock), clock);
	return !run_record_read(run, &record, &(struct error_sink){ 0 }) &&
	       !strcmp(record.prefix, value_of("ENDPLATE_PREFIX")) && !strcmp(record.channels, value_of("ACH_DIR"));
}

int run_clock_find(char path[RUN_PATH_MAX])
{
	char user[RUN_PATH_MAX];
	glob_t found = { 0 };
	int n = 0;

	if (*value_of("ENDPLATE_RUN"))
		return run_path(path, "clock", &(struct error_sink){ 0 }) ? -ENOENT : 0;
	snprintf(user, sizeof(user), "%s/endplate/*/clock", value_of("XDG_RUNTIME_DIR"));
	glob(SYSTEM "/*/clock", 0, NULL, &found);
	if (*value_of("XDG_RUNTIME_DIR"))
		glob(user, GLOB_APPEND, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (is_meant(found.gl_pathv[i]) && !n++)
			snprintf(path, RUN_PATH_MAX, "%s", found.gl_pathv[i]);
	globfree(&found);
	return n == 1 ? 0 : -ENOENT;
}
