/* links.c: brings the robot's links up and resets them. */
#include "launch/achstart/links.h"
#include "launch/check/check.h"

#define PAUSE_MIN_NS 50000000
#define PAUSE_MAX_NS 2000000000
#define FRESH_NS 500000000
#define UP_NS 1000000000

void links_init(struct links *l, const struct launch *launch)
{
	memset(l, 0, sizeof(*l));
	for (size_t i = 0; i < launch->robot.buses_n; i++)
		if (launch_uses(launch, &launch->robot.buses[i]))
			l->one[l->n++] = (struct links_one){ .bus = &launch->robot.buses[i], .pause_ns = PAUSE_MIN_NS };
}

static bool is_socketcan(const struct robot_bus *bus)
{
	return !strchr(bus->interface, ':');
}

static void bring_up(struct links_one *one, struct events *events, int64_t now_ns)
{
	const struct link_settings want = check_link_settings(one->bus);
	const char *interface = one->bus->interface;
	struct link_info info;
	const bool was_up = !link_query(interface, &info, &(struct error_sink){ 0 }) && info.up;
	struct lines why;
	const int status = link_up(interface, &want, lines_begin(&why));

	one->next_ns = now_ns + UP_NS;
	if (status && status != one->up_error)
		events_say(events, now_ns, MSG_SEVERITY_WARNING, one->bus->name, "link", "%s", why.text);
	else if (!status && (!was_up || one->up_error))
		events_say(events, now_ns, MSG_SEVERITY_INFO, one->bus->name, "link", "%s is up", interface);
	one->up_error = status;
}

void links_up(struct links *l, const struct launch *launch, struct events *events, int64_t now_ns)
{
	for (size_t i = 0; i < l->n && launch->links; i++) {
		const struct robot_bus *bus = l->one[i].bus;

		if (!is_socketcan(bus))
			continue;
		bring_up(&l->one[i], events, now_ns);
		if (!link_may_reset(bus->interface) && !link_is_virtual(bus->interface))
			events_say(events, now_ns, MSG_SEVERITY_WARNING, bus->name, "no-reset",
				   "without CAP_NET_ADMIN %s cannot be reset after a stall", bus->interface);
	}
}

/* ---- stalls and bus-off ---- */

static bool rests(enum msg_life life)
{
	return life == MSG_LIFE_HOLDING || life == MSG_LIFE_DISARMED || life == MSG_LIFE_FAULT ||
	       life == MSG_LIFE_STARTING;
}

enum links_action links_decide(const struct links_report *reports, size_t n, const char **why)
{
	int64_t since_ns = 0, heard_ns = 0;
	bool off = false, down = false, all_rest = true;
	size_t silent = 0;

	for (size_t i = 0; i < n; i++) {
		const struct msg_bus *bus = reports[i].bus;

		silent += reports[i].silent;
		if (reports[i].silent)
			continue;
		off |= bus->state == MSG_LINK_BUS_OFF;
		down |= bus->state == MSG_LINK_ABSENT || bus->state == MSG_LINK_STOPPED;
		all_rest &= rests(reports[i].life);
		if (bus->stalled_since_ns && (!since_ns || bus->stalled_since_ns < since_ns))
			since_ns = bus->stalled_since_ns;
		if (bus->last_confirmed_ns > heard_ns)
			heard_ns = bus->last_confirmed_ns;
		if (bus->last_received_ns > heard_ns)
			heard_ns = bus->last_received_ns;
	}
	if (silent == n)
		return LINKS_UP;
	if (off) {
		*why = "bus-off";
		return all_rest && !silent ? LINKS_RESET : LINKS_WAIT;
	}
	if (down)
		return LINKS_UP;
	if (since_ns) {
		*why = "stalled";
		return heard_ns <= since_ns ? LINKS_RESET : LINKS_WAIT;
	}
	return LINKS_FINE;
}

static size_t gather(const struct robot_bus *bus, const struct links_driver *drivers, size_t n,
		     struct links_report *reports, int64_t now_ns)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		const struct daemon_state *p = drivers[i].published;
		const bool silent = daemon_state_age_ns(p, now_ns) > FRESH_NS;
		/* The clock moves nothing and stays active without its buses: a reset need not wait until it holds. */
		const enum msg_life life = p->is_clock ? MSG_LIFE_HOLDING : (enum msg_life)p->common.lifecycle;

		if (!p->there || (silent && (p->is_clock || !drivers[i].lives)))
			continue;
		for (size_t b = 0; b < p->common.bus_count && b < MSG_BUSES; b++)
			if (!strncmp(p->common.bus[b].name, bus->name, MSG_NAME_SIZE))
				reports[found++] = (struct links_report){ &p->common.bus[b], life, silent };
	}
	return found;
}

static void reset(struct links_one *one, const char *why, struct events *events, int64_t now_ns)
{
	struct events_sink sink = { events, now_ns, MSG_SEVERITY_WARNING, one->bus->name, "link" };
	struct error_sink errors = { events_line, &sink, 0 };
	const int status = link_reset(one->bus->interface, &errors);

	one->next_ns = now_ns + one->pause_ns;
	one->pause_ns = one->pause_ns * 2 > PAUSE_MAX_NS ? PAUSE_MAX_NS : one->pause_ns * 2;
	if (!status) {
		one->resets++;
		events_say(events, now_ns, MSG_SEVERITY_WARNING, one->bus->name, "reset",
			   "%s was %s and has been reset", one->bus->interface, why);
	}
}

void links_update(struct links *l, const struct launch *launch, const struct links_driver *drivers, size_t n,
		  struct events *events, int64_t now_ns)
{
	struct links_report reports[LAUNCH_DAEMONS_MAX * MSG_BUSES]; /* a driver may name a bus more than once */
	const char *why = "";

	if (!launch->links)
		return;
	for (size_t i = 0; i < l->n; i++) {
		struct links_one *one = &l->one[i];
		const size_t found = gather(one->bus, drivers, n, reports, now_ns);
		const enum links_action action = links_decide(reports, found, &why);

		if (now_ns < one->next_ns)
			continue;
		if (action == LINKS_RESET)
			reset(one, why, events, now_ns);
		else if (action == LINKS_FINE)
			one->pause_ns = PAUSE_MIN_NS;
		else if (action == LINKS_UP && is_socketcan(one->bus)) /* a soft wire belongs to its server */
			bring_up(one, events, now_ns);
	}
}
