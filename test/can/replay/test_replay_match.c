/* test_replay_match.c: the devices of a recording, played to a driver that is a list of frames.  Also for
 * replay_match_sort.c.
 *
 * A recording and the driver's frames are lines "MICROSECONDS BUS FRAME"; what comes of it is a text with a line for
 * each frame that is played ("+ 1300 a 0AF#0A2700") and each event ("same 1000 a 0CF#0A27"), in order.  The driver's
 * clock starts at a second. */
#include "test/lib/testcase.h"

#include "can/bus/frame_text.h"
#include "can/replay/replay_match.h"

#define START_US 1000000

static struct replay_match_rules rules;
static struct replay_match_options options;
static struct replay_match_same same;
static struct replay_match *loop;
static struct error_sink errors;
static char said[ERROR_LINE_MAX], out[8192];
static const char *const names[] = { "a", "b" };

static const char *const words[] = { "same", "payload", "order", "missing", "extra" };

static void print(const char *what, int64_t t_ns, unsigned int bus, const struct frame *f, const char *more)
{
	char text[FRAME_TEXT_MAX];
	size_t len = strlen(out);

	frame_text_write(text, f);
	snprintf(out + len, sizeof(out) - len, "%s %lld %s %s%s%s\n", what, (long long)t_ns / 1000, names[bus], text,
		 *more ? " " : "", more);
}

static void on_event(void *to, const struct replay_match_event *e)
{
	char more[64] = "";

	TEST_ASSERT_EQUAL_PTR(&out, to);
	if (e->from)
		snprintf(more, sizeof(more), "%llu", (unsigned long long)e->from->line);
	if (e->what != REPLAY_MATCH_SAME && !e->counts)
		strcat(more, "uncounted");
	print(words[e->what], e->what == REPLAY_MATCH_MISSING ? e->then->t_ns : e->now_ns, e->bus,
	      e->now ? e->now : &e->then->frame, *e->why ? e->why : more);
}

void setUp(void)
{
	errors = (struct error_sink){ error_keep_last, said, 0 };
	options = (struct replay_match_options){ .same = &same, .event = on_event, .to = &out };
	memset(&same, 0, sizeof(same));
	*said = *out = 0;
}

void tearDown(void)
{
	replay_match_free(loop);
	loop = NULL;
	replay_match_rules_free(&rules);
}

/* "1300 a 0AF#0A27": true if there is one more, behind which *text is. */
static bool next_line(const char **text, int64_t *t_ns, unsigned int *bus, struct frame *f)
{
	char name[8], frame[FRAME_TEXT_MAX];
	long long us;
	int len;

	if (sscanf(*text, " %lld %7s %159s%n", &us, name, frame, &len) < 3)
		return false;
	TEST_ASSERT_NULL_MESSAGE(frame_text_read(f, frame, strlen(frame)), frame);
	*bus = name[0] == 'b';
	*t_ns = us * 1000;
	*text += len;
	return true;
}

static void load(const char *frames, const char *log, unsigned int buses)
{
	uint64_t line = 0;
	unsigned int bus;
	struct frame f;
	int64_t t_ns;

	TEST_ASSERT_EQUAL_MESSAGE(0, replay_match_rules_read(&rules, "x", frames, strlen(frames), &errors), said);
	TEST_ASSERT_EQUAL_MESSAGE(0, replay_match_new(&loop, &rules, names, buses, &options, &errors), said);
	while (next_line(&log, &t_ns, &bus, &f))
		TEST_ASSERT_EQUAL(0, replay_match_add(loop, bus, &f, t_ns, ++line));
	TEST_ASSERT_EQUAL(0, replay_match_prepare(loop));
}

static int64_t play(int64_t now_ns)
{
	struct replay_match_play got;

	replay_match_pass_time(loop, now_ns);
	while (replay_match_take(loop, now_ns, &got)) {
		TEST_ASSERT_EQUAL_INT64_MESSAGE(now_ns, got.due_ns, "played when it is due");
		TEST_ASSERT_EQUAL_PTR(&got.item->frame, got.frame);
		print("+", got.due_ns - START_US * 1000ll, got.bus, got.frame, "");
	}
	return replay_match_next_ns(loop) < replay_match_pass_ns(loop) ? replay_match_next_ns(loop)
								       : replay_match_pass_ns(loop);
}

