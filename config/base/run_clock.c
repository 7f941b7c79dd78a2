/* run_clock.c: which robot's virtual clock a program beside it means. */
#include "config/base/run_clock.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/base/safe_path.h"

#define SYSTEM "/run/endplate"
#define TEXT_MAX 2048

static const char *value_of(const char *variable)
{
	const char *set = getenv(variable);

	return set ? set : "";
}

/* Does RUN/robot (channels/client/folder.h) say that its channels are those that this process opens? */
static bool is_meant(const char *clock)
{
	char folder[RUN_PATH_MAX], text[TEXT_MAX], wanted[TEXT_MAX];
	struct error_sink quiet = { 0 };
	int fd, len;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(clock, '/') - clock), clock);
	fd = safe_path_open(folder, &quiet);
	if (fd < 0)
		return false;
	len = safe_path_read(fd, "robot", text, sizeof(text), &quiet);
	close(fd);
	snprintf(wanted, sizeof(wanted), "\nprefix %s\nchannels %s\nend\n", value_of("ENDPLATE_PREFIX"),
		 value_of("ACH_DIR"));
	return len > 0 && strstr(text, wanted);
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
