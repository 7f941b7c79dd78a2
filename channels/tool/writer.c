/* writer.c: writes items to a file, or to one file after another, in a thread of its own. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/clock.h"
#include "channels/tool/tool.h"
#include "channels/tool/writer.h"

#define CHUNK_BYTES (1u << 17)
#define CHUNK_ITEMS 4096
#define FLUSH_NS 50000000  /* kill -9 costs the items of this time */
#define SLOW_NS 1000000000 /* writer_finish reports a slow file after this time */

/* Items of one piece, for one write. */
struct chunk {
	struct chunk *next;
	unsigned int piece, items;
	int64_t began_ns;
	size_t len, room;
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
	int64_t piece_bytes, piece_end_ns;
	bool begun, ending, given_up;

	/* both, under lock */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct chunk *now;	     /* being filled; NULL: none */
	struct chunk *first, **last; /* to be written */
	size_t memory;		     /* of all chunks */
	bool taken;		     /* the thread has the first chunk */
	bool finish;
	struct writer_stats stats;

	/* the thread's */
	pthread_t thread;
	bool started;
	int fd, ended_fd;
	int error; /* read after ended_fd became readable */
	unsigned int open_piece;
	char path[PATH_MAX];
};

/* ---- the names of pieces: drive.log is drive-0001.log, drive-0002.log and so on ---- */

/* "drive.log" is "drive" and ".log"; the length of the first. */
static size_t stem_len(const char *path)
{
	const char *name = strrchr(path, '/'), *dot;

	name = name ? name + 1 : path;
	dot = strrchr(name, '.');
	return dot && dot != name ? (size_t)(dot - path) : strlen(path);
}

/* 0 or -ENAMETOOLONG. */
static int piece_path(char path[PATH_MAX], const char *whole, unsigned int piece)
{
	size_t stem = stem_len(whole);
	int n = snprintf(path, PATH_MAX, "%.*s-%04u%s", (int)stem, whole, piece, whole + stem);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* The number of a piece; 0 if the file is not a piece. */
static unsigned int number_of(const char *whole, const char *file)
{
	const char *slash = strrchr(whole, '/'), *name = slash ? slash + 1 : whole;
	size_t stem = stem_len(name);
	unsigned int number = 0;
	const char *p;

	if (strncmp(file, name, stem) != 0 || file[stem] != '-')
		return 0;
	for (p = file + stem + 1; *p >= '0' && *p <= '9' && number < 100000000; p++)
		number = number * 10 + (unsigned int)(*p - '0');
	return p >= file + stem + 5 && !strcmp(p, name + stem) ? number : 0;
}

/* Removes the pieces up to remove_to; returns the highest number found, 0 if there is no piece. */
static unsigned int highest_piece(const char *whole, unsigned int remove_to)
{
	const char *slash = strrchr(whole, '/');
	char folder[PATH_MAX];
	unsigned int highest = 0;
	struct dirent *file;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - whole) + 1 : 1, slash ? whole : ".");
	dir = opendir(folder);
	while (dir && (file = readdir(dir))) {
		unsigned int number = number_of(whole, file->d_name);

		if (number && number <= remove_to)
			unlinkat(dirfd(dir), file->d_name, 0);
		else
			highest = number > highest ? number : highest;
	}
	if (dir)
		closedir(dir);
	return highest;
}

/* ---- opening ---- */

