/* pcube_motion.c: from a move to a reference for each step, and homing. */
#include <math.h>

#include "daemons/robotsim/pcube.h"

#define HOME_WINDOW_RAD 0.01 /* the home switch is closed that far around its place */
#define HOME_LEAVE_RAD 0.03  /* a joint on the switch first moves that far off it */
#define HOME_TURNS_MAX 2     /* at the ends, before it gives up */
#define MOVING_RAD_S 0.002   /* slower is standing */

/* ---- references ---- */

static double toward(double from, double to, double by)
{
	return to > from + by ? from + by : to < from - by ? from - by : to;
}

void pcube_motion_here(struct pcube *m)
{
	m->motion.position = m->joint.position;
	m->motion.velocity = m->joint.velocity;
	m->motion.acceleration = 0;
}

static void hold(struct pcube_motion *n)
{
	n->now.mode = PCUBE_HOLD;
	n->velocity = n->acceleration = 0;
	n->ramp_end = true;
}

static void begin(struct pcube *m, const struct pcube_move *move)
{
	struct pcube_motion *n = &m->motion;

	if (move->mode == PCUBE_STEP && n->now.mode == PCUBE_STEP) {
		n->next = *move;
		n->has_next = true;
		return;
	}
	n->now = *move;
	n->has_next = false;
	n->ramp_end = false;
	n->ramp_velocity = fmin((double)m->values.target_velocity, (double)m->values.max_velocity);
	n->ramp_acceleration = fmin((double)m->values.target_acceleration, (double)m->values.max_acceleration);
	m->brake = false;
	if (move->mode == PCUBE_VELOCITY && move->value == 0 && n->velocity == 0)
		hold(n);
}

void pcube_motion_begin(struct pcube *m, const struct pcube_move *move)
{
	m->motion.homing = PCUBE_HOME_NOT;
	begin(m, move);
}

void pcube_motion_stop(struct pcube *m)
{
	m->motion.has_waiting = m->motion.has_next = false;
	m->motion.homing = PCUBE_HOME_NOT;
	if (m->motion.now.mode != PCUBE_HOLD)
		m->motion.now = (struct pcube_move){ .mode = PCUBE_VELOCITY };
}

/* Slows down in time for the target; with the last step it is there. */
static void ramp(struct pcube_motion *n, double velocity, double acceleration, double dt_s)
{
	const double left = n->now.value - n->position;
	const double before = n->velocity, change = acceleration * dt_s;
	const double allowed = sqrt(2 * acceleration * fabs(left)) - change / 2;

	if (fabs(left) <= fabs(before) * dt_s + change * dt_s && fabs(before) <= 2 * change) {
		n->position = n->now.value;
		hold(n);
		return;
	}
	n->velocity = toward(before, copysign(fmin(velocity, fmax(allowed, 0)), left), change);
	n->acceleration = (n->velocity - before) / dt_s;
	n->position += n->velocity * dt_s;
}

static void step(struct pcube_motion *n, double velocity, double dt_s)
{
	const double left = n->now.value - n->position;

	if (n->now.time_s <= dt_s && fabs(left) <= velocity * dt_s) {
		n->position = n->now.value;
		if (!n->has_next) {
			hold(n);
			return;
		}
		n->now = n->next;
		n->has_next = false;
		return;
	}
	n->velocity = num_clamp(left / fmax(n->now.time_s, dt_s), -velocity, velocity);
	n->acceleration = 0;
	n->position += n->velocity * dt_s;
	n->now.time_s -= dt_s;
}

static void run(struct pcube_motion *n, double velocity, double acceleration, double dt_s)
{
	const double before = n->velocity;

	n->velocity = toward(before, num_clamp(n->now.value, -velocity, velocity), acceleration * dt_s);
	n->acceleration = (n->velocity - before) / dt_s;
	n->position += n->velocity * dt_s;
	if (n->now.value == 0 && n->velocity == 0)
		hold(n);
}

/* ---- homing: to the switch, wherever it is, and back to its place ---- */

bool pcube_at_home_switch(const struct pcube *m)
{
	return fabs(m->joint.position - m->settings.home) <= HOME_WINDOW_RAD;
}

static void home_run(struct pcube *m, double direction)
{
	begin(m, &(struct pcube_move){ PCUBE_VELOCITY, direction * fabs(m->settings.home_velocity), 0 });
}

static void home_ramp(struct pcube *m, double to)
{
	begin(m, &(struct pcube_move){ PCUBE_RAMP, to, 0 });
	m->motion.ramp_velocity = fabs(m->settings.home_velocity);
	m->motion.ramp_acceleration = (double)m->values.max_acceleration;
}

