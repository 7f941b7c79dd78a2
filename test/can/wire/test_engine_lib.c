/* test_engine_lib.c: see test_engine_lib.h. */
#include "test/can/wire/test_engine_lib.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "unity.h"

#include "can/bus/frame_text.h"
#include "can/wire/fault.h"

struct engine bus;
char happened[1 << 20];
unsigned int see = SEE_ALL;
static size_t happened_n;
static uint32_t sequence;

static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	happened_n += (size_t)vsnprintf(happened + happened_n, sizeof(happened) - happened_n, fmt, args);
	va_end(args);
	TEST_ASSERT_LESS_THAN(sizeof(happened), happened_n);
}

static void say_time(int64_t ns)
{
	say("%" PRId64, ns / US);
	if (ns % US)
		say(".%03" PRId64, ns % US);
}

static void say_nodes(uint32_t set)
{
	for (int i = 0; i < ENGINE_NODES; i++)
		if (set & UINT32_C(1) << i)
			say("%s", bus.node[i].name);
}

static void note(void *to, const struct engine_event *event)
{
	static const unsigned int kinds[] = {
		[ENGINE_FRAME] = SEE_FRAMES, [ENGINE_ECHO] = SEE_ECHOES,  [ENGINE_PURGED] = SEE_PURGED,
		[ENGINE_ERROR] = SEE_ERRORS, [ENGINE_STATE] = SEE_STATES, [ENGINE_OUTAGE] = SEE_PURGED
	};
	const char *node = event->node >= 0 ? bus.node[event->node].name : "-";
	char frame[FRAME_TEXT_MAX] = "";

	(void)to;
	if (!(kinds[event->kind] & see))
		return;
	if (event->frame)
		frame_text_write(frame, event->frame);
	say_time(event->t_ns);
	switch (event->kind) {
	case ENGINE_FRAME:
		say(" frame %s %s > ", node, frame);
		say_nodes(event->receivers);
		if (event->lost)
			say(" lost ");
		say_nodes(event->lost);
		say("%s%s", event->again ? " again" : "", event->babble ? " babble" : "");
		break;
	case ENGINE_ECHO:
		say(" echo %s %u", node, event->tag.sequence);
		break;
	case ENGINE_PURGED:
		say(" purged %s %u %s", node, event->tag.sequence, engine_why_name(event->why));
		break;
	case ENGINE_ERROR:
		say(" error %s %s", node, frame);
		break;
	case ENGINE_STATE:
		say(" state %s %s %u %u", node, bus_state_name(event->state), event->tx_errors, event->rx_errors);
		break;
	case ENGINE_OUTAGE:
		say(" outage since ");
		say_time(event->since_ns);
		break;
	}
	say("\n");
}

void bus_start_with(const char *nodes, struct engine_settings settings)
{
	settings.event = note;
	settings.to = NULL;
	see = SEE_ALL;
	happened_n = 0;
	happened[0] = 0;
	sequence = 0;
	TEST_ASSERT_EQUAL_INT(0, engine_init(&bus, &settings, -1000 * MS));
	for (const char *n = nodes; *n; n++)
		TEST_ASSERT_EQUAL_INT(n - nodes, engine_attach(&bus, (char[]){ *n, 0 }, -1000 * MS));
}

void bus_start(const char *nodes)
{
	bus_start_with(nodes, (struct engine_settings){ .bitrate = 1000000 });
}

struct frame frame_of(const char *text)
{
	struct frame f;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&f, text, strlen(text)), text);
	return f;
}

int stamped(int64_t stamp_us, int64_t now_us, char node, const char *frame)
{
	const struct frame f = frame_of(frame);

	return engine_request(&bus, engine_find(&bus, (char[]){ node, 0 }), &f, stamp_us * US,
			      (struct engine_tag){ 1, ++sequence }, now_us * US);
}

int at(int64_t us, char node, const char *frame)
{
	return stamped(us, us, node, frame);
}

uint32_t requests(void)
{
	return sequence;
}

void until(int64_t us)
{
	engine_advance(&bus, us * US);
}

int fault(int64_t us, const char *words)
{
	struct engine_fault f;
	char why[FAULT_WHY_MAX] = "";

	fault_read(&f, words, why);
	TEST_ASSERT_EQUAL_STRING("", why);
	return engine_fault(&bus, &f, us * US);
}

const struct engine_node *info(char node)
{
	const struct engine_node *n = engine_node(&bus, engine_find(&bus, (char[]){ node, 0 }));

	TEST_ASSERT_NOT_NULL(n);
	return n;
}

const char *what_happened(void)
{
	static char copy[sizeof(happened)];

	memcpy(copy, happened, happened_n + 1);
	happened_n = 0;
	happened[0] = 0;
	return copy;
}
