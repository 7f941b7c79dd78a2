/* supervised.c: one daemon under supervision. */
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "channels/clock/clock.h"
#include "channels/clock/vt_clock.h"
#include "daemons/drv/drv_tick.h"
#include "launch/achstart/supervise.h"
#include "launch/achstart/virtual.h"

#define YOUNG_NS 1000000000  /* has not published yet, and is believed to hear a SIGTERM */
#define REOPEN_NS 2000000000 /* a driver checks its channel once a second and recreates it within this time */
#define LOOK_NS 1000000000
#define LAST_LINES 3

/* ---- what it publishes ---- */

static int64_t silent_ns(const struct supervisor *s, const struct supervised *d, int64_t now_ns)
{
	int64_t last_ns = num_max(s->late_ns, num_max(d->saved.spawned_ns, d->adopted_ns)), at_ns = 0;

	if (d->daemon->alive == LAUNCH_ALIVE_PROCESS)
		return 0;
	if (d->daemon->alive == LAUNCH_ALIVE_WATCHDOG)
		at_ns = num_max(d->watchdog_ns, s->deaf_ns);
	else if (d->published.there)
		at_ns = d->published.header.t_publish_ns;
	if (d->daemon->alive == LAUNCH_ALIVE_STATE && d->published.lost_ns)
		at_ns = num_max(at_ns, d->published.lost_ns + REOPEN_NS);
	return now_ns - num_max(at_ns, last_ns);
}

/* Reads /proc only for a daemon that is late.  Before it is called hung, looks whether it could be heard. */
static bool is_hung(struct supervisor *s, struct supervised *d, int64_t patience_ns, int64_t now_ns)
{
	int64_t silence_ns = silent_ns(s, d, now_ns);

	if (silence_ns <= patience_ns / 2 - SUPERVISE_LOOK_NS)
		return false;
	if (silence_ns > patience_ns && d->daemon->alive == LAUNCH_ALIVE_STATE)
		daemon_state_update_now(&d->published, now_ns); /* it may publish in another file by now */
	else if (silence_ns > patience_ns)
		rundir_listen(s, now_ns);
	silence_ns = silent_ns(s, d, now_ns);
	hung_measure(&d->hung, d->child.pid, now_ns - silence_ns,
		     !d->policy.adopted && now_ns - silence_ns == d->saved.spawned_ns, now_ns);
	d->hung.facts.patience_ns = patience_ns;
	return hung_verdict(&d->hung.facts) >= HUNG_YES;
}

/* Since its process began. */
static bool has_published(const struct supervised *d)
{
	if (d->daemon->alive == LAUNCH_ALIVE_STATE)
		return d->published.there && d->published.header.t_publish_ns > d->saved.spawned_ns;
	return d->watchdog_ns > d->saved.spawned_ns;
}

static bool is_stopped(const struct supervised *d)
{
	return folder_run_state(d->child.pid) == 'T' && !virtual_waits_for(d->child.pid);
}

/* The driver itself says how often it ticks: a battery once in two seconds. */
int64_t supervised_dead_after_ns(const struct supervised *d)
{
	const int64_t period_ns = d->published.there ? d->published.common.period_ns : 0;
	const bool longer =
		period_ns <= DRV_TICK_PERIOD_MAX_NS && period_ns * LAUNCH_DEAD_TICKS > d->daemon->dead_after_ns;

	return longer && !d->daemon->dead_after_given ? period_ns * LAUNCH_DEAD_TICKS : d->daemon->dead_after_ns;
}

static bool publishes(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	const int64_t patience_ns = has_published(d) || d->policy.adopted ? supervised_dead_after_ns(d) : YOUNG_NS;

	return !is_hung(s, d, patience_ns, now_ns) && !is_stopped(d);
}

uint32_t supervised_incarnation(const struct supervised *d)
{
	return d->daemon->alive == LAUNCH_ALIVE_STATE && has_published(d) ? d->published.header.incarnation
									  : d->saved.incarnation;
}

bool supervised_has_spoken(const struct supervised *d)
{
	return policy_has_process(&d->policy) && d->daemon->alive == LAUNCH_ALIVE_STATE && has_published(d);
}

