/* test_vt_core.c: whose turn it is on the virtual clock: by tables, and at random. */
#include "channels/clock/vt_core.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define ALL (~UINT64_C(0))
#define STEPS 200000

static struct vt_view view;
static struct vt_core core;

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	memset(&view, 0, sizeof(view));
	core = (struct vt_core){ .now_ns = 100 };
	view.limit_ns = VT_NEVER;
	view.live = ALL;
	for (int i = 0; i < VT_SLOTS; i++)
		view.deadline_ns[i] = VT_NEVER;
}

/* The turn of that slot at that instant comes next. */
static void expect(int64_t now_ns, int slot)
{
	const uint64_t turns = core.turns;
	int who = -1;

	core = vt_core_next(core, &view, &who);
	TEST_ASSERT_EQUAL_INT(slot, who);
	TEST_ASSERT_EQUAL_INT64(now_ns, core.now_ns);
	TEST_ASSERT_EQUAL_UINT64(turns + 1, core.turns);
	view.dirty &= ~vt_bit(slot); /* as its owner does when it takes the token */
	if (view.deadline_ns[slot] <= core.now_ns)
		view.deadline_ns[slot] = VT_NEVER;
}

/* All is at rest: the coordinator gets the token, which is not a turn. */
static void expect_rest(int64_t now_ns)
{
	const struct vt_core before = core;
	int who = -1;

	core = vt_core_next(core, &view, &who);
	TEST_ASSERT_EQUAL_INT(VT_COORDINATOR, who);
	TEST_ASSERT_EQUAL_INT64(now_ns, core.now_ns);
	TEST_ASSERT_EQUAL_UINT64(before.turns, core.turns);
	TEST_ASSERT_EQUAL_UINT64(0, core.round);
}

static void mark(int slot)
{
	view.dirty |= vt_bit(slot);
}

/* ---- tables ---- */

TEST(test_nothing_to_do_is_the_coordinators)
{
	expect_rest(100);
	expect_rest(100);
	TEST_ASSERT_EQUAL_UINT64(0, core.rounds);
	TEST_ASSERT_EQUAL_UINT64(0, core.instants);
}

TEST(test_marked_slots_run_by_rank)
{
	mark(63);
	mark(7);
	mark(0);
	mark(12);
	expect(100, 0);
	expect(100, 7);
	expect(100, 12);
	expect(100, 63);
	expect_rest(100);
	TEST_ASSERT_EQUAL_UINT64(1, core.rounds);
	TEST_ASSERT_EQUAL_UINT32(1, core.rounds_here);
}

TEST(test_a_mark_made_in_a_round_waits_for_the_next)
{
	mark(5);
	mark(9);
	expect(100, 5);
	mark(3); /* of a lower rank, */
	mark(8); /* between, */
	mark(20);
	mark(5); /* and itself */
	expect(100, 9);
	expect(100, 3);
	expect(100, 5);
	expect(100, 8);
	expect(100, 20);
	expect_rest(100);
	TEST_ASSERT_EQUAL_UINT32(2, core.rounds_here);
}

TEST(test_a_deadline_becomes_now)
{
	view.deadline_ns[4] = 250;
	view.deadline_ns[2] = 300;
	view.deadline_ns[9] = 250;
	expect(250, 4);
	expect(250, 9);
	expect(300, 2);
	expect_rest(300);
	TEST_ASSERT_EQUAL_UINT64(2, core.instants);
}

TEST(test_deadlines_of_the_past_are_due_now)
{
	const int64_t past[] = { INT64_MIN, -1, 0, 99, 100 };

	for (size_t i = 0; i < sizeof(past) / sizeof(*past); i++) {
		view.deadline_ns[6] = past[i];
		expect(100, 6);
	}
	expect_rest(100);
	TEST_ASSERT_EQUAL_UINT64(0, core.instants);
}

TEST(test_marks_come_before_deadlines_to_come)
{
	view.deadline_ns[1] = 101;
	mark(50);
	expect(100, 50);
	expect(101, 1);
}

TEST(test_marked_and_due_share_a_round)
{
	view.deadline_ns[3] = 100;
	view.deadline_ns[8] = 90;
	mark(5);
	mark(8); /* both: one turn */
	expect(100, 3);
	expect(100, 5);
	expect(100, 8);
	expect_rest(100);
	TEST_ASSERT_EQUAL_UINT64(1, core.rounds);
}

