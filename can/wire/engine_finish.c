/* engine_finish.c: an attempt to send is over: delivery, echoes, error counters. */
#include "can/wire/engine_inner.h"

static void sender_error(struct engine *e, int node, const struct engine_attempt *a, uint8_t place, int64_t t_ns)
{
	const uint8_t type = (a->seen_dominant ? CAN_ERR_PROT_BIT1 : CAN_ERR_PROT_BIT0) | CAN_ERR_PROT_TX;

	engine_errors_report_tx(e, node, CAN_ERR_PROT, type, place, t_ns);
}

static uint8_t place_of(const struct engine_attempt *a)
{
	return engine_detect_place(&a->entry.frame, a->bit);
}

/* ---- success ---- */

static uint32_t take_losses(struct engine *e, uint32_t receivers)
{
	uint32_t lost = 0;

	if (engine_outcome_chance(e, &e->drop, 2)) {
		lost = receivers;
		e->drop.next -= e->drop.next > 0;
	}
	for (ENGINE_EACH(i, receivers & ~lost)) {
		struct engine_chance *drop = &e->node[i].drop;

		if (!engine_outcome_chance(e, drop, 128 + (unsigned int)i))
			continue;
		lost |= ENGINE_BIT(i);
		drop->next -= drop->next > 0;
	}
	for (ENGINE_EACH(i, lost))
		ENGINE_COUNT(e, i, lost);
	return lost;
}

static struct engine_event frame_event(const struct engine_attempt *a, int64_t t_ns)
{
	return (struct engine_event){ .kind = ENGINE_FRAME,
				      .node = a->origin,
				      .t_ns = t_ns,
				      .start_ns = engine_time_ns(a->start),
				      .frame = &a->entry.frame,
				      .tag = a->entry.tag,
				      .senders = a->sending,
				      .babble = a->babblers & ENGINE_BIT(a->origin) };
}

/* To receivers, except those that lose it by the fault drop. */
static void deliver(struct engine *e, unsigned int w, struct engine_event *event, uint32_t receivers)
{
	event->lost = w == 0 ? take_losses(e, receivers) : 0;
	event->receivers = receivers & ~event->lost;
	for (ENGINE_EACH(i, event->receivers))
		e->node[i].stats.received++;
	engine_emit(e, event);
}

static void good(struct engine *e, unsigned int w, struct engine_attempt *a, uint32_t listeners, int64_t t_ns)
{
	const uint32_t receivers = listeners & ~a->deaf;
	struct engine_event event = frame_event(a, t_ns);

	e->stats.frames++;
	e->stats.bits += a->entry.bits;
	for (ENGINE_EACH(i, a->sending)) {
		struct engine_event echo = event;

		e->node[i].stats.sent++;
		if (a->babblers & ENGINE_BIT(i))
			continue;
		echo.kind = ENGINE_ECHO;
		echo.node = i;
		echo.tag = e->node[i].entries[e->node[i].head].tag;
		engine_queue_pop(e, i);
		engine_emit(e, &echo);
	}
	deliver(e, w, &event, receivers);
	for (ENGINE_EACH(i, a->sending))
		engine_errors_tx(e, i, -1, t_ns);
	for (ENGINE_EACH(i, receivers))
		engine_errors_rx(e, i, -1, t_ns);
	for (ENGINE_EACH(i, a->deaf)) /* passive, or the attempt would have failed */
		engine_errors_report_rx(e, i, 1, 0, CAN_ERR_PROT_LOC_CRC_SEQ, t_ns);
	for (ENGINE_EACH(i, a->dropped)) {
		e->node[i].stats.retransmissions++;
		sender_error(e, i, a, place_of(a), t_ns);
	}
}

/* ---- errors ---- */

static void unacknowledged(struct engine *e, const struct engine_attempt *a, uint32_t listeners, int64_t t_ns)
{
	/* A passive sender that sees no dominant bit while it sends its flag does not count: alone, it never goes off.
	 * */
	const bool flagged = engine_node_any_active(e, a->sending | (a->flipped ? listeners : a->deaf));

	e->stats.unacknowledged += !a->flipped;
	for (ENGINE_EACH(i, a->sending)) {
		if (engine_node_passive(e, i) && !flagged)
			continue;
		engine_errors_report_tx(e, i, CAN_ERR_ACK, 0, CAN_ERR_PROT_LOC_ACK, t_ns);
	}
	for (ENGINE_EACH(i, a->dropped))
		sender_error(e, i, a, CAN_ERR_PROT_LOC_ACK, t_ns);
	for (ENGINE_EACH(i, a->flipped ? listeners : a->deaf))
		engine_errors_report_rx(e, i, 1, a->flipped ? CAN_ERR_PROT_BIT0 : 0,
					a->flipped ? CAN_ERR_PROT_LOC_ACK : CAN_ERR_PROT_LOC_CRC_SEQ, t_ns);
}

