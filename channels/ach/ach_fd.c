/* ach_fd.c: a descriptor for poll, select and epoll.
 *
 * An eventfd that is readable while something is unseen, and only then: a program that polls may take ACH_EAGAIN
 * behind it for an error.  A commit is turned into a count in it by a FUTEX_WAIT in an io_uring (Linux 6.7), or,
 * where there is none, by the helper thread of ach_fd_thread.c.  Every get that leaves nothing unseen clears it and
 * prepares it for the next commit.
 *
 * A ring belongs to one thread, which uses it without a lock.  Whatever else changes a descriptor holds the watch's
 * lock: a get in another thread, the helper thread, the end of a thread, a fork.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "channels/ach/ach_ring.h"

void ach_fd_clear(struct ach_handle *h)
{
	uint64_t n;

	h->event_own = false;
	while (read(h->event, &n, sizeof(n)) < 0 && errno == EINTR)
		;
}

void ach_fd_count(struct ach_handle *h)
{
	uint64_t one = 1;

	h->event_own = true;
	while (write(h->event, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static bool ring_is_mine(const struct ach_handle *h)
{
	return atomic_load_explicit(&h->uring.tid, memory_order_relaxed) == ach_self_tid();
}

static bool ring_asleep(const struct ach_handle *h)
{
	return h->uring.in_flight && !ach_uring_done(&h->uring);
}

/* The ring waits for message seq + 1.  The descriptor follows. */
static void ring_settle(struct ach_handle *h, uint64_t seq)
{
	ach_fd_clear(h);
	/* A message in between must not be lost with the count. */
	if (ach_newer(h, seq) || !ring_asleep(h))
		ach_fd_count(h);
}

/* A ring of this thread that waits for message seq + 1.  With the lock. */
static int ring_make(struct ach_handle *h, uint64_t seq)
{
	struct ach_uring *u = &h->uring;

	for (int attempt = 0; attempt < 2; attempt++) {
		if (!ring_is_mine(h)) {
			ach_uring_close(u);
			if (ach_uring_open(u, h->event))
				return -1;
			ach_watch_ring();
		}
		ach_ring_bell(h, seq + 1);
		if (!ach_uring_arm(u, ach_futex_word(h), seq))
			return 0;
		u->tid = 0; /* the thread that made it is gone, and this one has the same number */
	}
	return -1;
}

/* Another thread's ring, the helper thread's descriptor, or a ring that sleeps on a message which was seen before its
 * wake-up came.  With the lock: the helper thread leaves it alone meanwhile. */
static void settle(struct ach_handle *h, uint64_t seq)
{
	if (h->event_orphan)
		h->event_thread = h->event_orphan = false;
	if (!h->event_thread && ring_make(h, seq)) {
		ach_uring_close(&h->uring);
		h->event_thread = true;
		ach_watch_start();
	} else if (!ach_watch_runs()) {
		ach_watch_start();
	}
	if (!h->event_thread)
		ring_settle(h, seq);
	else if (h->event_own && !ach_newer(h, seq))
		ach_fd_clear(h);
}

static void update_locked(struct ach_handle *h, uint64_t seq)
{
	ach_watch_lock();
	settle(h, seq);
	ach_watch_unlock();
}

/* After a get that left the cursor at seq. */
void ach_fd_update(struct ach_handle *h, uint64_t seq)
{
	bool asleep, armed;

	atomic_store_explicit(&h->event_seq, seq, memory_order_relaxed);
	if (h->event_pid != ach_self_pid() || ach_newer(h, seq))
		return; /* the descriptor of a parent; or it is readable, and should be */
	if (!ring_is_mine(h)) {
		update_locked(h, seq);
		return;
	}
	asleep = ring_asleep(h);
	armed = asleep && atomic_load_explicit(&h->uring.armed, memory_order_relaxed) == seq;
	if (armed && !h->event_own)
		return; /* nothing was counted */
	if (!armed) {
		ach_ring_bell(h, seq + 1);
		if (asleep || !ach_watch_runs() || ach_uring_arm(&h->uring, ach_futex_word(h), seq)) {
			update_locked(h, seq);
			return;
		}
	}
	ring_settle(h, seq);
}

/* Makes an eventfd of this process, in a child of fork under the number it knows, and what counts in it.  With the
 * lock. */
int ach_fd_begin(struct ach_handle *h)
{
	const uint64_t seq = h->event_seq;
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (h->event >= 0) {
		int err = dup3(fd, h->event, O_CLOEXEC) < 0 ? -1 : 0;

		close(fd);
		if (err)
			return -1;
		ach_uring_abandon(&h->uring);
	} else {
		h->event = fd;
	}
	h->event_pid = ach_self_pid();
	h->event_own = h->event_orphan = false;
	h->event_thread = uring_refused() || ring_make(h, seq);
	if (!h->event_thread) {
		ring_settle(h, seq);
		return 0;
	}
	ach_uring_close(&h->uring);
	if (ach_newer(h, seq))
		ach_fd_count(h);
	return 0;
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
	ach_watch_lock();
	if (h->event < 0 || h->event_pid != ach_self_pid()) {
		h->event_seq = chan->seq_num;
		ach_watch_add(h);
		if (ach_fd_begin(h))
			err = errno;
	} else if (h->event_orphan) {
		settle(h, chan->seq_num);
	}
	if (!err)
		err = ach_watch_start();
	ach_watch_unlock();
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
	ach_watch_lock();
	ach_watch_remove(h);
	if (h->event_pid == ach_self_pid())
		ach_uring_close(&h->uring);
	else
		ach_uring_abandon(&h->uring);
	close(h->event);
	h->event = -1;
	ach_watch_unlock();
}
