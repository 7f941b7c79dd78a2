/* clock.c: the real clock, and the calls that ask whichever clock is used.
 *
 * The real wait is ppoll with the time that is left, not a timerfd in the set, although ppoll takes a
 * relative time.  Both were measured, by turns in one run (ticks of 5 ms, us late, median / 90 %; Linux
 * 6.18, aarch64, both cores busy):
 *
 *				SCHED_OTHER	SCHED_FIFO	a wait that finds something ready
 *	ppoll, slack 50 us	69 / 87		7.0 / 10.1
 *	ppoll, slack 1 ns	24 / 50		7.0 / 10.8	0.41 us
 *	timerfd			17 / 41		6.5 /  9.6	0.66 us (it is set again for each deadline)
 *
 * So they are equal where it counts.  Under PREEMPT_RT, where it counts most, a timerfd runs out in a
 * thread of the kernel with about the lowest real-time priority (ktimers) or none (ksoftirqd), while the
 * sleep of a real-time thread ends in the interrupt of the timer itself.  And ppoll needs no descriptor,
 * no state in each thread, no care after fork.  Two things stand between it and the exact time:
 *
 * - Slack.  A thread that is not real-time sleeps longer by its timer slack (50 us unless set; set here, to
 *   1 ns), or by 0.1 % of the sleep (0.5 % with nice) if that is more.  So a long sleep is cut short by as
 *   much and a short one follows: what is left is 0.1 % of LONG_NS, for one more wake-up in a long wait.
 * - A thread that is interrupted between reading the time and ppoll sleeps longer by that.  It takes something
 *   more urgent in just those 100 ns, and costs at most the length of the wait once more: a tick.
 *
 * When its time is over ppoll asks each descriptor once more and leaves their queues; epoll only looks at its list.  By
 * turns in one run, beside clock_nanosleep (ticks of 1 ms, SCHED_FIFO, three descriptors of which one is an epoll):
 *
 *	clock_nanosleep		6.0 / 12.6, 99 %: 16
 *	ppoll			11.5 / 14.6, 99 %: 24
 *	epoll_pwait2		6.2 /  7.0, 99 %: 14
 *
 * And a thread that has just been awake wakes up faster: a wait with a set is also woken EARLY_NS before its time
 * (99 %: 11).
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <time.h>

#include "channels/clock/vt_clock.h"

#define LONG_NS 10000000	  /* a sleep of which 0.1 % matters */
#define LONG_CUT(ns) ((ns) / 200) /* no slack is more */
#define EARLY_NS 50000
#define PAUSE_NS 1000000 /* between two readings of the clock */

/* ---- the real clock ---- */

static int64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int64_t real_now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static int64_t real_real(void)
{
	return read_clock(CLOCK_REALTIME);
}

/* Sets the timer slack of this thread, once; a child of fork inherits it. */
static void refuse_slack(void)
{
	static _Thread_local bool refused;

	if (!refused)
		prctl(PR_SET_TIMERSLACK, 1ul);
	refused = true;
}

/* The descriptors to poll. */
struct clock_poll {
	int (*poll)(struct clock_poll *at, const struct timespec *timeout);
	struct clock_fd *fds;
	size_t n;
	int set, events_n;
	struct epoll_event *events;
	int64_t early_ns; /* it is woken once before its time */
};

/* Which descriptors are ready, after at most that time (NULL: for ever); 0 also when a signal came. */
static int poll_fds(struct clock_poll *at, const struct timespec *timeout)
{
	struct pollfd polled[CLOCK_FDS_MAX];
	int ready;

	for (size_t i = 0; i < at->n; i++)
		polled[i] = (struct pollfd){ .fd = at->fds[i].fd, .events = at->fds[i].events };
	ready = ppoll(polled, at->n, timeout, NULL);
	if (ready < 0 && errno != EINTR)
		return -errno;
	for (size_t i = 0; i < at->n; i++)
		at->fds[i].ready = ready > 0 ? polled[i].revents : 0;
	return ready > 0 ? ready : 0;
}

static int poll_set(struct clock_poll *at, const struct timespec *timeout)
{
	const int ready = epoll_pwait2(at->set, at->events, at->events_n, timeout, NULL);

	return ready < 0 && errno != EINTR ? -errno : ready > 0 ? ready : 0;
}

