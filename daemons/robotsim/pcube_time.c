/* pcube_time.c: what happens in time: a step of everything, and what a module notices by itself. */
#include <math.h>

#include "channels/clock/clock.h"
#include "daemons/robotsim/pcube.h"

#define HEAT_MAX_S 12.0	    /* 4 s of twice the nominal current */
#define STANDING_RAD_S 1e-3 /* the brake closes */
#define OUTWARD_RAD_S 1e-3  /* beyond a soft limit, and still going */

static void check_limits(struct pcube *m)
{
	const double reading = m->joint.position + m->zero;
	const double outward = m->joint.velocity + m->motion.velocity;

	if (m->armed && m->t_ns >= m->watchdog_ns && !(m->faults & PCUBE_COMM_ERROR)) {
		m->counts.trips++;
		pcube_trip(m, PCUBE_COMM_ERROR);
	}
	if (m->joint.end && !m->motion.homing && !(m->faults & PCUBE_HARD_LIMIT))
		pcube_trip(m, PCUBE_HARD_LIMIT);
	if (m->homed && !(m->faults & PCUBE_SOFT_LIMIT) &&
	    ((reading > (double)m->values.max_position && outward > OUTWARD_RAD_S) ||
	     (reading < (double)m->values.min_position && outward < -OUTWARD_RAD_S)))
		pcube_trip(m, PCUBE_SOFT_LIMIT);
	if (m->heat > HEAT_MAX_S && !(m->faults & PCUBE_OVERLOAD))
		pcube_trip(m, PCUBE_OVERLOAD);
}

static struct joint_drive drive(struct pcube *m, double dt_s)
{
	struct joint_drive d = { .current_max = pcube_current_max(m),
				 .load_nm = m->t_ns <= m->push_until_ns ? m->push_nm : 0,
				 .jammed = m->jammed };

	if (m->shaft.coupled) {
		d.load_nm += m->shaft.load_nm;
		m->joint.inertia = m->shaft.inertia;
	}
	m->servo.on = false;
	if (pcube_is_limp(m)) {
		m->brake = pcube_has_brake(m);
		m->motion.now.mode = PCUBE_HOLD;
		pcube_motion_here(m);
	} else {
		if (m->halted && m->motion.now.mode == PCUBE_HOLD && fabs(m->joint.velocity) < STANDING_RAD_S)
			m->brake = pcube_has_brake(m);
		pcube_motion_step(m, dt_s);
		m->servo.on = !m->brake && m->motion.now.mode != PCUBE_CURRENT;
		d.how = m->brake ? JOINT_FREE : JOINT_CURRENT;
		d.value = m->servo.on ? pcube_servo_current(m, d.current_max, dt_s) : m->motion.now.value;
	}
	if (!m->servo.on)
		m->servo.integral = 0;
	d.brake = m->brake || m->forced & PCUBE_BRAKE;
	return d;
}

static void step(struct pcube *m)
{
	const double dt_s = PCUBE_STEP_NS * 1e-9;
	struct joint_drive d;
	double load;

	m->t_ns += PCUBE_STEP_NS;
	if (m->booting && m->t_ns >= m->booted_ns)
		pcube_boot(m);
	if (m->power && !m->booting)
		check_limits(m);
	d = drive(m, dt_s);
	m->values.previous_position = (float)pcube_position(m);
	joint_step(&m->joint, &d, dt_s);
	m->shaft.position_rad = m->joint.position;
	m->shaft.velocity_rad_s = m->joint.velocity;
	if (m->servo.on && fabs(m->motion.position - m->joint.position) > (double)m->values.max_following_error &&
	    !(m->faults & PCUBE_TOW_ERROR))
		pcube_trip(m, PCUBE_TOW_ERROR);
	load = m->joint.current / m->type->current_a;
	m->heat = fmax(0, m->heat + (load * load - 1) * dt_s);
}

/* What a step can change, and the times at which one will. */
struct still {
	struct joint joint;
	struct pcube_servo servo;
	struct pcube_motion motion;
	uint32_t state;
	double heat;
};

static void snapshot(const struct pcube *m, struct still *still)
{
	memset(still, 0, sizeof(*still));
	memcpy(&still->joint, &m->joint, sizeof(still->joint));
	memcpy(&still->servo, &m->servo, sizeof(still->servo));
	memcpy(&still->motion, &m->motion, sizeof(still->motion));
	still->state = pcube_state(m);
	still->heat = m->heat;
}

static int64_t next_event_ns(const struct pcube *m)
{
	int64_t next_ns = CLOCK_NEVER;

	if (m->armed && !(m->faults & PCUBE_COMM_ERROR))
		next_ns = m->watchdog_ns;
	if (m->push_until_ns >= m->t_ns && m->push_until_ns < next_ns)
		next_ns = m->push_until_ns;
	if (m->booting && m->booted_ns < next_ns)
		next_ns = m->booted_ns;
	return next_ns;
}

/* A joint that stands, stands until something happens: the same as stepping, only faster. */
void pcube_advance(void *state, int64_t t_ns)
{
	struct pcube *m = state;
	struct still before, after;

	while (t_ns - m->t_ns >= PCUBE_STEP_NS) {
		int64_t until_ns;

		snapshot(m, &before);
		step(m);
		snapshot(m, &after);
		if (memcmp(&before, &after, sizeof(after)) != 0)
			continue;
		until_ns = next_event_ns(m) - 1;
		until_ns = until_ns < t_ns ? until_ns : t_ns;
		if (until_ns > m->t_ns)
			m->t_ns += (until_ns - m->t_ns) / PCUBE_STEP_NS * PCUBE_STEP_NS;
	}
}
