/* cycle.c: see cycle.h. */
#include "daemons/clock/cycle.h"

#define COUNTED_CYCLES_MIN 10

uint64_t cycle_at(int64_t t_ns, int64_t period_ns)
{
	return (uint64_t)(t_ns / period_ns);
}

int64_t cycle_began_ns(int64_t t_ns, int64_t period_ns)
{
	return t_ns - t_ns % period_ns;
}

int64_t cycle_next_ns(int64_t t_ns, int64_t period_ns)
{
	return cycle_began_ns(t_ns + period_ns - 1, period_ns);
}

bool cycle_due(uint64_t previous, uint64_t cycle, uint32_t divider)
{
	return cycle / divider != previous / divider && cycle % divider * 2 < divider;
}

static uint64_t rated_cycles(const struct cycle *c)
{
	uint64_t cycles = CYCLE_COUNTED_NS / (uint64_t)c->period_ns;

	return cycles < COUNTED_CYCLES_MIN ? COUNTED_CYCLES_MIN : cycles;
}

void cycle_paused(struct cycle *c, int64_t paused_ns)
{
	c->paused = paused_ns < CYCLE_PAUSE_NS ? 0 : (uint64_t)((paused_ns + c->period_ns - 1) / c->period_ns);
}

bool cycle_came(struct cycle *c, uint64_t cycle, int64_t late_ns)
{
	uint64_t skipped;

	if (!c->begun) {
		c->begun = true;
		c->previous = cycle - 1;
		c->since = cycle;
	} else {
		c->previous = c->now;
	}
	c->now = cycle;
	skipped = cycle - c->previous - 1;
	c->skipped += skipped > c->paused ? skipped - c->paused : 0;
	c->paused = 0;
	if (skipped)
		c->kept = 0;
	c->kept = late_ns < c->period_ns / 2 ? c->kept + 1 : 0;
	if (cycle + 1 - c->since < rated_cycles(c))
		return false;
	c->counted = cycle + 1 - c->since;
	c->counted_skipped = c->skipped;
	c->since = cycle + 1;
	c->skipped = 0;
	return true;
}

bool cycle_ready(const struct cycle *c)
{
	return c->kept >= CYCLE_READY;
}

bool cycle_too_slow(const struct cycle *c)
{
	return c->counted_skipped * 100 > c->counted * CYCLE_SKIPPED_MAX_PERCENT;
}
