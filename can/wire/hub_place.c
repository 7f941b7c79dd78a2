/* hub_place.c: where programs find the buses of a hub: locks and sockets in RUN/wire.
 *
 * The lock says who serves a bus: a socket's file stays behind a kill, a lock does not.  Whoever removes them, or the
 * folder, takes nothing from the programs that are attached; others would not find the bus any more, so they are made
 * anew.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "can/wire/hub.h"
#include "config/run.h"

#define BACKLOG 128
#define LOCK_NAME_MAX (TEXT_NAME_MAX + 8)

static const char *lock_name(char name[LOCK_NAME_MAX], const struct hub_bus *bus)
{
	snprintf(name, LOCK_NAME_MAX, "%s.lock", bus->name);
	return name;
}

/* The descriptor of its lock, or -errno with a line. */
static int lock_bus(const struct hub *hub, const struct hub_bus *bus, struct error_sink *errors)
{
	char name[LOCK_NAME_MAX], owner[32] = "";
	int r, lock = openat(hub->folder, lock_name(name, bus), O_RDWR | O_CREAT | O_CLOEXEC, 0660);
	ssize_t n;

	if (lock < 0) {
		r = -errno;
		error_add(errors, "%s: unable to make its lock: %s", bus->name, strerror(-r));
		return r;
	}
	if (flock(lock, LOCK_EX | LOCK_NB)) {
		n = pread(lock, owner, sizeof(owner) - 1, 0);
		error_add(errors, "%s is served already, by process %.*s", bus->name,
			  n > 0 ? (int)strcspn(owner, "\n") : 1, n > 0 ? owner : "?");
		close(lock);
		return -EBUSY;
	}
	n = snprintf(owner, sizeof(owner), "%d\n", getpid());
	if (ftruncate(lock, 0) || pwrite(lock, owner, (size_t)n, 0) != n) {
		r = errno ? -errno : -EIO;
		error_add(errors, "%s: unable to write its lock: %s", bus->name, strerror(-r));
		close(lock);
		return r;
	}
	return lock;
}

/* A socket that listens, or -errno with a line. */
static int listen_bus(const struct hub *hub, const struct hub_bus *bus, struct error_sink *errors)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int r, fd;

	snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d/%s", hub->folder, bus->name);
	unlinkat(hub->folder, bus->name, 0); /* of one that was killed: the lock is ours */
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Nobody may connect before the mode is right, and nobody can before listen. */
	if (fd >= 0 && !bind(fd, (struct sockaddr *)&at, sizeof(at)) && !fchmodat(hub->folder, bus->name, 0660, 0) &&
	    !listen(fd, BACKLOG))
		return fd;
	r = -errno;
	error_add(errors, "%s: unable to listen: %s", bus->name, strerror(-r));
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

/* Is that lock the one that others would find? */
static bool is_locked(const struct hub *hub, const struct hub_bus *bus)
{
	char name[LOCK_NAME_MAX];
	struct stat ours, there;

	return bus->lock >= 0 && !fstat(bus->lock, &ours) &&
	       !fstatat(hub->folder, lock_name(name, bus), &there, AT_SYMLINK_NOFOLLOW) &&
	       ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

static bool is_placed(const struct hub *hub, const struct hub_bus *bus)
{
	struct stat there;

	return is_locked(hub, bus) && !fstatat(hub->folder, bus->name, &there, AT_SYMLINK_NOFOLLOW) &&
	       S_ISSOCK(there.st_mode);
}

int hub_place(struct hub *hub, struct hub_bus *bus, struct error_sink *errors)
{
	const bool locked = is_locked(hub, bus);
	int listener, lock = locked ? bus->lock : lock_bus(hub, bus, errors);

	if (lock < 0)
		return lock;
	listener = listen_bus(hub, bus, errors);
	if (listener < 0) {
		if (!locked)
			close(lock);
		return listener;
	}
	if (!locked)
		replace(&bus->lock, lock);
	replace(&bus->listener, listener);
	hub_watch(hub, listener);
	return 0;
}

void hub_leave(struct hub *hub, struct hub_bus *bus)
{
	if (is_locked(hub, bus)) /* else it is another's by now */
		unlinkat(hub->folder, bus->name, 0);
	replace(&bus->listener, -1);
	replace(&bus->lock, -1);
}

/* The folder of that name, if it is another one by now. */
static void follow_folder(struct hub *hub)
{
	struct error_sink quiet = { 0 };
	char path[RUN_PATH_MAX];
	struct stat ours, there;
	int folder;

	if (run_path(path, "wire", &quiet) || fstat(hub->folder, &ours))
		return;
	if (!stat(path, &there) && ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)
		return;
	folder = run_folder("wire", &quiet);
	if (folder >= 0)
		replace(&hub->folder, folder);
}

void hub_look(struct hub *hub)
{
	struct error_sink quiet = { 0 }; /* it is tried again in a second */

	follow_folder(hub);
	for (unsigned int i = 0; i < hub->buses_n; i++)
		if (!is_placed(hub, &hub->buses[i]))
			hub_place(hub, &hub->buses[i], &quiet);
}
