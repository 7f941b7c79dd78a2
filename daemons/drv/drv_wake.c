/* drv_wake.c: what wakes the loop: a reason of enum drv_wake, or the first deadline. */
#include "daemons/drv/drv_inside.h"

#define REASONS_MAX (DRV_WAKE_BUS + MSG_BUSES)

_Static_assert(REASONS_MAX <= 32, "woken has a bit for each reason");

static int add_fd(struct drv *drv, int fd, uint32_t reason)
{
	return fd < 0 ? 0 : clock_set_add_fd(drv->set, fd, POLLIN, reason);
}

int drv_wake_open(struct drv *drv, struct error_sink *errors)
{
	int status = clock_set_open(&drv->set);

	if (!status)
		status = add_fd(drv, drv->signals, DRV_WAKE_STOP);
	if (!status)
		status = add_fd(drv, drv->removal.fd, DRV_WAKE_REMOVAL);
	for (unsigned int i = 0; i < drv->buses_n && !status; i++)
		status = bus_join(drv->buses[i].bus, drv->set, DRV_WAKE_BUS + i);
	if (status)
		error_add(errors, "unable to wait: %s", strerror(-status));
	drv->woken = ~0U << DRV_WAKE_BUS; /* in the first turn all buses are read */
	return status ? EXIT_RETRY : 0;
}

/* ---- references ---- */

static void remove_ref(struct drv *drv)
{
	if (drv->ref_wake.open)
		clock_set_remove_channel(drv->set, &drv->ref_wake.chan);
	port_close(&drv->ref_wake);
}

/* If that is not possible ticks run free, and say so. */
void drv_wake_by_ref(struct drv *drv)
{
	remove_ref(drv);
	if (drv->setup.rule.kind == DRV_TICK_REF &&
	    !port_open_of(&drv->ref_wake, drv->setup.name, "ref", drv->driver->ref, drv->ref_port.mode,
			  &(struct error_sink){ 0 }) &&
	    clock_set_add_channel(drv->set, &drv->ref_wake.chan, DRV_WAKE_REF))
		port_close(&drv->ref_wake);
}

void drv_wake_take_ref(struct drv *drv, int64_t now_ns)
{
	if (drv_woken_by(drv, DRV_WAKE_REF) && drv_read_ref(drv, now_ns))
		drv_tick_event(&drv->tick, now_ns);
}

/* It takes longer than the rest of a turn.  A reference that came after the answer and before this would wake no more:
 * it is looked for once again. */
void drv_wake_clear_ref(struct drv *drv)
{
	if (!drv_woken_by(drv, DRV_WAKE_REF))
		return;
	if (ach_flush(&drv->ref_wake.chan) != ACH_OK) /* of a channel that was overwritten: it would wake for ever */
		remove_ref(drv);
	if (port_has_news(&drv->ref_port))
		drv_wake_take_ref(drv, clock_now_ns());
}

/* ---- waiting ---- */

/* Which frames wake the loop, and until when. */
static int64_t settle_bus(const struct drv *drv, struct drv_bus *bus)
{
	const struct slots *slots = &bus->slots;
	int64_t rest_ns;

	/* An echo makes room for what waits, or says that the bus is well again, or that all has left. */
	if (slots_waiting(slots) || slots_state(slots) != SLOTS_RUNNING || (bus->sends_n && !slots_proven(slots)) ||
	    drv->stopping) {
		bus_wake_by(bus->bus, BUS_WAKE_ALL);
		return slots_bus_next_ns(&bus->pump);
	}
	rest_ns = drv->setup.rule.kind == DRV_TICK_FRAME ? 0 : drv_bus_rest_ns(bus, drv->now_ns);
	if (!bus_wake_by(bus->bus, rest_ns ? BUS_WAKE_NONE : BUS_WAKE_OTHERS) || !rest_ns)
		return slots_bus_next_ns(&bus->pump);
	return num_min(rest_ns, slots_bus_next_ns(&bus->pump));
}

static int64_t deadline_ns(struct drv *drv)
{
	int64_t next = num_min(drv_tick_next_ns(&drv->tick), drv->wake_ns);

	next = num_min(next, drv->estop_ns + ESTOP_READ_NS);
	next = num_min(next, drv_ask_next_ns(&drv->asks));
	for (struct drv_bus *bus = drv->buses; bus < drv->buses + drv->buses_n; bus++)
		next = num_min(next, settle_bus(drv, bus));
	return next;
}

int drv_wake_wait(struct drv *drv)
{
	uint32_t reasons[REASONS_MAX];
	int n;

	drv->due_ns = deadline_ns(drv);
	n = clock_set_wait(drv->set, reasons, REASONS_MAX, drv->due_ns);
	drv->woken = 0;
	for (int i = 0; i < n; i++)
		drv->woken |= 1U << reasons[i];
	for (unsigned int i = 0; i < drv->buses_n; i++)
		if (bus_fd(drv->buses[i].bus) < 0)
			drv->woken |= 1U << (DRV_WAKE_BUS + i);
	return n;
}
