/* ach_uring.c: an io_uring with one FUTEX_WAIT in flight that counts in an eventfd.
 *
 * No timeout is linked to the wait: its end would be counted too.  The helper thread of ach_fd_thread.c notices a
 * wake-up that does not come.
 *
 * DEFER_TASKRUN, because otherwise a completion interrupts its thread, and
 * epoll_wait returns EINTR for every message.  With it the waker
 * counts in the eventfd at once, and the ring waits to be tidied until the
 * thread arms it again.  The price: only the thread that made a ring can do so.
 */
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "channels/ach/ach_ring.h"

#define SETUP_FLAGS (URING_SETUP_TASKRUN_FLAG | URING_SETUP_SINGLE_ISSUER | URING_SETUP_DEFER_TASKRUN)
#define SQ_TASKRUN (1u << 2)
#define CQ_EVENTFD_DISABLED 1u
#define RING_ENTRIES 2

int ach_uring_open(struct ach_uring *u, int event)
{
	struct io_uring_params p = { .flags = SETUP_FLAGS };

	*u = (struct ach_uring){ 0 };
	if (uring_setup(&u->ring, RING_ENTRIES, &p) &&
	    !syscall(SYS_io_uring_register, u->ring.fd, IORING_REGISTER_EVENTFD, &event, 1)) {
		u->tid = ach_self_tid();
		return 0;
	}
	ach_uring_close(u);
	return -1;
}

/* Makes no request to the kernel: in a child of fork the ring is still the parent's. */
void ach_uring_abandon(struct ach_uring *u)
{
	uring_unmap(&u->ring);
	u->in_flight = false;
	atomic_store_explicit(&u->tid, 0, memory_order_relaxed); /* a get in another thread may look at it */
}

/* Waits that end because the ring is closed are not counted. */
void ach_uring_close(struct ach_uring *u)
{
	if (u->ring.rings)
		atomic_store_explicit(u->ring.cq_flags, CQ_EVENTFD_DISABLED, memory_order_seq_cst);
	if (u->ring.fd >= 0 && u->tid == ach_self_tid()) /* no other thread may */
		uring_cancel_all(&u->ring);
	ach_uring_abandon(u);
}

/* Is there anything to tidy up: work the kernel has put off, or a completion? */
bool ach_uring_done(const struct ach_uring *u)
{
	return (atomic_load_explicit(u->ring.sq_flags, memory_order_acquire) & SQ_TASKRUN) ||
	       atomic_load_explicit(u->ring.cq_head, memory_order_relaxed) !=
		       atomic_load_explicit(u->ring.cq_tail, memory_order_acquire);
}

static uint64_t tag(const struct ach_uring *u)
{
	return (uint64_t)u->generation << 8;
}

/* Takes all completions.  *result: of the wait in flight, if it was among them. */
static void reap(struct ach_uring *u, int32_t *result)
{
	/* acquire: the completions before the tail */
	uint32_t end = atomic_load_explicit(u->ring.cq_tail, memory_order_acquire), head;

	for (head = atomic_load_explicit(u->ring.cq_head, memory_order_relaxed); head != end; head++) {
		const struct io_uring_cqe *c = &u->ring.cqes[head & u->ring.cq_mask];

		if (c->user_data == tag(u)) {
			u->in_flight = false;
			*result = c->res;
		}
	}
	atomic_store_explicit(u->ring.cq_head, head, memory_order_release);
}

/* Takes the wait back, uncounted.  It ends now, or is just being woken; then in a moment. */
static void take_back(struct ach_uring *u)
{
	struct io_uring_sync_cancel_reg one = { .addr = tag(u), .fd = -1, .timeout = { -1, -1 } };
	int32_t result;

	atomic_store_explicit(u->ring.cq_flags, CQ_EVENTFD_DISABLED, memory_order_seq_cst);
	syscall(SYS_io_uring_register, u->ring.fd, IORING_REGISTER_SYNC_CANCEL, &one, 1);
	while (u->in_flight) {
		if (syscall(SYS_io_uring_enter, u->ring.fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0 &&
		    errno != EINTR)
			break;
		reap(u, &result);
	}
	atomic_store_explicit(u->ring.cq_flags, 0, memory_order_seq_cst);
}

/* Count in the eventfd when message seq + 1 is committed.  The wait may end at once: then in_flight is false. */
int ach_uring_arm(struct ach_uring *u, _Atomic uint32_t *word, uint64_t seq)
{
	const uint64_t mask = ach_wake_bit(seq + 1);
	uint32_t tail = atomic_load_explicit(u->ring.sq_tail, memory_order_relaxed);
	struct io_uring_sqe *s = &u->ring.sqes[tail & u->ring.sq_mask];
	int32_t result = 0;

	if (u->in_flight && !ach_uring_done(u))
		take_back(u);
	u->generation++;
	u->ring.sq_array[tail & u->ring.sq_mask] = tail & u->ring.sq_mask;
	memset(s, 0, sizeof(*s));
	s->opcode = URING_OP_FUTEX_WAIT;
	s->fd = URING_FUTEX_U32;
	s->addr = (uintptr_t)word;
	s->addr2 = (uint32_t)seq;
	memcpy((uint8_t *)s + 48, &mask, sizeof(mask)); /* addr3 */
	s->user_data = tag(u);
	atomic_store_explicit(&u->armed, seq, memory_order_relaxed);

	/* release: the entry before the tail */
	atomic_store_explicit(u->ring.sq_tail, tail + 1, memory_order_release);
	if (syscall(SYS_io_uring_enter, u->ring.fd, 1, 0, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return -1;
	u->in_flight = true;
	reap(u, &result);
	return result && result != -EAGAIN ? -1 : 0; /* EAGAIN: the word had another value already */
}
