/* engine.c: commands on nodes; information, statistics.  See engine.h. */
#include "can/wire/engine_inner.h"
#include "config/base/base.h"

#define ENGINE_BITRATE_MIN 1000
#define ENGINE_BITRATE_MAX 1000000
#define ENGINE_DATA_BITRATE_MAX 10000000

/* The least common multiple of both bit rates; 0: there is none that fits. */
static uint32_t unit_of(const struct engine_settings *settings)
{
	uint64_t a = settings->bitrate, b = settings->data_bitrate ? settings->data_bitrate : a, unit = b;

	if (b < a || b > ENGINE_DATA_BITRATE_MAX)
		return 0;
	while (unit % a)
		unit += b;
	return unit <= UINT32_MAX ? (uint32_t)unit : 0;
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
	e->unit = unit_of(&e->settings);
	if (!e->unit)
		return -EINVAL;
	e->now_ns = e->event_ns = now_ns;
	e->void_ns = INT64_MIN;
	e->wires = 1;
	engine_wire_init(&e->wire[0], now_ns);
	return 0;
}

int engine_find(const struct engine *e, const char *name)
{
	for (ENGINE_EACH(i, e->nodes))
		if (!strcmp(e->node[i].name, name))
			return i;
	return -ENOENT;
}

int engine_attach(struct engine *e, const char *name, int64_t now_ns)
{
	int node = engine_find(e, name);
	struct engine_node *n;

	if (node < 0 && !text_is_name(name))
		return -EINVAL;
	if (node < 0 && e->nodes == UINT32_MAX)
		return -ENOSPC;
	engine_advance_all(e, now_ns);
	if (node >= 0) {
		if (e->node[node].leaving) {
			e->node[node].leaving = false;
			engine_node_join(e, node, now_ns);
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
	engine_node_join(e, node, now_ns);
	return node;
}

/* Before a command on a node. */
static int begin(struct engine *e, int node, int64_t now_ns)
{
	if (!engine_node_exists(e, node))
		return -ENOENT;
	engine_advance_all(e, now_ns);
	return 0;
}

int engine_detach(struct engine *e, int node, int64_t now_ns)
{
	if (begin(e, node, now_ns))
		return -ENOENT;
	if (engine_arbitrate_sending(e, node, now_ns)) {
		engine_arbitrate_freeze(e, engine_node_wire(e, node), now_ns);
		e->node[node].leaving = true;
		engine_queue_purge(e, node, true, ENGINE_DETACHED, now_ns);
		return 0;
	}
	engine_arbitrate_cut(e, engine_node_wire(e, node), node, now_ns);
	engine_queue_purge(e, node, false, ENGINE_DETACHED, now_ns);
	engine_node_free(e, node);
	return 0;
}

void engine_off(struct engine *e, int node, enum engine_why why, int64_t now_ns)
{
	struct engine_node *n = &e->node[node];

	engine_arbitrate_cut(e, engine_node_wire(e, node), node, now_ns);
	engine_queue_purge(e, node, false, why, now_ns);
	n->tx_errors = n->rx_errors = 0;
	n->recovering = n->joined = false;
	n->restart_ns = ENGINE_NEVER;
	n->free = engine_time_at(now_ns);
	if (n->state != BUS_STOPPED)
		engine_errors_state(e, node, BUS_STOPPED, now_ns);
	engine_node_update(e, node);
}

void engine_on(struct engine *e, int node, int64_t now_ns)
{
	if (!e->node[node].up || !e->node[node].power)
		return;
	engine_errors_state(e, node, BUS_ERROR_ACTIVE, now_ns);
	engine_node_join(e, node, now_ns);
}

static int set_up(struct engine *e, int node, bool up, int64_t now_ns)
{
	int status = begin(e, node, now_ns);

	if (status || e->node[node].up == up)
		return status;
	e->node[node].up = up;
	if (up)
		engine_on(e, node, now_ns);
	else
		engine_off(e, node, ENGINE_RESET, now_ns);
	return 0;
}

int engine_down(struct engine *e, int node, int64_t now_ns)
{
	return set_up(e, node, false, now_ns);
}

int engine_up(struct engine *e, int node, int64_t now_ns)
{
	return set_up(e, node, true, now_ns);
}

int engine_reset(struct engine *e, int node, int64_t now_ns)
{
	int status = engine_down(e, node, now_ns);

	return status ? status : engine_up(e, node, now_ns);
}

int engine_restart(struct engine *e, int node, int64_t now_ns)
{
	struct engine_node *n = &e->node[node];

	if (begin(e, node, now_ns))
		return -ENOENT;
	if (n->state != BUS_OFF)
		return -EBUSY;
	if (!n->recovering)
		engine_errors_recover(e, node, now_ns);
	return 0;
}

int engine_set_queue(struct engine *e, int node, uint32_t queue)
{
	if (!engine_node_exists(e, node))
		return -ENOENT;
	if (!queue || queue > ENGINE_QUEUE_MAX)
		return -EINVAL;
	e->node[node].queue = queue;
	return 0;
}

int engine_set_restart(struct engine *e, int node, uint32_t restart_ms)
{
	if (!engine_node_exists(e, node))
		return -ENOENT;
	e->node[node].restart_ms = restart_ms;
	return 0;
}

const struct engine_node *engine_node(const struct engine *e, int node)
{
	return engine_node_exists(e, node) ? &e->node[node] : NULL;
}

/* ---- statistics ---- */

void engine_stats(struct engine *e, struct engine_stats *stats, int64_t now_ns)
{
	engine_advance_all(e, now_ns);
	*stats = e->stats;
	stats->load = engine_load(e, now_ns);
}

const char *engine_why_name(enum engine_why why)
{
	static const char *const names[] = { "reset", "bus-off", "power", "detached", "outage" };

	return names[why];
}
