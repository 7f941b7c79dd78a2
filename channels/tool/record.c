/* record.c: ach record: writes every message of some channels, with its time, to a file. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "channels/ach_file.h"
#include "channels/ach_ring.h"
#include "channels/clock.h"
#include "channels/tool/follow.h"
#include "channels/tool/reclog.h"
#include "channels/tool/span.h"
#include "channels/tool/tool.h"
#include "channels/tool/writer.h"

#define RECORD_READY 64		      /* channels read between two waits */
#define RECORD_BATCH 256	      /* messages of one before the others have their turn */
#define RECORD_CHECK_NS 500000000     /* between two checks whether channels were removed */
#define RECORD_CHECK_SOON_NS 20000000 /* while some are not there */
#define RECORD_LINE_NS 1000000000     /* between two lines, on a terminal */

struct record_channel {
	struct follow f;
	uint64_t id; /* of the channel described last; 0: not there */
	struct reclog_channel what;
	bool described;	  /* what is in the file */
	uint64_t missing; /* lost before the next message, and the file does not say so yet */
	uint64_t dropped; /* the same, from the memory */
	uint64_t lost;
};

struct record {
	const char *file;
	bool wait, force;
	int64_t for_ns, buffer_mb;

	struct record_channel *channels;
	size_t n;
	int epoll;
	int folder; /* readable when a channel was made */
	struct writer *writer;
	uint64_t messages; /* passed to the writer */
};

static const struct settings_row rows[] = {
	SETTINGS_STRING("output", struct record, file, SETTINGS_REQUIRED, "the file; - is standard output",
			.value = "FILE", .letter = 'o'),
	SETTINGS_TIME("for", struct record, for_ns, "s", NULL, "1ns", NULL,
		      "end after that many seconds; else ^C ends it", .value = "S"),
	SETTINGS_BOOL("wait", struct record, wait, "no", "channels may be missing and come later"),
	SETTINGS_BOOL("force", struct record, force, "no", "replace an existing file"),
	SETTINGS_INT("buffer", struct record, buffer_mb, "", "64", "1", "4096",
		     "megabytes that may wait for the disk before the oldest messages are lost", .value = "MB"),
	SETTINGS_END,
};

/* ---- into the file ---- */

/* Records in the memory that give way to newer ones. */
static void lose(void *to, const char *bytes, size_t len)
{
	struct record *rec = to;

	for (size_t at = 0; at < len;) {
		struct reclog_record r = reclog_head_read((const uint8_t *)bytes + at);
		struct record_channel *c = &rec->channels[r.channel];

		if (r.kind == RECLOG_CHANNEL)
			c->described = false;
		if (r.kind == RECLOG_LOSS)
			c->dropped += r.number;
		if (r.kind == RECLOG_MESSAGE) {
			c->dropped++;
			c->lost++;
			rec->messages--;
		}
		at += RECLOG_HEAD_SIZE + r.len;
	}
}

/* A record of now. */
static struct reclog_record record_of(enum reclog_kind kind, size_t channel, uint64_t number)
{
	return (struct reclog_record){
		.kind = kind, .channel = (uint16_t)channel, .t_ns = clock_now_ns(), .number = number
	};
}

/* Writes in their place what is missing; the rest of it, if the room is too small, follows later. */
static size_t note_lost(void *to, char *bytes, size_t room)
{
	struct record *rec = to;
	size_t len = 0;

	for (size_t i = 0; i < rec->n && room - len >= RECLOG_HEAD_SIZE; i++) {
		struct reclog_record r = record_of(RECLOG_LOSS, i, rec->channels[i].dropped);

		if (!r.number)
			continue;
		reclog_head((uint8_t *)bytes + len, &r);
		len += RECLOG_HEAD_SIZE;
		rec->channels[i].dropped = 0;
	}
	return len;
}

static bool put_record(struct record *rec, const struct reclog_record *r)
{
	uint8_t head[RECLOG_HEAD_SIZE];
	const struct iovec parts[] = { { head, sizeof(head) }, { (void *)(uintptr_t)r->body, r->len } };

	reclog_head(head, r);
	return writer_put(rec->writer, r->t_ns, r->kind == RECLOG_MESSAGE, parts, 2);
}

