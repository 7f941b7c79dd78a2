/* test_drv_tick.c: when ticks are, case by case.  test_drv_tick_random.c has random ones. */
#include "test/lib/testcase.h"

#include "daemons/drv/drv_tick.h"

#define MS INT64_C(1000000)
#define P (10 * MS)	  /* of the ticks */
#define FIRST (1000 * MS) /* of them */
#define NOT_TOUCHED INT64_C(-77)

static struct drv_tick t;
static int64_t late_ns;
static uint64_t skipped;

static void start(enum drv_tick_kind kind)
{
	const struct drv_tick_rule rule = { .kind = kind, .period_ns = P, .divider = kind == DRV_TICK_CLOCK ? 10 : 1 };

	drv_tick_start(&t, &rule, FIRST);
}

/* No tick at now_ns, and nothing of it has changed anything. */
static void no_tick(int64_t now_ns)
{
	struct drv_tick before = t;

	late_ns = NOT_TOUCHED;
	TEST_ASSERT_FALSE(drv_tick_due(&t, now_ns, &late_ns, &skipped));
	TEST_ASSERT_EQUAL_MEMORY(&before, &t, sizeof(t));
	TEST_ASSERT_EQUAL_INT64(NOT_TOUCHED, late_ns);
}

/* A tick at now_ns, whose own time is own_ns. */
static void tick(int64_t now_ns, int64_t own_ns, int64_t late, uint64_t skips)
{
	uint64_t ticks = t.ticks, all_skipped = t.skipped;

	TEST_ASSERT_TRUE(drv_tick_due(&t, now_ns, &late_ns, &skipped));
	TEST_ASSERT_EQUAL_INT64(own_ns, t.last_ns);
	TEST_ASSERT_EQUAL_INT64(late, late_ns);
	TEST_ASSERT_EQUAL_UINT64(skips, skipped);
	TEST_ASSERT_EQUAL_UINT64(ticks + 1, t.ticks);
	TEST_ASSERT_EQUAL_UINT64(all_skipped + skips, t.skipped);
}

static void next_is(int64_t next_ns)
{
	TEST_ASSERT_EQUAL_INT64(next_ns, drv_tick_next_ns(&t));
}

/* ---- start ---- */

TEST(test_start)
{
	for (int kind = DRV_TICK_PERIOD; kind <= DRV_TICK_REF; kind++) {
		memset(&t, 0xA5, sizeof(t));
		start((enum drv_tick_kind)kind);
		TEST_ASSERT_EQUAL_INT(kind, t.rule.kind);
		TEST_ASSERT_EQUAL_INT64(P, t.period_ns);
		TEST_ASSERT_EQUAL_INT64(FIRST - P, t.last_ns);
		TEST_ASSERT_EQUAL_UINT64(0, t.ticks);
		TEST_ASSERT_EQUAL_UINT64(0, t.skipped);
		/* Nothing was seen yet. */
		TEST_ASSERT_EQUAL(kind != DRV_TICK_PERIOD, t.freerun);
		TEST_ASSERT_EQUAL(kind != DRV_TICK_PERIOD, drv_tick_freerun(&t, FIRST));
		next_is(FIRST);
		no_tick(FIRST - 1);
		tick(FIRST, FIRST, 0, 0);
		TEST_ASSERT_EQUAL(kind != DRV_TICK_PERIOD, t.freerun);
		next_is(FIRST + P);
	}
}

/* ---- a period of its own ---- */

TEST(test_late)
{
	start(DRV_TICK_PERIOD);
	tick(FIRST + 1, FIRST, 1, 0);
	next_is(FIRST + P); /* the phase is kept */
	no_tick(FIRST + P - 1);
	tick(FIRST + 2 * P - 1, FIRST + P, P - 1, 0);
	next_is(FIRST + 2 * P);
}

TEST(test_whole_periods_are_skipped)
{
	start(DRV_TICK_PERIOD);
	tick(FIRST + P, FIRST + P, P, 1);
	next_is(FIRST + 2 * P);
	no_tick(FIRST + 2 * P - 1);
	tick(FIRST + 9 * P + 3, FIRST + 9 * P, 7 * P + 3, 7);
	next_is(FIRST + 10 * P);
	no_tick(FIRST + 9 * P + 3);
}

