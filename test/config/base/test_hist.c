/* test_hist.c: the histogram against sorted arrays. */
#include <math.h>

#include "config/base/hist.h"
#include "test/lib/lib.h"
#include "test/lib/testcase.h"

#define VALUES 4000
#define OVERFLOW_NS (INT64_C(1) << HIST_RANGE_BITS)

static struct hist hist;
static int64_t values[VALUES];
static uint64_t seed;

void setUp(void)
{
	lib_watchdog(Unity.CurrentTestName, LIB_HANG_S);
	hist = (struct hist){ 0 };
	seed = 88172645463325252;
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static double uniform(void)
{
	return (double)(lib_random(&seed) >> 11) / 9007199254740992.0;
}

/* ---- distributions ---- */

static int64_t draw_small(void)
{
	return (int64_t)(lib_random(&seed) % 70);
}

static int64_t draw_flat(void)
{
	return (int64_t)(lib_random(&seed) % 1000000);
}

static int64_t draw_exponential(void)
{
	return (int64_t)(-log(1 - uniform()) * 20000);
}

static int64_t draw_every_scale(void)
{
	return (int64_t)exp(uniform() * log(4e12));
}

static int64_t draw_two_points(void)
{
	return lib_random(&seed) % 100 ? 4321 : 98765432;
}

static int64_t draw_constant(void)
{
	return 1234567;
}

static int64_t draw_beyond_the_range(void)
{
	return lib_random(&seed) % 2 ? draw_flat() : OVERFLOW_NS + (int64_t)(lib_random(&seed) >> 4);
}

static int64_t (*const draws[])(void) = { draw_small,	   draw_flat,	  draw_exponential,	draw_every_scale,
					  draw_two_points, draw_constant, draw_beyond_the_range };
#define DRAWS (sizeof draws / sizeof *draws)

/* ---- quantiles ---- */

/* part is num / den; the rank by whole numbers, so that the library's floating point is held against something. */
static void check_quantile(size_t n, uint64_t num, uint64_t den)
{
	uint64_t rank = (num * n + den - 1) / den;
	int64_t exact = values[rank ? rank - 1 : 0];
	int64_t got = hist_quantile(&hist, (double)num / (double)den);

	TEST_ASSERT_GREATER_OR_EQUAL_INT64(exact, got);
	TEST_ASSERT_LESS_OR_EQUAL_INT64(values[n - 1], got);
	if (exact >= OVERFLOW_NS)
		TEST_ASSERT_EQUAL_INT64(values[n - 1], got);
	else
		TEST_ASSERT_LESS_OR_EQUAL_INT64(exact + exact / 32, got);
	if (rank <= 1 || rank == n)
		TEST_ASSERT_EQUAL_INT64(exact, got);
}

static void check_all(size_t n)
{
	qsort(values, n, sizeof *values, ascending);
	TEST_ASSERT_EQUAL_UINT64(n, hist.count);
	TEST_ASSERT_EQUAL_INT64(values[0], hist.min_ns);
	TEST_ASSERT_EQUAL_INT64(values[n - 1], hist.max_ns);
	for (uint64_t percent = 0; percent <= 100; percent++)
		check_quantile(n, percent, 100);
	check_quantile(n, 999, 1000);
	check_quantile(n, 9999, 10000);
	for (uint64_t rank = 1; rank <= n; rank += 1 + n / 50)
		check_quantile(n, rank, n);
}

TEST(test_quantiles_of_every_distribution)
{
	static const size_t sizes[] = { 1, 2, 3, 7, 10, 64, 99, 100, 101, 1000, VALUES };

	for (size_t d = 0; d < DRAWS; d++)
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
			hist = (struct hist){ 0 };
			for (size_t i = 0; i < sizes[s]; i++)
				hist_add(&hist, values[i] = draws[d]());
			check_all(sizes[s]);
		}
}

/* The last value of the part that v lies in, seen from outside: the second of three values. */
static int64_t part_last(int64_t v)
{
	hist = (struct hist){ 0 };
	hist_add(&hist, 0);
	hist_add(&hist, v);
	hist_add(&hist, INT64_MAX);
	return hist_quantile(&hist, 2. / 3);
}

/* From one part to the next: none is skipped, none is wider than 1 in 32, and there are as many as the struct has. */
TEST(test_parts_cover_everything_once)
{
	int parts = 0;

	for (int64_t first = 0; first < OVERFLOW_NS; parts++) {
		int64_t last = part_last(first);

		TEST_ASSERT_GREATER_OR_EQUAL_INT64(first, last);
		TEST_ASSERT_LESS_OR_EQUAL_INT64(first + first / 32, last);
		TEST_ASSERT_EQUAL_INT64(last, part_last(last));
		TEST_ASSERT_EQUAL_INT64(last, part_last(first + (last - first) / 2));
		first = last + 1;
		if (first < 64)
			TEST_ASSERT_EQUAL_INT64(parts, last);
	}
	TEST_ASSERT_EQUAL_INT(HIST_PARTS, parts);
	TEST_ASSERT_EQUAL_INT64(INT64_MAX, part_last(OVERFLOW_NS));
}

TEST(test_part_that_makes_no_sense)
{
	for (int64_t v = 10; v <= 1000; v += 10)
		hist_add(&hist, v);
	TEST_ASSERT_EQUAL_INT64(10, hist_quantile(&hist, -1));
	TEST_ASSERT_EQUAL_INT64(10, hist_quantile(&hist, 0));
	TEST_ASSERT_EQUAL_INT64(10, hist_quantile(&hist, NAN));
	TEST_ASSERT_EQUAL_INT64(10, hist_quantile(&hist, -INFINITY));
	TEST_ASSERT_EQUAL_INT64(1000, hist_quantile(&hist, 1));
	TEST_ASSERT_EQUAL_INT64(1000, hist_quantile(&hist, 2));
	TEST_ASSERT_EQUAL_INT64(1000, hist_quantile(&hist, INFINITY));
}

/* ---- the rest ---- */

TEST(test_empty)
{
	static const struct hist zeroes;

	TEST_ASSERT_EQUAL_MEMORY(&zeroes, &hist, sizeof hist);
	TEST_ASSERT_EQUAL_INT64(0, hist_quantile(&hist, 0.5));
	hist_add(&hist, 5); /* the min_ns of 0 was not a value */
	TEST_ASSERT_EQUAL_INT64(5, hist.min_ns);
	TEST_ASSERT_EQUAL_UINT64(1, hist.count);
}

TEST(test_early_is_not_late)
{
	hist_add(&hist, -1);
	hist_add(&hist, INT64_MIN);
	hist_add(&hist, 30);
	TEST_ASSERT_EQUAL_UINT64(3, hist.count);
	TEST_ASSERT_EQUAL_INT64(0, hist.min_ns);
	TEST_ASSERT_EQUAL_INT64(0, hist_quantile(&hist, 2. / 3));
}
