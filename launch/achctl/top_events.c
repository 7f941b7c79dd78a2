/* top_events.c: the last events, as they are in events.log. */
#include "launch/achctl/top.h"

#define DATE 11	 /* "2026-11-15 " */
#define MICROS 7 /* ".123456" */
#define STAMP 26 /* "2026-11-15 08:00:00.123456" */

size_t top_events_kept(const struct top *top)
{
	return top->events_n < TOP_EVENTS_MAX ? (size_t)top->events_n : TOP_EVENTS_MAX;
}

/* By the text of "2026-11-15 08:00:00.123456 waist error silent: text". */
static enum tone tone_of(const char *severity)
{
	if (!strncmp(severity, "error ", 6) || !strncmp(severity, "fatal ", 6))
		return TONE_BAD;
	return !strncmp(severity, "warning ", 8) ? TONE_ODD : TONE_PLAIN;
}

void top_event_add(struct top *top, const char *line, const char *today)
{
	struct top_event *e = &top->events[top->events_n % TOP_EVENTS_MAX];
	const size_t len = strlen(line);
	const char *source = line + (len > STAMP ? STAMP + 1 : len), *severity = strchr(source, ' ');

	if (!*source)
		return;
	e->tone = tone_of(severity ? severity + 1 : "");
	line += strncmp(line, today, strlen(today)) ? 0 : DATE;
	snprintf(e->text, sizeof(e->text), "%.*s %s", (int)(source - line) - 1 - MICROS, line, source);
	utf8_clean(e->text);
	top->events_n++;
}
