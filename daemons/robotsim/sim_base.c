/* sim_base.c: what most units have in common; see sim_base.h. */
#include <math.h>

#include "daemons/robotsim/sim_base.h"
#include "daemons/robotsim/sim_random.h"

int64_t sim_base_next_ns(const void *state)
{
	return sim_queue_next_ns(&((const struct sim_base *)state)->queue);
}

bool sim_base_send(void *state, int64_t now_ns, struct frame *frame)
{
	struct sim_base *b = state;
	const bool due = sim_queue_take(&b->queue, now_ns, frame);

	b->sent += due;
	return due;
}

bool sim_base_has_power(const void *state)
{
	return !((const struct sim_base *)state)->off;
}

bool sim_base_loses(struct sim_base *b, unsigned int room)
{
	const bool loses = b->silent || b->queue.n >= room || sim_random_share(&b->random) < b->lose;

	b->lost += loses;
	return loses;
}

void sim_base_put(struct sim_base *b, struct frame frame, unsigned int times, int64_t t_ns)
{
	frame.len -= b->is_short;
	for (unsigned int i = 0; b->garbage && i < frame.len; i++)
		frame.data[i] = (uint8_t)(sim_random_share(&b->random) * 256);
	while (times--)
		sim_queue_put(&b->queue, &frame, t_ns);
}

uint16_t sim_base_i16(double value)
{
	return (uint16_t)(int16_t)lround(num_clamp(value, INT16_MIN, INT16_MAX));
}

bool sim_base_due(int64_t *next_ns, int64_t every_ns, int64_t now_ns)
{
	const bool due = *next_ns <= now_ns;

	while (*next_ns <= now_ns)
		*next_ns += every_ns;
	return due;
}
