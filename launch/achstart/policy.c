/* policy.c: what the supervisor does about a daemon: one table, state x event. */
#include "launch/achstart/policy.h"

#include <sys/wait.h>

#define NOT INT64_MIN /* it has not been ready */
#define NEVER INT64_MAX
#define STUCK_NS 2000000000 /* a killed process that is there after that hangs in the kernel */

/* The arguments of an entry of the table, beside the daemon. */
struct turn {
	const struct policy_rules *rules;
	enum policy_event event;
	bool publishes;
	int64_t now_ns;
};

void policy_init(struct policy *p)
{
	*p = (struct policy){ .ready_ns = NOT, .timer_ns = NEVER, .why = "" };
}

static unsigned int enter(struct policy *p, enum policy_state state, int64_t timer_ns, unsigned int actions)
{
	p->state = state;
	p->timer_ns = timer_ns;
	return actions;
}

/* ---- starting ---- */

/* A start that was asked for: earlier deaths do not count. */
static void forget(struct policy *p)
{
	p->backoff_ns = 0;
	p->early_n = p->early_deaths = 0;
	p->deaths_n = 0;
	p->why = "";
}

static unsigned int want(struct policy *p, const struct turn *t)
{
	(void)t;
	forget(p);
	return enter(p, POLICY_WAITING, NEVER, 0);
}

static unsigned int spawn(struct policy *p, const struct turn *t)
{
	p->ready_ns = NOT;
	p->killed = p->adopted = false;
	return enter(p, POLICY_STARTING, t->now_ns + t->rules->ready_within_ns, POLICY_DO_SPAWN);
}

static unsigned int spawn_again(struct policy *p, const struct turn *t)
{
	p->restarts++;
	return spawn(p, t);
}

static unsigned int spawn_asked(struct policy *p, const struct turn *t)
{
	forget(p);
	return spawn(p, t);
}

static unsigned int adopt(struct policy *p, const struct turn *t)
{
	spawn(p, t);
	p->adopted = true;
	return 0;
}

static unsigned int adopt_ready(struct policy *p, const struct turn *t)
{
	adopt(p, t);
	p->ready_ns = t->now_ns - t->rules->settled_ns;
	return enter(p, POLICY_READY, NEVER, 0);
}

static unsigned int ready(struct policy *p, const struct turn *t)
{
	p->ready_ns = t->now_ns;
	return enter(p, POLICY_READY, NEVER, 0);
}

static unsigned int late(struct policy *p, const struct turn *t)
{
	(void)t;
	return enter(p, POLICY_STARTING, NEVER, POLICY_SAY_LATE);
}

/* ---- ending ---- */

static unsigned int kill_now(struct policy *p, const struct turn *t, enum policy_state state)
{
	p->killed = true;
	return enter(p, state, t->now_ns + STUCK_NS, POLICY_DO_KILL);
}

static unsigned int end(struct policy *p, const struct turn *t, enum policy_state state)
{
	if (!t->publishes)
		return kill_now(p, t, state);
	return enter(p, state, t->now_ns + t->rules->kill_within_ns, POLICY_DO_TERM);
}

static unsigned int stop(struct policy *p, const struct turn *t)
{
	return end(p, t, POLICY_STOPPING);
}

static unsigned int restart(struct policy *p, const struct turn *t)
{
	return end(p, t, POLICY_RESTARTING);
}

static unsigned int kill_silent(struct policy *p, const struct turn *t)
{
	return kill_now(p, t, POLICY_KILLED);
}

/* It will not handle the SIGTERM that it was sent. */
static unsigned int kill_frozen(struct policy *p, const struct turn *t)
{
	return p->killed ? 0 : kill_now(p, t, p->state);
}

static unsigned int overdue(struct policy *p, const struct turn *t)
{
	if (!p->killed)
		return kill_now(p, t, p->state);
	return enter(p, p->state, NEVER, POLICY_SAY_STUCK);
}

/* Its process is ending already; only what follows changes. */
static unsigned int then_stop(struct policy *p, const struct turn *t)
{
	(void)t;
	return enter(p, POLICY_STOPPING, p->timer_ns, 0);
}

static unsigned int then_start(struct policy *p, const struct turn *t)
{
	(void)t;
	return enter(p, POLICY_RESTARTING, p->timer_ns, 0);
}

static unsigned int stopped(struct policy *p, const struct turn *t)
{
	(void)t;
	p->why = "";
	return enter(p, POLICY_STOPPED, NEVER, 0);
}

static unsigned int done(struct policy *p, const struct turn *t)
{
	(void)t;
	return enter(p, POLICY_DONE, NEVER, 0);
}

