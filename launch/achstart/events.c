/* events.c: the events of the robot, in one place. */
#include <sys/stat.h>

#include "channels/clock/clock.h"
#include "channels/msg/ref.h"
#include "launch/achstart/events.h"

#define AT_ONCE 64
#define LOOK_NS 1000000000

/* When the file was last written to, on our clock. */
static int64_t last_written_ns(const struct logs *log)
{
	const int64_t now_ns = clock_now_ns(), real_ns = clock_real_ns();
	int64_t written_ns;
	struct stat st;

	if (log->file < 0 || fstat(log->file, &st) || !st.st_size)
		return now_ns;
	/* For a virtual clock the file is of the future: all that happens would belong to the run before. */
	written_ns = st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
	return written_ns > real_ns ? now_ns : now_ns - (real_ns - written_ns);
}

int events_open(struct events *e, struct error_sink *errors)
{
	int status, own;

	memset(e, 0, sizeof(*e));
	terminal_open(&e->terminal);
	status = logs_open(&e->log, "events", false, errors);
	logs_keep_place();
	e->since_ns = last_written_ns(&e->log);
	own = port_open(&e->own, "achstart-event", msg_type_by_number(msg_event_number), 0640, errors);
	return status ? status : own;
}

/* On the terminal: as any program's line about an instance. */
static void show(struct events *e, unsigned int severity, const struct msg_event *event)
{
	static const enum error_severity words[] = { ERROR_PLAIN, ERROR_WARNING, ERROR_ERROR, ERROR_FATAL };
	char line[ERROR_LINE_MAX], source[MSG_NAME_SIZE + 1];

	snprintf(source, sizeof(source), "%.*s", MSG_NAME_SIZE, event->source);
	error_sentence(line, sizeof(line), "achstart", strcmp(source, "achstart") ? source : NULL, words[severity],
		       "%.*s", MSG_TEXT_SIZE, event->text);
	terminal_clean(line);
	terminal_say(&e->terminal, line);
}

static void write_event(struct events *e, int64_t now_ns, const struct msg_event *event, bool ours)
{
	char line[LOGS_LINE_MAX], again[32] = "";
	const unsigned int severity = event->severity > MSG_SEVERITY_FATAL ? MSG_SEVERITY_FATAL : event->severity;

	if (event->repeated)
		snprintf(again, sizeof(again), " (%u more before)", event->repeated);
	snprintf(line, sizeof(line), "%.*s %s %.*s: %.*s%s", MSG_NAME_SIZE, event->source, msg_severity_word(severity),
		 MSG_NAME_SIZE, event->code, MSG_TEXT_SIZE, event->text, again);
	terminal_clean(line);
	logs_say(&e->log, now_ns, event->header.t_sample_ns, line);
	if (ours || severity >= MSG_SEVERITY_WARNING)
		show(e, severity, event);
}

/* Writes the pause that drivers reported, once all have had the time to. */
static void write_pause(struct events *e, int64_t now_ns, int64_t due_ns)
{
	struct msg_event event;

	if (paused_take(&e->paused, due_ns, &event))
		write_event(e, now_ns, &event, false);
}

void events_close(struct events *e)
{
	write_pause(e, clock_now_ns(), CLOCK_NEVER);
	logs_close(&e->log, false);
	port_close(&e->own);
	terminal_close(&e->terminal);
}

void events_say(struct events *e, int64_t now_ns, enum msg_severity severity, const char *source, const char *code,
		const char *fmt, ...)
{
	struct msg_event event;
	va_list args;

	msg_init(&event, msg_type_by_number(msg_event_number));
	event.header.t_sample_ns = event.header.t_publish_ns = now_ns;
	event.severity = severity;
	snprintf(event.source, sizeof(event.source), "%s", source);
	snprintf(event.code, sizeof(event.code), "%s", code);
	va_start(args, fmt);
	vsnprintf(event.text, sizeof(event.text), fmt, args);
	va_end(args);
	utf8_mend(event.text);
	write_event(e, now_ns, &event, true);
	if (e->own.type)
		port_put(&e->own, &event);
}

void events_line(void *context, const char *line)
{
	const struct events_sink *t = context;

	events_say(t->events, t->now_ns, t->severity, t->source, t->code, "%s", line);
}

