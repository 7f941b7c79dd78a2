/* engine.c: nodes, requests, commands.  See engine.h. */
#include "can/wire/engine_inner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/text.h"

#define ENGINE_BITRATE_MIN 1000
#define ENGINE_BITRATE_MAX 1000000

void engine_wire_init(struct engine_wire *wire, int64_t now_ns)
{
	const struct engine_instant now = engine_time_at(now_ns);

	*wire = (struct engine_wire){ .idle = now, .recessive = now, .held = now };
	wire->horizon_ns = wire->short_until_ns = wire->open_ns = wire->open_until_ns = INT64_MIN;
}

int engine_init(struct engine *e, const struct engine_settings *settings, int64_t now_ns)
{
	memset(e, 0, sizeof(*e));
	e->settings = *settings;
	if (!e->settings.queue)
		e->settings.queue = ENGINE_QUEUE;
	if (e->settings.bitrate < ENGINE_BITRATE_MIN || e->settings.bitrate > ENGINE_BITRATE_MAX ||
	    e->settings.queue > ENGINE_QUEUE_MAX || e->settings.outage_ns < 0)
		return -EINVAL;
	e->now_ns = e->event_ns = now_ns;
	e->void_ns = INT64_MIN;
	e->wires = 1;
	engine_wire_init(&e->wire[0], now_ns);
	return 0;
}

/* ---- nodes ---- */

static bool exists(const struct engine *e, int node)
{
	return node >= 0 && node < ENGINE_NODES && e->nodes & ENGINE_BIT(node);
}

static void put(uint32_t *set, int node, bool in)
{
	*set = in ? *set | ENGINE_BIT(node) : *set & ~ENGINE_BIT(node);
}

void engine_refresh(struct engine *e, int node)
{
	const struct engine_node *n = &e->node[node];
	struct engine_wire *wire = &e->wire[engine_plan_wire(e, node)];
	const bool present = n->up && n->power && n->state != BUS_OFF && !n->leaving;

	put(&wire->present, node, present);
	put(&wire->unjoined, node, present && !n->joined);
	put(&e->off, node, n->state == BUS_OFF);
	put(&e->pending, node, n->waiting || n->babbling);
	engine_plan_again(e, engine_plan_wire(e, node));
}

void engine_free_node(struct engine *e, int node)
{
	struct engine_node *n = &e->node[node];

	n->up = n->babbling = false;
	n->waiting = 0;
	n->state = BUS_STOPPED;
	engine_refresh(e, node);
	if (!n->connected)
		e->wires &= ~(UINT64_C(2) << node);
	e->nodes &= ~ENGINE_BIT(node);
	n->name[0] = 0;
}

int engine_find(const struct engine *e, const char *name)
{
	for (ENGINE_EACH(i, e->nodes))
		if (!strcmp(e->node[i].name, name))
			return i;
	return -ENOENT;
}

uint32_t engine_nodes(const struct engine *e)
{
	return e->nodes;
}

/* Before any command: everything until now has happened. */
static void until(struct engine *e, int64_t now_ns)
{
	engine_advance(e, now_ns);
	engine_step_settle(e, now_ns);
}

/* There is one more on the wire, who has seen nothing of it. */
static void joining(struct engine *e, int node, int64_t now_ns)
{
	e->node[node].joined = false;
	e->node[node].join_ns = now_ns;
	e->node[node].join_bits = ENGINE_JOIN;
	engine_refresh(e, node);
}

int engine_attach(struct engine *e, const char *name, int64_t now_ns)
{
	int node = engine_find(e, name);
	struct engine_node *n;

	if (node < 0 && !text_is_name(name))
		return -EINVAL;
	if (node < 0 && e->nodes == UINT32_MAX)
		return -ENOSPC;
	until(e, now_ns);
	if (node >= 0) {
		if (e->node[node].leaving) {
			e->node[node].leaving = false;
			joining(e, node, now_ns);
		}
		return node;
	}
	node = __builtin_ctz(~e->nodes);
	n = &e->node[node];
	memset(n, 0, sizeof(*n));
	snprintf(n->name, sizeof(n->name), "%s", name);
	n->up = n->power = n->connected = true;
	n->queue = e->settings.queue;
	n->restart_ms = e->settings.restart_ms;
	n->restart_ns = ENGINE_NEVER;
	n->last_ns = INT64_MIN;
	n->free = engine_time_at(now_ns);
	n->state = BUS_ERROR_ACTIVE;
	e->nodes |= ENGINE_BIT(node);
	joining(e, node, now_ns);
	return node;
}

