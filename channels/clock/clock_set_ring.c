/* clock_set_ring.c: a set of the real clock as one io_uring: a FUTEX_WAIT for each channel, a poll for each descriptor.
 *
 * One system call arms again the sources that fired and sleeps until the deadline.  A descriptor with
 * CLOCK_EDGE is polled once for all; others are polled again after each time they were ready, which looks at their
 * level.
 *
 * The ring belongs to the thread that opened the set (SINGLE_ISSUER), and completions are taken when that thread enters
 * it (DEFER_TASKRUN).  A call with something to submit returns success at a deadline and at a signal, so completions
 * and the clock alone decide.
 *
 * -ENOSYS, and the set is an epoll(7): before Linux 6.12, where io_uring is forbidden or memory may not be locked, with
 * $ACH_NO_IO_URING, and under PREEMPT_RT, where the timer of io_uring_enter expires in a thread of the kernel: see
 * clock.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "channels/ach/ach_ring.h"
#include "channels/clock/clock.h"
#include "config/base/ns.h"

#define EARLY_NS 50000	/* as clock_wait_set: a thread that has just been awake wakes up faster */
#define SOURCES_MAX 256 /* a simulator has two for each of its controllers */
#define DEAF_NS 1000000 /* between two looks at a channel that the kernel does not wait for */

/* Flags of io_uring that the headers may not have yet. */
#define ENTER_ABS_TIMER (1u << 5)
#define ENTER_NO_IOWAIT (1u << 7)
#define FEAT_NO_IOWAIT (1u << 17)

struct source {
	bool used, armed, ready;
	bool deaf; /* the kernel refuses to wait for the channel: it is looked at */
	uint32_t generation, tag, events;
	int fd;
	ach_channel_t *chan; /* NULL: a descriptor */
};

struct ring_set {
	struct clock_set set;
	struct uring ring;
	unsigned int enter_flags;
	unsigned int sources_n; /* places in use, or once in use: what lies behind is not touched in a wait */
	struct source sources[SOURCES_MAX];
};

static struct ring_set *of(struct clock_set *set)
{
	return (struct ring_set *)set;
}

/* ---- opening ---- */

static bool forbidden(void)
{
	struct utsname name;

	return uring_refused() || uname(&name) || strstr(name.version, "PREEMPT_RT");
}

/* Not the ring's fault: the next wait tries again. */
static bool passes(int error)
{
	return error == ETIME || error == EINTR || error == EBUSY || error == EAGAIN;
}

/* Arms what was queued and waits for a completion until that time.  0 or -errno. */
static int enter(struct ring_set *r, int64_t until_ns, bool wait)
{
	struct __kernel_timespec until = { until_ns / NS_PER_S, until_ns % NS_PER_S };
	struct io_uring_getevents_arg arg = { .ts = wait && until_ns != CLOCK_NEVER ? (uintptr_t)&until : 0 };
	const uint32_t queued = atomic_load_explicit(r->ring.sq_tail, memory_order_relaxed) -
				atomic_load_explicit(r->ring.sq_head, memory_order_acquire);

	if (syscall(SYS_io_uring_enter, r->ring.fd, queued, wait ? 1 : 0, r->enter_flags, &arg, sizeof(arg)) >= 0 ||
	    passes(errno))
		return 0;
	return -errno;
}

static void ring_close(struct clock_set *set)
{
	struct ring_set *r = of(set);

	if (r->ring.fd >= 0)
		uring_cancel_all(&r->ring);
	uring_unmap(&r->ring);
	free(r);
}

static int ring_open(struct clock_set **set)
{
	struct io_uring_params p = { .flags = URING_SETUP_SINGLE_ISSUER | URING_SETUP_DEFER_TASKRUN };
	struct ring_set *r = forbidden() ? NULL : calloc(1, sizeof(*r));
	bool made;

	if (!r)
		return -ENOSYS;
	made = uring_setup(&r->ring, SOURCES_MAX, &p);
	r->enter_flags = IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG | ENTER_ABS_TIMER |
			 (p.features & FEAT_NO_IOWAIT ? ENTER_NO_IOWAIT : 0);
	/* The last call is refused by a kernel that does not know the absolute timer. */
	if (!made || enter(r, 0, true)) {
		ring_close(&r->set);
		return -ENOSYS;
	}
	prctl(PR_SET_TIMERSLACK, 1ul);
	*set = &r->set;
	return 0;
}

