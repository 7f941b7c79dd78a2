/* pciod_job.c: requests that take longer than a tick: home, clear, reset.  One at a time. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemons/pcio/pciod.h"

#define HOME_S 60 /* for each module */
#define CLEAR_S 2

/* ---- which modules are meant ---- */

/* "" is all of them.  How many; 0 with drv_why. */
static unsigned int choose(struct pciod *p, struct drv *drv, const char *key)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < p->joints_n; i++) {
		p->job.joints[i] = !*key || !strcmp(key, p->joints[i].name);
		n += p->job.joints[i];
	}
	if (!n)
		drv_why(drv, "%.40s: this driver has no such module", key);
	return n;
}

/* ---- homing: one module after the other ---- */

static bool home_next(struct pciod *p, int64_t now_ns)
{
	for (unsigned int i = 0; i < p->joints_n; i++) {
		if (!p->job.joints[i])
			continue;
		p->job.joints[i] = false;
		p->job.at = i;
		p->job.left_s = HOME_S;
		pciod_module_event(&p->joints[i].module, DRV_ACTUATOR_ON_HOME, now_ns);
		return true;
	}
	return false;
}

static int request_home(struct pciod *p, struct drv *drv, const char *key, int64_t now_ns)
{
	if (!choose(p, drv, key))
		return -EINVAL;
	for (unsigned int i = 0; i < p->joints_n; i++) {
		const char *why = p->job.joints[i] ? pciod_module_not_homable(&p->joints[i].module) : NULL;

		if (!why)
			continue;
		drv_why(drv, "module %s %s", p->joints[i].name, why);
		return -EPERM;
	}
	/* Also those whose turn has not come; what is latched stays so until they are homed. */
	for (unsigned int i = 0; i < p->joints_n; i++)
		if (p->job.joints[i])
			p->joints[i].module.a.zero = DRV_ACTUATOR_ZERO_NOT_HOMED;
	p->job.kind = PCIOD_JOB_HOME;
	p->job.begins = true;
	home_next(p, now_ns);
	drv_homing(drv, true);
	return DRV_LATER;
}

static void end_home(struct pciod *p, struct drv *drv, int64_t now_ns, int result, const char *text)
{
	struct pciod_joint *j = &p->joints[p->job.at];

	pciod_module_event(&j->module, DRV_ACTUATOR_ON_END_HOME, now_ns);
	p->job.kind = PCIOD_JOB_NONE;
	drv_homing(drv, false);
	if (result)
		drv_reply(drv, p->job.handle, result, "module %s: not homed: %s", j->name, text);
	else
		drv_reply(drv, p->job.handle, 0, "%s", text);
}

static void step_home(struct pciod *p, struct drv *drv, const struct drv_orders *orders)
{
	const struct pciod_joint *j = &p->joints[p->job.at];
	const bool begins = p->job.begins;
	const int64_t now_ns = orders->now_ns;

	p->job.begins = false;
	p->job.left_s -= orders->dt_s;
	if (p->stop_ns)
		end_home(p, drv, now_ns, -ECANCELED, "the driver was asked to stop");
	else if (!orders->armed || orders->level != MSG_LEVEL_RUN)
		end_home(p, drv, now_ns, -ECANCELED, orders->level == MSG_LEVEL_HOLD ? "level hold" : "level estop");
	else if (p->unwell && !begins)
		end_home(p, drv, now_ns, -EIO, p->text);
	else if (drv_bus_dead(drv, j->bus))
		end_home(p, drv, now_ns, -EIO, "its bus is dead");
	else if (!drv_actuator_homing(&j->module.a) || j->module.a.state == DRV_ACTUATOR_HOME_FAILED)
		end_home(p, drv, now_ns, -EIO, "it did not answer, or was halted");
	else if (p->job.left_s < 0)
		end_home(p, drv, now_ns, -ETIMEDOUT, "it takes longer than a minute");
	else if (j->module.a.state == DRV_ACTUATOR_HOME_DONE) {
		pciod_module_event(&p->joints[p->job.at].module, DRV_ACTUATOR_ON_END_HOME, now_ns);
		if (!home_next(p, now_ns))
			end_home(p, drv, now_ns, 0, "homed");
	}
}

