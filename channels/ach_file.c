/* ach_file.c: names, paths and mappings of a channel's files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ach_file.h"

enum ach_status ach_file_check_name(const char *name)
{
	size_t len;

	if (!name)
		return ach_error(ACH_EINVAL, "no channel name");
	len = strnlen(name, ACH_CHAN_NAME_MAX);
	if (!len || len >= ACH_CHAN_NAME_MAX || *name == '.' ||
	    name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")])
		return ach_error(ACH_INVALID_NAME,
				 "\"%.80s\": a channel name has 1 to 63 of A-Z a-z 0-9 _ . - and no dot first", name);
	return ACH_OK;
}

void ach_file_channel_path(char *path, const char *name)
{
	snprintf(path, ACH_FILE_PATH_LEN, ACH_FILE_DIR "/achshm-%s", name);
}

void ach_file_bell_path(char *path, const char *name, uint64_t id)
{
	snprintf(path, ACH_FILE_PATH_LEN, ACH_FILE_DIR "/" ACH_FILE_BELL_PREFIX "%016llx", name,
		 (unsigned long long)id);
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

mode_t ach_file_bell_mode(mode_t channel)
{
	return channel | (channel & 0444) >> 1; /* who may read may ring */
}

bool ach_file_read_geometry(int fd, struct ach_geometry *g)
{
	struct stat st;

	/* All of it allocated, as ach_create left it: a hole would be filled at open, or be a signal in a put when
	 * memory is full. */
	return !fstat(fd, &st) && S_ISREG(st.st_mode) && pread(fd, g, sizeof(*g), 0) == sizeof(*g) &&
	       ach_geometry_ok(g) && (uint64_t)st.st_size >= ach_geometry_file_size(g) &&
	       (uint64_t)st.st_blocks * 512 >= ach_geometry_file_size(g);
}

int ach_file_open(const char *path, int access)
{
	/* never a terminal, never a wait for the other end of a FIFO, never through a link */
	return open(path, access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
}

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

/* The data area twice in a row, so that no message is ever cut in two.  Over reserved addresses. */
int ach_file_map(void *at, int fd, const struct ach_geometry *g, int prot)
{
	const int flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
	size_t once = ach_geometry_file_size(g);

	return mmap(at, once, prot, flags, fd, 0) == MAP_FAILED ||
	       mmap((uint8_t *)at + once, g->psize, prot, flags, fd, g->data_offset) == MAP_FAILED;
}
