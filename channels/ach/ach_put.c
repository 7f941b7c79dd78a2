/* ach_put.c: writing.  put = reserve, copy, commit. */
#include "channels/ach/ach_lock.h"

static uint64_t round_up(uint64_t n)
{
	return (n + ACH_ALIGN - 1) & ~(uint64_t)(ACH_ALIGN - 1);
}

/* Take the lock and work out from the newest entry where the next message goes. */
ACH_HOT static enum ach_status put_begin(struct ach_handle *h, size_t max, struct ach_section *s, struct ach_target *p)
{
	enum ach_status r;

	if (!h->writable)
		return ach_fail(ACH_EACCES, "this handle may only read the channel");
	if (ach_condemned(h))
		return ach_fail(ACH_CORRUPT, ACH_CONDEMNED);
	if (max > h->lsize)
		return ach_fail(ACH_OVERFLOW, "the message is longer than the channel");
	if (ach_outer)
		ach_outer->before();
	r = ach_lock_take(h, s);
	if (r != ACH_OK)
		return r;

	/* relaxed: only the holder of the lock writes commit and entries */
	*p = (struct ach_target){ .newest = atomic_load_explicit(&h->shm->commit, memory_order_relaxed), .first = 1 };
	if (p->newest) {
		struct ach_seen e = ach_entry_read(h, p->newest);

		if (!ach_entry_ok(h, &e, p->newest) || p->newest >= ACH_SEQ_MAX) {
			ach_lock_drop(h, s);
			return ach_fail(ACH_CORRUPT, "the newest index entry is not sound");
		}
		p->pos = round_up(e.pos + e.len);
		if (p->pos >= h->psize)
			p->pos -= h->psize;
		p->cum = e.cum + e.len;
		p->first = p->newest - e.keep + 1;
	}
	p->max = max;
	/* P1, release: a process that sees it sees the commits before it too, so R5 never reports CORRUPT wrongly */
	atomic_store_explicit(&h->shm->reclaim, p->first, memory_order_release);
	ach_fence_before_change(); /* P2: before the first changed byte or slot */
	return ACH_OK;
}

/* The oldest message that stays when seq, len bytes long, is the newest; 0: the index is not sound. */
static uint64_t put_oldest(const struct ach_handle *h, const struct ach_target *p, uint64_t seq, size_t len)
{
	uint64_t first = p->first;

	if (seq - first >= h->count)
		first = seq - h->count + 1;
	for (; first < seq; first++) {
		struct ach_seen e = ach_entry_read(h, first);

		if (!ach_entry_ok(h, &e, first) || e.cum > p->cum)
			return 0;
		if (p->cum + len - e.cum <= h->lsize)
			break;
	}
	return first;
}

/* Is there a waiter that was not woken for seq or an earlier message? */
static void put_wake(struct ach_handle *h, uint64_t seq)
{
	/* P4, seq_cst: with P3 and the waiter's G1, G2 a Dekker pair: we see its hint or it sees our commit.
	 * Acquire would not do: aarch64 may then load the hint before the commit is visible. */
	uint64_t hint = ach_waited_for(h);
	uint64_t woken = atomic_load_explicit(&h->shm->woken, memory_order_relaxed);

	if (hint > woken || woken > seq) { /* woken beyond the newest message: scribbled, and mended here */
		ach_wake(h);
		/* P5, after the wake: if we die before, the next put wakes.  Release: woken implies it is done */
		atomic_store_explicit(&h->shm->woken, seq, memory_order_release);
	}
}