TEST(test_a_new_instant_counts_its_rounds_again)
{
	mark(1);
	expect(100, 1);
	mark(1);
	expect(100, 1);
	TEST_ASSERT_EQUAL_UINT32(2, core.rounds_here);
	view.deadline_ns[1] = 200;
	expect(200, 1);
	TEST_ASSERT_EQUAL_UINT32(1, core.rounds_here);
	TEST_ASSERT_EQUAL_UINT64(3, core.rounds);
}

TEST(test_no_turn_before_the_floor)
{
	view.floor_ns[4] = 500;
	mark(4);
	view.floor_ns[5] = 300;
	view.deadline_ns[5] = 120;
	view.floor_ns[6] = 600; /* and nothing to do then */
	view.deadline_ns[7] = 400;
	expect(300, 5);
	expect(400, 7);
	expect(500, 4);
	expect_rest(500);
}

/* It is started again, or computes: the turn of this round is not lost, but comes then. */
TEST(test_a_floor_that_is_set_in_the_round)
{
	mark(4);
	mark(5);
	mark(6);
	expect(100, 4);
	view.floor_ns[5] = 130;
	expect(100, 6);
	expect(130, 5);
	expect_rest(130);
}

TEST(test_held_slots_are_left_behind)
{
	mark(4);
	mark(5);
	view.deadline_ns[4] = 200;
	view.deadline_ns[6] = 300;
	expect(100, 4);
	mark(4);
	view.deadline_ns[4] = 200;
	view.held = vt_bit(4) | vt_bit(5);
	expect(300, 6);
	view.held = 0;
	expect(300, 4);
	expect(300, 5);
}

TEST(test_the_dead_get_no_turn)
{
	mark(4);
	mark(5);
	view.deadline_ns[5] = 200;
	expect(100, 4);
	view.live &= ~vt_bit(5); /* while its turn was to come */
	expect_rest(100);
	view.live = ALL;
	expect(100, 5);
}

TEST(test_beyond_the_limit_the_coordinator_decides)
{
	view.deadline_ns[3] = 200;
	view.limit_ns = 199;
	expect_rest(100);
	view.limit_ns = 200;
	expect(200, 3);
	view.deadline_ns[3] = 201;
	view.limit_ns = 0; /* it wants the next rest, not before */
	mark(9);
	expect(200, 9);
	expect_rest(200);
}

TEST(test_a_floor_beyond_the_limit)
{
	mark(3);
	view.floor_ns[3] = 400;
	view.limit_ns = 399;
	expect_rest(100);
	view.limit_ns = 400;
	expect(400, 3);
}

TEST(test_the_coordinator_has_deadlines_too)
{
	view.deadline_ns[VT_COORDINATOR] = 150;
	view.deadline_ns[1] = 150;
	expect(150, VT_COORDINATOR);
	expect(150, 1);
}

/* ---- at random ---- */

static uint64_t state;

static uint64_t random_below(uint64_t n)
{
	return lib_random(&state) % n;
}

static uint64_t random_mask(void)
{
	return lib_random(&state) & lib_random(&state) & lib_random(&state);
}

static int64_t wants_ns(int slot)
{
	const int64_t from_ns = view.dirty & vt_bit(slot) ? core.now_ns : view.deadline_ns[slot];

	return from_ns > view.floor_ns[slot] ? from_ns : view.floor_ns[slot];
}

/* When the first of them wants a turn, by the plainest of loops. */
static int64_t earliest_ns(uint64_t slots)
{
	int64_t ns = VT_NEVER;

	for (int i = 0; i < VT_SLOTS; i++)
		if (slots & vt_bit(i) && wants_ns(i) < ns)
			ns = wants_ns(i);
	return ns;
}

/* What processes do between two turns. */
static void disturb(void)
{
	const int slot = (int)random_below(VT_SLOTS);

	switch (random_below(12)) {
	case 0:
		view.live ^= vt_bit(slot);
		break;
	case 1:
		view.held ^= vt_bit(slot);
		break;
	case 2:
		view.floor_ns[slot] = core.now_ns + (int64_t)random_below(30);
		break;
	case 3:
		view.limit_ns = random_below(3) ? VT_NEVER : core.now_ns + (int64_t)random_below(20);
		break;
	case 4:
		view.dirty |= random_mask() & random_mask();
		break;
	case 5:
	case 6:
		view.deadline_ns[slot] = core.now_ns + (int64_t)random_below(40);
		break;
	default:
		view.dirty |= vt_bit(slot);
	}
}

