/* log_input.h: the bytes of a log, decompressed on the fly.  Only for log*.c.
 *
 * Inputs are a chain: a file, gzip or zstd upon it, the containers of BLF or the chunks of MCAP upon that.  Each takes
 * the bytes that its reader has read before it knew what they are.
 */
#pragma once

#include <sys/types.h>

#include "config/base/base.h"

#define LOG_INPUT_BYTES (1 << 16)

struct log_input {
	/* How many bytes were put to *to; 0: the end; -EBADMSG: damaged, and wrong says how; other -errno. */
	ssize_t (*read)(struct log_input *in, unsigned char *to, size_t room);
	void (*close)(struct log_input *in); /* its own memory */
	const char *wrong;

	int fd;			 /* where bytes come from, unless below is there */
	struct log_input *below; /* owned */
	size_t at, n;
	bool ended;
	unsigned char bytes[LOG_INPUT_BYTES]; /* from below: those from at to n are not used yet */
};

/* Do the first bytes say so? */
bool log_gzip_probe(const unsigned char *bytes, size_t n);
bool log_zstd_probe(const unsigned char *bytes, size_t n);

/* NULL: no memory.  log_input_start gives it its bytes. */
struct log_input *log_gzip_input(void);
struct log_input *log_zstd_input(void);
struct log_input *log_blf_input(void);

/* Puts it on top of fd, or of below, with the n bytes (at most LOG_INPUT_BYTES) that were read of that. */
void log_input_start(struct log_input *in, int fd, struct log_input *below, const void *bytes, size_t n);
void log_input_close(struct log_input *in); /* all of the chain; may be NULL */

/* For inputs: makes bytes[at] exist.  1, 0 at the end of what is below, or -errno (-EBADMSG: wrong is set). */
int log_input_more(struct log_input *in);

int log_input_wrong(struct log_input *in, const char *text); /* sets wrong; returns -EBADMSG */

/* Reads from fd, again if a signal came.  As read(2), but -errno. */
ssize_t log_input_fd(int fd, void *to, size_t room);
