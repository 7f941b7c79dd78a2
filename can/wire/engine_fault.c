/* engine_fault.c: faults on demand. */
#include "can/wire/engine_inner.h"
#include "config/base/base.h"

/* ---- the wire is stuck ---- */

/* The frame on the wire is lost; its senders will repeat it. */
static uint32_t break_off(struct engine *e, int64_t now_ns)
{
	struct engine_wire *wire = &e->wire[0];
	uint32_t senders;

	engine_arbitrate_freeze(e, 0, now_ns);
	if (!wire->attempt.frozen)
		return 0;
	senders = wire->attempt.senders;
	e->stats.attempts++;
	e->stats.errors++;
	for (ENGINE_EACH(i, senders))
		e->node[i].stats.retransmissions++;
	engine_queue_let_go(e, wire->attempt.contenders, now_ns);
	engine_load_add(e, engine_time_ns(wire->attempt.start), now_ns, 1, 1);
	wire->attempt.frozen = wire->attempt.fixed = false;
	return senders;
}

static void unstick(struct engine *e, int64_t now_ns)
{
	struct engine_wire *wire = &e->wire[0];
	const struct engine_instant now = engine_time_at(now_ns);

	engine_load_stuck(e, now_ns);
	e->stuck_ns = e->stuck_until_ns = now_ns;
	wire->shorted = false;
	if (now_ns < wire->short_until_ns) {
		wire->recessive = now;
		wire->idle = engine_time_add(e, now, ENGINE_DELIMITER + BITS_INTERFRAME);
		wire->short_until_ns = now_ns;
	}
	if (now_ns < wire->open_until_ns)
		wire->open_until_ns = now_ns;
	if (engine_time_before(now, wire->held))
		wire->held = now;
	engine_wire_changed(e, 0);
}

static void stick(struct engine *e, enum engine_level level, int64_t now_ns, int64_t until_ns)
{
	struct engine_wire *wire = &e->wire[0];
	const struct engine_instant now = engine_time_at(now_ns), until = engine_time_at(until_ns);
	struct engine_attempt *a = &wire->attempt;

	unstick(e, now_ns);
	e->stuck_until_ns = level == ENGINE_RECESSIVE ? now_ns : until_ns;
	switch (level) {
	case ENGINE_HELD:
		engine_arbitrate_freeze(e, 0, now_ns);
		wire->held = until;
		break;
	case ENGINE_DOMINANT:
		engine_arbitrate_join(e, 0, now_ns);
		wire->short_senders = break_off(e, now_ns);
		wire->shorted = true;
		wire->short_begun = false;
		wire->short_until_ns = until_ns;
		/* A sender sends its flag, six bits; on an idle wire six more pass before a node detects the error. */
		wire->short_next =
			engine_time_add(e, now, wire->short_senders ? ENGINE_FLAG : ENGINE_STUFF + ENGINE_FLAG);
		wire->recessive = until;
		wire->idle = engine_time_add(e, until, ENGINE_DELIMITER + BITS_INTERFRAME);
		break;
	case ENGINE_RECESSIVE:
		engine_arbitrate_freeze(e, 0, now_ns);
		wire->open_ns = now_ns;
		wire->open_until_ns = until_ns;
		if (a->frozen)
			a->opened = (int)engine_time_frame_bit(e, a, now);
		break;
	}
	engine_wire_changed(e, 0);
}

/* ---- nodes ---- */

static void babble(struct engine *e, int node, const struct engine_fault *fault, int64_t now_ns)
{
	struct engine_node *n = &e->node[node];
	struct bits bits;

	engine_arbitrate_freeze(e, engine_node_wire(e, node), now_ns);
	if (fault->off) {
		if (now_ns < n->babble_until_ns)
			n->babble_until_ns = now_ns;
	} else {
		bits_of(&bits, &fault->frame);
		n->babbling = true;
		n->babble = (struct engine_entry){ .request_ns = now_ns,
						   .bits = (uint16_t)bits.all,
						   .frame = fault->frame };
		n->babble_until_ns = fault->ns ? now_ns + fault->ns : ENGINE_NEVER;
	}
	engine_node_update(e, node);
}