/* The driver's times count from the start of the loop. */
static void drive(const char *live)
{
	int64_t now_ns = START_US * 1000ll, t_ns, next_ns;
	unsigned int bus;
	struct frame f;
	bool more = next_line(&live, &t_ns, &bus, &f);

	replay_match_start(loop, now_ns);
	next_ns = play(now_ns);
	while (more || (loop->begun && !replay_match_over(loop, now_ns))) {
		const bool heard = more && (replay_match_over(loop, now_ns) || t_ns + START_US * 1000ll <= next_ns);

		TEST_ASSERT_TRUE_MESSAGE(heard || next_ns > now_ns, "time passes");
		now_ns = heard ? t_ns + START_US * 1000ll : next_ns;
		TEST_ASSERT_TRUE_MESSAGE(now_ns < INT64_MAX, "it comes to an end");
		if (heard) {
			TEST_ASSERT_EQUAL(0, replay_match_heard(loop, bus, &f, now_ns));
			more = next_line(&live, &t_ns, &bus, &f);
		}
		next_ns = play(now_ns);
	}
	replay_match_finish(loop);
}

static void expect(const char *log, const char *live, const char *expected)
{
	static const char one[] = "{frames: [{bus: a, id: '0CF', dir: tx, len: 2, key: FFFF,"
				  "  reply: {id: '0AF', key: FFFF, within_us: 100000}},"
				  " {bus: a, id: '0EF', dir: tx, len: 6, key: FF}]}";

	load(one, log, 1);
	drive(live);
	TEST_ASSERT_EQUAL_STRING(expected, out);
}

/* ---- answers ---- */

TEST(a_request_is_answered_after_the_recorded_delay)
{
	expect("0 a 0CF#0A27 300 a 0AF#0A2701 5000 a 0CF#0A27 5450 a 0AF#0A2702", "70000 a 0CF#0A27 75100 a 0CF#0A27",
	       "same 0 a 0CF#0A27\n+ 70300 a 0AF#0A2701\nsame 5100 a 0CF#0A27\n+ 75550 a 0AF#0A2702\n");
	TEST_ASSERT_EQUAL(0, loop->differences);
	TEST_ASSERT_EQUAL(2, loop->totals.own);
	TEST_ASSERT_EQUAL(2, loop->totals.answers);
	TEST_ASSERT_EQUAL(2, loop->totals.answered);
	TEST_ASSERT_EQUAL(0, loop->totals.others);
	TEST_ASSERT_EQUAL(0, loop->totals.unanswered);
	TEST_ASSERT_EQUAL(1, loop->streams_n);
	TEST_ASSERT_EQUAL(2, loop->streams[0].counts.what[REPLAY_MATCH_SAME]);
	TEST_ASSERT_EQUAL(2, replay_match_counts(loop).sent);
}

TEST(replies_find_their_requests_by_what_they_repeat)
{
	expect("0 a 0CF#0A27 100 a 0CF#0A3C 300 a 0AF#0A3C02 500 a 0AF#0A2701", "10 a 0CF#0A3C 20 a 0CF#0A27",
	       /* another order: the second of the recording comes first */
	       "same 100 a 0CF#0A3C\norder 110 a 0CF#0A27 2\n+ 210 a 0AF#0A3C02\n+ 520 a 0AF#0A2701\n");
	TEST_ASSERT_EQUAL(1, loop->differences);
}

TEST(another_order_may_be_allowed)
{
	options.any_order = true;
	expect("0 a 0CF#0A27 100 a 0CF#0A3C", "10 a 0CF#0A3C 20 a 0CF#0A27",
	       "same 100 a 0CF#0A3C\nsame 110 a 0CF#0A27 2\n");
	TEST_ASSERT_EQUAL(0, loop->differences);
}

TEST(a_request_without_an_answer_then_has_none_now)
{
	expect("0 a 0CF#0A27 20000 a 0CF#0A27 20300 a 0AF#0A2701", "0 a 0CF#0A27 20000 a 0CF#0A27",
	       /* the reply repeats both: it is that of the last */
	       "same 0 a 0CF#0A27\nsame 20000 a 0CF#0A27\n+ 20300 a 0AF#0A2701\n");
	TEST_ASSERT_EQUAL(1, loop->totals.unanswered);
}

TEST(a_reply_that_is_too_late_has_its_moment)
{
	expect("0 a 0CF#0A27 100000 a 0AF#0A2701 200000 a 0CF#0A27 300001 a 0AF#0A2702",
	       "0 a 0CF#0A27 200500 a 0CF#0A27",
	       "same 0 a 0CF#0A27\n+ 100000 a 0AF#0A2701\nsame 200500 a 0CF#0A27\n+ 300001 a 0AF#0A2702\n");
	TEST_ASSERT_EQUAL(1, loop->totals.unanswered);
	TEST_ASSERT_EQUAL(1, loop->totals.others);
	TEST_ASSERT_EQUAL(1, loop->totals.cyclic);
}

