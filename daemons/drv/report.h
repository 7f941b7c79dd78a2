/* report.h: what happened, as events on NAME-event and, for a driver started by hand, as lines on stderr.
 *
 * The same code goes out once a second: what comes sooner is held back, and the newest of it is told when the second is
 * over, with the number of those before it.  Order is kept: before an event goes out, of whatever code, those that are
 * held go, so that the last one is always what happened last.  No allocation.  A line is written only if that cannot
 * block, and only when no supervisor merges the events ($NOTIFY_SOCKET is not set).
 */
#ifndef DAEMONS_DRV_REPORT_H
#define DAEMONS_DRV_REPORT_H

#include <stdarg.h>
#include <stdint.h>

#include "daemons/drv/port.h"

#define REPORT_CODES 32

struct report {
	struct port port;
	const char *program, *name;
	uint32_t incarnation;
	bool lines;
	struct report_code {
		char code[MSG_NAME_SIZE];
		int64_t next_ns;
		/* the newest that is not told, if there are any */
		uint32_t held;
		uint64_t order;
		int64_t t_ns;
		enum msg_severity severity;
		char text[MSG_TEXT_SIZE];
	} codes[REPORT_CODES];
	unsigned int codes_n;
	uint64_t order; /* of the last event */
	bool holding;
};

int report_open(struct report *r, const char *program, const char *name, struct error_sink *errors);
void report_event(struct report *r, int64_t now_ns, enum msg_severity severity, const char *code, const char *fmt,
		  va_list args) __attribute__((format(printf, 5, 0)));
/* Between the two nothing is put or written, which may take time: what goes out at once goes out with the second. */
void report_hold(struct report *r);
void report_release(struct report *r, int64_t now_ns);
/* Once a tick: tells what was held back when its time has come. */
void report_look(struct report *r, int64_t now_ns);
/* The last look: tells all of it. */
void report_end(struct report *r, int64_t now_ns);

#endif