bool supervised_in_fault(const struct supervised *d)
{
	return supervised_has_spoken(d) && d->published.common.lifecycle == MSG_LIFE_FAULT;
}

const char *supervised_why(const struct supervised *d)
{
	const char *failed = d->policy.why;

	return *failed || !supervised_in_fault(d) ? failed
						  : events_fault_text(&d->fault, d->published.header.incarnation);
}

/* ---- carrying out ---- */

void supervised_follow(int all, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (fd >= 0)
		epoll_ctl(all, EPOLL_CTL_ADD, fd, &event);
}

static void say_mended(void *to, const char *channel)
{
	supervise_channel_removed(to, channel, clock_now_ns());
}

/* Once, and again if another one holds it. */
static void say_taken(struct supervisor *s, struct supervised *d, const char *line, int64_t now_ns)
{
	char text[MSG_TEXT_SIZE];

	snprintf(text, sizeof(text), "%.*s", (int)sizeof(text) - 1, line);
	if (strcmp(text, d->taken) != 0)
		supervised_say(s, d, now_ns, WARNING, "taken", "%.100s; it is tried again", text);
	memcpy(d->taken, text, sizeof(d->taken));
}

static void not_started(struct supervisor *s, struct supervised *d, enum policy_event event, int status, int64_t now_ns)
{
	d->saved.incarnation--;
	snprintf(d->last_end, sizeof(d->last_end), "not started: %s", strerror(-status));
	supervised_event(s, d, event, now_ns);
}

/* false: the process that has the port was reported. */
static bool listens(struct supervisor *s, struct supervised *d, struct error_sink *warnings, int64_t now_ns)
{
	struct error_sink printed = ERROR_TO_STDERR("achstart", d->daemon->name, ERROR_WARNING);
	struct lines why;
	/* A run on a virtual clock is the same whatever ports there are: another one is no message of it. */
	const int status = kept_sockets_open(&d->sockets, (int)d->daemon->listen, lines_begin(&why),
					     vt_clock_end() ? &printed : warnings);

	if (!status)
		return true;
	if (status == -EADDRINUSE && !d->daemon->rules.critical && !d->daemon->rules.never)
		say_taken(s, d, why.text, now_ns);
	else
		supervised_say(s, d, now_ns, ERROR, "start", "%s", why.text);
	not_started(s, d, status == -EADDRINUSE ? POLICY_EXITED_112 : POLICY_DIED, status, now_ns);
	return false;
}

static void start_process(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	struct events_sink wrong = { &s->events, now_ns, MSG_SEVERITY_ERROR, d->daemon->name, "start" };
	struct events_sink odd = { &s->events, now_ns, MSG_SEVERITY_WARNING, d->daemon->name, "start" };
	struct error_sink errors = { events_line, &wrong, 0 }, warnings = { events_line, &odd, 0 };
	int status;

	d->watchdog_ns = d->adopted_ns = 0;
	*d->status = 0;
	d->stuck = false;
	d->saved = (struct folder_state){ .incarnation = d->saved.incarnation + 1,
					  .hash = launch_hash(d->daemon),
					  .spawned_ns = now_ns,
					  .restarts = d->policy.restarts,
					  .latches = d->saved.latches };
	channel_guard_before(&s->guard, d->daemon->name, d->policy.early_deaths > 0, say_mended, s);
	if (!listens(s, d, &warnings, now_ns))
		return;
	if (spare_use(&d->spare, &d->child, d->daemon, &d->saved)) {
		status = 0;
		hung_measure(&d->hung, d->child.pid, now_ns, false, now_ns); /* from now on, not from its start */
	} else {
		status = child_start(&d->child, d->daemon, d->path, d->log.fifo, &d->sockets, &d->saved, &errors,
				     &warnings);
	}
	if (status) {
		not_started(s, d, POLICY_DIED, status, now_ns);
		return;
	}
	supervised_follow(s->ends, d->child.pidfd); /* SIGCHLD reports it, too */
	if (d->daemon->alive == LAUNCH_ALIVE_PROCESS)
		supervised_event(s, d, POLICY_IS_READY, now_ns);
}

