/* drv_job.h: a request that takes longer than a tick and moves joints: home, calibrate, activate.
 *
 *	joints = drv_job_joints(request->key, p->joints[0].name, sizeof(p->joints[0]), p->joints_n);
 *	drv_job_begin(&job, handle, joints, 60);
 *	begin(job.at);
 *	return DRV_LATER;
 *
 *	result = drv_job_step(&job, orders, &how, &why);	in each tick while job.on
 *	if (!result && drv_job_next(&job))
 *		begin(job.at);
 *	else if (result != DRV_LATER)
 *		drv_reply(drv, job.handle, result, ...);
 *
 * One joint after the other, in their order.  It ends with an error when the driver is asked to stop, when the level is
 * raised, when a joint fails, and when one takes too long.  Pure.
 */
#ifndef DRV_JOB_H
#define DRV_JOB_H

#include "daemons/drv/drv.h"

struct drv_job {
	bool on;
	uint32_t handle;
	unsigned int at; /* the joint whose turn it is */
	uint64_t left;	 /* bits of those that come after it */
	double each_s, left_s;
};

/* The joints that a request means, as bits: "" all, else the one of that name; names are stride bytes apart. */
uint64_t drv_job_joints(const char *key, const char *name, size_t stride, unsigned int n);

/* joints: one at least; each_s: time for each of them. */
void drv_job_begin(struct drv_job *job, uint32_t handle, uint64_t joints, double each_s);

struct drv_job_how {	     /* how the joint is */
	bool stopping;	     /* the driver */
	bool done;	     /* what was asked for */
	const char *trouble; /* why it cannot be completed; NULL: it can */
};
/* DRV_LATER: it runs; 0: the joint is done; or -errno and why: the job is over. */
int drv_job_step(struct drv_job *job, const struct drv_orders *orders, const struct drv_job_how *how, const char **why);
/* To the next joint; false: there is none, and the job is over. */
bool drv_job_next(struct drv_job *job);

#endif
