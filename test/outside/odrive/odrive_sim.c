/* odrive_sim.c: an ODrive as a simulated device, written from odrive.md. */
#include <math.h>

#include "channels/clock/vt_clock.h"
#include "daemons/robotsim/joint.h"
#include "daemons/robotsim/sim_base.h"
#include "odrived_settings.h"

#define TURN (2 * M_PI)
#define STEP_NS 1000000
#define GAIN_1_S 20.0
#define IDLE 1
#define CLOSED_LOOP 8
#define OVER_CURRENT 0x400u
#define WATCHDOG 0x1000000u
#define REPLY_NS 300000

struct drive {
	struct sim_base base;
	unsigned int node;
	int64_t endpoint; /* of its watchdog */
	struct joint joint;
	struct joint_drive motor;
	double start_rad, velocity_max;
	int64_t watchdog_ns; /* 0: off */

	uint32_t state, errors, reason, control;
	float position, velocity; /* its input: turns, turns/s */
	double jump;		  /* the largest step of its input while its loop is closed, turns */
	bool over_current;
	int64_t t_ns, beat_ns, estimate_ns, fed_ns;
	uint64_t inputs;
};

static const struct settings_row rows[] = {
	SETTINGS_REAL("position", struct drive, start_rad, "rad", "0", "-1000", "1000", "of the motor at first"),
	SETTINGS_REAL("velocity_max", struct drive, velocity_max, "rad/s", "100", "0.1", "1000", "its own limit"),
	SETTINGS_DURATION("watchdog", struct drive, watchdog_ns, "100ms", "0", "10s", "its own; 0: off"),
	SETTINGS_END,
};

static int load(struct sim *sim, const struct robot_device *device, const void *of_driver, struct error_sink *errors)
{
	const struct odrived_settings *settings = of_driver;
	const unsigned int n = (unsigned int)settings->node;
	struct drive drive = { .node = n, .endpoint = settings->watchdog_endpoint };
	const struct sim_node node = { &drive, sizeof(drive), n, .hears = n << 5, .sends = n << 5 | 0x09 };

	if (sim_add_node(sim, device, &node, errors))
		return -EINVAL;
	/* Every command of its node, remote frames too. */
	sim->units[sim->units_n - 1].filters[0] = (struct bus_filter){ n << 5, 0x7E0 | FRAME_EXT };
	return 0;
}

/* ---- how it turns ---- */

static void disarm(struct drive *d, uint32_t error)
{
	if (d->state == CLOSED_LOOP)
		d->reason = error;
	d->errors |= error;
	d->state = IDLE;
}

static void boot(void *state, int64_t t_ns)
{
	struct drive *d = state;

	d->state = IDLE;
	d->errors = d->reason = 0;
	d->control = 3;
	d->t_ns = d->beat_ns = d->estimate_ns = t_ns;
}

static void start(void *state, int64_t t_ns)
{
	struct drive *d = state;

	d->joint = (struct joint){ .inertia = 0.01,
				   .viscous = 0.05,
				   .friction_nm = 0.02,
				   .stiction_nm = 0.02,
				   .acceleration = 2000,
				   .ends = { -INFINITY, INFINITY },
				   .position = d->start_rad };
	boot(d, t_ns);
}

static void advance(void *state, int64_t t_ns)
{
	struct drive *d = state;

	while (d->t_ns < t_ns) {
		const int64_t step_ns = t_ns - d->t_ns < STEP_NS ? t_ns - d->t_ns : STEP_NS;
		const double behind = (double)d->position * TURN - d->joint.position;

		if (d->watchdog_ns && d->state == CLOSED_LOOP && d->t_ns - d->fed_ns > d->watchdog_ns)
			disarm(d, WATCHDOG);
		d->motor.how = d->state == CLOSED_LOOP ? JOINT_VELOCITY : JOINT_FREE;
		d->motor.value = num_clamp((double)d->velocity * TURN + (d->control == 3 ? GAIN_1_S * behind : 0),
					   -d->velocity_max, d->velocity_max);
		joint_step(&d->joint, &d->motor, (double)step_ns * 1e-9);
		d->t_ns += step_ns;
	}
}

/* ---- what it hears ---- */

static float f32(const uint8_t *data)
{
	float value;

	memcpy(&value, data, sizeof(value)); /* little endian, as the machines that this runs on */
	return value;
}

static void reply(struct drive *d, unsigned int command, uint64_t low, uint64_t high, uint8_t len)
{
	struct frame f = { .id = d->node << 5 | command, .len = len };

	frame_put_le(f.data, low, 4);
	frame_put_le(f.data + 4, high, 4);
	sim_base_put(&d->base, f, 1, d->t_ns + REPLY_NS);
}