/* ---- what is waited for ---- */

static struct source *find(struct ring_set *r, int fd, const ach_channel_t *chan)
{
	for (struct source *s = r->sources; s < r->sources + r->sources_n; s++)
		if (s->used && s->chan == chan && s->fd == fd)
			return s;
	return NULL;
}

static int add(struct ring_set *r, const struct source *what)
{
	struct source *s = r->sources;
	uint32_t generation;

	if (find(r, what->fd, what->chan))
		return -EEXIST;
	while (s < r->sources + r->sources_n && s->used)
		s++;
	if (s == r->sources + SOURCES_MAX)
		return -ENOSPC;
	r->sources_n += s == r->sources + r->sources_n;
	generation = s->generation + 1;
	*s = *what;
	s->used = true;
	s->generation = generation;
	return 0;
}

static int ring_add_fd(struct clock_set *set, int fd, uint32_t events, uint32_t tag)
{
	if (fcntl(fd, F_GETFD) < 0)
		return -errno;
	return add(of(set), &(struct source){ .fd = fd, .events = events, .tag = tag });
}

static int ring_add_channel(struct clock_set *set, ach_channel_t *chan, uint32_t tag)
{
	return chan->handle ? add(of(set), &(struct source){ .fd = -1, .chan = chan, .tag = tag }) : -EBADF;
}

/* Its completions have a generation, which distinguishes late ones from those of the next in the same place. */
static uint64_t data_of(const struct ring_set *r, const struct source *s)
{
	return (uint64_t)s->generation << 32 | (uint64_t)(s - r->sources);
}

static int drop(struct ring_set *r, struct source *s)
{
	struct io_uring_sync_cancel_reg one = { .fd = -1, .timeout = { -1, -1 } };

	if (!s)
		return -ENOENT;
	one.addr = data_of(r, s);
	if (s->armed) {
		enter(r, 0, false); /* it may be queued and not armed yet */
		syscall(SYS_io_uring_register, r->ring.fd, IORING_REGISTER_SYNC_CANCEL, &one, 1);
	}
	s->used = s->armed = s->ready = false;
	s->generation++;
	return 0;
}

static int ring_remove_fd(struct clock_set *set, int fd)
{
	return drop(of(set), find(of(set), fd, NULL));
}

static int ring_remove_channel(struct clock_set *set, ach_channel_t *chan)
{
	return drop(of(set), find(of(set), -1, chan));
}

/* ---- waiting ---- */

static struct io_uring_sqe *next_sqe(struct ring_set *r, const struct source *s)
{
	const uint32_t tail = atomic_load_explicit(r->ring.sq_tail, memory_order_relaxed);
	struct io_uring_sqe *e = &r->ring.sqes[tail & r->ring.sq_mask];

	memset(e, 0, sizeof(*e));
	e->user_data = data_of(r, s);
	r->ring.sq_array[tail & r->ring.sq_mask] = tail & r->ring.sq_mask;
	return e;
}

static void queue(struct ring_set *r, struct source *s)
{
	const uint64_t any = FUTEX_BITSET_MATCH_ANY;
	struct io_uring_sqe *e = next_sqe(r, s);

	if (s->chan) {
		e->opcode = URING_OP_FUTEX_WAIT;
		e->fd = URING_FUTEX_U32;
		e->addr = (uintptr_t)ach_futex_word(s->chan->handle);
		e->addr2 = (uint32_t)s->chan->seq_num;
		memcpy((uint8_t *)e + 48, &any, sizeof(any)); /* addr3 */
	} else {
		e->opcode = IORING_OP_POLL_ADD;
		e->fd = s->fd;
		e->poll32_events = s->events & 0xffff;
		e->len = s->events & CLOCK_EDGE ? IORING_POLL_ADD_MULTI : 0;
	}
	s->armed = true;
	/* release: the entry before the tail; there are as many entries as sources */
	atomic_store_explicit(r->ring.sq_tail, atomic_load_explicit(r->ring.sq_tail, memory_order_relaxed) + 1,
			      memory_order_release);
}

