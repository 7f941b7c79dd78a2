/* clock_bus.c: see clock_bus.h. */
#include <linux/can/error.h>

#include "can/bus/bits.h"
#include "can/bus/frame_text.h"
#include "config/settings/robot.h"
#include "daemons/clock/clock_bus.h"

#ifndef CAN_ERR_CNT
#define CAN_ERR_CNT 0x00000200u /* the counters are there; since Linux 6.0 */
#endif

#define BITRATE_USUAL 1000000	/* of a bus that no robot file describes */
#define TELL_EVERY_NS 100000000 /* bus-BUS */
#define TELL_SPREAD_NS 10000000 /* by which each bus is earlier than the one before: not all in one cycle */
#define HICCUP_NS 50000000	/* a bus that is dead for longer will not come back by itself */
#define QUIET_NS 1100000000	/* between two events about one bus: of one code the loop lets one a second pass */

/* Identifiers that others send as well. */
#define POWERCUBE_ALL 0x100 /* by it pciod keeps the modules' watchdog quiet */
#define CANOPEN_NMT 0x000

/* ---- declare ---- */

static void name_field(msg_name to, const char *from)
{
	snprintf(to, MSG_NAME_SIZE, "%.*s", MSG_NAME_SIZE - 1, from);
}

/* The newest replaces older ones; a frame that cannot be sent within its cycle is dropped. */
static void declare_frame(struct clock_bus *bus, struct drv *drv, unsigned int number, int64_t period_ns,
			  struct error_sink *errors)
{
	const struct robot_bus *described = drv_robot_bus(drv, number);
	const char *wrong = frame_text_read(&bus->frame, described->clock, strlen(described->clock));
	const struct drv_send send = {
		.bus = number,
		.row = { .id = bus->frame.id,
			 .class = SLOTS_LATEST,
			 .period_ns = period_ns * bus->divider,
			 .deadline_ns = period_ns },
		.len = bus->frame.len,
		.shared = bus->frame.id == POWERCUBE_ALL || bus->frame.id == CANOPEN_NMT,
	};

	if (wrong)
		yaml_error(errors, yaml_find(described->node, "clock"), "%s; write a frame such as 080#", wrong);
	else
		bus->send = drv_add_send(drv, &send, errors);
}

void clock_bus_declare(struct clock_bus *bus, struct drv *drv, unsigned int number, int64_t period_ns,
		       struct error_sink *errors)
{
	const struct robot_bus *described = drv_robot_bus(drv, number);
	char channel[sizeof("bus-") + TEXT_NAME_MAX];

	name_field(bus->name, drv_bus_name(drv, number));
	name_field(bus->interface, drv_bus_interface(drv, number));
	snprintf(channel, sizeof(channel), "bus-%s", bus->name);
	name_field(bus->code, channel);
	bus->send = -1;
	bus->divider = described ? (uint32_t)described->clock_divider : 1;
	bus->bitrate = described ? (uint32_t)described->bitrate : BITRATE_USUAL;
	if (described && *described->clock)
		declare_frame(bus, drv, number, period_ns, errors);
	drv_monitor(drv, number);
	drv_add_claim(drv, number, "clock", errors);
	bus->output = drv_add_output(drv, channel, msg_bus_stats_number, errors);
}

void clock_bus_start(struct clock_bus *bus, int64_t now_ns)
{
	bus->other_since_ns = now_ns;
	load_start(&bus->load, bus->bitrate, now_ns);
}

/* ---- frames ---- */

static void take_error(struct clock_bus *bus, const struct frame *error)
{
	if (error->id & CAN_ERR_BUSOFF)
		bus->bus_offs++;
	if (error->id & CAN_ERR_CNT) {
		bus->tx_errors = error->data[6];
		bus->rx_errors = error->data[7];
	}
}

void clock_bus_sent(struct clock_bus *bus, const struct frame *frame, int64_t t_ns)
{
	struct bits bits;

	if (bits_of(&bits, frame))
		load_add(&bus->load, bits.all, t_ns);
}

