/* mk.c: ach mk, makes channels. */
#include <grp.h>
#include <sys/stat.h>

#include "channels/ach/ach_ring.h"
#include "channels/tool/tool.h"
#include "config/base/text.h"

struct mk {
	int64_t count, size;
	const char *type, *mode, *group;
	bool truncate, once, realtime, verbose;
	bool user, kernel, anonymous, posix; /* mappings of the original: all are shared memory here */
};

static const struct settings_row rows[] = {
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
		return program_report(TOOL_USAGE, "--type: %s", tool_unknown_type(unknown, mk->type));
	if (mk->size && mk->size < (int64_t)type->body->size)
		return program_report(TOOL_USAGE, "-n: %lld bytes are too few for a message of type %s: %zu",
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
		status = ach_chmod(&chan, tool_mode(mk->mode));
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

static int run(void *values, int argc, char **argv)
{
	struct mk *mk = values;
	const bool asked = mk->type || mk->count || mk->size;
	int status = mk->type ? use_type(mk) : 0;
	ach_create_attr_t attr;
	gid_t gid = (gid_t)-1;

	if (!status && mk->mode)
		status = tool_mode_refused("-o: ", mk->mode);
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
		ach_create_attr_set_mode(&attr, mk->mode ? tool_mode(mk->mode) : default_mode(), gid);
	for (int i = 0; i < argc; i++)
		status |= make(argv[i], mk, &attr, asked);
	return status;
}

TOOL_COMMAND(mk, run, rows, struct mk, "NAME...", 1, -1, "makes channels", NULL);
