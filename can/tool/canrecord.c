/* canrecord.c: the frames of some buses, on one clock, into a file as candump -L writes it. */
#include <limits.h>
#include <sys/stat.h>

#include "can/bus/bus.h"
#include "can/log/id_filter.h"
#include "can/log/log.h"
#include "can/log/recorded_bus.h"
#include "channels/clock/clock.h"
#include "channels/rec/writer.h"
#include "channels/tool/tool.h"
#include "config/base/base.h"
#include "config/settings/program.h"

#define RECORD_BUSES_MAX 60
#define RECORD_SOCKET_BYTES (4 << 20) /* asked of the kernel for each bus */
#define RECORD_PAUSE_NS 2000000	      /* between two reads of busy buses: one wake-up for many frames */
#define RECORD_HOLD_NS 5000000	      /* a frame may reach its socket this late, and still goes in order */
#define RECORD_LINE_NS 1000000000     /* between two lines, on a terminal */
#define RECORD_ROUNDS 16	      /* of reading, at the end */

struct record_bus {
	struct recorded_bus tap;
	uint64_t frames, lost;
	uint64_t unnoted; /* lost frames that the file does not mention yet */
};

struct record {
	const char *file, *rotate, *every, *for_s;
	int64_t keep, count, buffer_mb;
	struct settings_strings only, without;
	bool errors, wait, force;

	struct record_bus bus[RECORD_BUSES_MAX];
	struct recorded_bus_held *held[RECORD_BUSES_MAX];
	size_t n;
	struct id_filter ids;
	struct writer *writer;
	int64_t real_ns; /* CLOCK_REALTIME less CLOCK_MONOTONIC, at the start: a clock that is set moves no line */
	uint64_t frames, lost, left;
};

static const struct settings_row rows[] = {
	SETTINGS_STRING("output", struct record, file, SETTINGS_REQUIRED, "the file; - is standard output",
			.value = "FILE", .letter = 'o'),
	SETTINGS_STRING("rotate", struct record, rotate, NULL, "a new file when one has that size: 100M",
			.value = "SIZE"),
	SETTINGS_STRING("every", struct record, every, NULL, "a new file after that time: 10min", .value = "TIME"),
	SETTINGS_INT("keep", struct record, keep, "", NULL, "1", "1000000", "that many files, the oldest are removed",
		     .value = "N"),
	SETTINGS_STRING("for", struct record, for_s, NULL, "end after that time; else ^C ends it", .value = "TIME"),
	SETTINGS_INT("count", struct record, count, "", NULL, "1", NULL, "end after that many frames in all",
		     .value = "N"),
	SETTINGS_STRINGS("only", struct record, only, "these identifiers: 123,200-2FF,00012345", .value = "IDS"),
	SETTINGS_STRINGS("not", struct record, without, "all but these identifiers", .value = "IDS"),
	SETTINGS_BOOL("errors", struct record, errors, "no", "error frames too"),
	SETTINGS_BOOL("wait", struct record, wait, "no", "buses may be absent or down and come later"),
	SETTINGS_BOOL("force", struct record, force, "no", "replace an existing file"),
	SETTINGS_INT("buffer", struct record, buffer_mb, "", "64", "1", "4096",
		     "megabytes that may wait for the disk before frames are lost", .value = "MB"),
	SETTINGS_END,
};

/* ---- into the file ---- */

static bool put_line(struct record *rec, char *line, size_t len, int64_t t_ns, bool frame)
{
	return writer_put(rec->writer, t_ns, frame, &(struct iovec){ line, len }, 1);
}

static bool put_losses(struct record *rec, struct record_bus *b, int64_t t_ns)
{
	char line[LOG_WRITE_MAX];

	if (b->unnoted && !put_line(rec, line, log_write_loss(line, b->tap.name, b->unnoted), t_ns, false))
		return false;
	b->unnoted = 0;
	return true;
}

static void lose(struct record *rec, struct record_bus *b, uint64_t n)
{
	b->lost += n;
	b->unnoted += n;
	rec->lost += n;
}

