/* supervise.c: the supervisor's loop; see supervise.h. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "channels/clock.h"
#include "launch/achstart/control.h"
#include "launch/achstart/supervise.h"

#define WORLD 111
#define PRIORITY_MAX 99
#define LATE_NS 50000000 /* after waking so late itself, it does not count the time before against daemons */
#define PATROL_EVERY 5	 /* looks */
#define SELDOM 10
#define SPARES_END_NS 1000000000 /* for killed spares to be gone; then they are left to themselves */

/* ---- order ---- */

static bool needs_met(const struct supervisor *s, const struct watch *w)
{
	for (size_t i = 0; i < w->daemon->needs_n; i++)
		if (!policy_is_fine(&s->watches[w->daemon->needs[i]].policy))
			return false;
	return true;
}

static bool needs(const struct watch *w, size_t place)
{
	for (size_t i = 0; i < w->daemon->needs_n; i++)
		if (w->daemon->needs[i] == place)
			return true;
	return false;
}

/* Is it needed by a daemon that runs?  Every driver needs the clock: they stop in step with it. */
static bool is_needed(const struct supervisor *s, const struct watch *w)
{
	const size_t place = (size_t)(w - s->watches);

	for (size_t i = 0; i < s->n; i++) {
		const struct watch *other = &s->watches[i];
		const bool by_clock = w->daemon->clock && other != w && other->daemon->kind == LAUNCH_DRIVER;

		if (policy_has_process(&other->policy) && !other->stuck && (by_clock || needs(other, place)))
			return true;
	}
	return false;
}

static void stop_the_next(struct supervisor *s, int64_t now_ns)
{
	for (size_t i = s->n; i-- > 0;) {
		struct watch *w = &s->watches[i];

		if (w->policy.state != POLICY_STOPPED && w->policy.state != POLICY_STOPPING &&
		    (!policy_has_process(&w->policy) || !is_needed(s, w)))
			watch_event(s, w, POLICY_STOP, now_ns);
	}
}

/* Starts waiting daemons whose needs are ready, and stops those that are to stop and are no longer needed. */
static void start_and_stop(struct supervisor *s, int64_t now_ns)
{
	if (s->stop_ns)
		stop_the_next(s, now_ns);
	for (size_t i = 0; i < s->n && !s->stop_ns; i++)
		if (s->watches[i].policy.state == POLICY_WAITING && needs_met(s, &s->watches[i]))
			watch_event(s, &s->watches[i], POLICY_NEEDS_MET, now_ns);
	for (size_t i = 0; i < s->n; i++)
		if (policy_wake_ns(&s->watches[i].policy) <= now_ns)
			watch_event(s, &s->watches[i], POLICY_TIMER, now_ns);
}

struct watch *supervise_find(struct supervisor *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->watches[i].daemon->name, name))
			return &s->watches[i];
	return NULL;
}

void supervise_start(struct supervisor *s, struct watch *w, int64_t now_ns)
{
	for (size_t i = 0; i < w->daemon->needs_n; i++)
		if (s->watches[w->daemon->needs[i]].policy.state == POLICY_STOPPED)
			supervise_start(s, &s->watches[w->daemon->needs[i]], now_ns);
	watch_event(s, w, POLICY_START, now_ns);
}

void supervise_stop(struct supervisor *s, int64_t now_ns)
{
	if (s->stop_ns)
		return;
	s->stop_ns = now_ns;
	notify_stopping(&s->notify);
	supervise_say(s, now_ns, INFO, "stopping", "everything is stopped, in reverse");
}

/* A process that hangs in the kernel and survives SIGKILL is not waited for. */
static bool all_gone(const struct supervisor *s)
{
	const bool patient = clock_now_ns() - s->stop_ns < SPARES_END_NS;

	for (size_t i = 0; i < s->n; i++)
		if ((policy_has_process(&s->watches[i].policy) && !s->watches[i].stuck) ||
		    (s->watches[i].spare.child.pid && patient))
			return false;
	return true;
}

/* ---- updating ---- */

void supervise_channel_removed(struct supervisor *s, const char *channel, int64_t now_ns)
{
	supervise_say(s, now_ns, ERROR, "corrupt",
		      "channel %s was overwritten and has been removed; its users create it again", channel);
}

