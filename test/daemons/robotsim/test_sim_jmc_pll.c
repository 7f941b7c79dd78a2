/* test_sim_jmc_pll.c: the loop of a simulated Hubo board locks to references, and says how well.
 *
 * Also for jmc_pll.c.
 */
#include <math.h>

#include "daemons/robotsim/jmc_pll.h"
#include "test/lib/testcase.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)
#define FIRST_NS (7 * MS + 123456)

static const struct jmc_pll_settings usual = { .bandwidth_hz = 2,
					       .damping = 1,
					       .range = 0.1,
					       .sample = 0.1,
					       .lock_after = 5,
					       .unlock_after = 5,
					       .hold_after = 1.5 };
static struct jmc_pll pll;

void setUp(void)
{
	jmc_pll_start(&pll, &usual, 5 * MS, 0);
}

static void pass(int64_t t_ns)
{
	while (pll.tick_ns <= t_ns)
		jmc_pll_tick(&pll);
}

static void arrive(int64_t t_ns)
{
	pass(t_ns);
	jmc_pll_arrive(&pll, t_ns);
}

TEST(its_first_tick_is_a_period_after_the_start)
{
	jmc_pll_start(&pll, &usual, 5 * MS, 100 * MS);
	TEST_ASSERT_EQUAL_INT64(105 * MS, pll.tick_ns);
}

/* n references from first on.  When the next one is due. */
static int64_t stream(int64_t first_ns, int64_t period_ns, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		arrive(first_ns + i * period_ns);
	return first_ns + n * period_ns;
}

TEST(it_locks_after_so_many_references_in_time)
{
	stream(FIRST_NS, 5 * MS, 5); /* the first one is not in time */
	TEST_ASSERT_FALSE(pll.locked);
	TEST_ASSERT_EQUAL(4, pll.in_row);
	arrive(FIRST_NS + 25 * MS);
	TEST_ASSERT_TRUE(pll.locked);
	TEST_ASSERT_EQUAL(1, pll.locks);
	TEST_ASSERT_EQUAL(0, pll.losses);
	TEST_ASSERT_EQUAL(6, pll.arrived);
}

TEST(unlocked_a_tick_follows_each_reference_by_its_share_of_the_period)
{
	for (unsigned int i = 1; i < 6; i++) {
		arrive(i * 7 * MS);
		TEST_ASSERT_EQUAL_INT64(i * 7 * MS + 500001, pll.tick_ns);
	}
	TEST_ASSERT_FALSE(pll.locked);
}

