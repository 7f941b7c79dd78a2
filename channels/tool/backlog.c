/* backlog.c: between the reading of channels, which must not wait, and a disk, which may. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/clock.h"
#include "channels/tool/backlog.h"

#define BATCH_BYTES (1 << 20)
#define BATCH_RECORDS 4096
#define BATCH_WAIT_NS 50000000 /* what a recorder that is killed may lose */

/* A message in the memory.  Entries begin at multiples of their size, so that a head is in one piece; the body behind
 * it may go on at the front. */
struct entry {
	int64_t t_ns;
	uint64_t number, missed;
	uint32_t len;
	uint16_t channel, unused;
};
#define ENTRY_SIZE sizeof(struct entry)
_Static_assert(ENTRY_SIZE == 32, "a power of two, which divides the memory");

struct channel {
	struct reclog_channel what;
	bool announce;
	uint64_t missing; /* lost, and not yet written so */
	uint64_t lost;	  /* altogether */
};

struct backlog {
	pthread_mutex_t lock; /* of all up to the blank line; held for copies, never for a write */
	uint8_t *ring;
	size_t size;
	uint64_t head, tail; /* bytes ever put in and taken out */
	struct channel *channels;
	bool finish;

	size_t channels_n;
	int fd, wake, ended;
	pthread_t thread;
	bool started;
	_Atomic bool abandon;
	_Atomic int error;
	_Atomic uint64_t messages, bytes;

	uint8_t *out; /* the thread's own: records on their way */
	size_t out_len, out_room;
	struct reclog_record records[BATCH_RECORDS];
	size_t offsets[BATCH_RECORDS], records_n;
};

/* ---- the memory ---- */

static void ring_in(struct backlog *b, uint64_t at, const void *from, size_t len)
{
	size_t start = at % b->size, first = len < b->size - start ? len : b->size - start;

	memcpy(b->ring + start, from, first);
	memcpy(b->ring, (const uint8_t *)from + first, len - first);
}

static void ring_out(const struct backlog *b, uint64_t at, void *to, size_t len)
{
	size_t start = at % b->size, first = len < b->size - start ? len : b->size - start;

	memcpy(to, b->ring + start, first);
	memcpy((uint8_t *)to + first, b->ring, len - first);
}

static size_t entry_bytes(size_t len)
{
	return ENTRY_SIZE + (len + ENTRY_SIZE - 1) / ENTRY_SIZE * ENTRY_SIZE;
}

static void lose(struct backlog *b, uint16_t channel, uint64_t n)
{
	b->channels[channel].missing += n;
	b->channels[channel].lost += n;
}

static void lose_oldest(struct backlog *b)
{
	struct entry e;

	ring_out(b, b->tail, &e, sizeof(e));
	lose(b, e.channel, 1);
	b->channels[e.channel].missing += e.missed; /* counted as lost when it came */
	b->tail += entry_bytes(e.len);
}

