/* test_hung.c: which silent daemons are hung. */
#include "test/lib/testcase.h"

#include "channels/clock/clock.h"
#include "launch/achstart/hung.h"

#define MS INT64_C(1000000)

TEST(verdicts)
{
	static const struct {
		int64_t patience_ms, silent_ms, waited_ms;
		char state;
		bool known;
		enum hung_verdict verdict;
	} rows[] = {
		{ 100, 100, 0, 'S', true, HUNG_NO },
		{ 100, 101, 0, 'S', true, HUNG_YES },  /* asleep */
		{ 100, 101, 0, 'D', true, HUNG_YES },  /* in the kernel */
		{ 100, 101, 0, 'R', true, HUNG_YES },  /* runs without a sign of life */
		{ 100, 101, 99, 'T', true, HUNG_YES }, /* stopped */
		{ 100, 101, 99, 'R', false, HUNG_YES },
		{ 100, 101, 1, 'R', true, HUNG_WAITS },
		{ 100, 101, 1, 'S', true, HUNG_WAITS }, /* it has waited, and runs a moment later */
		{ 100, 1500, 1399, 'R', true, HUNG_YES },
		{ 100, 1500, 1400, 'R', true, HUNG_WAITS },
		{ 100, 2000, 1900, 'R', true, HUNG_WAITS }, /* the limit is 2 s at least ... */
		{ 100, 2001, 1901, 'R', true, HUNG_OVERLOADED },
		{ 100, 2001, 1900, 'R', true, HUNG_YES },
		{ 300, 3000, 2900, 'R', true, HUNG_WAITS }, /* ... and ten times the patience */
		{ 300, 3001, 2901, 'R', true, HUNG_OVERLOADED },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct hung_facts facts = { .patience_ns = rows[i].patience_ms * MS,
						  .silent_ns = rows[i].silent_ms * MS,
						  .waited_ns = rows[i].waited_ms * MS,
						  .state = rows[i].state,
						  .known = rows[i].known };
		char row[32];

		snprintf(row, sizeof(row), "row %zu", i);
		TEST_ASSERT_EQUAL_MESSAGE(rows[i].verdict, hung_verdict(&facts), row);
	}
}

static struct hung hung;

/* now in ms, CPU time and ended waits in ms */
static void sample(int64_t now, int64_t cpu, int64_t delay, char state)
{
	char text[96];

	snprintf(text, sizeof(text), "%lld %lld 5\n", (long long)(cpu * MS), (long long)(delay * MS));
	hung_sample(&hung, text, state, 1000 * MS, false, now * MS);
}

/* A wait that goes on counts, and is not counted twice when it has ended. */
TEST(waits_are_counted_once)
{
	hung = (struct hung){ 0 };
	sample(1050, 70, 30, 'R'); /* when it last ran is not known */
	TEST_ASSERT_TRUE(hung.facts.known);
	TEST_ASSERT_EQUAL_INT64(50 * MS, hung.facts.silent_ns);
	TEST_ASSERT_EQUAL_INT64(0, hung.facts.waited_ns);
	sample(1090, 70, 30, 'R');
	TEST_ASSERT_EQUAL_INT64(40 * MS, hung.facts.waited_ns);
	sample(1110, 71, 78, 'R'); /* it has run */
	TEST_ASSERT_EQUAL_INT64(48 * MS, hung.facts.waited_ns);
	TEST_ASSERT_EQUAL_INT64(1 * MS, hung.facts.cpu_ns);
	sample(1130, 71, 78, 'R');
	TEST_ASSERT_EQUAL_INT64(68 * MS, hung.facts.waited_ns);
	sample(1150, 71, 78, 'S'); /* it sleeps: that is not a wait for a processor */
	TEST_ASSERT_EQUAL_INT64(48 * MS, hung.facts.waited_ns);
	hung_sample(&hung, "71000000 78000000 5", 'R', 1160 * MS, false, 1200 * MS); /* another silence */
	TEST_ASSERT_EQUAL_INT64(0, hung.facts.waited_ns);
	TEST_ASSERT_EQUAL_INT64(40 * MS, hung.facts.silent_ns);
}

/* Nothing that a process waited for before it was first sampled is lost if it began with the silence. */
TEST(a_fresh_process_has_waited_since_it_began)
{
	hung = (struct hung){ 0 };
	hung_sample(&hung, "2000000 400000000 7", 'S', 1000 * MS, true, 1500 * MS);
	TEST_ASSERT_EQUAL_INT64(400 * MS, hung.facts.waited_ns);
	TEST_ASSERT_EQUAL_INT64(2 * MS, hung.facts.cpu_ns);
}

/* A spare (spare.h) is sampled when it takes over: what it waited for before, as an ordinary process, does not count,
 * though its silence began then as that of a fresh process does. */
TEST(a_spare_has_waited_since_it_took_over)
{
	hung = (struct hung){ 0 };
	hung_sample(&hung, "7000000 3000000000 9", 'S', 1000 * MS, false, 1000 * MS);
	hung_sample(&hung, "9000000 3010000000 12", 'S', 1000 * MS, true, 1500 * MS);
	TEST_ASSERT_EQUAL_INT64(10 * MS, hung.facts.waited_ns);
	TEST_ASSERT_EQUAL_INT64(2 * MS, hung.facts.cpu_ns);
}

TEST(without_accounts_only_the_silence_counts)
{
	static const char *const texts[] = { "0 0 0", "", "x", "1 2" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		hung = (struct hung){ 0 };
		hung_sample(&hung, texts[i], 'R', 1000 * MS, false, 1500 * MS);
		TEST_ASSERT_FALSE_MESSAGE(hung.facts.known, texts[i]);
	}
	hung_measure(&hung, 0, 1000 * MS, false, 1500 * MS); /* there is no such process */
	TEST_ASSERT_FALSE(hung.facts.known);
}

TEST(this_process_runs)
{
	hung = (struct hung){ 0 };
	hung_measure(&hung, getpid(), clock_now_ns(), false, clock_now_ns());
	if (!hung.facts.known)
		TEST_IGNORE_MESSAGE("this kernel has no /proc/PID/schedstat");
	TEST_ASSERT_EQUAL('R', hung.facts.state);
}
