/* vt_budget.c: what charged computing may take. */
#include "channels/clock/vt_budget.h"

#define EARLY 50 /* ticks of drivers are 0.99 to 1.01 periods apart: a fiftieth of a period is not early */

void vt_budget_release(struct vt_budget *b, int64_t now_ns)
{
	const int64_t early_ns = b->period_ns / EARLY;
	int64_t grid_ns;

	if (!b->period_ns || (b->begun && now_ns - b->begin_ns < b->period_ns - early_ns))
		return;
	/* A process that is late for one period is not late for the next ones. */
	grid_ns = b->begun ? b->begin_ns + (now_ns - b->begin_ns + early_ns) / b->period_ns * b->period_ns : now_ns;
	b->begin_ns = now_ns - grid_ns > early_ns ? grid_ns : now_ns;
	b->begun = true;
	b->used_ns = 0;
	if (b->fresh_ns - early_ns <= now_ns) {
		b->left_ns = b->budget_ns;
		b->fresh_ns = b->begin_ns + b->period_ns;
	}
}

/* When it is done if it computes only while there is budget left. */
static int64_t suspend(struct vt_budget *b, int64_t now_ns, int64_t work_ns)
{
	while (work_ns > b->left_ns) {
		work_ns -= b->left_ns;
		now_ns += b->left_ns;
		now_ns = b->fresh_ns > now_ns ? b->fresh_ns : now_ns;
		b->left_ns = b->budget_ns;
		b->fresh_ns = now_ns + b->period_ns;
	}
	b->left_ns -= work_ns;
	return now_ns + work_ns;
}

int64_t vt_budget_spend(struct vt_budget *b, int64_t now_ns, int64_t work_ns, bool *fails)
{
	const int64_t before_ns = b->used_ns;

	*fails = false;
	if (!b->period_ns || !b->begun)
		return now_ns + work_ns;
	b->used_ns += work_ns;
	if (b->used_ns > b->budget_ns) {
		b->overs += before_ns <= b->budget_ns;
		b->worst_ns = b->used_ns > b->worst_ns ? b->used_ns : b->worst_ns;
		*fails = b->over == VT_OVER_FAIL;
	}
	if (*fails)
		return now_ns + (before_ns < b->budget_ns ? b->budget_ns - before_ns : 0);
	return b->over == VT_OVER_SUSPEND ? suspend(b, now_ns, work_ns) : now_ns + work_ns;
}

void vt_left_update(struct vt_left *l, int64_t now_ns)
{
	const int64_t window_ns = now_ns - l->begin_ns;

	if (window_ns < VT_SHARE_WINDOW_NS)
		return;
	l->taken = l->begin_ns ? (double)(l->busy_ns - l->begin_busy_ns) / (double)window_ns : 0;
	l->begin_ns = now_ns;
	l->begin_busy_ns = l->busy_ns;
}

double vt_left_share(const struct vt_left *l, uint32_t weight, uint32_t weights)
{
	const double share = (1 - l->taken) * weight / weights;

	return share > VT_SHARE_MIN ? share : VT_SHARE_MIN;
}
