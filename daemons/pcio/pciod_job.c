/* pciod_job.c: requests that take longer than a tick: home, clear, reset.  One at a time. */
#include "daemons/pcio/pciod.h"

#define CLEAR_S 2

/* The modules that are meant; 0 with drv_why. */
static uint64_t choose(const struct pciod *p, struct drv *drv, const char *key)
{
	uint64_t joints = 0;

	for (unsigned int i = 0; i < p->joints_n; i++)
		if (!*key || !strcmp(key, p->joints[i].name))
			joints |= UINT64_C(1) << i;
	if (!joints)
		drv_why(drv, "%.40s: this driver has no such module", key);
	return joints;
}

/* ---- homing: one module after the other ---- */

static void begin_home(struct pciod *p, int64_t now_ns)
{
	pciod_module_event(&p->joints[p->job.home.at].module, PCIOD_ACTUATOR_ON_HOME, now_ns);
}

static int request_home(struct pciod *p, struct drv *drv, uint32_t handle, const char *key, int64_t now_ns)
{
	const uint64_t joints = choose(p, drv, key);

	if (!joints)
		return -EINVAL;
	for (unsigned int i = 0; i < p->joints_n; i++) {
		const char *why = joints >> i & 1 ? pciod_module_not_homable(&p->joints[i].module) : NULL;

		if (why)
			return drv_refuse(drv, -EPERM, "module %s %s", p->joints[i].name, why);
	}
	/* Also those whose turn has not come; what is latched stays so until they are homed. */
	for (unsigned int i = 0; i < p->joints_n; i++)
		if (joints >> i & 1)
			p->joints[i].module.a.zero = PCIOD_ACTUATOR_ZERO_NOT_HOMED;
	p->job.kind = PCIOD_JOB_HOME;
	p->job.begins = true;
	p->job.home = (struct pciod_home){ .handle = handle, .left = joints };
	pciod_home_next(&p->job.home);
	begin_home(p, now_ns);
	drv_homing(drv, true);
	return DRV_LATER;
}

static void end_home(struct pciod *p, struct drv *drv, int64_t now_ns)
{
	pciod_module_event(&p->joints[p->job.home.at].module, PCIOD_ACTUATOR_ON_END_HOME, now_ns);
	p->job.kind = PCIOD_JOB_NONE;
	drv_homing(drv, false);
}

static const char *home_trouble(const struct pciod *p, struct drv *drv, const struct pciod_joint *j)
{
	if (p->unwell && !p->job.begins)
		return p->text;
	if (drv_bus_dead(drv, j->bus))
		return "its bus is dead";
	if (!pciod_actuator_homing(&j->module.a) || j->module.a.state == PCIOD_ACTUATOR_HOME_FAILED)
		return "it did not answer, or was halted";
	return NULL;
}

static void step_home(struct pciod *p, struct drv *drv, const struct drv_orders *orders)
{
	struct pciod_joint *j = &p->joints[p->job.home.at];
	const struct pciod_home_how how = { .stopping = p->stop_ns,
					    .done = j->module.a.state == PCIOD_ACTUATOR_HOME_DONE,
					    .trouble = home_trouble(p, drv, j) };
	const char *why = NULL;
	int result = pciod_home_step(&p->job.home, orders, &how, &why);

	p->job.begins = false;
	if (result == DRV_LATER)
		return;
	if (!result) {
		pciod_module_event(&j->module, PCIOD_ACTUATOR_ON_END_HOME, orders->now_ns);
		if (pciod_home_next(&p->job.home)) {
			begin_home(p, orders->now_ns);
			return;
		}
	}
	end_home(p, drv, orders->now_ns);
	if (result)
		drv_reply(drv, p->job.home.handle, result, "module %s: not homed: %s", j->name, why);
	else
		drv_reply(drv, p->job.home.handle, 0, "homed");
}

/* ---- clear, reset ---- */

