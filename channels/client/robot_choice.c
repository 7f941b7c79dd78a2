/* robot_choice.c: which robot is meant. */
#include <sys/stat.h>
#include <unistd.h>

#include "channels/client/robot_choice.h"
#include "channels/clock/vt_observe.h"

/* ---- folders ---- */

static bool has(const char *folder, const char *robot)
{
	char path[2 * RUN_PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s/.", folder, robot);
	return !lstat(path, &st);
}

/* Has this user a robot of that name? */
static bool is_own(const char *robot)
{
	const char *user = getenv("XDG_RUNTIME_DIR");
	char place[RUN_PATH_MAX];

	snprintf(place, sizeof(place), "%s/endplate", user ? user : "");
	return has(place, robot);
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
	snprintf(path, sizeof(path), RUN_SYSTEM "/%s", robot);
	if (!asked->run_given && (has(RUN_SYSTEM, robot) || (!lstat(path, &st) && !is_own(robot))))
		setenv("ENDPLATE_RUN", path, 1);
	return run_robot(robot);
}

struct found {
	int n;
	char only[RUN_PATH_MAX]; /* the folder of one of them: of the name "robot", if there is one */
	char *names;
	size_t size;
};

/* All robots with that entry in their folder. */
static void find_robots(struct found *f, const char *what)
{
	glob_t folders;

	run_list(&folders, what, geteuid());
	for (size_t i = 0; i < folders.gl_pathc; i++) {
		const char *name = strrchr(folders.gl_pathv[i], '/') + 1;

		if (!text_is_name(name))
			continue;
		if (!f->n++ || !strcmp(name, "robot"))
			snprintf(f->only, sizeof(f->only), "%s", folders.gl_pathv[i]);
		lines_append(f->names, f->size, ", ", "%s", name);
	}
	globfree(&folders);
}

/* Without --robot and $ENDPLATE_RUN: the only robot that runs here, or "robot".  false: there are several, their
 * names in names, and none of them is called "robot". */
static bool choose(const struct robot_choice_asked *asked, char *names, size_t size)
{
	/* Those that run; else those that have run and left logs. */
	static const char *const signs[] = { "control", "log" };
	struct found found = { .names = names, .size = size };

	*names = 0;
	if (asked->robot || asked->run_given)
		return true;
	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs) && !found.n; i++)
		find_robots(&found, signs[i]);
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

static void add_all(struct robot_choice *w)
{
	glob_t folders;

	run_list(&folders, ".", geteuid());
	for (size_t i = 0; i < folders.gl_pathc; i++)
		if (text_is_name(strrchr(folders.gl_pathv[i], '/') + 1))
			add_folder(w, folders.gl_pathv[i]);
	globfree(&folders);
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
	struct run_record saved;

	memset(w, 0, sizeof(*w));
	*path = 0;
	if (!choose(asked, names, sizeof(names))) {
		snprintf(w->doubt, sizeof(w->doubt), "which robot was not said, and there are %s", names);
		add_all(w);
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
	if (strstr(names, ", ") && !*w->doubt)
		snprintf(w->others, sizeof(w->others), "%s", names);
	if (prefix_given() || !w->n)
		add(w, "", prefix_given() ? prefix_given() : "", channels ? channels : "", w->n ? "" : path);
}
