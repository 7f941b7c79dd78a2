/* hub_control.c: questions in text, from canwire stats, canwire fault and link.h.
 *
 *	stats				a line for the bus, each controller, each program: kind, name, keys and values
 *	fault corrupt 3			see fault.h
 *	link look|up|down|reset|restart CONTROLLER
 *	link set CONTROLLER restart_ms|queue N
 *
 * The answer is "ok" and what there is to say, or "error" and why not.
 */
#include "can/bus/attach.h"
#include "can/wire/fault.h"
#include "can/wire/hub.h"
#include "channels/port/rpc.h"

/* ---- statistics ---- */

static void add_bus(struct rpc_text *to, struct hub *hub, struct hub_bus *bus, int64_t now_ns)
{
	struct engine_stats s;

	engine_stats(&bus->engine, &s, now_ns);
	rpc_say(to,
		"bus %s bitrate %" PRIu32 " load %.4f frames %" PRIu64 " bits %" PRIu64 " errors %" PRIu64
		" unacknowledged %" PRIu64 " collisions %" PRIu64 " corrupted %" PRIu64 " lost %" PRIu64
		" arbitration_lost %" PRIu64 " late %" PRIu64 " refused %" PRIu64 " purged %" PRIu64
		" bus_offs %" PRIu64 " outages %" PRIu64 " outage_ms %" PRId64 " broken %" PRIu64 "\n",
		bus->name, bus->settings.bitrate, s.load, s.frames, s.bits, s.errors, s.unacknowledged, s.collisions,
		s.corrupted, s.lost, s.arbitration_lost, s.late, s.refused, s.purged, s.bus_offs, s.outages,
		s.outage_ns / 1000000, hub->broken);
}

static void add_controller(struct rpc_text *to, struct hub_bus *bus, const struct hub_controller *c)
{
	const struct engine_node *n = engine_node(&bus->engine, c->node);

	if (!c->attachments || !n)
		return;
	rpc_say(to,
		"controller %s state %s tx_errors %u rx_errors %u waiting %u sent %" PRIu64 " received %" PRIu64
		" errors %" PRIu64 " retransmissions %" PRIu64 " arbitration_lost %" PRIu64 " lost %" PRIu64
		" refused %" PRIu64 " purged %" PRIu64 " bus_offs %" PRIu64 " restarts %" PRIu64
		" power %d connected %d babbling %d\n",
		c->name, bus_state_name(n->state), n->tx_errors, n->rx_errors, n->waiting, n->stats.sent,
		n->stats.received, n->stats.errors, n->stats.retransmissions, n->stats.arbitration_lost, n->stats.lost,
		n->stats.refused, n->stats.purged, n->stats.bus_offs, n->stats.restarts, n->power, n->connected,
		n->babbling && n->babble_until_ns > bus->engine.now_ns);
}

static void add_stats(struct rpc_text *to, struct hub *hub, struct hub_bus *bus, int64_t now_ns)
{
	add_bus(to, hub, bus, now_ns);
	for (int i = 0; i < WIRE_CONTROLLERS_MAX; i++)
		add_controller(to, bus, &bus->controllers[i]);
	for (unsigned int i = 0; i < hub->attachments_n; i++) {
		const struct hub_attachment *a = &hub->attachments[i];

		if (a->memory && &hub->buses[a->bus] == bus)
			rpc_say(to,
				"program %d controller %s handed %" PRIu32 " delivered %" PRIu32 " dropped %" PRIu64
				"\n",
				a->pid, bus->controllers[a->controller].name, a->tx_tail, a->rx_head, a->dropped);
	}
}

/* ---- the link ---- */

static void link_info(struct rpc_text *to, struct hub_bus *bus, const struct hub_controller *c)
{
	static const struct engine_node absent;
	const struct engine_node *n = c->attachments ? engine_node(&bus->engine, c->node) : &absent;
	const enum bus_state state = n != &absent ? n->state : c->down ? BUS_STOPPED : BUS_ERROR_ACTIVE;

	rpc_say(to,
		"ok state %s bitrate %" PRIu32 " tx_errors %u rx_errors %u restart_ms %" PRIu32 " queue %" PRIu32
		" bus_offs %" PRIu64 " restarts %" PRIu64 " data_bitrate %" PRIu32,
		bus_state_name(state), bus->settings.bitrate, n->tx_errors, n->rx_errors, c->restart_ms, c->queue,
		n->stats.bus_offs, n->stats.restarts, bus->settings.data_bitrate);
}

