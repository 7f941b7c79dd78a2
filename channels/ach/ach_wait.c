/* ach_wait.c: sleeping until a newer message is there, and waking sleepers.
 *
 * A waiter leaves a hint, "a process waits for message c+1".  A waiter that may write
 * the channel leaves it in the header; a waiter that may only read leaves it in the
 * bell, a segment that every reader may write.  So a reader cannot disturb the
 * writers' hint; a writer looks at both.  A hint only grows, expires by
 * itself when c+1 is committed, and is never cleared, so a waiter that
 * dies leaves nothing behind.  (A bit or a count would lose wake-ups or leak.)
 * The sleep is a futex on the low half of `commit`: the kernel compares it as
 * it queues, so a commit in between ends the sleep at once.
 *
 * A wake-up may fail to come: a writer is killed between its commit and its
 * wake with no put after it, or the bell was scribbled on.  So a sleep lasts a
 * slice at most.  But a timer is half of what a channel costs above a bare
 * futex, so among those who wait without a deadline for one message only one,
 * the watcher, keeps it: the waiter that set the lowest bit of the hint.  The others
 * sleep without.  A watcher that is not sure that they have been woken does it
 * before it goes.  (One with a deadline has a timer anyway, and never watches.)
 *
 * FUTEX_REQUEUE works on a read-only mapping: a process that may only read can
 * move all sleepers to another word, where no writer wakes them.  So in a
 * channel that some may only read (slices) every waiter keeps a timer.
 *
 * A known gap: if the watcher is killed, stopped, or cancelled in the
 * instant in which another begins to rely on it, and the wake-up for that very
 * message fails to come too, the others sleep until the next put, or until
 * a process opens the channel.  The same if a process scribbles a watcher into the
 * bell, or the word wraps, 2^32 commits between a look at it and the kernel's.
 */
#include <limits.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "channels/ach/ach_ring.h"

#define FINISH_LOOK_NS 100000
#define FINISH_LOOKS 2500
#define LOOKS 40		  /* before a sleep, of a reader in a stream of messages: 0.5 to 2 us */
#define POLL_GAP_MAX 127	  /* waits without, after polls in vain */
#define SLICE_NO_WAITV_NS 1000000 /* before Linux 5.16 one futex can be waited for: poll the others */

/* Changes with every ach_cancel of this process, and is part of every sleep on many channels. */
static _Atomic uint32_t cancel_epoch;

ACH_HOT long ach_futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

int64_t ach_timespec_ns(const struct timespec *t)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)t->tv_sec, 1000000000, &ns) || __builtin_add_overflow(ns, t->tv_nsec, &ns))
		return t->tv_sec < 0 ? INT64_MIN / 2 : INT64_MAX / 2;
	return ns;
}

int64_t ach_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return ach_timespec_ns(&t);
}

const struct ach_outer *ach_outer;

int64_t ach_wait_now_ns(clockid_t clock)
{
	return ach_outer ? ach_outer->now() : ach_now_ns(clock);
}

ACH_HOT void ach_wake(struct ach_handle *h)
{
	ach_futex(ach_futex_word(h), FUTEX_WAKE, INT_MAX, NULL);
}

/* At open: a writer may have died before its wake, and the watcher with it. */
void ach_wake_forgotten(struct ach_handle *h)
{
	uint64_t waited = ach_waited_for(h);
	uint64_t woken = atomic_load_explicit(&h->shm->woken, memory_order_acquire);
	uint64_t newest = atomic_load_explicit(&h->shm->commit, memory_order_seq_cst);

	if (waited > woken && waited <= newest)
		ach_wake(h);
}

/* G1: hint = max(hint, seq).  max, or a slow waiter would put an older hint over a newer one.
 * seq_cst with G2: see P4 in ach_put.c.  A load is enough when the hint is there already. */
void ach_ring_bell(struct ach_handle *h, uint64_t seq)
{
	uint64_t hint;

	if (!h->hint)
		return;
	hint = atomic_load_explicit(h->hint, memory_order_seq_cst);
	while (ach_hint_seq(hint) < seq &&
	       !atomic_compare_exchange_weak_explicit(h->hint, &hint, seq << 1, memory_order_seq_cst,
						      memory_order_seq_cst))
		;
}

/* G1 of a waiter without a deadline, which becomes the watcher if there is none.  May it sleep without a timer?
 * Not if the hint is beyond seq: that is a scribble, and there is no watcher for this message. */
static bool ring_watched_bell(struct ach_handle *h, uint64_t seq)
{
	const uint64_t watched = seq << 1 | ACH_HINT_WATCHED;
	uint64_t hint;

	if (atomic_load_explicit(&h->shm->slices, memory_order_relaxed)) {
		ach_ring_bell(h, seq);
		return false;
	}
	if (!h->hint)
		return false;
	hint = atomic_load_explicit(h->hint, memory_order_seq_cst);
	while (hint < watched)
		if (atomic_compare_exchange_weak_explicit(h->hint, &hint, watched, memory_order_seq_cst,
							  memory_order_seq_cst)) {
			h->watching = seq;
			return false;
		}
	return hint == watched && h->watching != seq;
}

