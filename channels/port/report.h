/* report.h: what happened, as events on NAME-event and, for a driver started by hand, as lines on stderr.
 *
 * The same code goes out once a second: earlier repetitions are held back, and the newest of them goes out when the
 * second is over, with their number.  Order is kept: held events go out before any other event, so that the last event
 * is always the newest.  No allocation.  A line is written only if that cannot
 * block, and only when no supervisor merges the events ($NOTIFY_SOCKET is not set).
 */
#pragma once

#include "channels/port/port.h"

#define REPORT_CODES 32

struct report {
	struct port port;
	const char *program, *name;
	uint32_t incarnation;
	bool lines;
	struct report_code {
		char code[MSG_NAME_SIZE];
		int64_t next_ns;
		/* the newest event held back, if any */
		uint32_t held;
		uint64_t order;
		int64_t t_ns;
		enum msg_severity severity;
		char text[MSG_TEXT_SIZE];
	} codes[REPORT_CODES];
	unsigned int codes_n;
	unsigned int held; /* how many are held back: mostly none, and then the codes are not looked at */
	uint64_t order;	   /* of the last event */
	bool holding;	   /* nothing is put or written, since that may take time; report_release does it */
};

/* r is zero, or a spare has opened it before. */
int report_open(struct report *r, const char *program, const char *name, struct error_sink *errors);
void report_event(struct report *r, int64_t now_ns, enum msg_severity severity, const char *code, const char *fmt,
		  va_list args) __attribute__((format(printf, 5, 0)));
/* The same, now. */
void report_say(struct report *r, enum msg_severity severity, const char *code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Ends holding. */
void report_release(struct report *r, int64_t now_ns);
/* Once a tick: puts held events whose time has come. */
void report_tick(struct report *r, int64_t now_ns);
/* Puts all held events. */
void report_end(struct report *r, int64_t now_ns);
