/* jmc_board.c: a simulated joint board of Hubo: what it hears, and its time. */
#include "daemons/robotsim/jmc_board.h"

#include <math.h>

#include "channels/clock/clock.h"
#include "daemons/robotsim/sim_random.h"

#define COMMAND_ID 0x001
#define REFERENCE_ID 0x010u

const char *const jmc_second_slots[] = { "zero", "repeat", "none", NULL }, *const jmc_ways[] = { "up", "down", NULL };

/* ---- power ---- */

void jmc_board_lock(struct jmc_board *b, int64_t t_ns)
{
	jmc_pll_start(&b->pll, &b->settings.pll, b->params.can_rate_ms * INT64_C(1000000), t_ns);
	b->t_ns = t_ns;
	b->step_ns = CLOCK_NEVER;
	b->steps_left = 0;
}

/* As its flash has it, off, and counting from where its joints are. */
static void boot(struct jmc_board *b, int64_t t_ns)
{
	b->params = b->flash;
	b->fet = b->control = false;
	b->mode = 0;
	b->base.queue.n = 0;
	for (unsigned int i = 0; i < b->motors_n; i++)
		jmc_motor_start(&b->motor[i], b->motor[i].counts, b->motor[i].counts);
	jmc_board_lock(b, t_ns);
}

void jmc_board_control(struct jmc_board *b, bool on)
{
	b->control = on && b->fet;
	for (unsigned int i = 0; i < b->motors_n; i++)
		if (b->control && b->layout != JMC_HAND)
			jmc_motor_hold(&b->motor[i]);
		else
			jmc_motor_off(&b->motor[i]);
}

void jmc_board_start(void *state, int64_t t_ns)
{
	struct jmc_board *b = state;
	const struct jmc_settings *s = &b->settings;

	b->base.random = sim_random_seed(s->seed + s->number);
	b->temperature_c = s->ambient_c;
	for (unsigned int i = 0; i < b->motors_n; i++) {
		b->motor[i].model = &b->model[i];
		b->motor[i].params = &b->params;
		b->motor[i].own = &b->params.motor[i];
		b->motor[i].counts = num_clamp(s->position_rad * b->model[i].counts_per_rad, b->model[i].ends[0],
					       b->model[i].ends[1]);
	}
	boot(b, t_ns);
	b->base.off = !s->power;
	b->boot_until_ns = t_ns;
	for (unsigned int i = 0; s->homed && i < b->motors_n; i++) {
		b->motor[i].zero = 0;
		b->motor[i].home.phase = JMC_HOME_DONE;
	}
	b->fet = s->on;
	jmc_board_control(b, s->on);
}

void jmc_board_power(void *state, bool on, int64_t t_ns)
{
	struct jmc_board *b = state;

	b->base.off = !on;
	boot(b, t_ns);
	b->boot_until_ns = t_ns + b->settings.boot_ns;
}

/* ---- time ---- */

static void warm(struct jmc_board *b, double step_s)
{
	const struct jmc_settings *s = &b->settings;
	double squares = 0;

	for (unsigned int i = 0; i < b->motors_n; i++)
		squares += b->motor[i].current_a * b->motor[i].current_a;
	b->temperature_c +=
		(s->ambient_c + s->heat * squares - b->temperature_c) * step_s / ((double)s->warms_ns * 1e-9);
	if (b->temperature_c > b->params.temperature)
		for (unsigned int i = 0; i < b->motors_n; i++)
			jmc_motor_trip(&b->motor[i], JMC_TEMPERATURE);
}

