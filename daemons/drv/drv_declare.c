/* drv_declare.c: what a driver was given and what it declares, before anything is opened.  Checked: covered. */
#include <math.h>

#include "can/bus/frame_text.h"
#include "daemons/drv/drv_inside.h"

/* ---- what it was given ---- */

unsigned int drv_buses(const struct drv *drv)
{
	return drv->buses_n;
}

int drv_bus(const struct drv *drv, const char *name)
{
	for (unsigned int i = 0; i < drv->buses_n; i++)
		if (!strcmp(drv->buses[i].setup->role, name) || !strcmp(drv->buses[i].setup->name, name))
			return (int)i;
	return -ENOENT;
}

const char *drv_bus_name(const struct drv *drv, unsigned int bus)
{
	return drv->buses[bus].setup->name;
}

const char *drv_bus_interface(const struct drv *drv, unsigned int bus)
{
	return drv->buses[bus].setup->interface;
}

const struct robot_bus *drv_robot_bus(const struct drv *drv, unsigned int bus)
{
	return drv->buses[bus].setup->robot;
}

const struct robot *drv_robot(const struct drv *drv)
{
	return drv->setup.device ? &drv->setup.robot : NULL;
}

int64_t drv_period_ns(const struct drv *drv)
{
	return drv->tick.period_ns ? drv->tick.period_ns : drv->setup.rule.period_ns;
}

/* ---- what it declares ---- */

static int no_room(struct error_sink *errors, const char *what, int max)
{
	return error_refuse(errors, -ENOSPC, "more than %d %s", max, what);
}

static bool has_bus(const struct drv *drv, unsigned int bus, uint32_t id, struct error_sink *errors)
{
	if (bus >= drv->buses_n)
		error_add(errors, "frame %03X: there is no bus %u", frame_id(&(struct frame){ .id = id }), bus);
	return bus < drv->buses_n;
}

/* A bus of the robot file has to be one of CAN FD; of others nothing is known. */
static bool fits_bus(const struct drv *drv, unsigned int bus, uint32_t id, uint8_t flags, struct error_sink *errors)
{
	const struct robot_bus *robot = drv_robot_bus(drv, bus);
	const unsigned int number = frame_id(&(struct frame){ .id = id });

	if (flags & ~(FRAME_FD | FRAME_BRS) || flags == FRAME_BRS)
		error_add(errors, "frame %03X: its flags are not FRAME_FD, with or without FRAME_BRS", number);
	else if (flags && robot && !robot->data_bitrate)
		error_add(errors, "frame %03X is a CAN FD frame, but bus %s is classic CAN: give it a data_bitrate",
			  number, robot->name);
	else
		return true;
	return false;
}

int drv_add_send(struct drv *drv, const struct drv_send *send, struct error_sink *errors)
{
	int row;

	if (!has_bus(drv, send->bus, send->row.id, errors) ||
	    !fits_bus(drv, send->bus, send->row.id, send->flags, errors))
		return -EINVAL;
	row = drv_bus_add_send(&drv->buses[send->bus], send, drv->sends_n);
	if (row < 0)
		return no_room(errors, "kinds of frames to send on one bus", SLOTS_ROWS_MAX);
	drv->sends[drv->sends_n].bus = send->bus;
	drv->sends[drv->sends_n].row = (unsigned int)row;
	return (int)drv->sends_n++;
}

static int number_receive(struct drv *drv, unsigned int bus, int row)
{
	drv->receives[drv->receives_n].bus = bus;
	drv->receives[drv->receives_n].row = row;
	return (int)drv->receives_n++;
}

int drv_add_receive(struct drv *drv, const struct drv_receive *receive, struct error_sink *errors)
{
	int row;

	if (!has_bus(drv, receive->bus, receive->id, errors) ||
	    !fits_bus(drv, receive->bus, receive->id, receive->flags, errors))
		return -EINVAL;
	row = drv_bus_add_receive(&drv->buses[receive->bus], receive, drv->receives_n);
	if (row < 0)
		return no_room(errors, "kinds of frames to receive on one bus", DRV_BUS_RECEIVES_MAX);
	return number_receive(drv, receive->bus, row);
}

