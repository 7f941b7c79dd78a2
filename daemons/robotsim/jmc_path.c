/* jmc_path.c: the set-points of one motor between references.  Checked: covered. */
#include "daemons/robotsim/jmc_path.h"

#include <math.h>

void jmc_path_start(struct jmc_path *p, double at)
{
	p->at = p->to = p->newest = at;
	p->fresh = p->late = p->begun = false;
	p->gap = 0;
	p->equal = 0;
}

static void go(struct jmc_path *p, unsigned int sub_steps)
{
	p->to = p->newest;
	p->fresh = false;
	p->left = sub_steps;
}

void jmc_path_reference(struct jmc_path *p, double counts)
{
	p->newest = counts;
	p->fresh = p->begun = true;
	if (!p->late || !p->until)
		return;
	p->equal = (counts - p->to) / (p->sub_steps * p->gap);
	p->gap = 0;
	p->late = false;
	go(p, p->until);
}

void jmc_path_step(struct jmc_path *p, bool measured)
{
	const double before = p->at;

	if (p->left) {
		p->at += (p->to - p->at) / p->left;
		p->left--;
	}
	if (p->until)
		p->until--;
	if (!measured)
		return;
	p->steps++;
	p->squares += (p->at - before - p->equal) * (p->at - before - p->equal);
	p->max = fmax(p->max, fabs(p->at - before - p->equal));
}

void jmc_path_tick(struct jmc_path *p, unsigned int sub_steps)
{
	const double from = p->to;

	p->at = p->to; /* a tick that came early */
	p->until = sub_steps;
	p->sub_steps = sub_steps;
	p->late = p->begun && !p->fresh;
	if (!p->fresh) {
		p->gap += p->late;
		p->held += p->late;
		return;
	}
	go(p, sub_steps);
	p->equal = (p->to - from) / (sub_steps * (1.0 + p->gap));
	p->gap = 0;
}

double jmc_path_rms(const struct jmc_path *p)
{
	return p->steps ? sqrt(p->squares / (double)p->steps) : 0;
}
