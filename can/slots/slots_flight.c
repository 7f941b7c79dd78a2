/* slots_flight.c: frames in flight, stalls, hand-over. */
#include "can/bus/bits.h"
#include "can/slots/slots_inside.h"
#include "channels/clock/clock.h"

/* ---- in flight ---- */

/* The first n are gone. */
static void lose_in_flight(struct slots *s, unsigned int n, enum slots_why why)
{
	for (unsigned int i = 0; i < n; i++)
		slots_lose(s, s->in_flight[i].row, &s->in_flight[i].frame, why);
	s->in_flight_n -= n;
	memmove(s->in_flight, s->in_flight + n, s->in_flight_n * sizeof(s->in_flight[0]));
}

static void enter_state(struct slots *s, enum slots_state state, int64_t now_ns)
{
	if (s->state == state)
		return;
	s->state = state;
	s->since_ns = now_ns;
}

/* After a pause the wire has what all processes did not send in it, so that a frame may wait for longer than usual. */
static int64_t settled_ns(const struct slots *s)
{
	return s->patience_ns + num_min(pauses_last_ns(&s->pauses) / 8, 10 * NS_PER_MS);
}

/* limit_ns after from_ns, without the pauses since. */
static int64_t later_by_pauses_ns(const struct slots *s, int64_t from_ns, int64_t limit_ns)
{
	const int64_t end_ns = pauses_end_ns(&s->pauses);

	if (end_ns == INT64_MIN)
		return from_ns + limit_ns;
	return num_max(from_ns + limit_ns + pauses_within_ns(&s->pauses, from_ns, end_ns), end_ns + settled_ns(s));
}

static int64_t stall_at_ns(const struct slots *s)
{
	int64_t at_ns = CLOCK_NEVER;

	for (unsigned int i = 0; i < s->in_flight_n; i++) {
		const struct slots_in_flight *f = &s->in_flight[i];
		const int64_t limit_ns = num_max(slots_deadline_ns(s, f->row), s->patience_ns);
		const int64_t from_ns = num_max(f->handed_ns, s->confirmed_ns);

		at_ns = num_min(at_ns, later_by_pauses_ns(s, num_max(from_ns, s->received_ns), limit_ns));
		at_ns = num_min(at_ns, later_by_pauses_ns(s, from_ns, num_max(2 * limit_ns, 20 * NS_PER_MS)));
	}
	return at_ns;
}

static void detect_stall(struct slots *s, int64_t now_ns)
{
	if (s->doubt_ns != CLOCK_NEVER && now_ns - s->doubt_ns >= SLOTS_GIVE_UP_NS) {
		lose_in_flight(s, 1, SLOTS_GIVEN_UP);
		s->doubt_ns = CLOCK_NEVER;
		if (!s->in_flight_n)
			enter_state(s, SLOTS_RUNNING, now_ns);
	}
	if (s->state == SLOTS_RUNNING && now_ns >= stall_at_ns(s)) {
		enter_state(s, SLOTS_STALLED, now_ns);
		s->proven = false;
		s->counts.stalls++;
		s->stall_room = s->in_flight_n > SLOTS_PROBES ? s->in_flight_n : SLOTS_PROBES;
		for (unsigned int i = 0; i < s->in_flight_n; i++)
			s->in_flight[i].stalled = true;
	}
}

int slots_echo(struct slots *s, const struct frame *frame, int64_t t_ns)
{
	unsigned int i = 0;
	int row;

	s->confirmed_ns = num_max(s->confirmed_ns, t_ns);
	s->flight_ns = 0;
	s->doubt_ns = CLOCK_NEVER;
	s->retry_ns = 0;
	s->proven |= s->state != SLOTS_DOWN && t_ns >= s->link_ns;
	if (s->state == SLOTS_STALLED)
		enter_state(s, SLOTS_RUNNING, t_ns);
	while (i < s->in_flight_n && !frame_equal(&s->in_flight[i].frame, frame))
		i++;
	if (i == s->in_flight_n) {
		s->counts.stray++;
		return -ENOENT;
	}
	lose_in_flight(s, i, SLOTS_OVERTAKEN);
	s->counts.confirmed++;
	s->counts.late += t_ns > s->in_flight[0].deadline_ns;
	s->counts.stale += t_ns > s->in_flight[0].deadline_ns && s->in_flight[0].stalled;
	if (!s->in_flight[0].stalled)
		s->flight_ns = t_ns - s->in_flight[0].handed_ns;
	row = (int)s->in_flight[0].row;
	s->in_flight_n--;
	memmove(s->in_flight, s->in_flight + 1, s->in_flight_n * sizeof(s->in_flight[0]));
	return row;
}

int64_t slots_flight_ns(const struct slots *s)
{
	return s->flight_ns;
}

void slots_unconfirmed(struct slots *s, bool unconfirmed)
{
	if (unconfirmed == s->unconfirmed)
		return;
	s->unconfirmed = unconfirmed;
	s->proven = false;
}

void slots_received(struct slots *s, const struct frame *frame, int64_t t_ns)
{
	s->received_ns = num_max(s->received_ns, t_ns);
	s->proven |= s->unconfirmed && s->state != SLOTS_DOWN && t_ns >= s->link_ns;
	if (s->state == SLOTS_STALLED && t_ns > s->since_ns && s->doubt_ns == CLOCK_NEVER &&
	    bits_arbitration(frame->id) > bits_arbitration(s->in_flight[0].frame.id))
		s->doubt_ns = t_ns;
}

