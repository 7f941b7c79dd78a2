/* drv_bus.c: one bus of a driver. */
#include "can/bus/bits.h"
#include "can/bus/link.h"
#include "daemons/drv/drv_bus.h"

#define REST_ANSWERS 3	    /* fewer are not worth a rest, which costs a wake at its end */
#define REST_MAX_NS 4000000 /* far less than a soft wire or a kernel keeps unread */

/* ---- declaring ---- */

int drv_bus_add_send(struct drv_bus *bus, const struct drv_send *send, unsigned int number)
{
	if (bus->sends_n == SLOTS_ROWS_MAX)
		return -ENOSPC;
	bus->sends[bus->sends_n] = *send;
	bus->rows[bus->sends_n] = send->row;
	bus->send_ids[bus->sends_n] = send->row.id;
	bus->send_numbers[bus->sends_n] = number;
	bus->moves |= send->moves;
	bus->fd |= send->flags & FRAME_FD;
	return (int)bus->sends_n++;
}

#define AFTER_PAUSE_NS 10000000			 /* in which what all processes send at once has left */
#define KIND (FRAME_EXT | FRAME_RTR | FRAME_ERR) /* counts whatever a mask says */

static uint32_t exactly(uint32_t id)
{
	return KIND | (id & FRAME_EXT ? FRAME_EXT_MASK : FRAME_STD_MASK);
}

/* Most frames are of 11 bits: the search for their row begins at the first with the identifier. */
static void index_last(struct drv_bus *bus)
{
	const struct drv_receive *row = &bus->receives[bus->receives_n - 1].row;

	for (uint32_t id = 0; id <= FRAME_STD_MASK; id++)
		if (!bus->first[id] && !((id ^ row->id) & row->id_mask))
			bus->first[id] = (uint16_t)bus->receives_n;
}

int drv_bus_add_receive(struct drv_bus *bus, const struct drv_receive *receive, unsigned int number)
{
	struct drv_bus_receive *r = &bus->receives[bus->receives_n];

	if (bus->receives_n == DRV_BUS_RECEIVES_MAX)
		return -ENOSPC;
	r->row = *receive;
	r->number = number;
	bus->fd |= receive->flags & FRAME_FD;
	if (!r->row.from)
		r->row.from = "the device";
	r->row.id_mask = receive->id_mask ? receive->id_mask | KIND : exactly(receive->id);
	bus->filters[bus->receives_n] = (struct bus_filter){ receive->id, r->row.id_mask };
	bus->receives_n++;
	index_last(bus);
	return (int)bus->receives_n - 1;
}

/* ---- opening ---- */

static void set_bound(struct drv_bus *bus, uint32_t id, int64_t bound_ns)
{
	for (unsigned int i = 0; i < bus->sends_n; i++)
		if (bus->rows[i].id == id)
			bus->bounds_ns[i] = bound_ns;
}

void drv_bus_bounds(struct drv_bus *bus, const char *text)
{
	const size_t name = strlen(bus->setup->name);

	for (; *text; text += strcspn(text, " "), text += strspn(text, " ")) {
		uint32_t id;
		int64_t bound_ns;
		int digits;

		if (!strncmp(text, bus->setup->name, name) &&
		    sscanf(text + name, ":%" SCNx32 "%n=%" SCNd64, &id, &digits, &bound_ns) == 2 && bound_ns > 0)
			set_bound(bus, id | (digits > 4 ? FRAME_EXT : 0), bound_ns);
	}
}

/* The longest frame that it sends; unknown, without the robot file, for data at another rate. */
static int64_t longest_ns(const struct drv_bus *bus)
{
	const struct robot_bus *robot = bus->setup->robot;
	const struct bits_rates rates = { (uint32_t)bus->setup->bitrate, robot ? (uint32_t)robot->data_bitrate : 0 };
	int64_t longest_ns = 0;

	for (const struct drv_send *s = bus->sends; s < bus->sends + bus->sends_n; s++) {
		const int64_t ns = bits_frame_ns(&rates, s->row.id, s->len, s->flags, true);

		longest_ns = ns > longest_ns ? ns : longest_ns;
	}
	return longest_ns;
}

