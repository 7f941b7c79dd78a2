/* Plain CDR: bytes written by hand, both byte orders, and every place at which a message may be cut. */

#include "channels/ros/cdr.h"
#include "test/lib/testcase.h"

void setUp(void)
{
}

void tearDown(void)
{
}

static void same(const char *expected, size_t len, const struct cdr_out *o)
{
	TEST_ASSERT_EQUAL_size_t(len, o->len);
	TEST_ASSERT_EQUAL_MEMORY(expected, o->bytes, len);
}
#define SAME(expected, o) same(expected, sizeof(expected) - 1, o)

TEST(numbers_are_aligned_behind_the_encapsulation)
{
	uint8_t bytes[64];
	struct cdr_out o = cdr_out(bytes, sizeof(bytes));

	SAME("\0\1\0\0", &o);
	cdr_put_u8(&o, 7);
	cdr_put_f64(&o, 1);
	SAME("\0\1\0\0\7\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f", &o);
	cdr_put_u8(&o, 8);
	cdr_put(&o, &(uint16_t){ 0x1234 }, 2, 1);
	cdr_put_i32(&o, -2);
	SAME("\0\1\0\0\7\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f\x8\0\x34\x12\xfe\xff\xff\xff", &o);
	cdr_put_f32(&o, -2);
	cdr_put_u32(&o, 0x04030201);
	SAME("\0\1\0\0\7\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f\x8\0\x34\x12\xfe\xff\xff\xff\0\0\0\xc0\1\2\3\4", &o);
}

TEST(an_empty_list_has_no_padding)
{
	uint8_t bytes[32];
	struct cdr_out o = cdr_out(bytes, sizeof(bytes));

	cdr_put_u32(&o, 0);
	cdr_put(&o, NULL, 8, 0);
	cdr_put_u8(&o, 9);
	SAME("\0\1\0\0\0\0\0\0\x9", &o);
}

TEST(a_string_counts_its_zero_and_ends_at_the_first_one)
{
	uint8_t bytes[32];
	struct cdr_out o = cdr_out(bytes, sizeof(bytes));

	cdr_put_string(&o, "ab\0cd", 5);
	cdr_put_string(&o, "xyz", 2);
	cdr_put_string(&o, "", 0);
	SAME("\0\1\0\0\3\0\0\0ab\0\0\3\0\0\0xy\0\0\1\0\0\0\0", &o);
}

TEST(a_mark_is_set_later)
{
	uint8_t bytes[32];
	struct cdr_out o = cdr_out(bytes, sizeof(bytes));
	size_t mark;

	cdr_put_u8(&o, 1);
	mark = cdr_mark(&o);
	cdr_put_u8(&o, 2);
	cdr_set_mark(&o, mark, 5);
	SAME("\0\1\0\0\1\0\0\0\5\0\0\0\2", &o);
}

TEST(all_of_the_room_is_used)
{
	uint8_t bytes[8];
	struct cdr_out o = cdr_out(bytes, sizeof(bytes));

	TEST_ASSERT_EQUAL_size_t(4, cdr_mark(&o));
	SAME("\0\1\0\0\0\0\0\0", &o);
}

TEST(nothing_is_written_behind_the_room_and_the_length_is_as_if_there_were_some)
{
	uint8_t bytes[16];

	for (size_t room = 0; room <= 15; room++) {
		struct cdr_out o;
		size_t mark;

		memset(bytes, 0xAA, sizeof(bytes));
		o = cdr_out(bytes, room);
		cdr_put_u8(&o, 1);
		mark = cdr_mark(&o);
		cdr_put_string(&o, "ab", 2);
		cdr_set_mark(&o, mark, 0xFFFFFFFF);
		TEST_ASSERT_EQUAL_size_t(19, o.len);
		TEST_ASSERT_EACH_EQUAL_UINT8(0xAA, bytes + room, sizeof(bytes) - room);
		if (room >= 12)
			TEST_ASSERT_EACH_EQUAL_UINT8(0xFF, bytes + 8, 4);
	}
}

/* The same message in both byte orders. */
static const char little[] = "\0\1\0\0\7\0\0\0\1\2\3\4\3\0\0\0ab\0\0\2\0\0\0\0\0\0\0"
			     "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\xc0\xfe\xff\xff\xff";
