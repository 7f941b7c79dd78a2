/* watch.c: one daemon under supervision. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "channels/clock.h"
#include "daemons/drv/drv_tick.h"
#include "launch/achstart/supervise.h"
#include "launch/achstart/virtual.h"

#define YOUNG_NS 1000000000  /* has not published yet, and is believed to hear a SIGTERM */
#define REOPEN_NS 2000000000 /* a driver checks its channel once a second and recreates it within this time */
#define LOOK_NS 1000000000
#define LAST_LINES 3

/* ---- what it publishes ---- */

static int64_t later(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

static int64_t silent_ns(const struct supervisor *s, const struct watch *w, int64_t now_ns)
{
	int64_t last_ns = later(s->late_ns, later(w->kept.spawned_ns, w->adopted_ns)), at_ns = 0;

	switch (w->daemon->alive) {
	case LAUNCH_ALIVE_PROCESS:
		return 0;
	case LAUNCH_ALIVE_WATCHDOG:
		at_ns = later(w->watchdog_ns, s->deaf_ns);
		break;
	case LAUNCH_ALIVE_STATE:
		at_ns = w->pulse.there ? w->pulse.header.t_publish_ns : 0;
		if (w->pulse.lost_ns)
			at_ns = later(at_ns, w->pulse.lost_ns + REOPEN_NS);
		break;
	}
	return now_ns - later(at_ns, last_ns);
}

/* Reads /proc only for a daemon that is late.  Before it is called hung, looks whether it could be heard. */
static enum hung_verdict check_hang(struct supervisor *s, struct watch *w, int64_t patience_ns, int64_t now_ns)
{
	int64_t silence_ns = silent_ns(s, w, now_ns);

	if (silence_ns <= patience_ns / 2 - SUPERVISE_LOOK_NS)
		return HUNG_NO;
	if (silence_ns > patience_ns && w->daemon->alive == LAUNCH_ALIVE_STATE)
		pulse_update_now(&w->pulse, now_ns); /* it may publish in another file by now */
	else if (silence_ns > patience_ns)
		rundir_listen(s, now_ns);
	silence_ns = silent_ns(s, w, now_ns);
	hung_measure(&w->hung, w->child.pid, now_ns - silence_ns,
		     !w->policy.adopted && now_ns - silence_ns == w->kept.spawned_ns, now_ns);
	w->hung.facts.patience_ns = patience_ns;
	return hung_verdict(&w->hung.facts);
}

static bool is_hung(struct supervisor *s, struct watch *w, int64_t patience_ns, int64_t now_ns)
{
	return check_hang(s, w, patience_ns, now_ns) >= HUNG_YES;
}

/* Since its process began. */
static bool has_published(const struct watch *w)
{
	if (w->daemon->alive == LAUNCH_ALIVE_STATE)
		return w->pulse.there && w->pulse.header.t_publish_ns > w->kept.spawned_ns;
	return w->watchdog_ns > w->kept.spawned_ns;
}

static bool is_stopped(const struct watch *w)
{
	return folder_run_state(w->child.pid) == 'T' && !virtual_waits_for(w->child.pid);
}

/* The driver itself says how often it ticks: a battery once in two seconds. */
int64_t watch_dead_after_ns(const struct watch *w)
{
	const int64_t period_ns = w->pulse.there ? w->pulse.common.period_ns : 0;
	const bool longer =
		period_ns <= DRV_TICK_PERIOD_MAX_NS && period_ns * LAUNCH_DEAD_TICKS > w->daemon->dead_after_ns;

	return longer && !w->daemon->dead_after_given ? period_ns * LAUNCH_DEAD_TICKS : w->daemon->dead_after_ns;
}

static bool publishes(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	const int64_t patience_ns = has_published(w) || w->policy.adopted ? watch_dead_after_ns(w) : YOUNG_NS;

	return !is_hung(s, w, patience_ns, now_ns) && !is_stopped(w);
}

uint32_t watch_incarnation(const struct watch *w)
{
	return w->daemon->alive == LAUNCH_ALIVE_STATE && has_published(w) ? w->pulse.header.incarnation
									  : w->kept.incarnation;
}

bool watch_has_spoken(const struct watch *w)
{
	return policy_has_process(&w->policy) && w->daemon->alive == LAUNCH_ALIVE_STATE && has_published(w);
}

bool watch_in_fault(const struct watch *w)
{
	return watch_has_spoken(w) && w->pulse.common.lifecycle == MSG_LIFE_FAULT;
}

const char *watch_why(const struct watch *w)
{
	const char *failed = w->policy.why;

	return *failed || !watch_in_fault(w) ? failed : watch_why_text(&w->trouble, w->pulse.header.incarnation);
}

/* ---- carrying out ---- */

static void follow_end(struct supervisor *s, const struct watch *w)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (w->child.pidfd >= 0)
		epoll_ctl(s->ends, EPOLL_CTL_ADD, w->child.pidfd, &event); /* SIGCHLD reports it, too */
}

