/* test_rec_delta.c: bytes without the words that repeat the one before. */
#include <stdlib.h>
#include <string.h>

#include "channels/msg/msg.h"
#include "channels/rec/rec_delta.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

static uint8_t bytes[REC_DELTA_MAX + 8], packed[REC_DELTA_MAX], whole[REC_DELTA_MAX];

void setUp(void)
{
	memset(bytes, 0, sizeof(bytes));
	memset(packed, 0xEE, sizeof(packed));
	memset(whole, 0xEE, sizeof(whole));
}

static void fill(size_t from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[from + i] = (uint8_t)(1 + (from + i) * 7 % 251);
}

/* From memory of its own, behind which the address sanitizer finds every byte read. */
static size_t pack(size_t len)
{
	uint8_t *own = malloc(len ? len : 1);
	size_t n;

	TEST_ASSERT_NOT_NULL(own);
	memcpy(own, bytes, len);
	n = rec_delta_pack(packed, own, len);
	free(own);
	return n;
}

/* There and back; the packed length. */
static size_t round_trip(size_t len)
{
	const size_t n = pack(len);

	if (!n)
		return 0;
	TEST_ASSERT_LESS_THAN_UINT(len, n);
	TEST_ASSERT_EQUAL_INT(len, rec_delta_unpack(whole, packed, n));
	TEST_ASSERT_EQUAL_MEMORY(bytes, whole, len);
	return n;
}

TEST(by_hand)
{
	static const uint8_t expected[] = { 51, 0, 0, 0, 1, 0, 2, 0, 0, 0, 1, 2, 3, 0, 0, 0, 4, 0, 0, 0,
					    0,	0, 0, 0, 2, 0, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7, 8, 9 };

	bytes[10] = 1; /* the second word */
	bytes[11] = 2;
	bytes[12] = 3;
	bytes[16] = bytes[24] = bytes[32] = 4; /* the third, and twice again */
	bytes[40] = 5;
	bytes[48] = 7; /* behind the last */
	bytes[49] = 8;
	bytes[50] = 9;
	TEST_ASSERT_EQUAL_UINT(sizeof(expected), round_trip(51));
	TEST_ASSERT_EQUAL_MEMORY(expected, packed, sizeof(expected));
}

/* Five zeros, a word twice, another one, two zeros: pieces of 1, 2 and no words. */
TEST(a_word_that_is_repeated_once)
{
	bytes[40] = bytes[48] = 1;
	bytes[56] = 2;
	TEST_ASSERT_EQUAL_UINT(4 + (4 + 8) + (4 + 16) + 4, round_trip(80));
}

TEST(nothing_but_zeros)
{
	TEST_ASSERT_EQUAL_UINT(0, round_trip(8)); /* 4 + 4 */
	TEST_ASSERT_EQUAL_UINT(0, round_trip(15));
	TEST_ASSERT_EQUAL_UINT(8, round_trip(16));
	TEST_ASSERT_EQUAL_UINT(8 + 1, round_trip(17));
	TEST_ASSERT_EQUAL_UINT(8, round_trip(64));
	TEST_ASSERT_EQUAL_UINT(8, round_trip(REC_DELTA_MAX));
}

TEST(what_would_not_be_less)
{
	TEST_ASSERT_EQUAL_UINT(0, round_trip(0));
	TEST_ASSERT_EQUAL_UINT(0, round_trip(7));
	TEST_ASSERT_EQUAL_UINT(0, round_trip(REC_DELTA_MAX + 1));
	fill(0, 111);
	TEST_ASSERT_EQUAL_UINT(0, round_trip(111)); /* with bytes behind the last word */
	memset(bytes, 0, 8);
	TEST_ASSERT_EQUAL_UINT(0, round_trip(104)); /* 4 + 4 + 96 */
	TEST_ASSERT_EQUAL_UINT(0, round_trip(111));
	setUp();
	fill(0, 104);
	TEST_ASSERT_EQUAL_UINT(0, round_trip(104));
	TEST_ASSERT_EQUAL_UINT(0, round_trip(108));
	TEST_ASSERT_EQUAL_UINT(0, round_trip(112)); /* 4 + 4 + 104, and 4 for the repetition */
	bytes[8] = 0;
	memset(bytes + 104, 0, 24);
	TEST_ASSERT_EQUAL_UINT(0, round_trip(112));
	TEST_ASSERT_EQUAL_UINT(4 + 4 + 112 + 4, round_trip(128)); /* the first zero word is one that differs */
	TEST_ASSERT_EQUAL_UINT(4 + 4 + 112 + 4 + 3, round_trip(131));
}

