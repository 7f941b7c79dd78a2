/* vt_budget.h: what charged computing may take: a budget in each period, or a share of what the others leave.
 *
 * A period begins when the process returns from a wait, a period or more after the last one began, and all that it
 * computes until the next one begins counts, however late it is: 1.3 ms in a period of 1 ms is over a budget of 1 ms.
 * Pure: times are arguments. */
#pragma once

#include "config/base/base.h"

/* In the order of the words of over: in launch(5). */
enum vt_over {
	VT_OVER_REPORT,	 /* count it */
	VT_OVER_SUSPEND, /* with the budget used up, the process has no turn until its next period */
	VT_OVER_FAIL,	 /* end the process when its budget is used up */
};

struct vt_budget {
	int64_t period_ns; /* 0: there is no budget */
	int64_t budget_ns;
	enum vt_over over;

	bool begun;	  /* what a process computes before its first wait is its start-up */
	int64_t begin_ns; /* of this period */
	int64_t used_ns;  /* since it began */
	int64_t left_ns;  /* VT_OVER_SUSPEND: of the budget */
	int64_t fresh_ns; /* VT_OVER_SUSPEND: when there is a whole budget again */
	uint32_t overs;	  /* periods over the budget */
	int64_t worst_ns; /* most used in one of them */
};

/* The process returns from a wait. */
void vt_budget_release(struct vt_budget *b, int64_t now_ns);
/* It has computed for work_ns, from now_ns on: returns when it is done; fails: when it is ended, before it is done. */
int64_t vt_budget_spend(struct vt_budget *b, int64_t now_ns, int64_t work_ns, bool *fails);

/* Processes without a period share one processor, by weight, with those that have one: these come first. */
#define VT_SHARE_WINDOW_NS 100000000 /* over which it is measured what they leave */
#define VT_SHARE_SLICE_NS 250000     /* after which a share is computed again */
#define VT_SHARE_MIN 0.01

struct vt_left {
	int64_t busy_ns; /* used by processes with a period, in all */
	int64_t begin_ns, begin_busy_ns;
	double taken; /* share of the processor in the last window */
};

void vt_left_update(struct vt_left *l, int64_t now_ns);
/* The part of a processor that a process gets; weights: of all processes without a period that compute, its own too. */
double vt_left_share(const struct vt_left *l, uint32_t weight, uint32_t weights);