static void bit_error(struct engine *e, const struct engine_attempt *a, uint32_t listeners, int64_t t_ns)
{
	const unsigned int fixed = a->entry.bits - BITS_INTERFRAME - BITS_ACK_FROM_END - 1;

	for (ENGINE_EACH(i, a->senders | a->still))
		sender_error(e, i, a, place_of(a), t_ns);
	for (ENGINE_EACH(i, listeners & ~a->still))
		engine_errors_report_rx(e, i, 1, a->bit < fixed ? CAN_ERR_PROT_STUFF : CAN_ERR_PROT_FORM, place_of(a),
					t_ns);
}

/* Some listeners alone saw a wrong CRC.  They begin the flags, so they see those of the others behind their own. */
static void crc_error(struct engine *e, struct engine_attempt *a, uint32_t listeners, int64_t t_ns)
{
	const uint32_t others = listeners & ~a->deaf;
	const bool flagged = engine_node_any_active(e, others | a->sending);

	for (ENGINE_EACH(i, a->deaf)) {
		const int errors = flagged && !engine_node_passive(e, i) ? 1 + 8 : 1;

		engine_errors_report_rx(e, i, errors, 0, CAN_ERR_PROT_LOC_CRC_SEQ, t_ns);
	}
	for (ENGINE_EACH(i, others))
		engine_errors_report_rx(e, i, 1, CAN_ERR_PROT_FORM, CAN_ERR_PROT_LOC_EOF, t_ns);
	a->seen_dominant = true;
	for (ENGINE_EACH(i, a->senders))
		sender_error(e, i, a, CAN_ERR_PROT_LOC_EOF, t_ns);
}

/* An error in the last bit: good for the listeners, not for the sender.  The listeners will receive it twice. */
static void last_bit(struct engine *e, unsigned int w, struct engine_attempt *a, uint32_t listeners, int64_t t_ns)
{
	/* Received at its end, like any other; the flags come behind it. */
	struct engine_instant end = engine_time_frame(e, a, a->entry.bits - BITS_INTERFRAME);
	struct engine_event event = frame_event(a, engine_time_ns(end));

	event.again = true;
	deliver(e, w, &event, listeners);
	for (ENGINE_EACH(i, listeners))
		engine_errors_rx(e, i, -1, t_ns);
	for (ENGINE_EACH(i, a->senders))
		sender_error(e, i, a, CAN_ERR_PROT_LOC_EOF, t_ns);
}

static void opened(struct engine *e, const struct engine_attempt *a, uint32_t listeners, int64_t t_ns)
{
	for (ENGINE_EACH(i, a->senders)) {
		sender_error(e, i, a, place_of(a), t_ns);
		while (!engine_node_passive(e, i))
			engine_errors_tx(e, i, 8, t_ns);
	}
	for (ENGINE_EACH(i, a->bit ? listeners : 0)) {
		engine_errors_report_rx(e, i, 1, CAN_ERR_PROT_STUFF, place_of(a), t_ns);
		while (!engine_node_passive(e, i))
			engine_errors_rx(e, i, 8, t_ns);
	}
}

static void bad(struct engine *e, unsigned int w, struct engine_attempt *a, uint32_t listeners, int64_t t_ns)
{
	e->stats.errors++;
	for (ENGINE_EACH(i, a->senders | a->still))
		e->node[i].stats.retransmissions++;
	switch (a->end) {
	case ENGINE_END_ACK:
		unacknowledged(e, a, listeners, t_ns);
		break;
	case ENGINE_END_BIT:
		e->stats.collisions += !a->flipped;
		bit_error(e, a, listeners, t_ns);
		break;
	case ENGINE_END_CRC:
		crc_error(e, a, listeners, t_ns);
		break;
	case ENGINE_END_LAST:
		last_bit(e, w, a, listeners, t_ns);
		break;
	case ENGINE_END_LOST:
	case ENGINE_END_CUT:
		for (ENGINE_EACH(i, listeners | (a->senders & e->wire[w].present)))
			engine_errors_report_rx(e, i, 1, CAN_ERR_PROT_STUFF, place_of(a), t_ns);
		break;
	case ENGINE_END_OPEN:
		opened(e, a, listeners, t_ns);
		break;
	case ENGINE_END_GOOD:
		break;
	}
}