unsigned int drv_monitor(struct drv *drv, unsigned int bus)
{
	struct drv_bus_receive *watch = &drv->buses[bus].watch;

	if (!drv->buses[bus].watched)
		watch->number = (unsigned int)number_receive(drv, bus, -1);
	drv->buses[bus].watched = true;
	return watch->number;
}

#define FULL_CURRENT_S 0.05

/* A driver that balances must have its full current in one tick; for all others it comes gently. */
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

static void name_channel(struct drv_channel *to, const char *channel, enum msg_number type)
{
	snprintf(to->channel, sizeof(to->channel), "%s", channel);
	to->type = type;
}

int drv_add_output(struct drv *drv, const char *channel, enum msg_number type, struct error_sink *errors)
{
	if (drv->outputs_n == DRV_OUTPUTS_MAX)
		return no_room(errors, "further channels", DRV_OUTPUTS_MAX);
	name_channel(&drv->outputs[drv->outputs_n], channel, type);
	return (int)drv->outputs_n++;
}

int drv_add_input(struct drv *drv, const char *channel, enum msg_number type, struct error_sink *errors)
{
	if (drv->inputs_n == DRV_INPUTS_MAX)
		return no_room(errors, "channels of references", DRV_INPUTS_MAX);
	name_channel(&drv->inputs[drv->inputs_n], channel, type);
	return (int)drv->inputs_n++;
}

int drv_add_claim(struct drv *drv, unsigned int bus, const char *what, struct error_sink *errors)
{
	if (drv->claims_n == DRV_CLAIMS_MAX)
		return no_room(errors, "claims", DRV_CLAIMS_MAX);
	drv->claims[drv->claims_n].bus = bus;
	snprintf(drv->claims[drv->claims_n].what, PORT_NAME_MAX, "%s", what);
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

void drv_joint_absent(struct drv *drv, unsigned int joint)
{
	drv->joint_absent[joint] = true;
}

/* ---- all of it ---- */

/* For the loop alone: rx sees it only if the driver has declared it. */
static void want_tick(struct drv_bus *bus, uint32_t id)
{
	bus->tick_wanted = true;
	bus->tick_id = id;
}

/* Receives the clock frame of the first bus that has one. */
static void want_clock_frame(struct drv *drv)
{
	for (unsigned int i = 0; i < drv->buses_n; i++) {
		const struct robot_bus *bus = drv->setup.buses[i].robot;

		if (bus && *bus->clock && !frame_text_read(&drv->clock_frame, bus->clock, strlen(bus->clock))) {
			want_tick(&drv->buses[i], drv->clock_frame.id);
			return;
		}
	}
}

int drv_declare(struct drv *drv, struct error_sink *errors)
{
	const struct drv_tick_rule *rule = &drv->setup.rule;
	const enum msg_number ref = drv->driver->ref;
	int bus = 0;

	drv->buses_n = drv->setup.buses_n;
	for (unsigned int i = 0; i < drv->buses_n; i++) {
		drv->buses[i].setup = &drv->setup.buses[i];
		drv->buses[i].drv = drv;
	}
	if (drv->driver->declare(drv->self, drv, errors))
		return EXIT_WRONG;
	if (*rule->bus || !drv->buses_n)
		bus = drv_bus(drv, rule->bus);
	if (rule->kind != DRV_TICK_PERIOD && drv->driver->own_period)
		error_add(errors, "tick: %s keeps a period of its own, such as 1ms", drv->driver->program);
	else if (ref && ref_layout(&drv->ref_layout, msg_type_by_number(ref)))
		error_add(errors, "messages of type %s cannot be references", msg_type_by_number(ref)->name);
	else if (rule->kind == DRV_TICK_REF && !ref)
		error_add(errors, "tick: %s takes no references to tick on", drv->driver->program);
	else if (rule->kind == DRV_TICK_FRAME && bus < 0)
		error_add(errors, "tick: there is no bus %s", rule->bus);
	else if (rule->kind == DRV_TICK_FRAME)
		want_tick(&drv->buses[bus], rule->id);
	else if (rule->kind == DRV_TICK_CLOCK)
		want_clock_frame(drv);
	if (ref && !drv->driver->complies)
		ref_layout_rigid(&drv->ref_layout);
	return errors->count ? EXIT_WRONG : 0;
}
