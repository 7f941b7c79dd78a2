/* clock.h: what time it is, and the one call in which a daemon waits.
 *
 *	int64_t tick_ns = clock_now_ns() + period_ns;
 *	struct clock_fd fds[] = { { .fd = bus, .events = POLLIN }, { .fd = signals, .events = POLLIN } };
 *
 *	for (;;) {
 *		int n = clock_wait(fds, 2, tick_ns);
 *
 *		if (n < 0)
 *			return n;
 *		if (fds[0].ready)
 *			...
 *		if (clock_now_ns() >= tick_ns) {
 *			...
 *			tick_ns += period_ns;
 *		}
 *	}
 *
 * Compare the clock with the tick; do not wait for the result 0: with a descriptor ready and the deadline passed, the
 * result is the ready descriptor, and a busy bus would starve a tick that waits for 0.
 *
 * Times are nanoseconds, absolute, of CLOCK_MONOTONIC.  No other code blocks or makes timers, so that a virtual
 * clock can take the place of the real one behind these calls and the program does not notice.
 *
 * Offered to other folders:
 *	vt_budget.h vt_clock.h vt_observe.h vt_page.h
 */
#pragma once

#include <poll.h> /* POLLIN and the like */
#include <sys/epoll.h>

#include "channels/ach/ach.h"
#include "config/base/base.h"

#define CLOCK_NEVER INT64_MAX /* a deadline that does not come */
#define CLOCK_FDS_MAX 64      /* descriptors in one clock_wait */

struct clock_fd {
	int fd;	      /* anything poll(2) takes: channel, socket, signalfd, pidfd, epoll; negative: left out */
	short events; /* wanted: POLLIN, POLLOUT */
	short ready;  /* out: which of them are there; POLLERR, POLLHUP and POLLNVAL (not open) come unasked */
};

int64_t clock_now_ns(void);	       /* CLOCK_MONOTONIC */
int64_t clock_processor_ns(pid_t pid); /* that it has used, by all its threads; -1: it has ended */
int64_t clock_real_ns(void);	       /* CLOCK_REALTIME: for the stamps of logs and nothing else, it jumps */
/* How long the machine has been suspended since it booted: CLOCK_MONOTONIC stands still then.  0 on a virtual clock. */
int64_t clock_suspended_ns(void);

/* The time of this process, for what concerns no robot: sessions, screens, patience with another process.  It is
 * clock_now_ns, but beside a robot on a virtual clock CLOCK_MONOTONIC. */
int64_t clock_own_ns(void);

/* Beside a robot that begins, ends or is started again clock_now_ns jumps: sum of all jumps.  A deadline that was
 * computed before is moved by what has been added since. */
int64_t clock_jumped_ns(void);

static inline int64_t clock_moved(int64_t deadline_ns, int64_t by_ns)
{
	return deadline_ns == INT64_MAX ? deadline_ns : deadline_ns + by_ns;
}

/* Has a time come that was set to at most ahead_ns ahead?  If it is further ahead the clock has jumped since. */
static inline bool clock_is_due(int64_t due_ns, int64_t now_ns, int64_t ahead_ns)
{
	return now_ns >= due_ns || due_ns - now_ns > ahead_ns;
}

/* Waits until a descriptor is ready or deadline_ns has come.
 *
 * Returns how many are ready (when the deadline has passed as well, too: with one in the past it only looks),
 * 0 at the deadline and never before it, or a negative errno:
 *	-EINVAL   more descriptors than CLOCK_FDS_MAX, or than the process may have
 *	-EDEADLK  nothing to wait for: no deadline and no descriptor, or on the virtual clock none that is ready
 *	-ENOMEM   the kernel's
 * Beside a robot on a virtual clock it also returns 0 when the clock jumps, and when as much real time has passed as
 * was left: compare the clock with the deadline.  There a deadline of another clock has passed.
 * Every fds[].ready is set unless it returns an error.  A signal does not end it: have a signalfd among the
 * descriptors.  It allocates nothing, keeps no descriptor, and may be called in any thread and after fork.  It
 * sets the timer slack of its thread to 1 ns. */
int clock_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns);
int clock_own_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns); /* with a deadline by clock_own_ns */

/* The same for a set of epoll(7), of which it returns at most n events: at a deadline it ends some microseconds
 * sooner, for loops with ticks.  An empty set is waited with for ever.  Programs use a struct clock_set. */