void clock_bus_received(struct clock_bus *bus, const struct bus_frame *got)
{
	if (got->frame.id & FRAME_ERR)
		take_error(bus, &got->frame);
	else
		clock_bus_sent(bus, &got->frame, got->t_ns);
}

bool clock_bus_is_clock(const struct clock_bus *bus, const struct frame *frame)
{
	return bus->send >= 0 && frame->id == bus->frame.id && frame_equal(frame, &bus->frame);
}

/* ---- how it is ---- */

/* The clock goes on with the other buses: its own lifecycle says nothing of this, the block of the bus does.  A short
 * hiccup is not worth a word, and a bus that comes and goes gets one from time to time, the last of which is true. */
static void report_death(struct clock_bus *bus, struct drv *drv, unsigned int number, int64_t now_ns)
{
	bool dead = drv_bus_dead(drv, number);
	enum bus_state state = drv_bus_state(drv, number);

	if (dead == bus->dead)
		bus->other_since_ns = now_ns;
	if (now_ns - bus->other_since_ns < HICCUP_NS || now_ns < bus->quiet_ns)
		return;
	bus->dead = dead;
	bus->quiet_ns = now_ns + QUIET_NS;
	if (dead)
		drv_event(drv, MSG_SEVERITY_WARNING, bus->code, "%s is %s: the clock goes on without it", bus->name,
			  state >= BUS_ERROR_ACTIVE && state <= BUS_PASSIVE ? "stalled" : bus_state_name(state));
	else
		drv_event(drv, MSG_SEVERITY_INFO, bus->code, "%s is back", bus->name);
}

static void publish(const struct clock_bus *bus, struct drv *drv, unsigned int number, int64_t now_ns)
{
	const struct bus_stats *stats = drv_bus_stats(drv, number);
	struct msg_bus_stats msg;

	msg_init(&msg, msg_type_by_number(msg_bus_stats_number));
	msg.header.t_sample_ns = now_ns;
	memcpy(msg.name, bus->name, sizeof(msg.name));
	memcpy(msg.interface, bus->interface, sizeof(msg.interface));
	msg.state = (uint32_t)drv_bus_state(drv, number);
	msg.bitrate = bus->bitrate;
	msg.tx_errors = bus->tx_errors;
	msg.rx_errors = bus->rx_errors;
	msg.load = bus->share;
	msg.load_max = load_most(&bus->load);
	msg.frames = stats->received + stats->confirmed;
	msg.error_frames = stats->errors;
	msg.bus_offs = bus->bus_offs;
	msg.resets = stats->attached ? stats->attached - 1 : 0;
	drv_put(drv, (unsigned int)bus->output, &msg, now_ns);
}

void clock_bus_update(struct clock_bus *bus, struct drv *drv, unsigned int number, int64_t now_ns)
{
	int64_t tenth = (now_ns + (int64_t)number * TELL_SPREAD_NS) / TELL_EVERY_NS;

	report_death(bus, drv, number, now_ns);
	if (tenth == bus->published)
		return;
	bus->published = tenth;
	load_at(&bus->load, now_ns);
	bus->share = load_share(&bus->load);
	publish(bus, drv, number, now_ns);
}

void clock_bus_report_skipped(const struct clock_grid *cycle, struct drv *drv)
{
	if (!clock_grid_too_slow(cycle))
		drv_fault_clear(drv, DRV_ALL, "slow");
	else
		drv_fault(drv, DRV_ALL, "slow",
			  "%llu of %llu cycles skipped: set a longer tick, or a priority and a core",
			  (unsigned long long)cycle->counted_skipped, (unsigned long long)cycle->counted);
}

void clock_bus_fill(const struct clock_bus *bus, const struct drv *drv, unsigned int number, struct msg_clock_bus *to)
{
	const struct bus_stats *stats = drv_bus_stats(drv, number);

	memcpy(to->name, bus->name, sizeof(to->name));
	to->divider = bus->divider;
	to->sent = stats->sent;
	to->confirmed = stats->confirmed;
	to->load = bus->share;
}