ACH_HOT static enum ach_status put_end(struct ach_handle *h, struct ach_section *s, const struct ach_target *p,
				       size_t len)
{
	const uint64_t seq = p->newest + 1;
	const uint64_t first = put_oldest(h, p, seq, len);
	struct ach_entry *e = &h->shm->index[seq & h->slot_mask];

	if (!first) {
		ach_lock_drop(h, s);
		return ach_fail(ACH_CORRUPT, "an index entry is not sound");
	}
	atomic_store_explicit(&e->seq, seq, ACH_STORE_UNCHECKED);
	atomic_store_explicit(&e->pos, p->pos, ACH_STORE_UNCHECKED);
	atomic_store_explicit(&e->cum, p->cum, ACH_STORE_UNCHECKED);
	atomic_store_explicit(&e->len, (uint32_t)len, ACH_STORE_UNCHECKED);
	atomic_store_explicit(&e->keep, (uint32_t)(seq - first + 1), ACH_STORE_UNCHECKED);
	atomic_store_explicit(&h->shm->writer, ach_self.pid, memory_order_relaxed); /* for people to look at */
	/* P3: the message exists from here on.  seq_cst: data and entry before it (R1), and it before P4 */
	atomic_store_explicit(&h->shm->commit, seq, memory_order_seq_cst);
	ach_lock_drop(h, s);
	/* Outside the lock, so that a woken reader of higher priority does not preempt its holder. */
	put_wake(h, seq);
	if (ach_outer)
		ach_outer->committed(h, h->data + p->pos, len);
	return ACH_OK;
}

ACH_HOT enum ach_status ach_put(ach_channel_t *chan, const void *buf, size_t len)
{
	struct ach_handle *h = chan->handle;
	struct ach_section section;
	struct ach_target target;
	enum ach_status r;

	if (!h)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (!buf || !len)
		return ach_fail(ACH_EINVAL, "a message has at least one byte");
	r = put_begin(h, len, &section, &target);
	if (r != ACH_OK)
		return r;
	ach_copy_in(h->data + target.pos, buf, len);
	return put_end(h, &section, &target, len);
}

enum ach_status ach_reserve(ach_channel_t *chan, size_t max, void **buf)
{
	struct ach_handle *h = chan->handle;
	enum ach_status r;

	if (!h)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (!buf || !max)
		return ach_fail(ACH_EINVAL, "a message has at least one byte");
	if (h->target.max && (ach_lock_holds(&h->section) || ach_reserved_elsewhere(h)))
		return ach_fail(ACH_BUG, "this handle has a reservation already");
	r = put_begin(h, max, &h->section, &h->target);
	if (r != ACH_OK)
		return r;
	h->reserve_tid = ach_self.tid;
	h->reserve_pid = ach_self.pid;
	*buf = h->data + h->target.pos;
	return ACH_OK;
}

enum ach_status ach_commit(ach_channel_t *chan, size_t len)
{
	struct ach_handle *h = chan->handle;
	size_t max;

	if (!h)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (!h->target.max)
		return ach_fail(ACH_EINVAL, "commit without a reservation");
	if (!ach_lock_holds(&h->section))
		return ach_fail(ACH_BUG, "another thread made this reservation");
	max = h->target.max;
	h->target.max = 0;
	if (len && len <= max)
		return put_end(h, &h->section, &h->target, len);
	ach_lock_drop(h, &h->section);
	return len ? ach_fail(ACH_OVERFLOW, "more was committed than reserved") : ACH_OK;
}

/* By a thread of this process that still lives: not a thread that exited, and not the parent of a fork. */
bool ach_reserved_elsewhere(const struct ach_handle *h)
{
	return h->target.max && !ach_lock_holds(&h->section) && h->reserve_pid == ach_self_pid() &&
	       !tgkill((pid_t)h->reserve_pid, (pid_t)h->reserve_tid, 0);
}

/* The flag lies beside what a put changes, and no put writes it: a writer that was stopped does not lift it. */
enum ach_status ach_condemn(ach_channel_t *chan)
{
	struct ach_handle *h = chan->handle;

	if (!h)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (!h->writable)
		return ach_fail(ACH_EACCES, "this handle may only read the channel");
	atomic_store_explicit(&h->shm->condemned, 1, memory_order_seq_cst);
	ach_wake(h);
	return ACH_OK;
}
