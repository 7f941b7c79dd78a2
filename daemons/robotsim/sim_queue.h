/* sim_queue.h: frames of a unit that wait for their time. */
#pragma once

#include "can/bus/frame.h"
#include "config/base/base.h"

#define SIM_QUEUE_MAX 256

/* Begins as zeros. */
struct sim_queue {
	unsigned int n;
	struct {
		int64_t t_ns;
		struct frame frame;
	} at[SIM_QUEUE_MAX]; /* by their times; those of one time as they were put */
};

void sim_queue_put(struct sim_queue *queue, const struct frame *frame, int64_t t_ns); /* dropped if it is full */
int64_t sim_queue_next_ns(const struct sim_queue *queue);			      /* CLOCK_NEVER: it is empty */
bool sim_queue_take(struct sim_queue *queue, int64_t now_ns, struct frame *frame);    /* the first, if it is due */
