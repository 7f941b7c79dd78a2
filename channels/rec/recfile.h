/* recfile.h: a recording on the disk, for the commands that read one; reports what is wrong with it.
 *
 * In the format of reclog.h, or MCAP, from other writers too (mcaprec.h).
 */
#pragma once

#include "channels/rec/mcaprec.h"

struct recfile {
	const char *path;
	int fd;
	uint64_t size; /* 0: unknown */
	bool twice;    /* it can be read again: not a pipe */
	struct reclog_reader reader;
	struct mcaprec_reader *mcap; /* NULL: not MCAP */
	bool cut, quiet;
	uint64_t damages, damaged_bytes;
};

/* 0, or EXIT_RETRY after a line. */
int recfile_open(struct recfile *f, const char *path);
/* To its first record again. */
int recfile_rewind(struct recfile *f);
/* 0, or EXIT_RETRY if something in it was damaged. */
int recfile_close(struct recfile *f);

/* The next record that is sound.  1; 0: there is none; -1: failed, after a line. */
int recfile_next(struct recfile *f, struct reclog_record *r);

/* The name of a channel, from any file, as a terminal may have it.  Returns shown. */
const char *recfile_name(char shown[sizeof(((struct reclog_channel *)0)->name)], const struct reclog_channel *c);