TEST(test_a_period_follows_no_events)
{
	struct drv_tick before;

	start(DRV_TICK_PERIOD);
	before = t;
	drv_tick_clock(&t, 0, FIRST, MS, FIRST);
	drv_tick_event(&t, FIRST);
	TEST_ASSERT_EQUAL_MEMORY(&before, &t, sizeof(t));
	TEST_ASSERT_FALSE(drv_tick_freerun(&t, FIRST + 100 * P));
	tick(FIRST + 100 * P, FIRST + 100 * P, 100 * P, 100);
	TEST_ASSERT_FALSE(t.freerun);
}

TEST(test_each_listens_to_its_own)
{
	struct drv_tick before;

	start(DRV_TICK_CLOCK);
	before = t;
	drv_tick_event(&t, FIRST);
	TEST_ASSERT_EQUAL_MEMORY(&before, &t, sizeof(t));
	start(DRV_TICK_FRAME);
	before = t;
	drv_tick_clock(&t, 0, FIRST, MS, FIRST);
	TEST_ASSERT_EQUAL_MEMORY(&before, &t, sizeof(t));
	start(DRV_TICK_REF);
	before = t;
	drv_tick_clock(&t, 0, FIRST, MS, FIRST);
	TEST_ASSERT_EQUAL_MEMORY(&before, &t, sizeof(t));
}

/* ---- the clock ---- */

/* The error that a cycle, with that number and time, shows. */
static int64_t error_of(uint64_t cycle, int64_t t_cycle_ns)
{
	drv_tick_clock(&t, cycle, t_cycle_ns, MS, t_cycle_ns);
	TEST_ASSERT_EQUAL_INT64(t_cycle_ns, t.seen_ns);
	return t.error_ns;
}

TEST(test_where_ticks_ought_to_be)
{
	start(DRV_TICK_CLOCK);
	TEST_ASSERT_EQUAL_INT64(0, error_of(0, FIRST));
	TEST_ASSERT_EQUAL_INT64(5, error_of(0, FIRST + 5));
	TEST_ASSERT_EQUAL_INT64(-5, error_of(0, FIRST - 5));
	TEST_ASSERT_EQUAL_INT64(7, error_of(120, FIRST - 3 * P + 7));
	TEST_ASSERT_EQUAL_INT64(-7, error_of(120, FIRST - 3 * P - 7));
	/* Ticks belong to cycles that the divider divides. */
	TEST_ASSERT_EQUAL_INT64(0, error_of(123, FIRST - P + 3 * MS));
	TEST_ASSERT_EQUAL_INT64(4, error_of(9, FIRST - P + 9 * MS + 4));
	TEST_ASSERT_EQUAL_INT64(0, error_of(UINT64_MAX, FIRST + 5 * MS)); /* ...615 */
	/* Half a period: it goes back. */
	TEST_ASSERT_EQUAL_INT64(P / 2 - 1, error_of(0, FIRST - P / 2 - 1));
	TEST_ASSERT_EQUAL_INT64(-P / 2, error_of(0, FIRST + P / 2));
	TEST_ASSERT_EQUAL_INT64(-P / 2, error_of(0, FIRST - P / 2));
	TEST_ASSERT_EQUAL_INT64(-P / 2 + 1, error_of(0, FIRST - P / 2 + 1));
}

TEST(test_offset)
{
	const struct drv_tick_rule rule = {
		.kind = DRV_TICK_CLOCK, .period_ns = P, .divider = 10, .offset_ns = 3 * MS
	};

	drv_tick_start(&t, &rule, FIRST);
	TEST_ASSERT_EQUAL_INT64(0, error_of(0, FIRST - 3 * MS));
	TEST_ASSERT_EQUAL_INT64(2, error_of(1, FIRST - 2 * MS + 2));
}

TEST(test_clock_that_makes_no_sense)
{
	const struct drv_tick_rule rule = { .kind = DRV_TICK_CLOCK, .period_ns = 3 * MS, .divider = 3 };
	static const int64_t wrong[] = { INT64_MIN, -1, 0, 979999, 1020001, INT64_MAX };
	static const int64_t right[] = { 980000, 1020000 };
	struct drv_tick before;

	drv_tick_start(&t, &rule, FIRST);
	before = t;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		drv_tick_clock(&t, 0, FIRST, wrong[i], FIRST);
	drv_tick_clock(&t, 0, -1, MS, FIRST);
	drv_tick_clock(&t, 0, -1, MS, 0);
	drv_tick_clock(&t, 0, FIRST + 3 * MS + 1, MS, FIRST);
	drv_tick_clock(&t, 0, INT64_MAX, MS, FIRST);
	TEST_ASSERT_EQUAL_MEMORY(&before, &t, sizeof(t));
	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
		drv_tick_clock(&t, 0, FIRST + (int64_t)i, right[i], FIRST);
		TEST_ASSERT_EQUAL_INT64(3 * right[i], t.period_ns);
	}
	drv_tick_clock(&t, 0, FIRST + 3 * MS, MS, FIRST);
	TEST_ASSERT_EQUAL_INT64(3 * MS, t.period_ns);
	TEST_ASSERT_EQUAL_INT64(FIRST + 3 * MS, t.seen_ns);
	drv_tick_clock(&t, 0, 0, MS, MS);
	TEST_ASSERT_EQUAL_INT64(0, t.seen_ns);
}