/* ---- both ---- */

/* Nodes that recover from bus-off count the pauses between frames. */
static void count_pauses(struct engine *e, unsigned int w, struct engine_instant start)
{
	for (ENGINE_EACH(i, e->off)) {
		struct engine_node *n = &e->node[i];
		struct engine_instant from = engine_time_max(e->wire[w].recessive, engine_time_at(n->recover_ns));
		int64_t bits;

		if (!n->recovering || engine_node_wire(e, i) != w)
			continue;
		bits = engine_time_bits(e, from, start);
		if (bits > 0)
			n->recover_left -= (unsigned int)(bits / ENGINE_JOIN);
	}
}

/* A node that still sends its flag when the others are done joins again after a longer silence, or with the next active
 * flag. */
static void fall_behind(struct engine *e, unsigned int w, const struct engine_attempt *a, bool flagged)
{
	for (ENGINE_EACH(i, flagged ? e->wire[w].unjoined : 0))
		e->node[i].join_bits = ENGINE_JOIN;
	for (ENGINE_EACH(i, a->late)) {
		struct engine_node *n = &e->node[i];

		n->joined = false;
		n->join_ns = INT64_MIN;
		n->join_bits = ENGINE_JOIN + a->late_bits;
		engine_node_update(e, i);
	}
}

/* Passive senders suspend transmission. */
static void suspend(struct engine *e, unsigned int w, const struct engine_attempt *a)
{
	for (ENGINE_EACH(i, a->end == ENGINE_END_LOST ? 0 : a->senders | a->still)) {
		int bits = ENGINE_SUSPEND;

		if (a->dropped & ENGINE_BIT(i))
			bits += a->dropped_bits;
		else if (a->late & ENGINE_BIT(i))
			bits += (int)a->late_bits;
		if (bits > 0 && engine_node_passive(e, i))
			e->node[i].free = engine_time_add(e, e->wire[w].idle, (unsigned int)bits);
	}
}

static void use_chances(struct engine *e, const struct engine_attempt *a)
{
	e->draws++;
	if (a->flipped) {
		e->corrupt.next -= e->corrupt.next > 0;
		e->stats.corrupted++;
	}
	for (ENGINE_EACH(i, a->deaf & ~engine_node_classics(e, a))) {
		e->node[i].corrupt.next -= e->node[i].corrupt.next > 0;
		e->stats.corrupted++;
	}
}

void engine_finish(struct engine *e, unsigned int w)
{
	struct engine_wire *wire = &e->wire[w];
	struct engine_attempt a = wire->attempt;
	const uint32_t listeners = a.listeners & wire->present;
	const int64_t t_ns = engine_time_ns(a.due);
	const uint32_t flaggers = a.end == ENGINE_END_ACK ? a.sending | a.deaf : a.sending | listeners;
	const bool flagged =
		a.end != ENGINE_END_GOOD && a.end != ENGINE_END_OPEN && engine_node_any_active(e, flaggers);

	wire->attempt.known = wire->attempt.frozen = wire->attempt.fixed = false;
	wire->horizon_ns = a.start.ns;
	count_pauses(e, w, a.start);
	wire->idle = engine_time_frame(e, &a, a.length);
	wire->recessive = engine_time_frame(e, &a, a.length - ENGINE_JOIN);
	e->stats.attempts++;
	for (ENGINE_EACH(i, a.contenders & ~a.senders & ~a.still))
		ENGINE_COUNT(e, i, arbitration_lost);
	if (w == 0)
		engine_load_add(e, engine_time_ns(a.start), engine_time_ns(wire->idle), 1, 1);
	for (ENGINE_EACH(i, (listeners | a.senders) & wire->unjoined)) {
		e->node[i].joined = true;
		engine_node_update(e, i);
	}
	if (a.end == ENGINE_END_GOOD)
		good(e, w, &a, listeners, t_ns);
	else
		bad(e, w, &a, listeners, t_ns);
	fall_behind(e, w, &a, flagged);
	suspend(e, w, &a);
	engine_queue_let_go(e, a.contenders, t_ns);
	if (w == 0)
		use_chances(e, &a);
}
