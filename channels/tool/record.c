/* record.c: ach record: every message of some channels, with its time, in a file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/ach_file.h"
#include "channels/ach_ring.h"
#include "channels/clock.h"
#include "channels/tool/backlog.h"
#include "channels/tool/follow.h"
#include "channels/tool/span.h"
#include "channels/tool/tool.h"

#define RECORD_READY 64		      /* channels looked at between two waits */
#define RECORD_BATCH 256	      /* messages of one before the others have their turn */
#define RECORD_LOOK_NS 500000000      /* between two looks whether channels were removed */
#define RECORD_LOOK_SOON_NS 20000000  /* while some are not there */
#define RECORD_LINE_NS 1000000000     /* between two lines, on a terminal */
#define RECORD_GIVE_UP_NS 10000000000 /* without a byte written, at the end */

struct record {
	const char *file, *for_s;
	bool wait, force;
	int64_t buffer_mb;

	struct follow *f;
	uint64_t *ids; /* of the channel announced last; 0: not there */
	size_t n;
	int epoll, out;
	int folder; /* readable when a channel was made */
	struct backlog *backlog;
};

static const struct settings_row rows[] = {
	SETTINGS_STRING("output", struct record, file, SETTINGS_REQUIRED, "the file; - is standard output",
			.value = "FILE", .letter = 'o'),
	SETTINGS_STRING("for", struct record, for_s, NULL, "end after that many seconds; else ^C ends it",
			.value = "S"),
	SETTINGS_BOOL("wait", struct record, wait, "no", "channels may be missing and come later"),
	SETTINGS_BOOL("force", struct record, force, "no", "replace a file that is there"),
	SETTINGS_INT("buffer", struct record, buffer_mb, "", "64", "1", "4096",
		     "megabytes that may wait for the disk before the oldest messages are lost", .value = "MB"),
	SETTINGS_END,
};

/* ---- the file ---- */

static int open_file(struct record *rec)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY; /* a FIFO that is full must not hold us */
	struct stat st;

	if (!strcmp(rec->file, "-")) {
		rec->out = STDOUT_FILENO;
		return isatty(rec->out) ? tool_fail("a recording is nothing for a terminal") : 0;
	}
	if (!stat(rec->file, &st) && S_ISREG(st.st_mode) && st.st_size && !rec->force)
		return tool_fail("%s: is there already (--force replaces it)", rec->file);
	rec->out = open(rec->file, flags, 0666);
	if (rec->out < 0)
		return tool_fail("%s: %s", rec->file, errno == ENXIO ? "nobody reads from it" : strerror(errno));
	if (!fstat(rec->out, &st) && S_ISREG(st.st_mode) && ftruncate(rec->out, 0))
		return tool_fail("%s: %s", rec->file, strerror(errno));
	return 0;
}

/* ---- the channels ---- */

static void announce(struct record *rec, size_t i, uint32_t type)
{
	const struct follow *f = &rec->f[i];
	struct reclog_channel what = { .type = type };

	snprintf(what.name, sizeof(what.name), "%s", f->name);
	rec->ids[i] = 0;
	if (!f->gone) {
		what.count = f->chan.handle->count;
		what.size = (uint32_t)(f->chan.handle->lsize / what.count);
		what.mode = ach_memory_mode(f->chan.handle);
		rec->ids[i] = f->chan.handle->id;
	}
	backlog_channel(rec->backlog, (uint16_t)i, &what);
}

static uint32_t type_of(const struct follow *f)
{
	const struct msg_type *type = NULL;

	return msg_check(f->bytes, f->len, NULL, &type) == MSG_FINE ? type->number : 0;
}

