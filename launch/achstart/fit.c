/* fit.c: whether the robot may be armed. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "can/link.h"
#include "launch/achstart/fit.h"

bool fit_is_actuated(const struct watch *w)
{
	return w->daemon->wanted && w->daemon->device && w->daemon->device->actuated;
}

static bool is_real_time(pid_t pid)
{
	const int policy = sched_getscheduler(pid) & ~SCHED_RESET_ON_FORK;

	return policy == SCHED_FIFO || policy == SCHED_RR;
}

static bool is_locked(pid_t pid)
{
	char path[32], line[128];
	long kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f) && sscanf(line, "VmLck: %ld", &kb) != 1)
		;
	fclose(f);
	return kb > 0;
}

static const struct msg_bus *word_on(const struct watch *w, const struct robot_bus *bus)
{
	for (size_t i = 0; i < w->pulse.common.bus_count && i < MSG_BUSES; i++)
		if (!strncmp(w->pulse.common.bus[i].name, bus->name, MSG_NAME_SIZE))
			return &w->pulse.common.bus[i];
	return NULL;
}

static void judge_real(const struct watch *w, const struct robot_bus *bus, struct error_sink *errors)
{
	const char *name = w->daemon->name;
	const struct msg_bus *word = word_on(w, bus);

	if (!is_real_time(w->child.pid))
		error_add(errors,
			  "%s: on a real bus it needs a real-time priority: priority in the launch file, and a limit "
			  "that allows it (LimitRTPRIO=, ulimit -r)",
			  name);
	if (!is_locked(w->child.pid))
		error_add(errors,
			  "%s: on a real bus it needs its memory locked, and a limit that allows it (LimitMEMLOCK=, "
			  "ulimit -l)",
			  name);
	if (!word || word->state != MSG_LINK_ERROR_ACTIVE || word->stalled_since_ns)
		error_add(errors, "%s: bus %s is not well", name, bus->name);
}

static void judge(struct watch *w, const char *who, bool automatic, int64_t now_ns, struct error_sink *errors)
{
	const char *name = w->daemon->name;
	bool real = false;

	pulse_look_again(&w->pulse, now_ns); /* it may have made its channel a moment ago */
	if (watch_in_fault(w)) {
		error_add(errors, "%s: in fault%s%s", name, *watch_why(w) ? ": " : "", watch_why(w));
		return;
	}
	if (w->policy.state != POLICY_READY) {
		error_add(errors, "%s: not ready", name);
		return;
	}
	if (w->daemon->alive != LAUNCH_ALIVE_STATE || pulse_age_ns(&w->pulse, now_ns) > watch_dead_after_ns(w)) {
		error_add(errors, "%s: it publishes nothing", name);
		return;
	}
	if (w->pulse.common.lifecycle != MSG_LIFE_DISARMED && w->pulse.common.lifecycle != MSG_LIFE_HOLDING)
		error_add(errors, "%s: neither disarmed nor holding", name);
	for (size_t i = 0; i < w->daemon->buses_n; i++) {
		if (link_is_virtual(w->daemon->buses[i]->interface))
			continue;
		judge_real(w, w->daemon->buses[i], errors);
		real = true;
	}
	if (real && automatic)
		error_add(errors, "%s: arm: auto, but its bus is not virtual: write arm: no", name);
	if (real && !*who)
		error_add(errors, "%s: on a real bus the operator has to be named", name);
}

int fit_to_arm(struct supervisor *s, const char *who, int64_t now_ns, struct error_sink *errors)
{
	const unsigned int before = errors->count;

	for (size_t i = 0; i < s->n; i++)
		if (fit_is_actuated(&s->watches[i]))
			judge(&s->watches[i], who, s->launch->arm == LAUNCH_ARM_AUTO, now_ns, errors);
	return errors->count == before ? 0 : -EPERM;
}
