/* test_replay_match_same.c: when two frames are the same, and which tolerances are refused. */
#include "test/lib/testcase.h"

#include "can/bus/frame_text.h"
#include "can/replay/replay_match_same.h"

static struct replay_match_same same;
static struct error_sink errors;
static char said[ERROR_LINE_MAX], why[REPLAY_MATCH_SAME_TEXT_MAX];

void setUp(void)
{
	memset(&same, 0, sizeof(same));
	errors = (struct error_sink){ error_keep_last, said, 0 };
	*said = *why = 0;
}

static struct frame frame(const char *text)
{
	struct frame f;

	TEST_ASSERT_NULL_MESSAGE(frame_text_read(&f, text, strlen(text)), text);
	return f;
}

static const struct {
	const char *tolerance, *then, *now, *why; /* why "": the same */
} pairs[] = {
	{ NULL, "0EF#0B11", "0EF#0B11", "" },
	{ NULL, "0EF#0B11", "0EF#0B12", "byte 1: 11, now 12" },
	{ NULL, "0EF#0011", "0EF#0112", "byte 0: 00, now 01; byte 1: 11, now 12" },
	{ NULL, "0EF#0B11", "0EF#0B", "length 2, now 1" },
	{ NULL, "0EF##1AA", "0EF##0AA", "length 1, now 1, other flags" },
	{ NULL, "701#R1", "701#R1", "" },
	{ NULL, "701#R1", "701#R2", "length 1, now 2" },
	{ NULL, "123#1122334455667788_E", "123#1122334455667788_D", "length 8, now 8" },
	/* 0.05 and 0.075 */
	{ "0EF:2:f32=0.03", "0EF#0B11CDCC4C3D", "0EF#0B119A99993D", "" },
	{ "0EF:2:f32=0.02", "0EF#0B11CDCC4C3D", "0EF#0B119A99993D", "f32 in byte 2-5: 0.05, now 0.075" },
	{ "0EF:2:f32=any", "0EF#0B11CDCC4C3D", "0EF#0B110000C07F", "" },
	{ "0EF:2:f32=0", "0EF#0B110000C07F", "0EF#0B110000C0FF", "" }, /* NaN and NaN */
	{ "0EF:2:f32=100", "0EF#0B110000C07F", "0EF#0B1100000000", "f32 in byte 2-5: nan, now 0" },
	{ "0EF:2:f32=0", "0EF#0B110000807F", "0EF#0B110000807F", "" }, /* infinity */
	{ "0EF:2:f32=1", "0EF#0B11CDCC4C3D", "0EF#0C11CDCC4C3D", "byte 0: 0B, now 0C" },
	{ "0EF#0B12:2:f32=1", "0EF#0B11CDCC4C3D", "0EF#0B11CDCC4C3E", "byte 5: 3D, now 3E" },
	{ "0EF#0B11:2:f32=1", "0EF#0B11CDCC4C3D", "0EF#0B11CDCC4C3E", "" },
	{ "0EE:2:f32=1", "0EF#0B11CDCC4C3D", "0EF#0B11CDCC4C3E", "byte 5: 3D, now 3E" },
	{ "000000EF:2:f32=1", "0EF#0B11CDCC4C3D", "0EF#0B11CDCC4C3E", "byte 5: 3D, now 3E" },
	{ "0EF:0:f64be=0.5", "0EF#3FF0000000000000", "0EF#3FF8000000000000", "" },
	{ "0EF:0:f64be=0.4", "0EF#3FF0000000000000", "0EF#3FF8000000000000", "f64 in byte 0-7: 1, now 1.5" },
	{ "0EF:0:f64=1", "0EF#3FF00000000000", "0EF#3FF80000000000", "byte 1: F0, now F8" }, /* too short for it */
	{ "100:0:u8=2", "100#FF", "100#01", "" },
	{ "100:0:u8=1", "100#FF", "100#01", "u8 in byte 0-0: 255, now 1" },
	{ "100:0:u8=2", "100#01", "100#FF", "" },
	{ "100:0:i8=1", "100#FF", "100#01", "i8 in byte 0-0: -1, now 1" },
	{ "100:1:u16=256", "100#AA0001", "100#AA0002", "" },
	{ "100:1:u16=255", "100#AA0001", "100#AA0002", "u16 in byte 1-2: 256, now 512" },
	{ "100:1:u16be=1", "100#AA0001", "100#AA0002", "" },
	{ "100:1:i16be=0", "100#AAFFFE", "100#AA0001", "i16 in byte 1-2: -2, now 1" },
	{ "100:0:u32=0", "100#00000001", "100#00000000", "u32 in byte 0-3: 16777216, now 0" },
	{ "100:0:i32=0", "100#FFFFFFFF", "100#00000000", "i32 in byte 0-3: -1, now 0" },
	{ "701:0:u8=any", "701#R1", "701#R1", "" },
	{ "701:0:u8=any", "701#R1", "701#R2", "length 1, now 2" },
};

TEST(tolerances)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		const struct frame then = frame(pairs[i].then), now = frame(pairs[i].now);

		setUp();
		if (pairs[i].tolerance)
			TEST_ASSERT_EQUAL_MESSAGE(0, replay_match_same_read(&same, pairs[i].tolerance, &errors), said);
		TEST_ASSERT_EQUAL_MESSAGE(!*pairs[i].why, replay_match_same_frames(&same, &then, &now, why),
					  pairs[i].then);
		TEST_ASSERT_EQUAL_STRING(pairs[i].why, why);
	}
}

