/* report.h: what happened, as events on NAME-event and, for a driver started by hand, as lines on stderr.
 *
 * The same code goes out once a second at most, with the number of times it was held back.  A line is written only if
 * that cannot block, and only when no supervisor merges the events ($NOTIFY_SOCKET is not set).
 */
#ifndef DAEMONS_REPORT_H
#define DAEMONS_REPORT_H

#include <stdarg.h>
#include <stdint.h>

#include "daemons/port.h"

#define REPORT_CODES 32

struct report {
	struct port port;
	const char *program, *name;
	uint32_t incarnation;
	bool lines;
	struct report_code {
		char code[MSG_NAME_SIZE];
		int64_t next_ns;
		uint32_t held;
	} codes[REPORT_CODES];
	unsigned int codes_n;
};

int report_open(struct report *r, const char *program, const char *name, struct error_sink *errors);
void report_event(struct report *r, int64_t now_ns, enum msg_severity severity, const char *code, const char *fmt,
		  va_list args) __attribute__((format(printf, 5, 0)));

#endif