static const char big[] = "\0\0\0\0\7\0\0\0\4\3\2\1\0\0\0\3ab\0\0\0\0\0\2\0\0\0\0"
			  "\x3f\xf0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0\xff\xff\xff\xfe";

static bool read_all(struct cdr_in *in)
{
	double pair[2];
	const char *text;
	size_t len;
	bool right = cdr_get_u8(in) == 7;

	right &= cdr_get_u32(in) == 0x04030201;
	text = cdr_get_string(in, &len);
	right &= len == 2 && !memcmp(text, "ab", 2);
	right &= cdr_get_length(in, 8) == 2;
	cdr_get(in, pair, 8, 2);
	right &= pair[0] == 1 && pair[1] == -2;
	return right & (cdr_get_i32(in) == -2);
}

TEST(both_byte_orders_are_read)
{
	struct cdr_in in = cdr_in(little, sizeof(little) - 1);

	TEST_ASSERT_TRUE(read_all(&in));
	TEST_ASSERT_FALSE(in.bad);
	TEST_ASSERT_EQUAL_size_t(sizeof(little) - 1, in.at);
	in = cdr_in(big, sizeof(big) - 1);
	TEST_ASSERT_TRUE(read_all(&in));
	TEST_ASSERT_FALSE(in.bad);
}

TEST(a_message_that_is_cut_anywhere_is_bad_and_gives_zeros)
{
	for (size_t len = 0; len < sizeof(little) - 1; len++) {
		char *copy = malloc(len ? len : 1); /* of exactly that size, for the sanitizer */
		double real = 1;
		struct cdr_in in;

		memcpy(copy, little, len);
		in = cdr_in(copy, len);
		TEST_ASSERT_FALSE(read_all(&in));
		TEST_ASSERT_TRUE(in.bad);
		TEST_ASSERT_EQUAL_UINT32(0, cdr_get_u32(&in));
		TEST_ASSERT_EQUAL_UINT8(0, cdr_get_u8(&in));
		cdr_get(&in, &real, sizeof(real), 1);
		TEST_ASSERT_EQUAL_DOUBLE(0, real);
		free(copy);
	}
}

TEST(other_encapsulations_are_bad)
{
	static const char *const others[] = { "\1\1\0\0", "\0\2\0\0", "\0\3\0\0", "\0\7\0\0", "\x80\1\0\0" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		TEST_ASSERT_TRUE(cdr_in(others[i], 4).bad);
	TEST_ASSERT_FALSE(cdr_in("\0\0\0\0", 4).bad);
	TEST_ASSERT_FALSE(cdr_in("\0\1\0\3", 4).bad); /* the last two are options */
}

TEST(strings_and_lists_that_cannot_be_are_bad)
{
	static const struct {
		const char *bytes;
		size_t len, text;
		bool bad;
	} rows[] = {
		{ "\0\1\0\0\0\0\0\0", 8, 0, false },	  /* without its zero: empty */
		{ "\0\1\0\0\1\0\0\0\0", 9, 0, false },	  /* empty */
		{ "\0\1\0\0\2\0\0\0ab", 10, 2, true },	  /* not terminated */
		{ "\0\1\0\0\3\0\0\0a\0b", 11, 1, false }, /* it ends at its first zero */
		{ "\0\1\0\0\xff\xff\xff\xff"
		  "a\0",
		  10, 0, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct cdr_in in = cdr_in(rows[i].bytes, rows[i].len);
		size_t len;

		cdr_get_string(&in, &len);
		TEST_ASSERT_EQUAL(rows[i].bad, in.bad);
		if (!rows[i].bad)
			TEST_ASSERT_EQUAL_size_t(rows[i].text, len);
	}
	for (uint32_t n = 0; n < 4; n++) {
		uint8_t bytes[] = { 0, 1, 0, 0, (uint8_t)n, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 };
		struct cdr_in in = cdr_in(bytes, sizeof(bytes));

		TEST_ASSERT_EQUAL_UINT32(n <= 2 ? n : 0, cdr_get_length(&in, 4));
		TEST_ASSERT_EQUAL(n > 2, in.bad);
	}
}