/* A cycle that is too old says that the clock is gone; a cycle is not seen twice. */
TEST(test_old_cycles)
{
	struct drv_tick before;

	start(DRV_TICK_CLOCK);
	before = t;
	drv_tick_clock(&t, 0, FIRST - P * 3 / 2, MS, FIRST);
	drv_tick_clock(&t, 0, 0, MS, FIRST);
	TEST_ASSERT_EQUAL_MEMORY(&before, &t, sizeof(t));
	drv_tick_clock(&t, 0, FIRST - P * 3 / 2 + 1, MS, FIRST);
	TEST_ASSERT_EQUAL_INT64(FIRST - P * 3 / 2 + 1, t.seen_ns);
	before = t;
	drv_tick_clock(&t, 0, FIRST - P * 3 / 2 + 1, MS, FIRST + 1);
	TEST_ASSERT_EQUAL_MEMORY(&before, &t, sizeof(t));
}

/* By at most 1 % of a period per tick; what is left stays to be made up for. */
TEST(test_slewed)
{
	for (int sign = -1; sign <= 1; sign += 2) {
		int64_t at = FIRST;

		start(DRV_TICK_CLOCK);
		drv_tick_clock(&t, 0, FIRST + sign * 5 * P / 200, MS, FIRST); /* 2.5 % */
		next_is(FIRST);						      /* the tick that is set stays */
		tick(at, at, 0, 0);
		at += P + sign * P / 100;
		next_is(at);
		TEST_ASSERT_EQUAL_INT64(sign * 3 * P / 200, t.error_ns);
		TEST_ASSERT_FALSE(t.freerun);
		tick(at, at, 0, 0);
		at += P + sign * P / 100;
		next_is(at);
		drv_tick_clock(&t, 20, FIRST + 2 * P + sign * 5 * P / 200, MS, at); /* seen again: the same is left */
		TEST_ASSERT_EQUAL_INT64(sign * P / 200, t.error_ns);
		tick(at, at, 0, 0);
		at += P + sign * P / 200;
		next_is(at);
		TEST_ASSERT_EQUAL_INT64(0, t.error_ns);
		TEST_ASSERT_EQUAL_INT64(FIRST + 3 * P + sign * 5 * P / 200, at);
	}
}

TEST(test_a_skip_keeps_the_phase_too)
{
	start(DRV_TICK_CLOCK);
	drv_tick_clock(&t, 30, FIRST + 3 * P + 100, MS, FIRST + 3 * P + 200);
	tick(FIRST + 3 * P + 200, FIRST + 3 * P, 3 * P + 200, 3);
	next_is(FIRST + 4 * P + 100);
}

/* The last cycle is 1.5 periods of the ticks old: they go on in the last phase. */
TEST(test_clock_lost)
{
	start(DRV_TICK_CLOCK);
	drv_tick_clock(&t, 0, FIRST + P / 4, MS, FIRST + P / 4 + MS);
	tick(FIRST + P / 4 + MS, FIRST, P / 4 + MS, 0);
	TEST_ASSERT_FALSE(t.freerun);
	next_is(FIRST + P + P / 100);
	tick(FIRST + P + P / 100, FIRST + P + P / 100, 0, 0); /* not lost yet: slewed */
	TEST_ASSERT_FALSE(t.freerun);
	next_is(FIRST + 2 * P + P / 50);
	tick(FIRST + 2 * P + P / 50, FIRST + 2 * P + P / 50, 0, 0);
	TEST_ASSERT_TRUE(t.freerun);
	TEST_ASSERT_EQUAL_INT64(0, t.error_ns);
	next_is(FIRST + 3 * P + P / 50);
	tick(FIRST + 3 * P + P / 50, FIRST + 3 * P + P / 50, 0, 0);
	next_is(FIRST + 4 * P + P / 50);
	/* It is back, with numbers of its own. */
	drv_tick_clock(&t, 7, FIRST + 3 * P + 7 * MS + P / 50, MS, FIRST + 4 * P);
	tick(FIRST + 4 * P + P / 50, FIRST + 4 * P + P / 50, 0, 0);
	TEST_ASSERT_FALSE(t.freerun);
	next_is(FIRST + 5 * P + P / 50);
}

