/* sim_queue.h: what simulated devices share: frames that wait for their time, and random numbers. */
#ifndef DAEMONS_ROBOTSIM_SIM_QUEUE_H
#define DAEMONS_ROBOTSIM_SIM_QUEUE_H

#include "can/frame.h"

#define SIM_QUEUE_MAX 256

struct sim_queue {
	struct {
		int64_t t_ns;
		struct frame frame;
	} rows[SIM_QUEUE_MAX]; /* by their times */
	unsigned int n;
};

/* Behind those of the same time; a full queue takes no more. */
void sim_queue_put(struct sim_queue *queue, const struct frame *frame, int64_t t_ns);
int64_t sim_queue_next_ns(const struct sim_queue *queue); /* CLOCK_NEVER: it is empty */
bool sim_queue_take(struct sim_queue *queue, int64_t now_ns, struct frame *frame);

double sim_random(uint64_t *state); /* from 0 to less than 1; the state is never 0 */
/* Other data, as a device that is broken sends them. */
void sim_random_data(uint64_t *state, struct frame *frame);

#endif
