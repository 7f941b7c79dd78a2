/* imud.c: inertial sensors that stream: a Silicon Sensing DMU or an Xsens MTi.  Each sample is a message. */
#include <math.h>

#include "daemons/drv/drv_missed.h"
#include "daemons/imu/dmu.h"
#include "daemons/imu/imud_settings.h"
#include "daemons/imu/mti.h"

#define TOGGLE_NS 10000000 /* a toggle that could not leave by then is not sent */
#define READY_SAMPLES 2
#define PERIODS_MIN 3 /* in every time that is compared with the silence of the sensor */

enum { TOGGLE };		     /* the row it sends */
enum { ERROR, WARNING, MTI_OTHERS }; /* the first rows it receives, of an MTi */

struct imud {
	struct imud_settings settings; /* first: the loop fills them in */
	struct mounting mounting;
	union {
		struct {
			struct dmu codec;
			struct dmu_stream stream;
		} dmu;
		struct mti mti;
	};
	int64_t period_ns;
	int64_t started_ns;
	unsigned int in_a_row; /* samples */
	struct imu_sample raw; /* the last one, as the device sent it */
	int64_t changed_ns;    /* its values came for the first time */
	struct imu_sample got; /* the last one published */
	bool fresh;	       /* and it is published now */
	uint32_t noted;	       /* losses reported */
};

/* ---- declaring ---- */

static int receive(struct drv *drv, uint32_t id, uint8_t len, int64_t period_ns, struct error_sink *errors)
{
	const struct drv_receive row = {
		.id = id, .any_len = !len, .len_min = len, .len_max = len, .period_ns = period_ns, .from = "the sensor"
	};

	return drv_add_receive(drv, &row, errors);
}

/* A frame of any length says that a DMU streams. */
static void plan_dmu(struct imud *m, struct drv *drv, struct error_sink *errors)
{
	const struct drv_send toggle = {
		.row = { .id = DMU_ID_TOGGLE, .class = SLOTS_COMMAND, .deadline_ns = TOGGLE_NS },
		.len = DMU_TOGGLE_LEN,
	};

	m->dmu.codec.window_ns = 16 * m->period_ns;
	m->dmu.stream.listen_ns = m->settings.listen_ns;
	m->dmu.stream.retry_ns = m->settings.retry_ns;
	drv_add_send(drv, &toggle, errors);
	receive(drv, DMU_ID_RATE, 0, m->period_ns, errors);
	receive(drv, DMU_ID_ACCELERATION, 0, m->period_ns, errors);
}

static void plan_mti(struct imud *m, struct drv *drv, struct error_sink *errors)
{
	m->mti.id_rate = (uint32_t)m->settings.rate_id;
	m->mti.id_acceleration = (uint32_t)m->settings.acceleration_id;
	m->mti.waits_for_orientation = m->settings.orientation;
	m->mti.window_ns = m->period_ns * 9 / 10;
	receive(drv, MTI_ID_ERROR, 1, 0, errors);
	receive(drv, MTI_ID_WARNING, 1, 0, errors);
	receive(drv, MTI_ID_TIME, 4, 0, errors);
	receive(drv, MTI_ID_COUNTER, 2, 0, errors);
	receive(drv, MTI_ID_STATUS, 4, 0, errors);
	receive(drv, MTI_ID_ORIENTATION, 8, 0, errors);
	receive(drv, MTI_ID_TEMPERATURE, 2, 0, errors);
	receive(drv, m->mti.id_rate, 6, m->period_ns, errors);
	receive(drv, m->mti.id_acceleration, 6, m->period_ns, errors);
}

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	struct imud *m = self;
	const struct imud_settings *s = &m->settings;
	const bool dmu = s->kind == IMUD_DMU;

	m->period_ns = llround(1e9 / s->rate_hz);
	if (s->silent_after_ns < PERIODS_MIN * m->period_ns)
		error_add(errors, "silent_after: with rate %g Hz it must be at least %d samples, %.3g s", s->rate_hz,
			  PERIODS_MIN, PERIODS_MIN / s->rate_hz);
	if (dmu && s->listen_ns < PERIODS_MIN * m->period_ns)
		error_add(errors, "listen: with rate %g Hz it must be at least %d samples, %.3g s", s->rate_hz,
			  PERIODS_MIN, PERIODS_MIN / s->rate_hz);
	if (dmu && s->listen_ns < 2 * drv_period_ns(drv))
		error_add(errors, "listen: it must be at least two ticks");
	if (!dmu && s->rate_id == s->acceleration_id)
		error_add(errors, "acceleration_id: it must differ from rate_id");
	m->mounting = mounting_of(s->mounting_deg);
	if (dmu)
		plan_dmu(m, drv, errors);
	else
		plan_mti(m, drv, errors);
	return errors->count ? -EINVAL : 0;
}

/* ---- samples ---- */

static void check_status(const struct imud *m, struct drv *drv)
{
	if (m->settings.kind != IMUD_MTI || !m->mti.status_known)
		return;
	if (m->mti.status & MTI_STATUS_SELF_TEST)
		drv_fault_clear(drv, DRV_ALL, "self-test");
	else
		drv_fault(drv, DRV_ALL, "self-test", "the sensor reports a failed self-test, status %08x",
			  m->mti.status);
	if (m->mti.status & MTI_STATUS_CLIPPED)
		drv_event(drv, MSG_SEVERITY_WARNING, "clipped", "a measurement is at the end of its range, status %08x",
			  m->mti.status);
}

/* Without noise nothing is measured: such samples are not published. */
static bool is_frozen(struct imud *m, const struct imu_sample *sample)
{
	if (!m->raw.t_ns || !imu_same(&m->raw, sample))
		m->changed_ns = sample->t_ns;
	m->raw = *sample;
	return m->settings.frozen_after_ns && sample->t_ns - m->changed_ns > m->settings.frozen_after_ns;
}

