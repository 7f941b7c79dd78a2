/* hub_frames.c: the frames between programs and engine, the controllers, and what the page says of them. */
#include "can/wire/hub.h"

#include <unistd.h>

#include "can/bus/attach.h"
#include "channels/clock/clock.h"

#define ASLEEP_NS 2000000

/* ---- controllers ---- */

static bool is_unused(const struct hub_controller *c)
{
	return !c->attachments && strcmp(c->name, ATTACH_HOST) != 0; /* the settings of the host stay */
}

struct hub_controller *hub_controller(struct hub_bus *bus, const char *name)
{
	struct hub_controller *unused = NULL;

	for (int i = WIRE_CONTROLLERS_MAX - 1; i >= 0; i--) {
		struct hub_controller *c = &bus->controllers[i];

		if (!strcmp(c->name, name))
			return c;
		if (!*c->name || (is_unused(c) && !unused))
			unused = c;
	}
	if (unused) {
		const uint32_t generation = unused->generation + 1; /* differs from that of the previous controller */

		*unused = (struct hub_controller){ .generation = generation,
						   .node = -1,
						   .queue = bus->settings.queue,
						   .restart_ms = bus->settings.restart_ms };
		strcpy(unused->name, name);
	}
	return unused;
}

static struct wire_controller *page_of(struct hub *hub, const struct hub_bus *bus, const struct hub_controller *c)
{
	return &hub->page->buses[bus - hub->buses].controllers[c - bus->controllers];
}

void hub_publish(struct hub *hub, struct hub_bus *bus, struct hub_controller *c)
{
	struct wire_controller *page = page_of(hub, bus, c);

	atomic_store_explicit(&page->state, c->state, memory_order_relaxed);
	atomic_store_explicit(&page->room, c->room, memory_order_relaxed);
	atomic_store_explicit(&page->queued, c->queued, memory_order_relaxed);
	/* release: a reader of the new generation sees the state as well */
	atomic_store_explicit(&page->generation, c->generation, memory_order_release);
}

static void ring_all(struct hub *hub, const struct hub_bus *bus, const struct hub_controller *c)
{
	for (unsigned int i = 0; i < hub->attachments_n; i++) {
		struct hub_attachment *a = &hub->attachments[i];

		if (a->memory && &hub->buses[a->bus] == bus && &bus->controllers[a->controller] == c)
			a->ring = true;
	}
}

/* ---- from programs to the engine ---- */

static const struct wire_tx *waiting(const struct hub_attachment *a)
{
	return &a->memory->tx[a->tx_tail % WIRE_TX_SLOTS];
}

/* Did the program hand over more? */
static bool has_more(const struct hub_attachment *a)
{
	return a->memory && atomic_load_explicit(&a->memory->tx_head, memory_order_seq_cst) != a->tx_head;
}

static void read_head(struct hub_attachment *a)
{
	a->tx_head = atomic_load_explicit(&a->memory->tx_head, memory_order_acquire);
	if (a->tx_head - a->tx_tail > WIRE_TX_SLOTS) {
		a->broken = true; /* not possible: the program wrote to the wrong place */
		a->tx_head = a->tx_tail;
	}
}

/* Moves one frame to the engine; false: it stays, the queue is full. */
static bool move_one(struct hub *hub, struct hub_attachment *a, int64_t now_ns)
{
	struct hub_bus *bus = &hub->buses[a->bus];
	struct hub_controller *c = &bus->controllers[a->controller];
	const struct wire_tx slot = *waiting(a); /* once: the program may change it */
	const struct engine_tag tag = { a->serial, a->tx_tail };

	if (!frame_valid(&slot.frame) || slot.frame.id & FRAME_ERR ||
	    (slot.frame.flags & FRAME_FD && !(a->flags & WIRE_FD && bus->settings.data_bitrate))) {
		a->broken = true;
		a->tx_head = a->tx_tail;
		return false;
	}
	if (slot.generation == c->generation) {
		int r = engine_request(&bus->engine, c->node, &slot.frame, slot.t_ns, tag, now_ns);

		if (r == -ENOBUFS)
			return false;
		c->queued += r == 0;
	}
	/* release: the slot is copied */
	atomic_store_explicit(&a->memory->tx_tail, ++a->tx_tail, memory_order_release);
	atomic_store_explicit(&page_of(hub, bus, c)->queued, c->queued, memory_order_relaxed);
	return true;
}

