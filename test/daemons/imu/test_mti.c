/* test_mti.c: the codec of an MTi says the vectors of its page, and groups frames into samples. */
#include <math.h>

#include "daemons/imu/mti.h"
#include "test/daemons/imu/imu_page.h"
#include "test/lib/testcase.h"

#define MS ((int64_t)1000000)
#define MTI .id_rate = MTI_ID_RATE, .id_acceleration = MTI_ID_ACCELERATION, .window_ns = 4 * MS

static void say_mti(char said[PAGE_LIB_TEXT], char *words)
{
	struct mti mti = { MTI };
	struct imu_sample sample;
	struct frame frame;
	int64_t t_ns = 1;

	strcpy(said, "nothing");
	for (; page_lib_frame(&words, &frame); t_ns += IMU_PAGE_FRAME_NS)
		if (mti_take(&mti, &frame, t_ns, &sample))
			imu_page_say(said, &sample);
}

TEST(the_pages_vectors)
{
	TEST_ASSERT_EQUAL(8, page_lib_each(IMU_PAGE, "mti", say_mti));
}

/* A letter is a frame: t a sample time, c a counter, s a status word, q a quaternion, r a rate, a an acceleration, x a
 * rate that is too short, y one that is too long, k a temperature; then its number, which a sample's values repeat.
 * ~ is a time longer than the window.  Then for each frame: + a sample that follows, ! one that does not, . none. */
static const struct {
	const char *frames, *samples;
	unsigned int incomplete, repeated, odd;
	bool waits;
} groups[] = {
	{ "t1 r1 a1 t2 r2 a2", "..!..+", 0, 0, 0, false },
	{ "t1 a1 r1 t2 a2 r2", "..!..+", 0, 0, 0, false },
	{ "c1 r1 a1 c2 r2 a2", "..!..+", 0, 0, 0, false },
	{ "t1 c1 r1 a1 t2 c2 r2 a2", "...!...+", 0, 0, 0, false },
	{ "t1 r1 c1 a1 t2 r2 c2 a2", "...!...+", 0, 0, 0, false }, /* the counter may come later */
	{ "c1 r1 a1 c3 r3 a3 c4 r4 a4", "..!..!..+", 0, 0, 0, false },
	{ "c65535 r1 a1 c0 r0 a0", "..!..+", 0, 0, 0, false },
	{ "t1 c1 r1 a1 t2 r2 a2 t3 c3 r3 a3", "...!..+...+", 0, 0, 0, false }, /* without a counter nothing is known */
	{ "t1 r1 t2 r2 a2", "....!", 1, 0, 0, false },
	{ "t1 c1 r1 c2 r2 a2", ".....!", 1, 0, 0, false }, /* the time was lost */
	{ "t1 r1 a1 r2 a2 t3 r3 a3", "..!....+", 1, 0, 0, false },
	{ "t1 r1 r2 a2 t3 r3 a3", "......!", 1, 0, 0, false },
	{ "t1 r1 ~ a2", "...", 1, 0, 0, false }, /* all between was lost */
	{ "t1 r1 ~ a2 a3 t4 r4 a4", "......!", 1, 0, 0, false },
	{ "t1 r1 a1 t1 r1 a1 t2 r2 a2", "..!.....+", 0, 1, 0, false },
	{ "c1 r1 a1 c1 r1 a1", "..!...", 0, 1, 0, false },
	{ "t1 c1 r1 a1 t1 c2 r2 a2", "...!...+", 0, 0, 0, false },
	{ "t1 c1 r1 a1 t2 c1 r2 a2 t3 c2 r3 a3", "...!...!...+", 0, 0, 0, false },
	{ "t1 x1 r1 a1", "...!", 0, 0, 1, false },
	{ "t1 y1 r1 a1", "...!", 0, 0, 1, false },
	{ "t1 q1 r1 a1 t2 r2 q2 a2", "...!...+", 0, 0, 0, true },
	{ "t1 r1 a1 q1 t2 r2 a2 t3 r3 a3 q3", "...!......+", 1, 0, 0, true },
	{ "t1 s3 r1 a1 k5 t2 r2 a2 s3 k6", "...!...+..", 0, 0, 0, false },
	{ "t1 s3 s3 k1 r1 k1 a1", "......!", 0, 0, 0, false },
	{ "t1 r1 a1 c2 r2 a2", "..!..+", 0, 0, 0, false },
	{ "c1 r1 c2 r2 a2", "....!", 1, 0, 0, false },
	{ "c2 r2 a2 c3 r3 a3", "..!..+", 0, 0, 0, false },
	{ "c32767 r2 a2 c32768 r3 a3", "..!..+", 0, 0, 0, false },
	{ "r1 a1", "..", 1, 0, 0, false },
	{ "a1 q1 s1", "...", 0, 0, 0, false },
};

