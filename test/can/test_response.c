/* test_response.c: bounds of response times: published examples, queues, answers. */
#include "test/channels/testcase.h"

#include "can/response.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define FRAMES_MAX 8
#define BIT 1 /* short against all times here, so that only ties are decided by it */

struct row {
	uint32_t order;
	int sender;
	int64_t time_us, period_us, jitter_us;
	unsigned int burst;
	int cause;
	int64_t delay_us;
	int64_t response_us; /* expected; 0: no bound is computed, -1: RESPONSE_NEVER */
	unsigned int instance;
};

#define ALONE RESPONSE_ALONE

static void expect(const struct row *rows, size_t n)
{
	struct response_frame frames[FRAMES_MAX];

	for (size_t i = 0; i < n; i++)
		frames[i] = (struct response_frame){ .order = rows[i].order,
						     .sender = rows[i].sender,
						     .time_ns = rows[i].time_us * US,
						     .period_ns = rows[i].period_us * US,
						     .jitter_ns = rows[i].jitter_us * US,
						     .burst = rows[i].burst,
						     .cause = rows[i].cause,
						     .delay_ns = rows[i].delay_us * US };
	response_solve(frames, n, BIT);
	for (size_t i = 0; i < n; i++) {
		char message[32];

		snprintf(message, sizeof(message), "row %zu", i);
		if (!rows[i].period_us)
			continue;
		TEST_ASSERT_EQUAL_INT64_MESSAGE(rows[i].response_us < 0 ? RESPONSE_NEVER : rows[i].response_us * US,
						frames[i].response_ns, message);
		TEST_ASSERT_EQUAL_UINT_MESSAGE(rows[i].instance, frames[i].instance, message);
	}
}
#define EXPECT(rows) expect(rows, sizeof(rows) / sizeof(rows[0]))

/* ---- mailboxes ---- */

/* Davis, Burns, Bril, Lukkien 2007, section 3.1: the first instance of the last message takes 3 ms, its second 3.5. */
TEST(the_second_instance_of_a_busy_period_may_be_the_worst)
{
	static const struct row rows[] = {
		{ 1, ALONE, 1000, 2500, .cause = -1, .response_us = 2000 },
		{ 2, ALONE, 1000, 3500, .cause = -1, .response_us = 3000 },
		{ 3, ALONE, 1000, 3500, .cause = -1, .response_us = 3500, .instance = 1 },
	};

	EXPECT(rows);
}

/* The same with a deadline of 3.25 ms for the last: the older analysis called this schedulable. */
TEST(a_slightly_longer_period_brings_the_first_instance_back)
{
	static const struct row rows[] = {
		{ 1, ALONE, 1000, 3000, .cause = -1, .response_us = 2000 },
		{ 2, ALONE, 1000, 4000, .cause = -1, .response_us = 3000 },
		{ 3, ALONE, 1000, 4000, .cause = -1, .response_us = 3000 },
	};

	EXPECT(rows);
}

TEST(the_order_of_rows_does_not_matter)
{
	static const struct row rows[] = {
		{ 3, ALONE, 1000, 3500, .cause = -1, .response_us = 3500, .instance = 1 },
		{ 1, ALONE, 1000, 2500, .cause = -1, .response_us = 2000 },
		{ 2, ALONE, 1000, 3500, .cause = -1, .response_us = 3000 },
	};

	EXPECT(rows);
}

TEST(a_longer_frame_of_lower_priority_blocks_once)
{
	static const struct row rows[] = {
		{ 1, ALONE, 100, 1000, .cause = -1, .response_us = 270 + 100 },
		{ 2, ALONE, 50, 1000, .cause = -1, .response_us = 270 + 100 + 50 },
		{ 9, ALONE, 270, 10000, .cause = -1, .response_us = 100 + 50 + 270 },
	};

	EXPECT(rows);
}

TEST(a_frame_without_a_period_blocks_and_has_no_bound)
{
	static const struct row rows[] = {
		{ 1, ALONE, 100, 1000, .cause = -1, .response_us = 135 + 100 },
		{ 2, ALONE, 135, 0, .cause = -1 },
		{ 3, ALONE, 100, 1000, .cause = -1, .response_us = 135 + 100 + 100 }, /* also those below it */
	};

	EXPECT(rows);
}