static void check_turn(struct vt_core before, int who)
{
	const uint64_t able = view.live & ~view.held;

	TEST_ASSERT_TRUE_MESSAGE(core.now_ns >= before.now_ns, "time goes back");
	if (core.now_ns > before.now_ns) {
		TEST_ASSERT_TRUE_MESSAGE(core.now_ns <= view.limit_ns, "beyond the limit");
		TEST_ASSERT_EQUAL_UINT64(before.instants + 1, core.instants);
	}
	if (core.turns == before.turns) {
		TEST_ASSERT_EQUAL_INT(VT_COORDINATOR, who);
		TEST_ASSERT_EQUAL_INT64(before.now_ns, core.now_ns);
		TEST_ASSERT_TRUE_MESSAGE(earliest_ns(able) > core.now_ns, "at rest, and one is marked or due");
		TEST_ASSERT_TRUE_MESSAGE(earliest_ns(able) == VT_NEVER || earliest_ns(able) > view.limit_ns,
					 "at rest below the limit");
		return;
	}
	TEST_ASSERT_TRUE_MESSAGE(able & vt_bit(who), "a turn of the dead or held");
	TEST_ASSERT_TRUE_MESSAGE(view.floor_ns[who] <= core.now_ns, "a turn before the floor");
	TEST_ASSERT_FALSE_MESSAGE(core.round & (vt_bit(who) | (vt_bit(who) - 1)), "a lower rank is passed over");
}

/* The first of these is at the present instant, so that nothing marked or due is passed over when time advances. */
static void check_advance(struct vt_core before)
{
	const int64_t now_ns = core.now_ns;

	if (now_ns == before.now_ns)
		return;
	core.now_ns = before.now_ns; /* marks count from there */
	TEST_ASSERT_EQUAL_INT64(now_ns, earliest_ns(view.live & ~view.held));
	core.now_ns = now_ns;
}

static void random_run(uint64_t seed)
{
	uint64_t waiting[VT_SLOTS] = { 0 }; /* since which round it could have run */

	state = seed;
	view.live = lib_random(&state) | 1;
	for (int step = 0; step < STEPS; step++) {
		const struct vt_core before = core;
		struct vt_core again;
		int who = -1, who_again = -1;

		core = vt_core_next(before, &view, &who);
		again = vt_core_next(before, &view, &who_again);
		TEST_ASSERT_EQUAL_INT(who, who_again);
		TEST_ASSERT_EQUAL_MEMORY(&core, &again, sizeof(core));
		check_turn(before, who);
		check_advance(before);
		for (int i = 0; i < VT_SLOTS; i++) {
			if (i == who || !(view.live & ~view.held & vt_bit(i)) || wants_ns(i) > core.now_ns)
				waiting[i] = core.rounds;
			TEST_ASSERT_TRUE_MESSAGE(core.rounds - waiting[i] <= 2, "passed over for two rounds");
		}
		view.dirty &= ~vt_bit(who);
		if (view.deadline_ns[who] <= core.now_ns)
			view.deadline_ns[who] = VT_NEVER;
		if (random_below(2))
			disturb();
		view.live |= vt_bit(VT_COORDINATOR);
		view.held &= ~vt_bit(VT_COORDINATOR);
		view.dirty &= ~vt_bit(VT_COORDINATOR);
		view.floor_ns[VT_COORDINATOR] = 0;
	}
	TEST_ASSERT_GREATER_THAN_UINT64(STEPS / 50, core.turns);
	TEST_ASSERT_GREATER_THAN_UINT64(STEPS / 1000, core.instants);
}

TEST(test_at_random)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		setUp();
		random_run(seed * 7919);
	}
}

/* Without disturbance a run is a function of its start. */
TEST(test_same_input_same_run)
{
	uint64_t sum[2] = { 0, 0 };

	for (int run = 0; run < 2; run++) {
		setUp();
		state = 4711;
		for (int step = 0; step < STEPS; step++) {
			int who;

			core = vt_core_next(core, &view, &who);
			sum[run] = sum[run] * 31 + (uint64_t)who + (uint64_t)core.now_ns;
			view.dirty &= ~vt_bit(who);
			view.deadline_ns[who] = core.now_ns + 1 + (int64_t)random_below(50);
			view.dirty |= vt_bit(1 + (int)random_below(VT_SLOTS - 1));
			if (step % 3)
				view.dirty = 0;
		}
	}
	TEST_ASSERT_EQUAL_UINT64(sum[0], sum[1]);
	TEST_ASSERT_TRUE(core.instants > 1000);
}
