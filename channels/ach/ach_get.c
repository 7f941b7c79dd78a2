/* ach_get.c: reading, without a lock and on a mapping that may be read-only. */
#include "channels/ach/ach_ring.h"

#define GET_LAPS 64	   /* reads overtaken by writers before a get gives up for now */
#define GET_PATIENT_LAPS 2 /* of them in which the oldest unseen message is asked for */

/* What a get looks for, and what it found. */
struct get {
	void *buf;
	size_t size;
	bool in_place; /* a peek: nothing is copied */
	uint64_t seq;
	const uint8_t *bytes;
	size_t len;
};

/* The message to read when c is the newest and e its entry. */
static uint64_t get_choose(const ach_channel_t *chan, uint64_t c, const struct ach_seen *e, unsigned lap, int options)
{
	uint64_t older, want;

	if ((options & ACH_O_LAST) || c == chan->seq_num)
		return c;
	/* Overtaken again and again: ask for one nearer to the newest each time. */
	older = (uint64_t)(e->keep - 1) >> (lap > GET_PATIENT_LAPS ? lap - GET_PATIENT_LAPS : 0);
	want = c - older;
	return want > chan->seq_num ? want : chan->seq_num + 1;
}

ACH_HOT static enum ach_status get_once(ach_channel_t *chan, struct get *g, int options)
{
	struct ach_handle *h = chan->handle;

	for (unsigned lap = 0; lap < GET_LAPS; lap++) {
		/* R1, acquire: entry and bytes of the newest and of all before it are visible */
		uint64_t c = atomic_load_explicit(&h->shm->commit, memory_order_acquire), want = c, reclaim;
		struct ach_seen e;
		bool sound;

		if (ach_condemned(h))
			return ach_fail(ACH_CORRUPT, ACH_CONDEMNED);
		if (c < chan->seq_num)
			return ach_fail(ACH_CORRUPT, "the newest message is older than one already seen");
		if (c == chan->seq_num && (!c || !(options & ACH_O_COPY) || (options & ACH_O_WAIT)))
			return ACH_EAGAIN;

		e = ach_entry_read(h, c); /* R2 */
		sound = ach_entry_ok(h, &e, c);
		if (sound) {
			want = get_choose(chan, c, &e, lap, options);
			if (want != c) {
				e = ach_entry_read(h, want);
				sound = ach_entry_ok(h, &e, want);
			}
		}
		/* In bounds even if a writer is changing the entry: pos < psize, len <= lsize < psize, mapped twice. */
		if (sound && !g->in_place && g->buf && e.len <= g->size)
			ach_copy_out(g->buf, h->data + e.pos, e.len);

		ach_fence_after_copy(); /* R3: if anything copied was new, R4 sees the P1 before it */
		/* R4; acquire so that R5 comes after it */
		reclaim = atomic_load_explicit(&h->shm->reclaim, memory_order_acquire);
		if (reclaim > want) {
			/* R5: reclaim <= oldest retained <= commit, always */
			if (reclaim > atomic_load_explicit(&h->shm->commit, memory_order_relaxed))
				return ach_fail(ACH_CORRUPT, "more is reclaimed than was ever written");
			h->laps++;
			continue; /* overtaken, so there was a commit since R1 */
		}
		/* Only now is it known that the entry was not changing while it was read. */
		if (!sound)
			return ach_fail(ACH_CORRUPT, "an index entry is not sound");
		g->len = e.len;
		g->bytes = h->data + e.pos;
		if (!g->in_place && e.len > g->size)
			return ach_fail(ACH_OVERFLOW, "the message is longer than the buffer");
		if (!g->in_place && !g->buf)
			return ach_fail(ACH_EINVAL, "no buffer");
		g->seq = want;
		return want > chan->seq_num + 1 ? ACH_MISSED_FRAME : ACH_OK;
	}
	return ACH_EAGAIN;
}

/* The deadline in the channel's clock; false: there is none. */
static bool get_deadline(const ach_channel_t *chan, const struct timespec *timeout, int options, int64_t *deadline)
{
	if (!timeout)
		return false;
	*deadline = ach_timespec_ns(timeout);
	if ((options & ACH_O_RELTIME) && __builtin_add_overflow(*deadline, ach_wait_now_ns(chan->clock), deadline))
		*deadline = INT64_MAX;
	return true;
}

static enum ach_status get_leave(ach_channel_t *chan, enum ach_status r)
{
	if (chan->handle->watching)
		ach_watch_end(chan->handle);
	return r;
}

