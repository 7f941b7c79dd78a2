/* record.c: ach record writes every message of some channels to a file; ach convert writes a recording as MCAP, an MCAP
 * file as a recording, a damaged MCAP file made whole. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "channels/rec/recfile.h"
#include "channels/rec/recorder.h"
#include "channels/rec/writer.h"
#include "channels/tool/tool.h"

#define RECORD_LINE_NS 1000000000 /* between two lines, on a terminal */
#define CONVERT_BUFFER (1u << 18)

/* ---- MCAP ---- */

/* A file on the disk. */
struct mcapfile {
	int fd;
	struct mcap_writer *mcap;
	struct mcaprec_writer *writer; /* of records, to mcap */
};

static const char *const compressions[] = { [MCAP_NONE] = "none", [MCAP_LZ4] = "lz4", [MCAP_ZSTD] = "zstd", NULL };

static int write_all(void *mcapfile, const void *bytes, size_t len)
{
	return writer_write(((const struct mcapfile *)mcapfile)->fd, bytes, len);
}

/* Its beginning.  fd may be -1, if mcapfile_convert gives it later.  0 or -ENOMEM. */
static int mcapfile_open(struct mcapfile *f, int fd, enum mcap_compression compression)
{
	const struct mcap_options options = {
		.compression = compression, .library = "endplate " TOOL_VERSION, .write = write_all, .to = f
	};

	f->fd = fd;
	f->mcap = mcap_writer_new(&options);
	f->writer = f->mcap ? mcaprec_writer_new(f->mcap) : NULL;
	return f->writer ? 0 : -ENOMEM;
}

static void mcapfile_close(struct mcapfile *f)
{
	mcaprec_writer_free(f->writer);
	mcap_writer_free(f->mcap);
}

/* writer_options.convert: with is a struct mcapfile. */
static int64_t mcapfile_convert(void *with, int fd, const char *items, size_t len, bool last)
{
	struct mcapfile *f = with;
	int err = items ? 0 : mcap_write_chunk(f->mcap);

	f->fd = fd;
	for (size_t at = 0; at < len && !err;) {
		struct reclog_record r;

		if (len - at >= RECLOG_MAGIC_SIZE && !memcmp(items + at, RECLOG_MAGIC, RECLOG_MAGIC_SIZE))
			at += RECLOG_MAGIC_SIZE;
		r = reclog_head_read((const uint8_t *)items + at);
		r.body = (const uint8_t *)items + at + RECLOG_HEAD_SIZE;
		err = mcaprec_put(f->writer, &r);
		at += RECLOG_HEAD_SIZE + r.len;
	}
	if (!err && last)
		err = mcap_write_end(f->mcap);
	return err ? err : (int64_t)mcap_written(f->mcap);
}

/* ---- ach record ---- */

struct record {
	const char *file, *robot;
	bool wait, force;
	int64_t for_ns, buffer_mb;
	struct settings_strings buses;
	bool mcap;
	int compression;

	struct recorder recorder;
	struct mcapfile mcapfile;
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
	SETTINGS_STRINGS("bus", struct record, buses, "the frames of a CAN bus as well: can0, left=wire:larm0",
			 .value = "BUS"),
	SETTINGS_BOOL("mcap", struct record, mcap, "no", "MCAP, for other tools; also if FILE ends in .mcap"),
	SETTINGS_WORD("compress", struct record, compression, compressions, "lz4",
		      "the chunks of MCAP: zstd is smaller, lz4 takes less time"),
	TOOL_ROBOT(struct record),
	SETTINGS_END,
};

/* ---- reporting ---- */

static void print_line(const struct recorder *rec, int64_t since_ns)
{
	struct writer_stats s = writer_stats(rec->writer);

	fprintf(stderr, "\r%6.0f s  %" PRIu64 " messages  %.1f MB  %" PRIu64 " lost ",
		(double)(clock_now_ns() - since_ns) * 1e-9, s.items, (double)s.bytes * 1e-6, recorder_lost(rec));
	fflush(stderr);
}

