/* control_motion.c: the motion of one joint that follows from a command.  Checked: covered. */
#include "daemons/balance/control_motion.h"

#include <math.h>

#define THERE_RAD 0.005
#define THERE_RAD_S 0.01
#define LATE_S 2.0     /* after its time a move has ended even if it has not arrived */
#define BEHIND_RAD 0.2 /* beside what the ramp of a driver is behind a target that moves */

static double goal_rad(const struct control_motion *m)
{
	return m->command.angle_rad[m->goal];
}

static void plan(struct control_motion *m, int64_t now_ns)
{
	trapezoid_plan(&m->way, m->position_rad, m->velocity_rad_s, goal_rad(m), &m->limits);
	m->begun_ns = now_ns;
	m->planned = true;
}

void control_motion_begin(struct control_motion *m, const struct control_command *command,
			  const struct trapezoid_limits *limits, double ramp_rad_s2, int64_t now_ns)
{
	const bool goes_on = m->planned && control_motion_is_on(m);

	m->command = *command;
	m->limits = *limits;
	m->ramp_rad_s2 = ramp_rad_s2;
	m->goal = 0;
	m->planned = false;
	if (goes_on)
		plan(m, now_ns);
}

void control_motion_end(struct control_motion *m)
{
	m->command.verb = CONTROL_STOP;
}

static bool is_behind(const struct control_motion *m, double measured_rad)
{
	const double v = m->limits.velocity_rad_s;

	return fabs(m->position_rad - measured_rad) > BEHIND_RAD + v * v / m->limits.acceleration_rad_s2;
}

static void plan_from(struct control_motion *m, double measured_rad, double measured_rad_s, int64_t now_ns)
{
	const double v = m->limits.velocity_rad_s;

	m->velocity_rad_s = fmax(-v, fmin(v, measured_rad_s));
	m->position_rad = measured_rad + m->velocity_rad_s * fabs(m->velocity_rad_s) / (2 * m->ramp_rad_s2);
	plan(m, now_ns);
}

static bool is_there(const struct control_motion *m, double measured_rad, double measured_rad_s)
{
	return fabs(measured_rad - goal_rad(m)) < THERE_RAD && fabs(measured_rad_s) < THERE_RAD_S;
}

bool control_motion_tick(struct control_motion *m, bool follows, double measured_rad, double measured_rad_s,
			 int64_t now_ns)
{
	struct motion_state at;
	double after_s;

	if (!control_motion_is_on(m))
		return false;
	if (!follows || !isfinite(measured_rad) || !isfinite(measured_rad_s)) {
		m->planned = false;
		m->velocity_rad_s = 0;
		return false;
	}
	if (!m->planned || is_behind(m, measured_rad))
		plan_from(m, measured_rad, measured_rad_s, now_ns);
	after_s = (double)(now_ns - m->begun_ns) / 1e9;
	trapezoid_at(&m->way, after_s, &at);
	m->position_rad = at.rad;
	m->velocity_rad_s = at.rad_s;
	if (after_s < m->way.total_s)
		return true;
	if (m->command.verb == CONTROL_SWING) {
		m->goal = !m->goal;
		plan(m, now_ns);
	} else if (is_there(m, measured_rad, measured_rad_s) || after_s > m->way.total_s + LATE_S) {
		control_motion_end(m);
	}
	return true;
}
