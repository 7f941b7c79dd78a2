/* log.c: reads recorded frames: the file, its lines, its format, reports of damage. */
#include <fcntl.h>
#include <unistd.h>

#include "can/log/log_formats.h"
#include "can/log/log_input.h"

#define MAGIC_BYTES 4 /* by which a compressed or binary file is known */

_Static_assert(LOG_LINE_MAX == 512, "as the message in log_next says");

/* ---- damage ---- */

static void report_damage(struct log *log, const char *wrong)
{
	if (log->line <= log->reported_upto)
		return;
	log->reported_upto = log->line;
	if (log->reported >= LOG_ERRORS_MAX) {
		log->unreported++;
		return;
	}
	log->reported++;
	error_add(log->errors, log->format->read_record ? "%s: record %" PRIu64 ": %s" : "%s:%" PRIu64 ": %s",
		  log->path, log->line, wrong);
}

/* 1, or -EBADMSG: it ends the log. */
static int count_damage(struct log *log, const char *wrong)
{
	log->damaged++;
	report_damage(log, wrong);
	if (log->strict)
		log->failed = -EBADMSG;
	return log->strict ? -EBADMSG : 1;
}

/* Once, at the end or where the reader stops. */
static void report_rest(struct log *log)
{
	if (log->unreported)
		error_add(log->errors, "%s: only the first %d of %" PRIu64 " damaged %s are listed", log->path,
			  LOG_ERRORS_MAX, log->reported + log->unreported,
			  log->format->read_record ? "records" : "lines");
	log->unreported = 0;
}

/* ---- the file ---- */

/* Reads more into the buffer.  0 or -errno. */
static int fill(struct log *log)
{
	ssize_t n;

	if (log->begin) {
		log->end -= log->begin;
		memmove(log->buffer, log->buffer + log->begin, log->end);
		log->begin = 0;
	}
	if (log->input)
		n = log->input->read(log->input, (unsigned char *)log->buffer + log->end,
				     sizeof(log->buffer) - log->end);
	else
		n = log_input_fd(log->fd, log->buffer + log->end, sizeof(log->buffer) - log->end);
	if (n == -EBADMSG && log->input) {
		log->cut = log->input->wrong;
		n = 0;
	}
	if (n < 0)
		return (int)n;
	log->at_end = n == 0;
	log->end += (size_t)n;
	return 0;
}

static bool full(const struct log *log)
{
	return log->begin == 0 && log->end == sizeof(log->buffer);
}

/* The line that begins at *from, read up to its end.  1: with a newline behind it; 0: the last one, or cut because the
 * buffer does not hold it; or -errno. */
static int find_line(struct log *log, const size_t *from, struct log_text *line)
{
	for (;;) {
		char *start = log->buffer + *from, *newline = memchr(start, '\n', log->end - *from);
		int err;

		if (newline || log->at_end || full(log)) {
			*line = (struct log_text){ start, newline ? newline : log->buffer + log->end };
			return newline != NULL;
		}
		err = fill(log);
		if (err)
			return err;
	}
}

/* 1: a line; 0: no more; or -errno.  The rest of a line that was cut is skipped: it is too long anyway. */
static int next_line(struct log *log, struct log_text *line)
{
	for (;;) {
		const bool rest = log->skipping;
		int whole = find_line(log, &log->begin, line);

		if (whole < 0 || (!whole && log->begin == log->end))
			return whole;
		if (!whole && log->cut) { /* what is there of the line may be half of a number */
			log->begin = log->end;
			return 0;
		}
		log->skipping = !whole && full(log);
		log->begin = (size_t)(line->end - log->buffer + whole);
		if (rest)
			continue;
		log->line++;
		return 1;
	}
}

static int cannot_read(struct log *log, int err)
{
	report_rest(log);
	if (log->line)
		error_add(log->errors, "%s:%" PRIu64 ": cannot read on: %s", log->path, log->line, strerror(-err));
	else
		error_add(log->errors, "%s: cannot read it: %s", log->path, strerror(-err));
	log->failed = err;
	return err;
}

const unsigned char *log_bytes(struct log *log, size_t n)
{
	while (log->end - log->begin < n && !log->at_end && !log->broken)
		log->broken = fill(log);
	return log->end - log->begin < n ? NULL : (const unsigned char *)log->buffer + log->begin;
}

