/* test_hubo_cycle.c: the grid of the robot's clock, dividers, and when cycles count as kept. */
#include "test/lib/testcase.h"

#include "daemons/clock/clock_grid.h"

#define MS 1000000
#define S 1000000000

static struct clock_grid c;

void setUp(void)
{
	c = (struct clock_grid){ .period_ns = MS };
}

TEST(test_cycles_are_multiples_of_the_period)
{
	TEST_ASSERT_EQUAL_UINT64(0, clock_grid_at(0, MS));
	TEST_ASSERT_EQUAL_UINT64(0, clock_grid_at(MS - 1, MS));
	TEST_ASSERT_EQUAL_UINT64(1, clock_grid_at(MS, MS));
	TEST_ASSERT_EQUAL_UINT64(333333333, clock_grid_at((int64_t)1000 * S, 3000));
	TEST_ASSERT_EQUAL_INT64(5 * MS, clock_grid_began_ns(5 * MS, MS));
	TEST_ASSERT_EQUAL_INT64(5 * MS, clock_grid_began_ns(6 * MS - 1, MS));
	TEST_ASSERT_EQUAL_INT64(5 * MS, clock_grid_next_ns(5 * MS, MS));
	TEST_ASSERT_EQUAL_INT64(6 * MS, clock_grid_next_ns(5 * MS + 1, MS));
}

/* Two clocks that start independently have the same times and the same cycle numbers. */
TEST(test_a_new_one_is_on_the_grid_of_the_old_one)
{
	const int64_t period = 1250000, day = (int64_t)86400 * S;
	int64_t first = clock_grid_next_ns(day + 777, period), later;

	for (int64_t killed = 1; killed < (int64_t)20 * S; killed = killed * 3 + 17) {
		later = clock_grid_next_ns(first + killed, period);
		TEST_ASSERT_EQUAL_INT64(0, (later - first) % period);
		TEST_ASSERT_EQUAL_UINT64(clock_grid_at(first, period) + (uint64_t)((later - first) / period),
					 clock_grid_at(later, period));
		TEST_ASSERT_TRUE(later >= first + killed && later < first + killed + period);
	}
}

TEST(test_a_frame_when_the_divider_divides)
{
	unsigned int due = 0;

	for (uint64_t cycle = 1000; cycle < 1100; cycle++) {
		TEST_ASSERT_TRUE(clock_grid_due(cycle - 1, cycle, 1));
		TEST_ASSERT_EQUAL(cycle % 5 == 0, clock_grid_due(cycle - 1, cycle, 5));
		due += clock_grid_due(cycle - 1, cycle, 4);
	}
	TEST_ASSERT_EQUAL(25, due);
}

TEST(test_a_skipped_one_is_made_up_for_while_it_is_the_nearest)
{
	TEST_ASSERT_TRUE(clock_grid_due(99, 101, 5));
	TEST_ASSERT_TRUE(clock_grid_due(99, 102, 5));
	TEST_ASSERT_FALSE(clock_grid_due(99, 103, 5));
	TEST_ASSERT_FALSE(clock_grid_due(99, 104, 5));
	TEST_ASSERT_TRUE(clock_grid_due(99, 105, 5));
	TEST_ASSERT_FALSE(clock_grid_due(100, 101, 5)); /* it had its own */
	TEST_ASSERT_FALSE(clock_grid_due(101, 102, 5));
	TEST_ASSERT_FALSE(clock_grid_due(99, 101, 2)); /* half way: the next one is as near */
	TEST_ASSERT_TRUE(clock_grid_due(99, 101, 1));
	TEST_ASSERT_TRUE(clock_grid_due(0, 100000, 5)); /* one, not many */
}

