/* pcube_motor.c: from a reference to motion: servo loop, current, friction, brake, ends. */
#include <math.h>

#include "daemons/robotsim/pcube.h"

#define SERVO_RAD_S 50.0    /* how fast the servo loop is, critically damped */
#define SERVO_INTEGRAL 5.0  /* of its gain, in a second */
#define SERVO_DEAD_RAD 2e-4 /* errors it leaves alone, so that it comes to rest */
#define FRICTION_SHARE 0.03 /* of the nominal torque */
#define VISCOUS_SHARE 0.05  /* of the nominal torque at the largest velocity */
#define BRAKE_SHARE 1.5	    /* of the peak torque */
#define FIELD_SHARE 0.2	    /* beyond the largest velocity the supply does not suffice any more */

void pcube_motor_init(struct pcube_motor *motor, const struct pcube_settings *settings)
{
	const struct pcube_type *type = &pcube_types[settings->type];
	const double inertia = settings->inertia;

	*motor = (struct pcube_motor){
		.torque_per_a = type->torque_peak_nm / type->current_peak_a,
		.inertia = inertia,
		.friction_nm = settings->friction,
		.viscous = VISCOUS_SHARE * type->torque_nm / type->velocity,
		.gravity_nm = settings->gravity,
		.brake_nm = BRAKE_SHARE * type->torque_peak_nm,
		.velocity_max = type->velocity,
		.ends = { settings->ends[0], settings->ends[1] },
		.gain = inertia * SERVO_RAD_S * SERVO_RAD_S,
		.damping = 2 * inertia * SERVO_RAD_S,
		.position = settings->position,
		.velocity = settings->moving,
	};
	motor->integral_gain = motor->gain * SERVO_INTEGRAL;
}

static double clamp(double value, double max)
{
	return value > max ? max : value < -max ? -max : value;
}

static double sign(double value)
{
	return value > 0 ? 1 : value < 0 ? -1 : 0;
}

/* The torque of the motor under its servo loop, before the amplifier's limit. */
static double servo(struct pcube_motor *m, const struct pcube_drive *drive, double max_nm, double dt_s)
{
	const double error = drive->position - m->position;
	double torque_nm = m->inertia * drive->acceleration + m->viscous * drive->velocity +
			   m->friction_nm * sign(drive->velocity) + m->gain * error +
			   m->damping * (drive->velocity - m->velocity) + m->integral;

	if (fabs(error) > SERVO_DEAD_RAD && fabs(torque_nm) < max_nm)
		m->integral = clamp(m->integral + m->integral_gain * error * dt_s, max_nm);
	return torque_nm;
}

/* The current that flows. */
static double amplifier(struct pcube_motor *m, const struct pcube_drive *drive, double dt_s)
{
	const double excess = (fabs(m->velocity) - m->velocity_max) / (FIELD_SHARE * m->velocity_max);
	double want = drive->current, got;

	m->limited = false;
	if (drive->how == PCUBE_DRIVE_OFF) {
		m->integral = 0;
		return 0;
	}
	if (drive->how == PCUBE_DRIVE_SERVO)
		want = servo(m, drive, drive->current_max * m->torque_per_a, dt_s) / m->torque_per_a;
	else
		m->integral = 0;
	got = clamp(want, drive->current_max);
	m->limited = got != want;
	if (excess > 0 && sign(got) == sign(m->velocity))
		got *= excess < 1 ? 1 - excess : 0;
	return got;
}

void pcube_motor_step(struct pcube_motor *m, const struct pcube_drive *drive, double dt_s)
{
	const double friction_nm = m->friction_nm + (drive->brake ? m->brake_nm : 0);
	double torque_nm, direction;

	m->current = amplifier(m, drive, dt_s);
	torque_nm = m->torque_per_a * m->current + drive->push_nm - m->gravity_nm * sin(m->position) -
		    m->viscous * m->velocity;
	direction = m->velocity == 0 ? sign(torque_nm) : sign(m->velocity);
	if (m->velocity == 0 && fabs(torque_nm) <= friction_nm) {
		torque_nm = 0; /* it sticks */
	} else {
		const double velocity = m->velocity + (torque_nm - direction * friction_nm) / m->inertia * dt_s;

		m->velocity = direction * velocity < 0 ? 0 : velocity; /* friction stops, it does not turn round */
	}
	m->position += m->velocity * dt_s;
	m->end = m->position <= m->ends[0] ? -1 : m->position >= m->ends[1] ? 1 : 0;
	if (m->end) {
		m->position = m->ends[m->end > 0];
		if (sign(m->velocity) == m->end)
			m->velocity = 0;
	}
}
