/* writer_file.c: the file that a writer writes, or one piece after another. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "channels/rec/rec_rotate.h"
#include "channels/rec/writer_file.h"
#include "config/base/grow.h"

/* ---- pieces ---- */

size_t writer_pieces(const char *whole, struct rec_piece **pieces)
{
	char folder[PATH_MAX];
	size_t n = 0, room = 0;
	const struct dirent *file;
	DIR *dir;

	*pieces = NULL;
	rec_rotate_folder(folder, whole);
	dir = opendir(folder);
	while (dir && (file = readdir(dir))) {
		const unsigned int number = rec_rotate_number(whole, file->d_name);
		struct stat st;

		if (!number || fstatat(dirfd(dir), file->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!grow(pieces, &room, n + 1, sizeof(**pieces)))
			break; /* the others are found next time */
		(*pieces)[n++] = (struct rec_piece){ number, st.st_size };
	}
	if (dir)
		closedir(dir);
	rec_rotate_sort(*pieces, n);
	return n;
}

/* Removes the oldest until there is room for the next. */
static void make_room(const struct writer_options *o)
{
	struct rec_piece *pieces;
	size_t n, over;

	if (!o->keep && !o->total_bytes)
		return;
	n = writer_pieces(o->path, &pieces);
	over = rec_rotate_over(pieces, n, o->keep, o->total_bytes, o->rotate_bytes);
	for (size_t i = 0; i < over; i++) {
		char path[PATH_MAX];

		if (!rec_rotate_path(path, o->path, o->digits, pieces[i].number))
			unlink(path);
	}
	free(pieces);
}

unsigned int writer_file_next_piece(const struct writer_file *f)
{
	struct rec_piece *pieces;
	const size_t n = writer_pieces(f->options->path, &pieces);
	const unsigned int newest = n ? pieces[n - 1].number : 0;

	free(pieces);
	return newest + 1;
}

int writer_file_open_piece(struct writer_file *f, unsigned int piece)
{
	const struct writer_options *o = f->options;
	int r = rec_rotate_path(f->path, o->path, o->digits, piece);

	f->unnamed = o->begin;
	if (!r && f->unnamed)
		r = rec_rotate_hidden_path(f->hidden, o->path);
	if (r)
		return r;
	make_room(o);
	f->fd = open(f->unnamed ? f->hidden : f->path, O_WRONLY | O_CREAT | O_CLOEXEC | (f->unnamed ? O_TRUNC : O_EXCL),
		     0666);
	if (f->fd < 0)
		return -errno;
	f->piece = piece;
	return 0;
}

int writer_file_give_name(struct writer_file *f)
{
	if (renameat2(AT_FDCWD, f->hidden, AT_FDCWD, f->path, RENAME_NOREPLACE) &&
	    (errno != EINVAL || rename(f->hidden, f->path))) /* a file system that knows only rename */
		return -errno;
	f->unnamed = false;
	return 0;
}

void writer_file_drop(struct writer_file *f)
{
	writer_file_close(f);
	unlink(f->hidden);
	f->piece = 0;
}

/* ---- any file ---- */

int writer_file_open(struct writer_file *f, const char **why)
{
	const char *path = f->options->path;
	struct stat st;

	snprintf(f->path, sizeof(f->path), "%s", path);
	if (!strcmp(path, "-")) {
		f->fd = STDOUT_FILENO;
		return 0;
	}
	if (!stat(path, &st) && S_ISREG(st.st_mode) && st.st_size && !f->options->force) {
		*why = "exists already (--force replaces it)";
		return -EEXIST;
	}
	/* O_NONBLOCK: fail at once if no process reads the FIFO. */
	f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
	if (f->fd < 0) {
		*why = errno == ENXIO ? "no process reads from it" : strerror(errno);
		return -errno;
	}
	fcntl(f->fd, F_SETFL, fcntl(f->fd, F_GETFL) & ~O_NONBLOCK);
	return 0;
}

int writer_file_close(struct writer_file *f)
{
	int r = 0;

	if (f->fd >= 0 && f->fd != STDOUT_FILENO && close(f->fd))
		r = -errno; /* some file systems report a failed write only here */
	f->fd = -1;
	return r;
}

bool writer_file_has_room(const struct writer_file *f, size_t len)
{
	struct statvfs fs;
	uint64_t reserve;

	if (!f->options->lasting || fstatvfs(f->fd, &fs) || !fs.f_blocks)
		return true;
	reserve = fs.f_blocks * fs.f_frsize / 4;
	if (reserve > WRITER_RESERVE)
		reserve = WRITER_RESERVE;
	return (uint64_t)fs.f_bavail * fs.f_frsize >= reserve + len;
}

int writer_file_write(int fd, const char *bytes, size_t len, size_t *at)
{
	while (*at < len) {
		const ssize_t n = write(fd, bytes + *at, len - *at);

		if (n > 0)
			*at += (size_t)n;
		else if (!n || errno != EINTR)
			return n ? -errno : -EIO;
	}
	return 0;
}

void writer_file_cut(int fd, size_t bytes)
{
	struct stat st;
	off_t end;

	if (!bytes || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	end = lseek(fd, 0, SEEK_CUR) - (off_t)bytes;
	if (end < 0 || ftruncate(fd, end) || lseek(fd, end, SEEK_SET) < 0)
		return; /* the reader of the file finds the cut item */
}
