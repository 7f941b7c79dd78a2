/* test_drv_tick_random.c: ticks under clocks, frames and references that are lost, come back elsewhere and jitter,
 * and under drivers that wake late.  Every tick of every history is held against what drv_tick.h promises. */
#include "test/lib/testcase.h"

#include "daemons/drv/drv_tick.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)
#define HISTORIES 200
#define SPELLS 12  /* of a history: the clock is there, or away, or changes */
#define SETTLED 60 /* ticks after which ticks and clock agree */

static uint64_t random_state;
static struct drv_tick t;

/* What the test knows of the driver. */
static int64_t now_ns, own_ns, set_period_ns;
static uint64_t ticks, skips;
static unsigned long settled_ticks;
static bool first;

void setUp(void)
{
	random_state = 0x9E3779B97F4A7C15;
	settled_ticks = 0;
}

/* lo to hi, both included. */
static int64_t any(int64_t lo, int64_t hi)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return lo + (int64_t)(random_state % (uint64_t)(hi - lo + 1));
}

static bool once_in(int n)
{
	return any(1, n) == 1;
}

static int64_t phase_of(int64_t distance_ns, int64_t period_ns)
{
	int64_t rest = (distance_ns % period_ns + period_ns) % period_ns;

	return rest > period_ns / 2 ? rest - period_ns : rest;
}

static void within(int64_t lo, int64_t hi, int64_t value)
{
	char why[100];

	snprintf(why, sizeof(why), "%lld to %lld", (long long)lo, (long long)hi);
	TEST_ASSERT_TRUE_MESSAGE(value >= lo && value <= hi, why);
}

static void begin(const struct drv_tick_rule *rule)
{
	drv_tick_start(&t, rule, now_ns);
	set_period_ns = rule->period_ns;
	ticks = skips = 0;
	first = true;
}

/* How late the driver wakes: little; and now and then by periods. */
static int64_t lateness(void)
{
	return once_in(100) ? any(0, 5 * t.period_ns) : any(0, 20 * US);
}

/* It is now_ns: is there a tick?  least and most: how far from the last one, in permille of a period, it may be. */
static bool check_tick(int64_t least, int64_t most)
{
	int64_t due_ns = drv_tick_next_ns(&t), late_ns, apart_ns;
	uint64_t skipped;

	if (!drv_tick_due(&t, now_ns, &late_ns, &skipped)) {
		TEST_ASSERT_LESS_THAN_INT64(due_ns, now_ns);
		return false;
	}
	TEST_ASSERT_GREATER_OR_EQUAL_INT64(due_ns, now_ns);
	apart_ns = t.last_ns - own_ns - (int64_t)skipped * t.period_ns;
	if (!first)
		within(set_period_ns * least / 1000, set_period_ns * most / 1000, apart_ns);
	TEST_ASSERT_TRUE(t.last_ns <= now_ns);
	TEST_ASSERT_TRUE(late_ns >= 0 && late_ns <= now_ns - due_ns);
	ticks++;
	skips += skipped;
	TEST_ASSERT_EQUAL_UINT64(ticks, t.ticks);
	TEST_ASSERT_EQUAL_UINT64(skips, t.skipped);
	own_ns = t.last_ns;
	set_period_ns = t.period_ns;
	first = false;
	return true;
}

static void freerun_is_seen_by(int64_t seen_ns)
{
	bool expected = seen_ns < 0 || 2 * (now_ns - seen_ns) >= 3 * t.period_ns;

	TEST_ASSERT_EQUAL(expected, t.freerun);
}

/* ---- the clock ---- */

static struct {
	bool there;
	int64_t period_ns, jitter_ns;
	int64_t zero_ns;      /* when cycle zero was, or would have been */
	uint64_t zero_number; /* its number: cycles restart at any value */
	int64_t since_ns;     /* it is like this */
	/* what was published last */
	int64_t t_cycle_ns;
	uint64_t cycle;
	/* the driver */
	int64_t seen_ns;
} clock_is;

static void clock_publishes(void)
{
	int64_t n = (now_ns - clock_is.zero_ns) / clock_is.period_ns;

	if (!clock_is.there || n * clock_is.period_ns + clock_is.zero_ns < clock_is.since_ns)
		return;
	n -= any(0, t.rule.divider / 3); /* the newest that could be read may be some cycles old */
	if (n < 0)
		return;
	clock_is.cycle = clock_is.zero_number + (uint64_t)n;
	clock_is.t_cycle_ns = clock_is.zero_ns + n * clock_is.period_ns + any(-clock_is.jitter_ns, clock_is.jitter_ns);
}

