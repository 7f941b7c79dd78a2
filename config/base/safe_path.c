/* safe_path.c: folders and files that no other user can have put there, or can change. */
#include "config/base/safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)
#define ASIDE_MAX 64

static int refuse(struct error_sink *errors, const char *path, int error)
{
	return error_refuse(errors, -error, "%s: %s", path,
			    error == ELOOP ? "it is a symbolic link, which is not followed: remove it"
					   : strerror(error));
}

static int refuse_folder(struct error_sink *errors, const char *path, int error)
{
	if (error == ELOOP)
		return error_refuse(errors, -error,
				    "%s leads through a symbolic link, which is not followed: name the real folder",
				    path);
	return error_refuse(errors, -error, "unable to make the folder %s: %s", path, strerror(error));
}

static int refuse_owner(struct error_sink *errors, const char *path, const struct stat *st)
{
	return error_refuse(
		errors, -EPERM,
		"%s: it belongs to uid %u, not to uid %u: remove it, or set ENDPLATE_RUN to a folder of your own", path,
		(unsigned int)st->st_uid, (unsigned int)geteuid());
}

static int refuse_mode(struct error_sink *errors, const char *path, const struct stat *st)
{
	return error_refuse(errors, -EPERM,
			    "%s: other users may write it, mode %04o: see what they left there, then chmod go-w %s",
			    path, (unsigned int)st->st_mode & 07777, path);
}

/* ---- folders ---- */

struct walk {
	int at;		   /* O_PATH, where we are; -1 */
	struct stat above; /* of the folder before */
	struct stat st;
};

/* One step; the last one may be the first. */
static int step(struct walk *w, const char *name)
{
	const int fd = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), error = errno;

	if (fd < 0)
		return -error;
	close(w->at);
	w->at = fd;
	w->above = w->st;
	if (fstat(fd, &w->st))
		return -errno;
	return S_ISDIR(w->st.st_mode) ? 0 : S_ISLNK(w->st.st_mode) ? -ELOOP : -ENOTDIR;
}

/* Whatever the umask; by its descriptor, for the folder above it may be another user's. */
static int make(struct walk *w, const char *name, mode_t mode)
{
	const bool made = !mkdirat(w->at, name, mode & S_IRWXU);
	int status = made || errno == EEXIST ? step(w, name) : -errno;
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", w->at);
	if (!status && made && chmod(self, mode))
		status = -errno;
	return status ? status : fstat(w->at, &w->st) ? -errno : 0;
}

/* mode 0: nothing is made.  The path is absolute or begins where we are. */
static int walk(struct walk *w, const char *path, mode_t mode)
{
	char name[NAME_MAX + 1];
	int status;

	*w = (struct walk){ .at = open(*path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC) };
	status = w->at < 0 || fstat(w->at, &w->st) ? -errno : 0;
	for (path += strspn(path, "/"); !status && *path;) {
		const size_t len = strcspn(path, "/");
		const char *rest = path + len + strspn(path + len, "/");

		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path, len);
		name[len] = 0;
		status = step(w, name);
		if (status == -ENOENT && mode)
			status = make(w, name, *rest ? 0755 : mode);
		path = rest;
	}
	return status;
}

static int keep(struct walk *w, int status)
{
	if (!status)
		return w->at;
	if (w->at >= 0)
		close(w->at);
	return status;
}

static int check_ours(const char *path, const struct stat *st, struct error_sink *errors)
{
	if (st->st_uid != geteuid())
		return refuse_owner(errors, path, st);
	return st->st_mode & OTHERS_WRITE ? refuse_mode(errors, path, st) : 0;
}

int safe_path_folder(const char *path, mode_t mode, struct error_sink *errors)
{
	struct walk w;
	int status = walk(&w, path, mode);

	return keep(&w, status ? refuse_folder(errors, path, -status) : check_ours(path, &w.st, errors));
}

/* By which lines name a file. */
static const char *where(int folder, const char *name, char path[PATH_MAX])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
	n = readlink(link, path, PATH_MAX - NAME_MAX - 2);
	n = n < 0 ? 0 : n;
	snprintf(path + n, PATH_MAX - (size_t)n, "%s%s", n ? "/" : "", name);
	return path;
}

int safe_path_folder_in(int folder, const char *name, mode_t mode, struct error_sink *errors)
{
	struct walk w = { .at = fcntl(folder, F_DUPFD_CLOEXEC, 0) };
	const int status = w.at < 0 ? -errno : make(&w, name, mode);
	char path[PATH_MAX];

	where(folder, name, path);
	return keep(&w, status ? refuse_folder(errors, path, -status) : check_ours(path, &w.st, errors));
}

/* Did root put it there for its owner? */
static bool is_given(const struct walk *w)
{
	return !w->above.st_uid && !(w->above.st_mode & OTHERS_WRITE);
}

int safe_path_open(const char *path, struct error_sink *errors)
{
	struct walk w;
	int status = walk(&w, path, 0);

	if (status == -ENOENT || status == -EACCES)
		return keep(&w, status); /* for the caller to explain */
	if (status)
		return keep(&w, refuse_folder(errors, path, -status));
	if (w.st.st_uid && w.st.st_uid != geteuid() && geteuid() && !is_given(&w))
		return keep(&w, refuse_owner(errors, path, &w.st));
	return keep(&w, w.st.st_mode & OTHERS_WRITE ? refuse_mode(errors, path, &w.st) : 0);
}

