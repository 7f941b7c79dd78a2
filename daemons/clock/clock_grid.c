/* clock_grid.c: see clock_grid.h. */
#include "daemons/clock/clock_grid.h"

#define COUNTED_CYCLES_MIN 10

uint64_t clock_grid_at(int64_t t_ns, int64_t period_ns)
{
	return (uint64_t)(t_ns / period_ns);
}

int64_t clock_grid_began_ns(int64_t t_ns, int64_t period_ns)
{
	return t_ns - t_ns % period_ns;
}

int64_t clock_grid_next_ns(int64_t t_ns, int64_t period_ns)
{
	return clock_grid_began_ns(t_ns + period_ns - 1, period_ns);
}

bool clock_grid_due(uint64_t previous, uint64_t cycle, uint32_t divider)
{
	return cycle / divider != previous / divider && cycle % divider * 2 < divider;
}

static uint64_t rated_cycles(const struct clock_grid *c)
{
	uint64_t cycles = CLOCK_GRID_COUNTED_NS / (uint64_t)c->period_ns;

	return cycles < COUNTED_CYCLES_MIN ? COUNTED_CYCLES_MIN : cycles;
}

void clock_grid_paused(struct clock_grid *c, int64_t paused_ns)
{
	c->paused = paused_ns < CLOCK_GRID_PAUSE_NS ? 0 : (uint64_t)((paused_ns + c->period_ns - 1) / c->period_ns);
}

bool clock_grid_came(struct clock_grid *c, uint64_t cycle, int64_t late_ns)
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

bool clock_grid_ready(const struct clock_grid *c)
{
	return c->kept >= CLOCK_GRID_READY;
}

bool clock_grid_too_slow(const struct clock_grid *c)
{
	return c->counted_skipped * 100 > c->counted * CLOCK_GRID_SKIPPED_MAX_PERCENT;
}