static int open_piece(struct writer *w, unsigned int piece)
{
	int r = piece_path(w->path, w->options.path, piece);

	if (r)
		return r;
	w->fd = open(w->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (w->fd < 0)
		return -errno;
	w->open_piece = piece;
	pthread_mutex_lock(&w->lock);
	w->stats.pieces++;
	pthread_mutex_unlock(&w->lock);
	if (w->options.keep && piece > w->options.keep)
		highest_piece(w->options.path, piece - (unsigned int)w->options.keep);
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
		w->piece = highest_piece(path, 0) + 1;
		r = open_piece(w, w->piece);
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

/* Cuts a regular file after the whole items of the len bytes that were written, and counts these items. */
static void keep_whole(struct writer *w, const struct chunk *c, size_t len)
{
	size_t whole = 0;
	struct stat st;

	pthread_mutex_lock(&w->lock);
	for (unsigned int i = 0; i < c->items && c->item[i].end <= len; i++) {
		whole = c->item[i].end;
		w->stats.items += c->item[i].counts;
	}
	w->stats.bytes += whole;
	pthread_mutex_unlock(&w->lock);
	if (whole < len && !fstat(w->fd, &st) && S_ISREG(st.st_mode)) {
		off_t end = lseek(w->fd, 0, SEEK_CUR);

		if (end < 0 || ftruncate(w->fd, end - (off_t)(len - whole)))
			return; /* the reader of the file finds the cut item */
	}
}

static int write_chunk(struct writer *w, const struct chunk *c)
{
	size_t at = 0;
	int r = 0;

	if (w->pieces && c->piece != w->open_piece) {
		r = close_file(w);
		if (!r)
			r = open_piece(w, c->piece);
		if (r)
			return r;
	}
	while (at < c->len && !r) {
		ssize_t n = write(w->fd, c->bytes + at, c->len - at);

		if (n > 0)
			at += (size_t)n;
		else if (!n || errno != EINTR)
			r = n ? -errno : -EIO;
	}
	keep_whole(w, c, at);
	return r;
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

/* Waits for a full chunk, or for a chunk that was begun FLUSH_NS ago.  NULL: there are no more. */
static struct chunk *next_chunk(struct writer *w)
{
	struct chunk *c;

	pthread_mutex_lock(&w->lock);
	while (!w->first && !(w->finish && !w->now)) {
		int64_t due_ns = w->now ? w->now->began_ns + FLUSH_NS : CLOCK_NEVER;
		struct timespec due = { due_ns / 1000000000, due_ns % 1000000000 };

		if (w->now && (w->finish || clock_now_ns() >= due_ns))
			hand_over(w);
		else if (w->now)
			pthread_cond_timedwait(&w->more, &w->lock, &due);
		else
			pthread_cond_wait(&w->more, &w->lock);
	}
	c = w->first ? take_first(w) : NULL;
	w->taken = true;
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
		r = write_chunk(w, c);
		pthread_mutex_lock(&w->lock);
		free_chunk(w, c);
		pthread_mutex_unlock(&w->lock);
	}
	if (!r)
		r = close_file(w);
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
	if (!r)
		r = start_thread(w);
	if (r)
		writer_close(w);
	else
		*writer = w;
	return r;
}

/* Under lock, as all up to writer_put. */
static struct chunk *new_chunk(struct writer *w, size_t room)
{
	struct chunk *c = malloc(sizeof(*c) + room);

	if (c) {
		c->piece = w->piece;
		c->began_ns = clock_now_ns();
		c->len = c->items = 0;
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

/* The two oldest chunks give way to one with a note.  Not the first of all: a file begins with it. */
static bool drop_oldest(struct writer *w)
{
	struct chunk *note;

	if (!w->options.lose || !w->taken || !w->first || !w->first->next)
		return false;
	for (int i = 0; i < 2; i++) {
		struct chunk *c = take_first(w);

		w->options.lose(w->options.to, c->bytes, c->len);
		free_chunk(w, c);
	}
	note = new_chunk(w, CHUNK_BYTES);
	if (!note)
		return true;
	note->len = w->options.note(w->options.to, note->bytes, note->room);
	end_item(note, false);
	note->next = w->first;
	if (!w->first)
		w->last = &note->next;
	w->first = note;
	return true;
}

/* A chunk to fill, with room for an item of len bytes. */
static bool take_chunk(struct writer *w, size_t len)
{
	size_t room = len > CHUNK_BYTES ? len : CHUNK_BYTES;

	while (!w->ending && w->memory + sizeof(*w->now) + room > w->options.memory)
		if (!drop_oldest(w))
			return false;
	w->now = new_chunk(w, room);
	pthread_cond_signal(&w->more); /* the thread waits until the chunk is due */
	return w->now;
}

static bool piece_is_over(const struct writer *w, size_t len, int64_t t_ns)
{
	const struct writer_options *o = &w->options;

	return (o->rotate_bytes && w->piece_bytes && w->piece_bytes + (int64_t)len > o->rotate_bytes) ||
	       (o->every_ns && t_ns >= w->piece_end_ns);
}

static void choose_piece(struct writer *w, size_t len, int64_t t_ns)
{
	int64_t every = w->options.every_ns;

	if (!w->begun) {
		w->begun = true;
		w->piece_end_ns = t_ns + every;
	} else if (piece_is_over(w, len, t_ns)) {
		hand_over(w);
		w->piece++;
		w->piece_bytes = 0;
		if (every && t_ns >= w->piece_end_ns) /* a time without items makes no piece */
			w->piece_end_ns += ((t_ns - w->piece_end_ns) / every + 1) * every;
	}
}

bool writer_put(struct writer *w, int64_t t_ns, bool counts, const struct iovec *parts, size_t n)
{
	size_t len = 0;
	bool taken;

	for (size_t i = 0; i < n; i++)
		len += parts[i].iov_len;
	pthread_mutex_lock(&w->lock);
	choose_piece(w, len, t_ns);
	if (w->now && (w->now->len + len > w->now->room || w->now->items == CHUNK_ITEMS))
		hand_over(w);
	taken = w->now || take_chunk(w, len);
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
		int r = clock_wait(fds, 2, clock_now_ns() + (slow ? WRITER_GIVE_UP_NS : SLOW_NS));

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
