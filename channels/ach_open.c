/* ach_open.c: handles.  A file is opened with suspicion: nothing in it is believed before it was checked. */
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
#include "channels/ach_lock.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

#define PUT_TIMEOUT_NS 500000000

static void handle_free(struct ach_handle *h)
{
	if (h->map)
		munmap(h->map, h->map_len);
	if (h->file >= 0)
		close(h->file);
	free(h);
}

static struct ach_handle *handle_new(const char *name)
{
	struct ach_handle *h = aligned_alloc(_Alignof(struct ach_handle), sizeof(*h));

	if (!h)
		return NULL;
	memset(h, 0, sizeof(*h));
	h->file = h->event = h->uring.fd = -1;
	h->put_timeout_ns = PUT_TIMEOUT_NS;
	snprintf(h->name, sizeof(h->name), "%s", name);
	return h;
}

static void handle_use(struct ach_handle *h, struct ach_header *shm, const struct ach_geometry *g)
{
	h->shm = shm;
	h->data = (uint8_t *)shm + g->data_offset;
	h->id = g->id;
	h->lsize = g->lsize;
	h->psize = g->psize;
	h->count = g->count;
	h->slot_mask = g->slots - 1;
}

static bool same_file(const struct ach_handle *h)
{
	char path[ACH_FILE_PATH_LEN];
	struct stat st;

	ach_file_channel_path(path, h->name);
	return !stat(path, &st) && st.st_dev == h->dev && st.st_ino == h->ino;
}

/* A page to sleep on, the same memory under a second address.  Without this madvise (Linux 5.14) the first sleep
 * fetches it. */
static enum ach_status open_nap_page(struct ach_handle *h)
{
	const size_t len = ach_file_page();

