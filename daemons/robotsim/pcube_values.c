/* pcube_values.c: the parameters of a module: a table, and what is measured put into it before it is read. */
#include <math.h>
#include <string.h>

#include "daemons/robotsim/pcube.h"

#define PULSES_PER_TURN 2000
#define RAW_CURRENT_MAX 500
#define DIGITAL_IO 0x26
#define OUTPUTS 0xF0u
#define ACTUAL_POSITION 0x3C
#define WRONG_BY_RAD 0.25 /* the first position after a reset */
#define PI 3.14159265358979323846

enum type { F32, U32, I32, U16, I16, U8 };
/* What a set accepts. */
enum rule { READ, ANY, NOT_NEGATIVE };

struct row {
	uint8_t id;
	uint8_t type, rule;
	uint16_t offset;
	uint16_t most; /* offset of the largest value that is taken, a default; 0: none */
};

#define AT(member) offsetof(struct pcube_values, member)
static const struct row rows[] = {
	{ 0x00, F32, READ, AT(default_home_offset), 0 },
	{ 0x01, F32, READ, AT(default_gear_ratio), 0 },
	{ 0x03, F32, READ, AT(default_min_position), 0 },
	{ 0x04, F32, READ, AT(default_max_position), 0 },
	{ 0x0A, F32, READ, AT(default_max_velocity), 0 },
	{ 0x0C, F32, READ, AT(default_max_acceleration), 0 },
	{ 0x0E, F32, READ, AT(default_max_current), 0 },
	{ 0x0F, F32, READ, AT(default_home_velocity), 0 },
	{ 0x1A, U32, READ, AT(serial), 0 },
	{ 0x1B, U32, READ, AT(default_config), 0 },
	{ 0x1C, U32, READ, AT(pulses_per_turn), 0 },
	{ 0x1D, U16, READ, AT(version), 0 },
	{ 0x20, U8, READ, AT(address), 0 },
	{ 0x22, U8, READ, AT(primary_baud), 0 },
	{ 0x23, U8, READ, AT(secondary_baud), 0 },
	{ 0x24, I32, READ, AT(position_count), 0 },
	{ 0x25, I32, READ, AT(reference_count), 0 },
	{ DIGITAL_IO, U32, ANY, AT(digital_io), 0 },
	{ 0x27, U32, READ, AT(state), 0 },
	{ 0x28, I32, READ, AT(target_count), 0 },
	{ 0x29, I32, READ, AT(target_velocity_count), 0 },
	{ 0x2A, I32, READ, AT(target_acceleration_count), 0 },
	{ 0x35, I16, READ, AT(raw_current), 0 },
	{ 0x39, U32, ANY, AT(config), 0 },
	{ 0x3A, U8, READ, AT(move_mode), 0 },
	{ 0x3B, F32, READ, AT(ticks_per_unit), 0 },
	{ ACTUAL_POSITION, F32, READ, AT(actual_position), 0 },
	{ 0x3D, F32, READ, AT(previous_position), 0 },
	{ 0x3E, F32, READ, AT(interpolated_position), 0 },
	{ 0x3F, F32, READ, AT(following_error), 0 },
	{ 0x40, F32, NOT_NEGATIVE, AT(max_following_error), 0 },
	{ 0x41, F32, READ, AT(actual_velocity), 0 },
	{ 0x42, F32, READ, AT(interpolated_velocity), 0 },
	{ 0x45, F32, ANY, AT(min_position), 0 },
	{ 0x46, F32, ANY, AT(max_position), 0 },
	{ 0x48, F32, NOT_NEGATIVE, AT(max_velocity), AT(default_max_velocity) },
	{ 0x4A, F32, NOT_NEGATIVE, AT(max_acceleration), AT(default_max_acceleration) },
	{ 0x4C, F32, NOT_NEGATIVE, AT(max_current), AT(default_max_current) },
	{ 0x4D, F32, READ, AT(actual_current), 0 },
	{ 0x4E, F32, READ, AT(target_position), 0 },
	{ 0x4F, F32, NOT_NEGATIVE, AT(target_velocity), 0 },
	{ 0x50, F32, NOT_NEGATIVE, AT(target_acceleration), 0 },
	{ 0x54, I16, ANY, AT(servo_c0), 0 },
	{ 0x55, I16, ANY, AT(servo_damping), 0 },
	{ 0x56, I16, ANY, AT(servo_a0), 0 },
	{ 0x57, U8, READ, AT(burn_count), 0 },
	{ 0x58, U32, READ, AT(setup), 0 },
	{ 0x59, F32, ANY, AT(home_offset), 0 },
	{ 0x70, F32, READ, AT(bus_current), 0 },
	{ 0x71, F32, READ, AT(bus_voltage), 0 },
	{ 0x78, F32, READ, AT(nominal_current), 0 },
	{ 0x79, F32, READ, AT(peak_current), 0 },
	{ 0x7E, U32, READ, AT(nominal_overshoot), 0 },
	{ 0x7F, U32, READ, AT(peak_overshoot), 0 },
	{ 0x89, F32, ANY, AT(home_offset), 0 },
};

static const uint8_t sizes[] = { [F32] = 4, [U32] = 4, [I32] = 4, [U16] = 2, [I16] = 2, [U8] = 1 };

static const struct row *find(uint8_t id)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].id == id)
			return &rows[i];
	return NULL;
}

uint32_t pcube_value_u32(const uint8_t bytes[4])
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

float pcube_value_f32(const uint8_t bytes[4])
{
	const uint32_t bits = pcube_value_u32(bytes);
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
		.ticks_per_unit = (float)(PULSES_PER_TURN * type->ratio / (2 * PI)),
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

/* The motion that runs, by its number in a move. */
static uint8_t move_mode(enum pcube_mode mode)
{
	static const uint8_t motions[] = {
		[PCUBE_HOLD] = 7, [PCUBE_RAMP] = 4, [PCUBE_STEP] = 6, [PCUBE_VELOCITY] = 7, [PCUBE_CURRENT] = 8
	};

	return motions[mode];
}

static void refresh(struct pcube *m)
{
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
	v->move_mode = move_mode(m->motion.now.mode);
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
	memcpy(&bits, (const char *)&m->values + row->offset, sizes[row->type]); /* both of our machines are little */
	for (unsigned int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(bits >> 8 * i);
	return sizes[row->type];
}

/* ---- as they are set ---- */

static bool is_allowed(const struct pcube *m, const struct row *row, float value)
{
	float most;

	if (row->type != F32)
		return true;
	memcpy(&most, (const char *)&m->values + row->most, sizeof(most));
	return isfinite(value) && (row->rule != NOT_NEGATIVE || value >= 0) && (!row->most || value <= most);
}

int pcube_value_set(struct pcube *m, uint8_t id, const uint8_t *bytes, unsigned int n)
{
	const struct row *row = find(id);
	uint8_t padded[4] = { 0 };
	uint32_t bits;

	if (!row || n != sizes[row->type])
		return -1;
	memcpy(padded, bytes, n);
	if (row->rule == READ || !is_allowed(m, row, pcube_value_f32(padded))) {
		m->counts.refused++;
		return (int)m->settings.refused;
	}
	bits = pcube_value_u32(padded);
	if (id == DIGITAL_IO)
		bits = (m->values.digital_io & ~OUTPUTS) | (bits & OUTPUTS);
	memcpy((char *)&m->values + row->offset, &bits, n);
	if (!(m->values.config & PCUBE_CONFIG_WATCHDOG))
		m->armed = false;
	m->other_bus = m->values.config & PCUBE_CONFIG_OTHER_BUS;
	return (int)m->settings.done;
}
