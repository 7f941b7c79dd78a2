/* writer.c: writes items to a file, or to one file after another, in a thread of its own. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "channels/clock.h"
#include "channels/tool/pieces.h"
#include "channels/tool/tool.h"
#include "channels/tool/writer.h"

#define CHUNK_BYTES (1u << 17)
#define CHUNK_ITEMS 4096
#define FLUSH_NS 50000000   /* kill -9 costs the items of this time */
#define RETRY_NS 1000000000 /* until a write that failed is tried again */
#define SLOW_NS 1000000000  /* writer_finish reports a slow file after this time */

/* Items of one piece, for one write. */
struct chunk {
	struct chunk *next;
	unsigned int piece, items;
	bool begins;	  /* with what options.begin wrote */
	int64_t began_ns; /* in real time, which is the thread's */
	int64_t t_ns;	  /* of its first item */
	size_t len, room;
	size_t done;	      /* bytes in the file */
	unsigned int written; /* items */
	struct {
		uint32_t end : 31, counts : 1;
	} item[CHUNK_ITEMS];
	char bytes[];
};

struct writer {
	struct writer_options options;
	struct error_sink *errors;
	bool pieces;

	/* the caller's */
	unsigned int piece;
	int64_t piece_bytes, piece_end_ns, end_ns;
	bool begun, ending, given_up;

	/* both, under lock */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct chunk *now;	     /* being filled; NULL: none */
	struct chunk *first, **last; /* to be written */
	size_t memory;		     /* of all chunks */
	bool finish, removed;	     /* the piece was */
	struct writer_stats stats;

	/* the thread's */
	pthread_t thread;
	bool started;
	int fd, ended_fd;
	int error; /* read after ended_fd became readable */
	unsigned int open_piece;
	bool unnamed; /* the piece is in the hidden file */
	bool idle;    /* options.convert knows that there are no items */
	uint64_t items_before;
	char path[PATH_MAX], hidden[PATH_MAX];
};

/* ---- pieces ---- */

