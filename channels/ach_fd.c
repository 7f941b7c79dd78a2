/* ach_fd.c: a descriptor for poll, select and epoll.
 *
 * An eventfd that is readable while something is unseen.  A commit is turned
 * into a count in it by a FUTEX_WAIT in an io_uring (Linux 6.7), or, where
 * there is none, by a helper thread.  Every get puts it right again: nothing
 * unseen, so it is cleared and waits for the next commit.  It may be readable
 * without need now and then (the slice of ach_wait.c is one cause), never the
 * other way round.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "channels/ach_ring.h"

static void event_clear(struct ach_handle *h)
{
	uint64_t n;

	h->event_own = false;

	while (read(h->event, &n, sizeof(n)) < 0 && errno == EINTR)
		;
}

void ach_fd_count(const struct ach_handle *h)
{
	uint64_t one = 1;

	while (write(h->event, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void event_set(struct ach_handle *h)
{
	h->event_own = true;
	ach_fd_count(h);
}

/* The ring of another thread cannot be used by this one: make one here. */
static int ring_arm(struct ach_handle *h, uint64_t seq)
{
	struct ach_uring *u = &h->uring;

	for (int attempt = 0; attempt < 2; attempt++) {
		if (u->tid != ach_self_tid()) {
			h->event_noisy |= u->fd >= 0;
			ach_uring_close(u);
			if (ach_uring_open(u, h->event))
				return -1;
		}
		if (!ach_uring_arm(u, ach_futex_word(h), (uint32_t)seq))
			return 0;
		u->tid = 0; /* its thread is gone and this one has inherited the number */
	}
	return -1;
}

/* After a get that left the cursor at seq. */
void ach_fd_update(struct ach_handle *h, uint64_t seq)
{
	if (h->event_pid != ach_self_pid() || ach_newer(h, seq))
		return; /* the parent's descriptor; or it is readable, and should be */
	if (!h->event_thread) {
		/* Asleep on this message or an older one: the next commit ends that. */
		bool asleep = h->uring.tid == ach_self_tid() && h->uring.in_flight && !ach_uring_done(&h->uring);

		if (asleep && !h->event_own && !h->event_noisy)
			return; /* nothing was counted */
		ach_ring_bell(h, seq + 1);
		if (!asleep && ring_arm(h, seq)) {
			ach_uring_close(&h->uring);
			h->event_thread = !ach_fd_thread_add(h);
		}
	}
	event_clear(h);
	/* What came between must not be lost with the count. */
	if (ach_newer(h, seq) || (!h->event_thread && (!h->uring.in_flight || ach_uring_done(&h->uring))))
		event_set(h);
}

static bool uring_refused(void)
{
	const char *no = getenv("ACH_NO_IO_URING");

	return no && *no && strcmp(no, "0");
}

static int event_make(struct ach_handle *h)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (h->event < 0) {
		h->event = fd;
	} else { /* a child of fork: its own under the number it knows, and the parent's is left alone */
		if (dup3(fd, h->event, O_CLOEXEC) < 0) {
			close(fd);
			return -1;
		}
		close(fd);
		ach_uring_close(&h->uring);
	}
	h->event_pid = ach_self_pid();
	return 0;
}

enum ach_status ach_channel_fd(const ach_channel_t *chan, int *fd)
{
	struct ach_handle *h = chan->handle;

	if (!h)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (!fd)
		return ach_fail(ACH_EINVAL, "nowhere to put the answer");
	if (h->event < 0 || h->event_pid != ach_self_pid()) {
		if (event_make(h))
			return ach_error(ACH_FAILED_SYSCALL, "eventfd: %s", strerror(errno));
		h->event_thread = uring_refused() || ach_uring_open(&h->uring, h->event);
		if (h->event_thread && ach_fd_thread_add(h)) {
			ach_fd_close(h);
			return ach_error(ACH_FAILED_SYSCALL, "no io_uring, and no helper thread for the descriptor: %s",
					 strerror(errno));
		}
		if (ach_newer(h, chan->seq_num))
			event_set(h);
		else
			ach_fd_update(h, chan->seq_num);
	}
	*fd = h->event;
	return ACH_OK;
}

void ach_fd_close(struct ach_handle *h)
{
	if (h->event < 0)
		return;
	if (h->event_thread && h->event_pid == ach_self_pid())
		ach_fd_thread_remove(h);
	ach_uring_close(&h->uring);
	close(h->event);
	h->event = -1;
}
