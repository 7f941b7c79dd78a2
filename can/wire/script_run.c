/* script_run.c: runs scripts in the time of the script. */
#include "can/bus/frame_text.h"
#include "can/wire/script.h"

#define BEFORE_NS (-NS_PER_S) /* nodes are attached early enough to take part from 0 on */
#define AFTER_NS NS_PER_S     /* the run ends this long after the last line */
#define TEXT_MAX (FRAME_TEXT_MAX + 128)

struct played {
	struct engine engine;
	const char *name;
	struct player *player;
};

struct player {
	const struct script *script;
	struct played *buses;
	void (*line)(void *to, const char *text);
	void *to;
};

/* ---- the log ---- */

static void __attribute__((format(printf, 4, 5)))
note(struct played *bus, int64_t t_ns, const char *node, const char *fmt, ...)
{
	char what[TEXT_MAX], text[2 * TEXT_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	snprintf(text, sizeof(text), "# %" PRId64 ".%06" PRId64 " %s %s %s", t_ns / NS_PER_S,
		 t_ns % NS_PER_S / NS_PER_US, bus->name, node, what);
	bus->player->line(bus->player->to, text);
}

static void happened(void *to, const struct engine_event *event)
{
	struct played *bus = to;
	const char *node = event->node >= 0 ? bus->engine.node[event->node].name : "-";
	char frame[FRAME_TEXT_MAX] = "", text[TEXT_MAX];

	if (event->t_ns < 0)
		return; /* nodes come up */
	if (event->frame)
		frame_text_write(frame, event->frame);
	switch (event->kind) {
	case ENGINE_FRAME:
		snprintf(text, sizeof(text), "(%" PRId64 ".%06" PRId64 ") %s %s", event->t_ns / NS_PER_S,
			 event->t_ns % NS_PER_S / NS_PER_US, bus->name, frame);
		bus->player->line(bus->player->to, text);
		break;
	case ENGINE_ECHO:
		break;
	case ENGINE_PURGED:
		note(bus, event->t_ns, node, "purged %s %s", frame, engine_why_name(event->why));
		break;
	case ENGINE_ERROR:
		note(bus, event->t_ns, node, "error %s", frame);
		break;
	case ENGINE_STATE:
		note(bus, event->t_ns, node, "%s tx %u rx %u", bus_state_name(event->state), event->tx_errors,
		     event->rx_errors);
		break;
	case ENGINE_OUTAGE:
		break;
	}
}

/* ---- time ---- */

/* Everything until then, on all buses in order of time. */
static void play_until(struct player *p, int64_t t_ns)
{
	for (;;) {
		struct played *first = NULL;
		int64_t first_ns = t_ns;

		for (unsigned int i = 0; i < p->script->buses; i++) {
			int64_t ns = engine_next_ns(&p->buses[i].engine);

			if (ns < first_ns || (!first && ns == first_ns)) {
				first = &p->buses[i];
				first_ns = ns;
			}
		}
		if (!first)
			break;
		engine_advance(&first->engine, first_ns);
	}
	for (unsigned int i = 0; i < p->script->buses; i++)
		engine_advance(&p->buses[i].engine, t_ns);
}

/* ---- lines ---- */

static int do_line(struct engine *e, const struct script_line *line)
{
	int node = engine_find(e, line->node);
	const struct engine_tag tag = { 0, line->line };

	switch (line->what) {
	case SCRIPT_FRAME:
		return engine_request(e, node, &line->frame, line->t_ns, tag, line->t_ns);
	case SCRIPT_FAULT:
		return engine_fault(e, &line->fault, line->t_ns);
	case SCRIPT_ATTACH:
		node = engine_attach(e, line->node, line->t_ns);
		return node < 0 ? node : 0;
	case SCRIPT_COMMAND:
		return line->command(e, node, line->t_ns);
	case SCRIPT_RESTART_MS:
		return engine_set_restart(e, node, line->number);
	case SCRIPT_QUEUE:
		return engine_set_queue(e, node, line->number);
	case SCRIPT_END:
		break;
	}
	return 0;
}

static const char *why(int status)
{
	return status == -ENOENT ? "no such node at this time" : strerror(-status);
}

static void play_line(struct player *p, const struct script_line *line)
{
	struct played *bus = &p->buses[line->bus];
	const char *node = line->what == SCRIPT_FAULT && line->fault.node[0] ? line->fault.node : line->node;
	char frame[FRAME_TEXT_MAX];
	int status;

	play_until(p, line->t_ns);
	status = do_line(&bus->engine, line);
	if (!status)
		return;
	if (line->what == SCRIPT_FRAME) {
		frame_text_write(frame, &line->frame);
		note(bus, line->t_ns, node, "refused %s %s", frame, why(status));
	} else {
		note(bus, line->t_ns, node[0] ? node : "-", "line %u: %s", line->line, why(status));
	}
}

int script_run(const struct script *script, const struct engine_settings *settings,
	       void (*line)(void *to, const char *text), void *to)
{
	struct player player = { .script = script, .line = line, .to = to };
	int64_t end_ns = script->n ? script->lines[script->n - 1].t_ns : 0;
	int status = 0;

	player.buses = calloc(script->buses, sizeof(*player.buses));
	if (!player.buses)
		return -ENOMEM;
	for (unsigned int i = 0; i < script->buses && !status; i++) {
		struct played *bus = &player.buses[i];
		struct engine_settings own = *settings;

		own.event = happened;
		own.to = bus;
		own.outage_ns = 0;
		bus->name = script->bus[i];
		bus->player = &player;
		status = engine_init(&bus->engine, &own, BEFORE_NS);
		/* Nodes without an attach line are attached before the start. */
		for (unsigned int k = 0; k < script->nodes_n[i] && !status; k++)
			if (!script->nodes[i][k].later)
				engine_attach(&bus->engine, script->nodes[i][k].name, BEFORE_NS);
	}
	for (size_t i = 0; i < script->n && !status; i++)
		play_line(&player, &script->lines[i]);
	if (!status)
		play_until(&player,
			   end_ns + (script->n && script->lines[script->n - 1].what == SCRIPT_END ? 0 : AFTER_NS));
	free(player.buses);
	return status;
}
