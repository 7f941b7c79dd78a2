/* sim_ati.c: an ATI Net CAN OEM force/torque sensor as a simulated device, written from hw-docs/devices/ati.md. */
#include <math.h>

#include "daemons/ft/ftd_settings.h"
#include "daemons/robotsim/sim_base.h"
#include "daemons/robotsim/sim_random.h"

#define CAN_ERROR 0x4000
#define RESET_NS 10000000 /* a host has to wait so long after a reset */
#define FRAMES_MAX 16

struct ati {
	struct sim_base base;

	/* rows */
	double force[3], torque[3]; /* N, N m, in its own axes */
	size_t force_n, torque_n;
	double noise;
	int64_t status, force_code, torque_code, force_counts, torque_counts;
	bool same_ids;
	int64_t delay_ns, boot_ns, seed;

	uint32_t base_id;
	uint8_t calibration;
	bool wrong, no_first, no_second, twice, error;
	int64_t boot_until_ns, reset_ns;
	uint64_t asked, samples, resets, early;
};

#define ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct ati, __VA_ARGS__)
static const struct settings_row rows[] = {
	ROW(REALS, "force", force, force_n, "N", "[0, 0, 0]", "-1000", "1000", "on it, in its own axes"),
	ROW(REALS, "torque", torque, torque_n, "N m", "[0, 0, 0]", "-1000", "1000", "on it, in its own axes"),
	ROW(REAL, "noise", noise, "1", "2", "0", "10000", "of each gauge in counts, rms"),
	ROW(REAL, "lose", base.lose, "1", "0", "0", "1", "share of the frames that are never sent"),
	ROW(INT, "status", status, "", "0", "0", "0xFFFF", "status word that no reset changes"),
	ROW(INT, "force_code", force_code, "", "2", "0", "255", "unit code of its force"),
	ROW(INT, "torque_code", torque_code, "", "3", "0", "255", "unit code of its torque"),
	ROW(INT, "force_counts", force_counts, "", "1000000", "0", "0xFFFFFFFF", "counts for a unit of force"),
	ROW(INT, "torque_counts", torque_counts, "", "1000000", "0", "0xFFFFFFFF", "counts for a unit of torque"),
	ROW(BOOL, "same_ids", same_ids, "no", "the three frames of a matrix row have the same identifier"),
	ROW(DURATION, "delay", delay_ns, "100us", "0s", "1s", "from a request to the first frame of its reply"),
	ROW(DURATION, "boot", boot_ns, "5ms", "0s", "10s", "from power-on or reset until it hears"),
	ROW(INT, "seed", seed, "", "1", "0", "0xFFFFFFFF", "seed of the random numbers"),
	SETTINGS_END,
};

/* ---- the robot file ---- */

static int load(struct sim *sim, const struct robot_device *device, const void *of_driver, struct error_sink *errors)
{
	const uint32_t base = (uint32_t)((const struct ftd_settings *)of_driver)->base;
	struct ati unit = { .base_id = base };
	const struct sim_node node = { &unit, sizeof(unit), 1, base << 4, base << 4 };
	const int r = sim_add_node(sim, device, &node, errors);

	if (!r)
		sim->units[sim->units_n - 1].filters[0].mask &= ~0xFu; /* all opcodes */
	return r;
}

/* ---- the sensor ---- */

/* The matrix of each row is scale * (1 + u v'), and its inverse (1 - u v' / (1 + v'u)) / scale. */
static const double scale[6] = { 10000, 11000, 20000, 500, 600, 700 };
static const double u[6] = { 0.1, -0.2, 0.3, 0.05, -0.15, 0.25 }, v[6] = { 0.2, 0.1, -0.3, 0.4, -0.1, 0.15 };

/* Calibration n overstates by n tenths. */
static float matrix(const struct ati *a, unsigned int axis, unsigned int gauge)
{
	return (float)(scale[axis] * ((axis == gauge) + u[axis] * v[gauge]) * (1 + a->calibration / 10.0));
}

static void measure(struct ati *a, uint16_t gauges[6])
{
	double along = 0, across = 1, load[6];

	for (unsigned int i = 0; i < 6; i++) {
		load[i] = (i < 3 ? a->force[i] * 1e6 : a->torque[i - 3] * 1e6) / scale[i];
		along += v[i] * load[i];
		across += v[i] * u[i];
	}
	for (unsigned int i = 0; i < 6; i++) {
		const double counts = load[i] - u[i] * along / across + a->noise * sim_random_normal(&a->base.random);

		gauges[i] = sim_base_i16(counts);
	}
}

/* ---- what it says ---- */

static void put(struct ati *a, unsigned int opcode, unsigned int len, const uint8_t *data, int64_t t_ns)
{
	struct frame f = { .id = a->base_id << 4 | opcode, .len = (uint8_t)len };

	if ((a->no_first && opcode == 0) || (a->no_second && opcode == 1) || sim_base_loses(&a->base, FRAMES_MAX))
		return;
	memcpy(f.data, data, len);
	if (a->wrong || a->base.garbage)
		f.len = (uint8_t)(sim_random_share(&a->base.random) * (a->wrong ? f.len : 9));
	sim_base_put(&a->base, f, a->twice ? 2 : 1, t_ns);
}