void slots_overflow(struct slots *s, int64_t now_ns)
{
	if (s->in_flight_n && s->doubt_ns == CLOCK_NEVER)
		s->doubt_ns = now_ns;
}

void slots_paused(struct slots *s, int64_t from_ns, int64_t to_ns)
{
	pauses_add(&s->pauses, from_ns, to_ns);
}

void slots_link_down(struct slots *s, int64_t now_ns)
{
	lose_in_flight(s, s->in_flight_n, SLOTS_FLUSHED);
	enter_state(s, SLOTS_DOWN, now_ns);
	s->proven = false;
	s->doubt_ns = CLOCK_NEVER;
	s->retry_ns = 0;
}

void slots_link_up(struct slots *s, int64_t now_ns)
{
	if (s->state != SLOTS_DOWN)
		return;
	enter_state(s, SLOTS_RUNNING, now_ns);
	s->link_ns = now_ns;
}

/* Without stuff bits, and with the space behind it. */
int64_t slots_frame_ns(const struct slots *s, uint32_t id, unsigned int len, uint8_t flags)
{
	const struct bits_rates rates = { s->options.bitrate, s->options.data_bitrate };

	return bits_frame_ns(&rates, id, len, flags, false);
}

int64_t slots_clear_ns(const struct slots *s)
{
	int64_t ns = num_max(s->confirmed_ns, s->received_ns);

	if (s->in_flight_n)
		ns = num_max(ns, s->in_flight[0].handed_ns);
	for (unsigned int i = 0; i < s->in_flight_n; i++)
		ns += slots_frame_ns(s, s->in_flight[i].frame.id, s->in_flight[i].frame.len,
				     s->in_flight[i].frame.flags);
	return ns;
}

/* ---- hand-over ---- */

/* How many may be in flight, as things are. */
static unsigned int room(const struct slots *s)
{
	switch (s->state) {
	case SLOTS_RUNNING:
		return s->proven ? s->options.in_flight : 1;
	case SLOTS_STALLED:
		return s->stall_room;
	case SLOTS_DOWN:
		break;
	}
	return 0;
}

void slots_quiet(struct slots *s, int64_t until_ns)
{
	s->quiet_ns = until_ns;
}

/* One more than usual, if it is next, and gone before another matters. */
static bool deeper(struct slots *s, int64_t now_ns)
{
	return s->state == SLOTS_RUNNING && s->proven && s->waiting_n && s->rows[slots_place(s, 0)->row].harmless &&
	       s->in_flight_n < num_min(2 * s->options.in_flight, SLOTS_IN_FLIGHT_MAX) &&
	       now_ns + (s->in_flight_n + 1) * s->frame_ns < s->quiet_ns;
}

/* The place of the frame to hand over next; -1: none. */
static int first_place(struct slots *s)
{
	if (s->in_flight_n >= room(s))
		return -1;
	for (unsigned int place = 0; place < s->waiting_n; place++) {
		const struct slots_row *row = &s->rows[slots_place(s, place)->row];

		if (s->proven || !s->harmless || row->harmless || row->class == SLOTS_URGENT)
			return (int)place;
	}
	return -1;
}

/* When that may be. */
static int64_t hand_over_ns(const struct slots *s)
{
	return s->state == SLOTS_STALLED ? num_max(s->since_ns + SLOTS_PROBE_AFTER_NS, s->retry_ns) : s->retry_ns;
}

const struct frame *slots_take(struct slots *s, int64_t now_ns)
{
	slots_expire(s, now_ns);
	detect_stall(s, now_ns);
	s->taken = now_ns < hand_over_ns(s) ? -1 : deeper(s, now_ns) ? 0 : first_place(s);
	return s->taken < 0 ? NULL : &slots_place(s, (unsigned int)s->taken)->frame;
}

/* It leaves its slot. */
static const struct slots_waiting *leave_taken(struct slots *s)
{
	const struct slots_waiting *w = slots_place(s, (unsigned int)s->taken);

	slots_leave(s, (unsigned int)s->taken);
	s->taken = -1;
	return w;
}

void slots_handed(struct slots *s, int64_t now_ns)
{
	const struct slots_waiting *w;

	if (s->taken < 0)
		return;
	w = leave_taken(s);
	s->counts.handed++;
	if (s->unconfirmed) {
		s->counts.unsure++;
		return;
	}
	s->in_flight[s->in_flight_n++] = (struct slots_in_flight){
		w->row, now_ns, s->deadlines_ns[w - s->waiting], s->state == SLOTS_STALLED, w->frame,
	};
}

void slots_refused(struct slots *s, int64_t now_ns)
{
	if (s->taken < 0)
		return;
	s->retry_ns = now_ns + s->options.retry_ns;
	s->counts.refused++;
	s->taken = -1;
}

void slots_rejected(struct slots *s)
{
	const struct slots_waiting *w;

	if (s->taken < 0)
		return;
	w = leave_taken(s);
	slots_lose(s, w->row, &w->frame, SLOTS_REJECTED);
}

int64_t slots_next_ns(struct slots *s)
{
	int64_t next_ns = first_place(s) < 0 ? CLOCK_NEVER : hand_over_ns(s);

	next_ns = num_min(next_ns, slots_earliest_ns(s));
	if (s->state == SLOTS_RUNNING)
		next_ns = num_min(next_ns, stall_at_ns(s));
	if (s->doubt_ns != CLOCK_NEVER)
		next_ns = num_min(next_ns, s->doubt_ns + SLOTS_GIVE_UP_NS);
	return next_ns;
}
