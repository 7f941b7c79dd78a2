/* test_response.c: bounds of response times: published examples, queues, answers. */
#include <stdlib.h>

#include "test/lib/testcase.h"

#include "can/load/response.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
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

/* In microseconds, or in the unit given. */
static void expect(const struct row *rows, size_t n, int64_t unit_ns)
{
	struct response_frame *frames = calloc(n, sizeof(*frames)); /* no more, which a sanitizer sees */

	for (size_t i = 0; i < n; i++)
		frames[i] = (struct response_frame){ .order = rows[i].order,
						     .sender = rows[i].sender,
						     .time_ns = rows[i].time_us * unit_ns,
						     .period_ns = rows[i].period_us * unit_ns,
						     .jitter_ns = rows[i].jitter_us * unit_ns,
						     .burst = rows[i].burst,
						     .cause = rows[i].cause,
						     .delay_ns = rows[i].delay_us * unit_ns,
						     .response_ns = 1, /* of before */
						     .instance = 77 };
	response_solve(frames, n, BIT);
	for (size_t i = 0; i < n; i++) {
		char message[32];

		snprintf(message, sizeof(message), "row %zu", i);
		if (!rows[i].period_us)
			continue;
		TEST_ASSERT_EQUAL_INT64_MESSAGE(rows[i].response_us < 0 ? RESPONSE_NEVER
									: rows[i].response_us * unit_ns,
						frames[i].response_ns, message);
		TEST_ASSERT_EQUAL_UINT_MESSAGE(rows[i].instance, frames[i].instance, message);
	}
	free(frames);
}
#define EXPECT(rows) expect(rows, sizeof(rows) / sizeof(rows[0]), US)
#define EXPECT_NS(rows) expect(rows, sizeof(rows) / sizeof(rows[0]), 1)

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

TEST(the_last_frame_of_a_burst_counts)
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

TEST(a_bus_that_is_exactly_full_has_no_bound_even_if_nothing_blocks)
{
	static const struct row rows[] = {
		{ 1, ALONE, 500, 1000, .cause = -1, .response_us = 1000 },
		{ 2, ALONE, 500, 1000, .cause = -1, .response_us = -1 },
	};
	static const struct row bursts[] = {
		{ 1, ALONE, 100, 1000, .burst = 5, .cause = -1, .response_us = 1000 },
		{ 2, ALONE, 500, 1000, .cause = -1, .response_us = -1 },
	};

	static const struct row almost[] = { { 1, ALONE, 999999, 1000000, .cause = -1, .response_us = 999999 } };

	EXPECT(rows);
	EXPECT(bursts);
	EXPECT_NS(almost);
}

TEST(frames_of_equal_priority_precede_each_other)
{
	static const struct row rows[] = {
		{ 1, ALONE, 100, 1000, .cause = -1, .response_us = 200 },
		{ 1, ALONE, 100, 1000, .cause = -1, .response_us = 200 },
	};

	EXPECT(rows);
}

/* The second release of the first frame comes one bit too late to win: 101 + 899 is its period. */
TEST(a_release_counts_from_the_bit_on_in_which_it_wins)
{
	static const struct row rows[] = {
		{ 1, ALONE, 100, 1000, .jitter_us = 899, .cause = -1, .response_us = 899 + 100 + 100 },
		{ 2, ALONE, 100, 10000, .cause = -1, .response_us = 100 + 100 },
	};

	EXPECT_NS(rows);
}

#define S INT64_C(1000000000)

TEST(a_busy_period_of_more_than_ten_seconds_does_not_end)
{
	static const struct row within[] = {
		{ 1, ALONE, 1, 20 * S, .cause = -1, .response_us = 10 * S },
		{ 2, ALONE, 10 * S - 1, 20 * S, .cause = -1, .response_us = 10 * S },
	};
	static const struct row beyond[] = {
		{ 1, ALONE, 1, 20 * S, .cause = -1, .response_us = -1 },
		{ 2, ALONE, 10 * S, 20 * S, .cause = -1, .response_us = -1 },
	};

	EXPECT_NS(within);
	EXPECT_NS(beyond);
}

/* ---- a queue ---- */

/* The urgent frame 1 waits behind frame 8 of its own queue, and frame 8 for 2 and 3 of others, but not for 9, which may
 * be on the wire already. */
TEST(an_urgent_frame_waits_for_all_above_the_least_urgent_of_its_queue)
{
	static const struct row rows[] = {
		{ 8, 0, 100, 10000, .cause = -1, .response_us = 400 + 100 + 200 + 300 + 100 },
		{ 1, 0, 100, 10000, .cause = -1, .response_us = 400 + 100 + 200 + 300 + 100 },
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

TEST(the_jitter_of_a_queue_is_its_time_before_the_frame_starts)
{
	static const struct row rows[] = {
		{ 1, 0, 100, 1000, .cause = -1, .response_us = 800 + 100 },
		/* Up to 800 us late, frame 1 comes once within 100 us. */
		{ 9, ALONE, 800, 10000, .cause = -1, .response_us = 100 + 800 },
	};

	EXPECT(rows);
}

/* Each pass finds the bound of one more queue; those of four queues are not found in three. */
TEST(queues_wait_for_the_bounds_of_queues_above_them)
{
	static const struct row rows[] = {
		{ 40, 3, 100, 10000, .cause = -1, .response_us = -1 },
		{ 30, 2, 100, 10000, .cause = -1, .response_us = 400 },
		{ 20, 1, 100, 10000, .cause = -1, .response_us = 300 },
		{ 10, 0, 100, 10000, .cause = -1, .response_us = 200 },
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

TEST(an_answer_may_stand_before_its_request_and_have_its_priority)
{
	static const struct row rows[] = {
		{ 5, ALONE, 200, 5000, .cause = 1, .delay_us = 300, .response_us = 100 + 200 },
		{ 5, 0, 100, 5000, .cause = -1, .response_us = 2 * 200 + 100 },
	};

	EXPECT(rows);
}

/* The answer comes up to 300 + 600 us after the release of its request. */
TEST(the_time_of_a_request_is_jitter_of_its_answer)
{
	static const struct row rows[] = {
		{ 5, ALONE, 100, 1000, .cause = -1, .response_us = 200 + 100 },
		{ 7, ALONE, 200, 1000, .cause = 0, .delay_us = 600, .response_us = 500, .instance = 1 },
		{ 9, ALONE, 100, 10000, .cause = -1, .response_us = 100 + 2 * 200 + 100 },
	};

	EXPECT(rows);
}

/* 3 owed and 2 of the busy period: (200 + 1050) / 600 are 3 under way.  2 owed would agree with themselves, too: the
 * larger bound holds. */
TEST(the_larger_of_two_bounds_that_agree_with_themselves_is_taken)
{
	static const struct row rows[] = {
		{ 5, 0, 50, 600, .cause = -1, .response_us = (3 + 2) * 200 + 50 },
		{ 1, ALONE, 200, 600, .cause = 0, .delay_us = 200, .response_us = 650, .instance = 2 },
	};

	EXPECT(rows);
}

/* In a pass before the last the request takes 500 us: 500 + 500 are exactly two periods. */
TEST(answers_under_way_are_counted_by_whole_periods)
{
	static const struct row rows[] = {
		{ 5, 0, 100, 500, .cause = -1, .response_us = 2 * 100 + 100 + 100 },
		{ 1, ALONE, 100, 500, .cause = 0, .delay_us = 500, .response_us = 300, .instance = 1 },
	};

	EXPECT(rows);
}