TEST(a_short_reply_repeats_nothing)
{
	expect("0 a 0CF#0A27 300 a 0AF#0A 400 a 0CF#0A 500 a 0AF#0A27", "0 a 0CF#0A27 400 a 0CF#0A",
	       "same 0 a 0CF#0A27\n+ 300 a 0AF#0A\nsame 400 a 0CF#0A\n+ 500 a 0AF#0A27\n");
	TEST_ASSERT_EQUAL(2, loop->streams_n); /* a key that is not there is not 0 */
	TEST_ASSERT_EQUAL(1, loop->totals.answers);
}

TEST(an_answer_of_several_frames)
{
	load("{frames: [{bus: a, id: '100', dir: tx, reply: {id: '101', frames: 2, within_us: 1000}}]}",
	     "0 a 100# 100 a 101#01 200 a 101#02 300 a 101#03 400 a 100# 500 a 101#04 2000 a 101#05", 1);
	drive("0 a 100# 400 a 100#");
	TEST_ASSERT_EQUAL_STRING("same 0 a 100#\n+ 100 a 101#01\n+ 200 a 101#02\n+ 300 a 101#03\nsame 400 a 100#\n"
				 "+ 500 a 101#04\n+ 2000 a 101#05\n",
				 out);
	TEST_ASSERT_EQUAL(3, loop->totals.answered);
	TEST_ASSERT_EQUAL(2, loop->totals.cyclic);
	TEST_ASSERT_EQUAL(0, loop->totals.unanswered);
}

/* A device that answers with the identifier of the request: by length, and by turns. */
TEST(an_answer_with_the_identifier_of_the_request)
{
	load("{frames: [{bus: a, id: '205', dir: tx, len: 1, reply: {id: '205', within_us: 1000}}]}",
	     "0 a 205# 100 a 205#1122 200 a 205#01 300 a 205#02 400 a 205#03 2000 a 205#445566 3000 a 205#04", 1);
	TEST_ASSERT_EQUAL(4, loop->totals.own);
	TEST_ASSERT_EQUAL(2, loop->totals.answers);
	TEST_ASSERT_EQUAL(1, loop->totals.others);
	TEST_ASSERT_EQUAL(2, loop->totals.unanswered);
}

/* ftd: a row of the matrix is three frames, of three identifiers, one of which is also that of another question. */
TEST(an_answer_of_several_identifiers)
{
	load("{frames: [{bus: a, id: '202', dir: tx, len: 1, key: FF, reply: {id: '202', mask: 7F8, frames: 3}},"
	     "{bus: a, id: '203', dir: tx, len: 0, reply: {id: '203'}}]}",
	     "0 a 202#00 10 a 203# 100 a 202#1122 150 a 203#99 200 a 204#3344 300 a 207#5566"
	     " 1000 a 202#01 1100 a 203#77 1200 a 208#88",
	     1);
	drive("0 a 202#00 10 a 203# 1000 a 202#01");
	TEST_ASSERT_EQUAL_STRING(
		"same 0 a 202#00\nsame 10 a 203#\n+ 100 a 202#1122\n+ 150 a 203#99\n"
		"+ 200 a 204#3344\n+ 300 a 207#5566\nsame 1000 a 202#01\n+ 1100 a 203#77\n+ 1200 a 208#88\n",
		out);
	TEST_ASSERT_EQUAL(5, loop->totals.answers);
	TEST_ASSERT_EQUAL(1, loop->totals.others);
	TEST_ASSERT_EQUAL(3, loop->streams_n);
}

TEST(guarding_by_remote_frames)
{
	load("{frames: [{bus: a, id: '701', rtr: yes, dir: tx, reply: {id: '701'}},"
	     "{bus: a, id: '702', rtr: yes, dir: tx, reply: {id: '702'}}]}",
	     "0 a 701#R1 50 a 702#R1 300 a 702#05 350 a 701#7F 1000 a 701#R1 1400 a 701#FF", 1);
	drive("0 a 701#R1 50 a 702#R1 1000 a 701#R1");
	TEST_ASSERT_EQUAL_STRING("same 0 a 701#R1\nsame 50 a 702#R1\n+ 300 a 702#05\n+ 350 a 701#7F\n"
				 "same 1000 a 701#R1\n+ 1400 a 701#FF\n",
				 out);
	TEST_ASSERT_EQUAL(0, loop->totals.unanswered);
}

