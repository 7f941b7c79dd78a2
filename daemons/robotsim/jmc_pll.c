/* jmc_pll.c: the phase-locked loop of a simulated Hubo joint board.  Checked: covered. */
#include "daemons/robotsim/jmc_pll.h"

#include <math.h>

#define SETTLE_NS INT64_C(1000000000)

void jmc_pll_start(struct jmc_pll *p, const struct jmc_pll_settings *settings, int64_t nominal_ns, int64_t t_ns)
{
	*p = (struct jmc_pll){
		.settings = *settings,
		.nominal_ns = (double)nominal_ns,
		.period_ns = (double)nominal_ns,
		.tick_ns = t_ns + nominal_ns,
		.last_ns = INT64_MIN,
	};
}

static void measure(struct jmc_pll *p, int64_t t_ns)
{
	if (t_ns < p->settled_ns)
		return;
	p->quality.n++;
	p->quality.sum_ns += p->error_ns;
	p->quality.squares += p->error_ns * p->error_ns;
	p->quality.max_ns = fmax(p->quality.max_ns, fabs(p->error_ns));
}

/* Proportional to the phase, integral to the period, both once in a period. */
static void correct(struct jmc_pll *p, int64_t t_ns)
{
	const double turn = 2 * M_PI * p->settings.bandwidth_hz * p->nominal_ns * 1e-9;
	const double longest = p->nominal_ns * (1 + p->settings.range), shortest = 2 * p->nominal_ns - longest;

	p->tick_ns += llround(2 * p->settings.damping * turn * p->error_ns);
	if (p->tick_ns <= t_ns)
		p->tick_ns = t_ns + 1;
	p->period_ns = num_clamp(p->period_ns + turn * turn * p->error_ns, shortest, longest);
}

void jmc_pll_arrive(struct jmc_pll *p, int64_t t_ns)
{
	const double to_tick_ns = (double)(p->tick_ns - t_ns) - p->settings.sample * p->period_ns;

	p->arrived++;
	/* From the next tick, or from the one before it, whichever is nearer. */
	p->error_ns = to_tick_ns > p->period_ns / 2 ? p->period_ns - to_tick_ns : -to_tick_ns;
	if (p->locked) {
		measure(p, t_ns);
		correct(p, t_ns);
	} else {
		const bool in_time = p->last_ns != INT64_MIN && fabs(p->error_ns) <= p->settings.range * p->period_ns;

		p->in_row = in_time ? p->in_row + 1 : 0;
		p->tick_ns = t_ns + llround(p->settings.sample * p->period_ns) + 1;
		if (p->in_row >= p->settings.lock_after) {
			p->locked = true;
			p->locks++;
			p->settled_ns = t_ns + SETTLE_NS;
			p->quality = (struct jmc_pll_quality){ 0 };
		}
	}
	p->last_ns = t_ns;
}

void jmc_pll_tick(struct jmc_pll *p)
{
	const double silent_ns = (double)(p->tick_ns - p->last_ns);

	if (p->locked && silent_ns > ((double)p->settings.unlock_after + p->settings.sample) * p->period_ns) {
		p->locked = false;
		p->losses++;
		p->in_row = 0;
		p->period_ns = p->nominal_ns;
	}
	p->tick_ns += llround(p->period_ns);
}

bool jmc_pll_holds(const struct jmc_pll *p, int64_t t_ns)
{
	return p->last_ns == INT64_MIN || (double)(t_ns - p->last_ns) > p->settings.hold_after * p->period_ns;
}

double jmc_pll_mean_ns(const struct jmc_pll *p)
{
	return p->quality.n ? p->quality.sum_ns / (double)p->quality.n : 0;
}

double jmc_pll_rms_ns(const struct jmc_pll *p)
{
	return p->quality.n ? sqrt(p->quality.squares / (double)p->quality.n) : 0;
}
