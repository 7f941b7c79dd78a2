/* supervise.c: the supervisor's loop; see supervise.h. */
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/clock/clock.h"
#include "launch/achstart/control_server.h"
#include "launch/achstart/orphans.h"

#define PRIORITY_MAX 99
#define LATE_NS 50000000 /* after waking so late itself, it does not count the time before against daemons */
#define GUARD_EVERY 5	 /* looks */
#define SELDOM 10
#define SPARES_END_NS 1000000000 /* for killed spares to be gone; then they are left to themselves */

/* ---- order ---- */

static bool needs_met(const struct supervisor *s, const struct supervised *d)
{
	for (size_t i = 0; i < d->daemon->needs_n; i++)
		if (!policy_is_fine(&s->supervised[d->daemon->needs[i]].policy))
			return false;
	return true;
}

static bool needs(const struct supervised *d, size_t place)
{
	for (size_t i = 0; i < d->daemon->needs_n; i++)
		if (d->daemon->needs[i] == place)
			return true;
	return false;
}

bool supervise_goes_without(const struct supervisor *s, const struct supervised *d)
{
	const size_t place = (size_t)(d - s->supervised);

	for (size_t i = 0; i < s->n; i++)
		if (s->supervised[i].daemon->wanted && needs(&s->supervised[i], place))
			return false;
	return d->policy.taken && d->daemon->kind == LAUNCH_PROGRAM && d->daemon->critical == MSG_LEVEL_RUN;
}

/* Is it needed by a daemon that runs?  Every driver needs the clock: they stop in step with it. */
static bool is_needed(const struct supervisor *s, const struct supervised *d)
{
	const size_t place = (size_t)(d - s->supervised);

	for (size_t i = 0; i < s->n; i++) {
		const struct supervised *other = &s->supervised[i];
		const bool by_clock = d->daemon->clock && other != d && other->daemon->kind == LAUNCH_DRIVER;

		if (policy_has_process(&other->policy) && !other->stuck && (by_clock || needs(other, place)))
			return true;
	}
	return false;
}

static void stop_the_next(struct supervisor *s, int64_t now_ns)
{
	for (size_t i = s->n; i-- > 0;) {
		struct supervised *d = &s->supervised[i];

		if (d->policy.state != POLICY_STOPPED && d->policy.state != POLICY_STOPPING &&
		    (!policy_has_process(&d->policy) || !is_needed(s, d)))
			supervised_event(s, d, POLICY_STOP, now_ns);
	}
}

/* Starts waiting daemons whose needs are ready, and stops those that are to stop and are no longer needed. */
static void start_and_stop(struct supervisor *s, int64_t now_ns)
{
	if (s->stop_ns)
		stop_the_next(s, now_ns);
	for (size_t i = 0; i < s->n && !s->stop_ns; i++)
		if (s->supervised[i].policy.state == POLICY_WAITING && needs_met(s, &s->supervised[i]))
			supervised_event(s, &s->supervised[i], POLICY_NEEDS_MET, now_ns);
	for (size_t i = 0; i < s->n; i++)
		if (policy_wake_ns(&s->supervised[i].policy) <= now_ns)
			supervised_event(s, &s->supervised[i], POLICY_TIMER, now_ns);
}

struct supervised *supervise_find(struct supervisor *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->supervised[i].daemon->name, name))
			return &s->supervised[i];
	return NULL;
}

void supervise_start(struct supervisor *s, struct supervised *d, int64_t now_ns)
{
	for (size_t i = 0; i < d->daemon->needs_n; i++)
		if (s->supervised[d->daemon->needs[i]].policy.state == POLICY_STOPPED)
			supervise_start(s, &s->supervised[d->daemon->needs[i]], now_ns);
	supervised_event(s, d, POLICY_START, now_ns);
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
		if ((policy_has_process(&s->supervised[i].policy) && !s->supervised[i].stuck) ||
		    (s->supervised[i].spare.child.pid && patient))
			return false;
	return true;
}

/* ---- updating ---- */

void supervise_channel_removed(struct supervisor *s, const char *channel, int64_t now_ns)
{
	supervise_say(s, now_ns, ERROR, "corrupt",
		      "channel %s was overwritten and has been removed; its users create it again", channel);
}

/* Their file may have been removed. */
static void renew_claims(struct supervisor *s, int64_t now_ns)
{
	char line[ERROR_LINE_MAX] = "";
	struct error_sink errors = { error_keep_last, line, 0 };

	if (claim_renew(s->claims, &errors) < 0)
		supervise_say(s, now_ns, ERROR, "claim-lost", "%s", line);
}