TEST(without_tolerances)
{
	const struct frame f = frame("123#11");

	TEST_ASSERT_TRUE(replay_match_same_frames(NULL, &f, &f, why));
}

TEST(a_counter_keeps_its_offset_over_its_end)
{
	const struct {
		const char *then, *now;
		bool same;
	} frames[] = { { "181#00FD", "181#0002", true },
		       { "181#00FE", "181#0003", true },
		       { "181#00FB", "181#0000", true },
		       { "181#0001", "181#0005", false } };

	TEST_ASSERT_EQUAL(0, replay_match_same_read(&same, "181:1:u8=offset", &errors));
	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++) {
		const struct frame then = frame(frames[i].then), now = frame(frames[i].now);

		TEST_ASSERT_EQUAL_MESSAGE(frames[i].same, replay_match_same_frames(&same, &then, &now, why),
					  frames[i].then);
	}
}

TEST(a_long_reason_is_cut)
{
	const struct frame then = frame("123##0"
					"0000000000000000000000000000000000000000"),
			   now = frame("123##0"
				       "1111111111111111111111111111111111111111");

	TEST_ASSERT_FALSE(replay_match_same_frames(NULL, &then, &now, why));
	TEST_ASSERT_EQUAL(REPLAY_MATCH_SAME_TEXT_MAX - 1, strlen(why));
}

TEST(order)
{
	TEST_ASSERT_FALSE(same.any_order);
	TEST_ASSERT_EQUAL(0, replay_match_same_read(&same, "order", &errors));
	TEST_ASSERT_TRUE(same.any_order);
	TEST_ASSERT_EQUAL(0, same.n);
}

static const struct {
	const char *text, *said;
} bad[] = {
	{ "", "it is not ID:BYTE:TYPE=TOLERANCE such as 0EF:2:f32=0.001, or order" },
	{ "0EF:2=1", "it is not ID:BYTE:TYPE=TOLERANCE such as 0EF:2:f32=0.001, or order" },
	{ "0EF=1", "it is not ID:BYTE:TYPE=TOLERANCE such as 0EF:2:f32=0.001, or order" },
	{ "0EF:2:f32", "it is not ID:BYTE:TYPE=TOLERANCE such as 0EF:2:f32=0.001, or order" },
	{ "EF:2:f32=1", "it does not begin with an identifier such as 0EF, or 0EF#0B11 with the first bytes" },
	{ "0EF#R:2:f32=1", "it does not begin with an identifier such as 0EF, or 0EF#0B11 with the first bytes" },
	{ "20000080:2:f32=1", "it does not begin with an identifier such as 0EF, or 0EF#0B11 with the first bytes" },
	{ "0EF##0112233445566778899AABBCC:2:f32=1",
	  "it does not begin with an identifier such as 0EF, or 0EF#0B11 with the first bytes" },
	{ "0EF:x:f32=1", "its byte is not a number from 0 to 63" },
	{ "0EF:-1:f32=1", "its byte is not a number from 0 to 63" },
	{ "0EF:64:u8=1", "its byte is not a number from 0 to 63" },
	{ "0EF:61:f32=1", "no frame is that long" },
	{ "0EF:2:f16=1", "its type is not u8, i8, u16, i16, u32, i32, f32 or f64, perhaps with be" },
	{ "0EF:2:be=1", "its type is not u8, i8, u16, i16, u32, i32, f32 or f64, perhaps with be" },
	{ "0EF:2:f32=x", "what is behind the = is not a number from 0 on, any or offset" },
	{ "0EF:2:f32=-1", "what is behind the = is not a number from 0 on, any or offset" },
	{ "0EF:2:f32=offset", "offset is for integers" },
};

TEST(refused)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		setUp();
		TEST_ASSERT_EQUAL_MESSAGE(-EINVAL, replay_match_same_read(&same, bad[i].text, &errors), bad[i].text);
		TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, bad[i].said), said);
		TEST_ASSERT_EQUAL(0, same.n);
	}
}

TEST(a_frame_that_is_too_long_is_refused)
{
	char text[FRAME_TEXT_MAX + 32];

	memset(text, '0', sizeof(text));
	strcpy(text + FRAME_TEXT_MAX, ":2:f32=1");
	TEST_ASSERT_EQUAL(-EINVAL, replay_match_same_read(&same, text, &errors));
	TEST_ASSERT_NOT_NULL_MESSAGE(strstr(said, "the identifier is too long"), said);
}

TEST(the_last_byte_of_the_longest_frame)
{
	TEST_ASSERT_EQUAL(0, replay_match_same_read(&same, "0EF:63:u8=1", &errors));
	TEST_ASSERT_EQUAL(0, replay_match_same_read(&same, "0EF:60:f32=1", &errors));
}

TEST(too_many)
{
	for (int i = 0; i < REPLAY_MATCH_SAME_ROWS_MAX; i++)
		TEST_ASSERT_EQUAL(0, replay_match_same_read(&same, "0EF:2:f32=1", &errors));
	TEST_ASSERT_EQUAL(-ENOSPC, replay_match_same_read(&same, "0EF:2:f32=1", &errors));
	TEST_ASSERT_EQUAL_STRING("--tolerance: more than 64", said);
}
