/* writer_thread.c: the thread of a writer, which writes the chunks that its caller filled to a file or to pieces. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/rec/rec_rotate.h"
#include "channels/rec/writer_inside.h"

#define FLUSH_NS 50000000   /* kill -9 costs the items of this time */
#define RETRY_NS 1000000000 /* until a write that failed is tried again */

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

static int open_piece(struct writer *w, unsigned int piece)
{
	const struct writer_options *o = &w->options;
	int r = rec_rotate_path(w->path, o->path, o->digits, piece);

	w->unnamed = o->begin;
	if (!r && w->unnamed)
		r = rec_rotate_hidden_path(w->hidden, o->path);
	if (r)
		return r;
	make_room(o);
	w->fd = open(w->unnamed ? w->hidden : w->path, O_WRONLY | O_CREAT | O_CLOEXEC | (w->unnamed ? O_TRUNC : O_EXCL),
		     0666);
	if (w->fd < 0)
		return -errno;
	w->file_piece = piece;
	pthread_mutex_lock(&w->lock);
	w->stats.pieces++;
	pthread_mutex_unlock(&w->lock);
	return 0;
}

/* A piece that has a beginning gets its name when that is written: a process killed before leaves no piece. */
static int give_name(struct writer *w)
{
	if (renameat2(AT_FDCWD, w->hidden, AT_FDCWD, w->path, RENAME_NOREPLACE) &&
	    (errno != EINVAL || rename(w->hidden, w->path))) /* a file system that knows only rename */
		return -errno;
	w->unnamed = false;
	return 0;
}

/* ---- any file ---- */

int writer_open_first(struct writer *w, const char **why)
{
	const char *path = w->options.path;
	struct rec_piece *pieces;
	struct stat st;
	size_t n;
	int r;

	if (w->pieces) {
		n = writer_pieces(path, &pieces);
		w->piece = n ? pieces[n - 1].number + 1 : 1;
		free(pieces);
		r = w->options.begin ? 0 : open_piece(w, w->piece);
		*why = strerror(-r);
		return r;
	}
	snprintf(w->path, sizeof(w->path), "%s", path);
	if (!strcmp(path, "-")) {
		w->fd = STDOUT_FILENO;
		return 0;
	}
	if (!stat(path, &st) && S_ISREG(st.st_mode) && st.st_size && !w->options.force) {
		*why = "exists already (--force replaces it)";
		return -EEXIST;
	}
	/* O_NONBLOCK: fail at once if no process reads the FIFO. */
	w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
	if (w->fd < 0) {
		*why = errno == ENXIO ? "no process reads from it" : strerror(errno);
		return -errno;
	}
	fcntl(w->fd, F_SETFL, fcntl(w->fd, F_GETFL) & ~O_NONBLOCK);
	return 0;
}

int writer_close_file(struct writer *w)
{
	int r = 0;

	if (w->fd >= 0 && w->fd != STDOUT_FILENO && close(w->fd))
		r = -errno; /* some file systems report a failed write only here */
	w->fd = -1;
	return r;
}

/* Is there room for len bytes beside what is left to others? */
static bool has_room(const struct writer *w, size_t len)
{
	struct statvfs fs;
	uint64_t reserve;

	if (!w->options.lasting || fstatvfs(w->fd, &fs) || !fs.f_blocks)
		return true;
	reserve = fs.f_blocks * fs.f_frsize / 4;
	if (reserve > WRITER_RESERVE)
		reserve = WRITER_RESERVE;
	return (uint64_t)fs.f_bavail * fs.f_frsize >= reserve + len;
}

/* From *at on, which is then the end of what was written.  0 or -errno. */
static int write_from(int fd, const char *bytes, size_t len, size_t *at)
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