static void set_input(struct drive *d, float position, float velocity)
{
	const double step = fabs((double)position - (double)d->position);

	if (d->state == CLOSED_LOOP && d->control == 3 && step > d->jump)
		d->jump = step;
	d->position = position;
	d->velocity = velocity;
	d->inputs++;
}

static void frame(void *state, const struct frame *f, int64_t t_ns)
{
	struct drive *d = state;
	const unsigned int command = f->id & 0x1F;
	const bool asks = f->id & FRAME_RTR || !f->len;

	if (d->base.off)
		return;
	advance(d, t_ns);
	d->fed_ns = t_ns;
	if (command == 0x00 && asks)
		reply(d, command, 0x02 | 4 << 8 | 4 << 16 | 58 << 24, 0 | 6 << 8 | 10 << 16, 8);
	else if (command == 0x03 && asks)
		reply(d, command, d->errors, d->reason, 8);
	else if (command == 0x04 && f->len >= 4 && !f->data[0] && frame_le16(f->data + 1) == d->endpoint)
		reply(d, 0x05, (uint64_t)d->endpoint << 8, d->watchdog_ns > 0, 5);
	else if (command == 0x07 && f->len >= 4 && frame_le32(f->data) == IDLE)
		d->state = IDLE;
	else if (command == 0x07 && f->len >= 4 && frame_le32(f->data) == CLOSED_LOOP && !d->errors)
		d->state = CLOSED_LOOP;
	else if (command == 0x0B && f->len >= 8)
		d->control = frame_le32(f->data);
	else if (command == 0x0C && f->len >= 8)
		set_input(d, f32(f->data), (float)(int16_t)frame_le16(f->data + 4) * 1e-3F);
	else if (command == 0x0D && f->len >= 8)
		set_input(d, d->control == 3 ? d->position : (float)(d->joint.position / TURN), f32(f->data));
	else if (command == 0x18)
		d->errors = d->over_current ? OVER_CURRENT : 0;
}

/* ---- what it says ---- */

static int64_t next_ns(const void *state)
{
	const struct drive *d = state;
	const int64_t cyclic_ns = d->beat_ns < d->estimate_ns ? d->beat_ns : d->estimate_ns;

	return cyclic_ns < sim_base_next_ns(d) ? cyclic_ns : sim_base_next_ns(d);
}

static bool send(void *state, int64_t now_ns, struct frame *f)
{
	struct drive *d = state;
	struct frame cyclic = { .len = 8 };
	float value[2];

	advance(d, now_ns);
	if (sim_base_due(&d->beat_ns, 100000000, now_ns)) {
		cyclic.id = d->node << 5 | 0x01;
		frame_put_le(cyclic.data, d->errors | (uint64_t)d->state << 32 | UINT64_C(0xA5A5) << 48, 8);
		sim_base_put(&d->base, cyclic, !d->base.silent && !d->base.off, now_ns);
	}
	if (sim_base_due(&d->estimate_ns, 10000000, now_ns)) {
		cyclic.id = d->node << 5 | 0x09;
		value[0] = (float)(d->joint.position / TURN);
		value[1] = (float)(d->joint.velocity / TURN);
		memcpy(cyclic.data, value, sizeof(value));
		sim_base_put(&d->base, cyclic, !d->base.silent && !d->base.off, now_ns);
	}
	return sim_base_send(d, now_ns, f);
}

/* ---- on command ---- */

static const struct sim_fault faults[] = {
	SIM_BASE_SILENT,
	SIM_BASE_GARBAGE,
	SIM_FAULT("over-current", struct drive, over_current),
	{ 0 },
};

static void faulted(void *state, int64_t t_ns)
{
	struct drive *d = state;

	(void)t_ns;
	if (d->over_current)
		disarm(d, OVER_CURRENT);
}

static void report(void *state, struct rpc_text *to)
{
	const struct drive *d = state;

	rpc_say(to, " position %.6f velocity %.6f state %u errors 0x%X jump %.6f inputs %llu", d->joint.position,
		d->joint.velocity, d->state, d->errors, d->jump, (unsigned long long)d->inputs);
}

const struct sim_kind odrive_kind = {
	SIM_DRIVER(odrived),
	.rows = rows,
	.load = load,
	.start = start,
	.frame = frame,
	.next_ns = next_ns,
	.send = send,
	.advance = advance,
	.boot = boot,
	.faults = faults,
	.faulted = faulted,
	.report = report,
	.has_power = sim_base_has_power,
};

SIM_OBJECT(odrive_kind);
