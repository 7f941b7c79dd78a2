/* error.c: the one error sentence, and where lines about errors go. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config/base/error.h"
#include "config/base/utf8.h"

static const char *const words[] = { "", "fatal: ", "error: ", "warning: ", "info: " }; /* by severity */

/* One line of text: control characters out, and if it was cut, that is seen and no character is cut in two. */
static size_t finish(char *buf, size_t size, size_t wanted)
{
	const char more[] = "...";
	size_t len = wanted;

	if (wanted >= size) {
		len = size > sizeof(more) ? size - sizeof(more) : 0;
		while (len > 0 && ((unsigned char)buf[len] & 0xC0) == 0x80)
			len--;
		len += (size_t)snprintf(buf + len, size - len, "%s", size > sizeof(more) ? more : "");
	}
	utf8_clean(buf);
	return len;
}

__attribute__((format(printf, 4, 0))) static size_t vsentence(char *buf, size_t size, const struct error_who *who,
							      const char *fmt, va_list args)
{
	int saved = errno; /* for %m */
	const char *open = who->instance ? "[" : "", *close = who->instance ? "]" : "";
	int head = snprintf(buf, size, "%s%s%s%s: %s", who->program, open, who->instance ? who->instance : "", close,
			    words[who->severity]);
	size_t at = head < 0 ? 0 : (size_t)head;
	int tail;

	errno = saved;
	tail = vsnprintf(at < size ? buf + at : NULL, at < size ? size - at : 0, fmt, args);
	return finish(buf, size, at + (tail < 0 ? 0 : (size_t)tail));
}

size_t error_sentence(char *buf, size_t size, const char *program, const char *instance, enum error_severity severity,
		      const char *fmt, ...)
{
	struct error_who who = { program, instance, severity };
	va_list args;
	size_t len;

	if (!size)
		return 0;
	va_start(args, fmt);
	len = vsentence(buf, size, &who, fmt, args);
	va_end(args);
	return len;
}

/* A line that cannot be written now is lost: a process that does not read its pipe must not stall a daemon. */
static void write_line(char *line, size_t len)
{
	int saved = errno;

	line[len++] = '\n';
	while (write(STDERR_FILENO, line, len) < 0 && errno == EINTR)
		;
	errno = saved;
}

void error_say(const char *program, const char *instance, enum error_severity severity, const char *fmt, ...)
{
	struct error_who who = { program, instance, severity };
	char line[ERROR_LINE_MAX];
	va_list args;
	size_t len;

	va_start(args, fmt);
	len = vsentence(line, sizeof(line), &who, fmt, args);
	va_end(args);
	write_line(line, len);
}

void error_add_v(struct error_sink *sink, const char *fmt, va_list args)
{
	char line[ERROR_LINE_MAX];
	int len;

	sink->count++;
	if (!sink->line)
		return;
	len = vsnprintf(line, sizeof(line), fmt, args);
	finish(line, sizeof(line), len < 0 ? 0 : (size_t)len);
	sink->line(sink->to, line);
}

void error_add(struct error_sink *sink, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	error_add_v(sink, fmt, args);
	va_end(args);
}

int error_refuse(struct error_sink *sink, int status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	error_add_v(sink, fmt, args);
	va_end(args);
	return status;
}

int error_at(struct error_sink *sink, const char *file, size_t line, const char *fmt, ...)
{
	char what[ERROR_LINE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return error_refuse(sink, -EINVAL, "%s:%zu: %s", file, line, what);
}

void error_to_stderr(void *to, const char *line)
{
	const struct error_who *who = to;
	char copy[ERROR_LINE_MAX];
	size_t len;

	if (who) {
		error_say(who->program, who->instance, who->severity, "%s", line);
		return;
	}
	len = (size_t)snprintf(copy, sizeof(copy), "%s", line);
	write_line(copy, finish(copy, sizeof(copy), len));
}

void error_keep_last(void *to, const char *line)
{
	snprintf(to, ERROR_LINE_MAX, "%s", line);
}
