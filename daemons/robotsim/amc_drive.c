/* amc_drive.c: a simulated AMC drive: state machine, faults, control loops, motor. */
#include "daemons/robotsim/amc_drive.h"

#include <math.h>

#include "channels/clock/clock.h"
#include "channels/clock/vt_clock.h"

#define STEP_S (AMC_STEP_NS * 1e-9)
#define RESISTIVE_SHARE 0.225 /* of the supply, which the peak current needs: 60 A at 0.09 ohm of 24 V */
#define INTEGRAL_S 0.1	      /* of the velocity loop */
#define POSITION_GAIN_1_S 5.0 /* of the position loop */
#define AT_REST_COUNTS_S 50
#define TIMER_TPDOS 10

const char *const amc_state_names[AMC_STATES] = { "switch-on-disabled", "ready", "switched-on", "enabled",
						  "quick-stop",		"fault" };

/* ---- state machine ---- */

static void enter(struct amc_drive *d, enum amc_state state)
{
	if (state == d->state)
		return;
	d->enables += state == AMC_ENABLED;
	d->state = state;
	d->integral_a = 0;
	if (state != AMC_ENABLED && state != AMC_QUICK_STOP)
		d->current_a = d->joint.current = d->shaft.current_a = 0; /* the bridge is off */
}

static void fail(struct amc_drive *d, uint16_t code, uint8_t error_register, int64_t t_ns)
{
	if (d->state == AMC_FAULT && d->error == code)
		return;
	enter(d, AMC_FAULT);
	d->error = code;
	od_emcy(&d->od, code, error_register, t_ns);
}

void amc_faulted(void *state, int64_t t_ns)
{
	struct amc_drive *d = state;

	if (d->causes & AMC_HOT)
		fail(d, 0x4310, 0x09, t_ns);
	else if (d->causes & AMC_LOW_VOLTAGE)
		fail(d, 0x3220, 0x05, t_ns);
	else if (d->causes & AMC_STUCK)
		fail(d, 0xFF00, 0x81, t_ns);
}

void amc_control(struct amc_drive *d, uint16_t word)
{
	const bool edge = word & 0x80 && !(d->control & 0x80);
	const enum amc_state was = d->state;

	d->control = word;
	if (was == AMC_FAULT) {
		if (!edge || d->causes)
			return;
		d->fault_resets++;
		d->error = 0;
		od_emcy(&d->od, 0, 0, d->t_ns);
		enter(d, AMC_DISABLED);
	} else if (!(word & 0x02)) {
		enter(d, AMC_DISABLED);
	} else if (!(word & 0x04)) {
		enter(d, was == AMC_ENABLED || was == AMC_QUICK_STOP ? AMC_QUICK_STOP : AMC_DISABLED);
	} else if (was == AMC_QUICK_STOP) {
		return; /* until it stands */
	} else if (!(word & 0x01)) {
		enter(d, AMC_READY);
	} else if (was == AMC_READY) {
		enter(d, AMC_ON);
	} else if (was != AMC_DISABLED) {
		enter(d, word & 0x08 ? AMC_ENABLED : AMC_ON);
	}
}

void amc_lost(void *state, uint16_t code, int64_t t_ns)
{
	struct amc_drive *d = state;

	d->losses++;
	fail(d, code, 0x11, t_ns);
}

void amc_reset(void *state)
{
	struct amc_drive *d = state;

	enter(d, AMC_DISABLED);
	d->control = d->error = 0;
	d->timer_ns[0] = d->timer_ns[1] = CLOCK_NEVER;
	amc_faulted(d, d->t_ns);
}

static double target(const struct amc_drive *d, uint16_t index)
{
	return (int32_t)od_value(&d->od, index, 0);
}

static bool is_there(const struct amc_drive *d)
{
	const double unit = amc_velocity_unit(d), wanted_a = (int16_t)od_value(&d->od, 0x6071, 0) * d->settings.peak_a;

	if (d->state != AMC_ENABLED)
		return fabs(d->velocity) < AT_REST_COUNTS_S;
	switch (od_value(&d->od, 0x6060, 0)) {
	case AMC_POSITION:
		return fabs(target(d, 0x607A) - d->position - d->offset) < d->counts / 100;
	case AMC_VELOCITY:
		return fabs(target(d, 0x60FF) * unit - d->velocity) < AT_REST_COUNTS_S;
	default:
		return fabs(wanted_a / 0x8000 - d->current_a) < d->settings.peak_a / 100;
	}
}

uint16_t amc_status(const struct amc_drive *d)
{
	static const uint16_t words[AMC_STATES] = { 0x0260, 0x0221, 0x0223, 0x0237, 0x0217, 0x0228 };

	return (uint16_t)(words[d->state] | (is_there(d) ? 0x0400 : 0) | (d->limited ? 0x0800 : 0) |
			  (d->causes & AMC_HOT ? 0x80 : 0));
}

/* ---- loops; positions and currents here have the drive's own sign ---- */

double amc_velocity_unit(const struct amc_drive *d)
{
	return (double)d->settings.ki * d->settings.ks_hz / 0x20000;
}

static double velocity_loop(struct amc_drive *d, double wanted, double limit_a)
{
	const double error = (wanted - d->velocity) / d->encoder.counts_per_rad;
	const double part_a = d->settings.velocity_gain * error;

	d->integral_a += part_a * STEP_S / INTEGRAL_S;
	d->integral_a = num_clamp(d->integral_a, -limit_a, limit_a);
	return part_a + d->integral_a;
}