TEST(the_largest)
{
	fill(0, REC_DELTA_MAX);
	TEST_ASSERT_EQUAL_UINT(0, round_trip(REC_DELTA_MAX));
	memcpy(bytes + 80, bytes + 72, 8);
	TEST_ASSERT_EQUAL_UINT(0, round_trip(REC_DELTA_MAX)); /* 4 more than there is room for */
	memset(bytes + 80, 0, 24);
	TEST_ASSERT_EQUAL_UINT(REC_DELTA_MAX - 16 + 4 + 4 + 4, round_trip(REC_DELTA_MAX));
}

/* What it is for: a state of one joint, where unused places are not a number. */
TEST(a_message)
{
	struct msg_joint_state state = { .count = 1, .joint = { "15" }, .position = { 1.5 } };

	for (size_t i = 1; i < MSG_JOINTS; i++)
		state.position[i] = state.velocity[i] = state.current[i] = __builtin_nan("");
	memcpy(bytes, &state, sizeof(state));
	TEST_ASSERT_LESS_THAN_UINT(sizeof(state) / 10, round_trip(sizeof(state)));
	TEST_ASSERT_NOT_EQUAL(0, round_trip(sizeof(state)));
}

TEST(random_bytes)
{
	uint64_t state = 7;
	unsigned int packs = 0;

	for (int i = 0; i < 20000; i++) {
		const size_t len = lib_random(&state) % 300;
		const unsigned int dense = (unsigned int)(lib_random(&state) % 10);

		for (size_t k = 0; k < len; k += 8)
			memset(bytes + k, lib_random(&state) % 10 < dense ? (int)(lib_random(&state) % 3) : 0, 8);
		packs += round_trip(len) > 0;
	}
	TEST_ASSERT_GREATER_THAN_UINT(10000, packs);
}

/* In memory of its own, behind which the address sanitizer finds every byte read. */
static int unpack(const uint8_t *from, size_t len)
{
	uint8_t *own = malloc(len ? len : 1);
	int r;

	TEST_ASSERT_NOT_NULL(own);
	memcpy(own, from, len);
	r = rec_delta_unpack(whole, own, len);
	free(own);
	return r;
}

/* Of any bytes: within its bounds, and all or nothing. */
TEST(damaged)
{
	static const uint8_t bad[][24] = {
		{ 3, 40, 0, 0 },					    /* without its length */
		{ 8, 8, 128, 0, 0, 1, 16, 0, 0 },			    /* longer than the longest */
		{ 5, 40, 0, 0, 0, 1 },					    /* half a piece */
		{ 4, 40, 0, 0, 0 },					    /* no piece */
		{ 8, 40, 0, 0, 0, 6, 0, 0, 0 },				    /* more words than there are */
		{ 16, 40, 0, 0, 0, 5, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8 },    /* the same */
		{ 15, 40, 0, 0, 0, 4, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7 },	    /* a byte is missing */
		{ 17, 40, 0, 0, 0, 4, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 }, /* one too many */
		{ 12, 40, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0 },		    /* a run in two */
		/* more than there are left: repeated ones, and others */
		{ 20, 16, 0, 0, 0, 0, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 0, 0 },
		{ 20, 8, 0, 0, 0, 0, 0, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9 },
		{ 8, 41, 0, 0, 0, 5, 0, 0, 0 }, /* without the last byte */
	};
	static const uint8_t good[] = { 41, 0, 0, 0, 4, 0, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	uint64_t state = 11;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		TEST_ASSERT_EQUAL_INT(-1, unpack(bad[i] + 1, bad[i][0]));
	TEST_ASSERT_EQUAL_INT(0, unpack((const uint8_t[4]){ 0 }, 4)); /* nothing, whole */
	TEST_ASSERT_EQUAL_INT(41, unpack(good, sizeof(good)));
	TEST_ASSERT_EQUAL_UINT8(8, whole[39]);
	TEST_ASSERT_EQUAL_UINT8(9, whole[40]);
	for (int i = 0; i < 100000; i++) {
		const size_t len = lib_random(&state) % 40;

		for (size_t k = 0; k < len; k++)
			packed[k] = (uint8_t)(lib_random(&state) % (k % 4 == 1 || k == 2 ? 2 : 50));
		unpack(packed, len);
	}
}
