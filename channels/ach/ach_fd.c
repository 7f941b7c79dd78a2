/* ach_fd.c: a descriptor for poll, select and epoll.
 *
 * An eventfd that is readable while something is unseen, and only then: a program that polls may take ACH_EAGAIN
 * behind it for an error.  The watch, one list and one thread per process for all channels with a descriptor, sleeps
 * on their words and counts each new commit.  It looks at a channel and counts only with its lock, under which a get
 * that leaves nothing unseen clears: what it counts is unseen.
 *
 * A child of fork gets descriptors of its own under the same numbers, and a thread of its own.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "channels/ach/ach_ring.h"

#define STACK_BYTES (128 * 1024) /* of a program that locks its memory, so it is not 8 MiB */

static struct {
	pthread_mutex_t lock;
	pthread_t thread;
	bool running;
	int priority; /* the highest of the threads whose channels it watches */
	struct ach_handle *handles;
	_Atomic uint32_t changed;
} watch;

/* ---- one descriptor; with the lock ---- */

static void clear(struct ach_handle *h)
{
	uint64_t n;

	h->event_counted = false;
	while (read(h->event, &n, sizeof(n)) < 0 && errno == EINTR)
		;
}

static void count(struct ach_handle *h)
{
	uint64_t one = 1;

	h->event_counted = true;
	while (write(h->event, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* Makes an eventfd of this process, in a child of fork under the number it knows. */
static int begin(struct ach_handle *h)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (h->event >= 0) {
		int err = dup3(fd, h->event, O_CLOEXEC) < 0 ? -1 : 0;

		close(fd);
		if (err)
			return -1;
	} else {
		h->event = fd;
	}
	h->event_pid = ach_self_pid();
	h->event_counted = false;
	if (ach_newer(h, h->event_seq))
		count(h);
	return 0;
}

/* ---- the thread ---- */

/* The newest message, after which the thread sleeps. */
static uint64_t count_commits(struct ach_handle *h)
{
	/* A put after the bell wakes, a put before it is seen here. */
	uint64_t c = atomic_load_explicit(&h->shm->commit, memory_order_seq_cst);

	ach_ring_bell(h, c + 1);
	if ((c != h->event_seq || ach_condemned(h)) && !h->event_counted)
		count(h);
	return c;
}

/* Fills v; returns how long to sleep. */
static int64_t collect_waits(struct futex_waitv *v, size_t *n)
{
	int64_t slice = ACH_SLICE_NS;

	*n = 0;
	v[(*n)++] = ach_waitv_private(&watch.changed, atomic_load_explicit(&watch.changed, memory_order_relaxed));
	for (struct ach_handle *h = watch.handles; h; h = h->watched) {
		if (h->event_pid != ach_self_pid())
			continue;
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
	struct futex_waitv v[ACH_WAIT_ANY_MAX + 1];

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

/* ---- the watch; with the lock ---- */

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
	ach_futex(&watch.changed, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
}

/* 0, or an errno. */
static int watch_start(void)
{
	int err = watch.running ? 0 : start_thread();

	if (err)
		return err;
	watch.running = true;
	inherit_priority();
	wake_thread();
	return 0;
}

static void watch_remove(struct ach_handle *h)
{
	for (struct ach_handle **p = &watch.handles; *p; p = &(*p)->watched)
		if (*p == h) {
			*p = h->watched;
			if (watch.running)
				wake_thread();
			return;
		}
}

static void watch_add(struct ach_handle *h)
{
	watch_remove(h);
	h->watched = watch.handles;
	watch.handles = h;
}

/* ---- the lock, and fork ---- */

static void watch_init(void)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&watch.lock, &a);
	pthread_mutexattr_destroy(&a);
}

static void watch_unlock(void)
{
	pthread_mutex_unlock(&watch.lock);
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
		counts |= !begin(h);
	if (counts)
		watch_start();
}

static void watch_once(void)
{
	watch_init();
	pthread_atfork(fork_prepare, watch_unlock, fork_child);
}

static void watch_lock(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, watch_once);
	pthread_mutex_lock(&watch.lock);
}

/* ---- the calls ---- */

/* After a get that left the cursor at seq. */
void ach_fd_update(struct ach_handle *h, uint64_t seq)
{
	atomic_store_explicit(&h->event_seq, seq, memory_order_relaxed);
	if (h->event_pid != ach_self_pid() || ach_newer(h, seq))
		return; /* the descriptor of a parent; or it is readable, and should be */
	watch_lock();
	if (!watch.running)
		watch_start();
	if (h->event_counted && !ach_newer(h, seq))
		clear(h);
	watch_unlock();
}

enum ach_status ach_channel_fd(const ach_channel_t *chan, int *fd)
{
	struct ach_handle *h = chan->handle;
	int err = 0;

	if (!h)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (!fd)
		return ach_fail(ACH_EINVAL, "nowhere to put the answer");
	if (ach_outer)
		ach_outer->watched(h, true);
	watch_lock();
	if (h->event < 0 || h->event_pid != ach_self_pid()) {
		h->event_seq = chan->seq_num;
		if (begin(h))
			err = errno;
		else
			watch_add(h);
	}
	if (!err)
		err = watch_start();
	watch_unlock();
	if (err) {
		ach_fd_close(h);
		return ach_error(ACH_FAILED_SYSCALL, "no eventfd or no helper thread for the descriptor: %s",
				 strerror(err));
	}
	*fd = h->event;
	return ACH_OK;
}

void ach_fd_close(struct ach_handle *h)
{
	if (h->event < 0)
		return;
	watch_lock();
	watch_remove(h);
	close(h->event);
	h->event = -1;
	watch_unlock();
}