static struct frame frame_of(char letter, unsigned int n)
{
	static const struct {
		char letter;
		uint32_t id;
		uint8_t len;
	} kinds[] = { { 't', MTI_ID_TIME, 4 },	      { 'c', MTI_ID_COUNTER, 2 },      { 's', MTI_ID_STATUS, 4 },
		      { 'q', MTI_ID_ORIENTATION, 8 }, { 'r', MTI_ID_RATE, 6 },	       { 'x', MTI_ID_RATE, 5 },
		      { 'y', MTI_ID_RATE, 8 },	      { 'a', MTI_ID_ACCELERATION, 6 }, { 'k', MTI_ID_TEMPERATURE, 2 } };
	struct frame f = { 0 };

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (kinds[i].letter != letter)
			continue;
		f.id = kinds[i].id;
		f.len = kinds[i].len;
		f.data[f.len == 4 ? 2 : 0] = (uint8_t)(n >> 8);
		f.data[f.len == 4 ? 3 : 1] = (uint8_t)n;
	}
	return f;
}

TEST(frames_are_grouped_into_samples)
{
	for (unsigned int i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		struct mti mti = { MTI, .waits_for_orientation = groups[i].waits };
		const char *what = groups[i].frames;
		char samples[40] = "", *to = samples;
		int64_t t_ns = 0, first_ns = 0;

		for (const char *f = what; *f; f += strcspn(f, " "), f += *f == ' ') {
			const unsigned int n = (unsigned int)atoi(f + 1);
			const struct frame frame = frame_of(*f, n);
			struct imu_sample sample = { .t_ns = -1 };

			t_ns += *f == '~' ? 4 * MS : 1;
			if (*f == '~')
				continue;
			if (*f == 't' || (*f == 'c' && !strchr(what, 't')))
				first_ns = t_ns;
			if (!mti_take(&mti, &frame, t_ns, &sample)) {
				TEST_ASSERT_EQUAL(-1, sample.t_ns); /* left alone */
				*to++ = '.';
				continue;
			}
			if (!strstr(what, "1 c2")) /* there a counter begins it although there was a time */
				TEST_ASSERT_EQUAL_MESSAGE(first_ns, sample.t_ns, what);
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, n / 256.0, sample.acceleration_m_s2[0]);
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, n / 512.0, sample.rate_rad_s[0]);
			TEST_ASSERT_EQUAL(groups[i].waits, !isnan(sample.orientation[0]));
			*to++ = sample.follows ? '+' : '!';
		}
		TEST_ASSERT_EQUAL_STRING_MESSAGE(groups[i].samples, samples, what);
		TEST_ASSERT_EQUAL_MESSAGE(groups[i].incomplete, mti.counts.incomplete, what);
		TEST_ASSERT_EQUAL_MESSAGE(groups[i].repeated, mti.counts.repeated, what);
		TEST_ASSERT_EQUAL_MESSAGE(groups[i].odd, mti.counts.odd, what);
	}
}

static bool take(struct mti *mti, const char *text, int64_t t_ns, struct imu_sample *sample)
{
	const struct frame frame = page_lib_read(text);

	return mti_take(mti, &frame, t_ns, sample);
}

TEST(a_part_belongs_to_a_sample_until_the_window_is_over)
{
	struct mti mti = { MTI };
	struct imu_sample sample;

	TEST_ASSERT_FALSE(take(&mti, "005#00000001", 1, &sample));
	TEST_ASSERT_FALSE(take(&mti, "032#000000000000", 2, &sample));
	TEST_ASSERT_TRUE(take(&mti, "034#000000000000", 1 + 4 * MS, &sample));
	TEST_ASSERT_FALSE(take(&mti, "005#00000002", 10 * MS, &sample));
	TEST_ASSERT_FALSE(take(&mti, "032#000000000000", 10 * MS, &sample));
	TEST_ASSERT_FALSE(take(&mti, "034#000000000000", 1 + 14 * MS, &sample));
	TEST_ASSERT_EQUAL(1, mti.counts.incomplete);
}

