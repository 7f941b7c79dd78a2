/* launch_path.c: where the launch file of a name is. */
#include "launch/file/launch_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/base/text.h"

#define SUFFIX ".launch"
#define PROGRAMS "/bin"
#define INSTALLED "/share/endplate/launch/"

/* Whatever else is wrong with it is found when it is opened: the search does not go on behind it. */
static bool is_there(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return errno != ENOENT && errno != ENOTDIR;
	return stat(path, &st) || !S_ISDIR(st.st_mode);
}

/* No other user can change what it is. */
static bool is_roots(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !st.st_uid && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static bool is_safe(const char *here, const char *within, const char *path)
{
	char folder[LAUNCH_FIND_MAX];

	if (snprintf(folder, sizeof(folder), "%s./%s", here, within) >= (int)sizeof(folder))
		return false;
	/* A folder of root in that of another user is that user's choice. */
	if (!is_roots(folder) || !is_roots(path))
		return false;
	folder[strlen(here) + 1] = '\0';
	return is_roots(folder);
}

int launch_path_in(char path[LAUNCH_FIND_MAX], const char *name, const struct launch_places *places,
		   struct error_sink *errors)
{
	const char *suffix = text_ends_with(name, SUFFIX) ? "" : SUFFIX;
	const struct {
		const char *folder, *within, *suffix;
	} rows[] = { { places->here, "", suffix },
		     { *suffix ? places->here : NULL, "", "" },
		     { places->here, "launch/", suffix },
		     { places->installed, "", suffix } };
	char tried[4 * LAUNCH_FIND_MAX] = "", quoted[TEXT_QUOTED_MAX];

	text_quote(quoted, name);
	if (strchr(name, '/')) {
		if (snprintf(path, LAUNCH_FIND_MAX, "%s", name) < LAUNCH_FIND_MAX)
			return 0;
		return error_refuse(errors, -ENAMETOOLONG, "%s: %s", quoted, strerror(ENAMETOOLONG));
	}
	for (size_t i = 0; *name && i < sizeof(rows) / sizeof(*rows); i++) {
		const size_t len = strlen(tried);

		if (!rows[i].folder)
			continue;
		if (snprintf(path, LAUNCH_FIND_MAX, "%s%s%s%s", rows[i].folder, rows[i].within, name, rows[i].suffix) >=
		    LAUNCH_FIND_MAX)
			return error_refuse(errors, -ENAMETOOLONG, "%s: %s", quoted, strerror(ENAMETOOLONG));
		if (!is_there(path)) {
			snprintf(tried + len, sizeof(tried) - len, "%s%s", len ? ", " : "; looked for ", path);
			continue;
		}
		if (!places->careful || rows[i].folder == places->installed ||
		    is_safe(rows[i].folder, rows[i].within, path))
			return 0;
		return error_refuse(errors, -EPERM,
				    "%s: another user than root can change it: to run it as root write ./%s", path,
				    path);
	}
	return error_refuse(errors, -ENOENT, "there is no launch file %s%s", quoted, tried);
}

const char *launch_installed(char folder[LAUNCH_FIND_MAX], const char *program)
{
	const ssize_t len = readlink(program, folder, LAUNCH_FIND_MAX - sizeof(INSTALLED));
	char *slash;

	folder[len > 0 ? len : 0] = '\0';
	slash = strrchr(folder, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	if (!text_ends_with(folder, PROGRAMS))
		return NULL;
	strcpy(strrchr(folder, '/'), INSTALLED);
	return folder;
}

int launch_path(char path[LAUNCH_FIND_MAX], const char *name, struct error_sink *errors)
{
	char folder[LAUNCH_FIND_MAX];
	const struct launch_places places = { "", launch_installed(folder, "/proc/self/exe"), geteuid() == 0 };

	return launch_path_in(path, name, &places, errors);
}