static void power(struct engine *e, int node, bool on, int64_t now_ns)
{
	struct engine_node *n = &e->node[node];

	if (n->power == on)
		return;
	n->power = on;
	if (on)
		engine_on(e, node, now_ns);
	else
		engine_off(e, node, ENGINE_POWER, now_ns);
}

/* Off one wire, onto another. */
static void connect(struct engine *e, int node, bool connected, int64_t now_ns)
{
	struct engine_node *n = &e->node[node];
	const uint64_t own = UINT64_C(2) << node;

	if (n->connected == connected)
		return;
	engine_arbitrate_cut(e, engine_node_wire(e, node), node, now_ns);
	e->wire[engine_node_wire(e, node)].present &= ~ENGINE_BIT(node);
	e->wire[engine_node_wire(e, node)].unjoined &= ~ENGINE_BIT(node);
	n->connected = connected;
	e->wires = connected ? e->wires & ~own : e->wires | own;
	if (!connected) {
		engine_wire_init(&e->wire[1 + node], now_ns);
		e->wire[1 + node].horizon_ns = now_ns;
	}
	engine_node_join(e, node, now_ns);
}

/* ---- the command ---- */

/* For frames that start from now on. */
static void set_chance(struct engine_chance *chance, const struct engine_fault *fault, int64_t now_ns)
{
	*chance = (struct engine_chance){ fault->next, fault->ppm, fault->bit, now_ns };
}

static void clear(struct engine *e, int64_t now_ns)
{
	const struct engine_fault off = { .off = true };

	engine_arbitrate_freeze(e, 0, now_ns);
	set_chance(&e->drop, &off, now_ns);
	set_chance(&e->corrupt, &off, now_ns);
	unstick(e, now_ns);
	for (ENGINE_EACH(i, e->nodes)) {
		set_chance(&e->node[i].drop, &off, now_ns);
		set_chance(&e->node[i].corrupt, &off, now_ns);
		e->node[i].delay_ns = 0;
		if (e->node[i].babbling)
			babble(e, i, &off, now_ns);
	}
}

static bool takes_all_nodes(enum engine_fault_kind kind)
{
	return kind == ENGINE_DROP || kind == ENGINE_CORRUPT || kind == ENGINE_STUCK || kind == ENGINE_CLEAR;
}

int engine_fault(struct engine *e, const struct engine_fault *fault, int64_t now_ns)
{
	const int node = fault->node[0] ? engine_find(e, fault->node) : -1;

	if (node < 0 && (fault->node[0] || !takes_all_nodes(fault->kind)))
		return -ENOENT;
	engine_advance_all(e, now_ns);
	switch (fault->kind) {
	case ENGINE_DROP:
		set_chance(node < 0 ? &e->drop : &e->node[node].drop, fault, now_ns);
		break;
	case ENGINE_CORRUPT:
		engine_arbitrate_freeze(e, 0, now_ns);
		set_chance(node < 0 ? &e->corrupt : &e->node[node].corrupt, fault, now_ns);
		engine_wire_changed(e, 0);
		break;
	case ENGINE_DELAY:
		e->node[node].delay_ns = fault->off ? 0 : fault->ns;
		break;
	case ENGINE_STUCK:
		if (fault->off)
			unstick(e, now_ns);
		else
			stick(e, fault->level, now_ns, now_ns + fault->ns);
		break;
	case ENGINE_BABBLE:
		babble(e, node, fault, now_ns);
		break;
	case ENGINE_POWER_OFF:
	case ENGINE_POWER_ON:
		power(e, node, fault->kind == ENGINE_POWER_ON, now_ns);
		break;
	case ENGINE_DISCONNECT:
	case ENGINE_CONNECT:
		connect(e, node, fault->kind == ENGINE_CONNECT, now_ns);
		break;
	case ENGINE_CLASSIC:
		engine_arbitrate_freeze(e, engine_node_wire(e, node), now_ns);
		e->node[node].classic = !fault->off;
		engine_wire_changed(e, engine_node_wire(e, node));
		break;
	case ENGINE_CLEAR:
		clear(e, now_ns);
		break;
	}
	return 0;
}