static int request_clear(struct pciod *p, struct drv *drv, uint32_t handle, const char *key, int64_t now_ns)
{
	const uint64_t joints = choose(p, drv, key);

	if (!joints)
		return -EINVAL;
	p->job.joints = 0;
	*p->job.refused = '\0';
	for (unsigned int i = 0; i < p->joints_n; i++) {
		struct pciod_module *m = &p->joints[i].module;
		char text[PCIOD_WORDS_MAX];
		int clearable = joints >> i & 1 ? pciod_module_clearable(m, text) : 1;

		if (clearable < 0)
			snprintf(p->job.refused, sizeof(p->job.refused), "%s", text);
		if (clearable)
			continue;
		pciod_module_clear(m, now_ns);
		p->job.joints |= UINT64_C(1) << i;
	}
	if (!p->job.joints) {
		drv_why(drv, "%s", *p->job.refused ? p->job.refused : "nothing to clear");
		return *p->job.refused ? -EPERM : 0;
	}
	p->job.kind = PCIOD_JOB_CLEAR;
	p->job.handle = handle;
	p->job.left_s = CLEAR_S;
	return DRV_LATER;
}

static void end_clear(struct pciod *p)
{
	for (unsigned int i = 0; i < p->joints_n; i++)
		p->joints[i].module.a.clear_ns = 0; /* a later word does not confirm it */
	p->job.kind = PCIOD_JOB_NONE;
}

/* 0, or what is still wrong. */
static int cleared(const struct pciod *p, int64_t now_ns, char text[PCIOD_WORDS_MAX])
{
	char code[PCIOD_CODE_MAX];

	for (unsigned int i = 0; i < p->joints_n; i++) {
		const struct pciod_module *m = &p->joints[i].module;

		if (!(p->job.joints >> i & 1))
			continue;
		if (pciod_module_trouble(m, now_ns, code, text))
			return -EIO;
		if (pciod_module_clearing(m)) {
			snprintf(text, PCIOD_WORDS_MAX, "module %s did not answer", p->joints[i].name);
			return -ETIMEDOUT;
		}
	}
	snprintf(text, PCIOD_WORDS_MAX, "%s", *p->job.refused ? p->job.refused : "cleared");
	return *p->job.refused ? -EPERM : 0;
}

static void step_clear(struct pciod *p, struct drv *drv, const struct drv_orders *orders)
{
	char text[PCIOD_WORDS_MAX];
	int result;

	p->job.left_s -= orders->dt_s;
	for (unsigned int i = 0; i < p->joints_n && p->job.left_s > 0; i++)
		if (p->job.joints >> i & 1 && pciod_module_clearing(&p->joints[i].module))
			return;
	if (p->job.left_s > 0 && drv_latched(drv) & ~pciod_latches(p))
		return; /* the state that says so is not published yet */
	result = cleared(p, orders->now_ns, text);
	end_clear(p);
	drv_reply(drv, p->job.handle, result, "%s", text);
}

/* ---- both ---- */

int pciod_request(void *self, struct drv *drv, uint32_t handle, const struct msg_request *request, int64_t now_ns)
{
	struct pciod *p = self;

	if (!p->begun)
		return drv_refuse(drv, -EAGAIN, "the driver is starting");
	if (request->verb == MSG_VERB_HOME)
		return request_home(p, drv, handle, request->key, now_ns);
	if (request->verb == MSG_VERB_RESET && !*request->key)
		return drv_refuse(drv, -EINVAL, "which module? The key is its number; the request clear is for all");
	return request_clear(p, drv, handle, request->key, now_ns);
}

/* A homing that has begun is latched; a reset that was sent runs to its end. */
int pciod_cancel(void *self, struct drv *drv, uint32_t handle, int why)
{
	struct pciod *p = self;

	(void)handle, (void)why;
	if (p->job.kind == PCIOD_JOB_HOME)
		end_home(p, drv, p->joints[p->job.home.at].module.a.state_ns);
	else
		end_clear(p);
	return 0;
}

void pciod_job_step(struct pciod *p, struct drv *drv, const struct drv_orders *orders)
{
	if (p->job.kind == PCIOD_JOB_HOME)
		step_home(p, drv, orders);
	else if (p->job.kind == PCIOD_JOB_CLEAR)
		step_clear(p, drv, orders);
}
