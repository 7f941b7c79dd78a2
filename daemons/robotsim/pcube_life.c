/* pcube_life.c: power, faults, the state word. */
#include <math.h>

#include "daemons/robotsim/pcube.h"

#define SWITCH_RAD 0.03	     /* limit switches lie that far before the ends */
#define OFF_THE_END_RAD 0.05 /* how far a hand moves a joint that lies at its end */

#define STATE_NAME(NAME, name) name,
const char *const pcube_state_names[PCUBE_BITS] = { PCUBE_STATES(STATE_NAME) };

struct joint_encoder pcube_encoder(const struct pcube *m)
{
	return (struct joint_encoder){ .counts_per_rad = (double)m->values.ticks_per_unit,
				       .offset = m->zero,
				       .noise = m->settings.noise,
				       .seed = m->settings.seed * PCUBE_ADDRESS_MAX + m->values.address };
}

double pcube_position(const struct pcube *m)
{
	const struct joint_encoder encoder = pcube_encoder(m);

	return joint_reading(&encoder, m->joint.position, m->t_ns);
}

double pcube_current_max(const struct pcube *m)
{
	const double may = m->values.config & PCUBE_CONFIG_FULL_CURRENT ? m->type->current_peak_a : m->type->current_a;

	return fmin((double)m->values.max_current, may);
}

bool pcube_hears(const struct pcube *m)
{
	return m->power && !m->booting && !m->other_bus;
}

/* ---- the state word ---- */

static uint32_t switches(const struct pcube *m)
{
	uint32_t bits = 0;

	if (m->values.config & PCUBE_CONFIG_HOME_SWITCH && pcube_at_home_switch(m))
		bits |= PCUBE_HOME_SWITCH;
	if (m->values.config & PCUBE_CONFIG_SWITCH_1 && m->joint.position < m->joint.ends[0] + SWITCH_RAD)
		bits |= PCUBE_LIMIT_SWITCH_1;
	if (m->values.config & PCUBE_CONFIG_SWITCH_2 && m->joint.position > m->joint.ends[1] - SWITCH_RAD)
		bits |= PCUBE_LIMIT_SWITCH_2;
	return bits;
}

uint32_t pcube_state(const struct pcube *m)
{
	return m->faults | m->forced | switches(m) | pcube_motion_bits(m) | (m->error ? PCUBE_ERROR : 0) |
	       (m->homed ? PCUBE_HOMED : 0) | (m->halted ? PCUBE_HALTED : 0) | (m->brake ? PCUBE_BRAKE : 0) |
	       (m->joint.limited ? PCUBE_CURRENT_LIMIT : 0);
}

/* ---- what ends motion, and what lets it begin again ---- */

bool pcube_has_brake(const struct pcube *m)
{
	return m->values.default_config & PCUBE_CONFIG_BRAKE;
}

/* No current, at once. */
bool pcube_is_limp(const struct pcube *m)
{
	return !m->power || m->booting || m->faults & PCUBE_LIMP ||
	       (m->halted && m->values.config & PCUBE_CONFIG_DISABLE_ON_HALT);
}

void pcube_halt(struct pcube *m)
{
	m->halted = true;
	pcube_motion_stop(m);
}

void pcube_trip(struct pcube *m, uint32_t faults)
{
	m->faults |= faults;
	m->error = true;
	if (faults & PCUBE_TOW_ERROR)
		pcube_motion_here(m); /* it pushes no longer for what it did not reach */
	pcube_halt(m);
}

/* The servo loop takes the joint as it finds it, and stops it. */
static void take_hold(struct pcube *m)
{
	m->brake = false;
	pcube_motion_here(m);
	m->motion.now = (struct pcube_move){ .mode = PCUBE_VELOCITY };
}

void pcube_reset(struct pcube *m)
{
	const bool was_open = m->brake || pcube_is_limp(m);
	uint32_t ends = PCUBE_ENDS_BY_RESET & ~m->causes;

	if (!(m->causes & PCUBE_VOLTAGE) && m->supply_failed)
		ends |= PCUBE_POWER_FAULT;
	if (!m->joint.end)
		ends |= PCUBE_HARD_LIMIT;
	m->faults &= ~ends;
	m->error = m->halted = m->faults != 0;
	m->supply_failed = m->supply_failed && m->faults & PCUBE_POWER_FAULT;
	m->wrong_position = m->settings.wrong_after_reset;
	m->watchdog_ns = m->t_ns + m->settings.watchdog_ns;
	pcube_motion_stop(m);
	if (!m->halted && was_open)
		take_hold(m);
}