/* From now on.  The newest message is looked at for its type. */
static int open_channel(struct record *rec, size_t i, const char *name)
{
	const struct msg_type *type = msg_type_by_channel(name);
	struct follow *f = &rec->f[i];
	uint32_t number = type ? type->number : 0;
	ach_channel_t chan;

	if (rec->wait && ach_open(&chan, name, NULL) == ACH_ENOENT) {
		*f = (struct follow){ .name = name, .gone = true, .fd = -1, .counts = true, .room = 0 };
		announce(rec, i, number);
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
	announce(rec, i, number);
	return 0;
}

static int read_channel(struct record *rec, size_t i, size_t most)
{
	struct follow *f = &rec->f[i];
	int r = 0;

	for (size_t k = 0; k < most && (r = follow_next(f)) > 0; k++) {
		struct reclog_record message = { .kind = RECLOG_MESSAGE,
						 .channel = (uint16_t)i,
						 .t_ns = clock_now_ns(),
						 .number = f->chan.seq_num,
						 .body = f->bytes,
						 .len = f->len };

		backlog_message(rec->backlog, &message, f->missed);
	}
	return r < 0 ? TOOL_FAILED : 0;
}

/* Channels that were removed, made anew or made at last; their descriptors, if they are not there yet, into the set. */
static int look(struct record *rec, int64_t *next_ns)
{
	int64_t now = clock_now_ns();

	*next_ns = now + RECORD_LOOK_NS;
	for (size_t i = 0; i < rec->n; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.u64 = i };
		struct follow *f = &rec->f[i];

		if (f->gone)
			f->look_ns = now;
		else if (now >= f->look_ns && read_channel(rec, i, f->chan.handle->count)) /* before it may be closed */
			return TOOL_FAILED;
		if (now >= f->look_ns && follow_wait(f, 1, now) < 0)
			return TOOL_FAILED;
		if (f->gone) {
			*next_ns = now + RECORD_LOOK_SOON_NS;
			continue;
		}
		if (f->chan.handle->id != rec->ids[i])
			announce(rec, i, 0);
		if (epoll_ctl(rec->epoll, EPOLL_CTL_ADD, f->fd, &event) && errno != EEXIST)
			return tool_fail("%s: %s", f->name, strerror(errno));
	}
	return 0;
}