/* Counted from when the cycle was, not from when it was seen. */
TEST(test_clock_lost_exactly_then)
{
	for (int64_t more_ns = -1; more_ns <= 0; more_ns++) {
		start(DRV_TICK_CLOCK);
		drv_tick_clock(&t, 0, FIRST, MS, FIRST + MS);
		tick(FIRST + MS, FIRST, MS, 0);
		TEST_ASSERT_EQUAL(more_ns == 0, drv_tick_freerun(&t, FIRST + 2 * P + more_ns));
		tick(FIRST + P + P / 2 + more_ns, FIRST + P, P / 2 + more_ns, 0);
		TEST_ASSERT_EQUAL(more_ns == 0, t.freerun);
		TEST_ASSERT_EQUAL(more_ns == 0, drv_tick_freerun(&t, FIRST + P + P / 2));
	}
}

/* ---- frames and references ---- */

static const enum drv_tick_kind events[] = { DRV_TICK_FRAME, DRV_TICK_REF };
#define EACH_KIND for (size_t k = 0; k < 2; k++)

/* Followed since FIRST. */
static void follow(enum drv_tick_kind kind)
{
	start(kind);
	drv_tick_event(&t, FIRST);
	TEST_ASSERT_TRUE(t.following);
	next_is(FIRST);
	tick(FIRST + 5, FIRST, 0, 0); /* an event's tick is not late */
	TEST_ASSERT_FALSE(t.freerun);
	TEST_ASSERT_FALSE(t.event);
	next_is(FIRST + P + P / 2);
}

TEST(test_the_event_is_the_tick)
{
	EACH_KIND
	{
		follow(events[k]);
		no_tick(FIRST + P);
		drv_tick_event(&t, FIRST + P + 33);
		next_is(FIRST + P + 33);
		tick(FIRST + P + 40, FIRST + P + 33, 0, 0);
		next_is(FIRST + 2 * P + P / 2 + 33);
		no_tick(FIRST + P + 41); /* once */
	}
}

TEST(test_too_soon_after_the_last_tick)
{
	EACH_KIND
	{
		follow(events[k]);
		drv_tick_event(&t, FIRST + P / 2 - 1);
		no_tick(FIRST + P / 2);
		TEST_ASSERT_EQUAL_INT64(FIRST + P / 2 - 1, t.seen_ns);
		drv_tick_event(&t, FIRST + P / 2);
		tick(FIRST + P / 2, FIRST + P / 2, 0, 0);
	}
}

TEST(test_the_event_stays_away)
{
	EACH_KIND
	{
		follow(events[k]);
		no_tick(FIRST + P + P / 2 - 1);
		TEST_ASSERT_FALSE(t.freerun);
		tick(FIRST + P + P / 2, FIRST + P, 0, 0); /* the tick that waited for it */
		TEST_ASSERT_TRUE(t.freerun);
		TEST_ASSERT_FALSE(t.following);
		next_is(FIRST + 2 * P); /* the last phase */
		tick(FIRST + 2 * P + 1, FIRST + 2 * P, 1, 0);
		next_is(FIRST + 3 * P);
	}
	/* Late by more. */
	follow(DRV_TICK_FRAME);
	tick(FIRST + 2 * P - 1, FIRST + P, P / 2 - 1, 0);
	next_is(FIRST + 2 * P);
	follow(DRV_TICK_FRAME);
	tick(FIRST + 2 * P, FIRST + 2 * P, P / 2, 1);
	next_is(FIRST + 3 * P);
}

/* Several came before the driver looked: the last one is the tick, the others are skipped. */
TEST(test_events_at_once)
{
	EACH_KIND
	{
		follow(events[k]);
		for (int i = 1; i <= 3; i++)
			drv_tick_event(&t, FIRST + i * P + i);
		tick(FIRST + 3 * P + 9, FIRST + 3 * P + 3, 0, 2);
		next_is(FIRST + 4 * P + P / 2 + 3);
		no_tick(FIRST + 4 * P);
	}
	/* From 1.5 periods on it is the tick after the missing one. */
	follow(DRV_TICK_FRAME);
	drv_tick_event(&t, FIRST + P + P / 2 - 1);
	tick(FIRST + 2 * P, FIRST + P + P / 2 - 1, 0, 0);
	follow(DRV_TICK_FRAME);
	drv_tick_event(&t, FIRST + P + P / 2);
	tick(FIRST + 2 * P, FIRST + P + P / 2, 0, 1);
}

