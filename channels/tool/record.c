/* record.c: ach record: writes every message of some channels, with its time, to a file. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "channels/rec/recorder.h"
#include "channels/tool/mcapfile.h"
#include "channels/tool/tool.h"
#include "config/base/duration.h"
#include "config/base/text.h"

#define RECORD_LINE_NS 1000000000 /* between two lines, on a terminal */

struct record {
	const char *file;
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
	SETTINGS_WORD("compress", struct record, compression, mcapfile_compressions, "lz4",
		      "the chunks of MCAP: zstd is smaller, lz4 takes less time"),
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
	int status = record(&rec->recorder, rec->for_ns ? since_ns + rec->for_ns : CLOCK_NEVER) ? TOOL_FAILED : 0;
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
			return TOOL_FAILED;
	return 0;
}

static int add_buses(struct record *rec, struct error_sink *errors)
{
	for (size_t i = 0; i < rec->buses.n; i++)
		if (recorder_add_bus(&rec->recorder, rec->buses.item[i], errors))
			return TOOL_FAILED;
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
	struct error_who who = { "ach record", NULL, ERROR_PLAIN };
	struct error_sink errors = { error_to_stderr, &who, 0 };
	struct writer_options writer = { .path = rec->file,
					 .force = rec->force,
					 .memory = (size_t)rec->buffer_mb << 20 };
	int status;

	if (!strcmp(rec->file, "-") && isatty(STDOUT_FILENO))
		return tool_fail("a recording cannot be written to a terminal");
	clock_stop_fd(); /* from here on a signal is an orderly end */
	if (!argc && !rec->buses.n)
		return program_report(TOOL_USAGE, "name a CHANNEL, or a --bus");
	status = prepare(rec, argv, (size_t)argc);
	if (!status)
		status = add_buses(rec, &errors);
	if (!status)
		status = prepare_mcap(rec, &writer);
	if (!status && recorder_begin(&rec->recorder, &writer, &errors))
		status = TOOL_FAILED;
	if (!status)
		status = record_all(rec);
	recorder_close(&rec->recorder);
	mcapfile_close(&rec->mcapfile);
	return status;
}

TOOL_COMMAND(record, run, rows, struct record, "[CHANNEL...]", 0, RECORDER_CHANNELS_MAX,
	     "writes every message of channels, with its time, to a file",
	     "ach play publishes them again; canreplay sends the frames of an MCAP file.\n");