static void put_start(struct record *rec)
{
	struct reclog_record start = record_of(RECLOG_START, 0, (uint64_t)clock_real_ns());
	char magic[] = RECLOG_MAGIC;

	writer_put(rec->writer, start.t_ns, false, &(struct iovec){ magic, RECLOG_MAGIC_SIZE }, 1);
	put_record(rec, &start);
}

/* The description of the channel and its losses, which precede its next message.  false: there is no room now. */
static bool put_notes(struct record *rec, size_t i)
{
	struct record_channel *c = &rec->channels[i];
	uint8_t body[RECLOG_CHANNEL_MAX];
	struct reclog_record r = record_of(RECLOG_CHANNEL, i, 0);

	if (!c->described) {
		r.body = body;
		r.len = reclog_channel_write(body, &c->what);
		c->described = put_record(rec, &r);
		if (!c->described)
			return false;
	}
	r = record_of(RECLOG_LOSS, i, c->missing);
	if (c->missing && !put_record(rec, &r))
		return false;
	c->missing = 0;
	return true;
}

static void put_message(struct record *rec, size_t i, const struct follow *f)
{
	struct record_channel *c = &rec->channels[i];
	struct reclog_record r = record_of(RECLOG_MESSAGE, i, f->chan.seq_num);

	r.body = f->bytes;
	r.len = f->len;
	c->missing += f->missed;
	c->lost += f->missed;
	if (f->len <= RECLOG_BODY_MAX && put_notes(rec, i) && put_record(rec, &r)) {
		rec->messages++;
	} else {
		c->missing++;
		c->lost++;
	}
}

static void put_end(struct record *rec)
{
	struct reclog_record end;

	writer_ending(rec->writer);
	for (size_t i = 0; i < rec->n; i++) {
		rec->channels[i].missing += rec->channels[i].dropped;
		put_notes(rec, i);
	}
	end = record_of(RECLOG_END, 0, rec->messages);
	put_record(rec, &end);
}

/* ---- the channels ---- */

static void describe(struct record *rec, size_t i, uint32_t type)
{
	struct record_channel *c = &rec->channels[i];
	const struct ach_handle *h = c->f.chan.handle;

	c->what = (struct reclog_channel){ .type = type };
	snprintf(c->what.name, sizeof(c->what.name), "%s", c->f.name);
	c->described = false;
	c->id = 0;
	if (!c->f.gone) {
		c->what.count = h->count;
		c->what.size = (uint32_t)(h->lsize / h->count);
		c->what.mode = ach_memory_mode(h);
		c->id = h->id;
	}
}

static uint32_t type_of(const struct follow *f)
{
	const struct msg_type *type = NULL;

	return msg_check(f->bytes, f->len, NULL, &type) == MSG_FINE ? type->number : 0;
}

/* Records from now on.  The newest message gives the type. */
static int open_channel(struct record *rec, size_t i, const char *name)
{
	const struct msg_type *type = msg_type_by_channel(name);
	struct follow *f = &rec->channels[i].f;
	uint32_t number = type ? type->number : 0;
	ach_channel_t chan;

	if (rec->wait && ach_open(&chan, name, NULL) == ACH_ENOENT) {
		*f = (struct follow){ .name = name, .gone = true, .fd = -1, .counts = true, .room = 0 };
		describe(rec, i, number);
		return 0;
	}
	if (rec->wait)
		ach_close(&chan);
	if (follow_open(f, name))
		return TOOL_FAILED;
	if (follow_from(f, 1) && follow_next(f) > 0)
		number = type_of(f);
	f->counts = true;
	if (ach_channel_fd(&f->chan, &f->fd) != ACH_OK)
		return tool_fail("%s: %s", name, ach_errstr());
	describe(rec, i, number);
	return 0;
}

