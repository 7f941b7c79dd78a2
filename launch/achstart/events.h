/* events.h: the events of all daemons and of achstart itself, in one place.
 *
 * $RUN/log/events.log, a line each: "2026-11-15 08:00:00.123456 waist error silent: module 15 ..."; the same rules as
 * the daemons' logs (logs.h), in the order in which achstart hears of them, with the time at which each
 * happened.  achstart's own events also go to the channel achstart-event, and to stderr, together with the daemons'
 * warnings and errors.  Pauses of the machine, which all drivers report, are one event (paused.h).
 */
#pragma once

#include "channels/port/port.h"
#include "launch/achstart/paused.h"
#include "launch/view/logs.h"
#include "launch/view/terminal.h"

struct events {
	struct logs log;
	struct port own;
	struct terminal terminal;
	struct paused paused;
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
void events_line(void *context, const char *line); /* for struct error_sink */

/* Says if the file of that source has become unwritable, or writable again. */
void events_log(struct events *events, struct logs *log, const char *source, int64_t now_ns);
void events_update(struct events *events, int64_t now_ns); /* ten times a second or so: its own channel and file */

/* ---- why a driver is in fault, by the events that it publishes.  Pure.
 *
 * Its last error is the reason, until it says that it is over.  A bus comes and goes beside that: "bus", "bus-back";
 * while it is away the silence of a device explains nothing.
 */

struct events_fault {
	struct events_fault_one {
		char code[MSG_NAME_SIZE + 1], text[MSG_TEXT_SIZE + 1];
		uint32_t incarnation;
		uint64_t place; /* among all that were heard; 0: there was none */
		bool over;
	} device, bus, refused; /* refused: a reference, which is no fault */
	uint64_t heard;
};

void events_fault_hear(struct events_fault *fault, const struct msg_event *event);
/* The newest that is not over, the bus before a silence; if they all are (the next is on its way), the newest.  "":
 * nothing was heard from that incarnation. */
const char *events_fault_text(const struct events_fault *fault, uint32_t incarnation);
/* Why it last refused a reference; "": it has refused none. */
const char *events_refusal_text(const struct events_fault *fault, uint32_t incarnation);

/* Reads one daemon's events from its channel; those from before our time only go to fault. */
void events_follow(struct events *events, struct port *port, struct events_fault *fault, int64_t now_ns);
