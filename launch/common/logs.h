/* logs.h: what the daemons print.
 *
 * Each has a FIFO, $RUN/log/NAME, mode 0600, that achstart and the daemon both hold open; a new achstart finds it
 * with what was printed meanwhile (64 kB; what had no room was lost, and the daemon did not wait).  Lines go to
 * NAME.log with the time before each ("2026-11-15 08:00:00.123456 text"), cut at 1000 bytes.
 *
 * The files are in $LOGS_DIRECTORY, which systemd sets, and $RUN/log/place names it for achctl; without it they are in
 * $RUN/log.  A file of more than LOGS_SIZE_MAX is renamed NAME.log.1, NAME.log.1 to .2 and so on, LOGS_KEPT of them; in
 * $RUN, where states are kept, there is less room: LOGS_RUN_SIZE_MAX, and one older file.  Nor is anything written
 * where less than LOGS_RESERVE, or a quarter of a small file system, would be left.  A file that cannot be written
 * (full disk, no permission, a FIFO in its place) is told once and tried again every second; lines are lost
 * meanwhile and counted, and nobody waits.  Where no FIFO can be made a pipe without a name does.  The last lines are
 * kept in memory for the obituary.
 */
#ifndef LAUNCH_COMMON_LOGS_H
#define LAUNCH_COMMON_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "config/error.h"
#include "config/run.h"

#define LOGS_SIZE_MAX (10 << 20)
#define LOGS_KEPT 4
#define LOGS_RUN_SIZE_MAX (1 << 20)
#define LOGS_RESERVE (4 << 20)
#define LOGS_LAST 20	   /* lines in memory */
#define LOGS_LINE_MAX 1000 /* bytes */

struct logs {
	char name[32];
	int fifo; /* to be read when ready; -1: there is none */
	int file;
	char line[LOGS_LINE_MAX + 1]; /* not ended yet */
	size_t line_len;
	char last[LOGS_LAST][LOGS_LINE_MAX + 1];
	unsigned int last_at, last_n;
	uint64_t lines, lost; /* to the file */
	int error;	      /* why the last line was lost; 0: it was not */
	bool told;	      /* the caller has told of it */
	size_t taken;	      /* bytes since logs_allow */
	int64_t file_size, retry_ns, look_ns;
	int64_t room; /* bytes that may be written before it is looked how much is free */
};

/* The path of that file, "waist.log": in $LOGS_DIRECTORY, else where $RUN/log/place says, else in $RUN/log.
 * 0 or -errno. */
int logs_path(char path[RUN_PATH_MAX], const char *file);
/* By achstart: $RUN/log/place is as $LOGS_DIRECTORY says.  0 or -errno. */
int logs_keep_place(void);

/* Makes or finds the FIFO and opens the file.  0, or -errno with a line in errors: it can be used all the same. */
int logs_open(struct logs *logs, const char *name, struct error_sink *errors);
/* A file of achstart's own, without a FIFO. */
int logs_open_file(struct logs *logs, const char *name, struct error_sink *errors);
void logs_close(struct logs *logs, bool remove_fifo);
int logs_fd(const struct logs *logs); /* for the daemon: the FIFO's */
/* Takes what is there; never blocks.  No more than LOGS_BURST until logs_allow, so that one that prints without end
 * costs no more than that.  false: there may be more. */
#define LOGS_BURST 65536
bool logs_read(struct logs *logs, int64_t now_ns);
void logs_allow(struct logs *logs);
void logs_end(struct logs *logs, int64_t now_ns); /* its process has ended: the last line is whole as it is */
/* The stdout of a process that runs, if that is another FIFO than ours: the one of its name was removed. */
void logs_adopt(struct logs *logs, pid_t pid);
/* A line of achstart's own in the same file, of the time t_ns. */
void logs_say(struct logs *logs, int64_t now_ns, int64_t t_ns, const char *line);
/* As often as one likes: makes the file, and its folder, anew if they were removed or renamed (looked at once a
 * second).  true: it did. */
bool logs_look(struct logs *logs, int64_t now_ns);
/* Has the file become unwritable, or writable again, since this was last asked?  *error: why; 0: it is well again. */
bool logs_changed(struct logs *logs, int *error);
const char *logs_why(int error);     /* in words; EINVAL: a FIFO or the like is in its place */
void logs_forget(struct logs *logs); /* the last lines: they were another process's */
/* The nth last line, 0 the newest; NULL: there is none. */
const char *logs_last(const struct logs *logs, unsigned int nth);

#endif