/* No waiter may sleep on without a watcher, whether the message came or not: each wakes, and one of those that wait
 * again finds the bit clear.  Mostly the writer has woken all: its P5, after the wake, says so. */
ACH_HOT void ach_watch_end(struct ach_handle *h)
{
	/* acquire: the wake, and the commit before it, are done; so woken beyond commit is a scribble */
	uint64_t woken = atomic_load_explicit(&h->shm->woken, memory_order_acquire);
	uint64_t hint = h->watching << 1 | ACH_HINT_WATCHED, seq = h->watching;

	h->watching = 0;
	if (woken >= seq && woken <= atomic_load_explicit(&h->shm->commit, memory_order_relaxed))
		return;
	atomic_compare_exchange_strong_explicit(h->hint, &hint, seq << 1, memory_order_seq_cst, memory_order_relaxed);
	ach_wake(h);
}

struct futex_waitv ach_waitv_channel(struct ach_handle *h, uint64_t seq)
{
	return (struct futex_waitv){ (uint32_t)seq, (uintptr_t)ach_futex_word(h), FUTEX_32, 0 };
}

struct futex_waitv ach_waitv_private(_Atomic uint32_t *word, uint32_t value)
{
	return (struct futex_waitv){ value, (uintptr_t)word, FUTEX_32 | FUTEX_PRIVATE_FLAG, 0 };
}

int64_t ach_slice_ns(const struct ach_handle *h)
{
	return h->hint ? ACH_SLICE_NS : ACH_SLICE_POLL_NS;
}

/* Sleep until a word is not its value, but for_ns at most.  v[0] is private.
 * Always in CLOCK_MONOTONIC, also towards a deadline in another clock: that one may be stepped meanwhile. */
void ach_sleep(struct futex_waitv *v, size_t n, int64_t for_ns)
{
	int64_t until = ach_now_ns(CLOCK_MONOTONIC) + for_ns;
	struct timespec ts = { until / 1000000000, until % 1000000000 };

	/* EPERM: a container's filter that does not know the call. */
	if (syscall(SYS_futex_waitv, v, n, 0, &ts, CLOCK_MONOTONIC) < 0 && (errno == ENOSYS || errno == EPERM)) {
		ts = (struct timespec){ 0, for_ns < SLICE_NO_WAITV_NS ? for_ns : SLICE_NO_WAITV_NS };
		ach_futex((_Atomic uint32_t *)(uintptr_t)v[0].uaddr, FUTEX_WAIT_PRIVATE, (uint32_t)v[0].val, &ts);
	}
}

/* A short pause of the processor, not of the process. */
static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#endif
}

/* A reader in a stream of messages looks for the next one a moment longer before it sleeps: its sleep costs the writer
 * a system call.  In vain, it does so less and less often: the writer may need this very processor.  One that was
 * asleep before its last message, as at any usual rate, does not look. */
ACH_HOT bool ach_poll_newer(struct ach_handle *h, uint64_t seq)
{
	if (!h->streaming || ach_outer)
		return false;
	h->streaming = false;
	if (h->poll_in) {
		h->poll_in--;
		return false;
	}
	for (int i = 0; i < LOOKS; i++) {
		if (ach_newer(h, seq)) {
			h->poll_gap = 0;
			return true;
		}
		relax();
	}
	h->poll_gap = h->poll_gap < POLL_GAP_MAX ? (uint8_t)(2 * h->poll_gap + 1) : POLL_GAP_MAX;
	h->poll_in = h->poll_gap;
	return false;
}

/* Sleeps until the gap after the last wake-up is over, for_ns at most; false: it is over.  The reader leaves no hint,
 * so a put makes no system call for it.  The sleep is on a word that only ach_cancel changes.  On a virtual clock there
 * is none: no time passes in a burst of messages. */
bool ach_rest(const ach_channel_t *chan, int64_t for_ns)
{
	const struct ach_handle *h = chan->handle;
	const uint32_t epoch = atomic_load_explicit(&cancel_epoch, memory_order_acquire);
	struct timespec rest;

	if (ach_outer)
		return false;
	for_ns = ach_shorter(for_ns, h->woken_ns + h->wake_gap_ns - ach_now_ns(CLOCK_MONOTONIC));
	if (for_ns <= 0)
		return false;
	rest = (struct timespec){ for_ns / 1000000000, for_ns % 1000000000 };
	if (!__atomic_load_n(&chan->cancel, __ATOMIC_ACQUIRE)) /* after the epoch: a later cancel ends the sleep */
		ach_futex(&cancel_epoch, FUTEX_WAIT_PRIVATE, epoch, &rest);
	return true;
}

