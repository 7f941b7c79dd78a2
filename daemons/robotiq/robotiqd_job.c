/* robotiqd_job.c: activation and change of mode, faults of the gripper, requests of clients. */
#include "config/base/base.h"
#include "daemons/robotiq/robotiqd.h"

const char *const robotiqd_modes[] = { MSG_WORDS_GRIP(MSG_WORD) };

/* ---- what an image shows ---- */

static void watch_activation(struct robotiqd *d, struct drv *drv)
{
	if (!robotiqd_is_settled(d) || robotiqd_next_write(d))
		return;
	if (robotiqd_is_activated(d)) {
		drv_unlatch(drv, ROBOTIQD_ACTIVATION);
	} else if (d->was_activated) {
		d->known = 0;
		drv_latch(drv, MSG_LATCH_POSITION_UNKNOWN, "activation-lost",
			  "the gripper lost its activation (its power was off?): the request activate ends it");
	} else if (!d->told_inactive && d->job == ROBOTIQD_NO_JOB && !drv_latched(drv)) {
		drv_event(drv, MSG_SEVERITY_WARNING, "not-activated",
			  "the gripper is not activated, and follows no reference: the request activate ends that");
	}
	d->told_inactive = !robotiqd_is_activated(d);
	d->was_activated = d->job == ROBOTIQD_NO_JOB && robotiqd_is_activated(d);
}

static void watch_fault(struct robotiqd *d, struct drv *drv)
{
	const struct robotiq_fault *now = robotiq_fault(d->got.fault), *before = d->fault;

	d->fault = now;
	if (before && before != now && before->clears == ROBOTIQ_CLEARS_ITSELF)
		drv_fault_clear(drv, DRV_ALL, before->code);
	if (now->clears == ROBOTIQ_CLEARS_ITSELF)
		drv_fault(drv, DRV_ALL, now->code, "gripper fault %X: %s", d->got.fault, now->words);
	if (now->clears == ROBOTIQ_CLEARS_RESET && d->job == ROBOTIQD_NO_JOB)
		drv_latch(drv, MSG_LATCH_WAITS_FOR_PERSON, now->code,
			  "gripper fault %X: %s; the request clear activates it again", d->got.fault, now->words);
}

/* ---- activation and mode ---- */

static void end_job(struct robotiqd *d, struct drv *drv, int result, const char *words)
{
	drv_homing(drv, false);
	drv_reply(drv, d->handle, result, "%s", words);
	d->job = ROBOTIQD_NO_JOB;
}

/* To deactivate it is the only thing that is known to end a motion of its own. */
void robotiqd_job_abort(struct robotiqd *d, struct drv *drv, int result, const char *words)
{
	end_job(d, drv, result, words);
	robotiqd_want_only(d, &(struct robotiq_command){ .mode = d->got.mode }, true);
	drv_latch(drv, MSG_LATCH_HOMING_ABORTED, "aborted",
		  "the gripper is deactivated: %s; the request activate ends it", words);
}

static void run_job(struct robotiqd *d, struct drv *drv)
{
	const struct robotiq_state *got = &d->got;
	const bool reset = !got->active && robotiq_fault(got->fault)->clears != ROBOTIQ_CLEARS_RESET;

	if (!robotiqd_is_settled(d) || robotiqd_next_write(d))
		return;
	switch (d->job) {
	case ROBOTIQD_NO_JOB:
		break;
	case ROBOTIQD_RESET:
		if (!reset)
			break;
		drv_unlatch(drv, MSG_LATCH_WAITS_FOR_PERSON);
		if (d->only_resets) {
			end_job(d, drv, 0, "reset; the request activate comes next");
			break;
		}
		if (drv_latched(drv) & ~(uint32_t)ROBOTIQD_ACTIVATION) /* until that is published nothing may move */
			break;
		d->job = ROBOTIQD_ACTIVATE;
		d->known = 0;
		robotiqd_want_only(d, &(struct robotiq_command){ .active = true, .mode = got->mode }, false);
		break;
	case ROBOTIQD_ACTIVATE:
		if (robotiq_fault(got->fault)->clears == ROBOTIQ_CLEARS_RESET)
			end_job(d, drv, -EIO, robotiq_fault(got->fault)->words);
		else if (!got->active)
			end_job(d, drv, -EIO, "the gripper lost its activation bit, or its power");
		else if (got->phase == ROBOTIQ_DONE)
			end_job(d, drv, 0, "activated");
		break;
	case ROBOTIQD_CHANGE_MODE:
		if (!got->active)
			end_job(d, drv, -EIO, "the gripper lost its activation");
		else if (got->mode == d->mode && got->phase == ROBOTIQ_DONE)
			end_job(d, drv, 0, "changed");
		break;
	}
}

