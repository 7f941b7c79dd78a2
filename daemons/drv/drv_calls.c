/* drv_calls.c: what a driver declares and tells the loop. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "channels/clock.h"
#include "daemons/drv/drv_inside.h"

/* ---- what it was given ---- */

unsigned int drv_buses(const struct drv *drv)
{
	return drv->lines_n;
}

int drv_bus(const struct drv *drv, const char *name)
{
	for (unsigned int i = 0; i < drv->lines_n; i++)
		if (!strcmp(drv->lines[i].setup->role, name) || !strcmp(drv->lines[i].setup->name, name))
			return (int)i;
	return -ENOENT;
}

const char *drv_bus_name(const struct drv *drv, unsigned int bus)
{
	return drv->lines[bus].setup->name;
}

const char *drv_bus_interface(const struct drv *drv, unsigned int bus)
{
	return drv->lines[bus].setup->interface;
}

const struct robot_bus *drv_robot_bus(const struct drv *drv, unsigned int bus)
{
	return drv->lines[bus].setup->robot;
}

const struct robot_device *drv_device(const struct drv *drv)
{
	return drv->setup.device;
}

const char *drv_name(const struct drv *drv)
{
	return drv->setup.name;
}

int64_t drv_period_ns(const struct drv *drv)
{
	return drv->tick.period_ns ? drv->tick.period_ns : drv->setup.rule.period_ns;
}

/* ---- what it declares ---- */

static int no_room(struct error_sink *errors, const char *what, int max)
{
	error_add(errors, "more than %d %s", max, what);
	return -ENOSPC;
}

int drv_add_send(struct drv *drv, const struct drv_send *send, struct error_sink *errors)
{
	int row;

	if (send->bus >= drv->lines_n) {
		error_add(errors, "frame %03X: there is no bus %u", frame_id(&(struct frame){ .id = send->row.id }),
			  send->bus);
		return -EINVAL;
	}
	row = drv_bus_add_send(&drv->lines[send->bus], send, drv->sends_n);
	if (row < 0)
		return no_room(errors, "kinds of frames to send on one bus", SLOTS_ROWS_MAX);
	drv->sends[drv->sends_n].line = send->bus;
	drv->sends[drv->sends_n].row = (unsigned int)row;
	return (int)drv->sends_n++;
}

static int number_receive(struct drv *drv, unsigned int line, int row)
{
	drv->receives[drv->receives_n].line = line;
	drv->receives[drv->receives_n].row = row;
	return (int)drv->receives_n++;
}

int drv_add_receive(struct drv *drv, const struct drv_receive *receive, struct error_sink *errors)
{
	int row;

	if (receive->bus >= drv->lines_n) {
		error_add(errors, "frame %03X: there is no bus %u", frame_id(&(struct frame){ .id = receive->id }),
			  receive->bus);
		return -EINVAL;
	}
	row = drv_bus_add_receive(&drv->lines[receive->bus], receive, drv->receives_n);
	if (row < 0)
		return no_room(errors, "kinds of frames to receive on one bus", DRV_BUS_RECEIVES_MAX);
	return number_receive(drv, receive->bus, row);
}

unsigned int drv_watch(struct drv *drv, unsigned int bus)
{
	struct drv_bus *line = &drv->lines[bus];

	if (!line->watched)
		line->watch.number = (unsigned int)number_receive(drv, bus, -1);
	line->watched = true;
	return line->watch.number;
}

static const struct drv_bus_receive *row_of(const struct drv *drv, unsigned int row)
{
	const struct drv_bus *line = &drv->lines[drv->receives[row].line];

	return drv->receives[row].row < 0 ? &line->watch : &line->receives[drv->receives[row].row];
}

unsigned int drv_row_bus(const struct drv *drv, unsigned int row)
{
	return drv->receives[row].line;
}

int64_t drv_heard_ns(const struct drv *drv, unsigned int row)
{
	return row_of(drv, row)->heard_ns;
}

bool drv_silent(const struct drv *drv, unsigned int row)
{
	return row_of(drv, row)->silent;
}

#define FULL_CURRENT_S 0.05

/* What balances must have its full current in one tick; for everything else it comes gently. */
static double slew_of(const struct drv *drv, const struct robot_limits *from)
{
	if (isfinite(from->current_slew) || drv->setup.balance)
		return from->current_slew;
	return from->current / FULL_CURRENT_S;
}

static struct drv_ref_limits limits_of(const struct drv *drv, const struct robot_limits *from)
{
	return (struct drv_ref_limits){
		.position_min_rad = from->position[0],
		.position_max_rad = from->position[1],
		.velocity_rad_s = from->velocity,
		.acceleration_rad_s2 = from->acceleration,
		.current_a = from->current,
		.current_slew_a_s = slew_of(drv, from),
		.step_rad = from->step,
	};
}

int drv_add_joint(struct drv *drv, const char *name, struct error_sink *errors)
{
	const unsigned int joint = drv->joints_n;

	if (joint == MSG_JOINTS)
		return no_room(errors, "joints", MSG_JOINTS);
	snprintf(drv->joints[joint], sizeof(drv->joints[joint]), "%s", name);
	drv->limits[joint] =
		drv->setup.device ? limits_of(drv, robot_limits(drv->setup.device, name)) : drv_ref_no_limits;
	drv->joints_n++;
	return (int)joint;
}

int drv_add_output(struct drv *drv, const char *channel, enum msg_number type, struct error_sink *errors)
{
	if (drv->outputs_n == DRV_OUTPUTS_MAX)
		return no_room(errors, "further channels", DRV_OUTPUTS_MAX);
	snprintf(drv->outputs[drv->outputs_n].channel, PORT_NAME_MAX, "%s", channel);
	drv->outputs[drv->outputs_n].type = type;
	return (int)drv->outputs_n++;
}

