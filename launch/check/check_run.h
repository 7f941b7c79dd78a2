/* check_run.h: runs programs to the end and keeps their output.
 *
 * Their stdin is empty; each has a process group of its own, dies with its parent, and is killed with its group when
 * its time is up.  Not for a real-time loop; the caller must not reap other children meanwhile.
 */
#pragma once

#include "config/base/base.h"

#define CHECK_RUN_SIZE_MAX (1 << 20) /* bytes of one output; a program that prints more is killed by SIGXFSZ */
#define CHECK_RUN_AT_ONCE 8

struct check_run {
	const char *path;	  /* the file */
	char *const *argv;	  /* ends with NULL */
	const char *option;	  /* one more argument, or NULL */
	char *const *environment; /* KEY=VALUE beside our own; ends with NULL; may be NULL */

	/* filled in */
	int err;	 /* 0, or -errno: it could not be started; -ETIME: it was killed because its time was up */
	int status;	 /* as of waitpid, if err is 0 */
	char *out, *say; /* stdout and stderr, with a zero behind them; from malloc, never NULL if err is 0 or -ETIME */
	size_t out_len, say_len;
	/* private */
	int pid, pidfd, out_fd, say_fd;
	int64_t deadline_ns;
};

/* Runs all of them, CHECK_RUN_AT_ONCE at a time, each for within_ns at most. */
void check_run(struct check_run *runs, size_t n, int64_t within_ns);
void check_run_free(struct check_run *runs, size_t n);