/* ---- power ---- */

/* As it is when its processor begins to answer. */
void pcube_boot(struct pcube *m)
{
	pcube_values_reset(m);
	m->booting = false;
	m->homed = false;
	m->armed = false;
	m->other_bus = false;
	m->wrong_position = false;
	m->heat = 0;
	m->faults = m->causes;
	m->supply_failed = m->causes & PCUBE_VOLTAGE;
	if (m->supply_failed)
		m->faults |= PCUBE_POWER_FAULT;
	m->error = m->halted = m->faults != 0;
	m->brake = pcube_has_brake(m) && (m->halted || m->values.config & PCUBE_CONFIG_BRAKE_AT_POWER_ON);
	if (!m->settings.absolute)
		m->zero = -m->joint.position; /* it counts from where it wakes up */
	m->motion = (struct pcube_motion){ .ramp_end = true };
	pcube_motion_here(m);
	if (!m->brake)
		take_hold(m);
}

void pcube_power(void *state, bool on, int64_t t_ns)
{
	struct pcube *m = state;

	pcube_advance(m, t_ns);
	if (on == m->power)
		return;
	m->power = on;
	m->replies.n = 0;
	m->motion = (struct pcube_motion){ .ramp_end = true };
	m->armed = false;
	m->booting = on;
	m->booted_ns = m->t_ns + m->settings.boot_ns;
}

void pcube_start(struct pcube *m, unsigned int address, const struct pcube_settings *settings, int64_t t_ns)
{
	const uint64_t seed = (uint64_t)settings->seed * PCUBE_ADDRESS_MAX + address;

	memset(m, 0, sizeof(*m));
	m->settings = *settings;
	m->type = &pcube_types[settings->type];
	m->values.address = (uint8_t)address;
	m->random = seed * 0x9E3779B97F4A7C15u | 1;
	m->t_ns = m->booted_ns = t_ns - t_ns % PCUBE_STEP_NS; /* whenever it starts, its steps are the same */
	pcube_servo_init(m);
	m->shaft.position_rad = m->joint.position;
	m->shaft.velocity_rad_s = m->joint.velocity;
	pcube_values_reset(m);
	pcube_boot(m);
	m->power = settings->power;
	/* Not as after power-up, but as its previous user left it. */
	m->homed = settings->homed;
	m->zero = settings->home_offset - settings->home;
	if (settings->moving != 0 && m->power) {
		take_hold(m);
		m->motion.now.value = settings->moving;
		m->motion.ramp_end = false;
	}
}

/* ---- from outside ---- */

void pcube_fault(struct pcube *m, uint32_t bit, bool on, int64_t t_ns)
{
	pcube_advance(m, t_ns);
	if (bit == PCUBE_ERROR) {
		m->error = on;
	} else if (bit == PCUBE_HOMED) {
		m->homed = on;
	} else if (bit == PCUBE_HALTED && on) {
		pcube_halt(m);
	} else if (bit == PCUBE_HALTED) {
		m->halted = false;
		take_hold(m);
	} else if (!(bit & PCUBE_FAULTS)) {
		m->forced = on ? m->forced | bit : m->forced & ~bit;
	} else if (on) {
		pcube_trip(m, bit);
	} else {
		m->faults &= ~bit;
		m->error = m->error && m->faults;
		if (bit == PCUBE_HARD_LIMIT && m->joint.end) {
			joint_carry(&m->joint, m->joint.position - m->joint.end * OFF_THE_END_RAD, m->joint.velocity);
		}
	}
}

void pcube_supply(struct pcube *m, bool low, int64_t t_ns)
{
	pcube_advance(m, t_ns);
	m->causes = low ? m->causes | PCUBE_VOLTAGE : m->causes & ~PCUBE_VOLTAGE;
	if (low && m->power) {
		m->supply_failed = !(m->faults & PCUBE_POWER_FAULT) || m->supply_failed;
		pcube_trip(m, PCUBE_VOLTAGE | PCUBE_POWER_FAULT);
	}
}

void pcube_push(void *state, double torque_nm, int64_t duration_ns, int64_t t_ns)
{
	struct pcube *m = state;

	pcube_advance(m, t_ns);
	m->push_nm = torque_nm;
	m->push_until_ns = m->t_ns + duration_ns;
}
