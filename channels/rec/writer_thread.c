/* writer_thread.c: the thread of a writer, which writes the chunks that its caller filled. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/rec/writer_inside.h"
#include "config/base/ns.h"

#define FLUSH_NS 50000000   /* kill -9 costs the items of this time */
#define RETRY_NS 1000000000 /* until a write that failed is tried again */

int writer_open_piece(struct writer *w, unsigned int piece)
{
	const int r = writer_file_open_piece(&w->file, piece);

	if (r)
		return r;
	pthread_mutex_lock(&w->lock);
	w->stats.pieces++;
	pthread_mutex_unlock(&w->lock);
	return 0;
}

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
	writer_file_cut(w->file.fd, at - c->done);
}

/* Passes the items of c, or NULL and the end of the file, to options.convert.  0 or -errno. */
static int convert(struct writer *w, struct writer_chunk *c, const char *items, size_t len)
{
	const int64_t bytes = w->options.convert(w->options.with, w->file.fd, items, len, !c && items);

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
	int r = 0, closed;

	if (w->file.fd >= 0 && w->options.end && !w->file.unnamed) {
		len = w->options.end(w->options.to, w->stats.items - w->items_before, t_ns, bytes);
		r = w->options.convert ? convert(w, NULL, bytes, len) : writer_file_write(w->file.fd, bytes, len, &at);
		if (r)
			writer_file_cut(w->file.fd, at);
	}
	w->items_before = w->stats.items;
	closed = writer_file_close(&w->file);
	return r ? r : closed;
}

static int write_chunk(struct writer *w, struct writer_chunk *c)
{
	size_t at;
	int r = 0;

	if (w->pieces && c->piece != w->file.piece) {
		r = end_file(w, c->t_ns);
		if (!r || w->options.lasting)
			r = writer_open_piece(w, c->piece);
		if (r)
			return r;
	}
	if (w->options.convert)
		return convert(w, c, c->bytes, c->len);
	at = c->done;
	r = writer_file_has_room(&w->file, c->len) ? writer_file_write(w->file.fd, c->bytes, c->len, &at) : -ENOSPC;
	if (w->file.unnamed) {
		if (!r)
			r = writer_file_give_name(&w->file);
		if (r) {
			writer_file_drop(&w->file);
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

	if (!w->options.lasting || w->file.fd < 0 || fstat(w->file.fd, &st))
		return;
	pthread_mutex_lock(&w->lock);
	w->stats.error = 0;
	w->removed |= !st.st_nlink && w->file.piece == w->piece;
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
