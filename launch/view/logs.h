/* logs.h: the output of the daemons.
 *
 * Each has a FIFO, $RUN/log/NAME, mode 0600, that achstart and the daemon both hold open; a new achstart finds it with
 * the output of the meantime (up to 64 kB; the daemon never waits, and the rest is lost).  Lines go to NAME.log with
 * the time before each ("2026-11-15 08:00:00.123456 text"), cut at 1000 bytes.
 *
 * The files are in $LOGS_DIRECTORY, which systemd sets, and $RUN/log/place names it for achctl; without it they are in
 * $RUN/log.  A file of more than LOGS_SIZE_MAX is renamed NAME.log.1, NAME.log.1 to .2 and so on, LOGS_KEPT of them; in
 * $RUN, where states are kept, there is less room: LOGS_RUN_SIZE_MAX, and one older file.  Nor is anything written that
 * would leave less than LOGS_RESERVE, or a quarter of a small file system.  A file that cannot be written (full disk,
 * no permission, a FIFO in its place) is reported once and tried again every second; lines of the meantime are lost and
 * counted.  If the FIFO cannot be created, a pipe takes its place.  The last lines stay in memory for the event of a
 * death.
 */
#pragma once

#include <sys/types.h>

#include "config/base/base.h"

#define LOGS_SIZE_MAX (10 << 20)
#define LOGS_KEPT 4
#define LOGS_RUN_SIZE_MAX (1 << 20)
#define LOGS_RESERVE (4 << 20)
#define LOGS_LAST 20	   /* lines in memory */
#define LOGS_LINE_MAX 1000 /* bytes */

struct logs {
	char name[32];
	int fifo; /* to be read when ready, and for the daemon to write; -1: there is none */
	int file;
	char line[LOGS_LINE_MAX + 1]; /* not ended yet */
	size_t line_len;
	char last[LOGS_LAST][LOGS_LINE_MAX + 1];
	unsigned int last_at, last_n;
	uint64_t lines, lost; /* of the file */
	int error;	      /* why the last line was lost; 0: it was not */
	bool reported;	      /* error, by the caller */
	size_t taken;	      /* bytes since logs_allow */
	int64_t file_size, retry_ns, look_ns;
	int64_t room; /* bytes that may be written before it is looked how much is free */
};

/* The path of that file, "waist.log": in $LOGS_DIRECTORY, else where $RUN/log/place says, else in $RUN/log.
 * 0 or -errno. */
int logs_path(char path[RUN_PATH_MAX], const char *file);
/* By achstart: $RUN/log/place is as $LOGS_DIRECTORY says.  0 or -errno. */
int logs_keep_place(void);

/* Creates or finds the FIFO, for another file than achstart's own, and opens the file.  0, or -errno with a line in
 * errors: it can be used nevertheless. */
int logs_open(struct logs *logs, const char *name, bool fifo, struct error_sink *errors);
void logs_close(struct logs *logs, bool remove_fifo);
/* Reads what is there; never blocks.  No more than LOGS_BURST until logs_allow, so that endless output costs no more
 * than that.  false: there may be more. */
#define LOGS_BURST 65536
bool logs_read(struct logs *logs, int64_t now_ns);
void logs_allow(struct logs *logs);
void logs_end(struct logs *logs, int64_t now_ns); /* its process has ended: the last line may lack a newline */
/* Uses the stdout of a running process if that is another FIFO than ours, because its name was removed. */
void logs_adopt(struct logs *logs, pid_t pid);
/* A line of achstart's own in the same file, of the time t_ns. */
void logs_say(struct logs *logs, int64_t now_ns, int64_t t_ns, const char *line);
/* Once a second, however often it is called: creates the file and its folder again if they were removed or renamed.
 * true: it did. */
bool logs_check(struct logs *logs, int64_t now_ns);
/* Has the file become unwritable, or writable again, since the last call?  *error: why; 0: it is writable. */
bool logs_changed(struct logs *logs, int *error);
const char *logs_why(int error);     /* in words; EINVAL: not a regular file */
void logs_forget(struct logs *logs); /* forgets the last lines: they were of another process */
/* The nth last line, 0 the newest; NULL: there is none. */
const char *logs_last(const struct logs *logs, unsigned int nth);