/* Several nodes at the same time: each SDO server has its own identifier. */
TEST(a_start_of_several_canopen_nodes)
{
	load("{frames: [{bus: a, id: '000', dir: tx, key: FFFF},"
	     "{bus: a, id: '601', dir: tx, key: FFFFFFFF, reply: {id: '581', key: 00FFFFFF}},"
	     "{bus: a, id: '602', dir: tx, key: FFFFFFFF, reply: {id: '582', key: 00FFFFFF}}]}",
	     "0 a 701#00 10 a 702#00 1000 a 601#4000100000000000 1100 a 602#4000100000000000"
	     " 1400 a 582#4300100092010200 1500 a 581#8000100000000206"
	     " 2000 a 000#0101 2100 a 000#0102 2200 a 182#0102",
	     1);
	drive("1000 a 601#4000100000000000 1100 a 602#4000100000000000 2050 a 000#0101 2100 a 000#0102");
	TEST_ASSERT_EQUAL_STRING("+ 0 a 701#00\n+ 10 a 702#00\nsame 1000 a 601#4000100000000000\n"
				 "same 1100 a 602#4000100000000000\n+ 1400 a 582#4300100092010200\n"
				 "+ 1500 a 581#8000100000000206\nsame 2050 a 000#0101\nsame 2100 a 000#0102\n"
				 "+ 2200 a 182#0102\n",
				 out);
	TEST_ASSERT_EQUAL(4, loop->streams_n);
}

/* ---- time ---- */

TEST(cyclic_frames_keep_their_moments)
{
	expect("0 a 700#01 1000 a 700#02 1500 a 0CF#0A27 2000 a 700#03 3000 a 700#04", "5000 a 0CF#0A27",
	       /* time stands still at the driver's first frame */
	       "+ 0 a 700#01\n+ 1000 a 700#02\nsame 1500 a 0CF#0A27\n+ 5500 a 700#03\n+ 6500 a 700#04\n");
	TEST_ASSERT_EQUAL(0, loop->totals.left_out);
	TEST_ASSERT_EQUAL_INT64(1000000000 + 5000000, 1500000 + loop->offset_ns);
}

TEST(an_early_driver_leaves_out_the_beginning)
{
	expect("0 a 700#01 1000 a 700#02 1500 a 0CF#0A27 2000 a 700#03", "10 a 0CF#0A27",
	       "+ 0 a 700#01\nsame 1500 a 0CF#0A27\n+ 510 a 700#03\n");
	TEST_ASSERT_EQUAL(1, loop->totals.left_out);
}

TEST(a_recording_without_the_driver_is_played)
{
	expect("0 a 700#01 1000 a 700#02", "500 a 0CF#0A27", "+ 0 a 700#01\nextra 500 a 0CF#0A27\n+ 1000 a 700#02\n");
	TEST_ASSERT_EQUAL(1, loop->totals.unknown);
	TEST_ASSERT_EQUAL(1, loop->differences);
}

TEST(nothing_to_free)
{
	replay_match_free(NULL);
}

TEST(an_empty_recording)
{
	expect("", "", "");
	TEST_ASSERT_EQUAL_INT64(START_US * 1000ll + 1, replay_match_pass_ns(loop));
	TEST_ASSERT_EQUAL_INT64(INT64_MAX, replay_match_next_ns(loop));
}

TEST(stamps_that_go_back)
{
	/* by less than a second they are late, by more the clock was set */
	expect("5000000 a 700#01 4500000 a 700#02 5000500 a 700#03 1000000 a 700#04 1000700 a 700#05", "",
	       "+ 0 a 700#01\n+ 0 a 700#02\n+ 500 a 700#03\n+ 500 a 700#04\n+ 1200 a 700#05\n");
	TEST_ASSERT_TRUE(loop->time_was_set);
	TEST_ASSERT_EQUAL_INT64(5000000000, loop->first_ns);
}

TEST(a_pause_moves_everything_that_follows)
{
	load("{frames: [{bus: a, id: '100', dir: tx, reply: {id: '101'}}]}", "0 a 100# 300 a 101#01 400 a 700#02", 1);
	replay_match_start(loop, 0);
	TEST_ASSERT_EQUAL(0, replay_match_heard(loop, 0, &(struct frame){ .id = 0x100 }, 1000));
	replay_match_shift(loop, 5000000);
	TEST_ASSERT_EQUAL_INT64(1000 + 300000 + 5000000, replay_match_next_ns(loop));
	TEST_ASSERT_FALSE(replay_match_take(loop, 5300999, &(struct replay_match_play){ 0 }));
	TEST_ASSERT_TRUE(replay_match_take(loop, 5301000, &(struct replay_match_play){ 0 }));
	TEST_ASSERT_EQUAL_INT64(1000 + 400000 + 5000000, replay_match_next_ns(loop));
}

