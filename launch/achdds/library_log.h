/* library_log.h: the log of the DDS library, counted.
 *
 * Anyone who reaches the interface can make the library log a line for each packet.  So no line is printed from here;
 * the bridge reports their number and the newest one, now and then.
 */
#pragma once

#include "config/base/base.h"

#define LIBRARY_LOG_LINE 200

struct library_log {
	uint64_t lines, malformed; /* all; those about malformed packets */
	char first[LIBRARY_LOG_LINE], newest[LIBRARY_LOG_LINE];
};

/* Lines of the library come here from now on; counts begin again. */
void library_log_open(void);
void library_log_close(void);
void library_log_read(struct library_log *copy);