TEST(times_differ_in_any_byte)
{
	const char *const times[] = { "005#01000000", "005#02000000", "005#02010000", "005#02010100", "005#02010101" };
	struct mti mti = { MTI };
	struct imu_sample sample;

	for (unsigned int i = 0; i < 5; i++) {
		take(&mti, times[i], 1, &sample);
		take(&mti, "032#000000000000", 1, &sample);
		TEST_ASSERT_TRUE(take(&mti, "034#000000000000", 1, &sample));
	}
	TEST_ASSERT_EQUAL(0, mti.counts.repeated);
}

TEST(a_temperature_counts_for_two_seconds)
{
	struct mti mti = { MTI };
	struct imu_sample sample;
	const int64_t ns[] = { 1, 2000 * MS, 2000 * MS + 1 };
	const char *const times[] = { "005#00000001", "005#00000002", "005#00000003" };

	take(&mti, "051#1E80", 1, &sample);
	for (unsigned int i = 0; i < 3; i++) {
		take(&mti, times[i], ns[i], &sample);
		take(&mti, "032#000000000000", ns[i], &sample);
		TEST_ASSERT_TRUE(take(&mti, "034#000000000000", ns[i], &sample));
		if (i < 2)
			TEST_ASSERT_DOUBLE_WITHIN(1e-9, 273.15 + 30.5, sample.temperature_k);
		else
			TEST_ASSERT_TRUE(isnan(sample.temperature_k));
	}
}

/* sample 1 has no status word: the orientation is taken as it is; then the newest word counts. */
TEST(the_orientation_needs_a_valid_filter)
{
	static const struct {
		const char *status;
		bool valid;
	} words[] = { { NULL, true },
		      { "011#00000002", true },
		      { "011#FFFFFFFD", false },
		      { NULL, false },
		      { "011#80000003", true } };
	struct mti mti = { MTI };
	struct imu_sample sample;

	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct frame time = { .id = MTI_ID_TIME, .len = 4, .data = { [3] = (uint8_t)i } };

		TEST_ASSERT_FALSE(mti_take(&mti, &time, 1, &sample));
		if (words[i].status)
			TEST_ASSERT_FALSE(take(&mti, words[i].status, 1, &sample));
		take(&mti, "021#000000007FFF0000", 1, &sample);
		take(&mti, "032#000000000000", 1, &sample);
		TEST_ASSERT_TRUE(take(&mti, "034#000000000000", 1, &sample));
		for (unsigned int j = 0; j < 4; j++)
			if (words[i].valid)
				TEST_ASSERT_EQUAL_DOUBLE(j == 2, sample.orientation[j]);
			else
				TEST_ASSERT_TRUE(isnan(sample.orientation[j]));
		TEST_ASSERT_EQUAL(i > 0, mti.status_known);
	}
	TEST_ASSERT_EQUAL_HEX32(0x80000003, sample.status);
}

TEST(a_quaternion_of_zeros_is_not_an_orientation)
{
	struct mti mti = { MTI };
	struct imu_sample sample;

	take(&mti, "005#00000001", 1, &sample);
	take(&mti, "021#0000000000000000", 1, &sample);
	take(&mti, "032#000000000000", 1, &sample);
	TEST_ASSERT_TRUE(take(&mti, "034#000000000000", 1, &sample));
	for (unsigned int j = 0; j < 4; j++)
		TEST_ASSERT_TRUE(isnan(sample.orientation[j]));
}

TEST(other_identifiers_by_setting)
{
	struct mti mti = { MTI };
	struct imu_sample sample;

	mti.id_rate = 0x61;
	mti.id_acceleration = 0x62;
	take(&mti, "005#00000001", 1, &sample);
	TEST_ASSERT_FALSE(take(&mti, "032#010000000000", 1, &sample));
	TEST_ASSERT_FALSE(take(&mti, "061#020000000000", 1, &sample));
	TEST_ASSERT_TRUE(take(&mti, "062#030000000000", 1, &sample));
	TEST_ASSERT_EQUAL_DOUBLE(1, sample.rate_rad_s[0]);
	TEST_ASSERT_EQUAL_DOUBLE(3, sample.acceleration_m_s2[0]);
	TEST_ASSERT_EQUAL(1, mti.counts.odd);
}
