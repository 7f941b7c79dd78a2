/* estimate.c: the state of the body from what its sensors measure; see estimate.h.  Checked: pure. */
#include <math.h>

#include "daemons/balance/estimate.h"

#define TRUST_NS 20000000    /* a sample of IMU or wheels */
#define PREDICT_NS 500000000 /* then without one */
#define WAIST_NS 50000000    /* its modules stop by themselves after that */
#define WAIST_RAMP_NS 100000000
#define DRIVE_GUARD_NS 200000000 /* drives without commands have no current after that */
#define PITCH_GAIN_1_S 0.42	 /* towards gravity: 0.3 rad/s, damping 0.7 */
#define BIAS_GAIN_1_S2 0.09
#define BIAS_MAX_RAD_S 0.05
#define FORCE_BAND_M_S2 2.0 /* a specific force that differs more from gravity says nothing of the pitch */
#define TICK_S 0.001

static double seconds(int64_t ns)
{
	return (double)ns * 1e-9;
}

void estimate_begin(struct estimate *e, const struct model *model, const struct gains_table *table)
{
	*e = (struct estimate){ .model = model, .table = table };
}

void estimate_resume(struct estimate *e, const struct msg_balance_state *last)
{
	e->t_ns = last->header.t_publish_ns;
	e->pitch_rad = e->at_pitch_rad = last->pitch;
	e->pitch_rate_rad_s = e->gap_rate_rad_s = last->pitch_rate;
	e->bias_rad_s = last->rate_bias;
	e->waist_rad = last->waist_position;
	e->waist_rate_rad_s = last->waist_velocity;
	e->at.t_ns = e->rolled.t_ns = e->bent.t_ns = e->t_ns;
	e->at.pitch_rate_rad_s = last->pitch_rate + last->rate_bias;
	e->bent.position_rad = last->waist_position;
	e->bent.velocity_rad_s = last->waist_velocity;
}

/* ---- waist ---- */

/* So long after the newest measurement: on at its rate, then braking, then standing. */
static void carry_waist_on(struct estimate *e, double age_s)
{
	const double rate = e->bent.velocity_rad_s, braking = e->model->waist_braking_rad_s2;
	const double even_s = fmin(age_s, seconds(WAIST_NS));
	const double brakes_s = fmin(age_s - even_s, fabs(rate) / braking);

	e->waist_rate_rad_s = rate - copysign(braking * brakes_s, rate);
	e->waist_rad = e->bent.position_rad + rate * even_s + 0.5 * (rate + e->waist_rate_rad_s) * brakes_s;
}

static void bend(struct estimate *e, const struct estimate_waist *got, int64_t now_ns)
{
	int64_t age_ns;

	if (got->is_new) {
		const bool gap = e->waist != MSG_INPUT_FRESH && e->bent.t_ns;

		e->bent = *got;
		if (gap) {
			e->waist_step_rad = e->waist_rad - got->position_rad;
			e->waist_step_ns = now_ns;
		}
	}
	age_ns = now_ns - e->bent.t_ns;
	e->waist = age_ns <= WAIST_NS ? MSG_INPUT_FRESH : MSG_INPUT_PREDICTED;
	carry_waist_on(e, seconds(age_ns));
	if (now_ns - e->waist_step_ns < WAIST_RAMP_NS)
		e->waist_rad += e->waist_step_rad * (1 - seconds(now_ns - e->waist_step_ns) / seconds(WAIST_RAMP_NS));
}

/* ---- pitch ---- */

/* Where gravity says that the pitch is.  While the wheels accelerate, the force leans against them. */
static double pitch_by_gravity(const struct estimate *e, const struct estimate_imu *got, double dt_s)
{
	const double acceleration = (e->wheel_rate_rad_s - e->at_wheel_rate_rad_s) / dt_s * e->model->wheel_radius_m;

	return atan2(-got->forward_m_s2, got->up_m_s2) + atan2(acceleration, MODEL_GRAVITY_M_S2);
}

static bool is_gravity(const struct estimate_imu *got)
{
	return fabs(hypot(got->forward_m_s2, got->up_m_s2) - MODEL_GRAVITY_M_S2) < FORCE_BAND_M_S2;
}

static double angle(double rad)
{
	return remainder(rad, 2 * M_PI);
}

/* A sample after at.  In a gap the model has predicted the pitch; the rate now shows by how much it went wrong, and
 * if the error grew steadily, half of it times the gap is the error of the pitch. */
static void take_imu(struct estimate *e, const struct estimate_imu *got)
{
	const double dt_s = seconds(got->t_ns - e->at.t_ns), rate_rad_s = got->pitch_rate_rad_s - e->bias_rad_s;
	double error;

	if (e->imu == MSG_INPUT_FRESH)
		e->at_pitch_rad += 0.5 * (rate_rad_s + e->at.pitch_rate_rad_s - e->bias_rad_s) * dt_s;
	else
		e->at_pitch_rad = e->pitch_rad + 0.5 * (rate_rad_s - e->gap_rate_rad_s) * dt_s;
	if (is_gravity(got) && e->imu == MSG_INPUT_FRESH && dt_s > 0) {
		error = angle(pitch_by_gravity(e, got, dt_s) - e->at_pitch_rad);
		e->at_pitch_rad += PITCH_GAIN_1_S * dt_s * error;
		e->bias_rad_s -= BIAS_GAIN_1_S2 * dt_s * error;
		e->bias_rad_s = num_clamp(e->bias_rad_s, -BIAS_MAX_RAD_S, BIAS_MAX_RAD_S);
	}
	e->at = *got;
	e->at_wheel_rate_rad_s = e->wheel_rate_rad_s;
}

