/* drv_open.c: claims, channels and buses, before the loop runs; and their end.  Checked: covered. */
#include <fcntl.h>
#include <unistd.h>

#include "daemons/drv/drv_inside.h"
#include "daemons/drv/standby.h"

/* A recording is not claimed. */
static int claim_one(struct drv *drv, const struct drv_bus *bus, const char *what, struct error_sink *errors,
		     struct error_sink *warnings)
{
	const char *interface = bus->setup->interface;

	return strncmp(interface, "log:", 4) ? claim_interface(&drv->claimed, interface, what, errors, warnings) : 0;
}

/* A channel has one writer. */
static int claim_one_channel(struct drv *drv, const char *channel, struct error_sink *errors,
			     struct error_sink *warnings)
{
	char name[PORT_NAME_MAX];

	if (port_name(name, channel))
		return 0; /* open_channel reports it */
	return claim_channel(&drv->claimed, name, errors, warnings);
}

static int claim_state(struct drv *drv, struct error_sink *errors, struct error_sink *warnings)
{
	char channel[PORT_NAME_MAX];

	snprintf(channel, sizeof(channel), "%s-state", drv->setup.name);
	return claim_one_channel(drv, drv->driver->state_channel ? drv->driver->state_channel : channel, errors,
				 warnings);
}

/* Each of the identifiers that it sends on the bus, once. */
static int claim_sends(struct drv *drv, const struct drv_bus *bus, struct error_sink *errors,
		       struct error_sink *warnings)
{
	int status = 0;
	char what[16];

	for (unsigned int i = 0; i < bus->sends_n && !status; i++) {
		const uint32_t id = bus->sends[i].row.id;
		bool before = bus->sends[i].shared;

		for (unsigned int j = 0; j < i; j++)
			before |= bus->sends[j].row.id == id;
		snprintf(what, sizeof(what), "%0*X", id & FRAME_EXT ? 8 : 3, id & FRAME_EXT_MASK);
		if (!before)
			status = claim_one(drv, bus, what, errors, warnings);
	}
	return status;
}

/* Its state, what it sends, and its further claims. */
static int claim_all(struct drv *drv, struct error_sink *errors)
{
	struct error_sink warnings = ERROR_TO_STDERR(drv->driver->program, drv->setup.name, ERROR_WARNING);
	int status = claim_state(drv, errors, &warnings);

	for (unsigned int b = 0; b < drv->buses_n && !status; b++)
		status = claim_sends(drv, &drv->buses[b], errors, &warnings);
	for (unsigned int i = 0; i < drv->claims_n && !status; i++)
		status = drv->claims[i].bus == DRV_CHANNEL
				 ? claim_one_channel(drv, drv->claims[i].what, errors, &warnings)
				 : claim_one(drv, &drv->buses[drv->claims[i].bus], drv->claims[i].what, errors,
					     &warnings);
	return !status ? 0 : status == -EBUSY ? EXIT_TAKEN : EXIT_RETRY;
}

static int exit_of(int status)
{
	return !status ? 0 : status == -EINVAL ? EXIT_WRONG : EXIT_RETRY;
}

static int open_channel(const struct drv *drv, struct port *port, const char *suffix, enum msg_number type, mode_t mode,
			struct error_sink *errors)
{
	char channel[PORT_NAME_MAX];
	int status;

	if (port->type)
		port_reopen(port, 0, 0);
	if (port->open) /* by a spare, before it was needed */
		return 0;
	if (*suffix == '-')
		snprintf(channel, sizeof(channel), "%s%s", drv->setup.name, suffix);
	else
		snprintf(channel, sizeof(channel), "%s", suffix);
	status = port_open(port, channel, msg_type_by_number(type), mode, errors);
	return exit_of(status);
}

static int open_estop(struct drv *drv, struct error_sink *errors)
{
	const struct drv_previous *previous = &drv->previous;
	const struct estop_kept kept = { .boot = { previous->boot[0], previous->boot[1] },
					 .chan = previous->base_chan,
					 .base = previous->base_seq,
					 .level = previous->base_level };
	const struct estop_options options = {
		.owner = geteuid(),
		.make = true,
		.group = port_group(),
		.ratify = true,
		.name = drv->setup.name,
		.predecessor = previous->found ? &kept : NULL,
		.removal = &drv->removal,
	};

	if (drv->stood_by)
		return exit_of(estop_take_over(&drv->estop, &options, errors));
	(void)removal_open(&drv->removal); /* without it their files are checked in every tick */
	return exit_of(estop_open(&drv->estop, &options, errors));
}

