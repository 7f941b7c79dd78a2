/* amc_kind.c: an AMC drive as a simulated device: robot file, frames, faults on command, report. */
#include "daemons/amc/amciod_list.h"
#include "daemons/amc/amciod_settings.h"
#include "daemons/robotsim/amc_drive.h"
#include "daemons/robotsim/sim.h"

#define ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct amc_drive, __VA_ARGS__)
/* clang-format off */
static const struct settings_row rows[] = {
	ROW(REAL, "peak", settings.peak_a, "A", "60", "0.1", "1000", "its peak current, Kp"),
	ROW(REAL, "continuous", settings.continuous_a, "A", "30", "0.1", "1000",
	    "what it gives for any time; more until its I2t budget is used up"),
	ROW(DURATION, "i2t", settings.i2t_ns, "2s", "0", "1min", "that budget: how long it gives the peak"),
	ROW(REAL, "ks", settings.ks_hz, "Hz", "20000", "1000", "65000", "its switching frequency, KS"),
	ROW(INT, "ki", settings.ki, "", "1", "1", "65535", "its feedback interpolation, KI"),
	ROW(REAL, "voltage", settings.voltage_v, "V", "24", "0", "1000", "of its supply"),
	ROW(DURATION, "current_lag", settings.current_lag_ns, "1ms", "0", "1s", "time constant of the current loop"),
	ROW(DURATION, "velocity_filter", settings.velocity_filter_ns, "2ms", "0", "1s",
	    "time constant of the measured velocity"),
	ROW(REAL, "torque", settings.torque_per_a, "N m/A", "1.271", "0", "10000", "of the motor, at the joint"),
	ROW(REAL, "no_load", settings.no_load, "rad/s", "26.8", "0.01", "10000", "where the motor has no torque left"),
	ROW(REAL, "inertia", settings.inertia, "kg m^2", "0.5", "0.0001", "1000", "what it turns; without a body"),
	ROW(REAL, "friction", settings.friction_nm, "N m", "1.5", "0", "1000", "dry; without a body"),
	ROW(REAL, "viscous", settings.viscous, "N m s/rad", "0.3", "0", "1000", "friction; without a body"),
	ROW(REAL, "position", settings.position, "rad", "0", "-1000", "1000", "where it stands; without a body"),
	ROW(REAL, "noise", settings.noise, "rad", "0", "0", "1", "largest random error of the measured position"),
	ROW(REAL, "velocity_gain", settings.velocity_gain, "A s/rad", "5", "0", "1000", "of its velocity loop"),
	ROW(DURATION, "boot", settings.boot_ns, "300ms", "0", "1min", "from power to its boot-up frame"),
	ROW(DURATION, "reply_delay", settings.reply_ns, "300us", "0", "10s", "from an SDO request to its answer"),
	ROW(DURATION, "pdo_delay", settings.pdo_ns, "100us", "0", "1s", "from a SYNC or a timer to a TPDO"),
	ROW(BOOL, "power", settings.power, "yes", "it is switched on"),
	ROW(INT, "seed", settings.seed, "", "1", "0", "0xFFFFFFFF", "seed of the random numbers"),
	SETTINGS_END,
};
/* clang-format on */

/* ---- the robot file ---- */

static int add(struct sim *sim, const struct robot_device *device, const struct amciod_settings *driver,
	       const struct amciod_list_item *item, struct error_sink *errors)
{
	struct sim_unit *unit = sim_add(sim, device, item->joint, sizeof(struct amc_drive), errors);
	struct settings settings = { .rows = rows };
	struct amc_drive *d;

	if (!unit)
		return -EINVAL;
	d = settings.values = unit->state;
	unit->on = device->roles[item->bus].bus;
	/* Any identifier: a client chooses those of the PDOs. */
	unit->filters[0] = (struct bus_filter){ 0, FRAME_EXT | FRAME_ERR };
	unit->filters_n = 1;
	unit->sends = 0x580 + item->node;
	d->node = item->node;
	d->backwards = item->backwards;
	d->gear = driver->gear;
	d->counts = (double)driver->counts;
	if (settings_defaults(&settings, errors) || settings_read(&settings, device->sim, errors))
		return -EINVAL;
	if (d->settings.continuous_a > d->settings.peak_a)
		return error_refuse(errors, -EINVAL, "devices.%s.sim: continuous: %g A is above the peak, %g A",
				    device->name, d->settings.continuous_a, d->settings.peak_a);
	return 0;
}

