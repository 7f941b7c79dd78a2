/* relay_clock.c: how far the clock of another machine is ahead. */
#include "launch/achdds/relay_clock.h"

#define SANE_NS (INT64_MAX / 8) /* differences of times below do not overflow */

bool relay_clock_is_sane(int64_t t_ns)
{
	return t_ns >= 0 && t_ns < SANE_NS;
}

bool relay_clock_add(struct relay_clock *c, int64_t t1_ns, int64_t t2_ns, int64_t t3_ns, int64_t t4_ns)
{
	const bool sane = relay_clock_is_sane(t1_ns) && relay_clock_is_sane(t2_ns) && relay_clock_is_sane(t3_ns) &&
			  relay_clock_is_sane(t4_ns);
	const int64_t both_ns = sane ? (t4_ns - t1_ns) - (t3_ns - t2_ns) : -1;

	if (both_ns < 0 || t3_ns < t2_ns)
		return false;
	c->answers[c->next] =
		(struct relay_clock_answer){ ((t2_ns - t1_ns) + (t3_ns - t4_ns)) / 2, both_ns / 2 + 1, t1_ns };
	c->next = (c->next + 1) % RELAY_CLOCK_KEPT;
	if (c->n < RELAY_CLOCK_KEPT)
		c->n++;
	return true;
}

bool relay_clock_offset(const struct relay_clock *c, int64_t now_ns, int64_t *offset_ns, int64_t *error_ns)
{
	*error_ns = INT64_MAX;
	for (size_t i = 0; i < c->n; i++) {
		const struct relay_clock_answer *a = &c->answers[i];
		const int64_t error = a->error_ns + (int64_t)((double)(now_ns - a->at_ns) * RELAY_CLOCK_DRIFT);

		if (error >= *error_ns)
			continue;
		*error_ns = error;
		*offset_ns = a->offset_ns;
	}
	return c->n;
}
