/* names.c: the names on a command line as those of the channels of a robot. */
#include <fnmatch.h>
#include <sys/stat.h>

#include "channels/ach/ach_file.h"
#include "channels/client/robot_choice.h"
#include "channels/clock/vt_observe.h"
#include "channels/tool/tool.h"

struct names_robot {
	const char *prefix; /* of its channels; "" if there is none */
	bool is_chosen;	    /* there is a robot: a name without a channel is that of one of its own */
	bool is_named;	    /* by --robot: channels of no other are meant */
	bool is_aside;	    /* it has a folder of channels of its own, which the environment does not name */
	struct robot_choice which;
};

static const char *const variables[] = { "ENDPLATE_RUN", "ENDPLATE_PREFIX", "ACH_DIR" };
#define VARIABLES (sizeof(variables) / sizeof(*variables))

static void restore(char *const before[VARIABLES])
{
	for (size_t i = 0; i < VARIABLES; i++)
		if (before[i])
			setenv(variables[i], before[i], 1);
		else
			unsetenv(variables[i]);
}

static const char *text_or(const char *text, const char *otherwise)
{
	return text ? text : otherwise;
}

/* ---- the robot ---- */

/* The one that was named.  0, or a status after a line. */
static int use_named(const struct robot_choice_asked *asked, struct names_robot *r)
{
	char why[ERROR_LINE_MAX] = "";
	struct error_sink errors = { error_keep_last, why, 0 };
	const int status = robot_choice_use(asked, &errors);

	if (status < 0)
		return tool_fail("%s", why);
	if (status)
		return tool_fail("--robot %s: you have no access to a robot of that name, or it has never run here",
				 asked->robot);
	r->prefix = text_or(getenv("ENDPLATE_PREFIX"), "");
	r->is_chosen = r->is_named = true;
	return 0;
}

/* The one that is meant where none was named; an environment that names other channels wins. */
static void use_meant(const struct robot_choice_asked *asked, struct names_robot *r, char *const before[VARIABLES])
{
	const struct robot_choice_one *one = r->which.one;
	const char *prefix = before[1], *channels = before[2];

	robot_choice_all(asked, &r->which);
	r->is_chosen = *one->robot && !*r->which.doubt && (!channels || !strcmp(channels, one->channels));
	if (!r->is_chosen) {
		restore(before);
		r->prefix = text_or(prefix, "");
		return;
	}
	r->prefix = one->prefix;
	r->is_aside = strcmp(text_or(channels, ""), one->channels) != 0;
	robot_choice_export(one->prefix, one->channels);
}

/* ---- the names ---- */

/* Has a channel in $ACH_DIR that name, or does one match that pattern? */
static bool is_there(const char *name, bool pattern)
{
	char path[ACH_FILE_PATH_LEN];
	const char *other = NULL;
	struct stat st;
	DIR *folder;

	if (!pattern) {
		if (ach_file_check_name(name) != ACH_OK)
			return false;
		ach_file_channel_path(path, name);
		return !lstat(path, &st);
	}
	folder = ach_file_list();
	while (folder && (other = ach_file_next(folder)) && fnmatch(name, other, 0))
		;
	if (folder)
		closedir(folder);
	return other;
}

static void add_prefix(const char *prefix, char **name)
{
	char *full;

	if (asprintf(&full, "%s%s", prefix, *name) >= 0)
		*name = full; /* for as long as the process runs */
}

static bool has_prefix(const struct names_robot *r, const char *name)
{
	return !strncmp(name, r->prefix, strlen(r->prefix));
}

static bool is_meant(const struct names_robot *r, const char *name, bool pattern)
{
	return (!r->is_named || has_prefix(r, name)) && is_there(name, pattern);
}

/* The robot's own channel goes before one that is called exactly so.  false: there is neither. */
static bool find(const struct names_robot *r, char **name, bool pattern)
{
	char *given = *name;

	if (*r->prefix) {
		add_prefix(r->prefix, name);
		if (is_there(*name, pattern))
			return true;
		*name = given;
	}
	return is_meant(r, given, pattern);
}

static int find_all(struct names_robot *r, char **names, int n, bool pattern, char *const before[VARIABLES])
{
	bool any = false;

	for (int i = 0; i < n; i++)
		any |= find(r, &names[i], pattern);
	if (!any && n && r->is_aside) { /* they may be channels of no robot */
		restore(before);
		for (int i = 0; i < n; i++)
			any |= is_there(names[i], pattern);
		if (any)
			return 0;
		robot_choice_export(r->which.one->prefix, r->which.one->channels);
	}
	for (int i = 0; i < n; i++) {
		if (is_meant(r, names[i], pattern))
			continue;
		if (r->is_chosen && !has_prefix(r, names[i]))
			add_prefix(r->prefix, &names[i]);
		else if (*r->which.doubt && !*r->prefix)
			return tool_fail("%s: no such channel; %s: --robot takes one of them", names[i],
					 r->which.doubt);
	}
	if (*r->which.others && (*r->prefix || r->is_aside))
		program_say("channels of robot %s (there are %s: --robot takes another)", r->which.one->robot,
			    r->which.others);
	return 0;
}

int names_find(const char *robot, char **names, int n, bool patterns)
{
	struct names_robot r = { .prefix = "" };
	struct robot_choice_asked asked;
	char *before[VARIABLES], quoted[TEXT_QUOTED_MAX];
	int status = 0;

	for (size_t i = 0; i < VARIABLES; i++) {
		const char *set = getenv(variables[i]);

		before[i] = set ? strdup(set) : NULL;
	}
	if (robot_choice_begin(&asked, robot))
		status = program_report(EXIT_WRONG, "--robot: %s is not a valid name", text_quote(quoted, robot));
	else if (robot)
		status = use_named(&asked, &r);
	else
		use_meant(&asked, &r, before);
	if (!status)
		status = find_all(&r, names, n, patterns, before);
	for (size_t i = 0; i < VARIABLES; i++)
		free(before[i]);
	vt_observe(NULL);
	return status;
}