void robotiqd_job_image(struct robotiqd *d, struct drv *drv)
{
	run_job(d, drv);
	watch_fault(d, drv);
	watch_activation(d, drv);
}

/* ---- requests of clients ---- */

static int begin_job(struct robotiqd *d, struct drv *drv, enum robotiqd_job job, uint32_t handle, int64_t now_ns)
{
	d->job = job;
	d->handle = handle;
	d->job_ns = now_ns;
	d->following = false;
	d->only_resets = job == ROBOTIQD_RESET && !d->armed;
	drv_homing(drv, !d->only_resets);
	if (job == ROBOTIQD_RESET)
		robotiqd_want_only(d, &(struct robotiq_command){ .mode = d->got.mode }, true);
	else
		robotiqd_want_only(d, &(struct robotiq_command){ .active = true, .go = d->got.go, .mode = d->mode },
				   false);
	return DRV_LATER;
}

static int clear(struct robotiqd *d, struct drv *drv, uint32_t handle, int64_t now_ns)
{
	/* An activation moves the fingers.  Unless armed the fault is only reset: then the robot can be armed. */
	if (d->fault && d->fault->clears == ROBOTIQ_CLEARS_RESET)
		return begin_job(d, drv, ROBOTIQD_RESET, handle, now_ns);
	if (!d->got_ns || (d->fault && d->fault->clears == ROBOTIQ_CLEARS_ITSELF))
		return drv_refuse(drv, -EPERM, "the gripper is not well: %s", d->fault ? d->fault->words : d->wrong);
	drv_unlatch(drv, drv_latched(drv));
	drv_why(drv, robotiqd_is_activated(d) ? "cleared" : "cleared; the gripper is not activated");
	return 0;
}

static int set(struct robotiqd *d, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns)
{
	if (!robotiqd_is_activated(d))
		return drv_refuse(drv, -EPERM, "not activated: the request activate comes first");
	for (uint32_t mode = ROBOTIQ_BASIC; mode <= ROBOTIQ_SCISSORS && !strcmp(request->key, "mode"); mode++) {
		if (strcmp(request->value, robotiqd_modes[mode]) != 0)
			continue;
		d->mode = (enum robotiq_mode)mode;
		return d->mode == d->got.mode && d->got.phase == ROBOTIQ_DONE
			       ? 0
			       : begin_job(d, drv, ROBOTIQD_CHANGE_MODE, handle, now_ns);
	}
	return drv_refuse(drv, -EINVAL, "%s %s: write mode basic, pinch, wide or scissor", request->key,
			  request->value);
}

int robotiqd_job_request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request,
			 int64_t now_ns)
{
	struct robotiqd *d = self;

	if (request->verb == MSG_VERB_CLEAR)
		return clear(d, drv, handle, now_ns);
	if (request->verb == MSG_VERB_SET)
		return set(d, drv, handle, request, now_ns);
	if (!robotiqd_is_activated(d))
		return begin_job(d, drv, ROBOTIQD_RESET, handle, now_ns);
	drv_why(drv, "it was activated already");
	return 0;
}

int robotiqd_job_cancel(void *self, struct drv *drv, uint32_t handle, int why)
{
	struct robotiqd *d = self;

	if (d->job == ROBOTIQD_NO_JOB || handle != d->handle)
		return 0;
	robotiqd_job_abort(d, drv, why, why == -ETIMEDOUT ? "its deadline has passed" : "cancelled");
	return DRV_LATER; /* it has been answered */
}
