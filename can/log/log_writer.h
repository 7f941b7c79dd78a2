/* log_writer.h: writes recorded frames in any format, by the suffix of the file.
 *
 *	struct log_writer w;
 *
 *	if (log_writer_open(&w, "drive.blf", flags, &errors))
 *		...
 *	log_writer_put(&w, &record);
 *	if (log_writer_close(&w))
 *		...
 *
 * A format that numbers its buses gives canN the number N + 1, and other names the lowest free numbers, with a line.
 * A record that a format cannot hold is refused with a line, or with LOG_LENIENT left out, reported once and counted:
 * frames of a kind that it does not have, the second bus, that a frame was sent, which error an error frame is about.
 */
#pragma once

#include "can/log/log_put.h"

#define LOG_REPLACE 2 /* an existing file */
#define LOG_LENIENT 4 /* leave out what the format cannot hold */

/* The format of a name, ".gz" and ".zst" apart; "-", standard output, is candump -L.  NULL after a line in errors. */
const struct log_format *log_writer_format(const char *path, struct error_sink *errors);

/* 0, or -errno with a line in errors.  errors and path are kept. */
int log_writer_open(struct log_writer *w, const char *path, int flags, struct error_sink *errors);

/* 0; -EMEDIUMTYPE: the format has no place for it, and the writer is not lenient; other -errno: it cannot be
 * written; with a line in errors. */
int log_writer_put(struct log_writer *w, const struct log_record *r);

/* 0 or -errno with a line in errors.  remove: the file as well, because it is not complete. */
int log_writer_close(struct log_writer *w, bool remove);
