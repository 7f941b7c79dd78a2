/* engine_errors.c: error counters, states, error frames.
 *
 * A controller is in warning from 96, passive from 128, bus-off from 256 of the transmit counter.  Error frames
 * are those of Linux: see can_change_state and linux/can/error.h.
 */
#include "can/wire/engine_inner.h"

static enum bus_state state_of(unsigned int errors)
{
	if (errors >= ENGINE_OFF)
		return BUS_OFF;
	if (errors >= ENGINE_PASSIVE)
		return BUS_PASSIVE;
	return errors >= ENGINE_WARNING ? BUS_WARNING : BUS_ERROR_ACTIVE;
}

static void error(struct engine *e, int node, struct frame *f, int64_t t_ns)
{
	const struct engine_node *n = &e->node[node];
	struct engine_event event = { .kind = ENGINE_ERROR, .node = node, .t_ns = t_ns, .frame = f };

	f->id |= FRAME_ERR | CAN_ERR_CNT;
	f->len = FRAME_DATA_MAX;
	f->data[6] = n->tx_errors < 255 ? (uint8_t)n->tx_errors : 255;
	f->data[7] = n->rx_errors < 255 ? (uint8_t)n->rx_errors : 255;
	event.tx_errors = n->tx_errors;
	event.rx_errors = n->rx_errors;
	event.state = n->state;
	engine_emit(e, &event);
}

void engine_errors_state(struct engine *e, int node, enum bus_state state, int64_t t_ns)
{
	struct engine_node *n = &e->node[node];
	struct engine_event event = { .kind = ENGINE_STATE, .node = node, .t_ns = t_ns, .state = state };

	n->state = state;
	event.tx_errors = n->tx_errors;
	event.rx_errors = n->rx_errors;
	engine_emit(e, &event);
}

static uint8_t control(enum bus_state state, uint8_t warning, uint8_t passive)
{
	return state == BUS_PASSIVE ? passive : state == BUS_WARNING ? warning : CAN_ERR_CRTL_ACTIVE;
}

static void bus_off(struct engine *e, int node, int64_t t_ns)
{
	struct engine_node *n = &e->node[node];

	ENGINE_COUNT(e, node, bus_offs);
	n->recovering = false;
	n->restart_ns = n->restart_ms ? t_ns + (int64_t)n->restart_ms * 1000000 : ENGINE_NEVER;
	engine_queue_purge(e, node, false, ENGINE_BUS_OFF, t_ns);
}

/* Derives the state from the counters. */
static void update_state(struct engine *e, int node, int64_t t_ns)
{
	struct engine_node *n = &e->node[node];
	const enum bus_state tx = state_of(n->tx_errors), rx = state_of(n->rx_errors), state = tx > rx ? tx : rx;
	struct frame f = { 0 };

	engine_wire_changed(e, engine_node_wire(e, node));
	if (state == n->state)
		return;
	n->state = state;
	if (state == BUS_OFF) {
		f.id = CAN_ERR_BUSOFF;
	} else {
		f.id = CAN_ERR_CRTL;
		if (tx >= rx)
			f.data[1] |= control(tx, CAN_ERR_CRTL_TX_WARNING, CAN_ERR_CRTL_TX_PASSIVE);
		if (tx <= rx)
			f.data[1] |= control(rx, CAN_ERR_CRTL_RX_WARNING, CAN_ERR_CRTL_RX_PASSIVE);
	}
	error(e, node, &f, t_ns);
	engine_errors_state(e, node, state, t_ns);
	if (state == BUS_OFF) {
		bus_off(e, node, t_ns);
		engine_node_update(e, node);
	}
}

/* Returns false if the node does not count. */
static bool count(struct engine_node *n, bool tx, int errors)
{
	if (n->state == BUS_OFF || n->state == BUS_STOPPED)
		return false;
	if (tx)
		n->tx_errors = (uint16_t)(n->tx_errors + errors > 0 ? n->tx_errors + errors : 0);
	else if (errors > 0)
		n->rx_errors = (uint16_t)(n->rx_errors + errors < 255 ? n->rx_errors + errors : 255);
	else if (n->rx_errors >= ENGINE_PASSIVE)
		n->rx_errors = ENGINE_PASSIVE - 1; /* to anything from 119 to 127 */
	else if (n->rx_errors > 0)
		n->rx_errors--;
	return true;
}

/* classes: of an error frame that reports it; 0: none. */
static void add(struct engine *e, int node, bool tx, int errors, uint32_t classes, uint8_t type, uint8_t place,
		int64_t t_ns)
{
	struct frame f = { .id = classes | CAN_ERR_BUSERROR, .data = { [2] = type, [3] = place } };

	if (!count(&e->node[node], tx, errors))
		return;
	e->node[node].stats.errors += classes != 0;
	if (classes && !e->settings.quiet)
		error(e, node, &f, t_ns);
	update_state(e, node, t_ns);
}

void engine_errors_tx(struct engine *e, int node, int errors, int64_t t_ns)
{
	add(e, node, true, errors, 0, 0, 0, t_ns);
}

void engine_errors_rx(struct engine *e, int node, int errors, int64_t t_ns)
{
	add(e, node, false, errors, 0, 0, 0, t_ns);
}

void engine_errors_report_tx(struct engine *e, int node, uint32_t classes, uint8_t type, uint8_t place, int64_t t_ns)
{
	add(e, node, true, 8, classes, type, place, t_ns);
}

void engine_errors_report_rx(struct engine *e, int node, int errors, uint8_t type, uint8_t place, int64_t t_ns)
{
	add(e, node, false, errors, CAN_ERR_PROT, type, place, t_ns);
}

void engine_errors_recover(struct engine *e, int node, int64_t t_ns)
{
	struct engine_node *n = &e->node[node];

	n->recovering = true;
	n->recover_ns = t_ns;
	n->recover_left = ENGINE_RECOVER;
	engine_wire_changed(e, engine_node_wire(e, node));
}

void engine_errors_recovered(struct engine *e, int node, int64_t t_ns)
{
	struct engine_node *n = &e->node[node];
	struct frame f = { .id = CAN_ERR_RESTARTED };

	n->recovering = false;
	n->tx_errors = n->rx_errors = 0;
	n->state = BUS_ERROR_ACTIVE;
	ENGINE_COUNT(e, node, restarts);
	n->joined = true; /* it has seen more than it needs */
	n->free = engine_time_at(t_ns);
	engine_node_update(e, node);
	error(e, node, &f, t_ns);
	engine_errors_state(e, node, BUS_ERROR_ACTIVE, t_ns);
}
