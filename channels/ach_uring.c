/* ach_uring.c: an io_uring with one FUTEX_WAIT in flight that counts in an eventfd.
 *
 * No timeout is linked to the wait: its end would be counted too.  The helper thread of ach_fd_thread.c notices a
 * wake-up that does not come.
 *
 * DEFER_TASKRUN, because otherwise a completion interrupts whatever its thread
 * is doing, and epoll_wait answers EINTR for every message.  With it the waker
 * counts in the eventfd at once, and the ring waits to be tidied until the
 * thread arms it again.  The price: only the thread that made a ring can do so.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "channels/ach_ring.h"

#define OP_FUTEX_WAIT 51 /* since Linux 6.7; older headers lack it, FUTEX2_SIZE_U32 and some of these flags */
#define FUTEX2_U32 2
#define SETUP_FLAGS ((1u << 9) | (1u << 12) | (1u << 13)) /* TASKRUN_FLAG, SINGLE_ISSUER, DEFER_TASKRUN */
#define SQ_TASKRUN (1u << 2)
#define CQ_EVENTFD_DISABLED 1u
#define RING_ENTRIES 2

static bool op_supported(int fd)
{
	_Alignas(struct io_uring_probe)
		uint8_t room[sizeof(struct io_uring_probe) + (OP_FUTEX_WAIT + 1) * sizeof(struct io_uring_probe_op)] = {
			0
		};
	struct io_uring_probe *p = (struct io_uring_probe *)room;

	return !syscall(SYS_io_uring_register, fd, IORING_REGISTER_PROBE, p, OP_FUTEX_WAIT + 1) &&
	       p->ops_len > OP_FUTEX_WAIT && (p->ops[OP_FUTEX_WAIT].flags & IO_URING_OP_SUPPORTED);
}

static int ring_map(struct ach_uring *u, const struct io_uring_params *p)
{
	size_t sq_end = p->sq_off.array + p->sq_entries * sizeof(uint32_t);
	size_t cq_end = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
	const int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;

	u->rings_len = sq_end > cq_end ? sq_end : cq_end;
	u->sqes_len = p->sq_entries * sizeof(struct io_uring_sqe);
	u->rings = mmap(NULL, u->rings_len, prot, flags, u->fd, (off_t)IORING_OFF_SQ_RING);
	if (u->rings == MAP_FAILED) {
		u->rings = NULL;
		return -1;
	}
	u->sqes = mmap(NULL, u->sqes_len, prot, flags, u->fd, (off_t)IORING_OFF_SQES);
	if ((void *)u->sqes == MAP_FAILED) {
		u->sqes = NULL;
		return -1;
	}
	u->sq_tail = (_Atomic uint32_t *)(u->rings + p->sq_off.tail);
	u->sq_flags = (_Atomic uint32_t *)(u->rings + p->sq_off.flags);
	u->sq_array = (uint32_t *)(u->rings + p->sq_off.array);
	u->sq_mask = p->sq_entries - 1;
	u->cq_head = (_Atomic uint32_t *)(u->rings + p->cq_off.head);
	u->cq_tail = (_Atomic uint32_t *)(u->rings + p->cq_off.tail);
	u->cq_flags = (_Atomic uint32_t *)(u->rings + p->cq_off.flags);
	u->cqes = (struct io_uring_cqe *)(u->rings + p->cq_off.cqes);
	u->cq_mask = p->cq_entries - 1;
	return 0;
}

int ach_uring_open(struct ach_uring *u, int event)
{
	struct io_uring_params p = { .flags = SETUP_FLAGS };

	*u = (struct ach_uring){ .fd = (int)syscall(SYS_io_uring_setup, RING_ENTRIES, &p) };
	if (u->fd >= 0 && (p.features & IORING_FEAT_SINGLE_MMAP) && op_supported(u->fd) && !ring_map(u, &p) &&
	    !syscall(SYS_io_uring_register, u->fd, IORING_REGISTER_EVENTFD, &event, 1)) {
		u->tid = ach_self_tid();
		return 0;
	}
	ach_uring_close(u);
	return -1;
}

/* What is in flight ends here, and the work put off for it is done.  Left to the kernel, a thread that closed rings in
 * a hurry has been seen to spin for seconds in its exit. */
