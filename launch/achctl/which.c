/* which.c: which robot is meant. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launch/achctl/which.h"
#include "launch/achstart/folder.h"

void which_begin(struct ctl_line *line)
{
	const char *set = getenv("ENDPLATE_RUN");

	line->run_given = set && *set;
}

/* ---- folders ---- */

static bool has(const char *folder, const char *name, const char *what)
{
	char path[RUN_PATH_MAX + 64];
	struct stat st;

	if (!text_is_name(name))
		return false;
	snprintf(path, sizeof(path), "%s/%.*s/%s", folder, TEXT_NAME_MAX, name, what);
	return !stat(path, &st);
}

/* How many folders hold that; one of them in only, all in names. */
static int count_robots(const char *folder, const char *what, char only[TEXT_NAME_MAX + 1], char *names, size_t size)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int found = 0;

	*names = 0;
	while (dir && (entry = readdir(dir))) {
		const size_t len = strlen(names);

		if (!has(folder, entry->d_name, what))
			continue;
		found++;
		snprintf(only, TEXT_NAME_MAX + 1, "%.*s", TEXT_NAME_MAX, entry->d_name);
		snprintf(names + len, size - len, "%s%.*s", len ? ", " : "", TEXT_NAME_MAX, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Without --robot and $ENDPLATE_RUN: the only one that runs here; "robot" if there is none.  false: there are several
 * in folder, their names in names, and none of them is called "robot". */
static bool choose(const struct ctl_line *line, char folder[RUN_PATH_MAX], char *names, size_t size)
{
	/* Those that run; else those that have run and left logs. */
	static const char *const signs[] = { "control", "log" };
	char only[TEXT_NAME_MAX + 1] = "";

	if (line->robot || line->run_given || run_path(folder, NULL, &(struct error_sink){ 0 }))
		return true;
	*strrchr(folder, '/') = 0;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
		const int found = count_robots(folder, signs[i], only, names, size);

		if (found > 1 && !has(folder, "robot", signs[i]))
			return false;
		if (found == 1)
			run_robot(only);
		if (found)
			return true;
	}
	return true;
}

/* ---- contradictions ---- */

/* The name of the robot in $ENDPLATE_RUN, or the folder's own, is another than --robot's. */
static bool is_another(const struct ctl_line *line, const struct folder_robot *kept, const char *path)
{
	const char *last = strrchr(path, '/');

	return line->robot && line->run_given && strcmp(line->robot, kept->name) != 0 &&
	       strcmp(line->robot, last ? last + 1 : path) != 0;
}

static const char *prefix_given(void)
{
	return getenv("ENDPLATE_PREFIX");
}

static bool other_prefix(const struct folder_robot *kept)
{
	return prefix_given() && strcmp(prefix_given(), kept->prefix) != 0;
}

int which_robot(const struct ctl_line *line)
{
	char path[RUN_PATH_MAX], names[256];
	struct folder_robot kept;

	if (!choose(line, path, names, sizeof(names)))
		return ctl_fail(line, CTL_WRONG, "which robot? --robot takes one of %s", names);
	if (run_path(path, NULL, &(struct error_sink){ 0 }) || folder_robot_read(path, &kept))
		return 0;
	if (is_another(line, &kept, path))
		return ctl_fail(line, CTL_WRONG,
				"--robot %s: but ENDPLATE_RUN=%s is the folder of robot %s; "
				"unset the one or leave out the other",
				line->robot, path, kept.name);
	if (other_prefix(&kept))
		return ctl_fail(line, CTL_WRONG,
				"ENDPLATE_PREFIX=%s: but the channels of robot %s (%s) begin with \"%s\"; "
				"unset it, or set ENDPLATE_RUN to the folder of the robot that you mean",
				prefix_given(), kept.name, path, kept.prefix);
	setenv("ENDPLATE_PREFIX", kept.prefix, 1);
	return 0;
}

/* ---- hold and estop ---- */

static void add(struct which *w, const char *robot, const char *prefix, const char *run)
{
	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->one[i].prefix, prefix))
			return;
	if (w->n == WHICH_MAX)
		return;
	snprintf(w->one[w->n].robot, sizeof(w->one[0].robot), "%s", robot);
	snprintf(w->one[w->n].prefix, sizeof(w->one[0].prefix), "%s", prefix);
	snprintf(w->one[w->n].run, sizeof(w->one[0].run), "%s", run);
	w->n++;
}

static void add_folder(struct which *w, const char *path)
{
	struct folder_robot kept;

	if (!folder_robot_read(path, &kept))
		add(w, kept.name, kept.prefix, path);
}

static void add_all_in(struct which *w, const char *folder)
{
	char path[RUN_PATH_MAX + 64];
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%.*s", folder, TEXT_NAME_MAX, entry->d_name);
		if (text_is_name(entry->d_name))
			add_folder(w, path);
	}
	if (dir)
		closedir(dir);
}

/* The folder that --robot names, which $ENDPLATE_RUN hides. */
static void add_named(struct which *w, const char *run)
{
	char path[RUN_PATH_MAX];

	unsetenv("ENDPLATE_RUN");
	if (!run_path(path, NULL, &(struct error_sink){ 0 }))
		add_folder(w, path);
	setenv("ENDPLATE_RUN", run, 1);
}

void which_all(const struct ctl_line *line, struct which *w)
{
	char path[RUN_PATH_MAX], names[128];
	struct folder_robot kept;

	memset(w, 0, sizeof(*w));
	*path = 0;
	if (!choose(line, path, names, sizeof(names))) {
		snprintf(w->doubt, sizeof(w->doubt), "which robot was not said, and there are %s", names);
		add_all_in(w, path);
	} else if (!run_path(path, NULL, &(struct error_sink){ 0 }) && !folder_robot_read(path, &kept)) {
		add(w, kept.name, kept.prefix, path);
		if (is_another(line, &kept, path)) {
			snprintf(w->doubt, sizeof(w->doubt), "--robot %s: but ENDPLATE_RUN is the folder of robot %s",
				 line->robot, kept.name);
			add_named(w, path);
		} else if (other_prefix(&kept)) {
			snprintf(w->doubt, sizeof(w->doubt),
				 "ENDPLATE_PREFIX=%.60s: but the channels of robot %s begin with \"%.60s\"",
				 prefix_given(), kept.name, kept.prefix);
		}
	}
	if (prefix_given() || !w->n)
		add(w, "", prefix_given() ? prefix_given() : "", w->n ? "" : path);
}
