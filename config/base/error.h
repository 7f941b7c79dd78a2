/* error.h: the one error sentence, and where lines about errors go.
 *
 *	ftd[left]: fatal: unable to open can0: No such device
 *
 * program, instance if there is one, severity, what failed, why.  One line, one
 * write, stderr only: time, files and rotation belong to the supervisor.
 *
 * Libraries never print.  They add errors to a sink, a line each:
 *
 *	struct error_who me = { "pciod", "waist", ERROR_FATAL };
 *	struct error_sink errors = { error_to_stderr, &me };
 *
 *	if (robot_open(&robot, path, &errors))
 *		return 100;	(every line is on stderr: "pciod[waist]: fatal: robot.yaml:9: ...")
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

#define ERROR_LINE_MAX 512 /* bytes of a line with its end; longer ones are cut and end in "..." */

enum error_severity {
	ERROR_PLAIN, /* no word for it: pciod: --buss: unknown option */
	ERROR_FATAL,
	ERROR_ERROR,
	ERROR_WARNING,
	ERROR_INFO,
};

/* ---- sentences ---- */

/* Writes the sentence, without a newline; instance may be NULL.  Control characters and what is not UTF-8 become '?',
 * so it is one line whatever the arguments hold.  %m is errno's text.  Returns its length. */
size_t error_sentence(char *buf, size_t size, const char *program, const char *instance, enum error_severity severity,
		      const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* For programs: the sentence and a newline to stderr in one write.  errno stays as it was. */
void error_say(const char *program, const char *instance, enum error_severity severity, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* ---- sinks ---- */

struct error_sink {
	void (*line)(void *to, const char *line); /* called once per line; NULL: only count */
	void *to;
	unsigned int count;
};

/* Adds a line to the sink. */
void error_add(struct error_sink *sink, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same; returns status: return error_refuse(errors, -EINVAL, "..."); */
int error_refuse(struct error_sink *sink, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void error_add_v(struct error_sink *sink, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

/* The same for a line of a file: "robot.yaml:9: what".  Returns -EINVAL. */
int error_at(struct error_sink *sink, const char *file, size_t line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* For programs: sinks that say each line at once; to is a struct error_who, or NULL for the line as it is. */
struct error_who {
	const char *program;
	const char *instance;
	enum error_severity severity;
};
void error_to_stderr(void *to, const char *line);
/* The same sink, for the block in which it stands. */
#define ERROR_TO_STDERR(program, instance, severity) \
	((struct error_sink){ error_to_stderr, &(struct error_who){ program, instance, severity }, 0 })

/* A sink that keeps the last line; to is a char[ERROR_LINE_MAX]. */
void error_keep_last(void *to, const char *line);
