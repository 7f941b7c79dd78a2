/* watch_why.c: why a driver is in fault. */
#include "launch/achstart/watch_why.h"

#include <stdio.h>
#include <string.h>

static void note(struct watch_why *why, struct watch_why_one *one, const struct msg_event *event)
{
	*one = (struct watch_why_one){ .incarnation = event->header.incarnation, .place = ++why->heard };
	snprintf(one->code, sizeof(one->code), "%.*s", MSG_NAME_SIZE, event->code);
	snprintf(one->text, sizeof(one->text), "%.*s", MSG_TEXT_SIZE, event->text);
}

static bool is(const struct msg_event *event, const char *code)
{
	return !strncmp(event->code, code, MSG_NAME_SIZE);
}

void watch_why_hear(struct watch_why *why, const struct msg_event *event)
{
	char over[MSG_NAME_SIZE + 16];

	snprintf(over, sizeof(over), "%s is over", why->device.code);
	if (event->severity >= MSG_SEVERITY_ERROR)
		note(why, is(event, "bus") ? &why->bus : &why->device, event);
	else if (is(event, "bus-back"))
		why->bus.over = true;
	else if (is(event, "well") && !strncmp(event->text, over, MSG_TEXT_SIZE))
		why->device.over = true;
}

/* The later one is more to the point, but without its bus no device can answer. */
static bool is_the_bus(const struct watch_why *why)
{
	if (why->device.over != why->bus.over)
		return why->device.over;
	if (!why->bus.over && !strncmp(why->device.code, "silent", strlen("silent")))
		return true;
	return why->device.place < why->bus.place;
}

const char *watch_why_text(const struct watch_why *why, uint32_t incarnation)
{
	const bool device = why->device.place && why->device.incarnation == incarnation;
	const bool bus = why->bus.place && why->bus.incarnation == incarnation;

	if (!device)
		return bus ? why->bus.text : "";
	return bus && is_the_bus(why) ? why->bus.text : why->device.text;
}
