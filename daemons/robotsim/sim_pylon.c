/* sim_pylon.c: a simulated Pylontech pack, written from hw-docs/devices/bms.md: charge, temperature, cells, faults. */
#include "daemons/robotsim/sim_pylon.h"

#include <math.h>

#define LATE_NS 100000000 /* what was not sent by then, because this process stood still, will not be */
#define KEEP_ALIVE_ID 0x305u
#define LIMITS_ID 0x351u

#define ROW(TYPE, key, ...) SETTINGS_##TYPE(key, struct pylon_unit, __VA_ARGS__)
static const struct settings_row rows[] = {
	ROW(REAL, "charge", charge, "1", "0.8", "0", "1", "of a full pack, at the start"),
	ROW(REAL, "capacity", capacity_ah, "Ah", "50", "0.001", "10000", "of a full pack"),
	ROW(REAL, "load", load_a, "A", "5", "-1000", "1000", "what is taken from it; negative charges it"),
	ROW(REAL, "limit", limit_a, "A", "25", "0", "1000", "largest load that it permits, as it sends it"),
	ROW(REAL, "ambient", ambient_c, "degC", "22", "-100", "150", "its temperature without a load"),
	ROW(REAL, "heat", heat_k_a2, "K/A^2", "0.01", "0", "10", "how much warmer a load makes it in the end"),
	ROW(DURATION, "warms_in", warms_in_ns, "10min", "1ms", "10h", "time constant of that"),
	ROW(INT, "series", series, "", "15", "1", "128", "cells of the pack"),
	ROW(REAL, "spread", spread_v, "V", "0.01", "0", "4", "from its lowest cell to its highest, at the start"),
	ROW(REAL, "diverge", diverge_v_h, "V/h", "0", "0", "3600", "how much more that is after an hour"),
	ROW(DURATION, "period", period_ns, "0s", "0s", "60s", "from one telegram to the next; 0s: the driver's period"),
	ROW(DURATION, "cell_period", cell_period_ns, "100ms", "1ms", "10s", "from one cell to the next"),
	ROW(DURATION, "deaf_after", deaf_after_ns, "0s", "0s", "10min",
	    "time without a keep-alive after which it sends nothing; 0s: it needs none"),
	ROW(BOOL, "short", shorter, "no", "it sends 0x351 without a discharge voltage, and limits of the other sign"),
	ROW(BOOL, "fine", fine, "no", "it sends 0x355 with hundredths of a percent"),
	ROW(BOOL, "permits", permits, "yes", "it sends 0x35C"),
	ROW(BOOL, "begins_with_alarms", begins_with_alarms, "no", "its telegram begins with 0x359, not with 0x351"),
	SETTINGS_END,
};

static int load(struct sim *sim, const struct robot_device *device, const void *of_driver, struct error_sink *errors)
{
	struct pylon_unit unit = { .settings = *(const struct bmsd_settings *)of_driver };
	const struct sim_node node = { &unit, sizeof(unit), 1, KEEP_ALIVE_ID, LIMITS_ID };

	return sim_add_node(sim, device, &node, errors);
}

/* ---- the battery ---- */

static int64_t period_ns(const struct pylon_unit *u)
{
	return u->period_ns ? u->period_ns : u->settings.period_ns;
}

static void boot(void *state, int64_t t_ns)
{
	struct pylon_unit *u = state;

	u->heard_ns = t_ns;
	u->telegram_ns = t_ns + period_ns(u);
	u->cell_ns = t_ns + u->cell_period_ns;
}

static void start(void *state, int64_t t_ns)
{
	struct pylon_unit *u = state;

	u->base.random = 1;
	u->t_ns = t_ns;
	u->temperature_c = u->ambient_c;
	boot(u, t_ns);
}

double pylon_cell_v(const struct pylon_unit *u, unsigned int cell)
{
	const double place = u->series > 1 ? (double)cell / (double)(u->series - 1) - 0.5 : 0;

	return 3.0 + 0.45 * u->charge - 0.0025 * u->load_a + (u->spread_v + u->drift_v) * place;
}

static double volts(const struct pylon_unit *u)
{
	double v = 0;

	for (unsigned int i = 0; i < u->series; i++)
		v += pylon_cell_v(u, i);
	return v;
}

static bool is_empty(const struct pylon_unit *u)
{
	return u->charge <= 0;
}

static void advance(void *state, int64_t t_ns)
{
	struct pylon_unit *u = state;
	const double s = (double)(t_ns - u->t_ns) / 1e9;
	const double warm_c = u->ambient_c + u->heat_k_a2 * u->load_a * u->load_a;

	if (t_ns <= u->t_ns)
		return;
	u->charge = num_clamp(u->charge - u->load_a * s / 3600 / u->capacity_ah, 0, 1);
	u->temperature_c = warm_c + (u->temperature_c - warm_c) * exp(-s * 1e9 / (double)u->warms_in_ns);
	u->drift_v += u->diverge_v_h * s / 3600;
	u->t_ns = t_ns;
}

/* ---- its frames ---- */

static struct frame words(uint32_t id, unsigned int n, const double *values)
{
	struct frame f = { .id = id, .len = (uint8_t)(2 * n) };

	for (unsigned int i = 0; i < n; i++)
		frame_put_le(f.data + 2 * i, (uint64_t)lround(num_clamp(values[i], INT16_MIN, UINT16_MAX)), 2);
	return f;
}