/* Is its mailbox what is on the wire right now? */
static bool is_sending(struct engine *e, int node, int64_t now_ns)
{
	const struct engine_attempt *a = &e->wire[engine_plan_wire(e, node)].attempt;

	engine_plan(e, engine_plan_wire(e, node));
	return !a->none && a->start.ns < now_ns && a->senders & ~a->babblers & ENGINE_BIT(node);
}

int engine_detach(struct engine *e, int node, int64_t now_ns)
{
	if (!exists(e, node))
		return -ENOENT;
	until(e, now_ns);
	if (is_sending(e, node, now_ns)) {
		engine_plan_freeze(e, engine_plan_wire(e, node), now_ns);
		e->node[node].leaving = true;
		engine_purge(e, node, ENGINE_DETACHED, now_ns);
		return 0;
	}
	engine_plan_cut(e, engine_plan_wire(e, node), node, now_ns);
	engine_purge(e, node, ENGINE_DETACHED, now_ns);
	engine_free_node(e, node);
	return 0;
}

void engine_off(struct engine *e, int node, enum engine_why why, int64_t now_ns)
{
	struct engine_node *n = &e->node[node];

	engine_plan_cut(e, engine_plan_wire(e, node), node, now_ns);
	engine_purge(e, node, why, now_ns);
	n->tx_errors = n->rx_errors = 0;
	n->recovering = n->joined = false;
	n->restart_ns = ENGINE_NEVER;
	n->free = engine_time_at(now_ns);
	if (n->state != BUS_STOPPED)
		engine_count_state(e, node, BUS_STOPPED, now_ns);
	engine_refresh(e, node);
}

void engine_on(struct engine *e, int node, int64_t now_ns)
{
	if (!e->node[node].up || !e->node[node].power)
		return;
	engine_count_state(e, node, BUS_ERROR_ACTIVE, now_ns);
	joining(e, node, now_ns);
}

int engine_down(struct engine *e, int node, int64_t now_ns)
{
	if (!exists(e, node))
		return -ENOENT;
	until(e, now_ns);
	if (!e->node[node].up)
		return 0;
	e->node[node].up = false;
	engine_off(e, node, ENGINE_RESET, now_ns);
	return 0;
}

int engine_up(struct engine *e, int node, int64_t now_ns)
{
	if (!exists(e, node))
		return -ENOENT;
	until(e, now_ns);
	if (e->node[node].up)
		return 0;
	e->node[node].up = true;
	engine_on(e, node, now_ns);
	return 0;
}

int engine_reset(struct engine *e, int node, int64_t now_ns)
{
	int status = engine_down(e, node, now_ns);

	return status ? status : engine_up(e, node, now_ns);
}

int engine_restart(struct engine *e, int node, int64_t now_ns)
{
	struct engine_node *n = &e->node[node];

	if (!exists(e, node))
		return -ENOENT;
	until(e, now_ns);
	if (n->state != BUS_OFF)
		return -EBUSY;
	if (n->recovering)
		return 0;
	n->recovering = true;
	n->recover_ns = now_ns;
	n->recover_left = ENGINE_RECOVER;
	engine_plan_again(e, engine_plan_wire(e, node));
	return 0;
}

int engine_set_queue(struct engine *e, int node, uint32_t queue)
{
	if (!exists(e, node))
		return -ENOENT;
	if (!queue || queue > ENGINE_QUEUE_MAX)
		return -EINVAL;
	e->node[node].queue = queue;
	return 0;
}

int engine_set_restart(struct engine *e, int node, uint32_t restart_ms)
{
	if (!exists(e, node))
		return -ENOENT;
	e->node[node].restart_ms = restart_ms;
	return 0;
}

int engine_node_info(const struct engine *e, int node, struct engine_node_info *info)
{
	const struct engine_node *n = &e->node[node];

	if (!exists(e, node))
		return -ENOENT;
	*info = (struct engine_node_info){ .name = n->name,
					   .state = n->state,
					   .tx_errors = n->tx_errors,
					   .rx_errors = n->rx_errors,
					   .up = n->up,
					   .power = n->power,
					   .connected = n->connected,
					   .recovering = n->recovering,
					   .babbling = n->babbling && n->babble_until_ns > e->now_ns,
					   .restart_ms = n->restart_ms,
					   .queue = n->queue,
					   .waiting = n->waiting,
					   .delay_ns = n->delay_ns,
					   .stats = n->stats };
	return 0;
}