ACH_HOT static enum ach_status get_wait(ach_channel_t *chan, struct get *g, const struct timespec *timeout, int options)
{
	int64_t deadline = INT64_MAX;
	bool bounded = false, looked = false, slept = false;

	for (;;) {
		int64_t left = INT64_MAX;
		enum ach_status r;

		if (__atomic_load_n(&chan->cancel, __ATOMIC_ACQUIRE))
			return get_leave(chan, ach_fail(ACH_CANCELED, "ach_cancel"));
		r = get_once(chan, g, options);
		if (r != ACH_EAGAIN || !(options & ACH_O_WAIT)) {
			chan->handle->streaming = !slept && (r == ACH_OK || r == ACH_MISSED_FRAME);
			if (slept && chan->handle->wake_gap_ns)
				chan->handle->woken_ns = ach_now_ns(CLOCK_MONOTONIC);
			return get_leave(chan, r);
		}
		if (!chan->handle->wake_gap_ns && ach_poll_newer(chan->handle, chan->seq_num))
			continue;

		if (!looked) {
			if (timeout && (timeout->tv_nsec < 0 || timeout->tv_nsec > 999999999))
				return ach_fail(ACH_EINVAL, "tv_nsec of the timeout is not 0 to 999999999");
			bounded = get_deadline(chan, timeout, options, &deadline);
			looked = true;
		}
		if (bounded) {
			left = deadline - ach_wait_now_ns(chan->clock);
			if (left <= 0)
				return ACH_TIMEOUT;
		}
		if (chan->handle->wake_gap_ns && ach_rest(chan, left))
			continue;
		ach_wait_newer(chan->handle, chan->seq_num, left);
		slept = true;
	}
}

static void get_done(ach_channel_t *chan)
{
	if (chan->handle->event >= 0)
		ach_fd_update(chan->handle, chan->seq_num);
}

ACH_HOT enum ach_status ach_get(ach_channel_t *chan, void *buf, size_t size, size_t *frame_size,
				const struct timespec *ACH_RESTRICT timeout, int options)
{
	struct get g = { .buf = buf, .size = size };
	enum ach_status r;

	if (!chan->handle)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	r = get_wait(chan, &g, timeout, options);
	if (r == ACH_OK || r == ACH_MISSED_FRAME)
		chan->seq_num = g.seq;
	if (frame_size && g.len)
		*frame_size = g.len;
	get_done(chan);
	return r;
}

enum ach_status ach_peek(ach_channel_t *chan, const void **buf, size_t *frame_size,
			 const struct timespec *ACH_RESTRICT timeout, int options)
{
	struct get g = { .in_place = true };
	enum ach_status r;

	if (!chan->handle)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (!buf)
		return ach_fail(ACH_EINVAL, "nowhere to put the address");
	r = get_wait(chan, &g, timeout, options);
	if (r != ACH_OK && r != ACH_MISSED_FRAME) {
		get_done(chan);
		return r;
	}
	chan->handle->peek = g.seq;
	*buf = g.bytes;
	if (frame_size)
		*frame_size = g.len;
	return r;
}

enum ach_status ach_peek_end(ach_channel_t *chan)
{
	struct ach_handle *h = chan->handle;
	uint64_t seq, reclaim;

	if (!h)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	seq = h->peek;
	if (!seq)
		return ach_fail(ACH_EINVAL, "no peek to end");
	h->peek = 0;
	if (ach_condemned(h))
		return ach_fail(ACH_CORRUPT, ACH_CONDEMNED);
	ach_fence_after_copy(); /* R3, R4 again: for what the caller has read since */
	reclaim = atomic_load_explicit(&h->shm->reclaim, memory_order_acquire);
	if (reclaim > seq)
		return ACH_EAGAIN;
	if (seq > chan->seq_num) /* a get in between may have seen more */
		chan->seq_num = seq;
	get_done(chan);
	return ACH_OK;
}

enum ach_status ach_flush(ach_channel_t *chan)
{
	uint64_t c;

	if (!chan->handle)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (__atomic_load_n(&chan->cancel, __ATOMIC_ACQUIRE))
		return ach_fail(ACH_CANCELED, "ach_cancel");
	if (ach_condemned(chan->handle))
		return ach_fail(ACH_CORRUPT, ACH_CONDEMNED);
	c = atomic_load_explicit(&chan->handle->shm->commit, memory_order_acquire);
	if (c < chan->seq_num)
		return ach_fail(ACH_CORRUPT, "the newest message is older than one already seen");
	chan->seq_num = c;
	get_done(chan);
	return ACH_OK;
}
