/* ach_fd_thread.c: the descriptor without io_uring.
 *
 * One thread per process sleeps on the words of all channels with a descriptor
 * and counts each new commit in that channel's eventfd.  It touches a channel
 * only with the list's lock, and sleeps without it.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "channels/ach_ring.h"

static struct {
	pthread_mutex_t lock;
	pthread_t thread;
	bool running;
	int priority; /* the highest of those whose channels it watches */
	size_t n;
	struct ach_handle *handles[ACH_WAIT_ANY_MAX];
	uint64_t seqs[ACH_WAIT_ANY_MAX]; /* newest commit counted */
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

static void watch_forked(void)
{
	watch.running = false; /* the thread was not copied */
	watch.n = 0;
	watch_init();
}

static void watch_once(void)
{
	watch_init();
	pthread_atfork(NULL, NULL, watch_forked);
}

static void count_commits(void)
{
	for (size_t i = 0; i < watch.n; i++) {
		struct ach_handle *h = watch.handles[i];
		uint64_t c;

		ach_ring_bell(h, watch.seqs[i] + 1);
		c = atomic_load_explicit(&h->shm->commit, memory_order_seq_cst);
		if (c == watch.seqs[i])
			continue;
		watch.seqs[i] = c;
		ach_ring_bell(h, c + 1);
		ach_fd_count(h);
	}
}

static void *watch_run(void *arg)
{
	struct ach_waitv v[ACH_WAIT_ANY_MAX + 1];

	prctl(PR_SET_NAME, "ach-fd"); /* pthread_setname_np from outside goes through /proc, and slows our death */
	for (;;) {
		int64_t slice = ACH_SLICE_NS;
		size_t n;

		pthread_mutex_lock(&watch.lock);
		count_commits();
		v[0] = ach_waitv_private(&watch.changed, atomic_load_explicit(&watch.changed, memory_order_relaxed));
		for (n = 0; n < watch.n; n++) {
			v[n + 1] = ach_waitv_channel(watch.handles[n], watch.seqs[n]);
			if (ach_slice_ns(watch.handles[n]) < slice)
				slice = ach_slice_ns(watch.handles[n]);
		}
		pthread_mutex_unlock(&watch.lock);
		/* A channel closed and unmapped since: EFAULT, or changed has been told. */
		ach_sleep(v, n + 1, slice);
	}
	return arg;
}

static void tell_thread(void)
{
	atomic_fetch_add_explicit(&watch.changed, 1, memory_order_relaxed);
	ach_futex(&watch.changed, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, 0);
}

static int start_thread(void)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the program's own threads */
	err = pthread_create(&watch.thread, NULL, watch_run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
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

int ach_fd_thread_add(struct ach_handle *h)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int err = EMFILE;

	pthread_once(&once, watch_once);
	pthread_mutex_lock(&watch.lock);
	if (watch.n < ACH_WAIT_ANY_MAX) {
		watch.handles[watch.n] = h;
		watch.seqs[watch.n] = atomic_load_explicit(&h->shm->commit, memory_order_seq_cst);
		watch.n++;
		err = watch.running ? 0 : start_thread();
		if (err) {
			watch.n--;
		} else {
			watch.running = true;
			inherit_priority();
			tell_thread();
		}
	}
	pthread_mutex_unlock(&watch.lock);
	errno = err;
	return err ? -1 : 0;
}

void ach_fd_thread_remove(struct ach_handle *h)
{
	pthread_mutex_lock(&watch.lock);
	for (size_t i = 0; i < watch.n; i++)
		if (watch.handles[i] == h) {
			watch.n--;
			watch.handles[i] = watch.handles[watch.n];
			watch.seqs[i] = watch.seqs[watch.n];
			tell_thread();
			break;
		}
	pthread_mutex_unlock(&watch.lock);
}