static void follow_log(struct supervisor *s, const struct watch *w)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (w->log.fifo >= 0)
		epoll_ctl(s->fifos, EPOLL_CTL_ADD, w->log.fifo, &event);
}

static void say_mended(void *to, const char *channel)
{
	supervise_channel_removed(to, channel, clock_now_ns());
}

static void spawn(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	struct events_sink wrong = { &s->events, now_ns, MSG_SEVERITY_ERROR, w->daemon->name, "start" };
	struct events_sink odd = { &s->events, now_ns, MSG_SEVERITY_WARNING, w->daemon->name, "start" };
	struct error_sink errors = { events_line, &wrong, 0 }, warnings = { events_line, &odd, 0 };
	int status;

	w->watchdog_ns = w->adopted_ns = 0;
	*w->status = 0;
	w->stuck = false;
	w->kept = (struct folder_state){ .incarnation = w->kept.incarnation + 1,
					 .hash = launch_hash(w->daemon),
					 .spawned_ns = now_ns,
					 .restarts = w->policy.restarts,
					 .latches = w->kept.latches };
	patrol_before(&s->patrol, w->daemon->name, w->policy.early_deaths > 0, say_mended, s);
	if (spare_use(&w->spare, &w->child, w->daemon, &w->kept)) {
		status = 0;
		hung_measure(&w->hung, w->child.pid, now_ns, false, now_ns); /* from now on, not from its start */
	} else {
		status = child_start(&w->child, w->daemon, w->path, w->log.fifo, &w->kept, &errors, &warnings);
	}
	if (status) {
		w->kept.incarnation--;
		snprintf(w->last_end, sizeof(w->last_end), "not started: %s", strerror(-status));
		watch_event(s, w, POLICY_DIED, now_ns);
		return;
	}
	follow_end(s, w);
	if (w->daemon->alive == LAUNCH_ALIVE_PROCESS)
		watch_event(s, w, POLICY_IS_READY, now_ns);
}

static void raise_level(struct supervisor *s, const struct watch *w, int64_t now_ns)
{
	char why[MSG_TEXT_SIZE];

	snprintf(why, sizeof(why), "%s %s", w->daemon->name,
		 w->policy.state == POLICY_FAILED ? "has failed" : "keeps dying");
	level_raise(s, w->daemon->critical, w->daemon->name, why, now_ns);
}

static void say_silent(char why[MSG_TEXT_SIZE], const char *silent, const struct hung_facts *facts)
{
	if (hung_verdict(facts) == HUNG_OVERLOADED)
		snprintf(why, MSG_TEXT_SIZE,
			 "the machine is overloaded: %s for %.3f s, waited %.3f s for a processor, ran %.3f s", silent,
			 (double)facts->silent_ns / 1e9, (double)facts->waited_ns / 1e9, (double)facts->cpu_ns / 1e9);
	else
		snprintf(why, MSG_TEXT_SIZE, "%s", silent);
}