static void put_frame(struct record *rec, struct record_bus *b, const struct recorded_bus_entry *e)
{
	char line[LOG_WRITE_MAX];
	size_t len = log_write_line(line, e->t_ns + rec->real_ns, b->tap.name, &e->frame);

	if (put_losses(rec, b, e->t_ns) && put_line(rec, line, len, e->t_ns, true)) {
		b->frames++;
		rec->frames++;
	} else {
		lose(rec, b, 1);
	}
}

static void put_note(struct record *rec, const struct record_bus *b, const struct recorded_bus_entry *e)
{
	char line[LOG_WRITE_MAX];
	int len = snprintf(line, sizeof(line), "# %s: %s\n", b->tap.name, e->note);

	put_line(rec, line, (size_t)len, e->t_ns, false);
}

/* Writes the frames that no bus can precede any more. */
static void put_held(struct record *rec, int64_t horizon_ns)
{
	const struct recorded_bus_entry *e;
	size_t i;

	while (rec->left && (e = recorded_bus_next(rec->held, rec->n, horizon_ns, &i))) {
		struct record_bus *b = &rec->bus[i];

		if (e->note) {
			put_note(rec, b, e);
		} else if (e->lost) {
			lose(rec, b, e->lost);
			put_losses(rec, b, e->t_ns);
		} else {
			put_frame(rec, b, e);
			rec->left--;
		}
	}
}

/* Reads the buses that are ready, or all, and writes the frames that none can precede.  true: there are more. */
static bool read_buses(struct record *rec, const struct clock_fd *ready)
{
	int64_t now = clock_now_ns(), behind = CLOCK_NEVER;
	bool more = false;

	for (size_t i = 0; i < rec->n; i++) {
		struct recorded_bus *t = &rec->bus[i].tap;

		if (!t->ended && (!ready || ready[i].ready || t->more || now >= bus_next_ns(t->bus)))
			recorded_bus_receive(t, &rec->ids, rec->errors);
		if (t->more && t->held->newest_ns < behind)
			behind = t->held->newest_ns;
		more |= t->more;
	}
	put_held(rec, more ? behind : now - RECORD_HOLD_NS);
	return more;
}

/* ---- reporting ---- */

static void print_line(const struct record *rec, int64_t since_ns)
{
	struct writer_stats s = writer_stats(rec->writer);

	fprintf(stderr, "\r%6.0f s  %" PRIu64 " frames  %.1f MB  %" PRIu64 " lost ",
		(double)(clock_now_ns() - since_ns) * 1e-9, rec->frames, (double)s.bytes * 1e-6, rec->lost);
	fflush(stderr);
}

static void print_summary(const struct record *rec, int64_t took_ns)
{
	FILE *to = strcmp(rec->file, "-") ? stdout : stderr;
	struct writer_stats s = writer_stats(rec->writer);
	char took[DURATION_TEXT_MAX];

	fprintf(to, "%" PRIu64 " frame%s in %s, %.1f MB", s.items, s.items == 1 ? "" : "s",
		duration_text(took, took_ns), (double)s.bytes * 1e-6);
	if (s.pieces)
		fprintf(to, " in %u file%s", s.pieces, s.pieces == 1 ? "" : "s");
	fprintf(to, ", %" PRIu64 " lost", rec->lost);
	if (rec->frames > s.items)
		fprintf(to, ", %" PRIu64 " not written", rec->frames - s.items);
	fputc('\n', to);
	for (size_t i = 0; i < rec->n; i++)
		fprintf(to, "%-15s %10" PRIu64 " frames %8" PRIu64 " lost\n", rec->bus[i].tap.name, rec->bus[i].frames,
			rec->bus[i].lost);
}

/* ---- the loop ---- */

