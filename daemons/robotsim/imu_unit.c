/* imu_unit.c: inertial sensors as simulated devices: motion, mounting, noise, time, faults; see imu_unit.h. */
#include "daemons/robotsim/imu_unit.h"

#include <math.h>

#include "daemons/robotsim/sim_random.h"

#define LATE_NS 100000000 /* what was not sent by then, because this process stood still, is not made */
#define WAITS_NS 10000000 /* what waited so long for that is not sent: all at once it would fill the bus */

#define ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct imu_unit, __VA_ARGS__)
static const struct settings_row rows[] = {
	ROW(REAL, "noise_force", noise_force, "m/s^2", "0.014", "0", "10", "of each acceleration, rms"),
	ROW(REAL, "noise_rate", noise_rate, "rad/s", "0.0024", "0", "10", "of each rate of turn, rms"),
	ROW(REALS, "bias_rate", bias_rate, bias_rate_n, "rad/s", "[0, 0, 0]", "-100", "100", "in the sensor's axes"),
	ROW(REAL, "rate", rate_hz, "Hz", "0", "0", "2000", "samples in a second; 0: the driver's rate"),
	ROW(DURATION, "delay", delay_ns, "500us", "0s", "20ms", "from a measurement to its first frame"),
	ROW(REAL, "lose", base.lose, "1", "0", "0", "1", "share of the frames that are never sent"),
	ROW(BOOL, "streams", streams, "no", "dmu: it streams from power-on"),
	ROW(DURATION, "toggle_delay", toggle_delay_ns, "2ms", "0s", "10s", "dmu: from a toggle to the first sample"),
	ROW(BOOL, "orientation", orientation, "yes", "mti: it sends a quaternion"),
	ROW(INT, "seed", seed, "", "1", "0", "0xFFFFFFFF", "seed of the random numbers"),
	SETTINGS_END,
};

/* ---- the robot file ---- */

/* The mounting is roll about x, then pitch about y, then yaw about z of the robot; this is its inverse. */
static void mount_inversely(struct imu_unit *u)
{
	const double r = u->settings.mounting_deg[0] * M_PI / 180, p = u->settings.mounting_deg[1] * M_PI / 180,
		     y = u->settings.mounting_deg[2] * M_PI / 180;
	const double columns[3][3] = {
		{ cos(y) * cos(p), sin(y) * cos(p), -sin(p) },
		{ cos(y) * sin(p) * sin(r) - sin(y) * cos(r), sin(y) * sin(p) * sin(r) + cos(y) * cos(r),
		  cos(p) * sin(r) },
		{ cos(y) * sin(p) * cos(r) + sin(y) * sin(r), sin(y) * sin(p) * cos(r) - cos(y) * sin(r),
		  cos(p) * cos(r) },
	};

	memcpy(u->to_sensor, columns, sizeof(columns));
}

static int load(struct sim *sim, const struct robot_device *device, const void *of_driver, struct error_sink *errors)
{
	const struct imud_settings *settings = of_driver;
	struct imu_unit unit = {
		.settings = *settings,
		.wire = settings->kind == IMUD_DMU ? &imu_unit_dmu : &imu_unit_mti,
		.motion.force_m_s2 = { 0, 0, 9.81 },
	};
	const struct sim_node node = { &unit, sizeof(unit), 1, unit.wire->hears, unit.wire->sends };

	mount_inversely(&unit);
	return sim_add_node(sim, device, &node, errors);
}

/* ---- time ---- */

static void boot(void *state, int64_t t_ns)
{
	struct imu_unit *u = state;

	u->power_ns = t_ns;
	u->streaming = u->wire->streams || u->streams;
	u->sample_ns = t_ns + u->period_ns;
	u->number = 0;
}

static void start(void *state, int64_t t_ns)
{
	struct imu_unit *u = state;

	u->base.random = sim_random_seed(u->seed);
	u->period_ns = llround(1e9 / (u->rate_hz > 0 ? u->rate_hz : u->settings.rate_hz));
	boot(u, t_ns);
}

