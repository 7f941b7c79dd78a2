/* place.c: where a process is found by others. */
#include "config/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/owned.h"

#define LOCK_NAME_MAX 64

static const char *lock_name(char name[LOCK_NAME_MAX], const struct place *place)
{
	snprintf(name, LOCK_NAME_MAX, "%s.lock", place->name);
	return name;
}

/* The descriptor of the lock, or -errno with a line. */
static int lock_it(const struct place *place, int folder, struct error_sink *errors)
{
	char name[LOCK_NAME_MAX], owner[32] = "";
	int r, lock = owned_file(folder, lock_name(name, place), O_RDWR | O_CREAT, 0600, errors);
	ssize_t n;

	if (lock < 0)
		return lock;
	if (flock(lock, LOCK_EX | LOCK_NB)) {
		n = pread(lock, owner, sizeof(owner) - 1, 0);
		error_add(errors, "%s %s, by process %.*s", place->who, place->busy,
			  n > 0 ? (int)strcspn(owner, "\n") : 1, n > 0 ? owner : "?");
		close(lock);
		return -EBUSY;
	}
	n = snprintf(owner, sizeof(owner), "%d\n", getpid());
	if (ftruncate(lock, 0) || pwrite(lock, owner, (size_t)n, 0) != n) {
		r = errno ? -errno : -EIO;
		error_add(errors, "%s: unable to write its lock: %s", place->name, strerror(-r));
		close(lock);
		return r;
	}
	return lock;
}

/* A socket that listens, or -errno with a line. */
static int listen_there(const struct place *place, int folder, struct error_sink *errors)
{
	/* One of that name belongs to a process that was killed: the lock is ours. */
	const int fd = owned_socket(folder, place->name, SOCK_SEQPACKET, 0600);
	const int r = fd < 0 ? fd : listen(fd, place->backlog) ? -errno : 0;

	if (!r)
		return fd;
	error_add(errors, "%s: unable to listen: %s", place->name, strerror(-r));
	if (fd >= 0)
		close(fd);
	return r;
}

static void replace(int *fd, int by)
{
	if (*fd >= 0)
		close(*fd);
	*fd = by;
}

/* Would another process find our lock? */
static bool is_locked(const struct place *place, int folder)
{
	char name[LOCK_NAME_MAX];

	return owned_is_there(place->lock, folder, lock_name(name, place));
}

bool place_is_ours(const struct place *place, int folder)
{
	struct stat there;

	return is_locked(place, folder) && !fstatat(folder, place->name, &there, AT_SYMLINK_NOFOLLOW) &&
	       S_ISSOCK(there.st_mode);
}

int place_take(struct place *place, int folder, struct error_sink *errors)
{
	const bool locked = is_locked(place, folder);
	const int lock = locked ? place->lock : lock_it(place, folder, errors);
	const int listener = lock < 0 ? lock : listen_there(place, folder, errors);

	if (listener < 0) {
		if (!locked && lock >= 0)
			close(lock);
		return listener;
	}
	if (!locked)
		replace(&place->lock, lock);
	replace(&place->listener, listener);
	return 0;
}

void place_leave(struct place *place, int folder)
{
	if (is_locked(place, folder))
		unlinkat(folder, place->name, 0);
	replace(&place->listener, -1);
	replace(&place->lock, -1);
}
