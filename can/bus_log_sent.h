/* bus_log_sent.h: writes the frames sent on a log to a file for comparison.  For bus_log.c.
 *
 *	log:golden.log@can1>sent.log
 *
 *	(1436509052.249713) can1 0E4#0B110000803E
 *
 * Lines of candump -L with the times of the log that is played, so that the two can be laid side by side; "log" stands
 * for the interface where the name has no @.  Frames sent before the first record have times before it.  As long
 * as there is none (an empty log) times count from the opening.
 *
 * Frames are kept in memory and written when that is full, and at the closing: of a process that is killed the last
 * ones are missing.
 */
#ifndef CAN_BUS_LOG_SENT_H
#define CAN_BUS_LOG_SENT_H

#include "can/frame.h"
#include "config/error.h"

struct bus_log_sent;

/* path is emptied, or made.  log is the descriptor of the log that is played, which must be another file.  0, or -errno
 * with a line in errors. */
int bus_log_sent_open(struct bus_log_sent **sent, const char *path, const char *interface, int log,
		      struct error_sink *errors);
void bus_log_sent_close(struct bus_log_sent *sent); /* NULL is fine, here and below */

void bus_log_sent_add(struct bus_log_sent *sent, int64_t now_ns, const struct frame *frame);

/* shift_ns, from the log's times to ours, is known, or another one. */
void bus_log_sent_shift(struct bus_log_sent *sent, int64_t shift_ns);

uint64_t bus_log_sent_lost(const struct bus_log_sent *sent); /* frames that could not be written */

#endif
