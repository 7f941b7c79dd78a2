/* test_drv_missed.c: silence of a device, and losses that are new. */
#include "daemons/drv/drv_missed.h"
#include "test/lib/testcase.h"

#define MS INT64_C(1000000)
#define NOW (5000 * MS)
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static int64_t paused_ns, asked_ns;

int64_t drv_paused_ns(const struct drv *drv, unsigned int bus, int64_t t_ns)
{
	(void)drv;
	TEST_ASSERT_EQUAL(0, bus);
	asked_ns = t_ns;
	return paused_ns;
}

TEST(silence_counts_from_the_newest_sample_or_the_wait_for_it)
{
	static const struct {
		int64_t heard_ns, waits_ns, paused_ns;
		long long ms;
	} rows[] = {
		{ NOW - 10 * MS, NOW - 900 * MS, 0, 0 },
		{ NOW - 50 * MS, NOW - 900 * MS, 0, 0 }, /* not longer than that */
		{ NOW - 50 * MS - 1, NOW - 900 * MS, 0, 50 },
		{ NOW - 500 * MS, NOW - 900 * MS, 0, 500 },
		{ NOW - 900 * MS, NOW - 500 * MS, 0, 500 }, /* it begins again */
		{ 0, NOW - 51 * MS, 0, 51 },		    /* nothing has come yet */
		{ 0, NOW - 50 * MS, 0, 0 },
		{ NOW - 900 * MS, NOW + 10 * MS, 0, 0 }, /* it is waited for later */
		{ NOW - 80 * MS, 0, 30 * MS, 0 },	 /* a pause is not the device's */
		{ NOW - 80 * MS, 0, 30 * MS - 1, 80 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		paused_ns = rows[i].paused_ns;
		TEST_ASSERT_EQUAL_INT64(rows[i].ms,
					drv_missed_ms(NULL, rows[i].heard_ns, rows[i].waits_ns, 50 * MS, NOW));
		TEST_ASSERT_EQUAL_INT64(rows[i].heard_ns > rows[i].waits_ns ? rows[i].heard_ns : rows[i].waits_ns,
					asked_ns);
	}
}

TEST(losses_are_new_once)
{
	static const struct {
		uint32_t count;
		bool more;
	} rows[] = { { 0, false }, { 1, true },		 { 1, false }, { 7, true },
		     { 7, false }, { UINT32_MAX, true }, { 0, true },  { 0, false } };
	uint32_t noted = 0;

	for (size_t i = 0; i < COUNT(rows); i++) {
		TEST_ASSERT_EQUAL(rows[i].more, drv_missed_more(&noted, rows[i].count));
		TEST_ASSERT_EQUAL(rows[i].count, noted);
	}
}
