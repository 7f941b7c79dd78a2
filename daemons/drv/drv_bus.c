/* line.c: one bus of a driver. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "can/link.h"
#include "daemons/drv/drv_bus.h"

/* ---- declaring ---- */

int drv_bus_add_send(struct drv_bus *line, const struct drv_send *send, unsigned int number)
{
	if (line->sends_n == SLOTS_ROWS_MAX)
		return -ENOSPC;
	line->sends[line->sends_n] = *send;
	line->rows[line->sends_n] = send->row;
	line->send_ids[line->sends_n] = send->row.id;
	line->send_numbers[line->sends_n] = number;
	line->moves |= send->moves;
	return (int)line->sends_n++;
}

#define KIND (FRAME_EXT | FRAME_RTR | FRAME_ERR) /* counts whatever a mask says */

static uint32_t exactly(uint32_t id)
{
	return KIND | (id & FRAME_EXT ? FRAME_EXT_MASK : FRAME_STD_MASK);
}

/* Most frames are of 11 bits: the search for their row begins at the first with the identifier. */
static void index_last(struct drv_bus *line)
{
	const struct drv_receive *row = &line->receives[line->receives_n - 1].row;

	for (uint32_t id = 0; id <= FRAME_STD_MASK; id++)
		if (!line->first[id] && !((id ^ row->id) & row->id_mask))
			line->first[id] = (uint16_t)line->receives_n;
}

int drv_bus_add_receive(struct drv_bus *line, const struct drv_receive *receive, unsigned int number)
{
	struct drv_bus_receive *r = &line->receives[line->receives_n];

	if (line->receives_n == DRV_BUS_RECEIVES_MAX)
		return -ENOSPC;
	r->row = *receive;
	r->number = number;
	if (!r->row.from)
		r->row.from = "the device";
	r->row.id_mask = receive->id_mask ? receive->id_mask | KIND : exactly(receive->id);
	line->filters[line->receives_n] = (struct bus_filter){ receive->id, r->row.id_mask };
	line->receives_n++;
	index_last(line);
	return (int)line->receives_n - 1;
}

/* ---- opening ---- */

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

int drv_bus_open(struct drv_bus *line, int64_t now_ns, struct error_sink *errors)
{
	const char *interface = line->setup->interface;
	const struct bus_options options = {
		.filters = line->watched ? NULL : line->filters,
		.filters_n = line->watched ? 0 : line->receives_n + line->tick_wanted,
		.sends = line->send_ids,
		.sends_n = line->sends_n,
		.errors = true,
		.later = true,
	};
	const struct slots_options slots = { .bitrate = (uint32_t)line->setup->bitrate,
					     .in_flight = (unsigned int)line->setup->in_flight };
	int status;

	line->filters[line->receives_n] = (struct bus_filter){ line->tick_id, exactly(line->tick_id) };
	if (slots_init(&line->slots, line->rows, line->sends_n, &slots, errors))
		return EXIT_WRONG;
	status = bus_open(&line->bus, interface, &options, errors);
	if (status)
		return status == -EINVAL ? EXIT_WRONG : EXIT_WORLD;
	slots_bus_init(&line->pump, &line->slots, line->bus, now_ns);
	/* achstart resets links, and says so itself where it may not. */
	line->can_reset = getenv("ENDPLATE_DAEMON") || link_may_reset(interface);
	line->real = !starts(interface, "log:") && !link_is_virtual(interface);
	return 0;
}

void drv_bus_close(struct drv_bus *line)
{
	bus_close(line->bus);
	line->bus = NULL;
}

/* ---- receiving ---- */

static bool has_id(const struct drv_bus_receive *r, const struct frame *frame)
{
	return !((frame->id ^ r->row.id) & r->row.id_mask);
}

static bool has_len(const struct drv_bus_receive *r, const struct frame *frame)
{
	return r->row.any_len || (frame->len >= r->row.len_min && frame->len <= r->row.len_max);
}

struct drv_bus_receive *drv_bus_takes(struct drv_bus *line, const struct bus_frame *got)
{
	unsigned int from = got->frame.id <= FRAME_STD_MASK ? line->first[got->frame.id] : 1;
	bool odd = false;

	if (got->flags & (BUS_OWN | BUS_QUEUED))
		return NULL;
	for (; from && from <= line->receives_n; from++) {
		struct drv_bus_receive *r = &line->receives[from - 1];

		if (!has_id(r, &got->frame))
			continue;
		if (r->row.period_ns)
			r->due_ns = got->t_ns + r->row.period_ns + r->row.period_ns / 2;
		odd = !has_len(r, &got->frame);
		if (odd)
			continue;
		r->heard_ns = got->t_ns;
		return r;
	}
	line->odd += odd;
	return line->watched ? &line->watch : NULL;
}

bool drv_bus_is_silent(const struct drv_bus *line)
{
	for (unsigned int i = 0; i < line->receives_n; i++)
		if (line->receives[i].silent && !line->receives[i].joint)
			return true;
	return false;
}

bool drv_bus_heard(const struct drv_bus *line)
{
	for (unsigned int i = 0; i < line->receives_n; i++)
		if (line->receives[i].row.silent_after_ns && !line->receives[i].heard_ns)
			return false;
	return true;
}

const struct drv_bus_receive *drv_bus_silent(struct drv_bus *line, int64_t since_ns, int64_t now_ns)
{
	const struct drv_bus_receive *first = NULL;

	for (struct drv_bus_receive *r = line->receives; r < line->receives + line->receives_n; r++) {
		r->silent = r->row.silent_after_ns &&
			    now_ns - (r->heard_ns ? r->heard_ns : since_ns) > r->row.silent_after_ns;
		if (r->silent && !first)
			first = r;
	}
	return first;
}

void drv_bus_count_missing(struct drv_bus *line, int64_t now_ns)
{
	for (unsigned int i = 0; i < line->receives_n; i++) {
		struct drv_bus_receive *r = &line->receives[i];

		if (!r->row.period_ns || !r->due_ns || now_ns < r->due_ns)
			continue;
		const int64_t periods = 1 + (now_ns - r->due_ns) / r->row.period_ns;

		line->missing += (uint64_t)periods;
		r->due_ns += periods * r->row.period_ns;
	}
}

/* ---- how it is ---- */

bool drv_bus_is_dead(const struct drv_bus *line)
{
	return slots_state(&line->slots) != SLOTS_RUNNING;
}

void drv_bus_fill(const struct drv_bus *line, struct msg_bus *to)
{
	static const enum msg_link links[] = {
		[BUS_ABSENT] = MSG_LINK_ABSENT,
		[BUS_STOPPED] = MSG_LINK_STOPPED,
		[BUS_ERROR_ACTIVE] = MSG_LINK_ERROR_ACTIVE,
		[BUS_WARNING] = MSG_LINK_WARNING,
		[BUS_PASSIVE] = MSG_LINK_PASSIVE,
		[BUS_OFF] = MSG_LINK_BUS_OFF,
	};
	const struct slots_counts *counts = slots_counts(&line->slots);
	const struct bus_stats *stats = bus_stats(line->bus);

	to->state = links[bus_state(line->bus)];
	to->can_reset = line->can_reset;
	to->stalled_since_ns = slots_state(&line->slots) == SLOTS_STALLED ? slots_since_ns(&line->slots) : 0;
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
