/* ach_source.c: the lock of the one source of a channel.
 *
 * flock needs no write permission, so the plate, which every reader may open,
 * cannot be the lock.  It is a file that only those may open who may write the
 * channel, made when one of them first asks to be the source.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"

static int source_make(const char *path, gid_t group, mode_t mode)
{
	int err, fd = ach_file_nameless(0);

	if (fd >= 0 && !fchown(fd, (uid_t)-1, group) && !fchmod(fd, mode) && !ach_file_give_name(fd, path))
		return fd;
	err = errno;
	if (fd >= 0)
		close(fd);
	errno = err;
	return -1;
}

/* Made by a user who may write the channel, for such users only. */
static bool source_ok(const struct stat *lock, const struct stat *plate, mode_t mode)
{
	bool writer = lock->st_uid == plate->st_uid || !lock->st_uid || (mode & 0002) ||
		      ((mode & 0020) && lock->st_gid == plate->st_gid);

	return S_ISREG(lock->st_mode) && writer && !(lock->st_mode & 07777 & ~(mode & 0222));
}

enum ach_status ach_source_lock(struct ach_handle *h, const struct stat *plate, mode_t mode)
{
	char path[ACH_FILE_PATH_LEN];
	struct stat st;

	ach_file_source_path(path, h->name, h->id);
	if (!h->writable)
		return ach_error(ACH_EACCES, "%s may only be read: no source", h->name);
	for (int race = 0; race < ACH_FILE_RACES_MAX; race++) {
		h->source = ach_file_open(path, O_WRONLY);
		if (h->source < 0 && errno == ENOENT)
			h->source = source_make(path, plate->st_gid, mode & 0222);
		if (h->source >= 0 || errno != EEXIST)
			break;
	}
	if (h->source < 0 || fstat(h->source, &st))
		return ach_file_error(path, "locking");
	if (!source_ok(&st, plate, mode))
		return ach_error(ACH_EACCES, "%s belongs to uid %u, mode %04o: it is not the lock of this channel",
				 path, (unsigned)st.st_uid, (unsigned)st.st_mode & 07777);
	if (!flock(h->source, LOCK_EX | LOCK_NB))
		return ACH_OK;
	return errno == EWOULDBLOCK ? ach_error(ACH_LOCKED, "%s has another source", h->name)
				    : ach_file_error(path, "locking");
}
