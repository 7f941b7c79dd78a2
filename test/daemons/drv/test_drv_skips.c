/* test_drv_skips.c: how many of the last cycles were skipped. */
#include "daemons/drv/drv_skips.h"
#include "test/lib/testcase.h"

static struct drv_skips skips;

void setUp(void)
{
	skips = (struct drv_skips){ 0 };
}

/* So many cycles, before each of which so many were skipped. */
static const char *after(unsigned int cycles, uint64_t skipped)
{
	static char text[DRV_SKIPS_TEXT_MAX];

	for (unsigned int i = 0; i < cycles; i++)
		drv_skips_add(&skips, skipped);
	return drv_skips_text(&skips, text);
}

TEST(few_skipped_cycles_are_no_cause)
{
	TEST_ASSERT_EQUAL_STRING("", drv_skips_text(&skips, (char[DRV_SKIPS_TEXT_MAX]){ "?" }));
	TEST_ASSERT_EQUAL_STRING("", after(1, 19));
	TEST_ASSERT_EQUAL_STRING("; this machine skipped 20 of the last 22 cycles", after(1, 1));
	/* Below a fifth. */
	TEST_ASSERT_EQUAL_STRING("; this machine skipped 20 of the last 100 cycles", after(78, 0));
	TEST_ASSERT_EQUAL_STRING("", after(1, 0));
}

TEST(what_is_older_than_the_window_is_forgotten)
{
	TEST_ASSERT_EQUAL_STRING("; this machine skipped 800 of the last 1000 cycles", after(500, 4));
	TEST_ASSERT_EQUAL_STRING("; this machine skipped 400 of the last 999 cycles", after(499, 0));
	TEST_ASSERT_EQUAL_STRING("", after(500, 0));
}

TEST(one_long_pause_fits)
{
	TEST_ASSERT_EQUAL_STRING("; this machine skipped 1000 of the last 1001 cycles", after(1, UINT64_MAX));
	TEST_ASSERT_EQUAL_STRING("; this machine skipped 2000 of the last 2002 cycles", after(1, 5000));
	TEST_ASSERT_EQUAL_STRING("; this machine skipped 1000 of the last 1499 cycles", after(498, 0));
}

TEST(codes_that_a_machine_without_time_causes)
{
	static const char *const caused[] = {
		"silent", "silent-15", "no-answer", "no-sample", "unanswered-4", "stale"
	};
	static const char *const others[] = { "", "hot", "config-15", "silen", "frozen", "fallen", "clock-lost" };

	for (size_t i = 0; i < sizeof(caused) / sizeof(*caused); i++)
		TEST_ASSERT_TRUE_MESSAGE(drv_skips_explain(caused[i]), caused[i]);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		TEST_ASSERT_FALSE_MESSAGE(drv_skips_explain(others[i]), others[i]);
}