static int read_channel(struct record *rec, size_t i, size_t most)
{
	struct follow *f = &rec->channels[i].f;
	int r = 0;

	for (size_t k = 0; k < most && (r = follow_next(f)) > 0; k++)
		put_message(rec, i, f);
	return r < 0 ? TOOL_FAILED : 0;
}

/* Finds channels that were removed, recreated or made at last, and adds their descriptors to the epoll set. */
static int check_channels(struct record *rec, int64_t *next_ns)
{
	int64_t now = clock_now_ns();

	*next_ns = now + RECORD_CHECK_NS;
	for (size_t i = 0; i < rec->n; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.u64 = i };
		struct follow *f = &rec->channels[i].f;

		if (f->gone)
			f->check_ns = now;
		else if (now >= f->check_ns &&
			 read_channel(rec, i, f->chan.handle->count)) /* before it may be closed */
			return TOOL_FAILED;
		if (now >= f->check_ns && follow_wait(f, 1, now) < 0)
			return TOOL_FAILED;
		if (f->gone) {
			*next_ns = now + RECORD_CHECK_SOON_NS;
			continue;
		}
		if (f->chan.handle->id != rec->channels[i].id)
			describe(rec, i, 0);
		if (epoll_ctl(rec->epoll, EPOLL_CTL_ADD, f->fd, &event) && errno != EEXIST)
			return tool_fail("%s: %s", f->name, strerror(errno));
	}
	return 0;
}

/* true: a channel is missing that may be there now. */
static bool folder_changed(const struct record *rec)
{
	char events[4096];

	while (read(rec->folder, events, sizeof(events)) > 0)
		;
	for (size_t i = 0; i < rec->n; i++)
		if (rec->channels[i].f.gone)
			return true;
	return false;
}

/* ---- the messages ---- */

static int read_ready(struct record *rec)
{
	struct epoll_event ready[RECORD_READY];
	int n = epoll_wait(rec->epoll, ready, RECORD_READY, 0);

	for (int i = 0; i < n; i++)
		if (read_channel(rec, ready[i].data.u64, RECORD_BATCH))
			return TOOL_FAILED;
	return 0;
}

/* Reads what was put before the signal, but no more than a channel can hold. */
static void read_rest(struct record *rec)
{
	int64_t unused;

	for (size_t i = 0; i < rec->n; i++)
		rec->channels[i].f.check_ns = 0;
	if (check_channels(rec, &unused))
		return;
	for (size_t i = 0; i < rec->n; i++)
		if (!rec->channels[i].f.gone)
			read_channel(rec, i, rec->channels[i].f.chan.handle->count);
}

/* ---- reporting ---- */

static void print_line(const struct record *rec, int64_t since_ns)
{
	struct writer_stats s = writer_stats(rec->writer);
	uint64_t lost = 0;

	for (size_t i = 0; i < rec->n; i++)
		lost += rec->channels[i].lost;
	fprintf(stderr, "\r%6.0f s  %" PRIu64 " messages  %.1f MB  %" PRIu64 " lost ",
		(double)(clock_now_ns() - since_ns) * 1e-9, s.items, (double)s.bytes * 1e-6, lost);
	fflush(stderr);
}

static void print_summary(const struct record *rec, int64_t took_ns)
{
	FILE *to = strcmp(rec->file, "-") ? stdout : stderr;
	struct writer_stats s = writer_stats(rec->writer);
	char took[SPAN_TEXT_MAX];

	fprintf(to, "%" PRIu64 " messages of %zu channel%s, %.1f MB, in %s", s.items, rec->n, rec->n == 1 ? "" : "s",
		(double)s.bytes * 1e-6, span_text(took, took_ns));
	if (rec->messages > s.items)
		fprintf(to, ", %" PRIu64 " not written", rec->messages - s.items);
	fputc('\n', to);
	for (size_t i = 0; i < rec->n; i++)
		if (rec->channels[i].lost)
			fprintf(stderr, "%s: %" PRIu64 " messages lost\n", rec->channels[i].f.name,
				rec->channels[i].lost);
}

/* ---- the loop ---- */

