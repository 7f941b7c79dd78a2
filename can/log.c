/* log.c: reads recorded frames: the file, its lines, its format, reports of damage. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "can/log_parse.h"

_Static_assert(LOG_LINE_MAX == 512, "as the message in log_next says");

/* ---- damage ---- */

static void count_damage(struct log *log, const char *wrong)
{
	log->damaged++;
	if (log->line <= log->reported_upto)
		return;
	log->reported_upto = log->line;
	if (log->reported >= LOG_ERRORS_MAX) {
		log->unreported++;
		return;
	}
	log->reported++;
	error_add(log->errors, "%s:%" PRIu64 ": %s", log->path, log->line, wrong);
}

/* Once, at the end or where the reader stops. */
static void tell_untold(struct log *log)
{
	if (log->unreported)
		error_add(log->errors, "%s: only the first %d of %" PRIu64 " damaged lines are listed", log->path,
			  LOG_ERRORS_MAX, log->reported + log->unreported);
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
	do
		n = read(log->fd, log->buffer + log->end, sizeof(log->buffer) - log->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
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
	tell_untold(log);
	if (log->line)
		error_add(log->errors, "%s:%" PRIu64 ": cannot read on: %s", log->path, log->line, strerror(-err));
	else
		error_add(log->errors, "%s: cannot read it: %s", log->path, strerror(-err));
	log->failed = err;
	return err;
}

/* ---- which format ---- */

static struct log_text trim(struct log_text line)
{
	log_skip_blanks(&line);
	while (line.end > line.at && (line.end[-1] == '\r' || log_blank(line.end[-1])))
		line.end--;
	return line;
}

/* A header of ASC. */
static bool is_asc_header(struct log_text line)
{
	static const char *const headers[] = {
		"date ", "base ", "//", "begin trigger", "internal events", "no internal events",
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		if (log_begins(line, headers[i]))
			return true;
	return false;
}

/* "0.1 1 123 Rx ..." or "0.1 CANFD 1 Rx ..." */
static bool is_asc(struct log_text first, struct log_text second)
{
	struct log_text rest = first;
	int64_t ns;

	return memchr(first.at, '.', (size_t)(first.end - first.at)) && log_time(&rest, 1000000000, &ns) &&
	       rest.at == rest.end && second.at < second.end && (log_digit(*second.at) || log_is(second, "CANFD"));
}

/* "1) 100 0123 8 ...": not the rest of "(1436509052.249713) can0 ..." that was cut in two. */
static bool is_trc(struct log_text first, struct log_text second)
{
	struct log_text number = first;
	uint32_t n;

	if (first.at == first.end || first.end[-1] != ')')
		return false;
	number.end--;
	return log_number(number, 10, UINT32_MAX, &n) && second.at < second.end && log_digit(*second.at);
}

/* The format of a file, from one of its lines. */
enum sign {
	SIGN_NONE,    /* of any format: a comment, an empty line */
	SIGN_STRANGE, /* of no known format */
	SIGN_CLEAR,   /* *format is set */
};

static enum sign sign_of(struct log_text line, enum log_format *format)
{
	struct log_text rest = line, first = log_word(&rest), second = log_word(&rest);

	if (line.at == line.end || *line.at == '#')
		return SIGN_NONE;
	if (*line.at == ';' && !log_begins(line, ";$"))
		return SIGN_NONE; /* a comment of TRC, and of too many other things */
	if (*line.at == '(' && line.end - line.at > 1 && log_digit(line.at[1]))
		*format = LOG_CANDUMP;
	else if (is_asc_header(line) || is_asc(first, second))
		*format = LOG_ASC;
	else if (*line.at == ';' || is_trc(first, second))
		*format = LOG_TRC;
	else
		return SIGN_STRANGE;
	return SIGN_CLEAR;
}

/* Reads lines until one has a known format, so that the first one may be damaged. */
static int find_format(struct log *log)
{
	enum sign sign = SIGN_NONE;
	bool strange = false;
	size_t at = 0;

	while (sign != SIGN_CLEAR) {
		struct log_text line;
		int whole = find_line(log, &at, &line);

		if (whole < 0)
			return cannot_read(log, whole);
		if (at == 0 && log_begins(line, "\xEF\xBB\xBF")) { /* the mark that some editors begin files with */
			log->end -= 3;
			memmove(log->buffer, log->buffer + 3, log->end);
			log->start += log->start < 0 ? 0 : 3;
			continue;
		}
		sign = sign_of(trim(line), &log->format);
		strange = strange || sign == SIGN_STRANGE;
		if (!whole)
			break;
		at = (size_t)(line.end + 1 - log->buffer);
	}
	if (sign == SIGN_CLEAR || !strange)
		return 0;
	return error_refuse(log->errors, -EBADMSG, "%s: no log that is known: candump -L, Vector ASC and PCAN TRC are",
			    log->path);
}

/* ---- calls ---- */

static void begin(struct log *log)
{
	log->line = log->damaged = log->backward = log->lost = 0;
	log->begin = log->end = 0;
	log->at_end = log->skipping = false;
	log->failed = 0;
	log->last_ns = INT64_MIN;
	memset(&log->of, 0, sizeof(log->of));
	log->of.base = 16;
}

int log_open(struct log *log, const char *path, int flags, struct error_sink *errors)
{
	static struct error_sink nowhere;
	const bool standard = !strcmp(path, "-");
	int err;

	memset(log, 0, offsetof(struct log, buffer));
	begin(log);
	log->path = standard ? "standard input" : path;
	log->strict = flags & LOG_STRICT;
	log->errors = errors ? errors : &nowhere;
	log->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (log->fd < 0)
		return cannot_read(log, -errno);
	log->start = lseek(log->fd, 0, SEEK_CUR);
	err = find_format(log);
	if (err)
		log_close(log);
	return err;
}

void log_close(struct log *log)
{
	tell_untold(log);
	if (log->fd > STDIN_FILENO)
		close(log->fd);
	log->fd = -1;
	log->failed = -EBADF;
}

static const char *read_line(struct log *log, struct log_record *r, struct log_text line)
{
	if (line.at == line.end)
		return log_nothing;
	switch (log->format) {
	case LOG_ASC:
		return log_asc_line(log, r, line);
	case LOG_TRC:
		return log_trc_line(log, r, line);
	default:
		return log_candump_line(log, r, line);
	}
}

int log_next(struct log *log, struct log_record *r)
{
	struct log_text line;
	int status;

	if (log->failed)
		return log->failed;
	while ((status = next_line(log, &line)) > 0) {
		const bool too_long = line.end - line.at > LOG_LINE_MAX;
		const char *wrong;

		if (too_long) /* from its beginning: was it a frame? */
			line.end = line.at + LOG_LINE_MAX;
		wrong = read_line(log, r, trim(line));
		if (wrong == log_nothing)
			continue;
		if (!wrong && !too_long) {
			log->backward += r->t_ns < log->last_ns;
			log->last_ns = r->t_ns;
			r->line = log->line;
			return 1;
		}
		count_damage(log, too_long ? "the line is longer than 512 bytes" : wrong);
		if (log->strict)
			return log->failed = -EBADMSG;
	}
	if (status < 0)
		return cannot_read(log, status);
	tell_untold(log);
	return 0;
}

int log_rewind(struct log *log)
{
	if (log->start < 0)
		return -ESPIPE;
	if (lseek(log->fd, log->start, SEEK_SET) < 0)
		return -errno;
	begin(log);
	return 0;
}
