/* ach_fd_thread.c: the watch, one list and one thread per process for all channels with a descriptor.
 *
 * Where io_uring counts the commits, the thread only looks, twice a slice, for a message whose wake-up did not come:
 * its writer was killed before it, or the bell was scribbled on.  At the second look it counts for the ring.  So the
 * timer that a sleep needs (ach_wait.c) never makes a descriptor readable.
 *
 * Without io_uring the thread sleeps on the words of the channels and counts each new commit.  It looks at a channel
 * and counts only with the list's lock, under which a get clears: what it counts is unseen.
 *
 * A child of fork gets descriptors of its own under the same numbers.  Its thread is started by the next call that
 * needs it, or at once if it has to count.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "channels/ach/ach_ring.h"

#define STACK_BYTES (128 * 1024) /* of a program that locks its memory, so it is not 8 MiB */

static struct {
	pthread_mutex_t lock;
	pthread_key_t exit; /* set in threads that have a ring */
	pthread_t thread;
	_Atomic bool running;
	int priority; /* the highest of the threads whose channels it watches */
	struct ach_handle *handles;
	_Atomic uint32_t changed;
} watch;

static void watch_init(void)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&watch.lock, &a);
	pthread_mutexattr_destroy(&a);
}

/* ---- one look ---- */

/* The newest message, after which the thread sleeps. */
static uint64_t count_commits(struct ach_handle *h)
{
	/* A put after the bell wakes, a put before it is seen here. */
	uint64_t c = atomic_load_explicit(&h->shm->commit, memory_order_seq_cst);

	ach_ring_bell(h, c + 1);
	if ((c != h->event_seq || ach_condemned(h)) && !h->event_own)
		ach_fd_count(h);
	return c;
}

static void check_late(struct ach_handle *h)
{
	uint64_t armed = atomic_load_explicit(&h->uring.armed, memory_order_relaxed);

	if (h->event_own || ach_uring_done(&h->uring) || !ach_newer(h, armed)) {
		h->event_late = 0;
	} else if (h->event_late == armed + 1) {
		ach_fd_count(h);
	} else {
		h->event_late = armed + 1; /* its wake-up may be on the way */
	}
}

/* Fills v; returns how long to sleep. */
static int64_t collect_waits(struct ach_waitv *v, size_t *n)
{
	int64_t slice = ACH_SLICE_NS;

	*n = 0;
	v[(*n)++] = ach_waitv_private(&watch.changed, atomic_load_explicit(&watch.changed, memory_order_relaxed));
	for (struct ach_handle *h = watch.handles; h; h = h->watched) {
		if (h->event_pid != ach_self_pid())
			continue;
		if (!h->event_thread) {
			check_late(h);
			slice = ach_shorter(slice, ach_slice_ns(h) / 2);
			continue;
		}
		slice = ach_shorter(slice, *n > ACH_WAIT_ANY_MAX ? ACH_SLICE_POLL_NS : ach_slice_ns(h));
		if (*n <= ACH_WAIT_ANY_MAX)
			v[(*n)++] = ach_waitv_channel(h, count_commits(h));
		else
			count_commits(h);
	}
	return slice;
}

static void *watch_run(void *arg)
{
	struct ach_waitv v[ACH_WAIT_ANY_MAX + 1];

	prctl(PR_SET_NAME, "ach-fd"); /* pthread_setname_np from outside goes through /proc, and slows our death */
	for (;;) {
		int64_t slice;
		size_t n;

		pthread_mutex_lock(&watch.lock);
		slice = collect_waits(v, &n);
		pthread_mutex_unlock(&watch.lock);
		/* A channel closed and unmapped since: EFAULT, or its change was signalled. */
		ach_sleep(v, n, slice);
	}
	return arg;
}

/* ---- the thread; with the lock ---- */

static int start_thread(void)
{
	pthread_attr_t a;
	sigset_t all, old;
	int err;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, STACK_BYTES);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the program's own threads */
	err = pthread_create(&watch.thread, &a, watch_run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&a);
	return err;
}

/* It runs with the priority of its most urgent caller. */
static void inherit_priority(void)
{
	struct sched_param p;
	int policy;

	if (!pthread_getschedparam(pthread_self(), &policy, &p) && p.sched_priority > watch.priority &&
	    !pthread_setschedparam(watch.thread, policy, &p))
		watch.priority = p.sched_priority;
}

/* Its list has changed. */
static void wake_thread(void)
{
	atomic_fetch_add_explicit(&watch.changed, 1, memory_order_relaxed);
	ach_futex(&watch.changed, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, 0);
}

/* 0, or an errno. */
int ach_watch_start(void)
{
	int err = watch.running ? 0 : start_thread();

	if (err)
		return err;
	watch.running = true;
	inherit_priority();
	wake_thread();
	return 0;
}

bool ach_watch_runs(void)
{
	return atomic_load_explicit(&watch.running, memory_order_relaxed);
}

/* ---- the list; with the lock ---- */

void ach_watch_add(struct ach_handle *h)
{
	ach_watch_remove(h);
	h->watched = watch.handles;
	watch.handles = h;
}

void ach_watch_remove(struct ach_handle *h)
{
	for (struct ach_handle **p = &watch.handles; *p; p = &(*p)->watched)
		if (*p == h) {
			*p = h->watched;
			if (watch.running)
				wake_thread();
			return;
		}
}

/* ---- threads that end, and fork ---- */

/* The kernel ends what a thread has in flight with the thread, and counts that.  The helper thread takes over until
 * another thread reads. */
static void thread_exits(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&watch.lock);
	for (struct ach_handle *h = watch.handles; h; h = h->watched) {
		if (h->event_pid != ach_self_pid() || h->uring.tid != ach_self_tid())
			continue;
		ach_uring_close(&h->uring);
		h->event_thread = h->event_orphan = true;
		if (ach_newer(h, h->event_seq))
			ach_fd_count(h);
		else
			ach_fd_clear(h);
		ach_watch_start();
	}
	pthread_mutex_unlock(&watch.lock);
}

/* This thread has a ring. */
void ach_watch_ring(void)
{
	pthread_setspecific(watch.exit, &watch);
}

static void fork_prepare(void)
{
	pthread_mutex_lock(&watch.lock);
}

/* A handle that gets no descriptor here keeps the parent's, and ach_channel_fd tries again. */
static void fork_child(void)
{
	bool counts = false;

	watch_init();
	watch.running = false; /* the thread was not copied */
	watch.priority = 0;
	for (struct ach_handle *h = watch.handles; h; h = h->watched)
		if (!ach_fd_begin(h))
			counts |= h->event_thread;
	if (counts)
		ach_watch_start();
}

static void watch_once(void)
{
	watch_init();
	pthread_key_create(&watch.exit, thread_exits);
	pthread_atfork(fork_prepare, ach_watch_unlock, fork_child);
}

void ach_watch_lock(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_once);
	pthread_mutex_lock(&watch.lock);
}

void ach_watch_unlock(void)
{
	pthread_mutex_unlock(&watch.lock);
}