TEST(in_its_range_it_follows_the_period_and_outside_it_does_not_lock)
{
	static const struct {
		int64_t period_ns;
		bool locks;
	} cases[] = { { 5000000, true },  { 5450000, true },  { 4550000, true }, { 4999999, true },
		      { 5550000, false }, { 4450000, false }, { 7500000, false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setUp();
		stream(FIRST_NS, cases[i].period_ns, 2000);
		TEST_ASSERT_EQUAL_MESSAGE(cases[i].locks, pll.locked, "locked");
		if (!cases[i].locks) {
			TEST_ASSERT_EQUAL(0, pll.locks);
			continue;
		}
		TEST_ASSERT_DOUBLE_WITHIN(1, (double)cases[i].period_ns, pll.period_ns);
		TEST_ASSERT_DOUBLE_WITHIN(10, 0, pll.error_ns);
		TEST_ASSERT_EQUAL(1, pll.locks);
		/* the next tick is its share of the period after the reference */
		TEST_ASSERT_INT64_WITHIN(3, llround(0.1 * pll.period_ns), pll.tick_ns - pll.last_ns);
	}
}

/* Locked, the period stays in its range even if references drift out of it slowly. */
TEST(the_period_is_bounded)
{
	int64_t t_ns = stream(FIRST_NS, 5 * MS, 100);

	for (unsigned int i = 0; i < 400; i++, t_ns += 5 * MS + i * 5000)
		arrive(t_ns);
	TEST_ASSERT_TRUE(pll.period_ns <= 5.5 * MS);
	setUp();
	t_ns = stream(FIRST_NS, 5 * MS, 100);
	for (unsigned int i = 0; i < 400; i++, t_ns += 5 * MS - i * 5000)
		arrive(t_ns);
	TEST_ASSERT_TRUE(pll.period_ns >= 4.5 * MS);
}

/* 2 Hz, damping 1: a step of the phase leaves 1 - (1 - wt) e^-wt; after 80 ms, wt = 1, nothing of it is left, and the
 * largest error the other way is 1/e^2 of the step, at wt = 2. */
TEST(a_step_of_the_phase_is_followed_as_its_bandwidth_says)
{
	int64_t t_ns = stream(FIRST_NS, 5 * MS, 1000) + 100000;
	double least = 1;

	arrive(t_ns);
	TEST_ASSERT_DOUBLE_WITHIN(5, 100000, pll.error_ns);
	for (unsigned int i = 1; i <= 200; i++) {
		arrive(t_ns + i * 5 * MS);
		if (i == 16)
			TEST_ASSERT_DOUBLE_WITHIN(0.05, 0, pll.error_ns / 100000);
		least = fmin(least, pll.error_ns / 100000);
	}
	TEST_ASSERT_DOUBLE_WITHIN(0.02, -exp(-2), least);
	TEST_ASSERT_DOUBLE_WITHIN(0.01, 0, pll.error_ns / 100000);
}

TEST(a_step_of_the_phase_without_damping_goes_on_swinging)
{
	int64_t t_ns;
	double least = 1;

	pll.settings.damping = 0.1;
	t_ns = stream(FIRST_NS, 5 * MS, 1000) + 100000;
	for (unsigned int i = 0; i <= 200; i++) {
		arrive(t_ns + i * 5 * MS);
		least = fmin(least, pll.error_ns / 100000);
	}
	TEST_ASSERT_TRUE(least < -0.6);
}

TEST(it_unlocks_after_so_many_missing_and_locks_again)
{
	int64_t t_ns = stream(FIRST_NS, 5 * MS, 100);

	pass(t_ns + 19 * MS); /* four are missing */
	TEST_ASSERT_TRUE(pll.locked);
	arrive(t_ns + 20 * MS);
	TEST_ASSERT_TRUE(pll.locked);
	TEST_ASSERT_DOUBLE_WITHIN(2, 0, pll.error_ns);
	pass(t_ns + 46 * MS); /* the tick of the fifth */
	TEST_ASSERT_FALSE(pll.locked);
	TEST_ASSERT_EQUAL(1, pll.losses);
	TEST_ASSERT_EQUAL_DOUBLE(5 * MS, pll.period_ns);
	stream(t_ns + 1 * S, 5 * MS, 6);
	TEST_ASSERT_TRUE(pll.locked);
	TEST_ASSERT_EQUAL(2, pll.locks);
}

TEST(it_holds_after_one_and_a_half_periods)
{
	TEST_ASSERT_TRUE(jmc_pll_holds(&pll, 0));
	arrive(FIRST_NS);
	TEST_ASSERT_FALSE(jmc_pll_holds(&pll, FIRST_NS));
	TEST_ASSERT_FALSE(jmc_pll_holds(&pll, FIRST_NS + 7500000));
	TEST_ASSERT_TRUE(jmc_pll_holds(&pll, FIRST_NS + 7500001));
}

/* References by turns 50 us early and late: the loop averages, and the errors are what came. */
TEST(quality_is_the_error_since_it_settled)
{
	stream(FIRST_NS, 5 * MS, 100);
	TEST_ASSERT_EQUAL(0, pll.quality.n);
	TEST_ASSERT_EQUAL_DOUBLE(0, jmc_pll_mean_ns(&pll));
	TEST_ASSERT_EQUAL_DOUBLE(0, jmc_pll_rms_ns(&pll));
	setUp();
	for (unsigned int i = 0; i < 2000; i++)
		arrive(FIRST_NS + i * 5 * MS + (i % 2 ? 50000 : -50000));
	TEST_ASSERT_EQUAL(2000 - 205, pll.quality.n); /* locked with the sixth, settled 200 later */
	TEST_ASSERT_DOUBLE_WITHIN(500, 0, jmc_pll_mean_ns(&pll));
	TEST_ASSERT_DOUBLE_WITHIN(5000, 50000, jmc_pll_rms_ns(&pll));
	TEST_ASSERT_DOUBLE_WITHIN(10000, 55000, pll.quality.max_ns);
}

/* A reference that comes before its tick by nearly a period belongs to the tick before. */
TEST(the_error_is_to_the_nearest_tick)
{
	int64_t t_ns = stream(FIRST_NS, 5 * MS, 400);

	arrive(t_ns + 2 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(5, 2 * MS, pll.error_ns);
	setUp();
	t_ns = stream(FIRST_NS, 5 * MS, 400);
	arrive(t_ns - 2 * MS);
	TEST_ASSERT_DOUBLE_WITHIN(5, -2 * MS, pll.error_ns);
}

TEST(a_tick_is_never_in_the_past)
{
	pll.settings.bandwidth_hz = 20;
	pll.settings.damping = 10;
	pll.settings.sample = 0.5;
	stream(FIRST_NS, 5 * MS, 6);
	pll.locked = true;
	arrive(pll.tick_ns - 4 * MS); /* much too early: the correction is longer than the way to the tick */
	TEST_ASSERT_TRUE(pll.tick_ns > pll.last_ns);
}
