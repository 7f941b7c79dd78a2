/* ach_create.c: channels appear complete or not at all, and disappear with their bells. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ach_file.h"

/* All pages now: a full memory must be told here, not by a signal in a put.
 * In pieces, because a signal makes the kernel start a piece again. */
static int allocate(int fd, uint64_t len)
{
	const uint64_t piece = 1 << 20;
	uint64_t done = 0;
	int err = 0;

	while (done < len && (!err || err == EINTR)) {
		uint64_t n = len - done < piece ? len - done : piece;

		err = posix_fallocate(fd, (off_t)done, (off_t)n);
		if (!err)
			done += n;
	}
	errno = err;
	return err ? -1 : 0;
}

static int write_geometry(int fd, const struct ach_geometry *g)
{
	ssize_t n = pwrite(fd, g, sizeof(*g), 0);

	if (n >= 0 && n != sizeof(*g))
		errno = EIO;
	return n == sizeof(*g) ? 0 : -1;
}

static enum ach_status create_anonymous(const struct ach_geometry *g, ach_create_attr_t *attr)
{
	int fd = memfd_create("ach", MFD_CLOEXEC);
	void *m = NULL;

	if (fd >= 0 && !allocate(fd, ach_geometry_file_size(g)) && !write_geometry(fd, g))
		m = ach_file_reserve(ach_file_map_len(g));
	if (m && ach_file_map(m, fd, g, PROT_READ | PROT_WRITE)) {
		munmap(m, ach_file_map_len(g));
		m = NULL;
	}
	if (fd >= 0)
		close(fd);
	if (!m)
		return ach_error(ACH_FAILED_SYSCALL, "creating " ACH_FILE_ANON ": %s", strerror(errno));
	attr->shm = m;
	return ACH_OK;
}

/* A file without a name yet; mode and group are right before it gets one. */
static int nameless(mode_t mode, bool exact, gid_t group)
{
	int fd = open(ACH_FILE_DIR, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);

	if (fd < 0)
		return -1;
	if (!exact || ((group == (gid_t)-1 || !fchown(fd, (uid_t)-1, group)) && !fchmod(fd, mode)))
		return fd;
	close(fd);
	return -1;
}

static int give_name(int fd, const char *path)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

static enum ach_status create_file(const char *name, const struct ach_geometry *g, const ach_create_attr_t *attr)
{
	bool exact = attr && attr->set_mode;
	char path[ACH_FILE_PATH_LEN], bell[ACH_FILE_PATH_LEN];
	enum ach_status r = ACH_FAILED_SYSCALL;
	struct stat st;
	int fd, bell_fd = -1;

	ach_file_channel_path(path, name);
	ach_file_bell_path(bell, name, g->id);
	fd = nameless(exact ? attr->mode : 0666, exact, exact ? attr->group : (gid_t)-1);
	if (fd < 0 || allocate(fd, ach_geometry_file_size(g)) || write_geometry(fd, g) || fstat(fd, &st))
		goto failed;
	bell_fd = nameless(ach_file_bell_mode(st.st_mode & 0777), true, st.st_gid);
	/* The flock tells ach_unlink that this bell's channel is still to come. */
	if (bell_fd < 0 || allocate(bell_fd, ach_file_page()) || flock(bell_fd, LOCK_EX) || give_name(bell_fd, bell))
		goto failed;
	if (give_name(fd, path)) {
		r = ach_file_error(path, "creating");
		unlink(bell);
		goto out;
	}
	r = ACH_OK;
	goto out;
failed:
	r = ach_file_error(path, "creating");
out:
	if (fd >= 0)
		close(fd);
	if (bell_fd >= 0)
		close(bell_fd);
	return r;
}

enum ach_status ach_create(const char *name, size_t frame_cnt, size_t frame_size, ach_create_attr_t *attr)
{
	enum ach_map map = attr ? attr->map : ACH_MAP_DEFAULT;
	struct ach_geometry g;
	enum ach_status r;

	if (map == ACH_MAP_KERNEL)
		return ach_error(ACH_ENOTSUP, "channels in the kernel are not supported");
	if ((unsigned)map > ACH_MAP_KERNEL)
		return ach_error(ACH_EINVAL, "%d is no mapping", (int)map);
	r = map == ACH_MAP_ANON ? ACH_OK : ach_file_check_name(name);
	if (r == ACH_OK)
		r = ach_geometry_make(&g, frame_cnt, frame_size, attr);
	if (r != ACH_OK)
		return r;
	if (map == ACH_MAP_ANON)
		return create_anonymous(&g, attr);
	r = create_file(name, &g, attr);
	for (int race = 0; r == ACH_EEXIST && attr && attr->truncate && race < ACH_FILE_RACES_MAX; race++) {
		r = ach_unlink(name);
		if (r != ACH_OK && r != ACH_ENOENT)
			return r;
		/* With a new id: somebody may be about to remove the bell of the last attempt, by its name. */
		r = ach_geometry_make(&g, frame_cnt, frame_size, attr);
		if (r == ACH_OK)
			r = create_file(name, &g, attr);
	}
	return r;
}

/* Is the bell that of the channel now under the name? */
static bool bell_in_use(const char *name, uint64_t id)
{
	char path[ACH_FILE_PATH_LEN];
	struct ach_geometry g;
	bool used;
	int fd;

	ach_file_channel_path(path, name);
	fd = ach_file_open(path, O_RDONLY);
	if (fd < 0)
		return errno != ENOENT;
	used = ach_file_read_geometry(fd, &g) && g.id == id;
	close(fd);
	return used;
}

/* Bells of this name whose channel is gone, those of creators that died included. */
static void remove_orphan_bells(const char *name)
{
	char prefix[ACH_FILE_PATH_LEN], path[ACH_FILE_PATH_LEN];
	size_t len = (size_t)snprintf(prefix, sizeof(prefix), ACH_FILE_BELL_PREFIX, name);
	DIR *dir = opendir(ACH_FILE_DIR);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		const char *digits = d->d_name + len;
		char *end;
		uint64_t id;
		int fd;

		if (strncmp(d->d_name, prefix, len) || strlen(digits) != ACH_FILE_BELL_DIGITS)
			continue;
		id = strtoull(digits, &end, 16);
		if (*end)
			continue;
		ach_file_bell_path(path, name, id);
		fd = ach_file_open(path, O_RDONLY);
		if (fd < 0)
			continue;
		/* With the flock its creator is done, or dead: only now does a look at the channel tell. */
		if (!flock(fd, LOCK_EX | LOCK_NB) && !bell_in_use(name, id))
			unlink(path);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

enum ach_status ach_unlink(const char *name)
{
	enum ach_status r = ach_file_check_name(name);
	char path[ACH_FILE_PATH_LEN];

	if (r != ACH_OK)
		return r;
	ach_file_channel_path(path, name);
	if (unlink(path))
		r = ach_file_error(path, "removing");
	if (r == ACH_OK || r == ACH_ENOENT)
		remove_orphan_bells(name);
	return r;
}
