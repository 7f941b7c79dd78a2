/* engine_outcome.c: how an attempt to send ends, and when.
 *
 * The senders and listeners are known.  Bits count from 0, the start bit.  An error flag follows the bit in which the
 * error is found; flags of several nodes overlap; behind them come eight bits of delimiter and three of interframe
 * space.
 */
#include "can/wire/engine_inner.h"
#include "config/base/base.h"

/* ---- chance ---- */

/* A hash of seed, frame and purpose: an attempt that is worked out twice comes out the same, and one fault does not
 * influence another. */
static uint64_t draw(const struct engine *e, unsigned int purpose)
{
	uint64_t x = e->settings.seed + UINT64_C(0x9e3779b97f4a7c15) * (e->draws * 256 + purpose + 1);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

bool engine_outcome_chance(const struct engine *e, const struct engine_chance *chance, unsigned int purpose)
{
	if (chance->next)
		return true;
	return chance->ppm && (draw(e, purpose) >> 32) * 1000000 >> 32 < chance->ppm;
}

/* ---- ends ---- */

static void ends(struct engine_attempt *a, enum engine_end end, unsigned int bit, unsigned int flags_end)
{
	a->end = end;
	a->bit = bit;
	a->length = flags_end + 1 + ENGINE_DELIMITER + BITS_INTERFRAME;
}

/* A passive node's flag is over when it has seen six equal bits.  It begins behind the bit in which the node found the
 * error; if the flags of others do not go on for six more, it takes six recessive bits behind them. */
static void flags_late(struct engine_attempt *a, uint32_t nodes, unsigned int found, unsigned int flags_end)
{
	if (flags_end < found + ENGINE_FLAG) {
		a->late |= nodes;
		a->late_bits = ENGINE_FLAG;
	}
}

/* If there is no visible flag, senders that stopped before count recessive bits since the last dominant one. */
static void fell_silent(const struct engine *e, struct engine_attempt *a, uint32_t flaggers,
			const struct engine_stream *stream, unsigned int at)
{
	if (a->dropped && !engine_node_any_active(e, flaggers))
		a->dropped_bits = (int)engine_detect_last_dominant(stream, at) - (int)at;
}

/* Senders of one identifier: at the first bit in which they differ those that send a recessive one find an error.  Only
 * passive ones among them: they fall silent and the others go on. */
static void collide(const struct engine *e, struct engine_attempt *a, uint32_t listeners)
{
	struct engine_stream streams[ENGINE_NODES] = { 0 };
	unsigned int found[ENGINE_NODES], at = 0, heard, end;

	for (ENGINE_EACH(i, a->senders))
		engine_detect_stream(&streams[i], &engine_node_sends(e, a, i)->frame);
	while (a->sending & (a->sending - 1)) {
		const int lowest = __builtin_ctz(a->sending);
		uint32_t recessive = 0;

		if (at == streams[lowest].n)
			break; /* equal to the end: they are one */
		for (ENGINE_EACH(i, a->sending))
			if (streams[i].bits[at])
				recessive |= ENGINE_BIT(i);
		if (recessive && recessive != a->sending) {
			a->first = recessive;
			a->bit = at;
			a->seen_dominant = true;
			if (engine_node_any_active(e, recessive))
				break;
			a->dropped |= recessive;
			a->sending &= ~recessive;
		}
		at++;
	}
	a->origin = __builtin_ctz(a->sending);
	a->entry = *engine_node_sends(e, a, a->origin);
	if (!(a->sending & (a->sending - 1)) || at == streams[a->origin].n)
		return;

	end = at + ENGINE_FLAG;
	heard = engine_detect_after_flag(&streams[__builtin_ctz(a->sending & ~a->first)], at, 0, 0);
	if (engine_node_any_active(e, listeners))
		end = (unsigned int)num_max(end, heard + ENGINE_FLAG);
	/* The others find it when they next send a recessive bit, listeners when six bits are equal. */
	for (ENGINE_EACH(i, a->sending & ~a->first)) {
		found[i] = at + 1;
		while (found[i] < streams[i].n && !streams[i].bits[found[i]])
			found[i]++;
		if (!engine_node_passive(e, i))
			end = (unsigned int)num_max(end, found[i] + ENGINE_FLAG);
	}
	for (ENGINE_EACH(i, a->sending & ~a->first))
		if (engine_node_passive(e, i))
			flags_late(a, ENGINE_BIT(i), found[i], end);
	flags_late(a, engine_node_passives(e, listeners), heard, end);
	ends(a, ENGINE_END_BIT, at, end);
}

/* Contenders that had sent the same as the winner before the error.  Those that sent the same in it find it, too.  A
 * dominant bit read as recessive lets others go on: they take the flag that follows for a lost arbitration, unless it
 * hits a stuff bit of theirs. */
static uint32_t still_there(const struct engine *e, struct engine_attempt *a, const struct engine_stream *stream,
			    unsigned int at, unsigned int *end)
{
	uint32_t same = 0;

	for (ENGINE_EACH(i, a->contenders & ~a->senders)) {
		const struct frame *f = &engine_node_sends(e, a, i)->frame;
		struct engine_stream other;
		unsigned int next = at + 1;

		engine_detect_stream(&other, f);
		if (memcmp(other.bits, stream->bits, at) != 0)
			continue;
		while (!other.bits[next])
			next++;
		if (other.bits[at] == stream->bits[at]) {
			same |= ENGINE_BIT(i);
		} else if (!engine_detect_arbitrating(&other, f, next)) {
			a->still |= ENGINE_BIT(i);
			if (!engine_node_passive(e, i))
				*end = (unsigned int)num_max(*end, next + ENGINE_FLAG);
		}
	}
	a->still |= same;
	return same;
}

/* The fault corrupt flips a bit. */
static void flip(const struct engine *e, struct engine_attempt *a, uint32_t listeners)
{
	struct engine_stream stream;
	unsigned int at, end, seen, flag, found;
	uint32_t same;

	if (a->start.ns < e->corrupt.since_ns || !engine_outcome_chance(e, &e->corrupt, 0))
		return;
	engine_detect_stream(&stream, &a->entry.frame);
	at = e->corrupt.bit < 0 ? engine_detect_any(&stream, &a->entry.frame, draw(e, 1))
				: (unsigned int)e->corrupt.bit;
	at = at < stream.n ? at : stream.n - 1;
	if (a->end == ENGINE_END_ACK && a->bit == at && !a->deaf) {
		/* It looks like an acknowledgement. */
		a->flipped = true;
		a->end = ENGINE_END_GOOD;
		a->length = a->entry.bits;
		return;
	}
	if (a->end != ENGINE_END_GOOD && a->bit <= at)
		return; /* the attempt ends before that bit */
	a->flipped = true;
	a->deaf = a->late = 0;
	a->dropped_bits = 0;
	a->first = a->sending;
	seen = !stream.bits[at];
	a->seen_dominant = !seen;
	if (at == stream.n - 1) {
		ends(a, ENGINE_END_LAST, at, at + ENGINE_FLAG);
	} else if (at == stream.n - BITS_ACK_FROM_END) {
		ends(a, ENGINE_END_ACK, at, at + ENGINE_FLAG);
		fell_silent(e, a, a->sending | listeners, &stream, at);
	} else if (stream.bits[at] && engine_detect_arbitrating(&stream, &a->entry.frame, at)) {
		/* All stop; six recessive bits later all signal an error. */
		ends(a, ENGINE_END_LOST, at, at + ENGINE_STUFF + ENGINE_FLAG);
	} else {
		end = at + ENGINE_FLAG;
		same = still_there(e, a, &stream, at, &end);
		listeners &= ~a->still;
		flag = !engine_node_any_active(e, a->sending | same);
		found = engine_detect_after_flag(&stream, at, seen, flag);
		if (engine_node_any_active(e, listeners))
			end = (unsigned int)num_max(end, found + ENGINE_FLAG);
		flags_late(a, engine_node_passives(e, listeners), found, end);
		if (flag && a->late)
			a->late_bits = found - at; /* no node sends a dominant one */
		if (seen)
			fell_silent(e, a, a->sending | same | listeners, &stream, at);
		ends(a, ENGINE_END_BIT, at, end);
	}
}

/* The attempt reached the end of its CRC. */
static void acknowledge(const struct engine *e, struct engine_attempt *a, uint32_t listeners, bool main)
{
	const unsigned int n = a->entry.bits - BITS_INTERFRAME, slot = n - BITS_ACK_FROM_END;
	struct engine_stream stream;

	a->deaf = listeners & engine_node_classics(e, a);
	for (ENGINE_EACH(i, main ? listeners & ~a->deaf : 0))
		if (a->start.ns >= e->node[i].corrupt.since_ns &&
		    engine_outcome_chance(e, &e->node[i].corrupt, 64 + (unsigned int)i))
			a->deaf |= ENGINE_BIT(i);
	if (!(listeners & ~a->deaf)) {
		/* Listeners with a wrong CRC see the sender's flag one bit later, or send theirs then. */
		const unsigned int end = slot + ENGINE_FLAG + engine_node_any_active(e, a->deaf);

		flags_late(a, engine_node_passives(e, a->deaf), slot + 1, end);
		if (a->late && !engine_node_any_active(e, a->sending))
			a->late_bits = 1;
		if (a->dropped) {
			engine_detect_stream(&stream, &a->entry.frame);
			fell_silent(e, a, a->sending | a->deaf, &stream, slot);
		}
		ends(a, ENGINE_END_ACK, slot, end);
	} else if (engine_node_any_active(e, a->deaf)) {
		/* Their flag takes the place of the end of frame; the others find that at its first bit. */
		const uint32_t others = a->sending | (listeners & ~a->deaf);
		const unsigned int first = n - ENGINE_EOF;
		const unsigned int end = first + ENGINE_FLAG - 1 + engine_node_any_active(e, others);

		flags_late(a, engine_node_passives(e, others), first, end);
		ends(a, ENGINE_END_CRC, first, end);
	} else {
		/* Passive nodes that found an error alone take the end of frame for their flag, and only then their
		 * delimiter; the CRC is one bit later. */
		a->end = ENGINE_END_GOOD;
		a->length = a->entry.bits;
		a->late = a->dropped | a->deaf;
		a->late_bits = ENGINE_FLAG + (a->deaf != 0);
		a->dropped_bits = ENGINE_FLAG;
	}
}

/* The sender has left in mid-frame. */
static void cut(struct engine_attempt *a, uint32_t listeners)
{
	struct engine_stream stream;
	unsigned int found;

	engine_detect_stream(&stream, &a->entry.frame);
	found = engine_detect_after_cut(&stream, (unsigned int)a->cut);
	if (listeners && found == stream.n) {
		a->end = ENGINE_END_GOOD;
		a->length = a->entry.bits;
	} else if (listeners) {
		ends(a, ENGINE_END_CUT, found, found + ENGINE_FLAG);
	} else {
		a->end = ENGINE_END_CUT;
		a->bit = (unsigned int)a->cut;
		a->length = a->bit + ENGINE_JOIN;
	}
}

/* On an open wire a dominant bit reads recessive, those of an error flag too: each adds to the counter, until the node
 * is passive and its flag is recessive. */
static void open_end(const struct engine *e, struct engine_attempt *a, uint32_t listeners)
{
	unsigned int bit = a->opened > 0 ? (unsigned int)a->opened : 0, climb = 0;

	for (ENGINE_EACH(i, a->senders))
		if (!engine_node_passive(e, i))
			climb = (unsigned int)num_max(
				climb, (unsigned int)(ENGINE_PASSIVE - e->node[i].tx_errors + 7) / 8 - 1);
	for (ENGINE_EACH(i, bit ? listeners : 0))
		if (!engine_node_passive(e, i))
			climb = (unsigned int)num_max(
				climb, (unsigned int)(ENGINE_PASSIVE - e->node[i].rx_errors - 1 + 7) / 8);
	ends(a, ENGINE_END_OPEN, bit, bit + climb + ENGINE_FLAG);
}

/* The sender is alone, and its counter does not change any more. */
static bool endless(const struct engine *e, unsigned int w)
{
	const struct engine_wire *wire = &e->wire[w];
	const struct engine_attempt *a = &wire->attempt;

	if (a->end != ENGINE_END_ACK || a->frozen || a->flipped || a->listeners || a->entry.last || wire->unjoined)
		return false;
	if (a->senders & (a->senders - 1) || !engine_node_passive(e, a->origin) || a->entry.fast)
		return false;
	if (e->node[a->origin].babbling && e->node[a->origin].babble_until_ns != ENGINE_NEVER)
		return false;
	if (w == 0 && (e->corrupt.next || e->corrupt.ppm))
		return false;
	for (ENGINE_EACH(i, e->off))
		if (e->node[i].recovering && engine_node_wire(e, i) == w)
			return false;
	return true;
}

void engine_outcome(struct engine *e, unsigned int w)
{
	struct engine_wire *wire = &e->wire[w];
	struct engine_attempt *a = &wire->attempt;
	const uint32_t listeners = a->listeners & wire->present;

	a->flipped = a->seen_dominant = false;
	a->first = a->sending = a->senders;
	a->dropped = a->deaf = a->late = a->still = 0;
	a->dropped_bits = 0;
	a->end = ENGINE_END_GOOD;
	if (a->opened >= 0 || (a->start.ns >= wire->open_ns && a->start.ns < wire->open_until_ns)) {
		open_end(e, a, listeners);
	} else if (!a->senders) {
		cut(a, listeners);
	} else {
		if (a->senders & (a->senders - 1))
			collide(e, a, listeners);
		if (a->end == ENGINE_END_GOOD)
			acknowledge(e, a, listeners, w == 0);
		if (w == 0)
			flip(e, a, listeners);
	}
	a->due = engine_time_frame(e, a, a->length - BITS_INTERFRAME);
	a->endless = endless(e, w);
}
