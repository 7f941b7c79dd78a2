/* drv_job.c: a request that takes longer than a tick and moves joints.  Checked: covered. */
#include <errno.h>
#include <string.h>

#include "daemons/drv/drv_job.h"

_Static_assert(MSG_JOINTS <= 64, "a bit for each joint");

uint64_t drv_job_joints(const char *key, const char *name, size_t stride, unsigned int n)
{
	uint64_t joints = 0;

	for (unsigned int i = 0; i < n; i++)
		if (!*key || !strcmp(key, name + i * stride))
			joints |= UINT64_C(1) << i;
	return joints;
}

void drv_job_begin(struct drv_job *job, uint32_t handle, uint64_t joints, double each_s)
{
	*job = (struct drv_job){ .handle = handle, .left = joints, .each_s = each_s };
	drv_job_next(job);
}

bool drv_job_next(struct drv_job *job)
{
	job->on = job->left != 0;
	if (!job->on)
		return false;
	job->at = (unsigned int)__builtin_ctzll(job->left);
	job->left &= job->left - 1;
	job->left_s = job->each_s;
	return true;
}

static int result(struct drv_job *job, const struct drv_orders *orders, const struct drv_job_how *how, const char **why)
{
	job->left_s -= orders->dt_s;
	if (how->stopping) {
		*why = "the driver was asked to stop";
		return -ECANCELED;
	}
	if (!orders->armed || orders->level != MSG_LEVEL_RUN) {
		*why = orders->level == MSG_LEVEL_HOLD ? "level hold" : "level estop";
		return -ECANCELED;
	}
	if (how->trouble) {
		*why = how->trouble;
		return -EIO;
	}
	if (job->left_s < 0) {
		*why = "it takes too long";
		return -ETIMEDOUT;
	}
	return how->done ? 0 : DRV_LATER;
}

int drv_job_step(struct drv_job *job, const struct drv_orders *orders, const struct drv_job_how *how, const char **why)
{
	const int status = result(job, orders, how, why);

	job->on = status >= 0;
	return status;
}
