/* removal.c: notices that channels were removed or replaced. */
#include <sys/inotify.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "channels/port/removal.h"

/* The handle keeps the file open, so a removal changes its link count (IN_ATTRIB) and does not delete it. */
#define REPORTED (IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF | IN_MODIFY)

int removal_open(struct removal *removal)
{
	*removal = (struct removal){ .fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC) };
	return removal->fd < 0 ? -errno : 0;
}

void removal_close(struct removal *removal)
{
	if (removal->fd >= 0)
		close(removal->fd);
	removal->fd = -1;
}

int removal_watch(const struct removal *removal, const ach_channel_t *chan)
{
	char path[ACH_FILE_PATH_LEN];

	ach_file_channel_path(path, chan->handle->name);
	return inotify_add_watch(removal->fd, path, REPORTED) < 0 ? -errno : 0;
}

bool removal_read(struct removal *removal)
{
	_Alignas(struct inotify_event) char events[4096];
	const bool any = read(removal->fd, events, sizeof(events)) > 0;

	removal->events += any;
	return any;
}