static void print_summary(const struct record *record, int64_t took_ns)
{
	const struct recorder *rec = &record->recorder;
	FILE *to = strcmp(record->file, "-") ? stdout : stderr;
	struct writer_stats s = writer_stats(rec->writer);
	char took[DURATION_TEXT_MAX];

	fprintf(to, "%" PRIu64 " messages of %zu channel%s, %.1f MB, in %s", s.items, rec->n, rec->n == 1 ? "" : "s",
		(double)s.bytes * 1e-6, duration_text(took, took_ns));
	if (rec->messages > s.items)
		fprintf(to, ", %" PRIu64 " not written", rec->messages - s.items);
	fputc('\n', to);
	for (size_t i = 0; i < rec->n; i++)
		if (rec->channels[i].lost)
			fprintf(stderr, "%s: %" PRIu64 " messages lost\n", rec->channels[i].name,
				rec->channels[i].lost);
}

/* ---- the loop ---- */

/* Until a signal, the end of the time, or a write that fails.  0 or negative. */
static int record(struct recorder *rec, int64_t until_ns)
{
	bool lines = tool_is_terminal(stderr);
	int64_t since_ns = clock_now_ns(), line_ns = lines ? since_ns : CLOCK_NEVER, jumped_ns = clock_jumped_ns();
	int64_t now_ns;
	int r;

	do {
		if (clock_now_ns() >= line_ns) {
			print_line(rec, since_ns);
			line_ns += RECORD_LINE_NS;
		}
		r = recorder_turn(rec, line_ns < until_ns ? line_ns : until_ns);
		if (r < 0)
			return r;
		now_ns = clock_now_ns();
		since_ns += clock_jumped_ns() - jumped_ns;
		line_ns = clock_moved(line_ns, clock_jumped_ns() - jumped_ns);
		until_ns = clock_moved(until_ns, clock_jumped_ns() - jumped_ns);
		jumped_ns = clock_jumped_ns();
	} while (!(r & (RECORDER_STOP | RECORDER_ENDED)) && now_ns < until_ns);
	if (lines)
		fprintf(stderr, "\r\033[K");
	return 0;
}

static int record_all(struct record *rec)
{
	const int64_t since_ns = clock_now_ns(), jumped_ns = clock_jumped_ns();
	int status = record(&rec->recorder, rec->for_ns ? since_ns + rec->for_ns : CLOCK_NEVER) ? EXIT_RETRY : 0;
	int error = recorder_end(&rec->recorder, !status);

	print_summary(rec, clock_now_ns() - since_ns - (clock_jumped_ns() - jumped_ns));
	if (error)
		status = tool_fail("%s: %s; what is written can be played", rec->file,
				   error == -ECANCELED ? "given up" : strerror(-error));
	return status;
}

/* ---- the command ---- */

static int prepare(struct record *rec, char **names, size_t n)
{
	int r = recorder_open(&rec->recorder, NULL);

	if (r)
		return tool_fail("%s", strerror(-r));
	rec->recorder.wait = rec->wait;
	rec->recorder.buses = &recbus_ops;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(names[i], names[k]))
				return tool_fail("%s: named twice", names[i]);
	for (size_t i = 0; i < n; i++)
		if (recorder_add(&rec->recorder, names[i]))
			return EXIT_RETRY;
	return 0;
}

static int add_buses(struct record *rec, struct error_sink *errors)
{
	for (size_t i = 0; i < rec->buses.n; i++)
		if (recorder_add_bus(&rec->recorder, rec->buses.item[i], errors))
			return EXIT_RETRY;
	return 0;
}

/* MCAP is made of the same records, in the thread that writes. */
static int prepare_mcap(struct record *rec, struct writer_options *writer)
{
	if (!rec->mcap && !text_ends_with(rec->file, ".mcap"))
		return 0;
	if (mcapfile_open(&rec->mcapfile, -1, (enum mcap_compression)rec->compression))
		return tool_fail("no memory");
	writer->convert = mcapfile_convert;
	writer->with = &rec->mcapfile;
	return 0;
}