static void notify_systemd(struct supervisor *s, int64_t now_ns)
{
	char text[NOTIFY_STATUS_MAX];
	size_t ready = 0, wanted = 0, stopped = 0; /* on request: not waited for */

	for (size_t i = 0; i < s->n; i++) {
		wanted += s->watches[i].daemon->wanted;
		ready += s->watches[i].daemon->wanted && policy_is_fine(&s->watches[i].policy);
		stopped += s->watches[i].daemon->wanted && s->watches[i].policy.state == POLICY_STOPPED;
	}
	snprintf(text, sizeof(text), "%zu of %zu daemon%s ready", ready, wanted, wanted == 1 ? "" : "s");
	if (strcmp(text, s->notify.status) != 0)
		notify_status(&s->notify, now_ns, text);
	if (!s->reported_ready && !s->stop_ns && ready + stopped == wanted) {
		s->reported_ready = true;
		notify_ready(&s->notify);
		supervise_say(s, now_ns, INFO, "all-ready", "all %zu ready after %.3f s", ready,
			      (double)(now_ns - s->begun_ns) / 1e9);
	}
	notify_watchdog(&s->notify, now_ns);
}

/* Fifty times a second. */
static void update(struct supervisor *s, int64_t now_ns)
{
	const bool in_time = now_ns - s->look_ns < LATE_NS;
	struct links_driver drivers[LAUNCH_DAEMONS_MAX];
	const char *mended;
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct watch *w = &s->watches[i];

		watch_update(s, w, now_ns);
		if (w->daemon->alive == LAUNCH_ALIVE_STATE)
			drivers[n++] = (struct links_driver){ &w->pulse, watch_has_spoken(w) && !w->stuck };
	}
	if (!in_time)
		s->late_ns = now_ns;
	for (size_t i = 0; i < s->n; i++)
		watch_check_alive(s, &s->watches[i], now_ns);
	for (size_t i = 0; i < s->n && !watch_keep_spare(s, &s->watches[i], now_ns); i++)
		;
	links_update(&s->links, s->launch, drivers, n, &s->events, now_ns);
	if (s->looks % SELDOM == 0) {
		orphans_kill(s, false, now_ns);
		folder_reserve(s->n);
	}
	mended = s->looks++ % PATROL_EVERY ? NULL : patrol_check(&s->patrol);
	if (mended)
		supervise_channel_removed(s, mended, now_ns);
	rundir_check(s, now_ns);
	events_update(&s->events, now_ns);
	level_update(s, now_ns);
	notify_systemd(s, now_ns);
	s->flooded = false;
	s->look_ns = (in_time ? s->look_ns : now_ns) + SUPERVISE_LOOK_NS;
}

/* ---- the loop ---- */

/* Once all daemons are ready only watchdog messages come, and those can wait for the next update. */
static bool wants_notices(const struct supervisor *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->watches[i].policy.state == POLICY_STARTING)
			return true;
	return false;
}

static int64_t next_ns(const struct supervisor *s)
{
	int64_t next = s->look_ns;

	for (size_t i = 0; i < s->n; i++)
		if (policy_wake_ns(&s->watches[i].policy) < next)
			next = policy_wake_ns(&s->watches[i].policy);
	return next;
}

static void read_signals(struct supervisor *s, int64_t now_ns)
{
	struct signalfd_siginfo info;
	bool child = false;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGCHLD:
			child = true;
			break;
		case SIGHUP: /* the terminal is gone; the robot runs on */
			supervise_say(s, now_ns, INFO, "hangup",
				      "the terminal is gone; the robot runs on: achctl stop ends it");
			break;
		default:
			supervise_stop(s, now_ns);
		}
	}
	for (size_t i = 0; child && i < s->n; i++) {
		watch_reap(s, &s->watches[i], now_ns);
		watch_freeze(s, &s->watches[i], now_ns);
	}
	if (child)
		orphans_reap(s);
}

