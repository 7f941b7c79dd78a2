/* run.c: the folder in which the parts of one robot meet. */
#include "config/base/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/base/safe_path.h"
#include "config/base/text.h"

static char robot_name[TEXT_NAME_MAX + 1] = "robot";

int run_robot(const char *robot)
{
	char path[RUN_PATH_MAX];
	struct error_sink quiet = { 0 };

	if (!text_is_name(robot))
		return -EINVAL;
	strcpy(robot_name, robot);
	/* Programs started from here hear of it in the environment. */
	if (getenv("ENDPLATE_RUN") || run_path(path, NULL, &quiet))
		return 0;
	return setenv("ENDPLATE_RUN", path, 1) ? -errno : 0;
}

int run_path(char path[RUN_PATH_MAX], const char *rest, struct error_sink *errors)
{
	const char *set = getenv("ENDPLATE_RUN"), *user = getenv("XDG_RUNTIME_DIR");
	const char *slash = rest ? "/" : "";
	char quoted[TEXT_QUOTED_MAX];
	int n;

	rest = rest ? rest : "";
	if (set && *set)
		n = snprintf(path, RUN_PATH_MAX, "%s%s%s", set, slash, rest);
	else if (geteuid() == 0)
		n = snprintf(path, RUN_PATH_MAX, RUN_SYSTEM "/%s%s%s", robot_name, slash, rest);
	else if (user && *user)
		n = snprintf(path, RUN_PATH_MAX, "%s/endplate/%s%s%s", user, robot_name, slash, rest);
	else
		return error_refuse(errors, -ENOENT,
				    "neither ENDPLATE_RUN nor XDG_RUNTIME_DIR is set: "
				    "export ENDPLATE_RUN=/some/folder of your own");
	if (n < RUN_PATH_MAX)
		return 0;
	return error_refuse(errors, -ENAMETOOLONG, "the path of %s is too long: set ENDPLATE_RUN to a shorter one",
			    text_quote(quoted, rest));
}

void run_list(glob_t *folders, const char *what, bool users)
{
	const char *user = getenv("XDG_RUNTIME_DIR");
	char pattern[2 * RUN_PATH_MAX];
	struct text_out path = text_out(pattern, sizeof(pattern));

	*folders = (glob_t){ 0 };
	snprintf(pattern, sizeof(pattern), RUN_SYSTEM "/*/%s", what);
	glob(pattern, 0, NULL, folders);
	if (users && user && *user) {
		for (; *user; user++) /* which may have a [ in it */
			text_add(&path, "%s%c", strchr("*?[]\\", *user) ? "\\" : "", *user);
		text_add(&path, "/endplate/*/%s", what);
		glob(pattern, GLOB_APPEND, NULL, folders);
	}
	for (size_t i = 0; i < folders->gl_pathc; i++)
		*strrchr(folders->gl_pathv[i], '/') = 0;
}

int run_folder(const char *name, struct error_sink *errors)
{
	char path[RUN_PATH_MAX];
	int folder, in, r = run_path(path, NULL, errors);

	if (r)
		return r;
	folder = safe_path_folder(path, 0700, errors);
	if (folder < 0 || !name || !*name)
		return folder;
	in = safe_path_folder_in(folder, name, strcmp(name, "log") ? 0700 : 0750, errors);
	close(folder);
	return in;
}

int run_open(struct error_sink *errors)
{
	char path[RUN_PATH_MAX];
	const int r = run_path(path, NULL, errors);

	return r ? r : safe_path_open(path, errors);
}

uid_t run_owner(void)
{
	const int run = run_open(&(struct error_sink){ 0 });
	struct stat st;
	const int status = run < 0 ? run : fstat(run, &st);

	if (run >= 0)
		close(run);
	return status ? geteuid() : st.st_uid;
}
