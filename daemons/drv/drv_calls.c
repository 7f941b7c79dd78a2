/* drv_calls.c: calls of a driver to the loop: frames, state, requests.  Checked: covered. */
#include "daemons/drv/drv_inside.h"

/* ---- rows ---- */

static const struct drv_bus_receive *row_of(const struct drv *drv, unsigned int row)
{
	const struct drv_bus *bus = &drv->buses[drv->receives[row].bus];

	return drv->receives[row].row < 0 ? &bus->watch : &bus->receives[drv->receives[row].row];
}

unsigned int drv_row_bus(const struct drv *drv, unsigned int row)
{
	return drv->receives[row].bus;
}

unsigned int drv_send_bus(const struct drv *drv, unsigned int send)
{
	return drv->sends[send].bus;
}

int64_t drv_heard_ns(const struct drv *drv, unsigned int row)
{
	return row_of(drv, row)->heard_ns;
}

bool drv_silent(const struct drv *drv, unsigned int row)
{
	return row_of(drv, row)->silent;
}

/* ---- buses ---- */

/* The one place for all conditions of motion. */
bool drv_may_move(const struct drv *drv)
{
	return drv_armed(drv) && drv->up && !drv_latch_blocks(drv);
}

static bool may_leave(const struct drv *drv, const struct drv_bus *bus)
{
	return drv_may_move(drv) && slots_proven(&bus->slots);
}

static void withhold(struct drv *drv, uint32_t id, unsigned int frames)
{
	drv->withheld += frames;
	drv->withheld_now = true;
	drv->withheld_id = id;
}

static int put(struct drv *drv, unsigned int send, const struct frame *frame, bool stops)
{
	struct drv_bus *bus;
	unsigned int row;
	bool moves;
	int status;

	if (send >= drv->sends_n)
		return -EINVAL;
	bus = &drv->buses[drv->sends[send].bus];
	row = drv->sends[send].row;
	if (frame->len > bus->sends[row].len || (frame->flags & (FRAME_FD | FRAME_BRS)) != bus->sends[row].flags)
		return -EINVAL;
	moves = bus->sends[row].moves && !stops;
	if (moves && !may_leave(drv, bus)) {
		withhold(drv, bus->sends[row].row.id, 1);
		return -EPERM;
	}
	if (stops && bus->moving[row])
		slots_cancel(&bus->slots, row);
	status = slots_put(&bus->slots, row, frame, drv->now_ns);
	bus->moving[row] = !status ? moves : bus->moving[row] && !stops;
	return status;
}

int drv_send(struct drv *drv, unsigned int send, const struct frame *frame)
{
	return put(drv, send, frame, false);
}

int drv_send_stop(struct drv *drv, unsigned int send, const struct frame *frame)
{
	return put(drv, send, frame, true);
}

/* Removes waiting frames that were put while motion was allowed. */
static void withdraw(struct drv *drv, struct drv_bus *bus)
{
	for (unsigned int row = 0; row < bus->sends_n; row++) {
		const unsigned int waiting = slots_waiting(&bus->slots);

		if (!bus->moving[row])
			continue;
		slots_cancel(&bus->slots, row);
		bus->moving[row] = false;
		if (waiting != slots_waiting(&bus->slots))
			withhold(drv, bus->rows[row].id, waiting - slots_waiting(&bus->slots));
	}
}

void drv_hand_over(struct drv *drv)
{
	int64_t now_ns = drv->now_ns;

	for (unsigned int i = 0; i < drv->buses_n; i++) {
		struct drv_bus *bus = &drv->buses[i];

		if (bus->moves && !may_leave(drv, bus))
			withdraw(drv, bus);
		slots_quiet(&bus->slots, drv->tick.next_ns);
		/* Only a frame that leaves now needs the time of now, by which the bus must not stall in a pause. */
		if (slots_waiting(&bus->slots)) {
			now_ns = clock_now_ns();
			drv_pause_within(drv, now_ns);
		}
		slots_bus_pump(&bus->pump, now_ns);
	}
}