	if (!h->map) { /* anonymous: the channel was mapped by who created it */
		h->map_len = len;
		h->map = ach_file_reserve(len);
	}
	if (!h->map || mremap(h->shm, 0, len, MREMAP_MAYMOVE | MREMAP_FIXED, h->map) == MAP_FAILED)
		return ach_error(ACH_FAILED_SYSCALL, "mapping %s once more: %s", h->name, strerror(errno));
	h->nap_page = h->map;
	(void)madvise(h->nap_page, len, h->writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
	return ACH_OK;
}

/* 0, or -errno.  A reader that may not ring goes on without a hint and polls. */
static int open_bell(struct ach_handle *h)
{
	char path[ACH_FILE_PATH_LEN];
	struct stat st;
	int fd, err;

	ach_file_bell_path(path, h->name, h->id);
	fd = ach_file_open(path, O_RDWR);
	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? errno : (uint64_t)st.st_size < ach_file_page() ? EINVAL : 0;
	if (!err) {
		void *bell = h->map + ach_file_page();

		if (mmap(bell, ach_file_page(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0) ==
		    MAP_FAILED)
			err = errno;
		else
			h->hint = bell;
	}
	close(fd);
	return -err;
}

static enum ach_status check_owner(const char *name, uid_t uid, mode_t mode, const ach_attr_t *attr)
{
	if (!attr || !attr->set_owner || ((uid == attr->owner || !uid) && !(mode & 0777 & ~attr->mode_max)))
		return ACH_OK;
	return ach_error(ACH_EACCES, "%s belongs to uid %u, mode %04o, expected uid %u, mode %04o at most", name,
			 (unsigned)uid, (unsigned)mode & 0777, (unsigned)attr->owner, (unsigned)attr->mode_max);
}

static enum ach_status open_once(struct ach_handle *h, const char *path, struct ach_geometry *g, bool *again)
{
	struct stat st;
	int err;

	h->writable = true;
	h->file = ach_file_open(path, O_RDWR);
	if (h->file < 0 && (errno == EACCES || errno == EROFS)) {
		h->writable = false;
		h->file = ach_file_open(path, O_RDONLY);
	}
	if (h->file < 0)
		return ach_file_error(path, "opening");
	if (!ach_file_read_geometry(h->file, g) || !g->bell)
		return ach_error(ACH_BAD_SHM_FILE, "%s is not a channel, or not a whole one", path);
	h->map_len = ach_file_front() + ach_file_map_len(g);
	h->map = ach_file_reserve(h->map_len);
	if (!h->map || fstat(h->file, &st) ||
	    ach_file_map(h->map + ach_file_front(), h->file, g, h->writable ? PROT_READ | PROT_WRITE : PROT_READ))
		return ach_error(ACH_FAILED_SYSCALL, "mapping %s: %s", path, strerror(errno));
	h->dev = st.st_dev;
	h->ino = st.st_ino;
	handle_use(h, (struct ach_header *)(h->map + ach_file_front()), g);
	err = open_bell(h);
	if (!err)
		return ACH_OK;
	if (err == -ENOENT && !same_file(h)) {
		*again = true; /* removed while we were at it */
		return ACH_ENOENT;
	}
	if (!h->writable)
		return ACH_OK;
	/* A writer that cannot see who waits would leave them asleep. */
	return err == -EACCES ? ach_error(ACH_EACCES, "%s may be written, its bell may not", path)
			      : ach_error(ACH_BAD_SHM_FILE, "%s has no bell: %s", path, strerror(-err));
}

static enum ach_status open_file(struct ach_handle **out, const char *name, const ach_attr_t *attr, clockid_t *clock)
{
	char path[ACH_FILE_PATH_LEN];
	enum ach_status r = ACH_ENOENT;

	ach_file_channel_path(path, name);
	for (int race = 0; race < ACH_FILE_RACES_MAX; race++) {
		struct ach_handle *h = handle_new(name);
		struct ach_geometry g;
		struct stat st;
		bool again = false;

		if (!h)
			return ach_error(ACH_FAILED_SYSCALL, "opening %s: out of memory", path);
		r = open_once(h, path, &g, &again);
		if (r == ACH_OK && !fstat(h->file, &st))
			r = check_owner(name, st.st_uid, st.st_mode, attr);
		if (r == ACH_OK && attr && attr->lock_source) {
			if (!h->writable)
				r = ach_error(ACH_EACCES, "%s may only be read: no source", path);
			else if (flock(h->file, LOCK_EX | LOCK_NB))
				r = errno == EWOULDBLOCK ? ach_error(ACH_LOCKED, "%s has another source", path)
							 : ach_file_error(path, "locking");
		}
		if (r == ACH_OK) {
			*out = h;
			*clock = g.clock;
			return r;
		}
		handle_free(h);
		if (!again)
			break;
	}
	return r;
}

static enum ach_status open_anonymous(struct ach_handle **out, const ach_attr_t *attr, clockid_t *clock)
{
	struct ach_handle *h;
	struct ach_geometry g;

	if (!attr->shm || attr->lock_source)
		return ach_error(ACH_EINVAL, ACH_FILE_ANON " is opened by its memory and has no source lock");
	g = attr->shm->geo;
	if (!ach_geometry_ok(&g) || g.bell)
		return ach_error(ACH_BAD_SHM_FILE, "the memory is not that of " ACH_FILE_ANON);
	h = handle_new(ACH_FILE_ANON);
	if (!h)
		return ach_error(ACH_FAILED_SYSCALL, "opening " ACH_FILE_ANON ": out of memory");
	handle_use(h, attr->shm, &g);
	h->hint = &attr->shm->hint;
	h->writable = true;
	*clock = g.clock;
	*out = h;
	return ACH_OK;
}

enum ach_status ach_open(ach_channel_t *chan, const char *name, ach_attr_t *attr)
{
	enum ach_map map = attr ? attr->map : ACH_MAP_DEFAULT;
	struct ach_handle *h = NULL;
	clockid_t clock = ACH_DEFAULT_CLOCK;
	enum ach_status r;

	if (!chan)
		return ach_error(ACH_EINVAL, "no handle to open");
	memset(chan, 0, sizeof(*chan));
	if (map == ACH_MAP_KERNEL)
		return ach_error(ACH_ENOTSUP, "channels in the kernel are not supported");
	if ((unsigned)map > ACH_MAP_KERNEL)
		return ach_error(ACH_EINVAL, "%d is no mapping", (int)map);
	if (map == ACH_MAP_ANON) {
		r = open_anonymous(&h, attr, &clock);
	} else {
		r = ach_file_check_name(name);
		if (r == ACH_OK)
			r = open_file(&h, name, attr, &clock);
	}
	if (r == ACH_OK)
		r = open_nap_page(h);
	if (r != ACH_OK) {
		if (h)
			handle_free(h);
		return r;
	}
	ach_wake_forgotten(h);
	if (attr && attr->set_put_timeout)
		h->put_timeout_ns = attr->put_timeout_ns;
	chan->shm = h->shm;
	chan->handle = h;
	chan->map = map == ACH_MAP_ANON ? ACH_MAP_ANON : ACH_MAP_USER;
	chan->clock = clock;
	return ACH_OK;
}

enum ach_status ach_close(ach_channel_t *chan)
{
	struct ach_handle *h = chan->handle;

	if (!h)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (ach_reserved_elsewhere(h))
		return ach_fail(ACH_BUG, "another thread has a reservation in this handle");
	if (h->plan.max && ach_lock_holds(&h->section))
		ach_commit(chan, 0);
	ach_cancel_finish(h);
	if (h->watching) /* a signal handler jumped out of a get */
		ach_watch_end(h);
	ach_fd_close(h);
	chan->handle = NULL;
	chan->shm = NULL;
	handle_free(h);
	return ACH_OK;
}

/* A link in the place of the bell is refused: its target is somebody else's file. */
static int bell_chmod(const char *bell, mode_t mode)
{
	int status = fchmodat(AT_FDCWD, bell, ach_file_bell_mode(mode), AT_SYMLINK_NOFOLLOW);

	return status && errno != ENOENT ? -1 : 0;
}

enum ach_status ach_chmod(ach_channel_t *chan, mode_t mode)
{
	struct ach_handle *h = chan->handle;
	char bell[ACH_FILE_PATH_LEN];
	struct stat st;

	if (!h)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (h->file < 0)
		return ach_error(ACH_EINVAL, ACH_FILE_ANON " has no mode");
	if (mode & ~(mode_t)0777)
		return ach_error(ACH_EINVAL, "a channel's mode is 0 to 0777");
	ach_file_bell_path(bell, h->name, h->id);
	if (fstat(h->file, &st))
		return ach_file_error(h->name, "looking at");
	/* At every instant who may read the channel may ring: the bell gains first and loses last.
	 * ENOENT: the channel was unlinked, its bell with it. */
	if (bell_chmod(bell, (st.st_mode & 0777) | mode) || fchmod(h->file, mode) || bell_chmod(bell, mode))
		return ach_file_error(h->name, "chmod of");
	return ACH_OK;
}

enum ach_status ach_unlinked(const ach_channel_t *chan, int *unlinked)
{
	if (!chan->handle)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (!unlinked)
		return ach_fail(ACH_EINVAL, "nowhere to put the answer");
	*unlinked = chan->map != ACH_MAP_ANON && !same_file(chan->handle);
	return ACH_OK;
}