static int open_report(struct drv *drv, struct error_sink *errors)
{
	return exit_of(report_open(&drv->report, drv->driver->program, drv->setup.name, errors));
}

static int open_state(struct drv *drv, struct error_sink *errors)
{
	const char *channel = drv->driver->state_channel;

	return open_channel(drv, &drv->state_port, channel ? channel : "-state", drv->driver->state, 0640, errors);
}

static int open_channels(struct drv *drv, struct error_sink *errors)
{
	const struct drv_driver *d = drv->driver;
	const struct drv_channel *info;
	struct port *port;
	int status = open_channel(drv, &drv->req_port, "-req", msg_request_number, 0600, errors);

	if (!status)
		status = open_channel(drv, &drv->rep_port, "-rep", msg_reply_number, 0640, errors);
	if (!status && d->ref)
		status = open_channel(drv, &drv->ref_port, "-ref", d->ref, 0660, errors);
	if (!status && drv->setup.rule.kind == DRV_TICK_CLOCK)
		status = open_channel(drv, &drv->clock_port, "clock", msg_clock_number, 0640, errors);
	if (!status)
		status = open_channel(drv, &drv->info_port, "-info", msg_device_info_number, 0640, errors);
	for (unsigned int i = 0; !status && (info = drv_parts_info(drv, i, &port)); i++)
		status = open_channel(drv, port, info->channel, info->type, 0640, errors);
	for (unsigned int i = 0; !status && i < drv->outputs_n; i++)
		status = open_channel(drv, &drv->output_ports[i], drv->outputs[i].channel, drv->outputs[i].type, 0640,
				      errors);
	for (unsigned int i = 0; !status && i < drv->inputs_n; i++)
		status = open_channel(drv, &drv->input_ports[i], drv->inputs[i].channel, drv->inputs[i].type, 0660,
				      errors);
	return status;
}

/* Under achstart its state is kept under the daemon's name, which need not be the device's. */
static void read_previous(struct drv *drv)
{
	const char *daemon = getenv("ENDPLATE_DAEMON");
	struct msg_common *common = &drv->state.state.common;

	boot_id_read(common->boot);
	drv_previous_read(&drv->previous, &drv->state_port, daemon && *daemon ? daemon : drv->setup.name, common->boot);
	drv->incarnation = drv->previous.incarnation;
	drv->incarnation += drv->incarnation < UINT32_MAX;
}

/* The last state word of the device, kept until the next: a process that dies before that must not lose it. */
static uint32_t previous_word(const struct drv *drv, unsigned int joint)
{
	const struct msg_joint_state *before = drv_previous(drv);

	for (unsigned int i = 0; before && i < before->count && i < MSG_JOINTS; i++)
		if (!strncmp(before->joint[i], drv->joints[joint], MSG_NAME_SIZE))
			return before->state_word[i];
	return 0;
}

/* The same for a bias. */
static void keep_bias(struct drv *drv)
{
	struct msg_ft *state = (struct msg_ft *)&drv->state;
	const struct msg_ft *before = drv_previous(drv);

	if (drv->driver->state != msg_ft_number || !before)
		return;
	memcpy(state->bias_force, before->bias_force, sizeof(state->bias_force));
	memcpy(state->bias_torque, before->bias_torque, sizeof(state->bias_torque));
}

static void begin_state(struct drv *drv)
{
	msg_init(&drv->state, drv->state_port.type);
	msg_unknown(&drv->state, drv->state_port.type);
	read_previous(drv);
	drv->state.header.incarnation = drv->incarnation;
	drv->state.state.common.bus_count = drv->buses_n;
	for (unsigned int i = 0; i < drv->buses_n; i++) {
		struct msg_bus *bus = &drv->state.state.common.bus[i];

		memcpy(bus->name, drv->setup.buses[i].name, sizeof(bus->name));
		memcpy(bus->interface, drv->setup.buses[i].interface, sizeof(bus->interface) - 1);
	}
	keep_bias(drv);
	if (drv->driver->state != msg_joint_state_number)
		return;
	drv->state.joints.count = drv->joints_n;
	for (unsigned int i = 0; i < drv->joints_n; i++) {
		memcpy(drv->state.joints.joint[i], drv->joints[i], MSG_NAME_SIZE);
		drv->state.joints.state_word[i] = previous_word(drv, i);
	}
}

static void sent(void *to, unsigned int row, const struct frame *frame, int64_t t_ns)
{
	struct drv_bus *bus = to;
	struct drv *drv = bus->drv;

	drv_bus_check_bound(bus, row, t_ns, drv->up);
	drv_ask_sent(&drv->asks, bus->send_numbers[row], frame, t_ns);
	if (drv->driver->sent)
		drv->driver->sent(drv->self, drv, bus->send_numbers[row], frame, t_ns);
}

