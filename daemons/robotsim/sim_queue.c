/* sim_queue.c: frames that wait for their time, and random numbers; see sim_queue.h. */
#include "daemons/robotsim/sim_queue.h"

#include <string.h>

#include "channels/clock.h"

void sim_queue_put(struct sim_queue *q, const struct frame *f, int64_t t_ns)
{
	unsigned int at = q->n;

	if (at == SIM_QUEUE_MAX)
		return;
	for (; at && q->rows[at - 1].t_ns > t_ns; at--)
		q->rows[at] = q->rows[at - 1];
	q->rows[at].t_ns = t_ns;
	q->rows[at].frame = *f;
	q->n++;
}

int64_t sim_queue_next_ns(const struct sim_queue *q)
{
	return q->n ? q->rows[0].t_ns : CLOCK_NEVER;
}

bool sim_queue_take(struct sim_queue *q, int64_t now_ns, struct frame *f)
{
	if (!q->n || q->rows[0].t_ns > now_ns)
		return false;
	*f = q->rows[0].frame;
	memmove(&q->rows[0], &q->rows[1], --q->n * sizeof(q->rows[0]));
	return true;
}

double sim_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (double)(*state * 2685821657736338717u >> 11) * 0x1p-53;
}

void sim_random_data(uint64_t *state, struct frame *f)
{
	for (unsigned int i = 0; i < f->len; i++)
		f->data[i] = (uint8_t)(sim_random(state) * 256);
}
