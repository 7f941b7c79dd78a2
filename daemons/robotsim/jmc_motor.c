/* jmc_motor.c: one motor of a simulated Hubo joint board, with its joint, encoder, switch and faults. */
#include "daemons/robotsim/jmc_motor.h"

#include <math.h>

#define SERVO_HZ 20.0	   /* bandwidth of its position loop */
#define TORQUE_NM 50.0	   /* at full duty, at rest; less in proportion to its speed */
#define SPEED_A_S_RAD 0.01 /* of its current, with the speed of the joint */
#define STALL_A 3.0	   /* of its current, at full duty against an end */

static double encoder(const struct jmc_motor *m)
{
	return m->encoder_stuck ? m->stuck_counts : m->counts;
}

int32_t jmc_motor_reported(const struct jmc_motor *m)
{
	return (int32_t)llround(num_clamp(encoder(m) - m->zero, INT32_MIN, INT32_MAX));
}

bool jmc_motor_switch(const struct jmc_motor *m)
{
	return m->model->switch_side * (m->counts - m->model->switch_counts) >= 0;
}

/* ---- orders ---- */

void jmc_motor_start(struct jmc_motor *m, double counts, double zero)
{
	*m = (struct jmc_motor){ .model = m->model, .params = m->params, .own = m->own, .jammed = m->jammed };
	m->counts = counts;
	m->zero = zero;
	jmc_motor_off(m);
}

/* It has been asked to stand there, counts from zero. */
static void stand(struct jmc_motor *m, double counts)
{
	m->asked = counts;
	jmc_path_start(&m->path, counts);
}

void jmc_motor_off(struct jmc_motor *m)
{
	if (jmc_home_runs(&m->home))
		m->home.phase = JMC_HOME_FAILED;
	m->how = JMC_OFF;
	m->duty = 0;
	stand(m, encoder(m) - m->zero);
}

/* false: it has tripped, and stays off. */
static bool begin(struct jmc_motor *m, enum jmc_motor_how how)
{
	if (m->latched & JMC_TRIPS)
		return false;
	jmc_motor_off(m);
	m->how = how;
	return true;
}

void jmc_motor_hold(struct jmc_motor *m)
{
	begin(m, JMC_POSITION);
}

void jmc_motor_pwm(struct jmc_motor *m, double duty)
{
	if (begin(m, JMC_PWM))
		m->duty = num_clamp(duty, -100, 100);
}

void jmc_motor_home(struct jmc_motor *m, const struct jmc_home_order *order)
{
	if (begin(m, JMC_HOMING))
		jmc_home_start(&m->home, order, encoder(m));
}

void jmc_motor_trip(struct jmc_motor *m, uint32_t bits)
{
	m->latched |= bits;
	if (bits & JMC_TRIPS)
		jmc_motor_off(m);
}

void jmc_motor_clear(struct jmc_motor *m)
{
	m->latched = 0;
	m->jam_for_s = m->saturated_for_s = 0;
	m->zero = encoder(m);
	m->home.phase = JMC_HOME_IDLE;
	stand(m, 0);
}

bool jmc_motor_reference(struct jmc_motor *m, double counts)
{
	const struct jmc_motor_params *own = m->own;

	if (m->how != JMC_POSITION)
		return false;
	if (fabs(counts - m->asked) > m->params->input_difference) {
		jmc_motor_trip(m, JMC_BIG_ERROR);
		return false;
	}
	m->asked = counts;
	if (own->limits[0] & 1 && counts < own->lower) {
		jmc_motor_trip(m, JMC_MIN_POSITION);
		counts = own->lower;
	} else if (own->limits[1] & 1 && counts > own->upper) {
		jmc_motor_trip(m, JMC_MAX_POSITION);
		counts = own->upper;
	}
	jmc_path_reference(&m->path, counts);
	return true;
}

/* ---- a step ---- */

/* Did a pulse of the index come on the way from before? */
static void see_index(struct jmc_motor *m, double before)
{
	const struct jmc_motor_model *w = m->model;
	const double low = fmin(before, m->counts), high = fmax(before, m->counts);

	m->index_counts = w->index_counts + w->counts_per_turn * ceil((low - w->index_counts) / w->counts_per_turn);
	m->index = before != m->counts && m->index_counts <= high;
}