/* For one channel a plain futex: on one core with many readers futex_waitv cost a tenth more per message.  Its time is
 * relative, which saves a look at the clock.  for_ns INT64_MAX: no deadline.
 *
 * ach_cancel must end it too, also in the instructions between a look at its flag and the kernel's own look at the
 * word.  The arguments are in registers then, out of reach of a signal handler on top of this thread.  But it can take
 * the page away: what sleeps on it later is answered EFAULT.  So it is a page of its own, which nothing else uses. */
ACH_HOT void ach_wait_newer(struct ach_handle *h, uint64_t seq, int64_t for_ns)
{
	_Atomic uint32_t *word = (_Atomic uint32_t *)&((struct ach_header *)h->nap_page)->commit;
	struct timespec slice = { 0, 0 }, *nap = NULL;

	if (ach_outer) {
		ach_outer->watched(h, false);
		if (ach_newer(h, seq) || ach_outer->sleep(for_ns))
			return;
	}
	if (for_ns != INT64_MAX)
		ach_ring_bell(h, seq + 1);
	if (for_ns != INT64_MAX || !ring_watched_bell(h, seq + 1)) {
		slice.tv_nsec = ach_shorter(for_ns, ach_slice_ns(h));
		nap = &slice;
	}
	if (ach_newer(h, seq)) /* saves a system call; the kernel's comparison is the check that counts */
		return;
	/* Back with it when the program has taken the cancel back; if it has not, our caller sees that first. */
	if (ach_futex(word, FUTEX_WAIT, (uint32_t)seq, nap) < 0 && errno == EFAULT)
		mprotect(h->nap_page, 1, h->writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

enum ach_status ach_wait_any(ach_channel_t *const chans[], size_t n, const struct timespec *deadline, size_t *which)
{
	struct futex_waitv v[ACH_WAIT_ANY_MAX + 1];

	if (!chans || !n || n > ACH_WAIT_ANY_MAX || (deadline && (unsigned long)deadline->tv_nsec > 999999999))
		return ach_fail(ACH_EINVAL, "ach_wait_any takes 1 to 127 channels and a sound deadline");
	for (;;) {
		int64_t left = ACH_SLICE_NS;

		v[0] = ach_waitv_private(&cancel_epoch, atomic_load_explicit(&cancel_epoch, memory_order_acquire));
		for (size_t i = 0; i < n; i++) {
			struct ach_handle *h = chans[i]->handle;

			if (!h)
				return ach_fail(ACH_CLOSED, "the handle is not open");
			if (__atomic_load_n(&chans[i]->cancel, __ATOMIC_ACQUIRE))
				return ach_fail(ACH_CANCELED, "ach_cancel");
			if (ach_outer)
				ach_outer->watched(h, false);
			ach_ring_bell(h, chans[i]->seq_num + 1);
			v[i + 1] = ach_waitv_channel(h, chans[i]->seq_num);
			left = ach_shorter(left, ach_slice_ns(h));
		}
		for (size_t i = 0; i < n; i++)
			if (ach_newer(chans[i]->handle, chans[i]->seq_num)) {
				if (which)
					*which = i;
				return ACH_OK;
			}
		if (deadline) {
			left = ach_shorter(left, ach_timespec_ns(deadline) - ach_wait_now_ns(CLOCK_MONOTONIC));
			if (left <= 0)
				return ACH_TIMEOUT;
		}
		if (!ach_outer || !ach_outer->sleep(left))
			ach_sleep(v, n + 1, left);
	}
}

/* May run in a signal handler: atomics and system calls, errno kept. */
enum ach_status ach_cancel(ach_channel_t *chan, const ach_cancel_attr_t *attr)
{
	struct ach_handle *h = chan ? chan->handle : NULL;
	const int saved = errno;

	(void)attr; /* safe with and without async_unsafe */
	if (!h)
		return ACH_CLOSED;
	/* Before the flag: a thread that sees it may close the handle, and ach_close waits for us. */
	atomic_fetch_add_explicit(&h->cancelling, 1, memory_order_relaxed);
	__atomic_store_n(&chan->cancel, 1, __ATOMIC_SEQ_CST);
	atomic_fetch_add_explicit(&cancel_epoch, 1, memory_order_release); /* the flag before the epoch */
	ach_futex(&cancel_epoch, FUTEX_WAKE_PRIVATE, INT_MAX, NULL);
	/* A get that is not asleep yet will not fall asleep, and looks at the flag; a sleeping get is woken. */
	mprotect(h->nap_page, 1, PROT_NONE);
	ach_wake(h);
	atomic_fetch_sub_explicit(&h->cancelling, 1, memory_order_release); /* the last we do with it */
	errno = saved;
	return ACH_OK;
}

/* Bounded, for a child forked while another thread was cancelling: that thread does not exist in the child. */
void ach_cancel_finish(const struct ach_handle *h)
{
	const struct timespec moment = { 0, FINISH_LOOK_NS };

	for (int i = 0; i < FINISH_LOOKS && atomic_load_explicit(&h->cancelling, memory_order_acquire); i++)
		nanosleep(&moment, NULL);
}
