/* ach_lock.h: the writers' lock.
 *
 * One 32-bit PI futex word.  Not a pthread mutex: glibc follows list pointers
 * that lie in shared memory and asserts on what it finds there, so a scribbled
 * one aborts, hangs or writes anywhere.  The word is robust all the same: the
 * kernel treats the pending slot of a thread's robust list like an entry of
 * it, so while the slot points at the word a dying thread marks it and hands it
 * on.  A dead owner needs no recovery, because put leaves nothing to repair.
 *
 * The code of a put without contention is here, the rest in ach_lock.c.
 */
#pragma once

#include "channels/ach/ach_ring.h"

#pragma GCC visibility push(hidden)

/* Initial-exec keeps the look-up to an instruction or two; it is small enough for dlopen. */
extern __thread __attribute__((tls_model("initial-exec"))) struct ach_self {
	uint32_t tid, pid; /* 0: not known yet, or forked since */
	struct robust_list_head *robust;
	void *pending; /* what the slot held before the first section */
	struct ach_section *held;
} ach_self;

void ach_self_look_up(void);
enum ach_status ach_lock_slow(struct ach_handle *h);
void ach_unlock_slow(struct ach_handle *h);

#pragma GCC visibility pop

static inline void ach_lock_show_kernel(void *pending)
{
	if (ach_self.robust)
		ach_self.robust->list_op_pending = pending;
	atomic_signal_fence(memory_order_seq_cst);
}

/* The section is on the list before the word is ours and until it is no longer: a signal handler that puts to the same
 * channel must find it there. */
static inline void ach_section_enter(struct ach_handle *h, struct ach_section *s)
{
	uintptr_t word = (uintptr_t)&h->shm->lock;

	if (!ach_self.held)
		ach_self.pending = ach_self.robust ? ach_self.robust->list_op_pending : NULL;
	s->id = h->id;
	s->pending = NULL;
	if (ach_self.robust)
		s->pending = (void *)((word - (uintptr_t)ach_self.robust->futex_offset) | 1); /* 1: PI */
	s->outer = ach_self.held;
	atomic_signal_fence(memory_order_seq_cst);
	ach_self.held = s;
	ach_lock_show_kernel(s->pending);
}

static inline void ach_section_leave(struct ach_section *s)
{
	struct ach_section **p = &ach_self.held;

	while (*p != s) /* reservations may end in any order */
		p = &(*p)->outer;
	atomic_signal_fence(memory_order_seq_cst);
	*p = s->outer;
	ach_lock_show_kernel(ach_self.held ? ach_self.held->pending : ach_self.pending);
}

static inline bool ach_lock_holds(const struct ach_section *s)
{
	for (const struct ach_section *q = ach_self.held; q; q = q->outer)
		if (q == s)
			return true;
	return false;
}

static inline enum ach_status ach_lock_take(struct ach_handle *h, struct ach_section *s)
{
	uint32_t free = 0;
	enum ach_status r;

	if (!ach_self.tid)
		ach_self_look_up();
	for (const struct ach_section *q = ach_self.held; q; q = q->outer)
		if (q->id == h->id)
			return ach_fail(ACH_BUG, "a put inside this thread's own put or reservation");
	ach_section_enter(h, s);
	/* acquire: everything that the previous writer did, even if it died, precedes what follows */
	if (atomic_compare_exchange_strong_explicit(&h->shm->lock, &free, ach_self.tid, memory_order_acquire,
						    memory_order_relaxed))
		return ACH_OK;
	r = ach_lock_slow(h);
	if (r != ACH_OK)
		ach_section_leave(s);
	return r;
}

static inline void ach_lock_drop(struct ach_handle *h, struct ach_section *s)
{
	uint32_t mine = ach_self.tid;

	/* release: the other half of the acquire above */
	if (!atomic_compare_exchange_strong_explicit(&h->shm->lock, &mine, 0, memory_order_release,
						     memory_order_relaxed))
		ach_unlock_slow(h);
	ach_section_leave(s);
}