static void read_notices(struct supervisor *s, int64_t now_ns)
{
	struct notice notice;

	while (rundir_notice(s->notify_fd, &notice))
		for (size_t i = 0; i < s->n; i++)
			if (s->watches[i].child.pid && s->watches[i].child.pid == notice.pid)
				watch_hear(s, &s->watches[i], &notice, now_ns);
}

static int loop(struct supervisor *s)
{
	enum { SIGNALS, NOTIFY, ENDS, FIFOS, FIXED };
	const bool by_looks = clock_used(); /* on a virtual clock logs are read at looks: nothing announces them */
	struct clock_fd fds[FIXED + CONTROL_FDS];

	while (!s->stop_ns || !all_gone(s)) {
		size_t clients;
		int64_t now_ns;
		int ready;

		fds[SIGNALS] = (struct clock_fd){ .fd = s->signals, .events = POLLIN };
		fds[NOTIFY] = (struct clock_fd){ .fd = wants_notices(s) ? s->notify_fd : -1, .events = POLLIN };
		fds[ENDS] = (struct clock_fd){ .fd = s->ends, .events = POLLIN };
		fds[FIFOS] = (struct clock_fd){ .fd = s->flooded || by_looks ? -1 : s->fifos, .events = POLLIN };
		clients = control_fds(s->control, fds + FIXED);
		ready = clock_wait(fds, FIXED + clients, next_ns(s));
		if (ready < 0)
			return ready;
		now_ns = clock_now_ns();
		for (size_t i = 0; fds[ENDS].ready && i < s->n; i++)
			watch_reap(s, &s->watches[i], now_ns);
		if (fds[SIGNALS].ready)
			read_signals(s, now_ns);
		if (fds[NOTIFY].ready || now_ns >= s->look_ns)
			read_notices(s, now_ns);
		for (size_t i = 0; (fds[FIFOS].ready || (by_looks && now_ns >= s->look_ns)) && i < s->n; i++)
			s->flooded |= !logs_read(&s->watches[i].log, now_ns);
		control_serve(s->control, fds + FIXED, now_ns);
		if (now_ns >= s->look_ns)
			update(s, now_ns);
		start_and_stop(s, now_ns);
	}
	return 0;
}

/* ---- beginning and end ---- */

static sigset_t signal_set(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	return set;
}