bool log_skip(struct log *log, uint64_t n)
{
	while (n) {
		size_t part = log->end - log->begin;

		if (!part && !log_bytes(log, 1))
			return false;
		part = log->end - log->begin;
		part = part < n ? part : (size_t)n;
		log->begin += part;
		n -= part;
	}
	return true;
}

const char *log_stop(struct log *log, const char *why)
{
	log->begin = log->end;
	log->at_end = true;
	log->cut = NULL;
	return why;
}

/* ---- which format ---- */

static struct log_text trim(struct log_text line)
{
	log_skip_blanks(&line);
	while (line.end > line.at && (line.end[-1] == '\r' || log_blank(line.end[-1])))
		line.end--;
	return line;
}

/* Puts an input on top of what there is; it takes the bytes that were read. */
static int push(struct log *log, struct log_input *in)
{
	if (!in)
		return -ENOMEM;
	log_input_start(in, log->fd, log->input, log->buffer + log->begin, log->end - log->begin);
	log->input = in;
	log->begin = log->end = 0;
	log->at_end = false;
	return 0;
}

/* Decompression, from the first bytes. */
static int open_compressed(struct log *log)
{
	static const struct {
		bool (*probe)(const unsigned char *bytes, size_t n);
		struct log_input *(*input)(void);
	} inputs[] = { { log_gzip_probe, log_gzip_input }, { log_zstd_probe, log_zstd_input } };

	for (size_t i = 0; i < sizeof(inputs) / sizeof(*inputs); i++) {
		const unsigned char *bytes = log_bytes(log, MAGIC_BYTES);
		int err = log->broken;

		if (!err && bytes && inputs[i].probe(bytes, log->end))
			err = push(log, inputs[i].input());
		if (err)
			return cannot_read(log, err);
	}
	/* The mark that some editors begin files with. */
	if (log->end >= 3 && !memcmp(log->buffer, "\xEF\xBB\xBF", 3))
		log->begin = 3;
	return 0;
}

/* A line shows that the log is of the format. */
static int take_format(struct log *log, const struct log_format *format, struct log_text line)
{
	const char *why = format->refuse ? format->refuse(line) : NULL;

	log->format = format;
	return why ? error_refuse(log->errors, -EBADMSG, "%s: %s", log->path, why) : 0;
}

/* Containers, once the format is known. */
static int open_containers(struct log *log)
{
	const int err = log->format->input ? push(log, log->format->input()) : 0;

	return err ? cannot_read(log, err) : 0;
}

/* NULL: of none, or of any, as comments and empty lines (any). */
static const struct log_format *format_of(const struct log *log, struct log_text line, bool *any)
{
	*any = line.at == line.end || *line.at == '#' ||
	       (*line.at == ';' && !log_begins(line, ";$")); /* a comment of TRC, and of too many other things */
	for (size_t i = 0; log->formats[i] && !*any; i++)
		if (log->formats[i]->probe && log->formats[i]->probe(line))
			return log->formats[i];
	return NULL;
}

static int unknown_format(const struct log *log)
{
	char text[256];
	struct text_out names = text_out(text, sizeof(text));

	for (size_t i = 0; log->formats[i]; i++)
		text_add(&names, "%s%s", i ? ", " : "", log->formats[i]->name);
	return error_refuse(log->errors, -EBADMSG, "%s: unknown format; known are %s, also with gzip or zstd",
			    log->path, text);
}

/* Reads lines until one has a known format, so that the first one may be damaged. */
static int find_text_format(struct log *log)
{
	bool strange = false;
	size_t at = log->begin;

	for (;;) {
		const size_t before = log->begin;
		const struct log_format *format;
		struct log_text line;
		int whole = find_line(log, &at, &line);
		bool any;

		if (whole < 0)
			return cannot_read(log, whole);
		if (log->begin != before) { /* the bytes were moved */
			at -= before;
			continue;
		}
		format = format_of(log, trim(line), &any);
		if (format)
			return take_format(log, format, trim(line));
		strange = strange || !any;
		if (!whole)
			return strange ? unknown_format(log) : 0;
		at = (size_t)(line.end + 1 - log->buffer);
	}
}