int drv_bus_open(struct drv_bus *bus, struct error_sink *errors)
{
	const char *interface = bus->setup->interface;
	const struct bus_options options = {
		.filters = bus->watched ? NULL : bus->filters,
		.filters_n = bus->watched ? 0 : bus->receives_n + bus->tick_wanted,
		.sends = bus->send_ids,
		.sends_n = bus->sends_n,
		.errors = true,
		.fd = bus->fd,
		.later = true,
		.ask_only = true,
	};
	const struct robot_bus *robot = bus->setup->robot;
	const struct slots_options slots = { .bitrate = (uint32_t)bus->setup->bitrate,
					     .data_bitrate = robot ? (uint32_t)robot->data_bitrate : 0,
					     .longest_ns = longest_ns(bus),
					     .in_flight = (unsigned int)bus->setup->in_flight };
	int status;

	bus->filters[bus->receives_n] = (struct bus_filter){ bus->tick_id, exactly(bus->tick_id) };
	if (slots_init(&bus->slots, bus->rows, bus->sends_n, &slots, errors))
		return EXIT_WRONG;
	if (bus->fd && link_is_classic(interface, errors))
		return EXIT_RETRY;
	status = bus_open(&bus->bus, interface, &options, errors);
	return !status ? 0 : status == -EINVAL ? EXIT_WRONG : EXIT_RETRY;
}

int drv_bus_settle(struct drv_bus *bus, int64_t now_ns, struct error_sink *errors)
{
	const char *interface = bus->setup->interface;

	if (bus_settle(bus->bus, errors))
		return EXIT_RETRY;
	slots_bus_init(&bus->pump, &bus->slots, bus->bus, now_ns);
	/* achstart resets links, and says so itself where it may not. */
	bus->can_reset = getenv("ENDPLATE_DAEMON") || link_may_reset(interface);
	bus->real = strncmp(interface, "log:", 4) && !link_is_virtual(interface);
	return 0;
}

/* ---- sent ---- */

/* Because of frames that no driver declares, of errors on the bus, or of another program that fills it; not because of
 * a pause since it was handed over, or of what all processes send at once after one. */
void drv_bus_check_bound(const struct drv_bus *bus, unsigned int row, int64_t t_ns, bool up)
{
	const int64_t flight_ns = slots_flight_ns(&bus->slots), bound_ns = bus->bounds_ns[row];
	const uint32_t id = bus->rows[row].id;

	if (!up || !bound_ns || flight_ns <= bound_ns)
		return;
	if (pauses_within_ns(&bus->pauses, t_ns - flight_ns - AFTER_PAUSE_NS, t_ns))
		return;
	drv_event(bus->drv, MSG_SEVERITY_WARNING, "late-frame",
		  "bus %s: frame %0*X took %.3f ms; with the declared frames alone it takes at most %.3f ms",
		  bus->setup->name, id & FRAME_EXT ? 8 : 3, id & (id & FRAME_EXT ? FRAME_EXT_MASK : FRAME_STD_MASK),
		  (double)flight_ns / 1e6, (double)bound_ns / 1e6);
}

/* ---- receiving ---- */

struct drv_bus_receive *drv_bus_takes(struct drv_bus *bus, const struct bus_frame *got)
{
	unsigned int from = got->frame.id <= FRAME_STD_MASK ? bus->first[got->frame.id] : 1;
	bool odd = false;