static struct frame alarms(const struct pylon_unit *u)
{
	const uint16_t protections = u->protections | (is_empty(u) ? 4 : 0);

	return (struct frame){ .id = 0x359,
			       .len = 7,
			       .data = { (uint8_t)protections, (uint8_t)(protections >> 8), (uint8_t)u->warnings,
					 (uint8_t)(u->warnings >> 8), 1, 'P', 'N' } };
}

static struct frame permits(const struct pylon_unit *u)
{
	return (struct frame){ .id = 0x35C,
			       .len = 2,
			       .data = { (uint8_t)((u->refuses_charge ? 0 : 128) |
						   (u->refuses_discharge || is_empty(u) ? 0 : 64) |
						   (u->wants_charge ? 32 : 0)) } };
}

static void telegram(struct pylon_unit *u, int64_t now_ns)
{
	const double sign = u->shorter ? -1 : 1;
	const double limits[] = { 532, 250, sign * u->limit_a * 10, 480 };
	const double charge[] = { floor(u->charge * 100), 99, u->charge * 10000 };
	const double measured[] = { volts(u) * 100, -u->load_a * 10, u->temperature_c * 10 };

	u->base.queue.n = 0;
	if (u->begins_with_alarms && !u->no_alarms)
		sim_base_put(&u->base, alarms(u), 1, now_ns);
	sim_base_put(&u->base, words(0x351, u->shorter ? 3 : 4, limits), 1, now_ns);
	sim_base_put(&u->base, words(0x355, u->fine ? 3 : 2, charge), 1, now_ns);
	sim_base_put(&u->base, words(0x356, 3, measured), 1, now_ns);
	if (u->permits)
		sim_base_put(&u->base, permits(u), 1, now_ns);
	sim_base_put(&u->base, (struct frame){ .id = 0x35E, .len = 8, .data = "PYLON   " }, 1, now_ns);
	if (!u->begins_with_alarms && !u->no_alarms)
		sim_base_put(&u->base, alarms(u), 1, now_ns);
	u->telegrams++;
}

static bool speaks(const struct pylon_unit *u, int64_t now_ns)
{
	return !u->base.off && !u->base.silent && (!u->deaf_after_ns || now_ns - u->heard_ns <= u->deaf_after_ns);
}

static void frame(void *state, const struct frame *f, int64_t t_ns)
{
	struct pylon_unit *u = state;

	if (u->base.off || f->len != 8)
		return;
	u->heard_ns = t_ns;
	u->keep_alives++;
}

static int64_t next_ns(const void *state)
{
	const struct pylon_unit *u = state;

	if (u->base.queue.n)
		return sim_base_next_ns(u);
	return u->settings.cells && u->cell_ns < u->telegram_ns ? u->cell_ns : u->telegram_ns;
}

/* true: it is time for the next of these; those that are long due are left out. */
static bool is_due(int64_t *next_ns, int64_t every_ns, int64_t now_ns)
{
	const bool late = *next_ns <= now_ns - LATE_NS;

	return sim_base_due(next_ns, every_ns, now_ns) && !late;
}

static bool send(void *state, int64_t now_ns, struct frame *f)
{
	struct pylon_unit *u = state;

	advance(u, now_ns);
	if (is_due(&u->telegram_ns, period_ns(u), now_ns) && speaks(u, now_ns))
		telegram(u, now_ns);
	if (!u->base.queue.n && u->settings.cells && is_due(&u->cell_ns, u->cell_period_ns, now_ns) &&
	    speaks(u, now_ns)) {
		sim_base_put(&u->base, orion_cell_frame(u, u->cell), 1, now_ns);
		u->cell = (u->cell + 1) % (unsigned int)u->series;
	}
	return sim_base_send(u, now_ns, f);
}

/* ---- on command ---- */

#define FAULT(word, member) SIM_FAULT(word, struct pylon_unit, member)
#define ALARM(word, mask)                                           \
	SIM_FAULT_BITS(word, struct pylon_unit, protections, mask), \
		SIM_FAULT_BITS("warn-" word, struct pylon_unit, warnings, mask)
static const struct sim_fault faults[] = {
	SIM_BASE_SILENT,
	SIM_BASE_GARBAGE,
	SIM_BASE_SHORT,
	FAULT("half", no_alarms),
	FAULT("checksum", wrong_checksum),
	FAULT("charge-refused", refuses_charge),
	FAULT("discharge-refused", refuses_discharge),
	FAULT("charge-wanted", wants_charge),
	ALARM("over-voltage", 0x0002),
	ALARM("under-voltage", 0x0004),
	ALARM("over-temperature", 0x0008),
	ALARM("under-temperature", 0x0010),
	ALARM("over-current", 0x0080),
	ALARM("charge-current", 0x0100),
	ALARM("system", 0x0800),
	{ 0 },
};

static void report(void *state, struct rpc_text *to)
{
	struct pylon_unit *u = state;

	rpc_say(to, " charge %.4f voltage %.3f current %.1f temperature %.2f keep_alives %llu telegrams %llu",
		u->charge, volts(u), -u->load_a, u->temperature_c, (unsigned long long)u->keep_alives,
		(unsigned long long)u->telegrams);
}

const struct sim_kind pylon_kind = {
	SIM_DRIVER(bmsd),
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
	.fixed = (const char *const[]){ "series", NULL },
	.report = report,
};
