/* policy.h: what the supervisor does about a daemon: one table, state x event.  Pure: times are arguments.
 *
 *	struct policy p;
 *
 *	policy_init(&p);
 *	actions = policy_event(&p, &rules, POLICY_START, true, now_ns);
 *	...
 *	if (actions & POLICY_DO_SPAWN)
 *		...
 *
 * The states of a daemon as long as nothing goes wrong:
 *
 *	stopped --START--> waiting --NEEDS_MET: spawn--> starting --READY--> ready
 *
 * and after a death, by itself or by us: at once if it had been ready for a second (settled), else after a pause of
 * 0.1 s that doubles up to 5 s.  Deaths before a second of readiness are counted, and ten of them in a minute are
 * enough: failed.  Exit status 100, a wrong configuration, is failed at once.  Exit status 112, another process holds
 * what it claims, is no early death, unless it is critical: it is tried again after each pause for as long as that
 * lasts.  A critical daemon is not given up for early deaths, and its first ten pauses are 20 ms at most; three of its
 * deaths within a second raise the e-stop to the level that the launch file names, and so does each way of ending in
 * failed.  Only the daemon that died is started again, at once: needs are considered only when a start is asked for.
 *
 * The caller
 *	- sends an event when something happened, and does at once, in the order of the bits, what is returned;
 *	- sends POLICY_TIMER once clock_now_ns() is policy_wake_ns() or later;
 *	- has exactly one process in the states where policy_has_process() is true, and none in the others.  If starting
 *	  one fails, it sends POLICY_DIED;
 *	- sends POLICY_NEEDS_MET to a waiting daemon when everything it needs is fine (policy_is_fine), also right after
 *	  POLICY_START.
 */
#pragma once

#include "launch/file/policy_rules.h"

enum policy_state {
	POLICY_STOPPED,	   /* not wanted */
	POLICY_WAITING,	   /* wanted; for what it needs */
	POLICY_STARTING,   /* its process runs and has not said READY */
	POLICY_READY,	   /* its process runs and has */
	POLICY_BACKOFF,	   /* it died and will be started again: policy_wake_ns() */
	POLICY_FAILED,	   /* given up until a start is asked for */
	POLICY_STOPPING,   /* asked to stop; its process still runs */
	POLICY_RESTARTING, /* asked to restart; its old process still runs */
	POLICY_KILLED,	   /* we killed it because it is stopped or its loop is dead; its process is not gone yet */
	POLICY_DONE,	   /* restart: never, and it ended by itself and well */
	POLICY_STATES,
};

enum policy_event {
	POLICY_START, /* asked for: at the start of the robot, or by achctl */
	POLICY_STOP,
	POLICY_RESTART,
	POLICY_NEEDS_MET,   /* what it needs is ready */
	POLICY_IS_READY,    /* READY=1 */
	POLICY_EXITED,	    /* it ended with status 0 */
	POLICY_EXITED_100,  /* ... 100: its configuration is wrong */
	POLICY_EXITED_112,  /* ... 112: another process holds a claim or a port of it; or we could not listen for it */
	POLICY_DIED,	    /* any other way: another status, a signal, unknown (adopted), it could not be started */
	POLICY_SILENT,	    /* it publishes nothing for dead_after; at first for ready_within, a second at least */
	POLICY_FROZEN,	    /* its process is stopped (state T; under a debugger it is silent instead) */
	POLICY_TIMER,	    /* policy_wake_ns() has come */
	POLICY_ADOPT,	    /* its process was found running when we started; it has not been ready */
	POLICY_ADOPT_READY, /* ... and has: it counts as settled */
	POLICY_WAS_DONE,    /* it had done its work when we started */
	POLICY_WAS_FAILED,  /* it had been given up, and that was reported */
	POLICY_WAS_LOST,    /* restart: never, and it ended while no achstart ran */
	POLICY_EVENTS,
};

/* What to do, lowest bit first. */
#define POLICY_DO_RAISE 0x01   /* raise the e-stop to the level that the launch file names for it */
#define POLICY_DO_KILL 0x02    /* SIGKILL */
#define POLICY_DO_TERM 0x04    /* SIGTERM */
#define POLICY_DO_SPAWN 0x08   /* start its process */
#define POLICY_SAY_FAILED 0x10 /* report as fatal: it is given up; why says the reason */
#define POLICY_SAY_LATE 0x20   /* report as warning: not ready within ready_within; it goes on, what needs it waits */
#define POLICY_SAY_STUCK 0x40  /* report as error: SIGKILL was 2 s ago and it is still there (uninterruptible sleep) */
#define POLICY_SAY_PAUSE 0x80  /* report as warning: it died early and is started again at policy_wake_ns() */
#define POLICY_SAY_TAKEN 0x100 /* the same, if that is new: another process holds what it claims */

/* Limits of critical daemons. */
#define POLICY_CRITICAL_BACKOFF_NS 20000000
#define POLICY_CRITICAL_DEATHS 3
#define POLICY_CRITICAL_WITHIN_NS 1000000000

struct policy {
	enum policy_state state;
	bool adopted;		   /* its process is not our child: the exit status will be unknown */
	uint64_t restarts;	   /* processes started after the first, not counting starts that were asked for */
	bool taken;		   /* another process held what it claims when it was tried last */
	unsigned int early_deaths; /* in the last budget_within, as of the last one */
	const char *why;	   /* a failed daemon was given up; else "" */

	/* private */
	int64_t ready_ns;		  /* since when; INT64_MIN: it has not been, this time */
	int64_t timer_ns;		  /* INT64_MAX: none */
	int64_t backoff_ns;		  /* the next pause; 0: the first */
	bool killed;			  /* SIGKILL was sent to this process */
	int64_t early[POLICY_DEATHS_MAX]; /* when: a ring */
	unsigned int early_at, early_n;
	int64_t deaths[POLICY_CRITICAL_DEATHS]; /* the last, early or not; a ring */
	unsigned int deaths_at, deaths_n;
};

/* Stopped, and nothing has happened. */
void policy_init(struct policy *p);

/* Something happened.  Changes *p and returns what to do, a set of POLICY_DO_ and POLICY_SAY_ bits.
 *
 * publishes: its publication (or watchdog) is recent, and its process not stopped: it will handle a SIGTERM.  Pass true
 * if it has not been up for long enough to know.  A daemon that does not publish gets SIGKILL at once on STOP and
 * RESTART.
 *
 * An event that makes no sense in the state (READY while it is being killed) changes nothing and returns 0. */
unsigned int policy_event(struct policy *p, const struct policy_rules *rules, enum policy_event event, bool publishes,
			  int64_t now_ns);

/* The event for a status of waitpid(2): one of POLICY_EXITED to POLICY_DIED. */
enum policy_event policy_death(int wait_status);

/* When POLICY_TIMER is due; INT64_MAX: never. */
int64_t policy_wake_ns(const struct policy *p);

bool policy_has_process(const struct policy *p);

/* Ready or done: daemons that need it may start. */
bool policy_is_fine(const struct policy *p);
/* The same for arm: auto and a daemon that is ready as soon as it has a process: with restart: never it has to be done,
 * or to have run for as long as a death would be an early one. */
bool policy_is_settled(const struct policy *p, const struct policy_rules *rules, int64_t now_ns);

const char *policy_state_name(enum policy_state state); /* "stopped" ... "done" */
const char *policy_event_name(enum policy_event event); /* "start" ... */
