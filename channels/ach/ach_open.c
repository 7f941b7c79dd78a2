/* ach_open.c: handles.  A plate is opened with suspicion: nothing in it is believed before it was checked. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"
#include "channels/ach/ach_lock.h"

#define PUT_TIMEOUT_NS 500000000

static void handle_free(struct ach_handle *h)
{
	if (h->map)
		munmap(h->map, h->map_len);
	if (h->file >= 0)
		close(h->file);
	if (h->source >= 0)
		close(h->source);
	free(h);
}

static struct ach_handle *handle_new(const char *name)
{
	struct ach_handle *h = aligned_alloc(_Alignof(struct ach_handle), sizeof(*h));

	if (!h)
		return NULL;
	memset(h, 0, sizeof(*h));
	h->file = h->source = h->event = -1;
	h->shm_id = h->bell_id = -1;
	h->put_timeout_ns = PUT_TIMEOUT_NS;
	h->woken_ns = INT64_MIN / 2;
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

/* min: bytes that the file must have at least. */
static bool same_file(const struct ach_handle *h, off_t min)
{
	char path[ACH_FILE_PATH_LEN];
	struct stat st;

	ach_file_channel_path(path, h->name);
	return !stat(path, &st) && st.st_dev == h->dev && st.st_ino == h->ino && st.st_size >= min;
}

/* A page to sleep on, the same memory under a second address. */
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
	(void)ach_memory_populate(h->nap_page, len, h->writable);
	return ACH_OK;
}

static enum ach_status check_owner(const char *name, uid_t uid, mode_t mode, const ach_attr_t *attr)
{
	if (!attr || !attr->set_owner || ((uid == attr->owner || !uid) && !(mode & 0777 & ~attr->mode_max)))
		return ACH_OK;
	return ach_error(ACH_EACCES, "%s belongs to uid %u, mode %04o, expected uid %u, mode %04o at most", name,
			 (unsigned)uid, (unsigned)mode & 0777, (unsigned)attr->owner, (unsigned)attr->mode_max);
}

