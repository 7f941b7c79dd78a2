/* test_pauses.c: time in a pause is counted once, and only as much of it as was paused. */
#include "can/slots/pauses.h"
#include "test/lib/testcase.h"

static struct pauses p;

void setUp(void)
{
	p = (struct pauses){ .n = 0 };
}

TEST(without_a_pause_nothing_is_paused)
{
	TEST_ASSERT_EQUAL_INT64(0, pauses_within_ns(&p, INT64_MIN, INT64_MAX));
	TEST_ASSERT_EQUAL_INT64(INT64_MIN, pauses_end_ns(&p));
	pauses_add(&p, 20, 20);
	pauses_add(&p, 20, 10);
	TEST_ASSERT_EQUAL_INT64(INT64_MIN, pauses_end_ns(&p));
}

TEST(only_the_part_within_counts)
{
	static const struct {
		int64_t from_ns, to_ns, paused_ns;
	} rows[] = { { 0, 5, 0 },   { 0, 10, 0 },   { 0, 15, 5 },   { 12, 18, 6 },  { 15, 25, 5 }, { 20, 30, 0 },
		     { 0, 30, 10 }, { 0, 100, 30 }, { 15, 45, 10 }, { 60, 100, 0 }, { 41, 41, 0 }, { 45, 41, 0 } };

	pauses_add(&p, 10, 20);
	pauses_add(&p, 40, 60);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		TEST_ASSERT_EQUAL_INT64(rows[i].paused_ns, pauses_within_ns(&p, rows[i].from_ns, rows[i].to_ns));
	TEST_ASSERT_EQUAL_INT64(60, pauses_end_ns(&p));
}

/* As it is seen in each turn while it lasts, and from two sides. */
TEST(a_pause_that_is_seen_twice_counts_once)
{
	pauses_add(&p, 10, 20);
	pauses_add(&p, 10, 30);
	pauses_add(&p, 15, 25);
	pauses_add(&p, 30, 35);
	TEST_ASSERT_EQUAL_INT64(25, pauses_within_ns(&p, 0, 100));
	pauses_add(&p, 50, 60);
	pauses_add(&p, 30, 70); /* it began before the newest: what is between counts, the one before is not doubled */
	TEST_ASSERT_EQUAL_INT64(60, pauses_within_ns(&p, 0, 100));
	pauses_add(&p, 5, 71);
	TEST_ASSERT_EQUAL_INT64(61, pauses_within_ns(&p, 0, 100));
}

TEST(the_newest_are_kept)
{
	for (int64_t i = 0; i < 3 * PAUSES_MAX; i++)
		pauses_add(&p, 10 * i, 10 * i + 1);
	TEST_ASSERT_EQUAL_INT64(PAUSES_MAX, pauses_within_ns(&p, 0, INT64_MAX));
	TEST_ASSERT_EQUAL_INT64(1, pauses_within_ns(&p, 10 * (3 * PAUSES_MAX - 1), INT64_MAX));
	TEST_ASSERT_EQUAL_INT64(0, pauses_within_ns(&p, 0, 10 * 2 * PAUSES_MAX));
}
