/* log.c: reads recorded frames: the file, its lines, its format, reports of damage. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "can/log_parse.h"

/* ---- damage ---- */

static void say(struct log *log, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct log *log, const char *fmt, ...)
{
	va_list args;

	if (!log->errors)
		return;
	va_start(args, fmt);
	error_add_v(log->errors, fmt, args);
	va_end(args);
}

static void count_damage(struct log *log, bool too_long)
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
	if (too_long)
		say(log, "%s:%" PRIu64 ": the line is longer than %d bytes", log->path, log->line, LOG_LINE_MAX);
	else
		say(log, "%s:%" PRIu64 ": %s%s", log->path, log->line, log->wrong[0], log->wrong[1]);
}

/* Once, at the end or where the reader stops. */
static void tell_untold(struct log *log)
{
	if (log->unreported)
		say(log, "%s: only the first %d of %" PRIu64 " damaged lines are listed", log->path, LOG_ERRORS_MAX,
		    log->reported + log->unreported);
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

/* 1: a line, without its end; 0: no more; or -errno.  One that the buffer does not hold is cut, and too long anyway. */
static int next_line(struct log *log, struct log_text *line)
{
	for (;;) {
		char *from = log->buffer + log->begin;
		char *newline = memchr(from, '\n', log->end - log->begin);
		bool cut = !newline && full(log), tail = log->skipping;
		int err;

		if (!newline && !cut && !log->at_end) {
			err = fill(log);
			if (err)
				return err;
			continue;
		}
		if (!newline && !cut && log->begin == log->end)
			return 0;
		line->at = from;
		line->end = newline ? newline : log->buffer + log->end;
		log->begin = newline ? (size_t)(newline + 1 - log->buffer) : log->end;
		log->skipping = cut;
		if (tail)
			continue;
		log->line++;
		return 1;
	}
}

static int cannot_read(struct log *log, int err)
{
	tell_untold(log);
	if (log->line)
		say(log, "%s:%" PRIu64 ": cannot read on: %s", log->path, log->line, strerror(-err));
	else
		say(log, "%s: cannot read it: %s", log->path, strerror(-err));
	log->failed = err;
	return err;
}

/* ---- which format ---- */

static struct log_text without_end(struct log_text line)
{
	while (line.end > line.at && (line.end[-1] == '\r' || log_blank(line.end[-1])))
		line.end--;
	return line;
}

/* Reads lines until one has a known format, so that the first one may be damaged. */
static int find_format(struct log *log)
{
	enum log_sign sign = LOG_SIGN_NONE;
	bool strange = false;
	size_t at = 0;

	while (sign != LOG_SIGN_CLEAR) {
		char *from = log->buffer + at;
		char *newline = memchr(from, '\n', log->end - at);
		struct log_text line = { from, newline ? newline : log->buffer + log->end };

		if (!newline && !log->at_end && !full(log)) {
			int err = fill(log);

			if (err)
				return cannot_read(log, err);
			continue;
		}
		if (at == 0 && log_begins(line, "\xEF\xBB\xBF")) { /* the mark that some editors begin files with */
			log->end -= 3;
			memmove(log->buffer, log->buffer + 3, log->end);
			log->start += log->start < 0 ? 0 : 3;
			continue;
		}
		sign = log_sign(without_end(line), &log->format);
		strange = strange || sign == LOG_SIGN_STRANGE;
		if (!newline)
			break;
		at = (size_t)(newline + 1 - log->buffer);
	}
	if (sign == LOG_SIGN_CLEAR || !strange)
		return 0;
	say(log, "%s: no log that is known: candump -L, Vector ASC and PCAN TRC are", log->path);
	return -EBADMSG;
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
	const bool standard = !strcmp(path, "-");
	int err;

	memset(log, 0, offsetof(struct log, buffer));
	begin(log);
	log->path = standard ? "standard input" : path;
	log->strict = flags & LOG_STRICT;
	log->errors = errors;
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

static enum log_found read_line(struct log *log, struct log_record *r, struct log_text line)
{
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
		enum log_found found;

		if (too_long) /* from its beginning: was it a frame? */
			line.end = line.at + LOG_LINE_MAX;
		found = read_line(log, r, without_end(line));
		if (found == LOG_NOTHING)
			continue;
		if (found == LOG_RECORD && !too_long) {
			log->backward += r->t_ns < log->last_ns;
			log->last_ns = r->t_ns;
			r->line = log->line;
			return 1;
		}
		count_damage(log, too_long);
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
