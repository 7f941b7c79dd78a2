/* ach_file_path.c: where the file of a channel is.  Needs nothing else of libach, so libendplate links a copy. */
#include "channels/ach/ach_file.h"

const char *ach_file_dir(void)
{
	const char *set = secure_getenv("ACH_DIR");

	return set && *set ? set : "/dev/shm";
}

void ach_file_channel_path(char *path, const char *name)
{
	snprintf(path, ACH_FILE_PATH_LEN, "%.*s/" ACH_FILE_PREFIX "%s", ACH_FILE_DIR_MAX, ach_file_dir(), name);
}
