/* spool.c: lines on their way to a file, or to one file after another. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "can/tool/pieces.h"
#include "can/tool/spool.h"

#define SPOOL_CHUNK (1u << 17)

/* Lines of one piece, for one write. */
struct chunk {
	struct chunk *next;
	unsigned int piece, frames;
	size_t len;
	char text[SPOOL_CHUNK];
};

struct spool {
	struct spool_options options;
	bool pieces;

	/* the reader's */
	struct chunk *now; /* being filled; NULL: none */
	unsigned int piece;
	int64_t piece_bytes, piece_end_ns;
	bool begun, ending;

	/* both, under lock */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct chunk *first, **last; /* to be written */
	struct chunk *spare;
	size_t chunks; /* there are */
	bool busy, finish;
	struct spool_stats stats;

	/* the thread's */
	pthread_t thread;
	bool started;
	int fd, ended_fd;
	bool regular;
	unsigned int open_piece;
	char path[PATH_MAX];
};

/* ---- opening ---- */

static int open_piece(struct spool *s, unsigned int piece)
{
	int r = pieces_path(s->path, s->options.path, piece);

	if (r)
		return r;
	s->fd = open(s->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (s->fd < 0)
		return -errno;
	s->open_piece = piece;
	pthread_mutex_lock(&s->lock);
	s->stats.pieces++;
	pthread_mutex_unlock(&s->lock);
	if (s->options.keep && piece > s->options.keep)
		pieces_highest(s->options.path, piece - (unsigned int)s->options.keep);
	return 0;
}

static int refuse(struct error_sink *errors, int r, const char *path, const char *why)
{
	error_add(errors, "%s: %s", path, why);
	return r;
}

static int open_first(struct spool *s, struct error_sink *errors)
{
	const char *path = s->options.path;
	struct stat st;
	int r;

	snprintf(s->path, sizeof(s->path), "%s", path);
	if (s->pieces) {
		s->piece = pieces_highest(path, 0) + 1;
		r = open_piece(s, s->piece);
		if (r)
			return refuse(errors, r, s->path, strerror(-r));
	} else if (!strcmp(path, "-")) {
		s->fd = STDOUT_FILENO;
	} else {
		if (!stat(path, &st) && S_ISREG(st.st_mode) && st.st_size && !s->options.force)
			return refuse(errors, -EEXIST, path, "is there already (--force replaces it)");
		/* A FIFO that nobody reads is to be said, not waited for. */
		s->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
		if (s->fd < 0)
			return refuse(errors, -errno, path, errno == ENXIO ? "nobody reads from it" : strerror(errno));
		fcntl(s->fd, F_SETFL, fcntl(s->fd, F_GETFL) & ~O_NONBLOCK);
	}
	s->regular = !fstat(s->fd, &st) && S_ISREG(st.st_mode);
	return 0;
}

/* ---- the thread ---- */

static unsigned int count_frames(const char *text, size_t len)
{
	unsigned int n = 0;

	for (const char *p = text, *end; len && (end = memchr(p, '\n', len)); p = end + 1) {
		n += *p == '(';
		len -= (size_t)(end + 1 - p);
	}
	return n;
}

/* Writes what it can; done says how much of it is whole lines. */
static int write_lines(struct spool *s, const struct chunk *c, size_t *done)
{
	const char *newline;
	size_t at = 0;
	int r = 0;

	while (at < c->len && !r) {
		ssize_t n = write(s->fd, c->text + at, c->len - at);

		if (n > 0)
			at += (size_t)n;
		else if (!n || errno != EINTR)
			r = n ? -errno : -EIO;
	}
	newline = at ? memrchr(c->text, '\n', at) : NULL;
	*done = newline ? (size_t)(newline + 1 - c->text) : 0;
	if (*done < at && s->regular) {
		off_t end = lseek(s->fd, 0, SEEK_CUR);

		if (end < 0 || ftruncate(s->fd, end - (off_t)(at - *done)))
			return r;
	}
	return r;
}

static int close_file(struct spool *s)
{
	int r = 0;

	if (s->fd >= 0 && s->fd != STDOUT_FILENO && close(s->fd))
		r = -errno; /* a file system that writes late says here that it could not */
	s->fd = -1;
	return r;
}

static int write_chunk(struct spool *s, const struct chunk *c)
{
	size_t done = 0;
	int r = 0;

	if (s->pieces && c->piece != s->open_piece) {
		r = close_file(s);
		if (!r)
			r = open_piece(s, c->piece);
	}
	if (!r)
		r = write_lines(s, c, &done);
	pthread_mutex_lock(&s->lock);
	s->stats.bytes += done;
	s->stats.frames += done == c->len ? c->frames : count_frames(c->text, done);
	pthread_mutex_unlock(&s->lock);
	return r;
}

static struct chunk *next_chunk(struct spool *s, struct chunk *written)
{
	struct chunk *c;

	pthread_mutex_lock(&s->lock);
	if (written) {
		written->next = s->spare;
		s->spare = written;
	}
	s->busy = false;
	while (!s->first && !s->finish)
		pthread_cond_wait(&s->more, &s->lock);
	c = s->first;
	if (c) {
		s->busy = true;
		s->first = c->next;
		if (!s->first)
			s->last = &s->first;
	}
	pthread_mutex_unlock(&s->lock);
	return c;
}

static void *run(void *arg)
{
	struct spool *s = arg;
	struct chunk *c = NULL;
	uint64_t one = 1;
	int r = 0;

	while (!r && (c = next_chunk(s, c)))
		r = write_chunk(s, c);
	free(c); /* of a write that failed */
	if (!r)
		r = close_file(s);
	pthread_mutex_lock(&s->lock);
	s->stats.error = r;
	pthread_mutex_unlock(&s->lock);
	while (write(s->ended_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return NULL;
}

/* ---- the reader's side ---- */

int spool_open(struct spool **spool, const struct spool_options *options, struct error_sink *errors)
{
	struct spool *s = calloc(1, sizeof(*s));
	int r;

	*spool = NULL;
	if (!s)
		return refuse(errors, -ENOMEM, options->path, strerror(ENOMEM));
	s->options = *options;
	s->pieces = options->rotate_bytes || options->every_ns;
	s->fd = -1;
	s->last = &s->first;
	s->ended_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	r = s->ended_fd < 0 ? refuse(errors, -errno, options->path, strerror(errno)) : open_first(s, errors);
	if (!r) {
		r = -pthread_create(&s->thread, NULL, run, s);
		if (r)
			error_add(errors, "no thread: %s", strerror(-r));
		s->started = !r;
	}
	if (r)
		spool_close(s);
	else
		*spool = s;
	return r;
}

/* The one that is filled goes to the thread; only_if_idle: it stays if the thread has enough to do. */
static void hand_over(struct spool *s, bool only_if_idle)
{
	if (!s->now || !s->now->len)
		return;
	pthread_mutex_lock(&s->lock);
	if (!only_if_idle || (!s->busy && !s->first)) {
		s->now->next = NULL;
		*s->last = s->now;
		s->last = &s->now->next;
		s->now = NULL;
		pthread_cond_signal(&s->more);
	}
	pthread_mutex_unlock(&s->lock);
}

static bool take_chunk(struct spool *s)
{
	pthread_mutex_lock(&s->lock);
	s->now = s->spare;
	if (s->now)
		s->spare = s->now->next;
	pthread_mutex_unlock(&s->lock);
	if (!s->now && (s->ending || s->chunks * sizeof(*s->now) < s->options.memory)) {
		s->now = malloc(sizeof(*s->now));
		s->chunks += s->now != NULL;
	}
	if (!s->now)
		return false;
	s->now->piece = s->piece;
	s->now->len = 0;
	s->now->frames = 0;
	return true;
}

static bool piece_is_over(const struct spool *s, size_t len, int64_t t_ns)
{
	const struct spool_options *o = &s->options;

	return s->begun && ((o->rotate_bytes && s->piece_bytes && s->piece_bytes + (int64_t)len > o->rotate_bytes) ||
			    (o->every_ns && t_ns >= s->piece_end_ns));
}

static void begin_piece(struct spool *s, int64_t t_ns)
{
	int64_t every = s->options.every_ns;

	s->piece_bytes = 0;
	if (!s->begun)
		s->piece_end_ns = t_ns + every;
	else if (every && t_ns >= s->piece_end_ns) /* time without a line makes no piece */
		s->piece_end_ns += ((t_ns - s->piece_end_ns) / every + 1) * every;
	s->begun = true;
}

bool spool_line(struct spool *s, const char *text, size_t len, int64_t t_ns, unsigned int frames)
{
	if (piece_is_over(s, len, t_ns)) {
		hand_over(s, false);
		s->piece++;
		begin_piece(s, t_ns);
	} else if (!s->begun) {
		begin_piece(s, t_ns);
	}
	if (s->now && s->now->len + len > SPOOL_CHUNK)
		hand_over(s, false);
	if (!s->now && !take_chunk(s))
		return false;
	memcpy(s->now->text + s->now->len, text, len);
	s->now->len += len;
	s->now->frames += frames;
	s->piece_bytes += (int64_t)len;
	return true;
}

void spool_flush(struct spool *s)
{
	hand_over(s, true);
}

bool spool_pending(const struct spool *s)
{
	return s->now && s->now->len;
}

void spool_ending(struct spool *s)
{
	s->ending = true;
}

void spool_finish(struct spool *s)
{
	hand_over(s, false);
	pthread_mutex_lock(&s->lock);
	s->finish = true;
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
}

/* ---- how it is ---- */

int spool_ended_fd(const struct spool *s)
{
	return s->ended_fd;
}

struct spool_stats spool_stats(struct spool *s)
{
	struct spool_stats stats;

	pthread_mutex_lock(&s->lock);
	stats = s->stats;
	pthread_mutex_unlock(&s->lock);
	return stats;
}

const char *spool_path(const struct spool *s)
{
	return s->path;
}

void spool_close(struct spool *s)
{
	if (!s)
		return;
	if (s->started) {
		spool_finish(s);
		pthread_join(s->thread, NULL);
	}
	while (s->first || s->spare) {
		struct chunk **from = s->first ? &s->first : &s->spare, *c = *from;

		*from = c->next;
		free(c);
	}
	free(s->now);
	close_file(s);
	if (s->ended_fd >= 0)
		close(s->ended_fd);
	pthread_cond_destroy(&s->more);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