static int find_format(struct log *log)
{
	const unsigned char *bytes = log_bytes(log, MAGIC_BYTES);

	if (log->broken)
		return cannot_read(log, log->broken);
	for (size_t i = 0; log->formats[i] && bytes; i++)
		if (log->formats[i]->probe_bytes && log->formats[i]->probe_bytes(bytes, log->end - log->begin))
			return take_format(log, log->formats[i], (struct log_text){ NULL, NULL });
	return find_text_format(log);
}

/* ---- calls ---- */

static void begin(struct log *log)
{
	log->line = log->damaged = log->backward = log->lost = 0;
	log->begin = log->end = 0;
	log->at_end = log->skipping = false;
	log->failed = log->broken = 0;
	log->cut = NULL;
	log_input_close(log->input);
	log->input = NULL;
	log->last_ns = INT64_MIN;
	memset(&log->of, 0, sizeof(log->of));
	log->of.base = 16;
}

int log_open(struct log *log, const char *path, const struct log_format *const *formats, int flags,
	     struct error_sink *errors)
{
	static struct error_sink nowhere;
	const bool standard = !strcmp(path, "-");
	int err;

	memset(log, 0, offsetof(struct log, buffer));
	begin(log);
	log->formats = formats;
	log->format = formats[0];
	log->path = standard ? "standard input" : path;
	log->strict = flags & LOG_STRICT;
	log->errors = errors ? errors : &nowhere;
	log->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (log->fd < 0)
		return cannot_read(log, -errno);
	log->start = lseek(log->fd, 0, SEEK_CUR);
	err = open_compressed(log);
	if (!err)
		err = find_format(log);
	if (!err)
		err = open_containers(log);
	if (err)
		log_close(log);
	return err;
}

void log_close(struct log *log)
{
	report_rest(log);
	log_input_close(log->input);
	log->input = NULL;
	if (log->fd > STDIN_FILENO)
		close(log->fd);
	log->fd = -1;
	log->failed = -EBADF;
}

/* The same for both kinds of files.  true: *r is a record; false: status is what log_next returns, 1: go on. */
static inline __attribute__((always_inline)) bool take(struct log *log, struct log_record *r, const char *wrong,
						       int *status)
{
	*status = 1;
	if (!wrong) {
		log->backward += r->t_ns < log->last_ns;
		log->last_ns = r->t_ns;
		r->line = log->line;
		return true;
	}
	if (wrong != log_nothing)
		*status = count_damage(log, wrong);
	return false;
}

/* The bytes are over; not the log, if they were cut. */
static int end(struct log *log)
{
	const char *cut = log->cut;

	log->cut = NULL;
	if (cut) {
		log->line++;
		if (count_damage(log, cut) < 0)
			return -EBADMSG;
	}
	report_rest(log);
	return 0;
}

static int next_record(struct log *log, struct log_record *r)
{
	int status = 1;

	while (status > 0) {
		const char *wrong;

		log->line++;
		wrong = log->format->read_record(log, r);
		if (log->broken)
			return cannot_read(log, log->broken);
		if (wrong == log_end) {
			log->line--;
			return end(log);
		}
		if (take(log, r, wrong, &status))
			return 1;
	}
	return status;
}

int log_next(struct log *log, struct log_record *r)
{
	const struct log_format *row = log->format;
	struct log_text line;
	int status;

	if (log->failed)
		return log->failed;
	if (row->read_record)
		return next_record(log, r);
	while ((status = next_line(log, &line)) > 0) {
		const bool too_long = line.end - line.at > LOG_LINE_MAX;
		const char *wrong;

		if (too_long) /* from its beginning: was it a frame? */
			line.end = line.at + LOG_LINE_MAX;
		line = trim(line);
		if (line.at == line.end)
			continue;
		wrong = row->read_line(log, r, line);
		if (__builtin_expect(too_long && wrong != log_nothing, 0))
			wrong = "the line is longer than 512 bytes";
		if (take(log, r, wrong, &status))
			return 1;
		if (status < 0)
			return status;
	}
	return status < 0 ? cannot_read(log, status) : end(log);
}

int log_rewind(struct log *log)
{
	int err;

	if (log->start < 0)
		return -ESPIPE;
	if (lseek(log->fd, log->start, SEEK_SET) < 0)
		return -errno;
	begin(log);
	err = open_compressed(log);
	return err ? err : open_containers(log);
}