static void ring_finish(struct ach_uring *u)
{
	struct io_uring_sync_cancel_reg all = {
		.fd = -1,
		.flags = IORING_ASYNC_CANCEL_ALL | IORING_ASYNC_CANCEL_ANY,
		.timeout = { -1, -1 },
	};

	syscall(SYS_io_uring_register, u->fd, IORING_REGISTER_SYNC_CANCEL, &all, 1);
	syscall(SYS_io_uring_enter, u->fd, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
}

/* Without a word to the kernel: in a child of fork the ring is still the parent's. */
void ach_uring_abandon(struct ach_uring *u)
{
	if (u->sqes)
		munmap(u->sqes, u->sqes_len);
	if (u->rings)
		munmap(u->rings, u->rings_len);
	if (u->fd >= 0)
		close(u->fd);
	u->fd = -1;
	u->sqes = NULL;
	u->rings = NULL;
	u->in_flight = false;
	atomic_store_explicit(&u->tid, 0, memory_order_relaxed); /* a get in another thread may look at it */
}

/* What ends with the ring, now or in a moment, is not counted. */
void ach_uring_close(struct ach_uring *u)
{
	if (u->rings)
		atomic_store_explicit(u->cq_flags, CQ_EVENTFD_DISABLED, memory_order_seq_cst);
	if (u->fd >= 0 && u->tid == ach_self_tid()) /* no other thread may */
		ring_finish(u);
	ach_uring_abandon(u);
}

/* Is there anything to tidy up: work the kernel has put off, or a completion? */
bool ach_uring_done(const struct ach_uring *u)
{
	return (atomic_load_explicit(u->sq_flags, memory_order_acquire) & SQ_TASKRUN) ||
	       atomic_load_explicit(u->cq_head, memory_order_relaxed) !=
		       atomic_load_explicit(u->cq_tail, memory_order_acquire);
}

static uint64_t tag(const struct ach_uring *u)
{
	return (uint64_t)u->generation << 8;
}

/* Takes all completions.  *result: of the wait in flight, if it was among them. */
static void reap(struct ach_uring *u, int32_t *result)
{
	/* acquire: the completions before the tail */
	uint32_t end = atomic_load_explicit(u->cq_tail, memory_order_acquire), head;

	for (head = atomic_load_explicit(u->cq_head, memory_order_relaxed); head != end; head++) {
		const struct io_uring_cqe *c = &u->cqes[head & u->cq_mask];

		if (c->user_data == tag(u)) {
			u->in_flight = false;
			*result = c->res;
		}
	}
	atomic_store_explicit(u->cq_head, head, memory_order_release);
}

/* Takes the wait back, uncounted.  It ends now, or is just being woken; then in a moment. */
static void take_back(struct ach_uring *u)
{
	struct io_uring_sync_cancel_reg one = { .addr = tag(u), .fd = -1, .timeout = { -1, -1 } };
	int32_t result;

	atomic_store_explicit(u->cq_flags, CQ_EVENTFD_DISABLED, memory_order_seq_cst);
	syscall(SYS_io_uring_register, u->fd, IORING_REGISTER_SYNC_CANCEL, &one, 1);
	while (u->in_flight) {
		if (syscall(SYS_io_uring_enter, u->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0 && errno != EINTR)
			break;
		reap(u, &result);
	}
	atomic_store_explicit(u->cq_flags, 0, memory_order_seq_cst);
}

/* Count in the eventfd when message seq + 1 is committed.  The wait may end at once: then in_flight is false. */
int ach_uring_arm(struct ach_uring *u, _Atomic uint32_t *word, uint64_t seq)
{
	const uint64_t mask = ach_wake_bit(seq + 1);
	uint32_t tail = atomic_load_explicit(u->sq_tail, memory_order_relaxed);
	struct io_uring_sqe *s = &u->sqes[tail & u->sq_mask];
	int32_t result = 0;

	if (u->in_flight && !ach_uring_done(u))
		take_back(u);
	u->generation++;
	u->sq_array[tail & u->sq_mask] = tail & u->sq_mask;
	memset(s, 0, sizeof(*s));
	s->opcode = OP_FUTEX_WAIT;
	s->fd = FUTEX2_U32;
	s->addr = (uintptr_t)word;
	s->addr2 = (uint32_t)seq;
	memcpy((uint8_t *)s + 48, &mask, sizeof(mask)); /* addr3 */
	s->user_data = tag(u);
	atomic_store_explicit(&u->armed, seq, memory_order_relaxed);

	/* release: the entry before the tail */
	atomic_store_explicit(u->sq_tail, tail + 1, memory_order_release);
	if (syscall(SYS_io_uring_enter, u->fd, 1, 0, IORING_ENTER_GETEVENTS, NULL, 0) != 1)
		return -1;
	u->in_flight = true;
	reap(u, &result);
	return result && result != -EAGAIN ? -1 : 0; /* EAGAIN: the word had another value already */
}
