/* test_dmu.c: the codec of a DMU says the vectors of its page; samples are paired; its stream never ends up off. */
#include <math.h>

#include "can/bus/frame_text.h"
#include "daemons/imu/dmu.h"
#include "test/daemons/imu/imu_page.h"
#include "test/lib/testcase.h"

#define MS ((int64_t)1000000)

/* ---- samples ---- */

static void say_toggle(char said[PAGE_LIB_TEXT], char *words)
{
	struct frame frame;

	(void)words;
	memset(&frame, 0x5A, sizeof(frame));
	dmu_encode_toggle(&frame);
	TEST_ASSERT_TRUE(frame_valid(&frame));
	frame_text_write(said, &frame);
}

static void say_dmu(char said[PAGE_LIB_TEXT], char *words)
{
	struct dmu dmu = { .window_ns = MS };
	struct imu_sample sample;
	struct frame frame;
	int64_t t_ns = 1;

	strcpy(said, "nothing");
	for (; page_lib_frame(&words, &frame); t_ns += IMU_PAGE_FRAME_NS)
		if (dmu_take(&dmu, &frame, t_ns, &sample))
			imu_page_say(said, &sample);
}

TEST(the_pages_vectors)
{
	TEST_ASSERT_EQUAL(7, page_lib_each(IMU_PAGE, "dmu", say_dmu));
	TEST_ASSERT_EQUAL(1, page_lib_each(IMU_PAGE, "toggle", say_toggle));
}

/* A letter is a frame: r a rate, a an acceleration, x a rate that is too short; then its sequence, and for each sample
 * what it is: + follows, ! does not, . none; then the counts of incomplete, repeated and odd. */
static const struct {
	const char *frames, *samples;
	unsigned int incomplete, repeated, odd;
} pairs[] = {
	{ "r1 a1 r2 a2 r3 a3", ".!.+.+", 0, 0, 0 },
	{ "a1 r1 a2 r2", ".!.+", 0, 0, 0 },
	{ "r1 a1 a2 r2 r3 a3", ".!.+.+", 0, 0, 0 },
	{ "r255 a255 r0 a0", ".!.+", 0, 0, 0 },
	{ "r1 a1 r3 a3 r4 a4", ".!.!.+", 0, 0, 0 }, /* one was never heard */
	{ "r1 a1 r2 r3 a3", ".!..!", 1, 0, 0 },	    /* a half is missing */
	{ "r1 a1 a2 a3 r3", ".!..!", 1, 0, 0 },
	{ "r1 a2 r3 a4", "....", 3, 0, 0 }, /* every other one */
	{ "r1 r1 a1", "..!", 1, 0, 0 },
	{ "r1 a1 r1 a1 r1 a1", ".!....", 0, 2, 0 }, /* the same again */
	{ "r1 a1 r1 a1 r2 a2", ".!...+", 0, 1, 0 },
	{ "r1 x1 a1", "..!", 0, 0, 1 },
	{ "x1 a1", "..", 0, 0, 1 },
	{ "r1 ~ a1", "..", 1, 0, 0 }, /* ~: as long as the window, and a little more */
	{ "r1 = a1", ".!", 0, 0, 0 }, /* =: as long as the window */
	{ "r1 ~ a1 r2 a2", "...!", 2, 0, 0 },
};