static void kill_process(struct supervisor *s, struct watch *w, enum policy_event event, int64_t now_ns)
{
	const char *silent =
		w->daemon->alive == LAUNCH_ALIVE_STATE ? "it published nothing" : "it gave no sign of life";
	char why[MSG_TEXT_SIZE] = "it did not end within kill_within";

	if (is_stopped(w))
		snprintf(why, sizeof(why), "it was stopped");
	else if (event == POLICY_SILENT || !publishes(s, w, now_ns))
		say_silent(why, silent, &w->hung.facts);
	w->killed_at_end |= s->stop_ns != 0;
	child_signal(&w->child, SIGKILL);
	watch_say(s, w, now_ns, WARNING, "killed", "killed: %s", why);
}

static void keep(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	int status = folder_state_write(w->daemon->name, &w->kept);

	if (status)
		watch_say(s, w, now_ns, WARNING, "state-file", "its state cannot be kept: %s", strerror(-status));
}

/* Keeps its latches in the state file, so that its successor finds them even if the channel is lost. */
static void read_state(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	pulse_update(&w->pulse, now_ns);
	if (!w->pulse.there || w->kept.latches == w->pulse.common.latches)
		return;
	w->kept.latches = w->pulse.common.latches;
	keep(s, w, now_ns);
}

/* So that the next achstart leaves it in that state.  A stop of the whole robot does not count: a daemon that it ends
 * is to run again. */
static void keep_left(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	static const enum folder_left lefts[POLICY_STATES] = {
		[POLICY_WAITING] = FOLDER_WANTED,  [POLICY_RESTARTING] = FOLDER_WANTED,
		[POLICY_STOPPED] = FOLDER_STOPPED, [POLICY_STOPPING] = FOLDER_STOPPED,
		[POLICY_DONE] = FOLDER_DONE,	   [POLICY_FAILED] = FOLDER_FAILED,
	};
	enum folder_left left = lefts[w->policy.state];

	if (s->stop_ns)
		left = w->policy.state == POLICY_STOPPING && w->kept.left == FOLDER_RUNS ? FOLDER_WANTED : w->kept.left;
	if (left == w->kept.left)
		return;
	w->kept.left = left;
	if (left == FOLDER_FAILED)
		w->kept.hash = launch_hash(w->daemon); /* with this file it was given up, whatever ran */
	keep(s, w, now_ns);
}

static void carry_out(struct supervisor *s, struct watch *w, enum policy_event event, unsigned int actions,
		      int64_t now_ns)
{
	if (actions & POLICY_DO_RAISE)
		raise_level(s, w, now_ns);
	if (!(actions & POLICY_DO_SPAWN)) /* which does it itself; the others first, for we may be killed behind them */
		keep_left(s, w, now_ns);
	if (actions & POLICY_DO_KILL)
		kill_process(s, w, event, now_ns);
	if (actions & POLICY_DO_TERM)
		child_signal(&w->child, SIGTERM);
	if (actions & POLICY_DO_SPAWN)
		spawn(s, w, now_ns);
	if (actions & POLICY_SAY_FAILED)
		watch_say(s, w, now_ns, FATAL, "failed", "given up: %s", w->policy.why);
	if (actions & POLICY_SAY_LATE)
		watch_say(s, w, now_ns, WARNING, "late", "not ready within %g s%s%s",
			  (double)w->daemon->rules.ready_within_ns / 1e9, *w->status ? ": " : "", w->status);
	if (actions & POLICY_SAY_STUCK) {
		w->stuck = true;
		watch_say(s, w, now_ns, ERROR, "stuck", "it was killed and is still there");
	}
	if (actions & POLICY_SAY_PAUSE)
		watch_say(s, w, now_ns, WARNING, "pause", "it is started again in %g s",
			  (double)(policy_wake_ns(&w->policy) - now_ns) / 1e9);
}

