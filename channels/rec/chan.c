/* chan.c: see chan.h. */
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "channels/rec/chan.h"
#include "config/base/base.h"

void chan_owner(char text[CHAN_OWNER_MAX], uid_t uid, gid_t gid)
{
	struct passwd *user = getpwuid(uid);
	struct group *group = getgrgid(gid);
	char uids[16], gids[16];

	snprintf(uids, sizeof(uids), "%u", (unsigned)uid);
	snprintf(gids, sizeof(gids), "%u", (unsigned)gid);
	snprintf(text, CHAN_OWNER_MAX, "%.32s:%.32s", user ? user->pw_name : uids, group ? group->gr_name : gids);
}

/* May this process read it, and is it of this user or of the robot's? */
static bool is_offered(const char *name)
{
	char path[ACH_FILE_PATH_LEN];
	ach_channel_t chan;
	struct stat st;

	ach_file_channel_path(path, name);
	if (lstat(path, &st) || (st.st_uid != geteuid() && st.st_uid != run_owner()) ||
	    ach_open(&chan, name, NULL) != ACH_OK)
		return false;
	ach_close(&chan);
	return true;
}

/* The channel of the robot that name probably means: the same name behind a prefix, or with a slip. */
static const char *similar_channel(const char *name, char found[ACH_CHAN_NAME_MAX])
{
	const char *prefix = getenv("ENDPLATE_PREFIX"), *nearest = NULL, *other;
	char near[ACH_CHAN_NAME_MAX];
	DIR *folder = ach_file_list();

	*found = '\0';
	while (folder && (other = ach_file_next(folder))) {
		const char *nearer = nearest;
		const bool behind = !*found && text_ends_with(other, name);

		nearest_try(name, other, &nearer);
		if ((!behind && nearer == nearest) || (prefix && strncmp(other, prefix, strlen(prefix)) != 0) ||
		    !is_offered(other))
			continue;
		if (behind)
			snprintf(found, ACH_CHAN_NAME_MAX, "%s", other);
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

static int no_such_channel(const char *name)
{
	char found[ACH_CHAN_NAME_MAX];
	const char *best = similar_channel(name, found);

	if (best)
		return chan_fail("%s: no such channel; did you mean %s? (ach ls lists those there are)", name, best);
	return chan_fail("%s: no such channel (ach ls lists those there are)", name);
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
	char path[ACH_FILE_PATH_LEN], owner[CHAN_OWNER_MAX];
	struct stat st;

	ach_file_channel_path(path, name);
	if (stat(path, &st))
		return chan_fail("%s: permission denied", name);
	chan_owner(owner, st.st_uid, st.st_gid);
	return chan_fail("%s: permission denied: the channel is %04o %s", name, (unsigned)channel_mode(name, &st),
			 owner);
}

int chan_refused(const char *name, enum ach_status status)
{
	switch (status) {
	case ACH_ENOENT:
		return no_such_channel(name);
	case ACH_EACCES:
		return no_permission(name);
	default:
		if (*ach_errstr() && strstr(ach_errstr(), name))
			return chan_fail("%s", ach_errstr());
		return chan_fail("%s: %s", name, *ach_errstr() ? ach_errstr() : ach_result_to_string(status));
	}
}

int chan_open(ach_channel_t *chan, const char *name)
{
	enum ach_status status = ach_open(chan, name, NULL);

	return status == ACH_OK ? 0 : chan_refused(name, status);
}
