/* writer.h: writes items to a file, or to one file after another, in a thread of its own.
 *
 * Reading a bus or a channel must not wait for a disk, so items go to a bounded memory which a thread writes.  If a
 * write fails, the file is cut after its last whole item, and the thread ends.
 *
 * With rotate_bytes or every_ns drive.log becomes drive-0001.log, drive-0002.log and so on (rec_rotate.h).  Numbers go
 * on behind the highest number found, so no file is overwritten; keep and total_bytes remove the oldest pieces, those
 * of earlier recordings too.
 *
 * With begin and end each file is whole by itself.  A piece has its name once its beginning is written, so a process
 * that is killed leaves no piece without one.
 *
 * With lasting, a write that fails is tried again every second with the items kept in memory, and so is the opening of
 * a piece; a piece that was removed while it is written is followed by a new one.  WRITER_RESERVE, or a quarter of a
 * small file system, is left to others: less room is a full disk.
 */
#pragma once

#include <sys/uio.h>

#include "config/base/base.h"

#define WRITER_END_MAX 64
#define WRITER_RESERVE (4 << 20)
#define WRITER_IDLE_NS 1000000000
#define WRITER_GIVE_UP_NS 10000000000 /* writer_finish waits this long for the next byte */

struct writer;
struct rec_piece;

struct writer_options {
	const char *path;     /* "-": standard output */
	bool force;	      /* replace an existing file */
	int64_t rotate_bytes; /* 0: one file; else the size of a piece, unless a single item is larger */
	int64_t every_ns;     /* 0: one file; else the time that a piece covers */
	int64_t keep;	      /* pieces; 0: all */
	int64_t total_bytes;  /* of all pieces, with rotate_bytes for the newest; 0: any */
	unsigned int digits;  /* of the number of a piece, 4 or more */
	size_t memory;	      /* bytes that may wait for the disk */
	bool lasting;

	/* The beginning of a file, called by writer_open and writer_put; returns its length. */
	size_t (*begin)(void *to, char *bytes, size_t room);
	/* Ends a file with that many counted items; called by the thread. */
	size_t (*end)(void *to, uint64_t items, int64_t t_ns, char bytes[WRITER_END_MAX]);

	/* If lose is set, the oldest items are dropped when the memory is full; else writer_put refuses new ones.
	 * lose gets the dropped items, note writes an item about them in their place and returns its length.  Both
	 * are called by writer_put. */
	void (*lose)(void *to, const char *bytes, size_t len);
	size_t (*note)(void *to, char *bytes, size_t room);
	void *to;

	/* If set, the thread passes items to it, and it writes what becomes of them; the end of the file with last,
	 * and no items when there were none for WRITER_IDLE_NS.  For one file without lasting.  Returns the bytes in
	 * the file, or -errno. */
	int64_t (*convert)(void *with, int fd, const char *items, size_t len, bool last);
	void *with;
};

/* 0 or -errno with a line in errors, which is used until writer_close. */
int writer_open(struct writer **writer, const struct writer_options *options, struct error_sink *errors);

/* Adds an item that consists of n parts; t_ns counts for every_ns, and stats.items counts the items with counts.
 * false: there is no room for it now. */
bool writer_put(struct writer *w, int64_t t_ns, bool counts, const struct iovec *parts, size_t n);

/* From now on items are accepted even if the memory is full: the last few items. */
void writer_ending(struct writer *w);

/* Waits until everything is written.  0, or the -errno of the thread; -ECANCELED: a second ^C, or no byte written for
 * WRITER_GIVE_UP_NS.  The thread still hangs in a write then, and the process ends without it. */
int writer_finish(struct writer *w);

/* Readable once the thread has ended: all is written, or a write failed. */
int writer_ended_fd(const struct writer *w);

struct writer_stats {
	uint64_t items, bytes; /* written */
	unsigned int pieces;
	int error; /* with lasting: -errno of the last write, which is tried again; 0: it succeeded */
};
struct writer_stats writer_stats(struct writer *w);
const char *writer_path(const struct writer *w); /* of the file being written; after writer_finish */

/* Writes all to a file; if that fails, takes off a regular file what it has got of it.  0 or -errno. */
int writer_write(int fd, const void *bytes, size_t len);

/* The pieces of a file that are there, sorted, to be freed; their number, 0 also if the folder cannot be read. */
size_t writer_pieces(const char *whole, struct rec_piece **pieces);

/* Waits for the thread; NULL is fine. */
void writer_close(struct writer *w);
