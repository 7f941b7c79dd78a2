/* mti.c: the codec of an Xsens MTi.  Checked: pure, covered. */
#include <math.h>

#include "daemons/imu/mti.h"

#define ACCELERATION_LSB_M_S2 0x1p-8
#define RATE_LSB_RAD_S 0x1p-9
#define TEMPERATURE_LSB_K 0x1p-8
#define ZERO_CELSIUS_K 273.15
#define TEMPERATURE_OLD_NS INT64_C(2000000000) /* it comes less often than samples */

enum { TIME = 1, COUNTER = 2, STATUS = 4, ORIENTATION = 8, RATE = 16, ACCELERATION = 32, TEMPERATURE = 64 };

static void decode(double *to, unsigned int n, const uint8_t *bytes, double lsb)
{
	for (unsigned int i = 0; i < n; i++)
		to[i] = (int16_t)frame_be(bytes + 2 * i, 2) * lsb;
}

/* It gets length 1: whether full scale is 32768 or 32767 makes no difference. */
static void decode_orientation(double q[4], const uint8_t *bytes)
{
	double length;

	decode(q, 4, bytes, 1);
	length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
	for (unsigned int i = 0; i < 4; i++)
		q[i] /= length; /* of zeros: NaN */
}

static unsigned int part_of(const struct mti *m, const struct frame *frame)
{
	const struct {
		uint32_t id;
		uint8_t len, part;
	} parts[] = {
		{ MTI_ID_TIME, 4, TIME },
		{ MTI_ID_COUNTER, 2, COUNTER },
		{ MTI_ID_STATUS, 4, STATUS },
		{ MTI_ID_ORIENTATION, 8, ORIENTATION },
		{ m->id_rate, 6, RATE },
		{ m->id_acceleration, 6, ACCELERATION },
		{ MTI_ID_TEMPERATURE, 2, TEMPERATURE },
	};

	for (unsigned int i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (frame->id == parts[i].id && frame->len == parts[i].len)
			return parts[i].part;
	return 0;
}

static void drop(struct mti *m)
{
	m->counts.incomplete++;
	m->open = false;
}

static void begin(struct mti *m, int64_t t_ns)
{
	if (m->open)
		drop(m);
	m->open = true;
	m->has = 0;
	m->now = (struct imu_sample){ .t_ns = t_ns, .orientation = { NAN, NAN, NAN, NAN } };
}

/* A part that comes a second time, or late, is of another sample, of which the beginning was lost. */
static bool belongs(struct mti *m, unsigned int part, int64_t t_ns)
{
	if (part == TIME || (part == COUNTER && (!m->open || m->has & COUNTER)))
		begin(m, t_ns);
	if (!m->open) {
		m->counts.incomplete += part == RATE;
		return false;
	}
	if (!(m->has & part) && t_ns - m->now.t_ns <= m->window_ns)
		return true;
	drop(m);
	return false;
}

static void store(struct mti *m, unsigned int part, const uint8_t *data)
{
	m->has |= part;
	if (part == TIME)
		m->time = frame_be(data, 4);
	else if (part == COUNTER)
		m->counter = frame_be(data, 2);
	else if (part == ORIENTATION)
		decode_orientation(m->now.orientation, data);
	else if (part == RATE)
		decode(m->now.rate_rad_s, 3, data, RATE_LSB_RAD_S);
	else if (part == ACCELERATION)
		decode(m->now.acceleration_m_s2, 3, data, ACCELERATION_LSB_M_S2);
}

/* What is sent now and then, in a sample or beside it. */
static void store_slow(struct mti *m, unsigned int part, const uint8_t *data, int64_t t_ns)
{
	if (part == STATUS) {
		m->status = frame_be(data, 4);
		m->status_known = true;
	} else if (part == TEMPERATURE) {
		decode(&m->temperature_k, 1, data, TEMPERATURE_LSB_K);
		m->temperature_k += ZERO_CELSIUS_K;
		m->temperature_ns = t_ns;
	}
}

static bool finish(struct mti *m, int64_t t_ns, struct imu_sample *sample)
{
	const unsigned int numbers = m->has & (TIME | COUNTER);
	const bool counted = numbers & m->last_numbers & COUNTER;

	m->open = false;
	if (numbers == m->last_numbers && m->time == m->last_time && m->counter == m->last_counter) {
		m->counts.repeated++;
		return false;
	}
	*sample = m->now;
	sample->follows = counted ? m->counter == ((m->last_counter + 1) & 0xFFFF) : m->last_numbers;
	sample->status = m->status;
	sample->temperature_k =
		m->temperature_ns && t_ns - m->temperature_ns < TEMPERATURE_OLD_NS ? m->temperature_k : NAN;
	if (m->status_known && !(m->status & MTI_STATUS_FILTER_VALID))
		for (unsigned int i = 0; i < 4; i++)
			sample->orientation[i] = NAN;
	m->last_numbers = numbers;
	m->last_time = m->time;
	m->last_counter = m->counter;
	return true;
}

bool mti_take(struct mti *m, const struct frame *frame, int64_t t_ns, struct imu_sample *sample)
{
	const unsigned int needed = RATE | ACCELERATION | (m->waits_for_orientation ? ORIENTATION : 0);
	const unsigned int part = part_of(m, frame);

	if (!part) {
		m->counts.odd++;
		return false;
	}
	store_slow(m, part, frame->data, t_ns);
	if (part == STATUS || part == TEMPERATURE || !belongs(m, part, t_ns))
		return false;
	store(m, part, frame->data);
	return (m->has & needed) == needed && finish(m, t_ns, sample);
}
