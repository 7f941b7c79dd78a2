/* manage.c: ach mk, rm, chmod, dump and file: a channel's name, mode and memory. */
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "channels/ach/ach_ring.h"
#include "channels/tool/tool.h"

/* ---- modes ---- */

static mode_t mode_of(const char *text)
{
	return (mode_t)strtoul(text, NULL, 8);
}

/* An octal mode: 0 when it is one, else a line (with option, "-o: " or "", in front) and EXIT_WRONG. */
static int mode_refused(const char *option, const char *text)
{
	size_t len = strlen(text);
	char quoted[TEXT_QUOTED_MAX];

	if (len >= 1 && len <= 5 && strspn(text, "01234567") == len && mode_of(text) <= 0777)
		return 0;
	return program_report(EXIT_WRONG, "%s%s is not a mode in octal, 0 to 0777, such as 640", option,
			      text_quote(quoted, text));
}

/* ---- mk ---- */

struct mk {
	int64_t count, size;
	const char *type, *mode, *group;
	bool truncate, once, realtime, verbose;
	bool user, kernel, anonymous, posix; /* mappings of the original: all are shared memory here */
};

static const struct settings_row mk_rows[] = {
	SETTINGS_INT("count", struct mk, count, "", NULL, "1", "16777216", "messages it retains; default 16",
		     .value = "COUNT", .letter = 'm'),
	SETTINGS_INT("size", struct mk, size, "B", NULL, "1", "2147483647",
		     "bytes of a usual message, default 512; one of COUNT * SIZE fits", .value = "SIZE", .letter = 'n'),
	SETTINGS_STRING("type", struct mk, type, NULL,
			"COUNT and SIZE for messages of this type (ach types lists them)", .value = "TYPE"),
	SETTINGS_STRING("mode", struct mk, mode, NULL, "who may read and write, octal, whatever the umask",
			.value = "MODE", .letter = 'o'),
	SETTINGS_STRING("group", struct mk, group, NULL, "the group it belongs to", .value = "GROUP"),
	SETTINGS_BOOL("truncate", struct mk, truncate, "no",
		      "replace an existing channel; its users go on with the old one", .letter = 't'),
	SETTINGS_BOOL("once", struct mk, once, "no", "fine if it exists already; with -o its mode is changed",
		      .letter = '1'),
	SETTINGS_BOOL("realtime", struct mk, realtime, "no", "waits are timed by CLOCK_REALTIME"),
	SETTINGS_BOOL("verbose", struct mk, verbose, "no", "say what was made", .letter = 'v'),
	SETTINGS_BOOL("user", struct mk, user, "no", "in shared memory, as every channel is", .letter = 'u'),
	SETTINGS_BOOL("kernel", struct mk, kernel, "no", "the same: every channel can be polled", .letter = 'k'),
	SETTINGS_BOOL("anonymous", struct mk, anonymous, "no", "the same", .letter = 'a'),
	SETTINGS_BOOL("posix", struct mk, posix, "no", "the same", .letter = 'p'),
	SETTINGS_END,
};

/* Count and size of the type, where the line does not say otherwise. */
static int use_type(struct mk *mk)
{
	const struct msg_type *type = msg_type_by_name(mk->type);
	char unknown[TOOL_TYPES_MAX];

	if (!type)
		return program_report(EXIT_WRONG, "--type: %s", tool_unknown_type(unknown, mk->type));
	if (mk->size && mk->size < (int64_t)type->body->size)
		return program_report(EXIT_WRONG, "-n: %lld bytes are too few for a message of type %s: %zu",
				      (long long)mk->size, type->name, type->body->size);
	mk->count = mk->count ? mk->count : (int64_t)type->retained;
	mk->size = mk->size ? mk->size : (int64_t)type->body->size;
	return 0;
}

static int group_id(const char *text, gid_t *gid)
{
	char quoted[TEXT_QUOTED_MAX];
	struct group *group = getgrnam(text);
	int64_t number;

	if (group)
		*gid = group->gr_gid;
	else if (!text_int(text, &number) && number >= 0 && number < UINT32_MAX)
		*gid = (gid_t)number;
	else
		return tool_fail("--group: there is no group %s", text_quote(quoted, text));
	return 0;
}

static mode_t default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* -1: what is there stays, but for its mode.  Too small a channel fails later and somewhere else. */
static int accept_existing(const char *name, const struct mk *mk, bool asked)
{
	size_t want = (size_t)mk->count * (size_t)mk->size;
	ach_channel_t chan;
	enum ach_status status = ach_open(&chan, name, NULL);

	if (status == ACH_EACCES && !mk->mode)
		return 0;
	if (status != ACH_OK)
		return chan_refused(name, status);
	if (asked && chan.handle->lsize < want)
		tool_fail("warning: %s exists with %u messages of %zu bytes, less than asked for (-t replaces it)",
			  name, chan.handle->count, chan.handle->lsize / chan.handle->count);
	if (mk->mode)
		status = ach_chmod(&chan, mode_of(mk->mode));
	ach_close(&chan);
	return status == ACH_OK ? 0 : chan_refused(name, status);
}

