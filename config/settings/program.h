/* program.h: what command-line programs share: exit status, lines on stderr, times and sizes among their arguments. */
#pragma once

#include "config/settings/options.h"

extern const char *program_name; /* "canrecord", "ach echo" */
/* Called before a line on stderr, if set: the program draws. */
extern void (*program_before_line)(void);

/* "canrecord: what" on stderr.  Returns status. */
int program_report(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define program_fail(...) program_report(EXIT_RETRY, __VA_ARGS__)
#define program_wrong(...) program_report(EXIT_WRONG, __VA_ARGS__)
#define program_say(...) program_report(0, __VA_ARGS__)

/* A row of a summary: its name in JSON, its text for people. */
struct program_count {
	const char *key, *text;
	uint64_t n;
};

/* Where libraries may report such lines. */
extern struct error_sink program_errors;

/* Reads the line and sets program_name; --help is answered.  OPTIONS_RUN, or the exit status. */
int program_options(struct options *options, int *argc, char **argv);

/* A time: 10 and 10s are seconds, 5min and 5m minutes.  0 is one only if zero is allowed.  NULL leaves *ns as it is.
 * 0, or EXIT_WRONG after a line. */
int program_time(const char *option, const char *text, bool zero, int64_t *ns);

/* A number of bytes: 4096, 500k, 100M, 2G, in powers of 1000. */
int program_size(const char *option, const char *text, int64_t *bytes);
