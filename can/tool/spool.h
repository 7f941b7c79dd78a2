/* spool.h: lines on their way to a file, or to one file after another.
 *
 * Reading a bus must not wait for a disk, so lines go to a bounded memory and a thread writes it.  One write(2) holds
 * whole lines; when the disk takes no more, what is left of the last line is cut off, and that is the end.
 *
 * With rotate_bytes or every_ns drive.log becomes drive-0001.log, drive-0002.log and so on.  Numbers go on behind the
 * highest that is there, so nothing is ever written over; keep removes the oldest, those of earlier recordings too.
 */
#ifndef CAN_TOOL_SPOOL_H
#define CAN_TOOL_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/error.h"

struct spool;

struct spool_options {
	const char *path;     /* "-": standard output */
	bool force;	      /* a file that is there is replaced */
	int64_t rotate_bytes; /* 0: one file; no piece is longer, unless it is a single line */
	int64_t every_ns;     /* 0: one file; a piece holds the lines of so much time */
	int64_t keep;	      /* pieces; 0: all */
	size_t memory;	      /* bytes that may wait for the disk */
};

/* 0 or -errno with a line in errors.  Signals are to be blocked by now: the thread inherits that. */
int spool_open(struct spool **spool, const struct spool_options *options, struct error_sink *errors);

/* A line with its newline; t_ns counts for every_ns, frames for spool_frames.  false: there is no room for it now. */
bool spool_line(struct spool *s, const char *text, size_t len, int64_t t_ns, unsigned int frames);

/* Hands over what is there, unless the disk is still busy with what it has. */
void spool_flush(struct spool *s);
bool spool_pending(const struct spool *s); /* is there something to hand over? */

/* A few lines are still to come, and find room in any case. */
void spool_ending(struct spool *s);

/* Nothing more comes: the rest is written. */
void spool_finish(struct spool *s);

/* Readable once the thread has ended: all is written, or the file takes no more. */
int spool_ended_fd(const struct spool *s);

struct spool_stats {
	uint64_t frames, bytes; /* in files */
	unsigned int pieces;
	int error; /* 0, or -errno that ended it */
};
struct spool_stats spool_stats(struct spool *s);
const char *spool_path(const struct spool *s); /* of the file that is written, once the thread has ended */

/* Waits for the thread; NULL is fine. */
void spool_close(struct spool *s);

#endif
