/* out.h: standard output that SIGINT and SIGTERM can interrupt.
 *
 * These signals arrive through a descriptor (clock_stop_fd), so they would not end a plain write to a full pipe or to a
 * stopped terminal.  This stream waits with clock_wait for the output and that descriptor.
 */
#ifndef CHANNELS_TOOL_OUT_H
#define CHANNELS_TOOL_OUT_H

#include <stdio.h>

FILE *out_file(void);
#define out_text(...) fprintf(out_file(), __VA_ARGS__)

/* Writes all that is buffered.  0; -ECANCELED: a signal came; or -errno, which is reported once. */
int out_flush(void);
/* The same at the end of a command, for its exit status: a signal is not a failure. */
int out_end(void);

#endif