static void kill_process(struct supervisor *s, struct supervised *d, enum policy_event event, int64_t now_ns)
{
	const char *silent =
		d->daemon->alive == LAUNCH_ALIVE_STATE ? "it published nothing" : "it gave no sign of life";
	const bool stopped = is_stopped(d), hears = stopped || (event != POLICY_SILENT && publishes(s, d, now_ns));
	const struct hung_facts *facts = &d->hung.facts;
	char why[MSG_TEXT_SIZE] = "it did not end within kill_within";

	if (stopped)
		snprintf(why, sizeof(why), "it was stopped");
	else if (!hears && hung_verdict(facts) == HUNG_OVERLOADED)
		snprintf(why, sizeof(why),
			 "the machine is overloaded: %s for %.3f s, waited %.3f s for a processor, ran %.3f s", silent,
			 (double)facts->silent_ns / 1e9, (double)facts->waited_ns / 1e9, (double)facts->cpu_ns / 1e9);
	else if (!hears)
		snprintf(why, sizeof(why), "%s", silent);
	d->killed_at_end |= s->stop_ns != 0;
	child_signal(&d->child, SIGKILL);
	supervised_say(s, d, now_ns, WARNING, "killed", "killed: %s", why);
}

static void keep(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	int status = folder_state_write(d->daemon->name, &d->saved);

	if (status)
		supervised_say(s, d, now_ns, WARNING, "state-file", "its state cannot be kept: %s", strerror(-status));
}

/* Keeps its latches in the state file, so that its successor finds them even if the channel is lost. */
static void read_state(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	daemon_state_update(&d->published, now_ns);
	if (!d->published.there || d->saved.latches == d->published.common.latches)
		return;
	d->saved.latches = d->published.common.latches;
	keep(s, d, now_ns);
}

/* So that the next achstart leaves it in that state.  A stop of the whole robot does not count: a daemon that it ends
 * is to run again. */
static void save_left_as(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	static const enum folder_left lefts[POLICY_STATES] = {
		[POLICY_WAITING] = FOLDER_RESTART, [POLICY_RESTARTING] = FOLDER_RESTART,
		[POLICY_STOPPED] = FOLDER_STOPPED, [POLICY_STOPPING] = FOLDER_STOPPED,
		[POLICY_DONE] = FOLDER_DONE,	   [POLICY_FAILED] = FOLDER_FAILED,
	};
	enum folder_left left = lefts[d->policy.state];

	if (s->stop_ns)
		left = d->policy.state == POLICY_STOPPING && d->saved.left_as == FOLDER_RUNS ? FOLDER_RESTART
											     : d->saved.left_as;
	if (left == d->saved.left_as)
		return;
	d->saved.left_as = left;
	if (left == FOLDER_FAILED)
		d->saved.hash = launch_hash(d->daemon); /* with this file it was given up, whatever ran */
	keep(s, d, now_ns);
}

static void carry_out(struct supervisor *s, struct supervised *d, enum policy_event event, unsigned int actions,
		      int64_t now_ns)
{
	const enum msg_level level = d->daemon->critical;
	const char *name = d->daemon->name;
	char why[MSG_TEXT_SIZE];
	bool raised = false;

	if (actions & POLICY_DO_RAISE) {
		snprintf(why, sizeof(why), "%s %s", name,
			 d->policy.state == POLICY_FAILED ? "has failed" : "keeps dying");
		raised = level_raise(s, level, name, why, now_ns);
	}
	if (!(actions & POLICY_DO_SPAWN)) /* which does it itself; the others first, for we may be killed behind them */
		save_left_as(s, d, now_ns);
	if (raised)
		level_say_raised(s, level, name, why, now_ns);
	if (actions & POLICY_DO_KILL)
		kill_process(s, d, event, now_ns);
	if (actions & POLICY_DO_TERM)
		child_signal(&d->child, SIGTERM);
	if (actions & POLICY_DO_SPAWN)
		start_process(s, d, now_ns);
}

