/* test_bms.c: thresholds with hysteresis, and cells that become stale. */
#include <math.h>

#include "daemons/bms/bms.h"
#include "test/lib/testcase.h"

/* A value each, and what it does: ! crosses, . nothing, c clears. */
static const struct {
	struct bms_threshold threshold;
	double values[8];
	const char *does;
} rows[] = {
	{ { 20, 3, true }, { 21, 20, 19.9, 20, 22, 22.9, 23, 19 }, "..!...c!" },
	{ { 20, 3, true }, { 10, 5, 22, 24, 24, 21, 19, 18 }, "!..c..!." },
	{ { 50, 2, false }, { 49, 50, 50.1, 49, 48.1, 48, 50, 51 }, "..!..c.!" },
	{ { 50, 0, false }, { 51, 50.1, 50, 51, 50, 50, 52, 49 }, "!.c!c.!c" },
	{ { 50, 2, false }, { NAN, 60, NAN, 49, NAN, 47, NAN, 51 }, ".!...c.!" },
	{ { 0, 0, false }, { 0, 0.1, 0, -1, 5, 0, 0, 1 }, ".!c.!c.!" },
};

TEST(a_threshold_is_crossed_once_and_cleared_once)
{
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char does[9] = "";
		bool crossed = false;

		for (unsigned int j = 0; j < 8; j++) {
			does[j] = ".!c"[bms_cross(&crossed, rows[i].values[j], &rows[i].threshold)];
			TEST_ASSERT(does[j] == '.' || crossed == (does[j] == '!'));
		}
		TEST_ASSERT_EQUAL_STRING(rows[i].does, does);
	}
}

TEST(a_cell_is_unknown_before_it_was_heard_and_after_its_time)
{
	struct bms_cells cells = { .n = 3,
				   .stale_ns = 10,
				   .voltage_v = { 3.3, 3.4, 3.1 },
				   .open_v = { 3.3, 3.8, 3.5 },
				   .t_ns = { 0, 100, 105 } };

	TEST_ASSERT_TRUE(isnan(bms_cell_v(&cells, 0, 5)));
	TEST_ASSERT_EQUAL_DOUBLE(3.4, bms_cell_v(&cells, 1, 110));
	TEST_ASSERT_TRUE(isnan(bms_cell_v(&cells, 1, 111)));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.3, bms_spread_v(&cells, 110));
	TEST_ASSERT_TRUE(isnan(bms_spread_v(&cells, 111))); /* one is left */
	cells.t_ns[0] = 111;
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.2, bms_spread_v(&cells, 111));
	cells.n = 2;
	TEST_ASSERT_TRUE(isnan(bms_spread_v(&cells, 111)));
	cells.n = 0;
	TEST_ASSERT_TRUE(isnan(bms_spread_v(&cells, 111)));
}