/* A new spell. */
static void clock_changes(int64_t divider)
{
	int64_t was_ns = clock_is.zero_ns;

	clock_is.there = !once_in(3);
	clock_is.since_ns = now_ns;
	if (once_in(2)) { /* another process: another phase, other numbers */
		clock_is.zero_ns = now_ns - any(0, clock_is.period_ns * divider);
		clock_is.zero_number = (uint64_t)any(0, INT64_MAX - 1);
	}
	if (once_in(5)) {
		clock_is.period_ns = once_in(4) ? any(5, 30) * 100 * US : MS;
		clock_is.zero_ns = now_ns - (now_ns - was_ns) % clock_is.period_ns;
	}
	if (clock_is.zero_ns < 0)
		clock_is.zero_ns = 0;
}

static void read_clock(void)
{
	int64_t period_ns = clock_is.period_ns * t.rule.divider;

	clock_publishes();
	if (clock_is.t_cycle_ns < 0)
		return;
	if (clock_is.period_ns != MS) { /* as configured, or it is not listened to */
		struct drv_tick before = t;

		drv_tick_clock(&t, clock_is.cycle, clock_is.t_cycle_ns, clock_is.period_ns, now_ns);
		TEST_ASSERT_EQUAL_MEMORY(&before, &t, sizeof(t));
		return;
	}
	if (2 * (now_ns - clock_is.t_cycle_ns) < 3 * period_ns)
		clock_is.seen_ns = clock_is.t_cycle_ns;
	drv_tick_clock(&t, clock_is.cycle, clock_is.t_cycle_ns, clock_is.period_ns, now_ns);
}

/* One tick of a driver on the clock, which has been the same for settled ticks. */
static void clock_tick(int64_t settled)
{
	const struct drv_tick_rule *rule = &t.rule;
	int64_t next_ns = drv_tick_next_ns(&t), was_ns = own_ns, phase_ns, period_ns;
	uint64_t skipped_before = skips;

	if (next_ns - 1 > now_ns) {
		now_ns = next_ns - 1;
		TEST_ASSERT_FALSE(check_tick(0, 0));
	}
	if (next_ns > now_ns)
		now_ns = next_ns;
	now_ns += lateness();
	read_clock();
	TEST_ASSERT_TRUE(check_tick(990, 1010));
	TEST_ASSERT_TRUE(now_ns - own_ns < t.period_ns);
	freerun_is_seen_by(clock_is.seen_ns);
	if (t.freerun)
		TEST_ASSERT_EQUAL_INT64(own_ns + t.period_ns, drv_tick_next_ns(&t));
	if (settled < SETTLED || clock_is.period_ns != MS)
		return;
	settled_ticks++;
	/* Each tick belongs to a cycle that the divider divides, and none is doubled or missing. */
	period_ns = clock_is.period_ns * rule->divider;
	phase_ns = own_ns - clock_is.zero_ns - rule->offset_ns +
		   (int64_t)(clock_is.zero_number % (uint64_t)rule->divider) * clock_is.period_ns;
	within(-2 * clock_is.jitter_ns, 2 * clock_is.jitter_ns, phase_of(phase_ns, period_ns));
	within(-4 * clock_is.jitter_ns, 4 * clock_is.jitter_ns,
	       own_ns - was_ns - (int64_t)(skips - skipped_before + 1) * period_ns);
}

TEST(test_clock)
{
	static const int64_t dividers[] = { 1, 2, 5, 7, 25 };

	for (int history = 0; history < HISTORIES; history++) {
		int64_t divider = dividers[any(0, 4)];
		const struct drv_tick_rule rule = { .kind = DRV_TICK_CLOCK,
						    .period_ns = divider * MS,
						    .divider = divider,
						    .offset_ns = any(0, divider * MS - 1) };

		now_ns = any(0, 1000000 * MS);
		memset(&clock_is, 0, sizeof(clock_is));
		clock_is.t_cycle_ns = clock_is.seen_ns = -1;
		clock_is.period_ns = MS;
		clock_is.zero_ns = now_ns;
		clock_is.jitter_ns = once_in(2) ? any(0, 2 * US) : 0;
		begin(&rule);
		for (int spell = 0; spell < SPELLS; spell++) {
			int64_t length = any(1, 150);

			if (spell)
				clock_changes(divider);
			for (int64_t tick = 0; tick < length; tick++)
				clock_tick(clock_is.there ? tick : 0);
		}
	}
	TEST_ASSERT_GREATER_THAN_UINT(HISTORIES * SPELLS, settled_ticks);
}