static int run(void *values, int argc, char **argv)
{
	struct record *rec = values;
	struct error_sink errors = ERROR_TO_STDERR("ach record", NULL, ERROR_PLAIN);
	struct writer_options writer = { .path = rec->file,
					 .force = rec->force,
					 .memory = (size_t)rec->buffer_mb << 20 };
	int status;

	if (!strcmp(rec->file, "-") && isatty(STDOUT_FILENO))
		return tool_fail("a recording cannot be written to a terminal");
	clock_stop_fd(); /* from here on a signal is an orderly end */
	if (!argc && !rec->buses.n)
		return program_report(EXIT_WRONG, "name a CHANNEL, or a --bus");
	status = names_find(rec->robot, argv, argc, false);
	if (status)
		return status;
	status = prepare(rec, argv, (size_t)argc);
	if (!status)
		status = add_buses(rec, &errors);
	if (!status)
		status = prepare_mcap(rec, &writer);
	if (!status && recorder_begin(&rec->recorder, &writer, &errors))
		status = EXIT_RETRY;
	if (!status)
		status = record_all(rec);
	recorder_close(&rec->recorder);
	mcapfile_close(&rec->mcapfile);
	return status;
}

TOOL_COMMAND(record, run, rows, struct record, "[CHANNEL...]", 0, RECORDER_CHANNELS_MAX,
	     "writes every message of channels, with its time, to a file",
	     "ach play publishes them again; canreplay sends the frames of an MCAP file.\n");

/* ---- ach convert ---- */

struct convert {
	bool repair, force;
	int compression;

	const char *in, *out;
	FILE *file;
	char temporary[4096]; /* its name until it is whole */
	struct mcapfile mcap;
	struct recfile from;
	uint64_t messages;
	uint64_t damages, strays; /* of an MCAP file to be repaired */
};

static const struct settings_row convert_rows[] = {
	SETTINGS_BOOL("repair", struct convert, repair, "no",
		      "from an MCAP file of any writer, cut off or damaged: all that is whole, with its indexes"),
	SETTINGS_WORD("compress", struct convert, compression, compressions, "zstd",
		      "the chunks of MCAP: zstd is smaller, lz4 takes less time"),
	SETTINGS_BOOL("force", struct convert, force, "no", "replace OUT if it exists"),
	SETTINGS_END,
};

/* ---- the file that is written ---- */

