/* stall_trace.c: what the other side of the wire heard, and whether it is what may be. */
#include <inttypes.h>
#include <stdio.h>

#include "unity.h"

#include "channels/clock/clock.h"
#include "test/can/slots/stall_lib.h"

#define PATIENCE_NS 500000000 /* for what was on the wire to be read */
#define TRACE_MAX 400000
/* A reference may wait behind three frames of the drivers and one of the other side. */
#define AHEAD_NS 700000

static struct stall_frame trace[TRACE_MAX];
static unsigned int trace_n, back_n; /* back_n: of them before the bus was back */

/* ---- listening ---- */

void stall_trace_begin(void)
{
	trace_n = back_n = 0;
}

void stall_trace_listen(int64_t until_ns)
{
	struct clock_fd fd = { .fd = bus_fd(stall_run.far), .events = POLLIN };
	const int64_t next_ns = bus_next_ns(stall_run.far);
	struct bus_frame got[32];
	int n;

	clock_wait(&fd, 1, next_ns < until_ns ? next_ns : until_ns);
	while ((n = bus_receive(stall_run.far, got, sizeof(got) / sizeof(got[0]))) > 0)
		for (int i = 0; i < n; i++) {
			TEST_ASSERT_TRUE(trace_n < TRACE_MAX);
			trace_n += stall_frame_read(&trace[trace_n], &got[i], stall_run.start_ns);
		}
}

void stall_trace_mark(void)
{
	back_n = trace_n;
}

unsigned int stall_trace_fresh(unsigned int driver)
{
	unsigned int n = 0;

	for (unsigned int i = back_n; i < trace_n; i++)
		n += trace[i].driver == driver && trace[i].row == STALL_REFERENCE &&
		     trace[i].put_ns >= stall_run.back_ns;
	return n;
}

/* ---- what was seen ---- */

/* When it has to have been on the wire. */
static int64_t deadline_ns(const struct stall_frame *f)
{
	return f->put_ns + (f->row == STALL_REFERENCE ? stall_run.bus.deadline_ns : STALL_QUESTION_NS);
}

/* If stamps are not exact, only those that expired before the bus was back: others may have waited for the machine. */
static bool is_stale(const struct stall_frame *f)
{
	const int64_t last_ns = deadline_ns(f) + stall_run.drivers[f->driver].references[f->number].turn_ns;

	return f->row == STALL_REFERENCE && f->t_ns > last_ns &&
	       (stall_run.bus.exact ||
		(stall_run.back_ns && last_ns < stall_run.back_ns && f->t_ns >= stall_run.back_ns));
}

static unsigned int count(unsigned int driver, bool (*which)(const struct stall_frame *f))
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < trace_n; i++)
		n += trace[i].driver == driver && which(&trace[i]);
	return n;
}

static bool is_any(const struct stall_frame *f)
{
	(void)f;
	return true;
}

/* Frames that were on the wire, as their echoes say, and are not in the trace. */
static uint64_t missed(unsigned int driver)
{
	const uint64_t seen = count(driver, is_any);
	struct stall_said said;
	uint64_t echoes;

	stall_driver_said(&stall_run.drivers[driver], &said);
	echoes = said.counts.confirmed + said.counts.stray;
	return echoes > seen ? echoes - seen : 0;
}

/* An echo may be read before the other side has heard the frame; and an emulated controller that is served too late
 * loses some, without a word. */
bool stall_trace_whole(void)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < STALL_DRIVERS; i++)
		all += missed(i);
	return all <= bus_stats(stall_run.far)->dropped + stall_run.unheard ||
	       (!stall_run.bus.exact && clock_now_ns() > stall_run.end_ns + PATIENCE_NS);
}

/* The evidence, where it matters: around the first frames after the stall. */
void stall_trace_show(void)
{
	unsigned int i = back_n > 6 ? back_n - 6 : 0;

	printf("\nbroke at %.6f, back at %.6f, %u resets, %u restarts\n",
	       (double)(stall_run.broke_ns - stall_run.start_ns) / 1e9,
	       (double)(stall_run.back_ns - stall_run.start_ns) / 1e9, stall_run.resets, stall_run.restarts);
	for (const unsigned int end = i + 20; i < end && i < trace_n; i++)
		printf("%.6f driver %u %s %u, put %.6f%s\n", (double)(trace[i].t_ns - stall_run.start_ns) / 1e9,
		       trace[i].driver, trace[i].row == STALL_REFERENCE ? "reference" : "question", trace[i].number,
		       (double)(trace[i].put_ns - stall_run.start_ns) / 1e9, is_stale(&trace[i]) ? " STALE" : "");
}

