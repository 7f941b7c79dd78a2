/* hub.c: the turn of the hub: collect frames, advance the engine, deliver, compute the next wake-up. */
#include "can/wire/hub.h"

#include <unistd.h>

#include "channels/clock/clock.h"

#define TURNS_AT_ONCE 8

static void publish_wake(struct hub *hub, int64_t wake_ns, int64_t use_ns)
{
	atomic_store_explicit(&hub->page->use_ns, use_ns, memory_order_relaxed);
	atomic_store_explicit(&hub->page->wake_ns, wake_ns, memory_order_seq_cst); /* before hub_has_more */
}

static void detach_broken(struct hub *hub)
{
	for (unsigned int i = 0; i < hub->attachments_n; i++)
		if (hub->attachments[i].broken) {
			hub->broken++;
			hub_detach(hub, &hub->attachments[i]);
		}
}

static int64_t advance_all(struct hub *hub)
{
	const int64_t now_ns = clock_now_ns();
	int64_t next_ns = CLOCK_NEVER;

	hub_collect_all(hub, now_ns);
	for (unsigned int i = 0; i < hub->buses_n; i++) {
		struct hub_bus *bus = &hub->buses[i];
		int64_t bus_ns;

		engine_advance(&bus->engine, now_ns);
		bus_ns = engine_next_ns(&bus->engine);
		next_ns = bus_ns < next_ns ? bus_ns : next_ns;
		atomic_store_explicit(&hub->page->buses[i].idle_ns, engine_free_ns(&bus->engine, now_ns),
				      memory_order_relaxed);
	}
	hub_ring_sleepers(hub, now_ns);
	hub_find_asleep(hub, now_ns);
	detach_broken(hub);
	return next_ns;
}

int64_t hub_turn(struct hub *hub, bool rung)
{
	const int64_t now_ns = clock_now_ns();
	int64_t wake_ns, use_ns;
	uint64_t times;

	if (now_ns >= hub->check_ns) {
		hub->check_ns = now_ns + HUB_CHECK_NS;
		hub_check_places(hub);
	}
	if (rung)
		(void)!read(hub->bell, &times, sizeof(times));
	for (int again = 0;; again++) {
		atomic_store_explicit(&hub->page->turn_ns, clock_now_ns(), memory_order_relaxed);
		publish_wake(hub, 0, 0);
		wake_ns = advance_all(hub);
		use_ns = hub->delivered_ns + hub->gap_ns;
		if (wake_ns < use_ns)
			wake_ns = use_ns;
		publish_wake(hub, wake_ns, use_ns);
		if (!hub_has_more(hub))
			return wake_ns < hub->check_ns ? wake_ns : hub->check_ns;
		/* A program that hands over without end must not keep the others waiting. */
		if (again == TURNS_AT_ONCE)
			return 0;
	}
}
