/* test_sim_jmc_path.c: set-points of a simulated Hubo board between references.  Also for jmc_path.c. */
#include "daemons/robotsim/jmc_path.h"
#include "test/lib/testcase.h"

static struct jmc_path path;

void setUp(void)
{
	memset(&path, 0, sizeof(path));
	jmc_path_start(&path, 0);
	jmc_path_tick(&path, 5);
}

/* A period of five sub-steps; the reference comes before sub-step when, 5: with the tick; -1: never. */
static void period(double reference, int when)
{
	for (int i = 0; i < 5; i++) {
		if (i == when)
			jmc_path_reference(&path, reference);
		jmc_path_step(&path, true);
	}
	if (when == 5)
		jmc_path_reference(&path, reference);
	jmc_path_tick(&path, 5);
}

TEST(a_reference_is_reached_one_period_later_in_equal_steps)
{
	static const double steps[] = { 20, 40, 60, 80, 100 };

	period(100, 5);
	TEST_ASSERT_EQUAL_DOUBLE(0, path.at);
	for (unsigned int i = 0; i < 5; i++) {
		jmc_path_step(&path, true);
		TEST_ASSERT_EQUAL_DOUBLE(steps[i], path.at);
	}
	jmc_path_step(&path, true);
	TEST_ASSERT_EQUAL_DOUBLE(100, path.at);
}

TEST(references_in_time_have_no_ripple)
{
	period(100, 5);
	for (int n = 2; n < 50; n++)
		period(100 * n + n * n, 5);
	TEST_ASSERT_EQUAL_DOUBLE(100 * 48 + 48 * 48, path.at);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, jmc_path_rms(&path));
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, path.max);
	TEST_ASSERT_EQUAL(50 * 5 - 5, path.steps);
	TEST_ASSERT_EQUAL(0, path.held);
}

/* Before its third sub-step: two steps are 0, the three others are 1/3 instead of 1/5. */
TEST(a_late_reference_is_reached_with_the_tick_and_ripples)
{
	period(100, 5);
	period(-1, -1); /* to 100; no reference with the tick */
	TEST_ASSERT_EQUAL_DOUBLE(100, path.at);
	TEST_ASSERT_EQUAL(1, path.held);
	path.squares = path.steps = 0;
	path.max = 0;
	period(160, 2);
	TEST_ASSERT_EQUAL_DOUBLE(160, path.at);
	TEST_ASSERT_EQUAL(2, path.held);
	/* steps 0 0 20 20 20; equal steps are 20 of the first reference, then 12 */
	TEST_ASSERT_EQUAL_DOUBLE(20, path.max);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, (2 * 400.0 + 3 * 64) / 5, jmc_path_rms(&path) * jmc_path_rms(&path));
}

TEST(without_a_reference_the_last_one_is_held)
{
	period(100, 5);
	for (int i = 0; i < 3; i++)
		period(0, -1);
	TEST_ASSERT_EQUAL_DOUBLE(100, path.at);
	TEST_ASSERT_EQUAL(3, path.held);
	/* after three periods without: 300 in one period, where 100 in each was meant */
	period(400, 5);
	TEST_ASSERT_EQUAL_DOUBLE(15, path.equal);
	period(500, 5);
	TEST_ASSERT_EQUAL_DOUBLE(400, path.at);
	TEST_ASSERT_EQUAL_DOUBLE(20, path.equal);
}

TEST(the_newer_of_two_references_in_a_period_wins)
{
	jmc_path_reference(&path, 50);
	period(100, 5);
	period(200, 5);
	TEST_ASSERT_EQUAL_DOUBLE(100, path.at);
}

TEST(an_early_tick_ends_the_way)
{
	period(100, 5);
	jmc_path_step(&path, true);
	jmc_path_reference(&path, 200);
	jmc_path_tick(&path, 5);
	TEST_ASSERT_EQUAL_DOUBLE(100, path.at);
	jmc_path_step(&path, true);
	TEST_ASSERT_EQUAL_DOUBLE(120, path.at);
}

TEST(what_is_not_measured_does_not_count)
{
	period(100, 5);
	path.steps = 0;
	jmc_path_step(&path, false);
	TEST_ASSERT_EQUAL(0, path.steps);
	TEST_ASSERT_EQUAL_DOUBLE(20, path.at);
	jmc_path_start(&path, 7);
	TEST_ASSERT_EQUAL_DOUBLE(0, jmc_path_rms(&(struct jmc_path){ 0 }));
	jmc_path_step(&path, false);
	TEST_ASSERT_EQUAL_DOUBLE(7, path.at);
	TEST_ASSERT_FALSE(path.fresh);
}
