/* test_paused.c: the pauses that the drivers of a robot report, as one event. */
#include <stdio.h>
#include <string.h>

#include "launch/achstart/paused.h"
#include "test/lib/testcase.h"

#define MS INT64_C(1000000)
#define NOW (1000000 * MS)
#define WORDS ": no fault of a device; achdoctor, --virtual"
#define DUE 250 /* ms after the first */

static struct paused paused;
static struct msg_event taken;

void setUp(void)
{
	memset(&paused, 0, sizeof(paused));
}

static struct msg_event event_of(const char *source, const char *code, const char *text, int64_t ended, int64_t said)
{
	struct msg_event event = { 0 };

	event.header.t_sample_ns = NOW + ended * MS;
	event.header.t_publish_ns = NOW + said * MS;
	event.severity = MSG_SEVERITY_WARNING;
	snprintf(event.source, sizeof(event.source), "%s", source);
	snprintf(event.code, sizeof(event.code), "%s", code);
	snprintf(event.text, sizeof(event.text), "%s", text);
	return event;
}

/* A pause of ms that ended then, and was reported and heard at said. */
static bool hears(const char *source, int ms, int64_t ended, int64_t said)
{
	struct msg_event event;
	char text[MSG_TEXT_SIZE];

	snprintf(text, sizeof(text), "this machine paused for %d ms (this process)" WORDS, ms);
	event = event_of(source, "paused", text, ended, said);
	return paused_hear(&paused, &event, NOW + said * MS);
}

/* "source: text" of what is due at that time; "": nothing is. */
static const char *says(int64_t at)
{
	static char line[256];

	*line = 0;
	if (paused_take(&paused, NOW + at * MS, &taken))
		snprintf(line, sizeof(line), "%s: %s", taken.source, taken.text);
	return line;
}

/* ---- one ---- */

TEST(what_one_driver_says_stays_as_it_is)
{
	TEST_ASSERT_TRUE(hears("waist", 31, 0, 1));
	TEST_ASSERT_EQUAL_STRING("", says(DUE));
	TEST_ASSERT_EQUAL_STRING("waist: this machine paused for 31 ms (this process)" WORDS, says(DUE + 1));
	TEST_ASSERT_EQUAL(NOW, taken.header.t_sample_ns);
	TEST_ASSERT_EQUAL_STRING("", says(DUE + 2));
}

TEST(another_event_is_none)
{
	static const struct {
		const char *code, *text;
		bool is;
	} rows[] = {
		{ "bus", "this machine paused for 31 ms", false },
		{ "paused", "this machine paused for 31 ms", true },
		{ "paused", "this machine paused for 0 ms", false },
		{ "paused", "this machine paused for -3 ms", false },
		{ "paused", "this machine paused for 1000000000 ms", true },
		{ "paused", "this machine paused for 1000000001 ms", false },
		{ "paused", "a pause", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct msg_event event = event_of("waist", rows[i].code, rows[i].text, 0, 0);

		setUp();
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].is, paused_hear(&paused, &event, NOW), rows[i].text);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].is, paused_take(&paused, INT64_MAX, &taken), rows[i].text);
	}
}

/* ---- many ---- */

TEST(those_of_a_robot_are_one_the_longest)
{
	TEST_ASSERT_TRUE(hears("clock", 30, 0, 1));
	TEST_ASSERT_TRUE(hears("waist", 43, 2, 3));
	TEST_ASSERT_TRUE(hears("wheels", 31, 1, 1));
	TEST_ASSERT_EQUAL_STRING("achstart: this machine paused for 43 ms (3 daemons; longest: waist)" WORDS,
				 says(DUE + 1));
	TEST_ASSERT_EQUAL(NOW + 2 * MS, taken.header.t_sample_ns);
	TEST_ASSERT_EQUAL_STRING("", says(1000));
}

TEST(those_that_overlap_or_end_within_10_ms_are_the_same)
{
	static const struct {
		int ms;
		int64_t ended;
		bool same;
	} rows[] = {
		{ 30, 0, true },   { 5, 15, true },    { 5, 16, false },
		{ 20, -40, true }, { 20, -41, false }, { 90, 30, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		setUp();
		hears("clock", 30, 0, 0);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].same, hears("waist", rows[i].ms, rows[i].ended, rows[i].ended),
					  "a row");
		says(1000);
	}
}

TEST(another_pause_waits_for_the_first_to_be_taken)
{
	TEST_ASSERT_TRUE(hears("clock", 30, 0, 0));
	TEST_ASSERT_FALSE(hears("clock", 30, 100, 100));
	TEST_ASSERT_EQUAL_STRING("clock: this machine paused for 30 ms (this process)" WORDS, says(DUE));
	TEST_ASSERT_TRUE(hears("clock", 29, 100, 100));
	TEST_ASSERT_EQUAL_STRING("clock: this machine paused for 29 ms (this process)" WORDS, says(100 + DUE));
}

/* ---- late ones ---- */

TEST(one_that_comes_late_is_left_out_unless_it_is_half_as_long_again)
{
	TEST_ASSERT_TRUE(hears("clock", 30, 0, 0));
	TEST_ASSERT_NOT_EQUAL(0, strlen(says(DUE)));
	TEST_ASSERT_TRUE(hears("battery", 45, 3, 900));
	TEST_ASSERT_EQUAL_STRING("", says(5000));
	TEST_ASSERT_TRUE(hears("battery", 46, 3, 900));
	TEST_ASSERT_EQUAL_STRING("battery: this machine paused for 46 ms (this process)" WORDS, says(5000));
}

/* Its longest of ten seconds, of whatever moment in them. */
TEST(what_all_repeat_after_ten_seconds_is_one)
{
	TEST_ASSERT_TRUE(hears("clock", 30, 2000, 10000));
	TEST_ASSERT_TRUE(hears("waist", 31, 5000, 10001));
	TEST_ASSERT_TRUE(hears("wheels", 29, 9990, 10002));
	TEST_ASSERT_EQUAL_STRING("achstart: this machine paused for 31 ms (3 daemons; longest: waist)" WORDS,
				 says(20000));
}