/* ---- deaths ---- */

static unsigned int fail(struct policy *p, const struct turn *t, const char *why)
{
	p->why = why;
	return enter(p, POLICY_FAILED, NEVER, POLICY_SAY_FAILED | (t->rules->critical ? POLICY_DO_RAISE : 0));
}

/* Is this the third death of a critical daemon within a second?  Then counting begins again. */
static bool burst(struct policy *p, const struct turn *t)
{
	if (!t->rules->critical)
		return false;
	p->deaths[p->deaths_at] = t->now_ns;
	p->deaths_at = (p->deaths_at + 1) % POLICY_CRITICAL_DEATHS;
	if (p->deaths_n < POLICY_CRITICAL_DEATHS)
		p->deaths_n++;
	if (p->deaths_n < POLICY_CRITICAL_DEATHS || t->now_ns - p->deaths[p->deaths_at] > POLICY_CRITICAL_WITHIN_NS)
		return false;
	p->deaths_n = 0;
	return true;
}

/* Recent early deaths, including this one. */
static unsigned int count_early(struct policy *p, const struct turn *t)
{
	const int64_t since_ns = t->now_ns - t->rules->budget_within_ns;
	unsigned int n = 1;

	/* After so long without one it begins again with the shortest pause. */
	if (p->early_n && p->early[(p->early_at + POLICY_DEATHS_MAX - 1) % POLICY_DEATHS_MAX] < since_ns)
		p->backoff_ns = 0;
	for (unsigned int i = 1; i <= p->early_n; i++)
		if (p->early[(p->early_at + POLICY_DEATHS_MAX - i) % POLICY_DEATHS_MAX] >= since_ns)
			n++;
	p->early[p->early_at] = t->now_ns;
	p->early_at = (p->early_at + 1) % POLICY_DEATHS_MAX;
	if (p->early_n < POLICY_DEATHS_MAX)
		p->early_n++;
	return p->early_deaths = n;
}

static int64_t pause_ns(struct policy *p, const struct turn *t)
{
	int64_t max_ns = t->rules->backoff_max_ns, now_ns = p->backoff_ns ? p->backoff_ns : t->rules->backoff_ns;

	if (t->rules->critical && p->early_deaths < t->rules->budget && max_ns > POLICY_CRITICAL_BACKOFF_NS)
		max_ns = POLICY_CRITICAL_BACKOFF_NS;
	now_ns = now_ns < max_ns ? now_ns : max_ns;
	p->backoff_ns = 2 * now_ns;
	return now_ns;
}

static unsigned int died(struct policy *p, const struct turn *t)
{
	const bool settled = p->ready_ns != NOT && t->now_ns - p->ready_ns >= t->rules->settled_ns;
	const unsigned int raise = burst(p, t) ? POLICY_DO_RAISE : 0;

	if (t->rules->never)
		return t->event == POLICY_EXITED ? done(p, t) : fail(p, t, "it died, and is not to be restarted");
	if (settled) {
		p->backoff_ns = 0;
		return raise | spawn_again(p, t);
	}
	if (count_early(p, t) >= t->rules->budget && !t->rules->critical)
		return fail(p, t, "it died too often before it had been ready for long");
	return enter(p, POLICY_BACKOFF, t->now_ns + pause_ns(p, t), raise | POLICY_SAY_PAUSE);
}

static unsigned int wrong_config(struct policy *p, const struct turn *t)
{
	return fail(p, t, "its configuration is wrong: exit status 100");
}

/* ---- under another achstart ---- */

static unsigned int was_failed(struct policy *p, const struct turn *t)
{
	(void)t;
	p->why = "it had been given up before this achstart";
	return enter(p, POLICY_FAILED, NEVER, 0);
}

static unsigned int was_lost(struct policy *p, const struct turn *t)
{
	return fail(p, t, "it ended while no achstart looked, and is not to be restarted");
}

/* ---- the table ---- */

