/* test_drv_job.c: requests that move one joint after the other: which, how long, and what ends them. */
#include "test/lib/testcase.h"

#include "daemons/drv/drv_job.h"

static struct drv_job job;
static struct drv_orders orders;
static const char *why;

void setUp(void)
{
	orders = (struct drv_orders){ .armed = true, .level = MSG_LEVEL_RUN, .dt_s = 0.25 };
	why = "";
}

TEST(the_key_names_a_joint_or_all)
{
	static const struct {
		char name[8];
		int other;
	} joints[] = { { "4", 0 }, { "5", 0 }, { "14", 0 } };
	static const struct {
		const char *key;
		unsigned int n;
		uint64_t joints;
	} rows[] = { { "", 3, 7 }, { "5", 3, 2 }, { "14", 3, 4 }, { "1", 3, 0 }, { "14", 2, 0 }, { "", 0, 0 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		TEST_ASSERT_EQUAL_HEX64_MESSAGE(
			rows[i].joints, drv_job_joints(rows[i].key, joints[0].name, sizeof(joints[0]), rows[i].n),
			rows[i].key);
}

TEST(joints_have_their_turn_in_their_order)
{
	drv_job_begin(&job, 17, UINT64_C(1) << 47 | 1 << 5 | 1 << 2, 1);
	TEST_ASSERT_TRUE(job.on);
	TEST_ASSERT_EQUAL(17, job.handle);
	TEST_ASSERT_EQUAL(2, job.at);
	TEST_ASSERT_TRUE(drv_job_next(&job));
	TEST_ASSERT_EQUAL(5, job.at);
	TEST_ASSERT_TRUE(drv_job_next(&job));
	TEST_ASSERT_EQUAL(47, job.at);
	TEST_ASSERT_TRUE(job.on);
	TEST_ASSERT_FALSE(drv_job_next(&job));
	TEST_ASSERT_FALSE(job.on);
	TEST_ASSERT_EQUAL(17, job.handle); /* for the answer */
}

TEST(what_ends_it)
{
	static const struct {
		const char *name;
		bool armed;
		enum msg_level level;
		struct drv_job_how how;
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
		drv_job_begin(&job, 17, 1, 1);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].result, drv_job_step(&job, &orders, &rows[i].how, &why),
					  rows[i].name);
		TEST_ASSERT_EQUAL_STRING_MESSAGE(rows[i].why, why, rows[i].name);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].result >= 0, job.on, rows[i].name);
	}
}

/* Each joint has the time, whatever the ones before took. */
TEST(a_joint_that_takes_too_long_ends_it)
{
	const struct drv_job_how runs = { 0 };

	drv_job_begin(&job, 17, 3, 1);
	for (unsigned int joint = 0; joint < 2; joint++) {
		TEST_ASSERT_EQUAL(joint, job.at);
		for (unsigned int i = 0; i < 4; i++)
			TEST_ASSERT_EQUAL(DRV_LATER, drv_job_step(&job, &orders, &runs, &why));
		TEST_ASSERT_EQUAL(!joint, job.left != 0);
		if (!joint)
			drv_job_next(&job);
	}
	TEST_ASSERT_EQUAL(-ETIMEDOUT, drv_job_step(&job, &orders, &runs, &why));
	TEST_ASSERT_EQUAL_STRING("it takes too long", why);
}
