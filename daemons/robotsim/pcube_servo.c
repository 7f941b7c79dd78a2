/* pcube_servo.c: from a reference to a current; and the joint that a type and its settings make. */
#include <math.h>

#include "daemons/robotsim/pcube.h"

#define SERVO_RAD_S 50.0    /* how fast the servo loop is, critically damped */
#define SERVO_INTEGRAL 5.0  /* of its gain, in a second */
#define SERVO_DEAD_RAD 2e-4 /* errors it leaves alone, so that it comes to rest */
#define VISCOUS_SHARE 0.05  /* of the nominal torque at the largest velocity */
#define BRAKE_SHARE 1.5	    /* of the peak torque */
#define FIELD_SHARE 0.2	    /* beyond the largest velocity the supply does not suffice any more */

void pcube_servo_init(struct pcube *m)
{
	const struct pcube_type *type = m->type;
	const struct pcube_settings *s = &m->settings;

	m->joint = (struct joint){
		.inertia = s->inertia,
		.torque_per_a = type->torque_peak_nm / type->current_peak_a,
		.velocity_full = type->velocity,
		.velocity_none = type->velocity * (1 + FIELD_SHARE),
		.viscous = VISCOUS_SHARE * type->torque_nm / type->velocity,
		.friction_nm = s->friction,
		.brake_nm = BRAKE_SHARE * type->torque_peak_nm,
		.gravity_nm = s->gravity,
		.ends = { s->ends[0], s->ends[1] },
	};
	joint_carry(&m->joint, s->position, s->moving);
	m->servo = (struct pcube_servo){ 0 };
}

double pcube_servo_current(struct pcube *m, double max_a, double dt_s)
{
	const struct pcube_motion *n = &m->motion;
	const struct joint *j = &m->joint;
	const double gain = j->inertia * SERVO_RAD_S * SERVO_RAD_S; /* tuned to what it moves */
	const double damping = 2 * j->inertia * SERVO_RAD_S;
	const double error = n->position - j->position, max_nm = max_a * j->torque_per_a;
	const double friction_nm = n->velocity == 0 ? 0 : copysign(j->friction_nm, n->velocity);
	const double torque_nm = j->inertia * n->acceleration + j->viscous * n->velocity + friction_nm + gain * error +
				 damping * (n->velocity - j->velocity) + m->servo.integral;

	if (fabs(error) > SERVO_DEAD_RAD && fabs(torque_nm) < max_nm)
		m->servo.integral =
			fmax(-max_nm, fmin(max_nm, m->servo.integral + gain * SERVO_INTEGRAL * error * dt_s));
	return torque_nm / j->torque_per_a;
}
