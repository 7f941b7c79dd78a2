/* report.c: events, and lines for those who started a driver by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/clock.h"
#include "daemons/report.h"

#define AGAIN_NS 1000000000

int report_open(struct report *r, const char *program, const char *name, struct error_sink *errors)
{
	char channel[PORT_NAME_MAX];

	memset(r, 0, sizeof(*r));
	r->program = program;
	r->name = name;
	r->lines = !getenv("NOTIFY_SOCKET");
	snprintf(channel, sizeof(channel), "%s-event", name);
	return port_open(&r->port, channel, msg_type_by_number(msg_event_number), 0640, errors);
}

/* The place of this code; with too many of them the one that was told longest ago makes room. */
static struct report_code *code_of(struct report *r, const char *code)
{
	struct report_code *oldest = &r->codes[0];

	for (unsigned int i = 0; i < r->codes_n; i++) {
		if (!strcmp(r->codes[i].code, code))
			return &r->codes[i];
		if (r->codes[i].next_ns < oldest->next_ns)
			oldest = &r->codes[i];
	}
	if (r->codes_n < REPORT_CODES)
		oldest = &r->codes[r->codes_n++];
	memset(oldest, 0, sizeof(*oldest));
	snprintf(oldest->code, sizeof(oldest->code), "%s", code);
	return oldest;
}

static void say(const struct report *r, enum msg_severity severity, const char *text)
{
	static const enum error_severity severities[] = { ERROR_INFO, ERROR_WARNING, ERROR_ERROR, ERROR_FATAL };
	struct clock_fd terminal = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (clock_wait(&terminal, 1, INT64_MIN) == 1 && terminal.ready & POLLOUT)
		error_say(r->program, r->name, severities[severity], "%s", text);
}

void report_event(struct report *r, int64_t now_ns, enum msg_severity severity, const char *code, const char *fmt,
		  va_list args)
{
	struct report_code *place = code_of(r, code);
	struct msg_event event;

	if (now_ns < place->next_ns) {
		place->held++;
		return;
	}
	msg_init(&event, r->port.type);
	event.header.incarnation = r->incarnation;
	event.header.t_sample_ns = event.header.t_publish_ns = now_ns;
	event.severity = severity;
	event.repeated = place->held;
	snprintf(event.source, sizeof(event.source), "%s", r->name);
	snprintf(event.code, sizeof(event.code), "%s", code);
	vsnprintf(event.text, sizeof(event.text), fmt, args);
	place->next_ns = now_ns + AGAIN_NS;
	place->held = 0;
	port_put(&r->port, &event);
	if (r->lines)
		say(r, severity, event.text);
}