void events_log(struct events *e, struct logs *log, const char *source, int64_t now_ns)
{
	int error;

	if (!logs_changed(log, &error))
		return;
	if (error)
		events_say(e, now_ns, MSG_SEVERITY_WARNING, source, "log", "%s.log cannot be written: %s", log->name,
			   logs_why(error));
	else
		events_say(e, now_ns, MSG_SEVERITY_INFO, source, "log", "%s.log is written again; %llu lines were lost",
			   log->name, (unsigned long long)log->lost);
}

void events_update(struct events *e, int64_t now_ns)
{
	write_pause(e, now_ns, now_ns);
	if (now_ns >= e->log.look_ns)
		logs_keep_place();
	if (e->own.type)
		port_reopen(&e->own, now_ns, LOOK_NS);
	if (logs_check(&e->log, now_ns))
		events_say(e, now_ns, MSG_SEVERITY_WARNING, "achstart", "log",
			   "log/events.log was removed or renamed, and has been created again, as all logs are");
	events_log(e, &e->log, "achstart", now_ns);
}

/* ---- why a driver is in fault ---- */

static void note(struct events_fault *fault, struct events_fault_one *one, const struct msg_event *event)
{
	*one = (struct events_fault_one){ .incarnation = event->header.incarnation, .place = ++fault->heard };
	snprintf(one->code, sizeof(one->code), "%.*s", MSG_NAME_SIZE, event->code);
	snprintf(one->text, sizeof(one->text), "%.*s", MSG_TEXT_SIZE, event->text);
}

static bool is(const struct msg_event *event, const char *code)
{
	return !strncmp(event->code, code, MSG_NAME_SIZE);
}

void events_fault_hear(struct events_fault *fault, const struct msg_event *event)
{
	char over[MSG_NAME_SIZE + 16];

	snprintf(over, sizeof(over), "%s is over", fault->device.code);
	if (event->severity >= MSG_SEVERITY_ERROR)
		note(fault, is(event, "bus") ? &fault->bus : &fault->device, event);
	else if (is(event, REF_REFUSED))
		note(fault, &fault->refused, event);
	else if (is(event, "bus-back"))
		fault->bus.over = true;
	else if (is(event, "well") && !strncmp(event->text, over, MSG_TEXT_SIZE))
		fault->device.over = true;
}

/* The later one is more to the point, but without its bus no device can answer. */
static bool is_the_bus(const struct events_fault *fault)
{
	if (fault->device.over != fault->bus.over)
		return fault->device.over;
	if (!fault->bus.over && !strncmp(fault->device.code, "silent", strlen("silent")))
		return true;
	return fault->device.place < fault->bus.place;
}

const char *events_fault_text(const struct events_fault *fault, uint32_t incarnation)
{
	const bool device = fault->device.place && fault->device.incarnation == incarnation;
	const bool bus = fault->bus.place && fault->bus.incarnation == incarnation;

	if (!device)
		return bus ? fault->bus.text : "";
	return bus && is_the_bus(fault) ? fault->bus.text : fault->device.text;
}

const char *events_refusal_text(const struct events_fault *fault, uint32_t incarnation)
{
	return fault->refused.place && fault->refused.incarnation == incarnation ? fault->refused.text : "";
}

/* ---- the events of daemons ---- */

void events_follow(struct events *e, struct port *port, struct events_fault *fault, int64_t now_ns)
{
	struct msg_event event;
	size_t len;

	for (int i = 0; i < AT_ONCE; i++) {
		const enum port_got got = port_next(port, &event, sizeof(event), &len);

		if (got != PORT_ONE && got != PORT_MISSED)
			return;
		if (msg_check(&event, len, port->type, NULL) != MSG_FINE)
			continue;
		events_fault_hear(fault, &event);
		if (event.header.t_publish_ns <= e->since_ns || paused_hear(&e->paused, &event, now_ns))
			continue;
		write_pause(e, now_ns, CLOCK_NEVER); /* of another pause, or in the order of time */
		if (!paused_hear(&e->paused, &event, now_ns))
			write_event(e, now_ns, &event, false);
	}
}