static int make(const char *name, const struct mk *mk, ach_create_attr_t *attr, bool asked)
{
	enum ach_status status = ach_create(name, (size_t)mk->count, (size_t)mk->size, attr);

	if (status == ACH_EEXIST && mk->once)
		return accept_existing(name, mk, asked);
	if (status == ACH_EEXIST)
		return tool_fail("%s: exists already (-1 accepts that, -t replaces it)", name);
	if (status == ACH_EACCES && mk->group)
		return tool_fail("%s: you may not make a channel of group %s", name, mk->group);
	if (status != ACH_OK)
		return chan_refused(name, status);
	if (mk->verbose)
		printf("%s: %lld messages of %lld bytes\n", name, (long long)mk->count, (long long)mk->size);
	return 0;
}

static int run_mk(void *values, int argc, char **argv)
{
	struct mk *mk = values;
	const bool asked = mk->type || mk->count || mk->size;
	int status = mk->type ? use_type(mk) : 0;
	ach_create_attr_t attr;
	gid_t gid = (gid_t)-1;

	if (!status && mk->mode)
		status = mode_refused("-o: ", mk->mode);
	if (!status && mk->group)
		status = group_id(mk->group, &gid);
	if (status)
		return status;
	mk->count = mk->count ? mk->count : ACH_DEFAULT_FRAME_COUNT;
	mk->size = mk->size ? mk->size : ACH_DEFAULT_FRAME_SIZE;
	ach_create_attr_init(&attr);
	ach_create_attr_set_truncate(&attr, mk->truncate);
	if (mk->realtime)
		ach_create_attr_set_clock(&attr, CLOCK_REALTIME);
	if (mk->mode || mk->group)
		ach_create_attr_set_mode(&attr, mk->mode ? mode_of(mk->mode) : default_mode(), gid);
	for (int i = 0; i < argc; i++)
		status |= make(argv[i], mk, &attr, asked);
	return status;
}

TOOL_COMMAND(mk, run_mk, mk_rows, struct mk, "NAME...", 1, -1, "makes channels", NULL);

/* ---- rm, chmod, dump, file ---- */

struct manage {
	bool verbose, orphans;
};

static const struct settings_row rows[] = {
	SETTINGS_BOOL("orphans", struct manage, orphans, "no",
		      "remove abandoned memory of yours: killed creators, rm of a file"),
	SETTINGS_BOOL("verbose", struct manage, verbose, "no", "say what was done", .letter = 'v'),
	SETTINGS_END,
};
#define VERBOSE_ROWS (rows + 1) /* of the other commands */

/* ---- rm: programs that have the channel open go on among themselves ---- */

static int run_rm(void *values, int argc, char **argv)
{
	const struct manage *rm = values;
	int status = 0;

	if (!argc && !rm->orphans)
		return program_report(EXIT_WRONG, "which channel? give its NAME, or --orphans");
	for (int i = 0; i < argc; i++) {
		enum ach_status removed = ach_unlink(argv[i]);

		if (removed != ACH_OK)
			status = chan_refused(argv[i], removed);
		else if (rm->verbose)
			printf("%s: removed\n", argv[i]);
	}
	if (rm->orphans) {
		int n = ach_orphan_remove(ACH_ORPHAN_AGE_S, true);

		if (rm->verbose)
			printf("abandoned segments and files removed: %d\n", n);
	}
	return status;
}

TOOL_COMMAND(rm, run_rm, rows, struct manage, "[NAME...]", 0, -1,
	     "removes channels; programs that have them open keep what they have", NULL);

/* ---- chmod ---- */

static int run_chmod(void *values, int argc, char **argv)
{
	const struct manage *line = values;
	int status = mode_refused("", argv[0]);

	if (status)
		return status;
	for (int i = 1; i < argc; i++) {
		ach_channel_t chan;
		enum ach_status changed = ach_open(&chan, argv[i], NULL);

		if (changed == ACH_OK) {
			changed = ach_chmod(&chan, mode_of(argv[0]));
			ach_close(&chan);
		}
		if (changed != ACH_OK)
			status = chan_refused(argv[i], changed);
		else if (line->verbose)
			printf("%s: %04o\n", argv[i], (unsigned)mode_of(argv[0]));
	}
	return status;
}

TOOL_COMMAND(chmod, run_chmod, VERBOSE_ROWS, struct manage, "MODE NAME...", 2, -1,
	     "changes who may read and write channels; MODE is octal: 640", NULL);

/* ---- dump: the words of a channel's memory as they are ---- */

static int run_dump(void *values, int argc, char **argv)
{
	ach_channel_t chan;
	int status = 0;

	(void)values;
	(void)argc;
	if (chan_open(&chan, argv[0]))
		return EXIT_RETRY;
	/* ach_dump speaks to stderr; here it is what was asked for. */
	if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		status = tool_fail("no standard output: %s", strerror(errno));
	else
		ach_dump(chan.shm);
	ach_close(&chan);
	return status;
}

TOOL_COMMAND(dump, run_dump, VERBOSE_ROWS, struct manage, "NAME", 1, 1,
	     "prints the state of a channel's memory, for those who know how channels work", NULL);

/* ---- file ---- */

static int run_file(void *values, int argc, char **argv)
{
	char path[ACH_FILE_PATH_LEN];

	(void)values;
	(void)argc;
	if (ach_file_check_name(argv[0]) != ACH_OK)
		return tool_fail("%s", ach_errstr());
	ach_file_channel_path(path, argv[0]);
	puts(path);
	return 0;
}

TOOL_COMMAND(file, run_file, VERBOSE_ROWS, struct manage, "NAME", 1, 1,
	     "prints the path of a channel's file, whether the channel exists or not", NULL);