void drv_report_withheld(struct drv *drv)
{
	if (drv->withheld_now && !drv->withheld_reported) {
		drv_event(drv, MSG_SEVERITY_WARNING, "withheld", "frame %0*X, which moves, was withheld: %s",
			  drv->withheld_id & FRAME_EXT ? 8 : 3, drv->withheld_id & FRAME_EXT_MASK,
			  !drv_armed(drv)      ? "not armed"
			  : !drv_may_move(drv) ? "the device is not ready"
					       : "the bus has confirmed nothing yet");
		drv->withheld_reported = true;
	} else if (!drv->withheld_now && drv_may_move(drv)) {
		drv->withheld_reported = false;
	}
	drv->withheld_now = false;
}

void drv_cancel(struct drv *drv, unsigned int send)
{
	if (send < drv->sends_n)
		slots_cancel(&drv->buses[drv->sends[send].bus].slots, drv->sends[send].row);
}

bool drv_bus_dead(const struct drv *drv, unsigned int bus)
{
	return drv_bus_is_dead(&drv->buses[bus]);
}

const struct bus_stats *drv_bus_stats(const struct drv *drv, unsigned int bus)
{
	return bus_stats(drv->buses[bus].bus);
}

enum bus_state drv_bus_state(const struct drv *drv, unsigned int bus)
{
	return bus_state(drv->buses[bus].bus);
}

struct drv_ref_limits *drv_limits(struct drv *drv, unsigned int joint)
{
	return &drv->limits[joint];
}

/* ---- how it is ---- */

void drv_event(struct drv *drv, enum msg_severity severity, const char *code, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report_event(&drv->report, clock_now_ns(), severity, code, fmt, args);
	va_end(args);
}

void drv_start_again(struct drv *drv)
{
	drv->up = false;
}

void drv_homing(struct drv *drv, bool homing)
{
	drv->homing = homing;
}

void drv_wake_at(struct drv *drv, int64_t t_ns)
{
	drv->wake_ns = t_ns;
}

void drv_tick_at(struct drv *drv, int64_t next_ns)
{
	drv->tick.next_ns = next_ns;
}

/* ---- requests ---- */

void drv_why(struct drv *drv, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(drv->why, sizeof(drv->why), fmt, args);
	va_end(args);
}

void drv_answer(struct drv *drv, struct msg_reply *reply, int result, const char *error, const char *value)
{
	if (drv_request_done(&drv->requests, reply, result, error, value))
		drv_queue_reply(drv, reply);
}

void drv_queue_reply(struct drv *drv, struct msg_reply *reply)
{
	reply->header.incarnation = drv->incarnation;
	reply->header.t_sample_ns = reply->header.t_publish_ns = clock_now_ns();
	if (drv->replies_n == DRV_REQUEST_KEPT)
		drv_put_replies(drv);
	drv->replies[drv->replies_n++] = *reply;
}

void drv_put_replies(struct drv *drv)
{
	for (unsigned int i = 0; i < drv->replies_n; i++)
		port_put(&drv->rep_port, &drv->replies[i]);
	drv->replies_n = 0;
}

void drv_reply(struct drv *drv, uint32_t handle, int result, const char *fmt, ...)
{
	char text[MSG_TEXT_SIZE];
	struct msg_reply reply;
	va_list args;

	if (!drv_request_find(&drv->requests, handle, &reply))
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	drv_answer(drv, &reply, result, result ? text : "", result ? "" : text);
}

size_t drv_newest(struct drv *drv, unsigned int input, void *msg, size_t size)
{
	size_t len;
	const enum port_got got = port_newest(&drv->input_ports[input], msg, size, &len);

	return got == PORT_ONE || got == PORT_MISSED ? len : 0;
}

void drv_put(struct drv *drv, unsigned int output, void *msg, int64_t now_ns)
{
	const struct msg_type *type = drv->output_ports[output].type;
	struct msg_header *header = msg;

	if (msg_is_state(type))
		drv_fill_common(drv, &((union drv_message *)msg)->state.common, now_ns);
	header->type = type->number;
	header->version = type->version;
	header->size = (uint32_t)type->body->size;
	header->incarnation = drv->incarnation;
	header->flags = drv_flags(drv, false, now_ns);
	header->t_publish_ns = now_ns;
	port_put(&drv->output_ports[output], msg);
}