static void report(struct supervisor *s, struct supervised *d, unsigned int actions, int64_t now_ns)
{
	if (actions & POLICY_SAY_FAILED)
		supervised_say(s, d, now_ns, FATAL, "failed", "given up: %s", d->policy.why);
	if (actions & POLICY_SAY_LATE)
		supervised_say(s, d, now_ns, WARNING, "late", "not ready within %g s%s%s",
			       (double)d->daemon->rules.ready_within_ns / 1e9, *d->status ? ": " : "", d->status);
	if (actions & POLICY_SAY_STUCK) {
		d->stuck = true;
		supervised_say(s, d, now_ns, ERROR, "stuck", "it was killed and is still there");
	}
	if (actions & POLICY_SAY_PAUSE)
		supervised_say(s, d, now_ns, WARNING, "pause", "it is started again in %g s",
			       (double)(policy_wake_ns(&d->policy) - now_ns) / 1e9);
}

void supervised_event(struct supervisor *s, struct supervised *d, enum policy_event event, int64_t now_ns)
{
	const bool hears = event != POLICY_SILENT && policy_has_process(&d->policy) && publishes(s, d, now_ns);
	const unsigned int actions = policy_event(&d->policy, &d->daemon->rules, event, hears, now_ns);

	carry_out(s, d, event, actions, now_ns);
	report(s, d, actions, now_ns);
}

/* ---- what happens ---- */

static void become_ready(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	if (d->saved.ready)
		return;
	d->saved.ready = true;
	d->saved.ready_ns = now_ns;
	*d->taken = 0;
	keep(s, d, now_ns);
	supervised_say(s, d, now_ns, INFO, "ready", "ready after %.3f s, process %d, incarnation %u",
		       (double)(now_ns - d->saved.spawned_ns) / 1e9, (int)d->child.pid, supervised_incarnation(d));
	supervised_event(s, d, POLICY_IS_READY, now_ns);
}

void supervised_hear(struct supervisor *s, struct supervised *d, struct notice *notice, int64_t now_ns)
{
	/* An adopted one may have said READY to an achstart that did not live to hear it.  One that still waits for
	 * something says so with each beat. */
	const bool again = d->policy.adopted && d->daemon->alive == LAUNCH_ALIVE_WATCHDOG && notice->watchdog &&
			   !notice->has_status;

	if (notice->watchdog)
		d->watchdog_ns = now_ns;
	if (notice->has_status)
		memcpy(d->status, notice->status, sizeof(d->status));
	if (notice->ready || again)
		become_ready(s, d, now_ns);
	for (size_t i = 0; i < notice->fds_n; i++)
		if (kept_sockets_take(&d->sockets, (int)d->daemon->listen, notice->fds[i]))
			notice->fds[i] = -1;
}

static void report_end(struct supervisor *s, struct supervised *d, const char *how, bool expected, int64_t now_ns)
{
	const bool done = d->policy.state == POLICY_DONE;
	const char *line;

	expected |= done;
	events_say(&s->events, now_ns, expected ? MSG_SEVERITY_INFO : MSG_SEVERITY_ERROR, d->daemon->name,
		   done ? "done" : "ended", "%s%s", done ? "done: " : "", how);
	for (unsigned int i = LAST_LINES; !expected && i-- > 0;)
		if ((line = logs_last(&d->log, i)))
			supervised_say(s, d, now_ns, INFO, "last-line", "%s", line);
}

