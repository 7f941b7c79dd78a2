/* robot_choice.c: which robot is meant. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/client/robot_choice.h"
#include "channels/clock/vt_observe.h"
#include "config/base/lines.h"
#include "config/base/run_record.h"

#define SYSTEM "/run/endplate" /* folders that root has made, or given to their users */

/* ---- folders ---- */

static bool has(const char *folder, const char *name, const char *what)
{
	char path[RUN_PATH_MAX + 64];
	struct stat st;

	if (!text_is_name(name))
		return false;
	snprintf(path, sizeof(path), "%.*s/%.*s/%s", RUN_PATH_MAX, folder, TEXT_NAME_MAX, name, what);
	return !lstat(path, &st);
}

/* Has this user a robot of that name? */
static bool is_own(const char *robot)
{
	const char *user = getenv("XDG_RUNTIME_DIR");
	char place[RUN_PATH_MAX];

	snprintf(place, sizeof(place), "%s/endplate", user ? user : "");
	return has(place, robot, ".");
}

/* An ordinary user may be an operator of the system's robot; else the name is that of a robot of his own. */
int robot_choice_begin(struct robot_choice_asked *asked, const char *robot)
{
	const char *set = getenv("ENDPLATE_RUN");
	char path[RUN_PATH_MAX];
	struct stat st;

	*asked = (struct robot_choice_asked){ .robot = robot, .run_given = set && *set };
	if (!robot)
		return 0;
	if (!text_is_name(robot))
		return -EINVAL;
	snprintf(path, sizeof(path), SYSTEM "/%s", robot);
	if (!asked->run_given && (has(SYSTEM, robot, ".") || (!lstat(path, &st) && !is_own(robot))))
		setenv("ENDPLATE_RUN", path, 1);
	return run_robot(robot);
}

/* Where robots of the system and of this user have their folders. */
#define PLACES 2
struct folder {
	char path[RUN_PATH_MAX]; /* "": there is none */
};

static void list_places(struct folder places[PLACES])
{
	strcpy(places[0].path, SYSTEM);
	if (!geteuid() || run_path(places[1].path, NULL, &(struct error_sink){ 0 }))
		*places[1].path = 0;
	else
		*strrchr(places[1].path, '/') = 0;
}

struct found {
	int n;
	char only[RUN_PATH_MAX + 64]; /* the folder of one of them: of the name "robot", if there is one */
	char *names;
	size_t size;
};

static void add_robot(struct found *f, const char *place, const char *name)
{
	if (!f->n++ || !strcmp(name, "robot"))
		snprintf(f->only, sizeof(f->only), "%.*s/%.*s", RUN_PATH_MAX, place, TEXT_NAME_MAX, name);
	lines_append(f->names, f->size, ", ", "%.*s", TEXT_NAME_MAX, name);
}

/* All robots with that entry in their folder. */
static void find_robots(struct found *f, const char *place, const char *what)
{
	DIR *dir = opendir(place);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (has(place, entry->d_name, what))
			add_robot(f, place, entry->d_name);
	if (dir)
		closedir(dir);
}

/* Without --robot and $ENDPLATE_RUN: the only robot that runs here, or "robot".  false: there are several, their
 * names in names, and none of them is called "robot". */
static bool choose(const struct robot_choice_asked *asked, char *names, size_t size)
{
	/* Those that run; else those that have run and left logs. */
	static const char *const signs[] = { "control", "log" };
	struct found found = { .names = names, .size = size };
	struct folder places[PLACES];

	*names = 0;
	if (asked->robot || asked->run_given)
		return true;
	list_places(places);
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs) && !found.n; i++)
		for (int j = 0; j < PLACES; j++)
			find_robots(&found, places[j].path, signs[i]);
	if (found.n > 1 && strcmp(strrchr(found.only, '/'), "/robot") != 0)
		return false;
	if (found.n)
		setenv("ENDPLATE_RUN", found.only, 1);
	return true;
}

/* ---- contradictions ---- */

/* The name of the robot in $ENDPLATE_RUN, or the folder's own, is another than --robot's. */
static bool is_another(const struct robot_choice_asked *asked, const struct run_record *saved, const char *path)
{
	const char *last = strrchr(path, '/');

	return asked->robot && asked->run_given && strcmp(asked->robot, saved->name) != 0 &&
	       strcmp(asked->robot, last ? last + 1 : path) != 0;
}

static const char *prefix_given(void)
{
	return getenv("ENDPLATE_PREFIX");
}

static bool other_prefix(const struct run_record *saved)
{
	return prefix_given() && strcmp(prefix_given(), saved->prefix) != 0;
}

void robot_choice_export(const char *prefix, const char *channels)
{
	setenv("ENDPLATE_PREFIX", prefix, 1);
	if (*channels)
		setenv("ACH_DIR", channels, 1);
	else
		unsetenv("ACH_DIR");
}

