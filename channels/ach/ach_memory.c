/* ach_memory.c: the memory of a channel, System V segments.
 *
 * The kernel keeps them, with permissions, beyond the life of any process; there
 * is no descriptor by which they could be shortened.
 */
#include <sys/mman.h>
#include <sys/random.h>

#include "channels/ach/ach_file.h"

#define KEY_TRIES 1000 /* against keys that are in use */

bool ach_memory_readers(mode_t mode)
{
	return (mode & 0444) >> 1 & ~mode;
}

mode_t ach_memory_bell_mode(mode_t channel)
{
	return channel | (channel & 0444) >> 1; /* who may read may ring */
}

enum ach_status ach_memory_error(const char *path, const char *doing)
{
	const char *why = "";
	int err = errno;

	switch (err) {
	case EACCES:
		return ach_error(ACH_EACCES, "%s: permission denied", path);
	case ENOSPC:
		why = ": all shared memory segments of the system are in use (kernel.shmmni); "
		      "ach rm --orphans removes abandoned ones";
		break;
	case ENOMEM:
		why = ": there is not enough memory for the channel";
		break;
	case EINVAL:
		why = ": the channel is larger than a shared memory segment may be (kernel.shmmax)";
		break;
	case ENOSYS:
	case EPERM:
		why = ": System V shared memory is refused here, as by a container's system call filter";
		break;
	}
	return ach_error(ACH_FAILED_SYSCALL, "%s %s: %s%s", doing, path, strerror(err), why);
}

/* All pages now: a full memory must be found here, not by a put. */
int ach_memory_populate(void *at, size_t len, bool write)
{
	const size_t page = ach_file_page();

	if (!madvise(at, len, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ))
		return 0;
	if (errno != EINVAL)
		return -1;
	for (size_t i = 0; i < len; i += page) { /* before Linux 5.14; no page is lost, whatever others write to it */
		_Atomic uint8_t *byte = (_Atomic uint8_t *)((uint8_t *)at + i);

		if (write)
			atomic_fetch_or_explicit(byte, 0, memory_order_relaxed);
		else
			(void)atomic_load_explicit(byte, memory_order_relaxed);
	}
	return 0;
}

static int memory_get(size_t len)
{
	for (int i = 0; i < KEY_TRIES; i++) {
		uint32_t key;
		int id;

		if (getrandom(&key, sizeof(key), 0) != sizeof(key))
			return -1;
		key = ACH_MEMORY_KEY | (key & ~ACH_MEMORY_KEY_MASK);
		id = shmget((key_t)key, len, IPC_CREAT | IPC_EXCL | 0600);
		if (id >= 0 || errno != EEXIST)
			return id;
	}
	return -1;
}

/* Attached, for this process only so far, with all its pages; NULL: errno.  While it is attached it is not taken for
 * abandoned. */
void *ach_memory_make(size_t len, int *id)
{
	void *m;
	int err;

	*id = memory_get(len);
	if (*id < 0)
		return NULL;
	m = shmat(*id, NULL, 0);
	if (m != (void *)-1) {
		if (!ach_memory_populate(m, len, true))
			return m;
		err = errno;
		shmdt(m);
		errno = err;
	}
	err = errno;
	shmctl(*id, IPC_RMID, NULL);
	*id = -1;
	errno = err;
	return NULL;
}

int ach_memory_chmod(int id, const struct stat *owner, mode_t mode)
{
	struct shmid_ds d = { .shm_perm = { .uid = owner->st_uid, .gid = owner->st_gid, .mode = mode & 0777 } };

	return shmctl(id, IPC_SET, &d);
}

/* At an address of the kernel's choice: only once it is attached is it sure that its size stays. */
void *ach_memory_attach(int id, size_t len, bool writable, struct shmid_ds *d)
{
	void *m = shmat(id, NULL, writable ? 0 : SHM_RDONLY);
	int err;

	if (m == (void *)-1)
		return NULL;
	err = shmctl(id, IPC_STAT, d) ? errno : d->shm_segsz == len ? 0 : EINVAL;
	if (!err)
		return m;
	shmdt(m);
	errno = err;
	return NULL;
}

/* The data area twice in a row, so that no message is ever cut in two.  Over reserved addresses. */
int ach_memory_twice(void *at, const struct ach_geometry *g)
{
	uint8_t *data = (uint8_t *)at + g->data_offset;

	return mremap(data, 0, g->psize, MREMAP_MAYMOVE | MREMAP_FIXED, data + g->psize) == MAP_FAILED ? -1 : 0;
}

bool ach_memory_is_of(const struct shmid_ds *d, uid_t owner)
{
	return d->shm_perm.uid == owner && d->shm_perm.cuid == owner;
}

/* Identifiers are used again, and are others in another IPC namespace: what is removed must be the plate's own.  The
 * bell goes first: as long as the channel's memory is there it says which bell belongs to it. */
void ach_memory_remove(const struct ach_plate *plate, uid_t owner)
{
	struct shmid_ds d;
	struct ach_header *m = ach_memory_attach(plate->shm, ach_geometry_size(&plate->geo), false, &d);

	if (!m)
		return;
	if (ach_memory_is_of(&d, owner) && m->geo.id == plate->geo.id) {
		if (plate->bell >= 0 && m->bell == plate->bell)
			shmctl(plate->bell, IPC_RMID, NULL);
		shmctl(plate->shm, IPC_RMID, NULL);
	}
	shmdt(m);
}

mode_t ach_memory_mode(const struct ach_handle *h)
{
	struct shmid_ds d;

	return h->file >= 0 && !shmctl(h->shm_id, IPC_STAT, &d) ? d.shm_perm.mode & 0777 : 0;
}