/* Is there one that we wait for? */
static bool folder_changed(const struct record *rec)
{
	char events[4096];

	while (read(rec->folder, events, sizeof(events)) > 0)
		;
	for (size_t i = 0; i < rec->n; i++)
		if (rec->f[i].gone)
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

/* What was put before we were told to stop, and no more than a channel can hold. */
static void read_rest(struct record *rec)
{
	int64_t unused;

	for (size_t i = 0; i < rec->n; i++)
		rec->f[i].look_ns = 0;
	if (look(rec, &unused))
		return;
	for (size_t i = 0; i < rec->n; i++)
		if (!rec->f[i].gone)
			read_channel(rec, i, rec->f[i].chan.handle->count);
}

/* ---- telling ---- */

static uint64_t lost(const struct record *rec)
{
	uint64_t n = 0;

	for (size_t i = 0; i < rec->n; i++)
		n += backlog_lost(rec->backlog, (uint16_t)i);
	return n;
}

static void print_line(const struct record *rec, int64_t since_ns)
{
	fprintf(stderr, "\r%6.0f s  %" PRIu64 " messages  %.1f MB  %" PRIu64 " lost ",
		(double)(clock_now_ns() - since_ns) * 1e-9, backlog_messages(rec->backlog),
		(double)backlog_bytes(rec->backlog) * 1e-6, lost(rec));
	fflush(stderr);
}

static void print_summary(const struct record *rec, int64_t took_ns)
{
	FILE *to = rec->out == STDOUT_FILENO ? stderr : stdout;
	char took[SPAN_TEXT_MAX];

	fprintf(to, "%" PRIu64 " messages of %zu channel%s, %.1f MB, in %s\n", backlog_messages(rec->backlog), rec->n,
		rec->n == 1 ? "" : "s", (double)backlog_bytes(rec->backlog) * 1e-6, span_text(took, took_ns));
	for (size_t i = 0; i < rec->n; i++) {
		uint64_t n = backlog_lost(rec->backlog, (uint16_t)i);

		if (n)
			fprintf(stderr, "%s: %" PRIu64 " messages lost\n", rec->f[i].name, n);
	}
}

/* ---- the loop ---- */

/* Until told to stop, the time is over, or the file takes no more.  0 or TOOL_FAILED. */
static int record(struct record *rec, int64_t until_ns)
{
	bool lines = tool_is_terminal(stderr);
	int64_t since_ns = clock_now_ns(), look_ns = since_ns, line_ns = lines ? since_ns : CLOCK_NEVER;
	struct clock_fd fds[] = { { .fd = tool_stop_fd(), .events = POLLIN },
				  { .fd = rec->epoll, .events = POLLIN },
				  { .fd = backlog_ended_fd(rec->backlog), .events = POLLIN },
				  { .fd = rec->folder, .events = POLLIN } };
	int r;

	do {
		int64_t now = clock_now_ns(), next_ns;

		if (now >= look_ns && look(rec, &look_ns))
			return TOOL_FAILED;
		if (now >= line_ns) {
			print_line(rec, since_ns);
			line_ns += RECORD_LINE_NS;
		}
		next_ns = look_ns < until_ns ? look_ns : until_ns;
		r = clock_wait(fds, 4, line_ns < next_ns ? line_ns : next_ns);
		if (r < 0)
			return tool_fail("cannot wait: %s", strerror(-r));
		if (fds[1].ready && read_ready(rec))
			return TOOL_FAILED;
		if (fds[3].ready)
			look_ns = folder_changed(rec) ? 0 : look_ns;
	} while (!fds[0].ready && !fds[2].ready && clock_now_ns() < until_ns);
	if (lines)
		fprintf(stderr, "\r\033[K");
	return 0;
}

/* Until the file has all.  A file that takes nothing any more, or a second ^C, ends it; false: not even that did. */
static bool finish(struct record *rec)
{
	struct clock_fd fds[] = { { .fd = backlog_ended_fd(rec->backlog), .events = POLLIN },
				  { .fd = tool_stop_fd(), .events = POLLIN } };
	struct signalfd_siginfo first;
	uint64_t bytes = 0;
	bool told = false;

	while (read(fds[1].fd, &first, sizeof(first)) > 0) /* so that the next one can be seen */
		;
	backlog_finish(rec->backlog);
	for (;;) {
		if (clock_wait(fds, 2, clock_now_ns() + (told ? RECORD_GIVE_UP_NS : RECORD_LINE_NS)) < 0 ||
		    fds[0].ready)
			return fds[0].ready;
		if (fds[1].ready || (told && backlog_bytes(rec->backlog) == bytes))
			break;
		if (!told)
			tool_fail("%s is slow; ^C gives up what is not written yet", rec->file);
		told = true;
		bytes = backlog_bytes(rec->backlog);
	}
	backlog_abandon(rec->backlog);
	return clock_wait(fds, 1, clock_now_ns() + RECORD_LINE_NS) > 0;
}

static int run(struct record *rec, int64_t for_ns)
{
	int64_t since_ns = clock_now_ns();
	int status = record(rec, for_ns ? since_ns + for_ns : CLOCK_NEVER), error;
	bool ended;

	if (!status)
		read_rest(rec);
	ended = finish(rec);
	error = ended ? backlog_error(rec->backlog) : ECANCELED;
	print_summary(rec, clock_now_ns() - since_ns);
	if (error)
		status = tool_fail("%s: %s; what is written can be played", rec->file,
				   error == ECANCELED ? "given up" : strerror(error));
	if (!ended) { /* the disk holds the thread: nothing of its may be freed */
		fflush(NULL);
		_exit(status);
	}
	return status;
}

/* ---- the command ---- */

static int prepare(struct record *rec, char **names, size_t n)
{
	rec->f = calloc(n, sizeof(*rec->f));
	rec->ids = calloc(n, sizeof(*rec->ids));
	rec->epoll = epoll_create1(EPOLL_CLOEXEC);
	rec->folder = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (rec->folder >= 0) /* else they are found a little later */
		inotify_add_watch(rec->folder, ach_file_dir(), IN_CREATE | IN_MOVED_TO);
	rec->backlog = backlog_open((size_t)rec->buffer_mb << 20, n);
	if (!rec->f || !rec->ids || rec->epoll < 0 || !rec->backlog)
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

int tool_record(int argc, char **argv)
{
	struct record rec = { .out = -1, .epoll = -1, .folder = -1 };
	struct options options = { .program = "ach record",
				   .about = "writes every message of channels, with its time, to a file",
				   .rows = rows,
				   .values = &rec,
				   .arguments = "CHANNEL...",
				   .arguments_min = 1,
				   .arguments_max = 1000,
				   .notes = "ach play publishes them again.\n" };
	int status = tool_options(&options, &argc, argv);
	int64_t for_ns = 0;

	if (status != TOOL_GO)
		return status;
	if (span_read("--for", rec.for_s, "s", &for_ns))
		return TOOL_USAGE;
	tool_stop_fd(); /* from here on a signal is an orderly end */
	status = prepare(&rec, argv, (size_t)argc);
	if (!status)
		status = open_file(&rec);
	if (!status && backlog_start(rec.backlog, rec.out))
		status = tool_fail("no thread");
	if (!status)
		status = run(&rec, for_ns);
	while (rec.n)
		follow_close(&rec.f[--rec.n]);
	backlog_close(rec.backlog);
	free(rec.f);
	free(rec.ids);
	return status; /* descriptors go with the process */
}