/* G1 and G2 of ach_wait.c.  A wait that is in flight for an older message serves as well: a put wakes all of them. */
static bool has_news(const struct source *s)
{
	struct ach_handle *h = s->chan->handle;

	ach_ring_bell(h, s->chan->seq_num + 1);
	return ach_newer(h, s->chan->seq_num);
}

/* How long the wake-ups may be relied on.  *news: something is ready now. */
static int64_t arm(struct ring_set *r, bool *news)
{
	int64_t for_ns = CLOCK_NEVER;

	*news = false;
	for (struct source *s = r->sources; s < r->sources + r->sources_n; s++) {
		if (!s->used)
			continue;
		if (s->chan) {
			const int64_t slice_ns = s->deaf ? DEAF_NS : ach_slice_ns(s->chan->handle);

			s->ready = has_news(s);
			for_ns = slice_ns < for_ns ? slice_ns : for_ns;
		}
		*news |= s->ready;
		if (!s->ready && !s->armed && !s->deaf)
			queue(r, s);
	}
	return for_ns;
}

static void complete(struct ring_set *r, const struct io_uring_cqe *c)
{
	struct source *s = &r->sources[c->user_data % SOURCES_MAX];

	if (!s->used || c->user_data != data_of(r, s))
		return;
	s->armed = c->flags & IORING_CQE_F_MORE;
	if (s->chan)
		s->deaf = c->res < 0 && c->res != -EAGAIN && c->res != -EINTR;
	else
		s->ready = true;
}

/* Takes the completions; the tags of up to n sources that are ready. */
static int collect_ready(struct ring_set *r, uint32_t *tags, size_t n)
{
	/* acquire: the completions before the tail */
	const uint32_t end = atomic_load_explicit(r->ring.cq_tail, memory_order_acquire);
	uint32_t head = atomic_load_explicit(r->ring.cq_head, memory_order_relaxed);
	size_t found = 0;

	for (; head != end; head++)
		complete(r, &r->ring.cqes[head & r->ring.cq_mask]);
	atomic_store_explicit(r->ring.cq_head, head, memory_order_release);
	for (struct source *s = r->sources; s < r->sources + r->sources_n && found < n; s++) {
		if (s->used && s->chan)
			s->ready = ach_newer(s->chan->handle, s->chan->seq_num);
		if (!s->used || !s->ready)
			continue;
		s->ready = false;
		tags[found++] = s->tag;
	}
	return (int)found;
}

static int ring_wait(struct clock_set *set, uint32_t *tags, size_t n, int64_t deadline_ns)
{
	struct ring_set *r = of(set);

	for (int64_t now_ns = clock_now_ns();;) {
		int64_t until_ns = deadline_ns, for_ns;
		bool news;
		int ready;

		for_ns = arm(r, &news);
		if (!set->rough && deadline_ns != CLOCK_NEVER && deadline_ns > now_ns + 2 * EARLY_NS)
			until_ns -= EARLY_NS;
		if (for_ns != CLOCK_NEVER && now_ns + for_ns < until_ns)
			until_ns = now_ns + for_ns;
		ready = enter(r, until_ns, !news && now_ns < deadline_ns);
		if (!ready)
			ready = collect_ready(r, tags, n);
		if (ready)
			return ready;
		now_ns = clock_now_ns();
		if (now_ns >= deadline_ns)
			return 0;
	}
}

const struct clock_set_ops clock_set_ring_ops = {
	.open = ring_open,
	.close = ring_close,
	.add_fd = ring_add_fd,
	.remove_fd = ring_remove_fd,
	.add_channel = ring_add_channel,
	.remove_channel = ring_remove_channel,
	.wait = ring_wait,
};