void watch_event(struct supervisor *s, struct watch *w, enum policy_event event, int64_t now_ns)
{
	const bool hears = event != POLICY_SILENT && policy_has_process(&w->policy) && publishes(s, w, now_ns);

	carry_out(s, w, event, policy_event(&w->policy, &w->daemon->rules, event, hears, now_ns), now_ns);
}

/* ---- what happens ---- */

static void become_ready(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	if (w->kept.ready)
		return;
	w->kept.ready = true;
	w->kept.ready_ns = now_ns;
	keep(s, w, now_ns);
	watch_say(s, w, now_ns, INFO, "ready", "ready after %.3f s, process %d, incarnation %u",
		  (double)(now_ns - w->kept.spawned_ns) / 1e9, (int)w->child.pid, watch_incarnation(w));
	watch_event(s, w, POLICY_IS_READY, now_ns);
}

void watch_hear(struct supervisor *s, struct watch *w, const struct notice *notice, int64_t now_ns)
{
	/* An adopted one may have said READY to an achstart that did not live to hear it.  One that still waits for
	 * something says so with each beat. */
	const bool again = w->policy.adopted && w->daemon->alive == LAUNCH_ALIVE_WATCHDOG && notice->watchdog &&
			   !notice->has_status;

	if (notice->watchdog)
		w->watchdog_ns = now_ns;
	if (notice->has_status)
		memcpy(w->status, notice->status, sizeof(w->status));
	if (notice->ready || again)
		become_ready(s, w, now_ns);
}

static void tell_end(struct supervisor *s, struct watch *w, const char *how, bool expected, int64_t now_ns)
{
	const bool done = w->policy.state == POLICY_DONE;
	const char *line;

	expected |= done;
	events_say(&s->events, now_ns, expected ? MSG_SEVERITY_INFO : MSG_SEVERITY_ERROR, w->daemon->name,
		   done ? "done" : "ended", "%s%s", done ? "done: " : "", how);
	for (unsigned int i = LAST_LINES; !expected && i-- > 0;)
		if ((line = logs_last(&w->log, i)))
			watch_say(s, w, now_ns, INFO, "last-line", "%s", line);
	logs_forget(&w->log);
}

