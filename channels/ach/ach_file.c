/* ach_file.c: the names and files of a channel. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"

#define PREFIX_LONGEST "/achlock-"
#define ID_DIGITS 16

_Static_assert(ACH_FILE_DIR_MAX + sizeof(PREFIX_LONGEST) + ACH_CHAN_NAME_MAX + ID_DIGITS < ACH_FILE_PATH_LEN,
	       "the longest path");

/* ---- names ---- */

static bool name_ok(const char *name)
{
	size_t len = strnlen(name, ACH_CHAN_NAME_MAX);

	return len && len < ACH_CHAN_NAME_MAX && *name != '.' &&
	       !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")];
}

enum ach_status ach_file_check_name(const char *name)
{
	const char *dir = ach_file_dir();

	if (!name)
		return ach_error(ACH_EINVAL, "no channel name");
	if (!name_ok(name))
		return ach_error(ACH_INVALID_NAME,
				 "\"%.80s\": a channel name has 1 to 63 of A-Z a-z 0-9 _ . - and no dot first", name);
	if (*dir != '/' || strlen(dir) > ACH_FILE_DIR_MAX)
		return ach_error(ACH_EINVAL, "ACH_DIR=%.120s: it must be an absolute path of at most %d characters",
				 dir, ACH_FILE_DIR_MAX);
	return ACH_OK;
}

void ach_file_source_path(char *path, const char *name, uint64_t id)
{
	snprintf(path, ACH_FILE_PATH_LEN, "%.*s/achlock-%s-%0*llx", ACH_FILE_DIR_MAX, ach_file_dir(), name, ID_DIGITS,
		 (unsigned long long)id);
}

void ach_file_gone_path(char *path, const char *name, uint64_t id)
{
	snprintf(path, ACH_FILE_PATH_LEN, "%.*s/achgone-%s-%0*llx", ACH_FILE_DIR_MAX, ach_file_dir(), name, ID_DIGITS,
		 (unsigned long long)id);
}

DIR *ach_file_list(void)
{
	return opendir(ach_file_dir());
}

const char *ach_file_next(DIR *folder)
{
	const size_t len = sizeof(ACH_FILE_PREFIX) - 1;
	struct dirent *d;

	while ((d = readdir(folder)))
		if (!strncmp(d->d_name, ACH_FILE_PREFIX, len) && name_ok(d->d_name + len))
			return d->d_name + len;
	return NULL;
}

enum ach_status ach_file_error(const char *path, const char *doing)
{
	int err = errno;

	switch (err) {
	case ENOENT:
		return ach_error(ACH_ENOENT, "%s: no such channel", path);
	case EEXIST:
		return ach_error(ACH_EEXIST, "%s exists", path);
	case EACCES:
	case EPERM:
		return ach_error(ACH_EACCES, "%s: permission denied", path);
	case ELOOP: /* a symbolic link */
	case EISDIR:
	case ENXIO: /* a socket */
		return ach_error(ACH_BAD_SHM_FILE, "%s is not a channel", path);
	}
	return ach_error(ACH_FAILED_SYSCALL, "%s %s: %s", doing, path, strerror(err));
}

/* ---- files ---- */

int ach_file_open(const char *path, int access)
{
	/* never a terminal, never a wait for the other end of a FIFO, never through a link */
	return open(path, access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

/* A file without a name yet: mode and group are right before it gets one. */
int ach_file_nameless(mode_t mode)
{
	return open(ach_file_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

int ach_file_give_name(int fd, const char *path)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* ---- plates ---- */

static uint64_t plate_sum(const struct ach_plate *p)
{
	return ach_sum(p, offsetof(struct ach_plate, sum));
}

static bool plate_ok(const struct ach_plate *p)
{
	return p->magic == ACH_PLATE_MAGIC && p->sum == plate_sum(p) && ach_geometry_ok(&p->geo) && p->geo.named &&
	       p->shm >= 0 && p->bell >= -1;
}

mode_t ach_plate_mode(mode_t channel)
{
	return (channel & 0444) | 0600; /* only its owner may say where the memory is */
}

int ach_plate_write(int fd, struct ach_plate *p)
{
	ssize_t n;

	p->magic = ACH_PLATE_MAGIC;
	p->sum = plate_sum(p);
	n = pwrite(fd, p, sizeof(*p), 0);
	if (n >= 0 && n != sizeof(*p))
		errno = EIO;
	return n == sizeof(*p) ? 0 : -1;
}

enum ach_status ach_plate_read(int fd, const char *path, struct ach_plate *p, struct stat *st)
{
	const uint64_t version = 0xffull << 56, old = ACH_MAGIC & ~version;

	memset(p, 0, sizeof(*p));
	if (fstat(fd, st))
		return ach_file_error(path, "looking at");
	if (!S_ISREG(st->st_mode) || pread(fd, p, sizeof(*p), 0) < 0)
		return ach_error(ACH_BAD_SHM_FILE, "%s is not a channel", path);
	if ((p->magic & ~version) == old)
		return ach_error(ACH_BAD_SHM_FILE, "%s is a channel of an older libach: remove it", path);
	if (!plate_ok(p))
		return ach_error(ACH_BAD_SHM_FILE, "%s is not a channel, or not a whole one", path);
	if (st->st_mode & 022)
		return ach_error(ACH_BAD_SHM_FILE, "%s: other users may write this file; use ach chmod, not chmod",
				 path);
	return ACH_OK;
}

bool ach_plate_names(const char *path, int shm)
{
	struct ach_plate p = { 0 };
	struct stat st;
	bool names;
	int fd;

	if (lstat(path, &st))
		return errno != ENOENT;
	fd = S_ISREG(st.st_mode) ? ach_file_open(path, O_RDONLY) : -1;
	if (fd < 0)
		return S_ISREG(st.st_mode) && errno != ENOENT; /* unreadable: not known, so yes */
	names = pread(fd, &p, sizeof(p), 0) == sizeof(p) && plate_ok(&p) && p.shm == shm;
	close(fd);
	return names;
}

/* ---- addresses ---- */

/* The same memory gets the same lowest 16 bits in all its mappings, in this process and in others: first-level caches
 * that are indexed beyond the page (aarch64: 64 KiB in 4 ways) would keep moving a line that is used under two
 * addresses.  Put and get in one process took twice as long then. */
#define ALIKE ((uintptr_t)1 << 16)

void *ach_file_reserve(size_t len)
{
	uintptr_t page = ach_file_page(), begin, end, room = len + ALIKE;
	void *m = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED)
		return NULL;
	begin = ((uintptr_t)m + ALIKE - 1) & ~(ALIKE - 1);
	end = (begin + len + page - 1) & ~(page - 1);
	if (begin > (uintptr_t)m)
		munmap(m, begin - (uintptr_t)m);
	if (end < (uintptr_t)m + room)
		munmap((void *)end, (uintptr_t)m + room - end);
	return (void *)begin;
}

/* Before a handle's channel lie its nap page and its bell: near, because the address translations of all that a waking
 * reader needs are cold, and then come with one line; and the nap page so that it differs from the control words only
 * above what indexes a cache. */
size_t ach_file_front(void)
{
	const size_t way = 1 << 14, two_pages = 2 * ach_file_page();

	return two_pages < way ? way : two_pages;
}

size_t ach_file_map_len(const struct ach_geometry *g)
{
	return g->data_offset + 2 * g->psize;
}