int clock_wait_set(int set, struct epoll_event *events, int n, int64_t deadline_ns);

/* Called before a write to a socket, pipe or eventfd that the process pid reads, or 0: any process.  On a virtual clock
 * that process then gets a turn, and finds at once what was written, also if it is this one.  Messages of channels need
 * none. */
void clock_touch(pid_t pid);

/* Rings the process pid, which waits for a descriptor: true if that is done, since both are on one virtual clock, and
 * the other one has a probe.  false: write to its descriptor. */
bool clock_ring(pid_t pid);

/* For a descriptor that other processes write to when they have changed memory that is shared with them.  On a virtual
 * clock waits ask this function, too: a number that changes with each ring, 0: it has not rung.  A set reports a ring
 * once.  Before the descriptor is added to a set; rung NULL: before it is closed. */
typedef uint64_t clock_rung(const void *arg);
void clock_probe(int fd, clock_rung *rung, const void *arg);

/* A descriptor that is readable after SIGINT or SIGTERM, for waits; made once, the signals are blocked. */
int clock_stop_fd(void);

/* ---- sets ---- */

/* The descriptors and channels that one thread waits for, each with a tag, which several may share.  A wait does not
 * cost more if there are more of them.  A set keeps to the clock that was used when it was opened.
 *
 *	struct clock_set *set;
 *	uint32_t tags[8];
 *
 *	clock_set_open(&set);
 *	clock_set_add_fd(set, signals, POLLIN, SIGNAL);
 *	clock_set_add_channel(set, &ref, REF);
 *	for (;;)
 *		n = clock_set_wait(set, tags, 8, tick_ns);
 */
struct clock_set;
#define CLOCK_TAGS_MAX 64 /* reported by one clock_set_wait; the next one reports the rest */

int clock_set_open(struct clock_set **set);  /* 0 or -errno */
void clock_set_close(struct clock_set *set); /* NULL is fine */

/* 0 or -errno.  events: POLLIN, POLLOUT.  With CLOCK_EDGE its tag is returned each time it becomes ready, or ready
 * again (an eventfd: each write), whether it was read or not; without, by every wait while it is ready. */
#define CLOCK_EDGE 0x10000u
int clock_set_add_fd(struct clock_set *set, int fd, uint32_t events, uint32_t tag);
int clock_set_remove_fd(struct clock_set *set, int fd); /* before it is closed */

/* The tag is returned while the handle has unseen messages.  Reading is left to this thread. */
int clock_set_add_channel(struct clock_set *set, ach_channel_t *chan, uint32_t tag);
int clock_set_remove_channel(struct clock_set *set, ach_channel_t *chan); /* before it is closed */

/* As clock_wait: the number of tags returned, at most n; 0 at the deadline and never before it; or -errno. */
int clock_set_wait(struct clock_set *set, uint32_t *tags, size_t n, int64_t deadline_ns);
int clock_set_fd(const struct clock_set *set); /* its epoll(7) */

/* ---- which clock ---- */

/* The implementation of the three calls, which behave as described above; clock_wait checks n before it calls the
 * source, and that there is something to wait for.  Another one, such as this process's end of a
 * coordinator that hands out time to a whole robot, is one more such struct: its wait tells the coordinator the
 * deadline and sleeps until the time has been granted or a descriptor is ready, its now is the time last granted.
 * A set is one descriptor of its wait, unless is_virtual. */
struct clock_source {
	int64_t (*now)(void);
	int64_t (*real)(void);
	int (*wait)(struct clock_fd *fds, size_t n, int64_t deadline_ns);
	void (*touch)(pid_t pid); /* NULL: none */
	int64_t (*jumped)(void);  /* NULL: it does not jump; else it is observed from beside */
	bool is_virtual;	  /* that of vt_clock.h: a wait of a set looks at channels and probes */
};
extern const struct clock_source clock_real;

/* For the whole process, before it has other threads; *source is kept. */
void clock_use(const struct clock_source *source); /* clock_real at the start */
const struct clock_source *clock_used(void);	   /* NULL: the real one */

/* On a virtual clock clock_real_ns counts from 2000-01-01, so that logs come out the same every time. */
#define CLOCK_VIRTUAL_EPOCH_NS 946684800000000000