static int load(struct sim *sim, const struct robot_device *device, const void *of_driver, struct error_sink *errors)
{
	const struct amciod_settings *driver = of_driver;
	const struct yaml_node *node = yaml_find(device->settings, "drives");
	char where[ERROR_LINE_MAX / 2];
	const struct amciod_list_buses buses = { where, (unsigned int)device->roles_n, sim_find_bus, device };
	struct amciod_list list;

	snprintf(where, sizeof(where), "%s:%u: drives", node->file, node->line);
	if (amciod_list_read(&list, driver->drives, &buses, errors))
		return -EINVAL;
	for (unsigned int i = 0; i < list.n; i++)
		if (add(sim, device, driver, &list.item[i], errors))
			return -EINVAL;
	return 0;
}

/* ---- as a unit ---- */

static void frame(void *state, const struct frame *f, int64_t t_ns)
{
	struct amc_drive *d = state;

	amc_advance(d, t_ns);
	od_frame(&d->od, f, t_ns);
	d->in++;
}

static int64_t next_ns(const void *state)
{
	const struct amc_drive *d = state;
	int64_t next_ns = od_next_ns(&d->od);

	if (d->od.nmt != OD_OFF)
		for (unsigned int i = 0; i < AMC_TIMERS; i++)
			if (d->timer_ns[i] != CLOCK_NEVER && d->timer_ns[i] + AMC_STEP_NS < next_ns)
				next_ns = d->timer_ns[i] + AMC_STEP_NS; /* when its step was done */
	return next_ns;
}

static bool send(void *state, int64_t now_ns, struct frame *f)
{
	struct amc_drive *d = state;

	amc_advance(d, now_ns);
	while (od_send(&d->od, now_ns, f))
		if (!d->silent) {
			d->out++;
			return true;
		}
	return false;
}

static struct sim_shaft *shaft(void *state, unsigned int n)
{
	return n ? NULL : &((struct amc_drive *)state)->shaft;
}

/* ---- on command ---- */

#define FAULT(word, member) SIM_FAULT(word, struct amc_drive, member)
#define CAUSE(word, bit) SIM_FAULT_BITS(word, struct amc_drive, causes, bit)
static const struct sim_fault faults[] = {
	FAULT("silent", silent),
	FAULT("encoder-stuck", encoder_stuck),
	CAUSE("over-temperature", AMC_HOT),
	CAUSE("under-voltage", AMC_LOW_VOLTAGE),
	CAUSE("stuck-in-fault", AMC_STUCK),
	{ 0 },
};

static void push(void *state, double torque_nm, int64_t duration_ns, int64_t t_ns)
{
	struct amc_drive *d = state;

	amc_advance(d, t_ns);
	d->push_nm = torque_nm;
	d->push_until_ns = t_ns + duration_ns;
}

static const char *nmt_name(enum od_nmt nmt)
{
	return nmt == OD_OFF	       ? "off"
	       : nmt == OD_BOOT	       ? "booting"
	       : nmt == OD_STOPPED     ? "stopped"
	       : nmt == OD_OPERATIONAL ? "operational"
				       : "pre-operational";
}

static void report(void *state, struct rpc_text *to)
{
	struct amc_drive *d = state;

	rpc_say(to, " nmt %s state %s status 0x%04X error 0x%04X position %.6f velocity %.6f current %.4f",
		nmt_name(d->od.nmt), amc_state_names[d->state], amc_status(d), d->error, d->joint.position,
		d->joint.velocity, d->joint.current);
	rpc_say(to,
		" mode %u guarded %s in %" PRIu64 " out %" PRIu64 " aborts %" PRIu64 " emcys %" PRIu64
		" enables %" PRIu64 " losses %" PRIu64 " fault_resets %" PRIu64 " starts %" PRIu64,
		od_value(&d->od, 0x6060, 0), od_is_guarded(&d->od) ? "yes" : "no", d->in, d->out, d->od.aborts,
		d->od.emcys, d->enables, d->losses, d->fault_resets, d->od.resets);
}

const struct sim_kind amc_kind = {
	SIM_DRIVER(amciod),
	.rows = rows,
	.load = load,
	.start = amc_start,
	.frame = frame,
	.next_ns = next_ns,
	.send = send,
	.advance = amc_advance,
	.has_power = od_has_power,
	.faults = faults,
	.faulted = amc_faulted,
	.power = amc_power,
	.push = push,
	.live = (const char *const[]){ "voltage", "noise", "velocity_gain", "i2t", NULL },
	.report = report,
	.shaft = shaft,
};
