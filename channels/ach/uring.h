/* uring.h: an io_uring without liburing: setting it up, mapping and removing it.  Inline, for libach has one as well as
 * clock_set_ring.c, and libach exports its interface only. */
#ifndef CHANNELS_ACH_URING_H
#define CHANNELS_ACH_URING_H

#include <linux/io_uring.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Linux 6.7; the headers may be older. */
#define URING_OP_FUTEX_WAIT 51
#define URING_FUTEX_U32 2
#define URING_SETUP_TASKRUN_FLAG (1u << 9)
#define URING_SETUP_SINGLE_ISSUER (1u << 12)
#define URING_SETUP_DEFER_TASKRUN (1u << 13)

struct uring {
	int fd;
	uint8_t *rings;
	size_t rings_len, sqes_len;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
	_Atomic uint32_t *sq_head, *sq_tail, *sq_flags, *cq_head, *cq_tail, *cq_flags;
	uint32_t *sq_array, sq_mask, cq_mask;
};

/* The user does not want any. */
static inline bool uring_refused(void)
{
	const char *no = getenv("ACH_NO_IO_URING");

	return no && *no && strcmp(no, "0");
}

static inline bool uring_knows_futexes(int fd)
{
	_Alignas(struct io_uring_probe)
		uint8_t room[sizeof(struct io_uring_probe) +
			     (URING_OP_FUTEX_WAIT + 1) * sizeof(struct io_uring_probe_op)] = { 0 };
	struct io_uring_probe *p = (struct io_uring_probe *)room;

	return !syscall(SYS_io_uring_register, fd, IORING_REGISTER_PROBE, p, URING_OP_FUTEX_WAIT + 1) &&
	       p->ops_len > URING_OP_FUTEX_WAIT && (p->ops[URING_OP_FUTEX_WAIT].flags & IO_URING_OP_SUPPORTED);
}

static inline void *uring_mmap(int fd, size_t len, uint64_t offset)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, (off_t)offset);

	return p == MAP_FAILED ? NULL : p;
}

static inline bool uring_map(struct uring *u, const struct io_uring_params *p)
{
	size_t sq_end = p->sq_off.array + p->sq_entries * sizeof(uint32_t);
	size_t cq_end = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);

	u->rings_len = sq_end > cq_end ? sq_end : cq_end;
	u->sqes_len = p->sq_entries * sizeof(struct io_uring_sqe);
	u->rings = uring_mmap(u->fd, u->rings_len, IORING_OFF_SQ_RING);
	u->sqes = uring_mmap(u->fd, u->sqes_len, IORING_OFF_SQES);
	if (!u->rings || !u->sqes)
		return false;
	u->sq_head = (_Atomic uint32_t *)(u->rings + p->sq_off.head);
	u->sq_tail = (_Atomic uint32_t *)(u->rings + p->sq_off.tail);
	u->sq_flags = (_Atomic uint32_t *)(u->rings + p->sq_off.flags);
	u->sq_array = (uint32_t *)(u->rings + p->sq_off.array);
	u->sq_mask = p->sq_entries - 1;
	u->cq_head = (_Atomic uint32_t *)(u->rings + p->cq_off.head);
	u->cq_tail = (_Atomic uint32_t *)(u->rings + p->cq_off.tail);
	u->cq_flags = (_Atomic uint32_t *)(u->rings + p->cq_off.flags);
	u->cqes = (struct io_uring_cqe *)(u->rings + p->cq_off.cqes);
	u->cq_mask = p->cq_entries - 1;
	return true;
}

/* A ring that can wait for a futex; false: the kernel cannot, and uring_unmap is still to be called. */
static inline bool uring_setup(struct uring *u, unsigned int entries, struct io_uring_params *p)
{
	*u = (struct uring){ .fd = (int)syscall(SYS_io_uring_setup, entries, p) };
	return u->fd >= 0 && (p->features & IORING_FEAT_SINGLE_MMAP) && uring_knows_futexes(u->fd) && uring_map(u, p);
}

/* Ends all requests in flight, with the work that the kernel has deferred for them.  If this were left to the exit of
 * the thread, it could spin there for seconds. */
static inline void uring_cancel_all(struct uring *u)
{
	struct io_uring_sync_cancel_reg all = { .fd = -1,
						.flags = IORING_ASYNC_CANCEL_ALL | IORING_ASYNC_CANCEL_ANY,
						.timeout = { -1, -1 } };

	syscall(SYS_io_uring_register, u->fd, IORING_REGISTER_SYNC_CANCEL, &all, 1);
	syscall(SYS_io_uring_enter, u->fd, 0, 0, IORING_ENTER_GETEVENTS, NULL, 0);
}

static inline void uring_unmap(struct uring *u)
{
	if (u->sqes)
		munmap(u->sqes, u->sqes_len);
	if (u->rings)
		munmap(u->rings, u->rings_len);
	if (u->fd >= 0)
		close(u->fd);
	*u = (struct uring){ .fd = -1 };
}

#endif