	if (got->flags & (BUS_OWN | BUS_QUEUED))
		return NULL;
	for (; from && from <= bus->receives_n; from++) {
		struct drv_bus_receive *r = &bus->receives[from - 1];
		const uint8_t len = got->frame.len;

		if ((got->frame.id ^ r->row.id) & r->row.id_mask)
			continue;
		if (r->row.period_ns)
			r->due_ns = got->t_ns + r->row.period_ns + r->row.period_ns / 2;
		odd = (got->frame.flags ^ r->row.flags) & FRAME_FD ||
		      (!r->row.any_len && (len < r->row.len_min || len > r->row.len_max));
		if (odd)
			continue;
		r->heard_ns = got->t_ns;
		return r;
	}
	bus->odd += odd;
	return bus->watched ? &bus->watch : NULL;
}

bool drv_bus_is_silent(const struct drv_bus *bus)
{
	for (unsigned int i = 0; i < bus->receives_n; i++)
		if (bus->receives[i].silent)
			return true;
	return false;
}

bool drv_bus_heard(const struct drv_bus *bus)
{
	for (unsigned int i = 0; i < bus->receives_n; i++)
		if (bus->receives[i].row.silent_after_ns && !bus->receives[i].heard_ns)
			return false;
	return true;
}

const struct drv_bus_receive *drv_bus_silent(struct drv_bus *bus, int64_t since_ns, int64_t now_ns)
{
	const struct drv_bus_receive *first = NULL;

	for (struct drv_bus_receive *r = bus->receives; r < bus->receives + bus->receives_n; r++) {
		const int64_t from_ns = r->heard_ns ? r->heard_ns : since_ns;

		r->silent = r->row.silent_after_ns && now_ns - from_ns > r->row.silent_after_ns &&
			    now_ns - from_ns - pauses_within_ns(&bus->pauses, from_ns, now_ns) > r->row.silent_after_ns;
		if (r->silent && !first)
			first = r;
	}
	return first;
}

void drv_bus_count_missing(struct drv_bus *bus, int64_t now_ns)
{
	for (unsigned int i = 0; i < bus->receives_n; i++) {
		struct drv_bus_receive *r = &bus->receives[i];

		if (!r->row.period_ns || !r->due_ns || now_ns < r->due_ns)
			continue;
		const int64_t periods = 1 + (now_ns - r->due_ns) / r->row.period_ns;

		bus->missing += (uint64_t)periods;
		r->due_ns += periods * r->row.period_ns;
	}
}

int64_t drv_bus_rest_ns(const struct drv_bus *bus, int64_t now_ns)
{
	const int64_t until_ns = slots_clear_ns(&bus->slots) + bus->awaited * bus->awaited_ns;

	if (bus->watched && !bus->receives_n && !bus->tick_wanted) /* it only counts: later is soon enough */
		return now_ns + REST_MAX_NS;
	if (bus->awaited < REST_ANSWERS || until_ns < now_ns + REST_ANSWERS * bus->awaited_ns)
		return 0;
	return until_ns < now_ns + REST_MAX_NS ? until_ns : now_ns + REST_MAX_NS;
}

/* ---- how it is ---- */

bool drv_bus_is_dead(const struct drv_bus *bus)
{
	return slots_state(&bus->slots) != SLOTS_RUNNING;
}

void drv_bus_fill(const struct drv_bus *bus, struct msg_bus *to)
{
	const struct slots_counts *counts = slots_counts(&bus->slots);
	const struct bus_stats *stats = bus_stats(bus->bus);

	to->state = (uint32_t)bus_state(bus->bus);
	to->can_reset = bus->can_reset;
	to->stalled_since_ns = slots_state(&bus->slots) == SLOTS_STALLED ? slots_since_ns(&bus->slots) : 0;
	to->last_confirmed_ns = stats->confirmed_ns;
	to->last_received_ns = stats->received_ns;
	to->sent = counts->handed;
	to->confirmed = counts->confirmed;
	to->replaced = counts->replaced;
	to->expired = counts->expired;
	to->lost = counts->lost;
	to->stale = counts->stale;
	to->rx_dropped = stats->dropped;
	to->errors = stats->errors;
}
