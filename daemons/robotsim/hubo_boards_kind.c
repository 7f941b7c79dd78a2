/* hubo_boards_kind.c: a joint board of Hubo as a simulated device: frames, faults on command, report. */
#include <math.h>

#include "daemons/hubo/hubod_settings.h"
#include "daemons/robotsim/hubo_boards.h"
#include "daemons/robotsim/jmc_board.h"

/* ---- as a unit ---- */

static bool hears(const void *state, const struct frame *f)
{
	const uint32_t number = (uint32_t)((const struct jmc_board *)state)->settings.number;

	return f->id == 0x001 ? f->len && f->data[0] == number : f->id == 0x010 + number;
}

/* All joints of a board. */
static void push(void *state, double torque_nm, int64_t duration_ns, int64_t t_ns)
{
	struct jmc_board *b = state;

	jmc_board_advance(b, t_ns);
	for (unsigned int i = 0; i < b->motors_n; i++) {
		b->motor[i].push_nm = torque_nm;
		b->motor[i].push_for_s = (double)duration_ns * 1e-9;
	}
}

/* ---- on command ---- */

static const struct sim_fault faults[] = {
	SIM_BASE_SILENT, SIM_BASE_GARBAGE, SIM_BASE_SHORT, SIM_FAULT("twice", struct jmc_board, twice), { 0 },
};

static const struct {
	const char *word;
	uint32_t bit; /* 0: not a bit of the status */
} motor_faults[] = {
	{ "jammed", 0 },
	{ "encoder-stuck", 0 },
	{ "jam", JMC_JAM },
	{ "saturated", JMC_SATURATED },
	{ "big-error", JMC_BIG_ERROR },
	{ "encoder-error", JMC_ENCODER_ERROR },
	{ "driver-fault", JMC_DRIVER_FAULT },
	{ "motor-fail", JMC_MOTOR_FAIL_0 },
	{ "lower-limit", JMC_MIN_POSITION },
	{ "upper-limit", JMC_MAX_POSITION },
	{ "velocity", JMC_VELOCITY },
	{ "acceleration", JMC_ACCELERATION },
	{ "temperature", JMC_TEMPERATURE },
};

static void set_fault(struct jmc_motor *m, unsigned int fault, bool clear)
{
	const uint32_t bit = motor_faults[fault].bit;

	if (fault == 0) {
		m->jammed = !clear;
	} else if (fault == 1) {
		m->encoder_stuck = !clear;
		m->stuck_counts = m->counts;
	} else if (clear) {
		m->latched &= ~bit;
	} else {
		jmc_motor_trip(m, bit);
	}
}

/* WORD of every motor, or WORD-N of one. */
static int fault(void *state, const char *word, bool clear, int64_t t_ns, struct rpc_text *answer)
{
	const size_t n = sizeof(motor_faults) / sizeof(*motor_faults);
	struct jmc_board *b = state;

	(void)t_ns;
	for (unsigned int i = 0; i < n; i++) {
		const size_t len = strlen(motor_faults[i].word);
		const char *behind = strncmp(word, motor_faults[i].word, len) != 0 ? "" : word + len;
		const bool one = behind[0] == '-' && behind[1] >= '0' && !behind[2];
		const unsigned int motor = one ? (unsigned int)(behind[1] - '0') : 0;

		if (one && motor >= b->motors_n)
			continue;
		if (one)
			set_fault(&b->motor[motor], i, clear);
		else if (strcmp(word, motor_faults[i].word) != 0)
			continue;
		for (unsigned int m = 0; !one && m < b->motors_n; m++)
			set_fault(&b->motor[m], i, clear);
		return 0;
	}
	rpc_say(answer,
		"error %s: no such fault: a board of %u motors has cut, power-off, power-on, silent, garbage, "
		"short, twice",
		word, b->motors_n);
	for (unsigned int i = 0; i < n; i++)
		rpc_say(answer, ", %s", motor_faults[i].word);
	rpc_say(answer, "; these with -0 to -%u behind them for one motor", b->motors_n - 1);
	return -EINVAL;
}

static void report_lock(const struct jmc_board *b, struct rpc_text *to)
{
	double squares = 0, most = 0;
	uint64_t held = 0;

	for (unsigned int i = 0; i < b->motors_n; i++) {
		const struct jmc_path *path = &b->motor[i].path;
		const double step_s = b->pll.nominal_ns * 1e-9 / (double)b->settings.sub_steps;
		const double rad_s = 1 / b->model[i].counts_per_rad / step_s, rms = jmc_path_rms(path) * rad_s;

		squares += rms * rms / b->motors_n;
		most = fmax(most, path->max * rad_s);
		held += path->held;
	}
	rpc_say(to, " lock %s locks %" PRIu64 " losses %" PRIu64 " period_us %.3f",
		b->layout == JMC_HAND ? "none"
		: b->pll.locked	      ? "yes"
				      : "no",
		b->pll.locks, b->pll.losses, b->pll.period_ns * 1e-3);
	rpc_say(to, " phase_us %.3f phase_rms_us %.3f phase_max_us %.3f", jmc_pll_mean_ns(&b->pll) * 1e-3,
		jmc_pll_rms_ns(&b->pll) * 1e-3, b->pll.quality.max_ns * 1e-3);
	rpc_say(to, " ripple %.6f ripple_max %.6f held %" PRIu64, sqrt(squares), most, held);
}

static void report(void *state, struct rpc_text *to)
{
	static const char *const hows[] = { "off", "position", "pwm", "homing" };
	struct jmc_board *b = state;

	rpc_say(to, " number %u power %s driver %s control %s temperature %.2f", (unsigned int)b->settings.number,
		b->base.off		       ? "off"
		: b->now_ns < b->boot_until_ns ? "booting"
					       : "on",
		b->fet ? "on" : "off", b->control ? "on" : "off", b->temperature_c);
	report_lock(b, to);
	rpc_say(to,
		" references %" PRIu64 " unused %" PRIu64 " in %" PRIu64 " out %" PRIu64 " ignored %" PRIu64
		" lost %" PRIu64 " clears %" PRIu64 " homings %" PRIu64,
		b->pll.arrived, b->unused, b->in, b->base.sent, b->ignored, b->base.lost, b->clears, b->homings);
	for (unsigned int i = 0; i < b->motors_n; i++) {
		const struct jmc_motor *m = &b->motor[i];
		const char *name = b->joint[i];

		if (name)
			rpc_say(to, " %s %.6f %s_counts %" PRId32 " %s_does %s %s_duty %.1f %s_faults 0x%06" PRIX32,
				name, m->counts / m->model->counts_per_rad, name, jmc_motor_reported(m), name,
				hows[m->how], name, m->duty, name, m->latched);
	}
}

const struct sim_kind hubo_boards_kind = {
	SIM_DRIVER(hubod),
	.rows = hubo_boards_rows,
	.load = hubo_boards_load,
	.start = jmc_board_start,
	.hears = hears,
	.frame = jmc_board_frame,
	SIM_BASE_SENDS,
	.advance = jmc_board_advance,
	.faults = faults,
	.power = jmc_board_power,
	.push = push,
	.fault = fault,
	/* A motor's model is made of the others when the file is read. */
	.live = (const char *const[]){ "number",     "reply_delay", "reply_jitter", "lose",	  "bandwidth",
				       "damping",    "lock_range",  "sample",	    "lock_after", "unlock_after",
				       "hold_after", "second_slot", "home_ok",	    "home_runs",  "home_failed",
				       "ambient",    "heat",	    "warms_in",	    "boot",	  NULL },
	.report = report,
};