TEST(jitter_counts_for_the_frame_and_against_others)
{
	static const struct row rows[] = {
		{ 1, ALONE, 100, 1000, .jitter_us = 900, .cause = -1, .response_us = 900 + 100 + 100 },
		/* Two of the first can come within 100 us. */
		{ 2, ALONE, 100, 5000, .cause = -1, .response_us = 200 + 100 },
	};

	EXPECT(rows);
}

TEST(of_a_burst_the_last_frame_counts)
{
	static const struct row rows[] = {
		{ 1, ALONE, 100, 5000, .burst = 3, .cause = -1, .response_us = 100 + 3 * 100 },
		{ 2, ALONE, 100, 5000, .cause = -1, .response_us = 3 * 100 + 100 },
	};

	EXPECT(rows);
}

TEST(a_full_bus_has_no_bound_for_those_below)
{
	static const struct row rows[] = {
		{ 1, ALONE, 500, 1000, .cause = -1, .response_us = 1000 },
		{ 2, ALONE, 500, 1000, .cause = -1,
		  .response_us = -1 }, /* exactly full, and blocked from time to time */
		{ 3, ALONE, 500, 1000, .cause = -1, .response_us = -1 },
	};

	EXPECT(rows);
}

/* ---- a queue ---- */

/* The urgent frame 1 waits behind frame 8 of its own queue, and frame 8 for 2 and 3 of others, but not for 9, which may
 * be on the wire already. */
TEST(an_urgent_frame_waits_for_all_above_the_least_urgent_of_its_queue)
{
	static const struct row rows[] = {
		{ 1, 0, 100, 10000, .cause = -1, .response_us = 400 + 100 + 200 + 300 + 100 },
		{ 8, 0, 100, 10000, .cause = -1, .response_us = 400 + 100 + 200 + 300 + 100 },
		/* For these frame 1 comes up to 1000 us late, but not twice. */
		{ 2, ALONE, 200, 10000, .cause = -1, .response_us = 400 + 100 + 200 },
		{ 3, ALONE, 300, 10000, .cause = -1, .response_us = 400 + 100 + 200 + 300 },
		{ 9, ALONE, 400, 10000, .cause = -1, .response_us = 100 + 100 + 200 + 300 + 400 },
	};

	EXPECT(rows);
}

TEST(the_time_in_a_queue_is_jitter_for_others)
{
	static const struct row rows[] = {
		/* Up to 100 + 800 us behind frame 8 of its queue and frame 2, which has a period of 1000. */
		{ 1, 0, 50, 1000, .cause = -1, .response_us = 50 + 400 + 100 + 400 },
		{ 8, 0, 400, 10000, .cause = -1, .response_us = 50 + 400 + 100 + 400 },
		/* So two of frame 1 may come within 150 us. */
		{ 2, ALONE, 100, 10000, .cause = -1, .response_us = 400 + 2 * 50 + 100 },
		{ 9, ALONE, 400, 10000, .cause = -1, .response_us = 2 * 50 + 400 + 100 + 400 },
	};

	EXPECT(rows);
}

/* ---- answers ---- */

TEST(an_answer_follows_its_request)
{
	static const struct row rows[] = {
		/* The request waits for the answer to an earlier one, at most one. */
		{ 5, 0, 100, 5000, .cause = -1, .response_us = 2 * 200 + 100 },
		/* The answer, from when it is ready, for a request. */
		{ 1, ALONE, 200, 5000, .cause = 0, .delay_us = 300, .response_us = 100 + 200 },
	};

	EXPECT(rows);
}

TEST(as_many_answers_are_owed_as_the_wire_carried_requests)
{
	/* Sixteen requests: within 300 us four of them can end, so besides the sixteen answers to those of this tick
	 * there are four. */
	static const struct row rows[] = {
		{ 5, 0, 100, 50000, .burst = 16, .cause = -1, .response_us = 16 * 100 + 16 * 200 + 4 * 200 },
		{ 1, ALONE, 200, 50000, .burst = 16, .cause = 0, .delay_us = 300, .response_us = 100 + 16 * 200 },
	};

	EXPECT(rows);
}