/* ---- frames and references ---- */

static struct {
	bool there;
	int64_t jitter_ns;
	int64_t next_ns; /* as it should come */
	int64_t at_ns;	 /* as it will */
	int64_t seen_ns;
	uint64_t count;
} event;

static void event_set(int64_t next_ns)
{
	event.next_ns = next_ns;
	event.at_ns = next_ns + any(0, event.jitter_ns);
}

/* A turn of the driver: it wakes for an event or for the tick, and reads what has come. */
static bool event_turn(void)
{
	int64_t wake_ns = drv_tick_next_ns(&t);

	if (event.there && event.at_ns < wake_ns)
		wake_ns = event.at_ns;
	if (wake_ns > now_ns)
		now_ns = wake_ns;
	now_ns += lateness();
	for (; event.at_ns <= now_ns; event_set(event.next_ns + t.period_ns)) {
		if (!event.there)
			continue;
		drv_tick_event(&t, event.at_ns);
		event.seen_ns = event.at_ns;
		event.count++;
	}
	if (!check_tick(t.following || t.event ? 500 : 990, t.following || t.event ? 1500 : 1010))
		return false;
	freerun_is_seen_by(event.seen_ns);
	return true;
}

static void events_of(enum drv_tick_kind kind)
{
	for (int history = 0; history < HISTORIES; history++) {
		const struct drv_tick_rule rule = { .kind = kind, .period_ns = any(5, 100) * 100 * US, .divider = 1 };

		now_ns = any(0, 1000000 * MS);
		memset(&event, 0, sizeof(event));
		event.seen_ns = -1;
		event.jitter_ns = once_in(2) ? any(0, rule.period_ns / 100) : 0;
		begin(&rule);
		for (int spell = 0; spell < SPELLS; spell++) {
			int64_t length = any(1, 150);
			uint64_t counted = 0;

			event.there = !once_in(3);
			if (once_in(2) || event.next_ns < now_ns - rule.period_ns)
				event_set(now_ns + any(0, rule.period_ns));
			for (int64_t tick = 0; tick < length;) {
				if (!event_turn())
					continue;
				tick++;
				if (!event.there || tick < SETTLED)
					continue;
				/* Each is a tick or skipped, and nothing else is. */
				settled_ticks++;
				TEST_ASSERT_TRUE(t.following);
				TEST_ASSERT_EQUAL_INT64(event.seen_ns, own_ns);
				if (!counted)
					counted = event.count - ticks - skips;
				TEST_ASSERT_EQUAL_UINT64(counted, event.count - ticks - skips);
			}
		}
	}
	TEST_ASSERT_GREATER_THAN_UINT(HISTORIES * SPELLS, settled_ticks);
}

TEST(test_frame)
{
	events_of(DRV_TICK_FRAME);
}

TEST(test_ref)
{
	events_of(DRV_TICK_REF);
}

/* ---- a period of its own ---- */

TEST(test_period)
{
	for (int history = 0; history < HISTORIES; history++) {
		const struct drv_tick_rule rule = { .kind = DRV_TICK_PERIOD, .period_ns = any(MS / 10, 20 * MS) };
		int64_t start_ns;

		now_ns = start_ns = any(0, 1000000 * MS);
		begin(&rule);
		for (int tick = 0; tick < 500; tick++) {
			if (drv_tick_next_ns(&t) > now_ns)
				now_ns = drv_tick_next_ns(&t);
			now_ns += lateness();
			TEST_ASSERT_TRUE(check_tick(1000, 1000));
			TEST_ASSERT_TRUE(now_ns - own_ns < rule.period_ns);
			TEST_ASSERT_EQUAL_INT64(start_ns + (int64_t)(ticks + skips - 1) * rule.period_ns, own_ns);
			TEST_ASSERT_FALSE(t.freerun);
		}
	}
}