static void frame(void *state, const struct frame *f, int64_t t_ns)
{
	struct imu_unit *u = state;

	if (u->wire->hear && !u->base.off)
		u->wire->hear(u, f, t_ns);
}

/* ---- measuring ---- */

static void measure(struct imu_unit *u)
{
	for (unsigned int i = 0; i < 3; i++) {
		u->force[i] = u->noise_force * sim_random_normal(&u->base.random);
		u->rate[i] = u->bias_rate[i] + u->noise_rate * sim_random_normal(&u->base.random);
		for (unsigned int j = 0; j < 3; j++) {
			u->force[i] += u->to_sensor[i][j] * u->motion.force_m_s2[j];
			u->rate[i] += u->to_sensor[i][j] * u->motion.rate_rad_s[j];
		}
	}
}

static void put(struct imu_unit *u, struct frame f, int64_t t_ns)
{
	if ((u->half && f.id == u->wire->half) || sim_base_loses(&u->base, SIM_QUEUE_MAX))
		return;
	if (u->base.garbage)
		f.len = (uint8_t)(sim_random_share(&u->base.random) * f.len); /* less than its own */
	sim_base_put(&u->base, f, 1, t_ns);
}

static void sample(struct imu_unit *u)
{
	struct frame frames[IMU_UNIT_BURST_MAX];
	unsigned int n;

	if (!u->stuck && !u->repeats)
		measure(u);
	if (!u->repeats) {
		u->t_ns = u->sample_ns - u->power_ns;
		u->number++;
	}
	n = u->wire->frames(u, frames);
	for (unsigned int i = 0; i < n; i++)
		put(u, frames[i], u->sample_ns + u->delay_ns);
	u->samples++;
}

/* What it does not send it measures all the same, so that a later sample is at its own time. */
static void advance(void *state, int64_t t_ns)
{
	struct imu_unit *u = state;

	for (; u->sample_ns <= t_ns; u->sample_ns += u->period_ns)
		if (u->streaming && !u->base.off && u->sample_ns > t_ns - LATE_NS)
			sample(u);
}

static int64_t next_ns(const void *state)
{
	const int64_t frame_ns = sim_base_next_ns(state), sample_ns = ((const struct imu_unit *)state)->sample_ns;

	return frame_ns < sample_ns ? frame_ns : sample_ns;
}

static bool send(void *state, int64_t now_ns, struct frame *f)
{
	struct imu_unit *u = state;

	advance(u, now_ns);
	while (sim_queue_take(&u->base.queue, now_ns - WAITS_NS, f))
		;
	return sim_base_send(u, now_ns, f);
}

/* ---- on command ---- */

#define FAULT(word, member) SIM_FAULT(word, struct imu_unit, member)
static const struct sim_fault faults[] = {
	SIM_BASE_SILENT, FAULT("stuck", stuck), FAULT("repeats", repeats), FAULT("half", half), SIM_BASE_GARBAGE, { 0 },
};

static void report(void *state, struct rpc_text *to)
{
	const struct imu_unit *u = state;
	const double *f = u->motion.force_m_s2, *r = u->motion.rate_rad_s;

	rpc_say(to, " force_x %.6f force_y %.6f force_z %.6f rate_x %.6f rate_y %.6f rate_z %.6f", f[0], f[1], f[2],
		r[0], r[1], r[2]);
	rpc_say(to, " streams %s toggles %llu samples %llu", u->streaming ? "yes" : "no",
		(unsigned long long)u->toggles, (unsigned long long)u->samples);
}

static struct sim_motion *motion(void *state)
{
	return &((struct imu_unit *)state)->motion;
}

const struct sim_kind imu_unit_kind = {
	SIM_DRIVER(imud),
	.no_ref = true,
	.rows = rows,
	.load = load,
	.start = start,
	.frame = frame,
	.next_ns = next_ns,
	.send = send,
	.advance = advance,
	.has_power = sim_base_has_power,
	.faults = faults,
	.boot = boot,
	/* Its streams begin with the next power-on, its random numbers with the next start. */
	.fixed = (const char *const[]){ "rate", "seed", NULL },
	.report = report,
	.motion = motion,
};