static int sleep_until(struct clock_poll *at, int64_t deadline_ns)
{
	int64_t now = real_now();

	refuse_slack();
	for (;;) {
		int64_t left = deadline_ns > now ? deadline_ns - now : 0;
		struct timespec timeout;
		int ready;

		if (left > LONG_NS)
			left -= LONG_CUT(left);
		else if (left > 2 * at->early_ns)
			left -= at->early_ns;
		timeout = (struct timespec){ .tv_sec = left / NS_PER_S, .tv_nsec = left % NS_PER_S };
		ready = at->poll(at, deadline_ns == CLOCK_NEVER ? NULL : &timeout);
		if (ready)
			return ready;
		now = real_now();
		if (now >= deadline_ns)
			return 0;
	}
}

static int real_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	return sleep_until(&(struct clock_poll){ poll_fds, .fds = fds, .n = n }, deadline_ns);
}

const struct clock_source clock_real = { .now = real_now, .real = real_real, .wait = real_wait };

/* ---- whichever it is ---- */

static const struct clock_source *source = &clock_real;

void clock_use(const struct clock_source *other)
{
	source = other;
}

const struct clock_source *clock_used(void)
{
	return source == &clock_real ? NULL : source;
}

/* By which achstart knows that it may wait for this program on a virtual clock. */
__attribute__((used)) static const char mark[] = "@(#)endplate"
						 "-clock";

/* A program that achstart has started on a virtual clock joins it before anything else. */
__attribute__((constructor)) static void join(void)
{
	const char *place = getenv(VT_CLOCK_PLACE);

	if (place)
		vt_clock_join(place);
}

void clock_touch(pid_t pid)
{
	if (source->touch)
		source->touch(pid);
}

int64_t clock_now_ns(void)
{
	return source->now();
}

static const struct clock_source *own(void)
{
	return source->jumped ? &clock_real : source;
}

int64_t clock_own_ns(void)
{
	return own()->now();
}

int64_t clock_jumped_ns(void)
{
	return source->jumped ? source->jumped() : 0;
}

/* The second clock is read after the first: a pause between them makes the answer smaller.  If there was one, the
 * largest of some is taken. */
int64_t clock_suspended_ns(void)
{
	const bool is_real = own() == &clock_real && clock_now_ns() < VT_BEGIN_NS / 2;
	int64_t most_ns = 0, pause_ns = PAUSE_NS;

	for (int i = 0; i < 3 && pause_ns >= PAUSE_NS && is_real; i++) {
		const int64_t before_ns = read_clock(CLOCK_MONOTONIC), boot_ns = read_clock(CLOCK_BOOTTIME);
		const int64_t now_ns = read_clock(CLOCK_MONOTONIC);

		if (boot_ns - now_ns > most_ns)
			most_ns = boot_ns - now_ns;
		pause_ns = now_ns - before_ns;
	}
	return most_ns;
}

int64_t clock_processor_ns(pid_t pid)
{
	clockid_t id;

	return clock_getcpuclockid(pid, &id) ? -1 : read_clock(id);
}

int64_t clock_real_ns(void)
{
	return source->real();
}

static bool any(const struct clock_fd *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fds[i].fd >= 0)
			return true;
	return false;
}

static int wait_on(const struct clock_source *clock, struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	if (n > CLOCK_FDS_MAX)
		return -EINVAL;
	if (deadline_ns == CLOCK_NEVER && !any(fds, n))
		return -EDEADLK;
	return clock->wait(fds, n, deadline_ns);
}

int clock_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	return wait_on(source, fds, n, deadline_ns);
}

int clock_own_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns)
{
	return wait_on(own(), fds, n, deadline_ns);
}

int clock_wait_set(int set, struct epoll_event *events, int n, int64_t deadline_ns)
{
	struct clock_poll at = { poll_set, .set = set, .events_n = n, .events = events, .early_ns = EARLY_NS };
	struct clock_fd fd = { .fd = set, .events = POLLIN };
	int ready;

	if (source == &clock_real)
		return sleep_until(&at, deadline_ns);
	ready = clock_wait(&fd, 1, deadline_ns);
	return ready > 0 ? poll_set(&at, &(struct timespec){ 0 }) : ready;
}

/* ---- the end ---- */

int clock_stop_fd(void)
{
	static int fd = -1;
	sigset_t set;

	if (fd < 0) {
		sigemptyset(&set);
		sigaddset(&set, SIGINT);
		sigaddset(&set, SIGTERM);
		sigprocmask(SIG_BLOCK, &set, NULL);
		fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	}
	return fd;
}