TEST(halves_are_paired_by_their_sequence)
{
	for (unsigned int i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct dmu dmu = { .window_ns = 10 * MS };
		char samples[32] = "", *to = samples;
		int64_t t_ns = 0, first_ns = 0;

		for (const char *f = pairs[i].frames; *f; f += strcspn(f, " "), f += *f == ' ') {
			const uint8_t sequence = (uint8_t)atoi(f + 1);
			struct frame frame = { .id = *f == 'a' ? DMU_ID_ACCELERATION : DMU_ID_RATE,
					       .len = *f == 'x' ? 7 : 8,
					       .data = { sequence, 0, 0, 0, 0, 0, 0, sequence } };
			struct imu_sample sample = { .t_ns = -1 };

			t_ns += *f == '~' ? 10 * MS : *f == '=' ? 10 * MS - 1 : 1;
			if (*f == '~' || *f == '=')
				continue;
			if (!dmu_take(&dmu, &frame, t_ns, &sample)) {
				TEST_ASSERT_EQUAL(-1, sample.t_ns); /* left alone */
				*to++ = '.';
				first_ns = *f == 'x' ? first_ns : t_ns;
				continue;
			}
			TEST_ASSERT_EQUAL_MESSAGE(first_ns, sample.t_ns, pairs[i].frames); /* of the older half */
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, sequence * 0.0003 * 9.80665, sample.acceleration_m_s2[0]);
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, sequence * 0.008 * M_PI / 180, sample.rate_rad_s[0]);
			TEST_ASSERT_TRUE(isnan(sample.orientation[0]) && isnan(sample.orientation[1]));
			TEST_ASSERT_TRUE(isnan(sample.orientation[2]) && isnan(sample.orientation[3]));
			TEST_ASSERT_TRUE(isnan(sample.temperature_k));
			*to++ = sample.follows ? '+' : '!';
		}
		TEST_ASSERT_EQUAL_STRING_MESSAGE(pairs[i].samples, samples, pairs[i].frames);
		TEST_ASSERT_EQUAL_MESSAGE(pairs[i].incomplete, dmu.counts.incomplete, pairs[i].frames);
		TEST_ASSERT_EQUAL_MESSAGE(pairs[i].repeated, dmu.counts.repeated, pairs[i].frames);
		TEST_ASSERT_EQUAL_MESSAGE(pairs[i].odd, dmu.counts.odd, pairs[i].frames);
	}
}

TEST(the_status_of_a_dropped_half_is_dropped)
{
	const char *const frames[] = { "040#000000000000FF01", "040#0000000000000402", "050#0000000000000802" };
	struct dmu dmu = { .window_ns = 1 };
	struct imu_sample sample;
	struct frame frame;

	for (unsigned int i = 0; i < 3; i++) {
		frame = page_lib_read(frames[i]);
		TEST_ASSERT_EQUAL(i == 2, dmu_take(&dmu, &frame, 1, &sample));
	}
	TEST_ASSERT_EQUAL_HEX32(0x0804, sample.status);
}

/* ---- the stream ---- */

/* A row is a tick, each 5 ms: h frames were heard, d the bus is dead, s the toggle of before was on the wire, l this
 * process was late, m a little, S it is steady; in the same order T where a toggle is put, C where one is taken back.
 */
static const struct {
	const char *what, *ticks, *toggles;
} streams[] = {
	{ "streams: nothing is sent", "hhhhhhhhhhhhhhhh", "................" },
	{ "silent: after 20 ms", ".....", "....T" },
	{ "and again after twice the time", ".....s........s..", "....T........T..." },
	{ "once it was heard the silence begins again", "...h......", ".......T.." },
	{ "one that waits is not put twice", "...........", "....T......" },
	{ "one that waits is taken back when a frame comes", ".....h......", "....TC...T.." },
	{ "a dead bus is not silence", "...dddd....s", "..........T." },
	{ "a tick that is a little late counts", "...m", "...T" },
	{ "nor is a freeze", "...l....", ".......T" },
	{ "heard, and then on the wire: it ended its stream", ".....hs....", "....TC....T" },
	{ "steady: the time is the first one again", ".....s..hS....", "....T.......T." },
	{ "at most retry", ".....s........s................s................s.",
	  "....T........T................T................T.." },
};

