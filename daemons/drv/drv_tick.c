/* drv_tick.c: when a driver's next tick is.  Checked: covered. */
#include "daemons/drv/drv_tick.h"

/* Parts of a period. */
#define SLEW_MOST 100 /* a hundredth per tick */
#define MEET 50	      /* an event so near to a tick takes over */
#define TOLERANCE 50  /* of the clock's period against the configured one */

/* What is left of a distance when whole periods do not count: -period/2 to less than period/2. */
static int64_t phase(int64_t distance_ns, int64_t period_ns)
{
	int64_t rest = distance_ns % period_ns;

	if (2 * rest >= period_ns)
		return rest - period_ns;
	return 2 * rest < -period_ns ? rest + period_ns : rest;
}

static int64_t limited(int64_t value, int64_t most)
{
	return value > most ? most : value < -most ? -most : value;
}

void drv_tick_start(struct drv_tick *t, const struct drv_tick_rule *rule, int64_t first_ns)
{
	*t = (struct drv_tick){ .rule = *rule,
				.period_ns = rule->period_ns,
				.next_ns = first_ns,
				.last_ns = first_ns - rule->period_ns,
				.seen_ns = INT64_MIN,
				.freerun = rule->kind != DRV_TICK_PERIOD };
}

static int64_t lost_after_ns(int64_t period_ns)
{
	return period_ns + period_ns / 2;
}

/* Whatever a message says, ticks do not become much slower or faster than the robot file says. */
bool drv_tick_has_period(const struct drv_tick *t, int64_t cycle_period_ns)
{
	const int64_t configured_ns = t->rule.period_ns / t->rule.divider;

	return cycle_period_ns >= configured_ns - configured_ns / TOLERANCE &&
	       cycle_period_ns <= configured_ns + configured_ns / TOLERANCE;
}

void drv_tick_clock(struct drv_tick *t, uint64_t cycle, int64_t t_cycle_ns, int64_t cycle_period_ns, int64_t now_ns)
{
	int64_t divider = t->rule.divider, period_ns, since_ns;

	if (t->rule.kind != DRV_TICK_CLOCK || t_cycle_ns < 0 || t_cycle_ns == t->seen_ns)
		return;
	if (!drv_tick_has_period(t, cycle_period_ns))
		return;
	period_ns = cycle_period_ns * divider;
	if (t_cycle_ns - now_ns > period_ns || now_ns - t_cycle_ns >= lost_after_ns(period_ns))
		return;
	since_ns = (int64_t)(cycle % (uint64_t)divider) * cycle_period_ns;
	t->error_ns = phase(t_cycle_ns - since_ns + t->rule.offset_ns - t->next_ns, period_ns);
	t->period_ns = period_ns;
	t->seen_ns = t_cycle_ns;
}

void drv_tick_event(struct drv_tick *t, int64_t t_ns)
{
	int64_t meet_ns = t->period_ns / MEET;

	if ((t->rule.kind != DRV_TICK_FRAME && t->rule.kind != DRV_TICK_REF) || t_ns < 0)
		return;
	t->seen_ns = t_ns;
	if (!t->following) {
		t->error_ns = phase(t_ns - t->next_ns, t->period_ns);
		if (limited(t->error_ns, meet_ns) != t->error_ns)
			return;
		t->error_ns = 0;
		t->following = true;
	}
	if (t_ns - t->last_ns >= t->period_ns / 2)
		t->event = true;
}

int64_t drv_tick_next_ns(const struct drv_tick *t)
{
	/* Without the event, if one is awaited, it is waited for half a period more. */
	int64_t at_ns = t->following ? t->next_ns + t->period_ns / 2 : t->next_ns;

	return t->event && t->seen_ns < at_ns ? t->seen_ns : at_ns;
}

static bool seen_since(const struct drv_tick *t, int64_t ns)
{
	return t->rule.kind == DRV_TICK_PERIOD || (t->seen_ns != INT64_MIN && t->seen_ns > ns);
}

bool drv_tick_due(struct drv_tick *t, int64_t now_ns, int64_t *late_ns, uint64_t *skipped)
{
	int64_t due_ns = drv_tick_next_ns(t), passed, slew_ns;

	if (now_ns < due_ns)
		return false;
	if (t->event && t->seen_ns <= now_ns) {
		passed = (t->seen_ns - t->next_ns + t->period_ns / 2) / t->period_ns;
		t->last_ns = t->seen_ns;
		*late_ns = 0;
	} else {
		passed = (now_ns - t->next_ns) / t->period_ns;
		t->last_ns = t->next_ns + passed * t->period_ns;
		t->following = false;
		*late_ns = now_ns - due_ns;
	}
	t->event = false;
	t->freerun = !seen_since(t, now_ns - lost_after_ns(t->period_ns));
	if (t->freerun)
		t->error_ns = 0;
	slew_ns = limited(t->error_ns, t->period_ns / SLEW_MOST);
	t->error_ns -= slew_ns;
	t->next_ns = t->last_ns + t->period_ns + slew_ns;
	*skipped = (uint64_t)passed;
	t->skipped += *skipped;
	t->ticks++;
	return true;
}

bool drv_tick_freerun(const struct drv_tick *t, int64_t now_ns)
{
	return t->freerun || !seen_since(t, now_ns - 2 * t->period_ns);
}