size_t writer_pieces(const char *whole, struct piece **pieces)
{
	char folder[PATH_MAX];
	size_t n = 0, room = 0;
	const struct dirent *file;
	DIR *dir;

	*pieces = NULL;
	pieces_folder(folder, whole);
	dir = opendir(folder);
	while (dir && (file = readdir(dir))) {
		const unsigned int number = pieces_number(whole, file->d_name);
		struct stat st;

		if (!number || fstatat(dirfd(dir), file->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (n == room) {
			struct piece *more = realloc(*pieces, (room = 2 * room + 64) * sizeof(*more));

			if (!more)
				break; /* the others are found next time */
			*pieces = more;
		}
		(*pieces)[n++] = (struct piece){ number, st.st_size };
	}
	if (dir)
		closedir(dir);
	pieces_sort(*pieces, n);
	return n;
}

/* Removes the oldest until there is room for the next. */
static void make_room(const struct writer *w)
{
	const struct writer_options *o = &w->options;
	struct piece *pieces;
	size_t n, over;

	if (!o->keep && !o->total_bytes)
		return;
	n = writer_pieces(w->options.path, &pieces);
	over = pieces_over(pieces, n, o->keep, o->total_bytes, o->rotate_bytes);
	for (size_t i = 0; i < over; i++) {
		char path[PATH_MAX];

		if (!pieces_path(path, o->path, o->digits, pieces[i].number))
			unlink(path);
	}
	free(pieces);
}

static unsigned int newest_piece(const struct writer *w)
{
	struct piece *pieces;
	const size_t n = writer_pieces(w->options.path, &pieces);
	const unsigned int newest = n ? pieces[n - 1].number : 0;

	free(pieces);
	return newest;
}

/* ---- opening ---- */

/* A piece that has a beginning gets its name when that is written: a process killed before leaves no piece. */
static int open_piece(struct writer *w, unsigned int piece)
{
	int r = pieces_path(w->path, w->options.path, w->options.digits, piece);

	w->unnamed = w->options.begin;
	if (!r && w->unnamed)
		r = pieces_hidden_path(w->hidden, w->options.path);
	if (r)
		return r;
	make_room(w);
	w->fd = open(w->unnamed ? w->hidden : w->path, O_WRONLY | O_CREAT | O_CLOEXEC | (w->unnamed ? O_TRUNC : O_EXCL),
		     0666);
	if (w->fd < 0)
		return -errno;
	w->open_piece = piece;
	pthread_mutex_lock(&w->lock);
	w->stats.pieces++;
	pthread_mutex_unlock(&w->lock);
	return 0;
}

static int give_name(struct writer *w)
{
	if (renameat2(AT_FDCWD, w->hidden, AT_FDCWD, w->path, RENAME_NOREPLACE) &&
	    (errno != EINVAL || rename(w->hidden, w->path))) /* a file system that knows only rename */
		return -errno;
	w->unnamed = false;
	return 0;
}

static int refuse(struct writer *w, int r, const char *why)
{
	return error_refuse(w->errors, r, "%s: %s", *w->path ? w->path : w->options.path, why);
}

static int open_first(struct writer *w)
{
	const char *path = w->options.path;
	struct stat st;
	int r;

	if (w->pieces) {
		w->piece = newest_piece(w) + 1;
		r = w->options.begin ? 0 : open_piece(w, w->piece);
		return r ? refuse(w, r, strerror(-r)) : 0;
	}
	snprintf(w->path, sizeof(w->path), "%s", path);
	if (!strcmp(path, "-")) {
		w->fd = STDOUT_FILENO;
		return 0;
	}
	if (!stat(path, &st) && S_ISREG(st.st_mode) && st.st_size && !w->options.force)
		return refuse(w, -EEXIST, "exists already (--force replaces it)");
	/* O_NONBLOCK: fail at once if no process reads the FIFO. */
	w->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
	if (w->fd < 0)
		return refuse(w, -errno, errno == ENXIO ? "no process reads from it" : strerror(errno));
	fcntl(w->fd, F_SETFL, fcntl(w->fd, F_GETFL) & ~O_NONBLOCK);
	return 0;
}

static int close_file(struct writer *w)
{
	int r = 0;

	if (w->fd >= 0 && w->fd != STDOUT_FILENO && close(w->fd))
		r = -errno; /* some file systems report a failed write only here */
	w->fd = -1;
	return r;
}

/* ---- the thread ---- */

/* Cuts a regular file after the whole items among the bytes of c that were written, up to at, and counts these. */
static void keep_whole(struct writer *w, struct chunk *c, size_t at)
{
	struct stat st;

	pthread_mutex_lock(&w->lock);
	for (; c->written < c->items && c->item[c->written].end <= at; c->written++) {
		w->stats.bytes += c->item[c->written].end - c->done;
		c->done = c->item[c->written].end;
		w->stats.items += c->item[c->written].counts;
	}
	pthread_mutex_unlock(&w->lock);
	if (c->done < at && !fstat(w->fd, &st) && S_ISREG(st.st_mode)) {
		const off_t end = lseek(w->fd, 0, SEEK_CUR) - (off_t)(at - c->done);

		if (end < 0 || ftruncate(w->fd, end) || lseek(w->fd, end, SEEK_SET) < 0)
			return; /* the reader of the file finds the cut item */
	}
}

/* From *at on, which is then the end of what was written.  0 or -errno. */
static int write_bytes(int fd, const char *bytes, size_t len, size_t *at)
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

/* Passes the items of c, or NULL and the end of the file, to options.convert.  0 or -errno. */
static int convert(struct writer *w, struct chunk *c, const char *items, size_t len)
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
	size_t len, at = 0;
	off_t before;
	int r = 0, closed;

	if (w->fd >= 0 && w->options.end && !w->unnamed) {
		before = lseek(w->fd, 0, SEEK_CUR);
		len = w->options.end(w->options.to, w->stats.items - w->items_before, t_ns, bytes);
		r = w->options.convert ? convert(w, NULL, bytes, len) : write_bytes(w->fd, bytes, len, &at);
		if (r && at && before >= 0 && ftruncate(w->fd, before))
			r = -errno;
	}
	w->items_before = w->stats.items;
	closed = close_file(w);
	return r ? r : closed;
}

/* To be tried again, since its beginning could not be written. */
static void drop_unnamed(struct writer *w)
{
	close_file(w);
	unlink(w->hidden);
	w->open_piece = 0;
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

static int write_chunk(struct writer *w, struct chunk *c)
{
	size_t at;
	int r = 0;

	if (w->pieces && c->piece != w->open_piece) {
		r = end_file(w, c->t_ns);
		if (!r || w->options.lasting)
			r = open_piece(w, c->piece);
		if (r)
			return r;
	}
	if (w->options.convert)
		return convert(w, c, c->bytes, c->len);
	at = c->done;
	r = has_room(w, c->len) ? write_bytes(w->fd, c->bytes, c->len, &at) : -ENOSPC;
	if (w->unnamed) {
		if (!r)
			r = give_name(w);
		if (r) {
			drop_unnamed(w);
			return r;
		}
	}
	keep_whole(w, c, at);
	return r;
}

/* After a write that failed: until it is tried again.  false: it is not, since the writer is to end. */
static bool await_retry(struct writer *w, int r)
{
	const int64_t until_ns = clock_real.now() + RETRY_NS;
	const struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
	bool again;

	pthread_mutex_lock(&w->lock);
	again = w->options.lasting && !w->finish;
	w->stats.error = r;
	while (again && !w->finish && clock_real.now() < until_ns)
		pthread_cond_timedwait(&w->more, &w->lock, &until);
	pthread_mutex_unlock(&w->lock);
	return again;
}

/* Was the piece removed while it is written?  Then the next item begins another one. */
static void look_after_piece(struct writer *w)
{
	struct stat st;

	if (!w->options.lasting || w->fd < 0 || fstat(w->fd, &st))
		return;
	pthread_mutex_lock(&w->lock);
	w->stats.error = 0;
	w->removed |= !st.st_nlink && w->open_piece == w->piece;
	pthread_mutex_unlock(&w->lock);
}

/* Under lock: the chunk being filled is to be written. */
static void hand_over(struct writer *w)
{
	if (!w->now || !w->now->len)
		return;
	w->now->next = NULL;
	*w->last = w->now;
	w->last = &w->now->next;
	w->now = NULL;
	pthread_cond_signal(&w->more);
}

static void free_chunk(struct writer *w, struct chunk *c)
{
	w->memory -= sizeof(*c) + c->room;
	free(c);
}

/* Under lock. */
static struct chunk *take_first(struct writer *w)
{
	struct chunk *c = w->first;

	w->first = c->next;
	if (!w->first)
		w->last = &w->first;
	return c;
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
static struct chunk *next_chunk(struct writer *w)
{
	const int64_t idle_ns = clock_real.now() + WRITER_IDLE_NS;
	const struct timespec idle = { idle_ns / 1000000000, idle_ns % 1000000000 };
	struct chunk *c;

	pthread_mutex_lock(&w->lock);
	while (!w->first && !(w->finish && !w->now)) {
		int64_t due_ns = w->now ? w->now->began_ns + FLUSH_NS : CLOCK_NEVER;
		struct timespec due = { due_ns / 1000000000, due_ns % 1000000000 };

		if (w->now && (w->finish || clock_real.now() >= due_ns))
			hand_over(w);
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
	c = w->first ? take_first(w) : NULL;
	pthread_mutex_unlock(&w->lock);
	return c;
}

static void *run(void *arg)
{
	struct writer *w = arg;
	struct chunk *c;
	uint64_t one = 1;
	int r = 0;

	while (!r && (c = next_chunk(w))) {
		while ((r = write_chunk(w, c)) && await_retry(w, r))
			;
		look_after_piece(w);
		pthread_mutex_lock(&w->lock);
		free_chunk(w, c);
		pthread_mutex_unlock(&w->lock);
	}
	if (!r)
		r = end_file(w, w->end_ns);
	w->error = r;
	while (write(w->ended_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return NULL;
}

/* ---- the caller ---- */

static int start_thread(struct writer *w)
{
	sigset_t all, before;
	int r;

	sigfillset(&all); /* also SIGPIPE and SIGXFSZ: the write fails instead */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_create(&w->thread, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	w->started = !r;
	return r ? refuse(w, r, "cannot start a thread") : 0;
}

/* Under lock, as all up to writer_open. */
static struct chunk *new_chunk(struct writer *w, size_t room, int64_t t_ns)
{
	struct chunk *c = malloc(sizeof(*c) + room);

	if (c) {
		c->piece = w->piece;
		c->begins = false;
		c->began_ns = clock_real.now();
		c->t_ns = t_ns;
		c->len = c->items = c->done = c->written = 0;
		c->room = room;
		w->memory += sizeof(*c) + room;
	}
	return c;
}

static void end_item(struct chunk *c, bool counts)
{
	c->item[c->items].end = (uint32_t)c->len & 0x7fffffff;
	c->item[c->items++].counts = counts;
}

/* The beginning of a file. */
static void put_begin(struct writer *w, struct chunk *c)
{
	c->begins = true;
	c->len = w->options.begin(w->options.to, c->bytes, c->room);
	end_item(c, false);
}

/* The two oldest chunks give way to one with a note, and with the beginning of a file if that was among them. */
static bool drop_oldest(struct writer *w)
{
	bool begins = false;
	struct chunk *note;
	unsigned int piece = w->piece;
	int64_t t_ns = 0;

	if (!w->options.lose || !w->first || !w->first->next)
		return false;
	for (int i = 0; i < 2; i++) {
		struct chunk *c = take_first(w);

		begins = c->begins || (begins && c->piece == piece);
		piece = c->piece;
		t_ns = c->t_ns;
		w->options.lose(w->options.to, c->bytes, c->len);
		free_chunk(w, c);
	}
	note = new_chunk(w, CHUNK_BYTES, t_ns);
	if (!note)
		return true;
	note->piece = piece;
	if (begins)
		put_begin(w, note);
	note->len += w->options.note(w->options.to, note->bytes + note->len, note->room - note->len);
	end_item(note, false);
	note->next = w->first;
	if (!w->first)
		w->last = &note->next;
	w->first = note;
	return true;
}

/* A chunk to fill, with room for an item of len bytes. */
static bool take_chunk(struct writer *w, size_t len, int64_t t_ns)
{
	size_t room = len > CHUNK_BYTES ? len : CHUNK_BYTES;

	while (!w->ending && w->memory + sizeof(*w->now) + room > w->options.memory)
		if (!drop_oldest(w))
			return false;
	w->now = new_chunk(w, room, t_ns);
	pthread_cond_signal(&w->more); /* the thread waits until the chunk is due */
	return w->now;
}

static bool piece_is_over(const struct writer *w, size_t len, int64_t t_ns)
{
	const struct writer_options *o = &w->options;

	return (o->rotate_bytes && w->piece_bytes && w->piece_bytes + (int64_t)len > o->rotate_bytes) ||
	       (o->every_ns && t_ns >= w->piece_end_ns) || w->removed;
}

/* false: there is no memory for its beginning. */
static bool begin_file(struct writer *w, int64_t t_ns)
{
	struct chunk *c = w->options.begin ? new_chunk(w, CHUNK_BYTES, t_ns) : NULL;

	w->piece_bytes = 0;
	w->removed = w->options.begin && !c; /* the next item tries again */
	if (!c)
		return !w->options.begin;
	w->now = c;
	pthread_cond_signal(&w->more); /* the thread waits until the chunk is due */
	put_begin(w, c);
	w->piece_bytes = (int64_t)c->len + WRITER_END_MAX;
	return true;
}

static bool choose_piece(struct writer *w, size_t len, int64_t t_ns)
{
	int64_t every = w->options.every_ns;

	if (!w->begun) {
		w->begun = true;
		w->piece_end_ns = t_ns + every;
		return true;
	}
	if (!piece_is_over(w, len, t_ns))
		return true;
	hand_over(w);
	w->piece++;
	if (every && t_ns >= w->piece_end_ns) /* a time without items makes no piece */
		w->piece_end_ns += ((t_ns - w->piece_end_ns) / every + 1) * every;
	return begin_file(w, t_ns);
}

int writer_open(struct writer **writer, const struct writer_options *options, struct error_sink *errors)
{
	struct writer *w = calloc(1, sizeof(*w));
	pthread_condattr_t attr;
	int r;

	*writer = NULL;
	if (!w)
		return error_refuse(errors, -ENOMEM, "no memory");
	w->options = *options;
	w->errors = errors;
	w->pieces = options->rotate_bytes || options->every_ns;
	w->fd = -1;
	w->last = &w->first;
	w->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->more, &attr);
	pthread_condattr_destroy(&attr);
	r = w->ended_fd < 0 ? refuse(w, -errno, strerror(errno)) : open_first(w);
	if (!r && !begin_file(w, clock_now_ns()))
		r = refuse(w, -ENOMEM, "no memory");
	if (!r)
		r = start_thread(w);
	if (r)
		writer_close(w);
	else
		*writer = w;
	return r;
}

bool writer_put(struct writer *w, int64_t t_ns, bool counts, const struct iovec *parts, size_t n)
{
	size_t len = 0;
	bool begun, taken;

	for (size_t i = 0; i < n; i++)
		len += parts[i].iov_len;
	pthread_mutex_lock(&w->lock);
	begun = choose_piece(w, len, t_ns);
	if (w->now && (w->now->len + len > w->now->room || w->now->items == CHUNK_ITEMS))
		hand_over(w);
	taken = begun && (w->now || take_chunk(w, len, t_ns));
	if (taken) {
		struct chunk *c = w->now;

		for (size_t i = 0; i < n; i++) {
			memcpy(c->bytes + c->len, parts[i].iov_base, parts[i].iov_len);
			c->len += parts[i].iov_len;
		}
		end_item(c, counts);
		w->piece_bytes += (int64_t)len;
	}
	pthread_mutex_unlock(&w->lock);
	return taken;
}

void writer_ending(struct writer *w)
{
	w->ending = true;
}

static void no_more(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->end_ns = clock_now_ns();
	w->finish = true;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
}

int writer_finish(struct writer *w)
{
	struct clock_fd fds[] = { { .fd = w->ended_fd, .events = POLLIN }, { .fd = tool_stop_fd(), .events = POLLIN } };
	struct signalfd_siginfo first;
	uint64_t bytes = 0;
	bool slow = false;

	while (read(fds[1].fd, &first, sizeof(first)) > 0) /* so that a second ^C can be seen */
		;
	no_more(w);
	for (;;) {
		/* The thread is in real time. */
		int r = clock_real.wait(fds, 2, clock_real.now() + (slow ? WRITER_GIVE_UP_NS : SLOW_NS));

		if (fds[0].ready)
			return w->error;
		if (r < 0 || fds[1].ready || (slow && writer_stats(w).bytes == bytes)) {
			w->given_up = true;
			return -ECANCELED;
		}
		if (!slow)
			error_add(w->errors, "%s is slow; ^C gives up what is not written yet", w->options.path);
		slow = true;
		bytes = writer_stats(w).bytes;
	}
}

int writer_ended_fd(const struct writer *w)
{
	return w->ended_fd;
}

struct writer_stats writer_stats(struct writer *w)
{
	struct writer_stats stats;

	pthread_mutex_lock(&w->lock);
	stats = w->stats;
	pthread_mutex_unlock(&w->lock);
	return stats;
}

const char *writer_path(const struct writer *w)
{
	return w->path;
}

void writer_close(struct writer *w)
{
	if (!w || w->given_up) /* the thread still uses it */
		return;
	if (w->started) {
		no_more(w);
		pthread_join(w->thread, NULL);
	}
	while (w->first)
		free(take_first(w));
	free(w->now);
	close_file(w);
	if (w->ended_fd >= 0)
		close(w->ended_fd);
	pthread_cond_destroy(&w->more);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