TEST(test_events_that_make_no_sense)
{
	struct drv_tick before;

	follow(DRV_TICK_FRAME);
	before = t;
	drv_tick_event(&t, -1);
	drv_tick_event(&t, INT64_MIN);
	TEST_ASSERT_EQUAL_MEMORY(&before, &t, sizeof(t));
	drv_tick_event(&t, 0);
	TEST_ASSERT_EQUAL_INT64(0, t.seen_ns);
	/* In the future: ticks do not wait for it longer than for none. */
	follow(DRV_TICK_FRAME);
	drv_tick_event(&t, FIRST + 100 * P);
	next_is(FIRST + P + P / 2);
	tick(FIRST + P + P / 2, FIRST + P, 0, 0);
	TEST_ASSERT_FALSE(t.event);
	next_is(FIRST + 2 * P);
	drv_tick_event(&t, FIRST + 2 * P);
	tick(FIRST + 2 * P, FIRST + 2 * P, 0, 0);
	/* By a little: then is the tick. */
	drv_tick_event(&t, FIRST + 3 * P);
	no_tick(FIRST + 3 * P - 1);
	tick(FIRST + 3 * P, FIRST + 3 * P, 0, 0);
}

/* Back, in another phase: ticks are moved by 1 % each until they meet. */
TEST(test_back_in_another_phase)
{
	for (int sign = -1; sign <= 1; sign += 2) {
		int64_t at = FIRST, event = FIRST + sign * P * 49 / 1000; /* 4.9 % */

		start(DRV_TICK_REF);
		drv_tick_event(&t, event);
		TEST_ASSERT_FALSE(t.following);
		TEST_ASSERT_EQUAL_INT64(sign * P * 49 / 1000, t.error_ns);
		next_is(at);
		tick(at, at, 0, 0);
		at += P + sign * P / 100;
		drv_tick_event(&t, event + P); /* 3.9 % */
		TEST_ASSERT_FALSE(t.following);
		next_is(at);
		tick(at, at, 0, 0);
		at += P + sign * P / 100;
		drv_tick_event(&t, event + 2 * P); /* 2.9 % */
		TEST_ASSERT_FALSE(t.following);
		tick(at, at, 0, 0);
		TEST_ASSERT_FALSE(t.freerun);
		at += P + sign * P / 100;
		next_is(at);
		if (sign < 0) { /* it comes before the tick, and makes it */
			drv_tick_event(&t, event + 3 * P);
			TEST_ASSERT_TRUE(t.following);
			tick(event + 3 * P, event + 3 * P, 0, 0);
		} else { /* it comes after the tick, which was its own */
			tick(at, at, 0, 0);
			drv_tick_event(&t, event + 3 * P);
			TEST_ASSERT_TRUE(t.following);
			no_tick(event + 3 * P);
		}
		TEST_ASSERT_EQUAL_INT64(0, t.error_ns);
		drv_tick_event(&t, event + 4 * P);
		tick(event + 4 * P, event + 4 * P, 0, 0);
	}
}

TEST(test_they_meet_within_two_percent)
{
	for (int sign = -1; sign <= 1; sign += 2) {
		start(DRV_TICK_FRAME);
		drv_tick_event(&t, FIRST + sign * (P / 50 + 1));
		TEST_ASSERT_FALSE(t.following);
		TEST_ASSERT_FALSE(t.event);
		TEST_ASSERT_EQUAL_INT64(sign * (P / 50 + 1), t.error_ns);
		drv_tick_event(&t, FIRST + sign * (P / 50));
		TEST_ASSERT_TRUE(t.following);
		TEST_ASSERT_TRUE(t.event);
		TEST_ASSERT_EQUAL_INT64(0, t.error_ns);
	}
}

/* What was left to make up for is forgotten in free run. */
TEST(test_lost_again_while_it_is_met)
{
	start(DRV_TICK_FRAME);
	drv_tick_event(&t, FIRST - P / 4);
	tick(FIRST, FIRST, 0, 0);
	next_is(FIRST + P - P / 100);
	tick(FIRST + P - P / 100, FIRST + P - P / 100, 0, 0);
	TEST_ASSERT_FALSE(t.freerun);
	tick(FIRST + 2 * P - P / 50, FIRST + 2 * P - P / 50, 0, 0);
	TEST_ASSERT_TRUE(t.freerun);
	next_is(FIRST + 3 * P - P / 50);
}
