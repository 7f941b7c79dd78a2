/* test_crc.c: CRC-32 against the textbook's loop, one bit at a time. */
#include "test/lib/testcase.h"

#include "channels/rec/crc.h"
#include "test/lib/lib.h"

#define LEN 400 /* several times what is folded at once */

static uint8_t bytes[LEN + 16];

void setUp(void)
{
	uint64_t seed = 1;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)lib_random(&seed);
}

void tearDown(void)
{
}

static uint32_t textbook(const uint8_t *at, size_t len)
{
	uint32_t c = ~0u;

	for (size_t i = 0; i < len; i++) {
		c ^= at[i];
		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
	}
	return ~c;
}

TEST(the_check_value_is_that_of_crc_32)
{
	TEST_ASSERT_EQUAL_HEX32(0xcbf43926, crc_more(0, "123456789", 9));
	TEST_ASSERT_EQUAL_HEX32(0, crc_more(0, NULL, 0));
	TEST_ASSERT_EQUAL_HEX32(0x12345678, crc_more(0x12345678, NULL, 0));
}

TEST(every_length_at_every_alignment_agrees_with_the_textbook)
{
	for (size_t from = 0; from < 16; from++)
		for (size_t len = 0; len <= LEN; len++)
			TEST_ASSERT_EQUAL_HEX32(textbook(bytes + from, len), crc_more(0, bytes + from, len));
}

TEST(two_parts_are_as_one)
{
	const uint32_t whole = crc_more(0, bytes, LEN);

	for (size_t first = 0; first <= LEN; first++)
		TEST_ASSERT_EQUAL_HEX32(whole, crc_more(crc_more(0, bytes, first), bytes + first, LEN - first));
}

TEST(the_crcs_of_two_parts_give_that_of_both)
{
	static uint8_t many[100000];

	for (size_t first = 0; first <= LEN; first++)
		TEST_ASSERT_EQUAL_HEX32(textbook(bytes, LEN),
					crc_join(textbook(bytes, first), textbook(bytes + first, LEN - first),
						 LEN - first));
	memcpy(many, bytes, LEN);
	for (size_t len = LEN; len < sizeof(many); len = 3 * len + 1)
		TEST_ASSERT_EQUAL_HEX32(textbook(many, len),
					crc_join(textbook(many, LEN), textbook(many + LEN, len - LEN), len - LEN));
	/* Four gigabytes of zeros, twice as many each time, are as x^(2^35). */
	TEST_ASSERT_EQUAL_HEX32(crc_join(crc_join(0x12345678, 0, 1ull << 31), 0, 1ull << 31),
				crc_join(0x12345678, 0, 1ull << 32));
}