/* Sets the descriptors of the buses.  Returns when to read them at the latest. */
static int64_t prepare(const struct record *rec, struct clock_fd *fds, int64_t wake_ns)
{
	const int64_t held_ns = clock_now_ns() + RECORD_HOLD_NS;

	for (size_t i = 0; i < rec->n; i++) {
		const struct recorded_bus *t = &rec->bus[i].tap;
		const int64_t bus_ns = t->ended ? CLOCK_NEVER : bus_next_ns(t->bus);

		fds[i] = (struct clock_fd){ .fd = t->ended ? -1 : bus_fd(t->bus), .events = POLLIN };
		if (t->held->n && held_ns < wake_ns)
			wake_ns = held_ns;
		if (bus_ns < wake_ns)
			wake_ns = bus_ns;
	}
	return wake_ns;
}

static bool all_ended(const struct record *rec)
{
	for (size_t i = 0; i < rec->n; i++)
		if (!rec->bus[i].tap.ended)
			return false;
	return true;
}

/* Until a signal, the end of the time or of the frames, or a write that fails.  0 or EXIT_RETRY. */
static int record(struct record *rec, int64_t until_ns)
{
	bool lines = tool_is_terminal(stderr) && strcmp(rec->file, "-");
	int64_t since_ns = clock_now_ns(), line_ns = lines ? since_ns : CLOCK_NEVER;
	struct clock_fd fds[2 + RECORD_BUSES_MAX] = { { .fd = clock_stop_fd(), .events = POLLIN },
						      { .fd = writer_ended_fd(rec->writer), .events = POLLIN } };
	bool more = false;

	for (;;) {
		const int64_t wake_ns = prepare(rec, fds + 2, until_ns < line_ns ? until_ns : line_ns);
		int r = clock_wait(fds, 2 + rec->n, more ? 0 : wake_ns);
		int64_t now;

		if (r < 0)
			return program_fail("cannot wait: %s", strerror(-r));
		more = read_buses(rec, fds + 2);
		now = clock_now_ns();
		if (now >= line_ns) {
			print_line(rec, since_ns);
			line_ns += RECORD_LINE_NS;
		}
		if (fds[0].ready || fds[1].ready || now >= until_ns || !rec->left || all_ended(rec))
			break;
		if (!more && clock_wait(fds, 2, now + RECORD_PAUSE_NS) > 0)
			break;
	}
	if (lines)
		fprintf(stderr, "\r\033[K");
	return 0;
}

static int run(struct record *rec, int64_t for_ns)
{
	int64_t since_ns = clock_now_ns();
	int status = record(rec, for_ns ? since_ns + for_ns : CLOCK_NEVER), error;

	if (!status) {
		/* The frames that came before the signal. */
		for (int i = 0; i < RECORD_ROUNDS && read_buses(rec, NULL); i++)
			;
		put_held(rec, CLOCK_NEVER);
	}
	writer_ending(rec->writer);
	for (size_t i = 0; i < rec->n; i++)
		put_losses(rec, &rec->bus[i], clock_now_ns());
	error = writer_finish(rec->writer);
	print_summary(rec, clock_now_ns() - since_ns);
	if (error)
		status = program_fail("%s: %s%s", strcmp(rec->file, "-") ? writer_path(rec->writer) : "standard output",
				      error == -ECANCELED ? "given up" : strerror(-error),
				      writer_stats(rec->writer).items ? "; what is written can be replayed" : "");
	return status;
}

/* ---- the command ---- */

/* CLOCK_REALTIME less CLOCK_MONOTONIC, from the pair of readings that was interrupted least. */
static int64_t real_offset_ns(void)
{
	int64_t best_ns = INT64_MAX, offset_ns = 0;

	for (int i = 0; i < 16; i++) {
		int64_t before_ns = clock_now_ns(), real_ns = clock_real_ns(), took_ns = clock_now_ns() - before_ns;

		if (took_ns < best_ns) {
			best_ns = took_ns;
			offset_ns = real_ns - before_ns - took_ns / 2;
		}
	}
	return offset_ns;
}

