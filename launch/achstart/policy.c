/* policy.c: what the supervisor does about a daemon: one table, state x event. */
#include "config/base/base.h"
#include "launch/achstart/policy.h"

#include <sys/wait.h>

#define NOT INT64_MIN /* it has not been ready */
#define NEVER INT64_MAX
#define STUCK_NS 2000000000 /* a killed process that is there after that hangs in the kernel */

/* An entry of the table. */
struct turn;
struct step {
	unsigned int (*take)(struct policy *p, const struct turn *t);
	enum policy_state to;
	const char *why;
};

/* The arguments of a step, beside the daemon. */
struct turn {
	const struct step *step;
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

/* A start or stop that was asked for: earlier deaths do not count. */
static void forget(struct policy *p)
{
	p->backoff_ns = 0;
	p->early_n = p->early_deaths = 0;
	p->deaths_n = 0;
	p->taken = false;
	p->why = "";
}

/* To a state without a process. */
static unsigned int go(struct policy *p, const struct turn *t)
{
	forget(p);
	p->why = t->step->why;
	return enter(p, t->step->to, NEVER, 0);
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
	p->taken = false;
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

static unsigned int end(struct policy *p, const struct turn *t)
{
	if (!t->publishes)
		return kill_now(p, t, t->step->to);
	return enter(p, t->step->to, t->now_ns + t->rules->kill_within_ns, POLICY_DO_TERM);
}

static unsigned int kill_silent(struct policy *p, const struct turn *t)
{
	return kill_now(p, t, t->step->to);
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
static unsigned int then(struct policy *p, const struct turn *t)
{
	return enter(p, t->step->to, p->timer_ns, 0);
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

	/* After that time without a death it begins again with the shortest pause. */
	if (p->early_n && p->early[(p->early_at + POLICY_DEATHS_MAX - 1) % POLICY_DEATHS_MAX] < since_ns)
		p->backoff_ns = 0;
	for (unsigned int i = 1; i <= p->early_n; i++)
		n += p->early[(p->early_at + POLICY_DEATHS_MAX - i) % POLICY_DEATHS_MAX] >= since_ns;
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

	p->taken = false;
	if (t->rules->never)
		return t->event == POLICY_EXITED ? enter(p, POLICY_DONE, NEVER, 0)
						 : fail(p, t, "it died, and is not to be restarted");
	if (settled) {
		p->backoff_ns = 0;
		return raise | spawn_again(p, t);
	}
	if (count_early(p, t) >= t->rules->budget && !t->rules->critical)
		return fail(p, t, "it died too often before it had been ready for long");
	return enter(p, POLICY_BACKOFF, t->now_ns + pause_ns(p, t), raise | POLICY_SAY_PAUSE);
}

/* Not its fault, and over when the other process ends: it has no budget for that.  The robot must not run without a
 * critical one, whose deaths count. */
static unsigned int taken(struct policy *p, const struct turn *t)
{
	if (t->rules->never || t->rules->critical)
		return died(p, t);
	p->taken = true;
	return enter(p, POLICY_BACKOFF, t->now_ns + pause_ns(p, t), POLICY_SAY_TAKEN);
}

static unsigned int give_up(struct policy *p, const struct turn *t)
{
	return fail(p, t, t->step->why);
}

/* ---- the table ---- */

/* clang-format off */
#define DO(function) { function, 0, "" }
#define GO(state) { go, state, "" }
#define END(state) { end, state, "" }
#define THEN(state) { then, state, "" }
#define KILL { kill_silent, POLICY_KILLED, "" }
#define WRONG { give_up, 0, "its configuration is wrong: exit status 100" }

static const struct step table[POLICY_STATES][POLICY_EVENTS] = {
	[POLICY_STOPPED] = {
		[POLICY_START] = GO(POLICY_WAITING), [POLICY_RESTART] = GO(POLICY_WAITING),
		[POLICY_ADOPT] = DO(adopt), [POLICY_ADOPT_READY] = DO(adopt_ready),
		[POLICY_WAS_DONE] = GO(POLICY_DONE),
		[POLICY_WAS_FAILED] = { go, POLICY_FAILED, "it had been given up before this achstart" },
		[POLICY_WAS_LOST] = { give_up, 0, "it ended while no achstart looked, and is not to be restarted" },
	},
	[POLICY_WAITING] = {
		[POLICY_STOP] = GO(POLICY_STOPPED), [POLICY_NEEDS_MET] = DO(spawn),
		[POLICY_ADOPT] = DO(adopt), [POLICY_ADOPT_READY] = DO(adopt_ready),
	},
	[POLICY_STARTING] = {
		[POLICY_STOP] = END(POLICY_STOPPING), [POLICY_RESTART] = END(POLICY_RESTARTING),
		[POLICY_IS_READY] = DO(ready), [POLICY_TIMER] = DO(late),
		[POLICY_EXITED] = DO(died), [POLICY_EXITED_100] = WRONG,
		[POLICY_EXITED_112] = DO(taken), [POLICY_DIED] = DO(died),
		[POLICY_SILENT] = KILL, [POLICY_FROZEN] = KILL,
	},
	[POLICY_READY] = {
		[POLICY_STOP] = END(POLICY_STOPPING), [POLICY_RESTART] = END(POLICY_RESTARTING),
		[POLICY_EXITED] = DO(died), [POLICY_EXITED_100] = WRONG,
		[POLICY_EXITED_112] = DO(taken), [POLICY_DIED] = DO(died),
		[POLICY_SILENT] = KILL, [POLICY_FROZEN] = KILL,
	},
	[POLICY_BACKOFF] = {
		[POLICY_START] = DO(spawn_asked), [POLICY_STOP] = GO(POLICY_STOPPED),
		[POLICY_RESTART] = DO(spawn_asked),
		[POLICY_TIMER] = DO(spawn_again),
	},
	[POLICY_FAILED] = {
		[POLICY_START] = GO(POLICY_WAITING), [POLICY_STOP] = GO(POLICY_STOPPED),
		[POLICY_RESTART] = GO(POLICY_WAITING),
	},
	/* A daemon that stops may be silent while it leaves its device safe: it has kill_within. */
	[POLICY_STOPPING] = {
		[POLICY_START] = THEN(POLICY_RESTARTING), [POLICY_RESTART] = THEN(POLICY_RESTARTING),
		[POLICY_EXITED] = GO(POLICY_STOPPED), [POLICY_EXITED_100] = GO(POLICY_STOPPED),
		[POLICY_EXITED_112] = GO(POLICY_STOPPED), [POLICY_DIED] = GO(POLICY_STOPPED),
		[POLICY_FROZEN] = DO(kill_frozen), [POLICY_TIMER] = DO(overdue),
	},
	[POLICY_RESTARTING] = {
		[POLICY_STOP] = THEN(POLICY_STOPPING),
		[POLICY_EXITED] = DO(spawn_asked), [POLICY_EXITED_100] = DO(spawn_asked),
		[POLICY_EXITED_112] = DO(spawn_asked), [POLICY_DIED] = DO(spawn_asked),
		[POLICY_FROZEN] = DO(kill_frozen), [POLICY_TIMER] = DO(overdue),
	},
	[POLICY_KILLED] = {
		[POLICY_START] = THEN(POLICY_RESTARTING), [POLICY_STOP] = THEN(POLICY_STOPPING),
		[POLICY_RESTART] = THEN(POLICY_RESTARTING),
		[POLICY_EXITED] = DO(died), [POLICY_EXITED_100] = WRONG,
		[POLICY_EXITED_112] = DO(taken), [POLICY_DIED] = DO(died),
		[POLICY_TIMER] = DO(overdue),
	},
	[POLICY_DONE] = {
		[POLICY_START] = GO(POLICY_WAITING), [POLICY_STOP] = GO(POLICY_STOPPED),
		[POLICY_RESTART] = GO(POLICY_WAITING),
	},
};
/* clang-format on */

unsigned int policy_event(struct policy *p, const struct policy_rules *rules, enum policy_event event, bool publishes,
			  int64_t now_ns)
{
	const struct step *step = &table[p->state][event];

	if (!step->take || (event == POLICY_TIMER && now_ns < p->timer_ns))
		return 0;
	return step->take(p, &(struct turn){ step, rules, event, publishes, now_ns });
}

/* ---- queries ---- */

enum policy_event policy_death(int wait_status)
{
	const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;

	return status == EXIT_WRONG   ? POLICY_EXITED_100
	       : status == EXIT_TAKEN ? POLICY_EXITED_112
	       : status		      ? POLICY_DIED
				      : POLICY_EXITED;
}

int64_t policy_wake_ns(const struct policy *p)
{
	return p->timer_ns;
}

bool policy_has_process(const struct policy *p)
{
	return table[p->state][POLICY_DIED].take; /* only a process can die */
}

bool policy_is_fine(const struct policy *p)
{
	return p->state == POLICY_READY || p->state == POLICY_DONE;
}

bool policy_is_settled(const struct policy *p, const struct policy_rules *rules, int64_t now_ns)
{
	return policy_is_fine(p) &&
	       (!rules->never || p->state == POLICY_DONE || now_ns - p->ready_ns >= rules->settled_ns);
}

const char *policy_state_name(enum policy_state state)
{
	static const char *const names[POLICY_STATES] = { "stopped", "waiting",	 "starting",   "ready",	 "backoff",
							  "failed",  "stopping", "restarting", "killed", "done" };

	return names[state];
}

const char *policy_event_name(enum policy_event event)
{
	static const char *const names[POLICY_EVENTS] = { "start",    "stop",	     "restart",	   "needs-met",
							  "is-ready", "exited",	     "exited-100", "exited-112",
							  "died",     "silent",	     "frozen",	   "timer",
							  "adopt",    "adopt-ready", "was-done",   "was-failed",
							  "was-lost" };

	return names[event];
}