TEST(a_toggle_follows_silence)
{
	for (unsigned int i = 0; i < sizeof(streams) / sizeof(*streams); i++) {
		struct dmu_stream stream = { .listen_ns = 20 * MS, .retry_ns = 80 * MS };
		char toggles[80] = "", *to = toggles;
		int64_t now_ns = 1000 * MS;

		for (const char *t = streams[i].ticks; *t; t++, now_ns += 5 * MS) {
			bool back = false;

			now_ns += *t == 'l' ? 10 * MS : *t == 'm' ? 5 * MS : 0;
			if (*t == 'h')
				back = dmu_stream_heard(&stream, now_ns);
			if (*t == 's')
				dmu_stream_sent(&stream, now_ns);
			if (*t == 'S')
				dmu_stream_steady(&stream);
			*to++ = dmu_stream_tick(&stream, now_ns, *t == 'd') ? 'T' : back ? 'C' : '.';
		}
		TEST_ASSERT_EQUAL_STRING_MESSAGE(streams[i].toggles, toggles, streams[i].what);
	}
}

TEST(the_time_of_silence_doubles_up_to_retry)
{
	struct dmu_stream stream = { .listen_ns = 20 * MS, .retry_ns = 80 * MS + 1 };
	static const int64_t waits_ns[] = { 40 * MS, 80 * MS, 80 * MS + 1, 80 * MS + 1 };

	dmu_stream_tick(&stream, 1, false);
	TEST_ASSERT_EQUAL(20 * MS, stream.wait_ns);
	for (unsigned int i = 0; i < 4; i++) {
		stream.waits = true;
		dmu_stream_sent(&stream, 2);
		TEST_ASSERT_EQUAL(waits_ns[i], stream.wait_ns);
	}
}

/* A device of which nothing is known: whether it streams at first, how long it takes to begin, when it begins by
 * itself, how long a toggle is on its way, and whether the first one reaches it. */
struct device {
	bool streams;
	int begins_ms, itself_ms, way_ms, deaf_toggles;
};

/* What became of it after 6 s of ticks each 5 ms. */
static void live_with(struct device d, bool *streaming, int *toggles, int *last_ms)
{
	struct dmu_stream stream = { .listen_ns = 20 * MS, .retry_ns = 1000 * MS };
	int begins_at = d.streams ? 0 : -1, arrives_at = -1;

	*toggles = *last_ms = 0;
	for (int ms = 0; ms < 6000; ms++) {
		const int64_t now_ns = (1000 + ms) * MS;

		if (ms == arrives_at) {
			arrives_at = -1;
			dmu_stream_sent(&stream, now_ns);
			*last_ms = ms;
			if (++*toggles > d.deaf_toggles)
				begins_at = begins_at < 0 ? ms + d.begins_ms : -1;
		}
		if (ms == d.itself_ms && begins_at < 0)
			begins_at = ms;
		if (begins_at >= 0 && ms >= begins_at && ms % 5 == 2 && dmu_stream_heard(&stream, now_ns) &&
		    d.way_ms > 2)
			arrives_at = -1; /* taken back; one with a shorter way has left */
		if (ms % 5 == 0 && dmu_stream_tick(&stream, now_ns, false))
			arrives_at = ms + d.way_ms;
	}
	*streaming = begins_at >= 0;
}

TEST(whatever_the_device_does_it_streams_in_the_end)
{
	static const int begins_ms[] = { 0, 6, 30, 90, 300, 700 }, ways_ms[] = { 1, 3, 9 };
	int toggles, last_ms;
	bool streaming;

	for (unsigned int b = 0; b < 6; b++)
		for (unsigned int w = 0; w < 3; w++)
			for (int deaf = 0; deaf < 3; deaf++)
				for (int itself_ms = -1; itself_ms < 120; itself_ms += 2) {
					const struct device d = { false, begins_ms[b], itself_ms, ways_ms[w], deaf };
					char what[80];

					sprintf(what, "begins %d way %d deaf %d itself %d", d.begins_ms, d.way_ms, deaf,
						itself_ms);
					live_with(d, &streaming, &toggles, &last_ms);
					TEST_ASSERT_TRUE_MESSAGE(streaming, what);
					TEST_ASSERT_LESS_THAN_MESSAGE(4000, last_ms, what); /* and is left alone */
				}
	live_with((struct device){ true, 0, -1, 1, 0 }, &streaming, &toggles, &last_ms);
	TEST_ASSERT_TRUE(streaming);
	TEST_ASSERT_EQUAL(0, toggles);
}