static int open_out(struct convert *c)
{
	struct stat in, out;

	if (!stat(c->out, &out)) {
		if (!stat(c->in, &in) && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
			return program_report(EXIT_WRONG, "%s: IN and OUT are the same file", c->out);
		if (!c->force)
			return tool_fail("%s: exists already (--force replaces it)", c->out);
	}
	if (snprintf(c->temporary, sizeof(c->temporary), "%s.new", c->out) >= (int)sizeof(c->temporary))
		return tool_fail("%s: %s", c->out, strerror(ENAMETOOLONG));
	c->file = fopen(c->temporary, "we");
	if (!c->file)
		return tool_fail("%s: %s", c->temporary, strerror(errno));
	setvbuf(c->file, NULL, _IOFBF, CONVERT_BUFFER);
	return mcapfile_open(&c->mcap, fileno(c->file), (enum mcap_compression)c->compression) ? tool_fail("no memory")
											       : 0;
}

/* Takes its name if it is whole.  0 or EXIT_RETRY. */
static int close_out(struct convert *c, int status)
{
	if (!c->file)
		return status;
	if (fclose(c->file) && !status)
		status = tool_fail("%s: %s", c->out, strerror(errno));
	if (!status && rename(c->temporary, c->out))
		status = tool_fail("%s: %s", c->out, strerror(errno));
	if (status)
		unlink(c->temporary);
	return status;
}

static int cannot_write(const struct convert *c, int error)
{
	return tool_fail("%s: %s", c->out, strerror(-error));
}

/* ---- records ---- */

/* In the format of ach record. */
static int put_own(FILE *to, const struct reclog_record *r)
{
	uint8_t head[RECLOG_HEAD_SIZE];

	reclog_head(head, r);
	return fwrite(head, 1, sizeof(head), to) == sizeof(head) && fwrite(r->body, 1, r->len, to) == r->len ? 0
													     : -errno;
}

/* Every record of a recording.  0 or EXIT_RETRY. */
static int copy_records(struct convert *c, bool mcap)
{
	struct reclog_record r;
	int n, error = 0;

	if (!mcap)
		fputs(RECLOG_MAGIC, c->file);
	while (!error && (n = recfile_next(&c->from, &r)) > 0) {
		error = mcap ? mcaprec_put(c->mcap.writer, &r) : put_own(c->file, &r);
		c->messages += r.kind == RECLOG_MESSAGE;
	}
	if (!error && n < 0)
		return EXIT_RETRY;
	if (!error && mcap)
		error = mcap_write_end(c->mcap.mcap);
	return error ? cannot_write(c, error) : 0;
}

static int convert_recording(struct convert *c)
{
	const bool mcap = text_ends_with(c->out, ".mcap");
	int status = recfile_open(&c->from, c->in);

	if (!status)
		status = open_out(c);
	if (!status)
		status = copy_records(c, mcap);
	recfile_close(&c->from); /* damage is reported, and what is sound is there */
	return status;
}

/* ---- MCAP of any writer ---- */

static int write_record(struct mcap_writer *to, const struct mcap_record *m)
{
	switch (m->op) {
	case MCAP_SCHEMA:
		return mcap_write_schema(to, &m->schema);
	case MCAP_CHANNEL:
		return mcap_write_channel(to, &m->channel);
	case MCAP_MESSAGE:
		return mcap_write_message(to, &m->message);
	case MCAP_METADATA:
		return mcap_write_metadata(to, &m->metadata);
	case MCAP_ATTACHMENT:
		return mcap_write_attachment(to, m->bytes, m->len);
	default:
		return 0;
	}
}

/* A schema or a channel may be there again; it is a stray if its schema or channel was in a damaged chunk. */
static int copy_record(struct convert *c, const struct mcap_record *m)
{
	const int error = write_record(c->mcap.mcap, m);

	c->messages += m->op == MCAP_MESSAGE && !error;
	c->strays += error == -EINVAL;
	return error == -EINVAL || error == -EEXIST ? 0 : error;
}

static int copy_mcap(struct convert *c, struct mcap_reader *from)
{
	struct mcap_record m;
	enum mcap_found found;
	int error = 0;

	while (!error && ((found = mcap_read(from, &m)) == MCAP_FOUND_RECORD || found == MCAP_FOUND_DAMAGE)) {
		if (found == MCAP_FOUND_RECORD)
			error = copy_record(c, &m);
		else if (c->damages++ < 10)
			tool_fail("%s: %s, at %" PRIu64, c->in, mcap_damage(from), mcap_position(from));
	}
	if (error)
		return cannot_write(c, error);
	if (found == MCAP_FOUND_NO_MCAP)
		return tool_fail("%s: is not MCAP", c->in);
	if (found == MCAP_FOUND_ERROR)
		return tool_fail("%s: %s", c->in, strerror(-mcap_error(from)));
	if (found == MCAP_FOUND_CUT)
		tool_fail("%s: is cut off at %" PRIu64 "; all before it is whole", c->in, mcap_position(from));
	if (c->strays)
		tool_fail("%s: %" PRIu64 " records are of channels or schemas that are damaged, and left out", c->in,
			  c->strays);
	error = mcap_write_end(c->mcap.mcap);
	return error ? cannot_write(c, error) : 0;
}

static int repair(struct convert *c)
{
	int in = open(c->in, O_RDONLY | O_CLOEXEC), status;
	struct mcap_reader *from = mcap_reader_new(input_read_fd, &in);

	status = in < 0 ? tool_fail("%s: %s", c->in, strerror(errno)) : open_out(c);
	if (!status)
		status = from ? copy_mcap(c, from) : tool_fail("no memory");
	mcap_reader_free(from);
	if (in >= 0)
		close(in);
	return status;
}

/* ---- the command ---- */

static int run_convert(void *values, int argc, char **argv)
{
	struct convert *c = values;
	int status;

	(void)argc;
	c->in = argv[0];
	c->out = argv[1];
	if (c->repair && !text_ends_with(c->out, ".mcap"))
		status = program_report(EXIT_WRONG, "%s: --repair writes MCAP: give OUT the suffix .mcap", c->out);
	else
		status = close_out(c, c->repair ? repair(c) : convert_recording(c));
	mcapfile_close(&c->mcap);
	if (!status)
		printf("%" PRIu64 " messages\n", c->messages);
	return status;
}

TOOL_COMMAND(convert, run_convert, convert_rows, struct convert, "IN OUT", 2, 2,
	     "writes a recording as MCAP, or an MCAP file as a recording, by the suffix of OUT",
	     "OUT: .mcap is MCAP, any other suffix the format of ach record.  The format of IN is found by itself.\n");
