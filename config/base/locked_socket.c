/* locked_socket.c: where a process is found by others. */
#include "config/base/locked_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/base/safe_path.h"

#define LOCK_NAME_MAX 64

static const char *lock_name(char name[LOCK_NAME_MAX], const struct locked_socket *place)
{
	snprintf(name, LOCK_NAME_MAX, "%s.lock", place->name);
	return name;
}

/* The descriptor of the lock, or -errno with a line. */
static int lock_it(const struct locked_socket *place, int folder, struct error_sink *errors)
{
	char name[LOCK_NAME_MAX], owner[32] = "";
	int r, lock = safe_path_file(folder, lock_name(name, place), O_RDWR | O_CREAT, 0600, errors);
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

static void replace(int *fd, int by)
{
	if (*fd >= 0)
		close(*fd);
	*fd = by;
}

/* Would another process find our lock? */
static bool is_locked(const struct locked_socket *place, int folder)
{
	char name[LOCK_NAME_MAX];

	return safe_path_is_there(place->lock, folder, lock_name(name, place));
}

bool locked_socket_is_ours(const struct locked_socket *place, int folder)
{
	struct stat there;

	return is_locked(place, folder) && !fstatat(folder, place->name, &there, AT_SYMLINK_NOFOLLOW) &&
	       S_ISSOCK(there.st_mode);
}

int locked_socket_take(struct locked_socket *place, int folder, struct error_sink *errors)
{
	const bool locked = is_locked(place, folder);
	const int lock = locked ? place->lock : lock_it(place, folder, errors);
	/* A socket of that name belongs to a process that was killed: the lock is ours. */
	const int listener = lock < 0 ? lock : safe_path_listen(folder, place->name, 0600, place->backlog, errors);

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

void locked_socket_leave(struct locked_socket *place, int folder)
{
	if (is_locked(place, folder))
		unlinkat(folder, place->name, 0);
	replace(&place->listener, -1);
	replace(&place->lock, -1);
}