/* From where it was attached to its place among the reserved addresses. */
static int place(void *at, void *m, size_t len)
{
	int err;

	if (mremap(m, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED) {
		err = errno;
		shmdt(m);
		errno = err;
		return -1;
	}
	return 0;
}

static enum ach_status memory_gone(const char *path, const char *what)
{
	return ach_error(ACH_BAD_SHM_FILE,
			 "%s: its %s was removed or is not its own (ipcrm, or kernel.shm_rmid_forced is set)", path,
			 what);
}

static enum ach_status open_memory(struct ach_handle *h, const char *path, const struct ach_plate *plate, uid_t owner,
				   bool sparse, struct shmid_ds *d)
{
	const size_t len = ach_geometry_size(&plate->geo);
	void *at = h->map + ach_file_front(), *m;

	h->writable = true;
	m = ach_memory_attach(plate->shm, len, true, d);
	if (!m && errno == EACCES) {
		h->writable = false;
		m = ach_memory_attach(plate->shm, len, false, d);
	}
	if (!m)
		return errno == EINVAL || errno == EIDRM ? memory_gone(path, "memory")
							 : ach_memory_error(path, "opening");
	if (!ach_memory_is_of(d, owner) || ((struct ach_header *)m)->geo.id != plate->geo.id) {
		shmdt(m);
		return memory_gone(path, "memory");
	}
	if (place(at, m, len) || ach_memory_twice(at, &plate->geo) ||
	    (!sparse && ach_memory_populate(at, len + plate->geo.psize, h->writable)))
		return ach_error(ACH_FAILED_SYSCALL, "mapping %s: %s", path, strerror(errno));
	handle_use(h, at, &plate->geo);
	h->shm_id = plate->shm;
	h->bell_id = plate->bell;
	return ACH_OK;
}

/* A waiter that may write the channel leaves its hint where only such waiters may write: others cannot disturb it.
 * A reader that may not ring goes on without a hint and polls; so does one for whom no bell was made. */
static enum ach_status open_bell(struct ach_handle *h, const char *path, uid_t owner)
{
	const size_t len = ach_file_page();
	void *at = h->map + len, *m;
	struct shmid_ds d;

	h->hint = h->writable ? &h->shm->hint : NULL;
	if (h->bell_id < 0)
		return ACH_OK;
	m = ach_memory_attach(h->bell_id, len, true, &d);
	if (!m && errno == EACCES)
		return h->writable ? ach_error(ACH_EACCES, "%s may be written, its bell may not", path) : ACH_OK;
	if (m && !ach_memory_is_of(&d, owner)) {
		shmdt(m);
		m = NULL;
	}
	if (!m)
		return memory_gone(path, "bell");
	if (place(at, m, len) || ach_memory_populate(at, len, true))
		return ach_error(ACH_FAILED_SYSCALL, "mapping the bell of %s: %s", path, strerror(errno));
	h->bell = at;
	if (!h->writable)
		h->hint = h->bell;
	return ACH_OK;
}

static enum ach_status open_parts(struct ach_handle *h, const char *path, const ach_attr_t *attr, clockid_t *clock)
{
	struct ach_plate plate;
	struct shmid_ds d;
	struct stat st = { 0 };
	enum ach_status r = ach_plate_read(h->file, path, &plate, &st);

	h->dev = st.st_dev;
	h->ino = st.st_ino;
	if (r != ACH_OK)
		return r;
	*clock = plate.geo.clock;
	h->map_len = ach_file_front() + ach_file_map_len(&plate.geo);
	h->map = ach_file_reserve(h->map_len);
	if (!h->map)
		return ach_error(ACH_FAILED_SYSCALL, "mapping %s: %s", path, strerror(errno));
	r = open_memory(h, path, &plate, st.st_uid, attr && attr->sparse, &d);
	if (r == ACH_OK)
		r = check_owner(h->name, d.shm_perm.uid, d.shm_perm.mode, attr);
	if (r == ACH_OK)
		r = open_bell(h, path, st.st_uid);
	if (r == ACH_OK && attr && attr->lock_source)
		r = ach_source_lock(h, &st, d.shm_perm.mode & 0777);
	return r;
}

static enum ach_status open_file(struct ach_handle **out, const char *name, const ach_attr_t *attr, clockid_t *clock)
{
	char path[ACH_FILE_PATH_LEN];
	enum ach_status r = ACH_ENOENT;

	ach_file_channel_path(path, name);
	for (int race = 0; race < ACH_FILE_RACES_MAX; race++) {
		struct ach_handle *h = handle_new(name);
		bool again;

		if (!h)
			return ach_error(ACH_FAILED_SYSCALL, "opening %s: out of memory", path);
		h->file = ach_file_open(path, O_RDONLY);
		r = h->file < 0 ? ach_file_error(path, "opening") : open_parts(h, path, attr, clock);
		if (r == ACH_OK) {
			*out = h;
			return r;
		}
		again = h->file >= 0 && !same_file(h, 0); /* removed while we were at it */
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
	if (!ach_geometry_ok(&g) || g.named)
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
		return ach_error(ACH_EINVAL, "%d is not a mapping", (int)map);
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
	if (attr)
		h->wake_gap_ns = attr->wake_gap_ns;
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
	if (h->target.max && ach_lock_holds(&h->section))
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

static int bell_chmod(const struct ach_handle *h, const struct stat *owner, mode_t mode)
{
	return h->bell_id < 0 ? 0 : ach_memory_chmod(h->bell_id, owner, ach_memory_bell_mode(mode));
}

enum ach_status ach_chmod(ach_channel_t *chan, mode_t mode)
{
	struct ach_handle *h = chan->handle;
	char source[ACH_FILE_PATH_LEN];
	struct stat st;

	if (!h)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (h->file < 0)
		return ach_error(ACH_EINVAL, ACH_FILE_ANON " has no mode");
	if (mode & ~(mode_t)0777)
		return ach_error(ACH_EINVAL, "a channel's mode is 0 to 0777");
	if (fstat(h->file, &st))
		return ach_file_error(h->name, "looking at");
	/* Before there can be a reader, and never reset; a channel that its owner may not write had readers already. */
	if (ach_memory_readers(mode) && h->writable)
		atomic_store_explicit(&h->shm->slices, 1, memory_order_relaxed);
	/* At every instant who may read the channel may ring: the bell gains first and loses last. */
	if (bell_chmod(h, &st, ach_memory_mode(h) | mode) || ach_memory_chmod(h->shm_id, &st, mode) ||
	    fchmod(h->file, ach_plate_mode(mode)) || bell_chmod(h, &st, mode))
		return errno == EPERM ? ach_file_error(h->name, "chmod of") : ach_memory_error(h->name, "chmod of");
	ach_file_source_path(source, h->name, h->id);
	(void)fchmodat(AT_FDCWD, source, mode & 0222, AT_SYMLINK_NOFOLLOW);
	return ACH_OK;
}

enum ach_status ach_unlinked(const ach_channel_t *chan, int *unlinked)
{
	if (!chan->handle)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (!unlinked)
		return ach_fail(ACH_EINVAL, "nowhere to put the answer");
	*unlinked = chan->map != ACH_MAP_ANON && !same_file(chan->handle, sizeof(struct ach_plate));
	return ACH_OK;
}
