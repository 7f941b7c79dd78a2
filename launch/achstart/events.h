/* events.h: the events of all daemons and of achstart itself, in one place.
 *
 * $RUN/log/events.log, a line each: "2026-11-15 08:00:00.123456 waist error silent: module 15 ..."; the same rules as
 * the daemons' logs (logs.h), in the order in which achstart hears of them, with the time at which each
 * happened.  achstart's own events also go to the channel achstart-event, and to stderr, together with the daemons'
 * warnings and errors.
 */
#ifndef LAUNCH_ACHSTART_EVENTS_H
#define LAUNCH_ACHSTART_EVENTS_H

#include "daemons/drv/port.h"
#include "launch/common/logs.h"
#include "launch/common/terminal.h"
#include "launch/achstart/watch_why.h"

struct events {
	struct logs log;
	struct port own;
	struct terminal terminal;
	int64_t since_ns; /* what happened before was written by the achstart before, or belongs to another run */
};

/* 0, or -errno with a line: it can be used all the same. */
int events_open(struct events *events, struct error_sink *errors);
void events_close(struct events *events);

/* An event of achstart about source (a daemon, a bus, or "achstart"). */
void events_say(struct events *events, int64_t now_ns, enum msg_severity severity, const char *source, const char *code,
		const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* An error sink whose lines become such events. */
struct events_sink {
	struct events *events;
	int64_t now_ns;
	enum msg_severity severity;
	const char *source, *code;
};
void events_line(void *teller, const char *line); /* for struct error_sink */

/* Says if the file of that source has become unwritable, or writable again. */
void events_log(struct events *events, struct logs *log, const char *source, int64_t now_ns);
void events_update(struct events *events, int64_t now_ns); /* ten times a second or so: its own channel and file */
/* Reads one daemon's events from its channel; those from before our time only go to why. */
void events_follow(struct events *events, struct port *port, struct watch_why *why, int64_t now_ns);

#endif