static void rouse(int event)
{
	uint64_t one = 1;

	while (write(event, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

void backlog_message(struct backlog *b, const struct reclog_record *m, uint64_t missed)
{
	struct entry e = {
		.t_ns = m->t_ns, .number = m->number, .missed = missed, .len = (uint32_t)m->len, .channel = m->channel
	};
	size_t need = entry_bytes(m->len);
	uint64_t quarter = b->size / 4, before, after;

	pthread_mutex_lock(&b->lock);
	before = b->head - b->tail;
	b->channels[m->channel].lost += missed;
	if (need > b->size || m->len > RECLOG_BODY_MAX) {
		lose(b, m->channel, 1);
		b->channels[m->channel].missing += missed;
	} else {
		while (b->size - (b->head - b->tail) < need)
			lose_oldest(b);
		ring_in(b, b->head, &e, sizeof(e));
		ring_in(b, b->head + sizeof(e), m->body, m->len);
		b->head += need;
	}
	after = b->head - b->tail;
	pthread_mutex_unlock(&b->lock);
	if (before < quarter && after >= quarter)
		rouse(b->wake); /* sooner than it would look by itself */
}

void backlog_channel(struct backlog *b, uint16_t channel, const struct reclog_channel *what)
{
	pthread_mutex_lock(&b->lock);
	b->channels[channel].what = *what;
	b->channels[channel].announce = true;
	pthread_mutex_unlock(&b->lock);
}

/* ---- the thread: records out of the memory ---- */

static bool out_room(struct backlog *b, size_t need)
{
	uint8_t *out;

	if (b->out_room >= need)
		return true;
	out = realloc(b->out, need);
	if (!out)
		return false;
	b->out = out;
	b->out_room = need;
	return true;
}

/* Room for a record's head in the batch, and for its body, to which it returns a pointer; NULL: not in this batch. */
static uint8_t *batch_add(struct backlog *b, const struct reclog_record *r)
{
	size_t size = RECLOG_HEAD_SIZE + r->len;
	uint8_t *body;

	if (b->records_n == BATCH_RECORDS || (b->records_n && b->out_len + size > BATCH_BYTES))
		return NULL;
	if (!out_room(b, b->out_len + size))
		return NULL;
	body = b->out + b->out_len + RECLOG_HEAD_SIZE;
	b->records[b->records_n] = *r;
	b->offsets[b->records_n++] = b->out_len;
	b->out_len += size;
	return body;
}

/* Under the lock. */
static void batch_channels(struct backlog *b)
{
	uint8_t body[RECLOG_CHANNEL_MAX];

	for (size_t i = 0; i < b->channels_n; i++) {
		struct channel *c = &b->channels[i];
		struct reclog_record r = { .kind = RECLOG_CHANNEL, .channel = (uint16_t)i, .t_ns = clock_now_ns() };
		uint8_t *to;

		if (!c->announce)
			continue;
		r.len = reclog_channel_write(body, &c->what);
		to = batch_add(b, &r);
		if (!to)
			return;
		memcpy(to, body, r.len);
		c->announce = false;
	}
}

/* Under the lock: of that channel, or of all. */
static bool batch_missing(struct backlog *b, size_t from, size_t to, int64_t t_ns)
{
	for (size_t i = from; i < to; i++) {
		struct reclog_record r = {
			.kind = RECLOG_LOSS, .channel = (uint16_t)i, .t_ns = t_ns, .number = b->channels[i].missing
		};

		if (!r.number)
			continue;
		if (!batch_add(b, &r))
			return false;
		b->channels[i].missing = 0;
	}
	return true;
}

/* Under the lock. */
static void batch_messages(struct backlog *b)
{
	while (b->head != b->tail) {
		struct entry e;
		struct reclog_record r;
		uint8_t *body;

		ring_out(b, b->tail, &e, sizeof(e));
		b->channels[e.channel].missing += e.missed;
		e.missed = 0;
		ring_in(b, b->tail, &e, sizeof(e)); /* it may stay for the next batch */
		r = (struct reclog_record){
			.kind = RECLOG_MESSAGE, .channel = e.channel, .t_ns = e.t_ns, .number = e.number, .len = e.len
		};
		if (!batch_missing(b, e.channel, e.channel + 1u, e.t_ns))
			return;
		body = batch_add(b, &r);
		if (!body)
			return;
		ring_out(b, b->tail + sizeof(e), body, e.len);
		b->tail += entry_bytes(e.len);
	}
	batch_missing(b, 0, b->channels_n, clock_now_ns());
}

/* ---- the thread: records to the file ---- */

static int write_some(struct backlog *b, const uint8_t *from, size_t len)
{
	for (;;) {
		struct clock_fd fds[] = { { .fd = b->fd, .events = POLLOUT }, { .fd = b->wake, .events = POLLIN } };
		ssize_t n = write(b->fd, from, len);
		uint64_t count;

		if (n >= 0)
			return (int)n;
		if (b->abandon)
			return -ECANCELED;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		clock_wait(fds, 2, CLOCK_NEVER);
		if (fds[1].ready && read(b->wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
			return -errno;
	}
}

/* A recording ends with a whole record, if the file lets us. */
static void keep_whole(struct backlog *b, size_t whole, size_t written)
{
	struct stat st;

	if (whole < written && !fstat(b->fd, &st) && S_ISREG(st.st_mode) &&
	    !ftruncate(b->fd, (off_t)b->bytes + (off_t)whole))
		return;
}

static int write_batch(struct backlog *b)
{
	size_t done = 0, whole = 0;
	uint64_t messages = 0;
	int error = 0;

	for (size_t i = 0; i < b->records_n; i++) {
		b->records[i].body = b->out + b->offsets[i] + RECLOG_HEAD_SIZE;
		reclog_head(b->out + b->offsets[i], &b->records[i]);
	}
	while (done < b->out_len) {
		int n = write_some(b, b->out + done, b->out_len - done);

		if (n < 0) {
			error = -n;
			break;
		}
		done += (size_t)n;
	}
	for (size_t i = 0; i < b->records_n; i++) {
		size_t end = b->offsets[i] + RECLOG_HEAD_SIZE + b->records[i].len;

		if (end <= done) {
			whole = end;
			messages += b->records[i].kind == RECLOG_MESSAGE;
		} else if (b->records[i].kind == RECLOG_MESSAGE) {
			pthread_mutex_lock(&b->lock);
			lose(b, b->records[i].channel, 1);
			pthread_mutex_unlock(&b->lock);
		}
	}
	if (error)
		keep_whole(b, whole, done);
	b->bytes += error ? whole : done;
	b->messages += messages;
	b->out_len = b->records_n = 0;
	return error;
}

static int write_start(struct backlog *b)
{
	struct reclog_record start = { .kind = RECLOG_START,
				       .t_ns = clock_now_ns(),
				       .number = (uint64_t)clock_real_ns() };

	if (!out_room(b, BATCH_BYTES))
		return ENOMEM;
	memcpy(b->out, RECLOG_MAGIC, RECLOG_MAGIC_SIZE);
	b->out_len = RECLOG_MAGIC_SIZE;
	batch_add(b, &start);
	pthread_mutex_lock(&b->lock);
	batch_channels(b);
	pthread_mutex_unlock(&b->lock);
	return write_batch(b);
}

static int write_end(struct backlog *b)
{
	struct reclog_record end = { .kind = RECLOG_END, .t_ns = clock_now_ns(), .number = b->messages };

	batch_add(b, &end);
	return write_batch(b);
}

static void rest(struct backlog *b)
{
	struct clock_fd wake = { .fd = b->wake, .events = POLLIN };
	uint64_t count;

	if (clock_wait(&wake, 1, clock_now_ns() + BATCH_WAIT_NS) > 0 && read(b->wake, &count, sizeof(count)) < 0)
		return;
}

static int write_all(struct backlog *b)
{
	int error = write_start(b);

	while (!error && !b->abandon) {
		bool finish, more;

		pthread_mutex_lock(&b->lock);
		batch_channels(b);
		batch_messages(b);
		finish = b->finish && b->head == b->tail;
		more = b->head - b->tail >= b->size / 4 || b->finish;
		pthread_mutex_unlock(&b->lock);
		if (b->records_n)
			error = write_batch(b);
		else if (finish)
			return write_end(b);
		else if (more)
			return ENOMEM; /* the memory for a large message */
		if (!error && !more)
			rest(b);
	}
	return error ? error : ECANCELED;
}

static void *run(void *arg)
{
	struct backlog *b = arg;

	b->error = write_all(b);
	rouse(b->ended);
	return NULL;
}

/* ---- the other side ---- */

static void release(struct backlog *b)
{
	if (b->wake >= 0)
		close(b->wake);
	if (b->ended >= 0)
		close(b->ended);
	pthread_mutex_destroy(&b->lock);
	free(b->out);
	free(b->channels);
	free(b->ring);
	free(b);
}

struct backlog *backlog_open(size_t bytes, size_t channels)
{
	struct backlog *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->size = (bytes + ENTRY_SIZE - 1) / ENTRY_SIZE * ENTRY_SIZE;
	b->channels_n = channels;
	b->ring = malloc(b->size);
	b->channels = calloc(channels, sizeof(*b->channels));
	b->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	b->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&b->lock, NULL);
	if (b->ring && b->channels && b->wake >= 0 && b->ended >= 0)
		return b;
	release(b);
	return NULL;
}

int backlog_start(struct backlog *b, int fd)
{
	sigset_t all, before;
	int error;

	b->fd = fd;
	sigfillset(&all); /* signals are the other thread's */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&b->thread, NULL, run, b);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	b->started = !error;
	return error ? -1 : 0;
}

void backlog_finish(struct backlog *b)
{
	pthread_mutex_lock(&b->lock);
	b->finish = true;
	pthread_mutex_unlock(&b->lock);
	rouse(b->wake);
}

void backlog_abandon(struct backlog *b)
{
	b->abandon = true;
	pthread_mutex_lock(&b->lock);
	while (b->head != b->tail)
		lose_oldest(b);
	pthread_mutex_unlock(&b->lock);
	rouse(b->wake);
}

int backlog_ended_fd(const struct backlog *b)
{
	return b->ended;
}

int backlog_error(const struct backlog *b)
{
	return b->error;
}

uint64_t backlog_messages(const struct backlog *b)
{
	return b->messages;
}

uint64_t backlog_bytes(const struct backlog *b)
{
	return b->bytes;
}

uint64_t backlog_lost(struct backlog *b, uint16_t channel)
{
	uint64_t lost;

	pthread_mutex_lock(&b->lock);
	lost = b->channels[channel].lost;
	pthread_mutex_unlock(&b->lock);
	return lost;
}

void backlog_close(struct backlog *b)
{
	if (!b)
		return;
	if (b->started)
		pthread_join(b->thread, NULL);
	release(b);
}