TEST(test_ready_after_three_kept_in_a_row)
{
	clock_grid_came(&c, 70, 0);
	clock_grid_came(&c, 71, MS / 2 - 1);
	TEST_ASSERT_FALSE(clock_grid_ready(&c));
	clock_grid_came(&c, 72, 0);
	TEST_ASSERT_TRUE(clock_grid_ready(&c));
	clock_grid_came(&c, 74, 0); /* 73 was skipped; 74 is the first of a new row */
	clock_grid_came(&c, 75, 0);
	TEST_ASSERT_FALSE(clock_grid_ready(&c));
	clock_grid_came(&c, 76, 0);
	TEST_ASSERT_TRUE(clock_grid_ready(&c));
	clock_grid_came(&c, 77, MS / 2);
	TEST_ASSERT_FALSE(clock_grid_ready(&c));
	TEST_ASSERT_EQUAL_UINT64(0, c.kept);
}

TEST(test_the_previous_one_is_the_last_that_came)
{
	clock_grid_came(&c, 70, 0);
	TEST_ASSERT_EQUAL_UINT64(69, c.previous);
	TEST_ASSERT_EQUAL_UINT64(70, c.now);
	clock_grid_came(&c, 75, 0);
	TEST_ASSERT_EQUAL_UINT64(70, c.previous);
	TEST_ASSERT_EQUAL_UINT64(75, c.now);
}

/* A second from cycle first on; skipped of its cycles are left out, one at a time.  It is counted in the last. */
static void second(uint64_t first, uint64_t skipped)
{
	for (uint64_t cycle = first; cycle < first + 1000; cycle++) {
		if ((cycle - first) % 2 && (cycle - first) / 2 < skipped)
			continue;
		TEST_ASSERT_EQUAL(cycle == first + 999, clock_grid_came(&c, cycle, 0));
	}
	TEST_ASSERT_EQUAL_UINT64(1000, c.counted);
	TEST_ASSERT_EQUAL_UINT64(skipped, c.counted_skipped);
}

TEST(test_more_than_a_tenth_skipped_is_too_slow)
{
	TEST_ASSERT_FALSE(clock_grid_too_slow(&c)); /* nothing was counted yet */
	second(5000, 0);
	TEST_ASSERT_FALSE(clock_grid_too_slow(&c));
	second(6000, 100);
	TEST_ASSERT_FALSE(clock_grid_too_slow(&c));
	second(7000, 101);
	TEST_ASSERT_TRUE(clock_grid_too_slow(&c));
	second(8000, 0);
	TEST_ASSERT_FALSE(clock_grid_too_slow(&c));
}

/* A pause of 20 ms and more is the machine's; a tick that is too short makes shorter ones. */
TEST(test_what_was_skipped_in_a_long_pause_is_not_counted)
{
	static const struct {
		int64_t paused_ns;
		uint64_t counted;
	} rows[] = { { 0, 299 }, { 20 * MS - 1, 299 }, { 20 * MS, 279 }, { 298 * MS + 1, 0 }, { 300 * MS, 0 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		c = (struct clock_grid){ .period_ns = MS };
		clock_grid_came(&c, 100, 0);
		clock_grid_paused(&c, rows[i].paused_ns);
		clock_grid_came(&c, 400, 0);
		clock_grid_came(&c, 410, 0); /* of the pause before it nothing is left */
		for (uint64_t cycle = 411; cycle < 1100; cycle++)
			clock_grid_came(&c, cycle, 0);
		TEST_ASSERT_EQUAL_UINT64(rows[i].counted + 9, c.counted_skipped);
	}
}

TEST(test_a_long_absence_is_counted_at_once)
{
	clock_grid_came(&c, 100, 0);
	TEST_ASSERT_TRUE(clock_grid_came(&c, 3100, 0));
	TEST_ASSERT_EQUAL_UINT64(3001, c.counted);
	TEST_ASSERT_EQUAL_UINT64(2999, c.counted_skipped);
	TEST_ASSERT_TRUE(clock_grid_too_slow(&c));
	TEST_ASSERT_FALSE(clock_grid_came(&c, 3101, 0)); /* a new second */
}

TEST(test_a_slow_clock_is_counted_over_ten_cycles)
{
	c = (struct clock_grid){ .period_ns = (int64_t)S };
	for (uint64_t cycle = 0; cycle < 9; cycle++)
		TEST_ASSERT_FALSE(clock_grid_came(&c, cycle, 0));
	TEST_ASSERT_TRUE(clock_grid_came(&c, 9, 0));
}