/* ---- clear, reset ---- */

static int request_clear(struct pciod *p, struct drv *drv, const char *key, int64_t now_ns)
{
	unsigned int begun = 0;

	if (!choose(p, drv, key))
		return -EINVAL;
	*p->job.refused = '\0';
	for (unsigned int i = 0; i < p->joints_n; i++) {
		struct pciod_module *m = &p->joints[i].module;
		char text[PCIOD_WORDS_MAX];
		int clearable = p->job.joints[i] ? pciod_module_clearable(m, text) : 1;

		p->job.joints[i] = !clearable;
		if (clearable < 0)
			snprintf(p->job.refused, sizeof(p->job.refused), "%s", text);
		if (clearable)
			continue;
		pciod_module_clear(m, now_ns);
		begun++;
	}
	if (!begun) {
		drv_why(drv, "%s", *p->job.refused ? p->job.refused : "nothing to clear");
		return *p->job.refused ? -EPERM : 0;
	}
	p->job.kind = PCIOD_JOB_CLEAR;
	p->job.left_s = CLEAR_S;
	return DRV_LATER;
}

static void end_clear(struct pciod *p, struct drv *drv, int result, const char *text)
{
	for (unsigned int i = 0; i < p->joints_n; i++)
		p->joints[i].module.a.clear_ns = 0; /* a later word confirms it no more */
	p->job.kind = PCIOD_JOB_NONE;
	drv_reply(drv, p->job.handle, result, "%s", text);
}

static void step_clear(struct pciod *p, struct drv *drv, const struct drv_orders *orders)
{
	char code[PCIOD_CODE_MAX], text[PCIOD_WORDS_MAX];

	p->job.left_s -= orders->dt_s;
	for (unsigned int i = 0; i < p->joints_n && p->job.left_s > 0; i++)
		if (p->job.joints[i] && pciod_module_clearing(&p->joints[i].module))
			return;
	if (p->job.left_s > 0 && drv_latched(drv) & ~pciod_latches(p))
		return; /* the state that says so is not published yet */
	for (unsigned int i = 0; i < p->joints_n; i++) {
		const struct pciod_module *m = &p->joints[i].module;

		if (!p->job.joints[i])
			continue;
		if (pciod_module_trouble(m, &p->rules, orders->now_ns, code, text)) {
			end_clear(p, drv, -EIO, text);
			return;
		}
		if (pciod_module_clearing(m)) {
			snprintf(text, sizeof(text), "module %s did not answer", p->joints[i].name);
			end_clear(p, drv, -ETIMEDOUT, text);
			return;
		}
	}
	end_clear(p, drv, *p->job.refused ? -EPERM : 0, *p->job.refused ? p->job.refused : "cleared");
}

/* ---- both ---- */

int pciod_request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns)
{
	struct pciod *p = self;

	if (request->verb != MSG_VERB_HOME && request->verb != MSG_VERB_CLEAR && request->verb != MSG_VERB_RESET)
		return -EOPNOTSUPP;
	if (p->job.kind != PCIOD_JOB_NONE) {
		drv_why(drv, "another request is under way");
		return -EBUSY;
	}
	if (!p->begun) {
		drv_why(drv, "the driver is starting");
		return -EAGAIN;
	}
	p->job.handle = handle;
	if (request->verb == MSG_VERB_HOME)
		return request_home(p, drv, request->key, now_ns);
	if (request->verb == MSG_VERB_RESET && !*request->key) {
		drv_why(drv, "which module? The key is its number; the request clear is for all");
		return -EINVAL;
	}
	return request_clear(p, drv, request->key, now_ns);
}

void pciod_job_step(struct pciod *p, struct drv *drv, const struct drv_orders *orders)
{
	if (p->job.kind == PCIOD_JOB_HOME)
		step_home(p, drv, orders);
	else if (p->job.kind == PCIOD_JOB_CLEAR)
		step_clear(p, drv, orders);
}
