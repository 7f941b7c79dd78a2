/* pendulum.c: a pendulum, and the law that swings it up and balances it.  Checked: pure, covered. */
#include "daemons/demo/pendulum.h"

#include <math.h>

#define GRAVITY 9.81
#define SWING_PER_S 40.0  /* torque for each joule that is missing */
#define STIFFNESS 2.5	  /* of the balance, in terms of gravity's; below 1 it would fall */
#define NEAR_TOP_RAD 0.5  /* there the balance may take over */
#define NEAR_TOP_PART 0.8 /* of what the motor can just stop */

const struct pendulum_body pendulum_small = {
	.mass_kg = 1,
	.length_m = 0.1,
	.damping_nms = 0.002,
	.torque_max_nm = 0.5,
};

/* ---- the world ---- */

static double inertia(const struct pendulum_body *body)
{
	return body->mass_kg * body->length_m * body->length_m;
}

/* The torque of gravity where it is largest. */
static double weight(const struct pendulum_body *body)
{
	return body->mass_kg * GRAVITY * body->length_m;
}

double pendulum_energy(const struct pendulum_body *body, const struct pendulum *p)
{
	return inertia(body) * p->rate_rad_s * p->rate_rad_s / 2 - weight(body) * cos(p->angle_rad);
}

double pendulum_energy_up(const struct pendulum_body *body)
{
	return weight(body);
}

double pendulum_limit(const struct pendulum_body *body, double torque_nm)
{
	return fmax(-body->torque_max_nm, fmin(body->torque_max_nm, torque_nm));
}

/* How fast angle and rate change. */
static struct pendulum slope(const struct pendulum_body *body, const struct pendulum *p, double torque_nm)
{
	const double sum_nm = torque_nm - body->damping_nms * p->rate_rad_s - weight(body) * sin(p->angle_rad);

	return (struct pendulum){ p->rate_rad_s, sum_nm / inertia(body) };
}

static struct pendulum along(const struct pendulum *p, const struct pendulum *slope_at, double dt_s)
{
	return (struct pendulum){ p->angle_rad + slope_at->angle_rad * dt_s,
				  p->rate_rad_s + slope_at->rate_rad_s * dt_s };
}

void pendulum_step(const struct pendulum_body *body, struct pendulum *p, double torque_nm, double dt_s)
{
	const double torque = pendulum_limit(body, torque_nm);
	struct pendulum at[4] = { *p }, mean, k[4];

	for (int i = 0; i < 4; i++) {
		k[i] = slope(body, &at[i], torque);
		if (i < 3)
			at[i + 1] = along(p, &k[i], i < 2 ? dt_s / 2 : dt_s);
	}
	mean.angle_rad = (k[0].angle_rad + 2 * k[1].angle_rad + 2 * k[2].angle_rad + k[3].angle_rad) / 6;
	mean.rate_rad_s = (k[0].rate_rad_s + 2 * k[1].rate_rad_s + 2 * k[2].rate_rad_s + k[3].rate_rad_s) / 6;
	*p = along(p, &mean, dt_s);
}

/* ---- the controller ---- */

double pendulum_error(const struct pendulum *p)
{
	return remainder(p->angle_rad - M_PI, 2 * M_PI);
}

/* Close to the top it falls like exp(t * sqrt(g / l)).  The motor stops it as long as the part of the state that grows
 * is below the angle at which gravity is as strong as the motor. */
bool pendulum_is_near_top(const struct pendulum_body *body, const struct pendulum *p)
{
	const double error_rad = pendulum_error(p);
	const double growing_rad = error_rad + p->rate_rad_s / sqrt(GRAVITY / body->length_m);

	return fabs(error_rad) < NEAR_TOP_RAD && fabs(growing_rad) < NEAR_TOP_PART * body->torque_max_nm / weight(body);
}

double pendulum_swing(const struct pendulum_body *body, const struct pendulum *p)
{
	const double missing_j = pendulum_energy_up(body) - pendulum_energy(body, p);

	return pendulum_limit(body, SWING_PER_S * (p->rate_rad_s < 0 ? -missing_j : missing_j));
}

/* Critically damped. */
double pendulum_balance(const struct pendulum_body *body, const struct pendulum *p)
{
	const double stiffness = STIFFNESS * weight(body);
	const double damping = 2 * sqrt((stiffness - weight(body)) * inertia(body));

	return pendulum_limit(body, -stiffness * pendulum_error(p) - damping * p->rate_rad_s);
}

double pendulum_control(const struct pendulum_body *body, const struct pendulum *p)
{
	return pendulum_is_near_top(body, p) ? pendulum_balance(body, p) : pendulum_swing(body, p);
}