/* Counts/s by which what acts on the joint from outside changes the velocity that its motor gives it. */
static double load(struct jmc_motor *m, double step_s)
{
	const struct jmc_motor_model *w = m->model;
	const double push_nm = m->push_for_s > 0 ? m->push_nm : 0;
	const double weight_nm = w->weight_nm * sin(m->counts / w->counts_per_rad);

	m->push_for_s -= step_s;
	return (push_nm - weight_nm) / TORQUE_NM * w->velocity * w->counts_per_rad;
}

/* The joint goes towards that velocity, as fast as its motor can, and stops at its ends. */
static void drive(struct jmc_motor *m, double velocity, double step_s)
{
	const struct jmc_motor_model *w = m->model;
	const double most = w->velocity * w->counts_per_rad, change = w->acceleration * w->counts_per_rad * step_s;
	const double before = m->counts;

	velocity += load(m, step_s);
	m->velocity += num_clamp(num_clamp(velocity, -most, most) - m->velocity, -change, change);
	m->counts = m->jammed ? before : num_clamp(before + m->velocity * step_s, w->ends[0], w->ends[1]);
	m->stalled = velocity != 0 && m->counts == before;
	if (m->stalled)
		m->velocity = 0;
	see_index(m, before);
}

/* To the set-point: with the velocity of the path, and what is missing. */
static void servo(struct jmc_motor *m, bool measured, double nominal_s, double step_s)
{
	const double most = m->model->velocity * m->model->counts_per_rad, before = m->path.at;
	double error, ahead;

	jmc_path_step(&m->path, measured);
	ahead = (m->path.at - before) / nominal_s;
	error = before - (encoder(m) - m->zero);
	m->duty = num_clamp(100 * (ahead + 2 * M_PI * SERVO_HZ * error) / most, -100, 100);
	drive(m, ahead + 2 * M_PI * SERVO_HZ * error, step_s);
	if (fabs(ahead) > most)
		jmc_motor_trip(m, JMC_VELOCITY);
	if (fabs(error) > m->params->max_error)
		jmc_motor_trip(m, JMC_BIG_ERROR);
}

static void search(struct jmc_motor *m, double step_s)
{
	const struct jmc_home_sense sense = {
		.counts = encoder(m),
		.closed = jmc_motor_switch(m),
		.stalled = m->stalled,
		.index = m->index,
		.index_counts = m->index_counts,
		.step_s = step_s,
	};

	drive(m, jmc_home_step(&m->home, &sense), step_s);
	m->duty = m->stalled ? 100 : 0;
	if (m->home.phase == JMC_HOME_FAILED) {
		jmc_motor_off(m);
	} else if (m->home.phase == JMC_HOME_DONE) {
		m->zero = m->home.zero;
		jmc_motor_hold(m);
		stand(m, 0);
	}
}

/* true: for as long as given. */
static bool lasts(double *for_s, bool is, double step_s, double limit_s)
{
	*for_s = is ? *for_s + step_s : 0;
	return is && *for_s >= limit_s;
}

static void watch(struct jmc_motor *m, double step_s)
{
	const struct jmc_params *p = m->params;
	const double duty = fabs(m->duty);

	if (lasts(&m->saturated_for_s, duty >= p->saturated_duty && m->how != JMC_PWM, step_s, p->saturated_ms * 1e-3))
		jmc_motor_trip(m, JMC_SATURATED);
	if (lasts(&m->jam_for_s, m->stalled && duty >= p->jam_duty && m->how != JMC_PWM, step_s, p->jam_ms * 1e-3))
		jmc_motor_trip(m, JMC_JAM);
}

static double current(const struct jmc_motor *m)
{
	const struct jmc_motor_model *w = m->model;

	if (m->how == JMC_OFF)
		return 0;
	return w->idle_a + SPEED_A_S_RAD * fabs(m->velocity) / w->counts_per_rad +
	       w->gravity_a * fabs(sin(m->counts / w->counts_per_rad)) +
	       (m->stalled ? STALL_A * fabs(m->duty) / 100 : 0);
}

void jmc_motor_step(struct jmc_motor *m, bool measured, double nominal_s, double step_s)
{
	if (m->how == JMC_POSITION)
		servo(m, measured, nominal_s, step_s);
	else if (m->how == JMC_HOMING)
		search(m, step_s);
	else
		drive(m, m->duty / 100 * m->model->velocity * m->model->counts_per_rad, step_s);
	watch(m, step_s);
	m->current_a = current(m);
}