void hub_collect(struct hub *hub, struct hub_attachment *a, int64_t now_ns)
{
	for (read_head(a); a->tx_tail != a->tx_head && move_one(hub, a, now_ns);)
		;
}

/* Rarely more than one or two have frames. */
void hub_collect_all(struct hub *hub, int64_t now_ns)
{
	struct hub_attachment *ready[HUB_ATTACHMENTS_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < hub->attachments_n; i++) {
		struct hub_attachment *a = &hub->attachments[i];

		if (!a->memory)
			continue;
		read_head(a);
		if (a->tx_tail != a->tx_head)
			ready[n++] = a;
	}
	while (n) {
		unsigned int first = 0;

		for (unsigned int i = 1; i < n; i++)
			if (waiting(ready[i])->t_ns < waiting(ready[first])->t_ns)
				first = i;
		if (!move_one(hub, ready[first], now_ns) || ready[first]->tx_tail == ready[first]->tx_head)
			ready[first] = ready[--n];
	}
}

bool hub_has_more(const struct hub *hub)
{
	for (unsigned int i = 0; i < hub->attachments_n; i++)
		if (has_more(&hub->attachments[i]))
			return true;
	return false;
}

uint64_t hub_rung(const void *of)
{
	const struct hub *hub = of;
	const int64_t now_ns = clock_now_ns();

	for (const struct hub_attachment *a = hub->attachments; a < hub->attachments + hub->attachments_n; a++)
		if (has_more(a) && wire_must_ring(hub->page, &hub->page->buses[a->bus], now_ns))
			return true;
	return false;
}

/* ---- from the engine to programs ---- */

static void deliver(struct hub_attachment *a, const struct frame *frame, int64_t t_ns, uint32_t flags)
{
	const uint32_t used = a->rx_head - atomic_load_explicit(&a->memory->rx_tail, memory_order_acquire);
	struct wire_rx *slot = &a->memory->rx[a->rx_head % WIRE_RX_SLOTS];

	if (used >= WIRE_RX_SLOTS) {
		a->broken |= used > WIRE_RX_SLOTS;
		atomic_store_explicit(&a->memory->dropped, ++a->dropped, memory_order_relaxed);
		return;
	}
	slot->t_ns = t_ns;
	slot->flags = flags;
	slot->frame = *frame;
	/* seq_cst: the slot is complete, and the head is published before we check whether the program sleeps */
	atomic_store_explicit(&a->memory->rx_head, ++a->rx_head, memory_order_seq_cst);
	if (flags == BUS_OWN)
		a->echoed = true;
	else
		a->ring = true;
}

static void deliver_all(struct hub *hub, struct hub_bus *bus, const struct engine_event *event)
{
	const uint32_t node = event->kind == ENGINE_FRAME ? event->receivers : UINT32_C(1) << event->node;

	for (unsigned int i = 0; i < hub->attachments_n; i++) {
		struct hub_attachment *a = &hub->attachments[i];
		const struct hub_controller *c = &bus->controllers[a->controller];
		uint32_t flags = 0;

		if (!a->memory || &hub->buses[a->bus] != bus || !(node >> c->node & 1))
			continue;
		if (event->kind == ENGINE_ERROR && !(a->flags & WIRE_ERRORS))
			continue;
		if (event->frame->flags & FRAME_FD && !(a->flags & WIRE_FD))
			continue;
		if (event->kind == ENGINE_ECHO)
			flags = event->tag.connection == a->serial ? BUS_OWN : BUS_LOCAL;
		if (flags == BUS_OWN ? a->flags & WIRE_NO_ECHO
				     : event->kind != ENGINE_ERROR && a->filters &&
					       !bus_filters_take(a->filters, a->filters_n, event->frame->id))
			continue;
		deliver(a, event->frame, event->t_ns, flags);
	}
}

static struct hub_controller *controller_of(struct hub_bus *bus, int node)
{
	for (int i = 0; i < WIRE_CONTROLLERS_MAX; i++)
		if (bus->controllers[i].attachments && bus->controllers[i].node == node)
			return &bus->controllers[i];
	return NULL; /* its last program is gone, but its last frame was still on the wire */
}

