/* test_refmux.c: which source's reference counts. */
#include <math.h>

#include "channels/msg/msg.h"
#include "daemons/drv/drv_ref.h"
#include "daemons/drv/refmux.h"
#include "test/lib/testcase.h"

#define MS INT64_C(1000000)
#define NOW (1000 * MS)
#define TICK MS
#define NO MSG_MODE_NONE
#define POS MSG_MODE_POSITION
#define VEL MSG_MODE_VELOCITY

static struct refmux mux;
static union refmux_ref out;

void setUp(void)
{
	memset(&mux, 0, sizeof(mux));
	memset(&out, 0xee, sizeof(out));
	mux.by_joint = true;
	TEST_ASSERT_NULL(refmux_sources(&mux, "joy:50ms,control,play"));
	refmux_output(&mux, 1, 2);
	/* One that is not among them. */
	mux.sources[3].there = true;
	mux.sources[3].ref.joints.mode[0] = mux.sources[3].ref.joints.mode[1] = POS;
	mux.sources[3].ref.header.valid_until_ns = INT64_MAX;
}

/* Of source n, for two joints, valid until NOW + ms; its position is n + 1. */
static void take(unsigned int n, enum msg_mode a, enum msg_mode b, double ms)
{
	union refmux_ref ref = { .joints = { .count = 2, .mode = { a, b, POS }, .position = { n + 1, n + 1 } } };

	ref.joints.velocity[0] = ref.joints.current[0] = n + 11;
	ref.header.valid_until_ns = NOW + (int64_t)(ms * (double)MS);
	refmux_take(&mux, n, &ref, NOW);
}

static bool choose(double at_ms)
{
	return refmux_choose(&mux, &out, NOW + (int64_t)(at_ms * (double)MS), TICK);
}

/* ---- joints ---- */

