/* hubo_sensor.c: simulated sensor boards and power board of Hubo, written from hw-docs/devices/hubo.md. */
#include <math.h>

#include "daemons/robotsim/hubo_boards.h"
#include "daemons/robotsim/sim_random.h"

#define DEGREES (180 / M_PI)

#define ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct hubo_sensor_unit, __VA_ARGS__)
const struct settings_row hubo_sensor_rows[] = {
	ROW(DURATION, "sensor_delay", delay_ns, "150us", "0s", "1s", "from a request to a sensor to its reply"),
	ROW(REALS, "torque", torque_nm, torque_n, "N m", "[0, 0]", "-320", "320",
	    "about x and y, of a force/torque sensor"),
	ROW(REAL, "force", force_n, "N", "0", "-3200", "3200", "along z, of a force/torque sensor"),
	ROW(REALS, "tilt", tilt_rad, tilt_n, "rad", "[0, 0]", "-5", "5", "about x and y, of a foot"),
	ROW(REAL, "tilt_z", tilt_z, "", "0", "-43", "43", "of a foot, as it is on the wire"),
	ROW(REALS, "angle", angle_rad, angle_n, "rad", "[0, 0]", "-5", "5", "roll and pitch of the body"),
	ROW(REALS, "rate", rate_rad_s, rate_n, "rad/s", "[0, 0]", "-5", "5", "of roll and pitch"),
	ROW(REAL, "voltage", voltage_v, "V", "48", "-320", "320", "of the power board"),
	ROW(REAL, "supply", current_a, "A", "3.5", "-320", "320", "that the power board measures"),
	SETTINGS_END,
};

/* ---- the robot file ---- */

static int add(struct sim *sim, const struct robot_device *device, const char *name, int bus,
	       const struct hubo_sensor_unit *sensor, struct error_sink *errors)
{
	struct sim_unit *unit = hubo_boards_add(sim, device, name, bus, sizeof(*sensor), errors);

	if (!unit)
		return -EINVAL;
	unit->kind = &hubo_sensor_kind;
	unit->sends = sensor->kind == HUBO_SENSOR_POWER ? 0x060 + HUBO_POWER_BOARD : 0x040 + sensor->number;
	memcpy(unit->state, sensor, sizeof(*sensor));
	return 0;
}

int hubo_sensor_load(struct sim *sim, const struct robot_device *device, const struct hubo_table *table,
		     const struct hubo_sensor_unit *settings, struct error_sink *errors)
{
	struct hubo_sensor_unit sensor = *settings;
	int r = 0;

	if (sensor.torque_n != 2 || sensor.tilt_n != 2 || sensor.angle_n != 2 || sensor.rate_n != 2)
		return yaml_error(errors, device->sim,
				  "torque, tilt, angle and rate have two numbers each, such as [0, 0]");
	for (int i = 0; !r && i < HUBO_SENSORS; i++) {
		const struct hubo_sensor *from = &table->sensors[i];

		if (!from->line)
			continue;
		sensor.kind = i >= HUBO_IMU0			 ? HUBO_SENSOR_INERTIAL
			      : i == HUBO_RFFT || i == HUBO_LFFT ? HUBO_SENSOR_FOOT
								 : HUBO_SENSOR_FORCE;
		sensor.number = (unsigned int)from->number;
		memcpy(sensor.sign, from->sign, sizeof(sensor.sign));
		r = add(sim, device, hubo_sensor_names[i], from->bus, &sensor, errors);
	}
	sensor.kind = HUBO_SENSOR_POWER;
	sensor.number = HUBO_POWER_BOARD;
	return r ? r : add(sim, device, "POWER", HUBO_BUSES - 1, &sensor, errors);
}

/* ---- what it says ---- */

static void put(struct frame *f, double value)
{
	frame_put_le(f->data + f->len, sim_base_i16(value), 2);
	f->len += 2;
}

static void say_force(const struct hubo_sensor_unit *u, struct frame *f)
{
	f->id = 0x040 + u->number;
	for (unsigned int i = 0; i < 2; i++)
		put(f, (u->sign[i] * u->torque_nm[i] - u->null[i]) * 100);
	put(f, (u->sign[2] * u->force_n - u->null[2]) * 10);
}

static void say_tilt(const struct hubo_sensor_unit *u, struct frame *f)
{
	f->id = 0x050 + u->number;
	for (unsigned int i = 0; i < 2; i++)
		put(f, (u->tilt_rad[i] - u->null[3 + i]) * DEGREES * 100);
	put(f, u->tilt_z * 750);
}

