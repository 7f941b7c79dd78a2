/* test_report.c: how often an event is put, and that the last event is the newest. */
#include "test/lib/testcase.h"

#include "channels/port/report.h"

#define S INT64_C(1000000000)
#define MS INT64_C(1000000)

static struct report report;
static struct port reader;
static char prefix[32];
static int64_t now;

void setUp(void)
{
	struct error_sink quiet = { 0 };
	const struct msg_type *type = msg_type_by_number(msg_event_number);

	snprintf(prefix, sizeof(prefix), "rep%d-", (int)getpid());
	setenv("ENDPLATE_PREFIX", prefix, 1);
	setenv("NOTIFY_SOCKET", "/nowhere", 1); /* no lines on stderr */
	report = (struct report){ 0 };
	TEST_ASSERT_EQUAL(0, report_open(&report, "pciod", "waist", &quiet));
	TEST_ASSERT_EQUAL(0, port_open(&reader, "waist-event", type, 0640, &quiet));
	now = 1000 * S;
}

void tearDown(void)
{
	char name[64];

	port_close(&report.port);
	port_close(&reader);
	snprintf(name, sizeof(name), "%swaist-event", prefix);
	ach_unlink(name);
}

static void say(const char *code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(const char *code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report_event(&report, now, MSG_SEVERITY_INFO, code, fmt, args);
	va_end(args);
}

/* All events put since, a word each: "code=text+repeated@ms", where ms is when it happened. */
static const char *reported(void)
{
	static char text[4096];
	struct msg_event event;
	size_t len, at = 0;

	*text = 0;
	while (port_next(&reader, &event, sizeof(event), &len) == PORT_ONE) {
		TEST_ASSERT_EQUAL(MSG_FINE, msg_check(&event, len, reader.type, NULL));
		TEST_ASSERT_EQUAL_INT64(now, event.header.t_publish_ns);
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s=%s+%u@%lld", at ? " " : "", event.code,
				       event.text, event.repeated,
				       (long long)((event.header.t_sample_ns - 1000 * S) / MS));
	}
	return text;
}

static void tick_at(int64_t ms)
{
	now = 1000 * S + ms * MS;
	report_tick(&report, now);
}

TEST(a_held_event_is_put_when_its_second_is_over)
{
	say("odd", "1");
	TEST_ASSERT_EQUAL_STRING("odd=1+0@0", reported());
	tick_at(100);
	say("odd", "2");
	tick_at(200);
	say("odd", "3");
	tick_at(999);
	TEST_ASSERT_EQUAL_STRING("", reported());
	tick_at(1000);
	TEST_ASSERT_EQUAL_STRING("odd=3+1@200", reported());
	/* From then on another second. */
	tick_at(1500);
	say("odd", "4");
	TEST_ASSERT_EQUAL_STRING("", reported());
	tick_at(2000);
	TEST_ASSERT_EQUAL_STRING("odd=4+0@1500", reported());
	tick_at(9000);
	TEST_ASSERT_EQUAL_STRING("", reported());
	say("odd", "5");
	TEST_ASSERT_EQUAL_STRING("odd=5+0@9000", reported());
}

/* Codes that alternate: the last word is what happened last. */
TEST(the_order_is_kept)
{
	say("active", "a");
	TEST_ASSERT_EQUAL_STRING("active=a+0@0", reported());
	tick_at(100);
	say("holding", "b");
	TEST_ASSERT_EQUAL_STRING("holding=b+0@100", reported());
	tick_at(200);
	say("active", "c");
	tick_at(300);
	say("holding", "d");
	tick_at(400);
	say("active", "e");
	tick_at(500);
	TEST_ASSERT_EQUAL_STRING("", reported());
	tick_at(1000);
	TEST_ASSERT_EQUAL_STRING("holding=d+0@300 active=e+1@400", reported());
	/* Held events go before an event that need not wait. */
	tick_at(1100);
	say("active", "f");
	tick_at(1200);
	say("fault", "g");
	TEST_ASSERT_EQUAL_STRING("active=f+0@1100 fault=g+0@1200", reported());
	tick_at(9000);
	TEST_ASSERT_EQUAL_STRING("", reported());
}

TEST(a_flood_is_a_line_a_second)
{
	unsigned int lines = 0;

	for (int ms = 0; ms < 10000; ms += 5) {
		tick_at(ms);
		say(ms % 10 ? "active" : "holding", "%d", ms);
		lines += !!*reported();
	}
	TEST_ASSERT_LESS_OR_EQUAL_UINT(12, lines);
	tick_at(11000);
	TEST_ASSERT_EQUAL_STRING_LEN("holding=9990", reported(), 12);
}

TEST(at_the_end_nothing_is_held_back)
{
	say("stopping", "a");
	reported();
	tick_at(1);
	say("stopping", "b");
	report_end(&report, now);
	TEST_ASSERT_EQUAL_STRING("stopping=b+0@1", reported());
	report_end(&report, now);
	TEST_ASSERT_EQUAL_STRING("", reported());
}

/* The entry of the code reported longest ago is reused, and its held event is not lost. */
TEST(many_codes)
{
	char code[16];

	say("first", "a");
	reported();
	tick_at(1);
	say("first", "b");
	tick_at(2);
	for (int i = 0; i < REPORT_CODES; i++) {
		snprintf(code, sizeof(code), "code%d", i);
		say(code, "x");
	}
	TEST_ASSERT_EQUAL_STRING_LEN("first=b+0@1 code0=x+0@2 ", reported(), 24);
	say("code31", "y");
	tick_at(1002);
	TEST_ASSERT_EQUAL_STRING("code31=y+0@2", reported());
}