static void notify_systemd(struct supervisor *s, int64_t now_ns)
{
	char text[NOTIFY_STATUS_MAX];
	size_t ready = 0, wanted = 0, stopped = 0; /* on request, or taken: not waited for */

	for (size_t i = 0; i < s->n; i++) {
		wanted += s->supervised[i].daemon->wanted;
		ready += s->supervised[i].daemon->wanted && policy_is_fine(&s->supervised[i].policy);
		stopped += s->supervised[i].daemon->wanted && (s->supervised[i].policy.state == POLICY_STOPPED ||
							       supervise_goes_without(s, &s->supervised[i]));
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
		struct supervised *d = &s->supervised[i];

		supervised_update(s, d, now_ns);
		if (d->daemon->alive == LAUNCH_ALIVE_STATE)
			drivers[n++] = (struct links_driver){ &d->published, supervised_has_spoken(d) && !d->stuck };
	}
	if (!in_time)
		s->late_ns = now_ns;
	for (size_t i = 0; i < s->n; i++)
		supervised_check_alive(s, &s->supervised[i], now_ns);
	for (size_t i = 0; i < s->n && !supervised_keep_spare(s, &s->supervised[i], now_ns); i++)
		;
	links_update(&s->links, s->launch, drivers, n, &s->events, now_ns);
	if (s->looks % SELDOM == 0) {
		renew_claims(s, now_ns);
		orphans_kill_children(s, now_ns);
		folder_reserve(s->n);
	}
	mended = s->looks++ % GUARD_EVERY ? NULL : channel_guard_check(&s->guard);
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

static void read_signals(struct supervisor *s, int64_t now_ns)
{
	struct signalfd_siginfo info;
	bool child = false;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			child = true;
		else if (info.ssi_signo == SIGHUP)
			supervise_say(s, now_ns, INFO, "hangup",
				      "the terminal is gone; the robot runs on: achctl stop ends it");
		else
			supervise_stop(s, now_ns);
	}
	for (size_t i = 0; child && i < s->n; i++) {
		supervised_reap(s, &s->supervised[i], now_ns);
		supervised_freeze(s, &s->supervised[i], now_ns);
	}
	if (child)
		orphans_reap(s);
}

static void read_notices(struct supervisor *s, int64_t now_ns)
{
	struct notice notice;

	while (rundir_notice(s->notify_fd, &notice)) {
		for (size_t i = 0; i < s->n; i++)
			if (s->supervised[i].child.pid && s->supervised[i].child.pid == notice.pid)
				supervised_hear(s, &s->supervised[i], &notice, now_ns);
		rundir_drop(&notice);
	}
}