int drv_add_claim(struct drv *drv, unsigned int bus, const char *what, struct error_sink *errors)
{
	if (drv->claims_n == DRV_CLAIMS_MAX)
		return no_room(errors, "claims", DRV_CLAIMS_MAX);
	drv->claims[drv->claims_n].line = bus;
	snprintf(drv->claims[drv->claims_n].what, MSG_NAME_SIZE, "%s", what);
	return (int)drv->claims_n++;
}

void drv_joint_gain(struct drv *drv, unsigned int joint, double gain_1_s)
{
	drv->gains_1_s[joint] = gain_1_s;
}

void drv_joint_no_position(struct drv *drv, unsigned int joint)
{
	drv->ramps[joint].no_position = true;
}

/* ---- buses ---- */

/* The one place for what else has to hold before something moves, such as latches. */
bool drv_may_move(const struct drv *drv)
{
	return drv_armed(drv) && drv->up && !drv_latch_blocks(drv);
}

static bool may_leave(const struct drv *drv, const struct drv_bus *line)
{
	return drv_may_move(drv) && slots_proven(&line->slots);
}

static void withhold(struct drv *drv, uint32_t id, unsigned int frames)
{
	drv->withheld += frames;
	drv->withheld_now = true;
	drv->withheld_id = id;
}

static int put(struct drv *drv, unsigned int send, const struct frame *frame, bool stops)
{
	struct drv_bus *line;
	unsigned int row;
	bool moves;
	int status;

	if (send >= drv->sends_n)
		return -EINVAL;
	line = &drv->lines[drv->sends[send].line];
	row = drv->sends[send].row;
	if (frame->len > line->sends[row].len)
		return -EINVAL;
	moves = line->sends[row].moves && !stops;
	if (moves && !may_leave(drv, line)) {
		withhold(drv, line->sends[row].row.id, 1);
		return -EPERM;
	}
	if (stops && line->moving[row])
		slots_cancel(&line->slots, row);
	status = slots_put(&line->slots, row, frame, drv->now_ns);
	line->moving[row] = !status ? moves : line->moving[row] && !stops;
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

/* What was put while it might move, and waits. */
static void withdraw(struct drv *drv, struct drv_bus *line)
{
	for (unsigned int row = 0; row < line->sends_n; row++) {
		const unsigned int waiting = slots_waiting(&line->slots);

		if (!line->moving[row])
			continue;
		slots_cancel(&line->slots, row);
		line->moving[row] = false;
		if (waiting != slots_waiting(&line->slots))
			withhold(drv, line->rows[row].id, waiting - slots_waiting(&line->slots));
	}
}

void drv_hand_over(struct drv *drv)
{
	for (unsigned int i = 0; i < drv->lines_n; i++) {
		struct drv_bus *line = &drv->lines[i];

		if (line->moves && !may_leave(drv, line))
			withdraw(drv, line);
		slots_bus_pump(&line->pump, clock_now_ns());
	}
}

void drv_report_withheld(struct drv *drv)
{
	if (drv->withheld_now && !drv->withheld_told) {
		drv_event(drv, MSG_SEVERITY_WARNING, "withheld", "frame %0*X, which moves, was withheld: %s",
			  drv->withheld_id & FRAME_EXT ? 8 : 3, drv->withheld_id & FRAME_EXT_MASK,
			  !drv_armed(drv)      ? "not armed"
			  : !drv_may_move(drv) ? "the device is not ready"
					       : "the bus has confirmed nothing yet");
		drv->withheld_told = true;
	} else if (!drv->withheld_now && drv_may_move(drv)) {
		drv->withheld_told = false;
	}
	drv->withheld_now = false;
}

void drv_cancel(struct drv *drv, unsigned int send)
{
	if (send < drv->sends_n)
		slots_cancel(&drv->lines[drv->sends[send].line].slots, drv->sends[send].row);
}

bool drv_bus_proven(const struct drv *drv, unsigned int bus)
{
	return slots_proven(&drv->lines[bus].slots);
}

bool drv_bus_dead(const struct drv *drv, unsigned int bus)
{
	return drv_bus_is_dead(&drv->lines[bus]);
}

const struct bus_stats *drv_bus_stats(const struct drv *drv, unsigned int bus)
{
	return bus_stats(drv->lines[bus].bus);
}

enum bus_state drv_bus_state(const struct drv *drv, unsigned int bus)
{
	return bus_state(drv->lines[bus].bus);
}

bool drv_bus_real(const struct drv *drv, unsigned int bus)
{
	return drv->lines[bus].real;
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

void drv_down(struct drv *drv)
{
	drv->up = false;
}

void drv_homing(struct drv *drv, bool homing)
{
	drv->homing = homing;
}

void drv_complete(struct drv *drv)
{
	drv->complete = true;
}

void drv_wake_at(struct drv *drv, int64_t t_ns)
{
	drv->wake_ns = t_ns;
}

void drv_tick_at(struct drv *drv, int64_t next_ns)
{
	drv->tick.next_ns = next_ns;
}

int64_t drv_late_ns(const struct drv *drv)
{
	return drv->late_ns;
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
	if (!drv_request_done(&drv->requests, reply, result, error, value))
		return;
	reply->header.incarnation = drv->incarnation;
	reply->header.t_sample_ns = reply->header.t_publish_ns = clock_now_ns();
	drv_queue_reply(drv, reply);
}

void drv_queue_reply(struct drv *drv, const struct msg_reply *reply)
{
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