/* Not every program handles SIGTERM.  The exit status of an adopted process is not known. */
static bool ended_as_asked(int status)
{
	return !status || status == -1 || (WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

/* Without it the daemon is restarted as slowly as any other; and why it ended may keep the daemon from starting. */
static void reap_spare(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	char how[CHILD_END_MAX];
	int status;

	if (!spare_reap(&w->spare, &status, now_ns) || s->stop_ns)
		return;
	child_end_text(how, status);
	watch_say(s, w, now_ns, WARNING, "spare", "its spare has ended: %s; another one is started in %g s", how,
		  (double)(w->spare.next_ns - now_ns) / 1e9);
}

void watch_reap(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	const bool asked = w->policy.state == POLICY_STOPPING || w->policy.state == POLICY_RESTARTING;
	char how[MSG_TEXT_SIZE];
	enum policy_event death;
	unsigned int actions;
	int status;

	reap_spare(s, w, now_ns);
	if (!child_ended(&w->child, &status))
		return;
	if (w->daemon->alive == LAUNCH_ALIVE_STATE)
		read_state(s, w, now_ns); /* which incarnation it was */
	logs_end(&w->log, now_ns);
	child_end_text(w->last_end, status);
	snprintf(how, sizeof(how), "%s, up %.3f s, incarnation %u", w->last_end,
		 (double)(now_ns - w->kept.spawned_ns) / 1e9, watch_incarnation(w));
	death = status == -1 ? POLICY_DIED : policy_death(status);
	actions = policy_event(&w->policy, &w->daemon->rules, death, false, now_ns);
	/* A restart comes before any report. */
	if (actions & POLICY_DO_SPAWN)
		carry_out(s, w, death, actions, now_ns);
	else
		keep_left(s, w, now_ns); /* the same: a process that reads the report may kill us */
	events_follow(&s->events, &w->event_port, &w->trouble, now_ns);
	tell_end(s, w, how, asked && ended_as_asked(status), now_ns);
	if (!(actions & POLICY_DO_SPAWN))
		carry_out(s, w, death, actions, now_ns);
}

/* ---- looking ---- */

static bool lives_as_ready(const struct watch *w)
{
	switch (w->pulse.common.lifecycle) {
	case MSG_LIFE_DISARMED:
	case MSG_LIFE_HOLDING:
	case MSG_LIFE_HOMING:
	case MSG_LIFE_ACTIVE:
		return has_published(w);
	case MSG_LIFE_FAULT: /* what waits for a person is not broken */
		return has_published(w) && w->pulse.common.latches;
	default:
		return false;
	}
}

static void mend_channel(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	if (!w->pulse.corrupt)
		return;
	if (patrol_mend(w->pulse.channel))
		supervise_channel_removed(s, w->pulse.channel, now_ns);
	w->pulse.corrupt = false;
}

bool watch_keep_spare(const struct supervisor *s, struct watch *w, int64_t now_ns)
{
	const bool ready = w->policy.state == POLICY_READY;
	const bool wanted =
		!s->stop_ns && (ready || w->policy.state == POLICY_STARTING || w->policy.state == POLICY_BACKOFF ||
				w->policy.state == POLICY_RESTARTING || w->policy.state == POLICY_KILLED);

	return spare_keep(&w->spare, w->daemon, w->path, w->log.fifo, ready ? w->kept.ready_ns : CLOCK_NEVER, wanted,
			  now_ns);
}

void watch_update(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	logs_allow(&w->log);
	logs_check(&w->log, now_ns);
	events_log(&s->events, &w->log, w->daemon->name, now_ns);
	if (w->daemon->alive != LAUNCH_ALIVE_STATE)
		return;
	events_follow(&s->events, &w->event_port, &w->trouble, now_ns);
	if (w->event_port.type)
		port_reopen(&w->event_port, now_ns, LOOK_NS);
	read_state(s, w, now_ns);
	mend_channel(s, w, now_ns);
	if (w->policy.adopted && w->policy.state == POLICY_STARTING && lives_as_ready(w))
		become_ready(s, w, now_ns);
}

void watch_freeze(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	if (policy_has_process(&w->policy) && w->child.pid && is_stopped(w))
		watch_event(s, w, POLICY_FROZEN, now_ns);
}

void watch_check_alive(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	const int64_t patience_ns = has_published(w) || w->policy.adopted
					    ? watch_dead_after_ns(w)
					    : later(w->daemon->rules.ready_within_ns, YOUNG_NS);

	if (!policy_has_process(&w->policy) || !w->child.pid)
		return;
	/* There is no SIGCHLD when an adopted process is stopped. */
	if (silent_ns(s, w, now_ns) > watch_dead_after_ns(w) / 2 ||
	    (w->policy.adopted && w->daemon->alive == LAUNCH_ALIVE_PROCESS))
		watch_freeze(s, w, now_ns);
	if (is_hung(s, w, patience_ns, now_ns))
		watch_event(s, w, POLICY_SILENT, now_ns);
}

/* ---- opening ---- */

bool watch_adopt(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	struct folder_state kept;
	const int status = folder_state_read(w->daemon->name, &kept);

	if (status == -EBADMSG)
		watch_say(s, w, now_ns, WARNING, "state-file", "$RUN/state/%s is damaged: taken as not there",
			  w->daemon->name);
	if (status)
		return false;
	w->kept = (struct folder_state){ .incarnation = kept.incarnation,
					 .hash = kept.hash,
					 .restarts = kept.restarts,
					 .left = kept.left,
					 .latches = kept.latches };
	w->policy.restarts = kept.restarts;
	if (child_adopt(&w->child, &kept))
		return false;
	w->kept = kept;
	w->kept.left = FOLDER_RUNS;
	w->adopted_ns = now_ns;
	logs_adopt(&w->log, kept.pid);
	follow_log(s, w);
	follow_end(s, w);
	if (kept.hash != launch_hash(w->daemon))
		watch_say(s, w, now_ns, WARNING, "changed",
			  "it runs with another configuration than the file has now: achctl restart %s",
			  w->daemon->name);
	watch_say(s, w, now_ns, INFO, "adopted", "found running, process %d", (int)kept.pid);
	/* One of which a process is all that is asked for is ready as soon as it has one, and says nothing. */
	watch_event(s, w, kept.ready || w->daemon->alive == LAUNCH_ALIVE_PROCESS ? POLICY_ADOPT_READY : POLICY_ADOPT,
		    now_ns);
	if (kept.left == FOLDER_STOPPED || kept.left == FOLDER_WANTED) /* it was about to */
		watch_event(s, w, kept.left == FOLDER_STOPPED ? POLICY_STOP : POLICY_RESTART, now_ns);
	return true;
}

bool watch_left(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	const bool changed = w->kept.hash != launch_hash(w->daemon);
	const char *name = w->daemon->name;

	switch (w->kept.left) {
	case FOLDER_STOPPED:
		watch_say(s, w, now_ns, INFO, "left", "left stopped: achctl start %s", name);
		return true;
	case FOLDER_DONE:
		if (!w->daemon->rules.never)
			return false;
		if (changed)
			watch_say(s, w, now_ns, WARNING, "changed",
				  "done with another configuration than the file has now: achctl start %s", name);
		watch_event(s, w, POLICY_WAS_DONE, now_ns);
		return true;
	case FOLDER_FAILED:
		if (changed)
			return false;
		watch_say(s, w, now_ns, WARNING, "left", "left given up: achctl start %s once the cause is gone", name);
		watch_event(s, w, POLICY_WAS_FAILED, now_ns);
		return true;
	case FOLDER_RUNS:
		if (!w->kept.incarnation)
			return false;
		if (w->daemon->rules.never) {
			watch_event(s, w, POLICY_WAS_LOST, now_ns);
			return true;
		}
		/* As after any death it does not wait for its needs: they may have been stopped since. */
		watch_event(s, w, POLICY_START, now_ns);
		watch_event(s, w, POLICY_NEEDS_MET, now_ns);
		return true;
	default:
		return false;
	}
}

void watch_first_time(struct watch *w)
{
	w->kept.left = FOLDER_RUNS;
	if (!w->daemon->wanted)
		folder_state_remove(w->daemon->name);
}

void watch_open(struct supervisor *s, struct watch *w, const struct launch_daemon *daemon, int64_t now_ns)
{
	struct events_sink odd = { &s->events, now_ns, MSG_SEVERITY_WARNING, daemon->name, "log" };
	struct error_sink warnings = { events_line, &odd, 0 };

	w->daemon = daemon;
	w->child.pidfd = -1;
	spare_init(&w->spare);
	w->kept.latches = -1;
	policy_init(&w->policy);
	if (launch_find(w->path, daemon->argv[0]))
		snprintf(w->path, sizeof(w->path), "%s", daemon->argv[0]);
	logs_open(&w->log, daemon->name, true, &warnings);
	follow_log(s, w);
	if (daemon->alive != LAUNCH_ALIVE_STATE)
		return;
	pulse_init(&w->pulse, daemon->channel);
	port_open_of(&w->event_port, daemon->device ? daemon->device->name : daemon->name, "event", msg_event_number,
		     0640, &warnings);
}

void watch_close(struct watch *w, bool stopped)
{
	logs_close(&w->log, stopped);
	pulse_close(&w->pulse);
	port_close(&w->event_port);
}
