/* test_relay.c: clocks and times of another machine, and the message of the ROS graph. */
#include "test/lib/testcase.h"

#include "launch/achdds/relay_clock.h"
#include "launch/achdds/relay_stamp.h"
#include "launch/achdds/ros_graph.h"
#include "test/lib/lib.h"

/* ---- clocks ---- */

/* Whatever both ways take, the true offset is within the uncertainty, also while the clocks drift. */
TEST(the_offset_is_within_its_uncertainty)
{
	uint64_t seed = 1;

	for (int run = 0; run < 200; run++) {
		const int64_t start_ns = (int64_t)(lib_random(&seed) % 4000000000000) - 2000000000000;
		const double drift = ((double)(lib_random(&seed) % 400) - 200) * 1e-6;
		struct relay_clock clock = { 0 };
		int64_t now_ns = 10000000000000, offset_ns, error_ns, best_ns = INT64_MAX;

		for (int i = 0; i < 100; i++) {
			const int64_t there = (int64_t)(lib_random(&seed) % 40000000),
				      inside = (int64_t)(lib_random(&seed) % 1000000);
			const int64_t back = (int64_t)(lib_random(&seed) % 40000000);
			int64_t t[4] = { now_ns, now_ns + there, now_ns + there + inside,
					 now_ns + there + inside + back };

			for (int k = 1; k < 3; k++)
				t[k] += start_ns + (int64_t)((double)(t[k] - 10000000000000) * drift);
			now_ns = t[3];
			TEST_ASSERT_TRUE(relay_clock_add(&clock, t[0], t[1], t[2], t[3]));
			now_ns += (int64_t)(lib_random(&seed) % 1000000000);
			TEST_ASSERT_TRUE(relay_clock_offset(&clock, now_ns, &offset_ns, &error_ns));
			best_ns = there + back < best_ns ? there + back : best_ns;
			const int64_t true_ns = start_ns + (int64_t)((double)(now_ns - 10000000000000) * drift);

			TEST_ASSERT_TRUE(llabs(true_ns - offset_ns) <= error_ns + 2);
			TEST_ASSERT_TRUE(error_ns >= best_ns / 2);
			TEST_ASSERT_TRUE(error_ns < 45000000);
		}
	}
}

TEST(the_fastest_answer_counts_until_it_is_old)
{
	struct relay_clock clock = { 0 };
	int64_t offset_ns, error_ns;

	TEST_ASSERT_FALSE(relay_clock_offset(&clock, 0, &offset_ns, &error_ns));
	TEST_ASSERT_TRUE(relay_clock_add(&clock, 1000, 6500, 6500, 2000)); /* 5000 ahead, both ways 1000 */
	TEST_ASSERT_TRUE(relay_clock_add(&clock, 3000, 12000, 12000, 11000));
	TEST_ASSERT_TRUE(relay_clock_offset(&clock, 11000, &offset_ns, &error_ns));
	TEST_ASSERT_EQUAL_INT64(5000, offset_ns);
	TEST_ASSERT_EQUAL_INT64(503, error_ns); /* 1000 / 2 + 1, and 10000 of drift */
	for (int i = 0; i < RELAY_CLOCK_KEPT; i++)
		TEST_ASSERT_TRUE(relay_clock_add(&clock, 20000, 27000, 27000, 24000));
	TEST_ASSERT_TRUE(relay_clock_offset(&clock, 24000, &offset_ns, &error_ns));
	TEST_ASSERT_EQUAL_INT64(5000, offset_ns);
	TEST_ASSERT_EQUAL_INT64(2001, error_ns);
}

TEST(times_that_cannot_be_are_refused)
{
	static const int64_t rows[][4] = { { 1000, 1500, 1500, 900 },	   { 1000, 2000, 1000, 3000 },
					   { 1000, 0, 5000, 2000 },	   { -1, 0, 0, 1 },
					   { 0, INT64_MAX, INT64_MAX, 1 }, { 0, INT64_MIN, INT64_MAX, 1 },
					   { 0, 0, 0, INT64_MAX } };
	struct relay_clock clock = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		TEST_ASSERT_FALSE(relay_clock_add(&clock, rows[i][0], rows[i][1], rows[i][2], rows[i][3]));
	TEST_ASSERT_EQUAL(0, clock.n);
}

/* ---- times in messages ---- */

static bool is_duration(const char *name)
{
	return !strcmp(name, "period_ns") || !strcmp(name, "age_ns") || !strcmp(name, "valid_max_ns") ||
	       !strncmp(name, "late_", 5);
}