int robot_choice_use(const struct robot_choice_asked *asked, struct error_sink *errors)
{
	const unsigned int lines = errors->count;
	char path[RUN_PATH_MAX], names[256];
	struct run_record saved;
	int status;

	if (!choose(asked, names, sizeof(names)))
		return error_refuse(errors, -EINVAL, "which robot? --robot takes one of %s", names);
	if (run_path(path, NULL, &(struct error_sink){ 0 }))
		return 1;
	status = run_record_read(path, &saved, errors);
	if (errors->count > lines && status != -EACCES) /* the connection decides that */
		return status;
	if (status)
		return 1;
	if (is_another(asked, &saved, path))
		return error_refuse(errors, -EINVAL,
				    "--robot %s: but ENDPLATE_RUN=%s is the folder of robot %s; "
				    "unset the one or leave out the other",
				    asked->robot, path, saved.name);
	if (other_prefix(&saved))
		return error_refuse(errors, -EINVAL,
				    "ENDPLATE_PREFIX=%s: but the channels of robot %s (%s) begin with \"%s\"; "
				    "unset it, or set ENDPLATE_RUN to the folder of the robot that you mean",
				    prefix_given(), saved.name, path, saved.prefix);
	robot_choice_export(saved.prefix, saved.channels);
	robot_choice_clock();
	return 0;
}

void robot_choice_clock(void)
{
	char path[RUN_PATH_MAX];

	if (!run_path(path, "clock", &(struct error_sink){ 0 }))
		vt_observe(path);
}

/* ---- hold and estop ---- */

static void add(struct robot_choice *w, const char *robot, const char *prefix, const char *channels, const char *run)
{
	struct robot_choice_one *one = &w->one[w->n];

	for (size_t i = 0; i < w->n; i++)
		if (!strcmp(w->one[i].prefix, prefix) && !strcmp(w->one[i].channels, channels))
			return;
	if (w->n == ROBOT_CHOICE_MAX)
		return;
	snprintf(one->robot, sizeof(one->robot), "%s", robot);
	snprintf(one->prefix, sizeof(one->prefix), "%s", prefix);
	snprintf(one->channels, sizeof(one->channels), "%s", channels);
	snprintf(one->run, sizeof(one->run), "%s", run);
	w->n++;
}

static void add_folder(struct robot_choice *w, const char *path)
{
	struct run_record saved;

	if (!run_record_read(path, &saved, &(struct error_sink){ 0 }))
		add(w, saved.name, saved.prefix, saved.channels, path);
}

static void add_all_in(struct robot_choice *w, const char *folder)
{
	char path[RUN_PATH_MAX + 64];
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%.*s/%.*s", RUN_PATH_MAX, folder, TEXT_NAME_MAX, entry->d_name);
		if (text_is_name(entry->d_name))
			add_folder(w, path);
	}
	if (dir)
		closedir(dir);
}

/* The folder that --robot names, which $ENDPLATE_RUN hides. */
static void add_named(struct robot_choice *w, const char *run)
{
	char path[RUN_PATH_MAX];

	unsetenv("ENDPLATE_RUN");
	if (!run_path(path, NULL, &(struct error_sink){ 0 }))
		add_folder(w, path);
	setenv("ENDPLATE_RUN", run, 1);
}

void robot_choice_all(const struct robot_choice_asked *asked, struct robot_choice *w)
{
	const char *channels = getenv("ACH_DIR");
	char path[RUN_PATH_MAX], names[128];
	struct folder places[PLACES];
	struct run_record saved;

	memset(w, 0, sizeof(*w));
	*path = 0;
	if (!choose(asked, names, sizeof(names))) {
		snprintf(w->doubt, sizeof(w->doubt), "which robot was not said, and there are %s", names);
		list_places(places);
		for (int i = 0; i < PLACES; i++)
			add_all_in(w, places[i].path);
	} else if (!run_path(path, NULL, &(struct error_sink){ 0 }) &&
		   !run_record_read(path, &saved, &(struct error_sink){ 0 })) {
		add(w, saved.name, saved.prefix, saved.channels, path);
		if (is_another(asked, &saved, path)) {
			snprintf(w->doubt, sizeof(w->doubt), "--robot %s: but ENDPLATE_RUN is the folder of robot %s",
				 asked->robot, saved.name);
			add_named(w, path);
		} else if (other_prefix(&saved)) {
			snprintf(w->doubt, sizeof(w->doubt),
				 "ENDPLATE_PREFIX=%.60s: but the channels of robot %s begin with \"%.60s\"",
				 prefix_given(), saved.name, saved.prefix);
		}
	}
	if (prefix_given() || !w->n)
		add(w, "", prefix_given() ? prefix_given() : "", channels ? channels : "", w->n ? "" : path);
}