TEST(two_answers_at_the_same_time_keep_the_order_of_their_requests)
{
	expect("0 a 0CF#0A27 100 a 0CF#0A3C 400 a 0AF#0A3C02 400 a 0AF#0A2701", "0 a 0CF#0A27 100 a 0CF#0A3C",
	       "same 0 a 0CF#0A27\nsame 100 a 0CF#0A3C\n+ 400 a 0AF#0A2701\n+ 400 a 0AF#0A3C02\n");
}

/* ---- differences ---- */

TEST(another_payload)
{
	expect("0 a 0EF#0B1101 5000 a 0EF#0B1102 10000 a 0EF#0B1103",
	       "0 a 0EF#0B1101 5000 a 0EF#0B1104 10000 a 0EF#0B1103",
	       "same 0 a 0EF#0B1101\npayload 5000 a 0EF#0B1104 byte 2: 02, now 04\nsame 10000 a 0EF#0B1103\n");
	TEST_ASSERT_EQUAL(1, loop->differences);
	TEST_ASSERT_EQUAL_INT64(5000000, loop->streams[0].differs_ns);
	TEST_ASSERT_EQUAL(2, loop->streams[0].differs->line);
	TEST_ASSERT_EQUAL(1, replay_match_counts(loop).what[REPLAY_MATCH_PAYLOAD]);
}

TEST(a_missing_and_an_extra_frame)
{
	/* the window is half of the interval, 2.5 ms: what comes 3 ms later is another one */
	expect("0 a 0EF#0B 5000 a 0EF#0B 10000 a 0EF#0B 15000 a 0EF#0B",
	       "0 a 0EF#0B 8000 a 0EF#0B 15000 a 0EF#0B 15000 a 0EF#0B",
	       "same 0 a 0EF#0B\nmissing 5000 a 0EF#0B\nsame 8000 a 0EF#0B\nsame 15000 a 0EF#0B\n"
	       "extra 15000 a 0EF#0B\n");
}

TEST(the_edges_of_a_window)
{
	expect("0 a 0EF#0B 4000 a 0EF#0B 8000 a 0EF#0B", "0 a 0EF#0B 2000 a 0EF#0B 10000 a 0EF#0B",
	       "same 0 a 0EF#0B\nsame 2000 a 0EF#0B\nsame 10000 a 0EF#0B\n");
	tearDown();
	setUp();
	expect("0 a 0EF#0B 4000 a 0EF#0B 8000 a 0EF#0B", "0 a 0EF#0B 1999 a 0EF#0B 6001 a 0EF#0B 10001 a 0EF#0B",
	       "same 0 a 0EF#0B\nextra 1999 a 0EF#0B\nmissing 4000 a 0EF#0B\nsame 6001 a 0EF#0B\n");
	TEST_ASSERT_EQUAL(1, loop->totals.after);
}

TEST(a_window_of_ones_own)
{
	options.window_ns = 100000;
	expect("0 a 0EF#0B 4000 a 0EF#0B", "0 a 0EF#0B 4101 a 0EF#0B", "same 0 a 0EF#0B\nmissing 4000 a 0EF#0B\n");
	TEST_ASSERT_EQUAL(1, loop->totals.after);
}

TEST(a_single_frame_has_a_second)
{
	expect("0 a 0CF#0A27 1000 a 0EF#0B 3000000 a 700#01", "0 a 0CF#0A27 1001000 a 0EF#0B",
	       "same 0 a 0CF#0A27\nsame 1001000 a 0EF#0B\n+ 3000000 a 700#01\n");
	tearDown();
	setUp();
	expect("0 a 0CF#0A27 1000 a 0EF#0B 3000000 a 700#01", "0 a 0CF#0A27 1001001 a 0EF#0B",
	       "same 0 a 0CF#0A27\nmissing 1000 a 0EF#0B\nextra 1001001 a 0EF#0B\n+ 3000000 a 700#01\n");
}

TEST(a_driver_that_stops)
{
	expect("0 a 0EF#0B 5000 a 0EF#0B 10000 a 0EF#0B 10000 a 700#01", "0 a 0EF#0B",
	       "same 0 a 0EF#0B\nmissing 5000 a 0EF#0B\n+ 10000 a 700#01\nmissing 10000 a 0EF#0B\n");
	TEST_ASSERT_EQUAL(2, loop->differences);
	TEST_ASSERT_EQUAL(2, replay_match_counts(loop).what[REPLAY_MATCH_MISSING]);
}