static int open_buses(struct drv *drv, struct error_sink *errors)
{
	const int64_t now_ns = clock_now_ns();
	const char *bounds = getenv("ENDPLATE_BOUNDS");
	int status = 0;

	for (unsigned int i = 0; i < drv->buses_n && !status; i++)
		status = drv_bus_open(&drv->buses[i], errors);
	for (unsigned int i = 0; i < drv->buses_n && !status; i++) {
		struct drv_bus *bus = &drv->buses[i];

		status = drv_bus_settle(bus, now_ns, errors);
		drv_bus_bounds(bus, bounds ? bounds : "");
		bus->pump.sent = sent;
		bus->pump.to = bus;
	}
	return status;
}

static void be_real_time(struct drv *drv)
{
	struct error_sink warnings = ERROR_TO_STDERR(drv->driver->program, drv->setup.name, ERROR_WARNING);

	if (realtime_enter(&drv->setup.realtime, &warnings))
		drv_event(drv, MSG_SEVERITY_WARNING, "not-real-time", "the system refused priority, core or memory");
	for (unsigned int i = 0; i < drv->buses_n; i++)
		if (!drv->buses[i].can_reset)
			drv_event(drv, MSG_SEVERITY_WARNING, "no-reset",
				  "bus %s: without CAP_NET_ADMIN its link cannot be reset after a stall",
				  drv->buses[i].setup->name);
}

/* A call that fails here is tried again, and reported, when the driver is needed. */
bool drv_stand_by(struct drv *drv)
{
	const struct drv_driver *d = drv->driver;
	struct realtime *want = &drv->setup.realtime;
	struct error_sink quiet = { 0 };

	if (!open_state(drv, &quiet))
		open_channels(drv, &quiet);
	open_estop(drv, &quiet);
	open_report(drv, &quiet);
	drv->opened = d->opens_early && !standby_on_clock() && d->open && !d->open(drv->self, drv, &quiet);
	drv->stood_by = true;
	if (want->lock)
		want->lock = realtime_enter(&(struct realtime){ .core = -1, .lock = true }, &quiet);
	return standby_wait();
}

int drv_open(struct drv *drv, struct error_sink *errors)
{
	const struct drv_driver *d = drv->driver;
	int status = claim_all(drv, errors);

	if (!status)
		status = open_state(drv, errors);
	if (status)
		return status;
	begin_state(drv);
	status = open_channels(drv, errors);
	if (!status)
		status = open_estop(drv, errors);
	if (!status)
		status = open_report(drv, errors);
	if (status)
		return status;
	drv->report.incarnation = drv->incarnation;
	drv_latch_begin(drv);
	drv_pass_requests(drv);
	drv->signals = fcntl(drv->seat ? drv->seat->stop_fd : clock_stop_fd(), F_DUPFD_CLOEXEC, 3);
	drv->notify.fd = -1;
	if (!drv->seat) /* else the host notifies for all of them */
		notify_open(&drv->notify);
	status = open_buses(drv, errors);
	if (!status)
		status = drv_wake_open(drv, errors);
	if (!status && d->open && !drv->opened)
		status = exit_of(d->open(drv->self, drv, errors));
	if (status)
		return status;
	be_real_time(drv);
	drv_wake_by_ref(drv); /* the thread that it starts inherits our priority */
	drv_info_begin(drv);
	drv_publish_first(drv);
	return 0;
}

void drv_close(struct drv *drv)
{
	if (drv->self && drv->driver->close)
		drv->driver->close(drv->self);
	for (unsigned int i = 0; i < drv->buses_n; i++)
		bus_close(drv->buses[i].bus);
	free(drv->buses);
	clock_set_close(drv->set);
	port_close(&drv->state_port);
	port_close(&drv->ref_port);
	port_close(&drv->ref_wake);
	port_close(&drv->req_port);
	port_close(&drv->rep_port);
	port_close(&drv->clock_port);
	port_close(&drv->report.port);
	port_close(&drv->info_port);
	estop_close(&drv->estop);
	if (drv->removal.fd > 0)
		removal_close(&drv->removal);
	for (unsigned int i = 0; i < drv->outputs_n; i++)
		port_close(&drv->output_ports[i]);
	for (unsigned int i = 0; i < drv->inputs_n; i++)
		port_close(&drv->input_ports[i]);
	claim_release(&drv->claimed);
	if (drv->signals > 0) {
		close(drv->signals);
		notify_close(&drv->notify);
	}
	drv_parts_close(drv);
	setup_close(&drv->setup);
}
