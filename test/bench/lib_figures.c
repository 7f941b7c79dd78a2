/* lib_figures.c: quantiles of samples, and the figures of a bench as lines that a script can read. */
#define _GNU_SOURCE
#include "test/bench/lib_figures.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/bench/lib.h"

/* ---- samples ---- */

size_t figures_samples_size(uint32_t room)
{
	return sizeof(struct figures_samples) + room * sizeof(uint32_t);
}

struct figures_samples *figures_samples_shared(uint32_t room)
{
	struct figures_samples *samples = bench_shared(figures_samples_size(room));

	samples->room = room;
	return samples;
}

struct figures_samples *figures_samples_new(void)
{
	struct figures_samples *samples = calloc(1, figures_samples_size(0));

	if (!samples)
		bench_die("out of memory");
	return samples;
}

void figures_samples_add(struct figures_samples *samples, int64_t ns)
{
	if (samples->count < samples->room)
		samples->ns[samples->count++] = ns > UINT32_MAX ? UINT32_MAX : ns < 0 ? 0 : (uint32_t)ns;
}

struct figures_samples *figures_samples_append(struct figures_samples *all, const struct figures_samples *more)
{
	uint32_t count = all->count + more->count;

	all = realloc(all, figures_samples_size(count));
	if (!all)
		bench_die("out of memory");
	memcpy(all->ns + all->count, more->ns, more->count * sizeof more->ns[0]);
	all->count = all->room = count;
	return all;
}

static int compare_ns(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

void figures_samples_sort(struct figures_samples *samples)
{
	qsort(samples->ns, samples->count, sizeof samples->ns[0], compare_ns);
}

static size_t rank(size_t count, double part)
{
	size_t index = (size_t)(part * (double)count);

	return index < count ? index : count - 1;
}

double figures_quantile_us(const struct figures_samples *sorted, double part)
{
	return sorted->count ? sorted->ns[rank(sorted->count, part)] / 1e3 : NAN;
}

static int compare_values(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

double figures_median(double *values, size_t count)
{
	qsort(values, count, sizeof values[0], compare_values);
	return figures_part(values, count, 0.5);
}

double figures_part(const double *sorted, size_t count, double part)
{
	return count ? sorted[rank(count, part)] : NAN;
}

/* ---- lines ---- */

static char *kept_text;
static size_t kept_size;
static FILE *kept_lines;

static FILE *kept(void)
{
	if (!kept_lines)
		kept_lines = open_memstream(&kept_text, &kept_size);
	if (!kept_lines)
		bench_die("out of memory");
	return kept_lines;
}

static void keep_figure(double value, const char *unit, const char *name)
{
	fprintf(kept(), "bench %s %.*f %s\n", name, strcmp(unit, "x") ? 2 : 3, value, unit);
}

void figures_line(double value, const char *unit, const char *name_format, ...)
{
	char name[128];
	va_list args;

	va_start(args, name_format);
	vsnprintf(name, sizeof name, name_format, args);
	va_end(args);
	keep_figure(value, unit, name);
}

const char *figures_target(double value, double limit, const char *name_format, ...)
{
	const char *verdict = value <= limit ? "PASS" : "MISS"; /* NAN misses */
	char name[128];
	va_list args;

	va_start(args, name_format);
	vsnprintf(name, sizeof name, name_format, args);
	va_end(args);
	keep_figure(value, "x", name);
	fprintf(kept(), "target %s %.3f <= %.2f %s\n", name, value, limit, verdict);
	return verdict;
}

void figures_print(void)
{
	fflush(kept());
	printf("\n%s", kept_text);
}