TEST(a_frame_that_no_program_sends_is_foreign)
{
	expect("0 a 0EF#0B 5000 a 700#01", "0 a 0EF#0B 10 a 0AE#01", "same 0 a 0EF#0B\n+ 5000 a 700#01\n");
	TEST_ASSERT_EQUAL(1, loop->totals.foreign);
	TEST_ASSERT_EQUAL(0, loop->differences);
}

TEST(counts_are_those_of_all_requests_and_of_unknown_ones)
{
	struct replay_match_counts c;

	expect("0 a 0CF#0A27 100 a 0EF#0B01 200 a 0CF#0A3C 5000 a 0CF#0A27 5100 a 0EF#0B01 9000 a 700#01",
	       "0 a 0CF#0A27 100 a 0EF#0B02 300 a 0CF#0A99 5100 a 0EF#0B01 5200 a 0CF#0A27",
	       "same 0 a 0CF#0A27\npayload 100 a 0EF#0B02 byte 1: 01, now 02\nextra 300 a 0CF#0A99\n"
	       "same 5100 a 0EF#0B01\norder 5200 a 0CF#0A27 5\n+ 9000 a 700#01\nmissing 200 a 0CF#0A3C\n");
	c = replay_match_counts(loop);
	TEST_ASSERT_EQUAL(5, c.recorded);
	TEST_ASSERT_EQUAL(5, c.sent);
	TEST_ASSERT_EQUAL(2, c.what[REPLAY_MATCH_SAME]);
	TEST_ASSERT_EQUAL(1, c.what[REPLAY_MATCH_PAYLOAD]);
	TEST_ASSERT_EQUAL(1, c.what[REPLAY_MATCH_ORDER]);
	TEST_ASSERT_EQUAL(1, c.what[REPLAY_MATCH_MISSING]);
	TEST_ASSERT_EQUAL(1, c.what[REPLAY_MATCH_EXTRA]);
	TEST_ASSERT_EQUAL(4, loop->differences);
}

/* ---- borrowed answers ---- */

TEST(an_extra_request_is_answered_as_the_same_one_was_before)
{
	expect("0 a 0CF#0A27 300 a 0AF#0A2701 10000 a 0CF#0A27 10300 a 0AF#0A2702 20000 a 700#01",
	       "0 a 0CF#0A27 4000 a 0CF#0A27 10000 a 0CF#0A27",
	       "same 0 a 0CF#0A27\n+ 300 a 0AF#0A2701\nextra 4000 a 0CF#0A27 1\n+ 4300 a 0AF#0A2701\n"
	       "same 10000 a 0CF#0A27\n+ 10300 a 0AF#0A2702\n+ 20000 a 700#01\n");
	TEST_ASSERT_EQUAL(1, loop->totals.borrowed);
	TEST_ASSERT_EQUAL(2, loop->totals.answered);
	TEST_ASSERT_EQUAL(0, loop->totals.unknown);
}

TEST(or_as_the_next_one_will_be)
{
	expect("0 a 0EF#0B 10000 a 0CF#0A27 20000 a 0CF#0A27 20300 a 0AF#0A2702", "0 a 0EF#0B 1000 a 0CF#0A27",
	       "same 0 a 0EF#0B\nextra 1000 a 0CF#0A27 3\n+ 1300 a 0AF#0A2702\nmissing 10000 a 0CF#0A27\n"
	       "missing 20000 a 0CF#0A27\n");
}

TEST(strict_borrows_nothing)
{
	options.strict = true;
	expect("0 a 0CF#0A27 300 a 0AF#0A2701 10000 a 0CF#0A27 20000 a 700#01", "0 a 0CF#0A27 4000 a 0CF#0A27",
	       "same 0 a 0CF#0A27\n+ 300 a 0AF#0A2701\nextra 4000 a 0CF#0A27\nmissing 10000 a 0CF#0A27\n"
	       "+ 20000 a 700#01\n");
	TEST_ASSERT_EQUAL(1, loop->totals.unknown);
}

TEST(an_unknown_request_is_not_answered)
{
	expect("0 a 0CF#0A27 300 a 0AF#0A2701 5000 a 700#01", "0 a 0CF#0A27 1000 a 0CF#0A99 2000 a 0EF#0B",
	       "same 0 a 0CF#0A27\n+ 300 a 0AF#0A2701\nextra 1000 a 0CF#0A99\nextra 2000 a 0EF#0B\n+ 5000 a 700#01\n");
	TEST_ASSERT_EQUAL(1, loop->totals.unknown); /* 0EF asks for no answer */
	TEST_ASSERT_EQUAL(2, replay_match_counts(loop).what[REPLAY_MATCH_EXTRA]);
}

/* ---- a missing beginning ---- */