/* clang-format off */
static unsigned int (*const table[POLICY_STATES][POLICY_EVENTS])(struct policy *, const struct turn *) = {
	[POLICY_STOPPED] = {
		[POLICY_START] = want, [POLICY_RESTART] = want,
		[POLICY_ADOPT] = adopt, [POLICY_ADOPT_READY] = adopt_ready,
		[POLICY_WAS_DONE] = done, [POLICY_WAS_FAILED] = was_failed, [POLICY_WAS_LOST] = was_lost,
	},
	[POLICY_WAITING] = {
		[POLICY_STOP] = stopped, [POLICY_NEEDS_MET] = spawn,
		[POLICY_ADOPT] = adopt, [POLICY_ADOPT_READY] = adopt_ready,
	},
	[POLICY_STARTING] = {
		[POLICY_STOP] = stop, [POLICY_RESTART] = restart, [POLICY_IS_READY] = ready, [POLICY_TIMER] = late,
		[POLICY_EXITED] = died, [POLICY_EXITED_100] = wrong_config, [POLICY_DIED] = died,
		[POLICY_SILENT] = kill_silent, [POLICY_FROZEN] = kill_silent,
	},
	[POLICY_READY] = {
		[POLICY_STOP] = stop, [POLICY_RESTART] = restart,
		[POLICY_EXITED] = died, [POLICY_EXITED_100] = wrong_config, [POLICY_DIED] = died,
		[POLICY_SILENT] = kill_silent, [POLICY_FROZEN] = kill_silent,
	},
	[POLICY_BACKOFF] = {
		[POLICY_START] = spawn_asked, [POLICY_STOP] = stopped, [POLICY_RESTART] = spawn_asked,
		[POLICY_TIMER] = spawn_again,
	},
	[POLICY_FAILED] = {
		[POLICY_START] = want, [POLICY_STOP] = stopped, [POLICY_RESTART] = want,
	},
	/* A daemon that stops may be silent while it leaves its device safe: it has kill_within. */
	[POLICY_STOPPING] = {
		[POLICY_START] = then_start, [POLICY_RESTART] = then_start,
		[POLICY_EXITED] = stopped, [POLICY_EXITED_100] = stopped, [POLICY_DIED] = stopped,
		[POLICY_FROZEN] = kill_frozen, [POLICY_TIMER] = overdue,
	},
	[POLICY_RESTARTING] = {
		[POLICY_STOP] = then_stop,
		[POLICY_EXITED] = spawn_asked, [POLICY_EXITED_100] = spawn_asked, [POLICY_DIED] = spawn_asked,
		[POLICY_FROZEN] = kill_frozen, [POLICY_TIMER] = overdue,
	},
	[POLICY_KILLED] = {
		[POLICY_START] = then_start, [POLICY_STOP] = then_stop, [POLICY_RESTART] = then_start,
		[POLICY_EXITED] = died, [POLICY_EXITED_100] = wrong_config, [POLICY_DIED] = died,
		[POLICY_TIMER] = overdue,
	},
	[POLICY_DONE] = {
		[POLICY_START] = want, [POLICY_STOP] = stopped, [POLICY_RESTART] = want,
	},
};
/* clang-format on */

unsigned int policy_event(struct policy *p, const struct policy_rules *rules, enum policy_event event, bool publishes,
			  int64_t now_ns)
{
	const struct turn turn = { rules, event, publishes, now_ns };

	if (!table[p->state][event] || (event == POLICY_TIMER && now_ns < p->timer_ns))
		return 0;
	return table[p->state][event](p, &turn);
}

/* ---- queries ---- */

enum policy_event policy_death(int wait_status)
{
	if (!WIFEXITED(wait_status))
		return POLICY_DIED;
	switch (WEXITSTATUS(wait_status)) {
	case 0:
		return POLICY_EXITED;
	case 100:
		return POLICY_EXITED_100;
	default:
		return POLICY_DIED;
	}
}

int64_t policy_wake_ns(const struct policy *p)
{
	return p->timer_ns;
}

bool policy_has_process(const struct policy *p)
{
	switch (p->state) {
	case POLICY_STARTING:
	case POLICY_READY:
	case POLICY_STOPPING:
	case POLICY_RESTARTING:
	case POLICY_KILLED:
		return true;
	default:
		return false;
	}
}

bool policy_is_fine(const struct policy *p)
{
	return p->state == POLICY_READY || p->state == POLICY_DONE;
}

const char *policy_why(const struct policy *p)
{
	return p->why;
}

const char *policy_state_name(enum policy_state state)
{
	static const char *const names[POLICY_STATES] = { "stopped", "waiting",	 "starting",   "ready",	 "backoff",
							  "failed",  "stopping", "restarting", "killed", "done" };

	return names[state];
}

const char *policy_event_name(enum policy_event event)
{
	static const char *const names[POLICY_EVENTS] = { "start",	 "stop",     "restart",	   "needs-met",
							  "is-ready",	 "exited",   "exited-100", "died",
							  "silent",	 "frozen",   "timer",	   "adopt",
							  "adopt-ready", "was-done", "was-failed", "was-lost" };

	return names[event];
}
