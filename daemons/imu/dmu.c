/* dmu.c: the codec of a Silicon Sensing DMU.  Checked: pure, covered. */
#include <math.h>

#include "daemons/imu/dmu.h"

#define G_M_S2 9.80665
#define ACCELERATION_LSB_M_S2 (0.0003 * G_M_S2)
#define RATE_LSB_RAD_S (0.008 * M_PI / 180)

enum { RATE = 1, ACCELERATION = 2, BOTH = 3 };

static void decode(double to[3], const uint8_t *bytes, double lsb)
{
	for (unsigned int i = 0; i < 3; i++)
		to[i] = (int16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8) * lsb;
}

/* A half of another sample never becomes a part of this one. */
static void keep_half(struct dmu *d, unsigned int half, uint8_t sequence, int64_t t_ns)
{
	if (d->has && (d->has == half || d->sequence != sequence || t_ns - d->half.t_ns > d->window_ns)) {
		d->counts.incomplete++;
		d->has = 0;
	}
	if (!d->has)
		d->half = (struct imu_sample){
			.t_ns = t_ns,
			.orientation = { NAN, NAN, NAN, NAN },
			.temperature_k = NAN,
		};
	d->has |= half;
	d->sequence = sequence;
}

bool dmu_take(struct dmu *d, const struct frame *frame, int64_t t_ns, struct imu_sample *sample)
{
	const unsigned int half = frame->id == DMU_ID_RATE ? RATE : ACCELERATION;
	const uint8_t status = frame->data[6], sequence = frame->data[7];

	if (frame->len != DMU_LEN) {
		d->counts.odd++;
		return false;
	}
	keep_half(d, half, sequence, t_ns);
	if (half == RATE)
		decode(d->half.rate_rad_s, frame->data, RATE_LSB_RAD_S);
	else
		decode(d->half.acceleration_m_s2, frame->data, ACCELERATION_LSB_M_S2);
	d->half.status |= half == RATE ? status : (uint32_t)status << 8;
	if (d->has != BOTH)
		return false;
	d->has = 0;
	if (d->any && sequence == d->last) {
		d->counts.repeated++;
		return false;
	}
	*sample = d->half;
	sample->follows = d->any && sequence == (uint8_t)(d->last + 1);
	d->any = true;
	d->last = sequence;
	return true;
}

void dmu_encode_toggle(struct frame *frame)
{
	memset(frame, 0, sizeof(*frame));
	frame->id = DMU_ID_TOGGLE;
	frame->len = DMU_TOGGLE_LEN;
	frame->data[0] = 0x0F;
}

/* ---- the stream ---- */

bool dmu_stream_tick(struct dmu_stream *s, int64_t now_ns, bool deaf)
{
	const bool late = !s->tick_ns || now_ns - s->tick_ns > s->listen_ns / 2;

	if (!s->tick_ns)
		s->wait_ns = s->listen_ns;
	s->tick_ns = now_ns;
	if (deaf || late)
		s->since_ns = now_ns;
	if (s->waits || now_ns - s->since_ns < s->wait_ns)
		return false;
	s->waits = true;
	return true;
}

bool dmu_stream_heard(struct dmu_stream *s, int64_t t_ns)
{
	const bool waits = s->waits;

	if (t_ns > s->since_ns)
		s->since_ns = t_ns;
	s->waits = false;
	return waits;
}

/* If the device was heard since the toggle was put, it had begun by itself, and this has ended its stream. */
void dmu_stream_sent(struct dmu_stream *s, int64_t t_ns)
{
	if (dmu_stream_heard(s, t_ns))
		s->wait_ns = s->wait_ns > s->retry_ns / 2 ? s->retry_ns : 2 * s->wait_ns;
}

void dmu_stream_steady(struct dmu_stream *s)
{
	s->wait_ns = s->listen_ns;
}
