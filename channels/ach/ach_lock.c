/* ach_lock.c: the writers' lock when it is not free, and who we are. */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "channels/ach/ach_lock.h"

#define LOCK_NAP_NS 20000000 /* at most this long in the kernel before looking again */
#define LOCK_RETRY_NS 1000000

__thread struct ach_self ach_self;

static void self_forked(void)
{
	ach_self.tid = 0;
	ach_self.held = NULL;
}

__attribute__((constructor)) static void self_watch_fork(void)
{
	pthread_atfork(NULL, NULL, self_forked);
}

void ach_self_look_up(void)
{
	size_t len;

	/* Without a robust list a dead owner is found by its tid (ESRCH below). */
	if (syscall(SYS_get_robust_list, 0, &ach_self.robust, &len))
		ach_self.robust = NULL;
	ach_self.pid = (uint32_t)getpid();
	ach_self.tid = (uint32_t)syscall(SYS_gettid);
}

uint32_t ach_self_pid(void)
{
	if (!ach_self.tid)
		ach_self_look_up();
	return ach_self.pid;
}

static int lock_in_kernel(_Atomic uint32_t *word, int64_t for_ns)
{
	static _Atomic bool no_pi2;
	bool old = atomic_load_explicit(&no_pi2, memory_order_relaxed);
	int64_t until = ach_now_ns(old ? CLOCK_REALTIME : CLOCK_MONOTONIC) + for_ns;
	struct timespec ts = { until / 1000000000, until % 1000000000 };

	if (!ach_futex(word, old ? FUTEX_LOCK_PI : FUTEX_LOCK_PI2, 0, &ts))
		return 0;
	if (errno == ENOSYS && !old) { /* before Linux 5.14 */
		atomic_store_explicit(&no_pi2, true, memory_order_relaxed);
		return EAGAIN;
	}
	return errno;
}

enum ach_status ach_lock_slow(struct ach_handle *h)
{
	_Atomic uint32_t *word = &h->shm->lock;
	const uint64_t commit0 = atomic_load_explicit(&h->shm->commit, memory_order_relaxed);
	const int64_t until = ach_now_ns(CLOCK_MONOTONIC) + h->put_timeout_ns;

	for (;;) {
		uint32_t seen = atomic_load_explicit(word, memory_order_relaxed);
		int64_t left = until - ach_now_ns(CLOCK_MONOTONIC);
		int err;

		if (!(seen & (FUTEX_TID_MASK | FUTEX_WAITERS))) {
			err = ESRCH; /* free, or its owner died */
		} else if ((seen & FUTEX_TID_MASK) == ach_self.tid) {
			err = ESRCH; /* ours, and ach_lock_take knows that we do not hold it: scribbled */
		} else {
			if (seen == h->stuck_word && commit0 == h->stuck_commit)
				left = 0; /* waited for once already, and nothing has moved since */
			err = lock_in_kernel(word, left < 0 ? 0 : left < LOCK_NAP_NS ? left : LOCK_NAP_NS);
		}

		switch (err) {
		case 0:
			atomic_fetch_and_explicit(word, ~(uint32_t)FUTEX_OWNER_DIED, memory_order_acquire);
			return ACH_OK;
		case ESRCH: /* no such thread */
		case EPERM: /* a kernel thread: not a writer */
			if (atomic_compare_exchange_strong_explicit(word, &seen, ach_self.tid, memory_order_acquire,
								    memory_order_relaxed)) {
				h->takeovers += (seen & FUTEX_TID_MASK) != 0;
				return ACH_OK;
			}
			break;
		case EDEADLK: /* two threads, two reservations, crosswise */
			return ach_fail(ACH_BUG, "two writers wait for each other's reservations");
		case EINVAL: /* the word contradicts the kernel: let those who wait for it time out */
			nanosleep(&(struct timespec){ 0, LOCK_RETRY_NS }, NULL);
			break;
		}
		if (left <= 0) {
			h->stuck_word = atomic_load_explicit(word, memory_order_relaxed);
			h->stuck_commit = atomic_load_explicit(&h->shm->commit, memory_order_relaxed);
			if (h->stuck_commit != commit0)
				h->stuck_word = 0;
			return ach_fail(ACH_TIMEOUT, "another writer holds the channel");
		}
	}
}

void ach_unlock_slow(struct ach_handle *h)
{
	ach_futex(&h->shm->lock, FUTEX_UNLOCK_PI, 0, NULL); /* a scribbled word: EPERM, nothing to do */
}
