/* drv_pause.c: pauses of this process and of its wires, which are nobody's fault.
 *
 * This process was paused if a turn began later than it was due, or took longer than a turn does: it is stopped
 * anywhere.  A soft wire was if canwire, or a program that plays a
 * device, did not run when it should have (bus_paused_ns).  A device is not silent, a question not unanswered and a bus
 * not stalled because of time in a pause.  Everything that keeps a robot from moving by old samples and old references
 * goes by the clock all the same: see "Freezes" and "Old samples" in endplate(7).
 *
 * A pause of this process counts as long as it was.  That of a wire counts for WIRE_MOST_NS: a canwire or a simulator
 * that hangs is a fault.
 *
 * Checked: covered.
 */
#include "daemons/drv/drv_inside.h"
#include "daemons/drv/paused_text.h"

#define LATE_NS 1000000	       /* a turn that is later than that, or as long, was paused */
#define WIRE_MOST_NS 150000000 /* of one pause of a wire */
#define LONG_NS 20000000       /* a pause of this length is reported, */
#define REPORT_NS 10000000000  /* and for this time no shorter one, */
#define LONGER_NS 5000000      /* by more than that */

/* A pause that was was_ns long at the last turn is ns long now. */
static void count(struct drv *drv, const struct drv_bus *bus, int64_t was_ns, int64_t ns, int64_t now_ns)
{
	if (ns < LONG_NS)
		return;
	drv->paused.n += was_ns < LONG_NS;
	if (ns > drv->paused.longest_ns) {
		drv->paused.longest_ns = ns;
		drv->paused.until_ns = now_ns;
		drv->paused.bus = bus;
	}
}

static void add(struct drv *drv, struct drv_bus *bus, int64_t from_ns, int64_t to_ns)
{
	pauses_add(&bus->pauses, from_ns, to_ns);
	slots_paused(&bus->slots, from_ns, to_ns);
	drv_ask_paused(&drv->asks, from_ns, to_ns);
}

static bool add_own(struct drv *drv, int64_t from_ns, int64_t now_ns)
{
	if (now_ns - from_ns <= LATE_NS)
		return false;
	pauses_add(&drv->pauses, from_ns, now_ns);
	for (struct drv_bus *bus = drv->buses; bus < drv->buses + drv->buses_n; bus++)
		add(drv, bus, from_ns, now_ns);
	count(drv, NULL, 0, now_ns - from_ns, now_ns);
	return true;
}

void drv_pause_within(struct drv *drv, int64_t now_ns)
{
	if (add_own(drv, drv->turn_ns, now_ns))
		drv->turn_ns = now_ns;
}

static void notice_own(struct drv *drv, int64_t now_ns)
{
	const int64_t begun_ns = drv->turn_ns;

	drv->turn_ns = now_ns;
	if (begun_ns)
		add_own(drv, drv->due_ns > begun_ns ? drv->due_ns : begun_ns, now_ns);
}

/* true: it is under way, and may become longer. */
static bool notice_wire(struct drv *drv, struct drv_bus *bus, int64_t now_ns)
{
	const int64_t since_ns = bus_paused_ns(bus->bus, now_ns);
	int64_t was_ns, to_ns;

	if (!since_ns)
		return false;
	if (since_ns > bus->pause_seen_ns) /* another one */
		bus->pause_begun_ns = bus->pause_seen_ns = since_ns;
	was_ns = bus->pause_seen_ns - bus->pause_begun_ns;
	bus->pause_seen_ns = now_ns;
	to_ns = num_min(now_ns, bus->pause_begun_ns + WIRE_MOST_NS);
	add(drv, bus, bus->pause_begun_ns, to_ns);
	count(drv, bus, was_ns, to_ns - bus->pause_begun_ns, to_ns);
	if (drv->up && now_ns - bus->pause_begun_ns >= DRV_FROZEN_NS)
		drv_joints_freeze_bus(drv, bus, now_ns);
	return to_ns == now_ns;
}

void drv_pause_notice(struct drv *drv, int64_t now_ns)
{
	drv->paused.under_way = false;
	notice_own(drv, now_ns);
	for (struct drv_bus *bus = drv->buses; bus < drv->buses + drv->buses_n; bus++)
		drv->paused.under_way |= notice_wire(drv, bus, now_ns);
}

int64_t drv_paused_ns(const struct drv *drv, unsigned int bus, int64_t t_ns)
{
	return pauses_within_ns(bus < drv->buses_n ? &drv->buses[bus].pauses : &drv->pauses, t_ns, drv->now_ns);
}

/* An event with the time at which the longest pause ended: achstart merges those of all drivers. */
static void say(struct drv *drv, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void say(struct drv *drv, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report_event(&drv->report, drv->paused.until_ns, MSG_SEVERITY_WARNING, PAUSED_CODE, fmt, args);
	va_end(args);
}

/* One line instead of a fault of each device. */
void drv_pause_report(struct drv *drv, int64_t now_ns)
{
	const struct drv_bus *bus = drv->paused.bus;
	const int64_t ns = drv->paused.longest_ns;
	char times[32] = "";

	if (!drv->paused.n || drv->paused.under_way)
		return;
	if (now_ns < drv->paused.next_ns && ns <= drv->paused.reported_ns + LONGER_NS)
		return;
	if (drv->paused.n > 1)
		snprintf(times, sizeof(times), ", %u times", drv->paused.n);
	say(drv, PAUSED_TEXT "%s (%s%.24s%s)" PAUSED_REMEDY, (long long)(ns / 1000000),
	    bus && ns == WIRE_MOST_NS ? " and more" : "", bus ? "wire " : "this process", bus ? bus->setup->name : "",
	    times);
	drv->paused.n = 0;
	drv->paused.longest_ns = 0;
	drv->paused.reported_ns = ns;
	drv->paused.next_ns = now_ns + REPORT_NS;
}
