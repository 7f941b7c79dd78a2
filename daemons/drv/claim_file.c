/* claim_file.c: claims as locks on the bytes of a file. */
#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemons/drv/claim_file.h"

#define NAME_PREFIX ".endplate-claims-"
#define OTHERS 07077
#define TRIES 3

struct place {
	int folder;
	uid_t owner; /* of the file */
	char name[sizeof(NAME_PREFIX) + 16];
	const char *path;
};

/* The kernel makes it the owner's, also if we are root in another user's folder. */
static int make(const struct place *p)
{
	int fd, error;

	setfsuid(p->owner);
	fd = openat(p->folder, p->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	error = errno;
	setfsuid(geteuid());
	return fd < 0 ? -error : fd;
}

static int open_or_make(const struct place *p)
{
	/* Whatever has that name: we neither wait for it nor make it our terminal. */
	const int fd = openat(p->folder, p->name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	return errno == ENOENT ? make(p) : -errno;
}

static bool is_sound(const struct stat *st, const struct place *p)
{
	return S_ISREG(st->st_mode) && st->st_uid == p->owner && !(st->st_mode & OTHERS) && st->st_nlink == 1;
}

static int refuse(const struct place *p, const struct stat *st, int error, struct error_sink *errors)
{
	const unsigned int uid = st->st_uid;

	if (uid != p->owner)
		return error_refuse(errors, -EPERM,
				    "%s: it belongs to uid %u, not to uid %u: let root remove it, or set ACH_DIR to a "
				    "folder of your own",
				    p->path, uid, (unsigned int)p->owner);
	if (S_ISLNK(st->st_mode))
		return error_refuse(errors, -ELOOP, "%s: it is a symbolic link of uid %u: remove it", p->path, uid);
	if (!S_ISREG(st->st_mode) || st->st_nlink != 1)
		return error_refuse(errors, -EINVAL, "%s of uid %u: it is not a regular file with one name: remove it",
				    p->path, uid);
	if (st->st_mode & OTHERS)
		return error_refuse(
			errors, -EPERM,
			"%s of uid %u: mode %04o lets other users hold claims: end who has it open, then chmod 600 %s",
			p->path, uid, (unsigned int)st->st_mode & 07777, p->path);
	return error_refuse(errors, -error, "%s of uid %u: unable to open it: %s", p->path, uid, strerror(error));
}

/* error: why it could not be opened, or 0.  -EAGAIN: there is another one now, or none. */
static int handle_unsound(const struct place *p, int error, struct error_sink *errors)
{
	const bool opened = !error || error == EEXIST;
	struct stat st;

	if (fstatat(p->folder, p->name, &st, AT_SYMLINK_NOFOLLOW))
		return opened ? -EAGAIN
			      : error_refuse(errors, -error, "%s: unable to make it: %s", p->path, strerror(error));
	if (opened && is_sound(&st, p))
		return -EAGAIN;
	if (st.st_uid != p->owner && !safe_path_evict(p->path))
		return -EAGAIN;
	return refuse(p, &st, error, errors);
}

static int place_of(struct place *p, int folder, char path[CLAIM_FILE_PATH_MAX])
{
	char self[32];
	struct stat st;
	ssize_t n;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", folder);
	n = readlink(self, path, CLAIM_FILE_PATH_MAX);
	if (n < 0 || fstat(folder, &st))
		return -errno;
	if (n > CLAIM_FILE_PATH_MAX - (ssize_t)sizeof(p->name) - 1)
		return -ENAMETOOLONG;
	p->folder = folder;
	p->owner = st.st_mode & (S_IWGRP | S_IWOTH) ? geteuid() : st.st_uid;
	snprintf(p->name, sizeof(p->name), NAME_PREFIX "%u", (unsigned int)p->owner);
	snprintf(path + n, CLAIM_FILE_PATH_MAX - (size_t)n, "/%s", p->name);
	p->path = path;
	return 0;
}

int claim_file_open(int folder, char path[CLAIM_FILE_PATH_MAX], struct error_sink *errors)
{
	struct place place;
	struct stat st;
	int fd, status = place_of(&place, folder, path);

	if (status)
		return error_refuse(errors, status, "folder of claims: %s", strerror(-status));
	for (int i = 0; i < TRIES; i++) {
		fd = open_or_make(&place);
		if (fd >= 0 && !fstat(fd, &st) && is_sound(&st, &place))
			return fd;
		if (fd >= 0)
			close(fd);
		status = handle_unsound(&place, fd < 0 ? -fd : 0, errors);
		if (status != -EAGAIN)
			return status;
	}
	return error_refuse(errors, status, "%s: another process makes and removes it", path);
}

bool claim_file_is_there(int fd, const char *path)
{
	struct stat ours, there;

	return !fstat(fd, &ours) && !lstat(path, &there) && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

/* FNV-1a. */
uint64_t claim_file_hash(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return h;
}

/* An offset has room for 62 bits. */
off_t claim_file_byte(const char *name)
{
	return (off_t)(claim_file_hash(name) >> 2);
}

int claim_file_lock(int fd, off_t at)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1 };

	if (!fcntl(fd, F_OFD_SETLK, &lock))
		return 0;
	return errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
}
