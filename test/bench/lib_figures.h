/* lib_figures.h: samples, their quantiles, and the lines `bench NAME VALUE UNIT`. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* ---- samples ---- */

struct figures_samples { /* may lie in shared memory: no pointers */
	uint32_t room, count;
	uint32_t ns[];
};

size_t figures_samples_size(uint32_t room);
struct figures_samples *figures_samples_shared(uint32_t room); /* written by a child, read by its parent */
struct figures_samples *figures_samples_new(void);	       /* grows in figures_samples_append */
void figures_samples_add(struct figures_samples *samples, int64_t ns);
struct figures_samples *figures_samples_append(struct figures_samples *all, const struct figures_samples *more);
void figures_samples_sort(struct figures_samples *samples);
/* Of sorted samples, in microseconds: the smallest value not exceeded by this part of them. */
double figures_quantile_us(const struct figures_samples *sorted, double part);

double figures_median(double *values, size_t count); /* sorts them */
double figures_part(const double *sorted, size_t count, double part);

/* ---- lines: kept until figures_print, so that the tables stay readable ---- */

void figures_line(double value, const char *unit, const char *name_format, ...) __attribute__((format(printf, 3, 4)));
/* A figure that ought not to exceed limit.  Answers "PASS" or "MISS"; neither ever fails a run. */
const char *figures_target(double value, double limit, const char *name_format, ...)
	__attribute__((format(printf, 3, 4)));
void figures_print(void);