/* Takes that many bytes off the end, if it is a regular file. */
static void cut(int fd, size_t bytes)
{
	struct stat st;
	off_t end;

	if (!bytes || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return;
	end = lseek(fd, 0, SEEK_CUR) - (off_t)bytes;
	if (end < 0 || ftruncate(fd, end) || lseek(fd, end, SEEK_SET) < 0)
		return; /* the reader of the file finds the cut item */
}

int writer_write(int fd, const void *bytes, size_t len)
{
	size_t at = 0;
	const int r = write_from(fd, bytes, len, &at);

	if (r)
		cut(fd, at);
	return r;
}

/* ---- chunks ---- */

/* Cuts a regular file after the whole items among the bytes of c that were written, up to at, and counts these. */
static void keep_whole(struct writer *w, struct writer_chunk *c, size_t at)
{
	pthread_mutex_lock(&w->lock);
	for (; c->written < c->items && c->item[c->written].end <= at; c->written++) {
		w->stats.bytes += c->item[c->written].end - c->done;
		c->done = c->item[c->written].end;
		w->stats.items += c->item[c->written].counts;
	}
	pthread_mutex_unlock(&w->lock);
	cut(w->fd, at - c->done);
}

/* Passes the items of c, or NULL and the end of the file, to options.convert.  0 or -errno. */
static int convert(struct writer *w, struct writer_chunk *c, const char *items, size_t len)
{
	const int64_t bytes = w->options.convert(w->options.with, w->fd, items, len, !c && items);

	pthread_mutex_lock(&w->lock);
	for (unsigned int i = 0; bytes >= 0 && c && i < c->items; i++)
		w->stats.items += c->item[i].counts;
	if (bytes >= 0)
		w->stats.bytes = (uint64_t)bytes;
	pthread_mutex_unlock(&w->lock);
	return bytes < 0 ? (int)bytes : 0;
}

/* Writes the end of the file and closes it.  A file without room for its end is as one whose writer was killed. */
static int end_file(struct writer *w, int64_t t_ns)
{
	char bytes[WRITER_END_MAX];
	size_t len;
	int r = 0, closed;

	if (w->fd >= 0 && w->options.end && !w->unnamed) {
		len = w->options.end(w->options.to, w->stats.items - w->items_before, t_ns, bytes);
		r = w->options.convert ? convert(w, NULL, bytes, len) : writer_write(w->fd, bytes, len);
	}
	w->items_before = w->stats.items;
	closed = writer_close_file(w);
	return r ? r : closed;
}

static int write_chunk(struct writer *w, struct writer_chunk *c)
{
	size_t at;
	int r = 0;

	if (w->pieces && c->piece != w->file_piece) {
		r = end_file(w, c->t_ns);
		if (!r || w->options.lasting)
			r = open_piece(w, c->piece);
		if (r)
			return r;
	}
	if (w->options.convert)
		return convert(w, c, c->bytes, c->len);
	at = c->done;
	r = has_room(w, c->len) ? write_from(w->fd, c->bytes, c->len, &at) : -ENOSPC;
	if (w->unnamed && !r)
		r = give_name(w);
	if (w->unnamed) { /* its beginning could not be written: it is tried again */
		writer_close_file(w);
		unlink(w->hidden);
		w->file_piece = 0;
		return r;
	}
	keep_whole(w, c, at);
	return r;
}

/* After a write that failed: until it is tried again.  false: it is not, since the writer is to end. */
static bool await_retry(struct writer *w, int r)
{
	const int64_t until_ns = clock_real.now() + RETRY_NS;
	const struct timespec until = { until_ns / NS_PER_S, until_ns % NS_PER_S };
	bool again;

	pthread_mutex_lock(&w->lock);
	again = w->options.lasting && !w->finish;
	w->stats.error = r;
	pthread_cond_signal(&w->freed);
	while (again && !w->finish && clock_real.now() < until_ns)
		pthread_cond_timedwait(&w->more, &w->lock, &until);
	pthread_mutex_unlock(&w->lock);
	return again;
}

/* Was the piece removed while it is written?  Then the next item begins another one. */
static void check_piece(struct writer *w)
{
	struct stat st;

	if (!w->options.lasting || w->fd < 0 || fstat(w->fd, &st))
		return;
	pthread_mutex_lock(&w->lock);
	w->stats.error = 0;
	w->removed |= !st.st_nlink && w->file_piece == w->piece;
	pthread_mutex_unlock(&w->lock);
}

/* Under lock, which is released meanwhile.  An error comes again with the next items. */
static void pass_idle(struct writer *w)
{
	w->idle = true;
	pthread_mutex_unlock(&w->lock);
	convert(w, NULL, NULL, 0);
	pthread_mutex_lock(&w->lock);
}

/* Waits for a full chunk, or for a chunk that was begun FLUSH_NS ago.  NULL: there are no more. */
static struct writer_chunk *next_chunk(struct writer *w)
{
	const int64_t idle_ns = clock_real.now() + WRITER_IDLE_NS;
	const struct timespec idle = { idle_ns / NS_PER_S, idle_ns % NS_PER_S };
	struct writer_chunk *c;

	pthread_mutex_lock(&w->lock);
	while (!w->first && !(w->finish && !w->now)) {
		int64_t due_ns = w->now ? w->now->began_ns + FLUSH_NS : CLOCK_NEVER;
		struct timespec due = { due_ns / NS_PER_S, due_ns % NS_PER_S };

		if (w->now && (w->finish || clock_real.now() >= due_ns))
			writer_hand_over(w);
		else if (w->now)
			pthread_cond_timedwait(&w->more, &w->lock, &due);
		else if (!w->options.convert || w->idle)
			pthread_cond_wait(&w->more, &w->lock);
		else if (clock_real.now() < idle_ns)
			pthread_cond_timedwait(&w->more, &w->lock, &idle);
		else
			pass_idle(w);
	}
	w->idle = false;
	c = w->first ? writer_take_first(w) : NULL;
	pthread_mutex_unlock(&w->lock);
	return c;
}

void *writer_run(void *arg)
{
	struct writer *w = arg;
	struct writer_chunk *c;
	uint64_t one = 1;
	int r = 0;

	while (!r && (c = next_chunk(w))) {
		while ((r = write_chunk(w, c)) && await_retry(w, r))
			;
		check_piece(w);
		pthread_mutex_lock(&w->lock);
		writer_free_chunk(w, c);
		pthread_cond_signal(&w->freed);
		pthread_mutex_unlock(&w->lock);
	}
	if (!r)
		r = end_file(w, w->end_ns);
	w->error = r;
	while (write(w->ended_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return NULL;
}