TEST(a_recording_that_begins_in_the_middle)
{
	options.settle_ns = 4000000;
	expect("0 a 700#01 1000 a 0CF#0A27 1300 a 0AF#0A2701 5000 a 0CF#0A27 5300 a 0AF#0A2702"
	       " 9000 a 0CF#0A27 9300 a 0AF#0A2703",
	       "100 a 0CF#0A39 2500 a 0CF#0A27 4100 a 0CF#0A27 6000 a 0CF#0A99",
	       "+ 0 a 700#01\nextra 1000 a 0CF#0A39 uncounted\n"
	       "missing 1000 a 0CF#0A27 uncounted\nsame 3400 a 0CF#0A27\n+ 2800 a 0AF#0A2702\n"
	       "extra 5000 a 0CF#0A27 4\n+ 4400 a 0AF#0A2702\nextra 6900 a 0CF#0A99\nmissing 9000 a 0CF#0A27\n");
	TEST_ASSERT_TRUE(loop->totals.middle);
	TEST_ASSERT_EQUAL(3, loop->differences);
}

TEST(a_driver_that_soon_asks_what_was_never_recorded)
{
	options.settle_ns = 200000000;
	expect("0 a 0EF#0B01 10000 a 0EF#0B01 400000 a 0CF#0A27", "0 a 0EF#0B02 100000 a 0CF#0A39 100001 a 0CF#0A39",
	       "payload 0 a 0EF#0B02 byte 1: 01, now 02\nmissing 10000 a 0EF#0B01\n"
	       "extra 100000 a 0CF#0A39 uncounted\nextra 100001 a 0CF#0A39 uncounted\nmissing 400000 a 0CF#0A27\n");
	TEST_ASSERT_TRUE(loop->totals.middle);
	TEST_ASSERT_EQUAL(1, loop->differences);
	TEST_ASSERT_EQUAL_INT64(INT64_MAX, loop->streams[0].differs_ns);
	TEST_ASSERT_FALSE(replay_match_is_counted(loop, 199999999));
	TEST_ASSERT_TRUE(replay_match_is_counted(loop, 200000000));
}

TEST(a_driver_that_asks_it_later_began_as_recorded)
{
	options.settle_ns = 200000000;
	expect("0 a 0EF#0B01 400000 a 0CF#0A27", "0 a 0EF#0B01 100001 a 0CF#0A39 400000 a 0CF#0A27",
	       "same 0 a 0EF#0B01\nextra 100001 a 0CF#0A39\nsame 400000 a 0CF#0A27\n");
	TEST_ASSERT_FALSE(loop->totals.middle);
}

TEST(differences_in_an_interval_do_not_count)
{
	options.from_ns = 5000000;
	options.until_ns = 10000000;
	expect("0 a 0EF#0B01 5000 a 0EF#0B01 10000 a 0EF#0B01", "0 a 0EF#0B02 5000 a 0EF#0B02 10000 a 0EF#0B02",
	       "payload 0 a 0EF#0B02 byte 1: 01, now 02\npayload 5000 a 0EF#0B02 byte 1: 01, now 02\n"
	       "payload 10000 a 0EF#0B02 byte 1: 01, now 02\n");
	TEST_ASSERT_EQUAL(2, loop->differences);
}

TEST(a_driver_that_begins_with_another_request_of_the_beginning)
{
	expect("0 a 0CF#0A27 999990 a 0CF#0A3C", "0 a 0CF#0A3C 10 a 0CF#0A27",
	       "same 999990 a 0CF#0A3C\norder 1000000 a 0CF#0A27 2\n");
	TEST_ASSERT_FALSE(loop->totals.middle);
	tearDown();
	setUp();
	expect("0 a 0CF#0A27 1000000 a 0CF#0A3C", "0 a 0CF#0A3C", "same 1000000 a 0CF#0A3C\nmissing 0 a 0CF#0A27\n");
	TEST_ASSERT_FALSE(loop->totals.middle);
	tearDown();
	setUp();
	expect("0 a 0CF#0A27 1000001 a 0CF#0A3C", "0 a 0CF#0A3C",
	       "extra 0 a 0CF#0A3C\nmissing 0 a 0CF#0A27\nmissing 1000001 a 0CF#0A3C\n");
	TEST_ASSERT_TRUE(loop->totals.middle);
}

/* ---- buses ---- */

static const char two[] = "{frames: [{bus: a, id: '100', dir: tx, reply: {id: '101'}},"
			  "{bus: b, id: '100', dir: tx, reply: {id: '101'}}]}";