/* A new field has to be a time in relay_stamp.c, or a duration here. */
TEST(every_field_in_ns_is_a_time_or_a_duration)
{
	for (size_t i = 0; i < msg_structs_n; i++)
		for (size_t k = 0; k < msg_structs[i].group->n; k++) {
			const struct msg_field *f = &msg_structs[i].group->fields[k];

			if (!strcmp(f->unit, "ns"))
				TEST_ASSERT_TRUE_MESSAGE(relay_stamp_is_time(f) != is_duration(f->name), f->name);
		}
}

TEST(times_are_shifted_and_durations_are_not)
{
	const struct msg_type *type = msg_type_by_number(msg_joint_state_number);
	struct msg_joint_state s;

	msg_init(&s, type);
	s.header.t_sample_ns = 1000;
	s.header.t_publish_ns = 2000;
	s.common.period_ns = 5000;
	s.common.bus[1].last_received_ns = 900;
	s.age_ns[3] = 77;
	s.common.bus[7].stalled_since_ns = INT64_MAX;
	relay_stamp_shift(type, &s, -300, 1);
	TEST_ASSERT_EQUAL_INT64(700, s.header.t_sample_ns);
	TEST_ASSERT_EQUAL_INT64(1700, s.header.t_publish_ns);
	TEST_ASSERT_EQUAL_INT64(0, s.header.valid_until_ns);
	TEST_ASSERT_EQUAL_INT64(5000, s.common.period_ns);
	TEST_ASSERT_EQUAL_INT64(600, s.common.bus[1].last_received_ns);
	TEST_ASSERT_EQUAL_INT64(77, s.age_ns[3]);
	relay_stamp_shift(type, &s, INT64_MAX, 1);
	TEST_ASSERT_EQUAL_INT64(700, s.header.t_sample_ns); /* no such time */
}

/* Rounded up, added up by each relay, and at most what there is room for. */
TEST(a_message_says_how_uncertain_its_times_are)
{
	static const struct {
		int64_t error_ns;
		unsigned int before_us, after_us;
	} rows[] = { { 1, 0, 1 },	  { 1000, 0, 1 },	  { 1001, 0, 2 },
		     { 250000, 40, 290 }, { 65534000, 0, 65534 }, { 65534001, 0, 65535 },
		     { 1, 65535, 65535 }, { INT64_MAX, 1, 65535 } };
	const struct msg_type *type = msg_type_by_number(msg_clock_number);
	struct msg_clock c;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		msg_init(&c, type);
		c.header.uncertainty_us = (uint16_t)rows[i].before_us;
		relay_stamp_shift(type, &c, 5, rows[i].error_ns);
		TEST_ASSERT_EQUAL_UINT(rows[i].after_us, c.header.uncertainty_us);
		TEST_ASSERT_EQUAL(MSG_FINE, msg_check(&c, sizeof(c), type, NULL));
	}
}

/* ---- the graph ---- */

TEST(the_graph_is_that_of_rmw_dds_common)
{
	static const uint8_t expected[] = {
		0, 1, 0, 0,					      /* little endian */
		1, 0, 0, 0, 0,	 0,   0,   0, 0, 0, 0, 0, 0, 0, 0, 2, /* participant */
		1, 0, 0, 0,					      /* nodes */
		2, 0, 0, 0, '/', 0,   0,   0,			      /* namespace */
		4, 0, 0, 0, 'e', 'a', 'r', 0,			      /* name */
		0, 0, 0, 0,					      /* readers */
		2, 0, 0, 0,					      /* writers */
		3, 0, 0, 0, 0,	 0,   0,   0, 0, 0, 0, 0, 0, 0, 0, 4, /* gid */
		5, 0, 0, 0, 0,	 0,   0,   0, 0, 0, 0, 0, 0, 0, 0, 6,
	};
	static struct ros_graph graph = { .participant = { [0] = 1, [15] = 2 },
					  .space = "/",
					  .name = "ear",
					  .writers_n = 2,
					  .writers = { { [0] = 3, [15] = 4 }, { [0] = 5, [15] = 6 } } };
	uint8_t cdr[200];

	TEST_ASSERT_EQUAL(sizeof(expected), ros_graph_write(&graph, cdr, sizeof(cdr)));
	TEST_ASSERT_EQUAL_MEMORY(expected, cdr, sizeof(expected));
	TEST_ASSERT_EQUAL(0, ros_graph_write(&graph, cdr, sizeof(expected) - 1));
}
