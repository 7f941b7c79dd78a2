/* writer.c: writes items to a file, or to one file after another: the side of its caller. */
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/clock/vt_clock.h"
#include "channels/rec/writer_inside.h"

#define CHUNK_BYTES (1u << 17)
#define SLOW_NS 1000000000 /* writer_finish reports a slow file after this time */

/* ---- chunks, under lock as all up to writer_open ---- */

void writer_hand_over(struct writer *w)
{
	if (!w->now || !w->now->len)
		return;
	w->now->next = NULL;
	*w->last = w->now;
	w->last = &w->now->next;
	w->now = NULL;
	pthread_cond_signal(&w->more);
}

void writer_free_chunk(struct writer *w, struct writer_chunk *c)
{
	w->memory -= sizeof(*c) + c->room;
	free(c);
}

struct writer_chunk *writer_take_first(struct writer *w)
{
	struct writer_chunk *c = w->first;

	w->first = c->next;
	if (!w->first)
		w->last = &w->first;
	return c;
}

static struct writer_chunk *new_chunk(struct writer *w, size_t room, int64_t t_ns)
{
	struct writer_chunk *c = malloc(sizeof(*c) + room);

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

static void end_item(struct writer_chunk *c, bool counts)
{
	c->item[c->items].end = (uint32_t)c->len & 0x7fffffff;
	c->item[c->items++].counts = counts;
}

/* The beginning of a file. */
static void put_begin(struct writer *w, struct writer_chunk *c)
{
	c->begins = true;
	c->len = w->options.begin(w->options.to, c->bytes, c->room);
	end_item(c, false);
}

/* The two oldest chunks give way to one with a note, and with the beginning of a file if that was among them. */
static bool drop_oldest(struct writer *w)
{
	bool begins = false;
	struct writer_chunk *note;
	unsigned int piece = w->piece;
	int64_t t_ns = 0;

	if (!w->options.lose || !w->first || !w->first->next)
		return false;
	for (int i = 0; i < 2; i++) {
		struct writer_chunk *c = writer_take_first(w);

		begins = c->begins || (begins && c->piece == piece);
		piece = c->piece;
		t_ns = c->t_ns;
		w->options.lose(w->options.to, c->bytes, c->len);
		writer_free_chunk(w, c);
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

static bool is_full(const struct writer *w, size_t room)
{
	return !w->ending && w->memory + sizeof(*w->now) + room > w->options.memory;
}

/* On a virtual clock, which stands still meanwhile: what is lost must not depend on the speed of the disk. */
static void await_room(struct writer *w, size_t room)
{
	const int64_t until_ns = clock_real.now() + WRITER_GIVE_UP_NS;
	const struct timespec until = { until_ns / NS_PER_S, until_ns % NS_PER_S };

	while (vt_clock_end() && w->started && is_full(w, room) && w->memory && !w->stats.error &&
	       clock_real.now() < until_ns)
		pthread_cond_timedwait(&w->freed, &w->lock, &until);
}

/* A chunk to fill, with room for an item of len bytes. */
static bool take_chunk(struct writer *w, size_t len, int64_t t_ns)
{
	size_t room = len > CHUNK_BYTES ? len : CHUNK_BYTES;

	await_room(w, room);
	while (is_full(w, room))
		if (!drop_oldest(w))
			return false;
	w->now = new_chunk(w, room, t_ns);
	pthread_cond_signal(&w->more); /* the thread waits until the chunk is due */
	return w->now;
}

/* ---- pieces ---- */

static bool piece_is_over(const struct writer *w, size_t len, int64_t t_ns)
{
	const struct writer_options *o = &w->options;

	return (o->rotate_bytes && w->piece_bytes && w->piece_bytes + (int64_t)len > o->rotate_bytes) ||
	       (o->every_ns && t_ns >= w->piece_end_ns) || w->removed;
}

/* false: there is no memory for its beginning. */
static bool begin_file(struct writer *w, int64_t t_ns)
{
	struct writer_chunk *c = w->options.begin ? new_chunk(w, CHUNK_BYTES, t_ns) : NULL;

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
	writer_hand_over(w);
	w->piece++;
	if (every && t_ns >= w->piece_end_ns) /* a time without items makes no piece */
		w->piece_end_ns += ((t_ns - w->piece_end_ns) / every + 1) * every;
	return begin_file(w, t_ns);
}

/* ---- opening ---- */

static int refuse(struct writer *w, int r, const char *why)
{
	return error_refuse(w->errors, r, "%s: %s", *w->path ? w->path : w->options.path, why);
}

static int open_first(struct writer *w)
{
	const char *why;
	const int r = writer_open_first(w, &why);

	return r ? refuse(w, r, why) : 0;
}

static int start_thread(struct writer *w)
{
	sigset_t all, before;
	int r;

	sigfillset(&all); /* also SIGPIPE and SIGXFSZ: the write fails instead */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_create(&w->thread, NULL, writer_run, w);
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
	pthread_cond_init(&w->freed, &attr);
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

/* ---- the calls ---- */

bool writer_put(struct writer *w, int64_t t_ns, bool counts, const struct iovec *parts, size_t n)
{
	size_t len = 0;
	bool begun, taken;

	for (size_t i = 0; i < n; i++)
		len += parts[i].iov_len;
	pthread_mutex_lock(&w->lock);
	begun = choose_piece(w, len, t_ns);
	if (w->now && (w->now->len + len > w->now->room || w->now->items == WRITER_CHUNK_ITEMS))
		writer_hand_over(w);
	taken = begun && (w->now || take_chunk(w, len, t_ns));
	if (taken) {
		struct writer_chunk *c = w->now;

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
	struct clock_fd fds[] = { { .fd = w->ended_fd, .events = POLLIN },
				  { .fd = clock_stop_fd(), .events = POLLIN } };
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
		free(writer_take_first(w));
	free(w->now);
	writer_close_file(w);
	if (w->ended_fd >= 0)
		close(w->ended_fd);
	pthread_cond_destroy(&w->more);
	pthread_cond_destroy(&w->freed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