TEST(the_first_source_that_asks_for_a_joint_moves_it)
{
	static const struct {
		const char *name;
		struct {
			enum msg_mode a, b;
			double ms; /* 0: none came */
		} sources[3];
		double at_ms;
		int a, b, in_charge;
		double until_ms; /* NaN: nothing to put */
	} cases[] = {
		{ "nothing came", { { NO, NO, 0 } }, 0, -1, -1, -1, NAN },
		{ "one alone", { { NO, NO, 0 }, { POS, POS, 20 } }, 0, 1, 1, 1, 20 },
		{ "by priority", { { POS, POS, 10 }, { POS, POS, 20 }, { POS, POS, 30 } }, 0, 0, 0, 0, 10 },
		{ "mode none leaves it to the next", { { NO, POS, 10 }, { POS, POS, 20 } }, 0, 1, 0, 0, 10 },
		{ "the shorter validity counts", { { NO, POS, 30 }, { POS, POS, 20 } }, 0, 1, 0, 0, 20 },
		{ "a joint that no source asks for", { { NO, NO, 0 }, { VEL, NO, 20 } }, 0, 1, -1, 1, 20 },
		{ "asking for nothing is a reference, too", { { NO, NO, 10 }, { NO, NO, 5 } }, 0, -1, -1, -1, 10 },
		{ "of a later source, too", { { NO, NO, 0 }, { NO, NO, 5 } }, 5, -1, -1, -1, 5 },
		{ "valid until its end, inclusive", { { NO, NO, 0 }, { POS, POS, 20 } }, 20, 1, 1, 1, 20 },
		{ "and no longer", { { NO, NO, 0 }, { POS, POS, 20 } }, 20.001, -1, -1, -1, NAN },
		{ "lost a tick before it expires", { { POS, POS, 10 }, { POS, POS, 20 } }, 9.001, 1, 1, 1, 20 },
		{ "not before that", { { POS, POS, 10 }, { POS, POS, 20 } }, 9, 0, 0, 0, 10 },
		{ "nor to one that expires as well", { { POS, POS, 10 }, { POS, POS, 9.5 } }, 9.2, 0, 0, 0, 10 },
		{ "to the one that lasts", { { POS, POS, 10 }, { POS, POS, 9 }, { POS, NO, 30 } }, 9.2, 2, 0, 0, 10 },
		{ "a time-out", { { POS, POS, 100 }, { POS, POS, 100 } }, 49, 0, 0, 0, 50 },
		{ "is over", { { POS, POS, 100 }, { POS, POS, 100 } }, 49.001, 1, 1, 1, 100 },
		{ "with no other: to its end", { { POS, POS, 100 } }, 50, 0, 0, 0, 50 },
		{ "and no longer", { { POS, POS, 100 } }, 50.001, -1, -1, -1, NAN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *name = cases[i].name;
		bool put;

		setUp();
		for (unsigned int n = 0; n < 3; n++)
			if (cases[i].sources[n].ms > 0)
				take(n, cases[i].sources[n].a, cases[i].sources[n].b, cases[i].sources[n].ms);
		put = choose(cases[i].at_ms);
		TEST_ASSERT_EQUAL_MESSAGE(!isnan(cases[i].until_ms), put, name);
		TEST_ASSERT_EQUAL_MESSAGE(cases[i].a, mux.author[0], name);
		TEST_ASSERT_EQUAL_MESSAGE(cases[i].b, mux.author[1], name);
		TEST_ASSERT_EQUAL_MESSAGE(cases[i].in_charge, mux.in_charge, name);
		if (!put)
			continue;
		TEST_ASSERT_EQUAL_INT64_MESSAGE(NOW + (int64_t)(cases[i].until_ms * (double)MS),
						out.header.valid_until_ns, name);
		TEST_ASSERT_EQUAL_UINT32_MESSAGE(2, out.joints.count, name);
		TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(cases[i].a + 1, out.joints.position[0], name);
		TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(cases[i].b + 1, out.joints.position[1], name);
		TEST_ASSERT_EQUAL_UINT32_MESSAGE(cases[i].a < 0 ? NO : cases[i].sources[cases[i].a].a,
						 out.joints.mode[0], name);
		TEST_ASSERT_EQUAL_UINT32_MESSAGE(cases[i].b < 0 ? NO : cases[i].sources[cases[i].b].b,
						 out.joints.mode[1], name);
	}
}

TEST(all_of_a_joint_is_its_authors)
{
	take(1, VEL, POS, 20);
	TEST_ASSERT_TRUE(choose(0));
	TEST_ASSERT_EQUAL_DOUBLE(12, out.joints.velocity[0]);
	TEST_ASSERT_EQUAL_DOUBLE(12, out.joints.current[0]);
	TEST_ASSERT_EQUAL_DOUBLE(0, out.joints.velocity[1]);
}

TEST(a_refused_reference_leaves_the_last_one_until_it_expires)
{
	take(1, POS, POS, 20);
	take(2, POS, POS, 50);
	refmux_take(&mux, 1, NULL, NOW + 5 * MS);
	TEST_ASSERT_TRUE(choose(5));
	TEST_ASSERT_EQUAL(1, mux.in_charge);
	TEST_ASSERT_EQUAL_UINT64(1, mux.sources[1].taken);
	TEST_ASSERT_EQUAL_UINT64(1, mux.sources[1].refused);
	TEST_ASSERT_TRUE(choose(21));
	TEST_ASSERT_EQUAL(2, mux.in_charge);
	TEST_ASSERT_EQUAL(MSG_SOURCE_REFUSED, mux.sources[1].state);
}

TEST(a_restart_of_the_output_makes_references_void)
{
	take(1, POS, POS, 20);
	TEST_ASSERT_TRUE(choose(0));
	refmux_output(&mux, 1, 2);
	TEST_ASSERT_TRUE(choose(1));
	refmux_output(&mux, 2, 2);
	TEST_ASSERT_EQUAL(REFMUX_NONE, mux.in_charge);
	TEST_ASSERT_TRUE(mux.sources[3].there);
	for (unsigned int i = 0; i < MSG_JOINTS; i++)
		TEST_ASSERT_EQUAL(REFMUX_NONE, mux.author[i]);
	TEST_ASSERT_FALSE(choose(2));
	TEST_ASSERT_EQUAL(MSG_SOURCE_STALE, mux.sources[1].state);
	take(1, POS, POS, 20);
	TEST_ASSERT_TRUE(choose(3));
	refmux_output(&mux, 2, 1); /* another number of joints */
	TEST_ASSERT_FALSE(choose(4));
}

TEST(states_of_sources)
{
	choose(0);
	TEST_ASSERT_EQUAL(MSG_SOURCE_ABSENT, mux.sources[0].state);
	take(0, NO, POS, 10);
	take(1, POS, POS, 20);
	take(2, POS, POS, 30);
	choose(0);
	TEST_ASSERT_EQUAL(MSG_SOURCE_IN_CHARGE, mux.sources[0].state);
	TEST_ASSERT_EQUAL(MSG_SOURCE_IN_CHARGE, mux.sources[1].state); /* of the other joint */
	TEST_ASSERT_EQUAL(MSG_SOURCE_READY, mux.sources[2].state);
	choose(25);
	TEST_ASSERT_EQUAL(MSG_SOURCE_STALE, mux.sources[0].state);
	TEST_ASSERT_EQUAL(MSG_SOURCE_IN_CHARGE, mux.sources[2].state);
	take(0, POS, NO, 10);
	take(1, NO, POS, 10);
	take(2, POS, POS, 5);
	choose(5); /* until its end, inclusive */
	TEST_ASSERT_EQUAL(MSG_SOURCE_IN_CHARGE, mux.sources[1].state);
	TEST_ASSERT_EQUAL(MSG_SOURCE_READY, mux.sources[2].state);
	TEST_ASSERT_EQUAL(MSG_SOURCE_ABSENT, mux.sources[3].state); /* not one of them */
}

TEST(what_lies_beyond_the_joints_counts_nowhere)
{
	take(0, POS, POS, 10);
	take(2, POS, POS, 10);
	choose(0);
	TEST_ASSERT_EQUAL(REFMUX_NONE, mux.author[2]);
	mux.author[2] = 2;
	choose(1);
	TEST_ASSERT_EQUAL(MSG_SOURCE_READY, mux.sources[2].state);
	TEST_ASSERT_EQUAL_UINT32(NO, out.joints.mode[2]);
}

TEST(a_source_without_a_reference_counts_at_no_time)
{
	TEST_ASSERT_FALSE(refmux_choose(&mux, &out, 1, 0));
}

TEST(ticks_in_which_an_author_changes_are_counted)
{
	take(0, NO, POS, 10);
	take(1, POS, POS, 20);
	choose(0);
	TEST_ASSERT_EQUAL_UINT64(1, mux.handovers);
	choose(1);
	TEST_ASSERT_EQUAL_UINT64(1, mux.handovers);
	choose(12); /* joint 1 to source 1 */
	TEST_ASSERT_EQUAL_UINT64(2, mux.handovers);
	choose(21); /* to none */
	TEST_ASSERT_EQUAL_UINT64(3, mux.handovers);
	take(0, POS, NO, 20);
	take(1, NO, POS, 10);
	take(2, NO, POS, 20);
	choose(0);
	choose(12); /* joint 1 alone: the same source is in charge */
	TEST_ASSERT_EQUAL_UINT64(5, mux.handovers);
}

/* ---- whole messages ---- */

TEST(a_message_without_joints_has_one_author)
{
	union refmux_ref ref = { .balance = { .speed = 0.5 } };

	mux.by_joint = false;
	refmux_output(&mux, 2, 0);
	TEST_ASSERT_FALSE(choose(0));
	ref.header.valid_until_ns = NOW + 20 * MS;
	refmux_take(&mux, 1, &ref, NOW);
	ref.balance.speed = 1;
	ref.header.valid_until_ns = NOW + 100 * MS;
	refmux_take(&mux, 0, &ref, NOW);
	TEST_ASSERT_TRUE(choose(0));
	TEST_ASSERT_EQUAL(0, mux.in_charge);
	TEST_ASSERT_EQUAL_DOUBLE(1, out.balance.speed);
	TEST_ASSERT_EQUAL_INT64(NOW + 50 * MS, out.header.valid_until_ns);
	TEST_ASSERT_EQUAL(MSG_SOURCE_READY, mux.sources[1].state);
	TEST_ASSERT_FALSE(choose(51));
	TEST_ASSERT_EQUAL_UINT64(2, mux.handovers);
}

/* ---- no step at a hand-over ---- */

/* The driver's ramp behind it: from joy's reference to control's and back, in all modes. */
TEST(a_hand_over_stays_within_the_limits)
{
	static const struct drv_ref_limits limits = { -3, 3, 0.5, 2, 10, 200, INFINITY };
	static const struct drv_ref_want wants[] = {
		{ POS, 1.2, 0, 0 },  { POS, -0.9, 0, 0 }, { VEL, 0, 0.5, 0 }, { POS, 0.3, 0, 0 },
		{ VEL, 0, -0.5, 0 }, { NO, 0, 0, 0 },	  { VEL, 0, 0.2, 0 }, { POS, -2, 0, 0 },
	};
	const double dt_s = 0.005;
	struct drv_ref_joint joint = { 0 };
	struct drv_ref_track track = { 0 };
	double rad = 0, rad_s = 0;

	for (int tick = 0; tick < 4000; tick++) {
		const struct drv_ref_want *want = &wants[tick / 77 % 8];
		const struct drv_ref_at at = { rad, rad_s, true, 5, dt_s, dt_s };
		struct drv_ref_command command;
		double next_rad_s;

		command = drv_ref_joint(&joint, &limits, want, DRV_REF_HOLD, rad, rad_s, 0, dt_s);
		next_rad_s = drv_ref_track(&track, &joint, &command, &limits, &at);
		TEST_ASSERT_TRUE(fabs(next_rad_s - rad_s) <= limits.acceleration_rad_s2 * dt_s + 1e-9);
		TEST_ASSERT_TRUE(fabs(next_rad_s) <= limits.velocity_rad_s + 1e-9);
		rad_s = next_rad_s;
		rad += rad_s * dt_s;
	}
}

/* ---- the setting ---- */

TEST(sources_are_names_with_time_outs)
{
	static const struct {
		const char *text;
		unsigned int n; /* 0: wrong */
		const char *first, *last;
		int64_t timeout_ns; /* of the first */
	} cases[] = {
		{ "control", 1, "control", "control", 0 },
		{ "joy,control", 2, "joy", "control", 0 },
		{ " joy:50ms, control ", 2, "joy", "control", 50 * MS },
		{ "a b c d e f g h", 8, "a", "h", 0 },
		{ "a b c d e f g h i", 0, NULL, NULL, 0 },
		{ "", 0, NULL, NULL, 0 },
		{ ",", 0, NULL, NULL, 0 },
		{ "joy,joy", 0, NULL, NULL, 0 },
		{ "joy:", 0, NULL, NULL, 0 },
		{ "joy:0s", 0, NULL, NULL, 0 },
		{ "joy:-1ms", 0, NULL, NULL, 0 },
		{ "joy:fast", 0, NULL, NULL, 0 },
		{ "-joy", 0, NULL, NULL, 0 },
		{ "a23456789012345678901234", 0, NULL, NULL, 0 },
		{ "a234567890123456789012345678901234567890123456", 0, NULL, NULL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct refmux m = { 0 };

		TEST_ASSERT_EQUAL_MESSAGE(!cases[i].n, refmux_sources(&m, cases[i].text) != NULL, cases[i].text);
		TEST_ASSERT_EQUAL_MESSAGE(!cases[i].n, refmux_sources(NULL, cases[i].text) != NULL, cases[i].text);
		if (!cases[i].n)
			continue;
		TEST_ASSERT_EQUAL_MESSAGE(cases[i].n, m.n, cases[i].text);
		TEST_ASSERT_EQUAL_STRING(cases[i].first, m.sources[0].name);
		TEST_ASSERT_EQUAL_STRING(cases[i].last, m.sources[m.n - 1].name);
		TEST_ASSERT_EQUAL_INT64(cases[i].timeout_ns, m.sources[0].timeout_ns);
	}
}
