/* sim_queue.c: frames of a unit that wait for their time; see sim_queue.h. */
#include "daemons/robotsim/sim_queue.h"

#include "channels/clock/clock.h"

void sim_queue_put(struct sim_queue *q, const struct frame *frame, int64_t t_ns)
{
	unsigned int i = q->n;

	if (i == SIM_QUEUE_MAX)
		return;
	for (; i && q->at[i - 1].t_ns > t_ns; i--)
		q->at[i] = q->at[i - 1];
	q->at[i].t_ns = t_ns;
	q->at[i].frame = *frame;
	q->n++;
}

int64_t sim_queue_next_ns(const struct sim_queue *q)
{
	return q->n ? q->at[0].t_ns : CLOCK_NEVER;
}

bool sim_queue_take(struct sim_queue *q, int64_t now_ns, struct frame *frame)
{
	if (!q->n || q->at[0].t_ns > now_ns)
		return false;
	*frame = q->at[0].frame;
	memmove(&q->at[0], &q->at[1], --q->n * sizeof(q->at[0]));
	return true;
}
