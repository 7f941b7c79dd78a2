/* slots_bus.c: reports of a bus to its slots, frames of the slots to the bus. */
#include "can/slots/slots_bus.h"

#include "can/bus/frame_error.h"

/* Bus-off too: the controller drops its frames and those that are handed over. */
static bool is_down(const struct bus *bus)
{
	const enum bus_state state = bus_state(bus);

	return state == BUS_ABSENT || state == BUS_STOPPED || state == BUS_OFF;
}

void slots_bus_init(struct slots_bus *line, struct slots *slots, struct bus *bus, int64_t now_ns)
{
	*line = (struct slots_bus){
		.slots = slots,
		.bus = bus,
		.attached = bus_stats(bus)->attached,
		.dropped = bus_stats(bus)->dropped,
	};
	slots_unconfirmed(slots, !bus_confirms(bus));
	if (is_down(bus))
		slots_link_down(slots, now_ns);
}

static void report_echo(struct slots_bus *line, const struct bus_frame *got)
{
	const int row = slots_echo(line->slots, &got->frame, got->t_ns);

	if (row >= 0 && line->sent)
		line->sent(line->to, (unsigned int)row, &got->frame, got->t_ns);
}

static void report_frame(struct slots_bus *line, const struct bus_frame *got)
{
	if (got->frame.id & FRAME_ERR)
		/* Off and back may lie in one batch, and then the state says nothing. */
		line->broken |= !!(got->frame.id & (CAN_ERR_BUSOFF | CAN_ERR_RESTARTED));
	else if (got->flags & BUS_OWN)
		report_echo(line, got);
	else if (!(got->flags & BUS_QUEUED))
		slots_received(line->slots, &got->frame, got->t_ns);
}

/* Nothing was handed over since the link broke, so every echo up to here is older. */
static void report_link(struct slots_bus *line, int64_t now_ns)
{
	if (line->broken)
		slots_link_down(line->slots, now_ns);
	if (!is_down(line->bus))
		slots_link_up(line->slots, now_ns);
	line->broken = false;
}

int slots_bus_receive(struct slots_bus *line, struct bus_frame *frames, size_t n, int64_t now_ns)
{
	const struct bus_stats *stats = bus_stats(line->bus);
	const int got = bus_receive(line->bus, frames, n);

	for (int i = 0; i < got; i++)
		report_frame(line, &frames[i]);
	if (stats->dropped != line->dropped)
		slots_overflow(line->slots, now_ns);
	line->broken |= got == -ENETDOWN || got == -ENODEV || stats->attached != line->attached || is_down(line->bus);
	line->dropped = stats->dropped;
	line->attached = stats->attached;
	slots_unconfirmed(line->slots, !bus_confirms(line->bus));
	if (got <= 0)
		report_link(line, now_ns);
	return got;
}

int slots_bus_pump(struct slots_bus *line, int64_t now_ns)
{
	const struct frame *frame;
	int handed = 0;

	while ((frame = slots_take(line->slots, now_ns))) {
		const int status = line->broken ? -ENETDOWN : bus_queue(line->bus, frame);

		if (status == -EINVAL || status == -EMSGSIZE) {
			slots_rejected(line->slots);
		} else if (status) {
			slots_refused(line->slots, now_ns);
			line->broken |= status == -ENETDOWN || status == -ENODEV;
			break;
		} else {
			slots_handed(line->slots, now_ns);
			handed++;
		}
	}
	if (handed)
		bus_flush(line->bus);
	return handed;
}

int64_t slots_bus_next_ns(const struct slots_bus *line)
{
	const int64_t slots_ns = slots_next_ns(line->slots), bus_ns = bus_next_ns(line->bus);

	return slots_ns < bus_ns ? slots_ns : bus_ns;
}