static int open_buses(struct record *rec)
{
	static struct bus_filter filters[BUS_FILTERS_MAX];
	struct bus_options options = {
		.errors = rec->errors,
		.fd = true,
		.later = rec->wait,
		.receive_buffer = RECORD_SOCKET_BYTES,
		.log_formats = log_formats_all,
	};
	int n = rec->ids.all ? -E2BIG : id_filter_filters(&rec->ids, filters, BUS_FILTERS_MAX);

	if (n >= 0) { /* else id_filter_want checks each frame here */
		options.filters = filters;
		options.filters_n = (size_t)n;
	}
	for (size_t i = 0; i < rec->n; i++) {
		if (recorded_bus_open(&rec->bus[i].tap, &options))
			return EXIT_RETRY;
		rec->held[i] = rec->bus[i].tap.held;
	}
	return 0;
}

/* A log that is read and the file that is written. */
static bool same_file(const char *bus, const char *file)
{
	struct stat a, b;
	char path[PATH_MAX];
	char *at;

	snprintf(path, sizeof(path), "%s", bus + strlen("log:"));
	if (stat(path, &a)) {
		at = strrchr(path, '@');
		if (!at)
			return false;
		*at = 0;
		if (stat(path, &a))
			return false;
	}
	return !stat(file, &b) && S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int read_bus(struct record *rec, const char *text)
{
	struct recorded_bus *t = &rec->bus[rec->n].tap;

	if (recorded_bus_read(t, text))
		return EXIT_WRONG;
	for (size_t i = 0; i < rec->n; i++)
		if (!strcmp(t->name, rec->bus[i].tap.name))
			return program_wrong("%s: there are two buses of that name: NAME=%s", t->name, t->text);
	if (!strncmp(t->text, "log:", 4) && same_file(t->text, rec->file))
		return program_wrong("%s: it is read as %s: name another file", rec->file, t->text);
	rec->n++;
	return 0;
}

static int check(struct record *rec, struct writer_options *writer, int64_t *for_ns)
{
	if (program_time("--for", rec->for_s, false, for_ns) ||
	    program_time("--every", rec->every, false, &writer->every_ns) ||
	    program_size("--rotate", rec->rotate, &writer->rotate_bytes) ||
	    id_filter_read(&rec->ids, &rec->only, &rec->without, &program_errors))
		return EXIT_WRONG;
	if (rec->rotate || rec->every) {
		if (!strcmp(rec->file, "-"))
			return program_wrong("--%s: standard output is one file", rec->rotate ? "rotate" : "every");
		if (rec->force)
			return program_wrong("--force: numbered files never replace an existing file");
	} else if (rec->keep) {
		return program_wrong("--keep: needs --rotate or --every");
	}
	return 0;
}

int main(int argc, char **argv)
{
	static struct record rec;
	struct options options = { .program = "canrecord",
				   .about = "records the frames of CAN buses, on one clock, as candump -L does",
				   .rows = rows,
				   .values = &rec,
				   .arguments = "[NAME=]BUS...",
				   .arguments_min = 1,
				   .arguments_max = RECORD_BUSES_MAX,
				   .version = OPTIONS_VERSION,
				   .notes = "A BUS is can0, wire:NAME or log:FILE; canreplay sends it all again.\n" };
	struct writer_options writer = { 0 };
	int64_t for_ns = 0;
	int status;

	status = program_options(&options, &argc, argv);
	if (status != OPTIONS_RUN)
		return status;
	status = check(&rec, &writer, &for_ns);
	for (int i = 0; i < argc && !status; i++)
		status = read_bus(&rec, argv[i]);
	if (status)
		return status;
	clock_stop_fd(); /* from here on a signal is an orderly end */
	writer.path = rec.file;
	writer.force = rec.force;
	writer.keep = rec.keep;
	writer.memory = (size_t)rec.buffer_mb << 20;
	rec.left = rec.count ? (uint64_t)rec.count : UINT64_MAX;
	rec.real_ns = real_offset_ns();
	status = open_buses(&rec);
	if (!status && writer_open(&rec.writer, &writer, &program_errors))
		status = EXIT_RETRY;
	if (!status)
		status = run(&rec, for_ns);
	writer_close(rec.writer);
	for (size_t i = 0; i < rec.n; i++)
		recorded_bus_close(&rec.bus[i].tap);
	return status;
}
