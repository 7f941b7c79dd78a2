/* vt_charge.c: processor time that passes on the virtual clock. */
#include "channels/clock/vt_charge.h"

static double used_ns(const struct vt_charge *c, int64_t cpu_ns)
{
	return c->rest_ns + c->scale * ((double)(cpu_ns - c->begin_ns) - c->cost_ns);
}

void vt_charge_begin(struct vt_charge *c, int64_t cpu_ns)
{
	c->begin_ns = cpu_ns;
}

int64_t vt_charge_passed_ns(const struct vt_charge *c, int64_t cpu_ns)
{
	const double used = used_ns(c, cpu_ns);

	return used > 0 ? (int64_t)used : 0;
}

int64_t vt_charge_end(struct vt_charge *c, int64_t cpu_ns)
{
	const int64_t passed_ns = vt_charge_passed_ns(c, cpu_ns);

	c->rest_ns = used_ns(c, cpu_ns) - (double)passed_ns;
	c->begin_ns = cpu_ns;
	return passed_ns;
}
