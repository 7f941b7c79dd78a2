/* test_bus_stamp.c: from the kernel's stamps to CLOCK_MONOTONIC, as tables of what happens. */
#include "test/lib/testcase.h"

#include "can/bus/bus_stamp.h"

#define US 1000ll
#define MS 1000000ll
#define S 1000000000ll
#define HOUR (3600 * S)
#define REAL (1700000000 * S) /* CLOCK_REALTIME at 0 of CLOCK_MONOTONIC */

struct row {
	int64_t now, step;   /* when the batch is read; by how much CLOCK_REALTIME has been set by then */
	int64_t at, at_step; /* when the frame was stamped; the same then */
	int64_t out;	     /* expected */
	bool restamped;
	int64_t gap; /* between the two readings of CLOCK_MONOTONIC, CLOCK_REALTIME at its end; 0: 2 us */
};

/* Each row is a batch of one frame, read 10 us after now; a row with now 0 is one more frame of the batch before. */
static void play(const char *what, const struct row *rows, size_t n)
{
	struct bus_stamp s;
	int64_t last = 0;
	char where[64];

	bus_stamp_start(&s, S);
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];
		int64_t t;
		bool restamped;

		if (r->now)
			bus_stamp_batch(&s, r->now - (r->gap ? r->gap : 2 * US),
					REAL + r->step + r->now - (r->gap ? 0 : US), r->now);
		restamped = bus_stamp_frame(&s, &t, r->at ? REAL + r->at_step + r->at : 0);
		snprintf(where, sizeof(where), "%s, row %zu", what, i);
		TEST_ASSERT_EQUAL_INT64_MESSAGE(r->out, t, where);
		TEST_ASSERT_EQUAL_MESSAGE(r->restamped, restamped, where);
		TEST_ASSERT_TRUE_MESSAGE(t >= last, where);
		last = t;
	}
}
#define PLAY(what, ...)                                           \
	do {                                                      \
		static const struct row rows[] = { __VA_ARGS__ }; \
		play(what, rows, sizeof(rows) / sizeof(rows[0])); \
	} while (0)

TEST(quiet_clock)
{
	PLAY("usual", { .now = 2 * S, .at = 2 * S - 50 * US, .out = 2 * S - 50 * US },
	     { .at = 2 * S - 20 * US, .out = 2 * S - 20 * US },
	     { .now = 3 * S, .at = 2 * S + 900 * MS, .out = 2 * S + 900 * MS }, /* a late reader */
	     { .at = 3 * S, .out = 3 * S });
	PLAY("set before we came",
	     { .now = 2 * S, .step = -HOUR, .at = 2 * S - US, .at_step = -HOUR, .out = 2 * S - US });
}

TEST(small_differences_are_put_right_without_a_word)
{
	PLAY("back a little", { .now = 2 * S, .at = 2 * S - 10 * US, .out = 2 * S - 10 * US },
	     { .at = 2 * S - 60 * US, .out = 2 * S - 10 * US }, { .at = 2 * S - 11 * US - MS, .out = 2 * S - 10 * US });
	PLAY("ahead a little", { .now = 2 * S, .at = 2 * S + 40 * US, .out = 2 * S },
	     { .at = 2 * S + MS + US, .out = 2 * S });
}

TEST(nonsense_is_the_time_of_arrival)
{
	PLAY("no stamp", { .now = 2 * S, .at = 0, .out = 2 * S, .restamped = true });
	PLAY("ahead", { .now = 2 * S, .at = 2 * S + MS + US + 1, .out = 2 * S, .restamped = true });
	PLAY("before the opening", { .now = 2 * S, .at = S - MS - US - 1, .out = 2 * S, .restamped = true });
	PLAY("before the last batch", { .now = 2 * S, .at = 2 * S - US, .out = 2 * S - US },
	     { .now = 3 * S, .at = 2 * S - 2 * US - MS - 1, .out = 3 * S, .restamped = true });
	PLAY("the rest of the batch cannot be before it", { .now = 2 * S, .at = 0, .out = 2 * S, .restamped = true },
	     { .at = 2 * S - 100 * US, .out = 2 * S }, { .at = 2 * S - 5 * MS, .out = 2 * S, .restamped = true },
	     { .now = 2 * S + 10 * MS, .at = 2 * S + 5 * MS, .out = 2 * S + 5 * MS });
}

/* The clock is set between the frame's stamp and the sample. */
TEST(clock_set_by_an_hour)
{
	PLAY("forward", { .now = 2 * S, .at = 2 * S - MS, .out = 2 * S - MS },
	     { .now = 3 * S, .step = HOUR, .at = 3 * S - 2 * MS, .out = 3 * S, .restamped = true },
	     { .step = HOUR, .at = 3 * S - US, .at_step = HOUR, .out = 3 * S },
	     { .now = 4 * S, .step = HOUR, .at = 4 * S - US, .at_step = HOUR, .out = 4 * S - US });
	PLAY("back", { .now = 2 * S, .at = 2 * S - MS, .out = 2 * S - MS },
	     { .now = 3 * S, .step = -HOUR, .at = 3 * S - 2 * MS, .out = 3 * S, .restamped = true },
	     { .step = -HOUR, .at = 3 * S - US, .at_step = -HOUR, .out = 3 * S },
	     { .now = 4 * S, .step = -HOUR, .at = 4 * S - US, .at_step = -HOUR, .out = 4 * S - US });
	PLAY("there and back between two batches", { .now = 2 * S, .at = 2 * S - MS, .out = 2 * S - MS },
	     { .now = 3 * S, .at = 3 * S - 8 * MS, .at_step = HOUR, .out = 3 * S, .restamped = true },
	     { .now = 4 * S, .at = 4 * S - 8 * MS, .at_step = -HOUR, .out = 4 * S, .restamped = true },
	     { .now = 5 * S, .at = 5 * S - US, .out = 5 * S - US });
}

/* The two clocks of a sample are read far apart: the middle is wrong by half of it. */
TEST(interrupted_samples)
{
	PLAY("the one before is as good", { .now = 2 * S, .at = 2 * S - US, .out = 2 * S - US },
	     { .now = 3 * S, .gap = 20 * MS, .at = 3 * S - 25 * MS, .out = 3 * S - 25 * MS },
	     { .now = 4 * S, .gap = 20 * MS, .at = 4 * S - US, .out = 4 * S - US });
	PLAY("there is none before", { .now = 2 * S, .gap = 20 * MS, .at = 2 * S - US, .out = 2 * S - US - 10 * MS },
	     { .at = 2 * S, .out = 2 * S - 10 * MS }, { .now = 3 * S, .at = 3 * S - US, .out = 3 * S - US });
	PLAY("nothing is called nonsense that is not", { .now = S + MS, .gap = 20 * MS, .at = S, .out = S });
	PLAY("and the clock was set", { .now = 2 * S, .at = 2 * S - US, .out = 2 * S - US },
	     { .now = 3 * S, .step = HOUR, .gap = 20 * MS, .at = 3 * S - 5 * MS, .out = 3 * S, .restamped = true },
	     { .now = 4 * S, .step = HOUR, .at = 4 * S - US, .at_step = HOUR, .out = 4 * S - US });
}
