/* tool.c: what the commands of ach(1) share. */
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ach_file.h"
#include "channels/tool/tool.h"
#include "config/nearest.h"
#include "config/owned.h"
#include "config/run.h"
#include "config/text.h"

const char *tool_name;
void (*tool_before_line)(void);

int tool_report(int status, const char *fmt, ...)
{
	char program[32], what[ERROR_LINE_MAX];
	va_list args;

	snprintf(program, sizeof(program), "ach%s%s", tool_name ? " " : "", tool_name ? tool_name : "");
	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	if (tool_before_line)
		tool_before_line();
	fflush(stdout); /* in the order in which it was said, where both go to one place */
	error_say(program, NULL, ERROR_PLAIN, "%s", what);
	return status;
}

/* ---- channels ---- */

void tool_owner(char text[TOOL_OWNER_MAX], uid_t uid, gid_t gid)
{
	struct passwd *user = getpwuid(uid);
	struct group *group = getgrgid(gid);
	char uids[16], gids[16];

	snprintf(uids, sizeof(uids), "%u", (unsigned)uid);
	snprintf(gids, sizeof(gids), "%u", (unsigned)gid);
	snprintf(text, TOOL_OWNER_MAX, "%.32s:%.32s", user ? user->pw_name : uids, group ? group->gr_name : gids);
}

/* The channel that name probably means: the same name behind a robot's prefix, or with a slip. */
static const char *similar_channel(const char *name, char found[ACH_CHAN_NAME_MAX])
{
	const char *prefix = getenv("ENDPLATE_PREFIX"), *nearest = NULL, *other;
	char expected[ACH_CHAN_NAME_MAX], near[ACH_CHAN_NAME_MAX];
	DIR *folder = ach_file_list();

	*found = '\0';
	snprintf(expected, sizeof(expected), "%s%s", prefix ? prefix : "", name);
	while (folder && (other = ach_file_next(folder))) {
		const char *nearer = nearest;

		if (!strcmp(other, expected) || (!*found && text_ends_with(other, name)))
			snprintf(found, ACH_CHAN_NAME_MAX, "%s", other);
		nearest_try(name, other, &nearer);
		if (nearer != nearest) {
			snprintf(near, sizeof(near), "%s", other);
			nearest = near;
		}
	}
	if (folder)
		closedir(folder);
	if (!*found && nearest)
		snprintf(found, ACH_CHAN_NAME_MAX, "%s", nearest);
	return *found ? found : NULL;
}

/* The folder of the channels of the robot that achstart runs, as $RUN/robot has it.  false: unknown, or the default. */
static bool robot_folder(char path[RUN_PATH_MAX])
{
	struct error_sink quiet = { 0 };
	char text[2 * RUN_PATH_MAX];
	const char *line = NULL, key[] = "\nchannels ";
	int folder = run_open(&quiet);

	if (folder >= 0) {
		if (owned_read(folder, "robot", text, sizeof(text), &quiet) > 0)
			line = strstr(text, key);
		close(folder);
	}
	if (!line)
		return false;
	line += strlen(key);
	return snprintf(path, RUN_PATH_MAX, "%.*s", (int)strcspn(line, "\n"), line) > 0;
}

static int no_such_channel(const char *name)
{
	const char *here = getenv("ACH_DIR"), *best;
	char found[ACH_CHAN_NAME_MAX], path[RUN_PATH_MAX];

	best = similar_channel(name, found);
	if (best)
		return tool_fail("%s: no such channel; did you mean %s? (ach ls lists those there are)", name, best);
	if (!here && robot_folder(path) && !setenv("ACH_DIR", path, 1)) {
		best = similar_channel(name, found);
		unsetenv("ACH_DIR");
		if (best)
			return tool_fail("%s: no such channel; the robot has its channels in another folder: "
					 "ACH_DIR=%s ach %s %s",
					 name, path, tool_name, best);
	}
	return tool_fail("%s: no such channel (ach ls lists those there are)", name);
}

/* As far as it can be known: without permission to read, that of the plate. */
static mode_t channel_mode(const char *name, const struct stat *plate)
{
	ach_channel_t chan;
	mode_t mode = plate->st_mode & 0777;

	if (ach_open(&chan, name, NULL) == ACH_OK) {
		mode = ach_memory_mode(chan.handle);
		ach_close(&chan);
	}
	return mode;
}

static int no_permission(const char *name)
{
	char path[ACH_FILE_PATH_LEN], owner[TOOL_OWNER_MAX];
	struct stat st;

	ach_file_channel_path(path, name);
	if (stat(path, &st))
		return tool_fail("%s: permission denied", name);
	tool_owner(owner, st.st_uid, st.st_gid);
	return tool_fail("%s: permission denied: the channel is %04o %s", name, (unsigned)channel_mode(name, &st),
			 owner);
}

int tool_refused(const char *name, enum ach_status status)
{
	switch (status) {
	case ACH_ENOENT:
		return no_such_channel(name);
	case ACH_EACCES:
		return no_permission(name);
	default:
		if (*ach_errstr() && strstr(ach_errstr(), name))
			return tool_fail("%s", ach_errstr());
		return tool_fail("%s: %s", name, *ach_errstr() ? ach_errstr() : ach_result_to_string(status));
	}
}

int tool_open(ach_channel_t *chan, const char *name)
{
	enum ach_status status = ach_open(chan, name, NULL);

	return status == ACH_OK ? 0 : tool_refused(name, status);
}

/* ---- the terminal ---- */

bool tool_is_terminal(FILE *to)
{
	return isatty(fileno(to));
}

bool tool_colour(FILE *to)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return tool_is_terminal(to) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

/* ---- the end ---- */

/* Looks without taking, so that the descriptor stays readable. */
bool tool_stopped(void)
{
	sigset_t pending;

	return !sigpending(&pending) && (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1);
}