static void first_imu(struct estimate *e, const struct estimate_imu *got)
{
	e->at = *got;
	e->at_pitch_rad = atan2(-got->forward_m_s2, got->up_m_s2);
	e->imu = MSG_INPUT_FRESH;
}

static void predict_pitch(struct estimate *e, double current_a, double dt_s)
{
	const struct model_linear linear = gains_linear_at(e->table, e->waist_rad);

	e->gap_rate_rad_s += (linear.lean_by_lean * e->lean_rad + linear.lean_by_current * current_a) * dt_s;
	e->pitch_rad += e->gap_rate_rad_s * dt_s;
	e->pitch_rate_rad_s = e->gap_rate_rad_s;
}

static void pitch(struct estimate *e, const struct estimate_imu *got, double current_a, int64_t now_ns)
{
	int64_t age_ns;

	if (got->is_new && !e->at.t_ns)
		first_imu(e, got);
	else if (got->is_new && got->t_ns > e->at.t_ns)
		take_imu(e, got);
	age_ns = now_ns - e->at.t_ns;
	if (age_ns <= TRUST_NS) {
		e->imu = MSG_INPUT_FRESH;
		e->pitch_rate_rad_s = e->gap_rate_rad_s = e->at.pitch_rate_rad_s - e->bias_rad_s;
		e->pitch_rad = e->at_pitch_rad + e->pitch_rate_rad_s * seconds(age_ns);
		return;
	}
	e->imu = age_ns <= PREDICT_NS ? MSG_INPUT_PREDICTED : MSG_INPUT_LOST;
	predict_pitch(e, current_a, seconds(now_ns - e->t_ns));
}

/* ---- wheels ---- */

/* Encoders measure the wheels against the base, which turns, too. */
static void measure_wheels(struct estimate *e)
{
	const struct estimate_wheels *w = &e->rolled;
	const double per_rad = e->model->wheel_radius_m / e->model->wheel_base_m;

	e->wheel_rad = 0.5 * (w->position_rad[0] + w->position_rad[1]) + e->pitch_rad;
	e->wheel_rate_rad_s = 0.5 * (w->velocity_rad_s[0] + w->velocity_rad_s[1]) + e->pitch_rate_rad_s;
	e->heading_rad = (w->position_rad[1] - w->position_rad[0]) * per_rad;
	e->turn_rate_rad_s = (w->velocity_rad_s[1] - w->velocity_rad_s[0]) * per_rad;
}

static void predict_wheels(struct estimate *e, int64_t age_ns, double dt_s)
{
	const struct model_linear linear = gains_linear_at(e->table, e->waist_rad);
	const double held_a = 0.5 * (e->rolled.current_a[0] + e->rolled.current_a[1]);
	const double current_a = age_ns < DRIVE_GUARD_NS ? held_a : 0;

	e->wheel_rate_rad_s += (linear.wheel_by_lean * e->lean_rad + linear.wheel_by_current * current_a) * dt_s;
	e->wheel_rad += e->wheel_rate_rad_s * dt_s;
}

static void roll(struct estimate *e, const struct estimate_wheels *got, int64_t now_ns)
{
	int64_t age_ns;

	e->wheels_back = got->is_new && e->wheels != MSG_INPUT_FRESH;
	if (got->is_new)
		e->rolled = *got;
	age_ns = now_ns - e->rolled.t_ns;
	if (age_ns <= TRUST_NS) {
		e->wheels = MSG_INPUT_FRESH;
		measure_wheels(e);
		return;
	}
	e->wheels = age_ns <= PREDICT_NS ? MSG_INPUT_PREDICTED : MSG_INPUT_LOST;
	predict_wheels(e, age_ns, seconds(now_ns - e->t_ns));
}

/* ---- all ---- */

static void lean(struct estimate *e)
{
	e->lean_rad = model_lean(e->model, e->pitch_rad, e->waist_rad);
	e->lean_rate_rad_s =
		e->pitch_rate_rad_s + model_lean_by_waist(e->model, e->pitch_rad, e->waist_rad) * e->waist_rate_rad_s;
}

/* The time before a process ended and its successor began passes in ticks, for the model. */
static void catch_up(struct estimate *e, double current_a, int64_t now_ns)
{
	if (now_ns - e->t_ns > PREDICT_NS)
		e->t_ns = now_ns - PREDICT_NS;
	while (now_ns - e->t_ns > 2 * (int64_t)(TICK_S * 1e9)) {
		e->t_ns += (int64_t)(TICK_S * 1e9);
		lean(e);
		predict_pitch(e, current_a, TICK_S);
	}
}

bool estimate_tick(struct estimate *e, const struct estimate_inputs *in, double current_a, int64_t now_ns)
{
	if (e->t_ns)
		catch_up(e, current_a, now_ns);
	else
		e->t_ns = now_ns;
	bend(e, &in->waist, now_ns);
	pitch(e, &in->imu, current_a, now_ns);
	roll(e, &in->wheels, now_ns);
	lean(e);
	e->t_ns = now_ns;
	return e->at.t_ns && e->rolled.t_ns && e->bent.t_ns;
}