/* Until a signal, the end of the time, or a write that fails.  0 or TOOL_FAILED. */
static int record(struct record *rec, int64_t until_ns)
{
	bool lines = tool_is_terminal(stderr);
	int64_t since_ns = clock_now_ns(), check_ns = since_ns, line_ns = lines ? since_ns : CLOCK_NEVER;
	struct clock_fd fds[] = { { .fd = tool_stop_fd(), .events = POLLIN },
				  { .fd = rec->epoll, .events = POLLIN },
				  { .fd = writer_ended_fd(rec->writer), .events = POLLIN },
				  { .fd = rec->folder, .events = POLLIN } };
	int r;

	do {
		int64_t now = clock_now_ns(), next_ns;

		if (now >= check_ns && check_channels(rec, &check_ns))
			return TOOL_FAILED;
		if (now >= line_ns) {
			print_line(rec, since_ns);
			line_ns += RECORD_LINE_NS;
		}
		next_ns = check_ns < until_ns ? check_ns : until_ns;
		r = clock_wait(fds, 4, line_ns < next_ns ? line_ns : next_ns);
		if (r < 0)
			return tool_fail("cannot wait: %s", strerror(-r));
		if (fds[1].ready && read_ready(rec))
			return TOOL_FAILED;
		if (fds[3].ready)
			check_ns = folder_changed(rec) ? 0 : check_ns;
	} while (!fds[0].ready && !fds[2].ready && clock_now_ns() < until_ns);
	if (lines)
		fprintf(stderr, "\r\033[K");
	return 0;
}

static int record_all(struct record *rec)
{
	int64_t since_ns = clock_now_ns();
	int status, error;

	put_start(rec);
	for (size_t i = 0; i < rec->n; i++)
		put_notes(rec, i);
	status = record(rec, rec->for_ns ? since_ns + rec->for_ns : CLOCK_NEVER);
	if (!status)
		read_rest(rec);
	put_end(rec);
	error = writer_finish(rec->writer);
	print_summary(rec, clock_now_ns() - since_ns);
	if (error)
		status = tool_fail("%s: %s; what is written can be played", rec->file,
				   error == -ECANCELED ? "given up" : strerror(-error));
	return status;
}

/* ---- the command ---- */

static int prepare(struct record *rec, char **names, size_t n)
{
	rec->channels = calloc(n, sizeof(*rec->channels));
	rec->epoll = epoll_create1(EPOLL_CLOEXEC);
	rec->folder = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (rec->folder >= 0) /* else they are found a little later */
		inotify_add_watch(rec->folder, ach_file_dir(), IN_CREATE | IN_MOVED_TO);
	if (!rec->channels || rec->epoll < 0)
		return tool_fail("no memory");
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(names[i], names[k]))
				return tool_fail("%s: named twice", names[i]);
	for (; rec->n < n; rec->n++)
		if (open_channel(rec, rec->n, names[rec->n]))
			return TOOL_FAILED;
	return 0;
}

static int run(void *values, int argc, char **argv)
{
	struct record *rec = values;
	struct error_who who = { "ach record", NULL, ERROR_PLAIN };
	struct error_sink errors = { error_to_stderr, &who, 0 };
	struct writer_options writer = { .path = rec->file,
					 .force = rec->force,
					 .memory = (size_t)rec->buffer_mb << 20,
					 .lose = lose,
					 .note = note_lost,
					 .to = rec };
	int status;

	if (!strcmp(rec->file, "-") && isatty(STDOUT_FILENO))
		return tool_fail("a recording cannot be written to a terminal");
	tool_stop_fd(); /* from here on a signal is an orderly end */
	status = prepare(rec, argv, (size_t)argc);
	if (!status && writer_open(&rec->writer, &writer, &errors))
		status = TOOL_FAILED;
	if (!status)
		status = record_all(rec);
	writer_close(rec->writer);
	while (rec->n)
		follow_close(&rec->channels[--rec->n].f);
	free(rec->channels);
	return status; /* descriptors go with the process */
}

TOOL_COMMAND(record, run, rows, struct record, "CHANNEL...", 1, 1000,
	     "writes every message of channels, with its time, to a file", "ach play publishes them again.\n");