TEST(the_same_identifiers_on_two_buses)
{
	load(two, "0 a 100# 10 b 100# 200 b 101#0B 300 a 101#0A 400 b 102#", 2);
	drive("0 b 100# 20 a 100#");
	TEST_ASSERT_EQUAL_STRING("same 10 b 100#\nsame 30 a 100#\n+ 190 b 101#0B\n+ 320 a 101#0A\n+ 390 b 102#\n", out);
	TEST_ASSERT_EQUAL(0, loop->differences); /* buses have no order among them */
}

TEST(a_bus_that_was_not_recorded)
{
	TEST_ASSERT_EQUAL(0, replay_match_rules_read(&rules, "x", two, strlen(two), &errors));
	TEST_ASSERT_EQUAL(-EINVAL, replay_match_new(&loop, &rules, names, 1, &options, &errors));
	TEST_ASSERT_EQUAL_STRING("the recording has no bus b of the driver, only a: --bus b=a", said);
}

TEST(a_recording_without_buses)
{
	TEST_ASSERT_EQUAL(0, replay_match_rules_read(&rules, "x", two, strlen(two), &errors));
	TEST_ASSERT_EQUAL(-EINVAL, replay_match_new(&loop, &rules, names, 0, &options, &errors));
	TEST_ASSERT_EQUAL_STRING("the recording has no bus a of the driver, only an empty file: --bus a=NAME", said);
}

TEST(one_bus_is_the_other_whatever_their_names)
{
	const char *const can0[] = { "can0" };
	static const char rule[] = "{frames: [{bus: torso, id: '100', dir: tx}, {bus: torso, id: '101', dir: tx}]}";

	TEST_ASSERT_EQUAL(0, replay_match_rules_read(&rules, "x", rule, strlen(rule), &errors));
	TEST_ASSERT_EQUAL(0, replay_match_new(&loop, &rules, can0, 1, &options, &errors));
}

/* ---- rules of one identifier ---- */

TEST(rules_of_one_identifier_add_up)
{
	load("{frames: [{bus: a, id: '0EF', dir: tx, len: 1, key: FF, reply: {id: '0AF', key: FF}},"
	     "{bus: a, id: '0EF', dir: tx, len: 6, key: FFFF, reply: {id: '0AF', key: FFFF}}]}",
	     "0 a 0EF#0839 50 a 0EF#0850 100 a 0EF#00 300 a 0AF#085064 400 a 0AF#083964 500 a 0AF#00", 1);
	drive("0 a 0EF#0839 50 a 0EF#0850 100 a 0EF#00");
	TEST_ASSERT_EQUAL_STRING("same 0 a 0EF#0839\nsame 50 a 0EF#0850\nsame 100 a 0EF#00\n+ 300 a 0AF#085064\n"
				 "+ 400 a 0AF#083964\n+ 500 a 0AF#00\n",
				 out);
	TEST_ASSERT_EQUAL(3, loop->totals.answered);
	TEST_ASSERT_EQUAL(0, loop->totals.cyclic);
}

/* ---- much of it ---- */

TEST(thousands_of_requests_without_an_answer)
{
	static const char rule[] = "{frames: [{bus: a, id: '100', dir: tx, key: FFFF,"
				   "  reply: {id: '101', within_us: 3.6e9}}]}";
	uint64_t seen = 0;

	TEST_ASSERT_EQUAL(0, replay_match_rules_read(&rules, "x", rule, strlen(rule), &errors));
	TEST_ASSERT_EQUAL(0, replay_match_new(&loop, &rules, names, 1, &options, &errors));
	options.event = NULL;
	for (unsigned int i = 0; i < 5000; i++) {
		const struct frame f = { .id = 0x100, .len = 2, .data = { (uint8_t)(i >> 8), (uint8_t)i } };

		TEST_ASSERT_EQUAL(0, replay_match_add(loop, 0, &f, i * 1000000ll, i + 1));
	}
	TEST_ASSERT_EQUAL(0, replay_match_prepare(loop));
	TEST_ASSERT_EQUAL(5000, loop->streams_n);
	TEST_ASSERT_EQUAL(5000, loop->totals.unanswered);
	replay_match_start(loop, 0);
	for (unsigned int i = 0; i < 5000; i++) {
		const struct frame f = { .id = 0x100, .len = 2, .data = { (uint8_t)(i >> 8), (uint8_t)i } };

		TEST_ASSERT_EQUAL(0, replay_match_heard(loop, 0, &f, i * 1000000ll));
	}
	for (size_t i = 0; i < loop->streams_n; i++)
		seen += loop->streams[i].counts.what[REPLAY_MATCH_SAME];
	TEST_ASSERT_EQUAL(5000, seen);
	TEST_ASSERT_EQUAL(0, loop->differences);
}
