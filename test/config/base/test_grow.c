/* test_grow.c: arrays that grow keep what they hold, and a size that cannot be had changes nothing. */
#include <stdint.h>
#include <stdlib.h>

#include "config/base/grow.h"
#include "test/lib/testcase.h"

void setUp(void)
{
}

void tearDown(void)
{
}

TEST(elements_stay_and_the_room_doubles)
{
	uint32_t *rows = NULL;
	size_t room = 0;

	for (uint32_t n = 0; n < 1000; n++) {
		const size_t before = room;

		TEST_ASSERT_TRUE(grow(&rows, &room, n + 1, sizeof(*rows)));
		TEST_ASSERT_TRUE(room == before || room >= 2 * before);
		rows[n] = n;
	}
	for (uint32_t n = 0; n < 1000; n++)
		TEST_ASSERT_EQUAL_UINT32(n, rows[n]);
	free(rows);
}

TEST(the_first_room_is_exact)
{
	uint8_t *bytes = NULL;
	size_t room = 0;

	TEST_ASSERT_TRUE(grow(&bytes, &room, 0, 1));
	TEST_ASSERT_NULL(bytes);
	TEST_ASSERT_TRUE(grow(&bytes, &room, 7, 1));
	TEST_ASSERT_EQUAL_size_t(7, room);
	free(bytes);
}

#ifndef __SANITIZE_ADDRESS__ /* which ends the program instead */
TEST(without_memory_all_is_as_it_was)
{
	uint64_t *rows = NULL, *before;
	size_t room = 0;

	TEST_ASSERT_TRUE(grow(&rows, &room, 3, sizeof(*rows)));
	before = rows;
	rows[2] = 42;
	TEST_ASSERT_FALSE(grow(&rows, &room, SIZE_MAX / 4, sizeof(*rows)));
	TEST_ASSERT_EQUAL_PTR(before, rows);
	TEST_ASSERT_EQUAL_size_t(3, room);
	TEST_ASSERT_EQUAL_UINT64(42, rows[2]);
	free(rows);
}
#endif