static void say_angles(const struct hubo_sensor_unit *u, struct frame *f)
{
	f->id = 0x050 + u->number;
	for (unsigned int i = 0; i < 2; i++)
		put(f, (u->angle_rad[i] - u->null[3 + i]) * DEGREES * 100);
	for (unsigned int i = 0; i < 2; i++)
		put(f, u->rate_rad_s[i] * DEGREES * 100);
}

static void say_power(const struct hubo_sensor_unit *u, struct frame *f)
{
	f->id = 0x060 + HUBO_POWER_BOARD;
	put(f, u->voltage_v * 100);
	put(f, u->current_a * 100);
	put(f, u->voltage_v * u->current_a * 10);
}

/* The reply to a request.  false: there is none. */
static bool answer(const struct hubo_sensor_unit *u, const struct frame *q, struct frame *f)
{
	const bool force = u->kind == HUBO_SENSOR_FORCE || u->kind == HUBO_SENSOR_FOOT;

	*f = (struct frame){ 0 };
	if (u->kind == HUBO_SENSOR_POWER && q->id == 0x001 && q->len == 2 && q->data[1] == 0xE0)
		say_power(u, f);
	else if (force && q->id == 0x002 && q->len == 2 && q->data[1] == 0x12)
		say_force(u, f);
	else if (u->kind == HUBO_SENSOR_FOOT && q->id == 0x002 && q->len == 2 && q->data[1] == 0x22)
		say_tilt(u, f);
	else if (u->kind == HUBO_SENSOR_INERTIAL && q->id == 0x002 && q->len == 3 && !q->data[1] && q->data[2] == 1)
		say_angles(u, f);
	else
		return false;
	return true;
}

/* Command 0x81: what it measures now is 0. */
static bool set_null(struct hubo_sensor_unit *u, const struct frame *f)
{
	const bool inertial = u->kind == HUBO_SENSOR_INERTIAL;

	if (u->kind == HUBO_SENSOR_POWER || f->data[1] != 0x81 || f->len != (inertial ? 2 : 3))
		return false;
	if (inertial) {
		memcpy(u->null + 3, u->angle_rad, sizeof(u->angle_rad));
	} else if (f->data[2] == 0x04) {
		memcpy(u->null + 3, u->tilt_rad, sizeof(u->tilt_rad));
	} else {
		u->null[0] = u->sign[0] * u->torque_nm[0];
		u->null[1] = u->sign[1] * u->torque_nm[1];
		u->null[2] = u->sign[2] * u->force_n;
	}
	return true;
}

/* ---- as a unit ---- */

static void start(void *state, int64_t t_ns)
{
	struct hubo_sensor_unit *u = state;

	(void)t_ns;
	u->base.random = sim_random_seed(u->number);
}

/* In commands a sensor board has a number of the joint boards' kind. */
static bool hears(const void *state, const struct frame *f)
{
	const struct hubo_sensor_unit *u = state;
	const unsigned int command = u->kind == HUBO_SENSOR_POWER ? u->number : 0x2F + u->number;

	return f->len >= 2 && ((f->id == 0x001 && f->data[0] == command) ||
			       (f->id == 0x002 && f->data[0] == u->number && u->kind != HUBO_SENSOR_POWER));
}

static void frame(void *state, const struct frame *f, int64_t t_ns)
{
	struct hubo_sensor_unit *u = state;
	struct frame reply;

	if (u->base.off || !hears(u, f))
		return;
	if (!answer(u, f, &reply)) {
		u->ignored += !set_null(u, f) && !(f->id == 0x001 && f->data[1] == 0xFA && f->len == 3);
		return;
	}
	u->asked++;
	if (!sim_base_loses(&u->base, HUBO_SENSOR_REPLIES_MAX))
		sim_base_put(&u->base, reply, 1, t_ns + u->delay_ns);
}

/* ---- on command ---- */

static const struct sim_fault faults[] = { SIM_BASE_SILENT, SIM_BASE_GARBAGE, SIM_BASE_SHORT, { 0 } };

static void boot(void *state, int64_t t_ns)
{
	struct hubo_sensor_unit *u = state;

	(void)t_ns;
	memset(u->null, 0, sizeof(u->null));
}

static void report(void *state, struct rpc_text *to)
{
	const struct hubo_sensor_unit *u = state;

	rpc_say(to, " number %u power %s asked %llu sent %llu lost %llu ignored %llu", u->number,
		u->base.off ? "off" : "on", (unsigned long long)u->asked, (unsigned long long)u->base.sent,
		(unsigned long long)u->base.lost, (unsigned long long)u->ignored);
}

const struct sim_kind hubo_sensor_kind = {
	.driver = "hubod",
	.rows = hubo_sensor_rows,
	.start = start,
	.hears = hears,
	.frame = frame,
	SIM_BASE_SENDS,
	.faults = faults,
	.boot = boot,
	.report = report,
};