void pcube_motion_home(struct pcube *m)
{
	struct pcube_motion *n = &m->motion;

	m->homed = false;
	n->has_waiting = false;
	n->home_direction = copysign(1, m->settings.home_velocity);
	n->home_turns = 0;
	n->homing = pcube_at_home_switch(m) ? PCUBE_HOME_LEAVE : PCUBE_HOME_SEEK;
	home_run(m, n->homing == PCUBE_HOME_LEAVE ? -n->home_direction : n->home_direction);
}

static void home_turn(struct pcube *m)
{
	struct pcube_motion *n = &m->motion;

	if (n->home_turns++ == HOME_TURNS_MAX) {
		pcube_trip(m, PCUBE_TOW_ERROR); /* there is no switch: it runs against its ends for ever */
		return;
	}
	pcube_motion_here(m);
	if (n->homing == PCUBE_HOME_SEEK)
		n->home_direction = -n->home_direction;
	n->homing = PCUBE_HOME_SEEK;
	home_run(m, n->home_direction);
}

static void home_step(struct pcube *m)
{
	struct pcube_motion *n = &m->motion;

	if ((n->homing == PCUBE_HOME_LEAVE || n->homing == PCUBE_HOME_SEEK) && m->joint.end &&
	    m->joint.end * n->velocity > 0) {
		home_turn(m);
		return;
	}
	switch (n->homing) {
	case PCUBE_HOME_LEAVE:
		if (fabs(m->joint.position - m->settings.home) > HOME_LEAVE_RAD) {
			n->homing = PCUBE_HOME_SEEK;
			home_run(m, n->home_direction);
		}
		break;
	case PCUBE_HOME_SEEK:
		if (pcube_at_home_switch(m)) {
			n->homing = PCUBE_HOME_STOP;
			home_run(m, 0);
		}
		break;
	case PCUBE_HOME_STOP:
		if (n->now.mode == PCUBE_HOLD) {
			n->homing = PCUBE_HOME_RETURN;
			home_ramp(m, m->settings.home);
		}
		break;
	case PCUBE_HOME_RETURN:
		if (n->now.mode != PCUBE_HOLD)
			break;
		n->homing = PCUBE_HOME_NOT;
		m->homed = true;
		m->zero = (double)m->values.home_offset - m->settings.home;
		if (m->values.config & PCUBE_CONFIG_ZERO_AFTER_HOME)
			home_ramp(m, -m->zero);
		break;
	case PCUBE_HOME_NOT:
		break;
	}
}

/* ---- a step ---- */

void pcube_motion_step(struct pcube *m, double dt_s)
{
	struct pcube_motion *n = &m->motion;
	const double velocity = (double)m->values.max_velocity, acceleration = (double)m->values.max_acceleration;

	if (m->brake) {
		pcube_motion_here(m);
		return;
	}
	if (n->homing)
		home_step(m);
	switch (n->now.mode) {
	case PCUBE_HOLD:
		n->velocity = n->acceleration = 0;
		break;
	case PCUBE_RAMP:
		ramp(n, n->ramp_velocity, n->ramp_acceleration, dt_s);
		break;
	case PCUBE_STEP:
		step(n, velocity, dt_s);
		break;
	case PCUBE_VELOCITY:
		run(n, velocity, acceleration, dt_s);
		break;
	case PCUBE_CURRENT:
		pcube_motion_here(m);
		break;
	}
}

uint32_t pcube_motion_bits(const struct pcube *m)
{
	const struct pcube_motion *n = &m->motion;
	const bool going = n->velocity != 0 && (n->now.mode == PCUBE_RAMP || n->now.mode == PCUBE_VELOCITY);
	uint32_t bits = 0;

	if (fabs(m->joint.velocity) > MOVING_RAD_S || n->homing || n->now.mode == PCUBE_RAMP ||
	    n->now.mode == PCUBE_STEP || (n->now.mode == PCUBE_VELOCITY && (n->velocity != 0 || n->now.value != 0)))
		bits |= PCUBE_MOVING;
	if (going && n->acceleration * n->velocity > 0)
		bits |= PCUBE_RAMP_UP;
	else if (going && n->acceleration * n->velocity < 0)
		bits |= PCUBE_RAMP_DOWN;
	else if (going)
		bits |= PCUBE_RAMP_STEADY;
	if (n->ramp_end)
		bits |= PCUBE_RAMP_END;
	if (n->now.mode == PCUBE_STEP)
		bits |= PCUBE_STEPPING;
	if (n->has_next)
		bits |= PCUBE_STEPS_FULL;
	return bits;
}
