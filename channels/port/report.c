/* report.c: events, and lines on stderr for a driver started by hand. */
#include <unistd.h>

#include "channels/clock/clock.h"
#include "channels/port/report.h"

#define AGAIN_NS 1000000000

int report_open(struct report *r, const char *program, const char *name, struct error_sink *errors)
{
	r->program = program;
	r->name = name;
	r->lines = !getenv("NOTIFY_SOCKET");
	if (r->port.type)
		port_reopen(&r->port, 0, 0);
	if (r->port.open) /* by a spare, before it was needed */
		return 0;
	return port_open_of(&r->port, name, "event", msg_event_number, 0640, errors);
}

static void print_line(const struct report *r, enum msg_severity severity, const char *text)
{
	static const enum error_severity severities[] = { ERROR_INFO, ERROR_WARNING, ERROR_ERROR, ERROR_FATAL };
	struct clock_fd terminal = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (clock_wait(&terminal, 1, INT64_MIN) == 1 && terminal.ready & POLLOUT)
		error_say(r->program, r->name, severities[severity], "%s", text);
}

static void put_code(struct report *r, struct report_code *one, int64_t now_ns)
{
	struct msg_event event;

	msg_init(&event, r->port.type);
	event.header.incarnation = r->incarnation;
	event.header.t_sample_ns = one->t_ns;
	event.header.t_publish_ns = now_ns;
	event.severity = one->severity;
	event.repeated = one->held - 1;
	snprintf(event.source, sizeof(event.source), "%s", r->name);
	snprintf(event.code, sizeof(event.code), "%s", one->code);
	snprintf(event.text, sizeof(event.text), "%s", one->text);
	one->next_ns = now_ns + AGAIN_NS;
	one->held = 0;
	r->held--;
	port_put(&r->port, &event);
	if (r->lines)
		print_line(r, event.severity, event.text);
}

/* All that is held up to this one, in the order in which it happened: the last word is to be the truth. */
static void put_until(struct report *r, uint64_t last, int64_t now_ns)
{
	struct report_code *first;

	do {
		first = NULL;
		for (unsigned int i = 0; i < r->codes_n; i++)
			if (r->codes[i].held && r->codes[i].order <= last &&
			    (!first || r->codes[i].order < first->order))
				first = &r->codes[i];
		if (first)
			put_code(r, first, now_ns);
	} while (first);
}

void report_end(struct report *r, int64_t now_ns)
{
	put_until(r, r->order, now_ns);
}

/* The entry of this code; if all are used, the code reported longest ago is dropped. */
static struct report_code *code_of(struct report *r, const char *code, int64_t now_ns)
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
	else if (oldest->held)
		report_end(r, now_ns);
	memset(oldest, 0, sizeof(*oldest));
	snprintf(oldest->code, sizeof(oldest->code), "%s", code);
	return oldest;
}

void report_event(struct report *r, int64_t now_ns, enum msg_severity severity, const char *code, const char *fmt,
		  va_list args)
{
	struct report_code *one = code_of(r, code, now_ns);

	one->severity = severity;
	one->t_ns = now_ns;
	one->order = ++r->order;
	r->held += !one->held++;
	vsnprintf(one->text, sizeof(one->text), fmt, args);
	utf8_mend(one->text);
	if (now_ns >= one->next_ns && !r->holding)
		report_end(r, now_ns);
}

void report_say(struct report *r, enum msg_severity severity, const char *code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report_event(r, clock_now_ns(), severity, code, fmt, args);
	va_end(args);
}

void report_release(struct report *r, int64_t now_ns)
{
	uint64_t last = 0;

	r->holding = false;
	for (unsigned int i = 0; i < r->codes_n && r->held; i++)
		if (r->codes[i].held && now_ns >= r->codes[i].next_ns && r->codes[i].order > last)
			last = r->codes[i].order;
	if (last)
		put_until(r, last, now_ns);
}

void report_tick(struct report *r, int64_t now_ns)
{
	for (unsigned int i = 0; i < r->codes_n && r->held; i++)
		if (r->codes[i].held && now_ns >= r->codes[i].next_ns) {
			report_end(r, now_ns);
			return;
		}
}
