/* out.h: standard output in large pieces, and always to be interrupted.
 *
 * SIGINT and SIGTERM come through a descriptor (tool_stop_fd), so a plain write to a full pipe or to a terminal that
 * was stopped could not be ended by them.  Here the wait is clock_wait's, with that descriptor beside the output.
 */
#ifndef CHANNELS_TOOL_OUT_H
#define CHANNELS_TOOL_OUT_H

#include <stddef.h>

/* Room for size bytes at the end of what is said; what was put there counts with out_done.  NULL: no memory. */
char *out_room(size_t size);
void out_done(size_t len);

void out_bytes(const void *bytes, size_t len);
void out_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void out_json(const char *text); /* as a JSON string, in quotes */

/* Writes all of it.  0; -ECANCELED: told to stop; or -errno, which is said in one line, once. */
int out_flush(void);

#endif
