/* pcube_values.c: the parameters of a module: a table, and what is measured put into it before it is read. */
#include <math.h>

#include "daemons/robotsim/pcube.h"

#define PULSES_PER_TURN 2000
#define RAW_CURRENT_MAX 500
#define DIGITAL_IO 0x26
#define OUTPUTS 0xF0u
#define ACTUAL_POSITION 0x3C
#define WRONG_BY_RAD 0.25 /* the first position after a reset */

/* What a set accepts. */
enum rule { READ, ANY, FINITE, NOT_NEGATIVE };

struct row {
	uint8_t id, size;
	uint8_t most; /* the parameter that is the largest value taken; 0: none */
	enum rule rule;
	size_t offset;
};

#define ROW(id, type, rule, member, most) { id, sizeof(type), most, rule, offsetof(struct pcube_values, member) },
static const struct row rows[] = { PCUBE_PARAMETERS(ROW) };

static const struct row *find(uint8_t id)
{
	if (id == PCUBE_HOME_OFFSET_89)
		id = PCUBE_HOME_OFFSET;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].id == id)
			return &rows[i];
	return NULL;
}

float pcube_value_f32(const uint8_t bytes[4])
{
	const uint32_t bits = frame_le32(bytes);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* ---- as they are ---- */

void pcube_values_reset(struct pcube *m)
{
	const struct pcube_settings *s = &m->settings;
	const struct pcube_type *type = m->type;

	m->values = (struct pcube_values){
		.default_home_offset = (float)s->home_offset,
		.default_gear_ratio = (float)type->ratio,
		.default_min_position = (float)s->limits[0],
		.default_max_position = (float)s->limits[1],
		.default_max_velocity = (float)type->velocity,
		.default_max_acceleration = (float)type->acceleration,
		.default_max_current = (float)type->current_peak_a,
		.default_home_velocity = (float)s->home_velocity,
		.serial = (uint32_t)s->serial,
		.default_config = (uint32_t)s->config,
		.pulses_per_turn = PULSES_PER_TURN,
		.version = (uint16_t)s->version,
		.address = m->values.address,
		.primary_baud = 3,
		.secondary_baud = 3,
		.config = (uint32_t)s->config,
		.ticks_per_unit = (float)(PULSES_PER_TURN * type->ratio / (2 * M_PI)),
		.max_following_error = (float)s->following_error,
		.min_position = (float)s->limits[0],
		.max_position = (float)s->limits[1],
		.max_velocity = (float)type->velocity,
		.max_acceleration = (float)type->acceleration,
		.max_current = (float)type->current_peak_a,
		.target_velocity = (float)type->velocity,
		.target_acceleration = (float)type->acceleration,
		.servo_c0 = 20,
		.servo_damping = 2,
		.servo_a0 = 2,
		.home_offset = (float)s->home_offset,
		.nominal_current = (float)type->current_a,
		.peak_current = (float)type->current_peak_a,
		.nominal_overshoot = 4000,
		.peak_overshoot = 1000,
	};
}

static int32_t whole(double ticks)
{
	return ticks >= (double)INT32_MAX ? INT32_MAX : ticks <= (double)INT32_MIN ? INT32_MIN : (int32_t)floor(ticks);
}

static int32_t count(double units, const struct pcube *m)
{
	return whole(units * (double)m->values.ticks_per_unit);
}

static double target(const struct pcube *m)
{
	const struct pcube_motion *n = &m->motion;

	return (n->now.mode == PCUBE_RAMP || n->now.mode == PCUBE_STEP ? n->now.value : n->position) + m->zero;
}

static void refresh(struct pcube *m)
{
	/* The motion that runs, by its number in a move. */
	static const uint8_t motions[] = {
		[PCUBE_HOLD] = 7, [PCUBE_RAMP] = 4, [PCUBE_STEP] = 6, [PCUBE_VELOCITY] = 7, [PCUBE_CURRENT] = 8
	};
	struct pcube_values *v = &m->values;
	const double power_w = m->joint.torque_per_a * m->joint.current * m->joint.velocity;
	const struct joint_encoder encoder = pcube_encoder(m);
	const double voltage = m->causes & PCUBE_VOLTAGE ? 0 : m->settings.voltage;

	v->state = pcube_state(m);
	v->position_count = whole(joint_counts(&encoder, m->joint.position, m->t_ns));
	v->actual_position = (float)pcube_position(m);
	v->actual_velocity = (float)m->joint.velocity;
	v->actual_current = (float)m->joint.current;
	v->raw_current = (int16_t)lrint(m->joint.current / m->type->current_peak_a * RAW_CURRENT_MAX);
	v->interpolated_position = (float)(m->motion.position + m->zero);
	v->interpolated_velocity = (float)m->motion.velocity;
	v->following_error = (float)(m->motion.position - m->joint.position);
	v->reference_count = count(m->motion.position + m->zero, m);
	v->target_position = (float)target(m);
	v->target_count = count(target(m), m);
	v->target_velocity_count = count((double)v->target_velocity, m);
	v->target_acceleration_count = count((double)v->target_acceleration, m);
	v->move_mode = motions[m->motion.now.mode];
	v->bus_voltage = (float)voltage;
	v->bus_current = voltage > 0 ? (float)(fmax(power_w, 0) / voltage) : 0;
}

float pcube_value_position(struct pcube *m)
{
	const bool wrong = m->wrong_position;

	m->wrong_position = false;
	return (float)(pcube_position(m) + (wrong ? WRONG_BY_RAD : 0));
}

unsigned int pcube_value_get(struct pcube *m, uint8_t id, uint8_t bytes[4])
{
	const struct row *row = find(id);
	uint32_t bits = 0;

	if (!row)
		return 0;
	refresh(m);
	if (id == ACTUAL_POSITION)
		m->values.actual_position = pcube_value_position(m);
	memcpy(&bits, (const char *)&m->values + row->offset, row->size); /* both of our machines are little */
	frame_put_le(bytes, bits, 4);
	return row->size;
}

/* ---- as they are set ---- */

static bool is_allowed(const struct pcube *m, const struct row *row, float value)
{
	float most;

	if (row->rule <= ANY)
		return row->rule == ANY;
	memcpy(&most, (const char *)&m->values + find(row->most)->offset, sizeof(most));
	return isfinite(value) && (row->rule == FINITE || value >= 0) && (!row->most || value <= most);
}

int pcube_value_set(struct pcube *m, uint8_t id, const uint8_t *bytes, unsigned int n)
{
	const struct row *row = find(id);
	uint8_t padded[4] = { 0 };
	uint32_t bits;

	if (!row || n != row->size)
		return -1;
	memcpy(padded, bytes, n);
	if (!is_allowed(m, row, pcube_value_f32(padded))) {
		m->counts.refused++;
		return (int)m->settings.refused;
	}
	bits = frame_le32(padded);
	if (id == DIGITAL_IO)
		bits = (m->values.digital_io & ~OUTPUTS) | (bits & OUTPUTS);
	memcpy((char *)&m->values + row->offset, &bits, n);
	if (!(m->values.config & PCUBE_CONFIG_WATCHDOG))
		m->armed = false;
	m->other_bus = m->values.config & PCUBE_CONFIG_OTHER_BUS;
	return (int)m->settings.done;
}
