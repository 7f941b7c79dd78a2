/* test_vt_budget.c: budgets of processes with a period, shares of those without: by tables. */
#include "channels/clock/vt_budget.h"
#include "test/lib/testcase.h"

#define PERIOD 1000
#define ROWS_MAX 8

/* From that instant on it computes for work_ns, after a wait or without one. */
struct step {
	int64_t at_ns, work_ns;
	bool without_wait;
	int64_t done_ns;
	bool fails;
};

static const struct row {
	const char *name;
	enum vt_over over;
	int64_t budget_ns;
	struct step steps[ROWS_MAX]; /* up to the first without work */
	uint32_t overs;
	int64_t worst_ns;
} rows[] = {
	{ "within", VT_OVER_REPORT, 500, { { 0, 500, false, 500, false }, { 1000, 500, false, 1500, false } }, 0, 0 },
	{ "over", VT_OVER_REPORT, 500, { { 0, 501, false, 501, false }, { 1000, 700, false, 1700, false } }, 2, 700 },
	{ "in pieces, counted once",
	  VT_OVER_REPORT,
	  500,
	  { { 0, 300, false, 300, false }, { 300, 201, true, 501, false }, { 600, 100, false, 700, false } },
	  1,
	  601 },
	{ "start-up", VT_OVER_FAIL, 500, { { 0, 9000, true, 9000, false }, { 9000, 500, false, 9500, false } }, 0, 0 },
	{ "longer than its period",
	  VT_OVER_REPORT,
	  1000,
	  { { 0, 1300, false, 1300, false }, { 1300, 100, false, 1400, false }, { 2000, 1000, false, 3000, false } },
	  1,
	  1300 },
	{ "late, but on time again",
	  VT_OVER_REPORT,
	  500,
	  { { 0, 400, false, 400, false },
	    { 1700, 400, false, 2100, false }, /* in the period from 1000 on */
	    { 2100, 100, false, 2200, false },
	    { 3000, 500, false, 3500, false } },
	  0,
	  0 },
	{ "ticks 0.99 periods apart",
	  VT_OVER_REPORT,
	  500,
	  { { 0, 400, false, 400, false }, { 990, 400, false, 1390, false }, { 1980, 400, false, 2380, false } },
	  0,
	  0 },
	{ "0.97 apart are the same period",
	  VT_OVER_REPORT,
	  500,
	  { { 0, 400, false, 400, false }, { 970, 400, false, 1370, false } },
	  1,
	  800 },
	{ "suspended until the next period",
	  VT_OVER_SUSPEND,
	  500,
	  { { 0, 800, false, 1300, false }, { 2000, 500, false, 2500, false } },
	  1,
	  800 },
	{ "suspended, and what is left then",
	  VT_OVER_SUSPEND,
	  500,
	  { { 0, 800, false, 1300, false }, { 1300, 201, false, 2001, false }, { 3001, 500, false, 3501, false } },
	  1,
	  800 },
	{ "suspended several times", VT_OVER_SUSPEND, 500, { { 0, 1700, false, 3200, false } }, 1, 1700 },
	{ "suspended in pieces",
	  VT_OVER_SUSPEND,
	  500,
	  { { 0, 500, false, 500, false }, { 500, 1, true, 1001, false }, { 1001, 499, true, 1500, false } },
	  1,
	  1000 },
	{ "suspended, ticks 0.99 periods apart",
	  VT_OVER_SUSPEND,
	  500,
	  { { 0, 500, false, 500, false }, { 990, 500, false, 1490, false }, { 1980, 500, false, 2480, false } },
	  0,
	  0 },
	{ "fails when its budget is used up",
	  VT_OVER_FAIL,
	  500,
	  { { 0, 300, false, 300, false }, { 300, 900, true, 500, true } },
	  1,
	  1200 },
};

static void step(struct vt_budget *b, const struct row *row, const struct step *s)
{
	bool fails;

	if (!s->without_wait)
		vt_budget_release(b, s->at_ns);
	TEST_ASSERT_EQUAL_INT64_MESSAGE(s->done_ns, vt_budget_spend(b, s->at_ns, s->work_ns, &fails), row->name);
	TEST_ASSERT_EQUAL_MESSAGE(s->fails, fails, row->name);
}

TEST(computing_over_the_budget)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct vt_budget b = { .period_ns = PERIOD, .budget_ns = rows[i].budget_ns, .over = rows[i].over };

		for (const struct step *s = rows[i].steps; s->work_ns; s++)
			step(&b, &rows[i], s);
		TEST_ASSERT_EQUAL_UINT32_MESSAGE(rows[i].overs, b.overs, rows[i].name);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(rows[i].worst_ns, b.worst_ns, rows[i].name);
	}
}

TEST(without_a_period_there_is_no_budget)
{
	struct vt_budget b = { .over = VT_OVER_FAIL };
	bool fails;

	vt_budget_release(&b, 100);
	TEST_ASSERT_EQUAL_INT64(10100, vt_budget_spend(&b, 100, 10000, &fails));
	TEST_ASSERT_FALSE(fails);
}

TEST(planners_share_what_is_left)
{
	static const struct {
		double taken;
		uint32_t weight, weights;
		double share;
	} shares[] = {
		{ 0, 1, 1, 1 },	       { 0, 1, 2, 0.5 },  { 0.4, 1, 1, 0.6 },
		{ 0.5, 3, 4, 0.375 },  { 1, 1, 1, 0.01 }, { 2, 1, 1, 0.01 }, /* periodic ones on several processors */
		{ 0.999, 1, 1, 0.01 },
	};

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		const struct vt_left l = { .taken = shares[i].taken };

		TEST_ASSERT_DOUBLE_WITHIN(1e-9, shares[i].share,
					  vt_left_share(&l, shares[i].weight, shares[i].weights));
	}
}

TEST(what_is_left_is_measured_in_windows)
{
	struct vt_left l = { 0 };

	vt_left_update(&l, 1000000000000);
	TEST_ASSERT_EQUAL_DOUBLE(0, l.taken);
	l.busy_ns += VT_SHARE_WINDOW_NS / 4;
	vt_left_update(&l, 1000000000000 + VT_SHARE_WINDOW_NS - 1);
	TEST_ASSERT_EQUAL_DOUBLE(0, l.taken);
	vt_left_update(&l, 1000000000000 + VT_SHARE_WINDOW_NS);
	TEST_ASSERT_EQUAL_DOUBLE(0.25, l.taken);
	vt_left_update(&l, 1000000000000 + 3 * (int64_t)VT_SHARE_WINDOW_NS);
	TEST_ASSERT_EQUAL_DOUBLE(0, l.taken);
}