static double wanted_current(struct amc_drive *d, double limit_a)
{
	if (d->state == AMC_QUICK_STOP)
		return velocity_loop(d, 0, limit_a);
	if (d->state != AMC_ENABLED)
		return 0;
	switch (od_value(&d->od, 0x6060, 0)) {
	case AMC_POSITION:
		return velocity_loop(d, POSITION_GAIN_1_S * (target(d, 0x607A) - d->position - d->offset), limit_a);
	case AMC_VELOCITY:
		return velocity_loop(d, target(d, 0x60FF) * amc_velocity_unit(d), limit_a);
	default:
		return (int16_t)od_value(&d->od, 0x6071, 0) * d->settings.peak_a / 0x8000;
	}
}

static double share(int64_t lag_ns) /* of the way that a first-order lag goes in a step */
{
	return lag_ns > 0 ? 1 - exp(-(double)AMC_STEP_NS / (double)lag_ns) : 1;
}

static void control_current(struct amc_drive *d)
{
	const struct amc_settings *s = &d->settings;
	const double excess = s->peak_a * s->peak_a - s->continuous_a * s->continuous_a;
	const bool exhausted = d->heat >= excess * (double)s->i2t_ns * 1e-9;
	const double limit_a = exhausted ? s->continuous_a : s->peak_a, wanted_a = wanted_current(d, limit_a);
	const double allowed_a = num_clamp(wanted_a, -limit_a, limit_a);

	d->limited = allowed_a != wanted_a;
	d->current_a += (allowed_a - d->current_a) * share(s->current_lag_ns);
	d->heat = fmax(0, d->heat + (d->current_a * d->current_a - s->continuous_a * s->continuous_a) * STEP_S);
}

static void measure(struct amc_drive *d)
{
	const double counts = d->encoder_stuck ? d->position : joint_counts(&d->encoder, d->joint.position, d->t_ns);
	const double velocity = (counts - d->position) / STEP_S;

	d->position = counts;
	d->velocity += (velocity - d->velocity) * share(d->settings.velocity_filter_ns);
}

/* ---- time ---- */

static void move(struct amc_drive *d)
{
	const double sign = d->backwards ? -1 : 1;
	const struct joint_drive drive = { .how = JOINT_CURRENT,
					   .value = sign * d->current_a + 0., /* never -0 */
					   .current_max = d->settings.peak_a,
					   .load_nm = d->t_ns < d->push_until_ns ? d->push_nm : 0 };

	if (d->shaft.coupled) {
		joint_carry(&d->joint, d->shaft.position_rad, d->shaft.velocity_rad_s);
		joint_motor_nm(&d->joint, &drive);
	} else {
		joint_step(&d->joint, &drive, STEP_S);
		d->shaft.position_rad = d->joint.position;
		d->shaft.velocity_rad_s = d->joint.velocity;
	}
	d->shaft.current_a = d->joint.current;
	d->current_a = sign * d->joint.current + 0.; /* less than wanted where the supply does not allow it */
}

static void send_by_timer(struct amc_drive *d)
{
	static const uint16_t periods[AMC_TIMERS] = { 0x2120, 0x2123 }, masks[AMC_TIMERS] = { 0x2121, 0x2124 };

	for (unsigned int i = 0; i < AMC_TIMERS; i++)
		while (d->timer_ns[i] <= d->t_ns) {
			for (size_t k = 0; k < TIMER_TPDOS; k++)
				if (od_value(&d->od, masks[i], 0) & 1u << k && d->od.pdo[k].type == 0xFE)
					od_transmit(&d->od, k, d->timer_ns[i]);
			d->timer_ns[i] += od_value(&d->od, periods[i], 0) * INT64_C(1000000);
		}
}

void amc_advance(void *state, int64_t t_ns)
{
	struct amc_drive *d = state;

	while (d->t_ns + AMC_STEP_NS <= t_ns) {
		d->t_ns += AMC_STEP_NS;
		od_advance(&d->od, d->t_ns);
		control_current(d);
		move(d);
		measure(d);
		if (d->state == AMC_QUICK_STOP && fabs(d->velocity) < AT_REST_COUNTS_S)
			enter(d, AMC_DISABLED);
		if (d->od.nmt != OD_OFF)
			send_by_timer(d);
	}
}

void amc_start(void *state, int64_t t_ns)
{
	struct amc_drive *d = state;
	const struct amc_settings *s = &d->settings;

	d->encoder = (struct joint_encoder){ .counts_per_rad = d->gear * d->counts / (2 * acos(-1)),
					     .backwards = d->backwards,
					     .noise = s->noise,
					     .seed = vt_clock_seed(s->seed) };
	d->joint = (struct joint){ .inertia = s->inertia,
				   .torque_per_a = s->torque_per_a,
				   .velocity_full = s->no_load * (1 - RESISTIVE_SHARE),
				   .velocity_none = s->no_load,
				   .viscous = s->viscous,
				   .friction_nm = s->friction_nm,
				   .stiction_nm = s->friction_nm,
				   .ends = { -INFINITY, INFINITY },
				   .position = s->position };
	d->t_ns = t_ns - t_ns % AMC_STEP_NS;
	if (d->shaft.coupled)
		joint_carry(&d->joint, d->shaft.position_rad, d->shaft.velocity_rad_s);
	d->position = joint_counts(&d->encoder, d->joint.position, d->t_ns);
	od_start(&d->od, &amc_device, d, d->node, t_ns);
	d->od.boot_ns = s->boot_ns;
	d->od.reply_ns = s->reply_ns;
	d->od.pdo_ns = s->pdo_ns;
	d->od.booted_ns = t_ns + s->boot_ns;
	if (!s->power)
		od_power(&d->od, false, t_ns);
}

/* Without power the position is lost: it counts from 0 where it stands. */
void amc_power(void *state, bool on, int64_t t_ns)
{
	struct amc_drive *d = state;

	od_power(&d->od, on, t_ns);
	if (!on)
		d->offset = -d->position;
}
