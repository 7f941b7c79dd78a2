/* test_hubo_load.c: how busy a bus is said to be. */
#include "test/lib/testcase.h"

#include "daemons/clock/load.h"

#define S 1000000000
#define TENTH LOAD_WINDOW_NS
#define BEGIN ((int64_t)1000 * S)

static struct load l;

void setUp(void)
{
	load_start(&l, 1000000, BEGIN);
}

/* Fills a window, counted from the beginning, with n frames of 100 bits. */
static void window(int which, int n)
{
	for (int i = 0; i < n; i++)
		load_add(&l, 100, BEGIN + which * (int64_t)TENTH + i);
}

static void assert_share(double expected)
{
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, expected, load_share(&l));
}

TEST(test_no_frames_are_no_load)
{
	assert_share(0);
	load_at(&l, BEGIN + (int64_t)5 * S);
	assert_share(0);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, load_most(&l));
}

TEST(test_the_share_of_the_last_second)
{
	for (int w = 0; w <= 10; w++)
		window(w, 500);
	load_at(&l, BEGIN + 11 * (int64_t)TENTH);
	assert_share(0.5);
	load_at(&l, BEGIN + 12 * (int64_t)TENTH); /* one of ten was empty */
	assert_share(0.45);
	load_at(&l, BEGIN + 20 * (int64_t)TENTH);
	assert_share(0.05);
	load_at(&l, BEGIN + 21 * (int64_t)TENTH);
	assert_share(0);
}

/* Neither the first nor the present window is complete. */
TEST(test_before_a_second_is_over)
{
	window(0, 1000);
	window(1, 250);
	assert_share(0);
	load_at(&l, BEGIN + 2 * (int64_t)TENTH);
	assert_share(0.25);
	window(2, 750);
	assert_share(0.25);
	load_at(&l, BEGIN + 3 * (int64_t)TENTH);
	assert_share(0.5);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.75, load_most(&l));
}

TEST(test_the_bit_rate_counts)
{
	load_start(&l, 250000, BEGIN);
	window(1, 125);
	load_at(&l, BEGIN + 2 * (int64_t)TENTH);
	assert_share(0.5);
}

/* Held up for half a second: what was on the bus meanwhile is read at once, some of it after what is newer. */
TEST(test_late_frames_find_their_own_window)
{
	window(1, 100);
	window(6, 100);
	for (int w = 2; w < 6; w++)
		window(w, 300);
	load_at(&l, BEGIN + 7 * (int64_t)TENTH);
	assert_share((100 * 2 + 300 * 4) / 6000.0);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.3, load_most(&l));
	window(2, 300); /* more of it, after it was over */
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.6, load_most(&l));
	assert_share((100 * 2 + 300 * 5) / 6000.0);
}

TEST(test_what_is_too_old_counts_nowhere)
{
	load_at(&l, BEGIN + 20 * (int64_t)TENTH);
	window(9, 1000); /* shares its place with window 20 */
	load_at(&l, BEGIN + 21 * (int64_t)TENTH);
	assert_share(0);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, load_most(&l));
	window(11, 1000); /* the oldest that counts */
	assert_share(0.1);
	load_start(&l, 1000000, BEGIN);
	window(-1, 1000);
	load_at(&l, BEGIN + 2 * (int64_t)TENTH);
	assert_share(0);
}

TEST(test_the_busiest_tenth_is_kept)
{
	window(1, 900);
	for (int w = 2; w < 40; w++)
		window(w, 100);
	assert_share(0.1);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.9, load_most(&l));
	window(40, 950); /* not over yet */
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.9, load_most(&l));
	load_at(&l, BEGIN + 90 * (int64_t)TENTH);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.95, load_most(&l));
	assert_share(0);
}