/* Up and down also take effect on a controller without an attached program. */
static int link_command(struct hub_bus *bus, struct hub_controller *c, const char *verb, int64_t now_ns)
{
	static const struct {
		const char *verb;
		int (*command)(struct engine *e, int node, int64_t now_ns);
		bool down; /* from then on */
	} commands[] = { { "up", engine_up, false }, { "down", engine_down, true }, { "reset", engine_reset, false } };

	if (!strcmp(verb, "restart"))
		return c->attachments ? engine_restart(&bus->engine, c->node, now_ns) : -EBUSY;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(verb, commands[i].verb)) {
			c->down = commands[i].down;
			return c->attachments ? commands[i].command(&bus->engine, c->node, now_ns) : 0;
		}
	return -EOPNOTSUPP;
}

static int link_set(struct hub *hub, struct hub_bus *bus, struct hub_controller *c, const char *key, const char *value)
{
	int64_t number;

	if (text_int(value, &number) || number < 0)
		return -EINVAL;
	if (!strcmp(key, "restart_ms") && number <= UINT32_MAX)
		c->restart_ms = (uint32_t)number;
	else if (!strcmp(key, "queue") && number >= 1 && number <= ENGINE_QUEUE_MAX)
		c->queue = (uint32_t)number;
	else
		return -EINVAL;
	if (c->attachments) {
		engine_set_restart(&bus->engine, c->node, c->restart_ms);
		engine_set_queue(&bus->engine, c->node, c->queue);
		c->room = c->queue + 1;
		hub_publish(hub, bus, c);
	}
	return 0;
}

static void answer_link(struct rpc_text *to, struct hub *hub, struct hub_bus *bus, char *rest, int64_t now_ns)
{
	char *save = NULL;
	const char *verb = strtok_r(rest, " \n", &save), *name = strtok_r(NULL, " \n", &save);
	const char *key = strtok_r(NULL, " \n", &save), *value = strtok_r(NULL, " \n", &save);
	struct hub_controller *c = NULL;
	int r;

	if (!verb || !name) {
		rpc_say(to, "error link takes a verb and a controller: link reset %s", ATTACH_HOST);
		return;
	}
	/* The host's can be set before the first program comes. */
	if (!strcmp(name, ATTACH_HOST) || engine_find(&bus->engine, name) >= 0)
		c = hub_controller(bus, name);
	if (!c) {
		rpc_say(to, "error %s: no such controller on %s: canwire stats %s lists them", name, bus->name,
			bus->name);
		return;
	}
	if (!strcmp(verb, "look")) {
		link_info(to, bus, c);
		return;
	}
	r = !strcmp(verb, "set") && key && value ? link_set(hub, bus, c, key, value)
						 : link_command(bus, c, verb, now_ns);
	if (!r)
		rpc_say(to, "ok");
	else if (!strcmp(verb, "set") && r == -EINVAL)
		rpc_say(to, "error link set %s: restart_ms 0 to %u, or queue 1 to %d", name, UINT32_MAX,
			ENGINE_QUEUE_MAX);
	else if (r == -EBUSY)
		rpc_say(to, "error %s: not bus-off, there is nothing to restart", name);
	else if (r == -EOPNOTSUPP)
		rpc_say(to, "error link %s: up, down, reset, restart, look, or set NAME restart_ms|queue N", verb);
	else
		rpc_say(to, "error link %s %s: %s", verb, name, strerror(-r));
}

/* ---- faults ---- */

static void answer_fault(struct rpc_text *to, struct hub_bus *bus, const char *rest, int64_t now_ns)
{
	struct engine_fault fault;
	char why[FAULT_WHY_MAX];

	if (fault_read(&fault, rest, why))
		rpc_say(to, "error %s", why);
	else if (engine_fault(&bus->engine, &fault, now_ns))
		rpc_say(to, "error %s: no such controller on %s: canwire stats %s lists them", fault.node, bus->name,
			bus->name);
	else
		rpc_say(to, "ok");
}

void hub_answer(struct hub *hub, struct hub_bus *bus, char *question, char *answer, int64_t now_ns)
{
	struct rpc_text to = { answer, 0, ATTACH_ANSWER_MAX };

	question[strcspn(question, "\n")] = 0;
	engine_advance(&bus->engine, now_ns); /* it is asked of this moment */
	if (!strcmp(question, "stats")) {
		rpc_say(&to, "ok ");
		add_stats(&to, hub, bus, now_ns);
	} else if (!strncmp(question, "fault ", 6)) {
		answer_fault(&to, bus, question + 6, now_ns);
	} else if (!strncmp(question, "link ", 5)) {
		answer_link(&to, hub, bus, question + 5, now_ns);
	} else {
		rpc_say(&to, "error %.40s: stats, fault ... or link ...", question);
	}
}