static void put_words(uint8_t *to, unsigned int n, const uint16_t *values, unsigned int step)
{
	for (unsigned int i = 0; i < n; i++) {
		to[2 * i] = (uint8_t)(values[i * step] >> 8);
		to[2 * i + 1] = (uint8_t)values[i * step];
	}
}

static void put_long(uint8_t *to, uint32_t value)
{
	put_words(to, 2, (const uint16_t[]){ (uint16_t)(value >> 16), (uint16_t)value }, 1);
}

static void say_sample(struct ati *a, int64_t t_ns)
{
	const uint16_t status = (uint16_t)(a->status | (a->error ? CAN_ERROR : 0));
	uint16_t gauges[6];
	uint8_t data[8];

	measure(a, gauges);
	a->samples++;
	put_words(data, 1, &status, 1);
	put_words(data + 2, 3, gauges, 2);
	put(a, 0x0, 8, data, t_ns);
	put_words(data, 3, gauges + 1, 2);
	put(a, 0x1, 6, data, t_ns);
}

static void say_row(struct ati *a, unsigned int axis, int64_t t_ns)
{
	for (unsigned int i = 0; i < 6; i += 2) {
		const float values[] = { matrix(a, axis, i), matrix(a, axis, i + 1) };
		uint8_t data[8];
		uint32_t bits[2];

		memcpy(bits, values, sizeof(bits));
		put_long(data, bits[0]);
		put_long(data + 4, bits[1]);
		put(a, 0x2 + (a->same_ids ? 0 : i / 2), 8, data, t_ns);
	}
}

static void boot(void *state, int64_t t_ns)
{
	struct ati *a = state;

	a->error = false;
	a->calibration = 0;
	a->base.queue.n = 0;
	a->boot_until_ns = t_ns + a->boot_ns;
}

static void frame(void *state, const struct frame *f, int64_t t_ns)
{
	struct ati *a = state;
	const unsigned int opcode = f->id & 0xF;
	const int64_t at_ns = t_ns + a->delay_ns;
	uint8_t data[8];

	a->early += a->reset_ns && t_ns < a->reset_ns + RESET_NS;
	if (a->base.off || t_ns < a->boot_until_ns || f->len != (opcode == 0x2 || opcode == 0x6))
		return;
	a->asked++;
	if (opcode == 0x0) {
		say_sample(a, at_ns);
	} else if (opcode == 0x2 && f->data[0] < 6) {
		say_row(a, f->data[0], at_ns);
	} else if (opcode == 0x5) {
		put(a, opcode, 8, (const uint8_t *)"FT12345", at_ns);
	} else if (opcode == 0x6 && f->data[0] < 16) {
		a->calibration = f->data[0];
		put(a, opcode, 1, f->data, at_ns);
	} else if (opcode == 0x7) {
		put_long(data, (uint32_t)a->force_counts);
		put_long(data + 4, (uint32_t)a->torque_counts);
		put(a, opcode, 8, data, at_ns);
	} else if (opcode == 0x8) {
		put(a, opcode, 2, (const uint8_t[]){ (uint8_t)a->force_code, (uint8_t)a->torque_code }, at_ns);
	} else if (opcode == 0xC) {
		boot(a, t_ns);
		a->reset_ns = t_ns;
		a->resets++;
	} else if (opcode == 0xF) {
		put(a, opcode, 4, (const uint8_t[]){ 2, 1, 0, 97 }, at_ns);
	}
}

/* ---- time ---- */

static void start(void *state, int64_t t_ns)
{
	struct ati *a = state;

	a->base.random = sim_random_seed(a->seed);
	boot(a, t_ns);
}

/* ---- on command ---- */

#define FAULT(word, member) SIM_FAULT(word, struct ati, member)
static const struct sim_fault faults[] = {
	SIM_BASE_SILENT,
	SIM_BASE_GARBAGE,
	FAULT("wrong-length", wrong),
	FAULT("no-first", no_first),
	FAULT("no-second", no_second),
	FAULT("twice", twice),
	FAULT("can-error", error),
	{ 0 },
};

static void report(void *state, struct rpc_text *to)
{
	const struct ati *a = state;

	rpc_say(to, " calibration %u asked %" PRIu64 " samples %" PRIu64 " resets %" PRIu64 " early %" PRIu64,
		a->calibration, a->asked, a->samples, a->resets, a->early);
}

const struct sim_kind ati_kind = {
	SIM_DRIVER(ftd),
	.no_ref = true,
	.rows = rows,
	.load = load,
	.start = start,
	.frame = frame,
	SIM_BASE_SENDS,
	.faults = faults,
	.boot = boot,
	.fixed = (const char *const[]){ "seed", NULL }, /* its random numbers begin with the next start */
	.report = report,
};