void supervise_hold_signals(void)
{
	const sigset_t set = signal_set();

	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int open_signals(void)
{
	const sigset_t set = signal_set();

	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Just above the highest of its daemons, so that it can end a daemon that spins; 0: the ordinary scheduler, like
 * them.  Memory that is mapped later is not locked: every channel would be in memory as a whole. */
static void take_priority(struct supervisor *s, int64_t now_ns)
{
	struct events_sink odd = { &s->events, now_ns, MSG_SEVERITY_WARNING, "achstart", "not-real-time" };
	struct error_sink warnings = { events_line, &odd, 0 };
	int priority = 0, status;

	for (size_t i = 0; i < s->n; i++)
		if (s->watches[i].daemon->priority > priority)
			priority = (int)s->watches[i].daemon->priority;
	if (!priority)
		return;
	priority += priority < PRIORITY_MAX;
	status = child_take_priority(priority);
	if (status)
		error_add(
			&warnings,
			"priority %d: %s; it takes a higher limit, LimitRTPRIO= or ulimit -r; a daemon that spins may "
			"outlive it",
			priority, strerror(-status));
	if (mlockall(MCL_CURRENT))
		error_add(&warnings, "memory is not locked: %s; it takes a higher limit, LimitMEMLOCK= or ulimit -l",
			  strerror(errno));
}

static void say_replaced(void *to, const char *why)
{
	struct supervisor *s = to;

	supervise_say(s, clock_now_ns(), WARNING, "foreign", "channel %s: replaced", why);
}

static int open_all(struct supervisor *s, int64_t now_ns, struct error_sink *errors)
{
	struct error_sink quiet = { 0 };

	supervise_hold_signals();
	orphans_open();
	notify_open(&s->notify);
	s->signals = open_signals();
	s->fifos = epoll_create1(EPOLL_CLOEXEC);
	s->ends = epoll_create1(EPOLL_CLOEXEC);
	events_open(&s->events, &quiet);
	s->watches = calloc(s->n + 1, sizeof(*s->watches));
	if (!s->watches || patrol_open(&s->patrol, s->launch))
		return error_refuse(errors, -ENOMEM, "%s", strerror(ENOMEM));
	if (patrol_begin(&s->patrol, say_replaced, s, errors))
		return -EACCES;
	s->notify_fd = rundir_notify(errors);
	s->control = s->notify_fd < 0 ? NULL : control_open(s, errors);
	if (!s->control)
		return -EIO;
	for (size_t i = 0; i < s->n; i++)
		watch_open(s, &s->watches[i], &s->launch->daemons[i], now_ns);
	return level_open(s, now_ns, errors);
}

static void close_all(struct supervisor *s, bool stopped)
{
	for (size_t i = 0; i < s->n && s->watches && s->watches[i].daemon; i++)
		watch_close(&s->watches[i], stopped);
	if (s->control)
		control_close(s->control);
	events_close(&s->events);
	level_close(s, stopped);
	if (stopped) {
		folder_sweep_states(); /* first: a state without its channel is a driver that has lost its latches */
		patrol_sweep(&s->patrol);
		folder_sweep();
	}
	patrol_close(&s->patrol);
	notify_close(&s->notify);
	close(s->lock);
	free(s->watches);
}

static void begin(struct supervisor *s, int64_t now_ns)
{
	bool adopted = false, before = false;
	int status;

	supervise_say(s, now_ns, INFO, "begin", "robot %s, %s", s->launch->name, s->launch->path);
	take_priority(s, now_ns);
	status = folder_reserve(s->n);
	if (status)
		supervise_say(s, now_ns, WARNING, "room",
			      "no room in the robot's folder for the states of its daemons: %s", strerror(-status));
	for (size_t i = 0; i < s->n; i++)
		adopted |= watch_adopt(s, &s->watches[i], now_ns);
	level_begin(s, adopted, now_ns);
	for (size_t i = 0; i < s->n; i++)
		before |= s->watches[i].kept.incarnation != 0;
	if (before)
		orphans_kill(s, true, now_ns);
	links_init(&s->links, s->launch);
	if (!adopted)
		links_up(&s->links, s->launch, &s->events, now_ns);
	for (size_t i = 0; i < s->n; i++) {
		struct watch *w = &s->watches[i];

		if (!adopted)
			watch_first_time(w);
		if (w->daemon->wanted && !policy_has_process(&w->policy) && !(adopted && watch_left(s, w, now_ns)))
			watch_event(s, w, POLICY_START, now_ns);
	}
	start_and_stop(s, now_ns);
	s->look_ns = now_ns + SUPERVISE_LOOK_NS;
}

/* Which daemons had to be killed, and which are still there. */
static int report_end(struct supervisor *s, int64_t now_ns)
{
	char killed[MSG_TEXT_SIZE] = "";
	bool stuck = false;

	for (size_t i = 0; i < s->n; i++) {
		const struct watch *w = &s->watches[i];

		if (!w->killed_at_end)
			continue;
		stuck |= w->stuck;
		lines_append(killed, sizeof(killed), ", ", "%s%s", w->daemon->name, w->stuck ? " (still there)" : "");
	}
	if (*killed)
		supervise_say(s, now_ns, WARNING, "end", "stopped; killed: %s", killed);
	else
		supervise_say(s, now_ns, INFO, "end", "all stopped");
	return stuck ? -EBUSY : 0;
}

int supervise(struct launch *launch, int lock, struct error_sink *errors)
{
	struct supervisor s = { .launch = launch, .n = launch->daemons_n, .notify_fd = -1, .lock = lock };
	const int64_t now_ns = clock_now_ns();
	int status;

	s.begun_ns = now_ns;
	if (open_all(&s, now_ns, errors)) {
		close_all(&s, false);
		return WORLD;
	}
	begin(&s, now_ns);
	status = loop(&s);
	if (status)
		supervise_say(&s, clock_now_ns(), FATAL, "wait", "unable to wait: %s", strerror(-status));
	else
		orphans_end(&s);
	if (!status)
		status = report_end(&s, clock_now_ns());
	close_all(&s, !status);
	return status ? WORLD : 0;
}