static void state_changed(struct hub *hub, struct hub_bus *bus, const struct engine_event *event)
{
	struct hub_controller *c = controller_of(bus, event->node);

	if (!c || c->state == event->state)
		return;
	c->state = event->state;
	if (event->state == BUS_STOPPED || event->state == BUS_OFF)
		c->generation++; /* frames queued and on their way are gone */
	hub_publish(hub, bus, c);
	ring_all(hub, bus, c);
}

static void outage(struct hub *hub, struct hub_bus *bus)
{
	for (int i = 0; i < WIRE_CONTROLLERS_MAX; i++)
		if (bus->controllers[i].attachments) {
			bus->controllers[i].generation++;
			hub_publish(hub, bus, &bus->controllers[i]);
			ring_all(hub, bus, &bus->controllers[i]);
		}
}

void hub_event(void *to, const struct engine_event *event)
{
	struct hub_bus *bus = to;
	struct hub *hub = bus->hub;
	struct hub_controller *c;

	switch (event->kind) {
	case ENGINE_ECHO:
	case ENGINE_PURGED:
		c = controller_of(bus, event->node);
		if (c && c->queued) {
			c->queued--;
			atomic_store_explicit(&page_of(hub, bus, c)->queued, c->queued, memory_order_relaxed);
		}
		if (event->kind == ENGINE_ECHO)
			deliver_all(hub, bus, event);
		break;
	case ENGINE_FRAME:
	case ENGINE_ERROR:
		if (bus->seen)
			vt_page_hash(bus->seen, event->t_ns, event->frame,
				     event->frame->flags & FRAME_FD ? sizeof(*event->frame) : FRAME_SIZE_CLASSIC);
		deliver_all(hub, bus, event);
		break;
	case ENGINE_STATE:
		state_changed(hub, bus, event);
		break;
	case ENGINE_OUTAGE:
		outage(hub, bus);
		break;
	}
}

void hub_ring_sleepers(struct hub *hub, int64_t now_ns)
{
	static const uint64_t one = 1;

	for (unsigned int i = 0; i < hub->attachments_n; i++) {
		struct hub_attachment *a = &hub->attachments[i];
		uint32_t armed;
		bool sleeps_on;

		if (!a->memory || !(a->ring || a->echoed))
			continue;
		/* after the heads: as in wire.h */
		armed = atomic_load_explicit(&a->memory->armed, memory_order_seq_cst);
		sleeps_on = !a->ring && armed == WIRE_ARMED_FOR_OTHERS;
		a->ring = a->echoed = false;
		if (sleeps_on)
			continue;
		hub->delivered_ns = now_ns;
		if (armed) {
			atomic_store_explicit(&a->memory->armed, WIRE_AWAKE, memory_order_relaxed);
			a->rung_ns = now_ns;
			a->rung_tail = atomic_load_explicit(&a->memory->rx_tail, memory_order_relaxed);
			if (!clock_ring(a->pid))
				(void)!write(a->event, &one, sizeof(one));
		}
	}
}

/* A driver that sleeps says nothing about devices: only programs with a controller of their own count. */
static bool is_asleep(struct hub_attachment *a, const struct hub_controller *c, int64_t now_ns)
{
	if (!a->memory || !a->rung_ns || !strcmp(c->name, ATTACH_HOST))
		return false;
	if (atomic_load_explicit(&a->memory->rx_tail, memory_order_relaxed) != a->rung_tail ||
	    atomic_load_explicit(&a->memory->armed, memory_order_relaxed) != WIRE_AWAKE)
		a->rung_ns = 0;
	return a->rung_ns && now_ns - a->rung_ns > ASLEEP_NS;
}

void hub_find_asleep(struct hub *hub, int64_t now_ns)
{
	int64_t since_ns[WIRE_BUSES_MAX] = { 0 };

	for (unsigned int i = 0; i < hub->attachments_n; i++) {
		struct hub_attachment *a = &hub->attachments[i];

		if (is_asleep(a, &hub->buses[a->bus].controllers[a->controller], now_ns) &&
		    (!since_ns[a->bus] || a->rung_ns < since_ns[a->bus]))
			since_ns[a->bus] = a->rung_ns;
	}
	for (unsigned int i = 0; i < hub->buses_n; i++)
		atomic_store_explicit(&hub->page->buses[i].asleep_ns, since_ns[i], memory_order_relaxed);
}