static int loop(struct supervisor *s)
{
	enum { SIGNALS, NOTIFY, ENDS, FIFOS, FIXED };
	const bool by_looks = clock_used(); /* on a virtual clock logs are read at looks: nothing announces them */
	struct clock_fd fds[FIXED + CONTROL_SERVER_FDS];

	while (!s->stop_ns || !all_gone(s)) {
		int64_t now_ns, next_ns = s->look_ns;
		bool starting = false; /* else only watchdog messages come, and those can wait for the next update */
		size_t clients;
		int ready;

		for (size_t i = 0; i < s->n; i++) {
			starting |= s->supervised[i].policy.state == POLICY_STARTING;
			next_ns = num_min(next_ns, policy_wake_ns(&s->supervised[i].policy));
		}
		fds[SIGNALS] = (struct clock_fd){ .fd = s->signals, .events = POLLIN };
		fds[NOTIFY] = (struct clock_fd){ .fd = starting ? s->notify_fd : -1, .events = POLLIN };
		fds[ENDS] = (struct clock_fd){ .fd = s->ends, .events = POLLIN };
		fds[FIFOS] = (struct clock_fd){ .fd = s->flooded || by_looks ? -1 : s->fifos, .events = POLLIN };
		clients = control_server_fds(s->control, fds + FIXED);
		ready = clock_wait(fds, FIXED + clients, next_ns);
		if (ready < 0)
			return ready;
		now_ns = clock_now_ns();
		for (size_t i = 0; fds[ENDS].ready && i < s->n; i++)
			supervised_reap(s, &s->supervised[i], now_ns);
		if (fds[SIGNALS].ready)
			read_signals(s, now_ns);
		if (fds[NOTIFY].ready || now_ns >= s->look_ns)
			read_notices(s, now_ns);
		for (size_t i = 0; (fds[FIFOS].ready || (by_looks && now_ns >= s->look_ns)) && i < s->n; i++)
			s->flooded |= !logs_read(&s->supervised[i].log, now_ns);
		control_server_serve(s->control, fds + FIXED, now_ns);
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

/* Just above the highest of its daemons, so that it can end a daemon that spins; 0: the ordinary scheduler, like
 * them.  Memory that is mapped later is not locked: every channel would be in memory as a whole. */
static void take_priority(struct supervisor *s, int64_t now_ns)
{
	struct events_sink odd = { &s->events, now_ns, MSG_SEVERITY_WARNING, "achstart", "not-real-time" };
	struct error_sink warnings = { events_line, &odd, 0 };
	int priority = 0, status;

	for (size_t i = 0; i < s->n; i++)
		if (s->supervised[i].daemon->priority > priority)
			priority = (int)s->supervised[i].daemon->priority;
	if (!priority || clock_used()) /* virtual.c */
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
	const sigset_t signals = signal_set();
	struct error_sink quiet = { 0 };

	supervise_hold_signals();
	orphans_adopt();
	notify_open(&s->notify);
	s->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	s->fifos = epoll_create1(EPOLL_CLOEXEC);
	s->ends = epoll_create1(EPOLL_CLOEXEC);
	events_open(&s->events, &quiet);
	s->supervised = calloc(s->n + 1, sizeof(*s->supervised));
	if (!s->supervised || channel_guard_open(&s->guard, s->launch))
		return error_refuse(errors, -ENOMEM, "%s", strerror(ENOMEM));
	if (channel_guard_begin(&s->guard, say_replaced, s, errors))
		return -EACCES;
	s->notify_fd = rundir_notify(errors);
	s->control = s->notify_fd < 0 ? NULL : control_server_open(s, errors);
	if (!s->control)
		return -EIO;
	for (size_t i = 0; i < s->n; i++)
		supervised_open(s, &s->supervised[i], &s->launch->daemons[i], now_ns);
	return level_open(s, now_ns, errors);
}

static void close_all(struct supervisor *s, bool stopped)
{
	for (size_t i = 0; i < s->n && s->supervised && s->supervised[i].daemon; i++)
		supervised_close(&s->supervised[i], stopped);
	if (s->control)
		control_server_close(s->control);
	events_close(&s->events);
	level_close(s, stopped);
	if (stopped) {
		folder_sweep_states(); /* first: a state without its channel is a driver that has lost its latches */
		channel_guard_sweep(&s->guard);
		folder_sweep();
	}
	channel_guard_close(&s->guard);
	notify_close(&s->notify);
	close(s->lock);
	free(s->supervised);
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
		adopted |= supervised_adopt(s, &s->supervised[i], now_ns);
	level_begin(s, adopted, now_ns);
	for (size_t i = 0; i < s->n; i++)
		before |= s->supervised[i].saved.incarnation != 0;
	if (before)
		orphans_kill_all(s, now_ns);
	links_init(&s->links, s->launch);
	if (!adopted)
		links_up(&s->links, s->launch, &s->events, now_ns);
	for (size_t i = 0; i < s->n; i++) {
		struct supervised *d = &s->supervised[i];

		if (!adopted)
			supervised_first_time(d);
		if (d->daemon->wanted && !policy_has_process(&d->policy) && !(adopted && supervised_left(s, d, now_ns)))
			supervised_event(s, d, POLICY_START, now_ns);
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
		const struct supervised *d = &s->supervised[i];

		if (!d->killed_at_end)
			continue;
		stuck |= d->stuck;
		lines_append(killed, sizeof(killed), ", ", "%s%s", d->daemon->name, d->stuck ? " (still there)" : "");
	}
	if (*killed)
		supervise_say(s, now_ns, WARNING, "end", "stopped; killed: %s", killed);
	else
		supervise_say(s, now_ns, INFO, "end", "all stopped");
	return stuck ? -EBUSY : 0;
}

int supervise(struct launch *launch, int lock, struct claim_set *claims, struct error_sink *errors)
{
	struct supervisor s = {
		.launch = launch, .n = launch->daemons_n, .notify_fd = -1, .lock = lock, .claims = claims
	};
	const int64_t now_ns = clock_now_ns();
	int status;

	s.begun_ns = now_ns;
	if (open_all(&s, now_ns, errors)) {
		close_all(&s, false);
		return EXIT_RETRY;
	}
	begin(&s, now_ns);
	status = loop(&s);
	if (status)
		supervise_say(&s, clock_now_ns(), FATAL, "wait", "unable to wait: %s", strerror(-status));
	else
		orphans_kill_at_end(&s);
	if (!status)
		status = report_end(&s, clock_now_ns());
	close_all(&s, !status);
	return status ? EXIT_RETRY : 0;
}