/* Not every program handles SIGTERM.  The exit status of an adopted process is not known. */
static bool ended_as_asked(int status)
{
	return !status || status == -1 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/* Without it the daemon is restarted as slowly as any other; and why it ended may keep the daemon from starting. */
static void reap_spare(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	char how[CHILD_END_MAX];
	int status;

	if (!spare_reap(&d->spare, &status, now_ns) || s->stop_ns)
		return;
	child_end_text(how, status);
	supervised_say(s, d, now_ns, WARNING, "spare", "its spare has ended: %s; another one is started in %g s", how,
		       (double)(d->spare.next_ns - now_ns) / 1e9);
}

void supervised_reap(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	const bool asked = d->policy.state == POLICY_STOPPING || d->policy.state == POLICY_RESTARTING;
	char how[MSG_TEXT_SIZE];
	enum policy_event death;
	unsigned int actions;
	int status;

	reap_spare(s, d, now_ns);
	if (!child_ended(&d->child, &status))
		return;
	if (d->daemon->alive == LAUNCH_ALIVE_STATE)
		read_state(s, d, now_ns); /* which incarnation it was */
	logs_end(&d->log, now_ns);
	child_end_text(d->last_end, status);
	snprintf(how, sizeof(how), "%s, up %.3f s, incarnation %u", d->last_end,
		 (double)(now_ns - d->saved.spawned_ns) / 1e9, supervised_incarnation(d));
	death = status == -1 ? POLICY_DIED : policy_death(status);
	actions = policy_event(&d->policy, &d->daemon->rules, death, false, now_ns);
	carry_out(s, d, death, actions, now_ns); /* before any report: a process that reads one may kill us */
	events_follow(&s->events, &d->event_port, &d->fault, now_ns);
	if (actions & POLICY_SAY_TAKEN) /* its last line says who holds what it claims */
		say_taken(s, d, logs_last(&d->log, 0) ? logs_last(&d->log, 0) : how, now_ns);
	else
		report_end(s, d, how, asked && ended_as_asked(status), now_ns);
	logs_forget(&d->log);
	report(s, d, actions, now_ns);
}

/* ---- looking ---- */

static bool lives_as_ready(const struct supervised *d)
{
	const uint32_t life = d->published.common.lifecycle;

	if (life == MSG_LIFE_FAULT) /* what waits for a person is not broken */
		return has_published(d) && d->published.common.latches;
	return has_published(d) && (life == MSG_LIFE_DISARMED || life == MSG_LIFE_HOLDING || life == MSG_LIFE_HOMING ||
				    life == MSG_LIFE_ACTIVE);
}

bool supervised_keep_spare(const struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	const bool ready = d->policy.state == POLICY_READY;
	const bool wanted =
		!s->stop_ns && (ready || d->policy.state == POLICY_STARTING || d->policy.state == POLICY_BACKOFF ||
				d->policy.state == POLICY_RESTARTING || d->policy.state == POLICY_KILLED);

	return spare_keep(&d->spare, d->daemon, d->path, d->log.fifo, ready ? d->saved.ready_ns : CLOCK_NEVER, wanted,
			  now_ns);
}

void supervised_update(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	logs_allow(&d->log);
	logs_check(&d->log, now_ns);
	events_log(&s->events, &d->log, d->daemon->name, now_ns);
	if (d->daemon->alive != LAUNCH_ALIVE_STATE)
		return;
	events_follow(&s->events, &d->event_port, &d->fault, now_ns);
	if (d->event_port.type)
		port_reopen(&d->event_port, now_ns, LOOK_NS);
	read_state(s, d, now_ns);
	if (d->published.corrupt && channel_guard_mend(d->published.channel))
		supervise_channel_removed(s, d->published.channel, now_ns);
	d->published.corrupt = false;
	if (d->policy.adopted && d->policy.state == POLICY_STARTING && lives_as_ready(d))
		become_ready(s, d, now_ns);
}

void supervised_freeze(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	if (policy_has_process(&d->policy) && d->child.pid && is_stopped(d))
		supervised_event(s, d, POLICY_FROZEN, now_ns);
}

void supervised_check_alive(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	const int64_t patience_ns = has_published(d) || d->policy.adopted
					    ? supervised_dead_after_ns(d)
					    : num_max(d->daemon->rules.ready_within_ns, YOUNG_NS);

	if (!policy_has_process(&d->policy) || !d->child.pid)
		return;
	/* There is no SIGCHLD when an adopted process is stopped. */
	if (silent_ns(s, d, now_ns) > supervised_dead_after_ns(d) / 2 ||
	    (d->policy.adopted && d->daemon->alive == LAUNCH_ALIVE_PROCESS))
		supervised_freeze(s, d, now_ns);
	if (is_hung(s, d, patience_ns, now_ns))
		supervised_event(s, d, POLICY_SILENT, now_ns);
}
