/* test_incident_text.c: what happened, in words. */
#include "test/lib/testcase.h"

#include "launch/view/incident_text.h"

#define MS 1000000ll

static struct incident_text incident;
static char out[4096];

void setUp(void)
{
	*out = 0;
}

void tearDown(void)
{
	incident_text_free(&incident);
}

static void frames(uint32_t id, int64_t from_ms, int64_t until_ms, int64_t every_ms)
{
	for (int64_t t = from_ms; t < until_ms; t += every_ms)
		incident_text_frame(&incident, "torso", &(struct frame){ .id = id }, t * MS);
}

static void expect(int64_t end_ms, const char *expected)
{
	TEST_ASSERT_EQUAL(0, incident_text_end(&incident, end_ms * MS));
	for (size_t i = 0; i < incident.n; i++)
		snprintf(out + strlen(out), sizeof(out) - strlen(out), "%lld %s\n",
			 (long long)(incident.lines[i].t_ns / MS), incident.lines[i].text);
	TEST_ASSERT_EQUAL_STRING(expected, out);
}

static struct msg_header header(uint32_t number, size_t size, int64_t t_ms)
{
	return (struct msg_header){ .type = number,
				    .version = msg_type_by_number(number)->version,
				    .size = (uint32_t)size,
				    .incarnation = 1,
				    .t_publish_ns = t_ms * MS };
}

TEST(a_regular_frame_is_not_mentioned)
{
	frames(0x0AF, 0, 500, 5);
	expect(500, "");
}

TEST(a_late_frame)
{
	frames(0x0AF, 0, 100, 5);
	frames(0x0AF, 150, 300, 5);
	expect(300, "100 frame 0AF of torso, sent every 5.0 ms until then, is late by 50.0 ms\n");
}

TEST(a_frame_that_does_not_come_again)
{
	frames(0x12345 | FRAME_EXT, 0, 100, 5);
	expect(300, "95 frame 00012345 of torso is the last one of those every 5.0 ms\n");
}

TEST(a_frame_without_rhythm)
{
	frames(0x0AF, 0, 50, 5); /* ten frames are too few */
	frames(0x0AF, 200, 201, 5);
	expect(500, ""); /* nor is 300 ms long for a frame that once took 155 */
}

TEST(bursts_are_not_a_rhythm)
{
	for (int t = 0; t < 1000; t += 50)
		frames(0x60B, t, t + 15, 1);
	expect(1000, "");
}

TEST(a_short_gap_is_not_mentioned)
{
	frames(0x0AF, 0, 20, 1);
	frames(0x0AF, 29, 60, 1); /* 10 ms since the last */
	expect(60, "");
}

TEST(an_error_frame)
{
	frames(FRAME_ERR | 0x40, 7, 8, 1);
	expect(10, "7 error on bus torso\n");
}

static void reference(int64_t t_ms, int64_t valid_ms)
{
	struct msg_joint_ref ref = { .header = header(msg_joint_ref_number, sizeof(ref), t_ms) };

	ref.header.valid_until_ns = (t_ms + valid_ms) * MS;
	incident_text_message(&incident, "waist-ref", &ref, sizeof(ref), t_ms * MS);
}

TEST(references_that_expire)
{
	reference(0, 20);
	reference(10, 20);
	reference(50, 20);
	expect(100, "30 waist-ref: the reference expires; the next one comes 20.0 ms later\n"
		    "70 waist-ref: the reference expires, and no other follows\n");
}

static void state(int64_t t_ms, uint32_t incarnation, enum msg_life life)
{
	struct msg_joint_state s = { .header = header(msg_joint_state_number, sizeof(s), t_ms) };

	s.header.incarnation = incarnation;
	s.common.lifecycle = life;
	incident_text_message(&incident, "waist-state", &s, sizeof(s), t_ms * MS);
}

TEST(a_driver_that_dies)
{
	for (int t = 0; t < 100; t += 5)
		state(t, 1, t < 50 ? MSG_LIFE_HOLDING : MSG_LIFE_ACTIVE);
	for (int t = 120; t < 200; t += 5)
		state(t, 2, MSG_LIFE_ACTIVE);
	expect(200, "50 waist-state: active, was holding\n"
		    "100 waist-state, published every 5.0 ms until then, is late by 20.0 ms\n"
		    "120 waist-state: a new process publishes, incarnation 2\n");
}

static void event(const char *channel, const char *code, enum msg_severity severity, int64_t t_ms)
{
	struct msg_event e = { .header = header(msg_event_number, sizeof(e), t_ms + 1), .severity = severity };

	e.header.t_sample_ns = t_ms * MS;
	snprintf(e.source, sizeof(e.source), "waist");
	snprintf(e.code, sizeof(e.code), "%s", code);
	snprintf(e.text, sizeof(e.text), "text of %s", code);
	incident_text_message(&incident, channel, &e, sizeof(e), (t_ms + 1) * MS);
}

TEST(events_that_matter)
{
	event("achstart-event", "ready", MSG_SEVERITY_INFO, 10);
	event("achstart-event", "holding", MSG_SEVERITY_INFO, 15);
	event("achstart-event", "ended", MSG_SEVERITY_ERROR, 20);
	event("waist-event", "bus", MSG_SEVERITY_ERROR, 5); /* a driver's own: achstart does not repeat it */
	event("waist-event", "late-frame", MSG_SEVERITY_WARNING, 7);
	event("waist-event", "holding", MSG_SEVERITY_INFO, 8);
	expect(30, "5 waist: text of bus\n7 waist: text of late-frame\n10 waist: text of ready\n"
		   "20 waist died: text of ended\n");
}

TEST(a_restart_is_named)
{
	event("achstart-event", "killed", MSG_SEVERITY_WARNING, 10);
	event("achstart-event", "ended", MSG_SEVERITY_ERROR, 20);
	event("achstart-event", "ready", MSG_SEVERITY_INFO, 30);
	event("achstart-event", "ended", MSG_SEVERITY_INFO, 40);
	event("achstart-event", "ready", MSG_SEVERITY_INFO, 50);
	expect(60, "10 waist is hung: text of killed\n20 waist died: text of ended\n"
		   "30 waist was restarted: text of ready\n40 waist: text of ended\n50 waist: text of ready\n");
}

TEST(stops)
{
	struct msg_estop e = { .header = header(msg_estop_number, sizeof(e), 5),
			       .kind = MSG_ESTOP_RAISE,
			       .level = MSG_LEVEL_HOLD,
			       .who = "root",
			       .why = "a hand" };

	incident_text_message(&incident, "estop", &e, sizeof(e), 5 * MS);
	e.header.t_publish_ns = 9 * MS;
	e.kind = MSG_ESTOP_LOWER;
	e.level = MSG_LEVEL_RUN;
	incident_text_message(&incident, "estop", &e, sizeof(e), 9 * MS);
	expect(10, "5 level hold raised by root: a hand\n9 level run ordered by root: a hand\n");
}

TEST(other_messages)
{
	incident_text_message(&incident, "x-state", "abc", 3, 0);
	expect(10, "");
}