/* A sub-step that ends now; the last of a period ends with the tick. */
static void step(struct jmc_board *b, int64_t t_ns)
{
	const int64_t n = b->settings.sub_steps;
	const double step_s = (double)(t_ns - b->t_ns) * 1e-9, nominal_s = b->pll.period_ns * 1e-9 / (double)n;
	const bool tick = t_ns == b->pll.tick_ns, measured = b->pll.locked && !jmc_pll_holds(&b->pll, t_ns);

	for (unsigned int i = 0; i < b->motors_n; i++) {
		jmc_motor_step(&b->motor[i], measured, nominal_s, step_s);
		if (tick)
			jmc_path_tick(&b->motor[i].path, (unsigned int)n);
	}
	warm(b, step_s);
	b->t_ns = t_ns;
	if (tick) {
		jmc_pll_tick(&b->pll);
		b->steps_left = n;
	}
	b->steps_left--;
	b->step_ns = b->steps_left > 0 ? t_ns + llround(b->pll.period_ns / (double)n) : CLOCK_NEVER;
}

void jmc_board_advance(void *state, int64_t t_ns)
{
	struct jmc_board *b = state;

	b->now_ns = t_ns;
	for (;;) {
		const int64_t next_ns = b->step_ns < b->pll.tick_ns ? b->step_ns : b->pll.tick_ns;

		if (next_ns > t_ns || b->base.off)
			return;
		step(b, next_ns);
	}
}

/* ---- references ---- */

/* 24 bits, sign and magnitude. */
static double i24(const uint8_t *from)
{
	const int32_t magnitude = frame_le16(from) | (from[2] & 0x7F) << 16;

	return from[2] & 0x80 ? -magnitude : magnitude;
}

/* Did one of its motors follow? */
static bool refer(struct jmc_board *b, const struct frame *f)
{
	struct jmc_motor *m = b->motor;
	bool used = false;

	if (b->layout == JMC_JOINTS) {
		for (unsigned int i = 0; i < b->motors_n; i++)
			used |= jmc_motor_reference(&m[i], i24(f->data + 3 * i));
	} else if (b->layout == JMC_NECK) {
		for (unsigned int i = 0; i < 3; i++) {
			const double rad = frame_le16(f->data + 2 * i) / 4095.0 * 2 * M_PI - M_PI;

			used |= jmc_motor_reference(&m[i], rad * m[i].model->counts_per_rad - m[i].zero);
		}
	} else {
		used = jmc_motor_reference(&m[0], i24(f->data));
		for (unsigned int i = 1; i < 3; i++) /* full at 0.10 A */
			jmc_motor_pwm(&m[i], jmc_board_i7(f->data[2 + i]) * 10);
	}
	return used;
}

static void take_reference(struct jmc_board *b, const struct frame *f, int64_t t_ns)
{
	if (b->layout == JMC_HAND || f->len != (b->layout == JMC_WRIST ? 5 : 6)) {
		b->ignored++;
		return;
	}
	b->pll.settings = b->settings.pll; /* may be changed while it runs */
	jmc_pll_arrive(&b->pll, t_ns);
	b->unused += !b->control || b->mode == 1 || !refer(b, f);
}

/* ---- frames ---- */

static void say(struct jmc_board *b, const struct frame *f, int64_t t_ns)
{
	const struct sim_queue *q = &b->base.queue;

	t_ns += b->settings.reply_ns + (int64_t)((double)b->settings.jitter_ns * sim_random_share(&b->base.random));
	if (sim_base_loses(&b->base, JMC_REPLIES_MAX - 1))
		return;
	if (q->n && q->at[q->n - 1].t_ns > t_ns)
		t_ns = q->at[q->n - 1].t_ns;
	sim_base_put(&b->base, *f, b->twice ? 2 : 1, t_ns);
}

void jmc_board_frame(void *state, const struct frame *f, int64_t t_ns)
{
	struct jmc_board *b = state;
	const uint32_t number = (uint32_t)b->settings.number;
	struct frame reply;

	jmc_board_advance(b, t_ns);
	if (b->base.off || t_ns < b->boot_until_ns)
		return;
	if (f->id == REFERENCE_ID + number) {
		b->in++;
		take_reference(b, f, t_ns);
	} else if (f->id == COMMAND_ID && f->len >= 2 && f->data[0] == number) {
		b->in++;
		if (jmc_tx(b, f, &reply))
			say(b, &reply, t_ns);
		else if (!jmc_params_command(&b->params, b->motors_n, f))
			b->ignored += !jmc_rx(b, f, t_ns);
	}
}
