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
 * Ask the clock for the tick, not the answer 0: with something ready and the deadline passed the answer is
 * what is ready, and a busy bus would starve a tick that waits for 0.
 *
 * Times are nanoseconds, absolute, of CLOCK_MONOTONIC.  Nobody else blocks or makes timers, so that a virtual
 * clock can take the place of the real one behind these calls and the program cannot tell.
 */
#ifndef CHANNELS_CLOCK_H
#define CHANNELS_CLOCK_H

#include <poll.h> /* POLLIN and the like */
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#define CLOCK_NEVER INT64_MAX /* a deadline that does not come */
#define CLOCK_FDS_MAX 64      /* descriptors in one clock_wait */

struct clock_fd {
	int fd;	      /* anything poll(2) takes: channel, socket, signalfd, pidfd, epoll; negative: left out */
	short events; /* wanted: POLLIN, POLLOUT */
	short ready;  /* out: which of them are there; POLLERR, POLLHUP and POLLNVAL (not open) come unasked */
};

int64_t clock_now_ns(void);  /* CLOCK_MONOTONIC */
int64_t clock_real_ns(void); /* CLOCK_REALTIME: for the stamps of logs and nothing else, it jumps */
/* How long the machine has been suspended since it booted: CLOCK_MONOTONIC stands still then.  0 on a virtual clock. */
int64_t clock_suspended_ns(void);

/* Waits until a descriptor is ready or deadline_ns has come.
 *
 * Returns how many are ready (when the deadline has passed as well, too: with one in the past it only looks),
 * 0 at the deadline and never before it, or a negative errno:
 *	-EINVAL   more descriptors than CLOCK_FDS_MAX, or than the process may have
 *	-EDEADLK  nothing to wait for: no deadline and no descriptor, or on the virtual clock none that is ready
 *	-ENOMEM   the kernel's
 * Every fds[].ready is set unless it returns an error.  A signal does not end it: have a signalfd among the
 * descriptors.  It allocates nothing, keeps no descriptor, and may be called in any thread and after fork.  It
 * sets the timer slack of its thread to 1 ns. */
int clock_wait(struct clock_fd *fds, size_t n, int64_t deadline_ns);

/* The same for a set of epoll(7), of which it tells at most n events: at a deadline it ends some microseconds
 * sooner, for loops with ticks.  An empty set is waited with for ever. */
int clock_wait_set(int set, struct epoll_event *events, int n, int64_t deadline_ns);

/* ---- which clock ---- */

/* What stands behind the three calls.  A source answers for them as written above; before clock_wait asks it,
 * it has checked n and that there is something to wait for.  Another one, such as this process's end of a
 * coordinator that hands out time to a whole robot, is one more such struct: its wait tells the coordinator the
 * deadline and sleeps until the time has been granted or a descriptor is ready, its now is the time last granted. */
struct clock_source {
	int64_t (*now)(void);
	int64_t (*real)(void);
	int (*wait)(struct clock_fd *fds, size_t n, int64_t deadline_ns);
};

/* For the whole process, before it has other threads; *source is kept. */
void clock_use(const struct clock_source *source);
void clock_use_real(void); /* as at the start */

/* Time that passes only inside clock_wait, for tests in one process and one thread.  It never sleeps: if
 * something is ready it returns with the time unmoved, else the time is the deadline now.  clock_real_ns counts
 * from 2000-01-01, so that logs come out the same every time.  What only becomes ready by the work of another
 * thread or process may come too late for it. */
#define CLOCK_VIRTUAL_EPOCH_NS 946684800000000000
void clock_use_virtual(int64_t start_ns);

#endif