/* ---- files ---- */

static int check_file(int fd, int folder, const char *path, struct error_sink *errors)
{
	struct stat st, above;

	if (fstat(fd, &st) || fstat(folder, &above))
		return refuse(errors, path, errno);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return error_refuse(errors, -EINVAL, "%s: it is not a file with one name: remove it", path);
	if (st.st_uid && st.st_uid != above.st_uid)
		return refuse_owner(errors, path, &st);
	return st.st_mode & OTHERS_WRITE ? refuse_mode(errors, path, &st) : 0;
}

int safe_path_file(int folder, const char *name, int flags, mode_t mode, struct error_sink *errors)
{
	/* Whatever has that name: we neither wait for it nor make it our terminal. */
	const int fd = openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode),
		  error = errno;
	char path[PATH_MAX];
	int status;

	if (fd < 0 && error == ENOENT)
		return -ENOENT;
	where(folder, name, path);
	if (fd < 0)
		return refuse(errors, path, error);
	status = check_file(fd, folder, path, errors);
	if (!status && (flags & O_CREAT) && fchmod(fd, mode))
		status = refuse(errors, path, errno);
	if (!status)
		return fd;
	close(fd);
	return status;
}

int safe_path_evict(const char *path)
{
	const char *slash = strrchr(path, '/');
	char aside[PATH_MAX];
	unsigned int number;
	int n;

	if (!unlink(path) || (errno == EISDIR && !rmdir(path)))
		return 0;
	if (!slash || errno != ENOTEMPTY)
		return -errno;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	n = snprintf(aside, sizeof(aside), "%.*s/.foreign-%u", (int)(slash - path), path, number);
	return n < PATH_MAX && !rename(path, aside) ? 0 : -errno;
}

bool safe_path_is_there(int fd, int folder, const char *name)
{
	struct stat ours, there;

	return fd >= 0 && !fstat(fd, &ours) && !fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) &&
	       ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

int safe_path_read(int folder, const char *name, char *text, size_t size, struct error_sink *errors)
{
	const int fd = safe_path_file(folder, name, O_RDONLY, 0, errors);
	ssize_t len;

	if (fd < 0)
		return fd;
	len = read(fd, text, size - 1);
	close(fd);
	text[len > 0 ? len : 0] = 0;
	return len < 0 ? -EIO : (int)len;
}

static int write_new(int folder, const char *name, mode_t mode, const char *text, size_t len)
{
	int status = 0, fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	errno = 0;
	if (write(fd, text, len) != (ssize_t)len)
		status = errno ? -errno : -ENOSPC;
	else if (fchmod(fd, mode))
		status = -errno;
	close(fd);
	return status;
}

int safe_path_write(int folder, const char *name, mode_t mode, const char *text, size_t len)
{
	char aside[ASIDE_MAX];
	int status;

	if (snprintf(aside, sizeof(aside), ".%s.new", name) >= ASIDE_MAX)
		return -ENAMETOOLONG;
	unlinkat(folder, aside, 0); /* of a process that was killed */
	status = write_new(folder, aside, mode, text, len);
	if (!status && renameat(folder, aside, folder, name))
		status = -errno;
	if (status)
		unlinkat(folder, aside, 0);
	return status;
}

/* ---- sockets ---- */

/* By the folder's descriptor: no link is followed, and the path of the folder may be long. */
static struct sockaddr_un address_of(int folder, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", folder, name);
	return address;
}

static int close_with(int fd, int error)
{
	if (fd >= 0)
		close(fd);
	return -error;
}

int safe_path_socket(int folder, const char *name, int type, mode_t mode)
{
	const struct sockaddr_un address = address_of(folder, name);
	const int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	unlinkat(folder, name, 0);
	/* The mode before bind is that of the name, so that it is never open to more. */
	if (fd < 0 || fchmod(fd, mode) || bind(fd, (const struct sockaddr *)&address, sizeof(address)) ||
	    fchmodat(folder, name, mode, 0))
		return close_with(fd, errno);
	return fd;
}

int safe_path_listen(int folder, const char *name, mode_t mode, int backlog, struct error_sink *errors)
{
	const int fd = safe_path_socket(folder, name, SOCK_SEQPACKET, mode);
	const int status = fd < 0 ? fd : listen(fd, backlog) ? close_with(fd, errno) : 0;

	return status ? error_refuse(errors, status, "%s: unable to listen: %s", name, strerror(-status)) : fd;
}

static bool is_owners(int fd, int folder)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	struct stat st;

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) && !fstat(folder, &st) &&
	       (!peer.uid || peer.uid == st.st_uid);
}

int safe_path_connect(int folder, const char *name, int type)
{
	const struct sockaddr_un address = address_of(folder, name);
	const int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (fd < 0 || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
		return close_with(fd, errno);
	if (!S_ISSOCK(st.st_mode))
		return close_with(fd, S_ISLNK(st.st_mode) ? EPERM : ECONNREFUSED);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return close_with(fd, errno);
	return is_owners(fd, folder) ? fd : close_with(fd, EPERM);
}
