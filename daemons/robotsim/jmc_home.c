/* jmc_home.c: how a simulated Hubo joint board looks for the zero of a joint.  Checked: covered. */
#include "daemons/robotsim/jmc_home.h"

#include <math.h>

#define INDEX_SHARE 0.25 /* of the velocity to the limit, on the way back to the index */

void jmc_home_start(struct jmc_home *h, const struct jmc_home_order *order, double counts)
{
	*h = (struct jmc_home){ .phase = JMC_HOME_OFF, .order = *order, .from = counts };
}

static void begin(struct jmc_home *h, enum jmc_home_phase phase, double counts)
{
	h->phase = phase;
	h->from = counts;
}

static void found(struct jmc_home *h, double counts)
{
	h->zero = counts + h->order.offset;
	begin(h, JMC_HOME_OFFSET, counts);
}

static void advance_phase(struct jmc_home *h, const struct jmc_home_sense *s)
{
	const bool by_jam = h->order.mode == JMC_HOME_BY_JAM;

	if (h->phase == JMC_HOME_OFF && (by_jam || !s->closed))
		begin(h, JMC_HOME_SEEK, s->counts);
	if (h->phase == JMC_HOME_SEEK && (by_jam ? s->stalled : s->closed)) {
		if (h->order.mode == JMC_HOME_BY_INDEX)
			begin(h, JMC_HOME_INDEX, s->counts);
		else
			found(h, s->counts);
	} else if (h->phase == JMC_HOME_INDEX && s->index) {
		found(h, s->index_counts);
	} else if (h->phase != JMC_HOME_OFFSET && fabs(s->counts - h->from) > h->order.search) {
		h->phase = JMC_HOME_FAILED;
	}
}

double jmc_home_step(struct jmc_home *h, const struct jmc_home_sense *s)
{
	double left;

	if (!jmc_home_runs(h))
		return 0;
	advance_phase(h, s);
	if (h->phase == JMC_HOME_OFF)
		return -h->order.direction * h->order.to_limit;
	if (h->phase == JMC_HOME_SEEK)
		return h->order.direction * h->order.to_limit;
	if (h->phase == JMC_HOME_INDEX)
		return -h->order.direction * h->order.to_limit * INDEX_SHARE;
	if (h->phase != JMC_HOME_OFFSET)
		return 0;
	left = h->zero - s->counts;
	if (fabs(left) < 0.5) {
		h->phase = JMC_HOME_DONE;
		return 0;
	}
	return num_clamp(left / s->step_s, -h->order.to_offset, h->order.to_offset);
}

bool jmc_home_runs(const struct jmc_home *h)
{
	return h->phase != JMC_HOME_IDLE && h->phase != JMC_HOME_DONE && h->phase != JMC_HOME_FAILED;
}