unsigned int stall_stale(unsigned int driver)
{
	return count(driver, is_stale);
}

static bool is_late(const struct stall_frame *f)
{
	return f->t_ns > deadline_ns(f);
}

/* A newer one had been put, and this one still got in. */
static bool is_overtaken(const struct stall_frame *f)
{
	const int64_t next_ns = stall_run.drivers[f->driver].references[f->number + 1].put_ns;

	return f->row == STALL_REFERENCE && next_ns && f->t_ns - next_ns > AHEAD_NS;
}

static void check_order(unsigned int driver)
{
	uint32_t last = 0;
	bool fresh = false;

	for (unsigned int i = 0; i < trace_n; i++) {
		if (trace[i].driver != driver || trace[i].row != STALL_REFERENCE)
			continue;
		TEST_ASSERT_GREATER_THAN_UINT32(last, trace[i].number);
		last = trace[i].number;
		TEST_ASSERT_FALSE(stall_run.bus.exact && !is_stale(&trace[i]) && is_overtaken(&trace[i]));
		if (trace[i].t_ns < stall_run.back_ns)
			continue;
		/* Stale frames, if any, come first. */
		TEST_ASSERT_FALSE(fresh && is_stale(&trace[i]));
		fresh |= !is_stale(&trace[i]);
	}
	TEST_ASSERT_TRUE(fresh || stall_run.drivers[driver].dead);
}

/* Frames seen, as the driver counted them; those that it lost in flight may have been sent all the same. */
static void check_counts(unsigned int driver, const struct stall_said *said)
{
	const struct slots_counts *c = &said->counts;
	const unsigned int seen = count(driver, is_any), late = count(driver, is_late);
	const uint64_t hole = missed(driver), unsure = seen + hole - c->confirmed;

	TEST_ASSERT_EQUAL_UINT64(c->put, said->put[STALL_REFERENCE] + said->put[STALL_QUESTION]);
	TEST_ASSERT_EQUAL_UINT64(c->put, c->replaced + c->expired + c->lost + c->confirmed);
	TEST_ASSERT_EQUAL_UINT64(c->lost, said->reported[STALL_REFERENCE] + said->reported[STALL_QUESTION]);
	TEST_ASSERT_EQUAL_UINT64(0, c->no_room);
	TEST_ASSERT_LESS_OR_EQUAL_UINT64(c->lost, c->stray);
	TEST_ASSERT_LESS_OR_EQUAL_UINT64(seen + hole, c->confirmed + c->stray);
	TEST_ASSERT_LESS_OR_EQUAL_UINT64(c->confirmed + c->lost, seen);
	TEST_ASSERT_LESS_OR_EQUAL_UINT64(c->late, c->stale);
	TEST_ASSERT_LESS_OR_EQUAL_UINT64(c->stale + unsure, stall_stale(driver));
	if (stall_run.bus.exact) {
		TEST_ASSERT_LESS_OR_EQUAL_UINT64(late + hole, c->late);
		TEST_ASSERT_LESS_OR_EQUAL_UINT64(c->late + unsure, late);
	}
}

void stall_check(unsigned int stale_min, unsigned int stale_max)
{
	for (unsigned int i = 0; i < STALL_DRIVERS; i++) {
		const unsigned int stale = stall_stale(i);
		struct stall_said said;

		stall_driver_said(&stall_run.drivers[i], &said);
		printf("  driver %u: %" PRIu64
		       " put, %u on the wire, %u of them late, %u stale references; %u resets\n",
		       i, said.counts.put, count(i, is_any), count(i, is_late), stale, stall_run.resets);
		TEST_ASSERT_LESS_OR_EQUAL_UINT(stale_max, stale);
		TEST_ASSERT_TRUE(stale >= stale_min || missed(i) || (stall_run.bus.purged && stall_run.bus.purged()));
		check_order(i);
		if (stall_run.drivers[i].dead)
			TEST_ASSERT_LESS_OR_EQUAL_UINT64(said.counts.confirmed + said.counts.lost + said.in_flight,
							 count(i, is_any));
		else
			check_counts(i, &said);
	}
}
