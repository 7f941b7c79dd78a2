/* test_pciod_home.c: modules that are homed one after the other: which, how long, and what ends it. */
#include "test/lib/testcase.h"

#include "daemons/pcio/pciod_home.h"

static struct pciod_home home;
static struct drv_orders orders;
static const char *why;

void setUp(void)
{
	orders = (struct drv_orders){ .armed = true, .level = MSG_LEVEL_RUN, .dt_s = 0.25 };
	why = "";
}

static void begin(uint64_t joints)
{
	home = (struct pciod_home){ .handle = 17, .left = joints };
	TEST_ASSERT_TRUE(pciod_home_next(&home));
}

TEST(joints_have_their_turn_in_their_order)
{
	begin(UINT64_C(1) << 47 | 1 << 5 | 1 << 2);
	TEST_ASSERT_EQUAL(2, home.at);
	TEST_ASSERT_TRUE(pciod_home_next(&home));
	TEST_ASSERT_EQUAL(5, home.at);
	TEST_ASSERT_TRUE(pciod_home_next(&home));
	TEST_ASSERT_EQUAL(47, home.at);
	TEST_ASSERT_FALSE(pciod_home_next(&home));
	TEST_ASSERT_EQUAL(17, home.handle); /* for the answer */
}

TEST(what_ends_it)
{
	static const struct {
		const char *name;
		bool armed;
		enum msg_level level;
		struct pciod_home_how how;
		int result;
		const char *why;
	} rows[] = {
		{ "runs", true, MSG_LEVEL_RUN, { 0 }, DRV_LATER, "" },
		{ "done", true, MSG_LEVEL_RUN, { .done = true }, 0, "" },
		{ "the driver stops",
		  true,
		  MSG_LEVEL_RUN,
		  { .stopping = true, .done = true },
		  -ECANCELED,
		  "the driver was asked to stop" },
		{ "hold", true, MSG_LEVEL_HOLD, { .done = true }, -ECANCELED, "level hold" },
		{ "estop", false, MSG_LEVEL_ESTOP, { 0 }, -ECANCELED, "level estop" },
		{ "disarmed", false, MSG_LEVEL_RUN, { 0 }, -ECANCELED, "level estop" },
		{ "stops, before the level",
		  false,
		  MSG_LEVEL_HOLD,
		  { .stopping = true, .trouble = "hot" },
		  -ECANCELED,
		  "the driver was asked to stop" },
		{ "the level, before the trouble",
		  false,
		  MSG_LEVEL_HOLD,
		  { .trouble = "hot" },
		  -ECANCELED,
		  "level hold" },
		{ "fails", true, MSG_LEVEL_RUN, { .trouble = "hot" }, -EIO, "hot" },
		{ "fails, though done", true, MSG_LEVEL_RUN, { .trouble = "hot", .done = true }, -EIO, "hot" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		setUp();
		orders.armed = rows[i].armed;
		orders.level = rows[i].level;
		begin(1);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].result, pciod_home_step(&home, &orders, &rows[i].how, &why),
					  rows[i].name);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(rows[i].why, why, rows[i].name);
	}
}

/* Each joint has the time, whatever the ones before took. */
TEST(a_joint_that_takes_too_long_ends_it)
{
	const struct pciod_home_how runs = { 0 };

	begin(3);
	for (unsigned int joint = 0; joint < 2; joint++) {
		TEST_ASSERT_EQUAL(joint, home.at);
		for (unsigned int i = 0; i < 4 * PCIOD_HOME_S; i++)
			TEST_ASSERT_EQUAL(DRV_LATER, pciod_home_step(&home, &orders, &runs, &why));
		TEST_ASSERT_EQUAL(!joint, home.left != 0);
		if (!joint)
			pciod_home_next(&home);
	}
	TEST_ASSERT_EQUAL(-ETIMEDOUT, pciod_home_step(&home, &orders, &runs, &why));
	TEST_ASSERT_EQUAL_STRING("it takes longer than a minute", why);
}
