/* test_sim_jmc_home.c: how a simulated Hubo board looks for the zero of a joint.
 *
 * Also for jmc_home.c.
 */
#include <math.h>

#include "daemons/robotsim/jmc_home.h"
#include "test/lib/testcase.h"

#define STEP_S 1e-3

/* A joint that follows at once; its switch is closed from 1000 on, in the search direction, its index at 900. */
static struct jmc_home home;
static double counts;

static void run(enum jmc_home_mode mode, int direction, double from, double search)
{
	const struct jmc_home_order order = { mode, direction, direction * -900.0, search, 10000, 5000 };
	struct jmc_home_sense sense = { .counts = from, .closed = direction * from >= 1000, .step_s = STEP_S };

	counts = from;
	jmc_home_start(&home, &order, counts);
	for (unsigned int i = 0; i < 10000 && jmc_home_runs(&home); i++) {
		const double velocity = jmc_home_step(&home, &sense), before = counts;

		TEST_ASSERT_TRUE(fabs(velocity) <= 10000);
		counts += velocity * STEP_S;
		sense.stalled = direction * counts >= 1500;
		if (sense.stalled)
			counts = direction * 1500;
		sense.counts = counts;
		sense.closed = direction * counts >= 1000;
		sense.index = (before - direction * 900) * (counts - direction * 900) <= 0;
		sense.index_counts = direction * 900;
	}
	TEST_ASSERT_EQUAL_DOUBLE(0, jmc_home_step(&home, &sense));
}

TEST(each_mode_finds_its_place_from_either_side)
{
	static const struct {
		enum jmc_home_mode mode;
		double from, zero;
	} cases[] = {
		{ JMC_HOME_BY_INDEX, 0, 0 },	{ JMC_HOME_BY_INDEX, 1400, 0 },	   { JMC_HOME_BY_INDEX, 950, 0 },
		{ JMC_HOME_BY_SWITCH, 0, 100 }, { JMC_HOME_BY_SWITCH, 1400, 100 }, { JMC_HOME_BY_JAM, 0, 600 },
		{ JMC_HOME_BY_JAM, 1400, 600 },
	};

	for (int direction = -1; direction <= 1; direction += 2)
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
			run(cases[i].mode, direction, direction * cases[i].from, 3000);
			TEST_ASSERT_EQUAL(JMC_HOME_DONE, home.phase);
			/* a switch is seen within a step */
			TEST_ASSERT_DOUBLE_WITHIN(11, direction * cases[i].zero, home.zero);
			TEST_ASSERT_DOUBLE_WITHIN(0.5, home.zero, counts);
		}
}

TEST(a_search_that_is_too_long_fails)
{
	run(JMC_HOME_BY_INDEX, 1, 0, 900);
	TEST_ASSERT_EQUAL(JMC_HOME_FAILED, home.phase);
	TEST_ASSERT_DOUBLE_WITHIN(11, 900, counts);
	run(JMC_HOME_BY_INDEX, 1, 1400, 300); /* back off the switch, too */
	TEST_ASSERT_EQUAL(JMC_HOME_FAILED, home.phase);
	TEST_ASSERT_DOUBLE_WITHIN(11, 1100, counts);
}

TEST(it_does_nothing_unless_it_was_started)
{
	struct jmc_home idle = { 0 };

	TEST_ASSERT_FALSE(jmc_home_runs(&idle));
	TEST_ASSERT_EQUAL_DOUBLE(0, jmc_home_step(&idle, &(struct jmc_home_sense){ .step_s = STEP_S }));
}
