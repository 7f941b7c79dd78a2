/* work.h: computing that costs a given processor time, for programs that play a slow one.
 *
 * It is a count of loops, measured once: the same work every time, whatever the clock of the program says. */
#ifndef PENDULUM_WORK_H
#define PENDULUM_WORK_H

#include <stdint.h>

struct work {
	int64_t mean_ns; /* of one piece; 0: nothing to do */
	int64_t seed;	 /* 0: each piece costs the mean; else 0 to twice the mean, by a pattern */
	double loops_per_ns;
};

/* Pure: what the piece of that number costs. */
int64_t work_cost_ns(const struct work *work, uint64_t piece);

void work_measure(struct work *work);			/* this processor; 25 ms */
void work_do(const struct work *work, int64_t cost_ns); /* once it was measured */
int64_t work_spent_ns(void);				/* processor time of this process; to 1 us */

#endif