static void take(struct imud *m, struct drv *drv, struct imu_sample *sample)
{
	m->in_a_row = sample->follows ? m->in_a_row + 1 : 1;
	if (is_frozen(m, sample)) {
		m->in_a_row = 0;
		return;
	}
	imu_mount(&m->mounting, sample);
	m->got = *sample;
	m->fresh = true;
	drv_publish(drv);
	m->fresh = false;
	check_status(m, drv);
}

static bool rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	struct imud *m = self;
	struct imu_sample sample;
	bool complete;

	if (m->settings.kind == IMUD_DMU) {
		if (dmu_stream_heard(&m->dmu.stream, got->t_ns))
			drv_cancel(drv, TOGGLE);
		complete = dmu_take(&m->dmu.codec, &got->frame, got->t_ns, &sample);
	} else if (row < MTI_OTHERS) {
		drv_event(drv, row == ERROR ? MSG_SEVERITY_ERROR : MSG_SEVERITY_WARNING,
			  row == ERROR ? "sensor-error" : "sensor-warning", "the sensor reports code %u",
			  got->frame.data[0]);
		complete = false;
	} else {
		complete = mti_take(&m->mti, &got->frame, got->t_ns, &sample);
	}
	if (complete)
		take(m, drv, &sample);
	return false;
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct imud *m = self;
	struct msg_imu *s = state;

	(void)drv;
	if (!m->got.t_ns)
		return 0;
	memcpy(s->acceleration, m->got.acceleration_m_s2, sizeof(s->acceleration));
	memcpy(s->rate, m->got.rate_rad_s, sizeof(s->rate));
	memcpy(s->orientation, m->got.orientation, sizeof(s->orientation));
	s->temperature = m->got.temperature_k;
	s->status = m->got.status;
	s->samples = m->fresh; /* 0: nothing new since the message before */
	s->age_ns = now_ns - m->got.t_ns;
	return m->got.t_ns;
}

/* ---- each tick ---- */

static void sent(void *self, struct drv *drv, unsigned int send, const struct frame *frame, int64_t t_ns)
{
	(void)drv;
	(void)send;
	(void)frame;
	dmu_stream_sent(&((struct imud *)self)->dmu.stream, t_ns);
}

static void lost(void *self, struct drv *drv, unsigned int send, const struct frame *frame)
{
	sent(self, drv, send, frame, clock_now_ns());
}

static void keep_streaming(struct imud *m, struct drv *drv, int64_t now_ns)
{
	struct frame toggle;

	if (m->settings.kind != IMUD_DMU || !dmu_stream_tick(&m->dmu.stream, now_ns, drv_bus_dead(drv, 0)))
		return;
	dmu_encode_toggle(&toggle);
	if (drv_send(drv, TOGGLE, &toggle))
		dmu_stream_sent(&m->dmu.stream, now_ns);
	else
		drv_event(drv, MSG_SEVERITY_INFO, "toggle",
			  "the sensor has been silent for %lld ms: its stream is toggled",
			  (long long)((now_ns - m->dmu.stream.since_ns) / 1000000));
}

static void report_losses(struct imud *m, struct drv *drv)
{
	const struct imu_counts c = m->settings.kind == IMUD_DMU ? m->dmu.codec.counts : m->mti.counts;

	if (drv_missed_more(&m->noted, c.incomplete + c.repeated + c.odd))
		drv_event(drv, MSG_SEVERITY_WARNING, "samples-lost",
			  "so far %u samples were incomplete, %u were repeated, and %u frames had another length",
			  c.incomplete, c.repeated, c.odd);
}

/* Has a new sample come lately?  Frames alone, repeated samples and halves do not count. */
static bool is_live(struct imud *m, struct drv *drv, int64_t now_ns)
{
	const long long ms = drv_missed_ms(drv, m->got.t_ns, m->started_ns, m->settings.silent_after_ns, now_ns);
	const bool frozen = m->raw.t_ns > m->got.t_ns;

	keep_streaming(m, drv, now_ns);
	report_losses(m, drv);
	if (frozen)
		drv_fault(drv, DRV_ALL, "frozen", "the sensor has sent the same values for %lld ms",
			  (long long)((m->raw.t_ns - m->changed_ns) / 1000000));
	if (ms)
		drv_fault(drv, DRV_ALL, "no-sample", "no new sample for %lld ms", ms);
	if (frozen || ms)
		m->in_a_row = 0;
	return !frozen && !ms;
}

/* Whether a DMU streams is known after listen; until then silence is not a fault. */
static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct imud *m = self;

	if (!m->started_ns)
		m->started_ns = orders->now_ns + (m->settings.kind == IMUD_DMU ? m->settings.listen_ns : 0);
	if (!is_live(m, drv, orders->now_ns) || m->in_a_row < READY_SAMPLES)
		return DRV_AGAIN;
	drv_fault_clear(drv, DRV_ALL, "no-sample");
	drv_fault_clear(drv, DRV_ALL, "frozen");
	if (m->settings.kind == IMUD_DMU)
		dmu_stream_steady(&m->dmu.stream);
	return DRV_DONE;
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	if (!is_live(self, drv, orders->now_ns))
		drv_start_again(drv);
}

static const struct drv_driver driver = {
	.program = "imud",
	.about = "drives an inertial sensor",
	.size = sizeof(struct imud),
	.settings = imud_settings_rows,
	.state = msg_imu_number,
	.streams = true,
	.declare = declare,
	.start = start,
	.tick = tick,
	.rx = rx,
	.sent = sent,
	.lost = lost,
	.fill = fill,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
